/* tree_meta.h: the meta.yaml of runs and experiments, benchwrap's and Python MLflow's; private to
 * mlruns-format. */
#ifndef MLRUNS_FORMAT_TREE_META_H
#define MLRUNS_FORMAT_TREE_META_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mlruns-format/record.h"

/* Texts are borrowed from what was parsed or from the arena; p == NULL: the key is absent or null. */
struct tree_meta {
    struct str run_id, experiment_id, name /* run_name of a run */, user_id, artifact_uri, lifecycle;
    int64_t start_ms, end_ms; /* 0: absent or null */
    int64_t status; /* -1: absent */
};

enum { TREE_META_MAX = 1 << 20 }; /* bytes of a meta.yaml */

/* Parses a meta.yaml. Plain `key: value` lines are read here, everything else through base/yaml.h.
 * `name` is for messages. */
int tree_meta_parse(struct tree_meta *ret, const char *name, struct str text, struct arena *a, struct err *err);
/* Appends the text of an experiment's meta.yaml: six lines, the same at every site. */
void tree_meta_experiment(struct buf *to, uint32_t id, struct str name);
/* Appends the text of a run's meta.yaml. end_ms 0: the run has not ended. deleted: it was deleted
 * on the server that it comes from. */
void tree_meta_run(struct buf *to, uint32_t experiment, const char *run_id, struct str run_name, struct str user, int64_t start_ms,
                   int64_t end_ms, enum run_status status, bool deleted);
#endif
