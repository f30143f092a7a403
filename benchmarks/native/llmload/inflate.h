/* inflate.h: undoes gzip and deflate of a body that comes in pieces (nobody asked for it, but some proxies do it all the same). */
#ifndef LLMLOAD_INFLATE_H
#define LLMLOAD_INFLATE_H
#include "base/str.h"

#include <stdbool.h>

struct inflater; /* zlib is loaded when one is made */

struct inflater *inflate_new(void); /* NULL: no zlib on this machine, or no memory */
void inflate_free(struct inflater *i);
/* Gives what `in` becomes to `put`, piece by piece; false: it is damaged, or put said so. */
bool inflate_feed(struct inflater *i, struct str in, bool (*put)(void *context, struct str out), void *context);
#endif
