/* svg.c: charts as SVG: axes with round ticks, marks, a legend; see svg.h. */
#include "base/svg.h"

#include <math.h>

enum { WIDTH = 760, HEIGHT = 430, LEFT = 74, RIGHT = 18, TOP = 58, BOTTOM = 50, COLOURS = 7, TICKS_WANTED = 7, LEGEND_STEP = 17 };

/* Okabe and Ito's colours, which colour-blind readers can distinguish. */
static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};

/* One direction of the drawing: values low … high are drawn at pixels from … to. */
struct scale {
    double low, high, from, to;
    bool log;
};

static void svg_add_text(struct buf *to, const char *text)
{
    struct buf clean CLEANUP_BUF;
    buf_init(&clean, 4096);
    buf_utf8(&clean, str_sub(str_of(text), 0, 1000));
    for (size_t i = 0; i < clean.n; i++)
        switch (clean.p[i]) {
        case '<': buf_puts(to, "&lt;"); break;
        case '>': buf_puts(to, "&gt;"); break;
        case '&': buf_puts(to, "&amp;"); break;
        case '"': buf_puts(to, "&quot;"); break;
        default: buf_putc(to, (unsigned char)clean.p[i] < ' ' ? ' ' : clean.p[i]);
        }
}

static void svg_text_at(struct buf *to, const char *class, double x, double y, const char *anchor, const char *text)
{
    buf_printf(to, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y, anchor);
    svg_add_text(to, text);
    buf_puts(to, "</text>\n");
}

static bool is_drawable(const struct scale *s, double v)
{
    return isfinite(v) && (!s->log || v > 0);
}

static double scale_position(const struct scale *s, double v)
{
    double low = s->log ? log10(s->low) : s->low, high = s->log ? log10(s->high) : s->high, at = s->log ? log10(v) : v;
    return s->from + (at - low) / (high - low) * (s->to - s->from);
}

static void scale_widen(struct scale *s, double v)
{
    if (!is_drawable(s, v))
        return;
    s->low = fmin(s->low, v);
    s->high = fmax(s->high, v);
}

/* 1, 2 or 5 times a power of ten, so that `wanted` steps cover the span or a few less. */
static double round_step(double span, int wanted)
{
    double raw = span / wanted, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* Limits that can be drawn: never empty, ending at round values. false: there was no value at all. */
static bool scale_round_limits(struct scale *s, const struct svg_axis *axis)
{
    if (s->low > s->high)
        return false;
    if (s->log) {
        s->low = pow(10, floor(log10(s->low)));
        s->high = pow(10, ceil(log10(s->high)));
        if (!(s->low < s->high))
            s->high = s->low * 10;
        return isfinite(s->high) && s->low > 0;
    }
    if (axis->zero) {
        s->low = fmin(s->low, 0);
        s->high = fmax(s->high, 0);
    }
    if (!(s->high - s->low > fabs(s->high) * 1e-12)) {
        double room = s->high == 0 ? 1 : fabs(s->high) * 0.1;
        s->low -= axis->zero && s->low == 0 ? 0 : room;
        s->high += room;
    }
    double step = round_step(s->high - s->low, TICKS_WANTED);
    s->low = floor(s->low / step + 1e-9) * step;
    s->high = ceil(s->high / step - 1e-9) * step;
    return isfinite(s->high - s->low);
}

static void svg_tick(struct buf *to, const struct scale *s, double v, bool across)
{
    double at = scale_position(s, v);
    struct buf label CLEANUP_BUF;
    buf_init(&label, 64);
    buf_printf(&label, "%.6g", fabs(v) < (s->high - s->low) * 1e-9 && !s->log ? 0 : v);
    if (across) {
        buf_printf(to, "<line class=\"g\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", at, TOP, at, HEIGHT - BOTTOM);
        svg_text_at(to, "t", at, HEIGHT - BOTTOM + 17, "middle", label.p ? label.p : "");
    } else {
        buf_printf(to, "<line class=\"g\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT, at, WIDTH - RIGHT, at);
        svg_text_at(to, "t", LEFT - 7, at + 4, "end", label.p ? label.p : "");
    }
}

static void svg_ticks(struct buf *to, const struct scale *s, bool across)
{
    if (!s->log) {
        double step = round_step(s->high - s->low, TICKS_WANTED);
        int steps = (int)lround((s->high - s->low) / step);
        for (int i = 0; i <= steps; i++)
            svg_tick(to, s, s->low + i * step, across);
        return;
    }
    int first = (int)lround(log10(s->low)), last = (int)lround(log10(s->high)), every = 1 + (last - first) / 10;
    for (int i = first; i <= last; i += every) {
        svg_tick(to, s, pow(10, i), across);
        for (int part = 2; last - first <= 2 && i < last && part <= 5; part += 3)
            svg_tick(to, s, part * pow(10, i), across);
    }
}

struct plot {
    struct scale x, y;
};

static bool has_ends(const struct svg_series *s)
{
    return s->mark == SVG_STEPS || s->mark == SVG_BARS || s->mark == SVG_SPANS;
}

static bool is_point_drawable(const struct plot *p, const struct svg_series *s, size_t i)
{
    return is_drawable(&p->x, s->x[i]) && is_drawable(&p->y, s->y[i]) && (!has_ends(s) || is_drawable(&p->x, s->x2[i]));
}

/* The last step of a piece goes on to its end. */
static void end_step(struct buf *to, const struct plot *p, const struct svg_series *s, size_t i)
{
    if (s->mark == SVG_STEPS)
        buf_printf(to, "H%.1f", scale_position(&p->x, s->x2[i]));
}

static void draw_line(struct buf *to, const struct plot *p, const struct svg_series *s)
{
    bool open = false;
    double last_x = NAN, last_y = NAN;
    buf_puts(to, "<path class=\"l\" d=\"");
    for (size_t i = 0; i < s->n; i++) {
        if (!is_point_drawable(p, s, i)) {
            if (open)
                end_step(to, p, s, i - 1);
            open = false;
            continue;
        }
        double x = scale_position(&p->x, s->x[i]), y = scale_position(&p->y, s->y[i]);
        if (open && fabs(x - last_x) < 0.3 && fabs(y - last_y) < 0.3)
            continue;
        if (open && s->mark == SVG_STEPS)
            buf_printf(to, "H%.1f", x);
        buf_printf(to, "%c%.1f %.1f", open ? 'L' : 'M', x, y);
        last_x = x, last_y = y, open = true;
    }
    if (open)
        end_step(to, p, s, s->n - 1);
    buf_puts(to, "\"/>\n");
}

static void draw_points(struct buf *to, const struct plot *p, const struct svg_series *s)
{
    double last_x = NAN, last_y = NAN;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_point_drawable(p, s, i))
            continue;
        double x = scale_position(&p->x, s->x[i]), y = scale_position(&p->y, s->y[i]);
        if (fabs(x - last_x) < 0.3 && fabs(y - last_y) < 0.3)
            continue;
        buf_printf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", x, y, s->n > 500 ? "1.5" : "3");
        last_x = x, last_y = y;
    }
}

static void draw_wide(struct buf *to, const struct plot *p, const struct svg_series *s)
{
    double lane = fabs(scale_position(&p->y, p->y.low) - p->y.to) / (p->y.high - p->y.low), last_x = NAN, last_y = NAN;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_point_drawable(p, s, i))
            continue;
        double x = scale_position(&p->x, s->x[i]), x2 = scale_position(&p->x, s->x2[i]), y = scale_position(&p->y, s->y[i]),
               high = p->y.from - y;
        if (s->mark == SVG_SPANS) {
            high = fmax(lane * 0.8, 0.5);
            y -= high / 2;
            if (fabs(x - last_x) < 0.1 && fabs(y - last_y) < 0.1 && x2 - x < 0.3)
                continue;
        }
        buf_printf(to, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\"/>\n", x, y, fmax(x2 - x, 0.3), fmax(high, 0));
        last_x = x, last_y = y;
    }
}

static void svg_draw_series(struct buf *to, const struct plot *p, const struct svg_series *s, size_t index)
{
    bool wide = s->mark == SVG_BARS || s->mark == SVG_SPANS, line = s->mark == SVG_LINE || s->mark == SVG_STEPS;
    buf_printf(to, "<g %s=\"%s\"%s>\n", line ? "stroke" : "fill", colours[index % COLOURS], wide ? " fill-opacity=\"0.75\"" : "");
    if (line)
        draw_line(to, p, s);
    else if (wide)
        draw_wide(to, p, s);
    else
        draw_points(to, p, s);
    buf_puts(to, "</g>\n");
}

static void svg_legend(struct buf *to, const struct svg_chart *c)
{
    int row = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->series[i].name)
            continue;
        int y = TOP + 14 + LEGEND_STEP * row++;
        buf_printf(to, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"8\" fill=\"%s\"/>\n", WIDTH - RIGHT - 18, y - 8,
                   colours[i % COLOURS]);
        svg_text_at(to, "t", WIDTH - RIGHT - 24, y, "end", c->series[i].name);
    }
}

static bool span_of(struct plot *p, const struct svg_chart *c)
{
    for (size_t k = 0; k < c->count; k++) {
        const struct svg_series *s = &c->series[k];
        for (size_t i = 0; i < s->n; i++) {
            if (!is_point_drawable(p, s, i))
                continue;
            scale_widen(&p->x, s->x[i]);
            if (has_ends(s))
                scale_widen(&p->x, s->x2[i]);
            scale_widen(&p->y, s->mark == SVG_SPANS ? s->y[i] - 0.5 : s->y[i]);
            if (s->mark == SVG_SPANS)
                scale_widen(&p->y, s->y[i] + 0.5);
            if (s->mark == SVG_BARS)
                scale_widen(&p->y, 0);
        }
    }
    return scale_round_limits(&p->x, &c->x) && scale_round_limits(&p->y, &c->y);
}

static void open_document(struct buf *to, const struct svg_chart *c)
{
    buf_printf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>", WIDTH, HEIGHT,
               WIDTH, HEIGHT);
    svg_add_text(to, c->title);
    buf_puts(
        to,
        "</title>\n<style>\n"
        "text{font-family:system-ui,sans-serif;fill:#222}.h{font-size:16px;font-weight:600}.n{font-size:11px;fill:#666}.t{font-size:11px}\n"
        ".g{stroke:#888;stroke-opacity:.25}.l{fill:none;stroke-width:1.8;stroke-linejoin:round}.b{fill:#fff}\n"
        "@media (prefers-color-scheme:dark){.b{fill:#16181c}text{fill:#ddd}.n{fill:#999}}\n</style>\n");
    buf_printf(to, "<rect class=\"b\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    svg_text_at(to, "h", LEFT, 24, "start", c->title);
    if (c->note)
        svg_text_at(to, "n", LEFT, 42, "start", c->note);
}

void svg_write_chart(struct buf *to, const struct svg_chart *c)
{
    struct plot p = {.x = {INFINITY, -INFINITY, LEFT, WIDTH - RIGHT, c->x.log}, .y = {INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP, c->y.log}};
    open_document(to, c);
    if (!span_of(&p, c))
        svg_text_at(to, "t", WIDTH / 2.0, HEIGHT / 2.0, "middle", "no values");
    else {
        svg_ticks(to, &p.x, true);
        svg_ticks(to, &p.y, false);
        for (size_t i = 0; i < c->count; i++)
            svg_draw_series(to, &p, &c->series[i], i);
        svg_legend(to, c);
    }
    svg_text_at(to, "t", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", c->x.label);
    buf_printf(to, "<g transform=\"translate(16 %.1f) rotate(-90)\">", (TOP + HEIGHT - BOTTOM) / 2.0);
    svg_text_at(to, "t", 0, 0, "middle", c->y.label);
    buf_puts(to, "</g>\n</svg>\n");
}
