/* recipe_files.c: find recipes and service files by name: the user's, the site's, then those compiled in. */
#include "recipe/recipe.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static const struct recipe_file *shipped_file(const char *kind, const char *name)
{
    for (const struct recipe_file *f = recipe_shipped; f->name; f++)
        if (strcmp(f->kind, kind) == 0 && strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* 0; 1: the folder has none of that name. */
static int file_in(struct recipe_file *ret, const char *folder, const char *kind, const char *name, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf text;
    const char *path = arena_printf(a, "%s/%s/%s.yaml", folder, kind, name);
    buf_init(&text, RECIPE_FILE_MAX + 1);
    if (!path)
        return err_memory(err, "a recipe");
    CLEANUP_FD int fd = place_open_named(path);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 1 : err_sys(err, "cannot read %s", path);
    if (fs_read_open(fd, path, RECIPE_FILE_MAX, 0, &text, err))
        return -1;
    *ret = (struct recipe_file){.kind = kind, .name = arena_dup(a, name, strlen(name)), .n = text.n, .from = folder};
    ret->text = arena_dup(a, text.p ? text.p : "", text.n);
    return ret->name && ret->text ? 0 : err_memory(err, "a recipe");
}

int recipe_file_find(struct recipe_file *ret, const char *kind, const char *name, const struct recipe_places *places, struct arena *a,
                     struct err *err)
{
    if (!name[0] || name[0] == '.' || strchr(name, '/') || strlen(name) > 100)
        return 1;
    for (size_t i = 0; i < sizeof places->folders / sizeof *places->folders && places->folders[i]; i++) {
        int rc = file_in(ret, places->folders[i], kind, name, a, err);
        if (rc <= 0)
            return rc;
    }
    const struct recipe_file *f = shipped_file(kind, name);
    if (f)
        *ret = *f;
    return f ? 0 : 1;
}

struct file_list {
    struct recipe_file *list;
    size_t count, room;
    struct arena *a;
    const char *kind, *from;
};

static void recipe_list_add(struct file_list *l, const struct recipe_file *f)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->list[i].name, f->name) == 0)
            return;
    if (f->name && ARRAY_FITS_IN(l->a, l->list, l->room, l->count + 1))
        l->list[l->count++] = *f;
}

static int recipe_list_name(void *context, const char *name, unsigned char type)
{
    struct file_list *l = context;
    size_t n = strlen(name);
    struct recipe_file f;
    (void)type;
    if (n <= 5 || name[0] == '.' || strcmp(name + n - 5, ".yaml") != 0)
        return 0;
    const char *stem = arena_dup(l->a, name, n - 5);
    if (stem && file_in(&f, l->from, l->kind, stem, l->a, NULL) == 0)
        recipe_list_add(l, &f);
    return 0;
}

static int order_files(const void *x, const void *y)
{
    return strcmp(((const struct recipe_file *)x)->name, ((const struct recipe_file *)y)->name);
}

struct recipe_file *recipe_file_list(const char *kind, const struct recipe_places *places, struct arena *a, size_t *ret_n)
{
    struct file_list l = {.a = a, .kind = kind};
    for (size_t i = 0; i < sizeof places->folders / sizeof *places->folders && places->folders[i]; i++) {
        const char *folder = arena_printf(a, "%s/%s", places->folders[i], kind);
        l.from = places->folders[i];
        if (folder)
            fs_each_name(AT_FDCWD, folder, recipe_list_name, &l);
    }
    for (const struct recipe_file *f = recipe_shipped; f->name; f++)
        if (strcmp(f->kind, kind) == 0)
            recipe_list_add(&l, f);
    if (l.count)
        qsort(l.list, l.count, sizeof *l.list, order_files);
    *ret_n = l.count;
    return a->failed ? NULL : l.list ? l.list : arena_get(a, sizeof *l.list);
}

const char *recipe_file_nearest(const char *kind, const char *name, const struct recipe_places *places, struct arena *a)
{
    size_t n;
    const struct recipe_file *list = recipe_file_list(kind, places, a, &n);
    const char *nearest = NULL;
    unsigned least = 4;
    for (size_t i = 0; list && i < n; i++)
        if (str_distance(str_of(name), str_of(list[i].name)) < least)
            least = str_distance(str_of(name), str_of(list[i].name)), nearest = list[i].name;
    return nearest;
}

/* ---- service files ---- */

int recipe_service_open(struct recipe_service **ret, const char *name, const struct recipe_places *places, struct arena *a, struct err *err)
{
    struct recipe_file file;
    struct yaml *root;
    int rc = recipe_file_find(&file, "services", name, places, a, err);
    if (rc)
        return rc;
    const char *path = arena_printf(a, "%s%sservices/%s.yaml", file.from ? file.from : "shipped:", file.from ? "/" : "", name);
    if (!path)
        return err_memory(err, "the service %.60s", name);
    if (yaml_parse(&root, path, (struct str){file.text, file.n}, a, err) || recipe_keys_check(root, "service", path, err))
        return -1;
    if (!yaml_get(root, "command") == !yaml_get(root, "processes"))
        return yaml_complain(root, path, err, "expected either command or processes");
    if (!(*ret = ARENA_NEW(a, struct recipe_service)))
        return err_memory(err, "the service %.60s", name);
    **ret = (struct recipe_service){.name = name, .file = path, .text = file.from ? file.text : NULL, .root = root};
    return 0;
}

int recipe_service_require(struct recipe_service **ret, const char *name, const struct yaml *at, const char *file,
                           const struct recipe_places *places, struct arena *a, struct err *err)
{
    int rc = recipe_service_open(ret, name, places, a, err);
    const char *nearest = rc > 0 ? recipe_file_nearest("services", name, places, a) : NULL;
    if (nearest)
        return yaml_complain(at, file, err, "there is no service \"%.60s\"; did you mean \"%s\"?", name, nearest);
    return rc > 0 ? yaml_complain(at, file, err, "there is no service \"%.60s\"; benchwrap recipe list --services", name) : rc;
}
