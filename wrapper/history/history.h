/* history.h: the history of each metric of runs with one comparison key, with its change points. */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H
#include "base/listing.h"
#include "base/opt.h"
#include "compare/comparison_key.h"
#include "history/causes.h"
#include "history/change_points.h"
#include "history/run_facts.h"

enum { HISTORY_RUNS_MIN = CHANGE_BEFORE_MIN + CHANGE_AFTER_MIN, HISTORY_GATE_USUAL = 20 };

enum level_verdict { LEVEL_DIFFERENT, LEVEL_REGRESSION, LEVEL_IMPROVEMENT };
const char *level_verdict_name(enum level_verdict verdict); /* "different", "regression", "improvement" */

struct history_point { /* one run, or the repetitions of one series that have this key */
    const struct facts_run *run; /* the first of them */
    size_t first, count; /* of history_group.members */
};
struct level_change {
    struct change_point is; /* ->at: among the values of the metric */
    enum level_verdict verdict;
    const struct tree_run *run, *before; /* the first run of the new level, the last one of the old level */
    struct cause_change *changed; /* what else changed there, the likeliest causes first */
    size_t changed_count;
    int changed_offset; /* 1, -1: there at the next or the previous run, and nothing at this one */
    bool newest; /* no later change of this metric */
};
struct history_metric_series {
    const struct fact_key *key;
    const char *direction; /* "higher", "lower"; "": the runs know none, or disagree */
    bool is_disputed; /* they disagree */
    bool headline, counts; /* counts: may close the gate */
    double *values;
    size_t *places; /* of each value: index in history_group.points */
    size_t n;
    struct change_points points;
    struct level_change *changes; /* as points.list */
};
struct history_group { /* the runs of one comparison key in one experiment */
    struct comparison_key key;
    const char *experiment;
    const struct facts_run **members; /* oldest first */
    size_t member_count, member_capacity;
    struct history_point *points;
    size_t point_count;
    struct history_metric_series *metrics; /* headline metrics first, then by key */
    size_t metric_count;
};
struct history_request {
    const char *run; /* show only the group of this run, as runs_find accepts it, or those of the points of this sweep; NULL: all groups */
    struct runs_filter filter;
    const struct opt_value *ignore; /* patterns of facts that may differ */
    const struct rules *rules; /* explain the arguments of every run; NULL: each run's own */
    bool sweeps; /* the history of parent runs of sweeps, which have several points; else of all other runs */
    double min_effect;
    bool all; /* also metrics of the machine */
    FILE *notes;
    struct arena *arena;
};
struct history {
    struct run_facts facts;
    struct history_group *groups; /* those with the most runs first */
    size_t group_count;
    size_t failed, copies, ahead,
        damaged; /* runs that are left out: not finished; recorded twice; with a start in the future; unreadable */
};

/* Chooses those of the runs that runs_load has read that have a history, and groups them by
 * comparison key: finished runs, without warm-ups, annotations and copies; repetitions count by
 * their parent run, where it is among the runs. The commands `history` and `compare --history` both
 * use this selection. `asked`: ignore, rules, sweeps and arena count. history_close frees it, also
 * after -1. */
int history_group_runs(const struct history_request *asked, struct runs *runs, struct history *ret, struct err *err);
bool history_is_ahead(const struct facts_run *r); /* does it start in the future, more than clocks differ? */
/* Reads the runs that the filter chooses, and searches all their metrics. history_close frees it, also after -1. */
int history_read(const struct history_request *asked, struct runs *runs, struct history *ret, struct err *err);
void history_close(struct history *h);
/* Returns true if the tag `benchwrap.headline` (words) names the metric or a statistic of it. */
bool history_names_headline(const char *tag, const char *key);
/* Returns whether the newest level of a metric that counts is worse than the one before, and began
 * among the newest `last` runs. */
bool history_has_regression(const struct history *h, size_t last);

/* Parts of sentences, in the arena: "write.bw @4", and "-12 %" or "from 0 to 5 s" where there is no ratio. */
const char *history_metric_label(const struct history_metric_series *m, struct arena *a);
const char *history_change_words(const struct history_metric_series *m, const struct level_change *c, struct arena *a);
/* Appends "kernel.release 6.1.0-30 -> 6.1.0-31, …": the likeliest causes. Nothing where nothing
 * else changed. */
void history_put_causes(const struct level_change *c, struct buf *to);

/* A change as a JSON object that Grafana's API of annotations accepts: time, tags, text and data. */
struct history_note {
    const char *id; /* "RUN METRIC", of one line: the same whenever this change is found */
    struct str record;
};
/* Returns what may be sent of a run's text. key: that of the fact whose value it is; NULL: the text is the name of the experiment. NULL: out of memory. */
typedef const char *history_sendable(void *context, const struct tree_run *run, const char *key, const char *text);
/* Those of all changes, in the arena. *ret: ids and records have the same order. -1: out of memory. */
int history_notes(const struct history *h, history_sendable *sendable, void *context, struct arena *a, struct history_note **ret,
                  size_t *ret_count);

int history_write_text(const struct history *h, const struct history_request *asked, FILE *out); /* -1: out of memory */
int history_write_json(const struct history *h, const struct history_request *asked, FILE *out);
int history_write_rows(const struct history *h, const struct history_request *asked, enum listing_form form,
                       FILE *out); /* one for each change */
#endif
