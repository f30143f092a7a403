/* units.h: the units that a metric can have, and conversion between those of one dimension.
 *
 * Names are those of mlruns-format/units.def (B MiB_per_s s ns percent …). units_find also accepts
 * the spellings
 * that programs print ("MiB/s", "MiB/sec", "KB/s", "Gbits/sec", "GFLOP/s", "usec", "msec", "ms", "%", "op/s", "IOPS" …). */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H
#include "base/str.h"

struct unit {
    const char *name;      /* as in keys */
    const char *dimension; /* "byte", "byte/s", "second", "op/s", … */
    double factor;         /* 1 unit = factor base units of its dimension */
};

const struct unit *units_find(struct str text); /* NULL: unknown */
/* Converts a value in `from` to one in `to`; false if the dimensions differ. Eight bits are a
 * byte. */
bool units_convert(double value, const struct unit *from, const struct unit *to, double *ret);
#endif
