/* values.c: what one run of a series measured, read from the detail of its record (benchwrap.json). */
#include "series/values.h"

#include "mlruns-format/key.h"
#include "mlruns-format/disturbance.h"
#include "mlruns-format/no_metrics.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_MAX = 2000 /* metrics of one run that are followed over the series */ };

/* What the recorder itself measures of the program. */
static const char *const own[] = {"run.wall_s", "run.user_s", "run.system_s", "run.max_rss_MiB"};

static bool series_is_result(const char *key)
{
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(key, own[i]) == 0)
            return true;
    return key_is_result(key);
}

/* Returns the statistic at the end of a key, "" without one; *ret_stem is the length of the part
 * before it. */
static const char *series_statistic_of(const char *key, size_t *ret_stem)
{
    static const char *const names[] = {"max", "min", "mean", "median", "sd", "n", "p50", "p90", "p95", "p99", "p999", "ci_low", "ci_high"};
    const char *dot = strrchr(key, '.');
    *ret_stem = strlen(key);
    for (size_t i = 0; dot && dot > key && i < sizeof names / sizeof *names; i++)
        if (strcmp(dot + 1, names[i]) == 0) {
            *ret_stem = (size_t)(dot - key);
            return dot + 1;
        }
    return "";
}

struct series_taking {
    struct series_repetition *run;
    const struct json *metrics;
    struct str headlines;
    struct arena *a;
    struct series_run_value **at;
    size_t count;
};

static bool series_is_headline(const struct series_taking *t, const char *key)
{
    for (struct str rest = t->headlines, word; (word = str_word(&rest)).n > 0;)
        if (str_is(word, key))
            return true;
    return false;
}

enum { KEY_BYTES = 600 };

/* Writes the key of the first n bytes of the stem with the statistic ("": without one). False:
 * no metric has so long a key. */
static bool series_write_key(char ret[KEY_BYTES], const char *stem, size_t n, const char *stat)
{
    return n < KEY_BYTES && snprintf(ret, KEY_BYTES, "%.*s%s%s", (int)n, stem, stat[0] ? "." : "", stat) < KEY_BYTES;
}

/* Returns the metric of the first n bytes of the stem with the statistic ("": without one) in the
 * JSON; NULL: none. */
static const struct json *series_find_metric(const struct series_taking *t, const char *stem, size_t n, const char *stat)
{
    char key[KEY_BYTES];
    return series_write_key(key, stem, n, stat) ? json_get(t->metrics, key) : NULL;
}

/* Returns which statistic of the metric stands for the run; NULL: none does. */
static const char *series_choose_statistic(const struct series_taking *t, const char *stem, size_t n)
{
    static const char *const stats[] = {"max", "min", "mean", "median"};
    const struct json *plain = series_find_metric(t, stem, n, "");
    const char *only = NULL;
    size_t found = 0;
    for (size_t i = 0; i < 4; i++) {
        char key[KEY_BYTES];
        if (!series_write_key(key, stem, n, stats[i]) || !json_get(t->metrics, key))
            continue;
        if (series_is_headline(t, key))
            return stats[i];
        only = stats[i];
        found++;
    }
    if (found == 1)
        return only;
    if (plain && json_integer(json_get(plain, "samples"), 1) == 1)
        return "";
    return series_find_metric(t, stem, n, "median") ? "median" : only; /* a course without statistics stands for nothing: NULL */
}

static const char *own_text(struct arena *a, const char *text)
{
    const char *copy = arena_dup(a, text, strlen(text));
    return copy ? copy : "";
}

/* Returns the key with the statistic before its unit, "read.clat_us" and "p99" ->
 * "read.clat.p99_us": its end is for the statistic over the repetitions. In the arena; NULL: out of
 * memory. */
static const char *inner_key(const struct series_taking *t, const char *stem, size_t n, const char *stat, const char *unit)
{
    size_t u = strlen(unit);
    if (u && n > u + 1 && stem[n - u - 1] == '_' && memcmp(stem + n - u, unit, u) == 0)
        return arena_printf(t->a, "%.*s.%s_%s", (int)(n - u - 1), stem, stat, unit);
    return arena_printf(t->a, "%.*s.%s", (int)n, stem, stat[0] == 'p' ? arena_printf(t->a, "at_%s", stat) : stat);
}

void series_value_key(const struct series_run_value *v, char *to, size_t size)
{
    struct str key = str_of(v->key);
    char within[200], beside[100];
    snprintf(within, sizeof within, ".%.80s_%.100s", v->of, v->unit);
    snprintf(beside, sizeof beside, ".at_%.80s", v->of);
    if (v->of[0] == 'p' && v->unit[0] && str_ends(key, within))
        snprintf(to, size, "%.*s_%.100s.%.80s", (int)(key.n - strlen(within)), key.p, v->unit, v->of);
    else if (v->of[0] == 'p' && str_ends(key, beside))
        snprintf(to, size, "%.*s.%.80s", (int)(key.n - strlen(beside)), key.p, v->of);
    else
        snprintf(to, size, "%.300s%s%.80s", v->key, v->of[0] ? "." : "", v->of);
}

/* Adds the metric to the run's values if it is a result and of the statistic that represents the
 * run. Drops it behind VALUES_MAX, and where memory is used up. */
static void series_take_metric(struct series_taking *t, const char *key, const struct json *m)
{
    size_t n;
    const char *stat = series_statistic_of(key, &n), *unit = json_string(json_get(m, "unit"), "");
    bool percentile = stat[0] == 'p';
    if (!series_is_result(key) || !json_is_number(json_get(m, "value")) || t->count == VALUES_MAX)
        return;
    const char *wanted = percentile ? stat : series_choose_statistic(t, key, n);
    if (!wanted || strcmp(stat, wanted) != 0)
        return;
    struct series_run_value *v = ARENA_NEW(t->a, struct series_run_value);
    const char *name = percentile ? inner_key(t, key, n, stat, unit) : arena_dup(t->a, key, n);
    if (!v || !name)
        return;
    const char *way = json_string(json_get(m, "direction"), "");
    *v = (struct series_run_value){.key = name,
                                   .of = own_text(t->a, stat),
                                   .unit = own_text(t->a, unit),
                                   .direction = strcmp(way, "higher") == 0  ? DIR_HIGHER
                                                : strcmp(way, "lower") == 0 ? DIR_LOWER
                                                                            : DIR_NONE,
                                   .value = json_number(json_get(m, "value"), 0),
                                   .headline = t->headlines.n ? series_is_headline(t, key) : strcmp(key, "run.wall_s") == 0};
    *t->at = v;
    t->at = &v->next;
    t->count++;
}

static const char *series_tag_text(const struct json *detail, const char *key, struct arena *a)
{
    return own_text(a, json_string(json_get(json_get(json_get(detail, "tags"), key), "value"), ""));
}

void series_values_take(struct series_repetition *run, const struct json *detail, struct arena *a)
{
    const struct json *about = json_get(detail, "run");
    struct series_taking t = {.run = run, .metrics = json_get(detail, "metrics"), .a = a, .at = &run->values};
    run->status = own_text(a, json_string(json_get(about, "status"), ""));
    run->verdict = series_tag_text(detail, "benchwrap.verdict", a);
    run->reason = series_tag_text(detail, "benchwrap.reason", a);
    run->noisy = series_tag_text(detail, "benchwrap.noisy", a);
    run->unjudged = !run->noisy[0] && disturbance_unjudged(detail);
    run->no_metrics = no_metrics_of(detail) ? own_text(a, no_metrics_of(detail)) : "";
    run->left_out = left_out_of(detail) ? own_text(a, left_out_of(detail)) : "";
    run->throttled = json_number(json_get(json_get(t.metrics, "noise.throttled"), "value"), -1);
    run->start_ms = json_integer(json_get(about, "start_ms"), 0);
    run->end_ms = json_integer(json_get(about, "end_ms"), 0);
    t.headlines = str_of(series_tag_text(detail, "benchwrap.headline", a));
    for (const struct json *m = json_first(t.metrics); m; m = json_next(m))
        series_take_metric(&t, json_key(m), m);
    struct series_input **at = &run->inputs;
    for (const struct json *p = json_first(json_get(detail, "params")); p; p = json_next(p)) {
        struct series_input *in =
            strncmp(json_string(json_get(p, "source"), ""), "rule:", 5) == 0 ? ARENA_NEW(a, struct series_input) : NULL;
        if (!in)
            continue;
        *in = (struct series_input){.key = own_text(a, json_key(p)), .value = own_text(a, json_string(json_get(p, "value"), ""))};
        *at = in;
        at = &in->next;
    }
}
