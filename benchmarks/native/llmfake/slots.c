/* slots.c: a server's capacity by an exact schedule: each slot is free when its last request is due to end, not when a timer fires. */
#include "benchmarks/native/llmfake/fake.h"

#include <pthread.h>
#include <stdlib.h>

struct fake_slots {
    pthread_mutex_t lock;
    unsigned n;
    int64_t free_ns[];
};

struct fake_slots *slots_new(unsigned n)
{
    struct fake_slots *s = calloc(1, sizeof *s + n * sizeof s->free_ns[0]);
    if (!s)
        return NULL;
    s->n = n;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void slots_free(struct fake_slots *s)
{
    if (s)
        pthread_mutex_destroy(&s->lock);
    free(s);
}

int64_t slots_take(struct fake_slots *s, int64_t at_ns, int64_t service_ns)
{
    unsigned first = 0;
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 1; i < s->n; i++)
        if (s->free_ns[i] < s->free_ns[first])
            first = i;
    int64_t begin = s->free_ns[first] > at_ns ? s->free_ns[first] : at_ns;
    s->free_ns[first] = begin + service_ns;
    pthread_mutex_unlock(&s->lock);
    return begin;
}
