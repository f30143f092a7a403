/* limit.c: the time limit: a signal to the program and all its descendants, then KILL. Never to the caller's group. */
#include "launch/limit.h"

#include "launch/proc.h"

#include <signal.h>
#include <stdlib.h>

enum { AGAIN_NS = 100000000 /* KILL is repeated so often: forks between two searches */ };

/* Sends the signal to the program and all its processes. program 0: it has ended, and another
 * process may have its pid. A child of this process keeps its pid until it is waited for: it gets
 * its signal even where /proc cannot be read. */
static void limit_send_signal(int signal, pid_t program, const pid_t *except)
{
    struct proc_id *list = NULL;
    ptrdiff_t n = proc_descendants(except, &list);
    if (program > 0) {
        kill(program, signal);
        if (signal != SIGKILL && signal != SIGCONT)
            kill(program, SIGCONT); /* a stopped program could not act on it */
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        if (list[i].pid == program || list[i].state == 'Z')
            continue;
        proc_kill(&list[i], signal);
        if (signal != SIGKILL && signal != SIGCONT)
            proc_kill(&list[i], SIGCONT);
    }
    free(list);
}

bool limit_check(struct time_limit *limit, int64_t now_ns, pid_t program, const pid_t *except)
{
    if (!limit->due_ns || now_ns < limit->due_ns)
        return false;
    int signal = limit->reached ? SIGKILL : limit->signal;
    limit->due_ns = now_ns + (limit->reached || signal == SIGKILL ? AGAIN_NS : limit->grace_ns);
    limit->killed |= signal == SIGKILL;
    limit->reached = true;
    limit_send_signal(signal, program, except);
    return true;
}

void limit_kill_rest(const pid_t *except)
{
    limit_send_signal(SIGKILL, 0, except);
}

int limit_timeout(const struct time_limit *limit, int64_t now_ns)
{
    if (!limit->due_ns)
        return -1;
    int64_t ms = (limit->due_ns - now_ns + 999999) / 1000000;
    return ms < 0 ? 0 : ms > 1000000 ? 1000000 : (int)ms;
}
