/* tree.h: runs as MLflow's file store reads them: experiment and run folders, built under another
 * name and renamed when complete. */
#ifndef MLRUNS_FORMAT_TREE_H
#define MLRUNS_FORMAT_TREE_H
#include "base/folder.h"
#include "mlruns-format/journal.h"

/* Returns the experiment id of a name: 1 + (u mod 2147483646), u = first 4 bytes (big endian) of
 * UUIDv5(6f1c9a52-7d0e-5b5e-9d0b-0b5f2a3c4d5e, name). */
uint32_t tree_experiment_id(struct str name);
/* Finds or creates the experiment for `name` in the tree `root` (descriptor of mlruns):
 * <id>/meta.yaml. If the id belongs to another name, "<name>~2" … is used; *ret_name is the name
 * used (in the arena). Never overwrites. */
int tree_experiment(int root, struct str name, struct arena *a, uint32_t *ret_id, struct str *ret_name, struct err *err);
/* Builds the run directory of a finished record at dir/path (made here; must not exist): meta.yaml
 * params/ metrics/ tags/ artifacts/. `spool` holds the artifacts' files (linked, else copied).
 * Series longer than 1,000 points are thinned (min and max per bucket); all samples go to
 * artifacts/series.jsonl. Writes artifacts/benchwrap.json and artifacts/manifest.json. 0; -1. */
int tree_build(const struct record *r, const struct journal_head *head, uint32_t experiment, struct str experiment_name, int spool, int dir,
               const char *path, struct err *err);
/* rename(2) of dir/path to root/<exp>/<run id>; on EXDEV copies under a hidden name without meta.yaml first. 1 if the run is there already. */
int tree_publish(int root, uint32_t experiment, const char *run_id, int dir, const char *path, struct err *err);

/* Reading back, for ls/show/compare. Damaged entries are reported in ->problem, never fatal. */
struct tree_sample {
    int64_t time_ms, step;
    double value;
};
struct tree_entry {
    const char *key;
    struct str value;
    const struct tree_sample *samples;
    size_t count;
    struct tree_entry *next;
};
struct tree_run {
    char id[33];
    uint64_t experiment_id; /* 18 digits when Python MLflow made it; 0 where the folder's name is no number */
    const char *experiment, *name, *user, *artifact_uri;
    int64_t start_ms, end_ms;
    enum run_status status; /* 2 (scheduled) is possible in trees of others */
    const char *lifecycle;
    struct tree_entry *params, *metrics, *tags; /* NULL until requested */
    const char *path; /* below the tree's parent, "mlruns/<exp>/<run>" */
    const char *problem; /* what could not be read, or NULL */
    const struct folder *tree; /* that it was read from, as the caller passed it; NULL: by descriptor */
    const struct tree_entry *annotated; /* tags that annotations set (value.p NULL: remove), by key; tree_annotate sets it */
    const char *annotates; /* of an annotation, set by callers that list runs: the id of the run that it changes; NULL: it is none */
    const struct run_row *row; /* set by callers that list runs; NULL: not read */
    struct tree_run *next;
};
enum {
    TREE_META = 0,
    TREE_PARAMS = 1,
    TREE_METRICS = 2,
    TREE_TAGS = 4,
    TREE_LAST = 8 /* of each metric the latest value only */,
    TREE_COMPLETE = 32 /* with TREE_METRICS: all samples, where the metric files have the extremes of each bucket only */,
    TREE_NAMES = 16 /* for tree_fill: nothing of the run's own; its texts are NULL, ->problem is the experiment's */
};
/* Calls `each` for every run (meta read, plus what `what` requests); stops when it returns
 * non-zero. The run lives in `a`. */
int tree_walk(int root, unsigned what, struct arena *a, int (*each)(void *context, struct tree_run *run), void *context, struct err *err);
/* Finds one run by id or unique prefix (>= 4 hex digits). 1: not found; 2: ambiguous. */
int tree_find(int root, const char *prefix, unsigned what, struct arena *a, struct tree_run **ret, struct err *err);
/* Reads a run from tree_walk or tree_find again (its meta.yaml too). experiment: descriptor
 * of its folder. */
int tree_read(int experiment, const struct tree_run *run, unsigned what, struct arena *a, struct tree_run **ret, struct err *err);
/* tree_walk and tree_find for a tree in a folder of any kind, which must outlive the runs' ->tree. */
int tree_walk_in(const struct folder *root, unsigned what, struct arena *a, int (*each)(void *context, struct tree_run *run), void *context,
                 struct err *err);
int tree_find_in(const struct folder *root, const char *prefix, unsigned what, struct arena *a, struct tree_run **ret, struct err *err);
/* Reads the rest of a run from tree_walk_in with TREE_NAMES, root: that tree. Threads can fill
 * different runs where the folder allows it (folder_shared). */
void tree_fill(const struct folder *root, struct tree_run *run, unsigned what, struct arena *a);
/* Applies what annotations change (annotation.h): the run's name and, where `what` has TREE_TAGS,
 * the tags that were read. Whatever is read of the run later has the changes, too: tree_fill,
 * tree_read, tree_file. The list must outlive the run. */
void tree_annotate(struct tree_run *run, const struct tree_entry *list, unsigned what, struct arena *a);
/* Returns the entry of run->annotated for a tag; NULL: what is recorded counts. */
const struct tree_entry *tree_annotated_tag(const struct tree_run *run, const char *key);
/* Returns the path of the run in its tree: "<experiment>/<run>", a part of run->path. */
const char *tree_run_path(const struct tree_run *run);
/* Reads one metric of a run with all its samples, into the arena. Returns 0; 1: it is absent or cannot be read. */
int tree_metric(const struct folder *tree, const struct tree_run *run, const char *key, struct arena *a, struct tree_entry *ret);
/* Reads one line of a metric's file, without its line end. False: it is none. */
bool tree_sample_parse(struct str line, struct tree_sample *ret);
/* Returns whether MLflow shows a rather than b as the metric's value. The later step, then time,
 * then the larger value counts. */
bool tree_sample_is_later(const struct tree_sample *a, const struct tree_sample *b);
/* Returns the sample that MLflow shows as the metric's value, whatever their order in the file;
 * NULL: there is none. */
const struct tree_sample *tree_entry_latest(const struct tree_entry *e);
/* For qsort: the order in which a record accepts samples, whose time stamps it makes distinct: by
 * time, then step, then value, so that MLflow shows the same one. */
int tree_sample_order(const void *a, const void *b);
/* Finds the sample of a metric's file that MLflow's file store uses as the metric's value. -1:
 * *ret_line is the first that is no sample; an empty file has none. */
int tree_latest_sample(struct str text, struct tree_sample *ret, size_t *ret_line);
/* Returns whether another process has deleted the run since its meta.yaml was read (start_ms is
 * set), or since its folder was listed. */
bool tree_is_gone(const struct folder *tree, const struct tree_run *run);
/* Reads one small file of a run ("tags/benchmark"), into the arena; NULL if absent. At most max
 * bytes, longer ones are cut. */
const char *tree_file(const struct folder *tree, const struct tree_run *run, const char *name, size_t max, struct arena *a);
#endif
