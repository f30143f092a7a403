/* spool.c: where a run lives while it is not yet safe in the tree: one directory per run, claimed by renaming. */
#include "run/spool.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_MAX = 1 << 20 }; /* a run can have thousands of children */
static const char PUBLISHED[] =
    "published"; /* the tree's parent (its name may hold line ends), LF, the runs below it with blanks between, LF */

static int open_dir(int at, const char *path)
{
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int spool_create(struct spool *ret, const char *root, const char *name, struct err *err)
{
    struct spool s = SPOOL_NONE;
    snprintf(s.name, sizeof s.name, "%s", name);
    if ((s.root = place_open_folder(root, 0700)) < 0)
        return err_sys(err, "spool: cannot open %s", root);
    if (mkdirat(s.root, name, 0700) || (s.dir = place_open(s.root, name, O_RDONLY | O_DIRECTORY, 0)) < 0) {
        err_sys(err, "spool: cannot make %s/%s", root, name);
        spool_close(&s);
        return -1;
    }
    if (!place_is_own(s.dir)) { /* it was exchanged */
        spool_close(&s);
        return err_set(err, ERR_SYSTEM, "spool: cannot use %s/%s: another user replaced it", root, name);
    }
    *ret = s;
    return 0;
}

int spool_open(struct spool *ret, const char *root, const char *name, struct err *err)
{
    struct spool s = SPOOL_NONE;
    snprintf(s.name, sizeof s.name, "%s", name);
    struct stat st;
    if ((s.root = place_open_folder(root, 0)) < 0 || fstatat(s.root, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        int rc = errno == ENOENT ? 1 : err_sys(err, "spool: cannot open %s/%s", root, name);
        spool_close(&s);
        return rc;
    }
    if (st.st_uid != geteuid()) {
        *ret = s;
        ret->owner = st.st_uid;
        spool_close(ret);
        return SPOOL_FOREIGN;
    }
    if ((s.dir = place_open(s.root, name, O_RDONLY | O_DIRECTORY, 0)) < 0 || !place_is_own(s.dir)) {
        if (s.dir >= 0)
            errno = EPERM; /* others may write it, or have exchanged it */
        int rc = errno == ENOENT ? 1 : err_sys(err, "spool: cannot open %s/%s", root, name);
        spool_close(&s);
        return rc;
    }
    *ret = s;
    return 0;
}

int spool_claim(struct spool *s, struct err *err)
{
    char name[sizeof s->name];
    snprintf(name, sizeof name, "%.32s+%d-%llx", s->name, (int)getpid(), (unsigned long long)clock_mono_ns());
    if (renameat(s->root, s->name, s->root, name))
        return errno == ENOENT ? 1 : err_sys(err, "spool: cannot claim %s", s->name);
    snprintf(s->name, sizeof s->name, "%s", name);
    return 0;
}

int spool_mark_published(struct spool *s, const char *tree_parent, const char *where, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, PLACE_MAX);
    buf_printf(&text, "%s\n%s\n", tree_parent, where);
    if (text.failed)
        return err_memory(err, "the spool");
    return fs_write(s->dir, PUBLISHED, buf_text(&text), 0600, false, err);
}

int spool_published_for(const struct spool *s)
{
    struct stat st;
    if (fstatat(s->dir, PUBLISHED, &st, 0))
        return INT_MAX;
    int64_t age = clock_wall_ms() / 1000 - (int64_t)st.st_mtime;
    return age < 0 ? 0 : age > INT_MAX ? INT_MAX : (int)age;
}

int spool_release(struct spool *s, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, PLACE_MAX);
    if (faccessat(s->dir, PUBLISHED, F_OK, 0))
        return 1;
    if (fs_read(s->dir, PUBLISHED, PLACE_MAX, 0, &text, err))
        return -1;
    if (text.n < 2 || text.p[text.n - 1] != '\n')
        return 1; /* incomplete: the next attempt finds the run there and writes it again */
    text.p[text.n - 1] = 0;
    char *parent = text.p, *where = strrchr(text.p, '\n');
    if (!where)
        return 1;
    *where++ = 0;
    CLEANUP_FD int at = open_dir(s->dir, parent);
    if (at < 0 && errno != ENOENT) /* not gone, only out of reach: its copy here may be the only safe one */
        return err_sys(err, "spool: cannot open %s", parent);
    for (char *run = where, *next; at >= 0 && run; run = next) {
        struct err why = {0};
        if ((next = strchr(run, ' ')))
            *next++ = 0;
        if (fs_sync_tree(at, run, &why) == 0 || why.sys == ENOENT) /* gone: deleted by its owner, nothing to keep */
            continue;
        if (err)
            *err = why;
        return err_wrap(err, "spool: cannot sync %s/%s", parent, run);
    }
    return spool_discard(s, err);
}

int spool_drop_shared(struct spool *s)
{
    char shared[64];
    snprintf(shared, sizeof shared, SPOOL_SHARED "%.32s", s->name);
    return fs_remove_tree(s->root, shared, NULL);
}

int spool_discard(struct spool *s, struct err *err)
{
    return spool_drop_shared(s) || fs_remove_tree(s->root, s->name, err) ? -1 : 0;
}

void spool_close(struct spool *s)
{
    fs_close(&s->dir);
    fs_close(&s->root);
}

int spool_path(const struct spool *s, struct buf *to)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", s->dir);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return -1;
    buf_add(to, path, (size_t)n);
    return 0;
}

bool spool_relative(const struct spool *s, const char *path, char *ret, size_t size)
{
    struct buf here CLEANUP_BUF;
    size_t same = 0, n = 0;
    buf_init(&here, 8192);
    if (path[0] != '/' || spool_path(s, &here) != 0 || !here.p)
        return false;
    for (size_t i = 0;; i++) { /* up to the last folder that both are in */
        bool end = !here.p[i] || here.p[i] == '/', path_end = !path[i] || path[i] == '/';
        if (end && path_end)
            same = i;
        if (here.p[i] != path[i] || !here.p[i])
            break;
    }
    for (const char *p = here.p + same; *p; p++)
        if (*p == '/' && n + 3 < size) {
            memcpy(ret + n, "../", 3);
            n += 3;
        }
    const char *rest = path + same + (path[same] == '/');
    if (n == 0 || n + strlen(rest) + 1 > size)
        return false;
    memcpy(ret + n, rest, strlen(rest) + 1);
    return true;
}
