/* doc_markdown.c: a document as Markdown for a forge. */
#include "base/markdown.h"
#include "plot/chart_text.h"
#include "report/doc.h"

enum { CELL_MAX = 200, ROWS_MAX = 300, PRE_MAX = DOC_OUTPUT_MAX, CHART_WIDTH = 90 };

/* Appends a text that is mostly the program's own: as code where it has more than letters, digits
 * and blanks. */
static void markdown_own(struct buf *to, const char *text)
{
    bool plain = true;
    for (const char *p = text; *p; p++)
        plain = plain && (str_is_letter(*p) || str_is_digit(*p) || *p == ' ');
    if (plain)
        buf_puts(to, text);
    else
        markdown_text(to, text, CELL_MAX);
}

/* Appends lines as a block of code: nothing in it has a meaning, since each character that has one
 * is an entity. */
static void markdown_lines(struct buf *to, struct str text)
{
    buf_puts(to, "<pre>\n");
    text = str_sub(text, 0, PRE_MAX);
    while (text.n) {
        struct str line = str_cut(&text, '\n');
        CLEANUP_BUF struct buf z;
        buf_init(&z, 64 << 10);
        buf_str(&z, line);
        if (line.n && z.p)
            markdown_text(to, z.p, 400);
        buf_puts(to, line.n ? "\n" : "&#8203;\n"); /* an empty line would end the block */
        if (!text.p)
            break;
    }
    buf_puts(to, "</pre>\n\n");
}

/* Writes up to ROWS_MAX rows, then how many more there are. A cell without text becomes a dash. */
static void markdown_table(struct buf *to, const struct doc_grid *t)
{
    size_t rows = doc_rows(t), shown = rows < ROWS_MAX ? rows : ROWS_MAX;
    for (size_t i = 0; i < t->count; i++) {
        buf_puts(to, i ? " | " : "| ");
        markdown_own(to, t->columns[i].heading);
        if (t->columns[i].unit && *t->columns[i].unit) {
            buf_puts(to, ", ");
            markdown_text(to, t->columns[i].unit, CELL_MAX);
        }
    }
    buf_puts(to, " |\n");
    for (size_t i = 0; i < t->count; i++)
        buf_puts(to, t->columns[i].is_number ? "|---:" : "|---");
    buf_puts(to, "|\n");
    for (size_t row = 0; row < shown; row++) {
        for (size_t i = 0; i < t->count; i++) {
            const struct doc_cell *c = &t->cells[row * t->count + i];
            buf_puts(to, i ? " | " : "| ");
            if (c->text && c->is_number)
                buf_plain(to, str_of(c->text), CELL_MAX);
            else
                markdown_text(to, c->text ? c->text : "–", CELL_MAX);
        }
        buf_puts(to, " |\n");
    }
    if (shown < rows)
        buf_printf(to, "\n%zu more rows\n", rows - shown);
    buf_putc(to, '\n');
}

static void markdown_cards(struct buf *to, const struct doc_block *b)
{
    for (size_t i = 0; i < b->count; i++) {
        buf_puts(to, "- ");
        markdown_text(to, b->cards[i].name, CELL_MAX);
        buf_printf(to, " **%s** ", b->cards[i].value);
        markdown_text(to, b->cards[i].unit, CELL_MAX);
        if (b->cards[i].more) {
            buf_putc(to, ' ');
            markdown_text(to, b->cards[i].more, CELL_MAX);
        }
        buf_putc(to, '\n');
    }
    buf_putc(to, '\n');
}

static void markdown_chart(struct buf *to, const struct chart *chart)
{
    const struct screen screen = {.width = CHART_WIDTH};
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 20);
    chart_text(&text, chart, &screen);
    to->failed = to->failed || text.failed;
    markdown_lines(to, buf_text(&text));
}

static void markdown_paragraph(struct buf *to, const char *before, const char *text)
{
    buf_puts(to, before);
    markdown_text(to, text, 2000);
    buf_puts(to, "\n\n");
}

int doc_markdown(const struct doc *d, struct buf *to)
{
    markdown_paragraph(to, "## ", d->title);
    for (const struct doc_block *b = d->first; b; b = b->next)
        switch (b->kind) {
        case DOC_HEADING:
            buf_puts(to, "### ");
            markdown_own(to, b->text);
            buf_puts(to, "\n\n");
            break;
        case DOC_TEXT: markdown_paragraph(to, "", b->text); break;
        case DOC_NOTE: markdown_paragraph(to, "- ", b->text); break;
        case DOC_ANSWER:
            if (b->word)
                markdown_own(to, b->word), buf_puts(to, ": ");
            markdown_paragraph(to, "", b->text);
            break;
        case DOC_COMMAND: markdown_paragraph(to, "", b->text); break;
        case DOC_OUTPUT: markdown_lines(to, b->lines); break;
        case DOC_CARDS: markdown_cards(to, b); break;
        case DOC_TABLE: markdown_table(to, b->table); break;
        case DOC_CHART: markdown_chart(to, b->chart); break;
        case DOC_FOLD:
            buf_puts(to, "<details><summary>");
            markdown_own(to, b->text);
            buf_puts(to, "</summary>\n\n");
            break;
        case DOC_UNFOLD: buf_puts(to, "</details>\n\n"); break;
        }
    if (d->foot)
        markdown_paragraph(to, "", d->foot);
    return to->failed || d->a->failed ? -1 : 0;
}
