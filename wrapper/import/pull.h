/* pull.h: runs of an MLflow server, whoever made them, become runs of a tree.
 *
 * A run that came from a tree (tag benchwrap.run_id) gets its id back, and with its benchwrap.json
 * all that a server does not store: units,
 * sources, reasons, complete texts. Any other run keeps the server's id. Either way a run is
 * written once, by run/make.h: completely or not at all. */
#ifndef WRAPPER_PULL_H
#define WRAPPER_PULL_H
#include "run/make.h"
#include "mlflow/mlflow.h"

enum pull_result {
    PULL_DONE, /* written now (dry: would be) */
    PULL_THERE, /* the tree has it */
    PULL_RUNNING, /* not ended on the server */
    PULL_DOUBLE, /* another run on the server has the same id, or this one is about to be deleted by a sync */
    PULL_FAILED,
    PULL_RESULTS
};

struct pull_run {
    const char *server_id, *name, *status, *parent /* the server's id of it, or NULL */, *experiment /* its name */;
    char id[33]; /* in the tree */
    bool ours; /* it has the tag benchwrap.run_id */
    bool differs; /* of this tree, but the run of this id in the tree that recorded it has, or will have, other content */
    bool doubled;
    int64_t start_ms;
};

struct pull {
    struct mlflow *server;
    const char *tree, *spool;
    uint64_t files_max; /* bytes of a run's artifacts; what is beyond stays on the server and is named as missing */
    bool dry, all; /* all: runs that have not ended too, closed as KILLED at their last fact */
    int root; /* descriptor of the tree, -1 while there is none */
    struct arena arena; /* the list's texts: pull_init, pull_deinit */
    struct pull_run *runs; /* by start, oldest first */
    size_t count, room;
    struct pull_run **by_server_id;
};

struct pulled {
    enum pull_result result;
    enum mlflow_answer
        answer; /* of FAILED: LATER and DENIED mean that the next runs will fare no better; FINE: the trouble is on this side */
    char place[128];
    const char *verdict; /* as recorded by the run itself; "" */
    size_t files;
    uint64_t bytes;
    char why[600];
};

void pull_init(struct pull *p);
void pull_deinit(struct pull *p);
/* Adds the active runs of an experiment that began at since_ms or later to the list. MLFLOW_ABSENT: no such experiment. */
enum mlflow_answer pull_add(struct pull *p, const char *experiment, int64_t since_ms, struct err *err);
/* Sorts the runs, sets ids and finds duplicates; for after the last run is added. */
int pull_ready(struct pull *p, struct err *err);
/* Searches the tree for one run of the list and writes it where it is missing. The spool is left for make_batch_settle. */
void pull_take(struct pull *p, const struct pull_run *run, struct pulled *ret);
#endif
