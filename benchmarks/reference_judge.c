/* reference_judge.c: which entry speaks of which metric of a run, and whether the metric is within its band. */
#include "base/buf.h"
#include "base/stats.h"
#include "benchmarks/reference_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *referred_name(enum referred verdict)
{
    static const char *const names[] = {"pass", "below", "above", "missing", "no reference"};
    return names[verdict];
}

/* ---- texts that fit, names ---- */

/* One element of the pattern at p against the byte c: its length if it fits, else 0. */
static size_t fits_one(const char *p, const char *end, unsigned char c)
{
    if (*p == '\\' && p + 1 < end)
        return (unsigned char)p[1] == c ? 2 : 0;
    if (*p == '?')
        return 1;
    const char *close = *p == '[' ? p + 1 : NULL; /* "[]x]": a bracket that stands first is one of the bytes */
    if (close && close < end && *close == '!')
        close++;
    if (close && close < end && *close == ']')
        close++;
    while (close && close < end && *close != ']')
        close++;
    if (!close || close >= end)
        return (unsigned char)*p == c ? 1 : 0;
    const char *at = p + 1;
    bool not_ = *at == '!', found = false;
    for (at += not_; at < close; at++) {
        if (at + 2 < close && at[1] == '-') {
            found = found || (c >= (unsigned char)at[0] && c <= (unsigned char)at[2]);
            at += 2;
        } else
            found = found || c == (unsigned char)*at;
    }
    return found != not_ ? (size_t)(close - p) + 1 : 0;
}

bool reference_fits(struct str pattern, struct str text)
{
    const char *p = pattern.p, *end = pattern.p + pattern.n, *star = NULL;
    size_t t = 0, back = 0;
    while (t < text.n) {
        size_t n;
        if (p < end && *p == '*') {
            star = ++p;
            back = t;
        } else if (p < end && (n = fits_one(p, end, (unsigned char)text.p[t]))) {
            p += n;
            t++;
        } else if (star) {
            p = star;
            t = ++back;
        } else
            return false;
    }
    while (p < end && *p == '*')
        p++;
    return p == end;
}

static bool is_statistic(struct str s)
{
    static const char *const names[] = {"max", "min", "mean", "median", "sd", "n", "p50", "p90", "p95", "p99", "p999", "ci_low", "ci_high"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(s, names[i]))
            return true;
    return false;
}

struct str reference_stem(struct str key, const struct unit **ret_unit, struct str *ret_stat)
{
    struct str stat = {"", 0};
    const char *dot = memrchr(key.p, '.', key.n);
    if (dot && dot != key.p && is_statistic(str_sub(key, (size_t)(dot - key.p) + 1, key.n))) {
        stat = str_sub(key, (size_t)(dot - key.p) + 1, key.n);
        key.n = (size_t)(dot - key.p);
    }
    if (ret_unit)
        *ret_unit = NULL;
    if (ret_stat)
        *ret_stat = stat;
    dot = memrchr(key.p, '.', key.n);
    for (size_t i = dot ? (size_t)(dot - key.p) : 0; i < key.n; i++) {
        const struct unit *u = key.p[i] == '_' && i ? units_find(str_sub(key, i + 1, key.n)) : NULL;
        if (!u || !str_is(str_sub(key, i + 1, key.n), u->name))
            continue;
        if (ret_unit && !str_is(stat, "n"))
            *ret_unit = u;
        key.n = i; /* from the left, so the longest: MiB_per_s, not s */
    }
    return key;
}

/* ---- conditions ---- */

static struct str subject(const struct record *r, const struct condition *c)
{
    struct str text;
    switch (c->kind) {
    case CONDITION_SITE: return record_text(r, FACT_TAG, "site");
    case CONDITION_CLUSTER: return record_text(r, FACT_TAG, "cluster");
    case CONDITION_PARTITION: return record_text(r, FACT_PARAM, "job.partition");
    case CONDITION_NODE_TYPE: return record_text(r, FACT_PARAM, "node.type");
    case CONDITION_BENCHMARK: return record_text(r, FACT_TAG, "benchmark");
    default: text = record_text(r, FACT_PARAM, c->key); return text.p ? text : record_text(r, FACT_TAG, c->key);
    }
}

/* 1m for a param in bytes, 1e3 for 1000: the same number written otherwise. */
static bool same_number(struct str pattern, struct str text, const char *key)
{
    double a, b;
    uint64_t bytes;
    if (!str_double(text, &b))
        return false;
    if (str_double(pattern, &a))
        return a == b;
    return key && str_ends(str_of(key), "_B") && str_size(pattern, &bytes) && (double)bytes == b;
}

static bool holds(const struct record *r, const struct condition *c)
{
    struct str text = subject(r, c);
    if (c->n == 0)
        return !text.p;
    for (size_t i = 0; text.p && i < c->n; i++)
        if (reference_fits(c->any[i], text) || (c->kind == CONDITION_PARAM && same_number(c->any[i], text, c->key)))
            return true;
    return false;
}

static bool entry_holds(const struct record *r, const struct reference_entry *e)
{
    for (const struct condition *c = e->conditions; c; c = c->next)
        if (!holds(r, c))
            return false;
    return true;
}

/* ---- the metric that a name means, and its value ---- */

static const char *headline_key(struct record *r, struct str name)
{
    struct str rest = record_text(r, FACT_TAG, "benchwrap.headline"), word;
    if (!rest.p)
        return NULL;
    while ((word = str_word(&rest)).n > 0)
        if (str_eq(reference_stem(word, NULL, NULL), name))
            return arena_dup(&r->arena, word.p, word.n);
    return NULL;
}

/* The key itself; "write.bw" is the headline statistic of that metric, "write.bw.mean" another. */
static const char *resolve(struct record *r, const char *metric)
{
    struct str name = str_of(metric), stat, own = reference_stem(name, NULL, &stat);
    const struct fact *found = NULL;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_eq(f->key, name))
            return metric;
    const char *headline = stat.n ? NULL : headline_key(r, name);
    if (headline)
        return headline;
    for (const struct fact *f = r->first; f && !found; f = f->next) {
        struct str other;
        if (f->kind == FACT_METRIC && str_eq(reference_stem(f->key, NULL, &other), own) && str_eq(other, stat))
            found = f;
    }
    return found ? arena_dup(&r->arena, found->key.p, found->key.n) : NULL;
}

struct sampled {
    const struct fact *fact; /* unit and direction */
    double *v;
    size_t n, same; /* values; samples of the first step seen */
    bool repetitions; /* steps 0,1,2… or 1,2,3… */
};

static int sample(const struct record *r, const char *key, const struct reference *m, struct sampled *ret)
{
    size_t n = 0;
    int64_t first = 0, last = 0;
    *ret = (struct sampled){.repetitions = true};
    for (const struct fact *f = r->first; f; f = f->next)
        n += f->kind == FACT_METRIC && str_is(f->key, key);
    ret->v = malloc((n + 1) * sizeof *ret->v);
    if (!ret->v)
        return -1;
    size_t seen = 0;
    for (const struct fact *f = r->first; f; f = f->next) {
        if (f->kind != FACT_METRIC || !str_is(f->key, key) || (m->has_step && f->step != m->step))
            continue;
        if (!ret->fact || (f->unit && *f->unit && !*ret->fact->unit))
            ret->fact = f;
        first = seen ? first : f->step;
        ret->repetitions = ret->repetitions && (!seen || f->step == last + 1);
        last = f->step;
        seen++;
        if (isfinite(f->value))
            ret->v[ret->n++] = f->value;
    }
    if (m->has_step && ret->n > 1) { /* as MLflow: of one step the last counts */
        ret->v[0] = ret->v[ret->n - 1];
        ret->n = 1;
    }
    ret->repetitions = seen <= 1 || m->has_step || (ret->repetitions && (first == 0 || first == 1));
    return 0;
}

/* ---- one metric ---- */

struct judging {
    struct record *r;
    struct reference_outcome *out;
    struct buf reasons;
    const struct references *file;
    const struct reference_entry *entry;
};

static bool to_metric(double number, const struct unit *from, const struct unit *to, double *ret)
{
    *ret = number;
    return !from || (to && units_convert(number, from, to, ret));
}

static bool edge(const struct reference *m, const struct bound *b, double value, const struct unit *to, double *ret)
{
    double d;
    *ret = NAN;
    switch (b->kind) {
    case BOUND_NONE: return true;
    case BOUND_RELATIVE: *ret = value + b->number * fabs(value); return true;
    case BOUND_OFFSET:
        if (!to_metric(b->number, b->unit ? b->unit : m->unit, to, &d))
            return false;
        *ret = value + d;
        return true;
    case BOUND_LIMIT: return to_metric(b->number, b->unit ? b->unit : m->unit, to, ret);
    }
    return false;
}

/* Value, band and unit of the entry in the metric's unit; false with a sentence where they cannot be converted. */
static bool band_of(struct judging *j, const struct reference *m, const struct unit *to, struct referred_metric *f)
{
    double value = NAN;
    const struct unit *from = m->unit ? m->unit : m->low.unit ? m->low.unit : m->high.unit;
    bool good = (!m->has_value || to_metric(m->value, m->unit, to, &value)) && edge(m, &m->low, value, to, &f->low) &&
                edge(m, &m->high, value, to, &f->high);
    f->reference = value;
    if (!good) {
        f->reference = f->low = f->high = NAN;
        f->text = arena_printf(&j->r->arena, "%s:%d:%d: %s: %s cannot be converted to %s", j->file->label, m->line, m->column, f->metric,
                               from ? from->name : "a plain number", to ? to->name : "a plain number");
        record_warning(j->r, "reference: %s", f->text ? f->text : "");
    }
    return good;
}

static void number(struct buf *b, double v)
{
    buf_printf(b, "%.6g", v);
}

/* "write.bw_MiB_per_s.max 812 is below 950 MiB_per_s (reference 1000, refs.yaml:4)" */
static const char *sentence(struct judging *j, const struct referred_metric *f, const char *note)
{
    CLEANUP_BUF struct buf b;
    double limit = f->verdict == REFERRED_BELOW ? f->low : f->high;
    buf_init(&b, 2000);
    buf_plain(&b, str_of(f->metric), 250);
    buf_putc(&b, ' ');
    number(&b, f->value);
    if (f->verdict != REFERRED_PASS) {
        buf_printf(&b, " is %s ", referred_name(f->verdict));
        number(&b, limit);
    }
    buf_printf(&b, "%s%s%s%s", *f->unit ? " " : "", f->unit, f->verdict == REFERRED_PASS ? " is within the band" : "", note);
    buf_puts(&b, isnan(f->reference) ? " (" : " (reference ");
    if (!isnan(f->reference)) {
        number(&b, f->reference);
        buf_puts(&b, ", ");
    }
    buf_plain(&b, str_of(f->where), 300);
    buf_putc(&b, ')');
    return arena_dup(&j->r->arena, b.p ? b.p : "", b.n);
}

static void compare(struct judging *j, const struct reference *m, const struct sampled *s, struct referred_metric *f)
{
    struct stats st;
    stats_of(s->v, s->n, &st);
    f->value = st.median;
    f->unit = s->fact->unit ? s->fact->unit : "";
    if (!band_of(j, m, *f->unit ? units_find(str_of(f->unit)) : NULL, f)) {
        f->verdict = REFERRED_MISSING;
        f->fails = true;
        return;
    }
    f->verdict = f->value < f->low ? REFERRED_BELOW : f->value > f->high ? REFERRED_ABOVE : REFERRED_PASS; /* NaN: no bound */
    enum direction better = s->fact->direction;
    bool good_side = (f->verdict == REFERRED_ABOVE && better == DIR_HIGHER) || (f->verdict == REFERRED_BELOW && better == DIR_LOWER);
    f->fails = f->verdict != REFERRED_PASS && (m->strict || !good_side);
    f->text = sentence(j, f, good_side ? ", better than the band" : s->n > 1 ? ", as median of the repetitions" : "");
}

static int judge_metric(struct judging *j, const struct reference *m, const char *key, struct referred_metric *f)
{
    struct sampled s = {0};
    struct arena *a = &j->r->arena;
    const char *why = "the run has no such metric";
    const char *name = key ? key : m->metric; /* may lie in the file's arena */
    f->metric = m->has_step ? arena_printf(a, "%s@%" PRId64, name, m->step) : arena_dup(a, name, strlen(name));
    f->where = arena_printf(a, "%s:%d", j->file->label, m->line);
    f->value = f->reference = f->low = f->high = NAN;
    f->unit = "";
    f->verdict = REFERRED_MISSING;
    f->fails = true;
    if (!f->metric || !f->where || (key && sample(j->r, key, m, &s)))
        return -1;
    if (key && s.n && s.repetitions)
        compare(j, m, &s, f);
    else {
        if (key && s.n)
            why = "the metric is a table; one of its steps is named as METRIC@STEP";
        else if (key)
            why = m->has_step && !s.fact ? "the metric has no such step" : "none of its values is a number";
        f->text = arena_printf(a, "%s is missing: %s (%s)", f->metric, why, f->where);
    }
    free(s.v);
    return f->text ? 0 : -1;
}

/* ---- all of them ---- */

struct choice {
    const struct references *file;
    const struct reference_entry *entry;
    const struct reference *m;
    const char *key; /* NULL: the run has no such metric */
    bool tie;
    struct choice *next;
};

static bool same_metric(const struct choice *c, const struct reference *m, const char *key)
{
    const char *a = c->key ? c->key : c->m->metric, *b = key ? key : m->metric;
    return strcmp(a, b) == 0 && c->m->has_step == m->has_step && (!m->has_step || c->m->step == m->step);
}

/* > 0: a is more specific. Conditions count first, then those that allow one text only. */
static int more_specific(const struct reference_entry *a, const struct reference_entry *b)
{
    if (a->condition_count != b->condition_count)
        return a->condition_count > b->condition_count ? 1 : -1;
    return a->exact_count == b->exact_count ? 0 : a->exact_count > b->exact_count ? 1 : -1;
}

/* The strongest file that speaks of a metric counts, in it the most specific entry, of equal ones the first. */
static int choose(struct record *r, const struct references *file, const struct reference_entry *e, struct choice **list)
{
    for (const struct reference *m = e->metrics; m; m = m->next) {
        const char *key = resolve(r, m->metric);
        struct choice **at = list;
        while (*at && !same_metric(*at, m, key))
            at = &(*at)->next;
        struct choice *c = *at;
        if (!c) {
            if (!(*at = ARENA_NEW(&r->arena, struct choice)))
                return -1;
            **at = (struct choice){file, e, m, key, false, NULL};
        } else if (c->file == file && more_specific(e, c->entry) > 0)
            *c = (struct choice){file, e, m, key, false, c->next};
        else if (c->file == file && c->entry != e && more_specific(e, c->entry) == 0 && !c->tie) {
            c->tie = true;
            record_warning(r, "reference: %s: the entries in lines %d and %d of %s fit this run equally well; the first counts", m->metric,
                           c->entry->line, e->line, file->label);
        }
    }
    return 0;
}

static int add(struct judging *j, struct referred_metric ***tail, const struct choice *c)
{
    struct referred_metric *f = ARENA_NEW(&j->r->arena, struct referred_metric);
    if (!f)
        return -1;
    j->file = c->file;
    j->entry = c->entry;
    if (judge_metric(j, c->m, c->key, f))
        return -1;
    **tail = f;
    *tail = &f->next;
    j->out->judged++;
    if (f->fails && j->out->failed++ < 4)
        buf_printf(&j->reasons, "%s%s", j->reasons.n ? "; " : "", f->text);
    return 0;
}

/* Headline metrics that no entry speaks of are told, so that nobody takes silence for a pass. */
static int add_unreferred(struct judging *j, struct referred_metric ***tail)
{
    struct str rest = record_text(j->r, FACT_TAG, "benchwrap.headline"), word;
    if (!rest.p)
        return 0;
    while ((word = str_word(&rest)).n > 0) {
        bool known = false;
        const struct fact *metric = NULL;
        for (const struct referred_metric *f = j->out->first; f; f = f->next)
            known = known || str_is(word, f->metric);
        for (const struct fact *f = j->r->first; f; f = f->next)
            metric = f->kind == FACT_METRIC && str_eq(f->key, word) ? f : metric;
        if (known || !metric)
            continue;
        struct referred_metric *f = ARENA_NEW(&j->r->arena, struct referred_metric);
        if (!f)
            return -1;
        *f = (struct referred_metric){.metric = arena_dup(&j->r->arena, word.p, word.n),
                                      .verdict = REFERRED_NONE,
                                      .value = metric->value,
                                      .reference = NAN,
                                      .low = NAN,
                                      .high = NAN,
                                      .unit = metric->unit ? metric->unit : "",
                                      .where = "",
                                      .text = ""};
        if (!f->metric)
            return -1;
        **tail = f;
        *tail = &f->next;
    }
    return 0;
}

static void json_number(struct buf *b, const char *key, double v)
{
    buf_printf(b, ", \"%s\": ", key);
    if (isfinite(v))
        buf_double(b, v);
    else
        buf_puts(b, "null");
}

/* What benchwrap.json says of them. */
static int note(struct record *r, const struct reference_outcome *out)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 16 << 20);
    for (const struct referred_metric *f = out->first; f; f = f->next) {
        buf_puts(&b, b.n ? ",\n    {\"metric\": " : "\n    {\"metric\": ");
        buf_json(&b, str_of(f->metric));
        buf_printf(&b, ", \"verdict\": \"%s\", \"fails\": %s", referred_name(f->verdict), f->fails ? "true" : "false");
        json_number(&b, "value", f->value);
        json_number(&b, "reference", f->reference);
        json_number(&b, "low", f->low);
        json_number(&b, "high", f->high);
        buf_puts(&b, ", \"unit\": ");
        buf_json(&b, str_of(f->unit));
        buf_puts(&b, ", \"entry\": ");
        buf_json(&b, str_of(f->where));
        buf_puts(&b, ", \"text\": ");
        buf_json(&b, str_of(f->text));
        buf_putc(&b, '}');
    }
    if (b.failed)
        return -1;
    char *kept = arena_dup(&r->arena, b.p ? b.p : "", b.n);
    r->references = kept && b.n ? (struct str){kept, b.n} : (struct str){NULL, 0};
    return kept ? 0 : -1;
}

static int judge(struct judging *j, const struct references *const *files, size_t count)
{
    struct choice *list = NULL;
    struct referred_metric **tail = &j->out->first;
    for (size_t i = 0; i < count; i++)
        for (const struct reference_entry *e = files[i]->entries; e; e = e->next)
            if (entry_holds(j->r, e) && choose(j->r, files[i], e, &list))
                return -1;
    for (const struct choice *c = list; c; c = c->next)
        if (add(j, &tail, c))
            return -1;
    if (count && add_unreferred(j, &tail))
        return -1;
    if (j->out->failed > 4)
        buf_printf(&j->reasons, "; and %zu more", j->out->failed - 4);
    const char *reason = arena_dup(&j->r->arena, j->reasons.p ? j->reasons.p : "", j->reasons.n);
    j->out->reason = reason ? reason : "";
    return note(j->r, j->out);
}

int references_judge(const struct references *const *files, size_t count, struct record *r, struct reference_outcome *ret, struct err *err)
{
    struct judging j = {.r = r, .out = ret};
    const char *source = r->source;
    *ret = (struct reference_outcome){.reason = ""};
    buf_init(&j.reasons, 4000);
    r->source = "reference";
    int rc = judge(&j, files, count);
    r->source = source;
    buf_deinit(&j.reasons);
    return rc ? err_set(err, ERR_SYSTEM, "references: out of memory") : 0;
}
