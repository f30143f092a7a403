/* Clocks of nodes, by causality: same machine, a node whose clock is right within the interval, one that is wrong, one that was set. */
#include "benchmarks/native/taskrate/figures.h"

#include "base/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>
#include <cmocka.h>

static const int64_t ms = 1000000;

/* 50 tasks of a node that is `ahead` ns ahead of us; starts 20 to 25 ms after submission, 10 ms long, known 5 to 8 ms later. */
static void remote(struct bench *b, struct task_batch *x, const char *host, int64_t ahead, int64_t mono_apart)
{
    struct err err;
    int64_t now = clock_mono_ns();
    clocks_deinit(&b->clocks);
    memset(b, 0, sizeof *b);
    assert_int_equal(tasks_init(&b->tasks, 50, &err), 0);
    assert_int_equal(tasks_begin(&b->tasks, 50, &err), 0);
    assert_int_equal(clocks_begin(&b->clocks, &err), 0);
    for (int i = 0; i < 50; i++) {
        int64_t a = now + i * 4 * ms, s = a + 20 * ms + i * ms / 10, e = s + 10 * ms;
        struct wire_record r = {.magic = WIRE_MAGIC, .task = (uint32_t)i, .start = s + mono_apart, .end = e + mono_apart};
        r.wall_start = s + b->clocks.wall_less_mono + ahead;
        r.wall_end = e + b->clocks.wall_less_mono + ahead;
        strncpy(r.host, host, sizeof r.host - 1);
        b->tasks.submit[i] = a;
        b->tasks.known[i] = e + 5 * ms + i * ms / 16;
        b->tasks.node[i] = clocks_take(&b->clocks, &r, &b->tasks.self[i]);
        b->tasks.status[i] = 0;
        b->tasks.flags[i] = TASK_SUBMITTED | TASK_STAMPED | TASK_ENDED;
    }
    *x = (struct task_batch){.tasks = 50, .slots = 8, .begin = now, .end = now + 300 * ms};
    figures_of(b, x);
    tasks_deinit(&b->tasks);
}

static void near(double got, double low, double high)
{
    if (!(got >= low && got <= high))
        fail_msg("%.9g is not between %.9g and %.9g", got, low, high);
}

static void same(void **state)
{
    struct bench b = {0};
    struct task_batch x;
    struct utsname us;
    (void)state;
    uname(&us);
    remote(&b, &x, us.nodename, 0, 0);
    near(x.start.at[0], 0.0224, 0.0226);
    assert_true(x.clock_width == 0);
    remote(&b, &x, "a-container", 0, 0); /* another name, one kernel */
    assert_true(x.clock_width == 0);
    near(x.start.at[0], 0.0224, 0.0226);
    clocks_deinit(&b.clocks);
}

static void other(void **state)
{
    struct bench b = {0};
    struct task_batch x;
    (void)state;
    remote(&b, &x, "n1", 2 * ms, INT64_C(-5000000000000)); /* 2 ms ahead: within what causality allows, taken as it is */
    assert_int_equal(b.clocks.node[1].shift, 0);
    near(x.clock_low, 0.002 - 0.0081, 0.002 - 0.0049);
    near(x.clock_high, 0.0219, 0.0221);
    near(x.start.at[0], 0.0244, 0.0246);
    near(x.run.at[0], 0.00999, 0.01001);
    assert_true(x.too_short); /* 24 ms with clocks that tell 27 ms */
    remote(&b, &x, "n1", 900 * ms, INT64_C(-5000000000000)); /* nearly a second ahead: tasks would have ended after they were known to */
    near((double)b.clocks.node[1].shift / 1e9, 0.895, 0.925);
    near(x.start.at[0], 0.0, 0.035);
    near(x.run.at[0], 0.00999, 0.01001);
    assert_true(x.throughput > 0);
    remote(&b, &x, "n1", INT64_C(-3600000000000), INT64_C(-5000000000000)); /* an hour behind */
    near(x.start.at[0], 0.0, 0.035);
    near(x.shift, -3600.03, -3599.97);
    near(x.makespan, 0.196, 0.266); /* 0.231, within the uncertainty of the clock */
    clocks_deinit(&b.clocks);
}

static void set_meanwhile(void **state)
{
    struct bench b;
    struct task_batch x;
    struct err err;
    (void)state;
    memset(&b, 0, sizeof b);
    assert_int_equal(tasks_init(&b.tasks, 1, &err), 0);
    assert_int_equal(tasks_begin(&b.tasks, 1, &err), 0);
    assert_int_equal(clocks_begin(&b.clocks, &err), 0);
    int64_t now = clock_mono_ns();
    struct wire_record r = {.magic = WIRE_MAGIC, .start = 5, .end = 5 + ms, .host = "n1"};
    r.wall_start = now + b.clocks.wall_less_mono + 10 * ms;
    r.wall_end = r.wall_start + ms;
    b.tasks.submit[0] = now;
    b.tasks.known[0] = now + 30 * ms;
    b.tasks.node[0] = clocks_take(&b.clocks, &r, &b.tasks.self[0]);
    b.tasks.status[0] = 0;
    b.tasks.flags[0] = TASK_SUBMITTED | TASK_STAMPED | TASK_ENDED;
    b.clocks.wall_less_mono -= INT64_C(7000000000); /* as if the clock had been set by 7 s since the batch began */
    x = (struct task_batch){.tasks = 1, .slots = 1, .begin = now, .end = now + 30 * ms};
    figures_of(&b, &x);
    near(x.stepped, 6.99, 7.01);
    assert_int_equal(x.start.n, 0);
    assert_non_null(x.no_throughput);
    tasks_deinit(&b.tasks);
    clocks_deinit(&b.clocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same), cmocka_unit_test(other), cmocka_unit_test(set_meanwhile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
