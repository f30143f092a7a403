/* server_look.c: does the MLflow server of a plan answer? */
#include "sync/server_look.h"

#include "mlflow/mlflow.h"

enum { PATIENCE_S = 3 };

const char *server_look(struct plan *p, char *const *env, bool *ret_good)
{
    struct mlflow_config c;
    struct mlflow *m;
    struct err err = {0};
    const char *id = NULL;
    *ret_good = false;
    if (mlflow_config_from(&c, p->server_uri, env, &p->arena, &err))
        return arena_printf(&p->arena, "%s", err.text);
    c.http.total_s = c.http.connect_s = PATIENCE_S;
    c.retries = 0;
    if (mlflow_open(&m, &c, &err))
        return arena_printf(&p->arena, "%s", err.text);
    /* /health is open to everybody: what a run needs is the interface itself */
    const char *name = p->experiment ? p->experiment : "default";
    enum mlflow_answer answer = mlflow_experiment_find(m, name, &p->arena, &id, &err);
    mlflow_close(m);
    *ret_good = answer == MLFLOW_FINE || answer == MLFLOW_ABSENT;
    if (!*ret_good)
        return arena_printf(&p->arena, "%s", err.text);
    if (!p->experiment)
        return "answers";
    return arena_printf(&p->arena,
                        answer == MLFLOW_FINE ? "answers; it has the experiment %s"
                                              : "answers; it has no experiment %s yet: the first run in it creates it",
                        name);
}
