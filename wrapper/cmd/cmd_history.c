/* cmd_history.c: `benchwrap history`: the runs at which metrics changed, and what else changed there. */
#include "cmd/row_output.h"
#include "cmd/selection.h"
#include "history/history.h"

static int history_command(struct cmd_context *c)
{
    struct runs runs;
    struct history h = {0};
    enum listing_form form;
    struct history_request asked = {.run = c->argc ? c->argv[0] : NULL,
                                    .ignore = opt_find(&c->opts, OPTION_IGNORE),
                                    .all = opt_on(&c->opts, OPTION_ALL),
                                    .notes = c->notes,
                                    .arena = c->arena};
    int64_t last = opt_text(&c->opts, OPTION_LAST) ? opt_integer(&c->opts, OPTION_LAST) : HISTORY_GATE_USUAL;
    if (row_output_form(c, &form) < 0 || selection_filter(c, &asked.filter) < 0 ||
        selection_fraction(c, OPTION_MIN_EFFECT, &asked.min_effect) < 0)
        return -1;
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one run or none, got %d", c->argc);
    if (last < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected 1 run or more, got %lld", (long long)last);
    if (selection_open_for(&runs, c, c->argv, c->argc, c->err) < 0)
        return -1;
    int status = history_read(&asked, &runs, &h, c->err);
    if (status == 0)
        status = form == LISTING_JSON    ? history_write_json(&h, &asked, c->out)
                 : form == LISTING_TABLE ? history_write_text(&h, &asked, c->out)
                                         : history_write_rows(&h, &asked, form, c->out);
    if (status < 0 && !c->err->text[0])
        err_memory(c->err, "the history of runs");
    if (status == 0 && opt_on(&c->opts, OPTION_GATE) && history_has_regression(&h, (size_t)last))
        status = 3;
    history_close(&h);
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_IGNORE,
     .kind = OPT_LIST,
     .arg = "PARAM",
     .group = "Selection",
     .help = "Join groups that differ in this param (or in those of a pattern); may be repeated"},
    {.name = OPTION_MIN_EFFECT,
     .kind = OPT_TEXT,
     .arg = "FRACTION",
     .value = "2%",
     .group = "Search",
     .help = "Ignore smaller changes, however sure"},
    {.name = OPTION_GATE,
     .kind = OPT_FLAG,
     .group = "Search",
     .help = "Exit 3 if a regression began among the newest runs and still lasts"},
    {.name = OPTION_LAST,
     .letter = 'l',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Search",
     .help = "With --gate: how many of the newest runs count (default: 20)"},
    {.name = OPTION_ALL, .letter = 'a', .kind = OPT_FLAG, .group = "Output", .help = "Search all metrics, with those of the machine"},
    ROW_OUTPUT_FORMAT,
    CMD_ROW_JSON,
};

const struct cmd cmd_history = {
    .name = "history",
    .summary = "Show when metrics changed, and what else changed then",
    .usage = "[OPTIONS] [RUN]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Groups runs that measured the same thing on the same system, which is the comparison key that \"benchwrap compare\" prints, and searches each "
        "metric for runs from which on its level is another one. With RUN only the runs of its key are searched; of a sweep, those of each of its points. The runs are those that \"compare "
        "--history\" uses: finished, not retracted, no warm-ups. A series of repetitions counts once.\n\n"
        "A change is reported when three or more consecutive runs confirm it, with the medians before and after, the 95 % interval of the change, and p, the "
        "chance of such a difference where nothing changed. One or two runs that deviate are outliers, or not confirmed yet when they are the newest. Below "
        "follow the recorded facts that changed at the same run, the likeliest causes first.\n\n"
        "Use \"compare --history\" to judge one run at once, for example at the end of a job: a single value decides, and up to 5 % of its alarms are false. Use "
        "\"history\" to watch a benchmark over time: it needs three runs, and gives less than one false alarm in 1000 runs (docs/howto-history.md).",
    .examples = "$ benchwrap history -e io\n"
                "Show the changes of each metric in the runs of experiment io.\n"
                "$ benchwrap history last --gate\n"
                "Search the runs like the newest one. Exit 3 if a regression began among the newest 20.\n",
    .run = history_command,
};
