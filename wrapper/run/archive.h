/* archive.h: store a job's script, environment, output, result and a manifest: as artifacts job/ of the
 * run and, with --archive DIR, as DIR/<user>/job_<id>.{sh,env,out,err,json}. The finish step makes them
 * from the spool, so that a killed run has them too. */
#ifndef WRAPPER_RUN_ARCHIVE_H
#define WRAPPER_RUN_ARCHIVE_H
#include "mlruns-format/journal.h"
#include "run/spool.h"

struct archive_job {
    struct spool *spool;
    struct record *record; /* judged, its streams recorded as artifacts */
    const struct journal_head *head;
};
/* Makes job/ in the spool and records its files. A failure is recorded as missing with its reason.
 * Can be repeated after a crash. */
void archive_store(const struct archive_job *job);
/* Stores the same files below `dir`, in a child process that has five seconds: the file system may
 * hang. Makes folders with mode 0700 and files with 0600. The user's folder must be the user's own
 * and no link. Adds the run id to a name that another run has. Can be repeated. 0; -1 with err. */
int archive_export(const struct archive_job *job, const char *dir, struct err *err);
#endif
