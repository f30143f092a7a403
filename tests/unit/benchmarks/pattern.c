/* pattern.c: literals that a match must have are never claimed wrongly; hostile patterns end. */
#include "benchmarks/pattern.h"
#include "benchmarks/prefilter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void literals_are_what_each_match_contains(void **state)
{
    static const struct { const char *pattern, *literals; } rows[] = {
        {"^ERROR", "ERROR"}, {"^(?:ior )?ERROR", "ERROR"}, {"[Ii]ncorrect data on", "ncorrect data on"}, {"^(?:Options|Summary): *$", "Options,Summary"},
        {"a|bcd", ""}, {"(?i)error", ""}, {"x*", ""}, {"abc?d", "ab"}, {"ab+cd", "ab"}, {"ab{0,2}cd", "cd"}, {"(?=foo)bar", "bar"}, {"(?!foo)bar", "bar"},
        {"(?<v>\\d+) MB/s", " MB/s"}, {"\\|.*50\\.00th=", "50.00th="}, {"(one|two|three)x", "one,two,three"}, {"(one|t.o)", ""}, {"(abc)*d", "d"},
        {"[]a]bc", "bc"}, {"[[:alpha:]]bc", "bc"}, {"\\Qa|b\\E", ""}, {"\\x41bc", ""}, {"(?:a(b|c)d)ef", "ef"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pattern *p;
        struct err err = {0};
        const struct str *l;
        char got[200] = "";
        if (pattern_new(&p, str_of(rows[i].pattern), &err))
            fail_msg("%s: %s", rows[i].pattern, err.text);
        size_t n = pattern_literals(p, &l);
        for (size_t k = 0; k < n; k++)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s" STR_FMT, k ? "," : "", STR_ARG(l[k]));
        if (strcmp(got, rows[i].literals))
            fail_msg("%s: got \"%s\", wanted \"%s\"", rows[i].pattern, got, rows[i].literals);
        pattern_free(p);
    }
}

static void groups_come_by_name_and_absent_ones_are_told(void **state)
{
    struct pattern *p;
    struct match m;
    (void)state;
    assert_int_equal(pattern_new(&p, STR("^(?<a>\\d+)(?<b>x)?$"), NULL), 0);
    assert_int_equal(pattern_match(p, STR("12"), &m), 1);
    assert_true(str_is(m.group[pattern_group(p, STR("a"))], "12"));
    assert_null(m.group[pattern_group(p, STR("b"))].p);
    assert_int_equal(pattern_group(p, STR("c")), -1);
    assert_int_equal(pattern_match(p, STR("12\n"), &m), 0);
    pattern_free(p);
}

static void heads_turn_away_only_what_cannot_match(void **state)
{
    static const struct { const char *pattern, *line; int found; } rows[] = {
        {"^ab?c", "ac", 1}, {"^a+c", "aac", 1}, {"^(?:ab|cd)e", "cde", 1}, {"^(?:ab|cd)?e", "e", 1}, {"^ERROR", "an ERROR", 0}, {"^a*b", "b", 1},
        {"^ab{0}c", "ac", 1}, {"^x|y", "zy", 1}, {"^\\s+ab", "  ab", 1}, {"^(a|b)(c|d)", "bd", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pattern *p;
        assert_int_equal(pattern_new(&p, str_of(rows[i].pattern), NULL), 0);
        if (pattern_match(p, str_of(rows[i].line), NULL) != rows[i].found)
            fail_msg("%s on %s", rows[i].pattern, rows[i].line);
        pattern_free(p);
    }
}

/* Neither way of matching takes long over hostile patterns and lines: each row within the time of a few thousand ordinary lines. */
static void hostile_patterns_and_lines_end(void **state)
{
    enum { LENGTH = 1 << 20 };
    static const char *const patterns[] = {
        "^(a+)+$", "(a+)+$", "(a|aa)+$", "^(a*)*b$", "(?:a?){30}a{30}c", "(?<v>\\S+) MB/s$", "(.*)(.*)(.*)(.*)(.*)x$", "^(?:(?:a|b)*c)*d", "(a)(?1)*+b", "^(.*?,){11}P", "(?=(a+))\\1b",
    };
    static const size_t lengths[] = {30, 5000, 65536, LENGTH};
    char *line = malloc(LENGTH);
    (void)state;
    assert_non_null(line);
    for (int jit = 0; jit < 2; jit++) {
        setenv("BENCHWRAP_PCRE_JIT", jit ? "1" : "0", 1);
        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
            struct pattern *p;
            struct timespec from, to;
            assert_int_equal(pattern_new(&p, str_of(patterns[i]), NULL), 0);
            assert_true(jit || !pattern_jit(p));
            for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
                memset(line, 'a', lengths[k]);
                memcpy(line, " MB/s", 5);
                line[lengths[k] - 1] = '!';
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
                pattern_match(p, (struct str){line, lengths[k]}, NULL);
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
                double s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
                if (s > 5)
                    fail_msg("%s took %.1f s on %zu bytes%s", patterns[i], s, lengths[k], jit ? "" : ", interpreted");
            }
            pattern_free(p);
        }
    }
    unsetenv("BENCHWRAP_PCRE_JIT");
    free(line);
}

static void catastrophic_matches_give_up(void **state)
{
    char line[5001];
    (void)state;
    memset(line, 'a', sizeof(line));
    line[5000] = 'b';
    for (int jit = 0; jit < 2; jit++) {
        struct pattern *p;
        setenv("BENCHWRAP_PCRE_JIT", jit ? "1" : "0", 1);
        assert_int_equal(pattern_new(&p, STR("^(a+)+$"), NULL), 0);
        assert_int_equal(pattern_match(p, (struct str){line, sizeof(line)}, NULL), -1);
        pattern_free(p);
    }
    unsetenv("BENCHWRAP_PCRE_JIT");
}

static void prefilter_finds_what_a_plain_search_finds(void **state)
{
    static const char *const words[] = {"he", "she", "his", "hers", "write", "rite", "[", "\x1b", "itew", "aaa"};
    enum { N = sizeof(words) / sizeof(words[0]) };
    struct prefilter_literal l[N];
    unsigned random = 7;
    (void)state;
    for (unsigned i = 0; i < N; i++)
        l[i] = (struct prefilter_literal){str_of(words[i]), i * 27};
    struct prefilter *f = prefilter_new(l, N);
    assert_non_null(f);
    for (int round = 0; round < 20000; round++) {
        static const char letters[] = "hesirwta[\x1b x";
        char line[13] = "";
        for (int i = 0; i < 12; i++)
            line[i] = letters[(random = random * 1103515245u + 12345u) >> 16 & 7];
        struct prefilter_mask mask = {{0}};
        prefilter_scan(f, str_of(line), &mask);
        for (unsigned i = 0; i < N; i++)
            if (prefilter_has(&mask, i * 27) != (strstr(line, words[i]) != NULL))
                fail_msg("%s in %s", words[i], line);
    }
    for (int round = 0; round < 2000; round++) { /* many at once: the same as one by one */
        static const char text[] = "she writes his hers; itew aaa\x1b[ rite the heshe aaaa hishers";
        struct str lines[40];
        struct prefilter_mask all[40], one;
        size_t n = (random = random * 1103515245u + 12345u) >> 16 & 31;
        for (size_t i = 0; i < n; i++) {
            random = random * 1103515245u + 12345u;
            lines[i] = str_sub(STR(text), random >> 16 & 31, random >> 21 & 31);
        }
        prefilter_scan_all(f, lines, n, all);
        for (size_t i = 0; i < n; i++) {
            memset(&one, 0, sizeof(one));
            prefilter_scan(f, lines[i], &one);
            if (memcmp(&one, &all[i], sizeof(one)))
                fail_msg("line %zu of %zu: " STR_FMT, i, n, STR_ARG(lines[i]));
        }
    }
    prefilter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_what_each_match_contains),  cmocka_unit_test(groups_come_by_name_and_absent_ones_are_told),
        cmocka_unit_test(heads_turn_away_only_what_cannot_match), cmocka_unit_test(catastrophic_matches_give_up), cmocka_unit_test(hostile_patterns_and_lines_end),
        cmocka_unit_test(prefilter_finds_what_a_plain_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
