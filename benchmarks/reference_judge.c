/* reference_judge.c: is a metric of a run within the band of the entry that applies to it? */
#include "base/buf.h"
#include "base/stats.h"
#include "benchmarks/reference_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *referred_name(enum referred verdict)
{
    static const char *const names[] = {"pass", "below", "above", "missing", "no reference"};
    return names[verdict];
}

/* ---- the metric's value ---- */

struct sampled {
    const struct fact *fact; /* unit and direction */
    double *v;
    size_t n, same; /* values; samples of the first step found */
    bool repetitions; /* steps 0,1,2… or 1,2,3… */
};

/* Collects the finite values of a metric in ret->v, which the caller frees. Returns 0, or -1 when
 * out of memory. */
static int sample_metric(const struct record *r, const char *key, const struct reference *m, struct sampled *ret)
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
};

/* Converts the number to the metric's unit. from NULL: it has that unit already. False: the units
 * do not fit. */
static bool to_metric(double number, const struct unit *from, const struct unit *to, double *ret)
{
    *ret = number;
    return !from || (to && units_convert(number, from, to, ret));
}

/* Computes a bound in the metric's unit; NAN where there is none. Returns false where its unit
 * cannot be converted. */
static bool bound_value(const struct reference *m, const struct bound *b, double value, const struct unit *to, double *ret)
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

/* Sets reference, low and high of f in the metric's unit, NAN where there is none. False where a unit
 * of the entry cannot be converted: then all three are NAN, and f->text is the sentence about it. */
static bool band_of(struct judging *j, const struct reference *m, const struct unit *to, struct referred_metric *f)
{
    double value = NAN;
    const struct unit *from = m->unit ? m->unit : m->low.unit ? m->low.unit : m->high.unit;
    bool good = (!m->has_value || to_metric(m->value, m->unit, to, &value)) && bound_value(m, &m->low, value, to, &f->low) &&
                bound_value(m, &m->high, value, to, &f->high);
    f->reference = value;
    if (!good) {
        f->reference = f->low = f->high = NAN;
        f->text = arena_printf(&j->r->arena, "%s:%d:%d: %s: %s cannot be converted to %s", j->file->label, m->line, m->column, f->metric,
                               from ? from->name : "a plain number", to ? to->name : "a plain number");
        record_warning(j->r, "reference: %s", f->text ? f->text : "");
    }
    return good;
}

/* Appends a number with six digits, or with all where these are those of `other` too. */
static void put_judged_number(struct buf *b, double v, double other)
{
    char text[32], same[32];
    snprintf(text, sizeof text, "%.6g", v);
    snprintf(same, sizeof same, "%.6g", other);
    if (v != other && strcmp(text, same) == 0)
        buf_double(b, v);
    else
        buf_puts(b, text);
}

/* Returns a sentence of a metric that passed, or is below or above its band, in the record's arena:
 * "write.bw_MiB_per_s.max 812 is below 950 MiB_per_s (reference 1000, refs.yaml:4)". note: appended
 * to the verdict as it is, such as ", better than the band". NULL: out of memory. */
static const char *judgement_sentence(struct judging *j, const struct referred_metric *f, const char *note)
{
    CLEANUP_BUF struct buf b;
    double limit = f->verdict == REFERRED_BELOW ? f->low : f->high;
    buf_init(&b, 2000);
    buf_plain(&b, str_of(f->metric), 250);
    buf_putc(&b, ' ');
    if (f->verdict == REFERRED_PASS)
        put_judged_number(&b, f->value, f->value);
    else {
        put_judged_number(&b, f->value, limit);
        buf_printf(&b, " is %s ", referred_name(f->verdict));
        put_judged_number(&b, limit, f->value);
    }
    buf_printf(&b, "%s%s%s%s", *f->unit ? " " : "", f->unit, f->verdict == REFERRED_PASS ? " is within the band" : "", note);
    buf_puts(&b, isnan(f->reference) ? " (" : " (reference ");
    if (!isnan(f->reference)) {
        put_judged_number(&b, f->reference, f->reference);
        buf_puts(&b, ", ");
    }
    buf_plain(&b, str_of(f->where), 300);
    buf_putc(&b, ')');
    return arena_dup(&j->r->arena, b.p ? b.p : "", b.n);
}

/* Judges the median of the values by the band, and writes the sentence. A value that is better than
 * the band fails only where the reference is strict. */
static void compare_with_reference(struct judging *j, const struct reference *m, const struct sampled *s, struct referred_metric *f)
{
    struct stats st;
    struct reference own = *m;
    stats_of(s->v, s->n, &st);
    f->value = st.median;
    f->unit = s->fact->unit ? s->fact->unit : "";
    const struct unit *to = *f->unit ? units_find(str_of(f->unit)) : NULL;
    const struct unit *named;
    struct str stem = reference_stem(str_of(m->metric), &named, NULL);
    if (to && !m->unit && str_eq(stem, reference_stem(s->fact->key, NULL, NULL))) /* "bw_MB_per_s" also means bw_MiB_per_s */
        own.unit = named;
    if (!band_of(j, &own, to, f)) {
        f->verdict = REFERRED_MISSING;
        f->fails = true;
        return;
    }
    f->verdict = f->value < f->low ? REFERRED_BELOW : f->value > f->high ? REFERRED_ABOVE : REFERRED_PASS; /* NaN: no bound */
    enum direction better = s->fact->direction;
    bool good_side = (f->verdict == REFERRED_ABOVE && better == DIR_HIGHER) || (f->verdict == REFERRED_BELOW && better == DIR_LOWER);
    f->fails = f->verdict != REFERRED_PASS && (m->strict || !good_side);
    f->text = judgement_sentence(j, f, good_side ? ", better than the band" : s->n > 1 ? ", as median of the repetitions" : "");
}

/* Judges one metric; key NULL: the run does not have it. Returns 0, or -1 when out of memory. */
static int judge_metric(struct judging *j, const struct reference *m, const char *key, struct referred_metric *f)
{
    struct sampled s = {0};
    struct arena *a = &j->r->arena;
    const char *why = "the run has no such metric";
    const char *name = key ? key : m->metric; /* may be in the file's arena */
    f->metric = m->has_step ? arena_printf(a, "%s@%" PRId64, name, m->step) : arena_dup(a, name, strlen(name));
    f->where = arena_printf(a, "%s:%d", j->file->label, m->line);
    f->value = f->reference = f->low = f->high = NAN;
    f->unit = "";
    f->verdict = REFERRED_MISSING;
    f->fails = true;
    if (!f->metric || !f->where || (key && sample_metric(j->r, key, m, &s)))
        return -1;
    if (key && s.n && s.repetitions)
        compare_with_reference(j, m, &s, f);
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
    int tie; /* the line of another entry that fits equally well; 0: there is none */
    struct choice *next;
};

/* Returns whether the choice is of the same metric and step as the reference m, whose key in the
 * record is `key` (NULL: it has none). */
static bool choice_same_metric(const struct choice *c, const struct reference *m, const char *key)
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

/* Chooses the reference of each metric: the first file that has the metric, in it the most specific
 * entry, of equal ones the first. -1: out of memory. */
static int choose_strongest(struct record *r, const struct references *file, const struct reference_entry *e, struct choice **list)
{
    for (const struct reference *m = e->metrics; m; m = m->next) {
        const char *key = reference_resolve(r, m->metric);
        struct choice **at = list;
        while (*at && !choice_same_metric(*at, m, key))
            at = &(*at)->next;
        struct choice *c = *at;
        if (!c) {
            if (!(*at = ARENA_NEW(&r->arena, struct choice)))
                return -1;
            **at = (struct choice){file, e, m, key, 0, NULL};
        } else if (c->file == file && more_specific(e, c->entry) > 0)
            *c = (struct choice){file, e, m, key, 0, c->next};
        else if (c->file == file && c->entry != e && more_specific(e, c->entry) == 0 && !c->tie)
            c->tie = e->line;
    }
    return 0;
}

/* Judges the chosen reference, appends the result at *tail, and counts it. The first four reasons
 * go to j->reasons. -1: out of memory. */
static int add_judgement(struct judging *j, struct referred_metric ***tail, const struct choice *c)
{
    struct referred_metric *f = ARENA_NEW(&j->r->arena, struct referred_metric);
    if (!f)
        return -1;
    j->file = c->file;
    if (c->tie)
        record_warning(j->r, "reference: %s: the entries in lines %d and %d of %s fit this run equally well; the first counts",
                       c->m->metric, c->entry->line, c->tie, c->file->label);
    if (judge_metric(j, c->m, c->key, f))
        return -1;
    **tail = f;
    *tail = &f->next;
    j->out->judged++;
    if (f->fails && j->out->failed++ < 4)
        buf_printf(&j->reasons, "%s%s", j->reasons.n ? "; " : "", f->text);
    return 0;
}

/* Headline metrics without an entry are reported, so that silence is not read as a pass. */
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

/* Adds them to benchwrap.json. */
static int note_references(struct record *r, const struct reference_outcome *out)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 16 << 20);
    struct json_out j = {.to = &b, .layout = JSON_ROW};
    for (const struct referred_metric *f = out->first; f; f = f->next) {
        json_line(&j, 4);
        json_open(&j, NULL, '{');
        json_text(&j, "metric", f->metric);
        json_text(&j, "verdict", referred_name(f->verdict));
        json_flag(&j, "fails", f->fails);
        json_known(&j, "value", f->value);
        json_known(&j, "reference", f->reference);
        json_known(&j, "low", f->low);
        json_known(&j, "high", f->high);
        json_str(&j, "unit", str_of(f->unit));
        json_str(&j, "entry", str_of(f->where));
        json_str(&j, "text", str_of(f->text));
        json_close(&j, '}');
    }
    if (b.failed)
        return -1;
    char *kept = arena_dup(&r->arena, b.p ? b.p : "", b.n);
    r->references = kept && b.n ? (struct str){kept, b.n} : (struct str){NULL, 0};
    return kept ? 0 : -1;
}

/* Judges all metrics with a reference, then adds those without one. Returns 0, or another value
 * when out of memory. */
static int judge_references(struct judging *j, const struct references *const *files, size_t count)
{
    struct choice *list = NULL;
    struct referred_metric **tail = &j->out->first;
    for (size_t i = 0; i < count; i++)
        for (const struct reference_entry *e = files[i]->entries; e; e = e->next)
            if (reference_entry_holds(j->r, e) && choose_strongest(j->r, files[i], e, &list))
                return -1;
    for (const struct choice *c = list; c; c = c->next)
        if (add_judgement(j, &tail, c))
            return -1;
    if (count && add_unreferred(j, &tail))
        return -1;
    if (j->out->failed > 4)
        buf_printf(&j->reasons, "; and %zu more", j->out->failed - 4);
    const char *reason = arena_dup(&j->r->arena, j->reasons.p ? j->reasons.p : "", j->reasons.n);
    j->out->reason = reason ? reason : "";
    return note_references(j->r, j->out);
}

int references_judge(const struct references *const *files, size_t count, struct record *r, struct reference_outcome *ret, struct err *err)
{
    struct judging j = {.r = r, .out = ret};
    const char *source = r->source;
    *ret = (struct reference_outcome){.reason = ""};
    buf_init(&j.reasons, 4000);
    r->source = "reference";
    int rc = judge_references(&j, files, count);
    r->source = source;
    buf_deinit(&j.reasons);
    return rc ? err_memory(err, "the references") : 0;
}
