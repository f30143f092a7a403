/* random.h: numbers that depend on (seed, stream, n) alone: the same on every machine and thread,
 * in any order of calls. */
#ifndef LLMLOAD_RANDOM_H
#define LLMLOAD_RANDOM_H
#include <math.h>
#include <stdint.h>

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014; public domain): every bit of the input
 * changes half of the output's. */
static inline uint64_t random_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
/* The n-th number of a stream. Streams of one seed are independent of each other. */
static inline uint64_t random_at(uint64_t seed, uint64_t stream, uint64_t n)
{
    return random_mix(random_mix(random_mix(seed) ^ stream) + n * 0x9e3779b97f4a7c15ull);
}
/* 0 <= u < 1 */
static inline double random_unit(uint64_t r)
{
    return (double)(r >> 11) * 0x1p-53;
}
/* 0 … n - 1 for n > 0; the bias is below n / 2^64. */
static inline uint64_t random_below(uint64_t r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)r * n) >> 64);
}
/* A standard normal number of two (Box and Muller). */
static inline double random_normal(uint64_t a, uint64_t b)
{
    return sqrt(-2 * log(1 - random_unit(a))) * cos(2 * M_PI * random_unit(b));
}
#endif
