/* slices.h: parts of an output, from one line to another, that a reader or check may be bound to. */
#ifndef BENCHMARKS_SLICES_H
#define BENCHMARKS_SLICES_H
#include "benchmarks/engine.h"

/* Opens the slices that begin with their source. */
void slices_start(struct rules_run *run);
/* Begins or ends slices by the line, before readers see it. mask: what the prefilter found in it. */
void slices_line(struct rules_run *run, struct source *source, const struct prefilter_mask *mask, struct str line);
/* Forgets, once all is read, what came from parts that do not count, and marks those whose end never
 * came. */
void slices_end(struct rules_run *run, bool ended_well);
/* Returns the number that a row of this slice (-1: none) carries, so that it can be forgotten; 0: it
 * never is. */
unsigned slice_generation(const struct rules_run *run, const struct source *source, int slice);
/* Returns whether the number is of a part that does not count any more. */
bool slice_stale(const struct rules_run *run, unsigned generation);
static inline bool slice_open(const struct source *source, int slice)
{
    return slice < 0 || source->slice[slice].open;
}
#endif
