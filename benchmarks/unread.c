/* unread.c: rows that a reader rejects because their numbers have digits in groups or decimal commas, or
 * whose numbers it reads only in part.
 *
 * A line with such a number is read a second time, with plain numbers and without an effect on the
 * results. A row that only the second reading finds, or finds with another value, was not read. It is
 * reported, because statistics over the other rows would be wrong. */
#include "benchmarks/grouped.h"
#include "benchmarks/slices.h"

#include <math.h>
#include <stdio.h>

enum { UNREAD_LINE_MAX = 4000, UNREAD_STATE_MAX = 8192 };

void unread_mark(struct rules_run *run, const struct reader *r, struct str text)
{
    struct unread *u = &run->unread;
    if (u->probing)
        return;
    if (!u->lines)
        snprintf(u->line, sizeof u->line, STR_FMT, STR_ARG(str_trim(text)));
    if (!u->reader[r->index])
        u->lines++;
    u->reader[r->index] = true;
}

void unread_note(struct rules_run *run, const struct source *source, const struct reader *r, const struct str *cells,
                 const struct unit *const *units)
{
    struct unread *u = &run->unread;
    for (size_t i = 0; i < r->metrics && u->n < UNREAD_VALUES_MAX; i++) {
        const struct metric_rule *m = &r->metric[i];
        double value = NAN;
        if (!cells[m->cell].p || !row_where(m->where, cells))
            continue;
        if (row_metric_value(source, m, cells, units ? units[m->cell] : NULL, &value) != NUMBER_GOOD)
            value = NAN;
        u->value[u->n++] = (struct unread_value){r, value};
    }
}

bool unread_begin(struct rules_run *run, struct str line)
{
    char plain[UNREAD_LINE_MAX];
    run->unread.n = 0;
    run->unread.recording = false;
    for (int comma = 0; comma < COMMA_READINGS && line.n <= sizeof plain && !run->unread.recording; comma++)
        run->unread.recording = grouped_plain(line, (enum grouped_comma)comma, plain) > 0;
    return run->unread.recording;
}

/* The reader's first value behind the first `from` of them; u->n: there is none. */
static size_t unread_value_next(const struct unread *u, const struct reader *r, size_t from, size_t to)
{
    while (from < to && u->value[from].reader != r)
        from++;
    return from;
}

/* Returns whether a value of the second reading (from index n on) differs from the same one of the
 * first reading, or is not in it. */
static bool unread_differs(const struct unread *u, const struct reader *r, size_t n)
{
    size_t a = unread_value_next(u, r, 0, n), b = unread_value_next(u, r, n, u->n);
    for (; a < n && b < u->n; a = unread_value_next(u, r, a + 1, n), b = unread_value_next(u, r, b + 1, u->n))
        if (u->value[a].value != u->value[b].value && !(isnan(u->value[a].value) && isnan(u->value[b].value)))
            return true;
    return a == n && b < u->n;
}

/* Reads the line for this reader without effect. */
static void reader_probe(struct rules_run *run, struct source *source, const struct reader *r, struct str plain)
{
    char kept[UNREAD_STATE_MAX];
    const size_t size = r->kind->state_reset ? r->kind->state_reset : r->kind->state_size;
    if (!r->kind->by_line || !r->metrics || size > sizeof kept || !(r->sources >> source->index & 1) || !slice_open(source, r->slice))
        return;
    if (size)
        memcpy(kept, source->state[r->index], size);
    run->unread.probing = true;
    r->kind->line(run, source, r, source->state[r->index], plain);
    run->unread.probing = false;
    if (size)
        memcpy(source->state[r->index], kept, size);
}

/* Marks the readers that have a row of the line in its other notation. */
static void unread_probe(struct rules_run *run, struct source *source, const struct prefilter_mask *mask, struct str line, struct str plain)
{
    struct unread *u = &run->unread;
    const size_t n = u->n;
    for (size_t i = 0; i < run->rules->readers; i++)
        if (mask->word[i / 64] >> (i % 64) & 1)
            reader_probe(run, source, run->rules->reader[i], plain);
    for (size_t i = 0; i < run->rules->readers; i++)
        if (unread_differs(u, run->rules->reader[i], n)) {
            unread_mark(run, run->rules->reader[i], line);
            for (size_t k = 0; k < n; k++) /* "8 975.97 ns": 8 of another unit for one reader, 8975.97 ns for the other */
                unread_mark(run, u->value[k].reader, line);
        }
    u->n = n;
}

void unread_end(struct rules_run *run, struct source *source, const struct prefilter_mask *mask, struct str line)
{
    char text[UNREAD_LINE_MAX];
    for (int comma = 0; comma < COMMA_READINGS && !run->unterminated; comma++) {
        size_t n = line.n <= sizeof text ? grouped_plain(line, (enum grouped_comma)comma, text) : 0;
        if (n)
            unread_probe(run, source, mask, line, (struct str){text, n});
    }
    run->unread.recording = false;
}
