/* show.h: values as people read them; all append to the buffer. */
#ifndef BASE_SHOW_H
#define BASE_SHOW_H
#include "base/buf.h"

void show_double(struct buf *to, double value);        /* about 6 significant digits */
void show_size(struct buf *to, uint64_t bytes);        /* 12.3 MiB */
void show_duration(struct buf *to, double seconds);    /* 812 ms, 12.3 s, 4 min 5 s, 2 h 3 min */
void show_time(struct buf *to, int64_t ms);            /* 2026-11-20 17:03:12, local */
void show_time_utc(struct buf *to, int64_t ms);        /* 2026-11-20T17:03:12.345Z */
#endif
