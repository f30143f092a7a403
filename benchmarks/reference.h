/* reference.h: references: what a metric should be on this machine, as a YAML file (docs/howto-reference.md), and the judgement of a run by it.
 *
 * An entry has conditions (site, cluster, partition, node type, benchmark, params) and for some metrics a value with a band. Of the entries
 * whose conditions all hold the one with most conditions counts for a metric. */
#ifndef BENCHMARKS_REFERENCE_H
#define BENCHMARKS_REFERENCE_H
#include "mlruns-format/record.h"

struct references; /* one file, checked */

/* Loads and checks a file of at most 1 MiB. 0 with *ret, which the caller frees with references_free; -1:
 * ERR_INPUT with file, line and column, ERR_SYSTEM: it cannot be read, or out of memory. */
int references_load(struct references **ret, const char *path, struct err *err);
/* Does what references_load does, from a text, which is copied; `name` is for messages. */
int references_parse(struct references **ret, const char *name, struct str text, struct err *err);
/* Sets what the results call the file instead of its path (public records name no homes). The label is
 * copied; out of memory the path stays. */
void references_call(struct references *refs, const char *label);
void references_free(struct references *refs);

enum referred {
    REFERRED_PASS,    /* within the band */
    REFERRED_BELOW,   /* below its lower end */
    REFERRED_ABOVE,   /* above its upper end */
    REFERRED_MISSING, /* the run has no value that can be compared */
    REFERRED_NONE     /* a headline metric without an entry */
};
const char *referred_name(enum referred verdict); /* "pass", "below", "above", "missing", "no reference" */

struct referred_metric {
    const char *metric;          /* key in the record; the name in the file where the run has no such metric */
    enum referred verdict;
    bool fails;                  /* outside on the bad side (either side without a direction or with strict), or missing */
    double value, reference, low, high; /* in `unit`; NaN: there is none */
    const char *unit;            /* name of units.def, "" */
    const char *where;           /* "refs.yaml:12", by the label */
    const char *text;            /* a sentence for people */
    struct referred_metric *next;
};
struct reference_outcome {
    struct referred_metric *first; /* in the order of the files */
    size_t judged, failed;       /* metrics with an entry; of those: not good enough */
    const char *reason;          /* why it failed, "" if it did not */
};

/* Judges the metrics of r by the files, strongest first: where one has an entry for a metric, later
 * ones do not count. Writes a reference fact for each metric, and warnings for ties. Results live
 * in r's arena. -1: out of memory. */
int references_judge(const struct references *const *files, size_t count, struct record *r, struct reference_outcome *ret, struct err *err);
#endif
