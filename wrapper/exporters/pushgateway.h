/* pushgateway.h: what the exporter pushgateway shares with the process that pushes while a run is in progress. */
#ifndef EXPORTERS_PUSHGATEWAY_H
#define EXPORTERS_PUSHGATEWAY_H
#include "exporters/metric_series.h"

#define PUSHGATEWAY_KEY_JOB "job"
#define PUSHGATEWAY_KEY_LIVE "live"

/* Appends the address of a group. base: of the Pushgateway. Labels without a value are left out. */
void pushgateway_url(const char *base, const char *job, const struct metric_label *labels, size_t count, struct buf *to);
#endif
