/* campaign_advice.c: what the results of a campaign suggest to change; see campaign_advice.h. */
#include "recipe/campaign_advice.h"

#include "base/arena.h"
#include "base/show.h"

#include <math.h>
#include <stdlib.h>

/* A metric that grows by less than this for each doubling of the value has left the range where more load pays. */
#define ADVICE_GROWTH 0.1
enum { ADVICE_VALUES = 3, ADVICE_REPEATS = 5, ADVICE_FAR = 3, ADVICE_LINES = 20 };

struct advice_value {
    double x, y;
};

struct advising {
    const struct series_notes *notes;
    const struct series_figure *figures;
    struct arena a;
    FILE *out;
    size_t lines;
};

static bool has_capacity(struct advising *g)
{
    return g->lines < ADVICE_LINES;
}

static void print_advice(struct advising *g, const struct buf *text)
{
    if (text->failed || !has_capacity(g))
        return;
    CLEANUP_BUF struct buf shown;
    buf_init(&shown, 4000);
    buf_plain(&shown, buf_text(text), 1000);
    fprintf(g->out, "%s%s\n", g->lines++ ? "" : "\n", shown.p ? shown.p : "");
}

/* ---- the knee of an axis ---- */

static bool is_equal_but(const struct parameter_sweep *s, size_t p, size_t q, size_t axis)
{
    for (size_t i = 0; i < s->count; i++)
        if (i != axis && strcmp(sweep_value(s, p, i), sweep_value(s, q, i)) != 0)
            return false;
    return true;
}

static const struct series_figure *figure_of_point(const struct advising *g, size_t point, const char *key)
{
    const struct series_figure *f = g->figures;
    while (f && (f->point != point || strcmp(f->key, key) != 0))
        f = f->next;
    return f && f->stats.n ? f : NULL;
}

static int order_values(const void *x, const void *y)
{
    const struct advice_value *a = x, *b = y;
    return a->x < b->x ? -1 : a->x > b->x;
}

/* The results of the points that differ from `first` in this axis alone, by the axis's values. */
static size_t values_of_axis(struct advising *g, size_t first, size_t axis, const char *key, struct advice_value *to)
{
    const struct parameter_sweep *s = &g->notes->sweep;
    size_t n = 0;
    for (size_t p = first; p < s->points; p++) {
        const struct series_figure *f = is_equal_but(s, first, p, axis) ? figure_of_point(g, p, key) : NULL;
        double x;
        if (f && str_double(str_of(sweep_value(s, p, axis)), &x) && x > 0 && f->stats.median > 0)
            to[n++] = (struct advice_value){x, f->stats.median};
    }
    if (n)
        qsort(to, n, sizeof *to, order_values);
    return n;
}

static double growth_per_doubling(const struct advice_value *a, const struct advice_value *b)
{
    return pow(b->y / a->y, 1 / log2(b->x / a->x)) - 1;
}

static void put_other_values(const struct parameter_sweep *s, size_t point, size_t axis, struct buf *to)
{
    for (size_t i = 0; i < s->count; i++)
        if (i != axis)
            buf_printf(to, " %s=%.60s", s->axes[i].name, sweep_value(s, point, i));
}

/* Prints from which value of a numeric axis on the metric grows by less than ADVICE_GROWTH for each
 * doubling, or that it still grows at the largest one. Prints nothing for fewer than ADVICE_VALUES
 * values, or values that do not increase. `v`: scratch memory for values_of_axis. */
static void advise_axis(struct advising *g, size_t first, size_t axis, const struct series_figure *metric, struct advice_value *v)
{
    const struct parameter_sweep *s = &g->notes->sweep;
    size_t n = values_of_axis(g, first, axis, metric->key, v), knee;
    if (n < ADVICE_VALUES || !(v[0].x < v[n - 1].x))
        return;
    for (size_t i = 1; i < n; i++)
        if (v[i].x <= v[i - 1].x)
            return;
    for (knee = n - 1; knee > 0 && growth_per_doubling(&v[knee - 1], &v[knee]) < ADVICE_GROWTH;)
        knee--;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4000);
    buf_printf(&b, "%s", s->axes[axis].name);
    put_other_values(s, first, axis, &b);
    if (knee == n - 1)
        buf_printf(&b, ": %s still grows at the greatest value, from ", metric->key);
    else
        buf_printf(&b, ": from %g on %s grows by less than %g %% for each doubling, from ", v[knee].x, metric->key, 100 * ADVICE_GROWTH);
    size_t from = knee == n - 1 ? n - 2 : knee;
    show_value(&b, v[from].y);
    buf_printf(&b, " at %g to ", v[from].x);
    show_value(&b, v[n - 1].y);
    buf_printf(&b, " at %g%s", v[n - 1].x, knee == n - 1 ? "; measure greater values" : "");
    print_advice(g, &b);
}

static void advise_axes(struct advising *g, const struct series_figure *metric)
{
    const struct parameter_sweep *s = &g->notes->sweep;
    struct advice_value *v = arena_get(&g->a, (s->points + 1) * sizeof *v);
    bool *is_done = arena_get(&g->a, s->points + 1);
    for (size_t axis = 0; v && is_done && axis < s->count; axis++) {
        memset(is_done, 0, s->points);
        for (size_t p = 0; p < s->points && has_capacity(g); p++) {
            if (is_done[p])
                continue;
            for (size_t q = p; q < s->points; q++)
                is_done[q] |= is_equal_but(s, p, q, axis);
            advise_axis(g, p, axis, metric, v);
        }
    }
}

/* ---- a first run that differs ---- */

/* Advises warmup_runs where the first run of the point is outside of the range of its other runs by
 * more than ADVICE_FAR times that range. Prints nothing for fewer than ADVICE_REPEATS runs. */
static void advise_warmup(struct advising *g, size_t point, const char *key)
{
    double first = 0, least = INFINITY, most = -INFINITY;
    size_t others = 0;
    bool has_first = false;
    for (const struct series_repetition *r = g->notes->first; r; r = r->next) {
        const struct series_run_value *v = r->point == point && series_counts(r) ? series_value_of(r, key) : NULL;
        if (!v)
            continue;
        if (r->repetition == 1) {
            first = v->value;
            has_first = true;
            continue;
        }
        others++;
        least = v->value < least ? v->value : least;
        most = v->value > most ? v->value : most;
    }
    double far = ADVICE_FAR * (most - least);
    if (!has_first || others + 1 < ADVICE_REPEATS || (first >= least - far && first <= most + far))
        return;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4000);
    sweep_label(&g->notes->sweep, point, &b);
    buf_printf(&b, "%sthe first run has %s ", b.n ? ": " : "", key);
    show_value(&b, first);
    buf_puts(&b, ", the others ");
    show_value(&b, least);
    buf_puts(&b, " to ");
    show_value(&b, most);
    buf_puts(&b, "; set warmup_runs: 1");
    print_advice(g, &b);
}

/* ---- what limits the best point ---- */

/* The mean of the metric over the point's runs; NAN: no run has it. */
static double mean_of_point(const struct advising *g, size_t point, const char *key)
{
    double sum = 0;
    size_t n = 0;
    for (const struct series_repetition *r = g->notes->first; r; r = r->next) {
        const struct series_run_value *v = r->point == point && series_counts(r) ? series_value_of(r, key) : NULL;
        if (v) {
            sum += v->value;
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

/* A row: a metric, above or below which value, and what it means. The first that applies is printed. */
static const struct limit_row {
    const char *key;
    double from, to, percent_of; /* from <= value <= to; the value that is 100 % */
    const char *is, *then;
} limit_rows[] = {
    {"server.kv_cache_usage", 0.9, INFINITY, 1, "of the server's KV cache is in use",
     "its memory limits it: add memory, or send shorter requests"},
    {ADVICE_GPU_BUSY, 95, INFINITY, 100, "of the time the GPUs are busy", "they limit; use more of them, or a smaller model"},
    {ADVICE_GPU_BUSY, 0, 50, 100, "of the time the GPUs are busy", "they wait; more load, larger batches or a faster client may use them"},
};

/* Prints the first row of limit_rows that the point with the largest median matches: what limits
 * the service there, such as its KV cache. Prints nothing where no row matches. */
static void advise_limit(struct advising *g, const struct series_figure *metric)
{
    const struct series_figure *best = metric;
    for (const struct series_figure *f = metric; f; f = f->next)
        if (strcmp(f->key, metric->key) == 0 && f->stats.n && (!best->stats.n || f->stats.median > best->stats.median))
            best = f;
    for (size_t i = 0; i < sizeof limit_rows / sizeof *limit_rows; i++) {
        const struct limit_row *row = &limit_rows[i];
        double value = mean_of_point(g, best->point, row->key);
        if (!(value >= row->from && value <= row->to))
            continue;
        CLEANUP_BUF struct buf b;
        buf_init(&b, 4000);
        sweep_label(&g->notes->sweep, best->point, &b);
        buf_printf(&b, "%sthe best point: %.0f %% %s: %s", b.n ? ", " : "", 100 * value / row->percent_of, row->is, row->then);
        print_advice(g, &b);
        return;
    }
}

bool campaign_advice_print(const struct series_notes *notes, const struct series_figure *figures, FILE *out)
{
    struct advising g = {.notes = notes, .figures = figures, .out = out};
    const struct series_figure *metric = figures;
    while (metric && !(metric->headline && metric->direction == DIR_HIGHER))
        metric = metric->next;
    if (!metric)
        return true;
    arena_init(&g.a, 0);
    advise_axes(&g, metric);
    advise_limit(&g, metric);
    for (size_t p = 0; p < notes->sweep.points && has_capacity(&g); p++)
        advise_warmup(&g, p, metric->key);
    bool good = !g.a.failed;
    arena_deinit(&g.a);
    return good;
}
