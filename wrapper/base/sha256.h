/* sha256.h: SHA-256 (FIPS 180-4) of bytes that come in pieces, as lower-case hexadecimal. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H
#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
    unsigned char block[64]; /* the part that does not fill a block yet */
};

enum { SHA256_HEX = 65 }; /* 64 digits and the NUL */

/* Begins a digest. Nothing is allocated. */
void sha256_init(struct sha256 *s);
/* Adds n bytes. */
void sha256_add(struct sha256 *s, const void *p, size_t n);
/* Writes the digest of all added bytes as hexadecimal text. The state must be initialised before it
 * is used again. */
void sha256_end(struct sha256 *s, char ret_hex[SHA256_HEX]);
/* Writes the digest of n bytes. */
void sha256_of(const void *p, size_t n, char ret_hex[SHA256_HEX]);
#endif
