/* pages_group.h: runs in groups: experiments, measurements (one comparison key), systems in a leaderboard, kinds of machine. */
#ifndef PAGES_PAGES_GROUP_H
#define PAGES_PAGES_GROUP_H
#include "pages/pages_data.h"
#include "base/err.h"

/* Runs that share a text, newest first. */
struct page_group {
    const char *id;
    const struct page_run **runs;
    size_t count;
};
struct page_groups {
    struct page_group *list; /* the group of the newest run first */
    size_t count;
};
/* Groups n runs (newest first) by a text of each; a run with NULL is in none. In the arena. -1: out of memory. */
int page_groups_by(const struct page_run *const *runs, size_t n, const char *(*text)(const struct page_run *run), struct arena *a,
                   struct page_groups *ret, struct err *err);
const char *page_by_experiment(const struct page_run *run);
const char *page_by_measurement(const struct page_run *run); /* runs that count alone */
const char *page_by_machine(const struct page_run *run);
const char *page_by_site(const struct page_run *run);
const char *page_by_system(const struct page_run *run);
const char *page_by_version(const struct page_run *run);

/* Lists the headline metrics that runs of a group have, each once, those of most runs first. */
size_t page_metrics_of(const struct page_group *group, size_t most, struct page_value *ret);
/* Collects the finite values of a metric, newest first, in the arena. Returns their number. */
size_t page_values_of(const struct page_run *const *runs, size_t n, const struct page_value *metric, struct arena *a, double **ret);
/* Lists the names of inputs that differ among groups of one experiment, at most `most`: these distinguish its
 * measurements. */
size_t page_differing_inputs(const struct page_groups *groups, size_t most, const char **ret);
/* Appends "size 4, nodes 2", or the benchmark's name where nothing differs. */
void page_measurement_name(const struct page_facts *inputs, const char *const *differing, size_t n, struct buf *to);

/* One row of a leaderboard: a site, with its best system. */
struct page_place {
    const char *site; /* "" : runs without a site */
    const struct page_group *system; /* its runs have the value */
    const struct page_run *newest;
    const double *values;
    size_t count, systems, failed; /* of values; systems of the site with a value; runs of the site that do not count */
    double median, best;
    size_t disturbed, warned; /* of the runs with a value: those that were disturbed; those with another warning */
    size_t unjudged; /* of these, runs that were not judged: what may have disturbed them was not measured */
    const char *noisy, *warning,
        *unjudged_why; /* of the newest such run: what disturbed it, its warning, why it was not judged; "": there is none */
    size_t rank; /* from 1; places that cannot be distinguished share one; 0: not ranked */
};
struct page_board {
    const struct page_value *metric; /* key, unit, better */
    struct page_place *places; /* by rank; without a direction by site */
    size_t count;
    bool is_ranked;
};
/* Makes the leaderboard of one metric over runs of one measurement and one version. all: every run of the measurement, also those that do not count. -1: out of memory. */
int page_board_of(const struct page_group *group, const struct page_run *const *all, size_t all_count, const struct page_value *metric,
                  struct arena *a, struct page_board *ret, struct err *err);

/* What the newest run of one system is against its earlier ones, as compare --history judges. */
enum page_change { PAGE_CHANGE_FEW, PAGE_CHANGE_NONE, PAGE_CHANGE_BETTER, PAGE_CHANGE_WORSE };
struct page_news {
    enum page_change change;
    double value, median, low, high;
    size_t earlier;
};
struct page_news page_news_of(const double *values, size_t n, const char *better); /* newest first */
#endif
