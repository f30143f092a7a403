/* html_page.c: the frame of a page, and its tables; see html_page.h. */
#include "report/html_page.h"
#include "base/sha256.h"
#include "plot/chart_svg.h"

#include <math.h>
#include <string.h>

/* Style and script as they are in the source. The path is relative to where the compiler is started: the source's root. */
#define EMBED(symbol, path)                                                                                                                \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" path "\"\n" #symbol "_end:\n.byte 0\n.popsection\n");                         \
    extern const char symbol[] __attribute__((visibility("hidden"))), symbol##_end[] __attribute__((visibility("hidden")))
EMBED(page_style, "wrapper/report/page.css");
EMBED(page_script, "wrapper/report/page.js");

enum { CELL_MAX = 2000, DIGEST_BYTES = 32 };

/* Appends the digest, which is in hexadecimal, in base64, as a content security policy names a script. */
static void add_script_hash(struct buf *to, const char *hex)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < DIGEST_BYTES; i += 3) {
        unsigned bits = 0;
        for (int k = i; k < i + 3; k++)
            bits = bits << 8 | (k < DIGEST_BYTES ? (unsigned)(str_hex_digit(hex[2 * k]) << 4 | str_hex_digit(hex[2 * k + 1])) : 0);
        for (int k = 0; k < 4; k++)
            buf_putc(to, i + k > DIGEST_BYTES ? '=' : digits[bits >> (18 - 6 * k) & 63]);
    }
}

/* Appends the content of the <script> element. */
static void add_script(struct buf *to, const struct html_page *page)
{
    buf_putc(to, '\n');
    /* cppcheck-suppress comparePointers ; the linker places one behind the other */
    buf_add(to, page_script, (size_t)(page_script_end - page_script));
    if (page->script)
        buf_puts(to, page->script);
}

/* Appends the content security policy, which allows only the script with the digest of this page's
 * script. page->policy adds further directives. */
static void add_policy(struct buf *to, const struct html_page *page)
{
    char hex[SHA256_HEX];
    CLEANUP_BUF struct buf script;
    buf_init(&script, 1 << 20);
    add_script(&script, page);
    sha256_of(script.p, script.n, hex);
    buf_puts(to, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                 "base-uri 'none'; form-action 'none'; script-src 'sha256-");
    add_script_hash(to, hex);
    buf_printf(to, "'%s%s\">\n", page->policy ? "; " : "", page->policy ? page->policy : "");
}

void html_page_begin(struct buf *to, const struct html_page *page)
{
    buf_puts(
        to,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
    add_policy(to, page);
    buf_puts(to, "<title>");
    html_text(to, str_of(page->title), 300);
    buf_puts(to, "</title>\n<link rel=\"icon\" href=\"data:,\">\n");
    if (page->head)
        buf_puts(to, page->head);
    buf_puts(to, "<style>\n");
    /* cppcheck-suppress comparePointers ; the linker places one behind the other */
    buf_add(to, page_style, (size_t)(page_style_end - page_style));
    if (page->has_charts)
        chart_svg_style(to);
    buf_puts(to, "</style>\n</head>\n<body>\n<header>\n");
    if (page->above) {
        buf_puts(to, "<p class=\"above\">");
        html_link(to, page->above_path, page->above);
        buf_puts(to, "</p>\n");
    }
    html_element(to, "h1", NULL, page->title);
    buf_puts(to, "</header>\n<main>\n");
}

void html_page_end(struct buf *to, const struct html_page *page, const char *foot)
{
    buf_puts(to, "</main>\n");
    if (foot) {
        buf_puts(to, "<footer>");
        html_element(to, "p", NULL, foot);
        buf_puts(to, "</footer>\n");
    }
    buf_puts(to, "<script>");
    add_script(to, page);
    buf_puts(to, "</script>\n</body>\n</html>\n");
}

void html_table_begin(struct html_table *t, struct buf *to, const struct html_column *columns, size_t count, const char *class,
                      const char *caption)
{
    *t = (struct html_table){to, columns, count, 0};
    buf_printf(to, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    html_text(to, str_of(caption ? caption : "table"), 200);
    buf_printf(to, "\"><table class=\"%s\">\n", class);
    buf_puts(to, "<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        buf_printf(to, "<th scope=\"col\"%s>", columns[i].is_number ? " class=\"n\"" : "");
        html_text(to, str_of(columns[i].heading), 200);
        if (columns[i].unit && *columns[i].unit) {
            buf_puts(to, " <small>");
            html_text(to, str_of(columns[i].unit), 60);
            buf_puts(to, "</small>");
        }
        buf_puts(to, "</th>");
    }
    buf_puts(to, "</tr></thead>\n<tbody>\n");
}

/* Opens a cell, and the row before its first one. key: what it is sorted by; NULL: its text. */
static void cell_open(struct html_table *t, const char *key)
{
    const struct html_column *column = &t->columns[t->at];
    if (t->at == 0)
        buf_puts(t->to, "<tr>");
    buf_printf(t->to, "<td%s", column->is_number ? " class=\"n\"" : "");
    if (key) {
        buf_puts(t->to, " data-v=\"");
        html_text(t->to, str_of(key), 200);
        buf_putc(t->to, '"');
    }
    buf_putc(t->to, '>');
}

static void cell_close(struct html_table *t)
{
    buf_puts(t->to, "</td>");
    if (++t->at == t->count) {
        buf_puts(t->to, "</tr>\n");
        t->at = 0;
    }
}

void html_cell_text(struct html_table *t, const char *text)
{
    cell_open(t, text ? NULL : "");
    html_text(t->to, str_of(text ? text : "–"), CELL_MAX);
    cell_close(t);
}

void html_cell_number(struct html_table *t, double value, const char *shown)
{
    CLEANUP_BUF struct buf key;
    buf_init(&key, 64);
    if (isnan(value)) {
        html_cell_text(t, NULL);
        return;
    }
    buf_double(&key, value);
    cell_open(t, key.p);
    html_text(t->to, str_of(shown), CELL_MAX);
    cell_close(t);
}

void html_cell_markup(struct html_table *t, const char *key, struct str markup)
{
    cell_open(t, key);
    buf_str(t->to, markup);
    cell_close(t);
}

void html_table_end(struct html_table *t)
{
    buf_puts(t->to, "</tbody></table></div>\n");
}
