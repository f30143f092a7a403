/* rules_check.c: check a rule file: mistakes, results of its samples, and remarks for its author. */
#include "replay/rules_check.h"
#include "benchmarks/catalogue.h"

#include <fnmatch.h>
#include <stdio.h>

const char *remark_word(enum remark_kind kind)
{
    static const char *const words[] = {"mistake", "unused", "ambiguous", "pattern"};
    return words[kind];
}

struct rules_check_state {
    struct rules_report *report;
    struct arena *arena;
};

static void add_remark(struct rules_check_state *c, enum remark_kind kind, const char *text)
{
    struct rules_remark *r = ARENA_NEW(c->arena, struct rules_remark);
    if (!r || !text)
        return;
    *r = (struct rules_remark){.kind = kind, .text = text};
    *c->report->tail = r;
    c->report->tail = &r->next;
    c->report->remark_count++;
    c->report->mistakes += kind == REMARK_MISTAKE;
}

static void add_mistake(void *context, const struct err *what)
{
    struct rules_check_state *c = context;
    add_remark(c, REMARK_MISTAKE, arena_printf(c->arena, "%s", what->text));
}

/* ---- patterns ---- */

/* Returns whether the pattern fails on lines that bring patterns into trouble: one character over
 * and over, and words of it. */
static bool pattern_gives_up(const struct pattern *p, struct arena *a)
{
    static const char *const pieces[] = {" ", "a", "1", "a ", "1 ", "1.5 ", "a:"};
    enum { LENGTH = 20000 };
    char *line = arena_get(a, LENGTH);
    bool gave_up = false;
    for (size_t i = 0; line && i < sizeof(pieces) / sizeof(pieces[0]) && !gave_up; i++) {
        size_t n = strlen(pieces[i]), literals;
        const struct str *literal;
        for (size_t k = 0; k < LENGTH; k++)
            line[k] = pieces[i][k % n];
        gave_up = pattern_match(p, (struct str){line, LENGTH}, NULL) < 0;
        literals = pattern_literals(p, &literal);
        if (!literals || literal[0].n > 100 || gave_up)
            continue;
        memcpy(line, literal[0].p, literal[0].n); /* with its own literal it goes further than any line of others */
        gave_up = pattern_match(p, (struct str){line, LENGTH}, NULL) < 0;
        memcpy(line + LENGTH / 2, literal[0].p, literal[0].n);
        gave_up = gave_up || pattern_match(p, (struct str){line, LENGTH}, NULL) < 0;
    }
    return gave_up;
}

/* Adds remarks about a pattern that is slow, that matches too much, or that fails on long lines. A
 * pattern that cannot be compiled is ignored here. */
static void check_pattern(struct rules_check_state *c, const struct yaml *y)
{
    struct pattern *p;
    const struct str *literals;
    const char *key = arena_dup(c->arena, y->key.p, y->key.n);
    if (pattern_new(&p, y->text, NULL))
        return;
    bool every_line = str_is(y->key, "regex") || str_starts(y->key, "must");
    if (every_line && !pattern_literals(p, &literals))
        add_remark(c, REMARK_PATTERN,
                   arena_printf(c->arena, "line %d: %s: no line must hold a certain text for this, so it is tried on every line: slow",
                                y->line, key));
    if (str_is(y->key, "must_not") && !str_starts(y->text, "^"))
        add_remark(c, REMARK_PATTERN,
                   arena_printf(c->arena, "line %d: must_not: without ^ it meets its words anywhere, also in lines of good runs", y->line));
    if (pattern_gives_up(p, c->arena))
        add_remark(c, REMARK_PATTERN,
                   arena_printf(c->arena,
                                "line %d: %s: gives up on long lines of blanks, digits or letters: begin with ^, and no .* behind .*",
                                y->line, key));
    pattern_free(p);
}

static void check_patterns(struct rules_check_state *c, const struct yaml *y)
{
    static const char *const keys[] = {"regex", "must", "must_not", "start", "end", "title", "after", "until", NULL};
    for (const struct yaml *child = y->child; child; child = child->next) {
        for (const char *const *k = keys; child->kind == YAML_SCALAR && *k; k++)
            if (str_is(child->key, *k))
                check_pattern(c, child);
        check_patterns(c, child);
    }
}

/* ---- what no sample meets ---- */

/* Returns the metric's name as the rule writes it, with variables as "{name}", in the arena. */
static const char *metric_rule_name(const struct reader *r, const struct metric_rule *m, const struct rules *rules, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < m->name.n; i++) {
        const struct name_part *p = &m->name.part[i];
        if (p->cell >= 0)
            buf_printf(&b, "{" STR_FMT "}", STR_ARG(r->cell[p->cell]));
        else if (p->var >= 0)
            buf_printf(&b, "{" STR_FMT "}", STR_ARG(rules->var[p->var]));
        else
            buf_str(&b, p->text);
    }
    if (m->stat)
        buf_printf(&b, ".%s", m->stat);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Adds remarks about metrics and params of the reader that no sample has, and those that an earlier
 * reader always has too. */
static void unused_in_reader(struct rules_check_state *c, const struct rules *rules, const struct coverage *v, const struct reader *r)
{
    CLEANUP_BUF struct buf missing, hidden;
    const char *instead = NULL;
    buf_init(&missing, 4096);
    buf_init(&hidden, 4096);
    if (!v->rows[r->index]) {
        add_remark(c, REMARK_UNUSED, arena_printf(c->arena, "line %d: reader %s has no row in any sample", r->at->line, r->name));
        return;
    }
    for (size_t i = 0; i < r->metrics; i++) {
        const struct coverage_metric *m = &v->metric[r->metric[i].index];
        struct buf *to = !m->seen ? &missing : m->believed ? NULL : &hidden;
        if (to)
            buf_printf(to, "%s%s", to->n ? ", " : "", metric_rule_name(r, &r->metric[i], rules, c->arena));
        if (to == &hidden)
            instead = m->instead;
    }
    for (size_t i = 0; i < r->params; i++)
        if (!v->param[r->index][i])
            buf_printf(&missing, "%s" STR_FMT, missing.n ? ", " : "", STR_ARG(r->param[i].name.part[0].text));
    if (missing.n)
        add_remark(c, REMARK_UNUSED, arena_printf(c->arena, "line %d: reader %s: in no sample: %s", r->at->line, r->name, missing.p));
    if (hidden.n)
        add_remark(c, REMARK_UNUSED,
                   arena_printf(c->arena, "line %d: reader %s: wherever it has them, reader %s, which stands earlier, has them too: %s",
                                r->at->line, r->name, instead ? instead : "?", hidden.p));
}

static const char *check_title(const struct check *k)
{
    return k->name && k->name[0] ? k->name : k->reason;
}

/* Adds remarks about readers, options and checks that no sample uses. */
static void add_unused_remarks(struct rules_check_state *c, const struct rules *rules, const struct coverage *v)
{
    CLEANUP_BUF struct buf options, checks;
    buf_init(&options, 8192);
    buf_init(&checks, 8192);
    for (size_t i = 0; i < rules->readers; i++)
        unused_in_reader(c, rules, v, rules->reader[i]);
    for (size_t i = 0; i < rules->options; i++)
        if (!v->option[i] && rules->option[i].param)
            buf_printf(&options, "%s" STR_FMT, options.n ? ", " : "", STR_ARG(rules->option[i].flag[0]));
    if (options.n && v->argued)
        add_remark(c, REMARK_UNUSED, arena_printf(c->arena, "options in no sample's arguments: %s", options.p));
    else if (options.n)
        add_remark(c, REMARK_UNUSED, "no sample has arguments (a file argv, one a line): the table of options was never used");
    for (size_t i = 0; i < rules->checks; i++)
        if (!v->failed[i])
            buf_printf(&checks, "%s%s", checks.n ? ", " : "", check_title(rules->check[i]));
    if (checks.n)
        add_remark(c, REMARK_UNUSED,
                   arena_printf(c->arena, "checks that fail in no sample, so whether they can is untested: %s", checks.p));
}

/* ---- headline metrics ---- */

/* True if the metric, or a statistic of it, can have this name. A part of the name that comes from
 * the output fits any text. */
static bool can_be(const struct metric_rule *m, const char *wanted, struct arena *a)
{
    CLEANUP_BUF struct buf glob;
    buf_init(&glob, 4096);
    for (size_t i = 0; i < m->name.n; i++)
        if (m->name.part[i].cell >= 0 || m->name.part[i].var >= 0)
            buf_putc(&glob, '*');
        else
            buf_str(&glob, m->name.part[i].text);
    const char *name = arena_dup(a, glob.p ? glob.p : "", glob.n), *statistic = arena_printf(a, "%s.*", name ? name : "");
    return !name || !statistic || fnmatch(name, wanted, 0) == 0 || fnmatch(statistic, wanted, 0) == 0;
}

/* Adds a remark for each headline metric whose name no reader and no computed metric can have. */
static void check_headlines(struct rules_check_state *c, const struct rules *rules)
{
    for (size_t h = 0; h < rules->headlines; h++) {
        const char *wanted = arena_dup(c->arena, rules->headline[h].p, rules->headline[h].n);
        bool found = !wanted;
        for (size_t r = 0; r < rules->readers && !found; r++)
            for (size_t i = 0; i < rules->reader[r]->metrics && !found; i++)
                found = can_be(&rules->reader[r]->metric[i], wanted, c->arena);
        for (size_t i = 0; i < rules->computeds && !found; i++)
            found = can_be(&rules->computed[i].rule, wanted, c->arena);
        if (!found)
            add_remark(c, REMARK_MISTAKE, arena_printf(c->arena, "headlines: no metric is named \"%s\" (a name without its unit)", wanted));
    }
}

/* ---- all of it ---- */

/* Runs the samples of a rule file and counts their outcomes in the report; an entry that is
 * compiled in has none. -1 with err. */
static int check_samples_of(struct rules_check_state *c, const struct rules *rules, bool update, struct err *err)
{
    struct rules_report *report = c->report;
    struct coverage coverage;
    const char *slash = strrchr(report->path, '/');
    const char *folder = slash ? arena_dup(c->arena, report->path, (size_t)(slash - report->path)) : ".";
    if (coverage_init(&coverage, rules, err))
        return -1;
    int rc = strncmp(report->path, "shipped:", 8) == 0 ? 0 : samples_run(rules, folder, update, &coverage, c->arena, &report->samples, err);
    for (const struct sample_case *s = report->samples; s; s = s->next)
        *(s->state == SAMPLE_SAME      ? &report->good
          : s->state == SAMPLE_DIFFERS ? &report->differing
          : s->state == SAMPLE_SKIPPED ? &report->skipped
                                       : &report->broken) += 1;
    if (coverage.readings)
        add_unused_remarks(c, rules, &coverage);
    for (const struct coverage_note *n = coverage.notes; n; n = n->next)
        add_remark(c, REMARK_AMBIGUOUS, arena_printf(c->arena, "%s", n->text));
    coverage_deinit(&coverage);
    return rc;
}

int rules_check(const char *path, bool update, struct arena *a, struct rules_report *ret, struct err *err)
{
    struct rules_check_state c = {.report = ret, .arena = a};
    struct rules *rules;
    struct yaml *tree;
    struct err why = {0};
    *ret = (struct rules_report){.path = path};
    ret->tail = &ret->remarks;
    const char *folder = catalogue_name(path, a);
    ret->name = folder ? folder : path;
    if (rules_load_all(&rules, path, add_mistake, &c, &why)) {
        if (!ret->mistakes) /* it could not be read at all */
            add_remark(&c, REMARK_MISTAKE, arena_printf(a, "%s", why.text));
        return a->failed ? err_memory(err, "the check of rules") : 0;
    }
    ret->name = arena_printf(a, "%s", rules_name(rules));
    check_headlines(&c, rules);
    int rc = check_samples_of(&c, rules, update, err);
    if (!rc && yaml_parse(&tree, path, rules_text(rules), a, NULL) == 0)
        check_patterns(&c, tree);
    rules_free(rules);
    return rc ? -1 : a->failed ? err_memory(err, "the check of rules") : 0;
}

bool rules_report_good(const struct rules_report *r)
{
    return !r->mistakes && !r->differing && !r->broken;
}
