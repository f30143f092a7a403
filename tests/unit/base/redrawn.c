/* redrawn.c: what stays of lines that a program wrote for a terminal. */
#include "base/redrawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void last_state_stays(void **state)
{
    static const struct {
        const char *what, *line, *stays;
    } cases[] = {
        {"plain text", "rate: 5 MB/s", "rate: 5 MB/s"},
        {"colours", "\x1b[1;32mrate:\x1b[0m 5 MB/s", "rate: 5 MB/s"},
        {"the end of tput sgr0", "5 MB/s\x1b(B\x1b[m", "5 MB/s"},
        {"a title", "\x1b]0;work\a5 MB/s", "5 MB/s"},
        {"a title that ESC \\ ends", "\x1b]0;work\x1b\\5 MB/s", "5 MB/s"},
        {"device control", "\x1bP1$r0m\x1b\\5 MB/s", "5 MB/s"},
        {"a carriage return", "1 MB/s\r5 MB/s", "5 MB/s"},
        {"a mark over the beginning of a result", "|-data: 5 MB/s \r 1#", "|-data: 5 MB/s "},
        {"a percentage is none", "1 MB/s\r100%", "100%"},
        {"nor is a number", "loss 0.5 s\r0.2", "0.2"},
        {"nor is a whole one", "loss 5 s\r 12", " 12"},
        {"nor is a word", "1 MB/s\rdone", "done"},
        {"a mark alone", "\r 1#", " 1#"},
        {"blanks that erase", "1 MB/s\r    ", "    "},
        {"backspaces", "1 %\b\b\b5 %", "5 %"},
        {"a backspace behind a letter of two bytes", "5 \xc3\xa9\bMB/s", "5 MB/s"},
        {"bold by overstriking", "N\bNA\bA", "NA"},
        {"backspaces stop at the beginning", "1\b\b\b5", "5"},
        {"only the rest of a letter", "\xa9\b5", "5"},
        {"a line that is erased", "1 MB/s\x1b[2K\r5 MB/s", "5 MB/s"},
        {"erased to its end at its beginning", "1 MB/s\r\x1b[K5 MB/s", "5 MB/s"},
        {"erased to its end in its middle", "5 MB/s\x1b[K", "5 MB/s"},
        {"erased and left empty", "1 MB/s\r\x1b[K", ""},
        {"the first column", "1 MB/s\x1b[G5 MB/s", "5 MB/s"},
        {"a step back by three", "1 %\x1b[3D5 %", "5 %"},
        {"a saved cursor", "rate \x1b[s1\x1b[u5\x1b[u7 MB/s", "rate 7 MB/s"},
        {"a saved cursor, as the VT100 has it", "rate \x1b""7""1\x1b""85 MB/s", "rate 5 MB/s"},
        {"a cursor that another line saved", "1\x1b[u5", "5"},
        {"a row above", "1 MB/s\x1b[1A5 MB/s", "5 MB/s"},
        {"a place on the screen", "1 MB/s\x1b[5;10H5 MB/s", "5 MB/s"},
        {"a cleared screen", "1 MB/s\x1b[2J5 MB/s", "5 MB/s"},
        {"columns that are skipped", "rate:\x1b[10C5 MB/s", "rate: 5 MB/s"},
        {"a hidden cursor", "\x1b[?25l5 MB/s\x1b[?25h", "5 MB/s"},
        {"a sequence without an end", "5 MB/s\x1b[1;3", "5 MB/s"},
        {"ESC alone", "5 MB/s\x1b", "5 MB/s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[80], text[80];
        struct str line = str_of(cases[i].line);
        memcpy(copy, line.p, line.n);
        struct str got = redrawn_last((struct str){text, redrawn_plain(line, text)});
        if (!str_is(got, cases[i].stays))
            fail_msg("%s: got \"" STR_FMT "\"", cases[i].what, STR_ARG(got));
        got = redrawn_last((struct str){copy, redrawn_plain((struct str){copy, line.n}, copy)});
        if (!str_is(got, cases[i].stays))
            fail_msg("%s, in place: got \"" STR_FMT "\"", cases[i].what, STR_ARG(got));
    }
}

static void escapes_are_noticed(void **state)
{
    (void)state;
    assert_false(redrawn_has_escapes(STR("1\r5")));
    assert_false(redrawn_has_escapes((struct str){NULL, 0}));
    assert_true(redrawn_has_escapes(STR("1\b5")));
    assert_true(redrawn_has_escapes(STR("\x1b[m")));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(last_state_stays), cmocka_unit_test(escapes_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
