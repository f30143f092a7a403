/* counters.h: record the processors' performance counters of the program (--counters) as metrics. */
#ifndef WRAPPER_RUN_COUNTERS_H
#define WRAPPER_RUN_COUNTERS_H
#include "launch/counters.h"
#include "mlruns-format/record.h"

/* Records counters.*, with instructions per cycle and miss rates. A counter without a value is
 * recorded as missing with the reason. at_ms: wall time of the values. */
void counters_record(struct record *r, const struct counter_value value[COUNTERS_COUNT], int64_t at_ms);
#endif
