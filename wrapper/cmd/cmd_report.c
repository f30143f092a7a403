/* cmd_report.c: `benchwrap report`: runs as one document to read and send. */
#include "base/fs.h"
#include "report/report.h"
#include "cmd/selection.h"

#include <fcntl.h>
#include <string.h>

enum { REPORT_MAX = 64 << 20 };

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

static int report_command(struct cmd_context *c)
{
    struct runs runs;
    struct tree_run *run = NULL;
    struct doc doc = {.a = c->arena};
    CLEANUP_BUF struct buf to;
    buf_init(&to, REPORT_MAX);
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one run, got %d", c->argc);
    if (selection_open_for(&runs, c, c->argv, c->argc, c->err) < 0)
        return -1;
    int status = runs_find(&runs, c->argc ? c->argv[0] : "last", TREE_PARAMS | TREE_METRICS | TREE_TAGS, c->arena, &run, c->err);
    status = status ? -1 : report_run(&doc, &runs, run, c->err);
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
    {.name = OPTION_OUTPUT, .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .group = "Output", .help = "Write to this file (default: standard output)"},
    {.name = OPTION_FORMAT,
     .kind = OPT_CHOICE,
     .arg = "html|markdown|latex",
     .value = "html",
     .group = "Output",
     .help = "Write this form: a page, text for a pull request, or a part of a paper"},
};

const struct cmd cmd_report = {
    .name = "report",
    .summary = "Write a run as one page to read and send",
    .usage = "[OPTIONS] [RUN]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Writes one self-contained HTML file: verdict and headline metrics, conditions, warnings and output. The page loads nothing from a network, and is readable "
                   "without JavaScript.\n\nThe exit status is 1 if the run is damaged or not found.",
    .examples = "$ benchwrap report last -o report.html\nThe newest run as a page.\n",
    .run = report_command,
};
