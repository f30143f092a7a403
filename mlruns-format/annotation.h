/* annotation.h: tags that a later run adds to a run or removes from it (version 2 of the format).
 *
 * An annotation is a run of its own in the experiment of the run that it annotates. Its tag
 * benchwrap.annotates has the id of that run, its artifact annotation.json the changes:
 * {"format": 2, "run": ID, "set": {KEY: TEXT, …}, "remove": [KEY, …]}. */
#ifndef MLRUNS_FORMAT_ANNOTATION_H
#define MLRUNS_FORMAT_ANNOTATION_H
#include "mlruns-format/tree.h"

#define ANNOTATION_TAG "benchwrap.annotates"
#define ANNOTATION_FILE "annotation.json"
#define ANNOTATION_NOTE "mlflow.note.content" /* the tags in which MLflow has a run's description and name */
#define ANNOTATION_NAME "mlflow.runName"
enum {
    ANNOTATION_FORMAT = 2, /* the version that defines annotations; tag benchwrap.format of one */
    ANNOTATION_MAX = 64 << 10, /* bytes of annotation.json */
    ANNOTATION_KEYS_MAX = 100, /* tags that one annotation changes */
    ANNOTATION_TEXT_MAX = 8000 /* bytes of a value */
};

/* Returns whether an annotation may change the tag. Tags about the measurement and its origin are
 * not free: below benchwrap., mlflow. (but the description and the name), job., slurm., pbs.,
 * system/; site, cluster, benchmark, benchmark.version, hostname, hosts, queue. */
bool annotation_key_is_free(struct str key);
/* Reads annotation.json. *ret is a list in the arena, sorted by key; a removed tag has value.p NULL.
 * -1: err names what is wrong; also for a key that is not free or not legal, or one that is named twice. */
int annotation_parse(struct str text, struct arena *a, char ret_run[33], struct tree_entry **ret, struct err *err);
/* Appends annotation.json of the run `id`. */
void annotation_print(const char *id, const struct tree_entry *list, struct buf *to);
/* Merges the list `later` over `earlier`, of each key the later one: a new list in the arena,
 * sorted by key. NULL: both are empty, or out of memory (a->failed). */
struct tree_entry *annotation_merge(const struct tree_entry *earlier, const struct tree_entry *later, struct arena *a);
#endif
