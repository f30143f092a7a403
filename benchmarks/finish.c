/* finish.c: the end of a reading: params are merged, statistics made, rules of sanity asked, the verdict spoken. */
#include "benchmarks/engine.h"
#include "benchmarks/headlines.h"
#include "base/buf.h"
#include "base/stats.h"
#include "mlruns-format/key.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct ending {
    struct rules_run *run;
    struct record *record;
    int exit_code, signal;
    int64_t base_ms;
    size_t derive_limit;
    char (*prefix)[64]; /* per block: "", "t0.", "seqwrite." */
    struct buf reasons;
    size_t fails;
    struct headlines headlines;
};

static unsigned block_count(const struct rules_run *run)
{
    return run->blocks ? run->blocks : 1;
}

static void source_is(struct ending *e, const char *who)
{
    const char *text = arena_printf(&e->record->arena, "rule:%s:%s", e->run->rules->name, who);
    e->record->source = text ? text : "rule";
}

/* Reasons are few and short: the first four tell what happened. */
static void fail(struct ending *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fail(struct ending *e, const char *fmt, ...)
{
    va_list ap;
    if (e->fails++ >= 4)
        return;
    if (e->reasons.n)
        buf_puts(&e->reasons, "; ");
    va_start(ap, fmt);
    buf_vprintf(&e->reasons, fmt, ap);
    va_end(ap);
}

/* Blocks are named by their labels if these are all there and all different, else by number. */
static int name_blocks(struct ending *e)
{
    struct rules_run *run = e->run;
    unsigned n = block_count(run);
    bool labels = true;
    e->prefix = arena_get(&run->arena, n * sizeof(*e->prefix));
    if (!e->prefix)
        return -1;
    if (n == 1)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        struct buf b;
        buf_init(&b, 60);
        if (run->block[i].label.n)
            key_segment(&b, run->block[i].label);
        labels = labels && b.n && !b.failed;
        for (unsigned k = 0; labels && k < i; k++)
            labels = strncmp(e->prefix[k], b.p, b.n) || e->prefix[k][b.n] != '.';
        if (labels)
            snprintf(e->prefix[i], sizeof(e->prefix[i]), "%s.", b.p);
        buf_deinit(&b);
        if (!labels)
            break;
    }
    for (unsigned i = 0; !labels && i < n; i++)
        snprintf(e->prefix[i], sizeof(e->prefix[i]), "%s%u.", run->rules->block_name ? run->rules->block_name : "part", i);
    return 0;
}

/* Params. */
static bool prefers_arguments(const struct rules *rules, struct str key)
{
    for (size_t i = 0; i < rules->prefers; i++)
        if (str_is(key, rules->prefer[i]))
            return true;
    return false;
}

static const struct value_seen *value_from(const struct rules_run *run, struct str key, int rank)
{
    for (const struct value_seen *v = run->values; v; v = v->next)
        if (v->rank == rank && v->block < 0 && str_eq(v->key, key))
            return v;
    return NULL;
}

static const struct value_seen *value_printed(const struct rules_run *run, struct str key, int block)
{
    const struct value_seen *best = NULL;
    for (const struct value_seen *v = run->values; v; v = v->next)
        if (v->rank >= 0 && (v->block == block || v->block < 0) && str_eq(v->key, key) &&
            (!best || v->block > best->block || (v->block == best->block && v->rank < best->rank)))
            best = v;
    return best;
}

/* The value in force in a block. */
static const struct value_seen *value_in(const struct rules_run *run, struct str key, int block)
{
    const struct value_seen *printed = value_printed(run, key, block), *argument = value_from(run, key, -1);
    if (argument && (!printed || prefers_arguments(run->rules, key)))
        return argument;
    return printed ? printed : value_from(run, key, -2);
}

/* The same, as far as the printed one can tell: "1.50 GiB" is rounded. */
static bool agree(const struct value_seen *a, const struct value_seen *b)
{
    double x, y;
    if (str_eq(a->text, b->text))
        return true;
    if (!str_double(a->text, &x) || !str_double(b->text, &y))
        return false;
    return a->type == PARAM_SIZE ? fabs(x - y) <= 0.005 * fmax(fabs(x), fabs(y)) : x == y;
}

static void param_out(struct ending *e, const char *prefix, const struct value_seen *v)
{
    char key[NAME_MAX_BYTES + 64];
    if (v->hidden)
        return;
    snprintf(key, sizeof(key), "%s" STR_FMT, prefix, STR_ARG(v->key));
    source_is(e, v->origin);
    record_param(e->record, key, v->text);
}

static void param_merge(struct ending *e, struct str key)
{
    struct rules_run *run = e->run;
    const struct value_seen *argument = value_from(run, key, -1), *first = NULL;
    unsigned n = block_count(run), printed = 0;
    bool same = true;
    for (unsigned b = 0; b < n; b++) {
        const struct value_seen *v = value_printed(run, key, (int)b);
        printed += v != NULL;
        same = same && (!v || !first || str_eq(v->text, first->text));
        first = first ? first : v;
    }
    if (argument && first && same && !agree(argument, first) && !argument->hidden && !first->hidden) {
        source_is(e, first->origin);
        record_warning(e->record, "param " STR_FMT ": the arguments say \"" STR_FMT "\", the output says \"" STR_FMT "\"; the %s counts",
                       STR_ARG(key), STR_ARG(argument->text), STR_ARG(first->text),
                       prefers_arguments(run->rules, key) ? "argument" : "output");
    }
    if (same && (printed == n || argument || !printed)) {
        const struct value_seen *v = first && !(argument && prefers_arguments(run->rules, key)) ? first
                                     : argument                                                 ? argument
                                                                                                : value_from(run, key, -2);
        if (v)
            param_out(e, "", v);
        return;
    }
    for (unsigned b = 0; b < n; b++) {
        const struct value_seen *v = value_printed(run, key, (int)b);
        if (v)
            param_out(e, e->prefix[b], v);
    }
}

static void params_out(struct ending *e)
{
    for (const struct value_seen *v = e->run->values; v; v = v->next) {
        const struct value_seen *before = e->run->values;
        while (before != v && !str_eq(before->key, v->key))
            before = before->next;
        if (before == v)
            param_merge(e, v->key);
    }
}

static struct expr_names names_of(struct ending *e);

/* Names and calls of expressions, seen from block run->block_now. */
static void name_value(void *context, struct str name, struct value *ret)
{
    struct ending *e = context;
    struct rules_run *run = e->run;
    for (size_t i = 0; i < e->derive_limit; i++)
        if (str_is(name, run->rules->derived[i].name)) {
            size_t limit = e->derive_limit;
            e->derive_limit = i; /* a derived name sees those before it */
            struct expr_names names = names_of(e);
            *ret = expr_value(run->rules->derived[i].value, &names);
            e->derive_limit = limit;
            return;
        }
    *ret = (struct value){.kind = VALUE_NUMBER};
    if (str_is(name, "arguments"))
        ret->number = run->arguments;
    else if (str_is(name, "blocks"))
        ret->number = run->blocks;
    else if (str_is(name, "exit_status") && e->exit_code >= 0)
        ret->number = e->exit_code;
    else if (str_is(name, "signal"))
        ret->number = e->signal;
    else if (str_is(name, "version") && run->version[0])
        *ret = (struct value){.kind = VALUE_TEXT, .text = str_of(run->version)};
    else {
        const struct value_seen *v = value_in(run, name, (int)run->block_now);
        *ret = v ? (struct value){.kind = VALUE_TEXT, .text = v->text} : (struct value){0};
    }
}

static size_t samples_of(const struct rules_run *run, struct str name, unsigned block)
{
    size_t most = 0; /* of the readers that found it: the same thing printed twice counts once */
    for (const struct series *s = run->series; s; s = s->next)
        if (s->block == block && str_eq(s->name, name) && s->n > most)
            most = s->n;
    return most;
}

static size_t rows_of(const struct rules_run *run, struct str name, unsigned block)
{
    for (size_t i = 0; i < run->rules->readers; i++)
        if (str_is(name, run->rules->reader[i]->name)) {
            const struct count *c = row_counted(run, (unsigned)i, block);
            return c ? c->n : 0;
        }
    return 0;
}

static size_t matches_of(const struct rules_run *run, const struct check *check, int block, const char **ret_line)
{
    size_t n = 0;
    unsigned from = block < 0 ? 0 : (unsigned)block, to = block < 0 ? block_count(run) : from + 1;
    for (unsigned b = from; b < to; b++) {
        const struct count *c = row_counted(run, check->bit, b);
        if (c && !n && ret_line)
            *ret_line = c->line;
        n += c ? c->n : 0;
    }
    return n;
}

static void call_value(void *context, struct str function, const struct str *args, size_t n, struct value *ret)
{
    struct ending *e = context;
    struct rules_run *run = e->run;
    (void)n;
    *ret = (struct value){.kind = VALUE_NUMBER};
    if (str_is(function, "defined")) {
        struct value v = {0};
        name_value(e, args[0], &v);
        ret->number = v.kind != VALUE_UNDEFINED;
    } else if (str_is(function, "rows"))
        ret->number = (double)rows_of(run, args[0], run->block_now);
    else if (str_is(function, "samples"))
        ret->number = (double)samples_of(run, args[0], run->block_now);
    else
        for (size_t i = 0; i < run->rules->checks; i++)
            if (run->rules->check[i]->pattern && str_is(args[0], run->rules->check[i]->name))
                ret->number = (double)matches_of(run, run->rules->check[i], (int)run->block_now, NULL);
}

static struct expr_names names_of(struct ending *e)
{
    return (struct expr_names){.name = name_value, .call = call_value, .context = e};
}

static bool holds(struct ending *e, const struct expr *when)
{
    struct expr_names names = names_of(e);
    e->derive_limit = e->run->rules->deriveds;
    return !when || expr_truth(when, &names) == 1;
}

/* Sanity. */
static bool check_holds(struct ending *e, const struct check *c, int block, const char **ret_line)
{
    struct expr_names names = names_of(e);
    if (c->kind == CHECK_EXPECT) {
        e->derive_limit = e->run->rules->deriveds;
        return expr_truth(c->expect, &names) != 0; /* what cannot be told is not held against the run */
    }
    size_t n = matches_of(e->run, c, block, ret_line);
    return c->kind == CHECK_MUST ? n > 0 : n == 0;
}

static void check_one(struct ending *e, const struct check *c)
{
    unsigned n = c->once ? 1 : block_count(e->run);
    for (unsigned b = 0; b < n; b++) {
        const char *line = "";
        char plain[120] = "";
        e->run->block_now = b;
        if (!holds(e, c->when) || check_holds(e, c, c->once ? -1 : (int)b, &line))
            continue;
        if (line[0]) {
            struct buf text;
            buf_init(&text, 400);
            buf_plain(&text, str_trim(str_of(line)), 90);
            snprintf(plain, sizeof(plain), ": %s", text.p ? text.p : "");
            buf_deinit(&text);
        }
        if (c->warn)
            record_warning(e->record, "%s%s%s", e->prefix[b], c->reason, plain);
        else
            fail(e, "%s%s%s%s", e->prefix[b], e->prefix[b][0] ? " " : "", c->reason, plain);
    }
}

static void required_one(struct ending *e, const struct required *q)
{
    for (unsigned b = 0; b < block_count(e->run); b++) {
        e->run->block_now = b;
        if (holds(e, q->when) && !samples_of(e->run, str_of(q->metric), b))
            fail(e, "%s%s is missing", e->prefix[b], q->metric);
    }
}

/* Values whose rule says `when` and where that does not hold are not values of this metric. All conditions are asked before any goes. */
static void series_drop(struct ending *e)
{
    struct rules_run *run = e->run;
    for (struct series *s = run->series; s; s = s->next) {
        run->block_now = s->block;
        s->dropped = s->rule->when && !holds(e, s->rule->when);
    }
    for (struct series *s = run->series; s; s = s->next)
        if (s->dropped)
            s->n = s->missing = 0;
}

/* Metrics that no line prints. What cannot be computed is not there; `required` tells who needs it. */
static void computed_take(struct ending *e)
{
    struct rules_run *run = e->run;
    struct expr_names names = names_of(e);
    struct source *source = &run->source[0];
    for (size_t i = 0; i < 2 + run->rules->files; i++) /* where something is lost, the parts may be */
        if (run->source[i].lost)
            source = &run->source[i];
    for (unsigned b = 0; b < block_count(run); b++)
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
            if (!isfinite(number) || (m->from && !units_convert(number, m->from, m->unit, &number)) || (m->zero != ZERO_KEEP && number == 0))
                continue;
            struct series *s = series_of(run, source, &run->rules->computed_reader, m, m->name.part[0].text, b);
            if (s)
                series_add(run, s, 0, number);
        }
}

/* Metrics. */
static void metric_out(struct ending *e, const struct series *s, const char *stat, double value, const char *unit, enum direction dir,
                       int64_t step, int64_t at)
{
    char key[NAME_MAX_BYTES + 128];
    const char *own = s->rule->unit ? s->rule->unit->name : "";
    snprintf(key, sizeof(key), "%s" STR_FMT "%s%s%s%s", e->prefix[s->block], STR_ARG(s->name), own[0] ? "_" : "", own, stat[0] ? "." : "",
             stat);
    record_metric(e->record, key, value, unit, dir, step, e->base_ms + at);
    headlines_note(&e->headlines, e->run->rules, s, stat, key);
}

static void missing_out(struct ending *e, const struct series *s, const char *stat, const char *why)
{
    char key[NAME_MAX_BYTES + 128];
    const char *own = s->rule->unit ? s->rule->unit->name : "";
    snprintf(key, sizeof(key), "%s" STR_FMT "%s%s%s%s", e->prefix[s->block], STR_ARG(s->name), own[0] ? "_" : "", own, stat[0] ? "." : "",
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

/* Why the series cannot be told; NULL if it can. */
static const char *series_trouble(struct series *s)
{
    if (s->source->lost)
        return "part of the output was not kept, so values are missing";
    if (s->overflow)
        return "more values than one reading may hold";
    if (s->steps && s->n && s->rule->many == MANY_SERIES) { /* qsort takes no NULL, not even for nothing */
        qsort(s->sample, s->n, sizeof(*s->sample), by_step);
        for (size_t i = 1; i < s->n; i++)
            if (s->sample[i].step == s->sample[i - 1].step)
                return "two values for the same repetition: outputs of several programs are mixed";
    }
    if (s->rule->many == MANY_ERROR)
        for (size_t i = 1; i < s->n; i++)
            if (s->sample[i].value != s->sample[0].value)
                return "the output has several different values where one is expected";
    return NULL;
}

static double stat_value(const char *name, const struct stats *s)
{
    if (!strcmp(name, "max"))
        return s->max;
    if (!strcmp(name, "min"))
        return s->min;
    return !strcmp(name, "median") ? s->median : s->mean;
}

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

static double reduced(enum many many, const struct series *s, const struct stats *st, double sum)
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

static int series_out(struct ending *e, struct series *s, struct err *err)
{
    const struct metric_rule *m = s->rule;
    const char *trouble = series_trouble(s), *unit = m->unit ? m->unit->name : "";
    struct stats st;
    double sum = 0;
    source_is(e, s->reader->name);
    if (trouble || !s->n) {
        missing_out(e, s, m->stat ? m->stat : "", trouble ? trouble : s->why);
        if (trouble)
            fail(e, "%s" STR_FMT ": %s", e->prefix[s->block], STR_ARG(s->name), trouble);
        return 0;
    }
    double *v = malloc(s->n * sizeof(*v));
    if (!v)
        return err_set(err, ERR_SYSTEM, "no memory for the statistics of the output");
    for (size_t i = 0; i < s->n; i++)
        sum += v[i] = s->sample[i].value;
    stats_of(v, s->n, &st);
    free(v);
    if (m->many != MANY_SERIES) {
        metric_out(e, s, m->stat ? m->stat : m->headline ? m->headline : "", reduced(m->many, s, &st, sum), unit, m->better, 0, 0);
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

static bool same_metric(const struct series *a, const struct series *b)
{
    const char *x = a->rule->stat ? a->rule->stat : "", *y = b->rule->stat ? b->rule->stat : "";
    return a->block == b->block && a->rule->unit == b->rule->unit && str_eq(a->name, b->name) && !strcmp(x, y);
}

/* Is there a better voice for the same metric: a reader that stands earlier in the rule file and has values? */
static bool outdone(const struct rules_run *run, const struct series *s)
{
    for (const struct series *o = run->series; o; o = o->next) {
        if (o == s || o->dropped || !same_metric(o, s))
            continue;
        if ((o->n && !s->n) ||
            ((o->n > 0) == (s->n > 0) && (o->reader->index < s->reader->index || (o->reader == s->reader && o < s && o->n >= s->n))))
            return true;
    }
    return false;
}

static int metrics_out(struct ending *e, struct err *err)
{
    size_t n = 0;
    for (struct series *s = e->run->series; s; s = s->next)
        n++;
    bool several = n <= 5000; /* beyond, comparing all with all would take longer than the benchmark */
    for (struct series *s = e->run->series; s; s = s->next)
        if (!s->dropped && !(several && outdone(e->run, s)) && series_out(e, s, err))
            return -1;
    return 0;
}

static void notes_out(struct ending *e)
{
    struct rules_run *run = e->run;
    e->record->source = "rules";
    for (size_t i = 0; i < 2 + run->rules->files; i++) {
        const struct source *s = &run->source[i];
        if (s->long_lines)
            record_warning(e->record, "%s: %zu lines were longer than %d bytes and not read", s->name, s->long_lines, RULES_LINE_MAX);
        if (run->torn[i])
            record_warning(e->record, "%s: a JSON document stops before its end", s->name);
        if (s->lost)
            record_warning(e->record, "%s: %" PRIu64 " bytes were not kept and not read", s->name, s->lost);
    }
    if (run->gave_up)
        record_warning(e->record, "%zu lines were too hard to match and were left alone", run->gave_up);
    if (run->blocks_left_out)
        record_warning(e->record, "more than %d tests in one output: %zu were not read", BLOCKS_MAX, run->blocks_left_out);
    if (run->version[0])
        record_tag(e->record, "benchmark.version", str_of(run->version));
}

static void exit_reason(struct ending *e)
{
    if (e->signal)
        fail(e, "killed by signal %d (%s)", e->signal, strsignal(e->signal));
    else if (e->exit_code > 0)
        fail(e, "exit status %d", e->exit_code);
}

int finish(struct rules_run *run, int exit_code, int signal, int64_t base_ms, struct record *record, struct rules_outcome *ret,
           struct err *err)
{
    struct ending e = {.run = run, .record = record, .exit_code = exit_code, .signal = signal, .base_ms = base_ms};
    const char *source = record->source;
    buf_init(&e.reasons, 2000);
    if (name_blocks(&e))
        return err_set(err, ERR_SYSTEM, "no memory to end the reading");
    notes_out(&e);
    params_out(&e);
    exit_reason(&e);
    series_drop(&e);
    computed_take(&e);
    size_t before = e.fails;
    int rc = metrics_out(&e, err);
    record->source = "rules";
    headlines_record(&e.headlines, record);
    for (size_t i = 0; i < run->rules->checks; i++)
        check_one(&e, run->rules->check[i]);
    for (size_t i = 0; i < run->rules->requireds; i++)
        required_one(&e, &run->rules->required[i]);
    if (e.fails > 4)
        buf_printf(&e.reasons, "; and %zu more", e.fails - 4);
    const char *reason = arena_printf(&record->arena, "%s", e.reasons.p ? e.reasons.p : "");
    *ret = (struct rules_outcome){
        .verdict = e.fails ? VERDICT_FAIL : VERDICT_PASS, .reason = reason ? reason : "", .complete = e.fails == before};
    buf_deinit(&e.reasons);
    record->source = source;
    return rc;
}
