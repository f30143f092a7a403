/* child_work.c: a function of this program in a child process; see child_work.h. */
#include "base/child_work.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_FD = 3, HIGH_FD = 64, PIECE = 65536, EMPTY_MS = 5, TURN_MS = 1000 };

static void child_close_from(int first)
{
    if (close_range((unsigned)first, ~0u, 0) != 0) /* before Linux 5.9 */
        for (int i = first; i < 4096; i++)
            close(i);
}

/* ---- in the child ---- */

static void child_limit(int what, rlim_t most)
{
    struct rlimit limit = {most, most};
    setrlimit((__rlimit_resource_t)what, &limit);
}

/* Moves, in the child, `out` and the descriptors of plan->keep to FIRST_FD and those after it,
 * makes the standard streams /dev/null, and closes all others. A process that hangs may hold
 * neither a journal's lock nor another process's pipe. False: it could not. */
static bool child_arrange(const struct child_work_plan *plan, int *out)
{
    int *all[CHILD_WORK_FDS + 1] = {out}, high[CHILD_WORK_FDS + 1], next = FIRST_FD, null = open("/dev/null", O_RDWR);
    for (int i = 0; i < CHILD_WORK_FDS; i++)
        all[i + 1] = plan->keep[i];
    for (int i = 0; i <= CHILD_WORK_FDS; i++)
        if (all[i] && *all[i] >= 0 && (high[i] = fcntl(*all[i], F_DUPFD, HIGH_FD)) < 0)
            return false;
    for (int i = 0; i < FIRST_FD; i++)
        if (null != i)
            dup2(null, i);
    for (int i = 0; i <= CHILD_WORK_FDS; i++)
        if (all[i] && *all[i] >= 0) {
            if (dup2(high[i], next) < 0)
                return false;
            *all[i] = next++;
        }
    child_close_from(next);
    return true;
}

/* Runs in the child: sets what the plan names, runs plan->run, and ends with its result as exit
 * status; with 1 where the child cannot be set up or the parent has ended. */
_Noreturn static void child_become(const struct child_work_plan *plan, int out, pid_t parent)
{
    if (!plan->outlives && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    if (plan->name)
        prctl(PR_SET_NAME, plan->name);
    if (plan->nice)
        setpriority(PRIO_PROCESS, 0, plan->nice);
    if (plan->cpu_s) {
        child_limit(RLIMIT_CORE, 0);
        child_limit(RLIMIT_CPU, plan->cpu_s);
    }
#ifndef __SANITIZE_ADDRESS__
    if (plan->memory_mib)
        child_limit(RLIMIT_AS, (rlim_t)plan->memory_mib << 20);
#endif
    if (!plan->keep_all && !child_arrange(plan, &out))
        _exit(1);
    _exit(plan->run(plan->context, out));
}

/* ---- in the parent ---- */

int child_work_start(struct child_work *ret, const struct child_work_plan *plan)
{
    int ends[2];
    pid_t parent = getpid();
    *ret = CHILD_WORK_NONE;
    ret->is_quiet = plan->pipe_bytes > 0;
    buf_init(&ret->text, plan->max + PIECE + 1);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    if (plan->pipe_bytes)
        fcntl(ends[1], F_SETPIPE_SZ, plan->pipe_bytes);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]); /* so that writing fails once the parent has closed its end */
        child_become(plan, ends[1], parent);
    }
    int why = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = why;
        return -1;
    }
    ret->pid = pid;
    ret->fd = ends[0];
    fcntl(ret->fd, F_SETFL, O_NONBLOCK);
    return 0;
}

bool child_work_read(struct child_work *w)
{
    while (w->fd >= 0) {
        char *to = buf_room(&w->text, PIECE);
        ssize_t n = to ? read(w->fd, to, PIECE) : -1;
        if (n < 0 && to && errno == EINTR)
            continue;
        if (n < 0 && (!to || errno == EAGAIN))
            return false;
        if (n <= 0)
            fs_close(&w->fd);
        else
            w->text.n += (size_t)n;
        if (w->text.n > w->text.max - PIECE - 1) {
            w->text.n = w->text.max - PIECE - 1;
            w->text.failed = true;
        }
        w->text.p[w->text.n] = 0;
    }
    return !w->text.failed;
}

bool child_work_wait(struct child_work *w, int64_t until_ns)
{
    for (;;) {
        int64_t left = (until_ns - clock_mono_ns() + 999999) / 1000000, most = w->is_quiet ? EMPTY_MS : TURN_MS;
        struct pollfd p = {w->fd, w->is_quiet ? 0 : POLLIN, 0};
        if (w->fd >= 0 && left > 0) /* the end of the child wakes in any case */
            poll(&p, 1, (int)(left < most ? left : most));
        if (child_work_read(w))
            return true;
        if (left <= 0 || w->text.failed)
            return false;
    }
}

int child_work_reap(struct child_work *w, int wait_ms)
{
    struct timespec nap = {.tv_nsec = 500000};
    int64_t until = clock_mono_ns() + wait_ms * INT64_C(1000000);
    pid_t *pid = w->pid > 0 ? &w->pid : &w->dying, got = 0;
    int status = -1;
    while (*pid > 0 && (got = waitpid(*pid, &status, wait_ms < 0 ? 0 : WNOHANG)) <= 0) {
        if ((got < 0 && errno != EINTR) || (got == 0 && clock_mono_ns() >= until))
            break;
        if (got == 0)
            nanosleep(&nap, NULL);
    }
    if (got != 0)
        *pid = 0;
    return got > 0 ? status : -1;
}

void child_work_kill(struct child_work *w)
{
    fs_close(&w->fd);
    if (w->pid <= 0)
        return;
    kill(w->pid, SIGKILL);
    child_work_reap(w, 0);
    w->dying = w->pid;
    w->pid = 0;
}

void child_work_deinit(struct child_work *w)
{
    child_work_kill(w);
    buf_deinit(&w->text);
}
