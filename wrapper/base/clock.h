/* clock.h: wall time in milliseconds since 1970, monotonic time and a thread's own processor time in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

static inline int64_t clock_wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
static inline int64_t clock_mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
/* Returns a wall time that is not before what CLOCK_MONOTONIC counted since an earlier pair of
 * both: a clock that was set back between the two makes no end that precedes its start. */
static inline int64_t clock_wall_after_ms(int64_t start_wall_ms, int64_t start_mono_ns)
{
    int64_t wall_ms = clock_wall_ms(), least_ms = start_wall_ms + (clock_mono_ns() - start_mono_ns) / 1000000;
    return wall_ms > least_ms ? wall_ms : least_ms;
}
static inline int64_t clock_own_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif
