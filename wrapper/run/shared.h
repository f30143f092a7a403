/* shared.h: with --share-run, add what the program's own MLflow client logs to the run's record.
 *
 * Without a server (or while it is silent) the client logs to a private file store in the spool, <spool>/.shared-<run id>, and never to the tree. With a
 * server it logs there: when the program has ended, what the server has is fetched into a folder of the same name, as a journal and files. Either way the
 * finish step adds it to the record before the run is published. The store is next to the run's own
 * folder, which another process may rename while the
 * program still runs, and goes when that one is released. */
#ifndef WRAPPER_RUN_SHARED_H
#define WRAPPER_RUN_SHARED_H
#include "run/finish.h"

#define SHARED_TAG_RUN "benchwrap.shared_run"        /* the server's id of the run that the client logged to */
#define SHARED_TAG_INCOMPLETE "benchwrap.incomplete" /* "mlflow": what the client logged is on the server and not in this run */
#define SHARED_SOURCE "mlflow"                       /* of its facts */
/* The warning about a metric of the client that the record lacks. */
#define SHARED_LEFT_OUT "the metric %.100s that the program's MLflow client logged is left out: benchwrap itself records one of this name"
/* Warns of a tag of the client that the record lacks. own: the record's tag of that name; NULL: it has none. MLflow's own tags are left out
 * silently where no option sets them: its client sets them by itself. */
void shared_note_tag(struct record *to, const struct fact *own, const char *key);

struct shared_store {
    const char *uri;        /* file:///… */
    char experiment[24];    /* its id */
};
/* Makes the private store with one run, of the id in *head, which the client finds by MLFLOW_RUN_ID.
 * Texts are in the arena. 0; -1 with err. */
int shared_make_store(const struct spool *s, const struct journal_head *head, struct arena *a, struct shared_store *ret, struct err *err);
/* Opens the run's shared folder in the spool; make: creates it if it is absent. The descriptor, the
 * caller's to close; -1: there is none. */
int shared_open(const struct spool *s, const char *id, bool make);
/* Records samples of the client, which it sorts: clients log them in any order of time. start_ms: of the run, for samples without a time. */
void shared_record_samples(struct record *to, const char *key, struct tree_sample *list, size_t n, int64_t start_ms);
/* Returns whether this is a key of benchwrap's own in the record, which the client's does not
 * replace. */
bool shared_is_own(const struct record *r, enum fact_kind kind, const char *key);

/* Adds what the client logged to the record, files to the spool's folder. left: bytes of files that the run may still keep. */
struct shared_into {
    struct record *r;
    int spool;
    uint64_t left;
    struct redact *redact;
    size_t files;           /* so far */
};
/* Adds what is in a folder that a fetch has completed. 0; -1 with err. */
int shared_add_fetched(struct shared_into *to, int folder, struct err *err);
/* The finish step: adds the store or the fetched folder to the record, else marks the run as
 * incomplete. left: bytes left for files. */
void shared_finish(const struct spool *s, struct record *r, uint64_t left, struct redact *redact);
/* Publishes the client's other runs (a second start_run, nested ones), and appends their places to
 * `places`, each behind a blank. 0; -1 with err. */
int shared_publish(struct spool *s, struct finished *f, const struct finish_options *o, struct buf *places, struct err *err);
#endif
