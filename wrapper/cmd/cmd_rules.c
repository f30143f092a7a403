/* cmd_rules.c: `benchwrap rules check|new`: for those who write rule files. */
#include "base/fs.h"
#include "base/json_out.h"
#include "base/shell_word.h"
#include "benchmarks/guess.h"
#include "benchmarks/interpreter.h"
#include "cmd/cmd.h"
#include "replay/rules_check.h"
#include "replay/rules_from.h"
#include "cmd/selection.h"
#include "plan/plan.h"

#include <fcntl.h>
#include <unistd.h>

enum { FILES_MAX = 1000 };

static const struct opt_row rows[] = {
    {.name = OPTION_ALL,
     .kind = OPT_FLAG,
     .group = "Check",
     .help = "Check every rule file that is found, unless another of its name hides it"},
    {.name = OPTION_UPDATE, .kind = OPT_FLAG, .group = "Check", .help = "Write the values of the samples as their expected values"},
    {.name = OPTION_FROM,
     .letter = 'f',
     .kind = OPT_TEXT,
     .arg = "OUTPUT|RUN",
     .group = "New",
     .help = "Read this output: a file, - for standard input, or a recorded run (\"last\", the beginning of its id)"},
    SELECTION_ROW_EXPERIMENT,
    {.name = OPTION_NAME,
     .letter = 'n',
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "New",
     .help = "Name the benchmark (default: the program's name, else that of the output's file)"},
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "New",
     .help = "Write to this new file (default: standard output)"},
    CMD_ROW_TREE_FOR("New", "Search the run in this mlruns folder"),
    {.name = OPTION_TAP, .kind = OPT_FLAG, .group = "Output", .help = "Print one line a sample, in the Test Anything Protocol"},
    CMD_ROW_JSON,
};

/* ---- what was found, in three forms ---- */

static void print_lines_plain(FILE *out, const char *before, const char *text)
{
    for (struct str rest = str_of(text); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64 << 10);
        buf_plain(&b, line, 4000);
        if (line.n || rest.p)
            fprintf(out, "%s%s\n", before, b.p ? b.p : "");
    }
}

static void print_report(FILE *out, const struct rules_report *r)
{
    size_t samples = r->good + r->differing + r->skipped + r->broken;
    fprintf(out, "%s (%s): ", r->name, r->path);
    if (samples)
        fprintf(out, "%zu sample%s%s", samples, str_plural(samples), r->good ? ", " : "");
    else
        fputs(r->mistakes ? "no samples" : "no mistakes, no samples to compare", out);
    if (r->good)
        fprintf(out, "%zu as expected", r->good);
    if (r->differing)
        fprintf(out, ", %zu DIFFER", r->differing);
    if (r->broken)
        fprintf(out, ", %zu could not be read", r->broken);
    if (r->skipped)
        fprintf(out, ", %zu skipped", r->skipped);
    if (r->mistakes)
        fprintf(out, ", %zu MISTAKE%s", r->mistakes, r->mistakes == 1 ? "" : "S");
    fputc('\n', out);
    for (const struct rules_remark *m = r->remarks; m; m = m->next) {
        char before[24];
        snprintf(before, sizeof(before), "  %-10s", remark_word(m->kind));
        print_lines_plain(out, before, m->text);
    }
    for (const struct sample_case *s = r->samples; s; s = s->next)
        if (s->state == SAMPLE_DIFFERS || s->state == SAMPLE_BROKEN) {
            fprintf(out, "  %s %s\n", s->state == SAMPLE_DIFFERS ? "differs   " : "broken    ", s->name);
            print_lines_plain(out, "      ", s->text);
        }
}

static void print_tap(FILE *out, const struct rules_report *r, size_t *count)
{
    for (const struct rules_remark *m = r->remarks; m; m = m->next)
        if (m->kind == REMARK_MISTAKE) {
            fprintf(out, "not ok %zu - %s is a rule file\n", ++*count, r->name);
            print_lines_plain(out, "#   ", m->text);
        }
    for (const struct sample_case *s = r->samples; s; s = s->next) {
        bool good = s->state == SAMPLE_SAME || s->state == SAMPLE_SKIPPED;
        fprintf(out, "%sok %zu - %s", good ? "" : "not ", ++*count, s->name);
        if (s->state == SAMPLE_SKIPPED)
            print_lines_plain(out, " # SKIP ", s->text);
        else
            fputc('\n', out);
        if (!good)
            print_lines_plain(out, "#   ", s->text);
    }
}

static void json_report(struct json_out *j, const struct rules_report *r)
{
    static const char *const states[] = {"same", "differs", "skipped", "broken"};
    json_open(j, NULL, '{');
    json_text(j, "name", r->name);
    json_text(j, "path", r->path);
    json_flag(j, "ok", rules_report_good(r));
    json_open(j, "remarks", '[');
    for (const struct rules_remark *m = r->remarks; m; m = m->next) {
        json_open(j, NULL, '{');
        json_text(j, "kind", remark_word(m->kind));
        json_text(j, "text", m->text);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "samples", '[');
    for (const struct sample_case *s = r->samples; s; s = s->next) {
        json_open(j, NULL, '{');
        json_text(j, "name", s->name);
        json_text(j, "state", states[s->state]);
        json_text(j, "text", s->text);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

/* ---- check ---- */

/* Sets paths[FILES_MAX] to the rule files that are named, or with --all to those of the catalogue;
 * the texts are in the command's arena. 0; -1 with c->err, also where there is none. */
static int files_of(struct cmd_context *c, const char **paths, size_t *ret_n)
{
    struct catalogue catalogue;
    size_t n = 0, count = 0;
    if (plan_catalogue(c->env, c->arena, &catalogue, c->err))
        return -1;
    for (int i = 1; i < c->argc; i++) {
        if (n == FILES_MAX)
            return err_set(c->err, ERR_USAGE, "at most %d files can be checked at once", FILES_MAX);
        if (!(paths[n++] = catalogue_find(&catalogue, c->argv[i], c->arena)))
            return err_set(c->err, ERR_USAGE, "\"%s\" is neither an entry of the catalogue nor a file", c->argv[i]);
    }
    struct catalogue_entry *e = opt_on(&c->opts, OPTION_ALL) ? catalogue_list(&catalogue, c->arena, &count) : NULL;
    for (size_t i = 0; i < count && n < FILES_MAX; i++)
        if (!e[i].hidden)
            paths[n++] = e[i].path;
    *ret_n = n;
    return n ? 0 : err_set(c->err, ERR_USAGE, "expected FILE, NAME or --all");
}

/* Checks rule files with their samples, and prints the findings. 0; 1: a file is not good; -1 with
 * c->err. */
static int rules_check_files(struct cmd_context *c)
{
    const char **paths = arena_get(c->arena, FILES_MAX * sizeof(*paths));
    size_t n = 0, count = 0;
    bool good = true, tap = opt_on(&c->opts, OPTION_TAP), json = opt_on(&c->opts, OPTION_JSON);
    CLEANUP_BUF struct buf b;
    struct json_out j = {.to = &b};
    buf_init(&b, 256 << 20);
    if (!paths || files_of(c, paths, &n))
        return paths ? -1 : err_memory(c->err, "the list of files");
    json_open(&j, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        struct rules_report report;
        struct arena arena; /* of one file: they may be many */
        arena_init(&arena, 1 << 30);
        int rc = rules_check(paths[i], opt_on(&c->opts, OPTION_UPDATE), &arena, &report, c->err);
        good = good && !rc && rules_report_good(&report);
        if (!rc && json)
            json_report(&j, &report);
        else if (!rc && tap)
            print_tap(c->out, &report, &count);
        else if (!rc)
            print_report(c->out, &report);
        arena_deinit(&arena);
        if (rc)
            return -1;
    }
    json_close(&j, ']');
    if (json)
        fprintf(c->out, "%s\n", b.p ? b.p : "[]");
    else if (tap)
        fprintf(c->out, "1..%zu\n", count);
    return b.failed ? err_memory(c->err, "the answer") : good ? 0 : 1;
}

/* ---- new ---- */

/* [a-z0-9_-] of the program's or the file's base name. */
static const char *benchmark_name(const char *given, char *const *argv, const char *from, struct arena *a)
{
    const char *path = given ? given : argv && argv[0] ? interpreter_name(argv) : strcmp(from, "-") ? from : "benchmark";
    char *name = arena_printf(a, "%.60s", str_base_name(path));
    char *dot = name && !given && !(argv && argv[0]) ? strchr(name, '.') : NULL;
    if (dot && dot > name)
        *dot = 0;
    for (char *p = name; p && *p; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p | 32);
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", *p))
            *p = '_';
    }
    return name && *name ? name : "benchmark";
}

/* Guesses a rule file from an output and writes it to --output or prints it; an existing file is
 * not replaced. 0; -1 with c->err. */
static int rules_new(struct cmd_context *c)
{
    const char *from = opt_text(&c->opts, OPTION_FROM), *to = opt_text(&c->opts, OPTION_OUTPUT);
    char *const *argv = c->argc > 1 ? c->argv + 1 : NULL;
    struct guess_summary found;
    CLEANUP_BUF struct buf output, text;
    buf_init(&output, GUESS_BYTES_MAX + 1);
    buf_init(&text, 1 << 20);
    if (!from)
        return err_set(c->err, ERR_USAGE, "--from: expected an output file or a run, as in: benchwrap rules new --from last");
    struct runs_place place;
    if (selection_naming_place(c, &place) < 0)
        return -1;
    int cut = rules_from(&place, from, &output, &argv, c->arena, c->err);
    if (cut < 0 || rules_guess(buf_text(&output), benchmark_name(opt_text(&c->opts, OPTION_NAME), argv, from, c->arena), argv, cut > 0,
                               &text, &found, c->err))
        return -1;
    if (to && access(to, F_OK) == 0)
        return err_set(c->err, ERR_USAGE, "--output %s: there is such a file already; it is left as it is", to);
    if (to && fs_write(AT_FDCWD, to, buf_text(&text), 0644, false, c->err))
        return -1;
    if (!to)
        fwrite(text.p, 1, text.n, c->out);
    if (!found.metrics)
        fprintf(c->notes,
                "benchwrap: rules: found no result in this output; the file has an example reader to edit (docs/howto-benchmark.md)\n");
    else
        fprintf(c->notes, "benchwrap: rules: guessed %zu metric%s and %zu parameter%s; check names, units and directions before use\n",
                found.metrics, str_plural(found.metrics), found.params, str_plural(found.params));
    const char *word = to ? shell_word_text(to, c->arena) : NULL;
    if (word && found.metrics)
        fprintf(c->notes, "hint: benchwrap -r %s -- PROGRAM uses the file; benchwrap reparse -r %s RUN applies it to an earlier run\n",
                word, word);
    else if (word)
        fprintf(c->notes, "hint: write a regex that matches a line with a result, then: benchwrap parse -r %s OUTPUT\n", word);
    return 0;
}

/* An option of the other word would be ignored silently. */
static int refuse_other_options(struct cmd_context *c, const char *const *options, const char *word)
{
    for (; *options; options++) {
        const struct opt_value *v = opt_find(&c->opts, *options);
        if (v && v->text)
            return err_set(c->err, ERR_USAGE, "--%s is for \"rules %s\"", *options, word);
    }
    return 0;
}

static int rules_command(struct cmd_context *c)
{
    static const char *const of_check[] = {"all", "update", "tap", "json", NULL}, *const of_new[] = {"from", "experiment", "name", "output",
                                                                                                     NULL};
    const char *what = c->argc ? c->argv[0] : "";
    if (!*what)
        return err_set(c->err, ERR_USAGE, "check or new: which one?");
    if ((!strcmp(what, "new") && refuse_other_options(c, of_check, "check")) ||
        (!strcmp(what, "check") && refuse_other_options(c, of_new, "new")))
        return -1;
    if (!strcmp(what, "check"))
        return rules_check_files(c);
    if (!strcmp(what, "new"))
        return rules_new(c);
    return err_set(c->err, ERR_USAGE, "expected check or new, got \"%.40s\"", what);
}

const struct cmd cmd_rules = {
    .name = "rules",
    .summary = "Check a rule file, or draft a new one",
    .usage = "check [OPTIONS] FILE|NAME... | new --from OUTPUT|RUN [OPTIONS] [-- PROGRAM ARGUMENTS...]",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .description =
        "check prints every mistake of a rule file with line and column, reads the outputs next to it (samples/CASE/stdout ...) and compares what "
        "comes out with what is expected of them (samples/CASE/expect; --update writes that). It remarks on readers, metrics, params, options "
        "and checks that no sample meets, on metrics that could be read in two ways, and on patterns that are slow or meet too much. The exit "
        "status is 1 for mistakes and for samples that differ; remarks do not count.\n\n"
        "new drafts a rule file for an unknown output: tables, CSV, JSON, and lines with named numbers become metrics and params, with "
        "names, units and directions guessed. The draft is valid and reads these metrics from that output. Check whether they are the results.\n\n"
        "A NAME is an entry of the catalogue. Those compiled into benchwrap have no samples with them.",
    .examples = "$ benchwrap rules check ./rules.yaml\nMistakes, samples and remarks of one file.\n"
                "$ benchwrap rules check --update ./rules.yaml\nWrites what is expected; read the difference.\n"
                "$ benchwrap rules new --from out.txt -o rules.yaml -- mybench -n 4\nA rule file to begin with.\n"
                "$ benchwrap rules new --from last -o rules.yaml\nThe same from the last recorded run: its output and its arguments.\n",
    .run = rules_command,
};
