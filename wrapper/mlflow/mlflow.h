/* mlflow.h: an MLflow tracking server over REST 2.0: typed calls, each with its retries.
 *
 * The server swallows wrong JSON types with status 200 and loses what follows, so texts are always quoted, integers have no decimals, and
 * non-finite numbers are the texts "NaN", "Infinity", "-Infinity". A client belongs to one thread,
 * and makes one request at a time. */
#ifndef MLFLOW_MLFLOW_H
#define MLFLOW_MLFLOW_H
#include "base/arena.h"
#include "base/http.h"
#include "mlruns-format/tree.h"

struct mlflow;
struct json;

/* Outcome of a call; err has it in words unless it is MLFLOW_FINE. */
enum mlflow_answer {
    MLFLOW_FINE,
    MLFLOW_LATER, /* no answer, or one that means "not now": another time it may work. The server may have executed the request */
    MLFLOW_DENIED, /* 401, 403: credentials, or a name that --allowed-hosts does not list */
    MLFLOW_ABSENT, /* the requested object does not exist */
    MLFLOW_EXISTS, /* what was to be made is there already */
    MLFLOW_REFUSED, /* the server will never accept this */
    MLFLOW_CANCELLED, /* the process was requested to end */
};

struct mlflow_config {
    const char *uri; /* http://host:5000/prefix, without credentials */
    struct http_config http;
    int retries; /* attempts after the first */
    double backoff_s, jitter_s; /* the n-th wait: backoff 2^n, and a random part of jitter */
    bool heed_retry_after;
    uint64_t multipart_bytes, part_bytes; /* files from this size on go to the storage in parts, where the server can; 0: none does */
    double patience_s; /* no attempt begins later than this after the first; 0: no such limit */
    const char *warning; /* of the environment: a request that is not possible; NULL */
    void (*replied)(void *context); /* the server has answered a request, with any status; may be NULL */
    void *context;
};
/* Reads the configuration that MLflow's own variables (and ~/.mlflow/credentials) mean; uri may be NULL: MLFLOW_TRACKING_URI. All texts are in the arena.
 * ERR_INPUT: there is no address, or none of a server (a path, sqlite:, databricks:). */
int mlflow_config_from(struct mlflow_config *ret, const char *uri, char *const *env, struct arena *a, struct err *err);
/* Returns what the environment requests of a client and is not possible here
 * (mlflow_config.warning); NULL: nothing. In the arena, or a constant. */
const char *mlflow_config_warning(char *const *env, struct arena *a);
/* Returns whether the text is the address of a tracking server (http, https). */
bool mlflow_is_server(const char *uri);

/* Opens a client: makes no request, and copies everything. 0; -1 with err: libcurl cannot be
 * loaded, or no memory. */
int mlflow_open(struct mlflow **ret, const struct mlflow_config *config, struct err *err);
void mlflow_close(struct mlflow *m); /* NULL is allowed */
const char *mlflow_uri(const struct mlflow *m);
/* Directs runs and their facts from now on into this database of the server, which is this process's own (store.h); the rest is requested as before, and
 * includes them. The store stays the caller's, and outlives the client. */
struct mlflow_store;
void mlflow_use_store(struct mlflow *m, struct mlflow_store *store);
/* Ends what a store has gathered. After another answer than MLFLOW_FINE all since the last call may be lost. FINE where there is no store. */
enum mlflow_answer mlflow_settle(struct mlflow *m, struct err *err);
unsigned mlflow_requests(const struct mlflow *m); /* made so far, repetitions included; for tests */
/* Queries /health once. MLFLOW_FINE: it answers with 200; other answers have err. */
enum mlflow_answer mlflow_health(struct mlflow *m, struct err *err);

/* Return a number in a reply, which comes as one or as a text ("NaN", "Infinity", "12"): NAN and 0
 * where it is neither. */
double mlflow_number(const struct json *v);
int64_t mlflow_integer(const struct json *v);

/* ---- experiments ---- */

/* Finds the id of the experiment of this name; makes it if there is none, restores it if it was deleted. */
enum mlflow_answer mlflow_experiment(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, struct err *err);
/* Finds the id of the experiment of this name and makes nothing: MLFLOW_ABSENT where there is none. */
enum mlflow_answer mlflow_experiment_find(struct mlflow *m, const char *name, struct arena *a, const char **ret_id, struct err *err);
/* When the server made the experiment of this id, by its own clock (0: unknown): with the id, this
 * distinguishes one server's data from another's. One attempt, of a few seconds. MLFLOW_ABSENT: it
 * has no such experiment. */
enum mlflow_answer mlflow_experiment_made(struct mlflow *m, const char *id, int64_t *ret_ms, struct err *err);

/* ---- runs ---- */

struct mlflow_run {
    const char *id, *experiment, *name, *status, *artifact_uri, *user, *lifecycle;
    int64_t start_ms, end_ms; /* end_ms 0: none */
    const struct json *data; /* params[], tags[] {key, value}, metrics[] {key, value, timestamp, step}: lives as long as `reply` */
    struct json *reply; /* the caller frees it (json_free); NULL in lists */
    bool is_model; /* a logged model of MLflow 3, whose artifacts are its own */
    struct mlflow_run *next;
};
struct mlflow_tag {
    const char *key;
    struct str value;
};
/* Returns the value of a tag in a run's data; NULL: it has none. */
const char *mlflow_tag_of(const struct json *data, const char *key);
/* Not repeated when the answer was lost: MLFLOW_LATER then, and the run may be there; search it by
 * a tag. */
enum mlflow_answer mlflow_run_create(struct mlflow *m, const char *experiment, const char *name, const char *user, int64_t start_ms,
                                     const struct mlflow_tag *tags, size_t n, struct arena *a, struct mlflow_run *ret, struct err *err);
enum mlflow_answer mlflow_run_get(struct mlflow *m, const char *id, struct arena *a, struct mlflow_run *ret, struct err *err);
/* Reads the logged model of this id, for its artifacts and its description (reply). */
enum mlflow_answer mlflow_model_get(struct mlflow *m, const char *id, struct arena *a, struct mlflow_run *ret, struct err *err);
/* Queries whether the server has traces of this run. MLFLOW_ABSENT: it is older than traces. */
enum mlflow_answer mlflow_run_has_traces(struct mlflow *m, const struct mlflow_run *run, bool *ret, struct err *err);
/* Sets status (NULL: it stays) and end (0: it stays) of a run. */
enum mlflow_answer mlflow_run_update(struct mlflow *m, const char *id, const char *status, int64_t end_ms, const char *name,
                                     struct err *err);
enum mlflow_answer mlflow_run_delete(struct mlflow *m, const char *id, struct err *err);
/* Calls `each` for every run that the filter finds, active ones (deleted too with all), until it
 * returns non-zero. The texts of the run live as long as the call. All pages are requested, of `page`
 * runs (1 … 1,000) each: a few are much cheaper than many, for both sides. */
enum mlflow_answer mlflow_run_search_pages(struct mlflow *m, const char *experiment, const char *filter, bool all, unsigned page,
                                           int (*each)(void *context, const struct mlflow_run *run), void *context, struct err *err);
enum mlflow_answer mlflow_run_restore(struct mlflow *m, const char *id, struct err *err);
/* MLFLOW_FINE also where the run has no such tag or the server has no such run; err then has the
 * server's words. */
enum mlflow_answer mlflow_tag_delete(struct mlflow *m, const char *run, const char *key, struct err *err);
/* Calls `each` for every sample of a metric, in the server's order, until it returns non-zero. */
enum mlflow_answer mlflow_history(struct mlflow *m, const char *run, const char *key,
                                  int (*each)(void *context, double value, int64_t time_ms, int64_t step), void *context, struct err *err);

/* A list that mlflow_history fills, {0} at first; the caller frees ->at. failed: no memory, which ended it. */
struct mlflow_samples {
    struct tree_sample *at;
    size_t count, room;
    bool failed;
};
int mlflow_samples_add(void *samples, double value, int64_t time_ms, int64_t step);

/* ---- log-batch: facts are gathered and sent when a limit is reached (1,000 metrics, 100 params, 100 tags, 1,000 together, 900 KiB) ---- */

struct mlflow_batch {
    struct mlflow *m;
    const char *run;
    struct buf metrics, params, tags;
    size_t n_metrics, n_params, n_tags;
    uint32_t metric_at[1000], param_at[100], tag_at[100]; /* where each begins: a request that a proxy finds too large is sent in halves */
    size_t cut; /* values that were longer than the server keeps and were cut (6,000 and 8,000 characters) */
    enum mlflow_answer answer; /* the first that was not fine: nothing more is sent then */
    struct err err;
};
void batch_begin(struct mlflow_batch *b, struct mlflow *m, const char *run);
/* Adds one sample to the batch, which is sent when it is full. Errors are in b->answer and
 * b->err. */
void batch_metric(struct mlflow_batch *b, struct str key, double value, int64_t time_ms, int64_t step);
void batch_param(struct mlflow_batch *b, struct str key, struct str value);
void batch_tag(struct mlflow_batch *b, struct str key, struct str value);
enum mlflow_answer batch_send(struct mlflow_batch *b); /* what is gathered; FINE when there is nothing */
void batch_end(struct mlflow_batch *b); /* frees; sends nothing */

struct mlflow_dataset {
    const char *name, *digest, *source_type, *source, *context; /* context: tag mlflow.data.context; NULL */
};
enum mlflow_answer mlflow_log_input(struct mlflow *m, const char *run, const struct mlflow_dataset *d, struct err *err);

/* ---- artifacts (mlflow_artifacts.c) ---- */

/* Sends a file (size bytes of fd) to path below the run's artifacts: through the server's proxy, a
 * presigned address, or (up to 10 MB) the upload call. MLFLOW_REFUSED names a root that only its
 * owner can write. */
enum mlflow_answer mlflow_artifact_put(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, uint64_t size,
                                       struct err *err);
/* Calls `each` for every file below path ("" for all) and its folders: it gets path and size; of a folder that is too
 * deep to be entered, its path and -1. */
enum mlflow_answer mlflow_artifact_list(struct mlflow *m, const struct mlflow_run *run, const char *path,
                                        int (*each)(void *context, const char *path, int64_t size), void *context, struct err *err);
/* Writes the file's bytes to fd. */
enum mlflow_answer mlflow_artifact_get(struct mlflow *m, const struct mlflow_run *run, const char *path, int fd, struct err *err);

/* ---- for mlflow_artifacts.c ---- */

struct mlflow_call {
    const char *what; /* "runs/create", for messages */
    struct http_request request;
    bool once; /* not to be repeated when the answer was lost */
    bool no_content; /* 204 without a body is an answer too: only whether it was done is of interest */
    char *etag; /* 200 bytes, of the reply; NULL: not needed */
};
/* Makes a request with the retries of the configuration; *ret_json, unless ret_json is NULL, is the
 * reply's object (caller frees). */
enum mlflow_answer mlflow_do(struct mlflow *m, const struct mlflow_call *call, struct json **ret_json, struct err *err);
int mlflow_status(const struct mlflow *m); /* of the last reply; 0: none came */
/* Returns the size in bytes of the parts in which a file of this size is sent; 0: it is sent in
 * one. */
uint64_t mlflow_part_bytes(const struct mlflow *m, uint64_t size);
#endif
