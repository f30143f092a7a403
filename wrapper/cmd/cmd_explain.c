/* cmd_explain.c: `benchwrap explain A B`: what could explain the difference of two runs, or groups of runs. */
#include "cmd/selection.h"
#include "history/explain.h"

#include <string.h>

static int add_explained(struct cmd_context *c, struct runs *runs, struct explain_request *asked, int side, const char *name)
{
    struct tree_run *run = NULL;
    if (asked->n[side] == EXPLAIN_RUNS_MAX)
        return err_set(c->err, ERR_USAGE, "a group has at most %d runs", EXPLAIN_RUNS_MAX);
    if (runs_find(runs, name, TREE_META, c->arena, &run, c->err))
        return -1;
    for (int s = 0; s <= side; s++)
        for (size_t i = 0; i < asked->n[s]; i++)
            if (strcmp(asked->ids[s][i], run->id) == 0)
                return err_set(c->err, ERR_USAGE, "the run %.8s is named twice", run->id);
    memcpy(asked->ids[side][asked->n[side]++], run->id, sizeof run->id);
    return 0;
}

/* "A,B vs C,D", as compare reads it; exactly two groups. */
static int read_explained(struct cmd_context *c, struct runs *runs, struct explain_request *asked)
{
    int side = 0;
    for (int i = 0; i < c->argc; i++) {
        if (strcmp(c->argv[i], "vs") == 0)
            continue;
        if (side == EXPLAIN_SIDES)
            return err_set(c->err, ERR_USAGE, "expected two runs or groups, got more");
        asked->ids[side] = arena_get(c->arena, EXPLAIN_RUNS_MAX * sizeof *asked->ids[side]);
        if (!asked->ids[side])
            return err_memory(c->err, "the explanation");
        for (struct str rest = str_of(c->argv[i]); rest.p;) {
            struct str one = str_cut(&rest, ',');
            const char *name = arena_dup(c->arena, one.p, one.n);
            if (!one.n)
                return err_set(c->err, ERR_USAGE, "\"%.60s\": expected the id of a run before and after each comma", c->argv[i]);
            if (!name || add_explained(c, runs, asked, side, name) < 0)
                return -1;
        }
        side++;
    }
    return side == EXPLAIN_SIDES ? 0
                                 : err_set(c->err, ERR_USAGE, "expected two runs or groups, for example: benchwrap explain last~1 last");
}

static int explain_command(struct cmd_context *c)
{
    struct runs runs;
    struct explanation e;
    struct explain_request asked = {.metric = opt_text(&c->opts, OPTION_METRIC), .arena = c->arena};
    if (selection_fraction(c, OPTION_MIN_EFFECT, &asked.min_effect) < 0 || selection_open(&runs, c, c->err) < 0)
        return -1;
    int status = read_explained(c, &runs, &asked);
    if (status == 0)
        status = explain_runs(&asked, &runs, &e, c->err);
    if (status == 0) {
        status = opt_on(&c->opts, OPTION_JSON) ? explain_write_json(&e, &runs, c->arena, c->out)
                                               : explain_write_text(&e, &runs, c->arena, c->out);
        if (status < 0)
            err_memory(c->err, "the explanation");
    }
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_METRIC,
     .letter = 'm',
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Selection",
     .help = "Explain this metric (default: the headline metric that differs most, else another result, else the wall time)"},
    {.name = OPTION_MIN_EFFECT,
     .kind = OPT_TEXT,
     .arg = "FRACTION",
     .value = "2%",
     .group = "Selection",
     .help = "Ignore smaller differences, however sure"},
    CMD_ROW_JSON,
};

const struct cmd cmd_explain = {
    .name = "explain",
    .summary = "Rank what could explain the difference of two runs or groups",
    .usage = "[OPTIONS] A B | A,B vs C,D",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Each operand is a run, or a group of runs with commas between them, as in \"benchwrap compare\". A series stands for its repetitions.\n\n"
        "The first line states whether the runs differ. Then follow the recorded causes, the likeliest first: parameters and arguments, program and "
        "libraries, software, kernel and its settings, firmware, frequency, binding, limits, hardware, placement, and what disturbed the runs. For each, "
        "explain compares all other runs of the tree that differ only in this. A cause that they show comes first. One that they show to have no such "
        "effect is ruled out. Where no recorded fact differs, explain states that nothing recorded explains the difference.\n\n"
        "A fact counts where most runs of each group agree on it. Facts that have another value in most runs of the tree, such as ids, are no causes.",
    .examples = "$ benchwrap explain last~1 last\n"
                "Explain the difference between the two newest runs.\n"
                "$ benchwrap explain last~3,last~2 vs last~1,last\n"
                "Explain the difference between two groups.\n",
    .run = explain_command,
};
