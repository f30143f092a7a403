/* fs_list.c: the names in a directory, sorted. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct fs_list *list, size_t *room, const char *name)
{
    if (list->count == *room) {
        size_t more = *room ? *room * 2 : 16;
        char **names = realloc(list->names, more * sizeof *names);
        if (!names)
            return -1;
        list->names = names;
        *room = more;
    }
    list->names[list->count] = strdup(name);
    return list->names[list->count++] ? 0 : -1;
}

int fs_list(int dir, const char *path, struct fs_list *ret, struct err *err)
{
    struct fs_list list = {0};
    size_t room = 0;
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        err_sys(err, "cannot read folder %s", path);
        fs_close(&fd);
        return -1;
    }
    int rc = 0;
    struct dirent *e;
    errno = 0;
    while (rc == 0 && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = add_name(&list, &room, e->d_name);
    if (rc || errno)
        rc = err_sys(err, "cannot read folder %s", path);
    closedir(d);
    if (rc) {
        fs_list_deinit(&list);
        return -1;
    }
    if (list.count)
        qsort(list.names, list.count, sizeof *list.names, by_name);
    *ret = list;
    return 0;
}

void fs_list_deinit(struct fs_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct fs_list){0};
}
