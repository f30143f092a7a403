/* rows.c: values of runs for plots and reports; see rows.h. */
#include "report/rows.h"
#include "base/array.h"
#include "base/show.h"
#include "base/stats.h"
#include "mlruns-format/disturbance.h"
#include "mlruns-format/key.h"
#include "runs/entry_stats.h"
#include "runs/inherit.h"
#include "runs/metric_way.h"
#include "series/notes.h"
#include "series/values.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- metrics ---- */

/* Returns the unit of the metric in the record, else in the key, in the arena; "": none. */
static const char *recorded_unit(const char *key, const struct json *detail, struct arena *a)
{
    const char *unit = json_string(json_get(json_get(json_get(detail, "metrics"), key), "unit"), NULL);
    return unit ? arena_printf(a, "%s", unit) : key_unit(key, a);
}

static const char *name_without_unit(const char *key, const char *unit, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    show_metric(&b, key, unit);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

const char *plotted_unit(const char *unit, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 200);
    show_unit(&b, unit);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static unsigned metric_way(const char *key, const struct json *detail)
{
    return way_of(str_of(json_string(json_get(json_get(json_get(detail, "metrics"), key), "direction"), "")));
}

static void set_ways(struct plotted_metric *m, unsigned ways)
{
    m->ways = ways;
    m->better = ways == DIR_HIGHER ? CHART_HIGHER : ways == DIR_LOWER ? CHART_LOWER : CHART_NEITHER;
}

static void describe_metric_as(struct plotted_metric *m, const char *key, const char *unit, unsigned ways, struct arena *a)
{
    m->key = key;
    m->unit = unit;
    m->name = name_without_unit(key, unit, a);
    m->shown_unit = plotted_unit(unit, a);
    set_ways(m, ways);
}

void plotted_describe(struct plotted_metric *m, const char *key, const struct json *detail, struct arena *a)
{
    describe_metric_as(m, key, recorded_unit(key, detail, a), metric_way(key, detail), a);
}

bool plotted_join(struct plotted_metric *m, const char *unit, unsigned way, struct arena *a)
{
    if (*unit && *m->unit && strcmp(unit, m->unit) != 0)
        return false;
    if (*unit && !*m->unit && m->key)
        describe_metric_as(m, m->key, unit, m->ways, a);
    else if (*unit && !*m->unit)
        m->unit = unit, m->shown_unit = plotted_unit(unit, a);
    set_ways(m, m->ways | way);
    return true;
}

const struct tree_entry *plotted_metric_of(const struct tree_run *run, const struct json *detail, const char *wanted, struct arena *a)
{
    const struct tree_entry *exact = runs_entry(run->metrics, wanted), *stem = NULL;
    for (const struct tree_entry *e = run->metrics; e && !exact; e = e->next) {
        const char *name = name_without_unit(e->key, recorded_unit(e->key, detail, a), a);
        if (name && strcmp(name, wanted) == 0)
            exact = e;
        else if (name && !stem && strncmp(name, wanted, strlen(wanted)) == 0 && name[strlen(wanted)] == '.' &&
                 key_stem(name) == strlen(wanted))
            stem = e; /* the metric has statistics alone */
    }
    return exact ? exact : stem;
}

const char *plotted_nearest_metric(struct tree_run *const *list, size_t n, const char *wanted, struct arena *a)
{
    enum { RUNS_READ = 20 };
    const char *best = NULL;
    unsigned least = UINT_MAX;
    for (size_t i = 0; i < n && i < RUNS_READ; i++)
        for (const struct tree_entry *e = list[i]->metrics; e; e = e->next) {
            const char *name = name_without_unit(e->key, key_unit(e->key, a), a);
            unsigned distance = name ? str_distance(str_of(wanted), str_of(name)) : UINT_MAX;
            if (distance < least)
                least = distance, best = name;
        }
    return best;
}

/* Returns the headline metric that a plot shows where none is named; NULL: it has no metric. */
static const char *plotted_default_metric(const struct tree_run *run, struct arena *a)
{
    const char *wall = NULL;
    for (struct str rest = str_of(runs_text(run->tags, "benchwrap.headline", a)), word; (word = str_word(&rest)).n > 0;) {
        const char *key = arena_dup(a, word.p, word.n);
        if (!key || !runs_entry(run->metrics, key))
            continue;
        if (strncmp(key, "run.", 4) != 0 && strncmp(key, "series.", 7) != 0)
            return key;
        wall = wall ? wall : key;
    }
    for (const struct tree_entry *e = run->metrics; e; e = e->next)
        if (key_is_result(e->key) && e->count)
            return e->key;
    return wall ? wall : runs_entry(run->metrics, "run.wall_s") ? "run.wall_s" : NULL;
}

/* ---- facts ---- */

const char *plotted_fact(const struct tree_run *run, const struct comparison_key *key, const char *name, struct arena *a)
{
    if (strcmp(name, "experiment") == 0)
        return run->experiment;
    if (strcmp(name, "name") == 0)
        return run->name;
    if (strcmp(name, "status") == 0)
        return runs_status(run);
    const char *value = runs_text(run->params, name, a);
    if (!value)
        value = runs_text(run->tags, name, a);
    struct str fact = !value && key ? comparison_key_value(key, name) : (struct str){NULL, 0};
    return fact.p ? arena_dup(a, fact.p, fact.n) : value;
}

bool plotted_number(const char *text, double *ret)
{
    uint64_t bytes;
    if (!text)
        return false;
    if (str_double(str_of(text), ret) && isfinite(*ret))
        return true;
    if (!str_size(str_of(text), &bytes))
        return false;
    *ret = (double)bytes;
    return true;
}

/* ---- rows ---- */

/* Appends the row of a run, without values. The pointer is valid until the next call. NULL: out of
 * memory. */
static struct plotted_row *add_row(struct plotted_rows *p, const struct tree_run *run, const char *group)
{
    if (!ARRAY_FITS_IN(p->a, p->list, p->room, p->count + 1))
        return NULL;
    struct plotted_row *row = &p->list[p->count++];
    *row = (struct plotted_row){.run = run, .group = group, .start_ms = run->start_ms, .value = {NAN, NAN}, .low = NAN, .high = NAN};
    return row;
}

struct series_notes *plotted_notes(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    CLEANUP_FOLDER struct folder in = {0};
    struct folder tree = runs_tree(runs, run);
    struct folder_entry e;
    const char *path = arena_printf(a, "%s/artifacts", tree_run_path(run));
    struct series_notes *notes = ARENA_NEW(a, struct series_notes);
    if (!runs_entry(run->tags, "benchwrap.series") || !path || !notes || folder_enter(&tree, path, &in) < 0 ||
        folder_look(&in, SERIES_NOTES, &e, NULL) < 0)
        return NULL;
    if (series_notes_read(&in, notes, NULL) == 0)
        return notes;
    series_notes_deinit(notes);
    return NULL;
}

void plotted_sweep_axes(const struct runs *runs, const struct tree_run *run, struct arena *a, const char *axes[2])
{
    struct series_notes *notes = plotted_notes(runs, run, a);
    for (size_t i = 0; notes && i < 2 && i < notes->sweep.count; i++)
        axes[i] = arena_printf(a, "%s", notes->sweep.axes[i].name);
    if (notes)
        series_notes_deinit(notes);
}

static const char *repetition_field(struct plotted_rows *p, const struct series_notes *notes, const struct series_repetition *r,
                                    const struct tree_run *run, const struct comparison_key *key, const char *name)
{
    for (size_t i = 0; i < notes->sweep.count; i++)
        if (strcmp(notes->sweep.axes[i].name, name) == 0)
            return arena_printf(p->a, "%s", sweep_value(&notes->sweep, r->point, i));
    for (const struct series_input *in = r->inputs; in; in = in->next)
        if (strcmp(in->key, name) == 0)
            return arena_printf(p->a, "%s", in->value);
    return plotted_fact(run, key, name, p->a);
}

static bool is_series_metric(const struct series_run_value *v, const char *wanted, struct arena *a)
{
    char key[512];
    series_value_key(v, key, sizeof key);
    if (strcmp(v->key, wanted) == 0 || strcmp(key, wanted) == 0)
        return true;
    const char *name = name_without_unit(v->key, v->unit, a), *full = name_without_unit(key, v->unit, a);
    return (name && strcmp(name, wanted) == 0) || (full && strcmp(full, wanted) == 0);
}

/* Returns the value of a row, or NaN where the metric of the axis is in another unit; those of the
 * first metric are counted. */
static double value_on_axis(struct plotted_rows *p, struct plotted_row *row, size_t which, const char *unit, unsigned way, double value)
{
    if (plotted_join(&p->metric[which], unit, way, p->a)) {
        row->ways[which] = (uint8_t)way;
        return value;
    }
    if (which == 0 && isfinite(value)) {
        row->is_other_unit = true;
        if (p->other_units++ == 0)
            p->other_unit = plotted_unit(unit, p->a);
    }
    return NAN;
}

/* Returns the repetition's value of metric `which`, in the unit of the axis. Where no metric is
 * chosen yet, the first headline metric is chosen, the wall time last, and describes the axis. NaN:
 * no such value. */
static double repetition_value(struct plotted_rows *p, struct plotted_row *row, const struct series_repetition *r, size_t which)
{
    struct plotted_metric *m = &p->metric[which];
    const struct series_run_value *first = NULL;
    for (const struct series_run_value *v = r->values; v; v = v->next)
        if (m->wanted ? is_series_metric(v, m->wanted, p->a)
            : m->key  ? strcmp(v->key, m->key) == 0
                      : v->headline && strncmp(v->key, "run.", 4) != 0)
            first = first ? first : v;
    for (const struct series_run_value *v = r->values; v && !first && !m->wanted && !m->key; v = v->next)
        if (v->headline)
            first = v;
    if (!first)
        return NAN;
    const char *unit = arena_printf(p->a, "%s", first->unit ? first->unit : "");
    if (!m->key)
        describe_metric_as(m, arena_printf(p->a, "%s", first->key), unit, first->direction, p->a);
    return value_on_axis(p, row, which, unit, first->direction, first->value);
}

static void note_axes(struct plotted_rows *p, const struct series_notes *notes)
{
    for (size_t i = 0; i < notes->sweep.count; i++) {
        bool known = false;
        for (size_t k = 0; k < p->axis_count; k++)
            known = known || strcmp(p->axes[k], notes->sweep.axes[i].name) == 0;
        if (!known && p->axis_count < sizeof p->axes / sizeof *p->axes)
            p->axes[p->axis_count++] = arena_printf(p->a, "%s", notes->sweep.axes[i].name);
    }
}

/* Adds a row for each repetition that counts, with fields and values from the parent run's notes.
 * Repetitions that do not count, but for warm-ups, are added to p->failed. -1: out of memory. */
static int add_repetitions(struct plotted_rows *p, struct series_notes *notes, const struct tree_run *run, const char *group,
                           const struct comparison_key *key)
{
    note_axes(p, notes);
    for (const struct series_repetition *r = notes->first; r; r = r->next) {
        if (!series_counts(r)) {
            p->failed += !r->warmup;
            continue;
        }
        struct plotted_row *row = add_row(p, run, group);
        if (!row)
            return -1;
        CLEANUP_BUF struct buf label;
        buf_init(&label, 2000);
        sweep_label(&notes->sweep, r->point, &label);
        row->label = arena_printf(p->a, "%.8s%s%s #%zu", r->id, label.n ? " " : "", label.n ? label.p : "", r->repetition);
        row->start_ms = r->start_ms ? r->start_ms : run->start_ms;
        row->key = key;
        row->unjudged = r->unjudged;
        for (size_t i = 0; i < 3; i++)
            row->fields[i] = p->fields[i] ? repetition_field(p, notes, r, run, key, p->fields[i]) : NULL;
        for (size_t i = 0; i < p->metrics; i++)
            row->value[i] = repetition_value(p, row, r, i);
        p->lacking += isnan(row->value[0]) && !row->is_other_unit;
    }
    return 0;
}

/* Adds a row for the run with the values of all plotted metrics; NaN where the run lacks one, or
 * has it in another unit. -1: out of memory. */
static int add_whole_run(struct plotted_rows *p, const struct tree_run *run, const struct json *detail, const char *group,
                         const struct comparison_key *key)
{
    struct plotted_row *row = add_row(p, run, group);
    if (!row)
        return -1;
    row->label = arena_printf(p->a, "%.8s %s", run->id, run->name);
    row->key = key;
    row->unjudged = !runs_entry(run->tags, "benchwrap.noisy") && disturbance_unjudged(detail);
    for (size_t i = 0; i < 3; i++)
        row->fields[i] = p->fields[i] ? plotted_fact(run, key, p->fields[i], p->a) : NULL;
    for (size_t i = 0; i < p->metrics; i++) {
        struct plotted_metric *m = &p->metric[i];
        const char *wanted = m->wanted ? m->wanted : m->key ? m->key : plotted_default_metric(run, p->a);
        const struct tree_entry *e = wanted ? plotted_metric_of(run, detail, wanted, p->a) : NULL;
        struct stats stats;
        double value = e && !entry_stats_is_over_points(run, e) && entry_stats_of(e, &stats) ? stats.median : NAN;
        if (e && !m->key) {
            plotted_describe(m, e->key, detail, p->a);
            row->ways[i] = (uint8_t)m->ways;
        } else if (e)
            value = value_on_axis(p, row, i, recorded_unit(e->key, detail, p->a), metric_way(e->key, detail), value);
        row->value[i] = value;
        if (i == 0 && isfinite(value))
            row->low = stats.min, row->high = stats.max;
    }
    p->lacking += isnan(row->value[0]) && !row->is_other_unit;
    return 0;
}

int plotted_add(struct plotted_rows *p, struct tree_run *run, const char *group, struct err *err)
{
    const char *problem = NULL;
    struct comparison_key *key = ARENA_NEW(p->a, struct comparison_key);
    if (!p->reads)
        comparison_open(&p->reader, p->runs, NULL, p->ignore);
    p->reads = true;
    inherit_params(p->runs, run, p->a);
    struct json *detail = runs_detail(p->runs, run, &problem, p->a);
    p->unread += run->problem || problem;
    if (!key || comparison_key_of(&p->reader, run, detail, p->a, key, err) < 0) {
        json_free(detail);
        return err_memory(err, "the runs of a plot");
    }
    struct series_notes *notes = p->expand ? plotted_notes(p->runs, run, p->a) : NULL;
    int status = 0;
    if (notes) {
        status = add_repetitions(p, notes, run, group, key);
        series_notes_deinit(notes);
    } else if (run->status != RUN_FINISHED)
        p->failed++;
    else
        status = add_whole_run(p, run, detail, group, key);
    json_free(detail);
    return status < 0 || p->a->failed ? err_memory(err, "the runs of a plot") : 0;
}

void plotted_deinit(struct plotted_rows *p)
{
    if (p->reads)
        comparison_close(&p->reader);
    p->reads = false;
}

/* ---- what shares an axis ---- */

static bool is_named(const char *const *named, const char *fact)
{
    for (; named && *named; named++)
        if (strcmp(*named, fact) == 0)
            return true;
    return false;
}

static bool is_system_fact(const char *name)
{
    static const char *const facts[] = {"site", "cluster", "job.partition", "node.type"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(name, facts[i]) == 0)
            return true;
    return false;
}

static bool names_system(const char *const *named)
{
    for (; named && *named; named++)
        if (is_system_fact(*named))
            return true;
    return false;
}

/* Appends facts of the list that are not named, with ", " between. Returns how many there are. */
static size_t list_unnamed(const char *const *facts, const char *const *named, struct buf *to)
{
    enum { LISTED = 5 };
    size_t n = 0;
    for (; *facts; facts++)
        if (!is_named(named, *facts) && n++ < LISTED) {
            buf_puts(to, n > 1 ? ", " : "");
            buf_plain(to, str_of(*facts), 60);
        }
    if (n > LISTED)
        buf_printf(to, " and %zu more", n - LISTED);
    return n;
}

/* Returns the comparison keys of all rows, in the arena. NULL: out of memory. */
static struct comparison_key *plotted_keys(const struct plotted_rows *p)
{
    struct comparison_key *keys = arena_get(p->a, (p->count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < p->count; i++)
        keys[i] = *p->list[i].key;
    return keys;
}

/* Returns the first of the facts that is not among the named ones; NULL: all are. */
static const char *first_unnamed(const char *const *facts, const char *const *named)
{
    while (*facts && is_named(named, *facts))
        facts++;
    return *facts;
}

static int refuse_difference(const char *const *facts, const char *const *named, const char *where, struct err *err)
{
    CLEANUP_BUF struct buf b, first;
    buf_init(&b, 2000);
    buf_init(&first, 200);
    if (!list_unnamed(facts, named, &b))
        return 0;
    buf_plain(&first, str_of(first_unnamed(facts, named)), 60);
    err_set(err, ERR_INPUT, "these runs share no axis: %s differs in %s", where, b.p);
    return err_hint(err, "name what may differ by --by %s or --ignore %s, or choose runs by --filter", first.p, first.p);
}

/* Appends the first facts that the rows share, "benchmark fio, rw write". */
static void show_shared_facts(const struct comparison_key *key, const char *const *differing, struct buf *to)
{
    enum { SHARED_MOST = 5, ARGUMENT_MOST = 24 };
    size_t n = 0;
    for (size_t i = 0; i < key->count && n < SHARED_MOST; i++) {
        const struct comparison_fact *f = &key->facts[i];
        if (f->part != COMPARISON_MEASURED || is_named(differing, f->name) || strncmp(f->name, "series.", 7) == 0 ||
            strncmp(f->name, "sweep.", 6) == 0 ||
            (strncmp(f->name, "argument.", 9) == 0 && (f->value.n > ARGUMENT_MOST || str_has(f->value, "{"))))
            continue;
        buf_printf(to, "%s%s ", n++ ? ", " : "", f->name);
        buf_plain(to, f->value, 40);
    }
}

int plotted_check(struct plotted_rows *p, const char *const *named, bool system, const char **ret_note, struct err *err)
{
    struct comparison_key *keys = plotted_keys(p);
    CLEANUP_BUF struct buf note;
    buf_init(&note, 4000);
    const char **measured = keys ? comparison_key_difference(keys, p->count, COMPARISON_MEASURED, p->a) : NULL;
    const char **other = keys ? comparison_key_difference(keys, p->count, COMPARISON_SYSTEM, p->a) : NULL;
    const char **program = keys ? comparison_key_difference(keys, p->count, COMPARISON_PROGRAM, p->a) : NULL;
    if (!measured || !other || !program)
        return err_memory(err, "the keys of %zu runs", p->count);
    bool all = system && !names_system(named);
    if (refuse_difference(measured, named, "what was measured", err) < 0 ||
        (all && (refuse_difference(other, named, "the system", err) < 0 || refuse_difference(program, named, "the command line", err) < 0)))
        return -1;
    if (p->count)
        show_shared_facts(&keys[0], measured, &note);
    if (!other[0] && p->count && comparison_key_value(&keys[0], "site").p) {
        buf_puts(&note, note.n ? ", site " : "site ");
        buf_plain(&note, comparison_key_value(&keys[0], "site"), 60);
    }
    if (other[0]) {
        buf_puts(&note, note.n ? "; systems differ in " : "systems differ in ");
        list_unnamed(other, NULL, &note);
    }
    if (program[0] && !is_named(named, program[0]))
        buf_puts(&note, note.n ? "; programs differ" : "programs differ");
    *ret_note = arena_dup(p->a, note.p ? note.p : "", note.n);
    return 0;
}

int plotted_check_axes(const struct plotted_rows *p, const char *const *named, struct err *err)
{
    for (size_t i = 0; i < p->axis_count; i++) {
        bool placed = is_named(named, p->axes[i]);
        for (const struct opt_value *v = p->ignore; v && v->text; v = v->next)
            placed = placed || strcmp(v->text, p->axes[i]) == 0;
        if (!placed) {
            err_set(err, ERR_INPUT, "these values share no axis: the sweep also varies %.60s", p->axes[i]);
            return err_hint(err, "name it by --by %.60s or --ignore %.60s", p->axes[i], p->axes[i]);
        }
    }
    return 0;
}

/* Returns whether two keys agree but for the named facts. Versions do not count; a named fact of the
 * system frees all of it, and the program. */
static bool is_same_but(const struct comparison_key *x, const struct comparison_key *y, const char *const *named, struct arena *a,
                        const char ***ret_differing)
{
    struct comparison_key pair[] = {*x, *y};
    for (enum comparison_part part = 0; part < COMPARISON_PARTS; part++) {
        if (comparison_key_same(x, y, part) || part == COMPARISON_VERSION || (part != COMPARISON_MEASURED && names_system(named)))
            continue;
        const char **facts = comparison_key_difference(pair, 2, part, a);
        if (facts && first_unnamed(facts, named)) {
            *ret_differing = facts;
            return false;
        }
    }
    return true;
}

int plotted_restrict(struct plotted_rows *p, const char *const *named, struct err *err)
{
    const struct plotted_row *newest = NULL;
    const char **differing = NULL;
    size_t stay = 0, out = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!newest || p->list[i].start_ms > newest->start_ms)
            newest = &p->list[i];
    const struct comparison_key *key = newest ? newest->key : NULL;
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i].key != key && !is_same_but(key, p->list[i].key, named, p->a, &differing)) {
            p->other_units -= p->list[i].is_other_unit;
            p->lacking -= isnan(p->list[i].value[0]) && !p->list[i].is_other_unit;
            out++;
        } else
            p->list[stay++] = p->list[i];
    }
    p->count = stay;
    for (size_t m = 0; m < p->metrics; m++) { /* those that are left out do not count */
        unsigned ways = 0;
        for (size_t i = 0; i < stay; i++)
            ways |= p->list[i].ways[m];
        set_ways(&p->metric[m], ways);
    }
    if (out) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 2000);
        list_unnamed(differing, named, &b);
        p->other_keys = out;
        p->other_why = arena_dup(p->a, b.p ? b.p : "", b.n);
    }
    return p->a->failed ? err_memory(err, "the runs of a plot") : 0;
}
