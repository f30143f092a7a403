/* doc_latex.c: a document as a part of a paper, for \input. */
#include "base/latex.h"
#include "report/doc.h"

#include <string.h>

enum { CELL_MAX = 60, ROWS_MAX = 200, ROWS_PART = 30, OUTPUT_LINES = 40, LINE_MOST = 96 };

static void latex_line(struct buf *to, const char *before, const char *text, const char *after)
{
    buf_puts(to, before);
    latex_text(to, str_of(text), 1000);
    buf_puts(to, after);
}

/* Characters of the widest cell of each column. */
static size_t latex_width(const struct doc_grid *t, size_t column, size_t rows)
{
    const struct doc_column *c = &t->columns[column];
    size_t most = t->is_facts ? 0 : strlen(c->heading) + (c->unit ? strlen(c->unit) + 2 : 0);
    for (size_t row = 0; row < rows; row++) {
        const char *text = t->cells[row * t->count + column].text;
        size_t n = text ? strlen(text) : 1;
        most = n > most ? n : most;
    }
    return most < CELL_MAX ? most : CELL_MAX;
}

/* "r" of numbers; "l" of texts in a narrow table, else paragraphs that share what numbers leave of the line. */
static void latex_columns(struct buf *to, const struct doc_grid *t, size_t rows)
{
    enum { PAGE = 78, NARROW = 36, GAP = 3 }; /* characters of a line of \small text, of half a line, and those between two columns */
    size_t total = 0, numbers = 0, texts = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t width = latex_width(t, i, rows);
        total += width + GAP;
        *(t->columns[i].is_number ? &numbers : &texts) += width;
    }
    size_t gaps = t->count * GAP, left = PAGE > gaps + numbers ? PAGE - gaps - numbers : 0;
    left = left > PAGE / 3 ? left : PAGE / 3;
    left = left < texts ? left : texts;
    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i].is_number)
            buf_putc(to, 'r');
        else if (total <= NARROW || !texts)
            buf_putc(to, 'l');
        else
            buf_printf(to, ">{\\raggedright\\arraybackslash}p{%.3f\\linewidth}",
                       (double)left * (double)latex_width(t, i, rows) / (double)texts / PAGE);
}

static void latex_headings(struct buf *to, const struct doc_grid *t)
{
    for (size_t i = 0; i < t->count; i++) {
        buf_puts(to, i ? " & " : "");
        latex_text(to, str_of(t->columns[i].heading), CELL_MAX);
        if (t->columns[i].unit && *t->columns[i].unit)
            latex_line(to, ", ", t->columns[i].unit, "");
    }
    buf_puts(to, " \\\\\n\\hline\n");
}

/* Parts of few rows each, since a tabular is never broken between two pages; packages that break one do not work in two columns. */
static void latex_table(struct buf *to, const struct doc_grid *t)
{
    size_t rows = doc_rows(t), shown = rows < ROWS_MAX ? rows : ROWS_MAX;
    for (size_t first = 0; first < shown; first += ROWS_PART) {
        size_t end = first + ROWS_PART < shown ? first + ROWS_PART : shown;
        buf_puts(to, "\\begin{center}\\small\n\\begin{tabular}{");
        latex_columns(to, t, shown);
        buf_puts(to, "}\n\\hline\n");
        if (!t->is_facts)
            latex_headings(to, t);
        for (size_t i = first * t->count; i < end * t->count; i++) {
            const char *text = t->cells[i].text;
            buf_puts(to, i % t->count ? " & " : "");
            latex_text(to, str_of(text ? text : "–"), CELL_MAX);
            buf_puts(to, (i + 1) % t->count == 0 ? " \\\\\n" : "");
        }
        buf_puts(to, "\\hline\n\\end{tabular}\n\\end{center}\n");
    }
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

/* Blanks that LaTeX would drop, those at the begin and behind another one, become ones that it prints. */
static void latex_output_line(struct buf *to, struct str line)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < line.n && i < 4 * LINE_MOST; i++)
        if (line.p[i] == ' ' && (i == 0 || line.p[i - 1] == ' '))
            buf_puts(&b, "\u00a0");
        else
            buf_putc(&b, line.p[i]);
    latex_text(to, buf_text(&b), LINE_MOST);
}

static void latex_output(struct buf *to, struct str text)
{
    buf_puts(to, "{\\footnotesize\\ttfamily\\raggedright\n");
    for (size_t n = 0; text.n && n < OUTPUT_LINES; n++) {
        struct str line = str_cut(&text, '\n');
        latex_output_line(to, line);
        buf_puts(to, line.n ? "\\\\\n" : "\\mbox{}\\\\\n");
        if (!text.p)
            break;
    }
    size_t more = 0;
    for (; text.n; more++)
        str_cut(&text, '\n');
    buf_puts(to, "}\n");
    if (more)
        buf_printf(to, "%zu more lines.\n\n", more);
}

int doc_latex(const struct doc *d, struct buf *to)
{
    buf_puts(to, "% A part of a document; it needs \\usepackage[T1]{fontenc}, and the packages textcomp and array.\n" LATEX_PREAMBLE);
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
