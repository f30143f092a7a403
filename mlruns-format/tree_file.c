/* tree_file.c: single small files of a run; see tree.h. */
#include "mlruns-format/tree.h"

#include <stdio.h>
#include <string.h>

const char *tree_run_path(const struct tree_run *run)
{
    const char *slash = strchr(run->path, '/');
    return slash ? slash + 1 : run->path;
}

const struct tree_entry *tree_annotated_tag(const struct tree_run *run, const char *key)
{
    const struct tree_entry *e = run->annotated;
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

const char *tree_file(const struct folder *tree, const struct tree_run *run, const char *name, size_t max, struct arena *a)
{
    const struct tree_entry *annotated = strncmp(name, "tags/", 5) == 0 ? tree_annotated_tag(run, name + 5) : NULL;
    if (annotated)
        return annotated->value.p ? arena_dup(a, annotated->value.p, annotated->value.n < max ? annotated->value.n : max) : NULL;
    CLEANUP_BUF struct buf b;
    char path[1024];
    buf_init(&b, max + (1 << 20));
    if ((size_t)snprintf(path, sizeof path, "%s/%s", tree_run_path(run), name) >= sizeof path || folder_read_head(tree, path, max, &b) < 0)
        return NULL;
    return arena_dup(a, b.p ? b.p : "", b.n < max ? b.n : max);
}
