/* doc.c: a document as a list of blocks; see doc.h. */
#include "report/doc.h"
#include "base/array.h"

#include <math.h>

/* Appends a block; the text is not copied. Out of memory: returns a block that no reader gets, and
 * the arena has failed. */
static struct doc_block *doc_add(struct doc *d, enum doc_kind kind, const char *text)
{
    static struct doc_block lost; /* what is written here is never read: the arena has failed */
    struct doc_block *block = ARENA_NEW(d->a, struct doc_block);
    if (!block)
        return &lost;
    block->kind = kind;
    block->text = text ? text : "";
    if (d->last)
        d->last->next = block;
    else
        d->first = block;
    return d->last = block;
}

void doc_heading(struct doc *d, const char *text)
{
    doc_add(d, DOC_HEADING, text);
}

void doc_text(struct doc *d, enum style style, const char *text)
{
    doc_add(d, DOC_TEXT, text)->style = style;
}

void doc_answer(struct doc *d, enum style style, const char *word, const char *text)
{
    struct doc_block *block = doc_add(d, DOC_ANSWER, text);
    block->style = style;
    block->word = word;
}

void doc_note(struct doc *d, const char *text)
{
    doc_add(d, DOC_NOTE, text);
}

void doc_command(struct doc *d, const char *text)
{
    doc_add(d, DOC_COMMAND, text);
}

void doc_output(struct doc *d, struct str lines)
{
    doc_add(d, DOC_OUTPUT, NULL)->lines = lines;
}

void doc_cards(struct doc *d, struct doc_card *cards, size_t count)
{
    struct doc_block *block = doc_add(d, DOC_CARDS, NULL);
    block->cards = cards;
    block->count = count;
}

void doc_chart(struct doc *d, const struct chart *chart)
{
    doc_add(d, DOC_CHART, chart->title)->chart = chart;
}

void doc_fold(struct doc *d, const char *text)
{
    doc_add(d, DOC_FOLD, text);
}

void doc_unfold(struct doc *d)
{
    doc_add(d, DOC_UNFOLD, NULL);
}

struct doc_grid *doc_table(struct doc *d, const char *caption, const struct doc_column *columns, size_t count)
{
    struct doc_grid *t = ARENA_NEW(d->a, struct doc_grid);
    if (!t)
        return NULL;
    *t = (struct doc_grid){.a = d->a, .caption = caption, .columns = columns, .count = count};
    doc_add(d, DOC_TABLE, caption)->table = t;
    return t;
}

struct doc_grid *doc_facts(struct doc *d, const char *caption)
{
    static const struct doc_column columns[] = {{"name", NULL, false}, {"value", NULL, false}};
    struct doc_grid *t = doc_table(d, caption, columns, 2);
    if (t)
        t->is_facts = true;
    return t;
}

static void add_doc_cell(struct doc_grid *t, struct doc_cell cell)
{
    if (t && ARRAY_FITS_IN(t->a, t->cells, t->room, t->used + 1))
        t->cells[t->used++] = cell;
}

void doc_cell_text(struct doc_grid *t, enum style style, const char *text)
{
    add_doc_cell(t, (struct doc_cell){.text = text, .style = style});
}

void doc_cell_number(struct doc_grid *t, enum style style, double value, const char *shown)
{
    add_doc_cell(t, (struct doc_cell){.text = isnan(value) ? NULL : shown, .value = value, .is_number = !isnan(value), .style = style});
}

void doc_fact(struct doc_grid *t, const char *name, const char *value)
{
    doc_cell_text(t, STYLE_PLAIN, name);
    doc_cell_text(t, STYLE_PLAIN, value);
}

size_t doc_rows(const struct doc_grid *t)
{
    return t ? t->used / t->count : 0;
}
