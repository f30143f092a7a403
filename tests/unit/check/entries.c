/* entries.c: which files of params, tags and metrics MLflow's file store reads as benchwrap does. */
#include "checked_run.h"

/* The findings for one file, "KIND LINE TEXT" each, and how many samples of it count. */
static const char *read_entry(char kind, const char *key, struct str text, size_t *ret_samples)
{
    static char out[2000];
    struct arena a;
    struct check_state k = {.arena = &a, .limits.findings = 10};
    struct run_check r = {.k = &k, .path = "run"};
    arena_init(&a, 0);
    arena_init(&r.a, 0);
    if (kind == 'm')
        check_metric_entry(&r, key, "file", text);
    else
        check_text_entry(&r, kind, key, "file", text);
    out[0] = 0;
    for (const struct check_finding *f = k.first; f; f = f->next)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s %u %s", out[0] ? "\n" : "", check_kinds[f->id].word, f->line, f->text);
    assert_int_equal(r.entry_count, 1);
    assert_true(r.entries[0].kind == kind && strcmp(r.entries[0].key, key) == 0 && str_eq(r.entries[0].value, text));
    *ret_samples = r.entries[0].count;
    if (kind == 'm' && str_starts(text, "1 2.5 3"))
        assert_true(str_is(r.entries[0].samples[0].text, "2.5"));
    arena_deinit(&r.a);
    arena_deinit(&a);
    return out;
}

static void metric(const char *text, size_t samples, const char *expected)
{
    size_t n;
    assert_string_equal(read_entry('m', "a", str_of(text), &n), expected);
    assert_int_equal(n, samples);
}

/* However little memory is left, an entry has its key and its text, or is not there. */
static void entries_without_memory(void **state)
{
    static const char key[] = "a_key_of_more_than_two_units_of_the_arena's_memory";
    (void)state;
    for (size_t most = 16; most < 3000; most += 16) {
        struct arena a;
        struct check_state k = {.arena = &a, .limits.findings = 10};
        struct run_check r = {.k = &k, .path = "run"};
        arena_init(&a, 0);
        arena_init(&r.a, most);
        for (int i = 0; i < 20; i++)
            check_text_entry(&r, 'p', key, "file", STR(""));
        for (size_t i = 0; i < r.entry_count; i++)
            assert_true(r.entries[i].key && r.entries[i].value.p);
        assert_true(r.entry_count <= 20 && (r.a.failed || r.entry_count == 20));
        arena_deinit(&r.a);
        arena_deinit(&a);
    }
}

static void lines_of_metrics(void **state)
{
    (void)state;
    metric("1 2.5 3\n", 1, "");
    metric("1 nan -3\n2 1e-5 4\n", 2, "");
    metric("1 1e+000000000000000000000000000000000000 3\n", 1, ""); /* 39 */
    metric("", 0, "metric 0 the file is empty");
    metric("1 2 3", 1, "metric 1 the last line does not end");
    metric("1 2 3\n\n2 2 3\n", 2, "metric 2 line 2 is blank");
    metric("x 2 3\n", 0, "metric 1 line 1 does not begin with a time in ms");
    metric("-1 2 3\n", 0, "metric 1 line 1 does not begin with a time in ms");
    metric("12345678901234567890 2 3\n", 0, "metric 1 line 1 does not begin with a time in ms");
    metric("1 2\n", 0, "metric 1 line 1 does not end in a step, or has more or fewer than three fields");
    metric("1 2 3 4\n", 0, "metric 1 line 1 does not end in a step, or has more or fewer than three fields");
    metric("1 2 -\n", 0, "metric 1 line 1 does not end in a step, or has more or fewer than three fields");
    static const char *const numbers[] = {"inf", "1_0", "", "NaN", "0x1", "1e999", "1x", "1e+0000000000000000000000000000000000000" /* 40 characters */};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[100];
        snprintf(text, sizeof text, "1 %s 3\n", numbers[i]);
        metric(text, 0, "metric 1 line 1 has no finite number, or one that readers do not agree on");
    }
    metric("0 2 3\n0 2 3\n1 2 3\n", 2, "metric 2 line 2 is not later than the one before");
    metric("2 2 3\n1 2 3\n3 2 3\n", 2, "metric 2 line 2 is not later than the one before");
    metric("a\nb\nc\nd\n", 0, "metric 1 line 1 does not begin with a time in ms\nmetric 2 line 2 does not begin with a time in ms\n"
                              "metric 3 line 3 does not begin with a time in ms");
}

static void long_files_of_metrics(void **state)
{
    (void)state;
    for (int lines = 1000; lines <= 1001; lines++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1 << 20);
        for (int i = 0; i < lines; i++)
            buf_printf(&b, "%d 1 0\n", i);
        metric(b.p, lines == 1000 ? 1000 : 0, lines == 1000 ? "" : "metric 0 the file has 1001 lines, more than 1000");
    }
}

static void texts(void **state)
{
    static const char control[] = "0 the value holds control characters, or such as change the direction of writing";
    char expected[200], text[8002];
    size_t n;
    (void)state;
    assert_string_equal(read_entry('p', "a", STR("text \xc3\xbc"), &n), "");
    assert_string_equal(read_entry('p', "a", STR(""), &n), "");
    assert_string_equal(read_entry('p', "a:b", STR("text"), &n), "key 0 the key is not one of the format's");
    assert_string_equal(read_entry('p', "a", STR("\xff"), &n), "value 0 the value is not UTF-8, or holds a NUL");
    assert_string_equal(read_entry('p', "a", (struct str){"a\0b", 3}, &n), "value 0 the value is not UTF-8, or holds a NUL");
    snprintf(expected, sizeof expected, "value %s", control);
    assert_string_equal(read_entry('t', "a", STR("\x1b[0m"), &n), expected);
    snprintf(expected, sizeof expected, "value-odd %s", control);
    assert_string_equal(read_entry('t', "benchwrap.command", STR("\x1b[0m"), &n), expected);
    assert_string_equal(read_entry('t', "mlflow.source.name", STR("\x1b[0m"), &n), expected);
    memset(text, 'x', sizeof text);
    assert_string_equal(read_entry('p', "a", (struct str){text, 6000}, &n), "");
    assert_string_equal(read_entry('p', "a", (struct str){text, 6001}, &n), "value 0 the value has 6001 characters; MLflow accepts 6000");
    assert_string_equal(read_entry('t', "a", (struct str){text, 8000}, &n), "");
    assert_string_equal(read_entry('t', "a", (struct str){text, 8001}, &n), "value 0 the value has 8001 characters; MLflow accepts 8000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_without_memory), cmocka_unit_test(lines_of_metrics), cmocka_unit_test(long_files_of_metrics), cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
