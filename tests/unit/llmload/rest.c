/* rest.c: a thread rests only between single stamped tokens that are far apart, and never beyond what is due. */
#include "benchmarks/native/llmload/rest.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000, MANY = 1000, NEAR_NS = 100000 };

/* The thread's state after many reads that allow a rest, and a wait that found events at once. */
static struct rest rested(void)
{
    struct rest r = {0};
    for (int i = 0; i < MANY; i++)
        rest_note_gap(&r, 10 * MS, true);
    rest_note_wait(&r, 1000, 2000, 1);
    return r;
}

/* How long it rests now, ns, where until_ns from now something is due. */
static int64_t rest_of(const struct rest *r, int64_t until_ns)
{
    int64_t now = clock_mono_ns();
    return rest_take(r, now, now + until_ns, now) - now;
}

static void tokens_far_apart_allow_a_rest(void **state)
{
    struct rest r = rested(), fresh = {0};
    (void)state;
    assert_true(rest_of(&r, 20 * MS) >= NEAR_NS / 2);
    rest_note_wait(&fresh, 1000, 2000, 1);
    assert_int_equal(rest_of(&fresh, 20 * MS), 0);
    for (int i = 0; i < 10; i++)
        rest_note_gap(&fresh, 10 * MS, true);
    assert_int_equal(rest_of(&fresh, 20 * MS), 0);
}

static void what_a_rest_would_falsify_forbids_it(void **state)
{
    struct rest close = rested(), shared = rested(), connecting = rested();
    (void)state;
    rest_note_gap(&close, MS, true);
    assert_int_equal(rest_of(&close, 20 * MS), 0);
    rest_note_gap(&shared, 10 * MS, false);
    assert_int_equal(rest_of(&shared, 20 * MS), 0);
    rest_forbid(&connecting);
    assert_int_equal(rest_of(&connecting, 20 * MS), 0);
}

static void a_rest_that_saves_nothing_is_none(void **state)
{
    struct rest r = rested();
    int64_t now = clock_mono_ns();
    (void)state;
    assert_int_equal(rest_of(&r, NEAR_NS / 10), 0); /* something is due */
    assert_int_equal(rest_take(&r, now - MS, now + MS, now), now); /* handling the events took longer */
    rest_note_wait(&r, 1000, 1000 + MS, 1); /* events are rare */
    assert_int_equal(rest_of(&r, 20 * MS), 0);
    rest_note_wait(&r, 1000, 2000, 0);
    assert_int_equal(rest_of(&r, 20 * MS), 0);
    rest_note_wait(&r, 1000, 2000, -1);
    assert_int_equal(rest_of(&r, 20 * MS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_far_apart_allow_a_rest),
        cmocka_unit_test(what_a_rest_would_falsify_forbids_it),
        cmocka_unit_test(a_rest_that_saves_nothing_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
