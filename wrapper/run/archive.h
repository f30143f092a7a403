/* archive.h: what is kept of a job: script, environment, output, result and a manifest, as artifacts job/ of the run and, with --archive DIR, as
 * DIR/<user>/job_<id>.{sh,env,out,err,json}. Made by the finish step from what lies in the spool, so that a run that was killed has it too. */
#ifndef WRAPPER_RUN_ARCHIVE_H
#define WRAPPER_RUN_ARCHIVE_H
#include "mlruns-format/journal.h"
#include "run/spool.h"

struct archive_job {
    struct spool *spool;
    struct record *record; /* judged, its streams recorded as artifacts */
    const struct journal_head *head;
};
/* Makes the spool's job/ and records it. What cannot be made is a missing value with its reason. May be repeated. */
void archive_store(const struct archive_job *job);
/* The same files below `dir`, by a process of its own that has five seconds: the folder may be on a file system that hangs. Folders are made with mode
 * 0700, files with 0600; the user's folder must be his and no link; a name that another run has taken gets the run id. May be repeated. 0, or -1 with err. */
int archive_export(const struct archive_job *job, const char *dir, struct err *err);
/* The name without its ending: "job_42", "job_40_7" (task of an array), "job_42.r1.s0" (restart, step); no scheduler: "job_<run id>". */
void archive_name(const struct archive_job *job, char *ret, size_t size);
#endif
