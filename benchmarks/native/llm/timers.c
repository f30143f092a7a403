/* timers.c: a binary heap of timers; see timers.h. */
#include "benchmarks/native/llm/timers.h"
#include "base/array.h"

#include <stdlib.h>

static void timers_place(struct timers *t, size_t at, struct timer *timer)
{
    t->heap[at - 1] = timer;
    timer->place = (uint32_t)at;
}

/* Moves the timer at this place (from 1) up or down until the heap is in order. */
static void timers_sift(struct timers *t, size_t at)
{
    struct timer *timer = t->heap[at - 1];
    while (at > 1 && t->heap[at / 2 - 1]->at_ns > timer->at_ns) {
        timers_place(t, at, t->heap[at / 2 - 1]);
        at /= 2;
    }
    for (;;) {
        size_t child = 2 * at;
        if (child < t->n && t->heap[child]->at_ns < t->heap[child - 1]->at_ns)
            child++;
        if (child > t->n || t->heap[child - 1]->at_ns >= timer->at_ns)
            break;
        timers_place(t, at, t->heap[child - 1]);
        at = child;
    }
    timers_place(t, at, timer);
}

bool timers_set(struct timers *t, struct timer *timer, int64_t at_ns)
{
    timer->at_ns = at_ns;
    if (!timer->place) {
        if (!ARRAY_FITS(t->heap, t->size, t->n + 1))
            return false;
        t->n++;
        timers_place(t, t->n, timer);
    }
    timers_sift(t, timer->place);
    return true;
}

void timers_clear(struct timers *t, struct timer *timer)
{
    size_t at = timer->place;
    if (!at)
        return;
    timer->place = 0;
    struct timer *last = t->heap[--t->n];
    if (last != timer) {
        timers_place(t, at, last);
        timers_sift(t, at);
    }
}

struct timer *timers_due(struct timers *t, int64_t now_ns)
{
    if (!t->n || t->heap[0]->at_ns > now_ns)
        return NULL;
    struct timer *first = t->heap[0];
    timers_clear(t, first);
    return first;
}

int64_t timers_next(const struct timers *t)
{
    return t->n ? t->heap[0]->at_ns : INT64_MAX;
}

void timers_deinit(struct timers *t)
{
    free(t->heap);
    *t = (struct timers){0};
}
