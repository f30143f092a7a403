/* server.c: which MLflow server a run is sent to. */
#include "plan/server.h"

#include "base/env.h"
#include "mlflow/mlflow.h"

#include <string.h>

enum { URI_MAX = 1400 /* it has to fit a message to the launcher, which passes it to the program (--share-run) */ };

/* Returns an address without the credentials that it may contain, and without slashes at its
 * end. */
static const char *plan_server_shown(const char *uri, struct arena *a)
{
    const char *scheme = strstr(uri, "://"), *rest = scheme ? scheme + 3 : uri;
    size_t authority = strcspn(rest, "/?#"), n;
    const char *at = memrchr(rest, '@', authority);
    const char *shown = at ? at + 1 : rest;
    for (n = strlen(shown); n && shown[n - 1] == '/'; n--)
        ;
    return arena_printf(a, "%.*s%.*s", (int)(rest - uri), uri, (int)n, shown);
}

/* Returns whether the id is written as MLflow writes ids of runs. */
static bool run_id_legal(const char *id)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strlen(id);
    return n >= 1 && n <= 64 && id[0] != '-' && id[0] != '_' && strspn(id, legal) == n;
}

/* Chooses MLFLOW_RUN_ID, a run that another client has made. One that a parent benchwrap shared
 * with its program is not meant for the runs inside it, which are its children. */
static void choose_run(struct plan *p, char **env)
{
    const char *id = env_text(env, "MLFLOW_RUN_ID"), *shared = env_text(env, "BENCHWRAP_SHARED_RUN");
    if (!id || (shared && strcmp(shared, id) == 0))
        return;
    if (run_id_legal(id))
        p->server_run = id;
    else
        plan_warn(p, "MLFLOW_RUN_ID is not the id of a run: a new one is made");
}

/* Warns that MLFLOW_EXPERIMENT_ID is ignored: the tree knows experiments by name, and no request is
 * sent to a server before the program runs. With --share-run, the run's experiment is known too. */
static void warn_of_experiment(struct plan *p, char **env)
{
    if (env_text(env, "MLFLOW_EXPERIMENT_ID") && !env_text(env, "MLFLOW_RUN_ID") && !opt_text(&p->opts, OPTION_EXPERIMENT))
        plan_warn(p, "MLFLOW_EXPERIMENT_ID is ignored: name the experiment (-e NAME, or MLFLOW_EXPERIMENT_NAME)");
}

static void plan_set_server(struct plan *p, const char *uri, const char *where)
{
    p->server = plan_server_shown(uri, &p->arena);
    p->server_uri = p->server ? uri : NULL;
    p->server_where = where;
}

/* Replaces the option's text by the address without credentials: whatever prints the options shall
 * not print a password. */
static void hide_credentials(struct plan *p)
{
    for (size_t i = 0; i < p->opts.count; i++)
        if (strcmp(p->opts.rows[i].name, "to") == 0)
            p->opts.values[i].text = p->server;
}

/* Sets the server of the option. A wrong address is an error (-1 with err) on the command line,
 * else a warning. So that other users cannot see a password, an address with one is an error on the
 * command line. */
static int take_option(struct plan *p, const struct opt_value *given, struct err *err)
{
    bool good = mlflow_is_server(given->text), line = given->origin == OPT_COMMAND_LINE;
    const char *shown = plan_server_shown(given->text, &p->arena), *wrong = NULL;
    if (!good)
        wrong = "is not the address of an MLflow server: expected http://HOST:5000, https://…, or none";
    else if (strlen(given->text) > URI_MAX)
        wrong = "is too long for an address";
    else if (line && shown && strlen(shown) + 1 < strlen(given->text) && memrchr(given->text, '@', strlen(given->text)))
        wrong =
            "is given with a password, which everybody on this machine could see: set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD instead";
    if (!wrong) {
        plan_set_server(p, given->text, given->where);
        hide_credentials(p);
        return 0;
    }
    err_set(err, ERR_USAGE, "%s: \"%.200s\" %s", given->where, shown ? shown : "", wrong);
    if (line)
        return -1;
    plan_warn(p, arena_printf(&p->arena, "%s; ignored", err->text));
    return 0;
}

int plan_server(struct plan *p, char **env, struct err *err)
{
    const struct opt_value *given = opt_find(&p->opts, OPTION_TO);
    const char *uri = env_text(env, "MLFLOW_TRACKING_URI");
    bool named = given->text && *given->text, strong = named && given->origin >= OPT_ENVIRONMENT;
    struct err why = {0};
    p->server_where = "none was named";
    if (mlflow_is_server(uri) && !strong) {
        if (strlen(uri) <= URI_MAX)
            plan_set_server(p, uri, "MLFLOW_TRACKING_URI");
        else
            plan_warn(p, "MLFLOW_TRACKING_URI is too long for an address: nothing is sent");
    } else if (named && strcmp(given->text, "none") == 0)
        p->server_where = given->where;
    else if (named && take_option(p, given, &why)) {
        if (err)
            *err = why;
        return -1;
    }
    if (p->server) {
        choose_run(p, env);
        warn_of_experiment(p, env);
        const char *impossible = mlflow_config_warning(env, &p->arena);
        if (impossible)
            plan_warn(p, impossible);
    }
    return 0;
}
