/* record.c: facts are checked once: write-once params, legal and free keys, valid text, increasing times. */
#include "mlruns-format/record.h"
#include "base/buf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char ID[33] = "0123456789abcdef0123456789abcdef";

static size_t count(const struct record *r, enum fact_kind kind)
{
    size_t n = 0;
    for (const struct fact *f = r->first; f; f = f->next)
        n += f->kind == kind;
    return n;
}

static const char *last_text(const struct record *r, enum fact_kind kind)
{
    const char *text = NULL;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == kind)
            text = f->text.p;
    return text;
}

static int begin(void **state)
{
    struct record *r = malloc(sizeof *r);
    record_init(r, ID, 1767225600000);
    r->source = "test";
    *state = r;
    return 0;
}

static int end(void **state)
{
    record_deinit(*state);
    free(*state);
    return 0;
}

static void params_are_written_once(void **state)
{
    struct record *r = *state;
    record_param(r, "a", STR("1"));
    record_param(r, "a", STR("1"));
    assert_int_equal(r->count, 1);
    record_param(r, "a", STR("2"));
    record_param(r, "a", STR("2"));
    assert_int_equal(count(r, FACT_PARAM), 1);
    assert_int_equal(count(r, FACT_WARNING), 1);
    assert_non_null(strstr(last_text(r, FACT_WARNING), "param a is \"1\" and stays so; \"2\" from test"));
    assert_true(str_is(record_find(r, FACT_PARAM, "a")->text, "1"));
    assert_null(record_find(r, FACT_TAG, "a"));
    assert_null(record_find(r, FACT_PARAM, "A"));
}

static void the_last_tag_wins(void **state)
{
    struct record *r = *state;
    record_tag(r, "site", STR("x"));
    record_tag(r, "site", STR("y"));
    record_tag(r, "site", STR("y"));
    assert_int_equal(r->count, 2);
    assert_true(str_is(record_find(r, FACT_TAG, "site")->text, "y"));
}

static void times_of_a_key_increase(void **state)
{
    static const int64_t given[] = {100, 100, 100, 50, 200, 200};
    static const int64_t kept[] = {100, 101, 102, 103, 200, 201};
    struct record *r = *state;
    for (size_t i = 0; i < 6; i++) {
        record_metric(r, "m", 1, "s", DIR_LOWER, 0, given[i]);
        assert_int_equal(r->last->time_ms, kept[i]);
    }
    record_metric(r, "n", 1, "s", DIR_LOWER, 0, 100);
    assert_int_equal(r->last->time_ms, 100);
    record_metric(r, "o", 1, "s", DIR_LOWER, 0, 0);
    assert_true(r->last->time_ms > 1700000000000);
    record_metric(r, "p", 1, "s", DIR_LOWER, 0, -5);
    assert_true(r->last->time_ms > 1700000000000);
}

static void what_is_no_number_is_missing(void **state)
{
    struct record *r = *state;
    record_metric(r, "m", NAN, "s", DIR_LOWER, 0, 0);
    record_metric(r, "m", INFINITY, "s", DIR_LOWER, 0, 0);
    record_metric(r, "m", -INFINITY, "s", DIR_LOWER, 0, 0);
    for (int i = 0; i < 1000; i++)
        record_metric(r, "m", NAN, "s", DIR_LOWER, i, 0); /* said before */
    record_param_double(r, "p", NAN);
    assert_int_equal(count(r, FACT_METRIC) + count(r, FACT_PARAM), 0);
    assert_int_equal(count(r, FACT_MISSING), 4);
    record_metric_nan(r, "m", 0, 0);
    record_metric_nan(r, "m", 0, 0);
    assert_int_equal(count(r, FACT_METRIC), 2);
    assert_true(isnan(r->last->value));
    assert_true(r->last->time_ms > 0);
}

/* Keys of one kind must be able to lie side by side as files, also where case does not count. */
static void keys_find_a_free_place(void **state)
{
    static const struct { const char *wanted, *kept; } rows[] = { /* in this order, one record; * stands for a hash */
        {"a", "a"}, {"a/b", "a.b"}, {"x/y", "x/y"}, {"x", "x-*"}, {"X", "X-*"}, {"x/z", "x/z"}, {"x/y/z", "x.y.z"}, {"A", "A-*"}, {"lat(us)", "lat_us_"},
        {"lat[us]", "lat_us_-*"}, {"lat_us_", "lat_us_-*"}, {"lat(us)", "lat_us_"}, {"X/y", "X.y"}, {"a.b", "a.b-*"}, {"", "_"}, {"..", "__"},
    };
    struct record *r = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char value[8];
        snprintf(value, sizeof value, "%zu", i);
        record_metric(r, rows[i].wanted, (double)i, "", DIR_NONE, 0, 0);
        const struct fact *f = NULL;
        for (const struct fact *e = r->first; e; e = e->next)
            if (e->kind == FACT_METRIC)
                f = e;
        size_t n = strlen(rows[i].kept);
        bool star = rows[i].kept[n - 1] == '*';
        if (star ? f->key.n != n - 1 + 8 || memcmp(f->key.p, rows[i].kept, n - 1) != 0 : !str_is(f->key, rows[i].kept))
            fail_msg("row %zu: \"%s\" kept as \"%s\", wanted \"%s\"", i, rows[i].wanted, f->key.p, rows[i].kept);
    }
    size_t warned = count(r, FACT_WARNING);
    record_metric(r, "lat[us]", 1, "", DIR_NONE, 0, 0);
    assert_int_equal(count(r, FACT_WARNING), warned); /* said once */
}

static void text_becomes_valid_and_bounded(void **state)
{
    struct record *r = *state;
    record_param(r, "bytes", (struct str){"a\xff\0b\xc3", 5});
    assert_true(str_is(r->last->text, "a\xef\xbf\xbd\xef\xbf\xbd" "b\xef\xbf\xbd"));
    char *big = malloc(200000);
    memset(big, 0xff, 200000);
    record_tag(r, "big", (struct str){big, 200000});
    const struct fact *f = record_find(r, FACT_TAG, "big");
    assert_true(f->text.n <= 65536 && f->text.n > 65530 && str_valid_utf8(f->text));
    assert_int_equal(count(r, FACT_WARNING), 1);
    for (int i = 0; i < 200000; i++) /* two-byte characters: not cut inside one */
        big[i] = i % 2 ? '\xbc' : '\xc3';
    record_tag(r, "odd", (struct str){big + 1, 199999});
    assert_true(str_valid_utf8(record_find(r, FACT_TAG, "odd")->text));
    free(big);
}

static void artifacts_stay_below_their_folder(void **state)
{
    static const struct { const char *path, *file, *kept; } rows[] = { /* kept NULL: refused */
        {"stdout.log", "stdout.log", "stdout.log"}, {"job/script.sh", "x", "job/script.sh"}, {"../x", "x", NULL}, {"/etc/passwd", "x", NULL}, {"a/../../b", "x", NULL},
        {"a//b", "x", NULL}, {"", "x", NULL}, {"ok1", "/etc/passwd", NULL}, {"ok2", "../journal", NULL}, {"ok3", "a/../../x", NULL}, {"a%20b", "x", "a_20b"},
        {"b\nc", "x", "b_c"}, {"\xc3\xbc.txt", "x", "\xc3\xbc.txt"}, {".gitignore", "x", "_gitignore"}, {".GIT/config", "x", "_GIT/config"}, {"a/.Git", "x", "a/_Git"}, {"ok4", "", NULL}, {"ok5", "x\xff", NULL}, {"job", "x", "job-*"}, {"manifest.json", "x", "manifest-*.json"},
        {"STDOUT.log", "x", "STDOUT-*.log"}, {"benchwrap.json", "x", "benchwrap-*.json"},
    };
    struct record *r = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t before = count(r, FACT_ARTIFACT);
        record_artifact(r, rows[i].path, rows[i].file);
        if ((count(r, FACT_ARTIFACT) != before) != (rows[i].kept != NULL))
            fail_msg("\"%s\" from \"%s\" was %s", rows[i].path, rows[i].file, rows[i].kept ? "refused" : "taken");
        if (!rows[i].kept)
            continue;
        const struct fact *f = r->last;
        const char *star = strchr(rows[i].kept, '*');
        size_t head = star ? (size_t)(star - rows[i].kept) : 0;
        if (star ? memcmp(f->key.p, rows[i].kept, head) != 0 || strcmp(f->key.p + head + 8, star + 1) != 0 : !str_is(f->key, rows[i].kept))
            fail_msg("\"%s\" kept as \"%s\", wanted \"%s\"", rows[i].path, f->key.p, rows[i].kept);
    }
}

/* Found by the fuzzer: the text of a metric fact was kept as a pointer into the caller's memory. */
static void a_metric_keeps_nothing_of_the_caller(void **state)
{
    struct record *r = *state;
    char text[] = "gone soon", key[] = "m";
    record_fact(r, &(struct fact){.kind = FACT_METRIC, .key = str_of(key), .text = str_of(text), .value = 1, .time_ms = 5, .unit = text, .source = text});
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(r->last->text.n, 0);
    assert_string_equal(r->last->unit, "gone soon");
    assert_string_equal(r->last->source, "gone soon");
    assert_true(str_is(r->last->key, "m"));
}

static void numbers_as_params(void **state)
{
    struct record *r = *state;
    record_param_int(r, "i", INT64_MIN);
    assert_true(str_is(r->last->text, "-9223372036854775808"));
    record_param_double(r, "d", 0.1);
    assert_true(str_is(r->last->text, "0.1"));
    record_param_double(r, "t", 1.0 / 3);
    double back;
    assert_true(str_double(r->last->text, &back) && back == 1.0 / 3);
}

static void note(void *context, const struct fact *f)
{
    buf_printf(context, "%d:%s ", (int)f->kind, f->key.p ? f->key.p : "");
}

static void the_listener_hears_what_is_kept(void **state)
{
    struct record *r = *state;
    struct buf heard CLEANUP_BUF;
    buf_init(&heard, 1000);
    r->listen = note;
    r->context = &heard;
    record_param(r, "a", STR("1"));
    record_param(r, "a", STR("1"));
    record_tag(r, "b c", STR("1"));
    record_metric(r, "m", 1, NULL, DIR_NONE, 0, 0);
    record_metric(r, "m", NAN, NULL, DIR_NONE, 0, 0);
    record_artifact(r, "f", "f");
    record_missing(r, "gone", "%s", "why");
    assert_string_equal(heard.p, "0:a 2:b c 1:m 4:m 3:f 4:gone ");
    r->listen = NULL;
}

static void warnings_are_said_once_and_end(void **state)
{
    struct record *r = *state;
    for (int i = 0; i < 999; i++)
        record_warning(r, "number %d", i);
    record_warning(r, "number 7");
    assert_int_equal(count(r, FACT_WARNING), 999); /* nothing is left out yet */
    for (int i = 0; i < 5000; i++) {
        record_warning(r, "again");
        record_warning(r, "number %d", i);
    }
    assert_int_equal(count(r, FACT_WARNING), 1000);
    const struct fact *last = NULL;
    for (const struct fact *f = r->first; f; f = f->next)
        last = f->kind == FACT_WARNING ? f : last;
    assert_string_equal(last->text.p, "further warnings are not recorded: there are too many"); /* else readers take the list for complete */
    assert_int_equal(record_lost(r), 0);
}

static void many_keys_keep_their_places(void **state)
{
    struct record *r = *state;
    char key[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "k.%d/x%d", i / 10, i);
        record_param_int(r, key, i);
    }
    for (int i = 0; i < 20000; i++) {
        char value[16];
        snprintf(key, sizeof key, "k.%d/x%d", i / 10, i);
        snprintf(value, sizeof value, "%d", i);
        const struct fact *f = record_find(r, FACT_PARAM, key);
        assert_non_null(f);
        assert_true(str_is(f->text, value));
    }
}

static void ids(void **state)
{
    char a[33], b[33];
    (void)state;
    record_new_id(a);
    record_new_id(b);
    assert_string_not_equal(a, b);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_int_equal(strlen(a), 32);
}

#define WITH_RECORD(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RECORD(params_are_written_once), WITH_RECORD(the_last_tag_wins), WITH_RECORD(times_of_a_key_increase), WITH_RECORD(what_is_no_number_is_missing),
        WITH_RECORD(keys_find_a_free_place), WITH_RECORD(text_becomes_valid_and_bounded), WITH_RECORD(artifacts_stay_below_their_folder), WITH_RECORD(numbers_as_params), WITH_RECORD(a_metric_keeps_nothing_of_the_caller),
        WITH_RECORD(the_listener_hears_what_is_kept), WITH_RECORD(warnings_are_said_once_and_end), WITH_RECORD(many_keys_keep_their_places), cmocka_unit_test(ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
