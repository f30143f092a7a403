/* draws.h: random numbers of simulations, by a fixed seed: the same in every run of the program. */
#ifndef TESTS_LIB_DRAWS_H
#define TESTS_LIB_DRAWS_H
#include <math.h>
#include <stdint.h>

static uint64_t draws_state = UINT64_C(88172645463325252); /* xorshift64 (Marsaglia 2003) */

static inline uint64_t draws_next(void)
{
    draws_state ^= draws_state << 13;
    draws_state ^= draws_state >> 7;
    draws_state ^= draws_state << 17;
    return draws_state;
}

/* Above 0 and below 1. */
static inline double draws_uniform(void)
{
    return ((double)(draws_next() >> 11) + 0.5) / 9007199254740992.0;
}

/* Mean 0, standard deviation 1. */
static inline double draws_normal(void)
{
    return sqrt(-2 * log(draws_uniform())) * cos(2 * M_PI * draws_uniform());
}
#endif
