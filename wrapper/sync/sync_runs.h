/* sync_runs.h: many published runs to a server, parents first, with a line of progress. */
#ifndef SYNC_SYNC_RUNS_H
#define SYNC_SYNC_RUNS_H
#include "base/progress.h"
#include "mlruns-format/corrections.h"
#include "sync/sync_ref.h"
#include "mlflow/upload.h"

struct sync_counts {
    size_t wanted, sent, made, there, known, deleted, damaged, failed, waiting; /* waiting: not tried, the server is away */
    size_t updated; /* of those that were sent: the server had the run, but not all of it */
    size_t files;
    uint64_t bytes;
};
struct sync_item {
    struct tree_run *run;
    struct sync_item *parent; /* in this tree; NULL */
    bool wanted, done, on_way;
    bool sent, there; /* so it was counted */
    bool made; /* on the server, by this process */
    bool twice; /* its id is in two experiments: it is not sent */
};
struct sync_runs {
    struct arena *arena;
    struct runs *runs;
    struct upload *upload;
    struct sync_ref *ref; /* NULL: the runs are files */
    struct progress *progress;
    int cancel_fd;
    bool newest_first; /* else the oldest */
    struct sync_item *items; /* by id */
    size_t count;
    struct corrections corrections; /* among the items */
    struct sync_counts n;
    bool stopped; /* the server is away or denies access, or the process was requested to end */
    void (*note)(void *context, const char *text);
    void *context;
};

/* Makes an item of every run of s->runs; none has `wanted` set. -1: out of memory. */
int sync_runs_init(struct sync_runs *s, struct err *err);
void sync_runs_deinit(struct sync_runs *s);
struct sync_item *sync_runs_item(const struct sync_runs *s, const char *id); /* NULL if there is none */
/* Sends the items with `wanted`, in the order of newest_first. Parents and corrected runs that the
 * server lacks are sent before them. The text of a correction is written to the corrected run on the
 * server. Failures are reported by s->note and counted in s->n. */
void sync_runs_send(struct sync_runs *s);
#endif
