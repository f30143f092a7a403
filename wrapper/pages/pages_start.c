/* pages_start.c: the start page: best results, regressions, sites, experiments, latest runs. */
#include "pages/pages_parts.h"

#include "base/json_out.h"
#include "base/show.h"

#include <string.h>

enum {
    BEST_MAX = 40,
    BEST_OF_EXPERIMENT = 4,
    LATEST_MAX = 15,
    NOTICES_MAX = 20,
    SITES_MAX = 100,
    EXPERIMENTS_MAX = 200,
    MACHINES_MAX = 60,
    DAMAGED_MAX = 20
};

static void put_best_row(struct html_table *t, const struct page_measurement *m)
{
    const struct page_place *p = page_first_place(m);
    CLEANUP_BUF struct buf cell, label;
    buf_init(&cell, 1 << 16);
    buf_init(&label, 1 << 14);
    page_link_measurement(&cell, "", m, m->title);
    page_cell(t, NULL, &cell);
    buf_clear(&label);
    page_put_metric(&label, &m->metrics[0]);
    if (*m->metrics[0].better)
        buf_printf(&label, " (%s is better)", m->metrics[0].better);
    html_cell_text(t, label.p);
    page_cell_quantity(t, p->median, m->metrics[0].unit);
    page_put_best_sites(t, m);
    buf_clear(&cell);
    page_link_machine(&cell, "", p->newest);
    page_cell(t, NULL, &cell);
    buf_clear(&label);
    buf_printf(&label, "%zu", m->sites);
    html_cell_number(t, (double)m->sites, label.p);
    buf_clear(&label);
    buf_printf(&label, "%zu", m->group.count);
    html_cell_number(t, (double)m->group.count, label.p);
}

/* Writes the best results, up to BEST_OF_EXPERIMENT measurements of an experiment and BEST_MAX in
 * total. Nothing is written without a result. */
static void put_best(const struct page_book *book, struct buf *to)
{
    static const struct html_column columns[] = {
        {"measurement"}, {"metric"}, {"best", "median", true}, {"site"}, {"machine"}, {"sites", NULL, true}, {"runs", NULL, true}};
    struct html_table t;
    size_t n = 0, more = 0;
    for (size_t i = 0; i < book->experiment_count; i++)
        for (size_t k = 0; k < book->experiments[i].count; k++)
            n += page_first_place(&book->experiments[i].measurements[k]) != NULL;
    if (!n)
        return;
    buf_puts(
        to,
        "<h2 id=\"best\">Best results</h2>\n<p class=\"dim\">One row for each measurement: runs of one benchmark with the same inputs, nodes and tasks. "
        "Follow a row to its leaderboard and to what differs between sites. A = B: no difference is found between sites A and B.</p>\n");
    html_table_begin(&t, to, columns, sizeof columns / sizeof *columns, "data", "best results");
    size_t rows = 0;
    for (size_t i = 0; i < book->experiment_count; i++) {
        size_t own = 0;
        for (size_t k = 0; k < book->experiments[i].count; k++) {
            const struct page_measurement *m = &book->experiments[i].measurements[k];
            if (!page_first_place(m))
                continue;
            if (own == BEST_OF_EXPERIMENT || rows == BEST_MAX) {
                more++;
                continue;
            }
            put_best_row(&t, m);
            own++;
            rows++;
        }
    }
    html_table_end(&t);
    if (more)
        buf_printf(to, "<p class=\"dim\">%zu more measurement%s: see the <a href=\"#experiments\">experiments</a>.</p>\n", more,
                   str_plural(more));
}

/* Writes up to NOTICES_MAX regressions and improvements, or that there is none. */
static void put_notices(const struct page_book *book, struct buf *to)
{
    static const struct html_column columns[] = {{"run"},      {"measurement"},        {"site"}, {"metric"}, {"value", NULL, true},
                                                 {"expected"}, {"change", NULL, true}, {""}};
    struct html_table t;
    buf_puts(to, "<h2 id=\"changes\">Regressions and improvements</h2>\n");
    if (!book->notice_count) {
        buf_puts(
            to,
            "<p>No newest run of a system is outside the range of its earlier ones. Systems with fewer than five earlier runs are not judged.</p>\n");
        return;
    }
    html_table_begin(&t, to, columns, sizeof columns / sizeof *columns, "data", "regressions and improvements");
    for (size_t i = 0; i < book->notice_count && i < NOTICES_MAX; i++) {
        const struct page_notice *n = &book->notices[i];
        CLEANUP_BUF struct buf cell, text;
        buf_init(&cell, 1 << 16);
        buf_init(&text, 1 << 14);
        page_link_run(&cell, "", n->run);
        page_cell(&t, NULL, &cell);
        buf_clear(&cell);
        page_link_measurement(&cell, "", n->measurement, n->measurement->title);
        page_cell(&t, NULL, &cell);
        html_cell_text(&t, page_site_text(n->run->site));
        buf_clear(&text);
        page_put_metric(&text, n->metric);
        html_cell_text(&t, text.p);
        page_cell_quantity(&t, n->news.value, n->metric->unit);
        buf_clear(&text);
        page_put_quantity(&text, n->news.low, n->metric->unit);
        buf_puts(&text, " … ");
        page_put_quantity(&text, n->news.high, n->metric->unit);
        html_cell_text(&t, text.p);
        buf_clear(&text);
        if (n->news.median > 0 && n->news.value > 0)
            show_change(&text, n->news.value / n->news.median);
        html_cell_number(&t, n->news.value / n->news.median, text.p ? text.p : "");
        buf_clear(&cell);
        bool worse = n->news.change == PAGE_CHANGE_WORSE;
        buf_printf(&cell, "<span class=\"state %s\">%s</span>", worse ? "bad" : "good", worse ? "regression" : "improvement");
        page_cell(&t, NULL, &cell);
    }
    html_table_end(&t);
    if (book->notice_count > NOTICES_MAX)
        buf_printf(to, "<p class=\"dim\">%zu more.</p>\n", book->notice_count - NOTICES_MAX);
}

struct first_places {
    size_t first, shared, measurements; /* shared: of the first ones; measurements: that this site and others have run */
};

/* Counts the measurements that the site and others have run, those in which its rank is 1, and
 * those in which it shares that rank. */
static struct first_places count_first_places(const struct page_book *book, const char *site)
{
    struct first_places n = {0};
    for (size_t i = 0; i < book->experiment_count; i++)
        for (size_t k = 0; k < book->experiments[i].count; k++) {
            const struct page_measurement *m = &book->experiments[i].measurements[k];
            const struct page_board *b = m->boards && m->versions.count ? &m->boards[0] : NULL;
            for (size_t p = 0; b && b->is_ranked && m->sites > 1 && p < b->count && b->places[p].system; p++) {
                if (strcmp(b->places[p].site, site) != 0)
                    continue;
                n.measurements++;
                n.first += b->places[p].rank == 1;
                n.shared += b->places[p].rank == 1 && b->places[1].rank == 1;
            }
        }
    return n;
}

/* Writes the table of up to SITES_MAX sites, and how many more there are. */
static void put_sites(const struct page_book *book, struct buf *to)
{
    static const struct html_column columns[] = {
        {"site"}, {"machine"}, {"runs", NULL, true}, {"first places", NULL, true}, {"newest run (UTC)"}};
    struct html_table t;
    buf_puts(
        to,
        "<h2 id=\"sites\">Sites</h2>\n<p class=\"dim\">First places: of the measurements that the site and others have run. Tied: shared "
        "with sites between which no difference is found.</p>\n");
    html_table_begin(&t, to, columns, sizeof columns / sizeof *columns, "data", "sites");
    for (size_t i = 0; i < book->sites.count && i < SITES_MAX; i++) {
        const struct page_group *g = &book->sites.list[i];
        CLEANUP_BUF struct buf cell, number;
        buf_init(&cell, 1 << 16);
        buf_init(&number, 100);
        html_cell_text(&t, page_site_text(g->id));
        page_link_machine(&cell, "", g->runs[0]);
        page_cell(&t, NULL, &cell);
        buf_printf(&number, "%zu", g->count);
        html_cell_number(&t, (double)g->count, number.p);
        buf_clear(&number);
        struct first_places places = count_first_places(book, g->id);
        buf_printf(&number, "%zu of %zu", places.first, places.measurements);
        if (places.shared)
            buf_printf(&number, " (%zu tied)", places.shared);
        html_cell_number(&t, (double)places.first, number.p);
        buf_clear(&cell);
        page_link_run(&cell, "", g->runs[0]);
        page_cell(&t, NULL, &cell);
    }
    html_table_end(&t);
    if (book->sites.count > SITES_MAX) {
        size_t more = book->sites.count - SITES_MAX;
        buf_printf(to, "<p class=\"dim\">%zu more site%s: see the <a href=\"index.json\">JSON</a>.</p>\n", more, str_plural(more));
    }
}

static void put_experiments(const struct page_book *book, struct buf *to)
{
    static const struct html_column columns[] = {
        {"experiment"}, {"runs", NULL, true}, {"measurements", NULL, true}, {"newest run (UTC)"}, {"result"}};
    struct html_table t;
    buf_puts(to, "<h2 id=\"experiments\">Experiments</h2>\n");
    html_table_begin(&t, to, columns, sizeof columns / sizeof *columns, "data", "experiments");
    for (size_t i = 0; i < book->experiment_count && i < EXPERIMENTS_MAX; i++) {
        const struct page_experiment *e = &book->experiments[i];
        CLEANUP_BUF struct buf cell, number;
        buf_init(&cell, 1 << 16);
        buf_init(&number, 100);
        page_link_experiment(&cell, "", e->group.runs[0], e->group.id);
        page_cell(&t, NULL, &cell);
        buf_printf(&number, "%zu", e->group.count);
        html_cell_number(&t, (double)e->group.count, number.p);
        buf_clear(&number);
        buf_printf(&number, "%zu", e->count);
        html_cell_number(&t, (double)e->count, number.p);
        buf_clear(&cell);
        page_link_run(&cell, "", e->group.runs[0]);
        page_cell(&t, NULL, &cell);
        buf_clear(&cell);
        page_put_state(&cell, e->group.runs[0]);
        page_cell(&t, NULL, &cell);
    }
    html_table_end(&t);
    if (book->experiment_count > EXPERIMENTS_MAX)
        buf_printf(to, "<p class=\"dim\">The %d newest of %zu experiments.</p>\n", EXPERIMENTS_MAX, book->experiment_count);
}

static void put_machine_list(const struct page_book *book, struct buf *to)
{
    if (!book->machines.count)
        return;
    buf_puts(to, "<h2 id=\"machines\">Machines</h2>\n<ul>\n");
    for (size_t i = 0; i < book->machines.count && i < MACHINES_MAX; i++) {
        const struct page_group *g = &book->machines.list[i];
        buf_puts(to, "<li>");
        page_link_machine(to, "", g->runs[0]);
        buf_printf(to, " <small>%zu run%s, newest of ", g->count, str_plural(g->count));
        html_text(to, str_of(page_site_text(g->runs[0]->site)), 100);
        buf_puts(to, "</small></li>\n");
    }
    buf_puts(to, "</ul>\n");
    if (book->machines.count > MACHINES_MAX)
        buf_printf(to, "<p class=\"dim\">The %d newest of %zu node types.</p>\n", MACHINES_MAX, book->machines.count);
}

/* Writes up to DAMAGED_MAX damaged runs with their problems. Nothing is written where there is
 * none. */
static void put_damaged(const struct page_book *book, struct buf *to)
{
    size_t n = 0;
    for (size_t i = 0; i < book->data.count; i++) {
        const struct page_run *run = book->runs[i];
        if (!*run->problem || n++ >= DAMAGED_MAX)
            continue;
        if (n == 1)
            buf_puts(to,
                     "<h2 id=\"damaged\">Damaged runs</h2>\n<p>They are listed, and count in no comparison.</p>\n<ul class=\"notes\">\n");
        buf_puts(to, "<li>");
        page_link_run(to, "", run);
        buf_putc(to, ' ');
        html_text(to, str_of(run->problem), 400);
        buf_puts(to, "</li>\n");
    }
    if (n)
        buf_puts(to, "</ul>\n");
    if (n > DAMAGED_MAX)
        buf_printf(to, "<p>%zu more.</p>\n", n - DAMAGED_MAX);
}

/* ---- JSON ---- */

static void best_json(struct json_out *j, const struct page_measurement *m)
{
    const struct page_place *p = page_first_place(m);
    char path[PAGE_PATH];
    page_path_of("measurement", m->group.id, ".json", path);
    json_open_row(j, NULL, '{');
    json_text(j, "experiment", m->experiment);
    json_text(j, "measurement", m->name);
    json_text(j, "measured", m->group.runs[0]->measured);
    json_text(j, "metric", m->metrics[0].key);
    json_text(j, "unit", m->metrics[0].unit);
    json_text(j, "better", *m->metrics[0].better ? m->metrics[0].better : NULL);
    json_text(j, "site", p->site);
    json_double(j, "median", p->median);
    json_uint(j, "disturbed", p->disturbed);
    json_uint(j, "unjudged", p->unjudged);
    json_uint(j, "sites", m->sites);
    json_uint(j, "runs", m->group.count);
    json_text(j, "details", path);
    json_close(j, '}');
}

/* Writes the JSON document of the start page. -1 with err. */
static int write_start_json(const struct page_book *book, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, PAGE_MAX);
    struct json_out j = json_begin(&b, JSON_BLOCK, '{');
    json_text(&j, "title", book->request->title);
    json_uint(&j, "runs", book->data.count);
    json_open(&j, "experiments", '[');
    for (size_t i = 0; i < book->experiment_count; i++) {
        char path[PAGE_PATH];
        const struct page_experiment *e = &book->experiments[i];
        page_path_of("experiment", e->group.runs[0]->experiment_id, ".json", path);
        json_open_row(&j, NULL, '{');
        json_text(&j, "name", e->group.id);
        json_uint(&j, "runs", e->group.count);
        json_text(&j, "details", path);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "sites", '[');
    for (size_t i = 0; i < book->sites.count; i++) {
        json_open_row(&j, NULL, '{');
        json_text(&j, "name", book->sites.list[i].id);
        json_uint(&j, "runs", book->sites.list[i].count);
        struct first_places places = count_first_places(book, book->sites.list[i].id);
        json_uint(&j, "first_places", places.first);
        json_uint(&j, "tied_places", places.shared);
        json_uint(&j, "shared_measurements", places.measurements);
        json_text(&j, "newest_run", book->sites.list[i].runs[0]->id);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "best", '[');
    for (size_t i = 0; i < book->experiment_count; i++)
        for (size_t k = 0; k < book->experiments[i].count; k++)
            if (page_first_place(&book->experiments[i].measurements[k]))
                best_json(&j, &book->experiments[i].measurements[k]);
    json_close(&j, ']');
    json_open(&j, "changes", '[');
    for (size_t i = 0; i < book->notice_count; i++) {
        const struct page_notice *n = &book->notices[i];
        json_open_row(&j, NULL, '{');
        json_text(&j, "run", n->run->id);
        json_text(&j, "measured", n->measurement->group.runs[0]->measured);
        json_text(&j, "metric", n->metric->key);
        json_double(&j, "value", n->news.value);
        json_double(&j, "median", n->news.median);
        json_double(&j, "expected_low", n->news.low);
        json_double(&j, "expected_high", n->news.high);
        json_text(&j, "verdict", n->news.change == PAGE_CHANGE_WORSE ? "regression" : "improvement");
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "latest", '[');
    for (size_t i = 0; i < book->data.count && i < LATEST_MAX; i++)
        json_text(&j, NULL, book->runs[i]->id);
    json_close(&j, ']');
    json_close(&j, '}');
    return page_file_put(book->files, "index.json", &b, err);
}

int page_write_start(const struct page_book *book, struct err *err)
{
    CLEANUP_BUF struct buf to;
    buf_init(&to, PAGE_MAX);
    const struct html_page page = {
        .title = book->request->title,
        .head = "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"feed.xml\" title=\"New runs and changes\">\n"};
    size_t n = book->data.count, worse = 0;
    for (size_t i = 0; i < book->notice_count; i++)
        worse += book->notices[i].news.change == PAGE_CHANGE_WORSE;
    html_page_begin(&to, &page);
    buf_printf(&to, "<p class=\"answer\">%zu run%s of %zu experiment%s from %zu site%s.", n, str_plural(n), book->experiment_count,
               str_plural(book->experiment_count), book->sites.count, str_plural(book->sites.count));
    if (worse)
        buf_printf(&to, " <span class=\"state bad\">%zu regression%s</span>", worse, str_plural(worse));
    buf_puts(
        &to,
        "</p>\n<nav aria-label=\"Sections\"><ul><li><a href=\"#best\">Best results</a></li><li><a href=\"#changes\">Regressions</a></li>"
        "<li><a href=\"#sites\">Sites</a></li><li><a href=\"#experiments\">Experiments</a></li><li><a href=\"#machines\">Machines</a></li>"
        "<li><a href=\"#latest\">Latest runs</a></li><li><a href=\"feed.xml\">Feed</a></li><li><a href=\"index.json\">JSON</a></li></ul></nav>\n");
    put_best(book, &to);
    put_notices(book, &to);
    put_sites(book, &to);
    put_experiments(book, &to);
    put_machine_list(book, &to);
    buf_puts(&to, "<h2 id=\"latest\">Latest runs</h2>\n");
    page_put_runs(&to, "", book->runs, n < LATEST_MAX ? n : LATEST_MAX, "latest runs", true);
    put_damaged(book, &to);
    html_page_end(&to, &page, "Made by benchwrap pages.");
    return page_file_put(book->files, "index.html", &to, err) < 0 ? -1 : write_start_json(book, err);
}
