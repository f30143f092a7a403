/* noise.h: what disturbs a measurement, told by several probes in one tag. */
#ifndef PROBES_NOISE_H
#define PROBES_NOISE_H
#include "probes/probe.h"

/* Adds a sentence to the tag benchwrap.noisy and tells it as a warning: a threshold was crossed (docs/howto-probe.md lists them). */
void noise_add_reason(struct record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
