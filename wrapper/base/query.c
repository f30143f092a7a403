/* query.c: runs another program concurrently and reads its output, with a time limit and a size
 * limit. */
#include "base/query.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WHY_MAX = 2048, PIECE = 65536, REAP_MS = 100 };

/* Runs in the child: executes the program in a session of its own with these descriptors as 0 to 2
 * and no others, which dies with its parent. Exit status 125, 126 or 127 where it cannot. */
_Noreturn static void ask_become(char *const *argv, char *const *env, int in, int out, int err, bool nice, pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    if (getppid() != parent || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(125);
    if (close_range(3, ~0u, 0) != 0) /* before Linux 5.9 */
        for (int fd = 3; fd < 4096; fd++)
            close(fd);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nice)
        setpriority(PRIO_PROCESS, 0, 10);
    execvpe(argv[0], argv, env);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Numbers above 2, so that dup2 never meets one of them. */
static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (ends[i] < 3) {
            int high = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
            close(ends[i]);
            ends[i] = high;
        }
    return 0;
}

int query_start(struct query *ret, char *const *argv, char *const *env, size_t max, int64_t limit_ms, unsigned flags, struct err *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, why[2] = {-1, -1};
    pid_t parent = getpid();
    *ret = QUERY_NONE;
    ret->end = QUERY_FAILED;
    buf_init(&ret->text, max + PIECE + 1);
    buf_init(&ret->why, WHY_MAX + PIECE + 1);
    ret->until_ns = limit_ms ? clock_mono_ns() + limit_ms * 1000000 : INT64_MAX;
    bool pipes = open_pipe(out) == 0 && open_pipe(why) == 0 && (!(flags & QUERY_INPUT) || open_pipe(in) == 0);
    if (pipes && !(flags & QUERY_INPUT))
        in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (pipes && flags & QUERY_NO_OUTPUT) {
        int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (sink >= 0)
            fs_close(&out[1]);
        out[1] = sink >= 0 ? sink : out[1];
    }
    ret->pid = pipes ? fork() : -1;
    if (ret->pid == 0)
        ask_become(argv, env, in[0], out[1], why[1], !(flags & QUERY_NO_NICE), parent);
    int saved = errno;
    fs_close(&in[0]);
    fs_close(&out[1]);
    fs_close(&why[1]);
    ret->in = in[1];
    ret->out = out[0];
    ret->err = why[0];
    errno = saved;
    if (ret->pid < 0) {
        ret->pid = 0;
        err_sys(err, "cannot start %s", argv[0]);
        query_close(ret);
        ret->end = QUERY_FAILED;
        return -1;
    }
    fcntl(ret->out, F_SETFL, O_NONBLOCK);
    fcntl(ret->err, F_SETFL, O_NONBLOCK);
    if (ret->in >= 0)
        fcntl(ret->in, F_SETFL, O_NONBLOCK);
    ret->end = QUERY_RUNS;
    return 0;
}

/* Appends what the pipe holds now. keep: the number of bytes to keep; the rest is dropped. False:
 * more than that came. */
static bool query_drain(int *fd, struct buf *to, size_t keep)
{
    while (*fd >= 0) {
        char *room = buf_room(to, PIECE);
        if (room)
            *room = 0; /* it is a string whatever comes */
        ssize_t n = room ? read(*fd, room, PIECE) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            fs_close(fd);
        else
            to->n += (size_t)n;
        if (to->n > keep) {
            to->n = keep;
            to->p[keep] = 0;
            return false;
        }
        if (to->p)
            to->p[to->n] = 0;
    }
    return true;
}

/* Kills and reaps the process and its group, closes the descriptors and sets the state to `end`.
 * Waits at most REAP_MS milliseconds; the texts stay until query_close. */
static void query_stop(struct query *a, enum query_end end)
{
    struct timespec nap = {.tv_nsec = 1000000};
    if (a->pid > 0) {
        kill(-a->pid, SIGKILL);
        kill(a->pid, SIGKILL);
        for (int i = 0; i < REAP_MS && waitpid(a->pid, NULL, WNOHANG) == 0; i++)
            nanosleep(&nap, NULL);
    }
    a->pid = 0;
    a->end = end;
    fs_close(&a->in);
    fs_close(&a->out);
    fs_close(&a->err);
}

enum query_end query_poll(struct query *a)
{
    if (a->end != QUERY_RUNS)
        return a->end;
    query_drain(&a->err, &a->why, WHY_MAX);
    if (!query_drain(&a->out, &a->text, a->text.max - PIECE - 1)) {
        query_stop(a, QUERY_LONG);
        return a->end;
    }
    int rc = (int)waitpid(a->pid, &a->status, WNOHANG);
    if (rc > 0 || (rc < 0 && errno == ECHILD)) {
        a->pid = 0; /* all that it wrote is in the pipes, also where a process that it left behind holds them open */
        query_drain(&a->err, &a->why, WHY_MAX);
        query_stop(a, query_drain(&a->out, &a->text, a->text.max - PIECE - 1) ? QUERY_DONE : QUERY_LONG);
    } else if (clock_mono_ns() >= a->until_ns)
        query_stop(a, QUERY_LATE);
    return a->end;
}

enum query_end query_wait(struct query *a, int64_t wait_ms)
{
    int64_t until = clock_mono_ns() + wait_ms * 1000000;
    while (query_poll(a) == QUERY_RUNS) {
        int64_t now = clock_mono_ns(), end = until < a->until_ns ? until : a->until_ns, ms = (end - now + 999999) / 1000000;
        struct pollfd p[2] = {{a->out, POLLIN, 0}, {a->err, POLLIN, 0}};
        if (now >= until)
            break;
        poll(p, 2, a->out < 0 ? 1 : ms > QUERY_POLL_MS ? QUERY_POLL_MS : ms < 1 ? 1 : (int)ms);
    }
    return a->end;
}

void query_close(struct query *a)
{
    query_stop(a, a->end == QUERY_RUNS ? QUERY_LATE : a->end);
    buf_deinit(&a->text);
    buf_deinit(&a->why);
}

bool query_write_input(struct query *a, struct str text, int64_t wait_ms)
{
    int64_t until = clock_mono_ns() + wait_ms * 1000000;
    while (text.n && a->in >= 0) {
        ssize_t n = write(a->in, text.p, text.n);
        if (n > 0)
            text = str_sub(text, (size_t)n, text.n);
        else if ((errno != EINTR && errno != EAGAIN) || clock_mono_ns() >= until)
            break;
        else
            query_wait(a, QUERY_POLL_MS);
    }
    fs_close(&a->in);
    return text.n == 0;
}

const char *query_reason(struct query *a)
{
    for (size_t i = 0; i < a->why.n; i++)
        if (a->why.p[i] == '\n')
            a->why.p[i] = ' ';
    while (a->why.n && a->why.p[a->why.n - 1] == ' ')
        a->why.p[--a->why.n] = 0;
    return a->why.n ? a->why.p : "";
}
