/* spawn.c: starts the program, which waits before its exec until it is released, and reports why
 * it could not start. */
#include "launch/spawn.h"

#include "base/buf.h"
#include "launch/fd.h"
#include "launch/say.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 5, PAUSE_NS = 10000000 };

bool spawn_save(struct spawn_state *ret)
{
    sigset_t all;
    struct sigaction chld, normal = {.sa_handler = SIG_DFL};
    struct itimerval none = {0};
    *ret = (struct spawn_state){0};
    sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, &ret->mask) < 0)
        return false;
    if (sigaction(SIGCHLD, NULL, &chld) == 0)
        ret->chld_ignored = chld.sa_handler == SIG_IGN || (chld.sa_flags & SA_NOCLDWAIT);
    if ((ret->chld_ignored && sigaction(SIGCHLD, &normal, NULL) < 0) || getitimer(ITIMER_REAL, &ret->alarm) < 0 ||
        ((ret->alarm.it_value.tv_sec || ret->alarm.it_value.tv_usec) && setitimer(ITIMER_REAL, &none, NULL) < 0)) {
        int saved = errno;
        spawn_restore(ret);
        errno = saved;
        return false;
    }
    return true;
}

pid_t spawn_fork(void)
{
    sigset_t all;
    struct timespec nap = {.tv_nsec = PAUSE_NS};
    pid_t pid = fork();
    for (int tries = 0; pid < 0 && tries < TRIES && (errno == EAGAIN || errno == ENOMEM);
         tries++) { /* other processes may end and free their slots */
        nanosleep(&nap, NULL);
        pid = fork();
    }
    int saved = errno;
    sigfillset(&all);
    if (pid != 0)
        sigprocmask(SIG_SETMASK, &all, NULL);
    errno = saved;
    return pid;
}

/* Removes pending signals that the launcher's own writing has caused (a reader that is gone, a size
 * limit): they must not reach the program. */
static void forget_own_signals(void)
{
    sigset_t own;
    siginfo_t info;
    struct timespec none = {0};
    bool foreign[2] = {false};
    sigemptyset(&own);
    sigaddset(&own, SIGPIPE);
    sigaddset(&own, SIGXFSZ);
    for (int number; (number = sigtimedwait(&own, &info, &none)) > 0;)
        foreign[number == SIGXFSZ] |= info.si_pid != getpid();
    for (int i = 0; i < 2; i++)
        if (foreign[i])
            kill(getpid(), i ? SIGXFSZ : SIGPIPE);
}

void spawn_restore(const struct spawn_state *state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (state->chld_ignored)
        sigaction(SIGCHLD, &ignore, NULL);
    if (state->alarm.it_value.tv_sec || state->alarm.it_value.tv_usec)
        setitimer(ITIMER_REAL, &state->alarm, NULL);
    forget_own_signals();
    sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

/* Runs in the child: waits for the release on `line`, then executes the program. On failure writes
 * a struct spawn_failure to `line`, which a successful exec closes. */
_Noreturn static void spawn_run_child(const struct spawn_state *state, char *const *argv, char *const *env, int out, int err, int line)
{
    struct spawn_failure failure = {0};
    char go;
    for (int tries = 0; tries < 100 && read(line, &go, 1) < 0 && errno == EINTR; tries++)
        ;
    if ((out >= 0 && dup2(out, 1) < 0) || (err >= 0 && dup2(err, 2) < 0)) {
        failure.error = errno;
    } else {
        spawn_restore(state);
        execvpe(argv[0], argv, env);
        failure = (struct spawn_failure){.in_exec = 1, .error = errno};
    }
    fd_write_all(line, &failure, sizeof failure);
    _exit(127);
}

pid_t spawn_held(const struct spawn_state *state, char *const *argv, char *const *env, int out, int err, int *ret_line)
{
    int line[2];
    if (fd_socketpair(SOCK_STREAM, line) < 0)
        return -1;
    pid_t pid = spawn_fork();
    if (pid == 0)
        spawn_run_child(state, argv, env, out, err, line[1]);
    fd_close(&line[1]);
    if (pid < 0)
        fd_close(&line[0]);
    else
        *ret_line = line[0];
    return pid;
}

void spawn_release(int line)
{
    for (int tries = 0; send(line, "", 1, MSG_NOSIGNAL) < 0 && tries < 10; tries++)
        ;
    shutdown(line, SHUT_WR); /* lets it go even where the byte could not be sent */
}

int spawn_result(int *line, struct spawn_failure *ret)
{
    ssize_t n = recv(*line, ret, sizeof *ret, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    fd_close(line);
    return n == (ssize_t)sizeof *ret ? -1 : 1;
}

/* Returns a hint to append to the error: why the kernel refused the start, and what to do. "": that
 * cannot be detected. */
static const char *spawn_refusal(const char *program)
{
    struct stat st;
    if (!strchr(program, '/') || stat(program, &st) < 0)
        return "";
    if (S_ISDIR(st.st_mode))
        return ". It is a folder: name a program in it";
    return S_ISREG(st.st_mode) && !(st.st_mode & 0111) ? ". Make it executable (chmod +x), or name its interpreter first, such as sh" : "";
}

int spawn_explain(const char *program, const struct spawn_failure *failure, char *text, size_t size)
{
    struct buf name;
    buf_init(&name, 2048);
    buf_plain(&name, str_of(program), 200);
    const char *shown = name.p ? name.p : "";
    int status = 126;
    errno = failure->error;
    if (!failure->in_exec) {
        status = 125;
        snprintf(text, size, "%s: cannot connect its output: %m", shown);
    } else if (failure->error == ENOENT && !strchr(program, '/')) {
        status = 127;
        if (access(program, F_OK) == 0)
            snprintf(text, size, "%s: command not found. The file in this folder is ./%s", shown, shown);
        else
            snprintf(text, size, "%s: command not found. Load the module that has it, or name its path", shown);
    } else if (failure->error == ENOENT) {
        bool there = access(program, F_OK) == 0;
        status = 127;
        snprintf(text, size, there ? "%s: the file is there, but the interpreter or loader it names was not found" : "%s: no such file",
                 shown);
    } else if (failure->error == EACCES)
        snprintf(text, size, "%s: cannot be executed: %m%s", shown, spawn_refusal(program));
    else
        snprintf(text, size, "%s: cannot be executed: %m", shown);
    buf_deinit(&name);
    return status;
}

int spawn_exec(char *const *argv)
{
    char text[512];
    execvp(argv[0], argv);
    struct spawn_failure failure = {.in_exec = 1, .error = errno};
    int status = spawn_explain(argv[0], &failure, text, sizeof text);
    say_stderr("%s", text);
    return status;
}
