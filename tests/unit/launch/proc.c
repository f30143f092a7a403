/* proc: what the launcher reads of a process. */
#include "launch/proc.h"

#include <setjmp.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* A process in 2000 groups has SIGUSR1 pending and ignores SIGUSR2: the line of its groups, which precedes those of the signals, has 15 kB. */
static void signals_behind_many_groups(void **state)
{
    enum { GROUPS = 2000 };
    static gid_t groups[GROUPS];
    sigset_t all, before;
    int status, ready[2];
    uint64_t pending = 0;
    char c;
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root may set groups */
    for (int i = 0; i < GROUPS; i++)
        groups[i] = (gid_t)(1000000 + i);
    assert_int_equal(pipe(ready), 0);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGUSR2, SIG_IGN);
        if (setgroups(GROUPS, groups) != 0 || raise(SIGUSR1) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        sleep(60);
        _exit(0);
    }
    close(ready[1]);
    bool is_ready = read(ready[0], &c, 1) == 1;
    close(ready[0]);
    bool known = is_ready && proc_pending(pid, &pending), ignores = is_ready && proc_ignores(pid, SIGUSR2);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!is_ready)
        skip(); /* a sandbox refuses groups */
    assert_true(known);
    assert_int_equal(pending, (uint64_t)1 << (SIGUSR1 - 1));
    assert_true(ignores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signals_behind_many_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
