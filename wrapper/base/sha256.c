/* sha256.c: SHA-256, with the processor's own instructions where x86 has them (5 to 8 times faster). */
#include "base/sha256.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Hashes `count` blocks of 64 bytes into the state, without the processor's SHA instructions. */
static void blocks_plain(uint32_t state[8], const unsigned char *p, size_t count)
{
    for (; count > 0; count--, p += 64) {
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        memcpy(v, state, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
            uint32_t one = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
            uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
            uint32_t two = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += one;
            v[0] = one + two;
        }
        for (int i = 0; i < 8; i++)
            state[i] += v[i];
    }
}

#if defined(__x86_64__)
static int has_sha(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1))
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

/* The instructions keep the state as two halves, ABEF and CDGH, and do two rounds each. */
__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_sha(uint32_t state[8], const unsigned char *p, size_t count)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; count--, p += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), order);
        for (int i = 0; i < 16; i++) {
            __m128i k = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(const void *)(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0e));
            __m128i next =
                _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]), _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
            w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

#if defined(__x86_64__)
/* Returns whether to use the processor's SHA instructions. A CPUID instruction costs microseconds
 * in a virtual machine: it runs once, and only for long input. */
static int use_sha(size_t count)
{
    enum { WORTH = 16 }; /* blocks */
    static _Atomic int known, plain;
    if (known == 0 && (count >= WORTH || atomic_fetch_add_explicit(&plain, (int)count, memory_order_relaxed) + (int)count >= WORTH))
        known = has_sha() ? 1 : -1;
    return known > 0;
}
#endif

/* Adds blocks of 64 bytes to the state, by the processor's own instructions where it has them. */
static void hash_blocks(uint32_t state[8], const unsigned char *p, size_t count)
{
#if defined(__x86_64__)
    if (use_sha(count)) {
        blocks_sha(state, p, count);
        return;
    }
#endif
    blocks_plain(state, p, count);
}

void sha256_init(struct sha256 *s)
{
    *s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
    const unsigned char *from = p;
    size_t held = s->bytes % 64;
    s->bytes += n;
    if (held > 0) {
        size_t take = n < 64 - held ? n : 64 - held;
        if (take > 0)
            memcpy(s->block + held, from, take);
        from += take;
        n -= take;
        if (held + take < 64)
            return;
        hash_blocks(s->state, s->block, 1);
    }
    hash_blocks(s->state, from, n / 64);
    if (n % 64)
        memcpy(s->block, from + n / 64 * 64, n % 64);
}

void sha256_end(struct sha256 *s, char ret_hex[SHA256_HEX])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];
    uint64_t bits = s->bytes * 8;
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(s, padding, 1 + (119 - s->bytes % 64) % 64);
    sha256_add(s, length, sizeof length);
    for (int i = 0; i < 64; i++)
        ret_hex[i] = "0123456789abcdef"[s->state[i / 8] >> (28 - i % 8 * 4) & 15];
    ret_hex[64] = 0;
}

void sha256_of(const void *p, size_t n, char ret_hex[SHA256_HEX])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, p, n);
    sha256_end(&s, ret_hex);
}
