/* grafana.h: dashboards for Grafana and alert rules for Prometheus, made of one description, grafana.def. */
#ifndef EXPORTERS_GRAFANA_H
#define EXPORTERS_GRAFANA_H
#include "base/buf.h"

#include <stddef.h>

struct grafana_dashboard {
    const char *name, *title, *description;
    size_t panels;
};
/* The dashboard of index i. False: there is none. */
bool grafana_dashboard_at(size_t i, struct grafana_dashboard *ret);
/* Appends dashboard i as the JSON that Grafana imports; grafana_dashboard_at must know i. */
void grafana_put_dashboard(size_t i, struct buf *to);
/* Appends the alert rules, a file of rules of Prometheus. */
void grafana_put_rules(struct buf *to);
/* Appends a line for each query: dashboard, panel, PromQL, with tabs between. */
void grafana_put_queries(struct buf *to);
#endif
