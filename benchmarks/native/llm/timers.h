/* timers.h: what is due when: a binary heap of timers that live inside what they belong to. */
#ifndef LLM_TIMERS_H
#define LLM_TIMERS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum timer_kind { TIMER_CONN, TIMER_SESSION };

struct timer {
    int64_t at_ns;
    uint32_t place; /* in the heap, from 1; 0: not set */
    uint8_t kind;
};

struct timers {
    struct timer **heap;
    size_t n, size;
};

/* Sets the timer, or moves one that is set. Returns false when out of memory: it stays unset. */
bool timers_set(struct timers *t, struct timer *timer, int64_t at_ns);
/* Removes the timer; nothing where it is not set. */
void timers_clear(struct timers *t, struct timer *timer);
/* Removes and returns the first timer where it is due at now_ns; NULL: none is. The caller owns
 * it. */
struct timer *timers_due(struct timers *t, int64_t now_ns);
/* Returns when the first timer is due; INT64_MAX: none is set. */
int64_t timers_next(const struct timers *t);
void timers_deinit(struct timers *t);
#endif
