/* slurm.h: what the three Slurm providers share: configuration, limits, sdiag, the queue, and ending jobs by name. */
#ifndef TASKRATE_SLURM_H
#define TASKRATE_SLURM_H
#include "benchmarks/native/taskrate/provider.h"

/* Configuration into facts, declared slots of the usable nodes, limits of rate into the settings.
 * `jobs`: how many jobs the complete measurement adds to the controller's table at most (0: none,
 * steps only). -1 with the reason: nothing was submitted. */
int slurm_begin(struct bench *b, size_t jobs, struct err *err);
/* Counts Slurm's jobs of this run; ret->known stays false where the query fails. */
void slurm_ask(struct bench *b, struct queue *ret);
/* Calls sdiag, and reads its counters as slurm_sdiag_read does; all are -1 where it fails. */
void slurm_count(struct bench *b, struct scheduler_counters *ret);
/* Appends which controller the commands talk to: SLURM_CONF and SLURM_CLUSTERS. */
void slurm_identity(struct buf *to);
/* Cancels the jobs of this name, and reads the queue until it is empty, for about 18 s at most.
 * Returns 0, or another value with *err where jobs are left. */
int slurm_cancel(const char *tag, struct err *err);
/* sbatch with what every job of taskrate has: name, nothing written, one task. */
int slurm_sbatch(struct bench *b, struct submission *s, struct err *err);
/* Tasks of the complete measurement. */
size_t slurm_all_tasks(const struct bench *b);

/* Of `scontrol show config` and of `sdiag`, separate for their tests; text is foreign. */
struct str slurm_config_value(struct str text, const char *key); /* n == 0: not there */
/* The value as it is recorded: of a path whether there is one ("set", "none"), since the path is the site's own. */
struct str slurm_config_shown(const char *key, struct str value);
/* Returns the sum of a list such as SLURM_JOB_CPUS_PER_NODE, "2(x2),4" is 8; 0 where it has another form. */
uint64_t slurm_count_processors(struct str list);
/* Reads the counters of a text that sdiag printed. Those that it lacks are -1, calls and their times 0.
 * Times are in microseconds. */
void slurm_sdiag_read(struct str text, struct scheduler_counters *ret);
#endif
