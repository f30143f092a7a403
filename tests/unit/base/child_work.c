/* child_work.c: work in a child process: its answer, what it inherits, deadlines, limits. */
#include "base/child_work.h"

#include "base/clock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t in_ms(int64_t ms)
{
    return clock_mono_ns() + ms * 1000000;
}

static int answer_text(void *context, int out)
{
    return write(out, context, strlen(context)) < 0 ? 1 : 7;
}

static void the_answer_and_the_status_arrive(void **state)
{
    struct child_work w;
    (void)state;
    for (int pipe_bytes = 0; pipe_bytes <= 1 << 16; pipe_bytes += 1 << 16) {
        assert_int_equal(child_work_start(&w, &(struct child_work_plan){.run = answer_text, .context = (char[]){"yes"}, .max = 100, .pipe_bytes = pipe_bytes}), 0);
        assert_true(child_work_wait(&w, in_ms(60000)));
        assert_true(str_is(buf_text(&w.text), "yes"));
        int status = child_work_reap(&w, -1);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        assert_int_equal(w.pid, 0);
        child_work_deinit(&w);
    }
}

static int list_descriptors(void *context, int out)
{
    (void)context;
    for (int fd = 0; fd < 100; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            dprintf(out, "%d ", fd);
    dprintf(out, "%d %zd", *(int *)context, write(*(int *)context, "x", 1));
    return 0;
}

/* The kept descriptor is the one that the caller named, under its new number. */
static void only_named_descriptors_stay(void **state)
{
    struct child_work w;
    int other = open("/dev/null", O_RDONLY), ends[2], kept;
    char byte = 0;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    kept = ends[1];
    assert_int_equal(child_work_start(&w, &(struct child_work_plan){.run = list_descriptors, .context = &kept, .keep = {&kept}, .max = 100}), 0);
    assert_true(child_work_wait(&w, in_ms(60000)));
    assert_string_equal(w.text.p, "0 1 2 3 4 4 1");
    assert_int_equal(kept, ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    child_work_reap(&w, -1);
    child_work_deinit(&w);
    close(other), close(ends[0]), close(ends[1]);
}

static int hang(void *context, int out)
{
    (void)context;
    dprintf(out, "half");
    pause();
    return 0;
}

static void a_late_child_is_killed_and_its_part_counts(void **state)
{
    struct child_work w;
    (void)state;
    assert_int_equal(child_work_start(&w, &(struct child_work_plan){.run = hang, .max = 100}), 0);
    while (w.text.n < 4)
        assert_false(child_work_read(&w));
    int64_t begin = clock_mono_ns();
    assert_false(child_work_wait(&w, in_ms(50)));
    assert_true(clock_mono_ns() - begin >= 50000000);
    assert_true(str_is(buf_text(&w.text), "half"));
    assert_int_equal(child_work_reap(&w, 0), -1);
    child_work_deinit(&w);
    child_work_reap(&w, 60000);
    assert_true(w.pid == 0 && w.dying == 0 && waitpid(-1, NULL, WNOHANG) < 0);
}

static int answer_much(void *context, int out)
{
    (void)context;
    for (int i = 0; i < 10000; i++)
        dprintf(out, "%0100d", i);
    return 0;
}

static void a_longer_answer_is_refused(void **state)
{
    struct child_work w;
    (void)state;
    assert_int_equal(child_work_start(&w, &(struct child_work_plan){.run = answer_much, .max = 1000}), 0);
    assert_false(child_work_wait(&w, in_ms(60000)));
    assert_int_equal(w.text.n, 1000);
    child_work_kill(&w);
    child_work_reap(&w, -1);
    child_work_deinit(&w);
}

static int burn(void *context, int out)
{
    (void)context, (void)out;
    for (volatile uint64_t i = 1; i; i++)
        ;
    return 0;
}

static void processor_time_is_limited(void **state)
{
    struct child_work w;
    (void)state;
    assert_int_equal(child_work_start(&w, &(struct child_work_plan){.run = burn, .cpu_s = 1, .max = 10}), 0);
    assert_true(child_work_wait(&w, in_ms(120000)));
    int status = child_work_reap(&w, -1);
    assert_true(WIFSIGNALED(status));
    child_work_deinit(&w);
}

static void no_child_is_no_answer(void **state)
{
    struct child_work w = CHILD_WORK_NONE;
    (void)state;
    assert_true(child_work_wait(&w, in_ms(1000)));
    assert_int_equal(child_work_reap(&w, -1), -1);
    child_work_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_and_the_status_arrive), cmocka_unit_test(only_named_descriptors_stay),
        cmocka_unit_test(a_late_child_is_killed_and_its_part_counts), cmocka_unit_test(a_longer_answer_is_refused),
        cmocka_unit_test(processor_time_is_limited), cmocka_unit_test(no_child_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
