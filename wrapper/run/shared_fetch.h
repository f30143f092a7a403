/* shared_fetch.h: what the program's own MLflow client logged on a server comes into a folder (run/shared.h). */
#ifndef WRAPPER_RUN_SHARED_FETCH_H
#define WRAPPER_RUN_SHARED_FETCH_H
#include "run/shared.h"
#include "mlflow/mlflow.h"

/* Fetches what the server's run has beyond `ours` into the open folder: a journal, which is ended
 * when all is there, and files. left: bytes of files. artifacts: the folder of this run's own files
 * that the server may have by now, which are skipped; -1: it has none of them. */
enum mlflow_answer shared_fetch(struct mlflow *m, const char *server_run, const struct record *ours, uint64_t left, int artifacts, int folder,
                                struct err *err);
#endif
