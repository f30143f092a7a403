/* finish_metrics.c: values become metrics with their statistics, or are missing with the reason. */
#include "benchmarks/finish.h"
#include "benchmarks/percentile.h"
#include "base/buf.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Metrics that no line prints. A metric that cannot be computed is missing; `required` reports it
 * where it is needed. */
void computed_take(struct ending *e)
{
    struct rules_run *run = e->run;
    struct expr_names names = ending_names(e);
    struct source *source = &run->source[0];
    for (size_t i = 0; i < 2 + run->rules->files; i++) /* where something is lost, the parts may be */
        if (run->source[i].lost)
            source = &run->source[i];
    for (unsigned b = 0; b < blocks_of(run); b++)
        for (size_t i = 0; i < run->rules->computeds; i++) {
            const struct computed *c = &run->rules->computed[i];
            const struct metric_rule *m = &c->rule;
            struct value v;
            double number;
            run->block_now = b;
            e->derive_limit = run->rules->deriveds;
            v = expr_value(c->value, &names);
            if (v.kind == VALUE_TEXT ? !str_double(v.text, &number) : (number = v.number, v.kind != VALUE_NUMBER))
                continue;
            if (!isfinite(number) || (m->from && !units_convert(number, m->from, m->unit, &number)) ||
                (m->zero != ZERO_KEEP && number == 0))
                continue;
            struct series *s = series_of(run, source, &run->rules->computed_reader, m, m->name.part[0].text, b);
            if (s)
                series_take(run, s, 0, number);
        }
}

/* The test that a metric is of; -1: all of the output. */
static int block_of(const struct rules_run *run, const struct series *s)
{
    return s->rule->of_run || run->blocks <= 1 ? -1 : (int)s->block;
}

static const char *prefix_of(const struct ending *e, const struct series *s)
{
    return s->rule->of_run ? "" : e->prefix[s->block];
}

/* Records one value of a metric, under the key with its unit and `stat` ("": none), and notes it as
 * a headline metric. at: milliseconds after e->base_ms. */
static void metric_out(struct ending *e, const struct series *s, const char *stat, double value, const char *unit, enum direction dir,
                       int64_t step, int64_t at)
{
    char key[NAME_MAX_BYTES + 128];
    const char *own = s->rule->unit ? s->rule->unit->name : "";
    snprintf(key, sizeof(key), "%s" STR_FMT "%s%s%s%s", prefix_of(e, s), STR_ARG(s->name), own[0] ? "_" : "", own, stat[0] ? "." : "",
             stat);
    record_metric(e->record, key, value, unit, dir, step, e->base_ms + at);
    headlines_note(&e->headlines, e->run->rules, s, block_of(e->run, s), stat, key);
}

/* Records that a metric is missing, under the key with its unit and `stat`. */
static void missing_out(struct ending *e, const struct series *s, const char *stat, const char *why)
{
    char key[NAME_MAX_BYTES + 128];
    const char *own = s->rule->unit ? s->rule->unit->name : "";
    snprintf(key, sizeof(key), "%s" STR_FMT "%s%s%s%s", prefix_of(e, s), STR_ARG(s->name), own[0] ? "_" : "", own, stat[0] ? "." : "",
             stat);
    struct buf b;
    buf_init(&b, 600);
    buf_plain(&b, str_of(why), 200);
    record_missing(e->record, key, "%s", b.p ? b.p : "");
    buf_deinit(&b);
}

static int by_step(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return (x->step > y->step) - (x->step < y->step);
}

bool series_same_metric(const struct rules_run *run, const struct series *a, const struct series *b)
{
    const char *x = a->rule->stat ? a->rule->stat : "", *y = b->rule->stat ? b->rule->stat : "";
    return block_of(run, a) == block_of(run, b) && a->rule->unit == b->rule->unit && str_eq(a->name, b->name) && !strcmp(x, y);
}

/* Rules that guess have no order of trust: the same result with another value, in whatever words or
 * stream, makes both doubtful. */
static bool series_is_contradicted(const struct rules_run *run, const struct series *s)
{
    for (const struct series *o = run->series; o && run->rules->guess && s->n; o = o->next)
        if (o != s && o->n && series_same_metric(run, o, s) && o->sample[0].value != s->sample[0].value)
            return true;
    return false;
}

static const char row_unread[] = "values stand in lines with digits in groups or decimal commas, which are not read";

const char *series_trouble(const struct rules_run *run, struct series *s)
{
    if (run->hopeless)
        return "the lines of the output are too hard for the patterns, so reading was stopped";
    if (s->source->lost)
        return "part of the output was not kept, so values are missing";
    if (s->reader->slice >= 0 && s->source->slice[s->reader->slice].endless)
        return "the line that ends this part of the output never came, so it is not known what belongs to it";
    if (s->reader->index < READERS_MAX && run->unread.reader[s->reader->index]) /* computed metrics have an index behind those */
        return row_unread;
    if (s->outside[0])
        return s->outside;
    if (s->overflow)
        return "more values than one reading may hold";
    if (s->steps && s->n && s->rule->many == MANY_SERIES) { /* qsort accepts no NULL, not even for no elements */
        qsort(s->sample, s->n, sizeof(*s->sample), by_step);
        for (size_t i = 1; i < s->n; i++)
            if (s->sample[i].step == s->sample[i - 1].step)
                return "two values for the same repetition: outputs of several programs are mixed";
    }
    if (run->rules->guess && s->n && s->missing) /* "rate: 0 op/s", then "rate: 5 op/s" */
        return "the output has several different values where one is expected";
    if (s->rule->many == MANY_ERROR)
        for (size_t i = 1; i < s->n; i++)
            if (s->sample[i].value != s->sample[0].value)
                return "the output has several different values where one is expected";
    return series_is_contradicted(run, s) ? "the output has several different values where one is expected" : NULL;
}

/* The number that the rule names for the values behind the series: a param or a derived name. NaN: not known. */
static double values_behind(struct ending *e, const struct series *s)
{
    struct expr_names names = ending_names(e);
    struct value v;
    double number;
    e->derive_limit = e->run->rules->deriveds;
    names.name(names.context, s->values, &v);
    if (v.kind == VALUE_NUMBER)
        return v.number;
    return v.kind == VALUE_TEXT && str_double(v.text, &number) ? number : NAN;
}

/* A percentile of fewer values than it needs, or of a number of values that the output does not
 * state, is withheld, with the reason. */
static void percentile_withhold(struct ending *e, struct series *s)
{
    struct str name = s->rule->stat ? str_of(s->rule->stat) : s->name;
    const uint64_t needs = s->values.n && s->n && !s->dropped ? percentile_needs(name) : 0;
    double values = needs ? values_behind(e, s) : NAN;
    if (!needs || values >= (double)needs || series_trouble(e->run, s))
        return;
    percentile_reason(name, values, s->why, sizeof s->why);
    s->missing += s->n;
    s->n = 0;
}

/* Values whose rule has a condition `when` that does not hold are not values of this metric. All
 * conditions are tested before any value is dropped. */
void series_drop(struct ending *e)
{
    struct rules_run *run = e->run;
    for (struct series *s = run->series; s; s = s->next) {
        run->block_now = s->block;
        s->dropped = s->forgotten || (s->rule->when && !ending_holds(e, s->rule->when));
    }
    for (struct series *s = run->series; s; s = s->next) {
        run->block_now = s->block;
        percentile_withhold(e, s);
        if (s->dropped)
            s->n = s->missing = 0;
    }
}

static double stat_value(const char *name, const struct stats *s)
{
    if (!strcmp(name, "max"))
        return s->max;
    if (!strcmp(name, "min"))
        return s->min;
    return !strcmp(name, "median") ? s->median : s->mean;
}

/* Records the statistics of a series: of one value only its headline statistic. */
static void statistics_out(struct ending *e, const struct series *s, const struct stats *st)
{
    static const char *const names[] = {"max", "min", "mean", "median"};
    const char *unit = s->rule->unit ? s->rule->unit->name : "";
    for (size_t i = 0; i < 4; i++)
        if (st->n > 1 || !strcmp(names[i], s->rule->headline))
            metric_out(e, s, names[i], stat_value(names[i], st), unit, s->rule->better, 0, 0);
    if (st->n > 1) {
        metric_out(e, s, "sd", st->sd, unit, DIR_NONE, 0, 0);
        metric_out(e, s, "n", (double)st->n, "", DIR_NONE, 0, 0);
    }
}

/* Returns the one value that the rule makes of several. s->n >= 1. */
static double series_reduce(enum many many, const struct series *s, const struct stats *st, double sum)
{
    switch (many) {
    case MANY_FIRST: return s->sample[0].value;
    case MANY_MIN: return st->min;
    case MANY_MAX: return st->max;
    case MANY_MEAN: return st->mean;
    case MANY_SUM: return sum;
    default: return s->sample[s->n - 1].value;
    }
}

/* Records a metric with its statistics, or why it is missing. Returns 0, or another value with *err
 * when out of memory. */
static int series_out(struct ending *e, struct series *s, struct err *err)
{
    const struct metric_rule *m = s->rule;
    const char *trouble = series_trouble(e->run, s), *unit = m->unit ? m->unit->name : "";
    struct stats st;
    double sum = 0;
    ending_source(e, s->reader->name);
    if (trouble || !s->n) {
        missing_out(e, s, m->stat ? m->stat : "", trouble ? trouble : s->why);
        if (trouble && trouble != row_unread && !e->run->rules->guess) /* unread rows are a reason of the run */
            ending_fail(e, s->rule->of_run ? -1 : (int)s->block, "", STR_FMT ": %s", STR_ARG(s->name), trouble);
        return 0;
    }
    double *v = malloc(s->n * sizeof(*v));
    if (!v)
        return err_memory(err, "the statistics of the output");
    for (size_t i = 0; i < s->n; i++)
        sum += v[i] = s->sample[i].value;
    stats_of(v, s->n, &st);
    free(v);
    e->metrics++;
    if (m->many != MANY_SERIES) {
        metric_out(e, s, m->stat ? m->stat : m->headline ? m->headline : "", series_reduce(m->many, s, &st, sum), unit, m->better, 0, 0);
        return 0;
    }
    for (size_t i = 0; i < s->n; i++)
        metric_out(e, s, "", s->sample[i].value, unit, m->better, s->sample[i].step, (int64_t)i);
    if (m->headline && s->missing) { /* a minimum or mean of what is left would be another number */
        char why[160];
        snprintf(why, sizeof(why), "%zu of %zu values are missing (%s)", s->missing, s->missing + s->n, s->why);
        missing_out(e, s, m->headline, why);
    } else if (m->headline)
        statistics_out(e, s, &st);
    return 0;
}

/* Returns the series of a better source of the same metric: a reader that is earlier in the rule
 * file and has values. NULL: none. */
const struct series *series_outdone(const struct rules_run *run, const struct series *s)
{
    bool before = true; /* o is before s in the list */
    for (const struct series *o = run->same[series_same_bucket(s->name)].first; o; o = o->same_next) {
        before = before && o != s;
        if (o == s || o->dropped || !series_same_metric(run, o, s))
            continue;
        if ((o->n && !s->n) ||
            ((o->n > 0) == (s->n > 0) && (o->reader->index < s->reader->index || (o->reader == s->reader && before && o->n >= s->n))))
            return o;
    }
    return NULL;
}

/* The statistic of a series by its name, or, without one, its only value. */
static struct value series_value(const struct rules_run *run, struct series *s, struct str stat)
{
    struct value none = {0}, v = {.kind = VALUE_NUMBER};
    const struct metric_rule *m = s->rule;
    struct stats st;
    double sum = 0, *values;
    bool one = m->many != MANY_SERIES, own = m->stat && str_is(stat, m->stat);
    if (!s->n || series_trouble(run, s) || !(values = malloc(s->n * sizeof(*values))))
        return none;
    for (size_t i = 0; i < s->n; i++)
        sum += values[i] = s->sample[i].value;
    stats_of(values, s->n, &st);
    free(values);
    if (one && (own || (!m->stat && (!stat.n || (m->headline && str_is(stat, m->headline))))))
        v.number = series_reduce(m->many, s, &st, sum);
    else if (!one && !stat.n && s->n == 1)
        v.number = s->sample[0].value;
    else if (one || !stat.n || s->missing)
        return none;
    else if (str_is(stat, "sd") && st.n > 1)
        v.number = st.sd;
    else if (str_is(stat, "n"))
        v.number = (double)st.n;
    else if (str_is(stat, "max") || str_is(stat, "min") || str_is(stat, "mean") || str_is(stat, "median"))
        v.number = stat_value(stat.p, &st);
    else
        return none;
    return v;
}

struct value metric_value_in(struct rules_run *run, struct str name, unsigned block)
{
    const char *dot = memrchr(name.p, '.', name.n);
    struct str stat = dot ? str_sub(name, (size_t)(dot - name.p) + 1, name.n) : (struct str){"", 0}, none = {"", 0};
    for (struct series *s = run->series; s; s = s->next) {
        bool whole = str_eq(s->name, name);
        if (s->block != block || (s->rule->of_run && run->blocks > 1) || s->dropped ||
            !(whole || (dot && str_eq(s->name, str_sub(name, 0, (size_t)(dot - name.p))))) || series_outdone(run, s))
            continue;
        struct value v = series_value(run, s, whole ? none : stat);
        if (v.kind != VALUE_UNDEFINED)
            return v;
    }
    return (struct value){0};
}

int metrics_out(struct ending *e, struct err *err)
{
    for (struct series *s = e->run->series; s; s = s->next)
        if (!s->dropped && !series_outdone(e->run, s) && series_out(e, s, err))
            return -1;
    return 0;
}
