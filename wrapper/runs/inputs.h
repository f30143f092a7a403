/* inputs.h: which params make runs comparable: the program's inputs, the shape of the job, the node type; and runs that share them. */
#ifndef RUNS_INPUTS_H
#define RUNS_INPUTS_H
#include "runs/runs.h"

/* Returns whether the param states what was measured (an argument, an option, a param from the
 * output, nodes and tasks, node.type, job.partition), and is not an observation of the machine.
 * source: of the param in benchwrap.json; NULL: not known. ignore: patterns of keys that never
 * matter. */
bool inputs_matter(const char *key, const char *source, const struct opt_value *ignore);
/* Returns whether it is the allocation's number of something (job.nodes) where the run knows the
 * launch's own (step.nodes). Then it is no input. */
bool inputs_superseded(const struct tree_entry *params, const char *key);
/* Returns whether the param, by its key, is about the machine or the shape of the job, which a
 * parent run holds for its repetitions. */
bool inputs_of_machine(const char *key);
/* Returns the source of a param in benchwrap.json; NULL if unknown. */
const char *inputs_source(const struct json *detail, const char *key);

/* Returns the value of an input, "params/api", in a run of which only the meta is read; the
 * launch's shape is job.* in older runs. NULL: there is none. */
const char *inputs_value(const struct runs *runs, const struct tree_run *run, const char *path, struct arena *a);

struct run_inputs { /* what other runs must share with this one to be comparable */
    struct input {
        const char *path;
        struct str value;
        size_t missed;
    } * list; /* "params/api"; p NULL: must be absent; missed: how many runs differ in it */
    size_t count;
    bool child; /* it has a parent run */
    const char *parent; /* its id, or NULL */
};
/* Lists what other runs must share with `run`, whose params and tags are read. 0; -1 with err. */
int inputs_of(struct run_inputs *ret, const struct tree_run *run, const struct json *detail, const struct opt_value *ignore, struct arena *a,
              struct err *err);
/* Returns whether another run, of which only the meta is read, shares them. Reads as few of its
 * files as it can. Warm-up runs share nothing, nor do runs of the same parent. */
bool inputs_shared(struct run_inputs *in, const struct runs *runs, const struct tree_run *other, struct arena *a);
/* Returns the input in which most of the compared runs differ; NULL if none did. */
const char *inputs_most_missed(const struct run_inputs *in);
#endif
