/* scan.c: which runs of the tree on disk are in none of the commits that count; see scan.h. */
#include "results/scan.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"
#include "git/tree.h"
#include "mlruns-format/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_experiment_id(const char *name)
{
    size_t n = strlen(name);
    return n >= 1 && n <= 20 && strspn(name, "0123456789") == n;
}

/* ---- the ids that are known: a table of 16-byte keys, open addressing ---- */

struct known_runs {
    unsigned char (*key)[16];
    size_t room, count; /* `room` is a power of two, or 0 */
};

/* Converts an id to its 16 bytes. Returns false where the name is no id of a run. Each name of an
 * experiment passes here at each commit. */
static bool run_id_bytes(const char *id, unsigned char key[16])
{
    static const unsigned char digits[256] = {['0'] = 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, ['a'] = 26, 27, 28, 29, 30, 31};
    if (strlen(id) != 32)
        return false;
    for (int i = 0; i < 16; i++) {
        unsigned high = digits[(unsigned char)id[2 * i]], low = digits[(unsigned char)id[2 * i + 1]];
        if (!(high & low & 16))
            return false;
        key[i] = (unsigned char)(high << 4 | (low & 15));
    }
    return true;
}

static size_t known_slot_of(const struct known_runs *k, const unsigned char key[16])
{
    static const unsigned char empty[16];
    uint64_t half[2];
    memcpy(half, key, sizeof half); /* ids are random, except invented ones */
    size_t at = (size_t)((half[0] ^ half[1] * UINT64_C(0x9e3779b97f4a7c15)) >> 7);
    for (at &= k->room - 1; memcmp(k->key[at], empty, 16) && memcmp(k->key[at], key, 16); at = (at + 1) & (k->room - 1))
        ;
    return at;
}

/* Makes the set of ids twice as large. Returns -1 when out of memory; the set is then unchanged. */
static int known_grow(struct known_runs *k)
{
    struct known_runs more = {.room = k->room ? 2 * k->room : 1024};
    static const unsigned char empty[16];
    if (!(more.key = calloc(more.room, sizeof *more.key)))
        return -1;
    for (size_t i = 0; i < k->room; i++)
        if (memcmp(k->key[i], empty, 16))
            memcpy(more.key[known_slot_of(&more, k->key[i])], k->key[i], 16);
    more.count = k->count;
    free(k->key);
    *k = more;
    return 0;
}

/* Adds the run to the set. Sixteen zeros mark an empty slot: no random id has them. Returns -2 when
 * out of memory. */
static int known_add(void *context, const struct repo_entry *e)
{
    struct known_runs *k = context;
    unsigned char key[16];
    if (e->mode != REPO_MODE_DIR || !run_id_bytes(e->name, key))
        return 0;
    if (2 * (k->count + 1) > k->room && known_grow(k))
        return -2;
    size_t at = known_slot_of(k, key);
    if (memcmp(k->key[at], key, 16)) {
        memcpy(k->key[at], key, 16);
        k->count++;
    }
    return 0;
}

/* Returns whether the name is that of a run which is not known. */
static bool is_new(const struct known_runs *k, const char *name)
{
    unsigned char key[16];
    return run_id_bytes(name, key) && (!k->room || memcmp(k->key[known_slot_of(k, key)], key, 16) != 0);
}

/* Adds the runs that the experiment has in these commits to the set; equal folders are read once.
 * Returns -1 with err. */
static int known_of(struct results *s, const struct repo_id *commits, size_t count, const char *experiment, struct known_runs *k,
                    struct err *err)
{
    struct repo_id seen[RESULTS_KNOWN];
    size_t n = 0;
    const char *path = arena_printf(s->arena, "%s/%s", s->prefix, experiment);
    for (size_t i = 0; path && i < count; i++) {
        struct repo_entry e;
        int rc = repo_find(s->repo, &commits[i], path, &e, err);
        bool again = false;
        if (rc < 0)
            return -1;
        for (size_t j = 0; rc == 0 && j < n; j++)
            again |= repo_id_eq(&seen[j], &e.id);
        if (rc || again || e.mode != REPO_MODE_DIR)
            continue;
        seen[n++] = e.id;
        rc = repo_each(s->repo, &e.id, known_add, k, err);
        if (rc)
            return rc == -2 ? err_memory(err, "the runs' names") : -1;
    }
    return path ? 0 : err_memory(err, "the runs' names");
}

static int count_run_folder(void *context, const struct repo_entry *e)
{
    *(size_t *)context += e->mode == REPO_MODE_DIR && record_is_id(str_of(e->name));
    return 0;
}

int scan_count(struct results *s, const struct repo_id *commit, const char *experiment, size_t *ret, struct err *err)
{
    struct repo_entry e;
    const char *path = arena_printf(s->arena, "%s/%s", s->prefix, experiment);
    *ret = 0;
    int rc = path ? repo_find(s->repo, commit, path, &e, err) : -1;
    if (rc < 0)
        return -1;
    return rc == 0 && e.mode == REPO_MODE_DIR ? repo_each(s->repo, &e.id, count_run_folder, ret, err) : 0;
}

/* ---- the tree on disk ---- */

static int scan_add_run(struct scan *scan, const char *experiment, const char *id, const struct stat *st, struct err *err)
{
    if (!ARRAY_FITS(scan->runs, scan->room, scan->count + 1))
        return err_memory(err, "the runs' names");
    struct scan_run *run = &scan->runs[scan->count++];
    *run = (struct scan_run){.experiment = experiment, .made_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec};
    memcpy(run->id, id, 33);
    return 0;
}

/* Adds the runs of the experiment that no commit has; `only`: the id of a single run. A folder that
 * cannot be opened and a run that does not exist are no errors. Returns non-zero with err. */
static int scan_experiment(struct results *s, int root, const char *name, const struct repo_id *commits, size_t commit_count,
                           const char *only, struct scan *ret, struct err *err)
{
    struct known_runs known = {0};
    int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), rc = 0;
    struct stat st;
    char path[300];
    snprintf(path, sizeof path, "%s", only ? only : ".");
    if (fd < 0 && !only && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        return err_sys(err, "reading %s/%s", s->tree, name);
    if (fd < 0 || fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW)) { /* removed since, or not this experiment's */
        fs_close(&fd);
        return 0;
    }
    DIR *d = fdopendir(fd);
    const char *experiment = arena_dup(s->arena, name, strlen(name));
    if (!d || !experiment)
        rc = err_sys(err, "reading %s/%s", s->tree, name);
    if (rc == 0)
        rc = known_of(s, commits, commit_count, name, &known, err);
    for (struct dirent *e; rc == 0;) {
        errno = 0;
        if (!(e = readdir(d))) {
            if (errno)
                rc = err_sys(err, "reading %s/%s", s->tree, name);
            break;
        }
        if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) || (only && strcmp(only, e->d_name)) || !is_new(&known, e->d_name))
            continue;
        snprintf(path, sizeof path, "%s/meta.yaml", e->d_name);
        if (fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
            rc = scan_add_run(ret, experiment, e->d_name, &st, err);
    }
    if (d)
        closedir(d);
    else
        fs_close(&fd);
    free(known.key);
    return rc;
}

static int by_experiment(const void *a, const void *b)
{
    const struct scan_run *p = a, *q = b;
    int c = strcmp(p->experiment, q->experiment);
    if (c == 0)
        c = (p->made_ns > q->made_ns) - (p->made_ns < q->made_ns);
    return c ? c : strcmp(p->id, q->id);
}

int scan_tree(struct results *s, const char *only, struct scan *ret, struct err *err)
{
    struct repo_id commits[RESULTS_KNOWN];
    size_t count;
    struct fs_names list;
    *ret = (struct scan){0};
    if (results_known(s, commits, &count, err))
        return -1;
    CLEANUP_FD int root = place_open_folder(s->tree, 0);
    if (root < 0)
        return errno == ENOENT ? 0 : err_sys(err, "reading %s", s->tree);
    if (fs_list(root, ".", &list, err))
        return -1;
    int rc = 0;
    for (size_t i = 0; i < list.count && rc == 0; i++)
        if (is_experiment_id(list.names[i]))
            rc = scan_experiment(s, root, list.names[i], commits, count, only, ret, err);
    fs_names_deinit(&list);
    if (rc)
        scan_deinit(ret);
    else if (ret->count)
        qsort(ret->runs, ret->count, sizeof *ret->runs, by_experiment);
    return rc;
}

void scan_deinit(struct scan *scan)
{
    free(scan->runs);
    *scan = (struct scan){0};
}
