/* cmd_show.c: `benchwrap show RUN`: one run, on one screen, in full, as JSON, or the child runs of it. */
#include "base/json_out.h"
#include "runs/code_functions.h"
#include "runs/entry_stats.h"
#include "runs/inherit.h"
#include "runs/runs_table.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"
#include "runs/show.h"
#include "mlruns-format/key.h"
#include "series/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARTIFACTS_MAX = 10000, DEPTH_MAX = 16 };

/* A folder of artifacts on the way down. */
struct below {
    struct show_state *s;
    const struct folder *in;
    const char *prefix;
    int depth;
};

static void list_artifacts(struct show_state *s, const struct folder *in, const char *folder, const char *prefix, int depth);

static int each_artifact(void *context, const struct folder_entry *e)
{
    struct below *b = context;
    struct show_state *s = b->s;
    struct folder_entry what;
    uint64_t size;
    const char *path = arena_printf(s->arena, "%s%s", b->prefix, e->name.p);
    if (s->artifact_count == ARTIFACTS_MAX || b->depth == DEPTH_MAX)
        s->artifacts_cut = true;
    else if (path && e->kind == FOLDER_FOLDER)
        list_artifacts(s, b->in, e->name.p, arena_printf(s->arena, "%s/", path), b->depth + 1);
    else if (path && folder_look(b->in, e->name.p, &what, &size) == 0)
        s->artifacts[s->artifact_count++] = (struct show_artifact){path, size};
    return 0;
}

static void list_artifacts(struct show_state *s, const struct folder *in, const char *folder, const char *prefix, int depth)
{
    CLEANUP_FOLDER struct folder own = {0};
    struct below b = {s, &own, prefix, depth};
    if (prefix && folder_enter(in, folder, &own) == 0)
        folder_list(&own, each_artifact, &b);
}

static int by_path(const void *a, const void *b)
{
    return str_natural(((const struct show_artifact *)a)->path, ((const struct show_artifact *)b)->path);
}

const struct json *show_metric_detail(const struct show_state *s, const char *key)
{
    return json_get(json_get(s->detail, "metrics"), key);
}

const char *show_metric_unit(const struct show_state *s, const char *key)
{
    const char *unit = json_string(json_get(show_metric_detail(s, key), "unit"), NULL);
    return unit ? unit : key_unit(key, s->arena);
}

void show_heading_to(const struct show_state *s, const char *text, struct buf *to)
{
    buf_putc(to, '\n');
    screen_puts(&s->screen, STYLE_MAIN, text, to);
    buf_putc(to, '\n');
}

void show_heading(const struct show_state *s, const char *text)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    show_heading_to(s, text, &b);
    fputs(b.p ? b.p : "", s->out);
}

/* The notes of a series, from among its files; NULL: it is none, or they cannot be read. */
static struct series_notes *read_notes(const struct show_state *s)
{
    char path[256];
    struct err err = {0};
    struct series_notes *notes = ARENA_NEW(s->arena, struct series_notes);
    CLEANUP_FOLDER struct folder in = {0};
    struct folder tree = runs_tree(s->runs, s->run);
    struct folder_entry e;
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(s->run));
    if (!notes || folder_enter(&tree, path, &in) < 0 || folder_look(&in, SERIES_NOTES, &e, NULL) < 0)
        return NULL;
    if (series_notes_read(&in, notes, &err) == 0)
        return notes;
    series_notes_deinit(notes);
    fprintf(s->runs->place.notes, "benchwrap: show: %s\n", err.text);
    return NULL;
}

/* ---- JSON ---- */

static void texts_json(struct json_out *j, const char *name, const struct tree_entry *list)
{
    json_open(j, name, '{');
    for (const struct tree_entry *e = list; e; e = e->next)
        json_str(j, e->key, e->value);
    json_close(j, '}');
}

static void metrics_json(struct json_out *j, const struct show_state *s)
{
    json_open(j, "metrics", '[');
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next) {
        const struct tree_sample *last = tree_entry_latest(e);
        json_open(j, NULL, '{');
        json_text(j, "key", e->key);
        if (last)
            json_double(j, "value", last->value);
        else
            json_null(j, "value");
        json_known(j, "median", entry_stats_median(s->run, e));
        json_text(j, "unit", show_metric_unit(s, e->key));
        json_text(j, "direction", json_string(json_get(show_metric_detail(s, e->key), "direction"), NULL));
        json_open(j, "samples", '[');
        for (size_t i = 0; e->samples && i < e->count; i++) {
            json_open(j, NULL, '{');
            json_int(j, "time_ms", e->samples[i].time_ms);
            json_int(j, "step", e->samples[i].step);
            json_double(j, "value", e->samples[i].value);
            json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void copied_json(struct json_out *j, const char *name, const struct json *value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (value)
        json_print(value, &b);
    json_raw(j, name, value && !b.failed ? buf_text(&b) : STR("null"));
}

static int show_print_json(const struct show_state *s)
{
    const struct tree_run *run = s->run;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 30);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_text(&j, "id", run->id);
    json_text(&j, "name", run->name);
    json_text(&j, "experiment", run->experiment);
    json_int(&j, "experiment_id", (int64_t)run->experiment_id);
    json_text(&j, "status", runs_status(run));
    json_text(&j, "verdict", runs_text(run->tags, "benchwrap.verdict", s->arena));
    json_text(&j, "reason", runs_text(run->tags, "benchwrap.reason", s->arena));
    json_text(&j, "lifecycle", run->lifecycle);
    json_text(&j, "user", run->user);
    json_int(&j, "start_ms", run->start_ms);
    if (run->end_ms)
        json_int(&j, "end_ms", run->end_ms);
    else
        json_null(&j, "end_ms");
    json_text(&j, "path", run->path);
    json_text(&j, "artifact_uri", run->artifact_uri);
    texts_json(&j, "params", run->params);
    metrics_json(&j, s);
    if (s->notes)
        series_table_json(s->notes, series_figures(s->notes), &j);
    texts_json(&j, "tags", run->tags);
    json_open(&j, "artifacts", '[');
    for (size_t i = 0; s->artifacts && i < s->artifact_count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "path", s->artifacts[i].path);
        json_int(&j, "size", (int64_t)s->artifacts[i].size);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    struct code_profile profile;
    code_functions_read(s->runs, run, s->arena, &profile);
    code_functions_json(&profile, &j);
    copied_json(&j, "references", json_get(s->detail, "references"));
    copied_json(&j, "missing", json_get(s->detail, "missing"));
    copied_json(&j, "warnings", json_get(s->detail, "warnings"));
    json_text(&j, "problem", run->problem ? run->problem : s->detail_problem);
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, s->out);
    return b.failed ? -1 : 0;
}

/* Reads record, artifacts and notes of s->run and prints them in this form. Returns 0; 1: the run
 * or its record is damaged; -1 with c->err. Frees what it has read. */
static int show_run(struct cmd_context *c, struct show_state *s, enum listing_form form)
{
    struct json *detail = runs_detail(s->runs, s->run, &s->detail_problem, s->arena);
    char path[256];
    struct folder tree = runs_tree(s->runs, s->run);
    s->detail = detail;
    s->artifacts = arena_get(s->arena, ARTIFACTS_MAX * sizeof *s->artifacts);
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(s->run));
    if (s->artifacts)
        list_artifacts(s, &tree, path, "", 0);
    if (s->artifacts && s->artifact_count)
        qsort(s->artifacts, s->artifact_count, sizeof *s->artifacts, by_path);
    s->notes = read_notes(s);
    int status = form == LISTING_JSON           ? show_print_json(s)
                 : form != LISTING_TABLE        ? show_rows(s, form)
                 : opt_on(&c->opts, OPTION_ALL) ? show_all(s)
                                                : show_screen(s);
    if (s->notes)
        series_notes_deinit(s->notes);
    json_free(detail);
    if (status < 0)
        return err_memory(c->err, "the facts of the run");
    return s->run->problem || s->detail_problem ? 1 : 0;
}

/* --columns: the facts that it names, of the run or of its child runs; else the child runs, or the run. */
static int show_found(struct cmd_context *c, struct runs *runs, struct tree_run *found, enum listing_form form)
{
    bool children = opt_on(&c->opts, OPTION_CHILDREN), columns = opt_text(&c->opts, OPTION_COLUMNS) != NULL;
    struct children_corrected corrected;
    if (children && runs_table_load_children(runs, found, &corrected, c->arena, c->err) < 0)
        return -1;
    if (children && opt_text(&c->opts, OPTION_SORT) && row_output_order(c, runs, SIZE_MAX) < 0)
        return -1;
    if (columns) {
        struct tree_run **list = children ? runs->all : &found;
        size_t n = children ? runs->count : 1;
        bool damaged = false;
        if (row_output_columns(c, runs, list, n, form) < 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            damaged = damaged || list[i]->problem;
        return damaged;
    }
    if (children)
        return runs_table_children(runs, found, &corrected, form, c->out, c->arena, c->err);
    struct show_state s = {.out = c->out,
                           .arena = c->arena,
                           .runs = runs,
                           .run = found,
                           .inherited = inherit_facts(runs, found, c->arena),
                           .screen = screen_of_file(c->out)};
    return show_run(c, &s, form);
}

static int show_command(struct cmd_context *c)
{
    struct runs runs;
    struct tree_run *found = NULL;
    enum listing_form form;
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one run, got %d; \"benchwrap compare\" compares several", c->argc);
    if (opt_text(&c->opts, OPTION_SORT) && !opt_on(&c->opts, OPTION_CHILDREN))
        return err_set(c->err, ERR_USAGE, "--sort: expected --children with it; it sorts the child runs");
    if (row_output_form(c, &form) < 0 || selection_open_for(&runs, c, c->argv, c->argc, c->err) < 0)
        return -1;
    int status =
        runs_find(&runs, c->argc ? c->argv[0] : "last", TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE, c->arena, &found, c->err);
    status = status == 0 ? show_found(c, &runs, found, form) : -1;
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_ALL,
     .letter = 'a',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Show all metrics, parameters, tags, missing values and files"},
    {.name = OPTION_CHILDREN,
     .letter = 'c',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "List the run's child runs: repetitions, points of a sweep, tests of an output"},
    {.name = OPTION_SORT,
     .kind = OPT_LIST,
     .arg = "KEY",
     .group = "Output",
     .help = "With --children: sort them by \"metrics.bw DESC\", a param, tag or attribute instead of oldest first; may be repeated"},
    ROW_OUTPUT_COLUMNS("Print these facts, of the run or with --children of each child run"),
    ROW_OUTPUT_FORMAT,
    CMD_ROW_JSON,
};

const struct cmd cmd_show = {
    .name = "show",
    .summary = "Show one run",
    .usage = "[OPTIONS] [RUN]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Shows one run on one screen: command, results, inputs, machine, warnings and files. --all shows everything that is "
                   "recorded.\n\n"
                   "RUN is the beginning of its id (4 digits or more), last for the newest run (the default), or last~N for the Nth before"
                   " it. With -e, -s, --tag or --filter, last and last~N count only the runs that these choose. If another run amends it, "
                   "that one is shown; =ID is the run as it was recorded. REF:RUN is a run in a commit of a git repository (a branch, "
                   "origin/main, a hash), which is read without a checkout.\n\n"
                   "A metric with several values has its median. With --json, `median` is that value, and `value` is the last sample, as "
                   "in MLflow's table. The word Pass is printed only where a value was compared with a reference, else \"output valid\"; "
                   "the tag benchwrap.verdict is pass in both cases. The results of repetitions and sweeps are the statistics over them; "
                   "their machine is the one of the parent run. The exit status is 1 if the run is damaged or not found.",
    .examples = "$ benchwrap show\n"
                "The newest run.\n"
                "$ benchwrap show --all last~1\n"
                "Everything about the one before.\n"
                "$ benchwrap show --json\n"
                "For a program to read.\n",
    .run = show_command,
};
