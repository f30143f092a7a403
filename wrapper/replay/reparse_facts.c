/* reparse_facts.c: the facts of a run in the tree, and what differs between two readings. */
#include "replay/reparse.h"

#include "mlruns-format/tree_thinned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- recall ---- */

/* Records the texts of {"<key>": {"value": …, "source": …}}. */
static void recall_texts(struct record *r, const struct json *map, enum fact_kind kind)
{
    for (const struct json *e = json_first(map); e; e = json_next(e)) {
        struct fact f = {.kind = kind,
                         .key = str_of(json_key(e)),
                         .text = str_of(json_string(json_get(e, "value"), "")),
                         .time_ms = r->start_ms,
                         .source = json_string(json_get(e, "source"), "")};
        record_fact(r, &f);
    }
}

/* Records the entries of a list of the old record. key, text: the names of these members in an
 * entry; NULL: it has none. */
static void recall_list(struct record *r, const struct json *list, enum fact_kind kind, const char *key, const char *text)
{
    for (const struct json *e = json_first(list); e; e = json_next(e)) {
        struct fact f = {.kind = kind,
                         .key = str_of(key ? json_string(json_get(e, key), "") : ""),
                         .text = str_of(text ? json_string(json_get(e, text), "") : ""),
                         .time_ms = r->start_ms,
                         .source = json_string(json_get(e, "source"), "")};
        if (kind == FACT_ARTIFACT)
            f.text = f.key; /* its file: the same path below artifacts/ */
        record_fact(r, &f);
    }
}

static struct fact metric_like(const char *key, const struct json *told)
{
    return (struct fact){.kind = FACT_METRIC,
                         .key = str_of(key),
                         .unit = json_string(json_get(told, "unit"), ""),
                         .direction = record_direction_of(json_string(json_get(told, "direction"), "")),
                         .source = json_string(json_get(told, "source"), "")};
}

static void recall_samples(struct record *r, const struct tree_entry *e, const struct json *told)
{
    for (size_t i = 0; i < e->count; i++) {
        struct fact f = metric_like(e->key, told);
        f.time_ms = e->samples[i].time_ms;
        f.step = e->samples[i].step;
        f.value = e->samples[i].value;
        record_fact(r, &f);
    }
}

/* Records all samples of the thinned series. */
static int recall_series(struct record *r, const struct reparse *x, const struct tree_run *run, const struct json *metrics, struct err *err)
{
    struct folder root = folder_disk(x->runs->root);
    CLEANUP_FOLDER struct folder own = {0};
    struct arena a;
    struct tree_entry *list = NULL;
    if (folder_enter(&root, tree_run_path(run), &own) < 0)
        return err_sys(err, "cannot read %s", tree_run_path(run));
    arena_init(&a, 0);
    int rc = tree_thinned_read(&own, NULL, &a, &list, err);
    if (rc > 0)
        rc = err_set(err, ERR_INPUT, "artifacts/series.jsonl is not there");
    for (const struct tree_entry *e = list; e && rc == 0; e = e->next)
        if (json_get(metrics, e->key))
            recall_samples(r, e, json_get(metrics, e->key));
    arena_deinit(&a);
    return rc;
}

/* Records the samples of the old record's metrics, of thinned ones from series.jsonl. Returns -1
 * with err, as where the tree lacks a metric that the record names. */
static int recall_metrics(struct record *r, const struct reparse *x, const struct tree_run *run, const struct json *metrics,
                          struct err *err)
{
    bool thinned = false;
    for (const struct json *told = json_first(metrics); told; told = json_next(told)) {
        const char *key = json_key(told);
        const struct tree_entry *e = runs_entry(run->metrics, key);
        if (json_get(told, "thinned")) {
            thinned = true;
            continue;
        }
        if (!e)
            return err_set(err, ERR_INPUT, "metrics/%.200s is missing, though benchwrap.json names it", key);
        recall_samples(r, e, told);
    }
    return thinned ? recall_series(r, x, run, metrics, err) : 0;
}

int reparse_recall(const struct reparse *x, const struct tree_run *run, const struct json *detail, struct record *ret, struct err *err)
{
    record_init(ret, run->id, run->start_ms > 0 ? run->start_ms : 1);
    ret->end_ms = run->end_ms;
    ret->status = run->status;
    recall_texts(ret, json_get(detail, "params"), FACT_PARAM);
    recall_texts(ret, json_get(detail, "tags"), FACT_TAG);
    recall_list(ret, json_get(detail, "artifacts"), FACT_ARTIFACT, "path", NULL);
    recall_list(ret, json_get(detail, "missing"), FACT_MISSING, "key", "reason");
    recall_list(ret, json_get(detail, "warnings"), FACT_WARNING, NULL, "text");
    int rc = recall_metrics(ret, x, run, json_get(detail, "metrics"), err);
    if (rc == 0 && record_lost(ret))
        rc = err_memory(err, "the run's facts");
    if (rc)
        record_deinit(ret);
    return rc;
}

/* Returns whether the fact states what a series was to do: it is known before the first
 * repetition. */
static bool is_series_plan(const struct fact *f)
{
    return (f->kind == FACT_TAG && str_is(f->key, "benchwrap.series")) ||
           (f->kind == FACT_PARAM && (str_starts(f->key, "series.") || str_starts(f->key, "sweep.")));
}

bool reparse_derived(const struct fact *f)
{
    struct str source = str_of(f->source);
    if (str_is(source, "series"))
        return !is_series_plan(f);
    if (str_is(source, "rules") || str_is(source, "reference"))
        return true;
    return str_starts(source, "rule:") && !str_ends(source, ":environment"); /* the environment of that time is not available */
}

/* ---- compare ---- */

struct side {
    const struct fact **facts; /* of one kind, by key, samples in their order */
    size_t count;
};

static int compare_facts(const void *a, const void *b)
{
    const struct fact *x = *(const struct fact *const *)a, *y = *(const struct fact *const *)b;
    int order = str_natural(x->key.p, y->key.p);
    return order ? order : x->time_ms < y->time_ms ? -1 : x->time_ms > y->time_ms;
}

/* Returns whether the fact can differ between two readings of an output: derived values, and four
 * tags, each as record_find returns it. */
static bool is_compared_fact(const struct record *r, const struct fact *f)
{
    static const char *const tags[] = {"benchwrap.verdict", "benchwrap.reason", "benchmark", "benchmark.version"};
    if (f->kind == FACT_METRIC || f->kind == FACT_PARAM || f->kind == FACT_MISSING)
        return reparse_derived(f);
    char key[64];
    snprintf(key, sizeof key, STR_FMT, STR_ARG(f->key));
    for (size_t i = 0; f->kind == FACT_TAG && i < sizeof tags / sizeof *tags; i++)
        if (strcmp(key, tags[i]) == 0)
            return record_find(r, FACT_TAG, key) == f;
    return false;
}

static struct side side_of(const struct record *r, enum fact_kind kind, struct arena *a)
{
    struct side s = {arena_get(a, (r->count + 1) * sizeof *s.facts), 0};
    for (const struct fact *f = s.facts ? r->first : NULL; f; f = f->next)
        if (f->kind == kind && is_compared_fact(r, f))
            s.facts[s.count++] = f;
    if (s.count)
        qsort(s.facts, s.count, sizeof *s.facts, compare_facts);
    return s;
}

/* Returns how many from here have the same key. */
static size_t count_same_key(const struct side *s, size_t from)
{
    size_t n = 0;
    while (from + n < s->count && str_eq(s->facts[from]->key, s->facts[from + n]->key))
        n++;
    return n;
}

/* Returns whether both lists have the same values in the same order; two NaN count as equal. */
static bool same_fact_values(const struct fact *const *a, size_t na, const struct fact *const *b, size_t nb)
{
    for (size_t i = 0; i < na && i < nb; i++) {
        bool number = a[i]->kind == FACT_METRIC;
        if (number && (a[i]->step != b[i]->step || strcmp(a[i]->unit, b[i]->unit) != 0 ||
                       !(a[i]->value == b[i]->value || (isnan(a[i]->value) && isnan(b[i]->value)))))
            return false;
        if (!number && !str_eq(a[i]->text, b[i]->text))
            return false;
    }
    return na == nb;
}

/* Returns the text, or of a metric the value of the last step with unit, in the arena; NULL: there
 * is none. */
static const char *compared_fact_text(const struct fact *const *f, size_t n, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    if (n == 0)
        return NULL;
    if (f[0]->kind != FACT_METRIC)
        buf_plain(&b, f[0]->text, 200);
    else {
        const struct fact *last = f[0];
        for (size_t i = 1; i < n; i++)
            last = f[i]->step >= last->step ? f[i] : last;
        buf_double(&b, last->value);
        buf_printf(&b, "%s%s", *last->unit ? " " : "", last->unit);
        if (n > 1)
            buf_printf(&b, " (last of %zu)", n);
    }
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static int reparse_add_change(struct reparsed *ret, struct reparse_change ***tail, const char *what, struct str key, const char *before,
                              const char *after, struct arena *a)
{
    struct reparse_change *c = ARENA_NEW(a, struct reparse_change);
    if (!c)
        return -1;
    *c = (struct reparse_change){.what = what, .key = arena_dup(a, key.p, key.n), .before = before, .after = after};
    **tail = c;
    *tail = &c->next;
    ret->count++;
    return 0;
}

int reparse_compare(const struct record *before, const struct record *after, struct arena *a, struct reparsed *ret)
{
    static const struct {
        enum fact_kind kind;
        const char *what;
    } kinds[] = {{FACT_TAG, "tag"}, {FACT_METRIC, "metric"}, {FACT_MISSING, "missing"}, {FACT_PARAM, "param"}};
    struct reparse_change **tail = &ret->changes;
    ret->count = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct side x = side_of(before, kinds[k].kind, a), y = side_of(after, kinds[k].kind, a);
        if (!x.facts || !y.facts)
            return -1;
        for (size_t i = 0, j = 0; i < x.count || j < y.count;) {
            int order = i == x.count ? 1 : j == y.count ? -1 : str_natural(x.facts[i]->key.p, y.facts[j]->key.p);
            size_t n = order <= 0 ? count_same_key(&x, i) : 0, m = order >= 0 ? count_same_key(&y, j) : 0;
            if (!same_fact_values(x.facts + i, n, y.facts + j, m) &&
                reparse_add_change(ret, &tail, kinds[k].what, n ? x.facts[i]->key : y.facts[j]->key, compared_fact_text(x.facts + i, n, a),
                                   compared_fact_text(y.facts + j, m, a), a))
                return -1;
            i += n;
            j += m;
        }
    }
    return a->failed ? -1 : 0;
}
