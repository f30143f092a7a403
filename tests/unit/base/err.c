/* err.c: one error, one line: kind, cause, purpose, and a cut that is marked. */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void causes_and_purposes(void **state)
{
    struct err e = {0};
    (void)state;
    assert_int_equal(err_set(&e, ERR_INPUT, "line %d", 7), -1);
    assert_int_equal(e.kind, ERR_INPUT);
    errno = ENOENT;
    assert_int_equal(err_sys(&e, "cannot open %s", "f"), -1);
    assert_string_equal(e.text, "cannot open f: No such file or directory");
    assert_true(e.kind == ERR_SYSTEM && e.sys == ENOENT && errno == ENOENT);
    errno = ELOOP;
    err_sys(&e, "cannot open %s", "f");
    assert_string_equal(e.text, "cannot open f: not a regular file or folder, or behind another user's link or a loop of links");
    errno = ENOENT;
    err_sys(&e, "cannot open %s", "f");
    assert_int_equal(err_wrap(&e, "reading %s", "x"), -1);
    assert_string_equal(e.text, "reading x: cannot open f: No such file or directory");
    assert_true(e.kind == ERR_SYSTEM && e.sys == ENOENT);
    err_set(&e, ERR_USAGE, "again");
    assert_int_equal(e.sys, 0);
    assert_int_equal(err_memory(&e, "the list of %s", "runs"), -1);
    assert_string_equal(e.text, "out of memory for the list of runs");
    assert_true(e.kind == ERR_SYSTEM && e.sys == ENOMEM);
    err_clear(&e);
    assert_true(e.kind == ERR_NONE && e.text[0] == 0);
    err_wrap(&e, "run %d", 1);
    assert_string_equal(e.text, "run 1");
}

static void a_null_error_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ERR_INPUT, "x"), -1);
    assert_int_equal(err_sys(NULL, "x"), -1);
    assert_int_equal(err_wrap(NULL, "x"), -1);
    assert_int_equal(err_memory(NULL, "x"), -1);
    err_clear(NULL);
}

static void long_texts_are_cut_and_say_so(void **state)
{
    struct err e = {0};
    char big[3000];
    (void)state;
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 0)
            err_memory(&e, "%s", big);
        else if (i == 1)
            err_set(&e, ERR_INPUT, "%s", big);
        else if (i == 2)
            err_sys(&e, "%s", big);
        else
            err_wrap(&e, "purpose");
        assert_int_equal(strlen(e.text), sizeof e.text - 1);
        assert_string_equal(e.text + sizeof e.text - 4, "...");
    }
    assert_int_equal(strncmp(e.text, "purpose: xxx", 12), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(causes_and_purposes), cmocka_unit_test(a_null_error_is_allowed),
                                       cmocka_unit_test(long_texts_are_cut_and_say_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
