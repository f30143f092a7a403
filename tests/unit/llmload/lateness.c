/* lateness.c: a process that was stopped does not know when it was woken, nor that its sockets were empty when it read the clock. */
#include "benchmarks/native/llmload/lateness.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum { MS = 1000000 };
static const int64_t begin_ns = 1000 * (int64_t)MS;

static void be_continued(void)
{
    assert_int_equal(kill(getpid(), SIGCONT), 0); /* blocked: it stays until it is collected */
}

/* Two waits, the second one from 2 ms to 15 ms after the begin; stopped: in which of them the process was. */
static struct lateness two_waits(int stopped)
{
    struct lateness l;
    lateness_init(&l, begin_ns);
    lateness_wait_begin(&l, begin_ns, begin_ns + 20 * MS);
    if (stopped == 1)
        be_continued();
    lateness_wait_end(&l, begin_ns + MS, true);
    lateness_wait_begin(&l, begin_ns + 2 * MS, begin_ns + 22 * MS);
    if (stopped == 2)
        be_continued();
    lateness_wait_end(&l, begin_ns + 15 * MS, true);
    return l;
}

static void a_stop_in_the_wait_leaves_the_time_of_waking_open(void **state)
{
    (void)state;
    for (int stopped = 1; stopped <= 2; stopped++) {
        struct lateness l = two_waits(stopped);
        assert_int_equal(lateness_after(&l, 0, begin_ns + 15 * MS), begin_ns);
        assert_int_equal(lateness_after(&l, begin_ns + 4 * MS, begin_ns + 15 * MS), begin_ns + 4 * MS); /* not before it was sent */
        lateness_deinit(&l);
    }
}

static void a_stop_before_is_over(void **state)
{
    (void)state;
    be_continued();
    lateness_stops();
    int64_t after = 0;
    bool counted = false;
    for (int tries = 0; tries < 100 && after <= begin_ns + MS; tries++) { /* a thread that waited for a processor is less sure */
        struct lateness l = two_waits(0);
        after = lateness_after(&l, 0, begin_ns + 15 * MS);
        assert_in_range(after, begin_ns + MS, begin_ns + 14 * MS);
        assert_int_equal(lateness_after(&l, 0, begin_ns + MS), begin_ns + MS);
        counted = l.fd >= 0;
        lateness_deinit(&l);
    }
    assert_true(after > begin_ns + MS || !counted);
}

static void each_stop_counts_once(void **state)
{
    (void)state;
    uint64_t before = lateness_stops();
    assert_int_equal(lateness_stops(), before);
    be_continued();
    assert_int_equal(lateness_stops(), before + 1);
    assert_int_equal(lateness_stops(), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_in_the_wait_leaves_the_time_of_waking_open),
        cmocka_unit_test(a_stop_before_is_over),
        cmocka_unit_test(each_stop_counts_once),
    };
    sigset_t continued;
    sigemptyset(&continued);
    sigaddset(&continued, SIGCONT);
    sigprocmask(SIG_BLOCK, &continued, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
