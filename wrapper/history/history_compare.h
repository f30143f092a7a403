/* history_compare.h: one run against the earlier ones like it. */
#ifndef HISTORY_HISTORY_COMPARE_H
#define HISTORY_HISTORY_COMPARE_H
#include "base/listing.h"
#include "base/stats.h"
#include "compare/compare.h"

enum history_change { CHANGED_NONE, CHANGED_TOO_FEW, CHANGED_NO, CHANGED_REGRESSION, CHANGED_IMPROVEMENT, CHANGED_DIFFERENT };
const char *history_change_name(enum history_change changed); /* "", "too few", "no change", "regression", "improvement", "different" */

struct history_metric {
    const struct compared_metric *m; /* sides: 0 the earlier runs, 1 the run */
    double value, change; /* the run's; against the median as a fraction, NaN where the median is 0 */
    struct stats_expected expected; /* low, high NaN: too few */
    enum history_change changed;
    bool counts; /* may close the gate */
};

/* Judges metrics of compare_metrics for {earlier runs, run}. min_effect: smaller changes (fraction of the median) are none, however sure. *ret in the
 * arena, as many as the list is long. -1: out of memory. */
int history_judge(const struct compared_metric *metrics, size_t runs, double min_effect, struct arena *a, struct history_metric **ret,
                  size_t *ret_count, struct err *err);
struct history_question {
    const char *run; /* as runs_find accepts it */
    size_t last; /* at most so many earlier runs, 1 to HISTORY_MAX */
    double min_effect; /* as in history_judge */
    bool all, gate; /* also observations of the machine; status 3 for a regression */
    enum listing_form form; /* text, a document, or a row for each metric */
    const struct opt_value *ignore, *tags; /* patterns of params that do not matter; tags that the earlier runs have */
    const struct filter *query; /* that holds for the earlier runs; NULL: every run */
    FILE *out, *notes;
    struct arena *arena;
};
enum { HISTORY_USUAL = 50, HISTORY_MAX = 1000 };
/* Compares the run with the earlier ones and prints the result. 0; 3: with gate, a metric that counts
 * is worse; 1: the run is damaged; -1 with err. */
int history_compare(const struct history_question *asked, struct runs *runs, struct err *err);
#endif
