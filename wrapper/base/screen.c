/* screen.c: what a terminal shows: its width, its colours, and the columns that text occupies; see screen.h. */
#include "base/screen.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_MIN = 20, WIDTH_MAX = 10000 };

struct screen screen_of(int fd)
{
    struct screen s = {.width = SIZE_MAX, .is_terminal = fd >= 0 && isatty(fd)};
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM"), *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t wanted;
    if (!s.is_terminal)
        return s;
    s.has_colour = !(no && *no) && !(term && strcmp(term, "dumb") == 0);
    if (columns && str_int(str_of(columns), &wanted) && wanted >= WIDTH_MIN && wanted <= WIDTH_MAX)
        s.width = (size_t)wanted;
    else if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN)
        s.width = size.ws_col;
    return s;
}

struct screen screen_of_file(FILE *out)
{
    return screen_of(fileno(out));
}

void screen_write_data(FILE *out, struct str data)
{
    if (!screen_of_file(out).is_terminal) {
        fwrite(data.p ? data.p : "", 1, data.n, out);
        return;
    }
    while (data.n) {
        struct str line = str_cut(&data, '\n');
        bool ends = data.p, returns = line.n && line.p[line.n - 1] == '\r';
        CLEANUP_BUF struct buf b;
        buf_init(&b, 8 * line.n + 64);
        buf_plain(&b, str_sub(line, 0, line.n - returns), SIZE_MAX);
        fprintf(out, "%s%s%s", b.p ? b.p : "", returns ? "\r" : "", ends ? "\n" : "");
    }
}

size_t screen_columns(const struct screen *s)
{
    return s->width == SIZE_MAX ? SCREEN_DEFAULT : s->width;
}

static const char *const style_codes[] = {
    [STYLE_PLAIN] = "", [STYLE_MAIN] = "1", [STYLE_DIM] = "2", [STYLE_GOOD] = "32", [STYLE_BAD] = "31", [STYLE_WARN] = "33",
};

void screen_style_begin(const struct screen *s, enum style style, struct buf *to)
{
    if (s->has_colour && style != STYLE_PLAIN)
        buf_printf(to, "\033[%sm", style_codes[style]);
}

void screen_style_end(const struct screen *s, enum style style, struct buf *to)
{
    if (s->has_colour && style != STYLE_PLAIN)
        buf_puts(to, "\033[0m");
}

void screen_puts(const struct screen *s, enum style style, const char *text, struct buf *to)
{
    screen_style_begin(s, style, to);
    buf_puts(to, text);
    screen_style_end(s, style, to);
}

void screen_fill(struct buf *to, size_t n)
{
    while (n--)
        buf_putc(to, ' ');
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

/* Returns how many columns a code point occupies on a terminal; 1 where width_ranges has none for
 * it. */
static unsigned character_width(uint32_t c)
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

/* Returns how many bytes of the text fit into `max` columns; *ret_width: the columns that they
 * occupy. */
static size_t text_fit(struct str text, size_t max, size_t *ret_width)
{
    size_t i = 0, width = 0;
    while (i < text.n) {
        size_t k = str_utf8(text.p + i, text.n - i);
        unsigned w = k ? character_width(utf8_code_point(text.p + i, k)) : 1;
        if (width + w > max)
            break;
        width += w;
        i += k ? k : 1;
    }
    *ret_width = width;
    return i;
}

bool screen_is_ascii(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < ' ' || text.p[i] > '~')
            return false;
    return true;
}

size_t screen_text_width(struct str text)
{
    size_t width;
    if (screen_is_ascii(text))
        return text.n;
    text_fit(text, SIZE_MAX, &width);
    return width;
}

void screen_clip(struct buf *to, struct str text, size_t max)
{
    size_t width = screen_text_width(text);
    if (width <= max) {
        buf_str(to, text);
        return;
    }
    size_t n = text_fit(text, max > 1 ? max - 1 : 0, &width);
    buf_add(to, text.p, n);
    buf_puts(to, "…");
}

void screen_clip_middle(struct buf *to, struct str text, size_t max)
{
    size_t width = screen_text_width(text), head_width, skipped;
    if (width <= max) {
        buf_str(to, text);
        return;
    }
    size_t head = text_fit(text, (max - 1) / 2, &head_width), left = max - 1 - head_width;
    size_t tail = text_fit(text, width - left, &skipped);
    if (width - skipped > left) /* a wide character on the edge */
        tail += str_utf8(text.p + tail, text.n - tail);
    buf_add(to, text.p, head);
    buf_puts(to, "…");
    buf_add(to, text.p + tail, text.n - tail);
}

/* Returns the length of the longest beginning of the text that ends before a blank and is at most
 * `max` columns wide; at least one word. */
static size_t line_length(struct str text, size_t max)
{
    size_t best = 0;
    for (size_t i = 1; i <= text.n; i++) {
        if (i < text.n && text.p[i] != ' ')
            continue;
        if (best && screen_text_width(str_sub(text, 0, i)) > max)
            break;
        best = i;
    }
    return best;
}

void screen_wrap(const struct screen *s, struct str text, size_t first, size_t indent, struct buf *to)
{
    size_t used = first;
    for (bool more = false; text.n; more = true) {
        size_t max = s->width == SIZE_MAX ? SIZE_MAX : s->width > used + 8 ? s->width - used : 8;
        size_t n = max == SIZE_MAX ? text.n : line_length(text, max);
        if (more) {
            buf_putc(to, '\n');
            screen_fill(to, indent);
        }
        buf_add(to, text.p, n);
        text = str_sub(text, n, text.n);
        while (text.n && text.p[0] == ' ')
            text = str_sub(text, 1, text.n);
        used = indent;
    }
}

void screen_wrap_plain(const struct screen *s, struct str text, size_t first, size_t indent, struct buf *to)
{
    enum { SHOWN_MAX = 16000, ESCAPED_MAX = 8 /* bytes of one character */ };
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, SHOWN_MAX * ESCAPED_MAX);
    buf_plain(&plain, text, SHOWN_MAX);
    screen_fill(to, first);
    screen_wrap(s, buf_text(&plain), first, indent, to);
    buf_putc(to, '\n');
}

void screen_prefix(const struct screen *s, const char *prefix, struct str text, struct buf *to)
{
    bool first = true;
    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    for (struct str rest = text; rest.p && text.n;) {
        struct str line = str_cut(&rest, '\n');
        if (line.n ? first || !s->is_terminal : false)
            buf_printf(to, "%s: ", prefix);
        first = first && !line.n;
        if (line.n || s->is_terminal) {
            buf_str(to, line);
            buf_putc(to, '\n');
        }
    }
}
