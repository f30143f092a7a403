/* listing.c: rows of cells, printed as a table. */
#include "base/listing_parts.h"
#include "base/array.h"

#include "base/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 4096, GAP = 2 }; /* CELL_MAX: characters of one cell; params of MLflow end at 6000, no table is read so far */

/* A table on its way to the screen. */
struct listing_table {
    const struct listing *l;
    const struct screen *screen;
    size_t *widths;
    size_t *narrowed; /* 0: not; else the width that the column was cut to, SIZE_MAX: it cannot be */
    bool *hidden;
    bool close; /* one blank between all columns */
    size_t last; /* the last visible column */
    struct buf *to;
};

void listing_init(struct listing *l, const struct listing_column *columns, size_t count, struct arena *arena)
{
    *l = (struct listing){.columns = columns, .count = count, .arena = arena, .missing = "-"};
}

void listing_deinit(struct listing *l)
{
    free(l->cells);
    l->cells = NULL;
}

static void cell_add(struct listing *l, struct listing_cell cell)
{
    l->failed = l->failed || !ARRAY_FITS(l->cells, l->room, l->used + 1);
    if (!l->failed)
        l->cells[l->used++] = cell;
}

void listing_str(struct listing *l, struct str text)
{
    char *copy = arena_dup(l->arena, text.p, text.n);
    l->failed |= !copy;
    cell_add(l, (struct listing_cell){.text = copy, .span = 1});
}

void listing_text(struct listing *l, const char *text)
{
    if (text)
        listing_str(l, str_of(text));
    else
        listing_none(l);
}

void listing_number(struct listing *l, double value, const char *shown)
{
    char *copy = NULL;
    if (shown) {
        copy = arena_dup(l->arena, shown, strlen(shown));
    } else {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64);
        show_double(&b, value);
        copy = arena_dup(l->arena, b.p ? b.p : "", b.n);
    }
    l->failed |= !copy;
    cell_add(l, (struct listing_cell){.text = copy, .value = value, .number = true, .span = 1});
}

void listing_none(struct listing *l)
{
    cell_add(l, (struct listing_cell){.span = 1});
}

void listing_known(struct listing *l, double value)
{
    if (isfinite(value))
        listing_number(l, value, NULL);
    else
        listing_none(l);
}

void listing_integer(struct listing *l, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    listing_number(l, (double)value, text);
}

void listing_span(struct listing *l, const char *text, size_t n)
{
    size_t at = l->used;
    listing_text(l, text);
    for (size_t i = 1; i < n; i++)
        cell_add(l, (struct listing_cell){0});
    if (at < l->used)
        l->cells[at].span = n;
}

void listing_style(struct listing *l, enum style style)
{
    if (l->used)
        l->cells[l->used - 1].style = style;
}

size_t listing_rows(const struct listing *l)
{
    return l->count ? l->used / l->count : 0;
}

void listing_drop_row(struct listing *l)
{
    if (l->used >= l->count)
        l->used -= l->count;
}

/* Appends the text in at most `max` columns, harmless. */
static void text_shown(struct str text, size_t max, struct buf *to)
{
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, CELL_MAX * 4 + 8);
    if (text.n <= max && text.n <= CELL_MAX && screen_is_ascii(text)) {
        buf_str(to, text);
        return;
    }
    buf_plain(&plain, text, CELL_MAX);
    text = buf_text(&plain);
    if (max > 8 && max != SIZE_MAX && str_find(text, STR(" ")) < 0)
        screen_clip_middle(to, text, max);
    else
        screen_clip(to, text, max);
}

static void cell_shown(const struct listing *l, const struct listing_cell *cell, size_t column, size_t max, struct buf *to)
{
    size_t own = l->columns[column].max;
    text_shown(str_of(cell->text ? cell->text : l->missing), own && own < max && cell->span == 1 ? own : max, to);
}

static size_t cell_width(const struct listing *l, const struct listing_cell *cell, size_t column)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, CELL_MAX * 4 + 64);
    cell_shown(l, cell, column, SIZE_MAX, &b);
    return screen_text_width(buf_text(&b));
}

/* ---- which columns stay ---- */

static bool cell_is_empty(const struct listing_cell *cell)
{
    return cell->span && (!cell->text || !cell->text[0]);
}

/* Returns the text that all cells of the column have, owned by the listing. NULL: they differ, or a
 * text spans further columns. */
static const char *common_text(const struct listing *l, size_t column)
{
    const char *text = NULL;
    for (size_t r = 0; r < listing_rows(l); r++) {
        const struct listing_cell *cell = listing_cell_at(l, r, column);
        if (!cell->span)
            continue;
        if (!cell->text || cell->span > 1 || (text && strcmp(text, cell->text) != 0))
            return NULL;
        text = cell->text;
    }
    return text;
}

static bool column_is_empty(const struct listing *l, size_t column)
{
    for (size_t r = 0; r < listing_rows(l); r++)
        if (!cell_is_empty(listing_cell_at(l, r, column)) && listing_cell_at(l, r, column)->span)
            return false;
    return true;
}

/* Hides columns with one value, and prints the phrases that replace them above the table. */
static void hide_repeated(struct listing_table *t)
{
    const struct listing *l = t->l;
    CLEANUP_BUF struct buf line;
    buf_init(&line, 1 << 16);
    for (size_t c = 0; c < l->count; c++) {
        const struct listing_column *column = &l->columns[c];
        const char *text = column->common && listing_rows(l) > 1 ? common_text(l, c) : NULL;
        t->hidden[c] = !column->heading || (column->no_empty && column_is_empty(l, c)) || text;
        if (!column->heading || !text || !column->common[0] || !text[0])
            continue;
        buf_printf(&line, "%s%s ", line.n ? ", " : "", column->common);
        text_shown(str_of(text), SIZE_MAX, &line);
    }
    if (line.n) {
        screen_fill(t->to, l->indent);
        screen_wrap(t->screen, buf_text(&line), l->indent, l->indent, t->to);
        buf_putc(t->to, '\n');
    }
}

/* Returns the first column behind c that its heading cannot extend over. Only text extends, over
 * visible text columns without a heading. */
static size_t heading_end(const struct listing_table *t, size_t c)
{
    const struct listing_column *columns = t->l->columns;
    size_t next = c + 1;
    if (!columns[c].right)
        while (next < t->l->count && (t->hidden[next] || (!columns[next].right && !columns[next].heading[0])))
            next++;
    return next;
}

/* Blanks before a column that is not the first. */
static size_t gap_before(const struct listing_table *t, size_t c)
{
    return t->close || t->l->columns[c].tight ? 1 : GAP;
}

/* Blanks behind a cell that ends before column `next`. */
static size_t gap_after(const struct listing_table *t, size_t next)
{
    while (next < t->l->count && t->hidden[next])
        next++;
    return next < t->l->count ? gap_before(t, next) : 0;
}

/* Returns the columns of the screen that the visible columns need, and sets t->last to the last of
 * them. */
static size_t table_width(struct listing_table *t)
{
    size_t total = t->l->indent;
    bool any = false;
    for (size_t c = 0; c < t->l->count; c++) {
        if (t->hidden[c])
            continue;
        total += t->widths[c] + (any ? gap_before(t, c) : 0);
        any = true;
        t->last = c;
    }
    return total;
}

/* Columns that the cell at `column` occupies, with the gaps between. */
static size_t span_width(const struct listing_table *t, size_t column, size_t span)
{
    size_t width = 0;
    bool any = false;
    for (size_t c = column; c < column + span && c < t->l->count; c++)
        if (!t->hidden[c]) {
            width += t->widths[c] + (any ? gap_before(t, c) : 0);
            any = true;
        }
    return width;
}

/* Returns the width of the widest cell of the column; texts over several columns do not count. */
static size_t cells_width(const struct listing *l, size_t column)
{
    size_t max = 0;
    for (size_t r = 0; r < listing_rows(l); r++) {
        const struct listing_cell *cell = listing_cell_at(l, r, column);
        size_t width = cell->span == 1 ? cell_width(l, cell, column) : 0;
        max = width > max ? width : max;
    }
    return max;
}

/* Returns whether nothing visible follows column c in this row. */
static bool row_ends(const struct listing_table *t, size_t row, size_t c)
{
    for (c++; c < t->l->count; c++) {
        const struct listing_cell *cell = listing_cell_at(t->l, row, c);
        const char *text = cell->text ? cell->text : t->l->missing;
        if (!t->hidden[c] && cell->span && text[0])
            return false;
    }
    return true;
}

/* Widens the last of several columns where a text over them is wider than they are. */
static void widen_for_spans(struct listing_table *t, size_t row)
{
    for (size_t c = 0; c < t->l->count; c++) {
        const struct listing_cell *cell = listing_cell_at(t->l, row, c);
        size_t last = c + cell->span, width = cell->span > 1 ? span_width(t, c, cell->span) : 0;
        if (!width || row_ends(t, row, c))
            continue;
        while (t->hidden[--last])
            ;
        size_t own = cell_width(t->l, cell, c);
        t->widths[last] += own > width ? own - width : 0;
    }
}

/* Sets t->widths from cells, headings and texts over several columns; a narrowed column is at most
 * t->narrowed wide. */
static void measure_columns(struct listing_table *t)
{
    const struct listing *l = t->l;
    for (size_t c = 0; c < l->count; c++)
        t->widths[c] = t->hidden[c] ? 0 : cells_width(l, c);
    for (size_t c = 0; c < l->count && !l->bare; c++) {
        if (t->hidden[c])
            continue;
        size_t width = span_width(t, c, heading_end(t, c) - c), heading = screen_text_width(str_of(l->columns[c].heading));
        size_t above = l->columns[c].right ? screen_text_width(str_of(l->columns[c].above)) : 0;
        heading = above > heading ? above : heading;
        t->widths[c] += heading > width ? heading - width : 0;
    }
    for (size_t r = 0; r < listing_rows(l); r++)
        widen_for_spans(t, r);
    for (size_t c = 0; c < l->count; c++)
        if (t->narrowed[c] && t->widths[c] > t->narrowed[c])
            t->widths[c] = t->narrowed[c];
}

/* Cuts the column to what is left for it, 12 columns at least; false: it is not wider than that. */
static bool narrow_column(struct listing_table *t, size_t c)
{
    enum { NARROW = 12 };
    if (t->widths[c] <= NARROW || t->narrowed[c])
        return false;
    size_t excess = table_width(t) - t->screen->width, width = t->widths[c];
    t->narrowed[c] = width > excess + NARROW ? width - excess : NARROW;
    return true;
}

/* Returns the column to hide next. SIZE_MAX: none can be hidden. */
static size_t next_dropped(const struct listing_table *t)
{
    size_t out = SIZE_MAX;
    unsigned greatest = 0;
    for (size_t c = 0; c < t->l->count; c++) {
        const struct listing_column *column = &t->l->columns[c];
        unsigned rank = t->hidden[c] || t->narrowed[c] ? 0 : column->narrow ? column->narrow : column->drop;
        if (rank && rank >= greatest) {
            greatest = rank;
            out = c;
        }
    }
    return out;
}

/* Widens columns that were cut before other columns were hidden. */
static void widen_narrowed(struct listing_table *t)
{
    for (size_t c = 0; c < t->l->count; c++) {
        size_t total = table_width(t), left = t->screen->width > total ? t->screen->width - total : 0;
        if (t->hidden[c] || !t->narrowed[c] || t->narrowed[c] == SIZE_MAX)
            continue;
        t->narrowed[c] += left;
        measure_columns(t);
    }
}

/* Narrows or hides the columns that may be dropped, until the table fits or none is left. */
static void drop_columns(struct listing_table *t)
{
    while (table_width(t) > t->screen->width) {
        size_t out = next_dropped(t);
        if (out == SIZE_MAX)
            break;
        if (!t->l->columns[out].narrow)
            t->hidden[out] = true;
        else if (!narrow_column(t, out))
            t->narrowed[out] = SIZE_MAX;
        measure_columns(t);
    }
    widen_narrowed(t);
}

/* Narrows the widest columns of text, down to a minimum, until the table fits. */
static void shrink_columns(struct listing_table *t)
{
    enum { LEAST = 16 };
    size_t total = table_width(t);
    for (; total > t->screen->width; total--) {
        size_t widest = SIZE_MAX;
        for (size_t c = 0; c < t->l->count; c++) {
            if (t->hidden[c] || t->l->columns[c].right || t->l->columns[c].whole || t->widths[c] <= LEAST)
                continue;
            if (widest == SIZE_MAX || t->widths[c] >= t->widths[widest])
                widest = c;
        }
        if (widest == SIZE_MAX)
            return;
        t->widths[widest]--;
    }
}

/* Narrows the first column where the table does not fit; a name that is wider then has a line of
 * its own. */
static void fold_names(struct listing_table *t)
{
    enum { LEAST = 8 };
    size_t first = 0, total = table_width(t);
    while (first < t->last && t->hidden[first])
        first++;
    if (total <= t->screen->width || first == t->last || t->l->columns[first].right || t->widths[first] <= LEAST)
        return;
    size_t excess = total - t->screen->width, width = t->widths[first];
    t->widths[first] = width > excess + LEAST ? width - excess : LEAST;
}

/* Hides columns of numbers from the right, all but one, as the last resort. */
static void drop_numbers(struct listing_table *t)
{
    for (size_t c = t->l->count; c-- > 0 && table_width(t) > t->screen->width;) {
        bool earlier = false;
        for (size_t k = 0; k < c; k++)
            earlier = earlier || (!t->hidden[k] && t->l->columns[k].right);
        if (earlier && t->l->columns[c].right)
            t->hidden[c] = true;
    }
}

/* ---- lines ---- */

/* Appends one cell in `width` columns and `gap` blanks after it; at the end of a line (SIZE_MAX)
 * blanks are left out. A text wider than that ends its line; the next line continues after `used`
 * columns and the cell. */
static void put_aligned(struct listing_table *t, struct str text, size_t width, bool right, enum style style, size_t used, size_t gap)
{
    size_t own = screen_text_width(text), fill = width > own ? width - own : 0;
    if (right)
        screen_fill(t->to, fill);
    screen_style_begin(t->screen, text.n ? style : STYLE_PLAIN, t->to);
    buf_str(t->to, text);
    screen_style_end(t->screen, text.n ? style : STYLE_PLAIN, t->to);
    if (gap == SIZE_MAX)
        return;
    if (own > width) {
        buf_putc(t->to, '\n');
        fill = used + width;
    }
    screen_fill(t->to, right && own <= width ? gap : fill + gap);
}

/* Returns how many columns of the screen are left for a cell that ends a line; SIZE_MAX for names
 * and numbers, which are never cut. */
static size_t width_left(const struct listing_table *t, size_t used, size_t column)
{
    const struct listing_column *is = &t->l->columns[column];
    if (is->right || is->whole || t->screen->width == SIZE_MAX)
        return SIZE_MAX;
    return t->screen->width > used + 1 ? t->screen->width - used : 1;
}

/* Appends one row. A text that ends it may use what is left of the screen, and may be wrapped
 * there. */
static void listing_put_row(struct listing_table *t, size_t row)
{
    const struct listing *l = t->l;
    CLEANUP_BUF struct buf text;
    buf_init(&text, CELL_MAX * 4 + 64);
    size_t used = l->indent;
    screen_fill(t->to, l->indent);
    for (size_t c = 0; c < l->count; c++) {
        const struct listing_cell *cell = listing_cell_at(l, row, c);
        if (!cell->span || (cell->span == 1 && t->hidden[c]))
            continue;
        size_t width = span_width(t, c, cell->span), left = width_left(t, used, c);
        bool ends = row_ends(t, row, c);
        if (!width)
            continue;
        buf_clear(&text);
        if (ends && l->columns[c].wrap && left != SIZE_MAX) {
            cell_shown(l, cell, c, SIZE_MAX, &text);
            screen_style_begin(t->screen, cell->style, t->to);
            screen_wrap(t->screen, buf_text(&text), used, used, t->to);
            screen_style_end(t->screen, cell->style, t->to);
            break;
        }
        bool is_cut = width < left && !l->columns[c].whole && !(cell->span > 1 && ends);
        cell_shown(l, cell, c, is_cut ? width : left, &text);
        put_aligned(t, buf_text(&text), width, l->columns[c].right && cell->span == 1, cell->style, used,
                    ends ? SIZE_MAX : gap_after(t, c + cell->span));
        used += width + gap_after(t, c + cell->span);
        if (ends)
            break;
    }
    buf_putc(t->to, '\n');
}

/* Appends the headings up to the last one that has a text, without a line end. */
static void put_headings(struct listing_table *t)
{
    size_t last = 0, used = t->l->indent;
    for (size_t c = 0; c < t->l->count; c++)
        if (!t->hidden[c] && t->l->columns[c].heading[0])
            last = c;
    for (size_t c = 0, next; c <= last; c = next) {
        next = c + 1;
        if (t->hidden[c])
            continue;
        next = heading_end(t, c);
        size_t width = span_width(t, c, next - c), gap = gap_after(t, next);
        put_aligned(t, str_of(t->l->columns[c].heading), width, t->l->columns[c].right, STYLE_PLAIN, used, next > last ? SIZE_MAX : gap);
        used += width + gap;
    }
}

/* Appends the line above the headings, if a visible column has one. A text aligned left extends
 * over the columns without one after it. */
static void put_above(struct listing_table *t)
{
    const struct listing *l = t->l;
    size_t last = SIZE_MAX, used = l->indent;
    for (size_t c = 0; c < l->count; c++)
        if (!t->hidden[c] && l->columns[c].above)
            last = c;
    if (last == SIZE_MAX)
        return;
    screen_fill(t->to, l->indent);
    screen_style_begin(t->screen, STYLE_MAIN, t->to);
    for (size_t c = 0, next; c <= last; c = next) {
        next = c + 1;
        if (t->hidden[c])
            continue;
        while (next < last && !l->columns[c].right && !l->columns[next].above)
            next++;
        size_t width = span_width(t, c, next - c), gap = gap_after(t, next);
        put_aligned(t, str_of(l->columns[c].above), width, l->columns[c].right, STYLE_PLAIN, used, c == last ? SIZE_MAX : gap);
        used += width + gap;
    }
    screen_style_end(t->screen, STYLE_MAIN, t->to);
    buf_putc(t->to, '\n');
}

/* Returns the heading harmless for a terminal: itself, or a copy in the arena. NULL for NULL, or
 * when out of memory. */
static const char *plain_heading(const char *text, struct arena *a)
{
    if (!text || screen_is_ascii(str_of(text)))
        return text;
    CLEANUP_BUF struct buf b;
    buf_init(&b, CELL_MAX * 4 + 8);
    buf_plain(&b, str_of(text), CELL_MAX);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Returns the columns with harmless headings: these may be keys of params or names of experiments.
 * NULL: out of memory. */
static const struct listing_column *plain_columns(const struct listing *l)
{
    struct listing_column *ret = arena_get(l->arena, (l->count + 1) * sizeof *ret);
    for (size_t c = 0; ret && c < l->count; c++) {
        ret[c] = l->columns[c];
        ret[c].heading = plain_heading(ret[c].heading, l->arena);
        ret[c].above = plain_heading(ret[c].above, l->arena);
    }
    return l->arena->failed ? NULL : ret;
}

/* Decides on columns and widths; appends the phrases above the table. */
static void lay_out(struct listing_table *t)
{
    hide_repeated(t);
    measure_columns(t);
    drop_columns(t);
    shrink_columns(t);
    t->close = table_width(t) > t->screen->width;
    fold_names(t);
    drop_numbers(t);
}

/* Appends the complete table. Decides on columns and widths first. */
static void listing_put_table(struct listing_table *t)
{
    const struct listing *l = t->l;
    lay_out(t);
    if (!l->bare) {
        put_above(t);
        screen_fill(t->to, l->indent);
        screen_style_begin(t->screen, STYLE_MAIN, t->to);
        put_headings(t);
        screen_style_end(t->screen, STYLE_MAIN, t->to);
        while (t->to->n && t->to->p[t->to->n - 1] == ' ')
            t->to->p[--t->to->n] = 0;
        buf_putc(t->to, '\n');
    }
    for (size_t r = 0; r < listing_rows(l); r++)
        listing_put_row(t, r);
}

/* Allocates the table's arrays. False: out of memory; the caller frees what there is. */
static bool table_init(struct listing_table *t, const struct listing *l, const struct screen *screen, struct buf *to)
{
    *t = (struct listing_table){.l = l,
                                .screen = screen,
                                .to = to,
                                .widths = calloc(l->count, sizeof *t->widths),
                                .narrowed = calloc(l->count, sizeof *t->narrowed),
                                .hidden = calloc(l->count, sizeof *t->hidden)};
    return t->widths && t->narrowed && t->hidden;
}

static void table_deinit(struct listing_table *t)
{
    free(t->widths);
    free(t->narrowed);
    free(t->hidden);
}

int listing_render(const struct listing *l, const struct screen *screen, struct buf *to)
{
    struct listing_table t;
    if (l->failed)
        return -1;
    if (!listing_rows(l))
        return 0;
    struct listing plain = *l;
    plain.columns = plain_columns(l);
    bool ready = table_init(&t, &plain, screen, to) && plain.columns;
    if (ready)
        listing_put_table(&t);
    table_deinit(&t);
    return ready && !to->failed ? 0 : -1;
}

bool listing_shows(const struct listing *l, const struct screen *screen, const char *key)
{
    CLEANUP_BUF struct buf above;
    struct listing_table t;
    bool shown = false;
    buf_init(&above, 1 << 16);
    if (l->failed || !listing_rows(l))
        return false;
    if (table_init(&t, l, screen, &above)) {
        lay_out(&t);
        for (size_t c = 0; c < l->count; c++)
            shown = shown || (!t.hidden[c] && strcmp(l->columns[c].key, key) == 0);
    }
    table_deinit(&t);
    return shown;
}

int listing_print(const struct listing *l, FILE *out)
{
    struct screen screen = screen_of_file(out);
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1u << 30);
    int status = listing_render(l, &screen, &text);
    fwrite(text.p ? text.p : "", 1, text.n, out);
    return status;
}
