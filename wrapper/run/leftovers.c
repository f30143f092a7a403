/* leftovers.c: clean up a spool folder: close runs whose recorder died, release published ones. */
#include "run/leftovers.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/shell_word.h"
#include "run/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HELD_MS = 7 * 24 * 60 * 60 * 1000 };
enum { SILENCE_MS = 15 * 60 * 1000 }; /* the recorder writes a heartbeat every minute */

static bool is_old(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && clock_wall_ms() - (int64_t)st.st_mtime * 1000 > SILENCE_MS;
}

/* Returns whether there is a first line, whatever its content. It may be damaged, of a newer
 * version, or unreadable at the moment: the run behind it must be kept all the same. */
static bool was_begun(int journal)
{
    char piece[4096];
    ssize_t n;
    while ((n = read(journal, piece, sizeof piece)) > 0)
        if (memchr(piece, '\n', (size_t)n))
            return true;
    return n < 0;
}

/* Decides whether this process may finish the directory. On this host the writer's lock decides:
 * `locked` is true where the caller holds it now. A writer on another host, whose lock may not
 * reach this host, is dead after a long silence; so is one whose lock the caller could not request. */
enum leftover_state { LEFT_ALIVE, LEFT_DEAD, LEFT_EMPTY, LEFT_UNREADABLE /* err states why */ };

/* Returns the state of a spool directory that no process has published. LEFT_UNREADABLE sets
 * err. */
static enum leftover_state leftover_inspect(const struct spool *s, bool locked, struct err *err)
{
    struct record r;
    struct journal_head head;
    struct journal_state state;
    struct stat held;
    if (fstatat(s->dir, SPOOL_HELD, &held, AT_SYMLINK_NOFOLLOW) == 0 && clock_wall_ms() - (int64_t)held.st_mtime * 1000 < HELD_MS)
        return LEFT_ALIVE;
    if (journal_read(s->dir, &r, &head, &state, err)) {
        CLEANUP_FD int journal = openat(s->dir, "journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        if (journal < 0 ? errno != ENOENT : was_begun(journal))
            return journal < 0 || is_old(journal) ? LEFT_UNREADABLE : LEFT_ALIVE;
        return is_old(s->dir) ? LEFT_EMPTY : LEFT_ALIVE; /* not even a first line: nothing was promised; an old one has no owner */
    }
    bool dead = (locked && journal_is_of_boot(&head)) || clock_wall_ms() - state.last_ms > SILENCE_MS;
    record_deinit(&r);
    return dead ? LEFT_DEAD : LEFT_ALIVE;
}

struct leftovers_pass {
    void (*note)(void *context, const char *text);
    void *context;
    struct leftovers_count *count;
    int settled_s;
    const char *tree; /* of others the runs are left to them; NULL: of all trees */
    char other[1200]; /* the first such tree */
};

static void leftover_note(const struct leftovers_pass *w, const char *text)
{
    if (w->note)
        w->note(w->context, text);
}

/* Finishes the run of another process, which has ended, and releases its spool directory if it can.
 * 0; 1: another process was faster; -1 with err. */
static int leftover_close(struct spool *s, const struct leftovers_pass *w, struct err *err)
{
    struct finished f;
    int rc = spool_claim(s, err);
    if (rc)
        return rc;
    rc = finish_run(s, NULL, &f, err);
    if (rc == 0) {
        char line[512];
        snprintf(line, sizeof line, "run %.8s was left unfinished; it is closed as %s: %s", f.record.id,
                 record_status_name(f.record.status), f.place);
        w->count->closed++;
        leftover_note(w, line);
        if (f.note[0])
            leftover_note(w, f.note);
        if (spool_release(s, err) == 0)
            w->count->released++;
    }
    finished_deinit(&f);
    return rc;
}

/* Releases, discards or finishes one spool directory by its state, and counts the outcome. 0; -1
 * with err. */
static int leftover_clean_up(struct spool *s, const struct leftovers_pass *w, struct err *err)
{
    struct journal *lock = NULL;
    if (spool_published_for(s) < w->settled_s) {
        w->count->young++;
        return 0;
    }
    int rc = spool_release(s, err);
    if (rc <= 0) {
        w->count->released += rc == 0;
        return rc;
    }
    enum leftover_state left = LEFT_ALIVE;
    if (journal_reopen(&lock, s->dir, err) <= 0) /* without a complete first line there is no lock to acquire either */
        left = leftover_inspect(s, journal_is_locked(lock), err);
    if (left == LEFT_ALIVE)
        w->count->alive++;
    else if (left == LEFT_EMPTY)
        rc = spool_discard(s, err);
    else if (left == LEFT_UNREADABLE)
        rc = -1;
    else
        rc = leftover_close(s, w, err);
    if (lock)
        journal_close(lock);
    return rc < 0 ? -1 : 0;
}

/* Discards a run that was never completed: its source exists elsewhere. */
static void unmade_run_discard(const char *root, const char *name)
{
    struct spool s;
    struct journal *lock = NULL;
    if (spool_open(&s, root, name, NULL))
        return;
    if (journal_reopen(&lock, s.dir, NULL) <= 0) {
        enum leftover_state left = leftover_inspect(&s, journal_is_locked(lock), NULL);
        if (left == LEFT_DEAD || left == LEFT_EMPTY)
            spool_discard(&s, NULL);
    }
    journal_close(lock);
    spool_close(&s);
}

int finish_leftover(const char *root, const char *name, struct leftovers_count *ret, struct err *err)
{
    struct spool s;
    struct leftovers_pass w = {.count = ret, .settled_s = INT_MAX}; /* a published one is left as it is: its tree is young */
    *ret = (struct leftovers_count){0};
    int rc = spool_open(&s, root, name, err);
    if (rc == SPOOL_FOREIGN) {
        char owner[80];
        return err_set(err, ERR_INPUT, "run %.8s belongs to %s, who alone can finish it", name, place_owner(s.owner, owner, sizeof owner));
    }
    if (rc)
        return rc < 0 ? -1 : 0;
    rc = spool_published_for(&s) < INT_MAX ? 0 : leftover_clean_up(&s, &w, err);
    spool_close(&s);
    return rc;
}

struct foreign {
    size_t runs, owners;
    uid_t owner[3]; /* the first ones */
};

static void add_foreign(struct foreign *f, uid_t owner)
{
    f->runs++;
    for (size_t i = 0; i < f->owners; i++)
        if (f->owner[i] == owner)
            return;
    if (f->owners < sizeof f->owner / sizeof *f->owner)
        f->owner[f->owners++] = owner;
}

static void note_foreign(const struct leftovers_pass *w, const char *root, const struct foreign *f)
{
    char line[1200], owner[80];
    if (f->runs == 0)
        return;
    int n = snprintf(line, sizeof line, "%zu run%s in %.600s left to the owner:", f->runs, str_plural(f->runs), root);
    for (size_t i = 0; i < f->owners; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s %s", i ? "," : "", place_owner(f->owner[i], owner, sizeof owner));
    leftover_note(w, line);
}

enum leftover_owner { WHOSE_OURS, WHOSE_OTHERS, WHOSE_UNKNOWN };

/* Returns whether the run belongs to the tree that is cleaned up (without a tree: every run does).
 * The first other tree is stored in w->other for a note. */
static enum leftover_owner leftover_owner_of(const struct spool *s, struct leftovers_pass *w)
{
    struct record r;
    struct journal_head head;
    struct journal_state state;
    if (!w->tree)
        return WHOSE_OURS;
    if (journal_read(s->dir, &r, &head, &state, NULL))
        return WHOSE_UNKNOWN;
    bool elsewhere = head.tree && strcmp(head.tree, w->tree) != 0;
    if (elsewhere && !w->other[0]) {
        struct buf word CLEANUP_BUF, plain CLEANUP_BUF;
        buf_init(&word, 4 * sizeof w->other);
        buf_init(&plain, 4 * sizeof w->other);
        shell_word_put(&word, head.tree);
        buf_plain(&plain, buf_text(&word), sizeof w->other / 4);
        bool is_command = !word.failed && plain.p && strcmp(plain.p, word.p) == 0; /* else it has control characters, or is too long */
        snprintf(w->other, sizeof w->other, "%s%s%s", is_command ? "" : "PATH, where PATH is ", plain.p ? plain.p : "",
                 is_command ? "" : " (too long to print, or with control characters)");
    }
    record_deinit(&r);
    return elsewhere ? WHOSE_OTHERS : WHOSE_OURS;
}

/* Passes a line to w->note about runs of other trees: how many, and how to finish them. Nothing
 * where there are none. */
static void note_elsewhere(const struct leftovers_pass *w, const char *root)
{
    char line[2400];
    unsigned n = w->count->elsewhere;
    if (n == 0)
        return;
    snprintf(line, sizeof line, "%u %s in %.300s; to finish %s: benchwrap sync --local --tree %s%s", n,
             n == 1 ? "run of another tree waits" : "runs of other trees wait", root, n == 1 ? "it" : "them", w->other,
             n == 1 ? "" : " (and others)");
    leftover_note(w, line);
}

/* Cleans up all runs of the spool `root` but `except` (NULL: none), and passes each outcome to
 * w->note. Runs of other users and other trees are only counted. */
static void leftovers_clean_up(const char *root, const char *except, struct leftovers_pass *w)
{
    struct fs_names list;
    struct foreign foreign = {.runs = 0};
    *w->count = (struct leftovers_count){0};
    if (fs_list(AT_FDCWD, root, &list, NULL))
        return;
    for (size_t i = 0; i < list.count; i++) {
        struct spool s;
        struct err err = {0};
        if (str_starts(str_of(list.names[i]), SPOOL_MAKING))
            unmade_run_discard(root, list.names[i]);
        if (list.names[i][0] == '.' || (except && strcmp(list.names[i], except) == 0))
            continue;
        int rc = spool_open(&s, root, list.names[i], &err);
        if (rc == SPOOL_FOREIGN)
            add_foreign(&foreign, s.owner);
        if (rc)
            continue;
        enum leftover_owner whose = leftover_owner_of(&s, w);
        if (whose == WHOSE_OTHERS)
            w->count->elsewhere++;
        else if (leftover_clean_up(&s, w, &err)) {
            char line[sizeof err.text + 200];
            snprintf(line, sizeof line, "run %.8s is kept as it is in %.150s: %s", list.names[i], root, err.text);
            w->count->failed += whose == WHOSE_OURS; /* what cannot be read may be another tree's */
            leftover_note(w, line);
        }
        spool_close(&s);
    }
    fs_names_deinit(&list);
    note_foreign(w, root, &foreign);
    note_elsewhere(w, root);
}

void finish_leftovers(const char *root, const char *except, int settled_s, void (*note)(void *, const char *), void *context,
                      struct leftovers_count *ret)
{
    struct leftovers_pass w = {.note = note, .context = context, .count = ret, .settled_s = settled_s};
    leftovers_clean_up(root, except, &w);
}

void finish_leftovers_of(const char *tree, const char *root, void (*note)(void *, const char *), void *context, struct leftovers_count *ret)
{
    struct leftovers_pass w = {.note = note, .context = context, .count = ret, .tree = tree};
    leftovers_clean_up(root, NULL, &w);
}
