/* chart_text.c: charts in characters; see chart_text.h. */
#include "plot/chart_text.h"
#include "base/show.h"
#include "plot/chart_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 100, NARROWEST = 40, ROWS = 15, NAME_MAX = 26, MARKS = 7, DOTS_X = 2, DOTS_Y = 4, TICKS_X = 6, TICKS_Y = 5 };

static const char *const marks[MARKS] = {"●", "■", "▲", "◆", "▼", "✕", "○"};

/* Places for characters. Lines are dots of braille characters, 2 by 4 in each place. */
struct text_canvas {
    size_t w, h;
    unsigned char *dots; /* [w * h] */
    const char **glyphs; /* [w * h]; NULL: the dots */
    const char **fills; /* [w * h]: areas, behind both */
};

struct text_drawing {
    struct buf *to;
    const struct chart *c;
    const struct screen *screen;
    struct chart_scale x, y;
    struct chart_ticks x_ticks, y_ticks;
    struct text_canvas canvas;
    size_t left, width; /* columns of the left texts, and of the canvas */
};

/* ---- canvas ---- */

/* Allocates a canvas of w by h characters. False: out of memory; the caller calls canvas_free in
 * both cases. */
static bool canvas_make(struct text_canvas *k, size_t w, size_t h)
{
    *k = (struct text_canvas){
        .w = w, .h = h, .dots = calloc(w * h, 1), .glyphs = calloc(w * h, sizeof *k->glyphs), .fills = calloc(w * h, sizeof *k->fills)};
    return k->dots && k->glyphs && k->fills;
}

static void canvas_free(struct text_canvas *k)
{
    free(k->dots);
    free(k->glyphs);
    free(k->fills);
}

static void canvas_glyph(struct text_canvas *k, double x, double y, const char *glyph)
{
    if (x > -0.5 && y > -0.5 && x < (double)k->w && y < (double)k->h)
        k->glyphs[(size_t)fmin(fmax(y, 0), (double)k->h - 1) * k->w + (size_t)fmin(fmax(x, 0), (double)k->w - 1)] = glyph;
}

/* Sets one dot; x and y count dots. */
static void canvas_dot(struct text_canvas *k, long x, long y)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    if (x < 0 || y < 0 || x >= (long)(k->w * DOTS_X) || y >= (long)(k->h * DOTS_Y))
        return;
    k->dots[(size_t)(y / DOTS_Y) * k->w + (size_t)(x / DOTS_X)] |= bits[y % DOTS_Y][x % DOTS_X];
}

/* Sets the dots of a line between two points; of a dashed one, two of four. */
static void canvas_line(struct text_canvas *k, double x, double y, double x2, double y2, bool dashed)
{
    long steps = (long)ceil(fmax(fabs(x2 - x), fabs(y2 - y)));
    for (long i = 0; i <= steps; i++) {
        double part = steps ? (double)i / (double)steps : 0;
        if (!dashed || i % 4 < 2)
            canvas_dot(k, lround(x + (x2 - x) * part), lround(y + (y2 - y) * part));
    }
}

/* Writes a row of the canvas without blanks at its end. A glyph covers dots, and dots cover a
 * fill. */
static void canvas_put_row(const struct text_canvas *k, size_t row, struct buf *to)
{
    size_t end = k->w;
    while (end > 0 && !k->dots[row * k->w + end - 1] && !k->glyphs[row * k->w + end - 1] && !k->fills[row * k->w + end - 1])
        end--;
    for (size_t i = 0; i < end; i++) {
        const char *glyph = k->glyphs[row * k->w + i];
        unsigned char dots = k->dots[row * k->w + i];
        if (glyph)
            buf_puts(to, glyph);
        else if (dots) {
            const char braille[] = {(char)0xe2, (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f))};
            buf_add(to, braille, sizeof braille);
        } else
            buf_puts(to, k->fills[row * k->w + i] ? k->fills[row * k->w + i] : " ");
    }
}

/* ---- parts ---- */

/* Appends the text, made harmless and wrapped, with a line end. NULL or "": nothing. */
static void text_plain_line(struct text_drawing *d, enum style style, const char *text)
{
    CLEANUP_BUF struct buf plain, wrapped;
    buf_init(&plain, 16 << 10);
    buf_init(&wrapped, 32 << 10);
    if (!text || !*text)
        return;
    buf_plain(&plain, str_of(text), 1000);
    screen_wrap(d->screen, buf_text(&plain), 0, 0, &wrapped);
    screen_puts(d->screen, style, wrapped.p ? wrapped.p : "", d->to);
    buf_putc(d->to, '\n');
}

static void text_right(struct buf *to, struct str text, size_t width)
{
    size_t own = screen_text_width(text);
    screen_fill(to, own < width ? width - own : 0);
    buf_str(to, text);
}

/* Returns how many columns the longest text at the y axis needs. */
static size_t widest_y_text(struct text_drawing *d)
{
    size_t widest = 0;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < d->y_ticks.n; i++) {
        buf_clear(&b);
        chart_tick_text(&d->y, &d->y_ticks, d->y_ticks.at[i], NAME_MAX, &b);
        size_t own = screen_text_width(buf_text(&b));
        widest = own > widest ? own : widest;
    }
    return widest;
}

/* Draws the line of the axis, and the ticks below it where they do not touch. */
static void text_x_axis(struct text_drawing *d)
{
    CLEANUP_BUF struct buf line, b;
    size_t used = 0;
    buf_init(&line, 4096);
    buf_init(&b, 4096);
    screen_fill(d->to, d->left);
    buf_puts(d->to, d->c->y.count ? " " : "└");
    for (size_t i = 0; i < d->width; i++)
        buf_puts(d->to, "─");
    buf_putc(d->to, '\n');
    for (size_t i = 0; i < d->x_ticks.n; i++) {
        buf_clear(&b);
        chart_tick_text(&d->x, &d->x_ticks, d->x_ticks.at[i], 12, &b);
        size_t own = screen_text_width(buf_text(&b)),
               middle = d->left + 1 + (size_t)lround(fmax(chart_scale_position(&d->x, d->x_ticks.at[i]), 0));
        size_t at = middle > own / 2 ? middle - own / 2 : 0;
        if (at + own > d->left + d->width + 1)
            at = d->left + d->width + 1 > own ? d->left + d->width + 1 - own : 0;
        if (used && at < used + 1)
            continue;
        screen_fill(&line, at - used);
        buf_str(&line, buf_text(&b));
        used = at + own;
    }
    buf_str(d->to, buf_text(&line));
    buf_putc(d->to, '\n');
    buf_clear(&b);
    chart_axis_text(&d->c->x, &b);
    if (!b.n)
        return;
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 4096);
    buf_plain(&plain, buf_text(&b), 90);
    size_t own = screen_text_width(buf_text(&plain)), middle = d->left + 1 + d->width / 2;
    screen_fill(d->to, middle > own / 2 ? middle - own / 2 : 0);
    buf_str(d->to, buf_text(&plain));
    buf_putc(d->to, '\n');
}

/* Appends the rows of the canvas, with the y axis before them. */
static void text_canvas_rows(struct text_drawing *d)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    for (size_t row = 0; row < d->canvas.h; row++) {
        buf_clear(&b);
        for (size_t i = 0; i < d->y_ticks.n && !b.n; i++)
            if ((size_t)lround(fmin(chart_scale_position(&d->y, d->y_ticks.at[i]), (double)d->canvas.h - 1)) == row)
                chart_tick_text(&d->y, &d->y_ticks, d->y_ticks.at[i], NAME_MAX, &b);
        text_right(d->to, buf_text(&b), d->left);
        buf_puts(d->to, b.n ? "┤" : "│");
        canvas_put_row(&d->canvas, row, d->to);
        buf_putc(d->to, '\n');
    }
}

/* Appends the names of the series with their marks; nothing where none has a name. */
static void text_legend(struct text_drawing *d)
{
    CLEANUP_BUF struct buf line, plain;
    buf_init(&line, 16 << 10);
    buf_init(&plain, 4096);
    for (size_t i = 0; i < d->c->count; i++) {
        const struct chart_series *s = &d->c->series[i];
        if (!s->name || s->mark == CHART_BOX)
            continue;
        size_t like = s->like > 0 ? (size_t)s->like - 1 : i;
        buf_clear(&plain);
        buf_plain(&plain, str_of(s->name), 60);
        buf_printf(&line, "%s%s %s", line.n ? "   " : "",
                   s->mark == CHART_IDEAL   ? "⠒⠒"
                   : s->mark == CHART_BARS  ? "█"
                   : s->mark == CHART_SPANS ? "⠒"
                   : s->mark == CHART_BAND  ? "░"
                                            : marks[like % MARKS],
                   plain.p ? plain.p : "");
    }
    if (line.n)
        text_plain_line(d, STYLE_PLAIN, line.p);
}

/* ---- lines and points ---- */

static double canvas_dot_x(const struct text_drawing *d, double v)
{
    return chart_scale_position(&d->x, v) * DOTS_X + 0.5;
}
static double canvas_dot_y(const struct text_drawing *d, double v)
{
    return chart_scale_position(&d->y, v) * DOTS_Y + 1.5;
}

/* Draws the series as lines of dots. A point that cannot be drawn interrupts the line. */
static void text_line_of(struct text_drawing *d, const struct chart_series *s)
{
    double last_x = NAN, last_y = NAN;
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(d->c, s, i)) {
            last_x = NAN;
            continue;
        }
        double x = canvas_dot_x(d, s->x[i]), y = canvas_dot_y(d, s->y[i]);
        bool has_end = s->mark == CHART_STEPS || s->mark == CHART_SPANS;
        if (has_end)
            canvas_line(&d->canvas, x, y, canvas_dot_x(d, s->x2[i]), y, false);
        if (!isnan(last_x) && s->mark != CHART_SPANS)
            canvas_line(&d->canvas, last_x, last_y, x, y, s->mark == CHART_IDEAL);
        else
            canvas_dot(&d->canvas, lround(x), lround(y));
        last_x = has_end ? canvas_dot_x(d, s->x2[i]) : x;
        last_y = y;
    }
}

/* Marks on points; on the line of a series without marks a few, so that lines can be distinguished. */
static void text_marks_of(struct text_drawing *d, const struct chart_series *s, size_t index)
{
    const char *mark = s->muted ? "·" : marks[(s->like > 0 ? (size_t)s->like - 1 : index) % MARKS];
    bool all = s->mark == CHART_POINTS || s->mark == CHART_CURVE;
    size_t named = 0;
    for (size_t k = 0; k < d->c->count; k++)
        named += d->c->series[k].mark == CHART_LINE || d->c->series[k].mark == CHART_STEPS;
    if (!all && named < 2)
        return;
    size_t every = all ? 1 : s->n / 6 + 1;
    for (size_t i = all ? 0 : every / 2; i < s->n; i += every)
        if (chart_point_drawable(d->c, s, i))
            canvas_glyph(&d->canvas, round(chart_scale_position(&d->x, s->x[i])), round(chart_scale_position(&d->y, s->y[i])), mark);
}

/* Fills the cells from low to high in a column, as far as they are free in that list of the
 * canvas. */
static void text_column(struct text_drawing *d, const char **list, double x, double low, double high, const char *glyph)
{
    for (long row = lround(fmin(low, high)); row <= lround(fmax(low, high)); row++) {
        size_t at = (size_t)row * d->canvas.w + (size_t)fmax(x, 0);
        if (row >= 0 && (size_t)row < d->canvas.h && x >= 0 && x < (double)d->canvas.w && !list[at])
            list[at] = glyph;
    }
}

/* Draws whiskers at their points, and the area of a band also between them, but not over a gap. */
static void text_columns(struct text_drawing *d, const struct chart_series *s)
{
    double last_x = NAN, last_low = NAN, last_high = NAN;
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(d->c, s, i)) {
            last_x = NAN;
            continue;
        }
        double x = round(chart_scale_position(&d->x, s->x[i])), low = chart_scale_position(&d->y, s->y[i]),
               high = chart_scale_position(&d->y, s->y2[i]);
        text_column(d, s->mark == CHART_BAND ? d->canvas.fills : d->canvas.glyphs, x, low, high, s->mark == CHART_BAND ? "░" : "│");
        for (double at = last_x + 1; s->mark == CHART_BAND && at < x; at++) {
            double part = (at - last_x) / (x - last_x);
            text_column(d, d->canvas.fills, at, last_low + part * (low - last_low), last_high + part * (high - last_high), "░");
        }
        last_x = x, last_low = low, last_high = high;
    }
}

/* Draws phases, changes and marks as vertical lines, limits and ranges as horizontal ones. */
static void text_guides(struct text_drawing *d)
{
    for (size_t i = 0; i < d->c->guide_count; i++) {
        const struct chart_guide *g = &d->c->guides[i];
        bool is_upward = g->kind == CHART_PHASE || g->kind == CHART_CHANGE || g->kind == CHART_MARK;
        const struct chart_scale *s = is_upward ? &d->x : &d->y;
        if (!chart_is_drawable(s->axis, g->at) || (g->kind == CHART_RANGE && !chart_is_drawable(s->axis, g->to)))
            continue;
        double at = round(chart_scale_position(s, g->at)), to = g->kind == CHART_RANGE ? round(chart_scale_position(s, g->to)) : at;
        if (is_upward)
            for (size_t row = 0; row < d->canvas.h; row++)
                canvas_glyph(&d->canvas, at, (double)row, g->kind == CHART_CHANGE ? "┃" : "┊");
        for (size_t x = 0; !is_upward && x < d->canvas.w; x++)
            text_column(d, d->canvas.fills, (double)x, at, to, g->kind == CHART_RANGE ? "▒" : "╌");
    }
}

/* Writes what the guides are, below the chart. */
static void text_guide_words(struct text_drawing *d)
{
    CLEANUP_BUF struct buf b, at;
    buf_init(&b, 16 << 10);
    buf_init(&at, 100);
    for (size_t i = 0; i < d->c->guide_count; i++) {
        const struct chart_guide *g = &d->c->guides[i];
        if (!g->label)
            continue;
        buf_printf(&b, "%s%s ", b.n ? "   " : "",
                   g->kind == CHART_RANGE       ? "▒"
                   : g->kind == CHART_CHANGE    ? "┃"
                   : g->kind == CHART_REFERENCE ? "╌"
                                                : "┊");
        if (g->kind == CHART_PHASE || g->kind == CHART_MARK) {
            buf_clear(&at);
            chart_tick_text(&d->x, &d->x_ticks, g->at, 20, &at);
            buf_printf(&b, "%s ", at.p ? at.p : "");
        }
        buf_puts(&b, g->label);
    }
    text_plain_line(d, STYLE_DIM, b.p);
}

/* Draws bars in eighths of a character. Where several bars are in one column of the screen, the
 * highest one is drawn. */
static void text_bars_of(struct text_drawing *d, const struct chart_series *s)
{
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double bottom = (double)d->canvas.h;
    for (size_t x = 0; x < d->canvas.w; x++) {
        double top = NAN; /* the highest bar of this column */
        for (size_t i = 0; i < s->n; i++) {
            if (!chart_point_drawable(d->c, s, i) || chart_scale_position(&d->x, s->x[i]) >= (double)x + 1 ||
                chart_scale_position(&d->x, s->x2[i]) <= (double)x)
                continue;
            double y = (chart_scale_position(&d->y, s->y[i]) + 0.5) * bottom / (bottom - 0.5);
            top = isnan(top) ? y : fmin(top, y);
        }
        for (size_t row = 0; !isnan(top) && row < d->canvas.h; row++) {
            double part = (double)row + 1 - top;
            if (part > 0.06)
                canvas_glyph(&d->canvas, (double)x, (double)row, eighths[part >= 1 ? 8 : (size_t)fmax(1, floor(part * 8))]);
        }
    }
}

/* Draws axes and series on a canvas as wide as the screen, between NARROWEST and WIDEST columns,
 * with axis texts and legend. Out of memory: d->to has failed. */
static void text_xy(struct text_drawing *d)
{
    const struct chart *c = d->c;
    CLEANUP_BUF struct buf label;
    buf_init(&label, 4096);
    d->left = widest_y_text(d);
    d->width = (d->screen->width == SIZE_MAX || d->screen->width > WIDEST ? WIDEST
                : d->screen->width < NARROWEST                            ? NARROWEST
                                                                          : d->screen->width) -
               d->left - 2;
    d->x.from = 0, d->x.to = (double)d->width - 1;
    d->y.from = ROWS - 1, d->y.to = 0;
    if (!canvas_make(&d->canvas, d->width, ROWS)) {
        d->to->failed = true;
        canvas_free(&d->canvas);
        return;
    }
    text_guides(d);
    for (size_t i = 0; i < c->count; i++) {
        enum chart_mark mark = c->series[i].mark;
        if (mark == CHART_BARS)
            text_bars_of(d, &c->series[i]);
        else if (mark == CHART_BAND || mark == CHART_WHISKERS)
            text_columns(d, &c->series[i]);
        else if (mark == CHART_LINE || mark == CHART_CURVE || mark == CHART_STEPS || mark == CHART_SPANS || mark == CHART_IDEAL)
            text_line_of(d, &c->series[i]);
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->series[i].mark != CHART_BARS && c->series[i].mark != CHART_BAND && c->series[i].mark != CHART_WHISKERS &&
            c->series[i].mark != CHART_IDEAL && c->series[i].mark != CHART_SPANS)
            text_marks_of(d, &c->series[i], i);
    chart_axis_text(&c->y, &label);
    text_plain_line(d, STYLE_PLAIN, label.p);
    text_canvas_rows(d);
    text_x_axis(d);
    text_legend(d);
    text_guide_words(d);
    canvas_free(&d->canvas);
}

/* ---- boxes ---- */

/* Prints a row of a box plot: the name, then the values as a box with median and outliers, or "no
 * value". */
static void text_box_row(struct text_drawing *d, const struct chart_series *s)
{
    struct chart_box box;
    CLEANUP_BUF struct buf b;
    size_t lane = (size_t)fmax(s->n ? s->y[0] : 0, 0);
    buf_init(&b, 4096);
    chart_tick_text(&d->y, &d->y_ticks, (double)lane, NAME_MAX, &b);
    screen_puts(d->screen, STYLE_PLAIN, b.p ? b.p : "", d->to);
    size_t own = screen_text_width(buf_text(&b));
    screen_fill(d->to, d->left > own ? d->left - own : 0);
    buf_putc(d->to, ' ');
    if (!chart_box_of(d->c, s, &box) || !canvas_make(&d->canvas, d->width, 1)) {
        buf_puts(d->to, "no value\n");
        canvas_free(&d->canvas);
        d->canvas = (struct text_canvas){0};
        return;
    }
    if (box.n >= 3) {
        for (double x = round(chart_scale_position(&d->x, box.from)); x <= round(chart_scale_position(&d->x, box.to)); x++)
            canvas_glyph(&d->canvas, x, 0, "─");
        for (double x = round(chart_scale_position(&d->x, box.low)); x <= round(chart_scale_position(&d->x, box.high)); x++)
            canvas_glyph(&d->canvas, x, 0, "▒");
    }
    for (size_t i = 0; i < s->n; i++)
        if (chart_is_drawable(&d->c->x, s->x[i]) && (box.n < 3 || s->x[i] < box.from || s->x[i] > box.to))
            canvas_glyph(&d->canvas, round(chart_scale_position(&d->x, s->x[i])), 0, "•");
    canvas_glyph(&d->canvas, round(chart_scale_position(&d->x, box.median)), 0, "█");
    buf_clear(&b);
    canvas_put_row(&d->canvas, 0, &b);
    size_t used = screen_text_width(buf_text(&b));
    buf_str(d->to, buf_text(&b));
    screen_fill(d->to, d->width > used ? d->width - used : 0);
    buf_clear(&b);
    show_value(&b, box.median);
    text_right(d->to, buf_text(&b), 9);
    buf_printf(d->to, "  %zu\n", box.n);
    canvas_free(&d->canvas);
    d->canvas = (struct text_canvas){0};
}

/* Prints the values with labels in a line below: "outliers: node07 12.3, …" */
static void text_named_values(struct text_drawing *d)
{
    enum { NAMED_MOST = 12 };
    CLEANUP_BUF struct buf b;
    size_t n = 0;
    buf_init(&b, 16 << 10);
    for (size_t k = 0; k < d->c->count; k++) {
        const struct chart_series *s = &d->c->series[k];
        for (size_t i = 0; s->named && s->labels && i < s->n; i++) {
            if (!s->labels[i] || !chart_point_drawable(d->c, s, i) || n++ >= NAMED_MOST)
                continue;
            buf_printf(&b, "%s%s ", b.n ? "   " : "", s->labels[i]);
            show_value(&b, s->mark == CHART_BOX ? s->x[i] : s->y[i]);
        }
    }
    if (n > NAMED_MOST)
        buf_printf(&b, "   and %zu more", n - NAMED_MOST);
    text_plain_line(d, STYLE_PLAIN, b.p);
}

/* Draws a row for each box, from the topmost lane on, then the axis and the values with names. */
static void text_boxes(struct text_drawing *d)
{
    enum { MEDIAN_WIDTH = 18 };
    size_t screen = d->screen->width == SIZE_MAX || d->screen->width > WIDEST ? WIDEST
                    : d->screen->width < NARROWEST                            ? NARROWEST
                                                                              : d->screen->width;
    d->left = widest_y_text(d);
    d->width = screen > d->left + MEDIAN_WIDTH + 12 ? screen - d->left - MEDIAN_WIDTH : 12;
    d->x.from = 0, d->x.to = (double)d->width - 1;
    screen_fill(d->to, d->left + 1 + d->width);
    screen_puts(d->screen, STYLE_DIM, "   median  n", d->to);
    buf_putc(d->to, '\n');
    for (size_t lane = d->c->y.count; lane-- > 0;)
        for (size_t i = 0; i < d->c->count; i++)
            if (d->c->series[i].mark == CHART_BOX && d->c->series[i].n && (size_t)d->c->series[i].y[0] == lane)
                text_box_row(d, &d->c->series[i]);
    text_x_axis(d);
    text_named_values(d);
}

/* ---- cells ---- */

/* Draws a heat map as a table of values with a shade for each; "-": no value. */
static void text_cells(struct text_drawing *d)
{
    enum { CELL = 10 };
    const struct chart_series *s = &d->c->series[0];
    static const char *const shades[] = {"·", "░", "▒", "▓", "█"};
    double low = INFINITY, high = -INFINITY;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    d->left = widest_y_text(d);
    for (size_t i = 0; i < s->n; i++)
        if (chart_point_drawable(d->c, s, i)) {
            low = fmin(low, s->y2[i]);
            high = fmax(high, s->y2[i]);
        }
    chart_axis_text(&d->c->y, &b);
    if (b.n && d->c->x.label)
        buf_printf(&b, " over %s", d->c->x.label);
    buf_puts(&b, ": ");
    chart_axis_text(&d->c->shade, &b);
    text_plain_line(d, STYLE_PLAIN, b.p);
    for (size_t row = d->c->y.count; row-- > 0;) {
        buf_clear(&b);
        chart_tick_text(&d->y, &d->y_ticks, (double)row, NAME_MAX, &b);
        text_right(d->to, buf_text(&b), d->left);
        for (size_t column = 0; column < d->c->x.count; column++) {
            size_t at = SIZE_MAX;
            for (size_t i = 0; i < s->n; i++)
                if ((size_t)s->x[i] == column && (size_t)s->y[i] == row && chart_point_drawable(d->c, s, i))
                    at = i;
            buf_clear(&b);
            if (at != SIZE_MAX)
                show_value(&b, s->y2[at]);
            else
                buf_puts(&b, "-");
            double part = at == SIZE_MAX || !(high > low) ? 0 : (s->y2[at] - low) / (high - low);
            text_right(d->to, buf_text(&b), CELL - 2);
            buf_printf(d->to, " %s", at == SIZE_MAX ? " " : shades[(size_t)fmin(part * 5, 4)]);
        }
        buf_putc(d->to, '\n');
    }
    screen_fill(d->to, d->left);
    for (size_t column = 0; column < d->c->x.count; column++) {
        buf_clear(&b);
        chart_tick_text(&d->x, &d->x_ticks, (double)column, CELL - 2, &b);
        text_right(d->to, buf_text(&b), CELL - 2);
        screen_fill(d->to, 2);
    }
    buf_putc(d->to, '\n');
}

void chart_text(struct buf *to, const struct chart *c, const struct screen *screen)
{
    struct text_drawing d = {.to = to, .c = c, .screen = screen};
    CLEANUP_BUF struct buf left;
    buf_init(&left, 400);
    text_plain_line(&d, STYLE_MAIN, c->title);
    text_plain_line(&d, STYLE_DIM, c->note);
    if (!chart_scales(c, TICKS_X, TICKS_Y, &d.x, &d.y))
        text_plain_line(&d, STYLE_PLAIN, "no values");
    else {
        chart_scale_ticks(&d.x, TICKS_X, &d.x_ticks);
        chart_scale_ticks(&d.y, TICKS_Y, &d.y_ticks);
        if (c->count && c->series[0].mark == CHART_CELLS)
            text_cells(&d);
        else if (c->y.count)
            text_boxes(&d);
        else
            text_xy(&d);
    }
    chart_left_text(c, &left);
    text_plain_line(&d, STYLE_WARN, left.p);
}
