/* cmd_parse.c: `benchwrap parse`: reads a stored output by a rule file and prints params, metrics
 * and verdict; runs nothing. */
#include "base/fs.h"
#include "base/json_out.h"
#include "benchmarks/catalogue.h"
#include "cmd/cmd.h"
#include "replay/reading.h"
#include "launch/peel.h"
#include "plan/plan.h"
#include "plan/references.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const struct opt_row rows[] = {
    CMD_ROW_RULES(
        "Read by this entry of the catalogue or rule file (default: by the program behind --, else by the content of the output)"),
    {.name = OPTION_STDERR, .kind = OPT_TEXT, .arg = "FILE", .group = "Input", .help = "Read the program's standard error from this file"},
    {.name = OPTION_FILE, .kind = OPT_LIST, .arg = "PATTERN=FILE", .group = "Input", .help = "Let the rules read this file too"},
    {.name = OPTION_EXIT_STATUS,
     .kind = OPT_INT,
     .arg = "N",
     .group = "Input",
     .help = "Set the exit status of the program (default: not known)"},
    {.name = OPTION_REFERENCE,
     .letter = 'R',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Verdict",
     .help = "Judge the metrics by this reference file"},
    {.name = OPTION_PARAM,
     .letter = 'p',
     .kind = OPT_PAIR,
     .arg = "KEY=VALUE",
     .group = "Verdict",
     .help = "Set a parameter that the output does not contain (job.partition=gpu), for the references' conditions"},
    {.name = OPTION_TAG, .kind = OPT_PAIR, .arg = "KEY=VALUE", .group = "Verdict", .help = "Add a tag likewise (site=..., cluster=...)"},
    {.name = OPTION_GATE, .kind = OPT_FLAG, .group = "Verdict", .help = "Exit 3 when the verdict is not pass"},
    CMD_ROW_JSON,
};

static const char *rule_path(struct cmd_context *c, const char *name)
{
    struct catalogue catalogue;
    if (plan_catalogue(c->env, c->arena, &catalogue, c->err))
        return NULL;
    const char *path = catalogue_find(&catalogue, name, c->arena);
    if (!path)
        err_set(c->err, ERR_USAGE, "--rules: \"%s\" is neither an entry of the catalogue (\"benchwrap benchmarks\") nor a file", name);
    return path;
}

/* Of the rules that know this output the only ones (as `import` finds them); NULL: none, or *ret_several. */
static const char *rules_of_output(struct cmd_context *c, const struct catalogue *catalogue, struct str text, bool *ret_several)
{
    struct found {
        struct rules *rules;
        bool known;
    };
    size_t n = 0, known = 0;
    const char *path = NULL;
    struct catalogue_entry *list = catalogue_list(catalogue, c->arena, &n);
    struct found *found = arena_get(c->arena, (n + 1) * sizeof *found);
    for (size_t i = 0; list && found && i < n; i++) {
        struct err ignored = {0};
        struct rules_seen seen;
        found[i] = (struct found){0};
        if (list[i].hidden || rules_load(&found[i].rules, list[i].path, &ignored) || !rules_recognise(found[i].rules))
            continue;
        rules_see(found[i].rules, text, c->arena, &seen);
        found[i].known = seen.known;
    }
    for (size_t i = 0; list && found && i < n; i++) {
        bool within = false; /* a line within another program's output does not count */
        for (size_t k = 0; found[i].known && k < n; k++)
            within |= k != i && found[k].known && rules_over(found[k].rules, list[i].name);
        if (found[i].known && !within) {
            path = list[i].path;
            known++;
        }
    }
    for (size_t i = 0; list && found && i < n; i++)
        rules_free(found[i].rules);
    *ret_several = known > 1;
    return known == 1 ? path : NULL;
}

/* Without --rules: by the program's name, else by the form of the output. */
static const char *guess_rules(struct cmd_context *c, const char *output, char *const *program)
{
    struct catalogue catalogue;
    struct err ignored = {0};
    const char *path = NULL;
    bool several = false;
    if (plan_catalogue(c->env, c->arena, &catalogue, c->err))
        return NULL;
    if (program)
        path = catalogue_for_command(&catalogue, program, c->arena);
    if (!path && strcmp(output, "-") != 0) {
        CLEANUP_BUF struct buf text;
        buf_init(&text, (size_t)64 << 20);
        if (fs_read(AT_FDCWD, output, (size_t)64 << 20, 0, &text, &ignored) == 0)
            path = rules_of_output(c, &catalogue, buf_text(&text), &several);
        else if (access(output, R_OK) != 0) {
            err_sys(c->err, "open %s", output);
            return NULL;
        }
    }
    if (!path && several)
        err_set(
            c->err, ERR_USAGE,
            "cannot parse outputs of several programs at once: name the rules with --rules NAME|FILE, or use \"benchwrap import\", which makes a "
            "run of each");
    else if (!path)
        err_set(
            c->err, ERR_USAGE,
            "cannot recognise the program that printed this: name its rules with --rules NAME|FILE (\"benchwrap benchmarks\" lists them); "
            "--rules generic reads lines like \"name: number unit\" of any program");
    return path;
}

static void json_facts(struct json_out *j, const char *key, const struct record *record, enum fact_kind kind,
                       void (*print)(struct json_out *j, const struct fact *f))
{
    json_open(j, key, kind == FACT_PARAM || kind == FACT_TAG ? '{' : '[');
    for (const struct fact *f = record->first; f; f = f->next)
        if (f->kind == kind)
            print(j, f);
    json_close(j, kind == FACT_PARAM || kind == FACT_TAG ? '}' : ']');
}

static void print_pair(struct json_out *j, const struct fact *f)
{
    json_str(j, f->key.p, f->text);
}

static void print_metric(struct json_out *j, const struct fact *f)
{
    json_open(j, NULL, '{');
    json_str(j, "key", f->key);
    json_double(j, "value", f->value);
    json_str(j, "unit", str_of(f->unit));
    json_int(j, "step", f->step);
    json_str(j, "direction", str_of(record_direction_name(f->direction)));
    json_str(j, "source", str_of(f->source));
    json_close(j, '}');
}

static void print_missing(struct json_out *j, const struct fact *f)
{
    json_open(j, NULL, '{');
    json_str(j, "key", f->key);
    json_str(j, "reason", f->text);
    json_close(j, '}');
}

static void parse_print_text(struct json_out *j, const struct fact *f)
{
    json_str(j, NULL, f->text);
}

static void parse_print_json(struct buf *b, const struct rules *rules, const struct record *record, const struct rules_outcome *out)
{
    struct json_out j = {.to = b};
    json_open(&j, NULL, '{');
    json_str(&j, "rules", str_of(rules_name(rules)));
    json_str(&j, "rules_version", str_of(rules_version(rules)));
    json_facts(&j, "params", record, FACT_PARAM, print_pair);
    json_facts(&j, "tags", record, FACT_TAG, print_pair);
    json_facts(&j, "metrics", record, FACT_METRIC, print_metric);
    json_str(&j, "verdict", str_of(replay_verdict_word(out->verdict)));
    json_str(&j, "reason", str_of(out->reason));
    if (record->references.n) {
        CLEANUP_BUF struct buf list;
        buf_init(&list, record->references.n + 3);
        buf_printf(&list, "[" STR_FMT "]", STR_ARG(record->references));
        json_raw(&j, "references", buf_text(&list));
    }
    json_facts(&j, "missing", record, FACT_MISSING, print_missing);
    json_facts(&j, "warnings", record, FACT_WARNING, parse_print_text);
    if (rules_without_verdict(rules)) {
        json_int(&j, "not_read_lines", (int64_t)out->ignored.lines);
        json_open(&j, "not_read", '[');
        for (size_t i = 0; i < out->ignored.lines && i < IGNORED_LINES_SHOWN; i++)
            json_str(&j, NULL, str_of(out->ignored.line[i]));
        json_close(&j, ']');
    }
    json_close(&j, '}');
}

static void print_lines(struct buf *b, const struct record *record, enum fact_kind kind, const char *heading)
{
    bool any = false;
    for (const struct fact *f = record->first; f; f = f->next) {
        if (f->kind != kind)
            continue;
        if (!any)
            buf_printf(b, "\n%s\n", heading);
        any = true;
        buf_puts(b, "  ");
        if (kind != FACT_WARNING) {
            size_t from = b->n;
            buf_plain(b, f->key, 200);
            buf_printf(b, "%*s  ", (int)(b->n - from < 36 ? 36 - (b->n - from) : 0), "");
        }
        if (kind == FACT_METRIC) {
            buf_double(b, f->value);
            buf_printf(b, " %s", f->unit ? f->unit : "");
            if (f->step)
                buf_printf(b, "  (step %" PRId64 ")", f->step);
        } else
            buf_plain(b, f->text, 300);
        buf_putc(b, '\n');
    }
}

/* The first lines with a number and a unit that were not read. */
static void print_ignored(struct buf *b, const struct ignored_lines *ignored)
{
    const size_t shown = ignored->lines < IGNORED_LINES_SHOWN ? ignored->lines : IGNORED_LINES_SHOWN;
    buf_printf(b, "\nnot read: %zu line%s with a number and a unit\n", ignored->lines, str_plural(ignored->lines));
    for (size_t i = 0; i < shown; i++) {
        buf_puts(b, "  ");
        buf_plain(b, str_of(ignored->line[i]), 100);
        buf_putc(b, '\n');
    }
    if (ignored->lines > shown)
        buf_printf(b, "  and %zu more\n", ignored->lines - shown);
}

static void print_human(struct buf *b, const struct rules *rules, const struct record *record, const struct rules_outcome *out)
{
    buf_printf(b, "%s (rules %s): %s", rules_name(rules), rules_version(rules), replay_verdict_word(out->verdict));
    if (out->reason[0]) {
        buf_puts(b, ": ");
        buf_plain(b, str_of(out->reason), 1000);
    }
    buf_putc(b, '\n');
    run_references_print(record, "", 20, b);
    print_lines(b, record, FACT_PARAM, "params");
    print_lines(b, record, FACT_METRIC, "metrics");
    print_lines(b, record, FACT_MISSING, "missing");
    print_lines(b, record, FACT_WARNING, "warnings");
    if (out->ignored.lines)
        print_ignored(b, &out->ignored);
}

static int put_pairs(struct cmd_context *c, const char *option, struct record *r, void (*put)(struct record *, const char *, struct str))
{
    r->source = "option";
    for (const struct opt_value *v = opt_find(&c->opts, option); v && v->text; v = v->next) {
        struct str value = str_of(v->text), key = str_cut(&value, '=');
        const char *name = arena_dup(c->arena, key.p, key.n);
        if (!name)
            return err_memory(c->err, "the output of the command");
        put(r, name, value);
    }
    return 0;
}

/* The verdict of the references joins that of the rules. */
static void judge_by_reference(struct cmd_context *c, const struct rules *rules, struct record *r, int status, struct rules_outcome *out)
{
    const char *verdict = replay_verdict_word(out->verdict);
    struct reference_files files = {.path = {opt_text(&c->opts, OPTION_REFERENCE)}, .count = 1, .named = true};
    if (!files.path[0])
        return;
    if (!record_find(r, FACT_TAG, "benchmark"))
        record_tag(r, "benchmark", str_of(rules_name(rules)));
    run_judge_references(&files, r, status > 0, false, &verdict, &out->reason);
    out->verdict = strcmp(verdict, "pass") == 0 ? VERDICT_PASS : strcmp(verdict, "fail") == 0 ? VERDICT_FAIL : VERDICT_NONE;
}

static int parse_print(struct cmd_context *c, const struct rules *rules, const struct record *record, const struct rules_outcome *out)
{
    struct buf b;
    buf_init(&b, (size_t)1 << 30);
    if (opt_on(&c->opts, OPTION_JSON))
        parse_print_json(&b, rules, record, out);
    else
        print_human(&b, rules, record, out);
    int rc = b.failed ? err_memory(c->err, "the output of the command") : 0;
    if (!rc)
        fwrite(b.p, 1, b.n, c->out);
    buf_deinit(&b);
    return rc;
}

/* Reads one output by the rules and prints the facts. Returns what parse_print returns; -1 with
 * c->err. */
static int parse_output(struct cmd_context *c, const struct rules *rules, const char *path, char *const *argv)
{
    struct rules_outcome out;
    struct record record;
    struct replay_input what = {.out = path,
                                .errors = opt_text(&c->opts, OPTION_STDERR),
                                .argv = argv,
                                .status = opt_text(&c->opts, OPTION_EXIT_STATUS) ? (int)opt_integer(&c->opts, OPTION_EXIT_STATUS) : -1};
    struct replay_file **tail = &what.files;
    for (const struct opt_value *v = opt_find(&c->opts, OPTION_FILE); v && v->text; v = v->next) {
        struct str file = str_of(v->text), pattern = str_cut(&file, '=');
        if (!file.p)
            return err_set(c->err, ERR_USAGE, "--file: expected PATTERN=FILE, got \"%.60s\"", v->text);
        if (!(*tail = ARENA_NEW(c->arena, struct replay_file)))
            return err_memory(c->err, "the output of the command");
        **tail = (struct replay_file){.pattern = arena_dup(c->arena, pattern.p, pattern.n), .path = file.p};
        tail = &(*tail)->next;
    }
    int rc = replay_read(rules, &what, &record, &out, c->err);
    if (!rc && !(rc = put_pairs(c, "param", &record, record_param)) && !(rc = put_pairs(c, "tag", &record, record_tag))) {
        judge_by_reference(c, rules, &record, what.status, &out);
        rc = parse_print(c, rules, &record, &out);
    }
    if (!rc && opt_on(&c->opts, OPTION_GATE) && out.verdict != VERDICT_PASS)
        rc = 3;
    record_deinit(&record);
    return rc;
}

/* Executes `benchwrap parse`. Returns what parse_output returns; -1 with c->err. */
static int parse_command(struct cmd_context *c)
{
    const char *name = opt_text(&c->opts, OPTION_RULES), *path = c->argc > 0 ? c->argv[0] : NULL;
    struct rules *rules;
    if (!path)
        return err_set(c->err, ERR_USAGE, "expected the stored output: a file, or - for standard input");
    char *const *program = c->argc > 1 ? peel_program(c->argv + 1) : NULL;
    const char *file = name ? rule_path(c, name) : guess_rules(c, path, program), *reference = opt_text(&c->opts, OPTION_REFERENCE);
    struct references *refs = NULL;
    if (reference && references_load(&refs, reference, c->err)) {
        c->err->kind = ERR_USAGE;
        return err_wrap(c->err, "--reference");
    }
    references_free(refs); /* it can be read */
    if (!file || rules_load(&rules, file, c->err))
        return -1;
    int rc = parse_output(c, rules, path, program);
    rules_free(rules);
    return rc;
}

const struct cmd cmd_parse = {
    .name = "parse",
    .summary = "Read a stored output by its rules; record nothing",
    .usage = "[OPTIONS] FILE [-- PROGRAM ARGUMENTS...]",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .description =
        "Reads the output in FILE (- for standard input) as if the program had just printed it, and prints params, metrics, what is missing and "
        "the verdict. Nothing is run and nothing is recorded.\n\n"
        "With the program's command line behind -- its options become params too, and the rules know which results are required.\n\n"
        "--reference judges the metrics by a reference file; --tag and --param state what its conditions require besides the benchmark. With --gate the "
        "exit status is 3 when the verdict is not pass.",
    .examples = "$ benchwrap parse slurm-4711.out\nTables of params and metrics, and whether the run was good.\n"
                "$ benchwrap parse --rules ior --json --exit-status 0 ior.out -- ior -w -b 1g\nThe same as one JSON object.\n",
    .run = parse_command,
};
