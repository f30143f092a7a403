/* report_scaling.c: the section of a document on strong or weak scaling: speed-up and efficiency against the smallest number of units. */
#include "base/show.h"
#include "report/charts.h"
#include "report/report.h"
#include "report/scaling.h"

#include <math.h>
#include <string.h>

enum { NAMED_MOST = 16 };

struct scaling_section {
    struct doc *d;
    struct arena *a;
    struct runs *runs;
    struct tree_run *const *list;
    size_t n;
    const struct report_options *o;
    const char *fields[3];
    const char *named[NAMED_MOST];
};

static bool states_scaling(struct tree_run *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (runs_entry(list[i]->params, "scaling") || runs_entry(list[i]->tags, "scaling"))
            return true;
    return false;
}

/* Determines the facts that place the rows, and those that may differ. Returns -1 with err when
 * there is none to place them by. */
static int place_scaling(struct scaling_section *s, struct err *err)
{
    const char *axes[2] = {NULL, NULL};
    size_t used = 0;
    if (s->n == 1)
        plotted_sweep_axes(s->runs, s->list[0], s->a, axes);
    const char *x = s->o->over ? s->o->over : axes[0] ? axes[0] : scaling_axis(s->list, s->n, s->a);
    if (!x)
        return err_set(err, ERR_INPUT, "no number of nodes or tasks differs between the runs: name the param by --over");
    s->fields[0] = x;
    s->fields[1] = s->o->by ? s->o->by : axes[0] && strcmp(x, axes[0]) == 0 ? axes[1] : NULL;
    s->fields[2] = s->o->work;
    for (const char *const *fact = scaling_facts; *fact; fact++)
        s->named[used++] = *fact;
    for (size_t i = 0; i < 3; i++)
        if (s->fields[i]) {
            s->named[used++] = s->fields[i];
            s->named[used++] = arena_printf(s->a, "sweep.%s", s->fields[i]);
        }
    s->named[used] = NULL;
    return s->a->failed ? err_memory(err, "the report") : 0;
}

/* Writes one row for each point with values: median, speed-up and efficiency. All medians have the
 * unit of the largest one. Writes nothing when out of memory. */
static void put_scaling_table(const struct scaling_section *s, const struct plotted_rows *rows, const struct scaling *of)
{
    bool has_lines = of->count > 1 || of->lines[0].name;
    const char *unit = rows->metric[0].unit;
    struct doc_column *columns = arena_get(s->a, 6 * sizeof *columns);
    double greatest = 0;
    size_t count = 0;
    for (size_t g = 0; g < of->count; g++)
        for (size_t i = 0; i < of->points; i++)
            greatest = of->lines[g].points[i].n ? fmax(greatest, fabs(of->lines[g].points[i].median)) : greatest;
    double scale = show_scale(greatest, &unit);
    if (!columns)
        return;
    if (has_lines)
        columns[count++] = (struct doc_column){.heading = s->fields[1]};
    columns[count++] = (struct doc_column){.heading = s->fields[0], .is_number = true};
    columns[count++] = (struct doc_column){.heading = "values", .is_number = true};
    columns[count++] =
        (struct doc_column){.heading = charts_axis(&rows->metric[0]).label, .unit = plotted_unit(unit, s->a), .is_number = true};
    columns[count++] = (struct doc_column){.heading = "speed-up", .is_number = true};
    columns[count++] = (struct doc_column){.heading = "efficiency", .unit = "%", .is_number = true};
    struct doc_grid *t = doc_table(
        s->d, arena_printf(s->a, "%s scaling of %s", scaling_kind_name(of->kind), charts_axis(&rows->metric[0]).label), columns, count);
    for (size_t g = 0; g < of->count; g++)
        for (size_t i = 0; i < of->points; i++) {
            const struct scaling_point *p = &of->lines[g].points[i];
            if (!p->n)
                continue;
            if (has_lines)
                doc_cell_text(t, STYLE_PLAIN, of->lines[g].name);
            doc_cell_number(t, STYLE_PLAIN, p->x, p->text);
            doc_cell_number(t, STYLE_DIM, (double)p->n, arena_printf(s->a, "%zu", p->n));
            doc_cell_number(t, STYLE_PLAIN, p->median, report_value(p->median * scale, NULL, NULL, s->a));
            doc_cell_number(t, STYLE_PLAIN, p->speedup, report_value(p->speedup, NULL, NULL, s->a));
            doc_cell_number(t, STYLE_PLAIN, 100 * p->efficiency, arena_printf(s->a, "%.1f", 100 * p->efficiency));
        }
}

/* Writes the table and adds the charts of one metric. Returns -1 when refused, or out of memory. */
static int put_scaling_metric(const struct scaling_section *s, const char *metric, struct chart_list *charts, struct err *err)
{
    struct plotted_rows rows = {
        .runs = s->runs, .a = s->a, .expand = true, .metrics = 1, .metric[0].wanted = metric, .ignore = s->o->ignore};
    struct scaling of;
    const char *note = NULL;
    int status = 0;
    memcpy(rows.fields, s->fields, sizeof rows.fields);
    for (size_t i = 0; i < s->n && status == 0; i++)
        status = plotted_add(&rows, s->list[i], "runs", err);
    if (status == 0)
        status = plotted_check(&rows, s->named, true, &note, err);
    if (status == 0)
        status = plotted_check_axes(&rows, s->named, err);
    if (status == 0)
        status = scaling_read(&rows, &of, err);
    if (status == 0) {
        put_scaling_table(s, &rows, &of);
        doc_text(s->d, STYLE_DIM,
                 arena_printf(s->a, "%s. n0 is the smallest %s with a value%s; the values are medians.", of.formula, s->fields[0],
                              of.count > 1 ? " of the line" : ""));
        if (rows.failed || rows.lacking || rows.other_units)
            doc_text(s->d, STYLE_DIM,
                     arena_printf(s->a, "Left out: %zu that did not finish, %zu without a value, %zu in another unit.", rows.failed,
                                  rows.lacking, rows.other_units));
        status = charts_scaling(&rows, note, charts, err);
    }
    plotted_deinit(&rows);
    return status;
}

int report_scaling(struct doc *d, struct runs *runs, struct tree_run *const *list, size_t n, const char *const *metrics, size_t n_metrics,
                   const struct report_options *o, struct err *err)
{
    struct scaling_section s = {.d = d, .a = d->a, .runs = runs, .list = list, .n = n, .o = o};
    struct chart_list charts = {0};
    bool asked = o->over || o->work, any = false;
    struct err refused = {0};
    if (!asked && !states_scaling(list, n))
        return 0;
    doc_heading(d, "Scaling");
    int status = place_scaling(&s, &refused);
    if (status < 0)
        doc_text(d, STYLE_PLAIN, arena_printf(d->a, "No scaling: %s.", refused.text));
    for (size_t i = 0; i < n_metrics && status == 0; i++) {
        struct err own = {0};
        if (put_scaling_metric(&s, metrics[i], &charts, &own) == 0)
            any = true;
        else {
            doc_text(d, STYLE_PLAIN, arena_printf(d->a, "No scaling of %s: %s.", metrics[i], own.text));
            refused = refused.kind ? refused : own;
        }
    }
    for (size_t i = 0; i < charts.count; i++)
        doc_chart(d, &charts.list[i]);
    if (d->a->failed)
        return err_memory(err, "the report");
    if (asked && !any) {
        *err = refused;
        return -1;
    }
    return 0;
}
