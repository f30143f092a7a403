/* metric_records.h: a page of metrics in Prometheus's text format as records, so that exporters of records deliver the metrics of a cluster. */
#ifndef EXPORTERS_METRIC_RECORDS_H
#define EXPORTERS_METRIC_RECORDS_H
#include "exporters/metric_series.h"

#define METRIC_RECORDS_STREAM "Custom-BenchwrapSlurm_CL"

/* Where and when a page was read. */
struct metric_records_source {
    int64_t time_ms;
    const char *computer, *cluster; /* cluster NULL: not known */
};
/* Makes a record and a series of one sample for each sample of the page that is a number, into the arena: {"TimeGenerated":…,"Computer":…,"Cluster":…,
 * "Metric":…,"Labels":{…},"Value":…}. ret->records, series, count and stream are set. 0; -1 with err: there is none, or out of memory. */
int metric_records_make(struct exporter_batch *ret, struct str page, const struct metric_records_source *from, struct arena *a,
                        struct err *err);
#endif
