/* fs_list.c: the names in a directory, sorted. */
#include "base/fs.h"
#include "base/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int compare_listed_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends a copy of the name to the list. -1: out of memory. */
static int fs_names_append(struct fs_names *list, size_t *room, const char *name)
{
    if (!ARRAY_FITS(list->names, *room, list->count + 1))
        return -1;
    list->names[list->count] = strdup(name);
    return list->names[list->count++] ? 0 : -1;
}

int fs_each_name(int dir, const char *path, int (*each)(void *context, const char *name, unsigned char type), void *context)
{
    _Alignas(struct dirent64) char entries[16384]; /* readdir's stream needs three more system calls and twice the memory from the heap */
    int fd = path ? openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dir, rc = 0;
    ssize_t n = 0;
    off_t before = path || fd < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
    if (fd < 0 || before < 0 || (before && lseek(fd, 0, SEEK_SET) < 0))
        return -1;
    while (rc == 0 && (n = getdents64(fd, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < n && rc == 0;) {
            const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
            at += e->d_reclen;
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                rc = each(context, e->d_name, e->d_type);
        }
    int why = errno;
    if (path)
        fs_close(&fd);
    else if (lseek(fd, before, SEEK_SET) < 0) /* the caller may be reading the same directory */
        return -1;
    errno = why;
    return n < 0 && why != ENOENT /* a folder that was removed has no entries */ ? -1 : rc;
}

struct fs_list_growing {
    struct fs_names list;
    size_t room;
};

static int fs_list_collect(void *context, const char *name, unsigned char type)
{
    struct fs_list_growing *a = context;
    (void)type;
    return fs_names_append(&a->list, &a->room, name);
}

int fs_list(int dir, const char *path, struct fs_names *ret, struct err *err)
{
    struct fs_list_growing a = {.room = 0};
    if (fs_each_name(dir, path, fs_list_collect, &a)) {
        err_sys(err, "cannot read folder %s", path);
        fs_names_deinit(&a.list);
        return -1;
    }
    if (a.list.count)
        qsort(a.list.names, a.list.count, sizeof *a.list.names, compare_listed_names);
    *ret = a.list;
    return 0;
}

void fs_names_deinit(struct fs_names *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct fs_names){0};
}
