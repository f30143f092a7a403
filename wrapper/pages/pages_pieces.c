/* pages_pieces.c: links, cells and tables that the pages share. */
#include "pages/pages_parts.h"

#include "base/show.h"
#include "plot/chart_svg.h"
#include "runs/row_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

const char *page_site_text(const char *site)
{
    return *site ? site : "no site";
}

void page_put_quantity(struct buf *to, double value, const char *unit)
{
    double scale = show_scale(value, &unit);
    show_value(to, value * scale);
    if (unit && *unit) {
        buf_putc(to, ' ');
        show_unit(to, unit);
    }
}

void page_put_metric(struct buf *to, const struct page_value *metric)
{
    show_metric(to, metric->key, *metric->unit ? metric->unit : NULL);
}

const char *page_state_text(const struct page_run *run)
{
    return *run->problem ? "damaged" : *run->verdict ? run->verdict : strcmp(run->status, "FINISHED") == 0 ? "finished" : run->status;
}

void page_put_state(struct buf *to, const struct page_run *run)
{
    const char *state = page_state_text(run);
    bool good = strcmp(state, "pass") == 0, plain = strcmp(state, "finished") == 0 || strcmp(state, "RUNNING") == 0;
    buf_printf(to, "<span class=\"state%s\">", good ? " good" : plain ? "" : " bad");
    html_text(to, str_of(state), 40);
    buf_puts(to, "</span>");
    if (*run->stale) {
        buf_puts(to, " <span class=\"state bad\" title=\"");
        html_text(to, str_of(run->stale), 200);
        buf_puts(to, "\">stale</span>");
    }
    if (*run->noisy) {
        buf_puts(to, " <span class=\"state bad\" title=\"");
        html_text(to, str_of(run->noisy), 200);
        buf_puts(to, "\">disturbed</span>");
    }
}

void page_machine_text(struct buf *to, const struct page_run *run)
{
    const char *model = page_fact_value(run->conditions, "cpu.model"), *cores = page_fact_value(run->conditions, "cpu.cores"),
               *gpu = page_fact_value(run->conditions, "gpu.model"), *gpus = page_fact_value(run->conditions, "gpu.count"),
               *memory = page_fact_value(run->conditions, "memory.total_GiB");
    buf_puts(to, model ? model : "");
    if (cores)
        buf_printf(to, "%s%s core%s", to->n ? ", " : "", cores, strcmp(cores, "1") == 0 ? "" : "s");
    if (memory)
        buf_printf(to, "%s%s GiB", to->n ? ", " : "", memory);
    if (gpu)
        buf_printf(to, "%s%s%s%s", to->n ? ", " : "", gpus ? gpus : "", gpus ? " x " : "", gpu);
}

/* ---- links ---- */

static void put_link(struct buf *to, const char *up, const char *path, const char *text)
{
    char full[PAGE_PATH + 16];
    snprintf(full, sizeof full, "%s%s", up, path);
    html_link(to, full, text);
}

void page_link_run(struct buf *to, const char *up, const struct page_run *run)
{
    char path[PAGE_PATH];
    CLEANUP_BUF struct buf when;
    buf_init(&when, 100);
    show_time_utc(&when, run->start_ms);
    if (when.n > 16) { /* to the minute */
        when.p[10] = ' ';
        when.p[16] = 0;
    }
    page_path_run(run->id, ".html", path);
    put_link(to, up, path, run->start_ms ? when.p : "no time");
}

void page_link_experiment(struct buf *to, const char *up, const struct page_run *run, const char *text)
{
    char path[PAGE_PATH];
    page_path_of("experiment", run->experiment_id, ".html", path);
    put_link(to, up, path, text);
}

void page_link_measurement(struct buf *to, const char *up, const struct page_measurement *m, const char *text)
{
    char path[PAGE_PATH];
    page_path_of("measurement", m->group.id, ".html", path);
    put_link(to, up, path, text);
}

void page_link_machine(struct buf *to, const char *up, const struct page_run *run)
{
    char path[PAGE_PATH];
    CLEANUP_BUF struct buf text;
    buf_init(&text, 4096);
    page_machine_text(&text, run);
    if (!*run->machine) {
        html_text(to, text.n ? buf_text(&text) : STR("not recorded"), 200);
        return;
    }
    page_path_of("machine", run->machine, ".html", path);
    put_link(to, up, path, text.n ? text.p : run->machine);
}

/* ---- cells ---- */

void page_cell(struct html_table *t, const char *key, const struct buf *markup)
{
    html_cell_markup(t, key, buf_text(markup));
}

void page_cell_quantity(struct html_table *t, double value, const char *unit)
{
    CLEANUP_BUF struct buf shown;
    buf_init(&shown, 200);
    if (!isnan(value))
        page_put_quantity(&shown, value, unit);
    html_cell_number(t, value, shown.p ? shown.p : "");
}

/* ---- the first place ---- */

const struct page_place *page_first_place(const struct page_measurement *m)
{
    const struct page_board *b = m->boards && m->versions.count ? &m->boards[0] : NULL;
    return b && b->count && b->places[0].system ? &b->places[0] : NULL;
}

/* Appends "alpha", or "alpha = beta" for sites that share the first place. */
static void put_first_sites(const struct page_board *b, struct buf *to)
{
    enum { NAMED = 4 };
    size_t n = 0;
    for (size_t i = 0; i < b->count && b->places[i].system && (i == 0 || b->places[i].rank == 1); i++)
        if (n++ < NAMED)
            buf_printf(to, "%s%s", i ? " = " : "", page_site_text(b->places[i].site));
    if (n > NAMED)
        buf_printf(to, " = %zu more", n - NAMED);
}

void page_put_disturbed(struct buf *to, const struct page_place *p)
{
    if (p->disturbed)
        buf_printf(to, "%zu of %zu run%s disturbed", p->disturbed, p->count, str_plural(p->count));
    if (p->disturbed && p->unjudged)
        buf_printf(to, ", %zu not judged", p->unjudged);
    else if (p->unjudged)
        buf_printf(to, "%zu of %zu run%s not judged for disturbances", p->unjudged, p->count, str_plural(p->count));
}

void page_put_best_sites(struct html_table *t, const struct page_measurement *m)
{
    const struct page_place *p = page_first_place(m);
    CLEANUP_BUF struct buf cell, text;
    buf_init(&cell, 1 << 16);
    buf_init(&text, 1 << 14);
    if (m->boards[0].is_ranked || m->sites == 1)
        put_first_sites(&m->boards[0], &text);
    else
        buf_puts(&text, "no direction: not ranked");
    html_text(&cell, buf_text(&text), 500);
    if (p->disturbed || p->unjudged) {
        buf_printf(&cell, " <span class=\"state%s\" title=\"", p->disturbed ? " bad" : "");
        html_text(&cell, str_of(p->disturbed ? p->noisy : p->unjudged_why), 200);
        buf_puts(&cell, "\">");
        page_put_disturbed(&cell, p);
        buf_puts(&cell, "</span>");
    }
    page_cell(t, NULL, &cell);
}

/* ---- tables of runs ---- */

/* Returns a run's name that a user has set. "": benchwrap made it from benchmark and time, which
 * are in other columns. */
static const char *given_name(const struct page_run *run)
{
    const char *benchmark = page_fact_value(run->inputs, "benchmark");
    return row_words_made_name(run->name, benchmark ? benchmark : run->experiment) || row_words_made_name(run->name, run->experiment)
               ? ""
               : run->name;
}

/* Adds the row of a run, sorted by its start, with state and up to 2 values. experiments, names:
 * the table has these columns. */
static void put_run_row(struct html_table *t, const char *up, const struct page_run *run, bool experiments, bool names)
{
    CLEANUP_BUF struct buf cell, values, key;
    buf_init(&cell, 1 << 16);
    buf_init(&values, 1 << 14);
    buf_init(&key, 64);
    buf_printf(&key, "%020lld", (long long)run->start_ms);
    page_link_run(&cell, up, run);
    page_cell(t, key.p, &cell);
    buf_clear(&cell);
    if (experiments) {
        page_link_experiment(&cell, up, run, run->experiment);
        page_cell(t, NULL, &cell);
    }
    if (names)
        html_cell_text(t, given_name(run));
    html_cell_text(t, *run->site ? run->site : NULL);
    buf_clear(&cell);
    page_put_state(&cell, run);
    page_cell(t, NULL, &cell);
    for (size_t k = 0; k < run->value_count && k < 2; k++) {
        buf_puts(&values, k ? ", " : "");
        page_put_metric(&values, &run->values[k]);
        buf_putc(&values, ' ');
        page_put_quantity(&values, run->values[k].value, run->values[k].unit);
    }
    html_cell_text(t, values.n ? values.p : NULL);
}

void page_put_runs(struct buf *to, const char *up, const struct page_run *const *runs, size_t n, const char *caption, bool experiments)
{
    struct html_column columns[6] = {{.heading = "start (UTC)"}};
    struct html_table t;
    bool names = false;
    size_t count = 1;
    for (size_t i = 0; i < n; i++)
        names = names || *given_name(runs[i]);
    if (experiments)
        columns[count++].heading = "experiment";
    if (names)
        columns[count++].heading = "name";
    columns[count++].heading = "site";
    columns[count++].heading = "result";
    columns[count++].heading = "values";
    html_table_begin(&t, to, columns, count, "data", caption);
    for (size_t i = 0; i < n; i++)
        put_run_row(&t, up, runs[i], experiments, names);
    html_table_end(&t);
}

/* ---- history ---- */

enum { HISTORY_SITES = 8, HISTORY_RUNS = 1000 };

/* Makes the series of one site's values over time, oldest first, in the arena. Returns false when
 * out of memory. */
static bool history_series(struct chart_series *series, const struct page_run *const *runs, size_t n, const char *site,
                           const struct page_value *metric, struct arena *a)
{
    double *x = arena_get(a, (n + 1) * sizeof *x), *y = arena_get(a, (n + 1) * sizeof *y);
    *series = (struct chart_series){.name = page_site_text(site), .mark = CHART_POINTS, .x = x, .y = y};
    for (size_t i = n; x && y && i-- > 0;) {
        const struct page_value *v = strcmp(site, runs[i]->site) == 0 ? page_run_value(runs[i], metric) : NULL;
        if (!v || !isfinite(v->value))
            continue;
        x[series->n] = (double)runs[i]->start_ms;
        y[series->n++] = v->value;
    }
    return x && y;
}

void page_put_history(struct buf *to, const struct page_run *const *runs, size_t n, const struct page_value *metric, struct arena *a)
{
    struct chart_series series[HISTORY_SITES];
    const char *names[HISTORY_SITES];
    size_t sites = 0, total = 0, all = n;
    if (n > HISTORY_RUNS)
        n = HISTORY_RUNS;
    for (size_t i = 0; i < n; i++) {
        size_t s = 0;
        while (s < sites && strcmp(names[s], runs[i]->site) != 0)
            s++;
        if (s == sites && sites < HISTORY_SITES)
            names[sites++] = runs[i]->site;
    }
    for (size_t s = 0; s < sites; total += series[s++].n)
        if (!history_series(&series[s], runs, n, names[s], metric, a))
            return;
    if (total < 2)
        return;
    CLEANUP_BUF struct buf label, unit, why;
    buf_init(&label, 1000);
    buf_init(&unit, 100);
    buf_init(&why, 200);
    page_put_metric(&label, metric);
    show_unit(&unit, metric->unit);
    if (all > n)
        buf_printf(&why, "%zu older", all - n);
    if (n > total)
        buf_printf(&why, "%s%zu without a value, or of a site beyond the first %d", why.n ? ", " : "", n - total, HISTORY_SITES);
    const struct chart chart = {.title = label.p,
                                .x = {.label = "start of the run, UTC", .time = true},
                                .y = {.label = label.p,
                                      .unit = unit.p,
                                      .better = strcmp(metric->better, "higher") == 0  ? CHART_HIGHER
                                                : strcmp(metric->better, "lower") == 0 ? CHART_LOWER
                                                                                       : CHART_NEITHER},
                                .series = series,
                                .count = sites,
                                .left_out = all - total,
                                .left_why = why.n ? why.p : NULL};
    buf_puts(to, "<figure>\n");
    chart_svg_inline(to, &chart);
    buf_puts(to, "</figure>\n");
}

int page_put_both(const struct page_book *book, const char *folder, const char *id, const struct buf *html, const struct buf *json,
                  struct err *err)
{
    char path[PAGE_PATH];
    page_path_of(folder, id, ".html", path);
    if (page_file_put_group(book->files, path, html, err) < 0)
        return -1;
    page_path_of(folder, id, ".json", path);
    return page_file_put_group(book->files, path, json, err);
}
