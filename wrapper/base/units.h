/* units.h: the units that a metric can have, and conversion between those of one dimension.
 *
 * Names are those of mlruns-format/units.def (B MiB_per_s s ns percent …). units_find also accepts the
 * spellings that programs print ("MiB/s", "MiB/sec", "KB/s", "Gbits/sec", "GFLOP/s", "usec", "%" …). */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H
#include "base/str.h"

struct unit {
    const char *name;      /* as in keys */
    const char *dimension; /* "byte", "byte/s", "second", "op/s", … */
    double factor;         /* 1 unit = factor base units of its dimension */
};

/* Returns the unit of the name or spelling, blanks around allowed. It is valid until the program
 * ends. NULL: it is not known. */
const struct unit *units_find(struct str text);
/* Converts a value in `from` to one in `to`, rounded once. Eight bits are a byte. False, and *ret is
 * unchanged: the dimensions differ, or a unit is NULL. */
bool units_convert(double value, const struct unit *from, const struct unit *to, double *ret);
#endif
