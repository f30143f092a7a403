/* reference_match.c: which entry applies to a run, and to which of its metrics: patterns, names,
 * conditions. */
#include "benchmarks/reference_parts.h"

#include "mlruns-format/shape.h"

/* ---- texts that fit, names ---- */

/* One element of the pattern at p against the byte c: its length if it fits, else 0. */
static size_t fits_one(const char *p, const char *end, unsigned char c)
{
    if (*p == '\\' && p + 1 < end)
        return (unsigned char)p[1] == c ? 2 : 0;
    if (*p == '?')
        return 1;
    const char *close = *p == '[' ? p + 1 : NULL; /* "[]x]": a bracket in the first place is one of the bytes */
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

/* The launch's shape; that of the allocation where the record has nothing of a launch. */
static struct str condition_shape(const struct record *r, const struct shape_keys *shape)
{
    struct shape_keys row;
    for (size_t i = 0; (row = shape_keys_at(i)).step; i++)
        if (record_find(r, FACT_PARAM, row.step) || record_find(r, FACT_MISSING, row.step))
            return record_text(r, FACT_PARAM, shape->step);
    return record_text(r, FACT_PARAM, shape->job);
}

/* Returns the text of the record that the condition is about; p NULL: the record has none. */
static struct str condition_subject(const struct record *r, const struct condition *c)
{
    struct str text;
    struct shape_keys shape = shape_keys_of(str_of(c->kind == CONDITION_PARAM ? c->key : ""));
    if (shape.step)
        return condition_shape(r, &shape);
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

/* Returns whether one of the condition's patterns fits the run; one without patterns requires that
 * the run has no such param. */
static bool condition_holds(const struct record *r, const struct condition *c)
{
    struct str text = condition_subject(r, c);
    if (c->n == 0)
        return !text.p;
    for (size_t i = 0; text.p && i < c->n; i++)
        if (reference_fits(c->any[i], text) || (c->kind == CONDITION_PARAM && same_number(c->any[i], text, c->key)))
            return true;
    return false;
}

bool reference_entry_holds(const struct record *r, const struct reference_entry *e)
{
    for (const struct condition *c = e->conditions; c; c = c->next)
        if (!condition_holds(r, c))
            return false;
    return true;
}

/* ---- the metric that a name means ---- */

/* Returns the headline metric of the record with this name without statistic and unit, in the
 * record's arena; NULL: none. */
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

const char *reference_resolve(struct record *r, const char *metric)
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
