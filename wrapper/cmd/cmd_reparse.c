/* cmd_reparse.c: `benchwrap reparse`: kept outputs are read again by newer rules; new runs amend the old ones. */
#include "base/json_out.h"
#include "base/listing.h"
#include "replay/reparse.h"
#include "cmd/selection.h"

#include "base/fs.h"
#include "run/commit.h"
#include "run/leftovers.h"
#include "run/make.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTLED_S = 60 };

struct reparse_work {
    struct cmd_context *c;
    struct reparse x;
    struct listing list; /* what changes */
    struct listing runs; /* JSON: a row a run */
    struct make_batch batch;
    size_t done, same, skipped, failed;
    struct reparse_parents parents; /* whose statistics are computed again, after their child runs */
};

static const struct listing_column change_columns[] = {
    {"id", NULL, false, 0},    {"short", "RUN", false, 0},      {"what", "WHAT", false, 0},
    {"key", "KEY", false, 60}, {"before", "BEFORE", false, 60}, {"after", "AFTER", false, 60},
};
static const struct listing_column run_columns[] = {
    {"id", NULL, false, 0},      {"result", NULL, false, 0}, {"amending", NULL, false, 0}, {"rules_version", NULL, false, 0},
    {"verdict", NULL, false, 0}, {"changes", NULL, true, 0}, {"path", NULL, false, 0},     {"why", NULL, false, 0},
};

static void note_unsafe(const struct reparse_work *w, const struct err *err)
{
    fprintf(w->c->notes, "benchwrap: reparse: %s\n", err->text);
}

static void add_rows(struct reparse_work *w, const struct tree_run *run, const struct reparsed *got)
{
    static const char *const results[] = {"amended", "unchanged", "skipped", "failed"};
    struct listing *l = &w->list;
    for (const struct reparse_change *c = got->changes; c; c = c->next) {
        listing_text(l, run->id);
        listing_str(l, (struct str){run->id, 8});
        listing_text(l, c->what);
        listing_text(l, c->key);
        listing_text(l, c->before);
        listing_text(l, c->after);
    }
    l = &w->runs;
    listing_text(l, run->id);
    listing_text(l, w->x.dry && got->result == REPARSE_DONE ? "would amend" : results[got->result]);
    listing_text(l, got->id[0] ? got->id : NULL);
    listing_text(l, got->rules_version);
    listing_text(l, got->verdict);
    listing_number(l, (double)got->count, NULL);
    listing_text(l, got->place);
    listing_text(l, got->why);
}

static void reparse_note(struct reparse_work *w, const struct tree_run *run, const char *result, const char *why)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(why), 900);
    fprintf(w->c->notes, "benchwrap: reparse: %.8s %s: %s\n", run->id, result, b.p ? b.p : "");
}

static void reparse_count_run(struct reparse_work *w, const struct tree_run *run, const struct reparsed *got, bool named)
{
    w->done += got->result == REPARSE_DONE;
    w->same += got->result == REPARSE_SAME;
    w->skipped += got->result == REPARSE_SKIPPED;
    w->failed += got->result == REPARSE_FAILED || (named && got->result == REPARSE_SKIPPED);
    add_rows(w, run, got);
    if (got->result == REPARSE_FAILED || (got->result == REPARSE_SKIPPED && named))
        reparse_note(w, run, got->result == REPARSE_FAILED ? "failed" : "is skipped", got->why ? got->why : "");
    if (got->result != REPARSE_DONE || w->x.dry)
        return;
    struct err unsafe = {0};
    if (make_batch_add(&w->batch, got->id, &unsafe)) /* the next run, or sync, does it */
        note_unsafe(w, &unsafe);
}

/* A series is computed again after all child runs, which are read now. */
static int reparse_take_run(struct reparse_work *w, const struct tree_run *run, bool named)
{
    struct cmd_context *c = w->c;
    struct reparsed got;
    bool series = runs_file(w->x.runs, run, "tags/benchwrap.series", 64, c->arena);
    const char *parent = series ? runs_root_id(w->x.runs, run, c->arena) : reparse_parent_of(&w->x, run);
    if (!series) {
        reparse_run(&w->x, run, &got);
        reparse_count_run(w, run, &got, named);
    } else if (named) {
        reparse_note(w, run, "is a series, without an output of its own",
                     arena_printf(c->arena,
                                  "its statistics are computed again, its child runs are not read again (benchwrap show --children %.8s)",
                                  run->id));
    }
    if (parent && (series || got.result == REPARSE_DONE || got.result == REPARSE_SAME) &&
        reparse_parents_add(&w->parents, parent, !series && got.result == REPARSE_DONE, c->arena))
        return err_memory(c->err, "the parent runs");
    return 0;
}

/* Computes the statistics of the collected parent runs again and counts the results. A parent run
 * that the tree lacks is left out. */
static void reparse_take_parents(struct reparse_work *w)
{
    struct tree_run *run;
    struct reparsed got;
    reparse_parents_sort(&w->parents);
    for (size_t i = 0; i < w->parents.count; i++) {
        const struct reparse_parent *p = &w->parents.list[i];
        if (tree_find(w->x.runs->root, p->id, TREE_META, w->c->arena, &run, NULL))
            continue; /* the first run of a chain is not here */
        if (w->x.dry && p->changed) {
            reparse_note(w, run, "would be amended", "its statistics would be computed again from the child runs");
            continue;
        }
        reparse_series(&w->x, run, &got);
        reparse_count_run(w, run, &got, false);
    }
}

/* Each run is read completely in its own arena, so that thousands need the memory of one. */
static int take_id(struct reparse_work *w, const char *id, bool named)
{
    struct cmd_context *c = w->c;
    struct tree_run *run;
    int got = named ? runs_find(w->x.runs, id, TREE_METRICS, c->arena, &run, c->err)
                    : tree_find(w->x.runs->root, id, TREE_METRICS, c->arena, &run, c->err);
    if (got)
        return -1;
    return reparse_take_run(w, run, named);
}

/* Reads the output of the named or filtered runs again. 0; -1 with c->err: the first run that
 * cannot be found or read ends it. */
static int take_runs(struct reparse_work *w)
{
    struct cmd_context *c = w->c;
    struct runs_filter filter;
    bool all = opt_on(&c->opts, OPTION_ALL), filtered = all || (!c->argc && selection_given(c));
    if (selection_filter(c, &filter) < 0)
        return -1;
    if (c->argc && filtered)
        return err_set(c->err, ERR_USAGE, "expected either runs or --all, got both");
    if (!c->argc && !filtered)
        return err_set(c->err, ERR_USAGE, "which runs? Name them, choose them by -e, -s, --tag or --filter, or use --all");
    for (int i = 0; i < c->argc; i++)
        if (take_id(w, c->argv[i], true))
            return -1;
    if (!filtered)
        return 0;
    if (runs_load(w->x.runs, &filter, c->arena, c->err))
        return -1;
    for (size_t i = 0; i < w->x.runs->count; i++)
        if (take_id(w, w->x.runs->all[i]->id, false))
            return -1;
    return 0;
}

static int reparse_print(struct reparse_work *w)
{
    struct cmd_context *c = w->c;
    bool bad = w->list.failed || w->runs.failed;
    if (!bad && opt_on(&c->opts, OPTION_JSON)) {
        CLEANUP_BUF struct buf b, part;
        buf_init(&b, 1u << 30);
        buf_init(&part, 1u << 30);
        struct json_out j = {.to = &b};
        json_open(&j, NULL, '{');
        listing_json(&w->runs, &part);
        json_raw(&j, "runs", buf_text(&part));
        buf_clear(&part);
        listing_json(&w->list, &part);
        json_raw(&j, "changes", buf_text(&part));
        json_close(&j, '}');
        fwrite(b.p ? b.p : "", 1, b.n, c->out);
        bad = b.failed || part.failed;
    } else if (!bad) {
        bad = listing_print(&w->list, c->out) < 0;
        fprintf(c->out, "%zu %s, %zu unchanged, %zu skipped%s\n", w->done, w->x.dry ? "would be amended" : "amended", w->same, w->skipped,
                w->skipped && !c->argc ? " (--json has the reasons)" : "");
    }
    return bad ? err_memory(c->err, "the list of runs") : 0;
}

/* A trial writes nothing next to the tree: it makes the new runs in a folder that is deleted
 * afterwards. */
static int dry_spool(struct reparse_work *w, char *path, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, size, "%s/benchwrap-reparse.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(path))
        return err_sys(w->c->err, "cannot make %s", path);
    w->x.spool = path;
    return 0;
}

/* Reparses runs and their parents, commits what is new and prints it. A dry run writes to a
 * temporary spool, which is removed. 0; -1 with c->err. */
static int reparse_all_runs(struct reparse_work *w, const struct plan *plan)
{
    char path[1024];
    struct leftovers_count swept;
    struct cmd_context *c = w->c;
    if (w->x.dry && dry_spool(w, path, sizeof path))
        return -1;
    if (!w->x.dry) /* what one that was killed left is finished first */
        finish_leftovers(plan->spool, NULL, SETTLED_S, NULL, NULL, &swept);
    listing_init(&w->list, change_columns, sizeof change_columns / sizeof *change_columns, c->arena);
    listing_init(&w->runs, run_columns, sizeof run_columns / sizeof *run_columns, c->arena);
    w->batch = (struct make_batch){.tree = w->x.runs->tree, .spool = w->x.spool};
    int rc = take_runs(w);
    reparse_take_parents(w);
    struct err unsafe = {0};
    if (make_batch_settle(&w->batch, &unsafe))
        note_unsafe(w, &unsafe);
    if (w->x.dry)
        fs_remove_tree(AT_FDCWD, path, NULL);
    else
        run_commit_made(plan, "reparse", c->notes);
    if (rc == 0)
        rc = reparse_print(w);
    listing_deinit(&w->list);
    listing_deinit(&w->runs);
    return rc;
}

/* Executes `benchwrap reparse`. Returns 0; 1: a run failed, or a named one was skipped; -1 with
 * c->err. */
static int reparse_command(struct cmd_context *c)
{
    struct runs runs = {.root = -1};
    struct plan plan;
    if (plan_make_for(&plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    struct reparse_work w = {.c = c,
                             .x = {.arena = c->arena,
                                   .runs = &runs,
                                   .plan = &plan,
                                   .rules = opt_text(&c->opts, OPTION_RULES),
                                   .spool = plan.spool,
                                   .dry = opt_on(&c->opts, OPTION_DRY_RUN)}};
    int rc = w.x.rules && !catalogue_find(&plan.catalogue, w.x.rules, c->arena)
                 ? err_set(c->err, ERR_USAGE, "--rules: \"%s\" is neither an entry of the catalogue nor a file", w.x.rules)
                 : selection_open(&runs, c, c->err);
    if (rc == 0)
        rc = reparse_all_runs(&w, &plan);
    runs_close(&runs);
    plan_deinit(&plan);
    return rc ? -1 : w.failed ? 1 : 0;
}

static const struct opt_row rows[] = {
    CMD_ROW_RULES("Read by these rules (default: the catalogue's for the run's benchmark)"),
    CMD_ROW_TREE,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_ALL, .letter = 'a', .kind = OPT_FLAG, .group = "Selection", .help = "Read all runs"},
    {.name = OPTION_DRY_RUN,
     .letter = 'n',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Print what would change, and write nothing to the tree"},
    CMD_ROW_JSON,
};

const struct cmd cmd_reparse = {
    .name = "reparse",
    .summary = "Read the stored output of runs again by newer rules",
    .usage = "[OPTIONS] [RUN...]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description = "A run stores the output of its program. After rules have improved, reparse reads that output again and prints what "
                   "differs. Nothing of the old run is altered: a new run in the same experiment has its params, tags, files and metrics "
                   "of the machine, and the metrics and the verdict by the present rules. The tag benchwrap.amends names the old run. ls, "
                   "show and compare use the new run instead.\n\n"
                   "The statistics of a parent run (--repeat, --sweep) are computed again from the child runs that are amended or "
                   "retracted.\n\n"
                   "A run is left alone where nothing changes, and where its output is incomplete (cut, withheld, dropped).\n\n"
                   "Status 1: a named run could not be read again; the reason is printed.",
    .examples = "$ benchwrap reparse --dry-run --all\nWhat the rules of today read otherwise.\n"
                "$ benchwrap reparse -e ior -s fail\nThe runs of an experiment that failed.\n"
                "$ benchwrap reparse -e ior --rules ./better.yaml\nAll runs of an experiment, by rules of one's own.\n",
    .run = reparse_command,
};
