/* ref.c: moving refs; see ref.h. */
#include "git/ref.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "git/repo_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_WORD "lock "
#define BRANCHES "refs/heads/benchwrap/"
enum { WAIT_LEAST_MS = 5, LOCK_MOST_MS = 200, TURN_MOST_MS = 1000 /* dozens may wait, and the one at work needs the processor */ };

/* Pauses for a time that grows, and is another one for each process. */
static void pause_a_while(unsigned round, unsigned most_ms)
{
    unsigned ms = (unsigned)WAIT_LEAST_MS << (round < 8 ? round : 8);
    unsigned spread = (unsigned)(((uint64_t)clock_mono_ns() ^ (uint64_t)getpid() * 2654435761u) % ms);
    if (ms > most_ms)
        ms = most_ms;
    ms = ms / 2 + spread % ms / 2;
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

/* ---- the turn ---- */

/* Sets the error that another process has held the lock for wait_s seconds; its name is read from
 * the lock file. Returns 1. */
static int turn_err(int fd, double wait_s, const char *path, struct err *err)
{
    char who[200] = "";
    ssize_t n = pread(fd, who, sizeof who - 1, 0);
    who[n > 0 ? strcspn(who, "\n") : 0] = 0;
    err_set(err, ERR_SYSTEM, "another benchwrap is committing to this repository for more than %g s (%s%s%s): try again later", wait_s,
            path, *who ? ", " : "", who);
    return 1;
}

/* ---- a lock that the holder before left, since it was killed ---- */

/* Reads what identifies a file, so that another one with the same inode number later is
 * distinguished: inode and time of creation, else of the last change. Returns false where it cannot
 * be read. */
static bool lock_look(const char *path, char *ret, size_t size)
{
    struct statx st;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_CTIME | STATX_BTIME, &st))
        return false;
    const struct statx_timestamp *t = st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime;
    snprintf(ret, size, "%" PRIu64 " %" PRId64 " %" PRIu32, (uint64_t)st.stx_ino, (int64_t)t->tv_sec, (uint32_t)t->tv_nsec);
    return true;
}

static void lock_path(struct repo *r, const char *name, char *ret, size_t size)
{
    snprintf(ret, size, "%s%s.lock", repo_common(r), name);
}

/* Notes in the turn's file the lock that its holder has: "lock <ref> <inode and time>". */
static void lock_note(const struct ref_turn *turn, struct repo *r, const char *name)
{
    char path[4096], known[100], line[500];
    struct stat st;
    lock_path(r, name, path, sizeof path);
    if (!turn || turn->fd < 0 || fstat(turn->fd, &st) || !lock_look(path, known, sizeof known))
        return;
    snprintf(line, sizeof line, LOCK_WORD "%.300s %s\n", name, known);
    if (pwrite(turn->fd, line, strlen(line), st.st_size) < 0)
        errno = 0; /* then a kill leaves the lock for the user */
}

/* Removes the locks that the last holder of the turn noted and that are still the same files. This
 * process holds the turn, so that holder is dead, and they have no owner. */
static void lock_release_dead(int fd, struct repo *r)
{
    char text[8000], path[4096], known[100];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    struct str rest = str_of(text);
    for (struct str line; (line = str_cut(&rest, '\n')).p;) {
        if (!str_starts(line, LOCK_WORD BRANCHES))
            continue;
        line = str_sub(line, strlen(LOCK_WORD), line.n);
        struct str ref = str_cut(&line, ' ');
        char name[400];
        snprintf(name, sizeof name, STR_FMT, STR_ARG(ref));
        lock_path(r, name, path, sizeof path);
        if (!str_has(ref, "..") && lock_look(path, known, sizeof known) && str_is(line, known))
            unlink(path);
    }
}

int ref_turn_take(struct ref_turn *ret, struct repo *r, const char *name, double wait_s, bool (*done)(void *context), void *context,
                  struct err *err)
{
    char path[4096], who[300], host[200] = "";
    int64_t until = clock_mono_ns() + (int64_t)(wait_s * 1e9);
    ret->fd = -1;
    if (snprintf(path, sizeof path, "%sbenchwrap", repo_common(r)) >= (int)sizeof path - 20)
        return err_set(err, ERR_SYSTEM, "the name of the repository's folder is too long");
    CLEANUP_FD int folder = place_open_below(path, 1, 0777);
    if (folder < 0)
        return err_sys(err, "writing to the repository: cannot open %s", path);
    size_t n = strlen(path);
    snprintf(path + n, sizeof path - n, "/%.16s", name);
    struct stat st;
    CLEANUP_FD int fd = place_open(folder, path + n + 1, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0 || fstat(fd, &st))
        return err_sys(err, "opening %s", path);
    if (!S_ISREG(st.st_mode) || place_is_planted(folder, path + n + 1, &st))
        return err_set(err, ERR_INPUT, "cannot use %s as the lock: it is no file of benchwrap's; remove it", path);
    bool locked = true;
    for (unsigned round = 0; fs_lock(fd); round++) {
        locked = errno == EAGAIN || errno == EACCES || errno == EINTR;
        if (!locked)
            break; /* no such locks here: ref_move keeps order */
        if (done && done(context))
            return 2;
        if (clock_mono_ns() > until)
            return turn_err(fd, wait_s, path, err);
        pause_a_while(round, TURN_MOST_MS);
    }
    if (locked)
        lock_release_dead(fd, r);
    gethostname(host, sizeof host - 1);
    snprintf(who, sizeof who, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(fd, 0) == 0 && pwrite(fd, who, strlen(who), 0) < 0)
        errno = 0; /* for people only */
    ret->fd = fs_take(&fd);
    return 0;
}

void ref_turn_give(struct ref_turn *t)
{
    fs_close(&t->fd);
}

/* ---- the move ---- */

/* Sets err to why the ref is locked. The lock of a dead process is like that of a live one, as git
 * stores no owner in it. So the error explains it, and the user decides. Returns -1. */
static int locked_err(struct repo *r, const char *name, double wait_s, struct err *err)
{
    char path[4096];
    struct stat st;
    lock_path(r, name, path, sizeof path);
    if (stat(path, &st))
        return err_set(err, ERR_SYSTEM, "%s was locked for %g s by another git: try again", name, wait_s);
    int64_t age = clock_wall_ms() / 1000 - (int64_t)st.st_mtime;
    return err_set(err, ERR_SYSTEM,
                   "%s is locked: %s is there for %" PRId64
                   " s, made by a git that is still at work or was killed. If no git or benchwrap works on "
                   "this repository, on any host: rm '%s', and try again",
                   name, path, age, path);
}

/* Locks the ref within the transaction; waits up to wait_s seconds while another process holds the
 * lock. Returns -1 with err. */
static int lock_ref(struct repo *r, git_transaction *tx, const char *name, double wait_s, struct err *err)
{
    int64_t until = clock_mono_ns() + (int64_t)(wait_s * 1e9);
    for (unsigned round = 0;; round++) {
        int rc = r->git->git_transaction_lock_ref(tx, name);
        if (rc == 0)
            return 0;
        if (rc != GIT_ELOCKED)
            return git2_err(err, rc, "locking %s", name);
        if (clock_mono_ns() > until)
            return locked_err(r, name, wait_s, err);
        pause_a_while(round, LOCK_MOST_MS);
    }
}

/* Moves the locked ref from `was` to `is` with a line in its log. was NULL: the ref must not exist.
 * Returns 1 with err when another process changed the ref, -1 with err. */
static int move_locked(struct repo *r, git_transaction *tx, const char *name, const struct repo_id *was, const struct repo_id *is,
                       const struct commit_person *who, const char *why, struct err *err)
{
    struct repo_id now;
    int rc = repo_ref(r, name, &now, err);
    if (rc < 0)
        return -1;
    if (was ? rc != 0 || !repo_id_eq(&now, was) : rc == 0) {
        err_set(err, ERR_SYSTEM, "another process updated %s; run the command again", name);
        return 1;
    }
    git_signature sig = {.name = (char *)who->name, .email = (char *)who->email, .when = {.time = who->time_s, .offset = who->offset_min}};
    rc = r->git->git_transaction_set_target(tx, name, repo_oid(is), &sig, why);
    if (rc == 0)
        rc = r->git->git_transaction_commit(tx);
    return rc ? git2_err(err, rc, "moving %s", name) : 0;
}

int ref_move(const struct ref_turn *turn, struct repo *r, const char *name, const struct repo_id *was, const struct repo_id *is,
             const struct commit_person *who, const char *why, double wait_s, struct err *err)
{
    git_transaction *tx = NULL;
    int rc = r->git->git_transaction_new(&tx, r->repository);
    if (rc)
        return git2_err(err, rc, "moving %s", name);
    rc = lock_ref(r, tx, name, wait_s, err);
    if (rc == 0)
        lock_note(turn, r, name);
    if (rc == 0)
        rc = move_locked(r, tx, name, was, is, who, why, err);
    r->git->git_transaction_free(tx);
    return rc;
}

bool ref_checked_out(struct repo *r, const char *name)
{
    git_reference *ref = NULL;
    bool yes = r->git->git_reference_lookup(&ref, r->repository, name) == 0 && r->git->git_branch_is_checked_out(ref) == 1;
    r->git->git_reference_free(ref);
    return yes;
}
