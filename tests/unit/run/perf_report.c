/* perf_report: the text of real `perf report`s, with hostile names; the artifact that is made of it is read back equal. */
#include "run/perf_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void real_reports(void **state)
{
    struct arena a;
    struct perf_report r;
    CLEANUP_BUF struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, CODE_PROFILE_BYTES);
    perf_report_parse(STR("# To display the perf.data header info, please use --header/--header-only options.\n#\n#\n# Total Lost Samples: 7\n#\n"
                          "# Samples: 71K of event 'cpu-clock:ppp'\n# Event count (approx.): 717171710\n#\n"
                          "#      Samples\tShared Object    \tSymbol                       \tCommand\n"
                          " 37         \tb                \t[.] hot                      \tb      \n"
                          " 18         \tc                \t[.] foo::bar(int; char)      \ta;b    \n"
                          " 10         \tb                \t[.] hot                      \tb      \n"
                          " 4          \tdash             \t[.] 0x000000000000a020       \tsh     \n"
                          " 3          \tdash             \t[.] 0x000000000000def5       \tsh     \n"
                          " 2          \t[kernel.kallsyms]\t[k] finish_task_switch.isra.0\tls     \n\n\n#\n# (Tip: …)\n#\n"),
                      &a, &r);
    code_profile_print(&r.profile, &b);
    assert_string_equal(b.p, "b;b;hot 47\na:b;c;foo::bar(int: char) 18\nsh;dash;[no symbol] 7\nls;[kernel.kallsyms];finish_task_switch.isra.0 2\n");
    assert_string_equal(r.event, "cpu-clock:ppp");
    assert_true(r.lost == 7 && r.unread == 0 && r.profile.samples == 74);
    buf_clear(&b);
    /* A thread that is named "ev\til\nx\x1b[31m": perf prints its line break, and no tab. */
    perf_report_parse(STR(" 18         \tc            \t[.] foo::bar\tev.il\nx\x1b[31m\n 3\tc\t[.] \xff\x1b\xe2\x80\xae\t\n"), &a, &r);
    code_profile_print(&r.profile, &b);
    assert_string_equal(b.p, "ev.il;c;foo::bar 18\n[unknown];c;\\xff\\x1b\\u202e 3\n");
    assert_int_equal(r.unread, 1);
    arena_deinit(&a);
}

static void numbers_and_lines(void **state)
{
    static const char *const bad[] = {"-1\tc\tf\tx", "0\tc\tf\tx", "1.5\tc\tf\tx", "9007199254740993\tc\tf\tx", "1\tc\tf", "\tc\tf\tx", "x"};
    struct arena a;
    struct perf_report r;
    struct code_profile p;
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        perf_report_parse(str_of(bad[i]), &a, &r);
        assert_true(r.unread == 1 && r.profile.count == 0 && r.profile.samples == 0);
    }
    code_profile_parse(STR("x;y;z 1\n\n;;f 2\nno frames 3\na;b 4\na;b;c\na;b;c d;e 5\nx;y;z 6\n"), &a, &p);
    code_profile_merge(&p, false);
    assert_int_equal(p.count, 3);
    assert_true(p.samples == 14 && p.list[0].samples == 7 && p.list[1].samples == 5 && p.list[2].samples == 2);
    assert_string_equal(p.list[1].function, "c d:e");
    assert_string_equal(p.list[2].module, "[unknown]");
    arena_deinit(&a);
}

static void many_functions(void **state)
{
    struct arena a;
    struct code_profile p = {0}, again;
    CLEANUP_BUF struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, CODE_PROFILE_BYTES);
    for (int i = 0; i < CODE_PROFILE_FUNCTIONS + 5; i++)
        assert_true(code_profile_add(&p, &a, STR("c"), STR("m"), str_of(arena_printf(&a, "f%d", i)), (uint64_t)i + 1));
    code_profile_merge(&p, true);
    code_profile_print(&p, &b);
    code_profile_parse(buf_text(&b), &a, &again);
    assert_int_equal(again.count, CODE_PROFILE_FUNCTIONS);
    assert_true(again.samples == p.samples);
    assert_string_equal(again.list[CODE_PROFILE_FUNCTIONS - 1].function, "[6 other functions]");
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_reports), cmocka_unit_test(numbers_and_lines), cmocka_unit_test(many_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
