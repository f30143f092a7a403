/* cmd_retract.c: `benchwrap retract`: a new run withdraws a run; nothing of the old one is altered. */
#include "base/clock.h"
#include "base/listing.h"
#include "runs/runs.h"
#include "cmd/changed_runs.h"
#include "cmd/selection.h"
#include "plan/plan.h"
#include "replay/reparse.h"
#include "run/commit.h"
#include "run/leftovers.h"
#include "run/make.h"
#include "run/redaction.h"

#include <string.h>
#include <unistd.h>

enum { SETTLED_S = 60, WHY_MAX = 1000, RUNS_MAX = 100, DEPTH_MAX = 8, AMENDED_MS = 10000 };

struct retract_work {
    struct cmd_context *c;
    struct runs runs;
    struct runs shown; /* what readers see of the tree; .all NULL: not read yet */
    struct plan plan;
    const char *why;
    struct listing list;
    struct make_batch batch; /* published, not safe yet */
    struct reparse again; /* how statistics are computed again */
    struct reparse_parents parents; /* whose child runs are retracted */
    bool dry;
};

/* Reads --why into w->why, in the arena. -1 with err: missing, too long or not UTF-8. */
static int check_why(struct retract_work *w, struct err *err)
{
    const char *why = opt_text(&w->c->opts, OPTION_WHY);
    struct str s = str_trim(str_of(why));
    if (!s.n)
        return err_set(err, ERR_USAGE, "expected --why TEXT: readers of the results need the reason");
    if (s.n > WHY_MAX || !str_valid_utf8(s))
        return err_set(err, ERR_USAGE, "--why: expected at most %d bytes of UTF-8", WHY_MAX);
    w->why = arena_dup(w->c->arena, s.p, s.n);
    return w->why ? 0 : err_memory(err, "the retraction");
}

/* The reason as it is recorded: without secrets, and in the public profile without names. */
static int clean_why(struct retract_work *w, struct err *err)
{
    struct redaction r;
    int rc = redaction_begin_here(&r, strcmp(opt_text(&w->plan.opts, OPTION_PROFILE), "public") == 0, w->c->env, err);
    if (rc == 0 && !(w->why = redaction_text(&r, w->why, w->c->arena)))
        rc = err_memory(err, "the retraction");
    redaction_end(&r);
    return rc;
}

/* Records in the new run which run it withdraws, why, and as little else as possible. */
static void record_facts(struct retract_work *w, struct made_run *m, const struct tree_run *run, const char *verdict)
{
    struct record *r = &m->record;
    const struct opt_set *o = &w->plan.opts;
    const char *benchmark = runs_file(&w->runs, run, "tags/benchmark", 256, w->c->arena), *site = opt_text(o, OPTION_SITE);
    r->source = "retract";
    record_tag(r, "benchwrap.run_id", str_of(r->id));
    record_tag(r, "benchwrap.version", STR(BW_VERSION));
    record_tag(r, "benchwrap.format", str_of(arena_printf(w->c->arena, "%d", MLRUNS_FORMAT)));
    record_tag(r, "benchwrap.retracts", str_of(run->id));
    record_tag(r, "benchwrap.why", str_of(w->why));
    record_tag(r, "benchwrap.verdict", STR("none"));
    record_tag(r, "mlflow.note.content", str_of(arena_printf(w->c->arena, "Retracts the run %s: %s", run->id, w->why)));
    record_tag(r, "mlflow.source.type", STR("LOCAL"));
    record_tag(r, "mlflow.source.name", STR("benchwrap retract"));
    record_param(r, "retracts.run", str_of(run->id));
    record_param(r, "retracts.reason", str_of(w->why));
    if (verdict)
        record_param(r, "retracts.verdict", str_of(verdict));
    if (benchmark)
        record_tag(r, "benchmark", str_of(benchmark));
    r->source = "option";
    if (site)
        record_tag(r, "site", str_of(site));
    r->source = "recorder";
}

/* When the retraction starts: now, and later than the run and what amends it, also where the clock was set back. Else readers would apply those.
 * Amendments start a few milliseconds behind their run. */
static int choose_start(struct retract_work *w, const struct tree_run *run, int64_t *ret_ms, struct err *err)
{
    int64_t latest;
    *ret_ms = clock_wall_ms();
    if (*ret_ms > run->start_ms + AMENDED_MS)
        return 0;
    if (runs_latest_start(&w->runs, run, w->c->arena, &latest, err))
        return -1;
    if (*ret_ms <= latest)
        *ret_ms = latest + 1;
    return 0;
}

/* Publishes the run that retracts `run`. Its id follows from the run and the reason: the same
 * retraction twice is one run. 0 with *ret_place in the command's arena; -1 with err. */
static int publish_retraction(struct retract_work *w, const struct tree_run *run, char id[33], const char **ret_place, struct err *err)
{
    bool public = strcmp(opt_text(&w->plan.opts, OPTION_PROFILE), "public") == 0;
    char host[256] = "";
    struct made_run m;
    struct finished done;
    int64_t start;
    const char *verdict = runs_file(&w->runs, run, "tags/benchwrap.verdict", 64, w->c->arena);
    const char *name = arena_printf(w->c->arena, "retracts %.8s", run->id);
    if (choose_start(w, run, &start, err))
        return -1;
    if (!public)
        gethostname(host, sizeof host - 1);
    make_id(id, "retract", str_of(arena_printf(w->c->arena, "%s/%s", run->id, w->why)));
    char *argv[] = {NULL};
    struct make_plan plan = {.id = id,
                             .spool = w->plan.spool,
                             .head = {.host = host,
                                      .experiment = run->experiment,
                                      .run_name = name,
                                      .tree = w->runs.tree,
                                      .user = public      ? ""
                                              : run->user ? run->user
                                                          : "",
                                      .job = "",
                                      .argv = argv,
                                      .start_ms = start},
                             .options = {.log_max = 1 << 20, .public_profile = public, .told = true, .host = host}};
    if (make_begin(&m, &plan, err))
        return -1;
    record_facts(w, &m, run, verdict);
    int rc = make_end(&m, RUN_FINISHED, NULL, start, &done, err);
    if (rc == 0)
        *ret_place = arena_dup(w->c->arena, done.place, strlen(done.place));
    finished_deinit(&done);
    return rc < 0 ? -1 : 0;
}

/* A site withdraws its own runs; reviewers refuse others (check, finding "amends"). */
static int check_own(struct retract_work *w, const struct tree_run *run, struct err *err)
{
    const char *of = runs_file(&w->runs, run, "tags/site", 256, w->c->arena), *own = opt_text(&w->plan.opts, OPTION_SITE);
    if (!of || !*of || (own && strcmp(own, of) == 0))
        return 0;
    return err_set(err, ERR_INPUT, "%.8s is a run of the site \"%.60s\", and this is %s%.60s: only that site retracts it", run->id, of,
                   own ? "the site " : "no site", own ? own : "");
}

/* The run that was recorded first, of one that amends others. */
static struct tree_run *first_recorded(struct retract_work *w, struct tree_run *run)
{
    struct tree_run *old;
    for (int hops = 0; hops < 100; hops++) {
        const char *root = runs_file(&w->runs, run, "tags/benchwrap.amends", 64, w->c->arena);
        if (!root || strlen(root) != 32 || tree_find(w->runs.root, root, TREE_META, w->c->arena, &old, NULL))
            break;
        run = old;
    }
    return run;
}

/* Retracts one run. -1 with c->err: it has not ended, is a retraction, or is of another site. */
static int take_one(struct retract_work *w, const struct tree_run *run)
{
    struct cmd_context *c = w->c;
    char id[33] = "";
    const char *place = NULL, *of = runs_file(&w->runs, run, "tags/benchwrap.retracts", 64, c->arena);
    if (of)
        return err_set(c->err, ERR_INPUT, "%.8s is itself a retraction, of the run %.8s", run->id, of);
    if (run->status == RUN_RUNNING)
        return err_set(c->err, ERR_INPUT, "%.8s has not ended", run->id);
    if (check_own(w, run, c->err))
        return -1;
    if (!w->dry && publish_retraction(w, run, id, &place, c->err))
        return err_wrap(c->err, "%.8s", run->id);
    changed_runs_add(&w->list, run, w->dry ? "would be retracted" : "retracted", id[0] ? arena_dup(c->arena, id, 32) : NULL, place);
    return w->dry ? 0 : make_batch_add(&w->batch, id, c->err);
}

/* The child runs that readers see. Each gets its own retraction, as readers apply corrections run by run. */
static int take_children(struct retract_work *w, const struct tree_run *of, int depth)
{
    static const struct runs_filter everything;
    int rc = 0;
    if (depth == DEPTH_MAX)
        return 0;
    if (!w->shown.all && (selection_open(&w->shown, w->c, w->c->err) || runs_load(&w->shown, &everything, w->c->arena, w->c->err)))
        return -1;
    for (size_t i = 0; rc == 0 && i < w->shown.count; i++) {
        struct tree_run *run = w->shown.all[i];
        const char *parent = runs_file(&w->shown, run, "tags/mlflow.parentRunId", 64, w->c->arena);
        if (!parent || strcmp(parent, of->id) != 0)
            continue;
        const struct tree_run *first = first_recorded(w, run);
        rc = take_one(w, first) || take_children(w, first, depth + 1) ? -1 : 0;
    }
    return rc;
}

/* Statistics of a parent run are computed again, once, behind all retractions. Of another parent run the values stay as they were published. */
static int retract_take_parent(struct retract_work *w, const struct tree_run *run)
{
    struct tree_run *found;
    const char *parent = runs_file(&w->runs, run, "tags/mlflow.parentRunId", 64, w->c->arena);
    const char *series = reparse_parent_of(&w->again, run);
    if (runs_file(&w->runs, run, "tags/benchwrap.annotates", 64, w->c->arena))
        return 0;
    if (series)
        return reparse_parents_add(&w->parents, series, true, w->c->arena) ? err_memory(w->c->err, "the parent runs") : 0;
    if (parent && strlen(parent) == 32 && tree_find(w->runs.root, parent, TREE_META, w->c->arena, &found, NULL) == 0)
        fprintf(w->c->notes, "benchwrap: retract: the run %.8s still has the values of its child run %.8s; hint: retract %.8s, too\n",
                found->id, run->id, found->id);
    return 0;
}

/* Makes runs that amend the parents of retracted repetitions, with the statistics of the other
 * ones. -1 with c->err. */
static int retract_settle_parents(struct retract_work *w)
{
    struct cmd_context *c = w->c;
    struct tree_run *run;
    struct reparsed got;
    reparse_parents_sort(&w->parents);
    for (size_t i = 0; i < w->parents.count; i++) {
        if (tree_find(w->runs.root, w->parents.list[i].id, TREE_META, c->arena, &run, c->err))
            return -1;
        if (w->dry) {
            fprintf(c->notes, "benchwrap: retract: the statistics of the run %.8s would be computed again, without it\n", run->id);
            continue;
        }
        reparse_series(&w->again, run, &got);
        if (got.result == REPARSE_FAILED)
            return err_set(c->err, ERR_INPUT, "the statistics of the run %.8s cannot be computed again: %s; retract that run, too", run->id,
                           got.why ? got.why : "");
        if (got.result != REPARSE_DONE)
            continue;
        fprintf(c->notes, "benchwrap: retract: the run %.8s amends %.8s: its statistics are those of the other child runs\n", got.id,
                run->id);
        if (make_batch_add(&w->batch, got.id, c->err))
            return -1;
    }
    return 0;
}

/* The run itself is withdrawn, with all that amends it and with its child runs. */
static int retract_take_run(struct retract_work *w, const char *name)
{
    struct tree_run *run;
    if (runs_find(&w->runs, name, TREE_META, w->c->arena, &run, w->c->err))
        return -1;
    run = first_recorded(w, run);
    if (take_one(w, run) || take_children(w, run, 0))
        return -1;
    return retract_take_parent(w, run);
}

/* Retracts each run that is named until one fails, and settles parent runs. The list of changes is
 * printed in any case. 0; -1 with c->err. */
static int retract_all_runs(struct retract_work *w)
{
    struct cmd_context *c = w->c;
    struct leftovers_count swept;
    struct err err = {0};
    if (!w->dry) /* what one that was killed left is finished first */
        finish_leftovers(w->plan.spool, NULL, SETTLED_S, NULL, NULL, &swept);
    int rc = 0;
    w->batch = (struct make_batch){.tree = w->runs.tree, .spool = w->plan.spool};
    for (int i = 0; rc == 0 && i < c->argc; i++)
        rc = retract_take_run(w, c->argv[i]);
    if (retract_settle_parents(w))
        rc = -1;
    if (make_batch_settle(&w->batch, &err)) /* the next run, or sync, does it */
        fprintf(c->notes, "benchwrap: retract: %s\n", err.text);
    if (!w->dry)
        run_commit_made(&w->plan, "retract", c->notes);
    if (listing_write(&w->list, opt_on(&c->opts, OPTION_JSON) ? LISTING_JSON : LISTING_TABLE, c->out) < 0)
        return err_memory(c->err, "the retraction");
    return rc;
}

static int retract_command(struct cmd_context *c)
{
    struct retract_work w = {.c = c, .runs = {.root = -1}, .shown = {.root = -1}, .dry = opt_on(&c->opts, OPTION_DRY_RUN)};
    if (!c->argc)
        return err_set(c->err, ERR_USAGE, "which run? Name it by the beginning of its id; see \"benchwrap ls\"");
    if (c->argc > RUNS_MAX)
        return err_set(c->err, ERR_USAGE, "at most %d runs at once", RUNS_MAX);
    if (check_why(&w, c->err) || plan_make_for(&w.plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    changed_runs_begin(&w.list, c->arena);
    w.again = (struct reparse){.arena = c->arena, .runs = &w.runs, .plan = &w.plan, .spool = w.plan.spool};
    int rc = selection_open(&w.runs, c, c->err);
    if (rc == 0)
        rc = clean_why(&w, c->err);
    if (rc == 0)
        rc = retract_all_runs(&w);
    runs_close(&w.runs);
    runs_close(&w.shown);
    listing_deinit(&w.list);
    plan_deinit(&w.plan);
    return rc;
}

static const struct opt_row rows[] = {
    {.name = OPTION_WHY,
     .letter = 'w',
     .kind = OPT_TEXT,
     .arg = "TEXT",
     .group = "What",
     .help = "Reason of the retraction; readers of the results see it"},
    CMD_ROW_TREE,
    SELECTION_ROW_EXPERIMENT,
    {.name = OPTION_DRY_RUN,
     .letter = 'n',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Print what would be retracted, and write nothing"},
    CMD_ROW_JSON,
};

const struct cmd cmd_retract = {
    .name = "retract",
    .summary = "Withdraw runs, with the reason",
    .usage = "--why TEXT [OPTIONS] RUN...",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "What was published is never edited: others have copies of it. A retraction is a run of its own in the same experiment, with tag benchwrap.retracts = the "
        "run's id and tag benchwrap.why; ls, show and compare leave the retracted run out from then on, wherever the retraction has been merged. \"ls --all\" "
        "shows both, and \"show =ID\" the run as it was recorded. What amends the run (see reparse) is retracted with it, and so are its child runs.\n\n"
        "A site retracts its own runs; a run of another site is refused. The retraction takes effect for others when they merge it (see share). "
        "A run that was retracted before it was shared stays here.",
    .examples = "$ benchwrap retract --dry-run --why \"the node was shared\" last\nWhat would be retracted.\n"
                "$ benchwrap retract --why \"wrong file system mounted\" last\nThe newest run.\n",
    .run = retract_command,
};
