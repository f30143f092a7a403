/* doc_latex.c: a document as a part of a paper, for \input. */
#include "base/latex.h"
#include "report/doc.h"

enum { CELL_MAX = 60, ROWS_MAX = 200, OUTPUT_LINES = 40, LINE_MOST = 96 };

static void latex_line(struct buf *to, const char *before, const char *text, const char *after)
{
    buf_puts(to, before);
    latex_text(to, str_of(text), 1000);
    buf_puts(to, after);
}

static void latex_table(struct buf *to, const struct doc_grid *t)
{
    size_t rows = doc_rows(t), shown = rows < ROWS_MAX ? rows : ROWS_MAX;
    buf_puts(to, "\\begin{center}\\small\n\\begin{tabular}{");
    for (size_t i = 0; i < t->count; i++)
        buf_putc(to, t->columns[i].is_number ? 'r' : 'l');
    buf_puts(to, "}\n\\hline\n");
    for (size_t i = 0; !t->is_facts && i < t->count; i++) {
        buf_puts(to, i ? " & " : "");
        latex_text(to, str_of(t->columns[i].heading), CELL_MAX);
        if (t->columns[i].unit && *t->columns[i].unit)
            latex_line(to, ", ", t->columns[i].unit, "");
    }
    buf_puts(to, t->is_facts ? "" : " \\\\\n\\hline\n");
    for (size_t row = 0; row < shown; row++)
        for (size_t i = 0; i < t->count; i++) {
            const char *text = t->cells[row * t->count + i].text;
            buf_puts(to, i ? " & " : "");
            latex_text(to, str_of(text ? text : "–"), CELL_MAX);
            buf_puts(to, i + 1 == t->count ? " \\\\\n" : "");
        }
    buf_puts(to, "\\hline\n\\end{tabular}\n\\end{center}\n");
    if (shown < rows)
        buf_printf(to, "%zu more rows.\n\n", rows - shown);
}

static void latex_cards(struct buf *to, const struct doc_block *b)
{
    buf_puts(to, "\\begin{itemize}\n");
    for (size_t i = 0; i < b->count; i++) {
        latex_line(to, "\\item ", b->cards[i].name, ": \\textbf{");
        latex_line(to, "", b->cards[i].value, "}");
        latex_line(to, " ", b->cards[i].unit ? b->cards[i].unit : "", "");
        if (b->cards[i].more)
            latex_line(to, " (", b->cards[i].more, ")");
        buf_putc(to, '\n');
    }
    buf_puts(to, "\\end{itemize}\n");
}

static void latex_output(struct buf *to, struct str text)
{
    buf_puts(to, "{\\footnotesize\\ttfamily\\raggedright\n");
    for (size_t n = 0; text.n && n < OUTPUT_LINES; n++) {
        struct str line = str_cut(&text, '\n');
        latex_text(to, line, LINE_MOST);
        buf_puts(to, line.n ? "\\\\\n" : "\\mbox{}\\\\\n");
        if (!text.p)
            break;
    }
    buf_puts(to, "}\n");
}

int doc_latex(const struct doc *d, struct buf *to)
{
    buf_puts(to, "% A part of a document; it needs \\usepackage[T1]{fontenc} and \\usepackage{textcomp}.\n");
    latex_line(to, "\\section*{", d->title, "}\n");
    for (const struct doc_block *b = d->first; b; b = b->next)
        switch (b->kind) {
        case DOC_HEADING: latex_line(to, "\\subsection*{", b->text, "}\n"); break;
        case DOC_FOLD: latex_line(to, "\\paragraph*{", b->text, "}\n"); break;
        case DOC_TEXT: latex_line(to, "", b->text, "\n\n"); break;
        case DOC_NOTE: latex_line(to, "\\textbf{Note:} ", b->text, "\n\n"); break;
        case DOC_ANSWER:
            if (b->word)
                latex_line(to, "\\textbf{", b->word, "} ");
            latex_line(to, "", b->text, "\n\n");
            break;
        case DOC_COMMAND: latex_line(to, "{\\ttfamily\\raggedright ", b->text, "\\par}\n\n"); break;
        case DOC_OUTPUT: latex_output(to, b->lines); break;
        case DOC_CARDS: latex_cards(to, b); break;
        case DOC_TABLE: latex_table(to, b->table); break;
        case DOC_CHART: /* the SVG of "benchwrap plot" */
        case DOC_UNFOLD: break;
        }
    if (d->foot)
        latex_line(to, "{\\footnotesize ", d->foot, "}\n");
    return to->failed || d->a->failed ? -1 : 0;
}
