/* repeat_child.c: run one repetition as a child process, and pass each signal on to it once. */
#include "repeat/repeat_child.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "launch/fd.h"
#include "launch/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEAT_MS = 60000 };

int repeat_child_open(struct repeat_child *c, struct err *err)
{
    if (!spawn_save(&c->state))
        return err_sys(err, "series: cannot block signals");
    if (signals_open(&c->signals) < 0)
        return err_sys(err, "series: cannot open a signalfd");
    signals_start_observer(&c->signals); /* without one a signal to the whole group reaches the run twice: better than not at all */
    return 0;
}

void repeat_child_close(struct repeat_child *c)
{
    signals_close(&c->signals);
}

int repeat_child_ending(struct repeat_child *c)
{
    signals_handle(&c->signals, clock_mono_ns());
    return c->signals.finish_signal;
}

int repeat_input_open(const char *input, struct err *err)
{
    struct stat st;
    CLEANUP_FD int fd = place_open_named(input);
    bool is_folder = fd < 0 && errno == EISDIR;
    if (!is_folder && (fd < 0 || fstat(fd, &st)))
        return err_sys(err, "--input: cannot read %s", input);
    if (is_folder || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)))
        return err_set(err, ERR_USAGE, "--input: expected a file that each repetition can read from its start, got the %s \"%.200s\"",
                       is_folder ? "directory" : "pipe", input);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return err_sys(err, "--input: cannot read %s", input);
    return fs_take(&fd);
}

/* Makes the file, or /dev/null, the standard input of this process. 0; -1 with err. */
static int set_input(const char *input, struct err *err)
{
    int fd = repeat_input_open(input ? input : "/dev/null", err);
    if (fd < 0)
        return -1;
    if (fd != 0 && dup2(fd, 0) < 0) {
        err_sys(err, "standard input from %s", input ? input : "/dev/null");
        close(fd);
        return -1;
    }
    if (fd == 0)
        fcntl(0, F_SETFD, 0);
    else
        close(fd);
    return 0;
}

/* Stops this process by the signal by which the terminal has stopped the run: the shell must see
 * its job stopped. */
static void repeat_follow_stop(struct repeat_child *c, int number)
{
    if (signals_of_terminal(&c->signals, number))
        signals_stop(&c->signals, number);
}

/* Reaps children that have ended or stopped. Returns true once the run has ended, with its wait
 * status. */
static bool repeat_child_reap(struct repeat_child *c, pid_t run, int *ret_status)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
        if (pid == c->signals.observer.pid && !WIFSTOPPED(status))
            c->signals.observer.pid = 0;
        if (pid != run)
            continue;
        if (!WIFSTOPPED(status)) {
            *ret_status = status;
            return true;
        }
        repeat_follow_stop(c, WSTOPSIG(status));
    }
    return false;
}

/* Waits until the run has ended, and forwards signals to it. Calls c->beat every BEAT_MS
 * milliseconds. */
static void repeat_child_wait(struct repeat_child *c, pid_t run, int *ret_status)
{
    int64_t next = clock_mono_ns() + BEAT_MS * 1000000LL;
    while (!repeat_child_reap(c, run, ret_status)) {
        struct pollfd p = {.fd = c->signals.fd, .events = POLLIN};
        int ms = signals_timeout(&c->signals), until = (int)((next - clock_mono_ns()) / 1000000) + 1;
        if (until < 0)
            until = 0;
        poll(&p, 1, ms >= 0 && ms < until ? ms : until);
        signals_handle(&c->signals, clock_mono_ns());
        if (clock_mono_ns() >= next) {
            next += BEAT_MS * 1000000LL;
            if (c->beat)
                c->beat(c->context);
        }
    }
}

int repeat_child_run(struct repeat_child *c, char *const *line, const char *input, int *ret_status, struct err *err)
{
    int hold = -1;
    if (set_input(input, err))
        return -1;
    pid_t pid = spawn_held(&c->state, line, environ, -1, -1, &hold);
    if (pid < 0)
        return err_sys(err, "series: cannot start a process for the run");
    signals_started(&c->signals, pid);
    spawn_release(hold);
    repeat_child_wait(c, pid, ret_status);
    close(hold);
    signals_handle(&c->signals, clock_mono_ns());
    c->signals.program = 0;
    return 0;
}
