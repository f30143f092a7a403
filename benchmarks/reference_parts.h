/* reference_parts.h: what the loading and the judging of references share. */
#ifndef BENCHMARKS_REFERENCE_PARTS_H
#define BENCHMARKS_REFERENCE_PARTS_H
#include "base/arena.h"
#include "base/units.h"
#include "benchmarks/reference.h"

enum condition_kind { CONDITION_SITE, CONDITION_CLUSTER, CONDITION_PARTITION, CONDITION_NODE_TYPE, CONDITION_BENCHMARK, CONDITION_PARAM };

struct condition {
    enum condition_kind kind;
    const char *key; /* of a param */
    struct str *any; /* one of these patterns must fit; n == 0: the run must not have the param */
    size_t n;
    bool exact; /* one pattern, without wildcards */
    struct condition *next;
};

enum bound_kind { BOUND_NONE, BOUND_RELATIVE, BOUND_OFFSET, BOUND_LIMIT };
struct bound {
    enum bound_kind kind;
    double number; /* fraction of the value (-0.05), distance from it, or the limit itself */
    const struct unit *unit; /* of a distance or limit; NULL: the value's */
};

struct reference {
    const char *metric; /* key without @STEP */
    bool has_step, has_value, strict;
    int64_t step;
    double value;
    const struct unit *unit; /* of the value; NULL: the metric's */
    struct bound low, high;
    int line, column;
    struct reference *next;
};

struct reference_entry {
    struct condition *conditions;
    unsigned condition_count, exact_count;
    struct reference *metrics;
    int line;
    struct reference_entry *next;
};

struct references {
    struct arena arena;
    const char *name; /* path, for messages */
    const char *label; /* in results */
    struct reference_entry *entries;
    size_t count;
};

/* reference_match.c */
/* Returns whether the pattern describes the complete text. `*` stands for any bytes, `?` for one,
 * `[a-z]` and `[!a]` for one of a set, `\` quotes the next byte. A hostile pattern costs
 * text times pattern at most. */
bool reference_fits(struct str pattern, struct str text);
/* Returns the key without its statistic and unit, a part of it: "write.bw" of "write.bw_MiB_per_s.max".
 * *ret_unit (may be NULL) becomes the unit, NULL: none; *ret_stat (may be NULL) the statistic, n 0:
 * none. */
struct str reference_stem(struct str key, const struct unit **ret_unit, struct str *ret_stat);
/* Returns whether all conditions hold for the run. */
bool reference_entry_holds(const struct record *r, const struct reference_entry *e);
/* Returns the key of the run's metric that a name means: the name itself where it is a key; for
 * "write.bw" the headline statistic of that metric, for "write.bw.mean" another one, in whatever unit.
 * It lives as long as `metric` and the record. NULL: the run has none, or out of memory. */
const char *reference_resolve(struct record *r, const char *metric);
#endif
