/* filter.h: the search language of MLflow's client, compiled and evaluated on runs of a tree.
 *
 *     metrics.`write.bw_MiB_per_s` > 1000 AND params.fs.type = 'lustre' AND tags.site LIKE 'a%'
 *
 * What is accepted means what it means to MlflowClient.search_runs of MLflow 3 on a file store. What MLflow refuses is refused. So are a few
 * things that it silently ignores: a missing, doubled, leading or trailing AND, a key that begins with a blank, a list behind "=".
 * MLflow has no env.NAME: the variable of the job's environment, as the artifact environment.txt has it. */
#ifndef FILTER_FILTER_H
#define FILTER_FILTER_H
#include "base/arena.h"
#include "base/err.h"
#include "mlruns-format/tree.h"

enum { FILTER_TEXT_MAX = 64 << 10 }; /* bytes of an expression */

enum filter_kind { FILTER_METRIC, FILTER_PARAM, FILTER_TAG, FILTER_ATTRIBUTE, FILTER_DATASET, FILTER_ENVIRONMENT };
enum filter_attribute {
    FILTER_RUN_ID,
    FILTER_RUN_NAME,
    FILTER_USER_ID,
    FILTER_STATUS,
    FILTER_ARTIFACT_URI,
    FILTER_START_TIME,
    FILTER_END_TIME,
    FILTER_EXPERIMENT /* for columns only, as experiment_id */,
    FILTER_EXPERIMENT_ID
};

/* The name of one fact of a run. */
struct filter_key {
    enum filter_kind kind;
    enum filter_attribute attribute; /* of FILTER_ATTRIBUTE */
    const char *name; /* the key of a metric, param or tag; name, digest or context of a dataset; the attribute's own name; a variable */
};

/* One fact of one run. */
enum filter_is { FILTER_MISSING, FILTER_TEXT, FILTER_NUMBER, FILTER_INTEGER };
struct filter_value {
    enum filter_is is;
    struct str text; /* in the buffer of the reader, or the run's own */
    double number;
    int64_t integer; /* milliseconds since the epoch */
};
/* Reads a fact, only the files that it needs. tree: that the run is read through. `text` is overwritten. A fact that cannot be read is missing, and
 * *ret_problem a sentence in the arena (untouched otherwise). Datasets have no single value: missing. */
struct filter_value filter_value_read(const struct filter_key *key, const struct folder *tree, const struct tree_run *run, struct buf *text,
                                      struct arena *a, const char **ret_problem);

/* ---- expressions ---- */

struct filter;
/* Compiles an expression into the arena, which must outlive it. An empty one holds for every run. ERR_USAGE names what is wrong and shows the place. */
int filter_parse(const char *text, struct arena *a, const struct filter **ret, struct err *err);
/* Returns whether the expression holds for the run. NULL holds always. A fact that cannot be read
 * makes it false and sets *ret_problem, as above. Thread-safe. */
bool filter_holds(const struct filter *f, const struct folder *tree, const struct tree_run *run, struct arena *a, const char **ret_problem);
/* Finds the keys that an expression names, in its order: *ret in the arena. Returns their
 * number. */
size_t filter_keys(const struct filter *f, struct arena *a, const struct filter_key **ret);

/* ---- keys alone ---- */

/* Parses a key with an optional direction, as MLflow's order_by has it: "metrics.bw DESC". option:
 * for messages, "--sort". */
int filter_parse_order(const char *text, const char *option, struct arena *a, struct filter_key *ret, bool *ret_descending, struct err *err);
/* Returns the order of two values under MLflow's order_by: less than 0 if x comes first. NaN and
 * then missing values are last in both directions. */
int filter_value_order(const struct filter_value *x, const struct filter_value *y, bool descending);
/* Returns whether the text is like the pattern, as in MLflow. "%" stands for any characters and "_"
 * for one, line ends excepted; there is no escape character. A pattern that ends in "%" fits
 * whatever follows, other lines too. any_case: ILIKE. */
bool filter_like(struct str text, struct str pattern, bool any_case);
/* Appends the key as an expression would have it, quoted where it must be: metrics.`a b`. */
void filter_key_show(struct buf *to, const struct filter_key *key);
#endif
