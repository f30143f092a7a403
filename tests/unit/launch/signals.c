/* signals: the observer process belongs to the launcher from its start to the end of signals_close. */
#include "launch/signals.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* Waits at most 20 s for the child's end. Returns whether a signal ended it. */
static bool is_killed(pid_t pid)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    int status = 0;
    for (int tries = 0; tries < 2000; tries++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFSIGNALED(status);
        nanosleep(&nap, NULL);
    }
    return false;
}

static void own_observer_is_ended(void **state)
{
    (void)state;
    struct signals s;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    assert_int_equal(signals_open(&s), 0);
    assert_int_equal(signals_start_observer(&s), 0);
    pid_t observer = s.observer.pid, program = fork();
    if (program == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with the test, also where that fails */
        pause();
        _exit(0);
    }
    signals_started(&s, program);
    assert_int_equal(s.observer.pid, observer);
    assert_non_null(s.observer.page); /* by it the launcher knows its own process */
    signals_close(&s);
    assert_true(is_killed(observer));
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_observer_is_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
