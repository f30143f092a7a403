/* listing.c: rows of cells, printed as a table or as JSON. */
#include "base/listing.h"

#include "base/json_out.h"
#include "base/show.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct listing_cell {
    const char *text; /* NULL: nothing known */
    double value;
    bool number;
};

enum { CELL_MAX = 4096 }; /* characters of one cell; params of MLflow end at 6000, no table is read so far */

void listing_init(struct listing *l, const struct listing_column *columns, size_t count, struct arena *arena)
{
    *l = (struct listing){.columns = columns, .count = count, .arena = arena};
}

void listing_deinit(struct listing *l)
{
    free(l->cells);
    l->cells = NULL;
}

static void add(struct listing *l, struct listing_cell cell)
{
    if (l->used == l->room) {
        size_t room = l->room ? l->room * 2 : 256;
        struct listing_cell *cells = realloc(l->cells, room * sizeof *cells);
        if (!cells) {
            l->failed = true;
            return;
        }
        l->cells = cells;
        l->room = room;
    }
    l->cells[l->used++] = cell;
}

void listing_str(struct listing *l, struct str text)
{
    char *copy = arena_dup(l->arena, text.p, text.n);
    l->failed |= !copy;
    add(l, (struct listing_cell){.text = copy});
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
    add(l, (struct listing_cell){.text = copy, .value = value, .number = true});
}

void listing_none(struct listing *l)
{
    add(l, (struct listing_cell){0});
}

size_t listing_rows(const struct listing *l)
{
    return l->count ? l->used / l->count : 0;
}

/* Ranges of characters that are not one column wide: combining marks and formats 0, East Asian wide and emoji 2 (Unicode 15, condensed). */
static const struct width_range {
    uint32_t from, to;
    unsigned width;
} width_ranges[] = {
    {0x0300, 0x036f, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05bd, 0},   {0x0610, 0x061a, 0},   {0x064b, 0x065f, 0}, {0x06d6, 0x06dc, 0},
    {0x0900, 0x0902, 0},   {0x093c, 0x093c, 0},   {0x0941, 0x0948, 0},   {0x0e31, 0x0e31, 0},   {0x0e34, 0x0e3a, 0}, {0x0e47, 0x0e4e, 0},
    {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0},   {0x202a, 0x202e, 0}, {0x2060, 0x2064, 0},
    {0x20d0, 0x20ff, 0},   {0x231a, 0x231b, 2},   {0x23e9, 0x23ec, 2},   {0x25fd, 0x25fe, 2},   {0x2614, 0x2615, 2}, {0x2648, 0x2653, 2},
    {0x26a1, 0x26a1, 2},   {0x2705, 0x2705, 2},   {0x274c, 0x274c, 2},   {0x2753, 0x2755, 2},   {0x2e80, 0x303e, 2}, {0x3041, 0x33ff, 2},
    {0x3400, 0x4dbf, 2},   {0x4e00, 0x9fff, 2},   {0xa000, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
    {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xfeff, 0xfeff, 0},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
    {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0},
};

static unsigned width_of(uint32_t c)
{
    size_t low = 0, high = sizeof width_ranges / sizeof width_ranges[0];
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > width_ranges[mid].to)
            low = mid + 1;
        else
            high = mid;
    }
    return low < sizeof width_ranges / sizeof width_ranges[0] && c >= width_ranges[low].from ? width_ranges[low].width : 1;
}

/* The character at p (k bytes of valid UTF-8). */
static uint32_t decode(const char *p, size_t k)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t c = k == 1 ? u[0] : k == 2 ? u[0] & 0x1fu : k == 3 ? u[0] & 0xfu : u[0] & 7u;
    for (size_t i = 1; i < k; i++)
        c = c << 6 | (u[i] & 0x3fu);
    return c;
}

/* Bytes of text that fit into `max` columns; *ret_width is what they take. */
static size_t fit(struct str text, size_t max, size_t *ret_width)
{
    size_t i = 0, width = 0;
    while (i < text.n) {
        size_t k = str_utf8(text.p + i, text.n - i);
        unsigned w = k ? width_of(decode(text.p + i, k)) : 1;
        if (width + w > max)
            break;
        width += w;
        i += k ? k : 1;
    }
    *ret_width = width;
    return i;
}

/* Most text is: each byte is a character of one column. */
static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < ' ' || text.p[i] > '~')
            return false;
    return true;
}

size_t listing_width(struct str text)
{
    size_t width;
    if (is_ascii(text))
        return text.n;
    fit(text, SIZE_MAX, &width);
    return width;
}

bool listing_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

/* COLUMNS goes before what the terminal says of itself, as with ls(1); in a pipe nothing is cut. */
static size_t terminal_width(FILE *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int fd = fileno(out);
    int64_t wanted;
    if (fd < 0 || !isatty(fd))
        return SIZE_MAX;
    if (columns && str_int(str_of(columns), &wanted) && wanted >= 20 && wanted <= 10000)
        return (size_t)wanted;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
        return SIZE_MAX;
    return size.ws_col;
}

/* text cut to max columns, the cut visible. */
static void clip(struct buf *to, struct str text, size_t max)
{
    size_t width = listing_width(text);
    if (width <= max) {
        buf_str(to, text);
        return;
    }
    size_t n = fit(text, max > 1 ? max - 1 : 0, &width);
    buf_add(to, text.p, n);
    buf_puts(to, "…");
}

/* The same in the middle: keys, ids and paths of a column differ at both ends. */
static void clip_middle(struct buf *to, struct str text, size_t max)
{
    size_t width = listing_width(text), head_width, skipped;
    if (width <= max) {
        buf_str(to, text);
        return;
    }
    size_t head = fit(text, (max - 1) / 2, &head_width), room = max - 1 - head_width;
    size_t tail = fit(text, width - room, &skipped);
    if (width - skipped > room) /* a wide character on the edge */
        tail += str_utf8(text.p + tail, text.n - tail);
    buf_add(to, text.p, head);
    buf_puts(to, "…");
    buf_add(to, text.p + tail, text.n - tail);
}

/* The cell of `row` (SIZE_MAX: the heading) in at most `max` columns. */
static void cell_shown(const struct listing *l, size_t row, size_t column, size_t max, struct buf *to)
{
    const struct listing_cell *cell = row == SIZE_MAX ? NULL : &l->cells[row * l->count + column];
    size_t own = l->columns[column].max;
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, CELL_MAX * 4 + 8);
    struct str text = str_of(!cell ? l->columns[column].heading : cell->text ? cell->text : "-");
    if (own && own < max)
        max = own;
    if (text.n <= max && text.n <= CELL_MAX && is_ascii(text)) {
        buf_str(to, text);
        return;
    }
    buf_plain(&plain, text, CELL_MAX);
    text = buf_text(&plain);
    if (max > 8 && max != SIZE_MAX && str_find(text, STR(" ")) < 0)
        clip_middle(to, text, max);
    else
        clip(to, text, max);
}

/* Where the table is wider than the terminal, the widest columns of text give way; numbers stay whole. */
static void shrink(const struct listing *l, size_t *widths, size_t last, size_t terminal)
{
    enum { LEAST = 16 };
    size_t total = 0;
    for (size_t c = 0; c <= last; c++)
        if (l->columns[c].heading)
            total += widths[c] + (c < last ? 2 : 0);
    while (total > terminal) {
        size_t widest = SIZE_MAX;
        for (size_t c = 0; c <= last; c++) {
            if (!l->columns[c].heading || l->columns[c].right || widths[c] <= LEAST)
                continue;
            if (widest == SIZE_MAX || widths[c] >= widths[widest])
                widest = c;
        }
        if (widest == SIZE_MAX)
            return;
        widths[widest]--;
        total--;
    }
}

static void put_line(const struct listing *l, size_t row, const size_t *widths, size_t last, struct buf *line)
{
    CLEANUP_BUF struct buf cell;
    buf_init(&cell, CELL_MAX * 4 + 64);
    for (size_t c = 0; c <= last; c++) {
        if (!l->columns[c].heading)
            continue;
        buf_clear(&cell);
        cell_shown(l, row, c, widths[c], &cell);
        size_t width = listing_width(buf_text(&cell)), fill = widths[c] > width ? widths[c] - width : 0;
        if (l->columns[c].right)
            for (; fill; fill--)
                buf_putc(line, ' ');
        buf_str(line, buf_text(&cell));
        if (c < last)
            for (fill += 2; fill; fill--)
                buf_putc(line, ' ');
    }
}

int listing_print(const struct listing *l, FILE *out)
{
    size_t rows = listing_rows(l), last = 0, terminal = terminal_width(out);
    if (l->failed)
        return -1;
    if (!rows)
        return 0;
    size_t *widths = calloc(l->count, sizeof *widths);
    struct buf line, text, cell;
    buf_init(&line, 1 << 20);
    buf_init(&text, 1 << 20);
    buf_init(&cell, CELL_MAX * 4 + 64);
    for (size_t c = 0; widths && c < l->count; c++) {
        if (!l->columns[c].heading)
            continue;
        last = c;
        widths[c] = listing_width(str_of(l->columns[c].heading));
        for (size_t r = 0; r < rows; r++) {
            buf_clear(&cell);
            cell_shown(l, r, c, SIZE_MAX, &cell);
            size_t width = listing_width(buf_text(&cell));
            if (width > widths[c])
                widths[c] = width;
        }
    }
    if (widths)
        shrink(l, widths, last, terminal);
    bool bold = listing_colour(out);
    for (size_t r = 0; widths && r <= rows; r++) {
        buf_clear(&line);
        buf_clear(&text);
        put_line(l, r ? r - 1 : SIZE_MAX, widths, last, &line);
        while (line.n && line.p[line.n - 1] == ' ')
            line.p[--line.n] = 0;
        clip(&text, buf_text(&line), terminal);
        fprintf(out, "%s%s%s\n", !r && bold ? "\033[1m" : "", text.p ? text.p : "", !r && bold ? "\033[0m" : "");
    }
    int status = widths && !line.failed && !text.failed && !cell.failed ? 0 : -1;
    free(widths);
    buf_deinit(&line);
    buf_deinit(&text);
    buf_deinit(&cell);
    return status;
}

void listing_json(const struct listing *l, struct buf *to)
{
    struct json_out j = {.to = to};
    json_open(&j, NULL, '[');
    for (size_t r = 0; r < listing_rows(l); r++) {
        json_open(&j, NULL, '{');
        for (size_t c = 0; c < l->count; c++) {
            const struct listing_cell *cell = &l->cells[r * l->count + c];
            if (cell->number)
                json_double(&j, l->columns[c].key, cell->value);
            else
                json_text(&j, l->columns[c].key, cell->text);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
}
