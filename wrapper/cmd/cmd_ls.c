/* cmd_ls.c: `benchwrap ls`: the runs of a tree, newest first. Reads the meta of all runs and more of those only that are shown. */
#include "base/listing.h"
#include "base/show.h"
#include "cmd/fold.h"
#include "cmd/row.h"
#include "cmd/runs_ref.h"

#include <string.h>

enum { LS_LAST = 30 };

/* Children stand below their parent, or are counted behind its name. */
static const char *shown_name(const struct fold_line *line, struct arena *a)
{
    if (line->folded)
        return arena_printf(a, "%s (+%zu)", line->run->name, line->folded);
    return line->depth ? arena_printf(a, "%*s%s", 2 * (int)line->depth, "", line->run->name) : line->run->name;
}

static void add_row(struct listing *l, struct cmd_context *c, const struct fold_line *line, const struct run_row *row, bool json)
{
    const struct tree_run *run = line->run;
    struct arena *a = c->arena;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    const char *verdict = row->verdict, *status = runs_status(run);
    listing_text(l, run->id);
    listing_str(l, (struct str){run->id, 8});
    listing_text(l, run->experiment);
    listing_text(l, json ? run->name : shown_name(line, a));
    listing_text(l, json ? row->parent : NULL);
    listing_text(l, row->benchmark);
    listing_text(l, status);
    listing_text(l, verdict);
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
    size_t n = row->headlines;
    for (size_t i = 0; i < n && !json; i++)
        headline_show(&b, &h[i]);
    for (size_t i = 0; i < n && json; i++)
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
}

static const struct listing_column columns[] = {
    {"id", NULL, false, 0},
    {"short", "RUN", false, 0},
    {"experiment", "EXPERIMENT", false, 24},
    {"name", "NAME", false, 32},
    {"parent", NULL, false, 0},
    {"benchmark", "BENCHMARK", false, 16},
    {"status", NULL, false, 0},
    {"verdict", NULL, false, 0},
    {"outcome", "STATUS", false, 0},
    {"start", NULL, false, 0},
    {"start_local", "STARTED", false, 0},
    {"wall_s", "WALL", true, 0},
    {"headline", "HEADLINE", false, 100},
    {"headline_1", NULL, true, 0},
    {"headline_2", NULL, true, 0},
    {"path", NULL, false, 0},
    {"problem", NULL, false, 0},
};

/* A program gets children in the order of all runs, not below their parents. */
static int choose_lines(struct cmd_context *c, const struct runs *runs, bool open, size_t last, struct fold_line **ret, size_t *ret_count,
                        size_t *ret_more)
{
    if (!open || !opt_on(&c->opts, "json"))
        return fold_runs(runs, open, last, c->arena, ret, ret_count, ret_more);
    size_t n = last < runs->count ? last : runs->count;
    *ret = arena_get(c->arena, (n + 1) * sizeof **ret);
    for (size_t i = 0; *ret && i < n; i++)
        (*ret)[i] = (struct fold_line){.run = runs->all[i]};
    *ret_count = n;
    *ret_more = runs->count - n;
    return *ret ? 0 : -1;
}

static int print(struct cmd_context *c, const struct runs *runs, const struct fold_line *lines, size_t shown)
{
    bool json = opt_on(&c->opts, "json");
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof columns[0], c->arena);
    for (size_t i = 0; i < shown; i++) {
        const struct tree_run *run = lines[i].run;
        const struct folder tree = runs_tree(runs, run);
        const struct run_row *row = run->row ? run->row : row_read(&tree, run, c->arena);
        if (row)
            add_row(&l, c, &lines[i], row, json);
        else
            l.failed = true;
    }
    int status = l.failed ? -1 : 0;
    if (json && status == 0) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1u << 30);
        listing_json(&l, &b);
        fwrite(b.p ? b.p : "", 1, b.n, c->out);
        status = b.failed ? -1 : 0;
    } else if (status == 0) {
        status = listing_print(&l, c->out);
    }
    listing_deinit(&l);
    if (status < 0)
        return err_set(c->err, ERR_SYSTEM, "out of memory");
    return 0;
}

static void say_problems(struct cmd_context *c, const struct runs *runs)
{
    size_t said = 0;
    for (size_t i = 0; i < runs->count && said < 10; i++) {
        if (!runs->all[i]->problem)
            continue;
        CLEANUP_BUF struct buf b;
        buf_init(&b, 4096);
        buf_plain(&b, str_of(runs->all[i]->problem), 400);
        fprintf(c->notes, "benchwrap: ls: %s: damaged: %s\n", runs->all[i]->path, b.p ? b.p : "");
        said++;
    }
    if (runs->damaged > said)
        fprintf(c->notes, "benchwrap: ls: %zu more runs are damaged\n", runs->damaged - said);
    if (said && runs_are_partial(runs, c->arena))
        fputs("benchwrap: ls: this is a partial clone, which has not all files: \"git fetch --refetch --no-filter\" brings them\n",
              c->notes);
}

static int run(struct cmd_context *c)
{
    struct runs runs;
    bool all = opt_on(&c->opts, "all");
    struct runs_filter filter = {.experiment = opt_text(&c->opts, "experiment"),
                                 .status = opt_text(&c->opts, "status"),
                                 .tags = opt_find(&c->opts, "tag"),
                                 .corrected = all,
                                 .rows = all};
    bool open = all || opt_on(&c->opts, "children") || filter.tags->text; /* by tags children are asked for, too */
    int64_t last = opt_integer(&c->opts, "last");
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "\"%.60s\": no operands are taken; \"benchwrap show RUN\" tells about one run", c->argv[0]);
    if (last < 1)
        return err_set(c->err, ERR_USAGE, "--last: a number from 1 on is wanted");
    if (runs_open(&runs, c, c->err) < 0)
        return -1;
    int status = runs_load(&runs, &filter, c, c->err);
    if (status == 0) {
        size_t most = all || (uint64_t)last > runs.count ? runs.count : (size_t)last, shown, more;
        struct fold_line *lines;
        if (choose_lines(c, &runs, open, most, &lines, &shown, &more) < 0)
            status = err_set(c->err, ERR_SYSTEM, "out of memory");
        else
            status = print(c, &runs, lines, shown);
        if (status == 0 && !opt_on(&c->opts, "json")) {
            if (!runs.count)
                fprintf(c->notes, "benchwrap: ls: no runs%s in %s\n",
                        filter.experiment || filter.status || filter.tags->text ? " of this kind" : "", runs.tree);
            else if (more && !opt_find(&c->opts, "last")->origin)
                fprintf(c->notes, "benchwrap: ls: %zu of %zu runs; --all shows them all\n", runs.count - more, runs.count);
        }
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
    RUNS_ROWS_FILTER,
    {"last", 'n', OPT_INT, "N", NULL, "30", "Selection", "the N newest of them", 0},
    {"all", 'a', OPT_FLAG, NULL, NULL, NULL, "Selection", "all of them, child runs and those that others amend or retract too", 0},
    {"children", 'c', OPT_FLAG, NULL, NULL, NULL, "Selection", "child runs too, below their parent", 0},
    CMD_ROW_JSON,
};

const struct cmd cmd_ls = {
    .name = "ls",
    .summary = "List runs",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Lists runs with experiment, name, benchmark, status and verdict, start, wall time and their headline metrics. Runs that were deleted in "
        "MLflow are left out. Child runs (of --repeat, of a test in an output that holds several) are counted behind their parent's name; --children "
        "lists them below it. Where a run is damaged, the others are shown, what is wrong is said, and the exit status is 1.",
    .examples = "$ benchwrap ls\n"
                "The newest runs.\n"
                "$ benchwrap ls --experiment io --status FAILED --last 5\n"
                "The five newest of an experiment that failed.\n"
                "$ benchwrap ls --all --json\n"
                "All runs, for a program to read.\n",
    .run = run,
};
