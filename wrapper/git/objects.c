/* objects.c: new objects in memory, then as one pack, synced before it is named; see objects.h. */
#include "git/objects.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"
#include "git/repo_state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 200, LARGE = 256 << 10, MEMORY_FIRST = 999 /* libgit2 queries backends in order of this number */ };

struct objects_waiting_name {
    struct repo_id id;
    const char *name; /* in the arena */
};

struct objects {
    git_odb *odb; /* of memory alone: no search on the disk for each new object */
    git_odb_backend *memory; /* owned by the odb */
    git_repository *face; /* a repository that has nothing but this odb: what the packbuilder requires */
    struct arena arena; /* of names */
    struct objects_waiting_name *waiting;
    size_t count, room;
    uint64_t bytes;
};

/* ---- collecting ---- */

static int place_for_packs(struct repo *r, char *to, size_t size, struct err *err)
{
    if (snprintf(to, size, "%sbenchwrap/pack", repo_common(r)) >= (int)size)
        return err_set(err, ERR_SYSTEM, "the name of the folder %s is too long", repo_common(r));
    return 0;
}

/* Removes what an earlier writer left. */
static void forget_packs(const char *place)
{
    char above[4096];
    const char *name = str_base_name(place);
    snprintf(above, sizeof above, "%.*s", (int)(name - 1 - place), place);
    CLEANUP_FD int folder = place_open_below(above, 1, 0);
    if (folder >= 0)
        fs_remove_tree(folder, name, NULL);
}

int objects_new(struct repo *r, struct err *err)
{
    const struct git2 *git = r->git;
    char place[4096];
    struct objects *o = calloc(1, sizeof *o);
    int rc = r->objects ? err_set(err, ERR_BUG, "the repository has a writer already")
             : !o       ? err_memory(err, "objects of the repository")
                        : place_for_packs(r, place, sizeof place, err);
    if (rc) {
        free(o);
        return -1;
    }
    forget_packs(place);
    arena_init(&o->arena, 0);
    r->objects = o;
    rc = git->git_odb_new(&o->odb);
    if (rc == 0)
        rc = git->git_mempack_new(&o->memory);
    if (rc == 0)
        rc = git->git_odb_add_backend(o->odb, o->memory, MEMORY_FIRST);
    if (rc == 0)
        rc = git->git_repository_wrap_odb(&o->face, o->odb);
    if (rc == 0) {
        r->unsaved = o->odb;
        return 0;
    }
    git2_err(err, rc, "preparing new objects");
    objects_free(r);
    return -1;
}

void objects_free(struct repo *r)
{
    struct objects *o = r->objects;
    if (!o)
        return;
    r->git->git_repository_free(o->face);
    r->git->git_odb_free(o->odb);
    arena_deinit(&o->arena);
    free(o->waiting);
    free(o);
    r->objects = NULL;
    r->unsaved = NULL;
}

uint64_t objects_waiting(const struct repo *r)
{
    return r->objects ? r->objects->bytes : 0;
}

static int objects_remember(struct objects *o, const struct repo_id *id, const char *name, struct err *err)
{
    if (!ARRAY_FITS(o->waiting, o->room, o->count + 1))
        return err_memory(err, "new objects of the repository");
    o->waiting[o->count++] = (struct objects_waiting_name){*id, name ? arena_dup(&o->arena, name, strnlen(name, NAME_BYTES)) : NULL};
    return 0;
}

static const git_object_t kinds[] = {
    [REPO_COMMIT] = GIT_OBJECT_COMMIT,
    [REPO_TREE] = GIT_OBJECT_TREE,
    [REPO_BLOB] = GIT_OBJECT_BLOB,
    [REPO_TAG] = GIT_OBJECT_TAG,
};

int objects_write(struct repo *r, enum repo_kind kind, struct str content, const char *name, struct repo_id *ret, struct err *err)
{
    const struct git2 *git = r->git;
    struct objects *o = r->objects;
    bool large = kind == REPO_TREE &&
                 content.n >= LARGE; /* hardly ever known: named once only, by being written; a name that waits twice does no harm */
    git_oid oid;
    int rc = large ? git->git_odb_write(&oid, o->odb, content.p, content.n, kinds[kind])
                   : git->git_odb_hash(&oid, content.p, content.n, kinds[kind]);
    if (rc)
        return git2_err(err, rc, "naming an object");
    *ret = repo_id_of(&oid);
    if (!large && git->git_odb_exists_ext(o->odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH))
        return 0;
    /* One that is there already may belong to nothing and be old enough for git's clean-up: writing it again makes it young. */
    bool there = git->git_odb_exists_ext(r->odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH);
    if (there || !large)
        rc = git->git_odb_write(&oid, there ? r->odb : o->odb, content.p, content.n, kinds[kind]);
    if (rc)
        return git2_err(err, rc, "keeping an object");
    if (there)
        return 0;
    o->bytes += content.n;
    return objects_remember(o, ret, name, err);
}

/* ---- the pack ---- */

struct sync_job {
    int fd, error;
};

/* Runs in a thread: syncs a file to the disk; job->error is errno, or 0. Returns NULL. */
static void *objects_sync_file(void *context)
{
    struct sync_job *job = context;
    job->error = fsync(job->fd) ? errno : 0;
    return NULL;
}

/* Syncs both files at once: the file system's journal is written for both by one commit. Returns -1
 * with err. */
static int sync_both(const int fd[2], struct err *err)
{
    struct sync_job job[2] = {{fd[0], 0}, {fd[1], 0}};
    pthread_t thread;
    bool second = pthread_create(&thread, NULL, objects_sync_file, &job[1]) == 0;
    objects_sync_file(&job[0]);
    if (second)
        pthread_join(thread, NULL);
    else
        objects_sync_file(&job[1]);
    errno = job[0].error ? job[0].error : job[1].error;
    return errno ? err_sys(err, "syncing a new pack") : 0;
}

/* Moves the pack into objects/pack, the index last: git ignores a pack without one. Both are synced
 * before. Returns -1 with err. */
static int move_pack(int from, int to, const char *name, struct err *err)
{
    static const char *const ends[] = {"pack", "idx"};
    int fd[2] = {-1, -1}, rc = 0;
    char file[2][80];
    for (int i = 0; i < 2 && rc == 0; i++) {
        snprintf(file[i], sizeof file[i], "pack-%s.%s", name, ends[i]);
        if ((fd[i] = openat(from, file[i], O_RDONLY | O_CLOEXEC)) < 0)
            rc = err_sys(err, "reading the new pack %s", file[i]);
    }
    if (rc == 0)
        rc = sync_both(fd, err);
    for (int i = 0; i < 2; i++) {
        fs_close(&fd[i]);
        if (rc == 0 && renameat(from, file[i], to, file[i]))
            rc = err_sys(err, "moving the new pack to its place");
    }
    if (rc == 0 && fsync(to))
        rc = err_sys(err, "syncing the folder of packs");
    return rc;
}

/* Finds the name of the pack, which libgit2 makes of its content; only this process uses the
 * folder, so the pack is the only one there. Returns -1 with err. */
static int find_pack(int dir, char name[64], struct err *err)
{
    struct fs_names list;
    if (fs_list(dir, ".", &list, err))
        return -1;
    name[0] = 0;
    for (size_t i = 0; i < list.count; i++) {
        struct str n = str_of(list.names[i]);
        if (str_starts(n, "pack-") && str_ends(n, ".idx") && n.n - 9 < 64)
            snprintf(name, 64, "%.*s", (int)(n.n - 9), n.p + 5);
    }
    fs_names_deinit(&list);
    return name[0] ? 0 : err_set(err, ERR_BUG, "libgit2 wrote no pack");
}

/* Writes the waiting objects as a pack into the folder `place`, without sync to the disk, which
 * move_pack does. Returns -1 with err. */
static int build_pack(struct repo *r, const char *place, struct err *err)
{
    const struct git2 *git = r->git;
    struct objects *o = r->objects;
    git_packbuilder *pack = NULL;
    int rc = git->git_packbuilder_new(&pack, o->face);
    if (rc == 0)
        git->git_packbuilder_set_threads(pack, 1);
    for (size_t i = 0; i < o->count && rc == 0; i++)
        rc = git->git_packbuilder_insert(pack, repo_oid(&o->waiting[i].id), o->waiting[i].name);
    git->git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0); /* it would sync one file after the other: move_pack does both at once */
    if (rc == 0)
        rc = git->git_packbuilder_write(pack, place, 0444, NULL, NULL);
    git->git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    git->git_packbuilder_free(pack);
    return rc ? git2_err(err, rc, "writing %zu new objects into %s", o->count, place) : 0;
}

int objects_flush(struct repo *r, struct err *err)
{
    struct objects *o = r->objects;
    char place[4096], packs[4096], name[64];
    if (!o || o->count == 0)
        return 0;
    if (place_for_packs(r, place, sizeof place, err))
        return -1;
    snprintf(packs, sizeof packs, "%sobjects/pack", repo_common(r)); /* shorter than the other */
    CLEANUP_FD int from = place_open_below(place, 2, 0777);
    CLEANUP_FD int to = place_open_below(packs, 2, 0777);
    if (from < 0 || to < 0)
        return err_sys(err, "writing to the repository: cannot open %s", from < 0 ? place : packs);
    char opened[40]; /* no rename of the folder leads libgit2 elsewhere */
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", from);
    int rc = build_pack(r, access(opened, W_OK) == 0 ? opened : place, err);
    if (rc == 0)
        rc = find_pack(from, name, err);
    if (rc == 0)
        rc = move_pack(from, to, name, err);
    forget_packs(place);
    if (rc)
        return err_wrap(err, "the repository is as it was");
    r->git->git_mempack_reset(o->memory);
    r->git->git_odb_refresh(r->odb);
    o->count = 0;
    o->bytes = 0;
    return 0;
}
