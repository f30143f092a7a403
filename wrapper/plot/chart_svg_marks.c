/* chart_svg_marks.c: series of charts as SVG; see chart_svg_marks.h. */
#include "plot/chart_svg_marks.h"
#include "base/html_out.h"
#include "base/show.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

enum {
    TIPS_MAX = 600, /* points that show what they are under the pointer */
    SHAPES_MAX = 6000,
};

/* ---- text ---- */

void chart_svg_text(struct buf *to, const char *class, double x, double y, const char *anchor, const char *text, size_t max)
{
    buf_printf(to, "<text%s%s%s x=\"%.1f\" y=\"%.1f\"", class ? " class=\"" : "", class ? class : "", class ? "\"" : "", x, y);
    if (strcmp(anchor, "start") != 0)
        buf_printf(to, " text-anchor=\"%s\"", anchor);
    buf_putc(to, '>');
    html_text(to, str_of(text), max);
    buf_puts(to, "</text>\n");
}

double chart_svg_width(const char *text)
{
    return (double)utf8_count(str_of(text)) * chart_svg_char_width;
}

size_t chart_svg_colour(const struct chart_series *s, size_t index)
{
    return (s->like > 0 ? (size_t)s->like - 1 : index) % CHART_SVG_COLOURS;
}

void chart_svg_class(struct buf *to, const struct chart_series *s, size_t index, char kind)
{
    if (s->muted)
        buf_puts(to, "muted");
    else
        buf_printf(to, "%c%zu", kind, chart_svg_colour(s, index));
}

/* ---- marks ---- */

void chart_svg_mark(struct buf *to, size_t form, double x, double y, double r)
{
    switch (form % CHART_SVG_COLOURS) {
    case 0: buf_printf(to, "M%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0", x - r, y, r, r, 2 * r, r, r, -2 * r); break;
    case 1: buf_printf(to, "M%.1f %.1fh%.1fv%.1fh%.1fz", x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, -r * 1.8); break;
    case 2: buf_printf(to, "M%.1f %.1fl%.1f %.1fh%.1fz", x, y - r * 1.2, r * 1.15, r * 2.1, -r * 2.3); break;
    case 3:
        buf_printf(to, "M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz", x, y - r * 1.3, r * 1.3, r * 1.3, -r * 1.3, r * 1.3, -r * 1.3,
                   -r * 1.3);
        break;
    case 4: buf_printf(to, "M%.1f %.1fl%.1f %.1fh%.1fz", x, y + r * 1.2, r * 1.15, -r * 2.1, -r * 2.3); break;
    case 5:
        buf_printf(to, "M%.1f %.1fh%.1fv%.1fh%.1fv%.1fh%.1fv%.1fh%.1fv%.1fh%.1fv%.1fh%.1fz", x - r * 0.45, y - r * 1.2, r * 0.9, r * 0.75,
                   r * 0.75, r * 0.9, -r * 0.75, r * 0.75, -r * 0.9, -r * 0.75, -r * 0.75, -r * 0.9, r * 0.75);
        break;
    default:
        buf_printf(to, "M%.1f %.1fh%.1fl%.1f %.1fl%.1f %.1fh%.1fl%.1f %.1fz", x - r * 0.6, y - r, r * 1.2, r * 0.6, r, -r * 0.6, r,
                   -r * 1.2, -r * 0.6, -r);
    }
}

/* Appends the <title> of a point, which a browser shows: series, label, value and unit. */
static void svg_tip(struct chart_drawing *d, const struct chart_series *s, size_t i)
{
    struct buf *to = d->to;
    buf_puts(to, "<title>");
    if (s->name) {
        html_text(to, str_of(s->name), 100);
        buf_puts(to, ": ");
    }
    if (s->labels && s->labels[i]) {
        html_text(to, str_of(s->labels[i]), 160);
        buf_puts(to, ", ");
    }
    CLEANUP_BUF struct buf v;
    buf_init(&v, 200);
    double value = s->mark == CHART_BOX ? s->x[i] : s->mark == CHART_CELLS ? s->y2[i] : s->y[i];
    const struct chart_axis *axis = s->mark == CHART_BOX ? &d->c->x : s->mark == CHART_CELLS ? &d->c->shade : &d->c->y;
    show_value(&v, value);
    if (axis->unit && *axis->unit)
        buf_printf(&v, " %s", axis->unit);
    html_text(to, buf_text(&v), 200);
    buf_puts(to, "</title>");
}

/* Draws a label next to a point, where it covers no other one. */
static void svg_label(struct chart_drawing *d, double x, double y, const char *text)
{
    double w = fmin(chart_svg_width(text), 26 * chart_svg_char_width), h = 12;
    const struct chart_label_box places[] = {{x + 7, y - 6, w, h},     {x - 7 - w, y - 6, w, h}, {x - w / 2, y - 20, w, h},
                                             {x - w / 2, y + 8, w, h}, {x + 6, y - 18, w, h},    {x + 6, y + 6, w, h}};
    for (size_t k = 0; k < sizeof places / sizeof *places && d->label_count < CHART_SVG_LABELS_MAX; k++) {
        const struct chart_label_box *b = &places[k];
        bool is_free = b->x >= d->left && b->x + b->w <= d->right + CHART_SVG_RIGHT - 2 && b->y >= d->top - 4 && b->y + b->h <= d->bottom;
        for (size_t i = 0; is_free && i < d->label_count; i++) {
            const struct chart_label_box *o = &d->labels[i];
            is_free = b->x > o->x + o->w || o->x > b->x + b->w || b->y > o->y + o->h || o->y > b->y + b->h;
        }
        if (!is_free)
            continue;
        d->labels[d->label_count++] = *b;
        chart_svg_text(d->to, "q", b->x, b->y + 10, "start", text, 26);
        return;
    }
}

void chart_svg_labels(struct chart_drawing *d, const struct chart_series *s)
{
    for (size_t i = 0; s->named && s->labels && i < s->n; i++)
        if (s->labels[i] && s->mark != CHART_CELLS && chart_point_drawable(d->c, s, i))
            svg_label(d, chart_scale_position(&d->x, s->x[i]), chart_scale_position(&d->y, s->y[i]), s->labels[i]);
}

/* Draws the points, each with a tip as long as no more than TIPS_MAX tips are drawn. Without tips,
 * points that would cover the one before them are left out. */
static void svg_points(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    double last_x = NAN, last_y = NAN, r = s->n > 400 ? 2 : s->n > 100 ? 3 : 4;
    bool tips = d->tips + s->n <= TIPS_MAX;
    size_t drawn = 0;
    buf_puts(d->to, "<g class=\"m ");
    chart_svg_class(d->to, s, index, 'f');
    buf_puts(d->to, "\">\n");
    if (!tips)
        buf_puts(d->to, "<path d=\"");
    for (size_t i = 0; i < s->n && drawn < SHAPES_MAX; i++) {
        if (!chart_point_drawable(d->c, s, i))
            continue;
        double x = chart_scale_position(&d->x, s->x[i]), y = chart_scale_position(&d->y, s->y[i]);
        if (!tips && fabs(x - last_x) < 0.8 && fabs(y - last_y) < 0.8)
            continue;
        if (tips)
            buf_puts(d->to, "<path d=\"");
        chart_svg_mark(d->to, s->muted ? 0 : chart_svg_colour(s, index), x, y, r);
        if (tips) {
            buf_puts(d->to, "\">");
            svg_tip(d, s, i);
            buf_puts(d->to, "</path>\n");
            d->tips++;
        }
        last_x = x, last_y = y;
        drawn++;
    }
    buf_printf(d->to, "%s</g>\n", tips ? "" : "\"/>");
}

/* Draws a path through the points; single points are drawn by their round ends. */
static void svg_path(struct chart_drawing *d, const struct chart_series *s, size_t index, const char *class)
{
    struct chart_path p;
    bool is_open = false;
    if (!chart_path_of(d->c, s, s->y, &d->x, &d->y, (size_t)(d->right - d->left), &p)) {
        d->to->failed = true;
        return;
    }
    buf_printf(d->to, "<path class=\"%s", class);
    if (s->mark != CHART_IDEAL) {
        buf_putc(d->to, ' ');
        chart_svg_class(d->to, s, index, 's');
        if (!s->muted)
            buf_printf(d->to, " d%zu", chart_svg_colour(s, index));
    }
    buf_puts(d->to, "\" d=\"");
    for (size_t i = 0; i < p.n; i++) {
        bool gap = isnan(p.x[i]);
        if (!gap)
            buf_printf(d->to, "%c%.1f %.1f", is_open ? 'L' : 'M', p.x[i], p.y[i]);
        if (!gap && !is_open && (i + 1 == p.n || isnan(p.x[i + 1])))
            buf_puts(d->to, "h0");
        is_open = !gap;
    }
    buf_puts(d->to, "\"/>\n");
    chart_path_deinit(&p);
}

/* Draws each value as a horizontal line from x to x2, joined where the next begins at its end. */
static void svg_steps(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    double end = NAN, last_y = NAN;
    buf_puts(d->to, "<path class=\"l ");
    chart_svg_class(d->to, s, index, 's');
    buf_printf(d->to, " d%zu\" d=\"", chart_svg_colour(s, index));
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(d->c, s, i))
            continue;
        double x = chart_scale_position(&d->x, s->x[i]), x2 = chart_scale_position(&d->x, s->x2[i]),
               y = chart_scale_position(&d->y, s->y[i]);
        if (!(fabs(x - end) < 0.05))
            buf_printf(d->to, "M%.1f %.1f", x, y);
        else if (fabs(y - last_y) >= 0.05)
            buf_printf(d->to, "V%.1f", y);
        buf_printf(d->to, "H%.1f", x2);
        end = x2;
        last_y = y;
    }
    buf_puts(d->to, "\"/>\n");
}

/* Draws bars from the lower end of the axis, and spans in their lanes. */
static void svg_rects(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    double lane = fabs(d->y.to - d->y.from) / (d->y.high - d->y.low), last_x = NAN, last_y = NAN;
    buf_printf(d->to, "<g class=\"bar ");
    chart_svg_class(d->to, s, index, 'f');
    buf_puts(d->to, "\">\n");
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(d->c, s, i))
            continue;
        double x = chart_scale_position(&d->x, s->x[i]), x2 = chart_scale_position(&d->x, s->x2[i]),
               y = chart_scale_position(&d->y, s->y[i]), h = d->bottom - y;
        if (s->mark == CHART_SPANS) {
            h = fmax(lane * 0.8, 0.5);
            y -= h / 2;
            if (fabs(x - last_x) < 0.1 && fabs(y - last_y) < 0.1 && x2 - x < 0.3)
                continue;
        } else if (!(h > 0)) {
            continue;
        }
        double gap = s->mark == CHART_BARS && x2 - x > 4 ? 0.6 : 0;
        buf_printf(d->to, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\"/>\n", x, y, fmax(x2 - x - gap, 0.3), fmax(h, 0));
        last_x = x, last_y = y;
    }
    buf_puts(d->to, "</g>\n");
}

/* Draws an area for each piece without a gap. */
static void svg_band(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    buf_puts(d->to, "<path class=\"band ");
    chart_svg_class(d->to, s, index, 'f');
    buf_puts(d->to, "\" d=\"");
    for (size_t i = 0, end; i < s->n; i = end + 1) {
        for (end = i; end < s->n && chart_point_drawable(d->c, s, end); end++) {}
        for (size_t k = i; k < end; k++)
            buf_printf(d->to, "%c%.1f %.1f", k == i ? 'M' : 'L', chart_scale_position(&d->x, s->x[k]),
                       chart_scale_position(&d->y, s->y[k]));
        for (size_t k = end; k-- > i;)
            buf_printf(d->to, "L%.1f %.1f%s", chart_scale_position(&d->x, s->x[k]), chart_scale_position(&d->y, s->y2[k]),
                       k == i ? "z" : "");
    }
    buf_puts(d->to, "\"/>\n");
}

/* Draws a line with short ends from y to y2 at each x. */
static void svg_whiskers(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    buf_puts(d->to, "<path class=\"w ");
    chart_svg_class(d->to, s, index, 's');
    buf_puts(d->to, "\" d=\"");
    for (size_t i = 0; i < s->n; i++) {
        if (!chart_point_drawable(d->c, s, i))
            continue;
        double x = chart_scale_position(&d->x, s->x[i]), y = chart_scale_position(&d->y, s->y[i]),
               y2 = chart_scale_position(&d->y, s->y2[i]);
        buf_printf(d->to, "M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6", x, y, y2, x - 3, y, x - 3, y2);
    }
    buf_puts(d->to, "\"/>\n");
}

/* Dots do not hide each other: a fixed pattern moves them within their lane. */
static double lane_shift(size_t i)
{
    return (double)((i * 7 + 3) % 11) / 10 - 0.5;
}

/* Draws whiskers and box for 3 values or more, all values as dots in the lane, and the median. */
static void svg_box_plot(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    struct chart_box b;
    if (!chart_box_of(d->c, s, &b))
        return;
    double lane = fabs(d->y.to - d->y.from) / (d->y.high - d->y.low), y = chart_scale_position(&d->y, s->y[0]), h = fmin(lane * 0.62, 22);
    double low = chart_scale_position(&d->x, b.low), high = chart_scale_position(&d->x, b.high),
           median = chart_scale_position(&d->x, b.median);
    bool tips = d->tips + s->n <= TIPS_MAX;
    CLEANUP_BUF struct buf f, st;
    buf_init(&f, 20);
    buf_init(&st, 20);
    chart_svg_class(&f, s, index, 'f');
    chart_svg_class(&st, s, index, 's');
    if (b.n >= 3) {
        buf_printf(d->to, "<path class=\"w %s\" d=\"M%.1f %.1fH%.1fM%.1f %.1fH%.1f\"/>\n", st.p, chart_scale_position(&d->x, b.from), y,
                   low, high, y, chart_scale_position(&d->x, b.to));
        buf_printf(d->to, "<rect class=\"box %s %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", f.p, st.p, low, y - h / 2,
                   fmax(high - low, 0.5), h);
    }
    buf_printf(d->to, "<g class=\"dot %s\">\n", f.p);
    for (size_t i = 0; i < s->n && i < SHAPES_MAX; i++) {
        if (!chart_is_drawable(&d->c->x, s->x[i]))
            continue;
        double x = chart_scale_position(&d->x, s->x[i]), at = y + lane_shift(i) * h * 0.8;
        buf_printf(d->to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"", x, at, s->n > 300 ? "1.6" : "3");
        if (tips) {
            buf_putc(d->to, '>');
            svg_tip(d, s, i);
            buf_puts(d->to, "</circle>\n");
            d->tips++;
        } else
            buf_puts(d->to, "/>");
        if (s->named && s->labels && s->labels[i])
            svg_label(d, x, at, s->labels[i]);
    }
    buf_printf(d->to, "</g>\n<path class=\"med %s\" d=\"M%.1f %.1fV%.1f\"/>\n", st.p, median, y - h / 2 - 2, y + h / 2 + 2);
}

bool chart_svg_shade(double part, char to[8])
{
    static const unsigned char anchors[][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    double at = fmin(fmax(part, 0), 1) * 4;
    int i = at >= 4 ? 3 : (int)at;
    unsigned rgb[3];
    for (int k = 0; k < 3; k++)
        rgb[k] = (unsigned)lround(anchors[i][k] + (at - i) * (anchors[i + 1][k] - anchors[i][k]));
    static const char digits[] = "0123456789abcdef";
    to[0] = '#';
    for (int k = 0; k < 3; k++) {
        to[1 + 2 * k] = digits[rgb[k] >> 4 & 15];
        to[2 + 2 * k] = digits[rgb[k] & 15];
    }
    to[7] = 0;
    return part < 0.6;
}

bool chart_svg_shade_limits(const struct chart *c, const struct chart_series *s, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (size_t i = 0; i < s->n; i++)
        if (chart_point_drawable(c, s, i)) {
            *low = fmin(*low, s->y2[i]);
            *high = fmax(*high, s->y2[i]);
        }
    return *low <= *high;
}

static double shade_part(const struct chart_axis *axis, double v, double low, double high)
{
    if (!(high > low))
        return 0.5;
    return axis->log ? log(v / low) / log(high / low) : (v - low) / (high - low);
}

/* Draws the cells of a heat map with colour and tip, and the value as text where it fits. A cell
 * without a value is an empty frame. */
static void svg_cells(struct chart_drawing *d, const struct chart_series *s)
{
    double w = fabs(d->x.to - d->x.from) / (d->x.high - d->x.low), h = fabs(d->y.to - d->y.from) / (d->y.high - d->y.low), low, high;
    if (!chart_svg_shade_limits(d->c, s, &low, &high))
        return;
    for (size_t i = 0; i < s->n; i++) {
        double x = chart_scale_position(&d->x, s->x[i]) - w / 2, y = chart_scale_position(&d->y, s->y[i]) - h / 2;
        char colour[8];
        if (!chart_point_drawable(d->c, s, i)) {
            buf_printf(d->to, "<rect class=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x + 1, y + 1, w - 2, h - 2);
            continue;
        }
        bool is_dark = chart_svg_shade(shade_part(&d->c->shade, s->y2[i], low, high), colour);
        buf_printf(d->to, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", colour, x + 0.5, y + 0.5, w - 1,
                   h - 1);
        if (d->tips < TIPS_MAX) {
            svg_tip(d, s, i);
            d->tips++;
        }
        buf_puts(d->to, "</rect>\n");
        CLEANUP_BUF struct buf v;
        buf_init(&v, 64);
        show_value(&v, s->y2[i]);
        if (v.p && chart_svg_width(v.p) + 4 < w && h >= 14)
            chart_svg_text(d->to, is_dark ? "light" : "black", x + w / 2, y + h / 2 + 4, "middle", v.p, 20);
    }
}

void chart_svg_series(struct chart_drawing *d, const struct chart_series *s, size_t index)
{
    switch (s->mark) {
    case CHART_LINE: svg_path(d, s, index, "l"); break;
    case CHART_IDEAL: svg_path(d, s, index, "ideal"); break;
    case CHART_CURVE:
        svg_path(d, s, index, "l");
        svg_points(d, s, index);
        break;
    case CHART_POINTS: svg_points(d, s, index); break;
    case CHART_STEPS: svg_steps(d, s, index); break;
    case CHART_BARS:
    case CHART_SPANS: svg_rects(d, s, index); break;
    case CHART_BAND: svg_band(d, s, index); break;
    case CHART_WHISKERS: svg_whiskers(d, s, index); break;
    case CHART_BOX: svg_box_plot(d, s, index); break;
    case CHART_CELLS: svg_cells(d, s); break;
    }
}
