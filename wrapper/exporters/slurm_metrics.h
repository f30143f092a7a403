/* slurm_metrics.h: metrics of a Slurm cluster, under the names of the Prometheus Slurm exporter: jobs, nodes, CPUs and GPUs by state, by
 * partition, account and user, scheduler, fair share.
 *
 * One request of each kind (squeue, sinfo, sdiag, sshare) is made, and only when the caller calls. */
#ifndef EXPORTERS_SLURM_METRICS_H
#define EXPORTERS_SLURM_METRICS_H
#include "exporters/metric_series.h"

enum { SLURM_SOURCES = 4 };
struct slurm_source {
    const char *name;     /* "squeue" */
    const char *const *command; /* NULL-terminated */
};
extern const struct slurm_source slurm_sources[SLURM_SOURCES];

/* Sums by family and labels. */
struct slurm_tally {
    struct arena *arena;
    struct metric_set set;
    size_t *slots; /* index of a series + 1 */
    bool failed, hide_users;
};
/* 0; -1 with err. Everything is in the arena. */
int slurm_tally_init(struct slurm_tally *t, struct arena *a, bool hide_users, struct err *err);
/* Adds what a source has printed. False: it is not that source's output. */
bool slurm_tally_add(struct slurm_tally *t, size_t source, struct str text);
/* Adds benchwrap_slurm_source_up of a source. */
void slurm_tally_state(struct slurm_tally *t, size_t source, bool up);
/* The series in order; valid as long as the arena. 0; -1 with err. */
int slurm_tally_end(struct slurm_tally *t, struct metric_set *ret, struct err *err);
#endif
