/* table.c: the statistics over repetitions and sweeps, as a table for people and as JSON for programs. */
#include "series/table.h"

#include "base/listing.h"
#include "base/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_MAX = 22, POINTS_SHOWN = 40 };

#define WALL "run.wall_s"

static const char *series_value_text(struct arena *a, double value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Returns the metric's name: "latency.p95", or "write.bw max" where the run's own statistic is not
 * the value itself. */
static const char *series_metric_name(const struct series_figure *f, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1024);
    show_metric(&b, f->key, f->unit);
    if (f->of[0] && f->of[0] != 'p') /* percentiles have it in their key */
        buf_printf(&b, " %s", f->of);
    return arena_dup(a, b.p, b.n);
}

static const char *series_unit_text(const struct series_figure *f, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_unit(&b, f->unit);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static const char *series_range_text(const struct stats *s, struct arena *a)
{
    return s->n < 2 ? "" : arena_printf(a, "%s … %s", series_value_text(a, s->min), series_value_text(a, s->max));
}

static const char *interval_text(const struct series_figure *f, struct arena *a)
{
    if (!series_no_interval(f))
        return arena_printf(a, "%s … %s", series_value_text(a, f->stats.ci_low), series_value_text(a, f->stats.ci_high));
    return arena_printf(a, "%s: %zu value%s", f->stats.n < 3 ? "too few" : "too wide", f->stats.n, str_plural(f->stats.n));
}

/* ---- repetitions ---- */

/* Returns whether the metric is shown in this pass. What the program measured comes first, its wall
 * time last. */
static bool is_turn(const struct series_figure *f, bool all, int pass)
{
    return (all || f->headline) && (strcmp(f->key, WALL) == 0) == (pass == 1);
}

/* Returns the same statistics multiplied by `scale`, for a smaller unit. The standard deviation is
 * not changed. */
static struct stats stats_scaled(const struct stats *s, double scale)
{
    struct stats ret = *s;
    ret.median *= scale;
    ret.mean *= scale;
    ret.min *= scale;
    ret.max *= scale;
    ret.ci_low *= scale;
    ret.ci_high *= scale;
    return ret;
}

/* Adds the row of one metric, in a unit that suits its median. */
static void repetition_row(struct listing *l, const struct series_figure *f, struct arena *a)
{
    struct series_figure shown = *f;
    shown.stats = stats_scaled(&f->stats, show_scale(f->stats.median, &shown.unit));
    listing_text(l, series_metric_name(f, a));
    listing_number(l, f->stats.median, series_value_text(a, shown.stats.median));
    listing_style(l, STYLE_MAIN);
    listing_text(l, series_unit_text(&shown, a));
    listing_text(l, series_range_text(&shown.stats, a));
    listing_text(l, interval_text(&shown, a));
}

/* Appends a table with one row for each metric, at most `most` (0: any number). Returns how many
 * more there are. */
static size_t repetitions_table(const struct series_figure *figures, bool all, size_t most, const struct screen *screen, struct arena *a,
                                struct buf *to)
{
    static const struct listing_column columns[] = {{"metric", "", false, 60, .whole = true},
                                                    {"median", "median", true, 0},
                                                    {"unit", "", false, 0, .whole = true, .no_empty = true, .tight = true},
                                                    {"range", "min … max", true, 0, .drop = 1, .no_empty = true},
                                                    {"interval", "95 % of mean", true, 0, .drop = 2}};
    struct listing l;
    size_t more = 0;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    l.indent = 2;
    for (int pass = 0; pass < 2; pass++)
        for (const struct series_figure *f = figures; f; f = f->next) {
            if (!is_turn(f, all, pass))
                continue;
            if (!most || listing_rows(&l) < most)
                repetition_row(&l, f, a);
            else
                more++;
        }
    listing_render(&l, screen, to);
    listing_deinit(&l);
    return more;
}

/* ---- a sweep ---- */

/* Returns a bar in the arena. An eighth of a column is the smallest step; a value above zero has at
 * least that. */
static const char *bar_text(double part, size_t width, struct arena *a)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    if (!(part > 0))
        return "";
    size_t steps = (size_t)(part * (double)width * 8 + 0.5);
    steps = steps ? steps : 1;
    for (size_t i = 0; i < steps / 8; i++)
        buf_puts(&b, "█");
    buf_puts(&b, eighths[steps % 8]);
    return arena_dup(a, b.p, b.n);
}

struct series_block {
    double min, max; /* of the medians */
    size_t points;
    bool ranges, negative;
    const struct series_figure *best_at; /* NULL: none is better than every other */
};

static bool is_same_metric(const struct series_figure *a, const struct series_figure *b)
{
    return strcmp(a->key, b->key) == 0;
}

/* Returns the extremes of a metric's medians over all points, and whether it has ranges, negative
 * values and a best point. */
static struct series_block series_block_of(const struct series_figure *first)
{
    struct series_block b = {.min = INFINITY, .max = -INFINITY};
    for (const struct series_figure *f = first; f; f = f->next) {
        if (!is_same_metric(f, first))
            continue;
        double v = f->stats.median;
        b.points++;
        b.min = v < b.min ? v : b.min;
        b.max = v > b.max ? v : b.max;
        b.ranges = b.ranges || f->stats.n > 1;
        b.negative = b.negative || v < 0;
        b.best_at = f->best ? f : b.best_at;
    }
    return b;
}

/* Appends "no value at bs=64k": runs of these points count, but none has the metric. */
static void put_points_without(struct series_notes *n, const struct series_figure *first, const struct screen *screen, struct buf *to)
{
    size_t count = n->sweep.points, without = 0, at = 0;
    bool *lacks = arena_get(&n->arena, count + 1);
    if (!lacks)
        return;
    memset(lacks, 0, count + 1);
    for (const struct series_repetition *r = n->first; r; r = r->next)
        if (r->point < count && series_counts(r))
            lacks[r->point] = true;
    for (const struct series_figure *f = first; f; f = f->next)
        if (is_same_metric(f, first) && f->point < count)
            lacks[f->point] = false;
    for (size_t i = count; i-- > 0;)
        if (lacks[i])
            without++, at = i;
    if (!without)
        return;
    const char *more = without > 1 ? arena_printf(&n->arena, " and %zu more point%s", without - 1, str_plural(without - 1)) : "";
    buf_puts(to, "  ");
    screen_wrap(screen, str_of(arena_printf(&n->arena, "no value at %s%s", series_label(n, at), more)), 2, 2, to);
    buf_putc(to, '\n');
}

/* Prints the points of a sweep for one metric, with bars; every: all points, else the first ones.
 * Returns whether one is marked as the best. */
static bool sweep_block(struct series_notes *n, const struct series_figure *first, bool every, const struct screen *screen, struct buf *to)
{
    struct arena *a = &n->arena;
    const struct series_block is = series_block_of(first);
    struct series_figure scaled = *first;
    double scale = show_scale(is.max, &scaled.unit);
    const char *unit = series_unit_text(&scaled, a);
    const char *name = arena_printf(a, "%s%s%s", series_metric_name(first, a), *unit ? ", " : "", unit);
    const struct listing_column columns[] = {{"point", name, false, 40, .whole = true},
                                             {"bar", "", false, 0, .drop = 1, .no_empty = true},
                                             {"median", "median", true, 0},
                                             {"range", is.ranges ? "min … max" : "", true, 0, .drop = 2, .no_empty = true},
                                             {"best", "", false, 0, .whole = true, .no_empty = true}};
    struct listing l;
    size_t shown = 0, width = screen_columns(screen) >= 70 ? BAR_MAX : BAR_MAX / 2;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    l.indent = 2;
    for (const struct series_figure *f = first; f && (every || shown < POINTS_SHOWN); f = f->next) {
        if (!is_same_metric(f, first))
            continue;
        bool best = f == is.best_at;
        const struct stats shown_stats = stats_scaled(&f->stats, scale);
        shown++;
        listing_text(&l, series_label(n, f->point));
        listing_text(&l, is.negative || !(is.max > 0) ? "" : bar_text(f->stats.median / is.max, width, a));
        listing_number(&l, f->stats.median, series_value_text(a, shown_stats.median));
        listing_style(&l, STYLE_MAIN);
        listing_text(&l, series_range_text(&shown_stats, a));
        listing_text(&l, best ? "best" : "");
        listing_style(&l, STYLE_GOOD);
    }
    listing_render(&l, screen, to);
    if (is.points > shown)
        buf_printf(to, "  and %zu more points: points.csv\n", is.points - shown);
    put_points_without(n, first, screen, to);
    listing_deinit(&l);
    return is.best_at != NULL;
}

/* Returns whether this is the first point that has the metric. */
static bool begins_block(const struct series_figure *figures, const struct series_figure *f)
{
    while (figures != f && !is_same_metric(figures, f))
        figures = figures->next;
    return figures == f;
}

/* Appends a block for each metric, at most `most` (0: any number). Returns how many more there
 * are. */
static size_t sweep_tables(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, const struct screen *screen,
                           struct buf *to)
{
    size_t shown = 0, more = 0;
    bool is_marked = false;
    for (int pass = 0; pass < 2; pass++)
        for (const struct series_figure *f = figures; f; f = f->next) {
            if (!is_turn(f, all, pass) || !begins_block(figures, f))
                continue;
            if (most && shown >= most) {
                more++;
                continue;
            }
            if (shown++)
                buf_putc(to, '\n');
            is_marked |= sweep_block(n, f, !most, screen, to);
        }
    if (is_marked) {
        buf_puts(to, "\n  ");
        screen_wrap(screen, STR("best: better than each other point, by the test of \"benchwrap compare\""), 2, 2, to);
        buf_putc(to, '\n');
    }
    return more;
}

void series_brief(struct series_notes *n, const struct series_figure *figures, struct buf *to)
{
    const struct series_figure *first = NULL;
    for (int pass = 0; pass < 2 && !first; pass++)
        for (const struct series_figure *f = figures; f && !first; f = f->next)
            first = is_turn(f, false, pass) ? f : NULL;
    if (!first)
        return;
    const struct series_block is = series_block_of(first);
    const char *unit = first->unit;
    double scale = show_scale(is.max, &unit);
    buf_printf(to, "%s ", series_metric_name(first, &n->arena));
    if (is.best_at)
        buf_puts(to, "best ");
    show_value(to, scale * (is.best_at ? is.best_at->stats.median : is.min));
    if (!is.best_at && is.max > is.min) {
        buf_puts(to, " … ");
        show_value(to, scale * is.max);
    }
    buf_puts(to, *unit ? " " : "");
    show_unit(to, unit);
    if (is.best_at)
        buf_printf(to, " at %s", series_label(n, is.best_at->point));
}

void series_table(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, const struct screen *screen,
                  struct buf *to)
{
    size_t more =
        n->sweep.count ? sweep_tables(n, figures, all, most, screen, to) : repetitions_table(figures, all, most, screen, &n->arena, to);
    if (more)
        buf_printf(to, "  %zu more metric%s: benchwrap show --all\n", more, str_plural(more));
}

void series_table_json(struct series_notes *n, const struct series_figure *figures, struct json_out *j)
{
    json_open(j, "repetitions", '[');
    for (const struct series_figure *f = figures; f; f = f->next) {
        const struct stats *s = &f->stats;
        bool few = series_no_interval(f) != NULL;
        json_open(j, NULL, '{');
        json_text(j, "point", n->sweep.count ? series_label(n, f->point) : NULL);
        json_text(j, "metric", f->key);
        json_text(j, "of", f->of[0] ? f->of : NULL);
        json_text(j, "unit", f->unit);
        json_text(j, "direction", record_direction_name(f->direction));
        json_flag(j, "headline", f->headline);
        json_int(j, "n", (int64_t)s->n);
        json_known(j, "median", s->median);
        json_known(j, "mean", s->mean);
        json_known(j, "sd", s->n < 2 ? NAN : s->sd);
        json_known(j, "min", s->min);
        json_known(j, "max", s->max);
        json_known(j, "ci_low", few ? NAN : s->ci_low);
        json_known(j, "ci_high", few ? NAN : s->ci_high);
        json_close(j, '}');
    }
    json_close(j, ']');
}
