/* pages_machine.c: the page of one node type: its hardware, and all results of it. */
#include "pages/pages_parts.h"

#include "base/json_out.h"
#include "base/stats.h"
#include "runs/fact_words.h"

#include <string.h>

enum { MACHINE_RUNS_SHOWN = 60, RESULTS_MAX = 300 };

/* Returns the value of a fact, which sets of runs of one machine often have at the same index. */
static const char *value_near(const struct page_facts *facts, const char *name, size_t place)
{
    return place < facts->count && strcmp(facts->list[place].name, name) == 0 ? facts->list[place].value : page_fact_value(facts, name);
}

/* Returns which facts of the newest run are facts of the node type: not those of which another of
 * its runs has another value, or that are an input. In the arena; NULL: out of memory. */
static bool *facts_of_machine(const struct page_group *machine, struct arena *a)
{
    const struct page_facts *of = machine->runs[0]->conditions, *seen = of, *inputs = NULL;
    bool *ret = arena_get(a, of->count + 1);
    for (size_t k = 0; ret && k < of->count; k++)
        ret[k] = true;
    for (size_t i = 0; ret && i < machine->count; i++) {
        const struct page_run *run = machine->runs[i];
        for (size_t k = 0; k < of->count && run->conditions != seen; k++) {
            const char *other = ret[k] ? value_near(run->conditions, of->list[k].name, k) : NULL;
            ret[k] = ret[k] && (!other || strcmp(other, of->list[k].value) == 0);
        }
        for (size_t k = 0; k < of->count && run->inputs != inputs; k++)
            ret[k] = ret[k] && !page_fact_value(run->inputs, of->list[k].name);
        seen = run->conditions;
        inputs = run->inputs;
    }
    return ret;
}

/* Writes the hardware facts that all runs of the machine share. Out of memory: the table has no
 * row. */
static void put_hardware(const struct page_group *machine, struct arena *a, struct buf *to)
{
    static const char *const starts[] = {"machine.", "cloud.", "cpu.", "cache.", "memory.", "numa.", "gpu.", "dimm.", "net."};
    static const struct html_column columns[] = {{"fact"}, {"value"}};
    const struct page_facts *of = machine->runs[0]->conditions;
    const bool *is_shared = facts_of_machine(machine, a);
    struct html_table t;
    buf_puts(to, "<h2>Hardware</h2>\n<p class=\"dim\">What its runs agree on. Their pages have the rest.</p>\n");
    html_table_begin(&t, to, columns, 2, "facts", "hardware");
    for (size_t i = 0; is_shared && i < of->count; i++)
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
            if (strncmp(of->list[i].name, starts[k], strlen(starts[k])) == 0 && is_shared[i]) {
                html_cell_text(&t, fact_words_and_key(of->list[i].name, a));
                html_cell_text(&t, of->list[i].value);
            }
    html_table_end(&t);
}

/* Appends "alpha, beta and 3 more", those of the newest runs first. */
static void put_result_sites(const struct page_group *g, struct buf *to)
{
    enum { NAMED = 3 };
    size_t more = 0, named = 0;
    for (size_t i = 0; i < g->count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = strcmp(g->runs[k]->site, g->runs[i]->site) != 0;
        if (is_new && named < NAMED)
            buf_printf(to, "%s%s", named++ ? ", " : "", page_site_text(g->runs[i]->site));
        else
            more += is_new;
    }
    if (more)
        buf_printf(to, " and %zu more", more);
}

/* Returns the measurement of a key; NULL: none of its runs counts. */
static const struct page_measurement *measurement_of(const struct page_book *book, const struct page_run *run)
{
    for (size_t i = 0; i < book->experiment_count; i++)
        if (strcmp(book->experiments[i].group.id, run->experiment) == 0)
            for (size_t k = 0; k < book->experiments[i].count; k++)
                if (strcmp(book->experiments[i].measurements[k].group.id, run->measurement) == 0)
                    return &book->experiments[i].measurements[k];
    return NULL;
}

/* Adds the row of one measurement on the machine: median, best value, number of runs, sites and
 * newest run. Without a value there is no row. */
static void put_result_row(struct html_table *t, const struct page_measurement *m, const struct page_group *g,
                           const struct page_value *metric, struct arena *a)
{
    CLEANUP_BUF struct buf cell, text;
    double *values;
    struct stats stats;
    size_t n = page_values_of(g->runs, g->count, metric, a, &values);
    buf_init(&cell, 1 << 16);
    buf_init(&text, 1 << 14);
    if (!n)
        return;
    stats_of(values, n, &stats);
    page_link_measurement(&cell, PAGE_UP, m, m->title);
    page_cell(t, NULL, &cell);
    buf_clear(&text);
    page_put_metric(&text, metric);
    html_cell_text(t, text.p);
    page_cell_quantity(t, stats.median, metric->unit);
    page_cell_quantity(t, strcmp(metric->better, "lower") == 0 ? stats.min : stats.max, metric->unit);
    buf_clear(&text);
    buf_printf(&text, "%zu", n);
    html_cell_number(t, (double)n, text.p);
    buf_clear(&text);
    put_result_sites(g, &text);
    html_cell_text(t, text.p);
    buf_clear(&cell);
    page_link_run(&cell, PAGE_UP, g->runs[0]);
    page_cell(t, NULL, &cell);
}

/* Appends up to RESULTS_MAX results of a machine as a table, how many more there are, and all to the
 * JSON document. -1 with err. */
static int put_machine_results(const struct page_book *book, const struct page_group *machine, struct buf *to, struct json_out *j,
                               struct err *err)
{
    static const struct html_column columns[] = {{"measurement"},      {"metric"}, {"median", NULL, true}, {"best run", NULL, true},
                                                 {"runs", NULL, true}, {"sites"},  {"newest (UTC)"}};
    struct page_groups groups;
    struct html_table t;
    if (page_groups_by(machine->runs, machine->count, page_by_measurement, book->a, &groups, err) < 0)
        return -1;
    buf_puts(to, "<h2>Results</h2>\n");
    html_table_begin(&t, to, columns, sizeof columns / sizeof *columns, "data", "results");
    json_open(j, "results", '[');
    for (size_t i = 0; i < groups.count; i++) {
        const struct page_measurement *m = measurement_of(book, groups.list[i].runs[0]);
        for (size_t k = 0; i < RESULTS_MAX && m && k < m->metric_count; k++)
            put_result_row(&t, m, &groups.list[i], &m->metrics[k], book->a);
        json_open_row(j, NULL, '{');
        json_text(j, "measured", groups.list[i].runs[0]->measured);
        json_text(j, "experiment", groups.list[i].runs[0]->experiment);
        json_uint(j, "runs", groups.list[i].count);
        json_close(j, '}');
    }
    json_close(j, ']');
    html_table_end(&t);
    if (groups.count > RESULTS_MAX) {
        size_t more = groups.count - RESULTS_MAX;
        buf_printf(to, "<p class=\"dim\">%zu more measurement%s: see the JSON.</p>\n", more, str_plural(more));
    }
    return 0;
}

int page_write_machine(const struct page_book *book, const struct page_group *machine, struct err *err)
{
    CLEANUP_BUF struct buf to, json, title;
    buf_init(&to, PAGE_MAX);
    buf_init(&json, PAGE_MAX);
    buf_init(&title, 4096);
    const struct page_run *newest = machine->runs[0];
    page_machine_text(&title, newest);
    const struct html_page page = {.title = title.n ? title.p : machine->id, .above = "All results", .above_path = "../index.html"};
    struct json_out j = json_begin(&json, JSON_BLOCK, '{');
    json_text(&j, "machine", machine->id);
    html_page_begin(&to, &page);
    buf_printf(&to, "<p class=\"answer\">%zu run%s. Node type <code>", machine->count, str_plural(machine->count));
    html_text(&to, str_of(machine->id), 100);
    buf_puts(&to, "</code>.</p>\n");
    if (put_machine_results(book, machine, &to, &j, err) < 0)
        return -1;
    put_hardware(machine, book->a, &to);
    buf_puts(&to, "<h2>Runs</h2>\n");
    if (machine->count > MACHINE_RUNS_SHOWN)
        buf_printf(&to, "<p class=\"dim\">The %d newest of %zu.</p>\n", MACHINE_RUNS_SHOWN, machine->count);
    page_put_runs(&to, PAGE_UP, machine->runs, machine->count < MACHINE_RUNS_SHOWN ? machine->count : MACHINE_RUNS_SHOWN, "runs", true);
    html_page_end(&to, &page, NULL);
    json_open(&j, "conditions", '{');
    for (size_t i = 0; i < newest->conditions->count; i++)
        json_text(&j, newest->conditions->list[i].name, newest->conditions->list[i].value);
    json_close(&j, '}');
    json_close(&j, '}');
    return page_put_both(book, "machine", machine->id, &to, &json, err);
}
