/* inputs.c: which params make runs comparable, and whether a run shares them. */
#include "runs/inputs.h"

#include "benchmarks/reference_parts.h"
#include "runs/inherit.h"
#include "mlruns-format/missing.h"
#include "mlruns-format/shape.h"

#include <math.h>
#include <string.h>

/* The shape of the job and the node type are inputs, although probes record them. */
static bool is_shape(const char *key)
{
    static const char *const names[] = {"node.type", "job.partition", "job.rank"};
    if (!strchr("jsn", key[0]))
        return false; /* most keys: this test runs for each param of each run */
    if (shape_keys_of(str_of(key)).step)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

/* First parts of the keys that probes record: for runs whose benchwrap.json is not at hand. */
static bool is_machine(const char *key)
{
    static const char *const starts[] = {
        "cpu.",     "memory.",   "kernel.", "numa.", "node.", "fs.",       "os.",    "limits.", "cgroup.", "software.",    "program.",
        "machine.", "cache.",    "gpu.",    "net.",  "env.",  "slurm.",    "pbs.",   "lsf.",    "flux.",   "libraries.",   "source.",
        "git.",     "topology.", "job.",    "step.", "run.",  "pressure.", "nodes.", "probe.",  "load.",   "environment.", "host."};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(key, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Those who report what was around the program: what they know depends on who answered in time. */
static bool is_observer(const char *source)
{
    static const char *const names[] = {"recorder", "tree", "nodes", "scontrol", "sacct"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(source, names[i]) == 0)
            return true;
    return false;
}

bool inputs_of_machine(const char *key)
{
    return is_shape(key) || is_machine(key);
}

static bool has_step_entry(const struct tree_entry *params)
{
    struct shape_keys row;
    for (size_t i = 0; (row = shape_keys_at(i)).step; i++)
        if (runs_entry(params, row.step))
            return true;
    return false;
}

bool inputs_superseded(const struct tree_entry *params, const char *key)
{
    struct shape_keys shape = shape_keys_of(str_of(key));
    return shape.job && strcmp(key, shape.job) == 0 && has_step_entry(params);
}

static const char *inputs_step_value(const struct runs *runs, const struct tree_run *run, const char *key, struct arena *a)
{
    return inherit_file(runs, run, arena_printf(a, "params/%s", key), 8192, a);
}

/* Returns the launch's shape; that of the allocation where the run has nothing of a launch. */
static const char *inputs_shape_value(const struct runs *runs, const struct tree_run *run, const struct shape_keys *shape, struct arena *a)
{
    const char *value = inputs_step_value(runs, run, shape->step, a);
    struct shape_keys row;
    for (size_t i = 0; !value && (row = shape_keys_at(i)).step; i++)
        if (inputs_step_value(runs, run, row.step, a))
            return NULL;
    return value ? value : inputs_step_value(runs, run, shape->job, a);
}

const char *inputs_value(const struct runs *runs, const struct tree_run *run, const char *path, struct arena *a)
{
    struct shape_keys shape = shape_keys_of(str_of(strchr(path, '/') + 1));
    if (!shape.step)
        return inherit_file(runs, run, path, 8192, a);
    return inputs_shape_value(runs, run, &shape, a);
}

bool inputs_matter(const char *key, const char *source, const struct opt_value *ignore)
{
    for (const struct opt_value *v = ignore; v && v->text; v = v->next)
        if (reference_fits(str_of(v->text), str_of(key)))
            return false;
    if (is_shape(key))
        return true;
    if (source)
        return strncmp(source, "probe:", 6) != 0 && !is_observer(source);
    return !is_machine(key);
}

const char *inputs_source(const struct json *detail, const char *key)
{
    return json_string(json_get(json_get(json_get(detail, "params"), key), "source"), NULL);
}

static const struct tree_entry *inputs_tag(const struct tree_run *run, const char *key)
{
    return runs_entry(run->tags, key);
}

int inputs_of(struct run_inputs *ret, const struct tree_run *run, const struct json *detail, const struct opt_value *ignore,
              struct arena *a, struct err *err)
{
    static const char *const tags[] = {"benchmark", "site", "cluster"};
    size_t n = 3;
    struct shape_keys row;
    for (const struct tree_entry *e = run->params; e; e = e->next)
        n++;
    for (size_t i = 0; shape_keys_at(i).step; i++)
        n++;
    *ret = (struct run_inputs){.list = arena_get(a, n * sizeof *ret->list)};
    if (!ret->list)
        return err_memory(err, "the inputs of runs");
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const struct tree_entry *e = inputs_tag(run, tags[i]);
        ret->list[ret->count++] = (struct input){arena_printf(a, "tags/%s", tags[i]), e ? e->value : (struct str){NULL, 0}, 0};
    }
    for (const struct tree_entry *e = run->params; e; e = e->next)
        if (inputs_matter(e->key, inputs_source(detail, e->key), ignore) && !inputs_superseded(run->params, e->key))
            ret->list[ret->count++] = (struct input){arena_printf(a, "params/%s", e->key), e->value, 0};
    for (size_t i = 0; (row = shape_keys_at(i)).step && has_step_entry(run->params); i++)
        if (missing_reason(detail, row.step) && inputs_matter(row.step, NULL, ignore)) /* it does not equal one that is known */
            ret->list[ret->count++] = (struct input){arena_printf(a, "params/%s", row.step), (struct str){NULL, 0}, 0};
    const struct tree_entry *parent = inputs_tag(run, "mlflow.parentRunId");
    ret->child = parent != NULL;
    ret->parent = parent ? arena_dup(a, parent->value.p, parent->value.n) : NULL;
    return a->failed ? err_memory(err, "the inputs of runs") : 0;
}

bool inputs_shared(struct run_inputs *in, const struct runs *runs, const struct tree_run *other, struct arena *a)
{
    for (size_t i = 0; i < in->count; i++) {
        const char *value = inputs_value(runs, other, in->list[i].path, a);
        if (value ? in->list[i].value.p && str_eq(str_of(value), in->list[i].value) : !in->list[i].value.p)
            continue;
        in->list[i].missed++;
        struct input hot = in->list[i]; /* what parts most runs is compared first: thousands of others cost one file each */
        for (size_t k = i; k > 0 && in->list[k - 1].missed < hot.missed; k--) {
            in->list[k] = in->list[k - 1];
            in->list[k - 1] = hot;
        }
        return false;
    }
    const char *parent = runs_file(runs, other, "tags/mlflow.parentRunId", 64, a);
    if ((parent != NULL) != in->child || (parent && in->parent && strcmp(parent, in->parent) == 0))
        return false;
    return !runs_file(runs, other, "tags/benchwrap.warmup", 64, a);
}

const char *inputs_most_missed(const struct run_inputs *in)
{
    const struct input *most = NULL;
    for (size_t i = 0; i < in->count; i++)
        if (in->list[i].missed && (!most || in->list[i].missed > most->missed))
            most = &in->list[i];
    return most ? strchr(most->path, '/') + 1 : NULL;
}
