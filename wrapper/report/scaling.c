/* scaling.c: strong and weak scaling: the kind, what else may differ, speed-up and efficiency; see scaling.h. */
#include "report/scaling.h"
#include "base/units.h"
#include "report/charts.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

const char *const scaling_facts[] = {"step.nodes", "job.nodes", "step.tasks", "job.tasks", "job.cpus_per_task", "scaling", NULL};
enum { SHAPES = 5 /* of them the first are shapes */, SHAPE_CPUS = 4 };

const char *scaling_axis(struct tree_run *const *list, size_t n, struct arena *a)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const char *first = n ? runs_text(list[0]->params, scaling_facts[i], a) : NULL;
        for (size_t k = 1; first && k < n; k++) {
            const char *other = runs_text(list[k]->params, scaling_facts[i], a);
            if (other && strcmp(first, other) != 0)
                return scaling_facts[i];
        }
    }
    return NULL;
}

const char *scaling_kind_name(enum scaling_kind kind)
{
    return kind == SCALING_STRONG ? "strong" : "weak";
}

/* ---- the kind ---- */

static enum scaling_kind kind_of_word(const char *word)
{
    return !word ? SCALING_NONE : strcmp(word, "strong") == 0 ? SCALING_STRONG : strcmp(word, "weak") == 0 ? SCALING_WEAK : SCALING_NONE;
}

/* Returns SCALING_STRONG where the amount of work of all rows is the same, SCALING_WEAK where it is
 * for each unit of x, both within 1 %. SCALING_NONE: neither, or x does not vary. */
static enum scaling_kind kind_by_work(const struct plotted_rows *p)
{
    double total = NAN, each = NAN, work, x, first_x = NAN;
    bool strong = true, weak = true, varies = false;
    for (size_t i = 0; i < p->count; i++) {
        if (!plotted_number(p->list[i].fields[2], &work) || !plotted_number(p->list[i].fields[0], &x) || x <= 0)
            return SCALING_NONE;
        if (isnan(total))
            total = work, each = work / x, first_x = x;
        strong = strong && fabs(work - total) <= fabs(total) * 0.01;
        weak = weak && fabs(work / x - each) <= fabs(each) * 0.01;
        varies = varies || x != first_x;
    }
    return !varies || strong == weak ? SCALING_NONE : strong ? SCALING_STRONG : SCALING_WEAK;
}

/* Reads the kind of scaling from the runs. -1: they have none, or not all the same. */
static int find_scaling_kind(struct plotted_rows *p, enum scaling_kind *ret, struct err *err)
{
    enum scaling_kind said = SCALING_NONE;
    bool all = p->count > 0;
    for (size_t i = 0; i < p->count; i++) {
        enum scaling_kind own = kind_of_word(plotted_fact(p->list[i].run, p->list[i].key, "scaling", p->a));
        all = all && own != SCALING_NONE;
        if (own != SCALING_NONE && said != SCALING_NONE && own != said)
            return err_set(
                err, ERR_INPUT,
                "some runs are marked as strong and others as weak scaling: choose one kind by --filter \"params.scaling = 'strong'\"");
        said = own != SCALING_NONE ? own : said;
    }
    enum scaling_kind work = p->fields[2] ? kind_by_work(p) : SCALING_NONE;
    if (p->fields[2] && work == SCALING_NONE)
        return err_set(err, ERR_INPUT,
                       "--work %.60s: expected the same total work in all runs (strong scaling), or the same for each %.60s (weak scaling)",
                       p->fields[2], p->fields[0]);
    if (work != SCALING_NONE && said != SCALING_NONE && work != said)
        return err_set(err, ERR_INPUT, "the runs are marked as %s scaling, but %.60s shows the other kind", scaling_kind_name(said),
                       p->fields[2]);
    *ret = work != SCALING_NONE ? work : all ? said : SCALING_NONE;
    if (*ret != SCALING_NONE)
        return 0;
    err_set(err, ERR_INPUT,
            "the runs do not state whether they show strong scaling (fixed total work) or weak scaling (fixed work for each %.60s)",
            p->fields[0] ? p->fields[0] : "unit");
    return err_hint(err, "record it with --param scaling=strong, or name the param that holds the total work by --work KEY");
}

/* ---- what else may differ ---- */

static bool is_placed(const struct plotted_rows *p, const char *fact)
{
    for (size_t i = 0; i < 3; i++)
        if (p->fields[i] && strcmp(p->fields[i], fact) == 0)
            return true;
    for (const struct opt_value *v = p->ignore; v && v->text; v = v->next)
        if (fnmatch(v->text, fact, 0) == 0)
            return true;
    return false;
}

/* How a shape of the launch may change with x. */
enum shape_rule { SHAPE_FIXED, SHAPE_PROPORTIONAL /* or fixed */, SHAPE_FREE /* nodes with tasks: those of one node share it */ };

static enum shape_rule rule_of_shape(const char *shape, const char *x)
{
    if (strcmp(shape, scaling_facts[SHAPE_CPUS]) == 0 || strcmp(x, scaling_facts[SHAPE_CPUS]) == 0)
        return SHAPE_FIXED;
    return str_ends(str_of(x), ".tasks") && str_ends(str_of(shape), ".nodes") ? SHAPE_FREE : SHAPE_PROPORTIONAL;
}

static bool is_on_line(const struct plotted_row *row, const char *line)
{
    return row->fields[0] && isfinite(row->value[0]) && (!line || (row->fields[1] && strcmp(row->fields[1], line) == 0));
}

/* Returns whether the rows of a line obey the rule. Rows of one x have one value of the shape in
 * any case. of: the shape of each row. */
static bool keeps_shape_rule(const struct plotted_rows *p, const char *const *of, enum shape_rule rule, const char *line)
{
    bool same = true, grows = rule == SHAPE_PROPORTIONAL;
    size_t first = p->count;
    double x, y, first_x = 0, first_y = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct plotted_row *row = &p->list[i];
        size_t k = 0;
        if (!is_on_line(row, line))
            continue;
        while (!is_on_line(&p->list[k], line) || strcmp(p->list[k].fields[0], row->fields[0]) != 0)
            k++; /* ends at i */
        if (strcmp(of[k], of[i]) != 0)
            return false;
        bool numbers = plotted_number(row->fields[0], &x) && plotted_number(of[i], &y) && x > 0;
        if (first == p->count)
            first = i, first_x = numbers ? x : 0, first_y = numbers ? y : 0;
        same = same && strcmp(of[i], of[first]) == 0;
        grows = grows && numbers && first_x > 0 && fabs(y * first_x - first_y * x) <= 1e-9 * fabs(first_y * x);
    }
    return same || grows || rule == SHAPE_FREE;
}

/* Returns whether a shape changes on one of the lines in a way that x does not explain. */
static bool is_shape_odd(const struct plotted_rows *p, const char *shape, const char *const *lines, size_t n)
{
    const char **of = arena_get(p->a, (p->count + 1) * sizeof *of);
    bool keeps = true;
    for (size_t i = 0; of && i < p->count; i++) {
        of[i] = plotted_fact(p->list[i].run, p->list[i].key, shape, p->a);
        of[i] = of[i] ? of[i] : "";
    }
    for (size_t g = 0; of && g < (lines ? n : 1); g++)
        keeps = keeps && keeps_shape_rule(p, of, rule_of_shape(shape, p->fields[0]), lines ? lines[g] : NULL);
    return !keeps;
}

/* Checks that the runs differ in x alone, as speed-up requires: shapes of the launch must follow x,
 * and the version must be the same. Returns -1 with err. */
static int check_others(struct plotted_rows *p, const char *const *lines, size_t n, struct err *err)
{
    struct comparison_key *keys = arena_get(p->a, (p->count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < p->count; i++)
        keys[i] = *p->list[i].key;
    const char **versions = keys ? comparison_key_difference(keys, p->count, COMPARISON_VERSION, p->a) : NULL;
    if (!versions)
        return err_memory(err, "the keys of %zu runs", p->count);
    const char *differs = NULL;
    for (; *versions && !differs; versions++)
        differs = is_placed(p, *versions) ? NULL : *versions;
    for (size_t i = 0; i < SHAPES && !differs; i++)
        if (!is_placed(p, scaling_facts[i]) && is_shape_odd(p, scaling_facts[i], lines, n))
            differs = scaling_facts[i];
    if (!differs)
        return 0;
    err_set(err, ERR_INPUT, "the runs differ in more than %.60s: %.60s changes without it", p->fields[0], differs);
    return err_hint(err, "choose runs by --filter, make lines by --by %.60s, or name it by --ignore %.60s", differs, differs);
}

/* ---- values ---- */

static double scaling_speedup(const struct scaling *s, double n0, double v0, double n, double v)
{
    if (s->is_rate)
        return v / v0;
    return s->kind == SCALING_STRONG ? v0 / v : v0 * n / (v * n0); /* weak: n / n0 times the work */
}

static double scaling_ideal(const struct scaling *s, double n0, double v0, double n)
{
    return s->is_rate ? v0 * n / n0 : s->kind == SCALING_STRONG ? v0 * n0 / n : v0;
}

static const char *scaling_formula(enum scaling_kind kind, bool is_rate)
{
    if (kind == SCALING_STRONG)
        return is_rate ? "Strong scaling: fixed total work. Efficiency E(n) = R(n) n0 / (R(n0) n)"
                       : "Strong scaling: fixed total work. Efficiency E(n) = T(n0) n0 / (T(n) n)";
    return is_rate ? "Weak scaling: fixed work per unit. Efficiency E(n) = (R(n) / n) / (R(n0) / n0)"
                   : "Weak scaling: fixed work per unit. Efficiency E(n) = T(n0) / T(n)";
}

static bool is_time_unit(const char *unit)
{
    const struct unit *u = units_find(str_of(unit));
    return u && strcmp(u->dimension, "second") == 0;
}

/* Returns whether the metric is work per time. A score without a unit, of which more is better,
 * counts as such. */
static bool is_rate_metric(const struct plotted_metric *m)
{
    bool has_unit = m->unit && *m->unit;
    return m->better != CHART_LOWER && ((has_unit && (str_ends(str_of(m->unit), "_per_s") || strcmp(m->unit, "GTEPS") == 0)) ||
                                        (!has_unit && m->better == CHART_HIGHER));
}

/* Fills the line's points in the arena, with ideal, speed-up and efficiency against the smallest
 * size that has a positive median. Returns false when out of memory. */
static bool fill_scaling_line(const struct plotted_rows *p, const struct scaling *s, const char *const *values, struct scaling_line *line)
{
    double n0 = NAN, v0 = NAN;
    line->points = arena_get(p->a, (s->points + 1) * sizeof *line->points);
    for (size_t i = 0; line->points && i < s->points; i++) {
        struct charted_point at = charts_point(p, values[i], line->name, NULL);
        struct scaling_point *point = &line->points[i];
        *point = (struct scaling_point){.text = values[i], .median = at.median, .low = at.low, .high = at.high, .n = at.n};
        plotted_number(values[i], &point->x);
        if (at.n && at.median > 0 && point->x > 0 && !(n0 <= point->x))
            n0 = point->x, v0 = at.median;
    }
    for (size_t i = 0; line->points && i < s->points; i++) {
        struct scaling_point *point = &line->points[i];
        point->ideal = scaling_ideal(s, n0, v0, point->x);
        point->speedup = scaling_speedup(s, n0, v0, point->x, point->median);
        point->efficiency = point->speedup * n0 / point->x;
    }
    return line->points != NULL;
}

int scaling_read(struct plotted_rows *p, struct scaling *ret, struct err *err)
{
    size_t n, groups = 0;
    bool is_log, two;
    const char **values = charts_values(p, 0, &n), **names = p->fields[1] ? charts_values(p, 1, &groups) : NULL;
    *ret = (struct scaling){.is_rate = is_rate_metric(&p->metric[0]), .points = n, .count = names ? groups : 1};
    if (!values)
        return err_memory(err, "the points of a scaling plot");
    if (find_scaling_kind(p, &ret->kind, err) < 0)
        return -1;
    if (n < 2 || !charts_numeric(values, n, &is_log, &two))
        return err_set(err, ERR_INPUT, "scaling needs runs with at least two numbers of %.60s, got %zu", p->fields[0], n);
    if (!ret->is_rate && (!is_time_unit(p->metric[0].unit) || p->metric[0].better == CHART_HIGHER))
        return err_set(err, ERR_INPUT, "%.60s is neither a time nor a rate: its efficiency is not defined",
                       charts_axis(&p->metric[0]).label);
    if (check_others(p, names, groups, err) < 0)
        return -1;
    ret->formula = scaling_formula(ret->kind, ret->is_rate);
    ret->lines = arena_get(p->a, (ret->count + 1) * sizeof *ret->lines);
    for (size_t g = 0; ret->lines && g < ret->count; g++) {
        ret->lines[g].name = names ? names[g] : NULL;
        if (!fill_scaling_line(p, ret, values, &ret->lines[g]))
            return err_memory(err, "the points of a scaling plot");
    }
    return ret->lines && !p->a->failed ? 0 : err_memory(err, "the points of a scaling plot");
}
