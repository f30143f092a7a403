/* join.h: waits for the end of a thread by CLOCK_MONOTONIC, which no step of the wall clock moves. */
#ifndef BASE_JOIN_H
#define BASE_JOIN_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Waits until_ns (CLOCK_MONOTONIC, ns) at most. true: the thread has ended and is joined. */
static inline bool join_until(pthread_t thread, int64_t until_ns)
{
    struct timespec t = {until_ns / 1000000000, until_ns % 1000000000};
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &t) == 0;
}
#endif
