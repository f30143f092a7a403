/* filter_dataset.c: the datasets that are inputs of a run, as Python's MLflow records them: <run>/inputs/<any>/meta.yaml names
 * <experiment>/datasets/<id>/meta.yaml. benchwrap itself writes none. */
#include "filter/filter_parts.h"

#include "base/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DATASET_META_MAX = 8 << 20 };

struct dataset_search {
    const char *key; /* name, digest, context */
    const struct folder *tree, *inputs;
    const struct tree_run *run;
    struct arena *a;
    bool (*each)(const void *context, struct str text);
    const void *context;
    const char **ret_problem;
    bool found;
};

/* Reads a meta.yaml below `in`; NULL where it cannot be read, with the problem. */
static const struct yaml *read_dataset_meta(struct dataset_search *s, const struct folder *in, const char *folder, const char *name)
{
    CLEANUP_BUF struct buf b;
    struct yaml *doc;
    struct err why = {0};
    char path[600];
    buf_init(&b, DATASET_META_MAX + (1 << 20));
    snprintf(path, sizeof path, "%s%s/meta.yaml", folder, name);
    if (folder_read(in, path, DATASET_META_MAX, &b) < 0)
        err_sys(&why, "%s cannot be read", path);
    else if (yaml_parse(&doc, path, buf_text(&b), s->a, &why) == 0)
        return doc;
    const char *text = arena_printf(s->a, "%s", why.text);
    *s->ret_problem = text ? text : "out of memory";
    return NULL;
}

/* Returns the folder's name of the input's dataset; NULL: the input is no dataset, or one that the
 * tree lacks. */
static const char *dataset_place(const struct dataset_search *s, const struct yaml *input)
{
    struct str id = yaml_text(input, "source_id", "");
    struct folder_entry e;
    if (!str_is(yaml_text(input, "source_type", ""), "DATASET") || !id.n || memchr(id.p, '/', id.n) || id.p[0] == '.')
        return NULL;
    const char *path = tree_run_path(s->run);
    const char *place = arena_printf(s->a, "%.*s/datasets/" STR_FMT, (int)strcspn(path, "/"), path, STR_ARG(id));
    return place && folder_look(s->tree, place, &e, NULL) == 0 && e.kind == FOLDER_FOLDER ? place : NULL;
}

/* Passes the searched value of one data set of the run to s->each, which stops the search by true.
 * A data set without it is ignored. */
static void dataset_visit(struct dataset_search *s, const char *name)
{
    const struct yaml *input = read_dataset_meta(s, s->inputs, "", name), *of;
    const char *place = input ? dataset_place(s, input) : NULL;
    if (!place)
        return;
    if (strcmp(s->key, "context") == 0) {
        of = yaml_get(yaml_get(input, "tags"), "mlflow.data.context");
    } else {
        const struct yaml *dataset = read_dataset_meta(s, s->tree, place, "");
        of = yaml_get(dataset, s->key);
    }
    if (of && of->kind == YAML_SCALAR)
        s->found = s->each(s->context, of->text);
}

static int dataset_entry(void *context, const struct folder_entry *e)
{
    struct dataset_search *s = context;
    if (e->kind == FOLDER_FOLDER && e->name.n && e->name.n < 300 && !memchr(e->name.p, '/', e->name.n) && !str_is(e->name, ".."))
        dataset_visit(s, e->name.p);
    return s->found || s->a->failed;
}

bool filter_dataset_any(const char *key, const struct folder *tree, const struct tree_run *run, struct arena *a,
                        bool (*each)(const void *context, struct str text), const void *context, const char **ret_problem)
{
    CLEANUP_FOLDER struct folder inputs = {0};
    struct dataset_search s = {key, tree, &inputs, run, a, each, context, ret_problem, false};
    char path[200];
    snprintf(path, sizeof path, "%s/inputs", tree_run_path(run));
    if (folder_enter(tree, path, &inputs) == 0)
        folder_names(&inputs, dataset_entry, &s);
    return s.found;
}
