/* cmd_pull.c: `benchwrap pull`: the runs of an MLflow server into a tree. */
#include "base/stop_signals.h"
#include "base/clock.h"
#include "base/listing.h"
#include "base/progress.h"
#include "base/show.h"
#include "benchmarks/rules.h"
#include "sync/complete.h"
#include "cmd/selection.h"
#include "import/pull.h"
#include "plan/plan.h"
#include "run/commit.h"
#include "run/leftovers.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { SETTLED_S = 60, PATIENCE_S = 30, NOTHING_DONE = 2 };

struct pull_work {
    struct cmd_context *c;
    struct plan plan;
    struct pull pull;
    struct listing list;
    struct progress progress;
    const char *server;
    int64_t since_ms;
    int cancel_fd;
    struct make_batch batch; /* published, not safe yet */
    struct runs runs; /* of the tree; root -1: not opened */
    struct reparse_parents parents; /* of runs that were completed */
    size_t counts[PULL_RESULTS], untried, files;
    uint64_t bytes;
    char stopped[600]; /* why the rest was not tried; "" */
};

static void pull_note(void *context, const char *text)
{
    struct pull_work *w = context;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(text), 900);
    progress_clear(&w->progress);
    fprintf(w->c->notes, "benchwrap: pull: %s\n", b.p ? b.p : "");
}

static bool pull_is_cancelled(const struct pull_work *w)
{
    struct pollfd p = {.fd = w->cancel_fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* ---- one run ---- */

static const struct listing_column columns[] = {
    {"server_run", NULL, false, 0}, {"short", "RUN", false, 0},  {"result", "RESULT", false, 0},
    {"id", NULL, false, 0},         {"name", "NAME", false, 32}, {"experiment", "EXPERIMENT", false, 24},
    {"status", "STATUS", false, 0}, {"start", NULL, false, 0},   {"start_local", "STARTED", false, 0},
    {"path", NULL, false, 0},       {"why", "WHY", false, 100},
};

static void pull_add_row(struct pull_work *w, const struct pull_run *run, const struct pulled *got)
{
    static const char *const results[PULL_RESULTS] = {"pulled", "already there", "running", "double", "failed"};
    struct listing *l = &w->list;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 200);
    listing_text(l, run->server_id);
    listing_text(l, arena_printf(w->c->arena, "%.8s", run->id));
    listing_text(l, w->pull.dry && got->result == PULL_DONE ? "would pull" : results[got->result]);
    listing_text(l, run->id);
    listing_text(l, run->name);
    listing_text(l, run->experiment);
    listing_text(l, run->status);
    show_time_utc(&b, run->start_ms);
    listing_text(l, run->start_ms ? b.p : NULL);
    buf_clear(&b);
    show_time(&b, run->start_ms);
    listing_text(l, run->start_ms ? b.p : NULL);
    listing_text(l, got->place[0] ? got->place : NULL);
    listing_text(l, got->why[0] ? got->why : NULL);
}

static struct completion_job pull_completion(struct pull_work *w)
{
    struct cmd_context *c = w->c;
    return (struct completion_job){
        .arena = c->arena, .env = c->env, .runs = &w->runs, .plan = &w->plan, .server = w->pull.server, .parents = &w->parents};
}

/* Completes a run of the tree by what its program's own MLflow client logged on the server. Changes
 * *got where that was due; else leaves it as it was. */
static void complete_there(struct pull_work *w, const struct pull_run *run, struct pulled *got)
{
    struct cmd_context *c = w->c;
    struct completion_job x = pull_completion(w);
    struct tree_run *here;
    struct err err = {0};
    const char *place = NULL;
    if (w->runs.root < 0 && selection_open(&w->runs, c, &err))
        return;
    if (tree_find(w->runs.root, run->id, TREE_META, c->arena, &here, NULL) || !complete_is_due(&x, here))
        return;
    snprintf(got->why, sizeof got->why, "it completes run %.8s", run->id);
    got->result = PULL_DONE;
    if (w->pull.dry || complete_run(&x, here, &place, &got->answer, &err) >= 0) {
        snprintf(got->place, sizeof got->place, "%s", place ? place : "");
        return;
    }
    got->result = PULL_FAILED;
    snprintf(got->why, sizeof got->why, "%.500s", err.text);
}

/* Pulls one run and counts the result. Where the server does not answer or a signal has come, sets
 * w->stopped, and counts the run as not tried. */
static void pull_take_run(struct pull_work *w, const struct pull_run *run)
{
    struct pulled got;
    pull_take(&w->pull, run, &got);
    bool there = got.result == PULL_THERE && run->ours;
    if (there)
        complete_there(w, run, &got);
    w->files += got.files;
    w->bytes += got.bytes;
    if (got.answer == MLFLOW_LATER || got.answer == MLFLOW_DENIED || got.answer == MLFLOW_CANCELLED) {
        snprintf(w->stopped, sizeof w->stopped, "%s", got.answer == MLFLOW_CANCELLED ? "interrupted" : got.why);
        w->untried++;
        return;
    }
    w->counts[got.result]++;
    if (got.result != PULL_THERE || opt_on(&w->c->opts, OPTION_JSON))
        pull_add_row(w, run, &got);
    if (got.result != PULL_DONE || w->pull.dry || there) /* what completes another waits for the next sweep */
        return;
    struct err unsafe = {0};
    if (make_batch_add(&w->batch, run->id, &unsafe))
        pull_note(w, unsafe.text); /* the next run, or sync, does it */
}

/* Pulls all runs until w->stopped is set, then completes parent runs and makes the new runs
 * safe. */
static void take_all(struct pull_work *w)
{
    char more[64];
    w->progress.total = w->pull.count;
    for (size_t i = 0; i < w->pull.count; i++) {
        if (!w->stopped[0] && pull_is_cancelled(w))
            snprintf(w->stopped, sizeof w->stopped, "interrupted");
        if (w->stopped[0]) {
            w->untried++;
            continue;
        }
        pull_take_run(w, &w->pull.runs[i]);
        snprintf(more, sizeof more, "%zu new", w->counts[PULL_DONE]);
        progress_show(&w->progress, i + 1, more);
    }
    struct err err = {0};
    struct completion_job x = pull_completion(w);
    if (w->parents.count)
        complete_parents(&x, pull_note, w);
    if (make_batch_settle(&w->batch, &err))
        pull_note(w, err.text);
    progress_clear(&w->progress);
}

/* ---- all of pull ---- */

static int pull_plan_for(struct pull_work *w)
{
    struct cmd_context *c = w->c;
    return plan_make_for(&w->plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE, OPTION_ARTIFACT_MAX);
}

static int pull_open_server(struct pull_work *w, const char *uri)
{
    struct cmd_context *c = w->c;
    struct mlflow_config config;
    if (mlflow_config_from(&config, uri, c->env, c->arena, c->err))
        return err_wrap(c->err, "server");
    if (config.warning)
        pull_note(w, config.warning);
    if (!getenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES")) /* a user may be waiting at a terminal: not MLflow's two minutes */
        config.patience_s = PATIENCE_S;
    config.http.cancel_fd = w->cancel_fd;
    w->server = config.uri;
    return mlflow_open(&w->pull.server, &config, c->err);
}

static int list_experiments(struct pull_work *w, char **names, int count)
{
    struct err *err = w->c->err;
    for (int i = 0; i < count; i++) {
        enum mlflow_answer answer = pull_add(&w->pull, names[i], w->since_ms, err);
        if (answer == MLFLOW_ABSENT)
            return err_set(err, ERR_INPUT, "server %s: there is no experiment \"%.100s\"", w->server, names[i]);
        if (answer == MLFLOW_CANCELLED)
            return err_set(err, ERR_REMOTE, "interrupted");
        if (answer != MLFLOW_FINE)
            return -1;
    }
    return pull_ready(&w->pull, err);
}

static int pull_print(struct pull_work *w)
{
    struct cmd_context *c = w->c;
    const size_t *n = w->counts;
    bool json = opt_on(&c->opts, OPTION_JSON);
    if (listing_write(&w->list, json ? LISTING_JSON : LISTING_TABLE, c->out) < 0)
        return err_memory(c->err, "the list of runs");
    if (!json) {
        fprintf(c->out, "%s: %zu %s, %zu already there, %zu still running, %zu failed", w->server, n[PULL_DONE],
                w->pull.dry ? "would be pulled" : "pulled", n[PULL_THERE], n[PULL_RUNNING], n[PULL_FAILED]);
        if (n[PULL_DOUBLE])
            fprintf(c->out, ", %zu duplicate%s ignored", n[PULL_DOUBLE], str_plural(n[PULL_DOUBLE]));
        if (w->untried)
            fprintf(c->out, ", %zu not tried; repeat \"benchwrap pull\"", w->untried);
        fputc('\n', c->out);
    }
    if (w->stopped[0])
        pull_note(w, w->stopped);
    return 0;
}

/* Fetches the runs of the experiments that the command line names, commits what is new, and prints
 * the result. Frees plan and server. Returns what pull_print returns; -1 with c->err. */
static int pull_all_runs(struct pull_work *w)
{
    struct cmd_context *c = w->c;
    struct leftovers_count swept;
    const char *uri = opt_text(&c->opts, OPTION_FROM);
    int first = 0;
    if (!uri && c->argc && mlflow_is_server(c->argv[0]))
        uri = c->argv[first++];
    if (first >= c->argc)
        return err_set(c->err, ERR_USAGE, "expected an experiment, for example: benchwrap pull http://HOST:5000 EXPERIMENT");
    if (selection_since(w->c, &w->since_ms) || pull_plan_for(w))
        return -1;
    w->pull.tree = w->plan.tree;
    w->pull.spool = w->plan.spool;
    w->batch = (struct make_batch){.tree = w->plan.tree, .spool = w->plan.spool};
    w->pull.dry = opt_on(&c->opts, OPTION_DRY_RUN);
    w->pull.all = opt_on(&c->opts, OPTION_ALL);
    w->pull.files_max = opt_bytes(&w->plan.opts, OPTION_ARTIFACT_MAX);
    int rc = pull_open_server(w, uri);
    if (rc == 0 && !w->pull.dry) /* what a pull that was killed left is finished first */
        finish_leftovers(w->plan.spool, NULL, SETTLED_S, NULL, NULL, &swept);
    if (rc == 0)
        rc = list_experiments(w, c->argv + first, c->argc - first);
    if (rc == 0) {
        take_all(w);
        if (!w->pull.dry)
            run_commit_made(&w->plan, "pull", c->notes);
        rc = pull_print(w);
    }
    mlflow_close(w->pull.server);
    plan_deinit(&w->plan);
    return rc;
}

/* Executes `benchwrap pull`. Returns 0; 1: some runs failed or were not tried; NOTHING_DONE: none
 * was pulled or present; -1 with c->err. */
static int pull_command(struct cmd_context *c)
{
    /* A signal ends it between two requests: what is written then is complete. */
    struct pull_work w = {.c = c, .cancel_fd = stop_signals_open(NULL), .runs = {.root = -1}};
    progress_begin(&w.progress, c->notes, "fetching run", 0);
    pull_init(&w.pull);
    listing_init(&w.list, columns, sizeof columns / sizeof *columns, c->arena);
    int rc = pull_all_runs(&w);
    size_t bad = w.counts[PULL_FAILED] + w.untried;
    listing_deinit(&w.list);
    if (w.runs.root >= 0)
        runs_close(&w.runs);
    pull_deinit(&w.pull);
    if (w.cancel_fd >= 0)
        close(w.cancel_fd);
    return rc ? -1 : !bad ? 0 : w.counts[PULL_DONE] + w.counts[PULL_THERE] ? 1 : NOTHING_DONE;
}

static const struct opt_row rows[] = {
    {.name = OPTION_FROM,
     .kind = OPT_TEXT,
     .arg = "URL",
     .group = "Server",
     .help = "Fetch from this tracking server (default: the first operand if it is an address, else MLFLOW_TRACKING_URI)"},
    {.name = OPTION_SINCE,
     .kind = OPT_TEXT,
     .arg = "TIME",
     .group = "Selection",
     .help = "Choose runs that began then or later: 2026-11-20, \"2026-11-20 17:03\", or an age: 12h, 7d"},
    {.name = OPTION_ALL,
     .letter = 'a',
     .kind = OPT_FLAG,
     .group = "Selection",
     .help = "Also fetch runs that have not ended on the server, closed as KILLED at their last fact"},
    CMD_ROW_TREE_FOR("Record", "Write them into this mlruns folder"),
    CMD_ROW_ARTIFACT_MAX("Fetch at most this much of a run's artifacts, and name the others as missing (default: 64M)"),
    {.name = OPTION_DRY_RUN, .letter = 'n', .kind = OPT_FLAG, .group = "Output", .help = "Print what would be fetched, and write nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_pull = {
    .name = "pull",
    .summary = "Fetch runs from an MLflow server",
    .usage = "[OPTIONS] [URL] EXPERIMENT...",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description = "Each run of the experiments becomes a run of the tree, with its times, status, user, params, tags, every sample of its"
                   " metrics and its artifacts. A run that came from a tree (\"benchwrap sync\" sent it) gets its id back and is made "
                   "again as it was, from its own benchwrap.json; any other run keeps its id of the server. What the tree has is never "
                   "written again, so a pull can be repeated, and continues where an interrupted one ended. An incomplete run "
                   "(--share-run) is completed by a run that amends it.\n\n"
                   "The tree's format is narrower than a server: keys that it does not allow are made legal, infinite values are missing "
                   "with that reason (a server's database keeps them as the largest number), and of samples of a metric with the same time"
                   " each later one moves by a millisecond; the run's warnings name these changes. The data sets that a run used are in "
                   "its artifact inputs.json. Links to parent runs lead to the parents in the tree.\n\n"
                   "Status 0: all that has ended on the server is in the tree. 1: a part is not. 2: nothing could be pulled.",
    .examples =
        "$ benchwrap pull http://tracking.example.org:5000 ior\nThe runs of an experiment into ./mlruns.\n"
        "$ benchwrap pull --from http://tracking.example.org:5000 --since 7d training evaluation\nLast week's runs of two experiments.\n",
    .run = pull_command,
};
