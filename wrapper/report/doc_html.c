/* doc_html.c: a document as one HTML page. */
#include "report/doc.h"
#include "plot/chart_svg.h"
#include "report/html_page.h"

enum { COLUMNS_MAX = 64 };

static const char *style_class(enum style style)
{
    return style == STYLE_GOOD ? "good" : style == STYLE_BAD ? "bad" : style == STYLE_WARN ? "warn" : style == STYLE_DIM ? "dim" : NULL;
}

static void put_html_answer(struct buf *to, const struct doc_block *b)
{
    const char *class = style_class(b->style);
    buf_puts(to, "<p class=\"answer\">");
    if (b->word) {
        buf_printf(to, "<span class=\"state%s%s\">", class ? " " : "", class ? class : "");
        html_text(to, str_of(b->word), 100);
        buf_puts(to, "</span> ");
    }
    html_text(to, str_of(b->text), 2000);
    buf_puts(to, "</p>\n");
}

static void put_html_cards(struct buf *to, const struct doc_block *b)
{
    buf_puts(to, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < b->count; i++) {
        const struct doc_card *c = &b->cards[i];
        const char *class = style_class(c->style);
        buf_puts(to, "<li><div class=\"name\">");
        html_text(to, str_of(c->name), 200);
        buf_puts(to, "</div><div class=\"value\">");
        html_text(to, str_of(c->value), 60);
        if (c->unit && *c->unit) {
            buf_puts(to, " <small>");
            html_text(to, str_of(c->unit), 60);
            buf_puts(to, "</small>");
        }
        buf_puts(to, "</div>");
        if (c->more) {
            buf_printf(to, "<div class=\"more%s%s\">", class ? " " : "", class ? class : "");
            html_text(to, str_of(c->more), 300);
            buf_puts(to, "</div>");
        }
        buf_puts(to, "</li>\n");
    }
    buf_puts(to, "</ul>\n");
}

/* Writes one cell. Text with a style becomes a <span> with its class; a number is still sorted by
 * its value. */
static void put_html_cell(struct html_table *t, const struct doc_cell *c)
{
    const char *class = style_class(c->style);
    CLEANUP_BUF struct buf markup, key;
    buf_init(&markup, 32 << 10);
    buf_init(&key, 64);
    if (!class || !c->text || !*c->text) {
        if (c->is_number)
            html_cell_number(t, c->value, c->text);
        else
            html_cell_text(t, c->text);
        return;
    }
    buf_printf(&markup, "<span class=\"%s\">", class);
    html_text(&markup, str_of(c->text), 2000);
    buf_puts(&markup, "</span>");
    if (c->is_number)
        buf_double(&key, c->value);
    html_cell_markup(t, c->is_number ? key.p : NULL, buf_text(&markup));
}

static void put_html_table(struct buf *to, const struct doc_grid *d)
{
    struct html_column columns[COLUMNS_MAX];
    struct html_table t;
    size_t n = d->count < COLUMNS_MAX ? d->count : COLUMNS_MAX;
    for (size_t i = 0; i < n; i++)
        columns[i] = (struct html_column){d->columns[i].heading, d->columns[i].unit, d->columns[i].is_number};
    html_table_begin(&t, to, columns, n, d->is_facts ? "facts" : "data", d->caption);
    for (size_t row = 0; row < doc_rows(d); row++)
        for (size_t i = 0; i < n; i++)
            put_html_cell(&t, &d->cells[row * d->count + i]);
    html_table_end(&t);
}

static void put_html_block(struct buf *to, const struct doc_block *b)
{
    switch (b->kind) {
    case DOC_HEADING: html_element(to, "h2", NULL, b->text); break;
    case DOC_TEXT: html_element(to, "p", style_class(b->style), b->text); break;
    case DOC_ANSWER: put_html_answer(to, b); break;
    case DOC_NOTE: html_element(to, "li", NULL, b->text); break;
    case DOC_COMMAND: html_element(to, "pre", "command", b->text); break;
    case DOC_OUTPUT:
        buf_puts(to, "<pre tabindex=\"0\">");
        html_lines(to, b->lines);
        buf_puts(to, "</pre>\n");
        break;
    case DOC_CARDS: put_html_cards(to, b); break;
    case DOC_TABLE: put_html_table(to, b->table); break;
    case DOC_CHART:
        buf_puts(to, "<figure>");
        chart_svg_inline(to, b->chart);
        buf_puts(to, "</figure>\n");
        break;
    case DOC_FOLD:
        buf_puts(to, "<details><summary>");
        html_text(to, str_of(b->text), 300);
        buf_puts(to, "</summary>\n");
        break;
    case DOC_UNFOLD: buf_puts(to, "</details>\n"); break;
    }
}

int doc_html(const struct doc *d, struct buf *to)
{
    struct html_page page = {.title = d->title, .above = d->above, .above_path = d->above_path};
    for (const struct doc_block *b = d->first; b; b = b->next)
        page.has_charts = page.has_charts || b->kind == DOC_CHART;
    bool in_notes = false;
    html_page_begin(to, &page);
    for (const struct doc_block *b = d->first; b; b = b->next) {
        if ((b->kind == DOC_NOTE) != in_notes)
            buf_puts(to, in_notes ? "</ul>\n" : "<ul class=\"notes\">\n");
        in_notes = b->kind == DOC_NOTE;
        put_html_block(to, b);
    }
    if (in_notes)
        buf_puts(to, "</ul>\n");
    html_page_end(to, &page, d->foot);
    return to->failed || d->a->failed ? -1 : 0;
}
