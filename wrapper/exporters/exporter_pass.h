/* exporter_pass.h: delivers what waits for one exporter: one pass over its folder in the spool. */
#ifndef EXPORTERS_EXPORTER_PASS_H
#define EXPORTERS_EXPORTER_PASS_H
#include "exporters/exporter.h"
#include "exporters/exporter_queue.h"

struct exporter_pass {
    const struct exporter_config *config;
    const char *spool;    /* the spool of runs, next to that of exporters */
    char *const *env;
    int64_t until_ns;     /* monotonic: nothing is begun later */
    int cancel_fd;        /* -1: none */
    bool background;      /* after a run: not before the time that an earlier failure set */
    bool patient;         /* tries again until until_ns while the destination accepts nothing */
};
struct exporter_outcome {
    size_t sent, dead, dropped; /* by this pass */
    size_t pending, letters;    /* left: entries, dead letters */
    bool busy;                  /* another process delivers */
    bool waits;                 /* it is too early: see not_before_ms of the state */
    bool failed;                /* something is not delivered: why has the reason */
    char why[EXPORTER_WHY_MAX];
};

/* Delivers until nothing is left or the destination accepts nothing. Never prints. */
void exporter_deliver(const struct exporter_pass *p, struct exporter_outcome *ret);
/* Only counts. */
void exporter_pass_count(const struct exporter_pass *p, struct exporter_outcome *ret, struct exporter_state *ret_state);
#endif
