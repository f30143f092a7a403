/* inherit.c: facts that a parent run holds for its repetitions. */
#include "runs/inherit.h"

#include "runs/inputs.h"

#include <stdio.h>
#include <string.h>

/* Returns the id of the run whose repetition this is. Another child run may have been recorded on
 * another node: it inherits nothing. */
static const char *parent_of_repetition(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    return runs_file(runs, run, "tags/benchwrap.repetition", 64, a) ? runs_file(runs, run, "tags/mlflow.parentRunId", 64, a) : NULL;
}

/* Reads the params of a parent run in the folder of its child's experiment: no search in all
 * experiments. NULL: not found, or without params. */
static struct tree_run *parent_read(struct runs *runs, const struct tree_run *child, const char *id, struct arena *a)
{
    size_t folder = strlen(child->path) - strlen(child->id);
    if (runs->parent && strcmp(runs->parent->id, id) == 0)
        return runs->parent;
    struct tree_run *found = record_is_id(str_of(id)) && strlen(child->path) > strlen(child->id) ? ARENA_NEW(a, struct tree_run) : NULL;
    if (!found)
        return NULL;
    const struct folder tree = runs_tree(runs, child);
    *found = *child;
    memcpy(found->id, id, sizeof found->id);
    found->path = arena_printf(a, "%.*s%s", (int)folder, child->path, id);
    found->params = found->metrics = found->tags = NULL;
    if (!found->path)
        return NULL;
    tree_fill(&tree, found, TREE_PARAMS, a);
    return found->params ? runs->parent = found : NULL;
}

struct tree_entry *inherit_facts(struct runs *runs, const struct tree_run *run, struct arena *a)
{
    struct tree_entry *first = NULL, **at = &first;
    const char *id = parent_of_repetition(runs, run, a);
    const struct tree_run *parent = id ? parent_read(runs, run, id, a) : NULL;
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

/* Reads a small file of the run's parent run. */
static const char *parent_file(const struct runs *runs, const struct tree_run *run, const char *name, size_t max, struct arena *a)
{
    const char *id = parent_of_repetition(runs, run, a);
    size_t folder = strlen(run->path) - strlen(run->id);
    if (!id || !record_is_id(str_of(id)) || strlen(run->path) < strlen(run->id))
        return NULL;
    struct tree_run parent = {.path = arena_printf(a, "%.*s%s", (int)folder, run->path, id), .tree = run->tree};
    return parent.path ? runs_file(runs, &parent, name, max, a) : NULL;
}

const char *inherit_file(const struct runs *runs, const struct tree_run *run, const char *name, size_t max, struct arena *a)
{
    const char *value = runs_file(runs, run, name, max, a);
    if (value || strncmp(name, "params/", 7) != 0 || !inputs_of_machine(name + 7))
        return value;
    return parent_file(runs, run, name, max, a);
}

bool inherit_is_swept(const struct runs *runs, const struct tree_run *run, const char *key, struct arena *a)
{
    char name[300];
    snprintf(name, sizeof name, "params/sweep.%.250s", key);
    return !strstr(key, "..") && !strchr(key, '/') && parent_file(runs, run, name, 8192, a);
}
