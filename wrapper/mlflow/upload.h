/* upload.h: one run on an MLflow server, exactly once: found or made, completed, marked as complete.
 *
 * The server chooses its own run ids, so a run is known there by the tag benchwrap.run_id. It is searched before it is made and again
 * afterwards; where several carry the tag (two syncs at once, a reply that was lost), the first by
 * start and id is the run, every process continues
 * with that one, and the others lose the tag and are deleted. No run is ever deleted unless a lesser one is there, so one always stays.
 *
 * Only what the server lacks is sent: repeating an upload is harmless, and an interrupted one
 * continues where it ended. The tag
 * benchwrap.synced holds the content's sum when all facts are there (status and end time follow it, and are compared too).
 * Texts that the server would cut are cut here and named in the tag benchwrap.cut. */
#ifndef MLFLOW_UPLOAD_H
#define MLFLOW_UPLOAD_H
#include "mlruns-format/tree.h"
#include "mlflow/mlflow.h"

struct upload; /* one thread's */

struct upload_config {
    struct mlflow *server; /* stays the caller's, and outlives it */
    const char *state; /* the folder where is noted what is done (".benchwrap/sync"; made when needed); NULL: nothing is noted */
    bool restore; /* a run that was deleted on the server is restored; else it is left deleted (MLFLOW_ABSENT) */
    bool dry; /* nothing is made or sent: upload_tree_run reports what it would do */
    bool careful; /* also search others directly after creating, for uploads that take long */
    bool together; /* search the duplicates of many complete runs at once; the caller must call upload_settle_all at the end */
    void (*note)(void *context, const char *text); /* a sentence people should see, safe to print; may be NULL */
    bool
        machine_apart; /* facts of the machine and of the run as such become system/KEY, which MLflow shows separately; medians that
                             * `ls` shows are metrics of their own */
    /* Of an experiment: headline metrics, a line each, that are sent as KEY.median also for runs with one sample. NULL: there are none. */
    const char *(*medians)(void *context, const char *experiment);
    /* Copies a published run's artifacts to where the server finds them. dir: the run's folder in the tree. NULL: they are sent. */
    int (*place)(void *context, const struct mlflow_run *run, int dir, struct err *err);
    void *context;
};
/* Opens an upload; the texts of the configuration are not copied. Makes no request. 0; -1 with err. */
int upload_new(struct upload **ret, const struct upload_config *config, struct err *err);
void upload_free(struct upload *u); /* NULL is allowed */

/* ---- one run, step by step: for a run that is still going ---- */

struct upload_run {
    const char *id; /* benchwrap's: 32 hexadecimal digits */
    const char *experiment, *name, *user;
    const char *parent; /* the tree's id of its parent; NULL or "" */
    const char *
        server_run; /* the server's id of a run that another client made, which this one is appended to; NULL: it is a run of its own there */
    int64_t start_ms;
};
struct upload_place {
    struct upload *u;
    struct arena arena;
    struct mlflow_run run; /* on the server; run.data: what it had when it was found */
    bool fresh; /* made by this call: nothing is there yet */
    bool foreign; /* another client's: its name, user, status, end and MLflow's own tags are left alone */
    bool lost; /* a creation's reply was lost: what it made may come to light later */
    bool doubled; /* more than one carried the tag when it was searched */
    char id[33]; /* the tree's */
    const char *awaited; /* the id of the parent in the tree, where the server's run names it as missing; the caller's text */
    struct upload_experiment *experiment;
    struct mlflow_batch batch;
    struct buf cut; /* keys of values that were cut */
    size_t cut_told; /* so much of it is in the tag */
};
/* Finds or makes the run; where server_run is not on this server, it is a run of its own. MLFLOW_ABSENT: it was deleted there, and it is to
 * stay so. Whatever the answer, upload_close is due. */
enum mlflow_answer upload_open(struct upload *u, const struct upload_run *run, struct upload_place *ret, struct err *err);
/* Adds params, metrics and tags of a record (other kinds are ignored; mlflow.parentRunId becomes the
 * server's id). Gathered until upload_flush. */
void upload_fact(struct upload_place *p, const struct fact *fact);
/* Sends what was gathered. After another answer than MLFLOW_FINE the place is closed and opened again, and facts are sent again: SQL stores
 * drop what they have, file stores would keep duplicates of the samples of the last request. */
enum mlflow_answer upload_flush(struct upload_place *p, struct err *err);
enum mlflow_answer upload_status(struct upload_place *p, enum run_status status, int64_t end_ms, struct err *err);
void upload_close(struct upload_place *p);

/* Writes `text` ("Retracted: …") on the server's run of this id, as a tag, and as its description
 * where it has no other one. A run that is not there stays so. */
enum mlflow_answer upload_mark_corrected(struct upload *u, const char *experiment, const char *id, const char *text, struct err *err);

/* ---- a published run ---- */

/* Returns whether the server's text is this one, or what was left of it there. */
bool upload_same_text(const char *there, struct str ours);
/* Returns whether benchwrap sets this tag on the server while the run's record, as long as it is
 * written, has none. */
bool upload_is_server_tag(const char *key);

enum upload_outcome {
    UPLOAD_SENT, /* something was missing there; now it is complete */
    UPLOAD_THERE, /* the server had all of it */
    UPLOAD_KNOWN, /* noted as complete: no request was made */
    UPLOAD_DELETED, /* it was deleted on the server: left so */
    UPLOAD_DAMAGED, /* it cannot be read: nothing was sent */
    UPLOAD_FAILED,
};
struct upload_result {
    enum upload_outcome outcome;
    enum mlflow_answer answer; /* of FAILED; LATER: the rest can be sent another time */
    char server_id[65], experiment_id[65];
    bool made; /* the run was not there before */
    size_t params, metrics, tags, files; /* sent now */
    uint64_t bytes; /* of files */
};
/* Returns true if this run is noted as complete, with its current content. The server is queried at
 * most once for each experiment, whether it still has it. With config.restore no note counts. */
bool upload_is_known(struct upload *u, int root, const struct tree_run *run);
/* Makes the server's run equal to the tree's: `run` as tree_walk passes it with TREE_META (the rest
 * is read here), root the descriptor of mlruns. A parent that is not on the server yet is linked
 * when it comes. 0; -1 with err for DAMAGED and FAILED. */
int upload_tree_run(struct upload *u, int root, const struct tree_run *run, struct upload_result *ret, struct err *err);

/* With config.together a run that is complete waits for the search for duplicates, with others, by
 * one request instead of one each; before that it is not noted as complete. Each process that makes
 * a run searches afterwards, sooner or later, so of two that make the same at least one finds both. */
bool upload_settle_due(const struct upload *u); /* many wait, or for long: call upload_settle_all before the next run */
bool upload_is_unsettled(const struct upload *u, const char *id); /* the tree's id: its children had better wait for that search */
/* Searches. `again` is called for each run that has duplicates: it calls upload_tree_run again,
 * which makes one of them. How many still waited when a request failed is in *ret_left: they are
 * dropped here, and a next sync checks them. */
enum mlflow_answer upload_settle_all(struct upload *u, void (*again)(void *context, const char *id), void *context, size_t *ret_left,
                                     struct err *err);
#endif
