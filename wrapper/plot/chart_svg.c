/* chart_svg.c: charts as SVG; see chart_svg.h. */
#include "plot/chart_svg.h"
#include "base/html_out.h"
#include "base/show.h"
#include "plot/chart_svg_marks.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 760,
    HEIGHT = 400,
    TICKS_X = 8,
    TICKS_Y = 6,
    LANE = 34, /* height of a named place */
    LEGEND_LINE = 20,
    NAME_MAX = 34, /* characters of a name on an axis */
};

void chart_svg_style(struct buf *to)
{
    static const char *const light[CHART_SVG_COLOURS] = {"#0067a5", "#c94f00", "#00805a", "#a8458a", "#8a6100", "#3a7fc1", "#6b6b6b"};
    static const char *const dark[CHART_SVG_COLOURS] = {"#56b4f9", "#ff9447", "#2fcf9f", "#ec9ad0", "#edc14a", "#9fd3ff", "#b5b9be"};
    static const char *const dashes[CHART_SVG_COLOURS] = {"none", "7 3", "2 3", "9 3 2 3", "4 2", "1 4", "12 4"};
    buf_puts(
        to,
        ".chart text{font:11px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;fill:#24292f}.chart .h{font-size:15px;font-weight:600}"
        ".chart .n,.chart .q{fill:#57606a}.chart .g{stroke:#888;stroke-opacity:.22}.chart .l{fill:none;stroke-width:1.9;stroke-linejoin:round;"
        "stroke-linecap:round}.chart .w{fill:none;stroke-width:1.3;stroke-opacity:.75}.chart .bg{fill:#fff}.chart .band{fill-opacity:.14;stroke:none}"
        ".chart .bar{fill-opacity:.8}.chart .m{stroke:#fff;stroke-width:.8}.chart .dot{fill-opacity:.55;stroke:none}.chart .box{fill-opacity:.18;stroke-width:1.3}"
        ".chart .med{stroke-width:2.6}.chart .ideal{fill:none;stroke:#57606a;stroke-width:1.2;stroke-dasharray:5 4}.chart .range{fill:#1a7f37;fill-opacity:.10}"
        ".chart .ref{stroke:#1a7f37;stroke-width:1.3;stroke-dasharray:8 3}.chart .change{stroke:#b3261e;stroke-width:1.3;stroke-dasharray:3 3}"
        ".chart .changet{fill:#b3261e}.chart .phase{fill:#57606a;fill-opacity:.07}.chart .phases{stroke:#57606a;stroke-opacity:.4}"
        ".chart .muted{fill:#8b949e;stroke:#8b949e}.chart .none{fill:none;stroke:#888;stroke-opacity:.35}.chart .light{fill:#fff}.chart .black{fill:#111}\n");
    for (int i = 0; i < CHART_SVG_COLOURS; i++)
        buf_printf(to, ".chart .f%d{fill:%s}.chart .s%d{stroke:%s}.chart .d%d{stroke-dasharray:%s}", i, light[i], i, light[i], i,
                   dashes[i]);
    buf_puts(
        to,
        "\n@media (prefers-color-scheme:dark){.chart text{fill:#dfe3e8}.chart .n,.chart .q{fill:#9aa4ae}.chart .bg{fill:#16181c}.chart .m{stroke:#16181c}"
        ".chart .ideal{stroke:#9aa4ae}.chart .range{fill:#3fb950;fill-opacity:.13}.chart .ref{stroke:#3fb950}.chart .change{stroke:#ff8a80}"
        ".chart .changet{fill:#ff8a80}.chart .phase{fill:#c9d1d9;fill-opacity:.08}.chart .phases{stroke:#c9d1d9}.chart .light{fill:#fff}.chart .black{fill:#111}");
    for (int i = 0; i < CHART_SVG_COLOURS; i++)
        buf_printf(to, ".chart .f%d{fill:%s}.chart .s%d{stroke:%s}", i, dark[i], i, dark[i]);
    buf_puts(to, "}\n");
}

/* ---- legend ---- */

static bool has_legend_shade(const struct chart *c)
{
    return c->count && c->series[0].mark == CHART_CELLS;
}

/* Places legend entries in lines; with `to`, draws them. Returns the number of lines. */
static size_t svg_legend(struct chart_drawing *d, double top, bool draw)
{
    double x = d->left;
    size_t lines = 0;
    for (size_t i = 0; i < d->c->count; i++) {
        const struct chart_series *s = &d->c->series[i];
        if (!s->name || s->mark == CHART_BOX)
            continue;
        double w = 30 + fmin(chart_svg_width(s->name), 50 * chart_svg_char_width) + 16;
        if (!lines || x + w > WIDTH - CHART_SVG_RIGHT) {
            lines++;
            x = d->left;
        }
        double y = top + (double)(lines - 1) * LEGEND_LINE + 10;
        if (draw) {
            bool has_line = s->mark == CHART_LINE || s->mark == CHART_CURVE || s->mark == CHART_STEPS;
            if (has_line || s->mark == CHART_IDEAL) {
                buf_printf(d->to, "<path class=\"%s ", s->mark == CHART_IDEAL ? "ideal" : "l");
                if (has_line) {
                    chart_svg_class(d->to, s, i, 's');
                    if (!s->muted)
                        buf_printf(d->to, " d%zu", chart_svg_colour(s, i));
                }
                buf_printf(d->to, "\" d=\"M%.1f %.1fh24\"/>", x, y - 4);
            }
            if (s->mark == CHART_BARS || s->mark == CHART_SPANS || s->mark == CHART_BAND) {
                buf_printf(d->to, "<rect class=\"%s ", s->mark == CHART_BAND ? "band" : "bar");
                chart_svg_class(d->to, s, i, 'f');
                buf_printf(d->to, "\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"10\"/>", x, y - 9);
            }
            if (s->mark == CHART_POINTS || s->mark == CHART_CURVE) {
                buf_puts(d->to, "<path class=\"m ");
                chart_svg_class(d->to, s, i, 'f');
                buf_puts(d->to, "\" d=\"");
                chart_svg_mark(d->to, s->muted ? 0 : chart_svg_colour(s, i), x + 12, y - 4, 4);
                buf_puts(d->to, "\"/>");
            }
            chart_svg_text(d->to, NULL, x + 29, y, "start", s->name, 50);
        }
        x += w;
    }
    return lines;
}

/* Draws the scale of colours with its limits. Nothing is drawn where no cell has a value. */
static void svg_shade_legend(struct chart_drawing *d, double top)
{
    enum { BLOCKS = 24, BLOCK = 7 };
    const struct chart_series *s = &d->c->series[0];
    double low, high, x = d->left;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1000);
    if (!chart_svg_shade_limits(d->c, s, &low, &high))
        return;
    show_value(&text, low);
    chart_svg_text(d->to, NULL, x, top + 10, "start", text.p, 20);
    x += chart_svg_width(text.p) + 6;
    for (int i = 0; i < BLOCKS; i++, x += BLOCK) {
        char colour[8];
        chart_svg_shade((i + 0.5) / BLOCKS, colour);
        buf_printf(d->to, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"11\"/>\n", colour, x, top + 1, BLOCK + 0.3);
    }
    buf_clear(&text);
    show_value(&text, high);
    buf_puts(&text, "  ");
    chart_axis_text(&d->c->shade, &text);
    chart_svg_text(d->to, NULL, x + 6, top + 10, "start", text.p, 90);
}

/* ---- axes and guides ---- */

/* Draws the guides behind the series (behind: ranges and phases), or those over them (references,
 * changes, marks). Guides outside the axes are left out. */
static void svg_guides(struct chart_drawing *d, bool behind)
{
    size_t phases = 0;
    for (size_t i = 0; i < d->c->guide_count; i++) {
        const struct chart_guide *g = &d->c->guides[i];
        bool is_area = g->kind == CHART_RANGE || g->kind == CHART_PHASE,
             is_upward = g->kind == CHART_PHASE || g->kind == CHART_CHANGE || g->kind == CHART_MARK;
        const struct chart_scale *s = is_upward ? &d->x : &d->y;
        if (is_area != behind || !chart_is_drawable(s->axis, g->at) || (is_area && !chart_is_drawable(s->axis, g->to)))
            continue;
        double at = chart_scale_position(s, g->at), to = is_area ? chart_scale_position(s, g->to) : at;
        if (!is_upward && (fmax(at, to) < d->top - 1 || fmin(at, to) > d->bottom + 1))
            continue;
        if (g->kind == CHART_RANGE) {
            buf_printf(d->to, "<rect class=\"range\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", d->left, fmin(at, to),
                       d->right - d->left, fabs(to - at));
            if (g->label)
                chart_svg_text(d->to, "q", d->right - 4, fmin(at, to) + 12, "end", g->label, 60);
        } else if (g->kind == CHART_PHASE) {
            if (phases++ % 2 == 0)
                buf_printf(d->to, "<rect class=\"phase\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", at, d->top,
                           fmax(to - at, 0.5), d->bottom - d->top);
            buf_printf(d->to, "<path class=\"phases\" d=\"M%.1f %.1fV%.1f\"/>\n", at, d->top, d->bottom);
            if (g->label && to - at > 14)
                chart_svg_text(d->to, "q", at + 4, d->top + 12, "start", g->label, (size_t)fmax((to - at - 6) / chart_svg_char_width, 2));
        } else if (is_upward) {
            bool is_change = g->kind == CHART_CHANGE;
            buf_printf(d->to, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", is_change ? "change" : "ideal", at, d->top, d->bottom);
            if (g->label)
                chart_svg_text(d->to, is_change ? "changet" : "q", at + (at > d->right - 120 ? -4 : 4), d->top + 11,
                               at > d->right - 120 ? "end" : "start", g->label, 40);
        } else {
            buf_printf(d->to, "<path class=\"ref\" d=\"M%.1f %.1fH%.1f\"/>\n", d->left, at, d->right);
            if (g->label)
                chart_svg_text(d->to, "q", d->right - 4, at - 4, "end", g->label, 60);
        }
    }
}

/* Draws ticks with their lines and texts. A text on the x axis that would touch the one before it
 * is left out. */
static void svg_axes(struct chart_drawing *d)
{
    CLEANUP_BUF struct buf text;
    double last = -INFINITY;
    buf_init(&text, 2000);
    bool has_cells = has_legend_shade(d->c);
    for (size_t i = 0; i < d->x_ticks.n; i++) {
        double at = chart_scale_position(&d->x, d->x_ticks.at[i]);
        buf_clear(&text);
        chart_tick_text(&d->x, &d->x_ticks, d->x_ticks.at[i],
                        d->c->x.count ? (size_t)fmax((d->right - d->left) / (double)d->c->x.count / chart_svg_char_width - 1, 4) : NAME_MAX,
                        &text);
        if (!has_cells)
            buf_printf(d->to, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", at, d->top, d->bottom);
        double w = text.p ? chart_svg_width(text.p) : 0;
        if (!text.n || at - w / 2 < last + 4)
            continue;
        chart_svg_text(d->to, NULL, at, d->bottom + 16, "middle", text.p, NAME_MAX);
        last = at + w / 2;
    }
    for (size_t i = 0; i < d->y_ticks.n; i++) {
        double at = chart_scale_position(&d->y, d->y_ticks.at[i]);
        buf_clear(&text);
        chart_tick_text(&d->y, &d->y_ticks, d->y_ticks.at[i], NAME_MAX, &text);
        if (!has_cells && !d->c->y.count)
            buf_printf(d->to, "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/>\n", d->left, at, d->right);
        chart_svg_text(d->to, NULL, d->left - 7, at + 4, "end", text.p ? text.p : "", NAME_MAX);
    }
}

/* Draws what the axes show, with units. */
static void svg_axis_labels(struct chart_drawing *d)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 2000);
    chart_axis_text(&d->c->x, &text);
    chart_svg_text(d->to, NULL, (d->left + d->right) / 2, d->bottom + 36, "middle", text.p ? text.p : "", 110);
    buf_clear(&text);
    chart_axis_text(&d->c->y, &text);
    if (!text.n)
        return;
    buf_printf(d->to, "<g transform=\"translate(14 %.1f) rotate(-90)\">", (d->top + d->bottom) / 2);
    chart_svg_text(d->to, NULL, 0, 0, "middle", text.p, (size_t)((d->bottom - d->top) / chart_svg_char_width + 14));
    buf_puts(d->to, "</g>\n");
}

/* ---- document ---- */

/* Returns the margin for the longest text of the upward axis. */
static double left_margin(const struct chart *c, const struct chart_scale *y, const struct chart_ticks *ticks)
{
    double widest = 0;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 2000);
    for (size_t i = 0; i < ticks->n; i++) {
        buf_clear(&text);
        chart_tick_text(y, ticks, ticks->at[i], NAME_MAX, &text);
        widest = fmax(widest, text.p ? chart_svg_width(text.p) : 0);
    }
    return fmax(widest + (c->y.label && *c->y.label ? 32 : 16), 52);
}

/* Adds the description for screen readers. */
static void svg_describe(struct buf *to, const struct chart *c)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 8000);
    buf_printf(&text, "%s. ", c->title);
    chart_axis_text(&c->y, &text);
    if (text.n && c->x.label && *c->x.label) {
        buf_puts(&text, " over ");
        chart_axis_text(&c->x, &text);
    }
    html_text(to, buf_text(&text), 600);
}

static double chart_height(const struct chart *c)
{
    double lanes = c->y.count ? fmax((double)c->y.count * LANE, 60) : HEIGHT - 120;
    return c->y.count ? fmin(lanes, 4000) : lanes;
}

/* Measures and prepares a chart that begins at y = top of its document; returns its height. */
static double place_svg(struct chart_drawing *d, struct buf *left, double *ret_note_y, double *ret_left_y, double *ret_legend)
{
    const struct chart *c = d->c;
    chart_left_text(c, left);
    d->any = chart_scales(c, TICKS_X, TICKS_Y, &d->x, &d->y);
    if (d->any) {
        chart_scale_ticks(&d->x, TICKS_X, &d->x_ticks);
        chart_scale_ticks(&d->y, TICKS_Y, &d->y_ticks);
    }
    d->left = d->any ? left_margin(c, &d->y, &d->y_ticks) : 52;
    double y = 24;
    bool has_note = c->note && *c->note;
    *ret_note_y = has_note ? y + 18 : 0;
    *ret_left_y = left->n ? (has_note ? y + 34 : y + 18) : 0;
    *ret_legend = fmax(fmax(y, *ret_note_y), *ret_left_y) + 10;
    size_t lines = d->any ? (has_legend_shade(c) ? 1 : svg_legend(d, *ret_legend, false)) : 0;
    d->top = *ret_legend + (double)lines * LEGEND_LINE + 8;
    d->bottom = d->top + chart_height(c);
    d->height = d->bottom + 46;
    d->x.from = d->left, d->x.to = d->right;
    d->y.from = d->bottom, d->y.to = d->top;
    return d->height;
}

/* Draws the chart without an element around it. */
static void draw_chart(struct chart_drawing *d, double margin, struct str left, double note_y, double left_y, double legend)
{
    const struct chart *c = d->c;
    chart_svg_text(d->to, "h", margin, 24, "start", c->title, 96);
    if (note_y > 0)
        chart_svg_text(d->to, "n", margin, note_y, "start", c->note, 125);
    if (left.n)
        chart_svg_text(d->to, "n", margin, left_y, "start", left.p, 125);
    if (!d->any)
        chart_svg_text(d->to, NULL, WIDTH / 2.0, (d->top + d->bottom) / 2, "middle", "no values", 20);
    else {
        svg_guides(d, true);
        svg_axes(d);
        for (size_t i = 0; i < c->count; i++)
            chart_svg_series(d, &c->series[i], i);
        svg_guides(d, false);
        for (size_t i = 0; i < c->count; i++)
            if (c->series[i].mark != CHART_BOX)
                chart_svg_labels(d, &c->series[i]);
        if (has_legend_shade(c))
            svg_shade_legend(d, legend);
        else
            svg_legend(d, legend, true);
    }
    svg_axis_labels(d);
}

/* Opens the element with its description; a document of its own also gets title, styles and
 * background. */
static void open_svg_document(struct buf *to, const struct chart *c, double height, bool is_inline)
{
    buf_printf(to, "<svg class=\"chart\"%s role=\"img\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" aria-label=\"",
               is_inline ? "" : " xmlns=\"http://www.w3.org/2000/svg\"", WIDTH, height, WIDTH, height);
    svg_describe(to, c);
    buf_puts(to, "\">\n");
    if (is_inline)
        return;
    buf_puts(to, "<title>");
    html_text(to, str_of(c->title), 200);
    buf_puts(to, "</title>\n<style>\n");
    chart_svg_style(to);
    buf_printf(to, "</style>\n<rect class=\"bg\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, height);
}

/* Draws the charts one below the other as one SVG. Each is placed twice, since the height of all is
 * written first. */
static void draw_svg_list(struct buf *to, const struct chart *list, size_t n, bool is_inline)
{
    double height = 0;
    for (size_t i = 0; i < n; i++) {
        struct chart_drawing d = {.to = to, .c = &list[i], .right = WIDTH - CHART_SVG_RIGHT};
        double note_y, left_y, legend;
        CLEANUP_BUF struct buf left;
        buf_init(&left, 4000);
        height += place_svg(&d, &left, &note_y, &left_y, &legend);
    }
    open_svg_document(to, &list[0], height, is_inline);
    height = 0;
    for (size_t i = 0; i < n; i++) {
        struct chart_drawing d = {.to = to, .c = &list[i], .right = WIDTH - CHART_SVG_RIGHT};
        double note_y, left_y, legend;
        CLEANUP_BUF struct buf left;
        buf_init(&left, 4000);
        double own = place_svg(&d, &left, &note_y, &left_y, &legend);
        if (i)
            buf_printf(to, "<g transform=\"translate(0 %.0f)\">\n", height);
        draw_chart(&d, is_inline ? 0 : 14, buf_text(&left), note_y, left_y, legend);
        buf_puts(to, i ? "</g>\n" : "");
        height += own;
    }
    buf_puts(to, "</svg>\n");
}

void chart_svg_list(struct buf *to, const struct chart *list, size_t n)
{
    draw_svg_list(to, list, n, false);
}

void chart_svg(struct buf *to, const struct chart *c)
{
    draw_svg_list(to, c, 1, false);
}

void chart_svg_inline(struct buf *to, const struct chart *c)
{
    draw_svg_list(to, c, 1, true);
}
