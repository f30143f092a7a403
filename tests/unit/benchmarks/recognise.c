/* Whose output is this, and when did it run? Times in many spellings, banners, and what must not be believed. */
#include "benchmarks/engine.h"

#include "base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void test_times(void **state)
{
    static const struct { const char *text, *format; int64_t ms; } cases[] = {
        {"Fri Nov 20 23:35:23 2020", "%a %b %d %H:%M:%S %Y", 1605915323000},
        {" Fri Nov  6 03:05:03 2020 ", "%a %b %d %H:%M:%S %Y", 1604631903000},
        {"2020-11-20T23:35:23Z", "%Y-%m-%dT%H:%M:%SZ", 1605915323000},
        {"2020-11-20T23:35:23+0200", "%Y-%m-%dT%H:%M:%S%z", 1605908123000},
        {"1605915323", "%s", 1605915323000},
        {"Fri, 20 Nov 2020 23:35:23 GMT", "%a, %d %b %Y %H:%M:%S GMT", 1605915323000},
        {"Fri Nov 20 23:35:23 2020 and more", "%a %b %d %H:%M:%S %Y", 0},
        {"Fri Nov 31 23:35:23 202", "%a %b %d %H:%M:%S %Y", 0},
        {"Thu Jan  1 00:00:07 1970", "%a %b %d %H:%M:%S %Y", 0}, /* a machine without a clock */
        {"2199-01-01T00:00:00Z", "%Y-%m-%dT%H:%M:%SZ", 0},
        {"", "%s", 0},
        {"99999999999999999999999", "%s", 0},
    };
    (void)state;
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = 0;
        bool is = rules_time(str_of(cases[i].text), str_of(cases[i].format), &ms);
        if (is != (cases[i].ms != 0) || ms != cases[i].ms)
            fail_msg("\"%s\": got %d %lld", cases[i].text, is, (long long)ms);
    }
    setenv("TZ", "Europe/Berlin", 1); /* summer time is known */
    int64_t ms = 0;
    assert_true(rules_time(STR("Fri Jul 10 12:00:00 2020"), STR("%a %b %d %H:%M:%S %Y"), &ms));
    if (access("/usr/share/zoneinfo/Europe/Berlin", F_OK) == 0)
        assert_true(ms == 1594375200000);
    setenv("TZ", "UTC", 1);
}

static struct rules *load(const char *text, struct err *err)
{
    char path[] = "/tmp/recognise.XXXXXX";
    struct rules *rules = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(fs_write_all(fd, text, strlen(text)), 0);
    close(fd);
    rules_load(&rules, path, err);
    unlink(path);
    return rules;
}

static const char head[] = "name: x\nversion: '1'\nreaders: [{name: a, regex: 'v=(?<v>\\d+)', metrics: [{name: v, cell: v, better: none}]}]\n";

static struct rules_seen see(const char *more, const char *text, struct arena *a)
{
    struct err err = {0};
    struct rules_seen seen = {0};
    char whole[2000];
    snprintf(whole, sizeof whole, "%s%s", head, more);
    struct rules *rules = load(whole, &err);
    if (!rules)
        fail_msg("%s", err.text);
    rules_see(rules, str_of(text), a, &seen);
    rules_free(rules);
    return seen;
}

static void test_seen(void **state)
{
    static const char recognise[] = "recognise: {banner: '^PROG-\\d', started: '^Began: (?<time>.+)', finished: '^Ended: (?<time>.+)', host: '^on (?<host>\\S+)', "
                                    "command: '^cmd: (?<command>.+)', time: ['%Y', '%Y-%m-%d %H:%M:%S']}\n";
    struct arena a;
    (void)state;
    arena_init(&a, 1 << 20);
    struct rules_seen s = see(recognise, "noise\r\n[1,0]<stdout>:PROG-1\r\nBegan: 2020-11-20 23:35:23\nEnded: 2020-11-20 23:35:25\nEnded: 2020-11-20 23:35:29\non n1 x\ncmd: prog -a\n", &a);
    assert_int_equal(s.banners, 1);
    assert_int_equal(s.line[0], 2);
    assert_true(s.started_ms == 1605915323000 && s.finished_ms == 1605915329000);
    assert_string_equal(s.host, "n1");
    assert_string_equal(s.command, "prog -a");
    s = see(recognise, "PROG-1\nPROG-2\n\nPROG-3", &a);
    assert_int_equal(s.banners, 3);
    assert_int_equal(s.line[1], 2);
    assert_null(s.host);
    s = see(recognise, "a PROG-1\nBegan: 2020-11-20 23:35:23\n", &a); /* what is said in another program's output is not told */
    assert_false(s.known);
    s = see(recognise, "PROG-1\nBegan: 2020-11-20 23:35:23\nEnded: 2020-11-20 23:35:22\n", &a);
    assert_true(s.finished_ms == 0);
    s = see(recognise, "", &a);
    assert_int_equal(s.banners, 0);
    s = see("recognise: {banner: ['^A ', '^B '], mark: '^C'}\n", "B 1\nA 1\n", &a); /* two ways in one output are one */
    assert_true(s.known && s.banners == 1 && s.line[1] == 2);
    s = see("recognise: {banner: ['^A ', '^B '], mark: '^C'}\n", "C\nC\n", &a);
    assert_true(s.known && s.banners == 0);
    s = see("", "PROG-1\n", &a);
    assert_int_equal(s.banners, 0);
    arena_deinit(&a);
}

static void test_refused(void **state)
{
    static const struct { const char *more, *says; } cases[] = {
        {"recognise: '^x'\n", "a map"},
        {"recognise: {started: '(?<time>.)'}\n", "without banner"},
        {"recognise: {banner: '^x', started: '(?<tim>.)', time: '%s'}\n", "(?<time>"},
        {"recognise: {banner: '^x', started: '(?<time>.)'}\n", "time is missing"},
        {"recognise: {banner: '^x', baner: y}\n", "baner"},
        {"recognise: {banner: '('}\n", "recognise"},
        {"recognise: {banner: [a, b, c, d, e, f, g, h, i]}\n", "8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char whole[2000];
        snprintf(whole, sizeof whole, "%s%s", head, cases[i].more);
        struct rules *rules = load(whole, &err);
        if (rules || !strstr(err.text, cases[i].says))
            fail_msg("%s: \"%s\"", cases[i].more, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times), cmocka_unit_test(test_seen), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
