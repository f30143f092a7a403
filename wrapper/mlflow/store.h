/* store.h: runs written straight into the SQLite database of a local MLflow that this process has started.
 *
 * MLflow needs about 50 ms of processor time to store a run by requests, a row in its database
 * needs microseconds. The rows are those that its own
 * store writes. Many runs are one transaction, which ends by store_commit: no reader gets half a
 * run. Another layout of the tables than the one known here
 * is refused by store_open; requests do the same work then. One thread's. */
#ifndef MLFLOW_STORE_H
#define MLFLOW_STORE_H
#include "mlflow/mlflow.h"

struct mlflow_store;

/* Opens the database at path, which MLflow has made. 0; -1 with err: no libsqlite3, or tables of an
 * unknown layout. */
int store_open(struct mlflow_store **ret, const char *path, struct err *err);
void store_close(struct mlflow_store *s); /* NULL is allowed; what is not committed is lost */

/* Creates a run in MLflow's database, with its tags. *ret and its texts are in the arena.
 * Everything but MLFLOW_FINE comes with err, and the database is then unchanged. */
enum mlflow_answer store_run_create(struct mlflow_store *s, const char *experiment, const char *name, const char *user, int64_t start_ms,
                                    const struct mlflow_tag *tags, size_t n, struct arena *a, struct mlflow_run *ret, struct err *err);
enum mlflow_answer store_run_update(struct mlflow_store *s, const char *run, const char *status, int64_t end_ms, struct err *err);
/* Stores a sample of a metric, also as its latest one. NaN and infinity are stored as MLflow does.
 * Everything but MLFLOW_FINE comes with err. */
enum mlflow_answer store_metric(struct mlflow_store *s, const char *run, struct str key, double value, int64_t time_ms, int64_t step,
                                struct err *err);
/* Stores a param or a tag: a param that is there stays, a tag is replaced. */
enum mlflow_answer store_pair(struct mlflow_store *s, const char *run, bool param, struct str key, struct str value, struct err *err);
/* Commits the open transaction. After a failure all that was not committed is lost, and every call
 * fails until one with `forget`, by which the caller confirms that it knows. */
enum mlflow_answer store_commit(struct mlflow_store *s, bool forget, struct err *err);
#endif
