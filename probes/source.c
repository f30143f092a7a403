/* source.c: the git state of the program's directory, after it has ended: commit, branch, uncommitted changes, origin.
 *
 * Looking can hang (a dead file server) or take long (a large working tree), and libgit2 must not be in the recorder: a forked child
 * loads it, writes what it finds into a pipe, and is killed after two seconds. What it had found by then counts. */
#include "base/clock.h"
#include "base/fs.h"
#include "probes/git.h"
#include "probes/look.h"
#include "probes/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 2000, ANSWER_MAX = 16384 };

/* Everything but the pipe is closed: the journal's lock must not live on in a child that hangs. */
static void child(const char *directory, int answer)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int to = fcntl(answer, F_DUPFD, 3);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (to < 0 || dup2(to, 3) < 0)
        return;
    if (close_range(4, ~0u, 0) != 0) /* before Linux 5.9 */
        for (int fd = 4; fd < 4096; fd++)
            close(fd);
    git_look(directory, 3);
    _exit(0);
}

/* Reads until the child has closed the pipe, or the time is over. Returns whether it came to its end. */
static bool collect(int from, struct buf *answer)
{
    int64_t end = clock_mono_ns() / 1000000 + WAIT_MS;
    for (;;) {
        int64_t left = end - clock_mono_ns() / 1000000;
        struct pollfd p = {.fd = from, .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        char *room = buf_room(answer, 4096);
        ssize_t got = room ? read(from, room, 4096) : -1;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        answer->n += (size_t)got;
        answer->p[answer->n] = 0;
    }
}

static bool ask(const char *directory, struct buf *answer, bool *ret_whole, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        err_sys(err, "a pipe for the look at git cannot be made");
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        child(directory, ends[1]);
        _exit(1);
    }
    int why = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = why;
        err_sys(err, "a process for the look at git cannot be started");
        return false;
    }
    *ret_whole = collect(ends[0], answer);
    close(ends[0]);
    if (!*ret_whole)
        kill(pid, SIGKILL);
    /* A child that hangs in the kernel dies when the file server answers; it is not waited for. */
    for (int i = 0; i < 50 && waitpid(pid, NULL, WNOHANG) == 0; i++)
        usleep(1000);
    return true;
}

/* Lines "key value" as git_look writes them. */
static struct str answer_of(const struct buf *answer, const char *key)
{
    size_t n = strlen(key);
    for (struct str rest = buf_text(answer); rest.p;) {
        struct str line = str_cut(&rest, '\n');
        if (str_starts(line, key) && line.n > n && line.p[n] == ' ')
            return str_sub(line, n + 1, line.n);
    }
    return (struct str){"", 0};
}

static void tell_answer(struct host *h, struct record *r, const struct buf *answer, bool whole)
{
    struct str why = answer_of(answer, "error"), commit = answer_of(answer, "commit");
    if (why.n > 0)
        tell_missing(h, r, "mlflow.source.git.commit", STR_FMT, STR_ARG(why));
    if (commit.n == 0) {
        if (!whole)
            tell_missing(h, r, "mlflow.source.git.commit", "looking for a repository took longer than %d s", WAIT_MS / 1000);
        return;
    }
    tell_tag(h, r, "mlflow.source.git.commit", commit);
    tell_tag(h, r, "mlflow.source.git.branch", answer_of(answer, "branch"));
    tell_tag(h, r, "mlflow.source.git.repoURL", answer_of(answer, "url"));
    struct str dirty = answer_of(answer, "dirty");
    if (dirty.n > 0)
        tell_tag(h, r, "mlflow.source.git.dirty", dirty);
    else
        tell_missing(h, r, "mlflow.source.git.dirty",
                     whole ? "git's state could not be read" : "looking at the working tree took longer than %d s", WAIT_MS / 1000);
}

static int after(struct host *h, struct record *r, struct err *err)
{
    char path[4096];
    struct buf answer CLEANUP_BUF;
    bool whole = false;
    buf_init(&answer, ANSWER_MAX);
    if (!h->real || !h->argv || !h->argv[0])
        return 0;
    if (!program_script(h, path, sizeof path) && !program_path(h, path, sizeof path))
        return 0; /* the software probe says why */
    char *resolved = realpath(path, NULL), *slash = resolved ? strrchr(resolved, '/') : NULL;
    if (!slash) {
        free(resolved);
        return 0;
    }
    slash[slash == resolved] = 0;
    bool asked = ask(resolved, &answer, &whole, err);
    free(resolved);
    if (!asked)
        return -1;
    tell_answer(h, r, &answer, whole);
    return 0;
}

const struct probe probe_source = {
    .name = "source",
    .summary = "git state of the program's directory (after it has ended)",
    .after = after,
    .nested = true,
};
