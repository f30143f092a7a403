/* range_text.c: what a range of commits brings, in Markdown: its values next to those of published
 * runs with the same inputs, and its machines by name. */
#include "share/range_text.h"

#include "base/markdown.h"
#include "runs/annotations.h"
#include "runs/inherit.h"
#include "compare/proposal.h"
#include "history/earlier_runs.h"
#include "runs/run_ids.h"
#include "runs/runs_ref.h"

#include "base/show.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS_MAX = 2000, /* read for this text */
    GROUPS_MAX = 20, /* of the same inputs, shown */
    HISTORY_RUNS = 30, /* published runs that a group is compared with */
    HISTORY_LOOKED = 400, /* of the experiment, newest first, for these */
    METRICS_MAX = 4, /* of a group */
    INPUTS_MAX = 6,
    VALUE_SHOWN = 40, /* bytes */
    CORRECTIONS_MAX = 20, /* named one by one */
    CELL = 80
};

struct range {
    struct arena *arena;
    struct runs runs; /* of the range's end; the published ones are among them */
    struct run_ids fresh; /* what the range brings, without errors */
    struct run_ids bad, parents;
    struct corrections corrections; /* of the range's end */
    size_t unread; /* more than RUNS_MAX */
    const char *loaded; /* experiment that runs.all is of */
    struct buf *to;
    size_t room;
};

/* ---- which runs ---- */

/* Adds the runs in which check found an error to r->bad, sorted. Returns -1 when out of memory;
 * there is no err. */
static int find_bad(struct range *r, const struct check_state *k, const char *at)
{
    for (const struct check_finding *f = k->first; f; f = f->next) {
        struct str experiment, id;
        const char *file;
        char hex[33];
        if (k->severity[f->id] != CHECK_ERROR || !check_report_run(at, f->path, &experiment, &id, &file))
            continue;
        memcpy(hex, id.p, 32);
        hex[32] = 0;
        if (run_ids_add(&r->bad, hex))
            return -1;
    }
    run_ids_sort(&r->bad);
    return 0;
}

/* Reads a run of the range, `what` of it, into the arena. NULL: it cannot be read. */
static struct tree_run *range_read_run(struct range *r, const char *id, unsigned what, struct arena *a)
{
    struct tree_run *run = NULL;
    struct err ignored = {0};
    return tree_find_in(&r->runs.folder, id, what, a, &run, &ignored) == 0 ? run : NULL;
}

/* Reads what amends or retracts runs of the range's end, also there alone: what readers see after
 * the merge. */
static int find_corrections(struct range *r, const struct run_ids *after, struct err *err)
{
    for (size_t i = 0; i < after->count; i++) {
        const char *id = after->id[i];
        const struct tree_run *run =
            correction_possible(id) && !run_ids_has(&r->bad, id) ? range_read_run(r, id, TREE_META, r->arena) : NULL;
        if (!run || strcmp(run->lifecycle, "deleted") == 0)
            continue;
        corrections_read(&r->corrections, &r->runs.folder, run, r->arena);
    }
    corrections_sort(&r->corrections);
    return r->corrections.failed ? err_memory(err, "the text of the pull request") : 0;
}

/* Collects the runs that only the end of the range has, without those with errors: up to RUNS_MAX
 * in r->fresh, the others are counted in r->unread. Also reads the corrections of its end. Returns
 * -1 with err. */
static int find_fresh(struct range *r, struct repo *repo, const struct repo_id *from, const struct repo_id *to, const char *at,
                      struct err *err)
{
    struct run_ids before = {0}, after = {0};
    int rc = run_ids_of(repo, at, from, &before, err);
    if (rc == 0 && (rc = run_ids_of(repo, at, to, &after, err)) == 0)
        for (size_t i = 0; rc == 0 && i < after.count; i++) {
            if (run_ids_has(&before, after.id[i]) || run_ids_has(&r->bad, after.id[i]))
                continue;
            if (r->fresh.count == RUNS_MAX)
                r->unread++;
            else if (run_ids_add(&r->fresh, after.id[i]))
                rc = err_memory(err, "the text of the pull request");
        }
    if (rc == 0)
        rc = find_corrections(r, &after, err);
    run_ids_deinit(&before);
    run_ids_deinit(&after);
    return rc;
}

/* Notes the parent runs of the new runs: they have the values of their child runs, which count for
 * themselves. Returns -1 with err. */
static int find_parents(struct range *r, struct err *err)
{
    for (size_t i = 0; i < r->fresh.count; i++) {
        const struct tree_run *run = range_read_run(r, r->fresh.id[i], TREE_META, r->arena);
        bool annotates = run && annotation_target(&r->runs.folder, run, r->arena); /* it names the run that it annotates as its parent */
        const char *parent = run && !annotates ? runs_file(&r->runs, run, "tags/mlflow.parentRunId", 64, r->arena) : NULL;
        if (parent && record_is_id(str_of(parent)) && run_ids_add(&r->parents, parent))
            return err_memory(err, "the text of the pull request");
    }
    run_ids_sort(&r->parents);
    return 0;
}

/* ---- values ---- */

/* Groups of runs with one comparison key. */
static void init_groups(struct proposal *ret, const struct range *r)
{
    proposal_init(ret, NULL, false, r->arena);
    ret->undirected = ret->by_key = true;
}

static bool is_published(void *context, const struct tree_run *run)
{
    const struct range *r = context;
    return !run_ids_has(&r->fresh, run->id) && !run_ids_has(&r->bad, run->id);
}

/* Lists the runs of the experiment in r->runs, unless they are listed already. `experiment` is
 * borrowed until the next call. Returns -1 with err. */
static int load_experiment(struct range *r, const char *experiment, struct err *err)
{
    struct runs_filter filter = {.experiment = experiment};
    if (r->loaded && strcmp(r->loaded, experiment) == 0)
        return 0;
    free(r->runs.all);
    r->runs.all = NULL;
    r->runs.count = 0;
    r->loaded = NULL;
    if (runs_load(&r->runs, &filter, r->arena, err) < 0)
        return -1;
    r->loaded = experiment;
    return 0;
}

/* Adds the published runs of the history of the group, whose first run is `run`, as their own
 * group. */
static int read_history(struct range *r, const struct proposed_group *g, const struct tree_run *run, struct proposal *ret, struct err *err)
{
    struct run_inputs inputs;
    struct earlier_runs found;
    const struct earlier_request asked = {.run = run,
                                          .key = &g->key,
                                          .inputs = &inputs,
                                          .may_count = is_published,
                                          .context = r,
                                          .runs_max = HISTORY_RUNS,
                                          .searched_max = HISTORY_LOOKED};
    const char *problem = NULL;
    if (load_experiment(r, run->experiment, err) < 0)
        return -1;
    struct json *detail = runs_detail(&r->runs, run, &problem, r->arena);
    int rc = inputs_of(&inputs, run, detail, NULL, r->arena, err);
    if (rc == 0)
        rc = earlier_runs_find(&asked, &r->runs, r->arena, &found, err);
    for (size_t i = 0; rc == 0 && i < found.count; i++)
        rc = proposal_add_run(ret, &r->runs, NULL, found.list[i], err) < 0 ? -1 : 0;
    json_free(detail);
    return rc;
}

/* A metric of a group, and the metric of the same key and unit in the earlier runs with the same
 * inputs. */
struct beside {
    const struct proposed_metric *now, *before; /* before: NULL where no earlier run has it */
    bool first; /* there are no earlier runs */
    double value, median;
    struct stats_expected expected;
    bool judged, differs;
};

/* Returns the median of the metric's values; NaN: none, or out of memory. With judge, also sets
 * judge->judged and the range that the values let expect for judge->value. */
static double median_of(const struct proposed_metric *m, struct beside *judge)
{
    double *v = malloc((m->n + 1) * sizeof *v), median = NAN;
    struct stats s;
    size_t n = 0;
    for (const struct proposed_value *x = m->values; v && x; x = x->next)
        v[n++] = x->value;
    if (n) {
        stats_of(v, n, &s);
        median = s.median;
    }
    if (n && judge)
        judge->judged = n >= STATS_EXPECT_MIN && stats_expect(v, n, judge->value, &judge->expected);
    free(v);
    return median;
}

/* Fills ret[] with up to METRICS_MAX metrics of the group, each compared with the earlier runs'
 * metric of the same key and unit. Returns how many; *ret_more: how many the group has beyond them.
 * Holm's correction over all judged ones sets `differs`. */
static size_t compare_with_earlier(const struct proposed_group *now, const struct proposed_group *before, struct beside *ret,
                                   size_t *ret_more)
{
    size_t n = 0, tests = 0;
    double p[METRICS_MAX];
    bool sure[METRICS_MAX];
    *ret_more = 0;
    for (const struct proposed_metric *m = now->metrics; m; m = m->next) {
        if (n == METRICS_MAX) {
            (*ret_more)++;
            continue;
        }
        struct beside *b = &ret[n++];
        *b = (struct beside){.now = m, .first = !before, .value = median_of(m, NULL), .median = NAN};
        for (const struct proposed_metric *o = before ? before->metrics : NULL; o; o = o->next)
            if (strcmp(o->key, m->key) == 0 && strcmp(o->unit, m->unit) == 0) {
                b->before = o;
                b->median = median_of(o, b);
            }
        if (b->judged)
            p[tests++] = b->expected.p;
    }
    if (tests && stats_holm(p, tests, STATS_EXPECT_P, sure))
        for (size_t i = tests = 0; i < n; i++)
            ret[i].differs = ret[i].judged && sure[tests++];
    return n;
}

static void put_value(struct buf *to, double value, double scale, const char *unit)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    show_value(&b, value * scale);
    buf_puts(&b, *unit ? " " : "");
    show_unit(&b, unit);
    markdown_text(to, b.p, CELL);
}

/* Appends the ratio to the earlier median, where both values are positive, and the verdict. */
static void put_change(struct buf *to, const struct beside *b)
{
    if (!b->before) {
        buf_puts(to, b->first ? "first run with these inputs" : "no earlier run has this metric");
        return;
    }
    if (b->median > 0 && b->value > 0) {
        show_change(to, b->value / b->median);
        buf_puts(to, ", ");
    }
    bool higher = strcmp(b->now->direction, "higher") == 0;
    buf_puts(to, !b->judged                         ? "too few earlier runs to judge"
                 : !b->differs                      ? "no change"
                 : !*b->now->direction              ? "different"
                 : (b->value > b->median) == higher ? "improvement"
                                                    : "regression");
}

static void put_metric(struct range *r, const struct beside *b)
{
    CLEANUP_BUF struct buf name;
    const char *unit = b->now->unit;
    double scale = show_scale(b->value, &unit);
    buf_init(&name, 1024);
    show_metric(&name, b->now->key, b->now->unit);
    buf_puts(r->to, " | ");
    markdown_text(r->to, name.p, CELL);
    buf_puts(r->to, " | ");
    put_value(r->to, b->value, scale, unit);
    buf_puts(r->to, b->now->n > 1 ? " (median)" : "");
    buf_printf(r->to, " | %zu | ", b->before ? b->before->n : 0);
    if (b->before)
        put_value(r->to, b->median, scale, unit);
    buf_puts(r->to, " | ");
    put_change(r->to, b);
    buf_puts(r->to, " |\n");
}

/* Appends "fio 3.33 | experiment | rw=write size=16m | 3", the first cells of a row. */
static void put_group(struct range *r, const struct proposed_group *g, const struct tree_run *run)
{
    CLEANUP_BUF struct buf b;
    struct arena *a = r->arena;
    const char *benchmark = runs_file(&r->runs, run, "tags/benchmark", 256, a),
               *version = runs_file(&r->runs, run, "tags/benchmark.version", 64, a);
    size_t n = 0;
    buf_init(&b, 64 << 10);
    benchmark = benchmark ? benchmark : run->name;
    if (!version || strncmp(version, benchmark, strlen(benchmark)) != 0) /* "fio-3.33" has the name */
        buf_printf(&b, "%s%s", benchmark, version ? " " : "");
    buf_puts(&b, version ? version : "");
    buf_puts(r->to, "| ");
    markdown_text(r->to, b.p, CELL);
    buf_puts(r->to, " | ");
    markdown_text(r->to, run->experiment, CELL);
    buf_clear(&b);
    for (size_t i = 0; i < g->key.count; i++) {
        const struct comparison_fact *f = &g->key.facts[i];
        bool named = strcmp(f->name, "benchmark") == 0 || strcmp(f->name, "program") == 0;
        if (f->part != COMPARISON_MEASURED || named || !f->value.n || inputs_of_machine(f->name) || n++ >= INPUTS_MAX)
            continue;
        buf_printf(&b, "%s%.60s=", n > 1 ? " " : "", f->name);
        buf_str(&b, str_sub(f->value, 0, VALUE_SHOWN));
    }
    if (n > INPUTS_MAX)
        buf_puts(&b, " …");
    buf_puts(r->to, " | ");
    markdown_text(r->to, b.n ? b.p : "", 400);
    buf_printf(r->to, " | %zu", g->count);
}

/* Appends the rows of one group: its metrics next to those of published runs. -1 with err. */
static int put_values_of(struct range *r, const struct proposed_group *g, struct err *err)
{
    struct tree_run *run = range_read_run(r, g->runs[0], TREE_PARAMS | TREE_TAGS, r->arena);
    struct beside list[METRICS_MAX];
    struct proposal before;
    if (!run)
        return 0;
    inherit_params(&r->runs, run, r->arena);
    init_groups(&before, r);
    if (read_history(r, g, run, &before, err) < 0)
        return -1;
    size_t more, n = compare_with_earlier(g, before.groups, list, &more);
    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            put_group(r, g, run);
        else
            buf_puts(r->to, "| | | |");
        put_metric(r, &list[i]);
    }
    if (n == 0) {
        put_group(r, g, run);
        buf_puts(r->to, " | no metric | | | | |\n");
    }
    if (more)
        buf_printf(r->to, "| | | | | … and %zu more metric%s | | | | |\n", more, str_plural(more));
    return 0;
}

/* Returns whether the run measures something that readers see. A parent run has the values of its
 * child runs, which count for themselves. */
static bool is_measured(struct range *r, const struct tree_run *run)
{
    return !run_ids_has(&r->parents, run->id) && corrections_shown(&r->corrections, run->id) == run->id &&
           !runs_file(&r->runs, run, "tags/benchwrap.retracts", 64, r->arena) && !annotation_target(&r->runs.folder, run, r->arena);
}

static void put_correction(struct range *r, const struct tree_run *run, const char *target, bool retracts)
{
    const char *why = retracts ? runs_file(&r->runs, run, "tags/benchwrap.why", 400, r->arena) : NULL;
    buf_printf(r->to, "- `%.8s` %s `%.8s`", run->id, retracts ? "retracts" : "amends", target);
    if (why && *why) {
        buf_puts(r->to, ": ");
        markdown_text(r->to, why, 300);
    }
    buf_putc(r->to, '\n');
}

static void put_annotation(struct range *r, const struct tree_run *run, const char *target)
{
    const char *what = runs_file(&r->runs, run, "params/annotates.changes", 400, r->arena);
    buf_printf(r->to, "- `%.8s` annotates `%.8s`: ", run->id, target);
    markdown_text(r->to, what ? what : "", 300);
    buf_putc(r->to, '\n');
}

/* Writes up to CORRECTIONS_MAX corrections. Readers no longer see what these retract, and see the
 * values of those that amend. */
static void put_corrections(struct range *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->fresh.count; i++) {
        bool retracts;
        const struct tree_run *run = correction_possible(r->fresh.id[i]) ? range_read_run(r, r->fresh.id[i], TREE_META, r->arena) : NULL;
        const char *target = run ? correction_target(&r->runs.folder, run, r->arena, &retracts) : NULL,
                   *annotates = run && !target ? annotation_target(&r->runs.folder, run, r->arena) : NULL;
        if (!annotates && (!target || !record_is_id(str_of(target))))
            continue;
        if (n++ == 0)
            buf_puts(r->to, "### Corrections\n\n");
        if (n <= CORRECTIONS_MAX && annotates)
            put_annotation(r, run, annotates);
        else if (n <= CORRECTIONS_MAX)
            put_correction(r, run, target, retracts);
    }
    if (n > CORRECTIONS_MAX)
        buf_printf(r->to, "- … and %zu more\n", n - CORRECTIONS_MAX);
    buf_puts(r->to, n ? "\n" : "");
}

/* Appends the table of values of the new runs, up to GROUPS_MAX groups and the capacity of the
 * text, then how many groups and runs it lacks. Returns -1 with err. */
static int put_values(struct range *r, struct err *err)
{
    struct proposal now;
    size_t groups = 0, shown = 0;
    init_groups(&now, r);
    for (size_t i = 0; i < r->fresh.count; i++) {
        const char *id = r->fresh.id[i];
        const struct tree_run *run = range_read_run(r, id, TREE_META, r->arena);
        if (run && is_measured(r, run) && proposal_add_run(&now, &r->runs, NULL, run, err) < 0)
            return -1;
    }
    if (now.groups)
        buf_puts(r->to, "### Values\n\n| program | experiment | inputs | runs | metric | value | earlier runs | their median | change |\n"
                        "|---|---|---|--:|---|--:|--:|--:|---|\n");
    for (const struct proposed_group *g = now.groups; g; g = g->next) {
        groups++;
        if (shown == GROUPS_MAX || r->to->n > r->room)
            continue;
        if (put_values_of(r, g, err) < 0)
            return -1;
        shown++;
    }
    if (groups > shown)
        buf_printf(r->to, "\nNot shown: %zu more group%s of runs with the same inputs.\n", groups - shown, str_plural(groups - shown));
    if (now.skipped)
        buf_printf(r->to, "\nNot compared: %zu run%s, failed, unfinished or for warming up.\n", now.skipped, str_plural(now.skipped));
    return 0;
}

/* ---- machines ---- */

struct machine {
    const char *cells; /* the row without the number of runs */
    size_t runs;
    struct machine *next;
};

static void put_fact(struct range *r, const struct tree_run *run, struct buf *to, const char *key, const char *after)
{
    CLEANUP_BUF struct buf path;
    buf_init(&path, 256);
    buf_printf(&path, "params/%s", key);
    const char *value = inputs_value(&r->runs, run, path.p, r->arena);
    if (value && *value && strcmp(value, "none") != 0)
        buf_printf(to, "%s%s%s", to->n ? " " : "", value, after);
}

/* Returns the cells of the run's row in the table of machines, as Markdown in the arena. NULL: out
 * of memory. */
static const char *machine_of(struct range *r, const struct tree_run *run)
{
    static const struct {
        const char *key, *after;
        bool ends; /* the cell */
    } facts[] = {{"cpu.sockets", " x", false},
                 {"cpu.model", ",", false},
                 {"cpu.cores", " cores", true},
                 {"memory.total_GiB", " GiB", true},
                 {"gpu.count", " x", false},
                 {"gpu.model", "", true},
                 {"net.slingshot_model", "", false},
                 {"net.slingshot_rate", "", false},
                 {"net.fabric_model", "", false},
                 {"net.fabric_rate", "", false},
                 {"net.card_model", "", false},
                 {"net.card_rate", "", true},
                 {"fs.type", "", true},
                 {"job.nodes", "", true}};
    CLEANUP_BUF struct buf row, cell;
    buf_init(&row, 64 << 10);
    buf_init(&cell, 16 << 10);
    const char *site = runs_file(&r->runs, run, "tags/site", 64, r->arena);
    markdown_text(&row, site ? site : "", CELL);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        put_fact(r, run, &cell, facts[i].key, facts[i].after);
        if (!facts[i].ends)
            continue;
        buf_puts(&row, " | ");
        if (cell.n && strcmp(cell.p, "0 x") != 0)
            markdown_text(&row, cell.p, 200);
        buf_clear(&cell);
    }
    return row.failed ? NULL : arena_dup(r->arena, row.p ? row.p : "", row.n);
}

/* Appends a table of the machines of the new runs with the number of runs on each, up to the
 * capacity of the text, then how many machines it lacks. Returns -1 with err. */
static int put_machines(struct range *r, struct err *err)
{
    size_t hidden = 0;
    struct machine *first = NULL;
    for (size_t i = 0; i < r->fresh.count; i++) {
        const struct tree_run *run = range_read_run(r, r->fresh.id[i], TREE_META, r->arena);
        if (!run || !is_measured(r, run))
            continue;
        const char *cells = machine_of(r, run);
        struct machine **m = &first;
        while (cells && *m && strcmp((*m)->cells, cells) != 0)
            m = &(*m)->next;
        if (cells && !*m && (*m = ARENA_NEW(r->arena, struct machine)))
            **m = (struct machine){.cells = cells};
        if (!cells || !*m)
            return err_memory(err, "the text of the pull request");
        (*m)->runs++;
    }
    if (first)
        buf_puts(
            r->to,
            "\n### Machines\n\n| runs | site | processors | memory | GPUs | interconnect | file system | nodes |\n|--:|---|---|---|---|---|---|---|\n");
    for (const struct machine *m = first; m; m = m->next)
        if (r->to->n < r->room)
            buf_printf(r->to, "| %zu | %s |\n", m->runs, m->cells);
        else
            hidden++;
    if (hidden)
        buf_printf(r->to, "\nNot shown: %zu more machine%s.\n", hidden, str_plural(hidden));
    if (r->unread)
        buf_printf(r->to, "\nNot read for these tables: %zu more run%s.\n", r->unread, str_plural(r->unread));
    return 0;
}

int range_text(struct repo *repo, const struct repo_id *from, const struct repo_id *to, const char *at, const struct check_state *k,
               size_t room, struct buf *text, struct arena *a, struct err *err)
{
    struct range r = {.arena = a, .to = text, .room = room};
    int rc = runs_open_commit(&r.runs, repo, to, at, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    rc = find_bad(&r, k, at) ? err_memory(err, "the text of the pull request") : find_fresh(&r, repo, from, to, at, err);
    if (rc == 0)
        rc = find_parents(&r, err);
    if (rc == 0) {
        put_corrections(&r);
        rc = put_values(&r, err);
    }
    if (rc == 0)
        rc = put_machines(&r, err);
    run_ids_deinit(&r.fresh);
    run_ids_deinit(&r.bad);
    run_ids_deinit(&r.parents);
    corrections_deinit(&r.corrections);
    runs_close(&r.runs);
    return rc;
}
