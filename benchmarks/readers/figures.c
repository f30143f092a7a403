/* figures.c: results in lines of a program that no rules know (figure.h). A figure is a row with the cells name, value, unit (as the record knows
 * it; absent: none) and dimension ("none" where there is no unit). */
#include "benchmarks/figure.h"
#include "benchmarks/load.h"

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

static void figures_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *state, struct str text)
{
    const struct figures *x = r->data;
    struct figure found[FIGURES_MAX];
    size_t n = figure_find(state, text, found);
    for (size_t i = 0; i < n; i++) {
        struct str cells[CELLS_MAX] = {{NULL, 0}};
        const struct unit *u = found[i].unit;
        const struct str texts[CELLS] = {str_of(found[i].name), str_of(found[i].value), u ? str_of(u->name) : (struct str){NULL, 0},
                                         str_of(u ? u->dimension : "none")};
        for (size_t k = 0; k < CELLS; k++)
            if (x->cell[k] >= 0)
                cells[x->cell[k]] = texts[k];
        row_take(run, source, r, cells, NULL, -1);
    }
}

const struct reader_kind reader_figures = {.name = "figures",
                                           .state_size = sizeof(struct figure_context),
                                           .load = figures_reader_load,
                                           .check = figures_reader_check,
                                           .line = figures_reader_line};
