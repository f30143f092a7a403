/* code_profile.c: the text form of a sampled profile, written, merged and read back. */
#include "mlruns-format/code_profile.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct code_profile *p, struct arena *a, const char *command, const char *module, const char *function, uint64_t samples,
                bool added)
{
    assert_int_equal(code_profile_add(p, a, str_of(command), str_of(module), str_of(function), samples), added);
}

static void equal_functions_are_added_up(void **state)
{
    struct arena a;
    struct code_profile p = {0};
    CLEANUP_BUF struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, 1 << 16);
    add(&p, &a, "ior", "libc.so", "write", 3, true);
    add(&p, &a, "sh", "libc.so", "write", 2, true);
    add(&p, &a, "ior", "ior", "main", 5, true);
    add(&p, &a, "ior", "libc.so", "write", 4, true);
    add(&p, &a, "ior", "ior", "abc", 5, true);
    add(&p, &a, "ior", "ior", "none", 0, false);
    assert_int_equal(p.samples, 19);
    code_profile_merge(&p, false);
    code_profile_print(&p, &b);
    assert_string_equal(b.p, "ior;libc.so;write 7\nior;ior;abc 5\nior;ior;main 5\nsh;libc.so;write 2\n");
    buf_clear(&b);
    code_profile_merge(&p, true);
    code_profile_print(&p, &b);
    assert_string_equal(b.p, ";libc.so;write 9\n;ior;abc 5\n;ior;main 5\n");
    struct code_profile none = {0};
    code_profile_merge(&none, true);
    assert_int_equal(none.count, 0);
    arena_deinit(&a);
}

static void foreign_texts_become_frames(void **state)
{
    struct arena a;
    struct code_profile p = {0};
    char text[2000];
    (void)state;
    arena_init(&a, 0);
    memset(text, 'f', sizeof text);
    text[sizeof text - 1] = 0;
    add(&p, &a, "", " a;b ", text, 1, true);
    assert_string_equal(p.list[0].command, "[unknown]");
    assert_string_equal(p.list[0].module, "a:b");
    assert_true(strlen(p.list[0].function) <= 600 && strlen(p.list[0].function) > 500);
    add(&p, &a, "c", "m", "f", UINT64_C(1) << 53, false); /* the sum passes 2^53 */
    add(&p, &a, "c", "m", "f", (UINT64_C(1) << 53) - 1, true);
    arena_deinit(&a);
}

static void a_long_profile_ends_with_the_others(void **state)
{
    struct arena a;
    struct code_profile p = {0}, back;
    CLEANUP_BUF struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, CODE_PROFILE_BYTES + (1 << 20));
    for (int i = 0; i < CODE_PROFILE_FUNCTIONS + 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%05d", i);
        add(&p, &a, "c", "m", name, 2, true);
    }
    code_profile_merge(&p, false);
    code_profile_print(&p, &b);
    const char *end = strstr(b.p, "c;m;f09998 2\n"); /* the last function of its own */
    assert_non_null(end);
    assert_string_equal(end, "c;m;f09998 2\n[others];[others];[6 other functions] 12\n");
    code_profile_parse(buf_text(&b), &a, &back);
    assert_int_equal(back.count, CODE_PROFILE_FUNCTIONS);
    assert_int_equal(back.samples, p.samples);
    arena_deinit(&a);
}

static void only_lines_of_the_form_are_read(void **state)
{
    struct arena a;
    struct code_profile p;
    (void)state;
    arena_init(&a, 0);
    code_profile_parse(STR("c;m;f g 12\nno frames 3\nc;m 4\nc;m;f x\n\nc;m;f;h 5"), &a, &p);
    assert_int_equal(p.count, 2);
    assert_string_equal(p.list[0].function, "f g");
    assert_int_equal(p.list[0].samples, 12);
    assert_string_equal(p.list[1].function, "f:h");
    assert_int_equal(p.list[1].samples, 5);
    assert_int_equal(p.samples, 17);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_functions_are_added_up), cmocka_unit_test(foreign_texts_become_frames),
                                       cmocka_unit_test(a_long_profile_ends_with_the_others), cmocka_unit_test(only_lines_of_the_form_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
