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
    if (r->params == GUESS_PARAMS_MAX || !name || !cell || !strcmp(segment, "x") || !strcmp(segment, "value"))
        return;
    for (size_t i = 0; i < g->readers; i++)
        for (size_t k = 0; k < g->reader[i]->params; k++)
            if (!strcmp(g->reader[i]->param[k].name, name))
                return;
    r->param[r->params++] = (struct guess_param){name, cell, type};
}

/* ---- lines ---- */

/* Valid UTF-8 of no more than max bytes without control characters, and no row of an HTML table: what its tags say is no result. */
static bool plain_line(struct str s, size_t max)
{
    if (!s.n || s.n > max || !str_valid_utf8(s) || str_has(s, "</td>") || str_has(s, "</th>"))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return true;
}

static int cut_lines(struct guess *g)
{
    struct str rest = g->text;
    g->line = arena_get(&g->arena, GUESS_LINES_MAX * sizeof(*g->line));
    while (g->line && rest.p && rest.n && g->lines < GUESS_LINES_MAX) {
        struct str line = str_cut(&rest, '\n');
        if (str_ends(line, "\r"))
            line.n--;
        line = line_redrawn(line);
        g->line[g->lines++] =
            (struct guess_line){.text = line, .clean = plain_line(line, GUESS_LONG_LINE_MAX), .plain = plain_line(line, GUESS_LINE_MAX)};
    }
    return g->line ? 0 : -1;
}

/* ---- writing ---- */

static void write_metric(struct buf *b, const struct guess_metric *m)
{
    buf_puts(b, "      - {name: ");
    buf_json(b, str_of(m->name));
    buf_puts(b, ", cell: ");
    buf_json(b, str_of(m->cell));
    if (m->unit_cell)
        buf_printf(b, ", unit_cell: %s", m->unit_cell);
    else if (m->from && m->unit && strcmp(m->from, m->unit->name)) {
        buf_puts(b, ", from: ");
        buf_json(b, str_of(m->from));
    }
    if (m->unit)
        buf_printf(b, ", unit: %s", m->unit->name);
    const char *direction = record_direction_name(m->better);
    buf_printf(b, ", better: %s", *direction ? direction : "none");
    if (m->suffix)
        buf_puts(b, ", suffix: decimal");
    if (m->step) {
        buf_puts(b, ", step: ");
        buf_json(b, str_of(m->step));
    }
    if (m->series)
        buf_printf(b, ", headline: %s", m->better == DIR_HIGHER ? "max" : m->better == DIR_LOWER ? "min" : "median");
    buf_puts(b, "}\n");
}

static bool reader_useful(const struct guess_reader *r)
{
    size_t n = r->dead || r->muted ? 0 : r->params + (r->version_cell != NULL);
    for (size_t i = 0; i < r->metrics; i++)
        n += !r->metric[i].drop && !r->dead && !r->muted;
    return n && r->spec;
}

static void write_reader(struct buf *b, const struct guess_reader *r, size_t slice)
{
    buf_puts(b, "\n  # ");
    buf_puts(b, r->comment);
    buf_printf(b, "\n  - name: %s\n    %s\n", r->name, r->spec);
    if (slice)
        buf_printf(b, "    slice: part_%zu\n", slice);
    if (r->version_cell)
        buf_printf(b, "    version_cell: %s\n", r->version_cell);
    if (r->params)
        buf_puts(b, "    params:\n");
    for (size_t i = 0; i < r->params; i++) {
        buf_puts(b, "      - {param: ");
        buf_json(b, str_of(r->param[i].name));
        buf_puts(b, ", cell: ");
        buf_json(b, str_of(r->param[i].cell));
        if (r->param[i].type)
            buf_printf(b, ", type: %s", r->param[i].type);
        buf_puts(b, "}\n");
    }
    bool any = false;
    for (size_t i = 0; i < r->metrics; i++) {
        if (!r->metric[i].drop && !any)
            buf_puts(b, "    metrics:\n");
        any = any || !r->metric[i].drop;
        if (!r->metric[i].drop)
            write_metric(b, &r->metric[i]);
    }
}

/* Number of the reader's slice, from 1; 0: it reads everywhere. Readers behind the same line share one. */
static size_t slice_of(const struct guess *g, size_t reader, bool *ret_new)
{
    size_t number = 0;
    *ret_new = false;
    for (size_t i = 0; i <= reader && g->reader[reader]->section; i++) {
        const struct guess_reader *r = g->reader[i];
        if (!r->section || !reader_useful(r))
            continue;
        size_t first = i;
        for (size_t k = 0; k < i; k++)
            if (g->reader[k]->section && reader_useful(g->reader[k]) && !strcmp(g->reader[k]->section, r->section) && first == i)
                first = k;
        number += first == i;
        if (i == reader && first != i) {
            bool unused;
            return slice_of(g, first, &unused);
        }
        *ret_new = i == reader && first == i;
    }
    return number;
}

static void write_slices(struct buf *b, const struct guess *g)
{
    bool any = false, new;
    for (size_t i = 0; i < g->readers; i++) {
        size_t n = reader_useful(g->reader[i]) ? slice_of(g, i, &new) : 0;
        if (!n || !new)
            continue;
        buf_printf(b, "%s  part_%zu: {after: ", any ? "" : "\nslices:            # parts of the output, each begun by a line\n", n);
        guess_quoted(b, str_of(g->reader[i]->section));
        buf_puts(b, "}\n");
        any = true;
    }
}

/* The best guess at what matters: rates, then times. */
static void write_headlines(struct buf *b, const struct guess *g)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < g->readers && n < 4; i++)
            for (size_t k = 0; k < g->reader[i]->metrics && n < 4; k++) {
                const struct guess_metric *m = &g->reader[i]->metric[k];
                if (m->drop || strchr(m->name, '{') || m->better != (pass ? DIR_LOWER : DIR_HIGHER))
                    continue;
                buf_printf(b, "%s%s", n++ ? ", " : "headlines: [", m->name);
            }
    if (n)
        buf_puts(b, "]       # guessed: what to show first\n");
}

/* The first lines that speak of errors, as checks to be thought about. */
static void write_errors(struct buf *b, const struct guess *g)
{
    static const char *const words[] = {"ERROR", "FATAL", "Error:", "error:", "FAILED", "failed", "Segmentation fault", "WARNING"};
    size_t n = 0;
    for (size_t i = 0; i < g->lines && n < 5; i++) {
        const struct guess_line *l = &g->line[i];
        size_t w = 0;
        while (l->plain && w < 8 && !str_has(l->text, words[w]))
            w++;
        if (!l->plain || w == 8 || l->text.n > 300)
            continue;
        CLEANUP_BUF struct buf pattern;
        buf_init(&pattern, 4000);
        buf_putc(&pattern, '^');
        guess_pattern(&pattern, str_sub(l->text, 0, 40), false);
        buf_puts(b, "  # - {must_not: ");
        guess_quoted(b, buf_text(&pattern));
        buf_printf(b, ", reason: \"what it means\"}   # line %zu: does it spoil the result?\n", i + 1);
        n++;
    }
}

static void write_head(struct buf *b, const struct guess *g, const char *name, char *const *argv, bool cut)
{
    const char *base = argv && argv[0] ? str_base_name(argv[0]) : name;
    buf_puts(b, "# A first rule file, guessed from one output. Nobody has looked at it yet. To be checked:\n"
                "# - names, units and directions (better: higher, lower, none) of the metrics; those that are no results: take them out\n"
                "# - `headline`: the statistic that counts where there are several values; without it they must all be the same\n"
                "# - words in patterns that belong to this one run (paths, names of hosts): make them \\S+\n"
                "# - checks: what must stand in a good output, and what must not\n"
                "# Then: benchwrap rules check THIS_FILE, with outputs in samples/ beside it (docs/howto-benchmark.md).\n");
    if (cut)
        buf_printf(b, "# The output is longer than the %d MiB that were looked at.\n", GUESS_BYTES_MAX >> 20);
    buf_puts(b, "name: ");
    buf_json(b, str_of(name));
    buf_puts(b, "\nversion: \"1\"\nsummary: ");
    buf_json(b, str_of(arena_printf((struct arena *)&g->arena, "%s: what it measures", name)));
    buf_puts(b, "\nprograms: [");
    buf_json(b, str_of(base));
    buf_puts(b, "]\n");
    write_headlines(b, g);
}

/* Does the argument before take this one as its value? As write_arguments guesses it. */
static bool takes_value(const char *before)
{
    struct str arg = str_of(before);
    bool attached = arg.n > 2 && arg.p[1] != '-' && arg.p[2] >= '0' && arg.p[2] <= '9';
    return arg.n >= 2 && arg.p[0] == '-' && !str_is(arg, "--") && !guess_is_number(arg) && !attached && !memchr(arg.p, '=', arg.n);
}

/* What is no option: else `prog 64` and `prog 256` would be the same to whoever compares them. */
static void write_operands(struct buf *b, char *const *argv, bool any)
{
    size_t n = 0;
    for (size_t i = 1; argv && argv[0] && argv[i] && i < 200 && n < 8; i++) {
        if ((argv[i][0] == '-' && !guess_is_number(str_of(argv[i]))) || (i > 1 && takes_value(argv[i - 1])))
            continue;
        if (!n++)
            buf_puts(b, any ? "  operands: [" : "\narguments:\n  operands: [");
        buf_printf(b, "%soperand_%zu", n > 1 ? ", " : "", n);
    }
    if (n)
        buf_puts(b, "]         # what is no option, in its order: give them names\n");
}

/* The program's options, as they were given: whether one has a value is guessed from what follows. */
static void write_arguments(struct buf *b, char *const *argv, struct arena *a)
{
    bool any = false;
    for (size_t i = 1; argv && argv[0] && argv[i] && i < 200; i++) {
        struct str arg = str_of(argv[i]), value = arg, flag = str_cut(&value, '=');
        bool attached = arg.n > 2 && arg.p[1] != '-' && arg.p[2] >= '0' && arg.p[2] <= '9'; /* -t16 */
        if (attached) {
            flag = str_sub(arg, 0, 2);
            value = str_sub(arg, 2, arg.n);
        }
        if (arg.n < 2 || arg.p[0] != '-' || str_is(arg, "--") || guess_is_number(arg) || arg.n > 60 || !plain_line(arg, GUESS_LINE_MAX))
            continue;
        bool twice = false;
        for (size_t k = 1; k < i; k++) {
            struct str other = str_of(argv[k]);
            twice = twice || str_eq(str_cut(&other, '='), flag);
        }
        if (twice)
            continue;
        const char *next = argv[i + 1];
        bool has = value.p || (next && (next[0] != '-' || guess_is_number(str_of(next))));
        struct str text = value.p ? value : str_of(has ? next : "");
        uint64_t bytes;
        int64_t whole;
        bool integer = str_int(text, &whole), size = !integer && text.n && str_size(text, &bytes);
        const char *segment = guess_segment(str_sub(flag, str_starts(flag, "--") ? 2 : 1, flag.n), a);
        buf_printf(b, "%s    - {flags: [", any ? "" : "\narguments:\n  options:         # those that were given; the program has more\n");
        buf_json(b, flag);
        buf_printf(b, "], %sparam: option.%s%s}\n",
                   !has      ? "kind: flag, "
                   : integer ? "type: integer, "
                   : size    ? "type: size, "
                             : "",
                   segment, size ? "_B" : "");
        any = true;
    }
    write_operands(b, argv, any);
}

static void write_file(struct buf *b, struct guess *g, const char *name, char *const *argv, bool cut)
{
    size_t useful = 0;
    bool new;
    write_head(b, g, name, argv, cut);
    write_arguments(b, argv, &g->arena);
    write_slices(b, g);
    buf_puts(b, "\nreaders:\n");
    for (size_t i = 0; i < g->readers; i++)
        if (reader_useful(g->reader[i])) {
            write_reader(b, g->reader[i], slice_of(g, i, &new));
            useful++;
        }
    if (!useful)
        buf_puts(
            b,
            "  # Nothing that looks like a result was found; this reader is an example.\n  - name: example\n    regex: '^result: (?<v>\\S+)$'\n"
            "    metrics:\n      - {name: result, cell: v, better: none}\n");
    buf_puts(b, "\nchecks:\n");
    write_errors(b, g);
    buf_puts(b, "  - {name: done, expect: \"exit_status == 0\", reason: \"the program has not ended well\"}\n");
}

/* ---- reading back ---- */

/* Missing because the output says so ("-", "N/A") is as it should be; anything else means that the rules take it for what it is not. */
static bool misread(const struct fact *f)
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
static size_t mend(struct guess *g, const struct coverage *v, const struct record *record)
{
    size_t index = 0, changed = 0;
    for (size_t i = 0; i < g->readers; i++)
        for (size_t k = 0; reader_useful(g->reader[i]) && k < g->reader[i]->metrics; k++) {
            struct guess_metric *m = &g->reader[i]->metric[k];
            if (m->drop)
                continue;
            const struct coverage_metric *c = &v->metric[index++];
            bool missing = !c->seen || !c->believed;
            for (const struct fact *f = record->first; f && !missing; f = f->next)
                missing = misread(f) && key_of(m, f->key);
            if (missing && c->seen && c->believed && !m->series && !strchr(m->name, '{'))
                m->series = true;
            else if (missing)
                m->drop = true;
            changed += missing;
        }
    return changed;
}

/* Metrics with cells in their names cannot be told apart in what is missing: all of them become series first, and are dropped if that fails. */
static size_t mend_families(struct guess *g, const struct record *record, bool drop)
{
    size_t changed = 0;
    bool conflict = false;
    for (const struct fact *f = record->first; f; f = f->next)
        conflict = conflict || misread(f);
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
            *ret_changed = mend(g, &coverage, &record);
            if (!*ret_changed)
                *ret_changed = mend_families(g, &record, try >= 1);
        }
        record_deinit(&record);
    }
    coverage_deinit(&coverage);
    rules_free(rules);
    return rc;
}

static void count(const struct guess *g, struct guess_summary *s)
{
    *s = (struct guess_summary){0};
    for (size_t i = 0; i < g->readers; i++) {
        s->readers += reader_useful(g->reader[i]);
        s->params += g->reader[i]->params;
        for (size_t k = 0; k < g->reader[i]->metrics; k++)
            *(g->reader[i]->metric[k].drop ? &s->dropped : &s->metrics) += 1;
    }
}

/* A reader that the loader refuses (a label it cannot have, a pattern that is too long) must not cost the others. */
static int bury_refused(struct guess *g, const char *name, char *const *argv)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, RULES_TEXT_MAX);
    for (size_t i = 0; i < g->readers; i++) {
        struct rules *rules;
        for (size_t k = 0; k < g->readers; k++)
            g->reader[k]->muted = k != i;
        buf_clear(&b);
        write_file(&b, g, name, argv, false);
        g->reader[i]->dead = b.failed || rules_load_text(&rules, "guessed", buf_text(&b), NULL);
        if (!g->reader[i]->dead)
            rules_free(rules);
    }
    for (size_t k = 0; k < g->readers; k++)
        g->reader[k]->muted = false;
    return g->arena.failed ? -1 : 0;
}

static int propose(struct guess *g, const char *name, char *const *argv, bool cut, struct buf *ret, struct err *err)
{
    size_t from = ret->n, changed = 1;
    guess_version(g);
    guess_json(g);
    guess_csv(g);
    guess_matrices(g);
    guess_tables(g);
    guess_terse(g);
    guess_named_numbers(g);
    for (int try = 0; changed && try < TRIES; try++) {
        changed = 0;
        ret->n = from;
        write_file(ret, g, name, argv, cut);
        struct rules *rules;
        if (rules_load_text(&rules, "guessed", str_sub(buf_text(ret), from, ret->n), NULL) == 0)
            rules_free(rules);
        else if (bury_refused(g, name, argv) == 0) {
            ret->n = from;
            write_file(ret, g, name, argv, cut);
        }
        if (ret->failed || g->arena.failed)
            return err_set(err, ERR_SYSTEM, "no memory to write the rules");
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
    int rc = cut_lines(&g) ? err_set(err, ERR_SYSTEM, "no memory to look at the output") : propose(&g, name, argv, cut, ret, err);
    count(&g, summary);
    arena_deinit(&g.arena);
    return rc;
}
