/* upload_parts.h: what the files of the upload engine share; private to them. */
#ifndef MLFLOW_UPLOAD_PARTS_H
#define MLFLOW_UPLOAD_PARTS_H
#include "mlflow/upload.h"

#define UPLOAD_TAG_ID "benchwrap.run_id"
#define UPLOAD_TAG_SYNCED "benchwrap.synced"
#define UPLOAD_TAG_SERVER_RUN "benchwrap.server_run" /* in the tree: the server's run that this one was appended to */
#define UPLOAD_TAG_SHARED "benchwrap.shared_run" /* in the tree: the server's run that the program's own client logged to */
#define UPLOAD_TAG_PULLED "benchwrap.pulled" /* in the tree: the server's run of another client that this one was pulled from */
#define UPLOAD_TAG_AMENDS "benchwrap.amends"
#define UPLOAD_TAG_CORRECTED "benchwrap.corrected" /* on the server alone: the correction of this run by another one */
#define UPLOAD_TAG_CUT "benchwrap.cut"
#define UPLOAD_TAG_DUPLICATE "benchwrap.duplicate" /* value: the tree's id; the run is about to be deleted */
#define UPLOAD_TAG_PARENT "benchwrap.parent_run_id" /* of a child whose parent was not there yet: the tree's id of the parent */

/* An experiment of the server. */
struct upload_experiment {
    const char *name, *id;
    int64_t made_ms; /* when the server made it; 0: not known */
    bool has_runs; /* it had runs of benchwrap when it was opened: each is searched before it is made */
    bool has_orphans; /* … and children whose parent was missing; not searched for uploads of single runs, which search later */
    struct upload_experiment *next;
};
enum { UPLOAD_RECENT = 64, UPLOAD_TOGETHER = 32, UPLOAD_ASKED = 32 };
enum upload_known {
    KNOWN_NOTHING,
    KNOWN_COMPLETE,
    KNOWN_DELETED,
    KNOWN_AGAIN /* complete, but a creation's reply was lost: search once more */
};
struct upload_state {
    enum upload_known known;
    char server_id[65];
    char stamp[65]; /* of the content that is there */
    char experiment
        [65]; /* the server's id of it, "": not known; where it has none of that id, made at that time, it is another server now */
    int64_t experiment_ms;
};
/* A run that is complete, and whose duplicates are yet to be searched. */
struct upload_unsettled {
    char id[33];
    struct upload_experiment *experiment;
    int64_t start_ms;
    struct upload_state state; /* to be noted then */
};
struct upload {
    struct upload_config config;
    struct mlflow *m;
    struct arena arena; /* experiments */
    struct upload_experiment *experiments;
    int state; /* folder of this server's notes, -1: none (yet) */
    bool state_failed; /* it cannot be made: reported once */
    bool careful;
    bool told_restored;
    struct {
        char id[33], server_id[65];
    } recent[UPLOAD_RECENT]; /* parents mostly */
    unsigned next_recent;
    struct {
        char id[65];
        int64_t ms;
        bool gone;
    } asked[UPLOAD_ASKED]; /* experiments of notes, and whether the server still has them */
    unsigned next_asked;
    struct upload_unsettled unsettled[UPLOAD_TOGETHER];
    size_t unsettled_count;
    int64_t unsettled_ns; /* since when the first waits */
};

/* Reports a message to the user by config.note, without control characters. Without that function
 * nothing happens. */
void upload_note(struct upload *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- upload_state.c: what is noted of a run: .benchwrap/sync/<hash of the server's address>/<run id> ---- */
/* Returns what is noted; KNOWN_NOTHING too where the server (queried once for each experiment) has lost its
 * data, or another server has its address. */
void upload_state_read(struct upload *u, const char *id, struct upload_state *ret);
/* Stores what the server has of the run, in the state folder. A failure is reported once, and
 * nothing is stored after it. */
void upload_state_write(struct upload *u, const char *id, const struct upload_state *s);

/* ---- upload.c ---- */
/* Removes other runs of its tag after the run is complete. *ret_moved: an earlier one exists, with
 * which the caller has to continue. */
enum mlflow_answer upload_settle(struct upload_place *p, bool *ret_moved, struct err *err);
/* Sets the bool at `context`, for a search where only whether there is one counts. */
int upload_one_is_enough(void *context, const struct mlflow_run *run);
/* Queries whether no other run has the tag of the run `id`. Mostly none has, and the query is
 * cheap: the reply holds no run. */
enum mlflow_answer upload_is_alone(struct upload *u, const struct upload_experiment *e, const char *id, const char *server_id, bool *ret,
                                   struct err *err);
/* Queries whether the run is there, and complete by its mark; makes nothing. MLFLOW_ABSENT: it is not there, or with a server_id: deleted. */
enum mlflow_answer upload_peek(struct upload *u, const struct upload_run *run, const char *stamp, bool *ret_marked, char server_id[65],
                               struct err *err);
/* Links the run with the parent that it awaited, if this is there now. */
enum mlflow_answer upload_link_awaited(struct upload_place *p, const struct upload_run *run, struct err *err);
/* Links the children that waited for this run. */
enum mlflow_answer upload_adopt(struct upload_place *p, struct err *err);

/* ---- upload_settle.c: the duplicates of many runs, searched together ---- */
/* Returns whether this run may wait. Not if others are known to be at work, nor if a reply was
 * lost, nor where the table is full. */
bool upload_may_wait(const struct upload *u, const struct upload_place *p);
/* Adds a run for which upload_may_wait is true to those that upload_settle_all searches. */
void upload_wait(struct upload *u, struct upload_experiment *e, const char *id, int64_t start_ms, const struct upload_state *state);

/* ---- upload_facts.c ---- */
/* Returns whether the tag is not to be set on another client's run: what it is called, whose it is, and what marks a run as
 * benchwrap's. */
bool upload_tag_stays(const char *key);
void upload_place_init(struct upload_place *p);
/* Adds a param or tag as the server keeps it: legal keys (reported where one is changed), cut values (noted in
 * p->cut). */
void upload_pair(struct upload_place *p, bool param, const char *key, struct str value);
/* Adds a param or tag whose value the server would cut to p->cut, the text of the tag benchwrap.cut. */
void upload_note_cut(struct upload_place *p, bool param, struct str key);
/* Returns the metric's key on the server. */
const char *upload_metric_key(const struct upload *u, const char *key, struct arena *a);
void upload_sample(struct upload_place *p, const char *key, const struct tree_sample *s);

/* ---- upload_content.c: what a run's folder holds ---- */
struct upload_file {
    const char *path; /* below artifacts/ */
    const char *name; /* on the server */
    uint64_t size;
    bool there; /* the server has one of this name and size */
    struct upload_file *next;
};
/* Lists the regular files below dir/artifacts, sorted; names that a server refuses are made legal, which is noted. */
int upload_files(struct upload *u, int dir, const char *id, struct arena *a, struct upload_file **ret, struct err *err);
/* Computes a sum over what a run is: meta.yaml and tags; of benchwrap's runs the manifest, which has the
 * sums of all files; of others params, metrics, names and sizes of artifacts. `run`: read with its
 * tags, and where upload_has_manifest is false with params and metrics. "" if meta.yaml cannot be
 * read. */
void upload_stamp(int dir, const struct tree_run *run, const struct upload_file *files, char ret[65]);
bool upload_has_manifest(int dir);
/* Logs the data sets of the run's inputs/; what cannot be read is noted. Answers other than
 * MLFLOW_FINE have err. */
enum mlflow_answer upload_inputs(struct upload_place *p, int experiment_dir, const char *id, struct err *err);
#endif
