/* noise.h: reasons why a measurement was disturbed, from several probes in one tag. */
#ifndef PROBES_NOISE_H
#define PROBES_NOISE_H
#include "probes/probe.h"

/* Is a share over window_s, from before the program to now, one of the run? Not where the run was shorter than least_s, or most of the window
 * was before or behind it. */
bool noise_window_is_run(const struct record *r, double window_s, double least_s);
/* Why such a share is missing. */
#define NOISE_SHORT_RUN "the run was too short, or shorter than the time around it that was counted"
/* Records that a threshold was crossed (docs/howto-repeat.md lists them): adds the sentence to the
 * tag benchwrap.noisy, and a warning "disturbed: …". */
void noise_add_reason(struct record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
