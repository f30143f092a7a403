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

static const char *folded_code(uint32_t c, struct arena *a)
{
    const char four[] = {(char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 63)), (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63))};
    const char three[] = {(char)(0xe0 | c >> 12), four[2], four[3]}, two[] = {(char)(0xc0 | c >> 6), four[3]}, one[] = {(char)c};
    struct str name = c < 0x80 ? (struct str){one, 1} : c < 0x800 ? (struct str){two, 2} : c < 0x10000 ? (struct str){three, 3} : (struct str){four, 4};
    return check_name_folded(name, a);
}

/* The first and the last capital of each range and its small letter, by Unicode's data. */
static void capitals_of_every_range_fold(void **state)
{
    static const uint32_t pairs[][2] = {{0x41, 0x61}, {0x5a, 0x7a}, {0xc0, 0xe0}, {0xd6, 0xf6}, {0xd8, 0xf8}, {0xde, 0xfe}, {0x100, 0x101}, {0x12e, 0x12f}, {0x132, 0x133}, {0x136, 0x137}, {0x139, 0x13a}, {0x147, 0x148}, {0x14a, 0x14b}, {0x176, 0x177}, {0x179, 0x17a}, {0x17d, 0x17e}, {0x1cd, 0x1ce}, {0x1db, 0x1dc}, {0x1de, 0x1df}, {0x1ee, 0x1ef}, {0x1f8, 0x1f9}, {0x21e, 0x21f}, {0x222, 0x223}, {0x232, 0x233}, {0x370, 0x371}, {0x372, 0x373}, {0x388, 0x3ad}, {0x38a, 0x3af}, {0x391, 0x3b1}, {0x3ab, 0x3cb}, {0x3d8, 0x3d9}, {0x3ee, 0x3ef}, {0x400, 0x450}, {0x40f, 0x45f}, {0x410, 0x430}, {0x42f, 0x44f}, {0x460, 0x461}, {0x480, 0x481}, {0x48a, 0x48b}, {0x4be, 0x4bf}, {0x4c1, 0x4c2}, {0x4cd, 0x4ce}, {0x4d0, 0x4d1}, {0x52e, 0x52f}, {0x531, 0x561}, {0x556, 0x586}, {0x10a0, 0x2d00}, {0x10c5, 0x2d25}, {0x1e00, 0x1e01}, {0x1e94, 0x1e95}, {0x1ea0, 0x1ea1}, {0x1efe, 0x1eff}, {0x2160, 0x2170}, {0x216f, 0x217f}, {0x24b6, 0x24d0}, {0x24cf, 0x24e9}, {0x2c00, 0x2c30}, {0x2c2f, 0x2c5f}, {0xa640, 0xa641}, {0xa66c, 0xa66d}, {0xa722, 0xa723}, {0xa72e, 0xa72f}, {0xa732, 0xa733}, {0xa76e, 0xa76f}, {0xff21, 0xff41}, {0xff3a, 0xff5a}, {0x10400, 0x10428}, {0x10427, 0x1044f}};
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_string_equal(folded_code(pairs[i][0], &a), folded_code(pairs[i][1], &a));
        assert_string_not_equal(folded_code(pairs[i][0], &a), folded_code('#', &a));
    }
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(capitals_of_every_range_fold), cmocka_unit_test(names_are_judged), cmocka_unit_test(names_of_gits_files_are_known),
                                       cmocka_unit_test(names_meet_where_case_does_not_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
