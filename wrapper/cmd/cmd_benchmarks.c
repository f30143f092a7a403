/* cmd_benchmarks.c: `benchwrap benchmarks [NAME]`: the programs whose output is understood, and a page for one, made from its rule file. */
#include "base/json_out.h"
#include "base/listing.h"
#include "base/shell_word.h"
#include "benchmarks/catalogue.h"
#include "benchmarks/engine.h"
#include "cmd/cmd.h"
#include "plan/plan.h"

static const struct opt_row rows[] = {
    {.name = OPTION_RULES,
     .letter = 'r',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Print the rule file itself, as a start for one of your own"},
    {.name = OPTION_LIST, .kind = OPT_FLAG, .group = "Output", .help = "Print the names alone, one a line"},
    CMD_ROW_JSON,
};

/* ---- the content of the rule file, as text ---- */

static const char *join_texts(const struct str *texts, size_t n, const char *between, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" STR_FMT, i ? between : "", STR_ARG(texts[i]));
    return n ? arena_dup(a, b.p ? b.p : "", b.n) : NULL;
}

static const char *metric_choice_word(const struct metric_rule *m)
{
    static const char *const words[] = {"must agree", "the first",    "the last", "series",
                                        "the least",  "the greatest", "the mean", "the sum"};
    return words[m->many];
}

/* "{access}.bw_MiB_per_s.max": the key as it will be, cells in braces. */
static const char *metric_key(const struct rules *rules, const struct reader *r, const struct metric_rule *m, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < m->name.n; i++) {
        const struct name_part *p = &m->name.part[i];
        struct str text = p->cell >= 0 && r ? r->cell[p->cell] : p->var >= 0 ? rules->var[p->var] : p->text;
        bool open = p->cell >= 0 || p->var >= 0;
        buf_printf(&b, "%s" STR_FMT "%s", open ? "{" : "", STR_ARG(text), open ? "}" : "");
    }
    if (m->unit)
        buf_printf(&b, "_%s", m->unit->name);
    if (m->stat || m->headline)
        buf_printf(&b, ".%s", m->stat ? m->stat : m->headline);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

struct shown_metric {
    const char *key, *readers;
    const struct metric_rule *rule;
};
struct shown_param {
    const char *key, *from;
};
struct page {
    struct arena *arena;
    const struct rules *rules;
    const char *path, *from;
    struct catalogue_samples samples;
    struct shown_metric *metric;
    struct shown_param *param;
    size_t metrics, params, params_room;
};

static void metric_add(struct page *p, const struct reader *r, const struct metric_rule *m)
{
    const char *key = metric_key(p->rules, r, m, p->arena);
    for (size_t i = 0; i < p->metrics && key; i++)
        if (!strcmp(p->metric[i].key, key)) {
            p->metric[i].readers = arena_printf(p->arena, "%s, %s", p->metric[i].readers, r->name);
            return;
        }
    if (key)
        p->metric[p->metrics++] = (struct shown_metric){key, r->name, m};
}

static void param_add(struct page *p, const char *key, const char *from)
{
    for (size_t i = 0; i < p->params && key; i++)
        if (!strcmp(p->param[i].key, key)) {
            const char *all = p->param[i].from, *at = all ? strstr(all, from) : NULL;
            size_t n = strlen(from);
            if (all && (!at || (at[n] != 0 && at[n] != ',')))
                p->param[i].from = arena_printf(p->arena, "%s, %s", all, from);
            return;
        }
    if (key && p->params < p->params_room)
        p->param[p->params++] = (struct shown_param){key, from};
}

/* Fills the page of a benchmark from its rules: metrics, params and samples, in the page's arena.
 * 0; -1 with err: out of memory. */
static int page_make(struct page *p, struct err *err)
{
    const struct rules *rules = p->rules;
    p->params_room = rules->options + rules->environments;
    for (size_t i = 0; i < rules->readers; i++)
        p->params_room += rules->reader[i]->params;
    p->metric = arena_get(p->arena, (rules->metric_count + 1) * sizeof(*p->metric));
    p->param = arena_get(p->arena, (p->params_room + 1) * sizeof(*p->param));
    if (!p->metric || !p->param)
        return err_memory(err, "the list of benchmarks");
    for (size_t i = 0; i < rules->readers; i++)
        for (size_t k = 0; k < rules->reader[i]->metrics; k++)
            metric_add(p, rules->reader[i], &rules->reader[i]->metric[k]);
    for (size_t i = 0; i < rules->options; i++)
        if (rules->option[i].param && !rules->option[i].hidden)
            param_add(p, rules->option[i].param, join_texts(rules->option[i].flag, rules->option[i].flags, " ", p->arena));
    for (size_t i = 0; i < rules->readers; i++)
        for (size_t k = 0; k < rules->reader[i]->params; k++) {
            const struct param_rule *q = &rules->reader[i]->param[k];
            if (!q->hidden)
                param_add(p, arena_dup(p->arena, q->name.part[0].text.p, q->name.part[0].text.n), "output");
        }
    for (size_t i = 0; i < rules->environments; i++)
        param_add(p, rules->environment[i].param, arena_dup(p->arena, rules->environment[i].name.p, rules->environment[i].name.n));
    catalogue_read_samples(p->path, p->arena, &p->samples);
    return p->arena->failed ? err_memory(err, "the list of benchmarks") : 0;
}

/* The arguments as one would type them. */
static const char *command_line(const char *lines, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (struct str rest = str_of(lines); rest.p && rest.n;) {
        struct str word = str_cut(&rest, '\n');
        const char *text = arena_dup(a, word.p, word.n);
        if (b.n)
            buf_putc(&b, ' ');
        if (text)
            shell_word_put(&b, text);
    }
    return arena_dup(a, b.p ? b.p : "", b.n);
}

static const char *example_command(const struct page *p)
{
    const char *line = *p->samples.example ? command_line(p->samples.example, p->arena) : NULL;
    const char *program = p->rules->programs ? join_texts(p->rules->program, 1, "", p->arena) : p->rules->name;
    return line ? arena_printf(p->arena, "benchwrap -- %s", line)
                : arena_printf(p->arena, "benchwrap %s%s%s-- %s", p->rules->programs ? "" : "--rules ",
                               p->rules->programs ? "" : p->rules->name, p->rules->programs ? "" : " ",
                               p->rules->programs ? program : "PROGRAM");
}

/* Returns the names of what the rules read, "standard output, file x.log", in the arena; NULL: out
 * of memory. */
static const char *source_names(const struct rules *rules, struct arena *a)
{
    unsigned bits = 0;
    for (size_t i = 0; i < rules->readers; i++)
        bits |= rules->reader[i]->sources;
    const char *text = bits & 1 ? bits & 2 ? "standard output, standard error" : "standard output" : bits & 2 ? "standard error" : "";
    for (size_t i = 0; i < rules->files; i++)
        text = arena_printf(a, "%s%s%s %s", text, *text ? ", " : "", rules->file_logged[i] ? "logged file" : "file", rules->file[i]);
    return text;
}

static const char *check_word(const struct check *c)
{
    return c->kind == CHECK_MUST ? "must" : c->kind == CHECK_MUST_NOT ? "must not" : "expect";
}

/* ---- the page ---- */

static void title_row(FILE *out, const char *what, const char *text)
{
    enum { LABEL = 11 };
    const struct screen screen = screen_of_file(out);
    CLEANUP_BUF struct buf b, to;
    buf_init(&b, 64 << 10);
    buf_init(&to, 128 << 10);
    if (!text || !*text)
        return;
    buf_plain(&b, str_of(text), 8000);
    screen_wrap(&screen, buf_text(&b), LABEL, LABEL, &to);
    fprintf(out, "%-*s %s\n", LABEL - 1, what, to.p ? to.p : "");
}

static int print_metrics(const struct page *p, FILE *out)
{
    static const struct listing_column columns[] = {
        {"key", "METRIC", false, 0}, {"unit", "UNIT", false, 0}, {"better", "BETTER", false, 0}, {"many", "SEVERAL", false, 0}};
    struct listing l;
    listing_init(&l, columns, 4, p->arena);
    for (size_t i = 0; i < p->metrics; i++) {
        const struct metric_rule *m = p->metric[i].rule;
        const char *direction = record_direction_name(m->better);
        listing_text(&l, p->metric[i].key);
        listing_text(&l, m->unit ? m->unit->name : NULL);
        listing_text(&l, *direction ? direction : NULL);
        listing_text(&l, metric_choice_word(m));
    }
    int rc = listing_print(&l, out);
    listing_deinit(&l);
    return rc;
}

static int print_params(const struct page *p, FILE *out)
{
    static const struct listing_column columns[] = {{"key", "PARAM", false, 0}, {"from", "FROM", false, 0}};
    struct listing l;
    listing_init(&l, columns, 2, p->arena);
    for (size_t i = 0; i < p->params; i++) {
        listing_text(&l, p->param[i].key);
        listing_text(&l, p->param[i].from);
    }
    if (p->params)
        fputc('\n', out);
    int rc = listing_print(&l, out);
    listing_deinit(&l);
    return rc;
}

/* Prints the table of checks and required metrics. -1: out of memory. */
static int print_checks(const struct page *p, FILE *out)
{
    static const struct listing_column columns[] = {
        {"check", "CHECK", false, 0}, {"severity", "ELSE", false, 0}, {"reason", "MEANING", false, 0}};
    struct listing l;
    listing_init(&l, columns, 3, p->arena);
    for (size_t i = 0; i < p->rules->requireds; i++) {
        listing_text(&l, "required");
        listing_text(&l, "fail");
        listing_text(&l, arena_printf(p->arena, "%s is missing", p->rules->required[i].metric));
    }
    for (size_t i = 0; i < p->rules->checks; i++) {
        const struct check *c = p->rules->check[i];
        listing_text(&l, check_word(c));
        listing_text(&l, c->warn ? "warn" : "fail");
        listing_text(&l, c->reason);
    }
    if (p->rules->checks + p->rules->requireds)
        fputc('\n', out);
    int rc = listing_print(&l, out);
    listing_deinit(&l);
    return rc;
}

static int print_page(const struct page *p, FILE *out)
{
    title_row(out, p->rules->name, p->rules->summary);
    title_row(out, "rules", arena_printf(p->arena, "%s, version %s", p->path, p->rules->version));
    title_row(out, "programs", join_texts(p->rules->program, p->rules->programs, ", ", p->arena));
    title_row(out, "reads", source_names(p->rules, p->arena));
    title_row(out, "verified", join_texts(p->rules->verified, p->rules->verifieds, ", ", p->arena));
    title_row(out, "reproduced", join_texts(p->rules->reproduced, p->rules->reproduceds, ", ", p->arena));
    title_row(out, "samples", p->samples.count ? arena_printf(p->arena, "%zu", p->samples.count) : "none");
    title_row(out, "headlines", join_texts(p->rules->headline, p->rules->headlines, ", ", p->arena));
    title_row(out, "example", example_command(p));
    fputc('\n', out);
    return print_metrics(p, out) || print_params(p, out) || print_checks(p, out) ? -1 : 0;
}

static void json_words(struct json_out *j, const char *key, const struct str *texts, size_t n)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < n; i++)
        json_str(j, NULL, texts[i]);
    json_close(j, ']');
}

static void json_head(struct json_out *j, const char *name, const struct rules *rules, const char *path, const char *from)
{
    json_text(j, "name", name);
    json_text(j, "summary", rules_summary(rules));
    json_text(j, "from", from);
    json_text(j, "path", path);
    json_text(j, "rules_version", rules_version(rules));
    json_words(j, "programs", rules->program, rules->programs);
    json_words(j, "headlines", rules->headline, rules->headlines);
    json_words(j, "verified", rules->verified, rules->verifieds);
    json_words(j, "reproduced", rules->reproduced, rules->reproduceds);
}

static void json_page(struct json_out *j, const struct page *p)
{
    json_open(j, NULL, '{');
    json_head(j, p->rules->name, p->rules, p->path, p->from);
    json_text(j, "reads", source_names(p->rules, p->arena));
    json_int(j, "samples", (int64_t)p->samples.count);
    json_text(j, "example", example_command(p));
    json_open(j, "metrics", '[');
    for (size_t i = 0; i < p->metrics; i++) {
        const struct metric_rule *m = p->metric[i].rule;
        json_open(j, NULL, '{');
        json_text(j, "key", p->metric[i].key);
        json_text(j, "unit", m->unit ? m->unit->name : "");
        json_text(j, "better", record_direction_name(m->better));
        json_text(j, "many", metric_choice_word(m));
        json_text(j, "readers", p->metric[i].readers);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "params", '[');
    for (size_t i = 0; i < p->params; i++) {
        json_open(j, NULL, '{');
        json_text(j, "key", p->param[i].key);
        json_text(j, "from", p->param[i].from);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "required", '[');
    for (size_t i = 0; i < p->rules->requireds; i++)
        json_text(j, NULL, p->rules->required[i].metric);
    json_close(j, ']');
    json_open(j, "checks", '[');
    for (size_t i = 0; i < p->rules->checks; i++) {
        const struct check *c = p->rules->check[i];
        json_open(j, NULL, '{');
        json_text(j, "kind", check_word(c));
        json_text(j, "severity", c->warn ? "warn" : "fail");
        json_text(j, "reason", c->reason);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

/* ---- the verb ---- */

static int print_buffer(struct cmd_context *c, struct buf *b)
{
    if (b->failed)
        return err_memory(c->err, "the list of benchmarks");
    fprintf(c->out, "%s\n", b->p);
    return 0;
}

static const char *where_from(const struct catalogue *catalogue, const char *path)
{
    if (!strncmp(path, "shipped:", 8))
        return "shipped";
    for (size_t i = 0; i < catalogue->folders; i++)
        if (!strncmp(path, catalogue->folder[i], strlen(catalogue->folder[i])))
            return catalogue->folder[i];
    return "file";
}

/* Prints all entries of the catalogue as a table, names or JSON. A file with errors is reported and
 * left out. -1 with c->err: out of memory. */
static int benchmarks_list(struct cmd_context *c, const struct catalogue *catalogue)
{
    static const struct listing_column columns[] = {
        {"name", "NAME", false, 0}, {"from", "FROM", false, 0}, {"headlines", "HEADLINES", false, 44}, {"summary", "SUMMARY", false, 0}};
    CLEANUP_BUF struct buf b;
    struct json_out j = {.to = &b};
    struct listing l;
    size_t n = 0;
    bool json = opt_on(&c->opts, OPTION_JSON);
    struct catalogue_entry *e = catalogue_list(catalogue, c->arena, &n);
    buf_init(&b, 64 << 20);
    listing_init(&l, columns, 4, c->arena);
    json_open(&j, NULL, '[');
    for (size_t i = 0; e && i < n; i++) {
        struct rules *rules;
        struct err why = {0};
        if (e[i].hidden)
            continue;
        if (opt_on(&c->opts, OPTION_LIST)) {
            fprintf(c->out, "%s\n", e[i].name);
            continue;
        }
        if (rules_load(&rules, e[i].path, &why)) {
            cmd_complain(c->notes, "benchmarks", &why);
            continue;
        }
        listing_text(&l, e[i].name);
        listing_text(&l, e[i].from ? e[i].from : "shipped");
        listing_text(&l, join_texts(rules->headline, rules->headlines, " ", c->arena));
        listing_text(&l, arena_printf(c->arena, "%s", rules_summary(rules)));
        json_open(&j, NULL, '{');
        json_head(&j, e[i].name, rules, e[i].path, e[i].from ? e[i].from : "shipped");
        json_close(&j, '}');
        rules_free(rules);
    }
    json_close(&j, ']');
    int rc = json ? print_buffer(c, &b) : listing_print(&l, c->out);
    listing_deinit(&l);
    return rc;
}

/* Prints the page of one rule file, as text or with --json. 0; -1 with c->err. The rules are
 * freed. */
static int benchmarks_show_one(struct cmd_context *c, const struct catalogue *catalogue, const char *path)
{
    struct rules *rules;
    struct page p = {.arena = c->arena, .path = path, .from = where_from(catalogue, path)};
    CLEANUP_BUF struct buf b;
    struct json_out j = {.to = &b};
    buf_init(&b, 64 << 20);
    if (rules_load(&rules, path, c->err))
        return -1;
    p.rules = rules;
    int rc = page_make(&p, c->err);
    if (!rc && opt_on(&c->opts, OPTION_JSON)) {
        json_page(&j, &p);
        rc = print_buffer(c, &b);
    } else if (!rc && print_page(&p, c->out))
        rc = err_memory(c->err, "the list of benchmarks");
    rules_free(rules);
    return rc;
}

static int print_rules(struct cmd_context *c, const char *path)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, CATALOGUE_FILE_MAX);
    if (catalogue_read(path, &b, c->err))
        return -1;
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    return 0;
}

/* Executes `benchwrap benchmarks`. -1 with c->err: no benchmark has the name. */
static int benchmarks_command(struct cmd_context *c)
{
    struct catalogue catalogue;
    if (plan_catalogue(c->env, c->arena, &catalogue, c->err))
        return -1;
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one NAME or none, got %d", c->argc);
    if (!c->argc)
        return opt_on(&c->opts, OPTION_RULES) ? err_set(c->err, ERR_USAGE, "--rules: expected the NAME of a benchmark")
                                              : benchmarks_list(c, &catalogue);
    const char *path = catalogue_find(&catalogue, c->argv[0], c->arena);
    if (!path)
        path = catalogue_for_program(&catalogue, c->argv[0], c->arena);
    if (!path)
        return err_set(c->err, ERR_USAGE,
                       "no benchmark is called \"%.60s\", and none lists it as a program; \"benchwrap benchmarks\" shows all", c->argv[0]);
    return opt_on(&c->opts, OPTION_RULES) ? print_rules(c, path) : benchmarks_show_one(c, &catalogue, path);
}

const struct cmd cmd_benchmarks = {
    .name = "benchmarks",
    .summary = "List the programs whose output is understood",
    .usage = "[OPTIONS] [NAME|FILE]",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .description =
        "Without a name, lists the rule files: those compiled in, and those of your own folders, which go before them. With a name (or the base "
        "name of a program, or a file), prints what benchwrap reads from the program's output: metrics with unit and direction, params and where they "
        "come from, what a good run must have, the versions whose real output was read (verified) or only a rebuilt one (reproduced), and an example.",
    .examples =
        "$ benchwrap benchmarks\nA table.\n"
        "$ benchwrap benchmarks ior\nThe page of one.\n"
        "$ mkdir -p ~/.config/benchwrap/catalogue/ior && benchwrap benchmarks --rules shipped:ior >~/.config/benchwrap/catalogue/ior/rules.yaml\n"
        "A rule file of your own, begun with the shipped one.\n",
    .run = benchmarks_command,
};
