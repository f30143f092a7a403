/* probe_child.c: runs a probe's hook in a child process. */
#include "probes/probe_child.h"

#include "base/apart.h"
#include "base/clock.h"
#include "base/fs.h"
#include "probes/fact_text.h"
#include "probes/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FACTS_BYTES_MAX = 4 << 20, PIPE_BYTES = 1 << 20, ROOT_FD = 3, SPOOL_FD = 4, PIPE_FD = 5, FREE_FD = 6 };
static const char last_word[] = "done", failed_word[] = "failed";

static void probe_child_send_fact(void *context, const struct fact *f)
{
    struct buf text CLEANUP_BUF;
    (void)context;
    buf_init(&text, 1 << 20);
    fact_text_add_fact(&text, f);
    if (!text.failed && fs_write_all(PIPE_FD, text.p, text.n) != 0)
        _exit(1); /* the reader has gone */
}

/* Only what the hook needs stays open: the journal's lock must not live on in a process that hangs, nor may
 * another process's pipe. */
static bool probe_child_arrange_fds(struct host *h, int fd)
{
    int from[] = {fcntl(h->root, F_DUPFD, 64), h->spool < 0 ? -1 : fcntl(h->spool, F_DUPFD, 64), fcntl(fd, F_DUPFD, 64)};
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++) {
        if (null != i)
            dup2(null, i); /* vendors' libraries print */
        if (from[i] >= 0 && dup2(from[i], ROOT_FD + i) < 0)
            return false;
    }
    apart_close_from(FREE_FD);
    h->root = ROOT_FD;
    h->spool = h->spool < 0 ? -1 : SPOOL_FD;
    return from[0] >= 0 && from[2] >= 0;
}

static void probe_child_run(struct host h, struct record *r, int (*hook)(struct host *, struct record *, struct err *), bool low, int fd)
{
    struct err err = {0};
    struct buf text CLEANUP_BUF;
    char ms[40];
    int64_t start = clock_mono_ns();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "benchwrap-look");
    if (low)
        setpriority(PRIO_PROCESS, 0, 10);
    if (!probe_child_arrange_fds(&h, fd))
        _exit(1);
    r->listen = probe_child_send_fact;
    r->context = NULL;
    if (h.state)
        h.state->unsure = false;
    bool failed = hook(&h, r, &err) != 0, unsure = h.state && h.state->unsure;
    if (failed) {
        char key[96];
        snprintf(key, sizeof key, "probe.%s", r->source && strncmp(r->source, "probe:", 6) == 0 ? r->source + 6 : "aside");
        record_missing(r, key, "%s", err.text);
    }
    snprintf(ms, sizeof ms, "%.6f", (double)(clock_mono_ns() - start) / 1e6);
    buf_init(&text, 256);
    fact_text_add(&text, 'N', str_of(failed || unsure ? failed_word : last_word), str_of(ms));
    fs_write_all(PIPE_FD, text.p, text.n);
}

int probe_child_begin(struct probe_child *ret, struct host *h, struct record *r, int (*hook)(struct host *, struct record *, struct err *),
                      bool low)
{
    int ends[2];
    *ret = (struct probe_child){.fd = -1, .start_ns = clock_mono_ns()};
    buf_init(&ret->text, FACTS_BYTES_MAX);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* all facts fit before the recorder reads; else the child waits */
    pid_t pid = fork();
    if (pid == 0) {
        probe_child_run(*h, r, hook, low, ends[1]);
        _exit(0);
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
    return 0;
}

/* Receives what the pipe holds. */
static void probe_child_read(struct probe_child *a)
{
    for (struct pollfd p = {a->fd, POLLIN, 0}; a->fd >= 0;) {
        int ready = poll(&p, 1, 0);
        char *room = ready > 0 ? buf_room(&a->text, 65536) : NULL;
        ssize_t n = room ? read(a->fd, room, 65536) : -1;
        if ((ready < 0 || (room && n < 0)) && errno == EINTR)
            continue;
        if (ready <= 0)
            return;
        if (n <= 0)
            fs_close(&a->fd);
        else
            a->text.n += (size_t)n;
    }
}

/* The end of the child wakes this process; a fact does not, for the pipe holds it. A small pipe can
 * be full, so it is emptied every few milliseconds. */
void probe_child_wait(struct probe_child *a, int64_t until_ns)
{
    enum { EMPTY_MS = 5 };
    while (a->fd >= 0) {
        int64_t left = (until_ns - clock_mono_ns() + 999999) / 1000000;
        struct pollfd p = {a->fd, 0, 0};
        if (left > 0)
            poll(&p, 1, left < EMPTY_MS ? (int)left : EMPTY_MS);
        probe_child_read(a);
        if (left <= 0)
            return; /* it may still send */
    }
}

double probe_child_emit(struct probe_child *a, const struct host *h, struct record *r)
{
    double ms = -1;
    struct fact_text f;
    for (struct str rest = buf_text(&a->text); fact_text_next(&rest, &f) > 0;)
        if (f.kind == 'N') {
            a->failed = str_is(f.key, failed_word);
            str_double(f.text, &ms);
        } else
            fact_text_replay(h, r, &f);
    return ms;
}

void probe_child_end(struct probe_child *a)
{
    fs_close(&a->fd);
    if (a->pid > 0 && kill(a->pid, SIGKILL) == 0 && waitpid(a->pid, NULL, WNOHANG) == 0)
        a->ended = a->pid;
    a->pid = 0;
    buf_deinit(&a->text);
}

void probe_child_reap(struct probe_child *a)
{
    for (int i = 0; a->ended > 0 && i < 20 && waitpid(a->ended, NULL, WNOHANG) == 0; i++)
        usleep(500);
    a->ended = 0;
}
