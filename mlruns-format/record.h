/* record.h: what a run is: facts in order of arrival.
 *
 * Producers (probes, rules, options, `benchwrap log`) call record_*, the only way to write. A fact is checked here once: keys are made
 * legal (reported once, as a warning fact), text is made valid UTF-8, non-finite values become
 * missing. Each fact is handed to the
 * listener as it arrives (the journal); the record keeps it in memory for the tree. Replaying a journal calls the same functions. */
#ifndef MLRUNS_FORMAT_RECORD_H
#define MLRUNS_FORMAT_RECORD_H
#include "base/arena.h"
#include "base/err.h"
#include "base/json_out.h"
#include "base/str.h"

#include <stdint.h>

enum { MLRUNS_FORMAT = 1 }; /* version of the format, README.md; a change of it is a contract between sites */
enum fact_kind { FACT_PARAM, FACT_METRIC, FACT_TAG, FACT_ARTIFACT, FACT_MISSING, FACT_WARNING };
enum direction { DIR_NONE, DIR_HIGHER, DIR_LOWER };          /* which way is better */
enum run_status { RUN_RUNNING = 1, RUN_FINISHED = 3, RUN_FAILED = 4, RUN_KILLED = 5 }; /* MLflow's numbers */

struct fact {
    enum fact_kind kind;
    struct str key;     /* param, metric, tag, missing: key. artifact: path below artifacts/ */
    struct str text;    /* param, tag: value. artifact: file in the spool directory, relative. missing: reason. warning: sentence */
    double value;       /* metric */
    int64_t time_ms;    /* when it was made */
    int64_t step;       /* metric */
    const char *unit;   /* metric: name of mlruns-format/units.def or "" */
    enum direction direction;
    const char *source; /* its source: "option", "probe:cpu", "rule:ior:results", "log", … (interned) */
    struct fact *next;
};

struct record {
    struct arena arena;
    char id[33];                /* run id, 32 lower-case hex */
    int64_t start_ms, end_ms;   /* end_ms 0: not ended */
    enum run_status status;
    struct fact *first, *last;
    size_t count;
    void (*listen)(void *context, const struct fact *fact); /* may be NULL */
    void *context;
    /* May be NULL. Replaces in place, by text of equal length, what must not be written in values, reasons and warnings. key: of the param or tag, else empty. */
    void (*redact)(void *context, struct str key, char *text, size_t n);
    /* The same for the names of params, tags, metrics and artifacts. May be NULL. */
    void (*redact_name)(void *context, char *text, size_t n);
    void *redact_context;
    const char *source;         /* noted on the facts that follow; set by whoever drives producers */
    struct str references;      /* metrics judged by references, as the elements of a JSON array (benchwrap.json); made at the end, never in the journal */
    /* Index of params/tags by key for record_find and last-wins; private. */
    struct record_index *index;
};

/* Returns whether the text is a run id: 32 lower-case hexadecimal digits. */
static inline bool record_is_id(struct str text)
{
    return str_hex(text, 32);
}
/* Writes a new random run id (UUID version 4): 32 lower-case hexadecimal digits. */
void record_new_id(char ret[33]);
/* Writes the id that a name always yields (UUID version 5 in the format's namespace): what is made
 * twice from the same thing is one run. */
void record_named_id(char ret[33], struct str name);
/* Begins an empty record; the caller calls record_deinit. Out of memory leaves r->index NULL:
 * nothing is then recorded. */
void record_init(struct record *r, const char id[33], int64_t start_ms);
void record_deinit(struct record *r);
/* Params are write-once: the same value again is nothing, another value keeps the first and records a warning fact. Tags: last wins. */
void record_param(struct record *r, const char *key, struct str value);
void record_tag(struct record *r, const char *key, struct str value);
/* unit: units.def name, or "" / NULL. time_ms 0: now. A non-finite value becomes FACT_MISSING, unless keep_nan. */
void record_metric(struct record *r, const char *key, double value, const char *unit, enum direction dir, int64_t step, int64_t time_ms);
void record_metric_nan(struct record *r, const char *key, int64_t step, int64_t time_ms);
void record_artifact(struct record *r, const char *path, const char *file);
void record_missing(struct record *r, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void record_warning(struct record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a fact read from a journal: the same checks, with the fact's own time and source. Its texts
 * are copied. A NaN is kept. */
void record_fact(struct record *r, const struct fact *fact);
/* Returns how many facts were lost because memory was used up (a record holds 512 MiB at most). */
size_t record_lost(const struct record *r);
/* Convenience: numbers as params, printed so that they read back equal. */
void record_param_int(struct record *r, const char *key, int64_t value);
void record_param_double(struct record *r, const char *key, double value);
/* Returns the fact in force for a param, metric, tag or artifact, or the first reason of a missing
 * value; NULL if none. */
const struct fact *record_find(const struct record *r, enum fact_kind kind, const char *key);
/* Returns the text in force of a param or tag, ended by a NUL; { NULL, 0 } if none. */
struct str record_text(const struct record *r, enum fact_kind kind, const char *key);
/* Returns the latest value of a metric, or `otherwise`. */
double record_number(const struct record *r, const char *key, double otherwise);
const char *record_status_name(enum run_status status); /* "FINISHED" … */
/* Writes the value of a metric as the format has it: NaN is "nan". */
void json_metric(struct json_out *j, const char *key, double value);
const char *record_direction_name(enum direction dir);  /* "higher", "lower", "" */
enum direction record_direction_of(const char *name);   /* the way back; DIR_NONE for any other text */
#endif
