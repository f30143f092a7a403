/* metric_way.h: the better direction of a metric that many runs have. A run that knows none does not count; where runs disagree there is none. */
#ifndef RUNS_METRIC_WAY_H
#define RUNS_METRIC_WAY_H
#include "base/str.h"
#include "mlruns-format/record.h"

enum { WAYS_DISPUTED = DIR_HIGHER | DIR_LOWER };

/* Returns the bit of a run's direction ("higher", "lower"; else 0), to be joined with those of the others. */
static inline unsigned way_of(struct str direction)
{
    return str_is(direction, "higher") ? DIR_HIGHER : str_is(direction, "lower") ? DIR_LOWER : DIR_NONE;
}

/* Returns the direction of the joined bits: "higher", "lower", or "" where the runs know none or disagree. */
static inline const char *ways_name(unsigned ways)
{
    return record_direction_name(ways == WAYS_DISPUTED ? DIR_NONE : (enum direction)ways);
}
#endif
