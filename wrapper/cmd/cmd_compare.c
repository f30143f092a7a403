/* cmd_compare.c: `benchwrap compare RUN…`: which params differ between runs, and by how much the metrics do. */
#include "compare/arguments.h"
#include "compare/compare.h"
#include "compare/compare_data.h"
#include "compare/compare_parts.h"
#include "compare/compare_text.h"
#include "compare/result_files.h"
#include "history/history_compare.h"
#include "mlruns-format/key.h"
#include "runs/inherit.h"
#include "cmd/chosen_runs.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 16, MEMBERS_MAX = 1000 };

/* Loads a run that the user names, or one that was listed (name NULL); a damaged one is noted. 0;
 * 1: a listed one was deleted since then; -1 with c->err. */
static int load_member(struct cmd_context *c, struct runs *runs, const char *name, const struct tree_run *listed,
                       struct compare_member *ret)
{
    const unsigned what = TREE_PARAMS | TREE_METRICS | TREE_TAGS | TREE_COMPLETE;
    struct tree_run *run = NULL;
    const char *problem = NULL;
    int got = name ? runs_find(runs, name, what, c->arena, &run, c->err) : runs_find_listed(runs, listed, what, c->arena, &run, c->err);
    if (got)
        return name ? -1 : got;
    inherit_params(runs, run, c->arena);
    *ret = (struct compare_member){.run = run, .detail = runs_detail(runs, run, &problem, c->arena)};
    if (run->problem || problem) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 4096);
        buf_plain(&b, str_of(run->problem ? run->problem : problem), 400);
        fprintf(c->notes, "benchwrap: compare: %s: damaged: %s\n", run->path, b.p ? b.p : "");
    }
    return 0;
}

/* As load_member. */
static int add_member(struct cmd_context *c, struct runs *runs, struct compare_group *group, const char *name,
                      const struct tree_run *listed)
{
    if (group->count == MEMBERS_MAX)
        return err_set(c->err, ERR_USAGE, "a group has at most %d runs", MEMBERS_MAX);
    if (!group->members && !(group->members = arena_get(c->arena, MEMBERS_MAX * sizeof *group->members)))
        return err_memory(c->err, "the groups of runs");
    int got = load_member(c, runs, name, listed, &group->members[group->count]);
    if (got)
        return got;
    bool twice = false;
    for (size_t i = 0; i < group->count; i++)
        twice = twice || strcmp(group->members[i].run->id, group->members[group->count].run->id) == 0;
    group->count++; /* counted in any case: what is counted is freed */
    if (twice)
        return err_set(c->err, ERR_USAGE, "the run %.8s is named twice in one group", group->members[group->count - 1].run->id);
    return 0;
}

/* "A,B vs C,D": an operand is a group, its runs with commas between; the word vs is for reading. */
static int groups_of_line(struct cmd_context *c, struct runs *runs, char *const *operands, struct compare_group *groups, size_t *ret_count)
{
    size_t n = 0;
    for (int i = 0; i < c->argc; i++) {
        if (strcmp(c->argv[i], "vs") == 0)
            continue;
        if (n == GROUPS_MAX)
            return err_set(c->err, ERR_USAGE, "at most %d groups can be compared", GROUPS_MAX);
        groups[n] = (struct compare_group){.name = c->argv[i]};
        for (struct str rest = str_of(operands[i]); rest.p;) {
            struct str one = str_cut(&rest, ',');
            const char *name = arena_dup(c->arena, one.p, one.n);
            if (!one.n || !name || add_member(c, runs, &groups[n], name, NULL) < 0)
                return one.n ? -1
                             : err_set(c->err, ERR_USAGE, "\"%.60s\": expected the id of a run before and after each comma", operands[i]);
        }
        n++;
    }
    *ret_count = n;
    return 0;
}

/* The value of a param or tag, or of experiment, name, status; NULL: the run has none. */
static const char *run_field(const struct runs *runs, const struct tree_run *run, const char *key, struct arena *a)
{
    char path[300];
    if (strcmp(key, "experiment") == 0)
        return run->experiment;
    if (strcmp(key, "name") == 0)
        return run->name;
    if (strcmp(key, "status") == 0)
        return runs_status(run);
    if (strstr(key, "..") || strlen(key) > KEY_MAX)
        return NULL;
    snprintf(path, sizeof path, "params/%s", key);
    const char *value = inherit_file(runs, run, path, 8192, a);
    snprintf(path, sizeof path, "tags/%s", key);
    return value ? value : runs_file(runs, run, path, 8192, a);
}

/* The value of "program" or "argument.NAME", which compare prints: what no param records of the
 * command line. */
static const char *line_field(struct cmd_context *c, struct runs *runs, const struct tree_run *run, const char *key)
{
    struct compare_member m = {0};
    struct compare_arguments args;
    if (strcmp(key, "program") != 0 && strncmp(key, "argument.", strlen("argument.")) != 0)
        return NULL;
    if (load_member(c, runs, NULL, run, &m) != 0)
        return NULL;
    arguments_open(&args, runs);
    const char *value = runs_text(arguments_params(&args, m.run, m.detail, c->arena), key, c->arena);
    arguments_close(&args);
    json_free(m.detail);
    return value;
}

/* Is this a series whose repetitions are among the runs too? They begin soon after it, and the newest run comes first. */
static bool stands_in_children(const struct runs *runs, size_t at, struct arena *a)
{
    enum { NEAR = 64 };
    if (!runs_file(runs, runs->all[at], "tags/benchwrap.series", 64, a))
        return false;
    const char *root = runs_root_id(runs, runs->all[at], a);
    for (size_t i = at; i-- > 0 && at - i <= NEAR;) {
        const char *parent = runs_file(runs, runs->all[i], "tags/mlflow.parentRunId", 64, a);
        if (parent && strcmp(parent, root) == 0)
            return true;
    }
    return false;
}

static int by_value(const void *a, const void *b)
{
    return str_natural(((const struct compare_group *)a)->name, ((const struct compare_group *)b)->name);
}

/* The inputs by which the newest of the runs could be compared, "b, size"; "": none differs. */
static const char *list_differing(struct cmd_context *c, struct runs *runs)
{
    enum { NEWEST = 60, NAMED = 8 };
    struct compare_group all = {0};
    struct compare_text text = {.groups = &all, .count = 1};
    size_t n = 0;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < runs->count && all.count < NEWEST; i++)
        if (!stands_in_children(runs, i, c->arena) && !runs_file(runs, runs->all[i], "tags/benchwrap.warmup", 64, c->arena) &&
            add_member(c, runs, &all, NULL, runs->all[i]) < 0)
            break;
    compare_add_arguments(runs, &all, 1, c->arena);
    for (const char **key = compare_params(&all, 1, c->arena); key && *key; key++)
        if (n < NAMED && compare_is_input(&text, *key))
            buf_printf(&b, "%s%s", n++ ? ", " : "", *key);
    for (size_t i = 0; i < all.count; i++)
        json_free(all.members[i].detail);
    return arena_dup(c->arena, b.p ? b.p : "", b.n);
}

/* Fewer than two groups: the message names the keys that would make some. */
static int explain_groups(struct cmd_context *c, struct runs *runs, const char *by, size_t count, size_t members)
{
    struct runs_filter filter;
    if (selection_filter(c, &filter) < 0)
        return -1;
    if (!by && !filter.experiment)
        return err_set(c->err, ERR_USAGE, "expected two runs, for example: benchwrap compare last~1 last");
    if (!by && runs_load(runs, &filter, c->arena, c->err) < 0)
        return -1;
    const char *none = runs->count ? NULL : runs_explain_none(runs, &filter, c->arena), *keys = none ? "" : list_differing(c, runs);
    const char *hint = none            ? none
                       : keys && *keys ? arena_printf(c->arena, "keys that differ: %s", keys)
                                       : "no input differs between these runs";
    if (!by)
        return err_set(c->err, none ? ERR_INPUT : ERR_USAGE, "expected two runs or --by KEY; %s", hint);
    return err_set(c->err, ERR_INPUT, "--by %.60s: expected two groups, got %zu%s; %s", by, count,
                   count ? arena_printf(c->arena, " of %zu run%s", members, str_plural(members)) : "", hint);
}

/* Makes the groups of --by, one for each value of the runs that the filters choose: that of the
 * oldest run first, the others by their values. *by: the key as typed, then the key that it means.
 * *ret_runs: how many runs they have. -1 with c->err. */
static int groups_by(struct cmd_context *c, struct runs *runs, const char **by, struct compare_group *groups, size_t *ret_count,
                     size_t *ret_runs)
{
    struct runs_filter filter;
    size_t n = 0, without = 0, warmups = 0;
    if (selection_filter(c, &filter) < 0)
        return -1;
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected either runs or --by KEY, got both");
    if (runs_load(runs, &filter, c->arena, c->err) < 0)
        return -1;
    const char *key = *by = chosen_key(c, runs, runs->all, runs->count, OPTION_BY, *by);
    for (size_t i = runs->count; i-- > 0;) {
        size_t g = 0;
        if (stands_in_children(runs, i, c->arena)) /* each value counts once */
            continue;
        const char *value = run_field(runs, runs->all[i], key, c->arena);
        if (!value)
            value = line_field(c, runs, runs->all[i], key);
        if (!value) {
            without++;
            continue;
        }
        if (runs_file(runs, runs->all[i], "tags/benchwrap.warmup", 64, c->arena)) {
            warmups++;
            continue;
        }
        while (g < n && strcmp(groups[g].name, value) != 0)
            g++;
        if (g == GROUPS_MAX)
            return err_set(c->err, ERR_USAGE, "--by %.60s makes more than %d groups; choose fewer runs", key, GROUPS_MAX);
        if (g == n)
            groups[n++] = (struct compare_group){.name = value};
        int got = add_member(c, runs, &groups[g], NULL, runs->all[i]);
        if (got < 0)
            return -1;
        n -= got && g + 1 == n && !groups[g].count; /* it was the first run of its group */
        *ret_runs += got == 0;
    }
    if (n > 2) /* the base stays first */
        qsort(groups + 1, n - 1, sizeof *groups, by_value);
    if (without)
        fprintf(c->notes, "benchwrap: compare: ignored %zu run%s without the param or tag \"%s\"\n", without, str_plural(without), key);
    if (warmups)
        fprintf(c->notes, "benchwrap: compare: ignored %zu warm-up run%s\n", warmups, str_plural(warmups));
    *ret_count = n;
    return 0;
}

/* A run in two groups is compared with itself. */
static void say_shared(struct cmd_context *c, const struct compare_group *groups, size_t count)
{
    for (size_t g = 1; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            for (size_t h = 0; h < g; h++)
                for (size_t k = 0; k < groups[h].count; k++)
                    if (strcmp(groups[g].members[i].run->id, groups[h].members[k].run->id) == 0)
                        fprintf(c->notes, "benchwrap: compare: the run %.8s is both in %c and in %c\n", groups[g].members[i].run->id,
                                (char)('A' + h), (char)('A' + g));
}

/* ---- --gate of groups ---- */

/* The value of --threshold, a percentage, as a share. -1: c->err. */
static int read_threshold(struct cmd_context *c, double *ret)
{
    const char *text = opt_text(&c->opts, OPTION_THRESHOLD);
    struct str number = str_of(text);
    if (number.n && number.p[number.n - 1] == '%')
        number.n--;
    if (!str_double(number, ret) || !(*ret >= 0))
        return err_set(c->err, ERR_USAGE, "--threshold: expected a percentage >= 0, got \"%.40s\"", text);
    *ret /= 100;
    return 0;
}

/* By which part the side is worse than the base; below 0: better, or not known. */
static double gate_loss(const struct compared_metric *m, const struct compared_side *side)
{
    double base = m->sides[0].median;
    if (!*m->direction || !m->sides[0].n || !side->n || !(base > 0))
        return -1;
    return strcmp(m->direction, "lower") == 0 ? side->median / base - 1 : 1 - side->median / base;
}

/* Returns the exit status of --gate: 3 if a metric is worse by the threshold or more, unless it may
 * be chance. Too few values cannot rule that out, nor allow a pass. 0: no such metric. */
static int gate_groups(struct cmd_context *c, const struct compared_metric *metrics, size_t count, double threshold)
{
    size_t worse = 0, few = 0;
    for (const struct compared_metric *m = metrics; m; m = m->next)
        for (size_t g = 1; g < count; g++) {
            const struct compared_side *side = &m->sides[g];
            bool is_large = gate_loss(m, side) >= threshold && !side->other_inputs;
            worse += is_large && side->outcome == OUTCOME_WORSE;
            few += is_large && side->outcome == OUTCOME_TOO_FEW && strcmp(m->key, "run.wall_s") != 0;
        }
    if (worse)
        fprintf(c->notes, "benchwrap: compare: --gate: %zu metric%s worse by %g %% or more\n", worse, worse == 1 ? " is" : "s are",
                threshold * 100);
    if (few)
        fprintf(
            c->notes,
            "benchwrap: compare: --gate: %zu metric%s worse by %g %% or more, of too few values to tell it from chance (three on each side)\n",
            few, few == 1 ? " is" : "s are", threshold * 100);
    return worse || few ? COMPARE_STATUS_GATE : 0;
}

/* Compares the groups of the command line or of --by, and prints the result. 0; 1: a damaged run is
 * among them; 3: --gate; -1 with c->err. */
static int compare_groups_of_line(struct cmd_context *c, struct runs *runs, char *const *operands)
{
    struct compare_group groups[GROUPS_MAX] = {{0}};
    struct compared_metric *metrics = NULL;
    struct compared_keys keys;
    const char *by = opt_text(&c->opts, OPTION_BY);
    size_t count = 0, members = 0;
    double threshold;
    enum listing_form form;
    if (row_output_form(c, &form) < 0 || read_threshold(c, &threshold) < 0)
        return -1;
    int status = by ? groups_by(c, runs, &by, groups, &count, &members) : groups_of_line(c, runs, operands, groups, &count);
    if (status == 0 && count < 2)
        status = explain_groups(c, runs, by, count, members);
    if (status == 0)
        say_shared(c, groups, count);
    if (status == 0)
        status = compare_metrics(groups, count, opt_on(&c->opts, OPTION_ALL), c->arena, &metrics, c->err);
    if (status == 0)
        status = compare_keys_read(runs, groups, count, by, opt_find(&c->opts, OPTION_IGNORE), metrics, c->arena, &keys, c->err);
    if (status == 0) {
        bool known = compare_add_arguments(runs, groups, count, c->arena);
        int printed = form == LISTING_JSON ? compare_print_json(groups, count, metrics, &keys, c->out, c->arena)
                      : form != LISTING_TABLE
                          ? compare_print_rows(groups, count, metrics, form, c->out, c->arena)
                          : compare_print_text(groups, count, metrics, &keys, by, known, opt_on(&c->opts, OPTION_ALL), c->out, c->arena);
        if (printed < 0)
            status = err_memory(c->err, "the groups of runs");
    }
    if (status == 0 && opt_on(&c->opts, OPTION_GATE))
        status = gate_groups(c, metrics, count, threshold);
    for (size_t g = 0; g < GROUPS_MAX; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            if (status == 0 && groups[g].members[i].run->problem)
                status = 1;
            json_free(groups[g].members[i].detail);
        }
    return status;
}

/* --history */
static int compare_earlier(struct cmd_context *c, struct runs *runs)
{
    int64_t last = opt_text(&c->opts, OPTION_LAST) ? opt_integer(&c->opts, OPTION_LAST) : HISTORY_USUAL;
    struct history_question asked = {.run = c->argc ? c->argv[0] : "last",
                                     .last = (size_t)last,
                                     .all = opt_on(&c->opts, OPTION_ALL),
                                     .gate = opt_on(&c->opts, OPTION_GATE),
                                     .ignore = opt_find(&c->opts, OPTION_IGNORE),
                                     .tags = opt_find(&c->opts, OPTION_TAG),
                                     .out = c->out,
                                     .notes = c->notes,
                                     .arena = c->arena};
    struct runs_filter filter;
    if (row_output_form(c, &asked.form) < 0 || selection_filter(c, &filter) < 0)
        return -1;
    asked.query = filter.query;
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "--history: expected one run or none (the newest), got %d", c->argc);
    if (last < 1 || last > HISTORY_MAX)
        return err_set(c->err, ERR_USAGE, "--last: expected 1 to %d runs, got %lld", HISTORY_MAX, (long long)last);
    return selection_fraction(c, "min-effect", &asked.min_effect) < 0 ? -1 : history_compare(&asked, runs, c->err);
}

/* Stored outputs become runs of a tree that is removed afterwards. */
static int compare_files(struct cmd_context *c)
{
    struct result_files files;
    struct runs runs;
    int status = result_files_open(&files, c->argv, c->argc, c->env, c->arena, c->err);
    if (status == 0) {
        const struct runs_place place = {.tree = files.tree, .env = c->env, .notes = c->notes};
        status = runs_open(&runs, &place, c->arena, c->err);
    }
    if (status == 0) {
        status = compare_groups_of_line(c, &runs, files.operands);
        runs_close(&runs);
    }
    result_files_close(&files);
    return status;
}

/* Compares files of results where all operands are such; else runs of the tree, or a run with its
 * history. Returns what the comparison returns; -1 with c->err. */
static int compare_command(struct cmd_context *c)
{
    struct runs runs;
    bool history = opt_on(&c->opts, OPTION_HISTORY), by = opt_text(&c->opts, OPTION_BY) != NULL;
    int named = history || by ? 0 : result_files_named(c->argv, c->argc, c->err);
    if (named)
        return named < 0 ? -1 : compare_files(c);
    if (selection_open_for(&runs, c, c->argv, history || by ? 0 : c->argc, c->err) < 0) /* --history and --by read the tree itself */
        return -1;
    int status;
    if (!history && opt_text(&c->opts, OPTION_LAST))
        status = err_set(c->err, ERR_USAGE, "--last needs --history");
    else if (history && opt_text(&c->opts, OPTION_BY))
        status = err_set(c->err, ERR_USAGE, "expected either --by or --history, got both");
    else
        status = history ? compare_earlier(c, &runs) : compare_groups_of_line(c, &runs, c->argv);
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    {.name = OPTION_BY,
     .letter = 'b',
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Selection",
     .help =
         "Make one group for each value of this param or tag (or experiment, name, status, program, argument.NAME), instead of naming runs"},
    SELECTION_ROWS_FILTER,
    {.name = OPTION_HISTORY,
     .letter = 'H',
     .kind = OPT_FLAG,
     .group = "History",
     .help = "Compare one run (without RUN the newest) with the earlier ones like it"},
    {.name = OPTION_LAST,
     .letter = 'l',
     .kind = OPT_INT,
     .arg = "N",
     .group = "History",
     .help = "Compare with the newest N earlier runs (default: 50)"},
    {.name = OPTION_IGNORE,
     .kind = OPT_LIST,
     .arg = "PARAM",
     .group = "Selection",
     .help =
         "Also judge groups, and with --history also use earlier runs, in which this param (or those of a pattern) differs; may be repeated"},
    {.name = OPTION_MIN_EFFECT,
     .kind = OPT_TEXT,
     .arg = "FRACTION",
     .value = "2%",
     .group = "History",
     .help = "Ignore smaller changes, however sure"},
    {.name = OPTION_GATE,
     .kind = OPT_FLAG,
     .group = "Output",
     .help =
         "Exit 3 on a regression: with --history as it judges, of groups where a metric is worse by --threshold or more and no test calls that chance"},
    {.name = OPTION_THRESHOLD,
     .kind = OPT_TEXT,
     .arg = "PERCENT",
     .value = "5",
     .group = "Output",
     .help = "With --gate and groups: ignore smaller changes, however sure"},
    {.name = OPTION_ALL,
     .letter = 'a',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Show all metrics, with those of the machine, and all parameters that differ"},
    ROW_OUTPUT_FORMAT,
    CMD_ROW_JSON,
};

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "Compare runs, or groups of runs",
    .usage = "[OPTIONS] RUN... | A,B vs C,D | FILE... | --by KEY | --history",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Each operand is a group: one run, or several with commas between them (as in \"benchwrap show\": id, last, last~N, "
        "REF:RUN). The first group is the base; the word vs is for reading only. --by makes the groups; warm-up runs are "
        "ignored, and of a series each repetition counts. A warning names the inputs in which the runs of one group differ "
        "among themselves.\n\n"
        "Operands may be files instead: stored outputs that the rules know, such as results of taskrate, llmload and vLLM's "
        "benchmark, and several with commas between them for one group. They are compared as runs are, and nothing is recorded.\n\n"
        "The first lines state the answer for each headline metric: how much it changed, or that compare found no difference. "
        "Then follow the inputs that differ, whether the program itself does (its SHA-256, that of its script, its version), "
        "and whether hardware (node.type) and settings (node.state) are the same. The command line is an input: what the rules "
        "do not explain of it is listed as program and argument.NAME. Repetitions have the machine's facts of their parent run.\n\n"
        "The table has the median of each group, the change against the base, its 95 % interval and the verdict. A change is in"
        " percent, from a tenfold on a factor. With several runs in a group each run counts once, with the median of its "
        "repetitions; with one run in each, its repetitions are the values. Two sweeps are compared point by point. Step by "
        "step tables (size -> value) are compared step by step.\n\n"
        "The verdict is better or worse by the direction that the rules name, or different where they name none. \"other "
        "inputs\": something else was measured, by the key that is printed, and neither --by nor --ignore names it. \"too few\""
        " is a metric with fewer than three values on a side. \"too varied\" is one whose interval contains 0 % and reaches below "
        "-20 % or above +25 %. \"uncertain\" is a change whose interval does not contain \"no change\", but that may be chance among so many "
        "metrics. \"no difference\" does not prove that there is none.\n\n"
        "--history compares one run with earlier ones of its experiment that FINISHED and share benchmark, site, cluster, node "
        "type, nodes and tasks and all inputs. What probes saw of the machine is no input, so the effect of a system update "
        "shows. --ignore PARAM also uses earlier runs in which this input differs: argument.NAME for an option, argument.1 for "
        "the first word that is no option, argument.env.NAME and the like for a setting of a starter before the program. Each "
        "run is one value, the median of its repetitions. Below five earlier runs the answer is too few. With --gate, wall time"
        " counts only where the run has no metric with a direction of its own.\n\n"
        "docs/howto-repeat.md describes the statistics: the intervals, the correction for many metrics, and how small a change "
        "is found.",
    .examples = "$ benchwrap compare last~1 last\n"
                "The newest run against the one before.\n"
                "$ benchwrap compare --by a -e io\n"
                "All runs of an experiment, in groups by the parameter a.\n"
                "$ benchwrap compare last --history\n"
                "Is the newest run as good as the earlier ones like it?\n"
                "$ benchwrap compare old/a.log slurm-1.out\n"
                "Two stored outputs, without recording them.\n",
    .run = compare_command,
};
