/* rest.h: pauses between two waits for events, which let one wake-up serve several sockets.
 *
 * Most of an event's processor time is the kernel's work to put the thread to sleep and to wake it.
 * The kernel stamps each arrival, so reading later changes no time, unless a read brings several
 * arrivals. A rest is so short that the first of them is still known to LATENESS_NEAR_NS. There is
 * none while tokens of one stream follow each other closely, or come without a stamp. */
#ifndef LLMLOAD_REST_H
#define LLMLOAD_REST_H
#include <stdbool.h>
#include <stdint.h>

/* One thread's; times are CLOCK_MONOTONIC, ns. Zeroed: it may not rest yet. */
struct rest {
    uint32_t reads_apart; /* in a row, that brought one token, long after the stream's token before */
    bool is_dense; /* the last wait found events before a rest would have ended */
};

/* A read brought a stream's next token, gap_ns after the one before. is_single: no other token, and
 * it has the kernel's stamp. */
void rest_note_gap(struct rest *r, int64_t gap_ns, bool is_single);
/* A connection is made: its time has no stamp. */
void rest_forbid(struct rest *r);
/* After a wait from called_ns to returned_ns, which found n events or failed (n < 0). */
void rest_note_wait(struct rest *r, int64_t called_ns, int64_t returned_ns, int n);
/* Rests where that is allowed, until until_ns at most. returned_ns: end of the last wait. Returns
 * the time now. */
int64_t rest_take(const struct rest *r, int64_t returned_ns, int64_t until_ns, int64_t now_ns);
#endif
