/* coverage.c: counts what the rules found in samples, and notes where they had a choice. */
#include "benchmarks/coverage.h"
#include "benchmarks/number.h"

#include <math.h>

/* Two readers may print the same thing with other digits; beyond this the values differ. */
static const double SAME_WITHIN = 0.02;

int coverage_init(struct coverage *c, const struct rules *rules, struct err *err)
{
    *c = (struct coverage){.rules = rules};
    arena_init(&c->arena, 16 << 20);
    c->tail = &c->notes;
    c->metric = arena_get(&c->arena, (rules->metric_count + 1) * sizeof(*c->metric));
    for (size_t i = 0; i < rules->readers; i++)
        c->param[i] = arena_get(&c->arena, (rules->reader[i]->params + 1) * sizeof(unsigned));
    return c->arena.failed ? err_memory(err, "the coverage of rules") : 0;
}

void coverage_deinit(struct coverage *c)
{
    arena_deinit(&c->arena);
}

void coverage_watch(struct coverage *c, struct rules_run *run, const char *sample)
{
    c->sample = sample;
    c->readings++;
    c->argued += run->arguments;
    run->coverage = c;
    for (size_t i = 0; i < c->rules->options && i < OPTIONS_MAX; i++)
        c->option[i] += run->option_used[i / 64] >> (i % 64) & 1;
}

/* Adds a note, of which it stores the pointer. Leaves it out where it exists already or the list is
 * full, and for NULL. */
static void coverage_add_note(struct coverage *c, const char *text)
{
    if (!text || c->notes_n >= COVERAGE_NOTES_MAX)
        return;
    for (const struct coverage_note *n = c->notes; n; n = n->next)
        if (!strcmp(n->text, text))
            return;
    struct coverage_note *n = ARENA_NEW(&c->arena, struct coverage_note);
    if (!n)
        return;
    n->text = text;
    *c->tail = n;
    c->tail = &n->next;
    c->notes_n++;
}

void coverage_refused(struct rules_run *run, const struct reader *r, const struct str *cells)
{
    struct coverage *c = run->coverage;
    double value;
    for (size_t i = 0; i < r->metrics; i++) {
        const struct metric_rule *m = &r->metric[i];
        struct str text = m->unit_cell >= 0 ? cells[m->unit_cell] : (struct str){NULL, 0};
        if (!text.n || text.n > 40 || !cells[m->cell].p || number_parse(cells[m->cell], m->number, &value) != NUMBER_GOOD)
            continue;
        const struct unit *u = units_find(text);
        if (!u)
            coverage_add_note(c, arena_printf(&c->arena, "reader %s: \"" STR_FMT "\" is no unit that is known (%s); the row is not read",
                                              r->name, STR_ARG(text), c->sample));
        else if (m->unit && !units_convert(1, u, m->unit, &value))
            coverage_add_note(c, arena_printf(&c->arena, "reader %s: \"" STR_FMT "\" cannot become %s (%s); the row is not read", r->name,
                                              STR_ARG(text), m->unit->name, c->sample));
    }
}

/* Returns the one number that represents the series, as far as it is known. */
static double last_of(const struct series *s)
{
    return s->sample[s->n - 1].value;
}

static bool values_differ(double a, double b)
{
    return fabs(a - b) > SAME_WITHIN * fmax(fabs(a), fabs(b));
}

static const char *many_word(enum many many)
{
    static const char *const words[] = {"none", "the first", "the last", "all", "the minimum", "the maximum", "the mean", "the sum"};
    return words[many];
}

/* Adds a note where a metric has different values in one output, of which the rule uses one. */
static void coverage_note_several(struct coverage *c, const struct series *s)
{
    if (s->rule->many == MANY_ERROR || s->rule->many == MANY_SERIES)
        return;
    for (size_t i = 1; i < s->n; i++)
        if (s->sample[i].value != s->sample[0].value) {
            coverage_add_note(c, arena_printf(&c->arena,
                                              "metric " STR_FMT " of reader %s: several different values in one output; %s counts (%s)",
                                              STR_ARG(s->name), s->reader->name, many_word(s->rule->many), c->sample));
            return;
        }
}

static void coverage_note_disagreement(struct coverage *c, const struct series *s, const struct series *better)
{
    if (s->n && better->n && values_differ(last_of(s), last_of(better)))
        coverage_add_note(c,
                          arena_printf(&c->arena, "metric " STR_FMT ": reader %s has %.6g, reader %s has %.6g; the value of %s counts (%s)",
                                       STR_ARG(s->name), better->reader->name, last_of(better), s->reader->name, last_of(s),
                                       better->reader->name, c->sample));
}

void coverage_end(struct rules_run *run)
{
    struct coverage *c = run->coverage;
    for (size_t b = 0; b < sizeof(run->count_bucket) / sizeof(run->count_bucket[0]); b++)
        for (const struct count *n = run->count_bucket[b]; n; n = n->next)
            if (n->what < READERS_MAX)
                c->rows[n->what] += n->n > 0;
    for (const struct series *s = run->series; s; s = s->next) {
        struct coverage_metric *m = &c->metric[s->rule->index];
        if (s->dropped)
            continue;
        const struct series *better = series_outdone(run, s);
        m->seen += s->n > 0;
        m->believed += s->n > 0 && !better;
        if (better) {
            m->instead = better->reader->name;
            coverage_note_disagreement(c, s, better);
        } else
            coverage_note_several(c, s);
    }
}
