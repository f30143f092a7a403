/* cmd_ui.c: `benchwrap ui`: the runs of this tree in MLflow's own web interface, or how to get there. */
#include "cmd/help.h"
#include "cmd/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The id of the experiment that the link leads to: the one named, else the newest run's. 0: there is none. */
static int experiment_of(struct cmd_context *c, struct runs *runs, uint64_t *ret_id, const char **ret_name)
{
    struct runs_filter filter = {.experiment = opt_text(&c->opts, "experiment")};
    *ret_id = 0;
    if (runs_load(runs, &filter, c, c->err) < 0)
        return -1;
    if (filter.experiment && !runs->count)
        return err_set(c->err, ERR_INPUT, "the tree %s has no runs in an experiment \"%.60s\"; see \"benchwrap ls\"", runs->tree,
                       filter.experiment);
    if (runs->count) {
        *ret_id = runs->all[0]->experiment_id;
        *ret_name = runs->all[0]->experiment;
    }
    return 0;
}

static void quoted(struct buf *b, const char *word)
{
    buf_putc(b, ' ');
    help_quote(b, word);
}

static int start(struct cmd_context *c, const char *parent, char **argv)
{
    fflush(c->out);
    if (chdir(parent) < 0)
        return err_sys(c->err, "going to %s", parent);
    if (setenv("MLFLOW_ALLOW_FILE_STORE", "true", 1) < 0)
        return err_sys(c->err, "setting MLFLOW_ALLOW_FILE_STORE");
    unsetenv("MLFLOW_TRACKING_URI"); /* it would take the place of the tree */
    execvp(argv[0], argv);
    if (errno == ENOENT)
        return err_set(c->err, ERR_INPUT,
                       "there is no mlflow in PATH: \"python3 -m venv ~/mlflow && ~/mlflow/bin/pip install mlflow\", "
                       "then PATH=~/mlflow/bin:$PATH; or start by hand what is printed above");
    return err_sys(c->err, "starting mlflow");
}

static int run(struct cmd_context *c)
{
    struct runs runs;
    uint64_t id = 0;
    const char *name = NULL, *host = opt_text(&c->opts, "host");
    int64_t port = opt_integer(&c->opts, "port");
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "takes no operands");
    if (port < 1 || port > 65535)
        return err_set(c->err, ERR_USAGE, "--port: a number from 1 to 65535 is wanted");
    if (runs_open(&runs, c, c->err) < 0)
        return -1;
    int status = experiment_of(c, &runs, &id, &name);
    runs_close(&runs);
    if (status < 0)
        return -1;
    /* Artifact paths of the tree are relative to the folder that holds mlruns: the server must be started there. */
    const char *slash = strrchr(runs.tree, '/');
    char *parent = arena_dup(c->arena, slash > runs.tree ? runs.tree : "/", slash > runs.tree ? (size_t)(slash - runs.tree) : 1);
    char mlflow[] = "mlflow", server[] = "server", store[] = "--backend-store-uri", mlruns[] = "./mlruns", hosts[] = "--host",
         ports[] = "--port";
    char *number = arena_printf(c->arena, "%lld", (long long)port), *host_word = arena_dup(c->arena, host, strlen(host));
    char *argv[] = {mlflow, server, store, mlruns, hosts, host_word, ports, number, NULL};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    buf_puts(&b, "cd");
    quoted(&b, parent);
    buf_puts(&b, " && MLFLOW_ALLOW_FILE_STORE=true");
    for (char **word = argv; *word; word++)
        quoted(&b, *word);
    const char *link = id ? arena_printf(c->arena, "http://%s:%s/#/experiments/%llu/runs", host, number, (unsigned long long)id)
                          : arena_printf(c->arena, "http://%s:%s/", host, number);
    if (!parent || !number || !host_word || !link || b.failed)
        return err_set(c->err, ERR_SYSTEM, "out of memory");
    if (opt_on(&c->opts, "json")) {
        CLEANUP_BUF struct buf text;
        buf_init(&text, 256 << 10);
        struct json_out j = {.to = &text};
        json_open(&j, NULL, '{');
        json_text(&j, "folder", parent);
        json_text(&j, "command", b.p);
        json_text(&j, "link", link);
        json_text(&j, "experiment", name);
        json_close(&j, '}');
        fputs(text.p ? text.p : "", c->out);
        return 0;
    }
    fprintf(c->out, "%s\n%s\n", b.p, link);
    return opt_on(&c->opts, "print") ? 0 : start(c, parent, argv);
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    {"experiment", 'e', OPT_TEXT, "NAME", NULL, NULL, "Selection", "the experiment that the link leads to (default: the newest run's)", 0},
    {"host", 0, OPT_TEXT, "ADDRESS", NULL, "127.0.0.1", "Server", "address that the server listens at", 0},
    {"port", 'p', OPT_INT, "N", NULL, "5000", "Server", "port that the server listens at", 0},
    {"print", 0, OPT_FLAG, NULL, NULL, NULL, "Output", "only print the command and the link", 0},
    CMD_ROW_JSON,
};

const struct cmd cmd_ui = {
    .name = "ui",
    .summary = "the runs of this tree in MLflow's own web interface",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Prints the command that serves the tree, and the link that leads straight to the runs (the front page of new MLflow versions shows "
        "traces first, where no runs are seen), then becomes that command if mlflow is in PATH. It needs MLFLOW_ALLOW_FILE_STORE=true and must be "
        "started in the folder that holds mlruns, which is what it does.",
    .examples = "$ benchwrap ui --print\n"
                "The command and the link, nothing is started.\n",
    .run = run,
};
