/* Which run is shown, where others amend or retract it: chains, races, loops. */
#include "mlruns-format/corrections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* One letter names a run; its id is that letter 32 times. */
static void name_id(char ret[33], char name)
{
    memset(ret, name, 32);
    ret[32] = 0;
}

struct told { char id, target; int64_t start_ms; bool retracts; };

static struct corrections made(const struct told *list, size_t n)
{
    struct corrections c = {.list = calloc(n + 1, sizeof *c.list), .count = n, .room = n + 1};
    for (size_t i = 0; i < n; i++) {
        name_id(c.list[i].id, list[i].id);
        name_id(c.list[i].target, list[i].target);
        c.list[i].start_ms = list[i].start_ms;
        c.list[i].retracts = list[i].retracts;
    }
    corrections_sort(&c);
    return c;
}

static char shown(const struct corrections *c, char name)
{
    char id[33];
    name_id(id, name);
    const char *is = corrections_shown(c, id);
    return is ? is[0] : '-';
}

static void check(const struct told *list, size_t n, const char *runs, const char *expected)
{
    struct corrections c = made(list, n);
    for (size_t i = 0; runs[i]; i++)
        if (shown(&c, runs[i]) != expected[i])
            fail_msg("run %c: %c is shown instead of %c", runs[i], shown(&c, runs[i]), expected[i]);
    corrections_deinit(&c);
}

#define CHECK(runs, expected, ...) \
    do { \
        const struct told list[] = {__VA_ARGS__}; \
        check(list, sizeof list / sizeof *list, runs, expected); \
    } while (0)

static void test_shown(void **state)
{
    (void)state;
    check(NULL, 0, "ab", "ab");
    CHECK("abx", "bbx", {'b', 'a', 2, false});
    CHECK("abc", "ccc", {'b', 'a', 2, false}, {'c', 'a', 3, false});          /* the latest start */
    CHECK("abc", "bbb", {'b', 'a', 3, false}, {'c', 'a', 2, false});
    CHECK("abc", "ccc", {'c', 'a', 2, false}, {'b', 'a', 2, false});          /* the greater id */
    CHECK("abc", "ccc", {'c', 'b', 3, false}, {'b', 'a', 2, false});          /* a chain */
    CHECK("abc", "ccc", {'c', 'b', 1, false}, {'b', 'a', 1, false});
    CHECK("ab", "--", {'b', 'a', 2, true});
    CHECK("abc", "ccc", {'b', 'a', 2, true}, {'c', 'a', 3, false});           /* amended after all */
    CHECK("abc", "---", {'b', 'a', 2, false}, {'c', 'b', 3, true});
    CHECK("abde", "bbee", {'b', 'a', 2, false}, {'e', 'd', 2, false});
}

static void test_loops(void **state)
{
    (void)state;
    CHECK("x", "x", {'a', 'a', 1, false});
    CHECK("x", "x", {'a', 'b', 1, false}, {'b', 'a', 1, false}); /* it ends, and others are not touched */
}

static void test_possible(void **state)
{
    (void)state;
    assert_true(correction_possible("0123456789ab5def8123456789abcdef"));
    assert_false(correction_possible("0123456789ab4def8123456789abcdef"));
    assert_false(correction_possible("tags"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shown), cmocka_unit_test(test_loops), cmocka_unit_test(test_possible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
