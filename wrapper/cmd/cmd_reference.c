/* cmd_reference.c: `benchwrap reference`: proposes a reference file from earlier runs. */
#include "compare/proposal.h"
#include "compare/reference_reframe.h"
#include "cmd/selection.h"

#include <string.h>

static int take_list(struct cmd_context *c, struct runs *runs, struct proposal *p, const char *names)
{
    for (struct str rest = str_of(names); rest.p;) {
        struct str one = str_cut(&rest, ',');
        const char *name = arena_dup(c->arena, one.p, one.n);
        if (!one.n || !name)
            return err_set(c->err, ERR_USAGE, "\"%.60s\": the name of a run is missing next to a comma", names);
        if (proposal_add_run(p, runs, name, NULL, c->err) < 0)
            return -1;
    }
    return 0;
}

static int take_named(struct cmd_context *c, struct runs *runs, struct proposal *p)
{
    for (const struct opt_value *v = opt_find(&c->opts, OPTION_FROM); v && v->text; v = v->next)
        if (take_list(c, runs, p, v->text) < 0)
            return -1;
    for (int i = 0; i < c->argc; i++)
        if (take_list(c, runs, p, c->argv[i]) < 0)
            return -1;
    return 0;
}

static int take_chosen(struct cmd_context *c, struct runs *runs, struct proposal *p)
{
    struct runs_filter filter;
    if (selection_filter(c, &filter) < 0)
        return -1;
    size_t last = opt_text(&c->opts, OPTION_LAST) ? (size_t)opt_integer(&c->opts, OPTION_LAST) : SIZE_MAX;
    if (runs_load(runs, &filter, c->arena, c->err) < 0)
        return -1;
    for (size_t i = 0; i < runs->count && i < last; i++)
        if (proposal_add_run(p, runs, NULL, runs->all[i], c->err) < 0)
            return -1;
    return 0;
}

/* Prints a reference file made from the named or chosen runs. -1 with c->err. */
static int propose_references(struct cmd_context *c, struct runs *runs)
{
    struct proposal p;
    CLEANUP_BUF struct buf text;
    bool named = c->argc || opt_text(&c->opts, OPTION_FROM);
    bool chosen = opt_text(&c->opts, OPTION_LAST) || (!named && selection_given(c));
    buf_init(&text, 64 << 20);
    proposal_init(&p, opt_find(&c->opts, OPTION_IGNORE), opt_on(&c->opts, OPTION_ALL), c->arena);
    if (named == chosen)
        return err_set(c->err, ERR_USAGE,
                       named ? "expected either runs or --last, got both"
                             : "which runs? Name them (--from RUN,RUN...), or choose with -e, --status, --tag, --filter, --last");
    if (opt_text(&c->opts, OPTION_LAST) && opt_integer(&c->opts, OPTION_LAST) < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected an integer >= 1");
    if (selection_fraction(c, "min-band", &p.min_band) < 0 || (named ? take_named(c, runs, &p) : take_chosen(c, runs, &p)) < 0)
        return -1;
    if (opt_on(&c->opts, OPTION_JSON))
        proposal_json(&p, &text);
    else
        proposal_yaml(&p, &text);
    if (text.failed || p.arena->failed)
        return err_memory(c->err, "the proposal");
    fwrite(text.p ? text.p : "", 1, text.n, c->out);
    struct runs_filter filter;
    if (selection_filter(c, &filter) < 0)
        return -1;
    if (!p.entries && !p.taken && !p.skipped)
        fprintf(c->notes, "benchwrap: reference: no run is chosen by these options: %s\n", runs_explain_none(runs, &filter, c->arena));
    else if (!p.entries)
        fprintf(c->notes, "benchwrap: reference: nothing can be proposed from these %zu run%s; %s\n", p.taken, str_plural(p.taken),
                opt_on(&c->opts, OPTION_JSON) ? "the document has the reasons" : "the remarks have the reasons");
    return p.entries ? 0 : 1;
}

/* --from-reframe: prints a reference file with the references in ReFrame's reports and logs; no run
 * of benchwrap is read. Returns 0; 1: the files have no references; -1 with c->err. */
static int take_over(struct cmd_context *c, const struct opt_value *files)
{
    CLEANUP_BUF struct buf text;
    size_t n = 0;
    static const char *const others[] = {OPTION_FROM, OPTION_LAST, OPTION_IGNORE, OPTION_MIN_BAND, OPTION_ALL, OPTION_JSON};
    bool more = c->argc || selection_given(c);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        more |= opt_find(&c->opts, others[i])->origin == OPT_COMMAND_LINE;
    buf_init(&text, 64 << 20);
    if (more)
        return err_set(c->err, ERR_USAGE, "--from-reframe: expected no run and no other option");
    if (reference_from_reframe(files, c->arena, &text, &n, c->err))
        return -1;
    if (text.failed)
        return err_memory(c->err, "the proposal");
    fwrite(text.p ? text.p : "", 1, text.n, c->out);
    if (!n)
        fprintf(c->notes, "benchwrap: reference: ReFrame had no references in these files\n");
    return n ? 0 : 1;
}

static int reference_command(struct cmd_context *c)
{
    struct runs runs;
    const struct opt_value *reframe = opt_find(&c->opts, OPTION_FROM_REFRAME);
    if (reframe && reframe->text)
        return take_over(c, reframe);
    if (selection_open(&runs, c, c->err) < 0)
        return -1;
    int status = propose_references(c, &runs);
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    {.name = OPTION_FROM,
     .kind = OPT_LIST,
     .arg = "RUN,...",
     .group = "Selection",
     .help = "Use these runs (id, last, last~N); may be repeated, and may be left out before RUN"},
    {.name = OPTION_FROM_REFRAME,
     .kind = OPT_LIST,
     .arg = "FILE",
     .group = "Selection",
     .help = "Write the references that ReFrame applied, from its run report, performance log or posted records; may be repeated"},
    SELECTION_ROWS_FILTER,
    {.name = OPTION_LAST, .letter = 'l', .kind = OPT_INT, .arg = "N", .group = "Selection", .help = "Use only the newest N of these"},
    {.name = OPTION_IGNORE,
     .kind = OPT_LIST,
     .arg = "PARAM",
     .group = "Proposal",
     .help = "Ignore this param, or those of a pattern; may be repeated"},
    {.name = OPTION_MIN_BAND, .kind = OPT_TEXT, .arg = "FRACTION", .value = "2%", .group = "Proposal", .help = "Propose no narrower band"},
    {.name = OPTION_ALL,
     .letter = 'a',
     .kind = OPT_FLAG,
     .group = "Proposal",
     .help = "Use all metrics with a direction, not only the headline metrics of the rules"},
    CMD_ROW_JSON,
};

const struct cmd cmd_reference = {
    .name = "reference",
    .summary = "Propose expected values from earlier runs",
    .usage = "[OPTIONS] --from RUN,... | RUN... | -e NAME | --from-reframe FILE",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Writes a file for --reference: runs that FINISHED with the same benchmark, site, cluster, partition, node type and "
                   "inputs make an entry; each metric has the median of the runs as value and a band of three robust standard deviations "
                   "(1.4826 times the median absolute deviation), at least --min-band. Remarks name the runs.\n\n"
                   "Groups of fewer than five runs, and metrics whose band would be wider than half their value, are left out with a "
                   "remark. If a param that does not matter separates runs (a file name with a date in it), --ignore joins them.\n\n"
                   "With --from-reframe it writes the references and thresholds that ReFrame itself applied, as strict references: an "
                   "entry for each test, system, partition and environment, as the last record has them. The entries fit runs that "
                   "`import` makes from ReFrame's reports and logs.\n\n"
                   "The exit status is 1 when nothing can be proposed.",
    .examples = "$ benchwrap reference -e io --last 50 || true\n"
                "From the newest 50 runs of an experiment.\n"
                "$ benchwrap reference --from last~1,last --json || true\n"
                "The same from two runs, as JSON, with what was left out: two are too few.\n",
    .run = reference_command,
};
