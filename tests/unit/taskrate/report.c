/* Reports of tasks: what is taken, what is answered, and what belongs to no task: short, foreign, unasked, from before the submission or after its own arrival. */
#include "benchmarks/native/taskrate/report.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cmocka.h>

static const int64_t ms = 1000000;

struct there {
    struct bench b;
    struct report_channel report;
    int socket;
};

/* Ten tasks, of which the first five have been submitted. */
static void begin(struct there *t)
{
    struct err err;
    *t = (struct there){.b.token = 0x1234};
    arena_init(&t->b.arena, 0);
    assert_int_equal(tasks_init(&t->b.tasks, 10, &err), 0);
    assert_int_equal(tasks_begin(&t->b.tasks, 10, &err), 0);
    assert_int_equal(clocks_begin(&t->b.clocks, &err), 0);
    assert_int_equal(report_init(&t->report, &t->b, &err), 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)atoi(t->b.set.address));
    t->socket = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(connect(t->socket, (struct sockaddr *)&to, sizeof to), 0);
    for (int i = 0; i < 5; i++) {
        t->b.tasks.submit[i] = clock_mono_ns() - 50 * ms;
        t->b.tasks.flags[i] = TASK_SUBMITTED;
    }
}

static void end(struct there *t)
{
    close(t->socket);
    report_deinit(&t->report, &t->b);
    tasks_deinit(&t->b.tasks);
    clocks_deinit(&t->b.clocks);
    arena_deinit(&t->b.arena);
}

/* A record of this machine, of a task that began and ended so many ns from now. */
static struct wire_record record(const struct there *t, uint32_t task, int64_t start, int64_t stop)
{
    struct utsname name;
    int64_t now = clock_mono_ns();
    struct wire_record r = {.magic = WIRE_MAGIC, .task = task, .token = t->b.token, .start = now + start, .end = now + stop};
    r.wall_start = r.start + t->b.clocks.wall_less_mono;
    r.wall_end = r.end + t->b.clocks.wall_less_mono;
    uname(&name);
    snprintf(r.host, sizeof r.host, "%.*s", (int)sizeof r.host - 1, name.nodename);
    return r;
}

/* Sends n bytes of it; 1: it was taken as the end of a task. *answered: an acknowledgement came. */
static size_t send_one(struct there *t, const struct wire_record *r, size_t n, bool *answered)
{
    char answer[64];
    assert_int_equal(send(t->socket, r, n, 0), n);
    size_t ended = report_take(&t->report, &t->b);
    *answered = recv(t->socket, answer, sizeof answer, MSG_DONTWAIT) == 16;
    return ended;
}

static void good_ones(void **state)
{
    struct there t;
    bool answered;
    (void)state;
    begin(&t);
    struct wire_record r = record(&t, 2, -20 * ms, -1 * ms);
    assert_int_equal(send_one(&t, &r, sizeof r, &answered), 1);
    assert_true(answered);
    assert_int_equal(send_one(&t, &r, sizeof r, &answered), 0); /* the same once more: its acknowledgement was lost */
    assert_true(answered);
    assert_int_equal(t.b.tasks.duplicates, 0);
    r = record(&t, 2, -10 * ms, -1 * ms); /* another run of it */
    assert_int_equal(send_one(&t, &r, sizeof r, &answered), 0);
    assert_int_equal(send_one(&t, &r, sizeof r, &answered), 0);
    assert_int_equal(t.b.tasks.duplicates, 1);
    assert_int_equal(t.b.tasks.strangers, 0);
    assert_int_equal(t.b.tasks.flags[2], TASK_SUBMITTED | TASK_STAMPED | TASK_ENDED | TASK_TWICE);
    end(&t);
}

static void false_ones(void **state)
{
    struct there t;
    bool answered;
    (void)state;
    begin(&t);
    struct wire_record r = record(&t, 1, -20 * ms, -1 * ms);
    assert_int_equal(send_one(&t, &r, sizeof r - 1, &answered), 0); /* short */
    assert_false(answered);
    r.token++;
    assert_int_equal(send_one(&t, &r, sizeof r, &answered), 0); /* of a batch before, or of somebody else */
    assert_false(answered);
    struct wire_record bad[] = {
        record(&t, 1, -500 * ms, -1 * ms), /* began before it was submitted */
        record(&t, 1, -20 * ms, 5000 * ms), /* ended after its report came */
        record(&t, 7, -20 * ms, -1 * ms), /* not submitted yet */
        record(&t, 10, -20 * ms, -1 * ms), /* no such task */
        record(&t, 1, -1 * ms, -20 * ms) /* backwards */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(send_one(&t, &bad[i], sizeof bad[i], &answered), 0);
    assert_int_equal(t.b.tasks.strangers, 7);
    for (size_t i = 0; i < 10; i++)
        assert_false(t.b.tasks.flags[i] & (TASK_STAMPED | TASK_ENDED));
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_ones), cmocka_unit_test(false_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
