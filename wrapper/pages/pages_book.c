/* pages_book.c: everything that the pages show, from what is known of each run: experiments, measurements, machines, sites, news. */
#include "pages/pages_parts.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *by_key(const struct page_run *run)
{
    return run->is_parent || run->is_warmup ? NULL : run->measurement;
}

static int by_importance(const void *a, const void *b)
{
    const struct page_measurement *x = a, *y = b;
    if (x->sites != y->sites)
        return x->sites > y->sites ? -1 : 1;
    if (x->group.count != y->group.count)
        return x->group.count > y->group.count ? -1 : 1;
    return str_natural(x->name, y->name);
}

static int fill_boards(struct page_measurement *m, struct arena *a, struct err *err)
{
    m->boards = m->metric_count ? arena_get(a, (m->versions.count + 1) * sizeof *m->boards) : NULL;
    for (size_t v = 0; m->boards && v < m->versions.count; v++)
        if (page_board_of(&m->versions.list[v], m->all, m->all_count, &m->metrics[0], a, &m->boards[v], err) < 0)
            return -1;
    for (size_t i = 0; m->boards && m->versions.count && i < m->boards[0].count; i++)
        m->sites += m->boards[0].places[i].system != NULL;
    return 0;
}

/* Fills the experiment's measurements, their names and boards from its group of runs, in the arena.
 * -1 with err. */
static int fill_experiment(struct page_experiment *e, struct arena *a, struct err *err)
{
    struct page_groups counted, whole;
    if (page_groups_by(e->group.runs, e->group.count, page_by_measurement, a, &counted, err) < 0 ||
        page_groups_by(e->group.runs, e->group.count, by_key, a, &whole, err) < 0)
        return -1;
    e->differing_count = page_differing_inputs(&counted, PAGE_COLUMNS, e->differing);
    e->measurements = arena_get(a, (counted.count + 1) * sizeof *e->measurements);
    for (size_t i = 0; e->measurements && i < counted.count; i++) {
        struct page_measurement *m = &e->measurements[e->count++];
        CLEANUP_BUF struct buf name;
        buf_init(&name, 1 << 16);
        *m = (struct page_measurement){.group = counted.list[i], .experiment = e->group.runs[0]->experiment};
        m->all = m->group.runs;
        m->all_count = m->group.count;
        page_measurement_name(m->group.runs[0]->inputs, e->differing, e->differing_count, &name);
        m->name = arena_dup(a, name.p ? name.p : "", name.n);
        if (!m->name)
            return err_memory(err, "the pages");
        m->title = strcmp(m->name, m->experiment) == 0 ? m->name : arena_printf(a, "%s: %s", m->experiment, m->name);
        m->metric_count = page_metrics_of(&m->group, PAGE_VALUES, m->metrics);
        if (page_groups_by(m->group.runs, m->group.count, page_by_version, a, &m->versions, err) < 0)
            return -1;
        for (size_t k = 0; k < whole.count; k++)
            if (strcmp(whole.list[k].id, m->group.id) == 0) {
                m->all = whole.list[k].runs;
                m->all_count = whole.list[k].count;
                break;
            }
        if (fill_boards(m, a, err) < 0)
            return -1;
    }
    if (e->count)
        qsort(e->measurements, e->count, sizeof *e->measurements, by_importance);
    for (size_t i = 0; i < e->count; i++) /* the order has moved the metrics that the boards point to */
        for (size_t v = 0; e->measurements[i].boards && v < e->measurements[i].versions.count; v++)
            e->measurements[i].boards[v].metric = &e->measurements[i].metrics[0];
    return a->failed ? err_memory(err, "an experiment") : 0;
}

/* ---- news ---- */

static int by_badness(const void *a, const void *b)
{
    const struct page_notice *x = a, *y = b;
    if (x->news.change != y->news.change)
        return x->news.change == PAGE_CHANGE_WORSE ? -1 : 1;
    return page_run_order(x->run, y->run);
}

/* Adds a notice for each system and metric whose newest value is outside the range of the earlier
 * ones. Returns -1 with err. */
static int add_notices_of(struct page_book *book, const struct page_experiment *e, const struct page_measurement *m, size_t *capacity,
                          struct err *err)
{
    struct page_groups systems;
    if (page_groups_by(m->group.runs, m->group.count, page_by_system, book->a, &systems, err) < 0)
        return -1;
    for (size_t s = 0; s < systems.count; s++)
        for (size_t k = 0; k < m->metric_count; k++) {
            double *values;
            const struct page_group *g = &systems.list[s];
            if (!page_run_value(g->runs[0], &m->metrics[k]))
                continue;
            size_t n = page_values_of(g->runs, g->count, &m->metrics[k], book->a, &values);
            struct page_news news = page_news_of(values, n, m->metrics[k].better);
            if (news.change < PAGE_CHANGE_BETTER)
                continue;
            if (!ARRAY_FITS_IN(book->a, book->notices, *capacity, book->notice_count + 1))
                return err_memory(err, "the news");
            book->notices[book->notice_count++] = (struct page_notice){e, m, g->runs[0], &m->metrics[k], news};
        }
    return 0;
}

int page_book_fill(struct page_book *book, struct err *err)
{
    struct page_groups experiments;
    size_t capacity = 0;
    book->runs = arena_get(book->a, (book->data.count + 1) * sizeof(struct page_run *));
    if (!book->runs)
        return err_memory(err, "the pages");
    for (size_t i = 0; i < book->data.count; i++)
        book->runs[i] = &book->data.runs[i];
    if (page_groups_by(book->runs, book->data.count, page_by_experiment, book->a, &experiments, err) < 0 ||
        page_groups_by(book->runs, book->data.count, page_by_machine, book->a, &book->machines, err) < 0 ||
        page_groups_by(book->runs, book->data.count, page_by_site, book->a, &book->sites, err) < 0)
        return -1;
    book->experiments = arena_get(book->a, (experiments.count + 1) * sizeof *book->experiments);
    for (size_t i = 0; book->experiments && i < experiments.count; i++) {
        struct page_experiment *e = &book->experiments[book->experiment_count++];
        e->group = experiments.list[i];
        if (fill_experiment(e, book->a, err) < 0)
            return -1;
        for (size_t k = 0; k < e->count; k++)
            if (add_notices_of(book, e, &e->measurements[k], &capacity, err) < 0)
                return -1;
    }
    if (book->notice_count)
        qsort(book->notices, book->notice_count, sizeof *book->notices, by_badness);
    return book->a->failed ? err_memory(err, "the pages") : 0;
}
