/* show.h: values, units and names as people read them; all append to the buffer. */
#ifndef BASE_SHOW_H
#define BASE_SHOW_H
#include "base/buf.h"

void show_double(struct buf *to, double value);        /* about 6 significant digits */
/* Appends a value with at least three significant digits, none after the point from 100 on: 0.537,
 * 9.02, 10.7, 338, 88567. A whole number has no point. */
void show_value(struct buf *to, double value);
/* Appends a unit as people write it: MiB_per_s -> MiB/s, percent -> %. NULL: nothing. */
void show_unit(struct buf *to, const char *unit);
/* Returns the factor by which a value is shown, and in *unit the unit it then has: a time in s
 * below 0.1 s is shown in ms, us or ns. 1: as it is. *unit may be NULL. */
double show_scale(double value, const char **unit);
void show_quantity(struct buf *to, double value, const char *unit); /* 1085 MiB/s */
/* Appends the key of a metric without its unit, which follows the number: write.clat_us.p99 ->
 * write.clat.p99. NULL unit: the key itself. */
void show_metric(struct buf *to, const char *key, const char *unit);
/* Appends a change by this ratio (> 0) in percent (-22 %, +270 %, -98.6 %), from a tenfold on as a
 * factor (24 x). */
void show_change(struct buf *to, double ratio);
/* Appends both ends of the change's interval, in the form that show_change chooses for `ratio`: -26
 * … -10 %, 5.5 … 104 x. */
void show_change_interval(struct buf *to, double ratio, double low, double high);
void show_size(struct buf *to, uint64_t bytes);        /* 12.3 MiB */
void show_duration(struct buf *to, double seconds);    /* 8.1 ms, 0.55 s, 12.3 s, 4 min 5 s, 2 h 3 min */
void show_time(struct buf *to, int64_t ms);            /* 2026-11-20 17:03:12, local */
void show_time_utc(struct buf *to, int64_t ms);        /* 2026-11-20T17:03:12.345Z */
#endif
