/* shell_word.c (test): words come back from a shell. */
#include "base/shell_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_shell_reads_words_back(void **state)
{
    static const struct { const char *word, *quoted; } rows[] = {
        {"a-b/c=1", "a-b/c=1"}, {"", "''"}, {"a b", "'a b'"}, {"it's", "'it'\\''s'"}, {"$(x)", "'$(x)'"}, {"a\nb", "'a\nb'"}, {"~", "'~'"}, {"{n,m}", "'{n,m}'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 100);
        shell_word_put(&b, rows[i].word);
        assert_string_equal(b.p, rows[i].quoted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(a_shell_reads_words_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
