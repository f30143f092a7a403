/* chart_svg.c: charts as SVG; see chart_svg.h. */
#include "plot/chart_svg.h"
#include "base/html_out.h"
#include "base/show.h"
#include "base/utf8.h"
#include "plot/chart_scale.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 760,
    HEIGHT = 400,
    RIGHT = 22,
    COLOURS = 7,
    TICKS_X = 8,
    TICKS_Y = 6,
    LANE = 34, /* height of a named place */
    LEGEND_LINE = 20,
    TIPS_MAX = 600, /* points that show what they are under the pointer */
    LABELS_MAX = 60, /* labels next to points */
    SHAPES_MAX = 6000,
    NAME_MAX = 34, /* characters of a name on an axis */
};
/* Text of 11 pixels: the mean width of its characters. */
static const double char_width = 6.1;

struct svg_box {
    double x, y, w, h;
};
struct svg_drawing {
    struct buf *to;
    const struct chart *c;
    struct chart_scale x, y;
    struct chart_ticks x_ticks, y_ticks;
    double left, right, top, bottom, height;
    size_t tips; /* points with a text under the pointer, up to now */
    bool any; /* there are values */
    struct svg_box labels[LABELS_MAX];
    size_t label_count;
};

void chart_svg_style(struct buf *to)
{
    static const char *const light[COLOURS] = {"#0067a5", "#c94f00", "#00805a", "#a8458a", "#8a6100", "#3a7fc1", "#6b6b6b"};
    static const char *const dark[COLOURS] = {"#56b4f9", "#ff9447", "#2fcf9f", "#ec9ad0", "#edc14a", "#9fd3ff", "#b5b9be"};
    static const char *const dashes[COLOURS] = {"none", "7 3", "2 3", "9 3 2 3", "4 2", "1 4", "12 4"};
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
    for (int i = 0; i < COLOURS; i++)
        buf_printf(to, ".chart .f%d{fill:%s}.chart .s%d{stroke:%s}.chart .d%d{stroke-dasharray:%s}", i, light[i], i, light[i], i,
                   dashes[i]);
    buf_puts(
        to,
        "\n@media (prefers-color-scheme:dark){.chart text{fill:#dfe3e8}.chart .n,.chart .q{fill:#9aa4ae}.chart .bg{fill:#16181c}.chart .m{stroke:#16181c}"
        ".chart .ideal{stroke:#9aa4ae}.chart .range{fill:#3fb950;fill-opacity:.13}.chart .ref{stroke:#3fb950}.chart .change{stroke:#ff8a80}"
        ".chart .changet{fill:#ff8a80}.chart .phase{fill:#c9d1d9;fill-opacity:.08}.chart .phases{stroke:#c9d1d9}.chart .light{fill:#fff}.chart .black{fill:#111}");
    for (int i = 0; i < COLOURS; i++)
        buf_printf(to, ".chart .f%d{fill:%s}.chart .s%d{stroke:%s}", i, dark[i], i, dark[i]);
    buf_puts(to, "}\n");
}

/* ---- text ---- */

static void svg_text(struct buf *to, const char *class, double x, double y, const char *anchor, const char *text, size_t max)
{
    buf_printf(to, "<text%s%s%s x=\"%.1f\" y=\"%.1f\"", class ? " class=\"" : "", class ? class : "", class ? "\"" : "", x, y);
    if (strcmp(anchor, "start") != 0)
        buf_printf(to, " text-anchor=\"%s\"", anchor);
    buf_putc(to, '>');
    html_text(to, str_of(text), max);
    buf_puts(to, "</text>\n");
}

static double svg_width(const char *text)
{
    return (double)utf8_count(str_of(text)) * char_width;
}

static size_t colour_of(const struct chart_series *s, size_t index)
{
    return (s->like > 0 ? (size_t)s->like - 1 : index) % COLOURS;
}

/* The classes of a series: its colour as fill (f) or stroke (s). */
static void svg_class(struct buf *to, const struct chart_series *s, size_t index, char kind)
{
    if (s->muted)
        buf_puts(to, "muted");
    else
        buf_printf(to, "%c%zu", kind, colour_of(s, index));
}

/* ---- marks ---- */

/* The mark of the series at a place: a form for each colour. */
static void svg_mark_path(struct buf *to, size_t form, double x, double y, double r)
{
    switch (form % COLOURS) {
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

static void svg_tip(struct svg_drawing *d, const struct chart_series *s, size_t i)
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

/* A label next to a point, where it covers no other one. */
static void svg_label(struct svg_drawing *d, double x, double y, const char *text)
{
    double w = fmin(svg_width(text), 26 * char_width), h = 12;
    const struct svg_box places[] = {{x + 7, y - 6, w, h},     {x - 7 - w, y - 6, w, h}, {x - w / 2, y - 20, w, h},
                                     {x - w / 2, y + 8, w, h}, {x + 6, y - 18, w, h},    {x + 6, y + 6, w, h}};
    for (size_t k = 0; k < sizeof places / sizeof *places && d->label_count < LABELS_MAX; k++) {
        const struct svg_box *b = &places[k];
        bool is_free = b->x >= d->left && b->x + b->w <= d->right + RIGHT - 2 && b->y >= d->top - 4 && b->y + b->h <= d->bottom;
        for (size_t i = 0; is_free && i < d->label_count; i++) {
            const struct svg_box *o = &d->labels[i];
            is_free = b->x > o->x + o->w || o->x > b->x + b->w || b->y > o->y + o->h || o->y > b->y + b->h;
        }
        if (!is_free)
            continue;
        d->labels[d->label_count++] = *b;
        svg_text(d->to, "q", b->x, b->y + 10, "start", text, 26);
        return;
    }
}

static void svg_labels(struct svg_drawing *d, const struct chart_series *s)
{
    for (size_t i = 0; s->named && s->labels && i < s->n; i++)
        if (s->labels[i] && s->mark != CHART_CELLS && chart_point_drawable(d->c, s, i))
            svg_label(d, chart_scale_position(&d->x, s->x[i]), chart_scale_position(&d->y, s->y[i]), s->labels[i]);
}

static void svg_points(struct svg_drawing *d, const struct chart_series *s, size_t index)
{
    double last_x = NAN, last_y = NAN, r = s->n > 400 ? 2 : s->n > 100 ? 3 : 4;
    bool tips = d->tips + s->n <= TIPS_MAX;
    size_t drawn = 0;
    buf_puts(d->to, "<g class=\"m ");
    svg_class(d->to, s, index, 'f');
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
        svg_mark_path(d->to, s->muted ? 0 : colour_of(s, index), x, y, r);
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

/* A path through the points; single points are drawn by their round ends. */
static void svg_path(struct svg_drawing *d, const struct chart_series *s, size_t index, const char *class)
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
        svg_class(d->to, s, index, 's');
        if (!s->muted)
            buf_printf(d->to, " d%zu", colour_of(s, index));
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

static void svg_steps(struct svg_drawing *d, const struct chart_series *s, size_t index)
{
    double end = NAN, last_y = NAN;
    buf_puts(d->to, "<path class=\"l ");
    svg_class(d->to, s, index, 's');
    buf_printf(d->to, " d%zu\" d=\"", colour_of(s, index));
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

/* Bars stand on the lower end of the axis, spans in their lanes. */
static void svg_rects(struct svg_drawing *d, const struct chart_series *s, size_t index)
{
    double lane = fabs(d->y.to - d->y.from) / (d->y.high - d->y.low), last_x = NAN, last_y = NAN;
    buf_printf(d->to, "<g class=\"bar ");
    svg_class(d->to, s, index, 'f');
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

/* An area for each piece without a gap. */
static void svg_band(struct svg_drawing *d, const struct chart_series *s, size_t index)
{
    buf_puts(d->to, "<path class=\"band ");
    svg_class(d->to, s, index, 'f');
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

static void svg_whiskers(struct svg_drawing *d, const struct chart_series *s, size_t index)
{
    buf_puts(d->to, "<path class=\"w ");
    svg_class(d->to, s, index, 's');
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

static void svg_box_plot(struct svg_drawing *d, const struct chart_series *s, size_t index)
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
    svg_class(&f, s, index, 'f');
    svg_class(&st, s, index, 's');
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

/* A colour from dark blue to yellow whose lightness grows with `part` (0 to 1), so that it reads in grey as well. Returns whether it is dark. */
static bool shade_colour(double part, char to[8])
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

/* Limits of what the colours of the cells show. */
static bool shade_limits(const struct chart *c, const struct chart_series *s, double *low, double *high)
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

static void svg_cells(struct svg_drawing *d, const struct chart_series *s)
{
    double w = fabs(d->x.to - d->x.from) / (d->x.high - d->x.low), h = fabs(d->y.to - d->y.from) / (d->y.high - d->y.low), low, high;
    if (!shade_limits(d->c, s, &low, &high))
        return;
    for (size_t i = 0; i < s->n; i++) {
        double x = chart_scale_position(&d->x, s->x[i]) - w / 2, y = chart_scale_position(&d->y, s->y[i]) - h / 2;
        char colour[8];
        if (!chart_point_drawable(d->c, s, i)) {
            buf_printf(d->to, "<rect class=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x + 1, y + 1, w - 2, h - 2);
            continue;
        }
        bool is_dark = shade_colour(shade_part(&d->c->shade, s->y2[i], low, high), colour);
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
        if (v.p && svg_width(v.p) + 4 < w && h >= 14)
            svg_text(d->to, is_dark ? "light" : "black", x + w / 2, y + h / 2 + 4, "middle", v.p, 20);
    }
}

static void svg_series(struct svg_drawing *d, const struct chart_series *s, size_t index)
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

/* ---- legend ---- */

static bool has_legend_shade(const struct chart *c)
{
    return c->count && c->series[0].mark == CHART_CELLS;
}

/* Places legend entries in lines; with `to`, draws them. Returns the number of lines. */
static size_t svg_legend(struct svg_drawing *d, double top, bool draw)
{
    double x = d->left;
    size_t lines = 0;
    for (size_t i = 0; i < d->c->count; i++) {
        const struct chart_series *s = &d->c->series[i];
        if (!s->name || s->mark == CHART_BOX)
            continue;
        double w = 30 + fmin(svg_width(s->name), 50 * char_width) + 16;
        if (!lines || x + w > WIDTH - RIGHT) {
            lines++;
            x = d->left;
        }
        double y = top + (double)(lines - 1) * LEGEND_LINE + 10;
        if (draw) {
            bool has_line = s->mark == CHART_LINE || s->mark == CHART_CURVE || s->mark == CHART_STEPS;
            if (has_line || s->mark == CHART_IDEAL) {
                buf_printf(d->to, "<path class=\"%s ", s->mark == CHART_IDEAL ? "ideal" : "l");
                if (has_line) {
                    svg_class(d->to, s, i, 's');
                    if (!s->muted)
                        buf_printf(d->to, " d%zu", colour_of(s, i));
                }
                buf_printf(d->to, "\" d=\"M%.1f %.1fh24\"/>", x, y - 4);
            }
            if (s->mark == CHART_BARS || s->mark == CHART_SPANS || s->mark == CHART_BAND) {
                buf_printf(d->to, "<rect class=\"%s ", s->mark == CHART_BAND ? "band" : "bar");
                svg_class(d->to, s, i, 'f');
                buf_printf(d->to, "\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"10\"/>", x, y - 9);
            }
            if (s->mark == CHART_POINTS || s->mark == CHART_CURVE) {
                buf_puts(d->to, "<path class=\"m ");
                svg_class(d->to, s, i, 'f');
                buf_puts(d->to, "\" d=\"");
                svg_mark_path(d->to, s->muted ? 0 : colour_of(s, i), x + 12, y - 4, 4);
                buf_puts(d->to, "\"/>");
            }
            svg_text(d->to, NULL, x + 29, y, "start", s->name, 50);
        }
        x += w;
    }
    return lines;
}

static void svg_shade_legend(struct svg_drawing *d, double top)
{
    enum { BLOCKS = 24, BLOCK = 7 };
    const struct chart_series *s = &d->c->series[0];
    double low, high, x = d->left;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1000);
    if (!shade_limits(d->c, s, &low, &high))
        return;
    show_value(&text, low);
    svg_text(d->to, NULL, x, top + 10, "start", text.p, 20);
    x += svg_width(text.p) + 6;
    for (int i = 0; i < BLOCKS; i++, x += BLOCK) {
        char colour[8];
        shade_colour((i + 0.5) / BLOCKS, colour);
        buf_printf(d->to, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"11\"/>\n", colour, x, top + 1, BLOCK + 0.3);
    }
    buf_clear(&text);
    show_value(&text, high);
    buf_puts(&text, "  ");
    chart_axis_text(&d->c->shade, &text);
    svg_text(d->to, NULL, x + 6, top + 10, "start", text.p, 90);
}

/* ---- axes and guides ---- */

static void svg_guides(struct svg_drawing *d, bool behind)
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
                svg_text(d->to, "q", d->right - 4, fmin(at, to) + 12, "end", g->label, 60);
        } else if (g->kind == CHART_PHASE) {
            if (phases++ % 2 == 0)
                buf_printf(d->to, "<rect class=\"phase\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", at, d->top,
                           fmax(to - at, 0.5), d->bottom - d->top);
            buf_printf(d->to, "<path class=\"phases\" d=\"M%.1f %.1fV%.1f\"/>\n", at, d->top, d->bottom);
            if (g->label && to - at > 14)
                svg_text(d->to, "q", at + 4, d->top + 12, "start", g->label, (size_t)fmax((to - at - 6) / char_width, 2));
        } else if (is_upward) {
            bool is_change = g->kind == CHART_CHANGE;
            buf_printf(d->to, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", is_change ? "change" : "ideal", at, d->top, d->bottom);
            if (g->label)
                svg_text(d->to, is_change ? "changet" : "q", at + (at > d->right - 120 ? -4 : 4), d->top + 11,
                         at > d->right - 120 ? "end" : "start", g->label, 40);
        } else {
            buf_printf(d->to, "<path class=\"ref\" d=\"M%.1f %.1fH%.1f\"/>\n", d->left, at, d->right);
            if (g->label)
                svg_text(d->to, "q", d->right - 4, at - 4, "end", g->label, 60);
        }
    }
}

static void svg_axes(struct svg_drawing *d)
{
    CLEANUP_BUF struct buf text;
    double last = -INFINITY;
    buf_init(&text, 2000);
    bool has_cells = has_legend_shade(d->c);
    for (size_t i = 0; i < d->x_ticks.n; i++) {
        double at = chart_scale_position(&d->x, d->x_ticks.at[i]);
        buf_clear(&text);
        chart_tick_text(&d->x, &d->x_ticks, d->x_ticks.at[i],
                        d->c->x.count ? (size_t)fmax((d->right - d->left) / (double)d->c->x.count / char_width - 1, 4) : NAME_MAX, &text);
        if (!has_cells)
            buf_printf(d->to, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n", at, d->top, d->bottom);
        double w = text.p ? svg_width(text.p) : 0;
        if (!text.n || at - w / 2 < last + 4)
            continue;
        svg_text(d->to, NULL, at, d->bottom + 16, "middle", text.p, NAME_MAX);
        last = at + w / 2;
    }
    for (size_t i = 0; i < d->y_ticks.n; i++) {
        double at = chart_scale_position(&d->y, d->y_ticks.at[i]);
        buf_clear(&text);
        chart_tick_text(&d->y, &d->y_ticks, d->y_ticks.at[i], NAME_MAX, &text);
        if (!has_cells && !d->c->y.count)
            buf_printf(d->to, "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/>\n", d->left, at, d->right);
        svg_text(d->to, NULL, d->left - 7, at + 4, "end", text.p ? text.p : "", NAME_MAX);
    }
}

static void svg_axis_labels(struct svg_drawing *d)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 2000);
    chart_axis_text(&d->c->x, &text);
    svg_text(d->to, NULL, (d->left + d->right) / 2, d->bottom + 36, "middle", text.p ? text.p : "", 110);
    buf_clear(&text);
    chart_axis_text(&d->c->y, &text);
    if (!text.n)
        return;
    buf_printf(d->to, "<g transform=\"translate(14 %.1f) rotate(-90)\">", (d->top + d->bottom) / 2);
    svg_text(d->to, NULL, 0, 0, "middle", text.p, (size_t)((d->bottom - d->top) / char_width + 14));
    buf_puts(d->to, "</g>\n");
}

/* ---- document ---- */

/* The margin for the longest text of the upward axis. */
static double left_margin(const struct chart *c, const struct chart_scale *y, const struct chart_ticks *ticks)
{
    double widest = 0;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 2000);
    for (size_t i = 0; i < ticks->n; i++) {
        buf_clear(&text);
        chart_tick_text(y, ticks, ticks->at[i], NAME_MAX, &text);
        widest = fmax(widest, text.p ? svg_width(text.p) : 0);
    }
    return fmax(widest + (c->y.label && *c->y.label ? 32 : 16), 52);
}

/* What a reader of a screen hears. */
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
static double place_svg(struct svg_drawing *d, struct buf *left, double *ret_note_y, double *ret_left_y, double *ret_legend)
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

/* The chart without an element around it. */
static void draw_chart(struct svg_drawing *d, double margin, struct str left, double note_y, double left_y, double legend)
{
    const struct chart *c = d->c;
    svg_text(d->to, "h", margin, 24, "start", c->title, 96);
    if (note_y > 0)
        svg_text(d->to, "n", margin, note_y, "start", c->note, 125);
    if (left.n)
        svg_text(d->to, "n", margin, left_y, "start", left.p, 125);
    if (!d->any)
        svg_text(d->to, NULL, WIDTH / 2.0, (d->top + d->bottom) / 2, "middle", "no values", 20);
    else {
        svg_guides(d, true);
        svg_axes(d);
        for (size_t i = 0; i < c->count; i++)
            svg_series(d, &c->series[i], i);
        svg_guides(d, false);
        for (size_t i = 0; i < c->count; i++)
            if (c->series[i].mark != CHART_BOX)
                svg_labels(d, &c->series[i]);
        if (has_legend_shade(c))
            svg_shade_legend(d, legend);
        else
            svg_legend(d, legend, true);
    }
    svg_axis_labels(d);
}

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

static void draw_svg_list(struct buf *to, const struct chart *list, size_t n, bool is_inline)
{
    double height = 0;
    for (size_t i = 0; i < n; i++) {
        struct svg_drawing d = {.to = to, .c = &list[i], .right = WIDTH - RIGHT};
        double note_y, left_y, legend;
        CLEANUP_BUF struct buf left;
        buf_init(&left, 4000);
        height += place_svg(&d, &left, &note_y, &left_y, &legend);
    }
    open_svg_document(to, &list[0], height, is_inline);
    height = 0;
    for (size_t i = 0; i < n; i++) {
        struct svg_drawing d = {.to = to, .c = &list[i], .right = WIDTH - RIGHT};
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
