/* guess.c: a first rule file: what the finders propose is written down and read back over the same output; what does not come out as meant
 * is left out again. */
#include "benchmarks/coverage.h"
#include "benchmarks/guess_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { RULES_TEXT_MAX = 900 << 10, TRIES = 6 };

struct guess_reader *guess_reader_add(struct guess *g, const char *kind, size_t line)
{
    struct guess_reader *r = g->readers < GUESS_READERS_MAX ? ARENA_NEW(&g->arena, struct guess_reader) : NULL;
    if (!r)
        return NULL;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 600);
    buf_plain(&b, str_trim(g->line[line].text), 110);
    r->comment = arena_printf(&g->arena, "line %zu: %s", line + 1, b.p ? b.p : "");
    r->name = arena_printf(&g->arena, "%s_%zu", kind, line + 1);
    g->reader[g->readers++] = r;
    return r;
}

bool guess_name_taken(const struct guess *g, const char *name, const struct unit *unit)
{
    for (size_t i = 0; i < g->readers; i++)
        for (size_t k = 0; k < g->reader[i]->metrics; k++)
            if (!strcmp(g->reader[i]->metric[k].name, name) && g->reader[i]->metric[k].unit == unit)
                return true;
    return false;
}

struct guess_metric *guess_metric_add(struct guess *g, struct guess_reader *r, const char *prefix, struct str label, const char *cell,
                                      const struct unit *unit)
{
    if (r->metrics == GUESS_METRICS_MAX || !cell)
        return NULL;
    const char *segment = guess_segment(label, &g->arena),
               *name = arena_printf(&g->arena, "%s%s", prefix ? prefix : "", segment ? segment : "value");
    const struct unit *contract = guess_contract(unit);
    const char *plain = name;
    for (int i = 2; name && guess_name_taken(g, name, contract) && i < 1000; i++)
        name = arena_printf(&g->arena, "%s_%d", plain, i);
    if (!name || strlen(name) > 150)
        return NULL;
    struct guess_metric *m = &r->metric[r->metrics++];
    *m = (struct guess_metric){.name = name, .cell = cell, .unit = contract, .better = guess_direction(label, unit)};
    return m;
}

void guess_param_add(struct guess *g, struct guess_reader *r, struct str label, const char *cell, const char *type)
{
    const char *segment = guess_segment(label, &g->arena), *size = type && !strcmp(type, "size") ? "_B" : "";
    const char *name = arena_printf(&g->arena, "%s%s", segment ? segment : "param", size);
    if (r->params == GUESS_PARAMS_MAX || !name || !cell || (segment && (!strcmp(segment, "x") || !strcmp(segment, "value"))))
        return;
    for (size_t i = 0; i < g->readers; i++)
        for (size_t k = 0; k < g->reader[i]->params; k++)
            if (!strcmp(g->reader[i]->param[k].name, name))
                return;
    r->param[r->params++] = (struct guess_param){name, cell, type};
}

/* ---- lines ---- */

bool guess_plain_line(struct str s, size_t max)
{
    if (!s.n || s.n > max || !str_valid_utf8(s) || str_has(s, "</td>") || str_has(s, "</th>"))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return true;
}

/* Cuts the output into lines, GUESS_LINES_MAX at most. Returns 0, or -1 when out of memory. */
static int cut_lines(struct guess *g)
{
    struct str rest = g->text;
    struct wrapped wrapped = {0};
    g->line = arena_get(&g->arena, GUESS_LINES_MAX * sizeof(*g->line));
    while (g->line && rest.p && rest.n && g->lines < GUESS_LINES_MAX) {
        struct str line = str_cut(&rest, '\n');
        wrapped_bare(&wrapped, &line);
        line = wrapped_text(&wrapped, line);
        if (line.p < g->text.p || line.p > g->text.p + g->text.n) /* in the scratch */
            line.p = arena_dup(&g->arena, line.p, line.n);
        if (!line.p)
            break;
        g->line[g->lines++] = (struct guess_line){
            .text = line, .clean = guess_plain_line(line, GUESS_LONG_LINE_MAX), .plain = guess_plain_line(line, GUESS_LINE_MAX)};
    }
    wrapped_deinit(&wrapped);
    return g->line && !g->arena.failed ? 0 : -1;
}

/* ---- reading back ---- */

/* A value that is missing because the output has "-" or "N/A" is correct; any other reason means
 * that the rules misread it. */
static bool is_misread(const struct fact *f)
{
    return f->kind == FACT_MISSING && !str_starts(f->text, "printed \"") && !str_has(f->text, "values are missing");
}

static bool key_of(const struct guess_metric *m, struct str key)
{
    size_t n = strlen(m->name);
    if (strchr(m->name, '{'))
        return false;
    return key.n >= n && !memcmp(key.p, m->name, n) &&
           (key.n == n || (m->unit && key.p[n] == '_' && str_starts(str_sub(key, n + 1, key.n), m->unit->name)) || key.p[n] == '.');
}

/* What did not come out as meant: several values become a series, what was not read at all is dropped. Returns how many were changed. */
static size_t guess_mend(struct guess *g, const struct coverage *v, const struct record *record)
{
    size_t index = 0, changed = 0;
    for (size_t i = 0; i < g->readers; i++)
        for (size_t k = 0; guess_reader_useful(g->reader[i]) && k < g->reader[i]->metrics; k++) {
            struct guess_metric *m = &g->reader[i]->metric[k];
            if (m->drop)
                continue;
            const struct coverage_metric *c = &v->metric[index++];
            bool missing = !c->seen || !c->believed;
            for (const struct fact *f = record->first; f && !missing; f = f->next)
                missing = is_misread(f) && key_of(m, f->key);
            if (missing && c->seen && c->believed && !m->series && !strchr(m->name, '{'))
                m->series = true;
            else if (missing)
                m->drop = true;
            changed += missing;
        }
    return changed;
}

/* Missing values do not distinguish metrics with cells in their names: all of them become series
 * first, and are dropped if that fails. */
static size_t mend_families(struct guess *g, const struct record *record, bool drop)
{
    size_t changed = 0;
    bool conflict = false;
    for (const struct fact *f = record->first; f; f = f->next)
        conflict = conflict || is_misread(f);
    for (size_t i = 0; i < g->readers && conflict; i++)
        for (size_t k = 0; k < g->reader[i]->metrics; k++) {
            struct guess_metric *m = &g->reader[i]->metric[k];
            if (m->drop || !strchr(m->name, '{') || (m->series && !drop))
                continue;
            changed++;
            m->step = NULL;
            m->series = true;
            m->drop = drop;
        }
    return changed;
}

/* Reads the output with the guessed rules, and corrects the guess by what was read. *ret_changed:
 * the number of changes. Returns 0, or another value with *err. */
static int read_back(struct guess *g, struct str text, int try, size_t *ret_changed, struct err *err)
{
    struct rules *rules;
    struct rules_run *run;
    struct rules_outcome out;
    struct record record;
    struct coverage coverage;
    if (rules_load_text(&rules, "guessed", text, err))
        return -1;
    int rc = coverage_init(&coverage, rules, err);
    if (!rc)
        rc = rules_begin(&run, rules, NULL, NULL, err);
    if (!rc) {
        record_init(&record, "00000000000000000000000000000000", 1);
        coverage_watch(&coverage, run, "the output");
        rules_feed(run, "stdout", g->text.p, g->text.n);
        rc = rules_end(run, 0, 0, 1, &record, &out, err);
        if (!rc) {
            *ret_changed = guess_mend(g, &coverage, &record);
            if (!*ret_changed)
                *ret_changed = mend_families(g, &record, try >= 1);
        }
        record_deinit(&record);
    }
    coverage_deinit(&coverage);
    rules_free(rules);
    return rc;
}

/* Counts what the readers that are written have. */
static void guess_count(const struct guess *g, struct guess_summary *s)
{
    *s = (struct guess_summary){0};
    for (size_t i = 0; i < g->readers; i++) {
        bool useful = guess_reader_useful(g->reader[i]);
        s->readers += useful;
        s->params += useful ? g->reader[i]->params : 0;
        for (size_t k = 0; k < g->reader[i]->metrics; k++)
            *(useful && !g->reader[i]->metric[k].drop ? &s->metrics : &s->dropped) += 1;
    }
}

/* Loads each guessed reader alone, and marks as dead those that the loader refuses, such as one
 * with a pattern that is too long: these must not cost the others. -1: out of memory. */
static int bury_refused(struct guess *g, const char *name, char *const *argv)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, RULES_TEXT_MAX);
    for (size_t i = 0; i < g->readers; i++) {
        struct rules *rules;
        for (size_t k = 0; k < g->readers; k++)
            g->reader[k]->muted = k != i;
        buf_clear(&b);
        guess_write(&b, g, name, argv, false);
        g->reader[i]->dead = b.failed || rules_load_text(&rules, "guessed", buf_text(&b), NULL);
        if (!g->reader[i]->dead)
            rules_free(rules);
    }
    for (size_t k = 0; k < g->readers; k++)
        g->reader[k]->muted = false;
    guess_bury_parts(g);
    return g->arena.failed ? -1 : 0;
}

/* Appends the guessed rules, written again after each correction, TRIES times at most. Returns 0,
 * or another value with *err. */
static int guess_propose(struct guess *g, const char *name, char *const *argv, bool cut, struct buf *ret, struct err *err)
{
    size_t from = ret->n, changed = 1;
    guess_version(g, name);
    guess_json(g);
    guess_csv(g);
    guess_matrices(g);
    guess_tables(g);
    guess_terse(g);
    guess_named_numbers(g);
    for (int try = 0; changed && try < TRIES; try++) {
        changed = 0;
        ret->n = from;
        guess_write(ret, g, name, argv, cut);
        struct rules *rules;
        if (rules_load_text(&rules, "guessed", str_sub(buf_text(ret), from, ret->n), NULL) == 0)
            rules_free(rules);
        else if (bury_refused(g, name, argv) == 0) {
            ret->n = from;
            guess_write(ret, g, name, argv, cut);
        }
        if (ret->failed || g->arena.failed)
            return err_memory(err, "the proposed rules");
        if (read_back(g, str_sub(buf_text(ret), from, ret->n), try, &changed, err))
            return -1;
    }
    return 0;
}

int rules_guess(struct str output, const char *name, char *const *argv, bool cut, struct buf *ret, struct guess_summary *summary,
                struct err *err)
{
    struct guess g = {.text = output};
    arena_init(&g.arena, 256 << 20);
    int rc = cut_lines(&g) ? err_memory(err, "the lines of the output") : guess_propose(&g, name, argv, cut, ret, err);
    guess_count(&g, summary);
    arena_deinit(&g.arena);
    return rc;
}
