/* exports.h: the recorder's side of exporters: which ones the run is delivered to, its entries in their
 * spools, and the processes that deliver. Without exporters every call does nothing. */
#ifndef WRAPPER_RUN_EXPORTS_H
#define WRAPPER_RUN_EXPORTS_H
#include "run/spool.h"

struct run;
/* Replaces secrets of exporters by asterisks in the recorder's environment, so that no record
 * of it has them. The processes that deliver get them back. */
void run_exports_hide(struct run *run, char **env);
/* Leaves, in a child process that delivers, the program's group and its streams, and restores the
 * secrets. */
void run_exports_leave(const struct run *run);
/* Closes, after that, the descriptors from `close_from` on, names the process, and hides its memory
 * from other users. SIGALRM ends it. */
void run_exports_settle(const char *name, int close_from);
/* Returns the names of the exporters that the run is delivered to, for the journal; NULL: none. */
const char *run_exports_names(struct run *run);
/* Adds published runs ("mlruns/<exp>/<run>" with blanks between them) to the spool of each exporter in
 * `names`. tree: as spool_mark_published has its parent. Writes small files and contacts nothing. 0; -1:
 * err names the first exporter that failed; the others have the run. */
int run_exports_queue(const struct spool *s, const char *names, const char *tree, const char *places, int64_t end_ms, struct err *err);
/* Reports, after the run's end, exporters that could not deliver earlier runs, and starts those
 * with a `wait:`, for which it waits. */
void run_exports_wait(struct run *run);
/* Starts, after the launcher's end, a process of lowest priority for each exporter, and waits for
 * none. */
void run_exports_start(struct run *run);
#endif
