/* cmd_adopt.c: `benchwrap adopt`: the runs of an MLflow tree that other programs made, into a results repository. */
#include "base/listing.h"
#include "base/progress.h"
#include "base/show.h"
#include "cmd/cmd.h"
#include "import/adopt.h"
#include "run/commit.h"
#include "run/leftovers.h"

#include <stdlib.h>

enum { SETTLED_S = 60 };

struct adopt_work {
    struct cmd_context *c;
    struct plan plan;
    struct adopt adopt;
    struct listing list;
    struct make_batch batch; /* published, not safe yet */
    size_t counts[ADOPT_RESULTS];
};

static void adopt_note(const struct adopt_work *w, const char *text)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(text), 900);
    fprintf(w->c->notes, "benchwrap: adopt: %s\n", b.p ? b.p : "");
}

static const struct listing_column columns[] = {
    {"short", "RUN", false, 0},
    {"result", "RESULT", false, 0},
    {"id", NULL, false, 0},
    {"name", "NAME", false, 32},
    {"experiment", "EXPERIMENT", false, 24},
    {"status", "STATUS", false, 0},
    {"start", NULL, false, 0},
    {"start_local", "STARTED", false, 0},
    {"lifecycle", NULL, false, 0},
    {"path", NULL, false, 0},
    {"why", "WHY", false, 100},
};

static void adopt_add_row(struct adopt_work *w, const struct tree_run *run, const struct adopted *got)
{
    static const char *const results[ADOPT_RESULTS] = {"adopted", "already there", "running", "benchwrap's", "failed"};
    struct listing *l = &w->list;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 200);
    listing_text(l, arena_printf(w->c->arena, "%.8s", run->id));
    listing_text(l, w->adopt.dry && got->result == ADOPT_DONE ? "would adopt" : results[got->result]);
    listing_text(l, run->id);
    listing_text(l, run->name);
    listing_text(l, run->experiment);
    listing_text(l, record_status_name(run->status));
    show_time_utc(&b, run->start_ms);
    listing_text(l, run->start_ms ? b.p : NULL);
    buf_clear(&b);
    show_time(&b, run->start_ms);
    listing_text(l, run->start_ms ? b.p : NULL);
    listing_text(l, run->lifecycle);
    listing_text(l, got->place[0] ? got->place : NULL);
    listing_text(l, got->why[0] ? got->why : NULL);
}

/* Adopts each run of w->adopt, counts the results in w->counts and lists them. Runs that cannot be
 * made safe now are only noted. */
static void adopt_all(struct adopt_work *w)
{
    struct adopt *a = &w->adopt;
    struct progress p;
    struct adopted got;
    struct err err = {0};
    progress_begin(&p, w->c->notes, "adopting run", a->count);
    for (size_t i = 0; i < a->count; i++) {
        progress_show(&p, i + 1, NULL);
        adopt_run(a, a->runs[i], &got);
        w->counts[got.result]++;
        if (got.result != ADOPT_THERE || opt_on(&w->c->opts, OPTION_JSON))
            adopt_add_row(w, a->runs[i], &got);
        if (got.result == ADOPT_DONE && !a->dry && make_batch_add(&w->batch, a->runs[i]->id, &err)) {
            progress_clear(&p);
            adopt_note(w, err.text); /* the next run, or sync, does it */
        }
    }
    progress_clear(&p);
    if (make_batch_settle(&w->batch, &err))
        adopt_note(w, err.text);
}

static int adopt_plan_for(struct adopt_work *w)
{
    struct cmd_context *c = w->c;
    return plan_make_for(&w->plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE, OPTION_ARTIFACT_MAX, OPTION_PROFILE);
}

static int adopt_print(struct adopt_work *w)
{
    struct cmd_context *c = w->c;
    const size_t *n = w->counts;
    bool json = opt_on(&c->opts, OPTION_JSON);
    if (listing_write(&w->list, json ? LISTING_JSON : LISTING_TABLE, c->out) < 0)
        return err_memory(c->err, "the list of folders");
    if (json)
        return 0;
    fprintf(c->out, "%zu %s, %zu already there, %zu not ended, %zu recorded by benchwrap, %zu failed\n", n[ADOPT_DONE],
            w->adopt.dry ? "would be adopted" : "adopted", n[ADOPT_THERE], n[ADOPT_RUNNING], n[ADOPT_OURS], n[ADOPT_FAILED]);
    return 0;
}

/* Adopts the runs below `dir`, commits them, and prints the result. Returns what adopt_print
 * returns; -1 with c->err. */
static int adopt_all_runs(struct adopt_work *w, const char *dir)
{
    struct cmd_context *c = w->c;
    struct leftovers_count swept;
    int rc = adopt_init(&w->adopt, &w->plan, dir, c->env, c->err);
    if (rc == 0) {
        w->adopt.dry = opt_on(&c->opts, OPTION_DRY_RUN);
        w->adopt.all = opt_on(&c->opts, OPTION_ALL);
        w->batch = (struct make_batch){.tree = w->plan.tree, .spool = w->plan.spool};
        if (!w->adopt.dry) /* what an adoption that was killed left is finished first */
            finish_leftovers(w->plan.spool, NULL, SETTLED_S, NULL, NULL, &swept);
        adopt_all(w);
        if (!w->adopt.dry)
            run_commit_made(&w->plan, "adopt", c->notes);
        rc = adopt_print(w);
    }
    adopt_deinit(&w->adopt);
    return rc;
}

static int adopt_command(struct cmd_context *c)
{
    struct adopt_work w = {.c = c};
    if (c->argc != 1)
        return err_set(c->err, ERR_USAGE, "expected one DIR, a folder mlruns or one that holds it; got %d operands", c->argc);
    if (adopt_plan_for(&w))
        return -1;
    listing_init(&w.list, columns, sizeof columns / sizeof *columns, c->arena);
    int rc = adopt_all_runs(&w, c->argv[0]);
    listing_deinit(&w.list);
    plan_deinit(&w.plan);
    return rc ? -1 : w.counts[ADOPT_FAILED] + w.counts[ADOPT_RUNNING] ? 1 : 0;
}

static const struct opt_row rows[] = {
    {.name = OPTION_ALL,
     .letter = 'a',
     .kind = OPT_FLAG,
     .group = "Selection",
     .help = "Also adopt runs that have not ended, closed as KILLED at their last sample"},
    CMD_ROW_TREE_FOR("Record", "Write them into this mlruns folder"),
    {.name = OPTION_PROFILE,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .env = "BENCHWRAP_PROFILE",
     .group = "Record",
     .help = "public: drop the names of users and machines, and addresses (default: the repository's profile)"},
    CMD_ROW_ARTIFACT_MAX("Copy at most this much of a run's artifacts, and name the others as missing (default: 64M)"),
    {.name = OPTION_DRY_RUN, .letter = 'n', .kind = OPT_FLAG, .group = "Output", .help = "Print what would be adopted, and write nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_adopt = {
    .name = "adopt",
    .summary = "Take over runs of an MLflow folder",
    .usage = "[OPTIONS] DIR",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Each run of an mlruns folder that Python MLflow or another program wrote becomes a run of the tree. It keeps its id, times, status, params, tags, every sample of "
        "its metrics, and its artifacts. A run that was deleted stays deleted. DIR itself is only read.\n\n"
        "The tag benchwrap.adopted marks the run, and \"benchwrap check\" reports its values as claims: no stored output gives them. With the public profile benchwrap "
        "drops the names of users and machines, and addresses.\n\n"
        "The tree's format is narrower than MLflow's: the experiment's id follows from its name, keys that the format does not allow are made legal, infinite values are "
        "missing with that reason, and of samples of a metric with the same time each later one moves by a millisecond. The run's warnings name what was changed. Deleted experiments and MLflow's "
        "data sets are not adopted. What the tree has is never written again, so the command can be repeated.\n\n"
        "Status 0: all runs are in the tree. 1: a part is not.",
    .examples =
        "$ benchwrap adopt --dry-run ~/parsl-archive\nPrint which runs would be adopted.\n"
        "$ benchwrap adopt ~/parsl-archive/mlruns\nThe runs of an archive into ./mlruns. In a results repository, \"benchwrap share\" sends them.\n",
    .run = adopt_command,
};
