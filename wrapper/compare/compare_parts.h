/* compare_parts.h: what the parts of a comparison as text share; see compare_text.h. */
#ifndef COMPARE_COMPARE_PARTS_H
#define COMPARE_COMPARE_PARTS_H
#include "base/screen.h"
#include "compare/compare_keys.h"

struct compare_text {
    struct arena *arena;
    bool all; /* also what stays out of a usual comparison */
    const struct compare_group *groups;
    size_t count;
    const struct compared_metric *metrics;
    const struct compared_keys *keys;
    const char *by;
    bool arguments_known;
    const char **differing; /* params */
    struct screen screen;
    struct buf *to;
};

/* Appends a text with a line end, broken where the screen is narrow; further lines begin with `indent` blanks. */
void compare_put_wrapped(struct compare_text *t, size_t indent, struct str text);
/* Returns the most repetitions that a metric of the group has; 1: none is repeated. */
size_t compare_repetitions(const struct compare_text *t, size_t g);
/* Returns true if there is a headline metric other than the wall time. */
bool compare_has_headlines(const struct compare_text *t);
bool compare_is_wall(const struct compared_metric *m);
/* Returns whether no difference was found, but the interval reaches beyond 0.8 … 1.25: it is too
 * wide to decide. */
bool compare_is_varied(const struct compared_side *side);
/* Returns whether the param is an input of the program. */
bool compare_is_input(const struct compare_text *t, const char *key);
/* Returns true if group g and the first one have a common metric other than the wall time. */
bool compare_shares_metric(const struct compare_text *t, size_t g);

struct counted_runs {
    size_t n, unjudged, runs; /* unjudged: neither in n nor known not to be */
};
/* Counts the runs of a group that were disturbed. A series stands for its repetitions without those
 * for warm-up. */
struct counted_runs compare_count_disturbed(const struct compare_group *group);

/* Append lines: what is higher or lower in group g; which runs were disturbed; which groups mix runs of several situations. */
void compare_put_answer(struct compare_text *t, size_t g);
void compare_put_failed(struct compare_text *t); /* "! Failed: A 1 of 1 runs." */
void compare_put_disturbed(struct compare_text *t);
void compare_put_partial(struct compare_text *t); /* "! Not all runs have a value: rate in 4 of 5 runs of A." */
void compare_put_missing(struct compare_text *t); /* "! p99 is missing in B: p99 of 256 values, 662 needed." */
void compare_put_units(struct compare_text *t); /* compare_units_line of all metrics and groups */
void compare_put_disputed(struct compare_text *t); /* "! The runs disagree on the better direction of score: …" */
void compare_put_mixed(struct compare_text *t);
#endif
