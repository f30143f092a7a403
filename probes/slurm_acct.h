/* slurm_acct.h: parses sacct's report about the steps of a job that ran while the program did. */
#ifndef PROBES_SLURM_ACCT_H
#define PROBES_SLURM_ACCT_H
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The requested fields, in this order, with SLURM_ACCT_MARK between: texts that may hold anything
 * come last. */
#define SLURM_ACCT_FIELDS "JobIDRaw,Start,End,State,NTasks,TotalCPU,MaxRSS,AveRSS,MaxDiskRead,MaxDiskWrite,ConsumedEnergyRaw,JobName"
#define SLURM_ACCT_MARK '\x1f'
#define SLURM_ACCT_OWN "benchwrap-node" /* the job name of benchwrap's own steps, which are left out */

/* Sums and maxima over the steps; -1: no step reports it. */
struct slurm_acct {
    size_t steps, running, unclear; /* that have ended; that still run or whose data has not arrived; that ended in the second from_s */
    double cpu_s, max_rss_B, ave_rss_B, disk_read_B, disk_write_B, energy_J;
    int64_t tasks;
    char state[32]; /* of the last step that has not COMPLETED, else "COMPLETED" */
};

/* Steps of job `id` that began in [from_s, to_s] (seconds since 1970; the times in text are such:
 * SLURM_TIME_FORMAT=%s). Batch and interactive ones are left out, and those that had ended by the
 * second from_s: times are full seconds, so they may have been before. False: this is not sacct's
 * answer. */
bool slurm_acct_parse(struct slurm_acct *ret, struct str text, const char *id, int64_t from_s, int64_t to_s);
#endif
