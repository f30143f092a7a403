/* child.c: a helper program, started and ended; see child.h. */
#include "benchmarks/native/llmload/child.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READY_MS = 10000, END_MS = 5000 };

static void path_beside_self(char *to, size_t size, const char *name)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    if ((size_t)snprintf(to, size, "%s/%s", self, name) >= size || access(to, X_OK) < 0)
        snprintf(to, size, "%s", name);
}

static void child_exec(const char *path, char *const argv[], int out, pid_t parent)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is for the parent, which then ends us */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
        _exit(127);
    execvp(path, argv);
    _exit(127);
}

/* The child's first line. */
static int read_line(struct child_process *c, int fd, const char *name, struct err *err)
{
    size_t n = 0;
    int64_t until = clock_mono_ns() + (int64_t)READY_MS * 1000000;
    while (n < sizeof c->line - 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = (until - clock_mono_ns()) / 1000000;
        if (left <= 0 || (poll(&p, 1, (int)left) <= 0 && errno != EINTR))
            return err_set(err, ERR_SYSTEM, "%s did not get ready within %d s", name, READY_MS / 1000);
        ssize_t k = read(fd, c->line + n, 1);
        if (k <= 0)
            return err_set(err, ERR_SYSTEM, "%s cannot be started: it belongs beside llmload, or into the PATH", name);
        if (c->line[n] == '\n')
            break;
        n++;
    }
    c->line[n] = '\0';
    return 0;
}

int child_start(struct child_process *ret, char *const argv[], struct err *err)
{
    char path[4200];
    int pipes[2];
    pid_t parent = getpid();
    *ret = (struct child_process){0};
    path_beside_self(path, sizeof path, argv[0]);
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return err_sys(err, "starting %s", argv[0]);
    ret->pid = fork();
    if (ret->pid == 0)
        child_exec(path, argv, pipes[1], parent);
    close(pipes[1]);
    int status = ret->pid < 0 ? err_sys(err, "starting %s", argv[0]) : read_line(ret, pipes[0], argv[0], err);
    close(pipes[0]);
    if (status < 0 && ret->pid > 0)
        child_end(ret);
    return status;
}

void child_end(struct child_process *c)
{
    kill(c->pid, SIGTERM);
    for (int i = 0; i < END_MS / 10; i++) {
        if (waitpid(c->pid, NULL, WNOHANG) != 0)
            return;
        usleep(10000);
    }
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
}
