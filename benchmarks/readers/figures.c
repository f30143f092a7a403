/* figures.c: results in lines of a program that no rules know (figure.h). A figure is a row with the cells name, value, unit (as the record knows
 * it; absent: none) and dimension ("none" where there is no unit). */
#include "benchmarks/figure.h"
#include "base/utf8.h"
#include "benchmarks/load.h"

#include <string.h>

static const char *const cell_names[] = {"name", "value", "unit", "dimension"};
enum { NAME, VALUE, UNIT, DIMENSION, CELLS };

struct figures {
    int cell[CELLS]; /* -1: no metric names it */
};

static int figures_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {NULL};
    r->data = ARENA_NEW(&rules->arena, struct figures);
    return r->data ? load_keys(spec, keys, rules, err) : load_no_memory(rules, err);
}

static int figures_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct figures *x = r->data;
    (void)spec;
    for (size_t k = 0; k < CELLS; k++)
        x->cell[k] = -1;
    for (size_t i = 0; i < r->cells; i++) {
        size_t k = 0;
        while (k < CELLS && !str_is(r->cell[i], cell_names[k]))
            k++;
        if (k == CELLS)
            return rules_complain(r->cell_at[i], rules, err, "figures have the cells name, value, unit and dimension");
        x->cell[k] = (int)i;
    }
    return 0;
}

/* A time without a name ("0.029 seconds") is the result where the output ends with it. At most so many lines follow, none with a number. */
enum { BEHIND_LONE_MAX = 2 };

/* "1,234 ops/s" waits for a number that shows what a comma means in this output. */
enum { UNSURE_MAX = 16 };

struct figures_state {
    struct figure_context context;
    struct figure unsure[UNSURE_MAX];
    size_t unsures;
    struct figure lone; /* the first one */
    size_t lones, behind; /* lines behind it; above BEHIND_LONE_MAX: it does not count */
};

static void figure_take(struct rules_run *run, struct source *source, const struct reader *r, const struct figure *f)
{
    const struct figures *x = r->data;
    struct str cells[CELLS_MAX] = {{NULL, 0}};
    const struct unit *u = f->unit;
    const struct str texts[CELLS] = {str_of(f->name), str_of(f->value), u ? str_of(u->name) : (struct str){NULL, 0},
                                     str_of(u ? u->dimension : "none")};
    for (size_t k = 0; k < CELLS; k++)
        if (x->cell[k] >= 0)
            cells[x->cell[k]] = texts[k];
    row_take(run, source, r, cells, NULL, -1);
}

static bool line_has_digit(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] >= '0' && text.p[i] <= '9')
            return true;
    return false;
}

/* Keeps the first of such times for the end. Of several none is the result: all are taken, and contradict each other unless they are the same. */
static void lone_take(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s, const struct figure *f)
{
    if (++s->lones == 1) {
        s->lone = *f;
        s->behind = 0;
        return;
    }
    if (s->lones == 2)
        figure_take(run, source, r, &s->lone);
    figure_take(run, source, r, f);
}

static void line_copy(char to[100], struct str text)
{
    size_t n = utf8_cut(text, 99);
    memcpy(to, text.p, n);
    to[n] = 0;
}

/* A line that looks like a result and is none for this reader. */
static void ignored_note(struct ignored_lines *to, struct str text, bool size)
{
    text = str_trim(text);
    if (to->lines++ < IGNORED_LINES_SHOWN)
        line_copy(to->line[to->lines - 1], text);
    if (size && !to->size[0])
        line_copy(to->size, text);
}

/* Returns false where the figure can be taken at once. Of too many none is taken: a name could have another value among those that are lost. */
static bool unsure_keep(struct figures_state *s, const struct figure *f)
{
    if (f->unsure && s->unsures++ < UNSURE_MAX)
        s->unsure[s->unsures - 1] = *f;
    return f->unsure;
}

static void unsure_take(struct rules_run *run, struct source *source, const struct reader *r, struct figures_state *s)
{
    bool sure = s->context.has_point && !s->context.has_decimal_comma && s->unsures <= UNSURE_MAX;
    for (size_t i = 0; i < s->unsures && sure; i++)
        figure_take(run, source, r, &s->unsure[i]);
    s->unsures = 0;
}

static void figures_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *state, struct str text)
{
    struct figures_state *s = state;
    struct figure found[FIGURES_MAX];
    size_t n = figure_find(&s->context, text, found);
    if (s->context.passed_over || (n && found[0].bare))
        ignored_note(&run->ignored, text, s->context.passed_size);
    if (s->lones && str_trim(text).n)
        s->behind += line_has_digit(text) ? BEHIND_LONE_MAX + 1 : 1;
    for (size_t i = 0; i < n; i++)
        if (found[i].bare || unsure_keep(s, &found[i]))
            continue;
        else if (found[i].lone)
            lone_take(run, source, r, s, &found[i]);
        else
            figure_take(run, source, r, &found[i]);
}

static void figures_reader_end(struct rules_run *run, struct source *source, const struct reader *r, void *state)
{
    struct figures_state *s = state;
    unsure_take(run, source, r, s);
    if (s->lones == 1 && s->behind <= BEHIND_LONE_MAX)
        figure_take(run, source, r, &s->lone);
    s->lones = 0;
}

const struct reader_kind reader_figures = {.name = "figures",
                                           .state_size = sizeof(struct figures_state),
                                           .load = figures_reader_load,
                                           .check = figures_reader_check,
                                           .line = figures_reader_line,
                                           .end = figures_reader_end};
