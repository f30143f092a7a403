/* cmd_ls.c: `benchwrap ls`: the runs of a tree, newest first. Reads the meta of all runs and more of those only that are shown. */
#include "base/listing.h"
#include "base/show.h"
#include "runs/fold.h"
#include "base/markdown.h"
#include "runs/row.h"
#include "runs/row_words.h"
#include "runs/runs_ref.h"
#include "runs/runs_table.h"
#include "runs/stale.h"
#include "cmd/active_table.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"
#include "mlruns-format/verdict.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LS_LAST = 30, DAY_LEN = 10 /* 2026-01-31 */ };

/* A table shows a few, CSV all of them. Of all runs no more are read than two for each, as JSON has. */
static size_t headlines_wanted(struct cmd_context *c, enum listing_form form)
{
    if (form == LISTING_CSV)
        return HEADLINES_MAX;
    return form != LISTING_TABLE || opt_on(&c->opts, OPTION_ALL) ? HEADLINES_SHOWN : RUNS_TABLE_METRICS;
}

static void ls_add_row(struct listing *l, struct cmd_context *c, const struct fold_line *line, const struct run_row *row)
{
    const struct tree_run *run = line->run;
    struct arena *a = c->arena;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    const char *verdict = row->verdict, *status = runs_status(run);
    listing_text(l, run->id);
    listing_str(l, (struct str){run->id, 8});
    listing_text(l, run->experiment);
    listing_text(l, run->name);
    listing_text(l, row->parent);
    listing_text(l, row->benchmark);
    listing_text(l, status);
    listing_text(l, verdict);
    listing_text(l, row->site);
    bool judged = verdict && strcmp(verdict, "none") != 0;
    listing_text(l, judged ? arena_printf(a, "%s %s", status, verdict) : status);
    if (run->start_ms)
        show_time_utc(&b, run->start_ms);
    listing_text(l, b.n ? b.p : NULL);
    buf_clear(&b);
    if (run->start_ms)
        show_time(&b, run->start_ms);
    listing_text(l, b.n ? b.p : NULL);
    buf_clear(&b);
    if (row->wall_known)
        show_duration(&b, row->wall);
    if (row->wall_known)
        listing_number(l, row->wall, b.p);
    else
        listing_none(l);
    buf_clear(&b);
    const struct headline *h = row->headline;
    size_t n = row->headlines < HEADLINES_SHOWN ? row->headlines : HEADLINES_SHOWN;
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", h[i].key);
    listing_text(l, b.n ? b.p : NULL);
    for (size_t i = 0; i < HEADLINES_SHOWN; i++) {
        if (i < n)
            listing_number(l, h[i].value, NULL);
        else
            listing_none(l);
    }
    listing_text(l, run->path);
    listing_text(l, run->problem);
    listing_text(l, row->incomplete);
    listing_text(l, row->stale);
}

static const struct listing_column columns[] = {
    {"id", NULL, false, 0},     {"short", NULL, false, 0},     {"experiment", NULL, false, 0}, {"name", NULL, false, 0},
    {"parent", NULL, false, 0}, {"benchmark", NULL, false, 0}, {"status", NULL, false, 0},     {"verdict", NULL, false, 0},
    {"site", NULL, false, 0},   {"outcome", NULL, false, 0},   {"start", NULL, false, 0},      {"start_local", NULL, false, 0},
    {"wall_s", NULL, true, 0},  {"headline", NULL, false, 0},  {"headline_1", NULL, true, 0},  {"headline_2", NULL, true, 0},
    {"path", NULL, false, 0},   {"problem", NULL, false, 0},   {"incomplete", NULL, false, 0}, {"stale", NULL, false, 0},
};

/* A program gets children in the order of all runs, not below their parents. So does a user who
 * requests an order or columns. */
static int choose_lines(struct cmd_context *c, const struct runs *runs, enum listing_form form, bool open, size_t last,
                        struct fold_line **ret, size_t *ret_count, size_t *ret_more)
{
    bool flat = opt_text(&c->opts, OPTION_SORT) || opt_text(&c->opts, OPTION_COLUMNS) || (open && form >= LISTING_JSONL);
    if (!flat)
        return fold_runs(runs, open, last, c->arena, ret, ret_count, ret_more);
    size_t n = last < runs->count ? last : runs->count;
    *ret = arena_get(c->arena, (n + 1) * sizeof **ret);
    for (size_t i = 0; *ret && i < n; i++)
        (*ret)[i] = (struct fold_line){.run = runs->all[i]};
    *ret_count = n;
    *ret_more = runs->count - n;
    return *ret ? 0 : -1;
}

/* The rows of the lines, read where they were not; words: also what a table shows of repetitions.
 * Runs that were deleted since the listing leave the lines. NULL: out of memory. */
static struct table_run *table_rows(struct cmd_context *c, struct runs *runs, struct fold_line *lines, size_t *n, size_t headlines,
                                    bool words)
{
    struct table_run *list = arena_get(c->arena, (*n + 1) * sizeof *list);
    size_t kept = 0;
    for (size_t i = 0; list && i < *n; i++) {
        const struct fold_line line = lines[i];
        const struct tree_run *run = line.run;
        const struct folder tree = runs_tree(runs, run);
        struct table_run *row = &list[kept];
        *row = (struct table_run){.run = run, .row = run->row, .tree = tree, .depth = line.depth, .folded = line.folded};
        if (!row->row && !(row->row = row_read(&tree, run, headlines, c->arena)))
            return NULL;
        if (words)
            row_words(row, c->arena);
        if (!row->row->has_wall_metric && tree_is_gone(&tree, run)) {
            runs->gone++;
            continue;
        }
        lines[kept++] = line;
    }
    *n = kept;
    return list;
}

static int ls_print_json(struct cmd_context *c, const struct fold_line *lines, const struct table_run *list, size_t n,
                         enum listing_form form, struct buf *to)
{
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof columns[0], c->arena);
    for (size_t i = 0; i < n; i++)
        ls_add_row(&l, c, &lines[i], list[i].row);
    if (!l.failed && form == LISTING_JSONL)
        listing_jsonl(&l, to);
    else if (!l.failed)
        listing_json(&l, to);
    int status = l.failed ? -1 : 0;
    listing_deinit(&l);
    return status;
}

static void put_cell(struct buf *to, const char *text, size_t max)
{
    buf_puts(to, "| ");
    markdown_text(to, text, max);
    buf_putc(to, ' ');
}

/* One table for all experiments, for a page of a forge. */
static int print_markdown(const struct table_run *list, size_t n, struct arena *a, struct buf *to)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_puts(to, "| experiment | program | site | start | result | metrics |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++) {
        const struct tree_run *run = list[i].run;
        const struct run_row *row = list[i].row;
        const char *verdict = verdict_shown(&list[i].tree, run, a);
        buf_clear(&b);
        if (run->start_ms)
            show_time_utc(&b, run->start_ms);
        if (b.n > DAY_LEN)
            b.p[DAY_LEN] = 0;
        put_cell(to, run->experiment, 60);
        put_cell(to, row->benchmark ? row->benchmark : run->name, 60);
        put_cell(to, row->site, 40);
        put_cell(to, b.n ? b.p : "", 20);
        const char *result = run->status == RUN_FINISHED && verdict ? verdict : runs_status(run);
        put_cell(to, row->stale ? arena_printf(a, "%s, stale", result) : result, 20);
        put_cell(to, runs_table_own(&list[i], a), 200);
        buf_puts(to, "|\n");
    }
    return a->failed ? -1 : 0;
}

/* One table for each experiment, that of the newest run first. */
static int print_tables(struct cmd_context *c, const struct table_run *list, size_t n, const struct screen *screen, bool one_day,
                        struct buf *to)
{
    struct table_run *part = arena_get(c->arena, (n + 1) * sizeof *part);
    bool *done = arena_get(c->arena, n + 1), sites = runs_table_sites(list, n);
    for (size_t first = 0; part && done && first < n; first++) {
        size_t count = 0;
        for (size_t i = first; i < n && !done[first]; i++)
            if (!done[i] && strcmp(list[i].run->experiment, list[first].run->experiment) == 0 && (i == first || (done[i] = true)))
                part[count++] = list[i];
        if (!count)
            continue;
        if (to->n)
            buf_putc(to, '\n');
        if (runs_table_print(part, count, NULL, one_day, sites, screen, c->arena, to) < 0)
            return -1;
    }
    return part && done ? 0 : -1;
}

/* "3 runs and 5 child runs" */
static void put_counts(const struct table_run *list, size_t shown, struct buf *to)
{
    size_t runs = 0, children = 0;
    for (size_t i = 0; i < shown; i++) {
        runs += !list[i].depth;
        children += (list[i].depth ? 1 : 0) + list[i].folded;
    }
    buf_printf(to, "%zu run%s", runs, str_plural(runs));
    if (children)
        buf_printf(to, " and %zu child run%s", children, str_plural(children));
}

/* How many runs of how many, and what the times in the table lack. */
static void print_footer(struct cmd_context *c, const struct runs *runs, const struct table_run *list, size_t shown, size_t more,
                         const struct screen *screen, bool one_day)
{
    CLEANUP_BUF struct buf b, to;
    char when[80] = "";
    struct tm day;
    time_t start = shown ? (time_t)(list[0].run->start_ms / 1000) : 0;
    buf_init(&b, 512);
    buf_init(&to, 1024);
    if (one_day && localtime_r(&start, &day))
        strftime(when, sizeof when, ", times of %d %b %Y (%Z)", &day);
    put_counts(list, shown, &b);
    if (more)
        buf_printf(&b, " of %zu in all%s; hint: --all shows all of them", runs->count, when);
    else
        buf_printf(&b, "%s; hint: %sbenchwrap show RUN", when, opt_text(&c->opts, OPTION_EXPERIMENT) ? "" : "-e NAME for one experiment, ");
    screen_wrap(screen, buf_text(&b), 0, 0, &to);
    if (screen->is_terminal)
        fprintf(c->out, "\n%s\n", to.p ? to.p : "");
    else if (more)
        fprintf(c->notes, "benchwrap: ls: %s\n", to.p ? to.p : "");
}

/* *shown: how many lines, without those of runs that were deleted since the listing. */
static int ls_print(struct cmd_context *c, struct runs *runs, struct fold_line *lines, size_t *shown, size_t more, enum listing_form form)
{
    if (opt_text(&c->opts, OPTION_COLUMNS))
        return row_output_columns(c, runs, runs->all, *shown, form);
    bool guard = opt_text(&c->opts, OPTION_FORMAT) != NULL;
    const struct screen screen = screen_of_file(c->out);
    const struct table_run *list =
        table_rows(c, runs, lines, shown, headlines_wanted(c, form), form == LISTING_TABLE || form == LISTING_MARKDOWN);
    const size_t n = *shown;
    bool one_day = screen.is_terminal && list && runs_table_one_day(list, n);
    CLEANUP_BUF struct buf to;
    buf_init(&to, 1u << 30);
    int status = !list                      ? -1
                 : form >= LISTING_JSONL    ? ls_print_json(c, lines, list, n, form, &to)
                 : form == LISTING_CSV      ? runs_table_csv(list, n, guard, c->arena, &to)
                 : form == LISTING_MARKDOWN ? print_markdown(list, n, c->arena, &to)
                                            : print_tables(c, list, n, &screen, one_day, &to);
    listing_put(form, &to, c->out);
    if (status < 0 || to.failed)
        return err_memory(c->err, "the list of runs");
    if (form == LISTING_TABLE && runs->count)
        print_footer(c, runs, list, n, opt_find(&c->opts, OPTION_LAST)->origin ? 0 : more, &screen, one_day);
    return 0;
}

static void say_problem(struct cmd_context *c, const struct tree_run *run)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_plain(&b, str_of(run->problem), 400);
    fprintf(c->notes, "benchwrap: ls: %s: damaged: %s\n", run->path, b.p ? b.p : "");
}

/* Prints at most ten problems of damaged runs, how many more there are, and how a partial clone
 * gets its files. */
static void say_problems(struct cmd_context *c, const struct runs *runs)
{
    enum { SAID_MAX = 10 };
    size_t said = 0;
    for (size_t i = 0; i < runs->count && said < SAID_MAX; i++)
        if (runs->all[i]->problem) {
            say_problem(c, runs->all[i]);
            said++;
        }
    for (const struct tree_run *run = runs->unjudged; run && said < SAID_MAX; run = run->next, said++)
        say_problem(c, run);
    if (runs->damaged > said)
        fprintf(c->notes, "benchwrap: ls: %zu more damaged run%s\n", runs->damaged - said, str_plural(runs->damaged - said));
    const char *remote = said ? runs_partial_remote(runs, c->arena) : NULL;
    if (remote)
        fprintf(c->notes, "benchwrap: ls: this partial clone lacks files; fetch them: git fetch --refetch --no-filter %s %s\n", remote,
                runs->place.ref ? arena_printf(c->arena, "$(git rev-parse %.200s)", runs->place.ref) : "");
}

static void say_stale(struct cmd_context *c, const struct fold_line *lines, size_t shown)
{
    const struct tree_run **list = arena_get(c->arena, (shown + 1) * sizeof *list);
    for (size_t i = 0; list && i < shown; i++)
        list[i] = lines[i].run;
    stale_notes(c->notes, list, list ? shown : 0);
}

/* Runs that have not ended are not in the tree yet: they are below the table of those that have. */
static bool ls_print_active(struct cmd_context *c, enum listing_form form, bool below)
{
    const char *status = opt_text(&c->opts, OPTION_STATUS);
    const struct active_choice of = {.experiment = opt_text(&c->opts, OPTION_EXPERIMENT)};
    const struct screen screen = screen_of_file(c->out);
    struct err err = {0};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (form != LISTING_TABLE || opt_text(&c->opts, OPTION_REF) || opt_text(&c->opts, OPTION_TAG) || opt_text(&c->opts, OPTION_FILTER) ||
        opt_text(&c->opts, OPTION_COLUMNS) || (status && strcasecmp(status, "RUNNING") != 0))
        return false;
    struct err *own = c->err;
    c->err = &err; /* what cannot be read of them does not fail the list of the others */
    struct active_runs *a = active_table_open(c);
    c->err = own;
    bool some = a && active_table_count(a, &of) && active_table_print(a, &of, SIZE_MAX, &screen, &b) == 0;
    if (some)
        fprintf(c->out, "%sIn progress\n%s", below ? "\n" : "", b.p);
    active_runs_free(a);
    return some;
}

/* Lists runs by the command line. 0; 1: a damaged run was left out; -1 with c->err. */
static int ls_command(struct cmd_context *c)
{
    struct runs runs;
    bool all = opt_on(&c->opts, OPTION_ALL);
    struct runs_filter filter;
    enum listing_form form;
    if (row_output_form(c, &form) < 0 || selection_filter(c, &filter) < 0)
        return -1;
    bool open = all || opt_on(&c->opts, OPTION_CHILDREN) || filter.tags->text || filter.query; /* these choose children, too */
    int64_t last = opt_integer(&c->opts, OPTION_LAST);
    filter.corrected = all;
    filter.marks = true;
    filter.rows = all && !opt_text(&c->opts, OPTION_COLUMNS);
    filter.headlines = headlines_wanted(c, form);
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%.60s\"; \"benchwrap show RUN\" shows one run", c->argv[0]);
    if (last < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected an integer >= 1, got \"%.40s\"", opt_text(&c->opts, OPTION_LAST));
    if (selection_open(&runs, c, c->err) < 0)
        return c->err->kind == ERR_INPUT && ls_print_active(c, form, false) ? 0 : -1; /* the first run of a tree has not ended */
    int status = runs_load(&runs, &filter, c->arena, c->err);
    if (status == 0 && opt_text(&c->opts, OPTION_SORT)) /* without --last the first of all are listed */
        status = row_output_order(c, &runs, opt_find(&c->opts, OPTION_LAST)->origin ? (size_t)last : SIZE_MAX);
    if (status == 0) {
        size_t most = all || (uint64_t)last > runs.count ? runs.count : (size_t)last, shown, more;
        struct fold_line *lines;
        if (choose_lines(c, &runs, form, open, most, &lines, &shown, &more) < 0)
            status = err_memory(c->err, "the list of runs");
        else
            status = ls_print(c, &runs, lines, &shown, more, form);
        if (status == 0)
            say_stale(c, lines, shown);
        if (status == 0 && !runs.count)
            fprintf(c->notes, "benchwrap: ls: %s\n", runs_explain_none(&runs, &filter, c->arena));
        if (status == 0)
            ls_print_active(c, form, runs.count > 0);
        say_problems(c, &runs);
        if (status == 0 && runs.damaged)
            status = 1;
    }
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_LAST,
     .letter = 'n',
     .kind = OPT_INT,
     .arg = "N",
     .value = "30",
     .group = "Selection",
     .help = "List the N newest runs"},
    {.name = OPTION_ALL,
     .letter = 'a',
     .kind = OPT_FLAG,
     .group = "Selection",
     .help = "List all runs, with child runs and those that others amend or retract"},
    {.name = OPTION_CHILDREN, .letter = 'c', .kind = OPT_FLAG, .group = "Selection", .help = "List child runs below their parent"},
    ROW_OUTPUT_SORT,
    ROW_OUTPUT_COLUMNS("Print these facts"),
    ROW_OUTPUT_FORMAT,
    {.name = OPTION_CSV, .kind = OPT_FLAG, .group = "Output", .help = "CSV with a column for each headline metric"},
    {.name = OPTION_MARKDOWN, .kind = OPT_FLAG, .group = "Output", .help = "Markdown, one table, for a page of a forge"},
    CMD_ROW_JSON,
};

const struct cmd cmd_ls = {
    .name = "ls",
    .summary = "List runs",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Prints one table for each experiment, with its headline metrics as columns. Runs of several programs in one experiment"
                   " have one column with the metrics of each. The site is shown where the runs are of several sites. A sweep shows the "
                   "best value and its point, or the range of the values where the 95 % intervals do not show one to be the best. CSV and "
                   "JSON leave the cell of a sweep over a number empty. The status is shown only where it is not FINISHED, \"fail\" where "
                   "a reference failed. Runs that were deleted in MLflow are left out. Child runs (of --repeat, of a test in an output "
                   "that holds several) are counted behind their parent's name; --children lists them below it. If a run is damaged, ls "
                   "shows the others, prints what is wrong, and its exit status is 1.",
    .examples = "$ benchwrap ls\n"
                "The newest runs.\n"
                "$ benchwrap ls --experiment io --status FAILED --last 5\n"
                "The five newest of an experiment that failed.\n"
                "$ benchwrap ls --all --json\n"
                "All runs, for a program to read.\n",
    .run = ls_command,
};
