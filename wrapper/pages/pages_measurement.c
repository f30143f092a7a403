/* pages_measurement.c: the page of one measurement: a leaderboard of sites for each metric, and what differs between the sites. */
#include "pages/pages_parts.h"

#include "base/json_out.h"
#include "base/show.h"
#include "base/stats.h"
#include "runs/fact_words.h"
#include "runs/run_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_COMPARED = 12, DIFFERENCES_MAX = 120 };

/* ---- the leaderboard ---- */

static void put_ratio(struct html_table *t, const struct page_board *b, const struct page_place *p)
{
    CLEANUP_BUF struct buf text;
    double best = b->places[0].median, ratio = p->median / best;
    buf_init(&text, 100);
    if (p == &b->places[0]) {
        html_cell_text(t, "");
        return;
    }
    if (best > 0 && p->median > 0)
        show_change(&text, ratio);
    html_cell_number(t, text.n ? ratio : NAN, text.p ? text.p : "");
}

/* Adds the row of a site without a value, and states why. */
static void put_missing_place(struct html_table *t, const struct page_board *b, const struct page_place *p)
{
    CLEANUP_BUF struct buf cell, why;
    buf_init(&cell, 1 << 16);
    buf_init(&why, 1000);
    if (b->is_ranked)
        html_cell_text(t, NULL);
    html_cell_text(t, page_site_text(p->site));
    page_link_machine(&cell, PAGE_UP, p->newest);
    page_cell(t, NULL, &cell);
    if (p->failed)
        buf_printf(&why, "no value: %zu run%s failed", p->failed, str_plural(p->failed));
    else
        buf_puts(&why, "no value of this version and metric");
    html_cell_text(t, why.p);
    for (int i = 0; i < 6; i++)
        html_cell_text(t, NULL);
}

/* Adds a number of runs, marked if it is not 0. */
static void put_marked_count(struct html_table *t, size_t n)
{
    CLEANUP_BUF struct buf cell, key;
    buf_init(&cell, 200);
    buf_init(&key, 64);
    buf_printf(&key, "%zu", n);
    buf_printf(&cell, n ? "<span class=\"state bad\">%zu</span>" : "%zu", n);
    page_cell(t, key.p, &cell);
}

/* Adds the row of a place: rank (with "=" where it is shared), machine, median against the first,
 * best value, and how many runs were disturbed or failed. */
static void put_board_place(struct html_table *t, const struct page_board *b, size_t i)
{
    const struct page_place *p = &b->places[i];
    CLEANUP_BUF struct buf cell, text;
    buf_init(&cell, 1 << 16);
    buf_init(&text, 1 << 12);
    bool tie =
        (i > 0 && b->places[i - 1].rank == p->rank) || (i + 1 < b->count && b->places[i + 1].rank == p->rank && b->places[i + 1].system);
    if (b->is_ranked) {
        buf_printf(&text, "%zu%s", p->rank, tie ? " =" : "");
        html_cell_number(t, (double)p->rank, text.p);
    }
    html_cell_text(t, page_site_text(p->site));
    page_link_machine(&cell, PAGE_UP, p->newest);
    if (*p->newest->cluster || *p->newest->partition) {
        buf_puts(&cell, " <small>");
        html_text(&cell, str_of(p->newest->cluster), 60);
        buf_puts(&cell, *p->newest->cluster && *p->newest->partition ? " / " : "");
        html_text(&cell, str_of(p->newest->partition), 60);
        buf_puts(&cell, "</small>");
    }
    if (p->systems > 1)
        buf_printf(&cell, " <small>(best of %zu systems)</small>", p->systems);
    page_cell(t, NULL, &cell);
    page_cell_quantity(t, p->median, b->metric->unit);
    put_ratio(t, b, p);
    page_cell_quantity(t, p->best, b->metric->unit);
    buf_clear(&text);
    buf_printf(&text, "%zu", p->count);
    html_cell_number(t, (double)p->count, text.p);
    put_marked_count(t, p->disturbed);
    put_marked_count(t, p->failed);
    buf_clear(&cell);
    page_link_run(&cell, PAGE_UP, p->newest);
    page_cell(t, NULL, &cell);
}

/* Writes "alpha: 2 of 5 runs were disturbed. The newest of these: other programs used 1.9
 * processors." */
static void put_board_notes(const struct page_board *b, struct buf *to)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count && b->places[i].system; i++) {
        const struct page_place *p = &b->places[i];
        const struct {
            size_t count;
            const char *words, *text;
        } notes[] = {{p->disturbed, "disturbed", p->noisy},
                     {p->unjudged, "not judged for disturbances", p->unjudged_why},
                     {p->warned, "recorded with a warning", p->warning}};
        for (size_t k = 0; k < sizeof notes / sizeof *notes; k++) {
            if (!notes[k].count)
                continue;
            buf_puts(to, n++ ? "<li>" : "<ul class=\"notes\">\n<li>");
            html_text(to, str_of(page_site_text(p->site)), 100);
            buf_printf(to, ": %zu of %zu run%s %s %s. The newest of these: ", notes[k].count, p->count, str_plural(p->count),
                       notes[k].count == 1 ? "was" : "were", notes[k].words);
            html_text(to, str_of(notes[k].text), 300);
            buf_puts(to, "</li>\n");
        }
    }
    buf_puts(to, n ? "</ul>\n" : "");
}

/* Writes the leaderboard of one metric, and explains its signs where it uses them. */
static void put_board(const struct page_board *b, struct buf *to)
{
    static const struct html_column columns[] = {{"rank", NULL, true},
                                                 {"site"},
                                                 {"machine"},
                                                 {"median", NULL, true},
                                                 {"against the first", NULL, true},
                                                 {"best run", NULL, true},
                                                 {"runs", NULL, true},
                                                 {"disturbed", "of these", true},
                                                 {"failed", "not among these", true},
                                                 {"newest (UTC)"}};
    struct html_table t;
    CLEANUP_BUF struct buf caption;
    bool tie = false, few = false;
    buf_init(&caption, 1000);
    page_put_metric(&caption, b->metric);
    buf_puts(to, "<h3>");
    html_text(to, buf_text(&caption), 200);
    buf_printf(to, " <small>%s</small></h3>\n",
               !*b->metric->better                       ? "no direction is known: not ranked"
               : strcmp(b->metric->better, "lower") == 0 ? "lower is better"
                                                         : "higher is better");
    size_t skip = b->is_ranked ? 0 : 1;
    html_table_begin(&t, to, columns + skip, sizeof columns / sizeof *columns - skip, "data", caption.p);
    for (size_t i = 0; i < b->count; i++) {
        const struct page_place *p = &b->places[i];
        if (!p->system) {
            put_missing_place(&t, b, p);
            continue;
        }
        tie = tie || (i > 0 && p->rank && b->places[i - 1].rank == p->rank);
        few = few || p->count < 3;
        put_board_place(&t, b, i);
    }
    html_table_end(&t);
    if (tie)
        buf_puts(to, "<p class=\"dim\">=: a shared rank. <code>benchwrap compare</code> finds no difference between these sites.</p>\n");
    if (few && b->is_ranked && b->count > 1)
        buf_puts(to, "<p class=\"dim\">Fewer than three runs of a site cannot be tested: its rank is that of the median alone.</p>\n");
    put_board_notes(b, to);
}

/* ---- what differs between the sites ---- */

struct site_column {
    const char *site;
    const struct page_place *place;
    const struct page_run *run; /* newest of the system that stands for the site */
};

/* Fills ret with the first SITES_COMPARED sites of the board that have a system; returns how many.
 * *ret_all: how many the board has. */
static size_t sites_of_board(const struct page_board *b, struct site_column *ret, size_t *ret_all)
{
    size_t n = 0;
    *ret_all = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->places[i].system && ++*ret_all <= SITES_COMPARED)
            ret[n++] = (struct site_column){b->places[i].site, &b->places[i], b->places[i].newest};
    return n;
}

static const char *difference_value(const struct page_run *run, const char *name)
{
    return strcmp(name, "cluster") == 0     ? run->cluster
           : strcmp(name, "partition") == 0 ? run->partition
                                            : page_fact_value(run->conditions, name);
}

/* Returns whether the sites' runs differ in this input; to lack it counts as a difference. */
static bool differs_between(const struct site_column *sites, size_t n, const char *name)
{
    const char *first = difference_value(sites[0].run, name);
    for (size_t i = 1; i < n; i++) {
        const char *value = difference_value(sites[i].run, name);
        if (!value != !first || (value && strcmp(value, first) != 0))
            return true;
    }
    return false;
}

/* Returns the rank in the order of interest for readers: processor, memory, accelerators, file
 * system, system software; the others follow by name. */
static unsigned difference_rank(const char *name)
{
    static const char *const order[] = {
        "cluster",          "partition",    "cpu.model",     "cpu.sockets", "cpu.cores",  "cpu.threads", "cpu.allowed_threads",
        "cgroup.cpu_limit", "memory.total", "cgroup.memory", "gpu.",        "net.fabric", "fs.",         "os.",
        "kernel.release",   "mpi.",         "program.",      "software.",   "env.",       "step."};
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        if (strncmp(name, order[i], strlen(order[i])) == 0)
            return i;
    return 100;
}

/* Orders the names of differences by their rank, then as people order names with numbers. */
static int by_difference(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    unsigned rx = difference_rank(x), ry = difference_rank(y);
    return rx != ry ? (rx > ry) - (rx < ry) : str_natural(x, y);
}

/* Fills `ret` with the names of facts in which the sites differ, in the order of interest; the caller
 * frees it. */
static void names_of_differences(const struct site_column *sites, size_t n, struct key_list *ret)
{
    static const char *const own[] = {"cluster", "partition"};
    for (size_t i = 0; i < 2; i++)
        if (differs_between(sites, n, own[i]))
            key_list_put(ret, own[i]);
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < sites[s].run->conditions->count; i++)
            if (differs_between(sites, n, sites[s].run->conditions->list[i].name))
                key_list_put(ret, sites[s].run->conditions->list[i].name);
    if (ret->count)
        qsort(ret->names, ret->count, sizeof *ret->names, by_difference);
}

/* Adds a cell such as "205 MB/s (-30 %)": the median of the metric at a site, compared with that of
 * the first site (NaN or 0: without). Returns the median; NaN: the site has no value. */
static double put_site_result(struct html_table *t, const struct site_column *site, const struct page_value *metric, double first,
                              struct arena *a)
{
    CLEANUP_BUF struct buf text;
    struct stats stats;
    double *values;
    size_t n = page_values_of(site->place->system->runs, site->place->system->count, metric, a, &values);
    buf_init(&text, 300);
    if (!n) {
        html_cell_text(t, NULL);
        return NAN;
    }
    stats_of(values, n, &stats);
    page_put_quantity(&text, stats.median, metric->unit);
    if (first > 0 && stats.median > 0) {
        buf_puts(&text, " (");
        show_change(&text, stats.median / first);
        buf_putc(&text, ')');
    }
    html_cell_text(t, text.p);
    return stats.median;
}

/* Writes the results of the sites, and how far they can be trusted: a row for each metric, one for
 * the runs. */
static void put_site_results(const struct page_measurement *m, const struct site_column *sites, size_t n, struct html_table *t,
                             struct arena *a)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 12);
    for (size_t i = 0; i < m->metric_count; i++, buf_clear(&text)) {
        double first = NAN;
        buf_puts(&text, "result: ");
        page_put_metric(&text, &m->metrics[i]);
        if (*m->metrics[i].better)
            buf_printf(&text, " (%s is better)", m->metrics[i].better);
        html_cell_text(t, text.p);
        for (size_t k = 0; k < n; k++) {
            double median = put_site_result(t, &sites[k], &m->metrics[i], first, a);
            first = k == 0 ? median : first;
        }
    }
    html_cell_text(t, "runs");
    for (size_t k = 0; k < n; k++, buf_clear(&text)) {
        buf_printf(&text, "%zu", sites[k].place->count);
        if (sites[k].place->disturbed)
            buf_printf(&text, ", %zu disturbed", sites[k].place->disturbed);
        if (sites[k].place->unjudged)
            buf_printf(&text, ", %zu not judged", sites[k].place->unjudged);
        html_cell_text(t, text.p);
    }
}

/* Returns the board of the version that most sites have run, the first of several in the list: the
 * first use of a new version hides no comparison. */
static const struct page_board *board_of_most_sites(const struct page_measurement *m, const char **ret_version)
{
    const struct page_board *ret = NULL;
    size_t most = 0;
    for (size_t v = 0; v < m->versions.count; v++) {
        size_t n = 0;
        while (n < m->boards[v].count && m->boards[v].places[n].system)
            n++;
        if (n <= most)
            continue;
        most = n;
        ret = &m->boards[v];
        *ret_version = m->versions.list[v].id;
    }
    return ret;
}

/* Writes results and up to DIFFERENCES_MAX conditions in which the sites differ, for the version that
 * most sites have run, and how many more there are. Nothing is written for fewer than 2 sites. */
static void put_differences(const struct page_measurement *m, struct arena *a, struct buf *to)
{
    const char *version = "";
    const struct page_board *b = board_of_most_sites(m, &version);
    struct site_column sites[SITES_COMPARED];
    struct html_column columns[SITES_COMPARED + 1] = {{"result or condition"}};
    struct html_table t;
    size_t all = 0, n = b ? sites_of_board(b, sites, &all) : 0;
    if (n < 2)
        return;
    struct key_list names = {.a = a};
    names_of_differences(sites, n, &names);
    buf_puts(to, "<h2 id=\"differences\">Differences between the sites</h2>\n");
    buf_puts(to,
             "<p class=\"dim\">First the results: the median of each site's best system, with the change against the first site. Then the "
             "conditions that differ, of that system's newest run. What is equal is left out.");
    if (m->versions.count > 1) {
        buf_puts(to, " Version ");
        html_text(to, str_of(*version ? version : "not known"), 100);
        buf_puts(to, ", which most sites have run.");
    }
    if (all > n)
        buf_printf(to, " The first %zu of %zu sites.", n, all);
    buf_puts(to, "</p>\n");
    for (size_t i = 0; i < n; i++)
        columns[i + 1] = (struct html_column){.heading = page_site_text(sites[i].site)};
    html_table_begin(&t, to, columns, n + 1, "data", "differences between the sites");
    put_site_results(m, sites, n, &t, a);
    for (size_t i = 0; i < names.count && i < DIFFERENCES_MAX; i++) {
        html_cell_text(&t, fact_words_and_key(names.names[i], a));
        for (size_t k = 0; k < n; k++) {
            const char *value = difference_value(sites[k].run, names.names[i]);
            html_cell_text(&t, value && *value ? value : NULL);
        }
    }
    html_table_end(&t);
    if (!names.count)
        buf_puts(to, "<p>No recorded condition differs.</p>\n");
    if (names.count > DIFFERENCES_MAX) {
        size_t more = names.count - DIFFERENCES_MAX;
        buf_printf(to, "<p class=\"dim\">%zu more condition%s differ%s.</p>\n", more, str_plural(more), more == 1 ? "s" : "");
    }
    key_list_deinit(&names);
}

/* ---- the page ---- */

static void put_measured(const struct page_measurement *m, struct arena *a, struct buf *to)
{
    static const struct html_column columns[] = {{"input"}, {"value"}};
    const struct page_facts *inputs = m->group.runs[0]->inputs;
    struct html_table t;
    buf_puts(to, "<h2>What was measured</h2>\n");
    buf_printf(to, "<p class=\"dim\">Every run below has these inputs (comparison key %s).</p>\n<details><summary>%zu input%s</summary>\n",
               m->group.runs[0]->measured, inputs->count, str_plural(inputs->count));
    html_table_begin(&t, to, columns, 2, "facts", "inputs");
    for (size_t i = 0; i < inputs->count; i++) {
        html_cell_text(&t, fact_words_and_key(inputs->list[i].name, a));
        html_cell_text(&t, inputs->list[i].value);
    }
    html_table_end(&t);
    buf_puts(to, "</details>\n");
}

/* Writes which site has the best median, which one is next, and whether runs of the best were
 * disturbed. Nothing is written where the metric is not ranked. */
static void put_best_answer(const struct page_measurement *m, struct buf *to)
{
    const struct page_board *b = m->boards && m->versions.count ? &m->boards[0] : NULL;
    if (!b || !b->count || !b->places[0].system || !b->is_ranked)
        return;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 1 << 12);
    page_put_metric(&text, b->metric);
    buf_puts(&text, ": ");
    page_put_quantity(&text, b->places[0].median, b->metric->unit);
    buf_printf(&text, m->sites > 1 ? " is the best median, of %s." : " is the median of %s.", page_site_text(b->places[0].site));
    if (b->count > 1 && b->places[1].system) {
        bool tie = b->places[1].rank == 1;
        buf_printf(&text, tie ? " %s shares the first rank: " : " Next is %s: ", page_site_text(b->places[1].site));
        page_put_quantity(&text, b->places[1].median, b->metric->unit);
        if (b->places[0].median > 0 && b->places[1].median > 0) {
            buf_puts(&text, " (");
            show_change(&text, b->places[1].median / b->places[0].median);
            buf_putc(&text, ')');
        }
        buf_putc(&text, '.');
    }
    if (b->places[0].disturbed || b->places[0].unjudged) {
        buf_printf(&text, " Of %s: ", page_site_text(b->places[0].site));
        page_put_disturbed(&text, &b->places[0]);
        buf_putc(&text, '.');
    }
    html_element(to, "p", "answer", text.p);
}

/* Writes the leaderboards of one version, as HTML to `to` and as JSON to `j`. Returns -1 with
 * err. */
static int put_version(const struct page_book *book, const struct page_measurement *m, size_t v, struct json_out *j, struct buf *to,
                       struct err *err)
{
    const struct page_group *version = &m->versions.list[v];
    if (m->versions.count > 1 || *version->id) {
        buf_puts(to, "<h3>Version ");
        html_text(to, str_of(*version->id ? version->id : "not known"), 100);
        buf_puts(to, "</h3>\n");
    }
    json_open(j, NULL, '{');
    json_text(j, "version", *version->id ? version->id : NULL);
    json_open(j, "metrics", '[');
    for (size_t i = 0; i < m->metric_count; i++) {
        struct page_board board;
        if (page_board_of(version, m->all, m->all_count, &m->metrics[i], book->a, &board, err) < 0)
            return -1;
        put_board(&board, to);
        json_open(j, NULL, '{');
        json_text(j, "key", m->metrics[i].key);
        json_text(j, "unit", m->metrics[i].unit);
        json_text(j, "better", *m->metrics[i].better ? m->metrics[i].better : NULL);
        json_open(j, "places", '[');
        for (size_t k = 0; k < board.count; k++) {
            const struct page_place *p = &board.places[k];
            json_open_row(j, NULL, '{');
            if (p->rank)
                json_uint(j, "rank", p->rank);
            else
                json_null(j, "rank");
            json_text(j, "site", p->site);
            json_text(j, "system", p->newest->system);
            json_text(j, "machine", p->newest->machine);
            json_known(j, "median", p->system ? p->median : NAN);
            json_known(j, "best", p->system ? p->best : NAN);
            json_uint(j, "runs", p->count);
            json_uint(j, "disturbed", p->disturbed);
            json_uint(j, "unjudged", p->unjudged);
            json_uint(j, "warned", p->warned);
            json_uint(j, "failed", p->failed);
            json_text(j, "newest_run", p->newest->id);
            json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
    return 0;
}

int page_write_measurement(const struct page_book *book, const struct page_experiment *e, const struct page_measurement *m, struct err *err)
{
    enum { RUNS_SHOWN = 60 };
    CLEANUP_BUF struct buf to, json, path;
    buf_init(&to, PAGE_MAX);
    buf_init(&json, PAGE_MAX);
    buf_init(&path, 1000);
    buf_printf(&path, "../experiment/%.40s.html", e->group.runs[0]->experiment_id);
    const struct html_page page = {.title = m->title, .above = m->experiment, .above_path = path.p, .has_charts = true};
    struct json_out j = json_begin(&json, JSON_BLOCK, '{');
    json_text(&j, "experiment", m->experiment);
    json_text(&j, "measured", m->group.runs[0]->measured);
    json_open(&j, "inputs", '{');
    for (size_t i = 0; i < m->group.runs[0]->inputs->count; i++)
        json_text(&j, m->group.runs[0]->inputs->list[i].name, m->group.runs[0]->inputs->list[i].value);
    json_close(&j, '}');
    json_open(&j, "versions", '[');
    html_page_begin(&to, &page);
    put_best_answer(m, &to);
    buf_printf(&to, "<h2>Leaderboard</h2>\n<p class=\"dim\">One row for each site. <a href=\"%s.json\">JSON</a></p>\n", m->group.id);
    for (size_t v = 0; v < m->versions.count; v++)
        if (put_version(book, m, v, &j, &to, err) < 0)
            return -1;
    if (m->boards && m->versions.count)
        put_differences(m, book->a, &to);
    put_measured(m, book->a, &to);
    for (size_t i = 0; i < m->metric_count && m->group.count > 1; i++) {
        if (i == 0)
            buf_puts(&to, "<h2>History</h2>\n");
        page_put_history(&to, m->group.runs, m->group.count, &m->metrics[i], book->a);
    }
    buf_puts(&to, "<h2>Runs</h2>\n");
    if (m->all_count > RUNS_SHOWN)
        buf_printf(&to, "<p class=\"dim\">The %d newest of %zu.</p>\n", RUNS_SHOWN, m->all_count);
    page_put_runs(&to, PAGE_UP, m->all, m->all_count < RUNS_SHOWN ? m->all_count : RUNS_SHOWN, "runs", true);
    html_page_end(&to, &page, NULL);
    json_close(&j, ']');
    json_open(&j, "runs", '[');
    for (size_t i = 0; i < m->group.count; i++)
        json_text(&j, NULL, m->group.runs[i]->id);
    json_close(&j, ']');
    json_close(&j, '}');
    return page_put_both(book, "measurement", m->group.id, &to, &json, err);
}
