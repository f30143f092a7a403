/* doc.h: a document as a list of blocks, which one writer for each format prints.
 *
 * Blocks and their texts are in the document's arena. Texts are foreign: the writers escape them. A failed allocation shows in the arena. */
#ifndef REPORT_DOC_H
#define REPORT_DOC_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/screen.h"
#include "plot/chart.h"

struct doc_cell {
    const char *text; /* NULL: not known */
    double value; /* of a number */
    bool is_number;
    enum style style;
};
struct doc_column {
    const char *heading, *unit; /* unit: as people write it; NULL: none */
    bool is_number;
};
struct doc_grid {
    struct arena *a;
    const char *caption;
    const struct doc_column *columns;
    size_t count, used, room; /* `room`: of cells */
    struct doc_cell *cells;
    bool is_facts; /* names and values, without a heading */
};
struct doc_card { /* a headline metric */
    const char *name, *value, *unit, *more; /* more: a smaller line; NULL: none */
    enum style style;
};

enum doc_kind {
    DOC_HEADING,
    DOC_TEXT,
    DOC_ANSWER,
    DOC_NOTE,
    DOC_COMMAND,
    DOC_OUTPUT,
    DOC_CARDS,
    DOC_TABLE,
    DOC_CHART,
    DOC_FOLD,
    DOC_UNFOLD
};
struct doc_block {
    enum doc_kind kind;
    enum style style; /* of a text */
    const char *text; /* of a heading, text, note, command, output, fold */
    const char *word; /* of an answer: printed before its text as a mark, such as "pass"; NULL: none */
    struct str lines; /* of an output */
    struct doc_card *cards;
    size_t count; /* of cards */
    struct doc_grid *table;
    const struct chart *chart;
    struct doc_block *next;
};
struct doc {
    struct arena *a;
    const char *title, *foot;
    const char *above, *above_path; /* of a page: a link above the title; NULL: none */
    struct doc_block *first, *last;
};

void doc_heading(struct doc *d, const char *text);
void doc_text(struct doc *d, enum style style, const char *text);
/* Adds the sentence that the reader came for, behind a word such as "pass". */
void doc_answer(struct doc *d, enum style style, const char *word, const char *text);
void doc_note(struct doc *d, const char *text); /* a warning */
void doc_command(struct doc *d, const char *text);
enum { DOC_OUTPUT_MAX = 24 << 10 };
/* Adds the last lines of an output, borrowed: DOC_OUTPUT_MAX bytes at most. */
void doc_output(struct doc *d, struct str lines);
/* Headline metrics; cards: borrowed. */
void doc_cards(struct doc *d, struct doc_card *cards, size_t count);
void doc_chart(struct doc *d, const struct chart *chart); /* borrowed */
/* Begins what is shown when the reader opens it, up to doc_unfold, under this text. A format that
 * cannot fold shows it. */
void doc_fold(struct doc *d, const char *text);
void doc_unfold(struct doc *d);
/* A table to be filled row by row; columns: borrowed. NULL: out of memory; the functions below do nothing then. */
struct doc_grid *doc_table(struct doc *d, const char *caption, const struct doc_column *columns, size_t count);
/* Adds a table of names and values to the document, for doc_fact. NULL: out of memory. */
struct doc_grid *doc_facts(struct doc *d, const char *caption);
void doc_cell_text(struct doc_grid *t, enum style style, const char *text); /* NULL: not known */
void doc_cell_number(struct doc_grid *t, enum style style, double value, const char *shown); /* NaN: not known */
void doc_fact(struct doc_grid *t, const char *name, const char *value);
size_t doc_rows(const struct doc_grid *t);

/* Append the document in a format. -1: out of memory. */
int doc_html(const struct doc *d, struct buf *to); /* a page */
int doc_markdown(const struct doc *d, struct buf *to); /* for a pull request; charts in characters */
int doc_latex(const struct doc *d, struct buf *to); /* a part of a paper; tables alone, no charts */
#endif
