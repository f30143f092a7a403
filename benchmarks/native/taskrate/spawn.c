/* spawn.c: starting a process at minimum cost, and waiting for it. */
#include "benchmarks/native/taskrate/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 64 * 1024 };

/* The thread sanitizer treats each clone as a fork, and tracks no lock of that thread any more;
 * glibc's own name it does not know. */
#if defined(__SANITIZE_THREAD__)
int __clone(int (*run)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#endif

struct order {
    const struct spawner *s;
    char *const *argv;
    char *const *env;
    int failed;
};

/* In the child, which shares this process's memory until exec: nothing but system calls. */
static int spawn_exec_task(void *argument)
{
    struct order *o = argument;
    sigset_t none;
    for (int i = 0; o->s->fd && i < 3; i++)
        if (o->s->fd[i] >= 0 && dup2(o->s->fd[i], i) < 0)
            goto failed;
    if (o->s->keep >= 0 && fcntl(o->s->keep, F_SETFD, 0) < 0)
        goto failed;
    if (o->s->own_group)
        setpgid(0, 0);
    if (o->s->death)
        prctl(PR_SET_PDEATHSIG, o->s->death);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(o->argv[0], o->argv, o->env);
failed:
    o->failed = errno;
    return (int)syscall(SYS_exit_group, 127);
}

pid_t spawn_task(struct spawner *s, char *const argv[], char *const env[], int *pidfd)
{
    struct order o = {.s = s, .argv = argv, .env = env};
    pid_t pid = -1;
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    if (pidfd) {
        *pidfd = -1;
        pid = clone(spawn_exec_task, s->stack + STACK, flags | CLONE_PIDFD, &o, pidfd);
    }
    if (!pidfd || (pid < 0 && errno == EINVAL)) /* kernels before 5.2 */
        pid = clone(spawn_exec_task, s->stack + STACK, flags, &o);
    if (pid < 0 || !o.failed)
        return pid;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (pidfd && *pidfd >= 0) {
        close(*pidfd);
        *pidfd = -1;
    }
    errno = o.failed;
    return -1;
}

int spawner_init(struct spawner *s)
{
    void *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    *s = (struct spawner){.stack = p == MAP_FAILED ? NULL : p, .keep = -1};
    return s->stack ? 0 : -1;
}

void spawner_deinit(struct spawner *s)
{
    if (s->stack)
        munmap(s->stack, STACK);
    s->stack = NULL;
}

int spawn_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
