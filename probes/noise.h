/* noise.h: reasons why a measurement was disturbed, from several probes in one tag. */
#ifndef PROBES_NOISE_H
#define PROBES_NOISE_H
#include "probes/probe.h"

/* Records that a threshold was crossed (docs/howto-repeat.md lists them): adds the sentence to the
 * tag benchwrap.noisy, and a warning "disturbed: …". */
void noise_add_reason(struct record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
