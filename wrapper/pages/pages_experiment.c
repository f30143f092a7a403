/* pages_experiment.c: the page of an experiment: its measurements, their history, its runs; older runs on pages of their own. */
#include "pages/pages_parts.h"

#include "base/json_out.h"

#include <string.h>

enum { MEASUREMENTS_MAX = 400, RUNS_SHOWN = 100, HISTORIES = 2 };

/* Adds the row of a measurement: the inputs in which the experiment's measurements differ, its
 * first metric, the best median, and how many sites and runs there are. */
static void put_measurement_row(struct html_table *t, const struct page_experiment *e, const struct page_measurement *m)
{
    CLEANUP_BUF struct buf cell, text;
    buf_init(&cell, 1 << 16);
    buf_init(&text, 1 << 14);
    const struct page_place *first = page_first_place(m);
    page_link_measurement(&cell, PAGE_UP, m, m->name);
    page_cell(t, NULL, &cell);
    for (size_t i = 0; i < e->differing_count && e->differing_count > 1; i++)
        html_cell_text(t, page_fact_value(m->group.runs[0]->inputs, e->differing[i]));
    buf_clear(&text);
    if (m->metric_count)
        page_put_metric(&text, &m->metrics[0]);
    html_cell_text(t, text.n ? text.p : NULL);
    if (first) {
        page_cell_quantity(t, first->median, m->metrics[0].unit);
        page_put_best_sites(t, m);
    } else {
        html_cell_text(t, NULL);
        html_cell_text(t, NULL);
    }
    buf_clear(&text);
    buf_printf(&text, "%zu", m->sites);
    html_cell_number(t, (double)m->sites, text.p);
    buf_clear(&text);
    buf_printf(&text, "%zu", m->group.count);
    html_cell_number(t, (double)m->group.count, text.p);
}

/* Writes the table of up to MEASUREMENTS_MAX measurements, or that no run has ended well. */
static void put_measurements(const struct page_experiment *e, struct buf *to)
{
    struct html_column columns[PAGE_COLUMNS + 6] = {{"measurement"}};
    struct html_table t;
    size_t n = 1;
    if (!e->count) {
        buf_puts(to, "<p>No run has ended well.</p>\n");
        return;
    }
    for (size_t i = 0; i < e->differing_count && e->differing_count > 1; i++) /* one is the name itself */
        columns[n++] = (struct html_column){.heading = e->differing[i]};
    columns[n++] = (struct html_column){.heading = "metric"};
    columns[n++] = (struct html_column){"best", "median", true};
    columns[n++] = (struct html_column){.heading = "site"};
    columns[n++] = (struct html_column){"sites", NULL, true};
    columns[n++] = (struct html_column){"runs", NULL, true};
    buf_puts(
        to,
        "<h2>Measurements</h2>\n<p class=\"dim\">Each row has other inputs, nodes or tasks. Results of different rows are not ranked against each other.</p>\n");
    html_table_begin(&t, to, columns, n, "data", "measurements");
    for (size_t i = 0; i < e->count && i < MEASUREMENTS_MAX; i++)
        put_measurement_row(&t, e, &e->measurements[i]);
    html_table_end(&t);
    if (e->count > MEASUREMENTS_MAX)
        buf_printf(to, "<p class=\"dim\">%zu more measurement%s: see the JSON.</p>\n", e->count - MEASUREMENTS_MAX,
                   str_plural(e->count - MEASUREMENTS_MAX));
}

/* Writes the history of the first metric for up to HISTORIES measurements with 2 runs or more. */
static void put_histories(const struct page_experiment *e, struct arena *a, struct buf *to)
{
    size_t shown = 0;
    for (size_t i = 0; i < e->count && shown < HISTORIES; i++) {
        const struct page_measurement *m = &e->measurements[i];
        if (!m->metric_count || m->group.count < 2)
            continue;
        if (shown++ == 0)
            buf_puts(to, "<h2>History</h2>\n");
        buf_puts(to, "<h3>");
        page_link_measurement(to, PAGE_UP, m, m->name);
        buf_puts(to, "</h3>\n");
        page_put_history(to, m->group.runs, m->group.count, &m->metrics[0], a);
    }
}

/* ---- lists of older runs: pages numbered from the oldest run on, so that a new run changes the last one alone ---- */

static void list_id(const struct page_experiment *e, size_t number, char ret[64])
{
    snprintf(ret, 64, "%.40s-%zu", e->group.runs[0]->experiment_id, number + 1);
}

/* Writes list `number` of the runs, RUNS_OF_LIST in each. List 0 has the oldest runs, so that lists
 * stay the same when runs are added. Returns -1 with err. */
static int write_run_list(const struct page_book *book, const struct page_experiment *e, size_t number, struct err *err)
{
    char path[PAGE_PATH], name[64];
    size_t end = e->group.count - number * RUNS_OF_LIST, n = end < RUNS_OF_LIST ? end : RUNS_OF_LIST;
    CLEANUP_BUF struct buf to, title;
    buf_init(&to, PAGE_MAX);
    buf_init(&title, 4096);
    buf_printf(&title, "%s: list %zu of runs", e->group.id, number + 1);
    struct html_page page = {.title = title.p, .above = e->group.id, .above_path = path, .has_charts = true};
    snprintf(path, sizeof path, "%.40s.html", e->group.runs[0]->experiment_id);
    html_page_begin(&to, &page);
    page_put_runs(&to, PAGE_UP, e->group.runs + (end - n), n, title.p, false);
    html_page_end(&to, &page, NULL);
    list_id(e, number, name);
    snprintf(path, sizeof path, "experiment/%s.html", name);
    return page_file_put_group(book->files, path, &to, err);
}

static void put_list_links(const struct page_experiment *e, size_t lists, struct buf *to)
{
    buf_puts(to, "<nav aria-label=\"All runs\"><ul>");
    for (size_t i = lists; i-- > 0;) {
        char name[64];
        list_id(e, i, name);
        buf_printf(to, "<li><a href=\"%s.html\">runs %zu to %zu</a></li>", name, i * RUNS_OF_LIST + 1,
                   (i + 1) * RUNS_OF_LIST < e->group.count ? (i + 1) * RUNS_OF_LIST : e->group.count);
    }
    buf_puts(to, "</ul></nav>\n");
}

/* ---- JSON ---- */

static void measurement_json(struct json_out *j, const struct page_measurement *m)
{
    char path[PAGE_PATH];
    page_path_of("measurement", m->group.id, ".json", path);
    json_open(j, NULL, '{');
    json_text(j, "measured", m->group.runs[0]->measured);
    json_text(j, "name", m->name);
    json_text(j, "details", path);
    json_uint(j, "runs", m->group.count);
    json_open(j, "inputs", '{');
    for (size_t i = 0; i < m->group.runs[0]->inputs->count; i++)
        json_text(j, m->group.runs[0]->inputs->list[i].name, m->group.runs[0]->inputs->list[i].value);
    json_close(j, '}');
    json_close(j, '}');
}

static void experiment_json(const struct page_experiment *e, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_text(&j, "experiment", e->group.id);
    json_open(&j, "measurements", '[');
    for (size_t i = 0; i < e->count; i++)
        measurement_json(&j, &e->measurements[i]);
    json_close(&j, ']');
    json_open(&j, "runs", '[');
    for (size_t i = 0; i < e->group.count; i++) {
        const struct page_run *run = e->group.runs[i];
        json_open_row(&j, NULL, '{');
        json_text(&j, "run", run->id);
        json_text(&j, "name", run->name);
        json_int(&j, "start_time", run->start_ms);
        json_text(&j, "site", run->site);
        json_text(&j, "state", page_state_text(run));
        json_text(&j, "stale", *run->stale ? run->stale : NULL);
        json_text(&j, "measured", run->measured);
        json_text(&j, "system", run->system);
        for (size_t k = 0; k < run->value_count; k++)
            json_double(&j, run->values[k].key, run->values[k].value);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

int page_write_experiment(const struct page_book *book, const struct page_experiment *e, struct err *err)
{
    size_t n = e->group.count, shown = n < RUNS_SHOWN ? n : RUNS_SHOWN, lists = n > RUNS_SHOWN ? (n + RUNS_OF_LIST - 1) / RUNS_OF_LIST : 0;
    CLEANUP_BUF struct buf to, json;
    buf_init(&to, PAGE_MAX);
    buf_init(&json, PAGE_MAX);
    const struct html_page page = {.title = e->group.id, .above = "All results", .above_path = "../index.html", .has_charts = true};
    html_page_begin(&to, &page);
    buf_printf(&to, "<p class=\"answer\">%zu run%s, %zu measurement%s. <a href=\"", n, str_plural(n), e->count, str_plural(e->count));
    html_path(&to, e->group.runs[0]->experiment_id);
    buf_puts(&to, ".json\">JSON</a></p>\n");
    put_measurements(e, &to);
    put_histories(e, book->a, &to);
    buf_puts(&to, "<h2>Runs</h2>\n");
    if (lists) {
        buf_printf(&to, "<p class=\"dim\">The %zu newest of %zu runs.</p>\n", shown, n);
        put_list_links(e, lists, &to);
    }
    page_put_runs(&to, PAGE_UP, e->group.runs, shown, "runs", false);
    html_page_end(&to, &page, NULL);
    experiment_json(e, &json);
    for (size_t i = 0; i < lists; i++)
        if (write_run_list(book, e, i, err) < 0)
            return -1;
    return page_put_both(book, "experiment", e->group.runs[0]->experiment_id, &to, &json, err);
}
