/* doc_latex.c: a document as a part of a paper, for \input. */
#include "base/latex.h"
#include "report/doc.h"

#include <string.h>

enum { CELL_MAX = 100, ROWS_MAX = 200, ROWS_PART = 20, OUTPUT_LINES = 40, LINE_MOST = 96 };

static void latex_line(struct buf *to, const char *before, const char *text, const char *after)
{
    buf_puts(to, before);
    latex_text(to, str_of(text), 1000);
    buf_puts(to, after);
}

/* Returns what a text needs of a line, in characters of usual width; capitals are wider. longest:
 * raised to its longest part that is not broken (latex_text). */
static size_t latex_width(const char *text, size_t *longest)
{
    enum { UNBROKEN_MAX = 20 };
    size_t tenths = 0, word = 0;
    for (size_t n = 0; text && text[n] && n < CELL_MAX; n++) {
        size_t width = text[n] >= 'A' && text[n] <= 'Z' ? 15 : (text[n] & 0xc0) == 0x80 ? 0 : 10;
        tenths += width;
        word = text[n] == ' ' ? 0 : word + width;
        if (word / 10 + 1 > *longest && word / 10 < UNBROKEN_MAX)
            *longest = word / 10 + 1;
    }
    return tenths / 10 + 1;
}

/* Returns the width of a column, and in *longest that of its longest unbroken part. */
static size_t column_width(const struct doc_grid *t, size_t column, size_t rows, size_t *longest)
{
    const struct doc_column *c = &t->columns[column];
    *longest = 1;
    size_t most = t->is_facts ? 1 : latex_width(c->heading, longest) + (c->unit ? strlen(c->unit) + 2 : 0);
    for (size_t row = 0; row < rows; row++) {
        size_t n = latex_width(t->cells[row * t->count + column].text, longest);
        most = n > most ? n : most;
    }
    return most;
}

enum {
    COLUMNS_MOST = 40,
    LINE = 72,
    LINE_TINY = 104,
    GAP = 3 /* characters of a line of \\small and of \\scriptsize text, and between columns */
};

struct latex_widths {
    size_t wide[COLUMNS_MOST], least[COLUMNS_MOST];
    size_t numbers, texts, words; /* of all columns of numbers, and of texts: their widths, and those that they need at least */
};

/* Adds up the widths of the columns: of numbers, of texts, and of the longest words of the texts.
 * Columns from COLUMNS_MOST on are not counted. */
static void latex_widths_of(const struct doc_grid *t, size_t rows, struct latex_widths *ret)
{
    *ret = (struct latex_widths){.numbers = 0};
    for (size_t i = 0; i < t->count && i < COLUMNS_MOST; i++) {
        ret->wide[i] = column_width(t, i, rows, &ret->least[i]);
        if (t->columns[i].is_number) {
            ret->numbers += ret->wide[i] + GAP;
            continue;
        }
        ret->texts += ret->wide[i] + GAP;
        ret->words += ret->least[i] + GAP;
    }
}

/* Appends the columns' kinds: "r" of numbers; "l" of texts in a narrow table, else paragraphs: each
 * as wide as its longest word, and what is left by the length of the texts. */
static void latex_columns(struct buf *to, const struct doc_grid *t, const struct latex_widths *w, size_t line)
{
    enum { NARROW = 34 };
    size_t room = line > w->numbers + w->words ? line - w->numbers - w->words : 0, wish = w->texts - w->words;
    double share = wish ? (double)room / (double)wish : 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->columns[i].is_number)
            buf_putc(to, 'r');
        else if (w->numbers + w->texts <= NARROW || i >= COLUMNS_MOST)
            buf_putc(to, 'l');
        else
            buf_printf(to, ">{\\raggedright\\arraybackslash}p{%.3f\\linewidth}",
                       ((double)w->least[i] + (share < 1 ? share : 1) * (double)(w->wide[i] - w->least[i])) / (double)line);
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

/* Writes the table in parts of few rows each, since a tabular is never broken between two pages;
 * packages that break one do not work in two columns. */
static void latex_table(struct buf *to, const struct doc_grid *t)
{
    size_t rows = doc_rows(t), shown = rows < ROWS_MAX ? rows : ROWS_MAX;
    struct latex_widths widths;
    latex_widths_of(t, shown, &widths);
    bool fits = widths.numbers + widths.words <= LINE;
    for (size_t first = 0; first < shown; first += ROWS_PART) {
        size_t end = first + ROWS_PART < shown ? first + ROWS_PART : shown;
        buf_printf(to, "\\begin{center}\\%s\n\\begin{tabular}{", fits ? "small" : "scriptsize");
        latex_columns(to, t, &widths, fits ? LINE : LINE_TINY);
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

/* Appends a line. Blanks that LaTeX would drop, those at the begin and behind another one, become
 * ones that it prints. */
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

/* Writes how many lines are left out, then the last OUTPUT_LINES lines in a font of constant
 * width. */
static void latex_output(struct buf *to, struct str text)
{
    size_t lines = 0, n = 0;
    for (struct str rest = text; rest.n; lines++)
        str_cut(&rest, '\n');
    if (lines > OUTPUT_LINES)
        buf_printf(to, "Without %zu earlier line%s.\n\n", lines - OUTPUT_LINES, str_plural(lines - OUTPUT_LINES));
    buf_puts(to, "{\\footnotesize\\ttfamily\\raggedright\n");
    for (; text.n; n++) {
        struct str line = str_cut(&text, '\n');
        if (n + OUTPUT_LINES < lines)
            continue;
        latex_output_line(to, line);
        buf_puts(to, line.n ? "\\\\\n" : "\\mbox{}\\\\\n");
    }
    buf_puts(to, "}\n");
}

int doc_latex(const struct doc *d, struct buf *to)
{
    buf_puts(to, "% A part of a document; it needs \\usepackage[T1]{fontenc}, and the packages textcomp and array.\n" LATEX_PREAMBLE
                 "{\\sloppy\n");
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
    buf_puts(to, "\\par}\n");
    return to->failed || d->a->failed ? -1 : 0;
}
