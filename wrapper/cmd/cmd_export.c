/* cmd_export.c: `benchwrap export`: runs as a table for analysis. */
#include "base/fs.h"
#include "base/place.h"
#include "base/screen.h"
#include "runs/stale.h"
#include "tables/tables.h"
#include "ui/ui_server.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Names the first runs that could not be read completely. */
static int say_incomplete(struct cmd_context *c, const struct runs *runs)
{
    enum { SAID_MAX = 10 };
    size_t n = 0;
    for (int part = 0; part < 2; part++) {
        const struct tree_run *run = part ? runs->unjudged : NULL;
        for (size_t i = 0; part ? run != NULL : i < runs->count; i++, run = part ? run->next : NULL) {
            const struct tree_run *of = part ? run : runs->all[i];
            CLEANUP_BUF struct buf b;
            buf_init(&b, 4096);
            if (!of->problem || n++ >= SAID_MAX)
                continue;
            buf_plain(&b, str_of(of->problem), 400);
            fprintf(c->notes, "benchwrap: export: %s: damaged%s: %s\n", of->path, part ? " and left out" : "", b.p ? b.p : "");
        }
    }
    if (n > SAID_MAX)
        fprintf(c->notes, "benchwrap: export: %zu more damaged run%s\n", n - SAID_MAX, str_plural(n - SAID_MAX));
    return n ? 1 : 0;
}

/* --output: a form that writes a stream goes into the file when it is complete. */
static FILE *open_export(struct cmd_context *c, const char *path, struct fs_new *file)
{
    if (fs_new_begin(file, path, 0644, c->err))
        return NULL;
    FILE *out = fdopen(file->fd, "w");
    if (out)
        fs_take(&file->fd);
    else {
        err_sys(c->err, "cannot write %s", path);
        fs_new_end(file, path, false, NULL);
    }
    return out;
}

/* Closes the file, and renames it to its final name if all went well. */
static int close_export(struct cmd_context *c, FILE *out, struct fs_new *file, const char *path, int status)
{
    bool failed = fflush(out) != 0 || ferror(out);
    failed = fclose(out) != 0 || failed;
    if (status >= 0 && failed)
        status = err_sys(c->err, "cannot write %s", path);
    return fs_new_end(file, path, status >= 0, c->err) ? -1 : status;
}

/* Writes the chosen runs as a table to standard output or a file, which appears complete or not at
 * all. 0; 1: some could not be read; -1 with c->err. */
static int export_chosen(struct cmd_context *c, struct runs *runs)
{
    struct tables_request r = {.runs = runs,
                               .columns = opt_text(&c->opts, OPTION_COLUMNS),
                               .form = tables_form_find(opt_text(&c->opts, OPTION_FORMAT)),
                               .out = c->out,
                               .path = opt_text(&c->opts, OPTION_OUTPUT),
                               .a = c->arena};
    struct fs_new file = {.folder = -1};
    struct runs_filter filter;
    size_t rows = 0;
    bool is_long = opt_on(&c->opts, OPTION_LONG);
    if (selection_filter(c, &filter) < 0)
        return -1;
    filter.corrected = opt_on(&c->opts, OPTION_ALL);
    filter.marks = true;
    if (runs_load(runs, &filter, c->arena, c->err) < 0)
        return -1;
    if (row_output_order(c, runs, opt_text(&c->opts, OPTION_LAST) ? (size_t)opt_integer(&c->opts, OPTION_LAST) : SIZE_MAX) < 0)
        return -1;
    if (r.path && !r.form->to_path && !(r.out = open_export(c, r.path, &file)))
        return -1;
    int status = is_long ? tables_samples(&r, &rows, c->err) : tables_runs(&r, &rows, c->err);
    if (file.folder >= 0)
        status = close_export(c, r.out, &file, r.path, status);
    if (status < 0)
        return -1;
    if (!runs->count)
        fprintf(c->notes, "benchwrap: export: %s\n", runs_explain_none(runs, &filter, c->arena));
    stale_notes(c->notes, (const struct tree_run *const *)runs->all, runs->count);
    return say_incomplete(c, runs);
}

/* --mlflow-db */
static int export_mlflow(struct cmd_context *c)
{
    struct runs runs;
    const char *path = opt_text(&c->opts, OPTION_MLFLOW_DB), *mlflow = ui_find_mlflow(c->env, c->arena);
    if (selection_given(c) || opt_text(&c->opts, OPTION_REF) || opt_text(&c->opts, OPTION_LAST) || opt_text(&c->opts, OPTION_OUTPUT)) {
        err_set(c->err, ERR_USAGE, "--mlflow-db: expected a complete tree on disk, without a selection, --ref or --output");
        err_hint(c->err, "benchwrap export-tree --filter EXPR DIR, then benchwrap export --tree DIR --mlflow-db FILE");
        return -1;
    }
    if (!mlflow) {
        err_set(c->err, ERR_SYSTEM, "--mlflow-db: there is no program \"mlflow\", whose migration writes the database");
        err_hint(c->err, "pip install mlflow, or benchwrap ui --install");
        return -1;
    }
    if (selection_open(&runs, c, c->err) < 0)
        return -1;
    int status = tables_mlflow_db(&runs, mlflow, path, c->env, c->out, c->notes, c->arena, c->err);
    runs_close(&runs);
    return status;
}

static int export_command(struct cmd_context *c)
{
    struct runs runs;
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%.60s\"; \"benchwrap export-tree\" copies runs as files",
                       c->argv[0]);
    if (opt_on(&c->opts, OPTION_LONG) && opt_text(&c->opts, OPTION_COLUMNS))
        return err_set(c->err, ERR_USAGE, "--long: expected no --columns with it");
    if (opt_text(&c->opts, OPTION_MLFLOW_DB))
        return export_mlflow(c);
    if (strcmp(opt_text(&c->opts, OPTION_FORMAT), "sqlite") == 0 && !opt_text(&c->opts, OPTION_OUTPUT))
        return err_set(c->err, ERR_USAGE, "--format sqlite: expected --output FILE with it");
    if (!opt_text(&c->opts, OPTION_OUTPUT) && strcmp(opt_text(&c->opts, OPTION_FORMAT), "parquet") == 0 &&
        screen_of_file(c->out).is_terminal)
        return err_set(c->err, ERR_USAGE, "--format parquet: expected a file or pipe as standard output, got a terminal");
    if (opt_text(&c->opts, OPTION_LAST) && opt_integer(&c->opts, OPTION_LAST) < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected an integer >= 1, got \"%.40s\"", opt_text(&c->opts, OPTION_LAST));
    if (selection_open(&runs, c, c->err) < 0)
        return -1;
    int status = export_chosen(c, &runs);
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_LAST, .letter = 'n', .kind = OPT_INT, .arg = "N", .group = "Selection", .help = "Use the N newest runs (default: all)"},
    {.name = OPTION_ALL, .letter = 'a', .kind = OPT_FLAG, .group = "Selection", .help = "Also use runs that others amend or retract"},
    ROW_OUTPUT_SORT,
    ROW_OUTPUT_COLUMNS("Write only these facts"),
    {.name = OPTION_LONG,
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Write a row for each sample of each metric, with unit and direction"},
    {.name = OPTION_FORMAT,
     .kind = OPT_CHOICE,
     .arg = "csv|jsonl|parquet|sqlite",
     .value = "csv",
     .group = "Output",
     .help = "Write this form"},
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Output",
     .help = "Write to this file, which appears when it is complete (default: standard output)"},
    {.name = OPTION_MLFLOW_DB,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Output",
     .help = "Instead, write a new SQLite store of MLflow by MLflow's own migration, and compare what arrived with the tree"},
};

const struct cmd cmd_export = {
    .name = "export",
    .summary = "Write runs as a table for analysis",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Writes one row for each run to standard output: its attributes, the latest value of each metric, params and tags, under the names that --filter "
        "has for them. With --long it writes one row for each sample: run_id, experiment, metric, step, time, value, unit and direction. Child runs are "
        "among the runs. Times are milliseconds since 1970-01-01 UTC. A fact that a run lacks is an empty field of CSV, no member in a JSON line, and null in Parquet, whose columns are texts, doubles, integers and times.\n\n"
        "In CSV a text that a spreadsheet would evaluate, because it begins with = + - or @ and is no number, gets an apostrophe before it. Values that are not "
        "finite are NaN, Infinity and -Infinity, in JSON as texts.\n\n"
        "The table is written while runs are read. export names damaged runs on standard error, the first ten at most, and exits with status "
        "1. It writes what it can read of them, and leaves out those to which the filter cannot be applied.\n\n"
        "\"benchwrap export-tree\" copies runs as the files that benchwrap and MLflow read.",
    .examples = "$ benchwrap export --filter \"status = 'FINISHED'\" >runs.csv\n"
                "All finished runs, for pandas or a spreadsheet.\n"
                "$ benchwrap export --long --format jsonl -e io >samples.jsonl\n"
                "Every sample of the runs of one experiment.\n"
                "$ benchwrap export --columns 'run_name,params.nodes,metrics.*.bw*' --sort params.nodes\n"
                "Some facts, in an order.\n",
    .run = export_command,
};
