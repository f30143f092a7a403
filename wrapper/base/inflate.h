/* inflate.h: undoes gzip and deflate of bytes that come in pieces, and makes gzip of a text. zlib is
 * loaded when it is needed. */
#ifndef BASE_INFLATE_H
#define BASE_INFLATE_H
#include "base/buf.h"

#include <stdbool.h>

struct inflater;
enum inflate_form {
    INFLATE_HEADER, /* gzip (RFC 1952, all members) or zlib (RFC 1950), by the header */
    INFLATE_RAW /* deflate alone (RFC 1951), as in zip files: ends with its last block */
};

/* Begins to decompress. The caller frees it with inflate_free. NULL: no zlib on this machine, or out of
 * memory. */
struct inflater *inflate_new(enum inflate_form form);
void inflate_free(struct inflater *i);
/* Decompresses `in` (less than 4 GiB) and passes the result to `put` in pieces. False: the data is
 * damaged, or `put` returned false. */
bool inflate_feed(struct inflater *i, struct str in, bool (*put)(void *context, struct str out), void *context);
/* Returns whether the last block has come. */
bool inflate_ended(const struct inflater *i);
/* Returns how many bytes of the last input were not used. */
size_t inflate_left(const struct inflater *i);
/* Appends `in` (less than 2 GiB) as gzip. False: no zlib on this machine, or no memory. */
bool inflate_make_gzip(struct str in, struct buf *to);
#endif
