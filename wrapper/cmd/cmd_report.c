/* cmd_report.c: `benchwrap report`: runs as one document to read and send. */
#include "base/fs.h"
#include "report/report.h"
#include "report/rows.h"
#include "cmd/chosen_runs.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT_MAX = 64 << 20, REPORT_LAST = 500, REPORT_GROUPS = 26 };

/* Writes the report to --output, or prints it. -1 with c->err. */
static int write_report(struct cmd_context *c, struct str text)
{
    const char *path = opt_text(&c->opts, OPTION_OUTPUT);
    if (path)
        return fs_write(AT_FDCWD, path, text, 0644, false, c->err);
    fwrite(text.p, 1, text.n, c->out);
    return 0;
}

static int print_report_form(const struct cmd_context *c, const struct doc *doc, struct buf *to)
{
    const char *format = opt_text(&c->opts, OPTION_FORMAT);
    return strcmp(format, "markdown") == 0 ? doc_markdown(doc, to) : strcmp(format, "latex") == 0 ? doc_latex(doc, to) : doc_html(doc, to);
}

static int by_group_name(const void *a, const void *b)
{
    return str_natural(((const struct compare_group *)a)->name, ((const struct compare_group *)b)->name);
}

/* The chosen runs as groups: by the operand that each is of, or by the value of a fact. */
static int make_groups(struct cmd_context *c, const struct chosen_runs *chosen, const char *by, struct compare_group *groups,
                       size_t *ret_count)
{
    size_t n = 0, without = 0;
    for (size_t i = 0; i < chosen->n; i++) {
        const char *name = by ? plotted_fact(chosen->list[i], NULL, by, c->arena) : chosen->groups[i];
        size_t g = 0;
        if (!name) {
            without++;
            continue;
        }
        while (g < n && strcmp(groups[g].name, name) != 0)
            g++;
        if (g == REPORT_GROUPS)
            return err_set(c->err, ERR_USAGE, "expected at most %d groups; choose fewer runs", REPORT_GROUPS);
        if (g == n)
            groups[n++] = (struct compare_group){.name = name, .members = arena_get(c->arena, (chosen->n + 1) * sizeof *groups->members)};
        if (!groups[g].members)
            return err_memory(c->err, "the groups of runs");
        groups[g].members[groups[g].count++] = (struct compare_member){.run = chosen->list[i]};
    }
    if (by && n)
        qsort(groups, n, sizeof *groups, by_group_name);
    if (without)
        fprintf(c->notes, "benchwrap: report: ignored %zu run%s without the param or tag \"%s\"\n", without, str_plural(without), by);
    *ret_count = n;
    return 0;
}

/* Chooses the runs and fills the report: of one run, of an experiment, or of groups to compare.
 * Returns what the report's function returns; -1 with c->err. */
static int fill_report(struct cmd_context *c, struct runs *runs, struct doc *doc)
{
    const char *by = opt_text(&c->opts, OPTION_BY);
    struct report_options o = {.by = by,
                               .over = opt_text(&c->opts, OPTION_OVER),
                               .work = opt_text(&c->opts, OPTION_WORK),
                               .ignore = opt_find(&c->opts, OPTION_IGNORE),
                               .sort = opt_find(&c->opts, OPTION_SORT),
                               .columns = opt_text(&c->opts, OPTION_COLUMNS)};
    struct compare_group groups[REPORT_GROUPS] = {{0}};
    struct chosen_runs chosen;
    char last[] = "last", *newest[] = {last, NULL};
    size_t count = 0;
    bool filters = !c->argc && (selection_given(c) || by);
    int status = filters ? chosen_filtered(c, runs, REPORT_LAST, &chosen)
                         : chosen_operands(c, runs, c->argc ? c->argv : newest, c->argc ? c->argc : 1, &chosen);
    if (status < 0)
        return -1;
    by = o.by = chosen_key(c, runs, chosen.list, chosen.n, OPTION_BY, by);
    o.over = chosen_key(c, runs, chosen.list, chosen.n, OPTION_OVER, o.over);
    o.work = chosen_key(c, runs, chosen.list, chosen.n, OPTION_WORK, o.work);
    if (chosen.n == 1 && (o.columns || o.sort->text))
        return err_set(c->err, ERR_USAGE, "--%s: expected several runs, got one; \"benchwrap show --columns\" prints facts of one",
                       o.columns ? OPTION_COLUMNS : OPTION_SORT);
    if (chosen.n == 1)
        return report_run(doc, runs, chosen.list[0], &o, c->err);
    if (filters && !by)
        return report_experiment(doc, runs, chosen.list, chosen.n, &o, c->err);
    if (make_groups(c, &chosen, by, groups, &count) < 0)
        return -1;
    if (count == 1 && !by)
        return report_experiment(doc, runs, chosen.list, chosen.n, &o, c->err);
    if (count < 2)
        return err_set(c->err, ERR_INPUT, "--by %.60s: expected two groups, got %zu", by ? by : "", count);
    return report_groups(doc, runs, groups, count, &o, c->err);
}

/* Executes `benchwrap report`. Returns what fill_report returns; -1 with c->err. */
static int report_command(struct cmd_context *c)
{
    struct runs runs;
    struct doc doc = {.a = c->arena};
    CLEANUP_BUF struct buf to;
    buf_init(&to, REPORT_MAX);
    if (c->argc && opt_text(&c->opts, OPTION_BY))
        return err_set(c->err, ERR_USAGE, "expected either runs or --by, got both");
    if (selection_open_for(&runs, c, c->argv, c->argc, c->err) < 0)
        return -1;
    int status = fill_report(c, &runs, &doc);
    if (status >= 0 && print_report_form(c, &doc, &to) < 0)
        status = err_memory(c->err, "the report");
    if (status >= 0 && write_report(c, buf_text(&to)) < 0)
        status = -1;
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_LAST, .letter = 'l', .kind = OPT_INT, .arg = "N", .group = "Selection", .help = "Use the N newest runs (default: 500)"},
    {.name = OPTION_BY,
     .letter = 'b',
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Selection",
     .help = "Compare groups, one for each value of this param or tag"},
    {.name = OPTION_IGNORE,
     .kind = OPT_LIST,
     .arg = "KEY",
     .group = "Selection",
     .help = "Compare also runs in which this input (or those of a pattern) differs; may be repeated"},
    {.name = OPTION_OVER,
     .letter = 'x',
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Scaling",
     .help = "Report scaling over this param (default, where runs state \"scaling\": the nodes or tasks that differ)"},
    {.name = OPTION_WORK,
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Scaling",
     .help = "Report scaling with the total work in this param, which shows whether scaling is strong or weak"},
    ROW_OUTPUT_SORT,
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Output",
     .help = "Write to this file (default: standard output)"},
    ROW_OUTPUT_COLUMNS("Write a table of runs with these facts"),
    {.name = OPTION_FORMAT,
     .kind = OPT_CHOICE,
     .arg = "html|markdown|latex",
     .value = "html",
     .group = "Output",
     .help = "Write this form: a page, text for a pull request, or a part of a paper"},
};

const struct cmd cmd_report = {
    .name = "report",
    .summary = "Write runs as one page to read and send",
    .usage = "[OPTIONS] [RUN | A,B vs C,D | -e EXPERIMENT]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Writes one document about a run (the newest one if none is named), groups of runs that are compared, or the runs that options choose: verdict and "
        "headline metrics first, then plots, conditions that matter, differences, noise and warnings, nodes, metrics and output.\n\n"
        "The HTML page is one file that loads nothing from a network. It is readable without JavaScript, which sorts and filters its tables, and follows the "
        "reader's light or dark theme. --format markdown is for pull requests, with plots in characters. --format latex is a part of a paper, for \\input, with tables "
        "and without plots: \"benchwrap plot -o FILE.svg\" writes those.\n\n"
        "Operands are groups, as for \"benchwrap compare\". --by makes a group for each value of a param or tag. Runs are plotted together only if their comparison key is the "
        "same, but for what --by and --ignore name. Texts of runs are harmless in each form.\n\n"
        "The section on scaling has the speed-up and efficiency of runs that state \"scaling\" (strong or weak), or of those for which --over or --work is given. It is "
        "refused where the runs differ in more than their number of nodes or tasks, and the document states in what.\n\n"
        "The exit status is 1 if a run is damaged or not found.",
    .examples = "$ benchwrap report last -o report.html\n"
                "The newest run as a page.\n"
                "$ benchwrap report -e io -o io.html\n"
                "All runs of an experiment.\n"
                "$ benchwrap report last~1 last --format markdown\n"
                "A comparison, for a pull request.\n",
    .run = report_command,
};
