/* shared.h: what the program's own MLflow client logs with --share-run becomes part of the run's record.
 *
 * Without a server (or while it is silent) the client logs to a private file store in the spool, <spool>/.shared-<run id>, and never to the tree. With a
 * server it logs there: when the program has ended, what the server has is fetched into a folder of the same name, as a journal and files. Either way the
 * finish step adds it to the record before the run is published. The store is beside the run's own folder, which another process may rename while the
 * program still runs, and goes when that one is released. */
#ifndef WRAPPER_RUN_SHARED_H
#define WRAPPER_RUN_SHARED_H
#include "run/finish.h"

#define SHARED_TAG_RUN "benchwrap.shared_run"        /* the server's id of the run that the client logged to */
#define SHARED_TAG_INCOMPLETE "benchwrap.incomplete" /* "mlflow": what the client logged is on the server and not in this run */
#define SHARED_SOURCE "mlflow"                       /* of its facts */

struct shared_store {
    const char *uri;        /* file:///… */
    char experiment[24];    /* its id */
};
/* Makes the private store, with one run of the record's id that the client will find by MLFLOW_RUN_ID. Texts are in the arena. */
int shared_make_store(const struct spool *s, const struct journal_head *head, struct arena *a, struct shared_store *ret, struct err *err);
/* The folder of the run in the spool (make: made where it is not there), open; -1: there is none. */
int shared_open(const struct spool *s, const char *id, bool make);
/* Is what a fetch has written to the folder complete? */
bool shared_is_fetched(int folder);
/* Is this a key of benchwrap's own in the record, which the client's does not replace? */
bool shared_is_own(const struct record *r, enum fact_kind kind, const char *key);

/* Adds what the client logged to the record, files to the spool's folder. left: bytes of files that the run may still keep. */
struct shared_into {
    struct record *r;
    int spool;
    uint64_t left;
    struct redact *redact;
    size_t files;           /* so far */
};
/* From a folder that a fetch has completed. */
int shared_add_fetched(struct shared_into *to, int folder, struct err *err);
/* The finish step: from the store, or what was fetched; else the run is marked as incomplete. */
void shared_finish(const struct spool *s, struct record *r, uint64_t left, struct redact *redact);
/* Runs that the client has made besides (a second start_run, nested ones) become runs of the tree; their places are added to `places`. */
int shared_publish(struct spool *s, struct finished *f, const struct finish_options *o, struct buf *places, struct err *err);
#endif
