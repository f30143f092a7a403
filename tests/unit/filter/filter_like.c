/* LIKE and ILIKE as MLflow's file store evaluates them. */
#include "filter/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void texts_are_like_patterns(void **state)
{
    (void)state;
    static const struct { const char *text, *pattern; bool like, ilike; } rows[] = {
        {"abc", "abc", true, true},         {"abc", "ABC", false, true},      {"abc", "a%", true, true},         {"abc", "%c", true, true},
        {"abc", "%b%", true, true},         {"abc", "a_c", true, true},       {"abc", "a_", false, false},       {"abc", "", false, false},
        {"", "", true, true},               {"", "%", true, true},            {"", "_", false, false},           {"a%c", "a%%c", true, true},
        {"aXbXc", "%X%X%", true, true},     {"aaab", "%aab", true, true},     {"mississippi", "%iss%ip%i", true, true},
        /* a line end is matched by itself alone, but a pattern may leave out one at the end of the text */
        {"a\n", "a", true, true},           {"a\n\n", "a", false, false},     {"a\nb", "a%b", false, false},     {"a\nb", "a%", true, true},
        {"a\nb", "a_b", false, false},      {"a\nb", "a\nb", true, true},     {"\n", "", true, true},            {"a\nb", "%b", false, false},
        /* no character of a regular expression, and no escape, has a meaning */
        {"a.c", "a.c", true, true},         {"abc", "a.c", false, false},     {"a\\%c", "a\\%c", true, true},    {"[a]", "[a]", true, true},
        /* other letters: one character each; lower case as Python's re compares it */
        {"größe", "gr__e", true, true},     {"GRÖSSE", "größe", false, false}, {"ÄÖ", "äö", false, true},        {"\xe2\x84\xaa", "k", false, true},
        {"\xc5\xbf", "S", false, true},     {"σς", "ΣΣ", false, true},        {"日本", "__", true, true},         {"\xc4\xb1", "i", false, true},
        {"\xff", "_", true, true},          {"\xff", "\xff", true, true},     {"\xff", "\xfe", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (filter_like(str_of(rows[i].text), str_of(rows[i].pattern), false) != rows[i].like ||
            filter_like(str_of(rows[i].text), str_of(rows[i].pattern), true) != rows[i].ilike)
            fail_msg("\"%s\" like \"%s\"", rows[i].text, rows[i].pattern);
}

/* Matching takes time in proportion to text and pattern, not more for every "%". */
static void a_hostile_pattern_is_cheap(void **state)
{
    (void)state;
    CLEANUP_BUF struct buf text, pattern;
    buf_init(&text, 1 << 20);
    buf_init(&pattern, 1 << 20);
    for (int i = 0; i < 20000; i++)
        buf_putc(&text, 'a');
    for (int i = 0; i < 50; i++)
        buf_puts(&pattern, "%a");
    buf_puts(&pattern, "b");
    assert_false(filter_like(buf_text(&text), buf_text(&pattern), true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_like_patterns), cmocka_unit_test(a_hostile_pattern_is_cheap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
