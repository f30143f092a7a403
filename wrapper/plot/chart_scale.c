/* chart_scale.c: limits, ticks and positions; see chart_scale.h. */
#include "plot/chart_scale.h"
#include "base/show.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool chart_is_drawable(const struct chart_axis *axis, double v)
{
    return isfinite(v) && (!axis->log || v > 0) && (!axis->nines || (v >= 0 && v < 1));
}

static bool has_second_x(const struct chart_series *s)
{
    return s->mark == CHART_STEPS || s->mark == CHART_BARS || s->mark == CHART_SPANS;
}

static bool has_second_y(const struct chart_series *s)
{
    return s->mark == CHART_BAND || s->mark == CHART_WHISKERS;
}

bool chart_point_drawable(const struct chart *c, const struct chart_series *s, size_t i)
{
    if (s->mark == CHART_BOX)
        return chart_is_drawable(&c->x, s->x[i]);
    if (!chart_is_drawable(&c->x, s->x[i]) || !chart_is_drawable(&c->y, s->y[i]))
        return false;
    if (s->mark == CHART_CELLS)
        return chart_is_drawable(&c->shade, s->y2[i]);
    return (!has_second_x(s) || chart_is_drawable(&c->x, s->x2[i])) && (!has_second_y(s) || chart_is_drawable(&c->y, s->y2[i]));
}

size_t chart_left_out(const struct chart *c)
{
    size_t n = c->left_out;
    for (size_t k = 0; k < c->count; k++) {
        const struct chart_series *s = &c->series[k];
        if (s->mark == CHART_IDEAL || s->mark == CHART_BAND || s->mark == CHART_WHISKERS)
            continue; /* not values that were measured, or drawn a second time */
        for (size_t i = 0; i < s->n; i++)
            n += !chart_point_drawable(c, s, i) && !(c->left_why && isnan(s->mark == CHART_BOX     ? s->x[i]
                                                                          : s->mark == CHART_CELLS ? s->y2[i]
                                                                                                   : s->y[i]));
    }
    return n;
}

void chart_left_text(const struct chart *c, struct buf *to)
{
    size_t n = chart_left_out(c);
    if (!n)
        return;
    buf_printf(to, "%zu left out: ", n);
    if (c->left_why)
        buf_puts(to, c->left_why);
    if (!c->left_why || n > c->left_out)
        buf_printf(to, "%s%zu not finite or not possible on this axis", c->left_why ? ", " : "", c->left_why ? n - c->left_out : n);
}

void chart_axis_text(const struct chart_axis *axis, struct buf *to)
{
    buf_puts(to, axis->label ? axis->label : "");
    if (axis->unit && *axis->unit)
        buf_printf(to, "%s%s", axis->label && *axis->label ? ", " : "", axis->unit);
    if (axis->better)
        buf_printf(to, " (%s is better)", axis->better == CHART_HIGHER ? "higher" : "lower");
}

/* ---- positions ---- */

/* Returns how a value counts on its axis: its logarithm, or for quantiles the nines in it. */
static double chart_measure(const struct chart_axis *axis, double v)
{
    return axis->nines ? -log10(1 - v) : axis->log ? log10(v) : v;
}

double chart_scale_position(const struct chart_scale *s, double v)
{
    double low = chart_measure(s->axis, s->low), high = chart_measure(s->axis, s->high);
    return s->from + (chart_measure(s->axis, v) - low) / (high - low) * (s->to - s->from);
}

/* ---- limits ---- */

static void chart_widen(struct chart_scale *s, double v)
{
    if (!chart_is_drawable(s->axis, v))
        return;
    s->low = fmin(s->low, v);
    s->high = fmax(s->high, v);
}

/* Widens both scales to all that the series draws. A box widens the value axis alone, bars include
 * 0, and a span has the height of a lane. */
static void widen_by_series(const struct chart *c, const struct chart_series *s, struct chart_scale *x, struct chart_scale *y)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(c, s, i))
            continue;
        chart_widen(x, s->x[i]);
        if (s->mark == CHART_BOX)
            continue;
        chart_widen(y, s->y[i]);
        if (has_second_x(s))
            chart_widen(x, s->x2[i]);
        if (has_second_y(s))
            chart_widen(y, s->y2[i]);
        if (s->mark == CHART_BARS)
            chart_widen(y, 0);
        if (s->mark == CHART_SPANS) {
            chart_widen(y, s->y[i] - 0.5);
            chart_widen(y, s->y[i] + 0.5);
        }
    }
}

/* Returns 1, 2 or 5 times a power of ten, so that at most `wanted` steps cover the span. */
static double chart_round_step(double span, int wanted)
{
    double raw = span / wanted, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 5.0001 ? 5 : 10);
}

/* Steps of time that people know, in seconds. */
static const double time_steps[] = {1,    2,     5,     10,    30,     60,     120,     300,     600,     1800,    3600,
                                    7200, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000};

static double chart_time_step(double span_ms, int wanted)
{
    for (size_t i = 0; i < sizeof time_steps / sizeof *time_steps; i++)
        if (span_ms / 1e3 / time_steps[i] <= wanted)
            return time_steps[i] * 1e3;
    return chart_round_step(span_ms, wanted);
}

/* Widens the limits of a logarithmic axis a little. False: they are not finite, or not above 0. */
static bool round_log_limits(struct chart_scale *s)
{
    double room = 0.04 * fmax(log10(s->high / s->low), 0.2);
    s->low /= pow(10, room);
    s->high *= pow(10, room);
    if (!(s->low < s->high))
        s->high = s->low * 10;
    return isfinite(s->high) && s->low > 0;
}

/* Limits that can be drawn: never empty. */
static bool round_limits(struct chart_scale *s, bool is_across, int wanted)
{
    if (s->axis->count) {
        s->low = -0.5;
        s->high = (double)s->axis->count - 0.5;
        return true;
    }
    if (s->low > s->high)
        return false;
    if (s->axis->nines) {
        s->low = fmin(s->low, 0);
        s->high = fmax(s->high, 0.99);
        return true;
    }
    if (s->axis->log)
        return round_log_limits(s);
    if (s->axis->zero) {
        s->low = fmin(s->low, 0);
        s->high = fmax(s->high, 0);
    }
    if (!(s->high - s->low > fabs(s->high) * 1e-12)) {
        double room = s->axis->time ? 30e3 : s->high == 0 ? 1 : fabs(s->high) * 0.1;
        s->low -= s->axis->zero && s->low == 0 ? 0 : room;
        s->high += room;
    }
    if (is_across) { /* values fill the width */
        double room = (s->high - s->low) * 0.02;
        s->low -= s->axis->zero && s->low == 0 ? 0 : room;
        s->high += room;
        return isfinite(s->high - s->low);
    }
    double step = chart_round_step(s->high - s->low, wanted);
    s->low = floor(s->low / step + 1e-9) * step;
    s->high = ceil(s->high / step - 1e-9) * step;
    return isfinite(s->high - s->low) && s->high > s->low;
}

bool chart_scales(const struct chart *c, int x_ticks, int y_ticks, struct chart_scale *ret_x, struct chart_scale *ret_y)
{
    *ret_x = (struct chart_scale){.axis = &c->x, .low = INFINITY, .high = -INFINITY};
    *ret_y = (struct chart_scale){.axis = &c->y, .low = INFINITY, .high = -INFINITY};
    for (size_t k = 0; k < c->count; k++)
        widen_by_series(c, &c->series[k], ret_x, ret_y);
    bool any = c->x.count ? ret_y->low <= ret_y->high || c->y.count : ret_x->low <= ret_x->high;
    for (size_t i = 0; any && i < c->guide_count; i++) {
        const struct chart_guide *g = &c->guides[i];
        if (g->kind == CHART_REFERENCE || g->kind == CHART_RANGE)
            chart_widen(ret_y, g->at);
        if (g->kind == CHART_RANGE)
            chart_widen(ret_y, g->to);
        if (g->kind == CHART_PHASE) {
            chart_widen(ret_x, g->at);
            chart_widen(ret_x, g->to);
        }
    }
    return any && round_limits(ret_x, true, x_ticks) && round_limits(ret_y, false, y_ticks);
}

/* ---- ticks ---- */

static void add_tick(const struct chart_scale *s, struct chart_ticks *t, double v)
{
    double room = (s->high - s->low) * 1e-9;
    if (t->n < sizeof t->at / sizeof *t->at && v >= s->low - fabs(room) && v <= s->high + fabs(room))
        t->at[t->n++] = v;
}

/* Adds about `wanted` ticks at round values of a logarithmic axis; nearly linear steps where it
 * spans little. */
static void log_ticks(const struct chart_scale *s, int wanted, struct chart_ticks *t)
{
    double base = s->axis->two ? 2 : 10, span = (log(s->high) - log(s->low)) / log(base);
    int first = (int)floor(log(s->low) / log(base) + 1e-9), last = (int)ceil(log(s->high) / log(base) - 1e-9);
    int every = 1 + (int)(span / (wanted + 1));
    static const double parts[][9] = {{1, 1.5, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}};
    size_t which = s->axis->two ? 4 : span < 0.5 ? 0 : span < 1.1 ? 1 : span < 2.1 ? 2 : span < 3.1 ? 3 : 4;
    if (!s->axis->two && span < 0.3) { /* hardly a logarithm: even steps are read more easily */
        double step = chart_round_step(s->high - s->low, wanted);
        for (double v = ceil(s->low / step) * step; v <= s->high; v += step)
            add_tick(s, t, v);
        return;
    }
    for (int i = first; i <= last; i += every)
        for (size_t k = 0; k < 9 && parts[which][k] > 0; k++)
            add_tick(s, t, parts[which][k] * pow(base, i));
}

void chart_scale_ticks(const struct chart_scale *s, int wanted, struct chart_ticks *ret)
{
    static const double quantiles[] = {0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999};
    *ret = (struct chart_ticks){.n = 0};
    if (s->axis->count) {
        size_t every = 1 + (s->axis->count - 1) / (sizeof ret->at / sizeof *ret->at);
        for (size_t i = 0; i < s->axis->count; i += every)
            add_tick(s, ret, (double)i);
    } else if (s->axis->nines) {
        for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
            add_tick(s, ret, quantiles[i]);
    } else if (s->axis->log) {
        log_ticks(s, wanted, ret);
    } else if (s->axis->time) {
        ret->step = chart_time_step(s->high - s->low, wanted);
        for (double v = ceil(s->low / ret->step) * ret->step; v <= s->high && ret->n < 64; v += ret->step)
            add_tick(s, ret, v);
    } else {
        ret->step = chart_round_step(s->high - s->low, wanted);
        double first = ceil(s->low / ret->step - 1e-9) * ret->step;
        int steps = (int)floor((s->high - first) / ret->step + 1e-9);
        for (int i = 0; i <= steps && i < 64; i++)
            add_tick(s, ret, first + i * ret->step);
    }
}

/* Appends the time as UTC, as exact as the distance of the ticks (milliseconds) requires. */
static void time_text(double ms, double step_ms, struct buf *to)
{
    time_t seconds = (time_t)(ms / 1e3);
    struct tm tm;
    char text[40];
    size_t n = 0;
    if (!gmtime_r(&seconds, &tm))
        return;
    if (step_ms >= 28 * 86400e3)
        n = strftime(text, sizeof text, "%b %Y", &tm);
    else if (step_ms >= 86400e3)
        n = strftime(text, sizeof text, "%-d %b", &tm);
    else if (step_ms >= 60e3)
        n = strftime(text, sizeof text, "%-d %b %H:%M", &tm);
    else
        n = strftime(text, sizeof text, "%H:%M:%S", &tm);
    buf_add(to, text, n);
}

/* Appends a count of powers of two as people write it: 4096 -> 4 Ki. */
static void binary_text(double v, struct buf *to)
{
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t i = 0;
    for (; v >= 1024 && fmod(v, 1024) == 0 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
        v /= 1024;
    buf_printf(to, "%.6g%s%s", v, i ? " " : "", prefixes[i]);
}

void chart_tick_text(const struct chart_scale *s, const struct chart_ticks *ticks, double v, size_t max, struct buf *to)
{
    if (s->axis->count)
        buf_plain(to, str_of(s->axis->names[(size_t)fmin(fmax(v, 0), (double)s->axis->count - 1)]), max);
    else if (s->axis->time)
        time_text(v, ticks->step, to);
    else if (s->axis->nines)
        buf_printf(to, "%.6g %%", v * 100);
    else if (s->axis->two)
        binary_text(v, to);
    else if (s->axis->log && (v >= 1e6 || v < 1e-4))
        buf_printf(to, "%.3g", v);
    else
        buf_printf(to, "%.6g", fabs(v) < fabs(s->high - s->low) * 1e-9 && !s->axis->log ? 0 : v);
}

/* ---- lines of many points ---- */

struct path_place { /* points in one place */
    double place, first, last, min, max, x;
    bool min_first; /* the minimum came before the maximum */
    bool any;
};

static void path_add(struct chart_path *p, double x, double y)
{
    p->x[p->n] = x;
    p->y[p->n++] = y;
}

/* Adds the points of one place as at most four: first, minimum and maximum in their order, and
 * last. The line drawn through them is the same. */
static void path_flush(struct chart_path *p, struct path_place *at)
{
    if (!at->any)
        return;
    path_add(p, at->x, at->first);
    if (at->min != at->max) {
        double one = at->min_first ? at->min : at->max, other = at->min_first ? at->max : at->min;
        if (one != at->first)
            path_add(p, at->x, one);
        if (other != at->last)
            path_add(p, at->x, other);
        path_add(p, at->x, at->last);
    }
    at->any = false;
}

bool chart_path_of(const struct chart *c, const struct chart_series *s, const double *y, const struct chart_scale *sx,
                   const struct chart_scale *sy, size_t places, struct chart_path *ret)
{
    struct path_place at = {.any = false};
    bool many = s->n > 4 * places;
    double width = fabs(sx->to - sx->from) / (double)places;
    *ret = (struct chart_path){.x = malloc((5 * s->n + 5) * sizeof(double)), .y = malloc((5 * s->n + 5) * sizeof(double))};
    if (!ret->x || !ret->y) {
        chart_path_deinit(ret);
        return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(c, s, i)) {
            path_flush(ret, &at);
            if (ret->n && !isnan(ret->x[ret->n - 1]))
                path_add(ret, NAN, NAN);
            continue;
        }
        double px = chart_scale_position(sx, s->x[i]), py = chart_scale_position(sy, y[i]), place = floor((px - sx->from) / width);
        if (!many) {
            path_add(ret, px, py);
            continue;
        }
        if (at.any && place != at.place)
            path_flush(ret, &at);
        if (!at.any)
            at = (struct path_place){place, py, py, py, py, px, true, true};
        at.last = py;
        if (py < at.min)
            at.min = py, at.min_first = false;
        if (py > at.max)
            at.max = py, at.min_first = true;
    }
    path_flush(ret, &at);
    return true;
}

void chart_path_deinit(struct chart_path *path)
{
    free(path->x);
    free(path->y);
    *path = (struct chart_path){0};
}

bool chart_box_of(const struct chart *c, const struct chart_series *s, struct chart_box *ret)
{
    double *v = malloc((s->n + 1) * sizeof *v);
    struct stats stats;
    size_t n = 0;
    for (size_t i = 0; v && i < s->n; i++)
        if (chart_is_drawable(&c->x, s->x[i]))
            v[n++] = s->x[i];
    if (!n) {
        free(v);
        return false;
    }
    stats_of(v, n, &stats);
    *ret = (struct chart_box){stats.median, stats_quantile(v, n, 0.25), stats_quantile(v, n, 0.75), stats.max, stats.min, n};
    double reach = 1.5 * (ret->high - ret->low);
    for (size_t i = 0; i < n; i++) {
        if (v[i] >= ret->low - reach)
            ret->from = fmin(ret->from, v[i]);
        if (v[i] <= ret->high + reach)
            ret->to = fmax(ret->to, v[i]);
    }
    free(v);
    return true;
}
