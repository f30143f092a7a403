/* mlflow_call.h: what the files of the MLflow client share. */
#ifndef MLFLOW_MLFLOW_CALL_H
#define MLFLOW_MLFLOW_CALL_H
#include "base/json_out.h"
#include "mlflow/mlflow.h"
#include "mlflow/store.h"

struct mlflow {
    struct http *http;
    char *uri;
    int retries, cancel_fd;
    double backoff_s, jitter_s, patience_s;
    bool heed_retry_after, has_credentials;
    uint64_t multipart_bytes, part_bytes;
    size_t body_max; /* of a log-batch: less than the usual once a proxy has refused one */
    int status;
    unsigned requests;
    struct mlflow_store *store; /* receives runs and facts instead of requests; NULL */
    void (*replied)(void *context);
    void *context;
};

/* Makes a call below /api/2.0/mlflow/ with a JSON body (NULL: GET). path may have a query. ret NULL: the
 * reply is not needed. */
enum mlflow_answer mlflow_api(struct mlflow *m, const char *path, struct buf *body, bool once, struct json **ret, struct err *err);
/* Appends {"key":…,"value":…}. */
void mlflow_put_pair(struct json_out *list, struct str key, struct str value);
#endif
