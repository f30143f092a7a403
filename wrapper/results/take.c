/* take.c: a run's folder on disk as objects of the repository; see take.h. */
#include "results/take.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"
#include "git/objects.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 40, FILES_MAX = 100000, PATH_BYTES = 1000 };
static const size_t FILE_BYTES_MAX = 1 << 30;

struct run_taking {
    struct results *s;
    struct err *err;
    struct arena arena; /* of paths */
    struct tree_edit *edits;
    size_t count, room, skip; /* skip: bytes of `path` before the run's own part */
    const char *why;
    char path[PATH_BYTES];
};

/* Returns whether the name is that of git's own folder, in any spelling that some file system
 * treats as it. */
static bool name_refused(const char *name)
{
    return strcasecmp(name, ".git") == 0 || strcasecmp(name, "git~1") == 0 || !str_valid_utf8(str_of(name));
}

/* Sets t->why to "<path> <what>". Returns 1: the run cannot be committed as it is. */
static int take_refuse(struct run_taking *t, const char *what)
{
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 4096);
    buf_plain(&plain, str_of(t->path), 300);
    t->why = arena_printf(t->s->arena, "%s %s", plain.p ? plain.p : "", what);
    return 1;
}

static int add_edit(struct run_taking *t, const struct repo_id *id)
{
    if (t->count == FILES_MAX)
        return take_refuse(t, "is one file too many");
    if (!ARRAY_FITS(t->edits, t->room, t->count + 1))
        return err_memory(t->err, "a run's files");
    const char *path = arena_dup(&t->arena, t->path, strlen(t->path));
    t->edits[t->count++] = (struct tree_edit){.path = path, .mode = REPO_MODE_FILE, .id = *id};
    return path ? 0 : err_memory(t->err, "a run's files");
}

/* Writes a file as an object and adds its edit. 0; 1 with t->why: it cannot be committed, such as a
 * link or one above 1 GiB; -1 with err. */
static int take_object_file(struct run_taking *t, int dir, const char *name)
{
    CLEANUP_BUF struct buf text;
    CLEANUP_FD int fd = place_open(dir, name, O_RDONLY, 0);
    struct repo_id id;
    struct stat st;
    buf_init(&text, FILE_BYTES_MAX + 1);
    if (fd < 0 && errno == ELOOP)
        return take_refuse(t, "is a link");
    if (fd < 0 || fstat(fd, &st))
        return err_sys(t->err, "reading %s/%s", t->s->tree, t->path);
    if (!S_ISREG(st.st_mode))
        return take_refuse(t, "is neither a file nor a folder");
    if ((uint64_t)st.st_size > FILE_BYTES_MAX)
        return take_refuse(t, "is larger than 1 GiB");
    char *to = buf_room(&text, (size_t)st.st_size);
    ssize_t n = 1;
    while (to && text.n < (size_t)st.st_size && (n = read(fd, to + text.n, (size_t)st.st_size - text.n)) != 0) {
        if (n < 0 && errno != EINTR)
            return err_sys(t->err, "reading %s/%s", t->s->tree, t->path);
        text.n += n > 0 ? (size_t)n : 0;
    }
    if (!to)
        return err_memory(t->err, "%s/%s", t->s->tree, t->path);
    if (text.n < (size_t)st.st_size)
        return take_refuse(t, "became shorter while it was read");
    const char *slash = strrchr(t->path, '/');
    if (objects_write(t->s->repo, REPO_BLOB, buf_text(&text), slash ? slash + 1 : t->path, &id, t->err))
        return -1;
    return add_edit(t, &id);
}

static int take_run_folder(struct run_taking *t, int dir, const char *name, int depth);

/* Writes the objects of one entry; t->path is extended for it and restored. Returns 0, what
 * take_refuse returns, or -1 with err. */
static int take_folder_entry(struct run_taking *t, int dir, const char *name, unsigned char type, int depth)
{
    size_t at = strlen(t->path), n = strlen(name);
    if (at + n + 2 > sizeof t->path)
        return take_refuse(t, "holds a name that is too long");
    if (at)
        t->path[at++] = '/';
    memcpy(t->path + at, name, n + 1);
    int rc;
    struct stat st;
    if (type == DT_UNKNOWN && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        type = DT_DIR;
    if (name_refused(name))
        rc = take_refuse(t, "has a name that git or UTF-8 does not allow");
    else if (type == DT_DIR)
        rc = take_run_folder(t, dir, name, depth + 1);
    else
        rc = take_object_file(t, dir, name);
    t->path[at ? at - 1 : 0] = 0;
    return rc;
}

/* Writes the objects of all that is in the folder. Returns 0, what take_refuse returns for the
 * first entry that cannot be committed, or -1 with err. */
static int take_run_folder(struct run_taking *t, int dir, const char *name, int depth)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), rc = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        err_sys(t->err, "reading %s/%s", t->s->tree, t->path);
        fs_close(&fd);
        return -1;
    }
    if (depth > DEPTH_MAX)
        rc = take_refuse(t, "lies too deep");
    errno = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(d)); errno = 0)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            rc = take_folder_entry(t, fd, e->d_name, e->d_type, depth);
    if (rc == 0 && errno)
        rc = err_sys(t->err, "reading %s/%s", t->s->tree, t->path);
    closedir(d);
    return rc;
}

int take_run_objects(struct results *s, int root, const char *experiment, const char *id, struct repo_id *ret, const char **ret_why,
                     struct err *err)
{
    struct run_taking t = {.s = s, .err = err};
    char folder[64];
    snprintf(folder, sizeof folder, "%.24s/%s", experiment, id);
    arena_init(&t.arena, 0);
    int rc = take_run_folder(&t, root, folder, 0);
    if (rc == 0 && t.count == 0)
        rc = take_refuse(&t, "has no files");
    if (rc == 0)
        rc = objects_edit_tree(s->repo, NULL, t.edits, t.count, ret, err);
    *ret_why = t.why;
    free(t.edits);
    arena_deinit(&t.arena);
    return rc;
}

int take_experiment(struct results *s, int root, const char *experiment, const struct repo_id *base, struct tree_edit *edits, size_t *count,
                    struct err *err)
{
    static const char *const parts[] = {"meta.yaml", "tags"};
    struct run_taking t = {.s = s, .err = err};
    CLEANUP_FD int dir = openat(root, experiment, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int rc = dir < 0 ? err_sys(err, "reading %s/%s", s->tree, experiment) : 0;
    arena_init(&t.arena, 0);
    for (size_t i = 0; rc >= 0 && i < sizeof parts / sizeof *parts;
         i++) { /* 1: an unusual file of the experiment, which does not exclude its runs */
        struct stat st;
        t.path[0] = 0;
        if (fstatat(dir, parts[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            rc = take_folder_entry(&t, dir, parts[i], S_ISDIR(st.st_mode) ? DT_DIR : DT_REG, 0);
    }
    for (size_t i = 0; rc >= 0 && i < t.count && *count < TAKE_EXPERIMENT_MAX; i++) {
        struct repo_entry e;
        const char *path = arena_printf(s->arena, "%s/%s/%s", s->prefix, experiment, t.edits[i].path);
        int there = !path ? -1 : base ? repo_find(s->repo, base, path, &e, err) : 1;
        if (there < 0)
            rc = -1;
        else if (there == 1) {
            edits[*count] = t.edits[i];
            edits[(*count)++].path = path;
        }
    }
    free(t.edits);
    arena_deinit(&t.arena);
    return rc < 0 ? -1 : 0;
}
