/* hash.h: a fast hash of bytes for tables and for finding damage; not for secrets, and not the same on every machine. */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the hash of n bytes, continued from h. */
static inline uint64_t hash_bytes(uint64_t h, const void *from, size_t n)
{
    const unsigned char *p = from;
    h ^= n * UINT64_C(0x9e3779b97f4a7c15);
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    for (; n; p++, n--)
        h = (h ^ *p) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}
#endif
