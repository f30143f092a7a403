/* counters.h: what the processors have counted of the program (--counters), as metrics. */
#ifndef WRAPPER_RUN_COUNTERS_H
#define WRAPPER_RUN_COUNTERS_H
#include "launch/counters.h"
#include "mlruns-format/record.h"

/* Tells counters.*, with instructions per cycle and shares of misses; what could not be counted is missing with the reason. at_ms: their time. */
void counters_record(struct record *r, const struct counter_value value[COUNTERS_COUNT], int64_t at_ms);
#endif
