/* metric_series.h: the metrics of a run as series of a time series database: names in base units, labels, samples.
 *
 * `write.bw_MiB_per_s.max` is benchwrap_write_bw_max_bytes_per_second{key="write.bw_MiB_per_s.max", …}. The label
 * `key` makes a series unique, so that keys whose names are equal after the conversion stay
 * distinct.
 * A family's help text depends on its name alone: node exporter drops families that differ in it. */
#ifndef EXPORTERS_METRIC_SERIES_H
#define EXPORTERS_METRIC_SERIES_H
#include "exporters/exporter.h"

#define EXPORTER_KEY_METRICS "metrics"
#define EXPORTER_KEY_LABELS "labels"
/* The rows of keys that these functions read. */
#define METRIC_SERIES_ROWS                                                                                             \
    {.name = EXPORTER_KEY_METRICS, .kind = OPT_CHOICE, .arg = "results|all", .value = "all", .help = "Send metrics of the program, of the run and of its energy, or also those of the machine", .flags = OPT_FROM_FILE}, \
    {.name = EXPORTER_KEY_LABELS, .kind = OPT_PAIR, .arg = "{NAME: param.K|tag.K|TEXT}", .help = "Add these labels", .flags = OPT_FROM_FILE}

enum { METRIC_LABELS_MAX = 24, METRIC_STEPS_MAX = 64, METRIC_LABEL_BYTES = 200 };

struct metric_label {
    const char *name, *value;
};
enum metric_kind {
    METRIC_STATE,  /* about the run: its outcome, its references */
    METRIC_RESULT, /* a metric of the record */
    METRIC_NODE,   /* a sample of a machine */
};
struct exporter_series {
    enum metric_kind kind;
    const char *family;         /* "benchwrap_write_bw_max_bytes_per_second" */
    const char *help;
    const char *unit;           /* the unit at its end, "bytes_per_second"; "": a count or a ratio */
    const char *key;            /* of the record; NULL: none */
    bool counter;               /* its name ends in _total; else a gauge */
    struct metric_label labels[METRIC_LABELS_MAX]; /* by name, none empty */
    size_t n_labels;
    const struct tree_sample *samples; /* in base units, times strictly increase */
    size_t count;
};
struct metric_set {
    struct exporter_series *list; /* by family */
    size_t count, room;
};
enum metric_form {
    METRIC_NOW,   /* the last value of each series, without time: what replaces the values of the run before */
    METRIC_LIVE,  /* the same of a run in progress: every series has the label `run`, and no outcome */
    METRIC_TIMES, /* all samples with their times; samples of machines have the label `run` */
};

/* Checks the keys of METRIC_SERIES_ROWS. 0; -1 with ERR_INPUT. */
int metric_series_configure(const struct exporter_config *c, struct err *err);
/* Makes the series of a run, in its arena. c: for the keys above; NULL: none. 0; -1 with err. */
int metric_series_make(struct metric_set *ret, const struct exporter_config *c, const struct exporter_run *run, enum metric_form form,
                       struct err *err);
/* The label of this name, "" where there is none. */
const char *metric_series_label(const struct exporter_series *s, const char *name);
/* The name and the unit of a family for a key of the record in a unit of units.def, into the arena. */
struct metric_name {
    const char *family, *unit;
    double ratio; /* a value in base units is value * ratio, or value / -ratio where it is negative */
};
/* Makes the name of a metric's family by the rules of Prometheus: the words of the key and the base
 * unit. The family is in the arena. False: out of memory, or the name is too long. */
bool metric_series_name(const char *key, const char *unit, struct arena *a, struct metric_name *ret);
/* Returns the value in the base unit of its family. */
double metric_series_value(const struct metric_name *n, double value);
/* Makes the value of a label: valid text of at most METRIC_LABEL_BYTES bytes on one line, in the arena. "" where nothing is left; NULL: no memory. */
const char *metric_series_label_text(struct str text, struct arena *a);
/* Appends a value as the text formats of Prometheus write it: shortest, "NaN", "+Inf", "-Inf". */
void metric_series_number(struct buf *to, double value);
#endif
