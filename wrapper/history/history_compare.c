/* history_compare.c: one run against the earlier ones like it: is a number worse than those lead one to expect? */
#include "history/history_compare.h"

#include "base/json_out.h"
#include "base/listing.h"
#include "base/show.h"
#include "benchmarks/rules.h"
#include "compare/arguments.h"
#include "compare/compare_machine.h"
#include "history/earlier_runs.h"
#include "runs/inherit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *history_change_name(enum history_change changed)
{
    static const char *const names[] = {"", "too few", "no change", "regression", "improvement", "different"};
    return names[changed];
}

/* ---- judging ---- */

static enum history_change direction_of(const struct history_metric *h)
{
    const char *better = h->m->direction;
    if (!*better)
        return CHANGED_DIFFERENT;
    return (h->value > h->m->sides[0].median) == (strcmp(better, "higher") == 0) ? CHANGED_IMPROVEMENT : CHANGED_REGRESSION;
}

/* Returns the upper end of the expected range, at most 100 for shares: of those up to 100 % nothing
 * shows that there are greater ones. */
static double end_of_share(const struct history_metric *h, double high)
{
    const struct compared_side *before = &h->m->sides[0];
    bool share = strcmp(h->m->unit, "percent") == 0 && h->value <= 100;
    for (size_t i = 0; i < before->n; i++)
        share = share && before->values[i] <= 100;
    return share && high > 100 ? 100 : high;
}

/* Sets the newest value, its relative change against the median of the earlier runs, and the range
 * that these let expect. `runs`: how many earlier runs there are. Below STATS_EXPECT_MIN the result
 * is CHANGED_TOO_FEW. Observations of the machine get no result. */
static void expect_value(struct history_metric *h, size_t runs)
{
    const struct compared_side *before = &h->m->sides[0], *now = &h->m->sides[1];
    size_t n = runs < before->n ? runs : before->n; /* one earlier run: its repetitions are no history */
    h->expected = (struct stats_expected){NAN, NAN, 1};
    h->value = now->n ? now->median : NAN;
    h->change = before->n && before->median != 0 && now->n ? (h->value - before->median) / fabs(before->median) : NAN;
    if (!now->n || !before->n || !compare_is_judged(h->m->key))
        return;
    h->changed = n >= STATS_EXPECT_MIN && stats_expect(before->values, before->n, h->value, &h->expected) ? CHANGED_NO : CHANGED_TOO_FEW;
    h->expected.high = end_of_share(h, h->expected.high);
}

/* Applies Holm's correction over the headline metrics, or over all others. */
static bool history_correct(struct history_metric *all, size_t n, bool headline, double min_effect, double *p, bool *sure)
{
    size_t tests = 0;
    for (size_t i = 0; i < n; i++)
        if (all[i].m->headline == headline && all[i].changed == CHANGED_NO)
            p[tests++] = all[i].expected.p;
    if (!stats_holm(p, tests, STATS_EXPECT_P, sure))
        return false;
    tests = 0;
    for (size_t i = 0; i < n; i++)
        if (all[i].m->headline == headline && all[i].changed == CHANGED_NO && sure[tests++] && !(fabs(all[i].change) < min_effect))
            all[i].changed = direction_of(&all[i]);
    return true;
}

int history_judge(const struct compared_metric *metrics, size_t runs, double min_effect, struct arena *a, struct history_metric **ret,
                  size_t *ret_count, struct err *err)
{
    size_t n = 0, own = 0;
    for (const struct compared_metric *m = metrics; m; m = m->next)
        n++;
    struct history_metric *all = arena_get(a, (n + 1) * sizeof *all);
    double *p = arena_get(a, (n + 1) * sizeof *p);
    bool *sure = arena_get(a, (n + 1) * sizeof *sure);
    if (!all || !p || !sure)
        return err_memory(err, "the history of runs");
    n = 0;
    for (const struct compared_metric *m = metrics; m; m = m->next) {
        all[n].m = m;
        expect_value(&all[n], runs);
        own += *m->direction && compare_is_judged(m->key) && strcmp(m->key, "run.wall_s") != 0;
        n++;
    }
    for (size_t i = 0; i < n; i++) /* wall time has setting up and waiting in it: it counts where nothing else is known */
        all[i].counts = *all[i].m->direction && (!own || strcmp(all[i].m->key, "run.wall_s") != 0);
    if (!history_correct(all, n, true, min_effect, p, sure) || !history_correct(all, n, false, min_effect, p, sure))
        return err_memory(err, "the history of runs");
    *ret = all;
    *ret_count = n;
    return 0;
}

/* ---- the earlier runs ---- */

struct history_state {
    struct comparison_reader reader; /* with the rules of the run for every run */
    struct comparison_key key;
    const struct history_question *asked;
    struct arena *arena;
    struct runs *runs;
    struct compare_member run;
    struct run_inputs inputs;
    struct earlier_runs found;
    struct compare_group earlier; /* the same, completely read */
    struct str *versions; /* of the benchmark, of each earlier run; p NULL: not known */
    struct history_metric *metrics;
    size_t count;
};

/* Reads a run that the user names, or one that was listed (name NULL). Returns 1 for a listed one
 * that was deleted since then. */
static int read_member(struct history_state *h, const char *name, const struct tree_run *listed, struct compare_member *ret,
                       struct err *err)
{
    const unsigned what = TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE;
    struct tree_run *run = NULL;
    const char *problem = NULL;
    int got = name ? runs_find(h->runs, name, what, h->arena, &run, err) : runs_find_listed(h->runs, listed, what, h->arena, &run, err);
    if (got)
        return name ? -1 : got;
    inherit_params(h->runs, run, h->arena);
    *ret = (struct compare_member){run, runs_detail(h->runs, run, &problem, h->arena)};
    if (run->problem || problem)
        fprintf(h->asked->notes, "benchwrap: compare: %s: damaged\n", run->path);
    return 0;
}

/* Reads the runs found into h->earlier, with the version of each in h->versions; runs that
 * read_member skips are left out. Returns -1 with err. */
static int read_earlier(struct history_state *h, struct err *err)
{
    h->earlier.members = arena_get(h->arena, (h->found.count + 1) * sizeof *h->earlier.members);
    h->versions = arena_get(h->arena, (h->found.count + 1) * sizeof *h->versions);
    if (!h->earlier.members || !h->versions)
        return err_memory(err, "the history of runs");
    for (size_t i = 0; i < h->found.count; i++) {
        struct compare_member *m = &h->earlier.members[h->earlier.count];
        struct comparison_key key;
        int got = read_member(h, NULL, h->found.list[i], m, err);
        if (got < 0)
            return -1;
        if (got)
            continue;
        size_t at = h->earlier.count++;
        if (comparison_key_of(&h->reader, m->run, m->detail, h->arena, &key, err) < 0)
            return -1;
        h->versions[at] = comparison_key_value(&key, "benchmark.version");
    }
    return 0;
}

static bool precedes_run(void *context, const struct tree_run *other)
{
    const struct history_state *h = context;
    return other->start_ms < h->run.run->start_ms;
}

/* Loads the runs before this one with the same key and inputs. -1 with err. */
static int collect_earlier_runs(struct history_state *h, struct err *err)
{
    struct runs *runs = h->runs;
    struct runs_filter filter = {.experiment = h->run.run->experiment, .tags = h->asked->tags, .query = h->asked->query};
    const struct earlier_request asked = {.run = h->run.run,
                                          .key = &h->key,
                                          .inputs = &h->inputs,
                                          .rules = h->reader.arguments.shared_rules,
                                          .ignore = h->asked->ignore,
                                          .may_count = precedes_run,
                                          .context = h,
                                          .runs_max = h->asked->last};
    free(runs->all);
    runs->all = NULL;
    runs->count = 0;
    if (runs_load(runs, &filter, h->arena, err) < 0 || earlier_runs_find(&asked, runs, h->arena, &h->found, err) < 0)
        return -1;
    return read_earlier(h, err);
}

/* ---- what is printed ---- */

/* Returns the factor for the one unit (*ret_unit) of value, median and range: the one in which the
 * larger of value and median is shown. */
static double history_scale(const struct history_metric *m, const char **ret_unit)
{
    double median = m->m->sides[0].n ? fabs(m->m->sides[0].median) : 0, value = isnan(m->value) ? 0 : fabs(m->value);
    *ret_unit = m->m->unit;
    return show_scale(value > median ? value : median, ret_unit);
}

static void put_range(struct buf *to, const struct history_metric *m, double scale)
{
    show_value(to, m->expected.low * scale);
    buf_puts(to, " … ");
    show_value(to, m->expected.high * scale);
}

/* Appends "Regression: write.bw is 800 MiB/s, expected 1041 … 1190", all metrics of one outcome. */
static size_t put_changed(const struct history_state *h, enum history_change changed, const char *word, struct buf *to)
{
    enum { NAMED_MAX = 6 };
    size_t n = 0;
    for (size_t i = 0; i < h->count; i++) {
        const struct history_metric *m = &h->metrics[i];
        if (m->changed != changed || n++ >= NAMED_MAX)
            continue;
        buf_printf(to, "%s%s%s is ", n > 1 ? ", " : to->n ? "; " : "", n > 1 ? "" : word, compare_metric_name(m->m, h->arena));
        const char *unit;
        double scale = history_scale(m, &unit);
        show_value(to, m->value * scale);
        buf_puts(to, *unit ? " " : "");
        show_unit(to, unit);
        buf_puts(to, ", expected ");
        put_range(to, m, scale);
    }
    if (n > NAMED_MAX)
        buf_printf(to, " and %zu more", n - NAMED_MAX);
    return n;
}

/* Returns " except for argument.1", what the user leaves out, or "". */
static const char *but_left_out(const struct history_state *h)
{
    const char *left_out = comparison_left_out(h->asked->ignore, h->arena),
               *text = left_out ? arena_printf(h->arena, " except for %s", left_out) : NULL;
    return text ? text : "";
}

static void put_answer(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    if (!h->count)
        buf_puts(&b, "The run has no metric of its own");
    else if (h->earlier.count < STATS_EXPECT_MIN)
        buf_printf(&b, "Too few: %zu earlier run%s with the same inputs%s, %d are needed", h->earlier.count, str_plural(h->earlier.count),
                   but_left_out(h), STATS_EXPECT_MIN);
    else {
        size_t n = put_changed(h, CHANGED_REGRESSION, "Regression: ", &b);
        n += put_changed(h, CHANGED_IMPROVEMENT, "Improvement: ", &b);
        n += put_changed(h, CHANGED_DIFFERENT, "Different: ", &b);
        if (!n)
            buf_puts(&b, "No change against the earlier runs");
    }
    buf_putc(&b, '.');
    screen_wrap_plain(screen, buf_text(&b), 0, 2, to);
}

/* Writes "Measurement: benchmark fio, …." and a line for the system. */
static void put_history_key(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    enum { NAMED = 6 };
    static const char *const nouns[COMPARISON_PARTS] = {[COMPARISON_MEASURED] = "Measurement", [COMPARISON_SYSTEM] = "System"};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8192);
    for (enum comparison_part part = COMPARISON_MEASURED; part <= COMPARISON_SYSTEM; part++) {
        buf_clear(&b);
        buf_printf(&b, "%s: ", nouns[part]);
        size_t named = b.n;
        comparison_key_show(&h->key, part, NAMED, &b);
        if (b.n == named && part == COMPARISON_SYSTEM) /* nothing known */
            continue;
        buf_puts(&b, b.n == named ? "nothing is recorded of it." : ".");
        screen_wrap_plain(screen, buf_text(&b), 0, 2, to);
    }
}

/* Calls each for every change of the version, oldest first. A new version starts no new history: it
 * is a change in it. */
static void each_version_change(const struct history_state *h,
                                void (*each)(void *context, struct str from, struct str to, const struct tree_run *run), void *context)
{
    struct str before = {NULL, 0};
    for (size_t i = h->earlier.count + 1; i-- > 0;) { /* the newest is first; the run itself comes last */
        struct str version = i ? h->versions[i - 1] : comparison_key_value(&h->key, "benchmark.version");
        if (version.p && before.p && !str_eq(version, before))
            each(context, before, version, i ? h->earlier.members[i - 1].run : h->run.run);
        if (version.p)
            before = version;
    }
}

static void put_version_change(void *context, struct str from, struct str to, const struct tree_run *run)
{
    struct buf *b = context;
    buf_puts(b, b->n ? ", " : "The version of the benchmark changed: ");
    buf_plain(b, from, 40);
    buf_puts(b, " to ");
    buf_plain(b, to, 40);
    buf_printf(b, " with run %.8s", run->id);
}

static void put_versions(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    each_version_change(h, put_version_change, &b);
    if (!b.n)
        return;
    buf_putc(&b, '.');
    screen_wrap_plain(screen, buf_text(&b), 0, 2, to);
}

static void version_change_json(void *context, struct str from, struct str to, const struct tree_run *run)
{
    struct json_out *j = context;
    json_open_row(j, NULL, '{');
    json_text(j, "run", run->id);
    json_str(j, "from", from);
    json_str(j, "to", to);
    json_close(j, '}');
}

/* Writes what is no input, and differs from the earlier runs. */
static void put_history_environment(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    struct compare_member own = h->run;
    const struct compare_group groups[] = {h->earlier, {.name = "", .members = &own, .count = 1}};
    const char *differs = h->earlier.count ? environment_compare(groups, 2, h->arena) : NULL;
    const char *line = differs ? arena_printf(h->arena, "The environment differs (earlier runs, this run): %s.", differs) : NULL;
    if (line)
        screen_wrap_plain(screen, str_of(line), 0, 2, to);
}

static void put_history_units(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    enum { UNITS_SHOWN = 6 };
    size_t said = 0;
    for (size_t i = 0; i < h->count; i++)
        for (size_t side = 0; side < 2; side++) {
            const char *whose = side ? "run judged" : "earlier runs";
            const char *line = compare_units_line(h->metrics[i].m, side, side ? 1 : h->earlier.count, whose, h->arena);
            if (line && said++ < UNITS_SHOWN)
                screen_wrap_plain(screen, str_of(line), 0, 2, to);
        }
    size_t more = said > UNITS_SHOWN ? said - UNITS_SHOWN : 0;
    const char *words =
        more == 1 ? "! 1 more value is in another unit." : arena_printf(h->arena, "! %zu more values are in another unit.", more);
    if (more)
        screen_wrap_plain(screen, str_of(words), 0, 2, to);
}

/* Writes a hint that names what separates other runs: arguments of their command lines, or the
 * input that most of them differ in. */
static void put_history_hint(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    enum { NAMED_MAX = 4 };
    CLEANUP_BUF struct buf b;
    const char **names = h->found.other_arguments, *options = names ? comparison_ignore_options(names, h->arena) : NULL,
               *missed = inputs_most_missed(&h->inputs);
    buf_init(&b, 1 << 17);
    if (options) {
        size_t n = 0;
        buf_puts(&b, "hint: command lines of other runs differ in ");
        for (; names[n]; n++)
            if (n < NAMED_MAX)
                buf_printf(&b, "%s%s", n ? ", " : "", names[n]);
        if (n > NAMED_MAX)
            buf_printf(&b, " and %zu more", n - NAMED_MAX);
        buf_printf(&b, "; %s also compares these", options);
    } else if (h->earlier.count < STATS_EXPECT_MIN && missed)
        buf_printf(&b, "hint: most others differ in %s; --ignore PARAM compares runs that differ in it", missed);
    if (b.n)
        screen_wrap_plain(screen, buf_text(&b), 0, 6, to);
}

/* Writes the run, the answer, which runs are its history, and what limits the comparison. */
static void history_put_head(const struct history_state *h, const struct screen *screen, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    size_t n = h->earlier.count;
    buf_init(&b, 8192);
    buf_printf(&b, "run %.8s  %s", h->run.run->id, h->run.run->name);
    screen_wrap_plain(screen, buf_text(&b), 0, 2, to);
    buf_putc(to, '\n');
    put_answer(h, screen, to);
    buf_clear(&b);
    bool node = runs_text(h->run.run->params, "node.type", h->arena) != NULL;
    buf_printf(&b, "History: %zu earlier run%s of experiment %s with the same %sinputs%s%s", n, str_plural(n), h->run.run->experiment,
               h->key.arguments_known ? "" : "recorded ", but_left_out(h), node ? " on the same node type" : "");
    if (n > 1) {
        buf_puts(&b, ", ");
        show_time(&b, h->earlier.members[n - 1].run->start_ms);
        buf_puts(&b, " to ");
        show_time(&b, h->earlier.members[0].run->start_ms);
    }
    buf_printf(&b, ".%s%s", h->key.arguments_known ? "" : " The command lines are not known.",
               node ? "" : " The hardware is not recorded.");
    screen_wrap_plain(screen, buf_text(&b), 0, 2, to);
    put_history_key(h, screen, to);
    put_versions(h, screen, to);
    put_history_units(h, screen, to);
    buf_clear(&b);
    if (h->key.hidden) {
        buf_printf(&b, "Hidden values may differ: %s.", h->key.hidden);
        screen_wrap_plain(screen, buf_text(&b), 0, 2, to);
    }
    put_history_environment(h, screen, to);
    put_history_hint(h, screen, to);
}

static const char *history_verdict(const struct history_metric *m)
{
    return isnan(m->value) ? "missing" : !m->m->sides[0].n ? "new" : history_change_name(m->changed);
}

static void history_add_value(struct listing *l, double value, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (!isnan(value))
        show_value(&b, value);
    if (b.n)
        listing_number(l, value, arena_dup(a, b.p, b.n));
    else
        listing_none(l);
}

/* Adds the cell of the relative change: as factor or percent where both values are positive, else
 * as plain percent; empty where it is not known. */
static void add_history_change(struct listing *l, const struct history_metric *m, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (isnan(m->change))
        listing_text(l, "");
    else if (m->change > -1 && m->m->sides[0].median > 0) {
        show_change(&b, 1 + m->change);
        listing_number(l, m->change, arena_dup(a, b.p, b.n));
    } else
        listing_number(l, m->change, arena_printf(a, "%+.1f %%", 100 * m->change));
}

static void history_add_metric(struct listing *l, const struct history_state *h, const struct history_metric *m)
{
    static const enum style styles[] = {
        [CHANGED_NONE] = STYLE_PLAIN,     [CHANGED_TOO_FEW] = STYLE_DIM,      [CHANGED_NO] = STYLE_DIM,
        [CHANGED_REGRESSION] = STYLE_BAD, [CHANGED_IMPROVEMENT] = STYLE_GOOD, [CHANGED_DIFFERENT] = STYLE_PLAIN};
    struct arena *a = h->arena;
    const struct compared_side *before = &m->m->sides[0];
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    listing_text(l, compare_metric_name(m->m, a));
    const char *unit;
    double scale = history_scale(m, &unit);
    show_unit(&b, unit);
    listing_text(l, b.n ? b.p : "");
    history_add_value(l, m->value * scale, a);
    history_add_value(l, before->n ? before->median * scale : NAN, a);
    listing_text(l, arena_printf(a, "%zu", before->n < h->earlier.count ? before->n : h->earlier.count));
    add_history_change(l, m, a);
    buf_clear(&b);
    if (!isnan(m->expected.low))
        put_range(&b, m, scale);
    listing_text(l, b.n ? b.p : "");
    listing_text(l, history_verdict(m));
    listing_style(l, styles[m->changed]);
}

/* Prints the comparison of one run with its history. -1: out of memory. */
static int history_print_text(const struct history_state *h)
{
    static const struct listing_column columns[] = {{"key", "", false, 60, .whole = true},
                                                    {"unit", "", false, 0, .drop = 2, .whole = true, .no_empty = true},
                                                    {"value", "value", true, 0},
                                                    {"median", "median", true, 0},
                                                    {"n", "runs", true, 0, .common = ""},
                                                    {"change", "change", true, 0, .no_empty = true},
                                                    {"expected", "expected", true, 0, .drop = 1, .no_empty = true},
                                                    {"verdict", "", false, 0, .whole = true, .no_empty = true}};
    const struct screen screen = screen_of_file(h->asked->out);
    CLEANUP_BUF struct buf to;
    struct listing l;
    buf_init(&to, 1u << 30);
    history_put_head(h, &screen, &to);
    listing_init(&l, columns, sizeof columns / sizeof *columns, h->arena);
    for (size_t i = 0; i < h->count; i++)
        history_add_metric(&l, h, &h->metrics[i]);
    if (h->count)
        buf_putc(&to, '\n');
    int status = listing_render(&l, &screen, &to);
    listing_deinit(&l);
    fwrite(to.p ? to.p : "", 1, to.n, h->asked->out);
    return to.failed ? -1 : status;
}

/* Returns the largest or smallest value of the side; NaN: it has none. */
static double value_at_end(const struct compared_side *side, bool greatest)
{
    double end = NAN;
    for (size_t i = 0; i < side->n; i++)
        if (isnan(end) || (greatest ? side->values[i] > end : side->values[i] < end))
            end = side->values[i];
    return end;
}

static void metric_json(struct json_out *j, const struct history_metric *m, size_t runs)
{
    const struct compared_side *before = &m->m->sides[0];
    json_open(j, NULL, '{');
    json_text(j, "key", m->m->key);
    if (m->m->step >= 0)
        json_int(j, "step", m->m->step);
    else
        json_null(j, "step");
    json_text(j, "unit", m->m->unit);
    json_text(j, "direction", *m->m->direction ? m->m->direction : NULL);
    json_known(j, "value", m->value);
    json_int(j, "n", (int64_t)(before->n < runs ? before->n : runs));
    if (before->other_units)
        json_int(j, "other_units", (int64_t)before->other_units);
    json_known(j, "median", before->n ? before->median : NAN);
    json_known(j, "min", value_at_end(before, false));
    json_known(j, "max", value_at_end(before, true));
    json_known(j, "change", m->change);
    json_known(j, "expected_low", m->expected.low);
    json_known(j, "expected_high", m->expected.high);
    json_known(j, "p", isnan(m->expected.low) ? NAN : m->expected.p);
    json_text(j, "verdict", history_verdict(m));
    json_close(j, '}');
}

/* Prints the comparison as one JSON object to asked->out. -1: out of memory. A failed write is not
 * checked here. */
static int history_print_json(const struct history_state *h)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 30);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_text(&j, "run", h->run.run->id);
    json_open(&j, "history", '[');
    for (size_t i = 0; i < h->earlier.count; i++)
        json_text(&j, NULL, h->earlier.members[i].run->id);
    json_close(&j, ']');
    json_int(&j, "looked_at", (int64_t)h->found.searched);
    json_open(&j, "inputs", '[');
    for (size_t i = 0; i < h->inputs.count; i++)
        json_text(&j, NULL, h->inputs.list[i].path);
    json_close(&j, ']');
    comparison_key_json(&h->key, &j);
    json_text(&j, "ignored", comparison_left_out(h->asked->ignore, h->arena));
    json_open(&j, "versions", '[');
    each_version_change(h, version_change_json, &j);
    json_close(&j, ']');
    json_double(&j, "min_effect", h->asked->min_effect);
    json_open(&j, "metrics", '[');
    for (size_t i = 0; i < h->count; i++)
        metric_json(&j, &h->metrics[i], h->earlier.count);
    json_close(&j, ']');
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, h->asked->out);
    return b.failed ? -1 : 0;
}

/* Prints what the document has of each metric, as rows. */
static int history_print_rows(const struct history_state *h)
{
    static const struct listing_column columns[] = {{"metric"},
                                                    {"step", .right = true},
                                                    {"unit"},
                                                    {"direction"},
                                                    {"value", .right = true},
                                                    {"n", .right = true},
                                                    {"median", .right = true},
                                                    {"min", .right = true},
                                                    {"max", .right = true},
                                                    {"change", .right = true},
                                                    {"expected_low", .right = true},
                                                    {"expected_high", .right = true},
                                                    {"p", .right = true},
                                                    {"verdict"}};
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, h->arena);
    for (size_t i = 0; i < h->count; i++) {
        const struct history_metric *m = &h->metrics[i];
        const struct compared_side *before = &m->m->sides[0];
        listing_text(&l, m->m->key);
        listing_known(&l, m->m->step >= 0 ? (double)m->m->step : NAN);
        listing_text(&l, m->m->unit);
        listing_text(&l, *m->m->direction ? m->m->direction : NULL);
        listing_known(&l, m->value);
        listing_integer(&l, (int64_t)(before->n < h->earlier.count ? before->n : h->earlier.count));
        listing_known(&l, before->n ? before->median : NAN);
        listing_known(&l, value_at_end(before, false));
        listing_known(&l, value_at_end(before, true));
        listing_known(&l, m->change);
        listing_known(&l, m->expected.low);
        listing_known(&l, m->expected.high);
        listing_known(&l, isnan(m->expected.low) ? NAN : m->expected.p);
        listing_text(&l, history_verdict(m));
    }
    int status = listing_write(&l, h->asked->form, h->asked->out);
    listing_deinit(&l);
    return status;
}

/* ---- the question ---- */

/* Judges each metric against the earlier runs, and prints the result. 0; 1: the run is damaged;
 * COMPARE_STATUS_GATE; -1 with err. */
static int judge_and_print(struct history_state *h, struct err *err)
{
    struct compared_metric *metrics = NULL;
    struct compare_group groups[] = {h->earlier, {.name = h->run.run->id, .members = &h->run, .count = 1}};
    if (compare_metrics(groups, 2, h->asked->all, h->arena, &metrics, err) < 0 ||
        history_judge(metrics, h->earlier.count, h->asked->min_effect, h->arena, &h->metrics, &h->count, err) < 0)
        return -1;
    const enum listing_form form = h->asked->form;
    int printed = form == LISTING_JSON ? history_print_json(h) : form == LISTING_TABLE ? history_print_text(h) : history_print_rows(h);
    if (printed < 0)
        return err_memory(err, "the history of runs");
    for (size_t i = 0; i < h->count; i++)
        if (h->asked->gate && h->metrics[i].counts && h->metrics[i].changed == CHANGED_REGRESSION)
            return COMPARE_STATUS_GATE;
    return h->run.run->problem ? 1 : 0;
}

int history_compare(const struct history_question *asked, struct runs *runs, struct err *err)
{
    struct history_state h = {.asked = asked, .arena = asked->arena, .runs = runs};
    if (read_member(&h, asked->run, NULL, &h.run, err) < 0)
        return -1;
    int status = inputs_of(&h.inputs, h.run.run, h.run.detail, asked->ignore, h.arena, err);
    struct rules *rules = arguments_rules(runs, h.run.run, h.arena);
    comparison_open(&h.reader, runs, rules, asked->ignore);
    if (status == 0)
        status = comparison_key_of(&h.reader, h.run.run, h.run.detail, h.arena, &h.key, err);
    if (status == 0)
        status = collect_earlier_runs(&h, err);
    if (status == 0)
        status = judge_and_print(&h, err);
    for (size_t i = 0; i < h.earlier.count; i++)
        json_free(h.earlier.members[i].detail);
    comparison_close(&h.reader);
    json_free(h.run.detail);
    rules_free(rules);
    return status;
}
