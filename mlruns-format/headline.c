/* headline.c: the one or two headline metrics of a run in a table. */
#include "mlruns-format/headline.h"

#include "base/show.h"
#include "base/stats.h"
#include "mlruns-format/key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METRIC_TAIL = 4096 };

/* Returns the median of the n values, which it sorts. */
static double headline_median(double *values, size_t n)
{
    struct stats stats;
    stats_of(values, n, &stats);
    return stats.median;
}

/* Reads the value of a long series, which may be thinned: the median where the key names no
 * statistic, else the last. False: it cannot be read. */
static bool headline_of_series(const struct folder *tree, const struct tree_run *run, const char *key, double *ret)
{
    struct arena scratch;
    struct tree_entry e;
    arena_init(&scratch, 0);
    bool found = tree_metric(tree, run, key, &scratch, &e) == 0;
    double *values = found ? arena_get(&scratch, e.count * sizeof *values) : NULL;
    const struct tree_sample *last = e.samples;
    size_t n = 0;
    found = found && values;
    for (size_t i = 0; found && i < e.count; i++) {
        if (isfinite(e.samples[i].value))
            values[n++] = e.samples[i].value;
        if (tree_sample_is_later(&e.samples[i], last))
            last = &e.samples[i];
    }
    if (found)
        *ret = !key[key_stem(key)] && n > 1 ? headline_median(values, n) : last->value;
    arena_deinit(&scratch);
    return found;
}

bool headline_value(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a, double *ret)
{
    char path[400];
    snprintf(path, sizeof path, "metrics/%.300s", key);
    const char *text = tree_file(tree, run, path, METRIC_TAIL, a);
    if (text && strlen(text) >= METRIC_TAIL)
        return headline_of_series(tree, run, key, ret);
    if (!text)
        return false;
    bool found = false, plain = !key[key_stem(key)];
    double values[METRIC_TAIL / 2];
    size_t n = 0;
    int64_t best = INT64_MIN, at = INT64_MIN;
    for (struct str rest = str_of(text); rest.p;) {
        struct str line = str_cut(&rest, '\n'), time = str_word(&line), value = str_word(&line), step = str_word(&line);
        int64_t t, s = 0;
        double v;
        if (!time.n || !str_int(time, &t) || !str_double(value, &v) || (step.n && !str_int(step, &s)))
            continue;
        if (isfinite(v))
            values[n++] = v;
        if (s > best || (s == best && t >= at))
            *ret = v, best = s, at = t, found = true;
    }
    if (plain && n > 1)
        *ret = headline_median(values, n);
    return found;
}

struct headline_names {
    struct arena *a;
    char **names;
    size_t n, max;
    const struct folder *in;
    const char *before; /* of the names in this folder: "val/" */
    int depth;
};

enum { HEADLINE_DEPTH = 8 };

/* Called for each name below metrics: adds it to the list, and those of a folder, since MLflow's
 * clients log names such as val/acc. Non-zero: the list is full. */
static int headline_add_name(void *context, const struct folder_entry *e)
{
    struct headline_names *m = context;
    const struct headline_names above = *m;
    bool is_sampled = !m->depth && str_is(e->name, "system"); /* of the machine */
    char *key = e->name.n && e->name.p[0] != '.' && !memchr(e->name.p, '/', e->name.n) && !is_sampled
                    ? arena_printf(m->a, "%s%s", m->before, e->name.p)
                    : NULL;
    if (!key || !key_is_result(key))
        return 0;
    if (e->kind != FOLDER_FOLDER) {
        m->names[m->n++] = key;
        return m->n == m->max;
    }
    CLEANUP_FOLDER struct folder below = {0};
    m->before = arena_printf(m->a, "%s/", key);
    if (!m->before || m->depth == HEADLINE_DEPTH || folder_enter(m->in, e->name.p, &below)) {
        m->before = above.before;
        return 0;
    }
    m->in = &below;
    m->depth++;
    folder_names(&below, headline_add_name, m);
    *m = (struct headline_names){m->a, m->names, m->n, m->max, above.in, above.before, above.depth};
    return m->n == m->max;
}

/* Lists the names of the run's metrics that are about the program, sorted. Returns how many. */
static size_t headline_list_names(const struct folder *tree, const struct tree_run *run, struct arena *a, char **names, size_t max)
{
    CLEANUP_FOLDER struct folder in = {0};
    struct headline_names m = {.a = a, .names = names, .max = max, .in = &in, .before = ""};
    char path[256];
    snprintf(path, sizeof path, "%s/metrics", tree_run_path(run));
    if (folder_enter(tree, path, &in) == 0)
        folder_names(&in, headline_add_name, &m);
    if (m.n)
        qsort(names, m.n, sizeof *names, str_natural_order);
    return m.n;
}

static bool is_sweep(const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    int64_t points;
    const char *text = tree_file(tree, run, "params/series.points", 64, a);
    return text && str_int(str_trim(str_of(text)), &points) && points > 1;
}

/* Returns whether KEY.median of a sweep's parent has several points, with the swept number as step:
 * no point's value is its own. */
static bool is_curve(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a)
{
    char path[400];
    if (!str_ends(str_of(key), ".median") || !is_sweep(tree, run, a))
        return false;
    snprintf(path, sizeof path, "metrics/%.300s", key);
    const char *values = tree_file(tree, run, path, METRIC_TAIL, a), *end = values ? strchr(values, '\n') : NULL;
    return end && end[1];
}

static bool is_wall_time(const char *key)
{
    return strncmp(key, "run.wall_s", strlen("run.wall_s")) == 0;
}

/* Reads the metrics that the tag names into ret, at most max; what the program measured comes
 * before its wall time. Returns how many. */
static size_t named_headlines(const struct folder *tree, const struct tree_run *run, const char *named, size_t max, struct arena *a,
                              struct headline *ret)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct str rest = str_of(named);
        for (struct str word; n < max && (word = str_word(&rest)).n;) {
            const char *key = arena_dup(a, word.p, word.n);
            if (key && is_wall_time(key) == (pass == 1) && !strstr(key, "..") && !is_curve(tree, run, key, a) &&
                headline_value(tree, run, key, a, &ret[n].value))
                ret[n++].key = key;
        }
    }
    return n;
}

size_t headlines_of(const struct folder *tree, const struct tree_run *run, size_t max, struct arena *a, struct headline *ret)
{
    const char *named = tree_file(tree, run, "tags/benchwrap.headline", 4096, a);
    size_t n = named ? named_headlines(tree, run, named, max, a, ret) : 0;
    enum { NAMES_MAX = 256 };
    char *names[NAMES_MAX];
    static const char *const wanted[] = {".max", ".median", ".mean", ".min", ""};
    size_t count = n || named ? 0 : headline_list_names(tree, run, a, names, NAMES_MAX);
    for (size_t w = 0; n == 0 && w < sizeof wanted / sizeof wanted[0]; w++)
        for (size_t i = 0; n < max && i < count; i++)
            if (str_ends(str_of(names[i]), wanted[w]) && headline_value(tree, run, names[i], a, &ret[n].value))
                ret[n++].key = names[i];
    for (size_t i = 0; i < n; i++)
        ret[i].unit = key_unit(ret[i].key, a);
    return n;
}

/* Returns whether the run is a repetition whose parent run has one median for all of its
 * repetitions: no sweep. */
static bool is_plain_repetition(const struct folder *tree, const struct tree_run *run, struct arena *a)
{
    struct tree_run parent = {.tree = run->tree};
    const char *id =
        tree_file(tree, run, "tags/benchwrap.repetition", 64, a) ? tree_file(tree, run, "tags/mlflow.parentRunId", 64, a) : NULL;
    if (!id || !record_is_id(str_of(id)))
        return false;
    memcpy(parent.id, id, sizeof parent.id);
    parent.path = arena_printf(a, "mlruns/%.*s/%s", (int)strcspn(tree_run_path(run), "/"), tree_run_path(run), id);
    return parent.path && !is_sweep(tree, &parent, a);
}

const char *headline_column(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a)
{
    const char *samples = tree_file(tree, run, arena_printf(a, "metrics/%.300s", key), METRIC_TAIL, a),
               *end = samples ? strchr(samples, '\n') : NULL;
    bool has_several = end && end[1];
    if (key[key_stem(key)] || (!has_several && !is_plain_repetition(tree, run, a)))
        return key;
    const char *column = arena_printf(a, "%s.median", key);
    return column ? column : key;
}

void headline_show(struct buf *to, const struct headline *h)
{
    buf_puts(to, to->n ? ", " : "");
    show_metric(to, h->key, h->unit);
    buf_putc(to, ' ');
    show_quantity(to, h->value, h->unit);
}
