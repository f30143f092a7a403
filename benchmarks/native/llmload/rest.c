/* rest.c: pauses between two waits for events, which let one wake-up serve several sockets; see
 * rest.h. */
#include "benchmarks/native/llmload/rest.h"

#include "base/clock.h"
#include "benchmarks/native/llmload/lateness.h"

#include <time.h>

enum {
    REST_NS = 70000, /* and the reads before it in its turn: an arrival stays known to LATENESS_NEAR_NS */
    LEAST_NS = 20000, /* a shorter sleep costs more than it saves */
    APART_NS = 20 * REST_NS,
    APART_READS = 64,
};
_Static_assert((int)REST_NS < (int)LATENESS_NEAR_NS, "a rest must not make an arrival unknown");

void rest_note_gap(struct rest *r, int64_t gap_ns, bool is_single)
{
    bool is_apart = is_single && gap_ns >= APART_NS;
    r->reads_apart = is_apart ? r->reads_apart + (r->reads_apart < APART_READS) : 0;
}

void rest_forbid(struct rest *r)
{
    r->reads_apart = 0;
}

void rest_note_wait(struct rest *r, int64_t called_ns, int64_t returned_ns, int n)
{
    r->is_dense = n > 0 && returned_ns - called_ns < REST_NS;
}

int64_t rest_take(const struct rest *r, int64_t returned_ns, int64_t until_ns, int64_t now_ns)
{
    int64_t end = returned_ns + REST_NS < until_ns ? returned_ns + REST_NS : until_ns;
    const struct timespec t = {end / 1000000000, end % 1000000000};
    if (!r->is_dense || r->reads_apart < APART_READS || end - now_ns < LEAST_NS)
        return now_ns;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    return clock_mono_ns();
}
