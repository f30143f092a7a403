/* names.c: names that some system refuses, changes or takes for something else. */
#include "check/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void names_are_judged(void **state)
{
    static const struct {
        const char *name;
        bool good, usable;
    } rows[] = {
        {"stdout.log", true, true},
        {"a b", true, true},
        {"\xc3\xa4.txt", true, true},
        {"\xe6\x97\xa5\xe6\x9c\xac", true, true},
        {"console.log", true, true},
        {"auxiliary", true, true},
        {"com10", true, true},
        {"git~10", true, true},
        {"x.git", true, true},
        {".config", true, true},
        {"", false, false},
        {".", false, false},
        {"..", false, false},
        {"a/b", false, false},
        {".git", false, true},
        {".GIT", false, true},
        {".git ", false, true},
        {".git...", false, true},
        {"GIT~1", false, true},
        {".git:x", false, true},
        {".g\xe2\x80\x8cit", false, true},
        {".gitattributes", false, true},
        {"a\n", false, true},
        {"a\x1b", false, true},
        {"\x7f", false, true},
        {"\xff", false, true},
        {"\xc0\xaf", false, true},
        {"a\\b", false, true},
        {"a:b", false, true},
        {"a*", false, true},
        {"a.", false, true},
        {"a ", false, true},
        {" a", false, true},
        {"NUL", false, true},
        {"aux.c", false, true},
        {"Com1", false, true},
        {"lpt9.txt", false, true},
        {"e\xcc\x81", false, true},
        {"a\xe2\x80\xae", false, true},
        {"\xef\xbb\xbfx", false, true},
        {"gi7eba~1", false, true},
        {"GITMOD~4", false, true},
        {"gitmod~10", true, true},
        {"CLOCK$", false, true},
        {"com\xc2\xb9.txt", false, true},
        {"com\xc2\xbc.txt", true, true},
        {"a\xc2\xa0" "b", false, true},
        {"a\xe2\x80\xa8", false, true},
        {"a\xee\x80\x80", false, true},
        {"\xed\x95\x9c", true, true},
        {"\xe1\x84\x92\xe1\x85\xa1", false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct check_state k;
        arena_init(&a, 0);
        check_begin(&k, &a);
        bool usable = check_file_name(&k, str_of(rows[i].name), "x");
        if (usable != rows[i].usable || (k.count == 0) != rows[i].good)
            fail_msg("row %zu \"%s\": usable %d, %zu findings", i, rows[i].name, usable, k.count);
        check_end(&k);
        arena_deinit(&a);
    }
}

static void names_meet_where_case_does_not_count(void **state)
{
    static const char *const pairs[][2] = {{"\xe2\x84\xaa.txt", "k.txt"}, {"\xe2\x84\xab", "\xc3\xa5"}, {"A", "a"}, {"\xc3\x84", "\xc3\xa4"}, {"\xd0\x96", "\xd0\xb6"}, {"a\xe2\x80\x8d", "a"}, {"\xc5\xbd", "\xc5\xbe"}, {"\xc4\xb9", "\xc4\xba"}, {"\xc5\xbfx", "sx"},
                                            {"stra\xc3\x9f" "e", "STRASSE"}, {"\xcf\x83", "\xcf\x82"}, {"\xef\xac\x81", "fi"}, {"\xe1\xba\xa0", "\xe1\xba\xa1"}, {"\xd2\x9a", "\xd2\x9b"}};
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(check_name_folded(str_of(pairs[i][0]), &a), check_name_folded(str_of(pairs[i][1]), &a));
    assert_string_not_equal(check_name_folded(STR("a"), &a), check_name_folded(STR("b"), &a));
    assert_string_not_equal(check_name_folded(STR("\xc5\xbe"), &a), check_name_folded(STR("\xc5\xbf"), &a));
    assert_string_not_equal(check_name_folded(STR("\xc4\xba"), &a), check_name_folded(STR("\xc4\xbb"), &a));
    arena_deinit(&a);
}

static void names_of_gits_files_are_known(void **state)
{
    static const char *const is[] = {".git", ".GIT", ".git.", "GIT~1", ".g\xe2\x80\x8cit", ".git:x", ".gitmodules"}, *const is_not[] = {
                                                                                                                         "git", "x.git",
                                                                                                                         ".gitx",
                                                                                                                         "stdout.log"};
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++)
        assert_true(check_name_is_gits(str_of(is[i])));
    for (size_t i = 0; i < sizeof is_not / sizeof *is_not; i++)
        assert_false(check_name_is_gits(str_of(is_not[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_judged), cmocka_unit_test(names_of_gits_files_are_known),
                                       cmocka_unit_test(names_meet_where_case_does_not_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
