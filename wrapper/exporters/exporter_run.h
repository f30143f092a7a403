/* exporter_run.h: a published run as exporters read it, and as one JSON object. */
#ifndef EXPORTERS_EXPORTER_RUN_H
#define EXPORTERS_EXPORTER_RUN_H
#include "base/buf.h"
#include "base/json.h"
#include "mlruns-format/tree.h"

struct exporter_run {
    const struct tree_run *run; /* with params, tags and metrics */
    struct json *detail;        /* artifacts/benchwrap.json; NULL: a run of other programs */
    struct arena *arena;
    int root; /* of its tree: number of the descriptor + 1; 0: none */
};

/* Reads the run of this id. tree: descriptor of mlruns. 0; 1: it is not there; -1 with err. The caller
 * calls exporter_run_deinit after 0. */
int exporter_run_read(struct exporter_run *ret, int tree, const char *id, struct arena *a, struct err *err);
/* Frees benchwrap.json and closes the tree; the other texts are in the arena. */
void exporter_run_deinit(struct exporter_run *r);
/* Returns the value of a param or tag, NUL-terminated, in the run's arena; NULL: none. */
const char *exporter_run_param(const struct exporter_run *r, const char *key);
const char *exporter_run_tag(const struct exporter_run *r, const char *key);
/* The sample of largest step and time; NULL: the metric has none. */
const struct tree_sample *exporter_run_last(const struct tree_entry *metric);
/* The unit of a metric by benchwrap.json, else by its key; "" none. */
const char *exporter_run_unit(const struct exporter_run *r, const char *key);
/* Reads an artifact of the run. 0; -1: it has none, or it cannot be read, or it is longer than to->max. */
int exporter_run_artifact(const struct exporter_run *r, const char *name, struct buf *to);
/* Appends the run as one JSON object on one line, without a line end. It begins with
 * EXPORTER_RUN_BEGIN. samples: with all samples of each metric. */
void exporter_run_json(const struct exporter_run *r, bool samples, struct buf *to);
#define EXPORTER_RUN_BEGIN "{\"benchwrap_run\":1,"
#endif
