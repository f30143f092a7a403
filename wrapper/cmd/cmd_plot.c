/* cmd_plot.c: `benchwrap plot`: values of runs as a picture, on the terminal or as SVG. */
#include "base/fs.h"
#include "plot/chart_svg.h"
#include "plot/chart_text.h"
#include "report/charts.h"
#include "report/scaling.h"
#include "cmd/chosen_runs.h"
#include "cmd/selection.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

enum { PLOT_MAX = 64 << 20, PLOT_LAST = 500, PLOT_NAMED = 32 };

enum plot_kind {
    PLOT_AUTO,
    PLOT_HISTORY,
    PLOT_GROUPS,
    PLOT_SWEEP,
    PLOT_SCALING,
    PLOT_LATENCY,
    PLOT_HEATMAP,
    PLOT_PARETO,
    PLOT_SAMPLES,
    PLOT_NODES
};
static const char *const kinds[] = {[PLOT_HISTORY] = "history", [PLOT_GROUPS] = "groups",   [PLOT_SWEEP] = "sweep",
                                    [PLOT_SCALING] = "scaling", [PLOT_LATENCY] = "latency", [PLOT_HEATMAP] = "heatmap",
                                    [PLOT_PARETO] = "pareto",   [PLOT_SAMPLES] = "samples", [PLOT_NODES] = "nodes"};

struct plot_state {
    struct cmd_context *c;
    struct runs runs;
    enum plot_kind kind;
    char **operands;
    int count;
    struct chosen_runs chosen;
    struct plotted_rows rows;
    const char *named[PLOT_NAMED];
    size_t named_count;
    struct chart_list charts;
};

static enum plot_kind plot_kind_find(const char *word)
{
    for (size_t i = 1; word && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], word) == 0)
            return (enum plot_kind)i;
    return PLOT_AUTO;
}

/* Adds a fact that the user names: runs may differ in it. */
static void plot_name(struct plot_state *s, const char *fact)
{
    if (fact && s->named_count + 1 < PLOT_NAMED)
        s->named[s->named_count++] = fact;
}

/* ---- what is plotted ---- */

/* Returns the kind of plot that the options and the chosen runs suggest where --kind is not
 * given. */
static enum plot_kind plot_default_kind(const struct plot_state *s, const char *const axes[2])
{
    const struct opt_set *opts = &s->c->opts;
    const struct opt_value *metrics = opt_find(opts, OPTION_METRIC);
    if (metrics->text && metrics->next)
        return PLOT_PARETO;
    if (opt_text(opts, OPTION_WORK))
        return PLOT_SCALING;
    if (opt_find(opts, OPTION_OVER)->text)
        return opt_find(opts, OPTION_OVER)->next ? PLOT_HEATMAP : PLOT_SWEEP;
    if (s->count == 1 && s->chosen.n == 1)
        return axes[0] ? PLOT_SWEEP : runs_entry(s->chosen.list[0]->tags, "benchwrap.series") ? PLOT_GROUPS : PLOT_SAMPLES;
    return s->count || opt_text(opts, OPTION_BY) ? PLOT_GROUPS : PLOT_HISTORY;
}

/* Sets the facts that place the rows, by the kind of plot, in s->rows; they may differ between the
 * runs. 0; -1 with the command's error: the kind requires more options. */
static int plot_place(struct plot_state *s)
{
    struct cmd_context *c = s->c;
    struct plotted_rows *p = &s->rows;
    const struct opt_value *over = opt_find(&c->opts, OPTION_OVER);
    const char *axes[2] = {NULL, NULL}, *x = over->text, *y = x && over->next ? over->next->text : NULL,
               *by = opt_text(&c->opts, OPTION_BY);
    if (s->chosen.n)
        plotted_sweep_axes(&s->runs, s->chosen.list[0], c->arena, axes);
    if (s->kind == PLOT_AUTO)
        s->kind = plot_default_kind(s, axes);
    const struct opt_value *metric = opt_find(&c->opts, OPTION_METRIC);
    for (const struct opt_value *v = metric; v && v->text && p->metrics < PLOTTED_METRICS; v = v->next)
        p->metric[p->metrics++].wanted = v->text;
    p->metrics = p->metrics ? p->metrics : 1;
    bool curves = s->kind == PLOT_SWEEP || s->kind == PLOT_SCALING || s->kind == PLOT_HEATMAP || s->kind == PLOT_PARETO;
    p->expand = s->kind != PLOT_HISTORY;
    if (curves) {
        x = x ? x : axes[0];
        if (s->kind == PLOT_HEATMAP)
            y = y ? y : axes[1];
        else if (s->kind != PLOT_PARETO)
            by = by ? by : x && axes[0] && strcmp(x, axes[0]) == 0 ? axes[1] : NULL;
    }
    if (s->kind == PLOT_SCALING) {
        x = x ? x : scaling_axis(s->chosen.list, s->chosen.n, c->arena);
        y = opt_text(&c->opts, OPTION_WORK);
        for (const char *const *fact = scaling_facts; *fact; fact++)
            plot_name(s, *fact);
        if (!x)
            return err_set(c->err, ERR_INPUT,
                           "cannot choose the x axis from the runs' numbers of nodes, tasks or processors: name a param by --over KEY");
    }
    if (s->kind == PLOT_HEATMAP && (!x || !y))
        return err_set(c->err, ERR_USAGE, "a heat map needs two params: --over KEY --over KEY");
    if (s->kind == PLOT_PARETO && p->metrics < 2)
        return err_set(c->err, ERR_USAGE, "a Pareto front needs two metrics: --metric KEY --metric KEY");
    p->fields[0] = x;
    p->fields[1] = by;
    p->fields[2] = y;
    for (size_t i = 0; i < 3; i++) {
        const char *option = i == 1 ? OPTION_BY : i == 2 && s->kind == PLOT_SCALING ? OPTION_WORK : OPTION_OVER;
        p->fields[i] = chosen_key(c, &s->runs, s->chosen.list, s->chosen.n, option, p->fields[i]);
        plot_name(s, p->fields[i]);
        if (p->fields[i])
            plot_name(s, arena_printf(c->arena, "sweep.%s", p->fields[i]));
    }
    return 0;
}

/* A metric that no run has is a mistake: the error names the nearest one. */
static int plot_check_metrics(struct plot_state *s)
{
    const struct plotted_rows *p = &s->rows;
    if (s->kind == PLOT_LATENCY || (s->kind == PLOT_SWEEP && !p->fields[0]))
        return 0; /* they find the metric on their own */
    for (size_t i = 0; i < p->metrics; i++) {
        if (p->metric[i].key || !p->metric[i].wanted || !p->count)
            continue;
        const char *nearest = plotted_nearest_metric(s->chosen.list, s->chosen.n, p->metric[i].wanted, s->c->arena);
        err_set(s->c->err, ERR_INPUT, "no run has a value of the metric \"%.60s\"", p->metric[i].wanted);
        return nearest ? err_hint(s->c->err, "the nearest name is %.100s", nearest) : -1;
    }
    return 0;
}

/* A chart for each metric, one below the other. */
static int plot_samples(struct plot_state *s)
{
    const struct opt_value *v = opt_find(&s->c->opts, OPTION_METRIC);
    do {
        if (charts_samples(&s->runs, s->chosen.list[0], v->text, s->c->arena, &s->charts, s->c->err) < 0)
            return -1;
        v = v->next;
    } while (v);
    return 0;
}

/* Makes the charts of the chosen kind in s->charts from the chosen runs. 0; -1 with the command's
 * error. */
static int plot_draw(struct plot_state *s)
{
    struct plotted_rows *p = &s->rows;
    struct err *err = s->c->err;
    const char *note = NULL, *wanted = p->metric[0].wanted;
    double reference[2];
    if (s->kind == PLOT_SAMPLES || s->kind == PLOT_NODES) {
        if (s->chosen.n != 1)
            return err_set(err, ERR_USAGE, "expected one run, got %zu: benchwrap plot %s RUN", s->chosen.n, kinds[s->kind]);
        if (s->kind == PLOT_SAMPLES)
            return plot_samples(s);
        return charts_nodes(&s->runs, s->chosen.list[0], wanted, s->c->arena, &s->charts, err);
    }
    for (size_t i = 0; i < s->chosen.n; i++)
        if (plotted_add(p, s->chosen.list[i], s->chosen.groups[i], err) < 0)
            return -1;
    if (plot_check_metrics(s) < 0)
        return -1;
    if (s->kind == PLOT_HISTORY) {
        if (plotted_restrict(p, s->named, err) < 0 || plotted_check(p, s->named, true, &note, err) < 0)
            return -1;
        charts_reference(p, reference);
        return charts_history(p, reference, note, &s->charts, err);
    }
    bool places_all = s->kind == PLOT_PARETO || s->kind == PLOT_GROUPS;
    if (plotted_check(p, s->named, true, &note, err) < 0 || (!places_all && plotted_check_axes(p, s->named, err) < 0))
        return -1;
    switch (s->kind) {
    case PLOT_SWEEP:
        return p->fields[0] ? charts_sweep(p, note, &s->charts, err)
                            : charts_steps(&s->runs, s->chosen.list, s->chosen.n, NULL, wanted, s->c->arena, &s->charts, err);
    case PLOT_SCALING: return charts_scaling(p, note, &s->charts, err);
    case PLOT_LATENCY: return charts_latency(&s->runs, s->chosen.list, s->chosen.n, NULL, wanted, s->c->arena, &s->charts, err);
    case PLOT_HEATMAP: return charts_heatmap(p, note, &s->charts, err);
    case PLOT_PARETO: return charts_pareto(p, note, &s->charts, err);
    default: return charts_groups(p, note, &s->charts, err);
    }
}

/* ---- output ---- */

/* Prints the charts on the terminal, or as SVG or text into --output. -1 with c->err. */
static int plot_print(struct plot_state *s)
{
    struct cmd_context *c = s->c;
    const char *path = opt_text(&c->opts, OPTION_OUTPUT), *format = opt_text(&c->opts, OPTION_FORMAT);
    bool svg = format ? strcmp(format, "svg") == 0 : path != NULL;
    struct screen screen = screen_of_file(c->out);
    CLEANUP_BUF struct buf to;
    buf_init(&to, PLOT_MAX);
    if (path)
        screen = (struct screen){.width = SIZE_MAX};
    if (svg)
        chart_svg_list(&to, s->charts.list, s->charts.count);
    for (size_t i = 0; !svg && i < s->charts.count; i++) {
        buf_puts(&to, i ? "\n" : "");
        chart_text(&to, &s->charts.list[i], &screen);
    }
    if (to.failed)
        return err_memory(c->err, "the plot");
    if (path)
        return fs_write(AT_FDCWD, path, buf_text(&to), 0644, false, c->err);
    fwrite(to.p, 1, to.n, c->out);
    return 0;
}

/* Chooses the runs, draws and prints the charts. Returns 0; 1: damaged runs were left out; -1 with
 * the command's error. */
static int plot_opened(struct plot_state *s)
{
    s->rows = (struct plotted_rows){.runs = &s->runs, .a = s->c->arena, .ignore = opt_find(&s->c->opts, OPTION_IGNORE)};
    int status = s->count ? chosen_operands(s->c, &s->runs, s->operands, s->count, &s->chosen)
                          : chosen_filtered(s->c, &s->runs, PLOT_LAST, &s->chosen);
    if (status == 0)
        status = plot_place(s);
    if (status == 0)
        status = plot_draw(s);
    if (status == 0)
        status = plot_print(s);
    plotted_deinit(&s->rows);
    if (status == 0 && s->rows.unread) {
        fprintf(s->c->notes, "benchwrap: plot: %zu damaged run%s; \"benchwrap show\" states what is damaged\n", s->rows.unread,
                str_plural(s->rows.unread));
        status = 1;
    }
    return status;
}

static int plot_command(struct cmd_context *c)
{
    struct plot_state s = {.c = c, .kind = plot_kind_find(c->argc ? c->argv[0] : NULL)};
    int skip = s.kind != PLOT_AUTO;
    s.operands = c->argv + skip;
    s.count = c->argc - skip;
    if (selection_open_for(&s.runs, c, s.operands, s.count, c->err) < 0)
        return -1;
    int status = plot_opened(&s);
    runs_close(&s.runs);
    return status;
}

static const struct opt_row rows[] = {
    {.name = OPTION_METRIC,
     .letter = 'm',
     .kind = OPT_LIST,
     .arg = "KEY",
     .group = "Values",
     .help = "Plot this metric, with or without its unit (default: the first headline metric); pareto needs two, samples draws each"},
    {.name = OPTION_OVER,
     .letter = 'x',
     .kind = OPT_LIST,
     .arg = "KEY",
     .group = "Values",
     .help = "Place values by this param or tag (default: the swept one; for scaling the nodes or tasks); a heat map has two"},
    {.name = OPTION_BY,
     .letter = 'b',
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Values",
     .help = "Make one group or line for each value of this param or tag"},
    {.name = OPTION_WORK,
     .kind = OPT_TEXT,
     .arg = "KEY",
     .group = "Values",
     .help = "For scaling: the param with the total work, which shows whether scaling is strong or weak"},
    {.name = OPTION_IGNORE,
     .kind = OPT_LIST,
     .arg = "KEY",
     .group = "Values",
     .help = "Plot together also runs in which this input (or those of a pattern) differs; may be repeated"},
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_LAST, .letter = 'l', .kind = OPT_INT, .arg = "N", .group = "Selection", .help = "Use the N newest runs (default: 500)"},
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Output",
     .help = "Write SVG to this file (default: print the plot in characters)"},
    {.name = OPTION_FORMAT,
     .kind = OPT_CHOICE,
     .arg = "svg|text",
     .group = "Output",
     .help = "Write this form (default: svg for a file, else text)"},
};

const struct cmd cmd_plot = {
    .name = "plot",
    .summary = "Plot runs on the terminal or as SVG",
    .usage = "[KIND] [OPTIONS] [RUN... | A,B vs C,D]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Plots a metric of the runs that are named, or that the options choose. KIND is one of:\n\n"
        "  history   values over time, with the expected range and the change points\n"
        "  groups    a box for each group of runs\n"
        "  sweep     a curve over a swept param, or over the steps of a metric\n"
        "  scaling   strong or weak scaling, with the ideal line and the efficiency\n"
        "  heatmap   colours over two swept params\n"
        "  pareto    two metrics, with the points that no other one beats in both\n"
        "  latency   the distribution of a latency, up to its tail\n"
        "  samples   the samples of one run over time\n"
        "  nodes     a value for each node of one run; names those that stand out\n\n"
        "Without KIND the options and runs decide: --over makes a sweep, two of them a heat map, two metrics a Pareto front, --by or several runs groups, one run its samples, "
        "and else it is a history.\n\n"
        "Runs share an axis only if their comparison key is the same: what was measured, and the system. A param that is named by --over, --by or --ignore may differ. "
        "A history leaves out runs of another key than the newest one, and states how many; the other kinds refuse them and name what differs. "
        "Runs that did not finish and values that are missing are left out and counted, and no line joins the values next to a gap.\n\n"
        "Scaling needs to know its kind: the param or tag \"scaling\" of all runs is strong (fixed total work) or weak (fixed work for each unit of --over), or --work "
        "names the param that holds the total work. The plot prints the formula of the efficiency.\n\n"
        "SVG follows the reader's light or dark theme, and its colours, marks and dashes differ also in grey and for colour-blind readers.",
    .examples = "$ benchwrap plot -e io\n"
                "The history of an experiment.\n"
                "$ benchwrap plot -e io -o history.svg\n"
                "The same as a picture.\n"
                "  benchwrap plot --by fs.type -e io\n"
                "  benchwrap plot sweep --over bs --by mode -e fio --metric write.bw\n"
                "  benchwrap plot scaling --work cells -e solver -o scaling.svg\n"
                "  benchwrap plot samples last --metric memory.used\n",
    .run = plot_command,
};
