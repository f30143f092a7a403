/* inherit.c: facts that a parent run holds for its repetitions. */
#include "runs/inherit.h"

#include "runs/inputs.h"

#include <string.h>

/* The id of the run whose repetition this is. Another child run may have been recorded on another node: it inherits nothing. */
static const char *parent_of_repetition(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    return runs_file(runs, run, "tags/benchwrap.repetition", 64, a) ? runs_file(runs, run, "tags/mlflow.parentRunId", 64, a) : NULL;
}

static struct tree_run *parent_read(struct runs *runs, const char *id, struct arena *a)
{
    struct err err = {0};
    struct tree_run *found = NULL;
    if (runs->parent && strcmp(runs->parent->id, id) == 0)
        return runs->parent;
    if (!record_is_id(str_of(id)) || runs_find(runs, arena_printf(a, "=%s", id), TREE_PARAMS, a, &found, &err))
        return NULL;
    return runs->parent = found;
}

struct tree_entry *inherit_facts(struct runs *runs, const struct tree_run *run, struct arena *a)
{
    struct tree_entry *first = NULL, **at = &first;
    const char *id = parent_of_repetition(runs, run, a);
    const struct tree_run *parent = id ? parent_read(runs, id, a) : NULL;
    for (const struct tree_entry *e = parent ? parent->params : NULL; e; e = e->next) {
        if (!inputs_of_machine(e->key) || runs_entry(run->params, e->key))
            continue;
        struct tree_entry *copy = ARENA_NEW(a, struct tree_entry);
        if (!copy)
            break;
        *copy = *e;
        copy->next = NULL;
        *at = copy;
        at = &copy->next;
    }
    return first;
}

void inherit_params(struct runs *runs, struct tree_run *run, struct arena *a)
{
    struct tree_entry **at = &run->params;
    while (*at)
        at = &(*at)->next;
    *at = inherit_facts(runs, run, a);
}

const char *inherit_file(const struct runs *runs, const struct tree_run *run, const char *name, size_t max, struct arena *a)
{
    const char *value = runs_file(runs, run, name, max, a);
    if (value || strncmp(name, "params/", 7) != 0 || !inputs_of_machine(name + 7))
        return value;
    const char *id = parent_of_repetition(runs, run, a);
    size_t folder = strlen(run->path) - strlen(run->id);
    if (!id || !record_is_id(str_of(id)) || strlen(run->path) < strlen(run->id))
        return NULL;
    struct tree_run parent = {.path = arena_printf(a, "%.*s%s", (int)folder, run->path, id), .tree = run->tree};
    return parent.path ? runs_file(runs, &parent, name, max, a) : NULL;
}
