/* The words for a program's end. */
#include "base/exit_words.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>

static void each_end_has_its_words(void **state)
{
    static const struct {
        int exit_status, signal;
        const char *words;
    } cases[] = {{0, 0, ""}, {-1, 0, ""}, {-1, -1, ""}, {3, 0, "exit status 3"}, {3, SIGTERM, "ended by signal TERM"}, {-1, SIGKILL, "ended by signal KILL"},
                 {INT_MAX, 0, "exit status 2147483647"}, {0, 60, "ended by signal 60"}, {0, INT_MAX, "ended by signal 2147483647"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[EXIT_WORDS_SIZE];
        exit_words(text, cases[i].exit_status, cases[i].signal);
        assert_string_equal(text, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_end_has_its_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
