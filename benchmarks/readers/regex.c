/* regex.c: a line that matches is a row; its named groups are the cells. */
#include "benchmarks/load.h"

struct regex {
    struct pattern *pattern;
    int group[CELLS_MAX];
};

/* Loads the pattern of a reader of kind `regex` into r->data. -1 with err. */
static int regex_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct regex *x = r->data = ARENA_NEW(&rules->arena, struct regex);
    if (!x)
        return err_memory(err, "a reader");
    if (load_pattern(&x->pattern, spec, rules, err))
        return -1;
    reader_wants(r, x->pattern);
    return 0;
}

/* Finds the group of each cell. -1 with err: the pattern has no such group. */
static int regex_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct regex *x = r->data;
    (void)spec;
    for (size_t i = 0; i < r->cells; i++)
        if ((x->group[i] = pattern_group(x->pattern, r->cell[i])) < 0)
            return rules_complain(r->cell_at[i], rules, err,
                                  "the pattern of reader \"%s\" has no group (?<" STR_FMT ">…), so this can never be found", r->name,
                                  STR_ARG(r->cell[i]));
    return 0;
}

/* Reads a line that matches as a row. */
static void regex_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *state, struct str text)
{
    const struct regex *x = r->data;
    struct str cells[CELLS_MAX];
    struct match m;
    (void)state;
    int found = pattern_match(x->pattern, text, &m);
    if (found < 0)
        run->gave_up++;
    if (found != 1)
        return;
    for (size_t i = 0; i < r->cells; i++)
        cells[i] = m.group[x->group[i]];
    row_take(run, source, r, cells, NULL, -1);
}

static void regex_reader_free(struct reader *r)
{
    struct regex *x = r->data;
    if (x)
        pattern_free(x->pattern);
}

const struct reader_kind reader_regex = {.name = "regex",
                                         .by_line = true,
                                         .load = regex_reader_load,
                                         .check = regex_reader_check,
                                         .line = regex_reader_line,
                                         .free = regex_reader_free};
