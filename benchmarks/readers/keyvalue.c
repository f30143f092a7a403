/* keyvalue.c: `key : value` and `key = value` lines, anywhere or in blocks between a start and an end line.
 *
 * Each line is a row with one cell, named by its key. Keys are compared as written, blanks around them cut. */
#include "benchmarks/load.h"

struct keyvalue {
    struct pattern *start, *end;
    struct str separator;
};
struct keyvalue_reader_state {
    bool open;
};

/* Loads the keys of a reader of kind `keyvalue` from `spec` into r->data. -1 with err. */
static int keyvalue_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"start", "end", "separator", NULL};
    struct keyvalue *k = r->data = ARENA_NEW(&rules->arena, struct keyvalue);
    const struct yaml *start = yaml_get(spec, "start"), *end = yaml_get(spec, "end");
    if (!k)
        return err_memory(err, "a reader");
    if (load_keys(spec, keys, rules, err) || (start && load_pattern(&k->start, start, rules, err)) ||
        (end && load_pattern(&k->end, end, rules, err)))
        return -1;
    k->separator = yaml_text(spec, "separator", ":");
    if (k->separator.n != 1)
        return rules_complain(spec, rules, err, "separator is one character");
    if (k->end && !k->start)
        return rules_complain(end, rules, err, "end without start");
    return 0;
}

/* Checks the keys that the rules name, and sets the texts that a line must contain. -1 with err. */
static int keyvalue_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    const struct keyvalue *k = r->data;
    if (!r->cells)
        return rules_complain(spec, rules, err, "the reader \"%s\" names no key, so it can never find anything", r->name);
    for (size_t i = 0; i < r->cells; i++) {
        if (memchr(r->cell[i].p, k->separator.p[0], r->cell[i].n))
            return rules_complain(r->cell_at[i], rules, err, "a key with the separator \"%s\" in it can never be found", k->separator.p);
        if (r->literals == 64)
            return rules_complain(r->cell_at[i], rules, err, "this reader has too many keys");
        r->literal[r->literals++] = r->cell[i];
    }
    if (k->start)
        reader_wants(r, k->start);
    if (k->end)
        reader_wants(r, k->end);
    return 0;
}

/* Reads a line with a key that the rules name as a row; with a start, only between start and end.
 */
static void keyvalue_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *memory, struct str text)
{
    const struct keyvalue *k = r->data;
    struct keyvalue_reader_state *state = memory;
    if (k->start && pattern_match(k->start, text, NULL) == 1) {
        state->open = true;
        return;
    }
    if (k->start && !state->open)
        return;
    if (k->end && pattern_match(k->end, text, NULL) == 1) {
        state->open = false;
        return;
    }
    const char *at = memchr(text.p, k->separator.p[0], text.n);
    if (!at)
        return;
    struct str key = str_trim(str_sub(text, 0, (size_t)(at - text.p))), value = str_trim(str_sub(text, (size_t)(at - text.p) + 1, text.n));
    for (size_t i = 0; i < r->cells; i++)
        if (str_eq(key, r->cell[i])) {
            struct str cells[CELLS_MAX] = {{NULL, 0}}; /* only here: most lines have no such key */
            cells[i] = value;
            row_take(run, source, r, cells, NULL, -1);
            return;
        }
}

static void keyvalue_reader_free(struct reader *r)
{
    struct keyvalue *k = r->data;
    if (k) {
        pattern_free(k->start);
        pattern_free(k->end);
    }
}

const struct reader_kind reader_keyvalue = {.name = "keyvalue",
                                            .by_line = true,
                                            .state_size = sizeof(struct keyvalue_reader_state),
                                            .load = keyvalue_reader_load,
                                            .check = keyvalue_reader_check,
                                            .line = keyvalue_reader_line,
                                            .free = keyvalue_reader_free};
