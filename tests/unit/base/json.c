/* json.c: JSON trees: pointers, types, errors with line and column, numbers that must not become others. */
#include "base/json.h"
#include "base/json_out.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct json *parse(const char *text)
{
    struct json *j = NULL;
    struct err err = {0};
    if (json_parse(&j, str_of(text), NULL, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return j;
}

static void pointers(void **state)
{
    static const struct { const char *pointer; double value; } rows[] = { /* the examples of RFC 6901, 5; -1: leads nowhere */
        {"/foo/0", 10}, {"/", 0}, {"/a~1b", 1}, {"/c%d", 2}, {"/e^f", 3}, {"/g|h", 4}, {"/i\\j", 5}, {"/k\"l", 6}, {"/ ", 7}, {"/m~0n", 8},
        {"/foo/1", 11}, {"/foo/01", -1}, {"/foo/2", -1}, {"/foo/-", -1}, {"/foo/+1", -1}, {"/foo/", -1}, {"foo", -1}, {"/nope", -1}, {"/foo/0/x", -1}, {"/o/p", 9}, {"/m~n", -1}, {"/FOO/0", -1},
    };
    struct json *j = parse("{\"foo\":[10,11],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8,\"o\":{\"p\":9}}");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (json_number(json_pointer(j, rows[i].pointer), -1) != rows[i].value)
            fail_msg("%s", rows[i].pointer);
    assert_ptr_equal(json_pointer(j, ""), j);
    json_free(j);
}

static void values_have_types(void **state)
{
    struct json *j = parse(" {\"s\":\"t\",\"n\":1.5,\"i\":-7,\"b\":true,\"z\":null,\"a\":[1,[2],{}],\"o\":{\"k\":1},\"s\":\"second\"} ");
    (void)state;
    assert_string_equal(json_string(json_get(j, "s"), ""), "t");
    assert_string_equal(json_string(json_get(j, "n"), "otherwise"), "otherwise");
    assert_true(json_number(json_get(j, "n"), 0) == 1.5);
    assert_int_equal(json_integer(json_get(j, "n"), 42), 42);
    assert_int_equal(json_integer(json_get(j, "i"), 42), -7);
    assert_true(json_bool(json_get(j, "b"), false));
    assert_true(json_bool(json_get(j, "z"), true));
    assert_true(json_is_null(json_get(j, "z")) && !json_is_null(json_get(j, "absent")));
    assert_int_equal(json_count(json_get(j, "a")), 3);
    assert_true(json_is_array(json_at(json_get(j, "a"), 1)));
    assert_null(json_at(json_get(j, "a"), 3));
    assert_string_equal(json_key(json_first(json_get(j, "o"))), "k");
    assert_null(json_get(j, "S"));
    assert_null(json_get(NULL, "s"));
    assert_null(json_first(json_get(j, "s")));
    json_free(j);
}

static void errors_name_the_place(void **state)
{
    static const struct { const char *text, *place; } rows[] = {
        {"", "line 1, column 1"}, {"{\n  \"a\": }", "line 2"}, {"[1,\n2,\nx]", "line 3"}, {"{} x", "line 1, column 4"}, {"1 2", "unexpected text after"}, {"{\"a\":1", "line 1"}, {"\"open", "line 1"}, {"nul", "line 1"},
        {"[1e]", "line 1"}, {"{\"a\" 1}", "line 1"},
        {"1234567890123456789012345678901234567890123456789012345678901234567890", "63 characters"},
        {"[0.000000000000000000000000000000000000000000000000000000000000000000012345]", "line 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json *j = NULL;
        struct err err = {0};
        int rc = json_parse(&j, str_of(rows[i].text), NULL, &err);
        if (rc == 0 && i >= 10) { /* a cJSON that reads long numbers whole */
            double v = json_number(json_is_array(j) ? json_at(j, 0) : j, 0);
            assert_true(v == 1.2345678901234568e69 || v == 1.2345e-68);
            json_free(j);
        } else if (rc != -1 || !strstr(err.text, rows[i].place))
            fail_msg("row %zu: %d %s", i, rc, err.text);
    }
}

static void a_value_may_stand_before_other_text(void **state)
{
    struct json *j;
    size_t end;
    (void)state;
    assert_int_equal(json_parse(&j, STR("{\"a\":1} trailing"), &end, NULL), 0);
    assert_int_equal(end, 7);
    json_free(j);
    assert_int_equal(json_parse(&j, (struct str){"[1]garbage", 3}, NULL, NULL), 0); /* no NUL needed */
    json_free(j);
}

static void depth_is_bounded(void **state)
{
    size_t n = 200000;
    char *text = malloc(n);
    struct json *j;
    (void)state;
    memset(text, '[', n);
    assert_int_equal(json_parse(&j, (struct str){text, n}, NULL, NULL), -1);
    free(text);
}

static void printed_text_reads_back(void **state)
{
    static const char *const rows[][2] = {
        {"{\"a\":[1,2.5,-0.1,1e+300,true,false,null,\"x\"],\"b\":{}}", NULL}, {"\"\\u00fc\\n\\\"\\\\ \\ud83d\\ude00\"", "\"\xc3\xbc\\n\\\"\\\\ \xf0\x9f\x98\x80\""},
        {"[1e999,9007199254740991,1.0]", "[null,9007199254740991,1]"}, {"[]", NULL}, {"\"\xff\"", "\"\xef\xbf\xbd\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 4096);
        struct json *j = parse(rows[i][0]);
        json_print(j, &b);
        json_free(j);
        if (strcmp(b.p, rows[i][1] ? rows[i][1] : rows[i][0]) != 0)
            fail_msg("row %zu: %s", i, b.p);
    }
}

static void written_members(struct json_out *j)
{
    static const char *const words[] = {"x", "\"y\""};
    json_text(j, "text", NULL);
    json_double(j, "nan", NAN);
    json_double(j, "inf", -INFINITY);
    json_known(j, "unknown", NAN);
    json_open_row(j, "row", '{');
    json_uint(j, "n", UINT64_MAX);
    json_texts(j, "words", words, 2);
    json_close(j, '}');
    json_name(j, STR("empty"));
    json_open(j, NULL, '[');
    json_close(j, ']');
    json_members(j, STR("\"as\": \"is\""));
    json_printf(j, "third", "%.3f", 1.0 / 3);
    json_raw(j, "raw", STR("{\n  \"a\": 1\n}\n"));
    json_close(j, '}');
}

static void writer_layouts(void **state)
{
    static const char *const expected[] = {
        [JSON_BLOCK] = "{\n  \"text\": null,\n  \"nan\": \"NaN\",\n  \"inf\": \"-Infinity\",\n  \"unknown\": null,\n"
                       "  \"row\": {\"n\": 18446744073709551615, \"words\": [\"x\", \"\\\"y\\\"\"]},\n  \"empty\": [],\"as\": \"is\",\n"
                       "  \"third\": 0.333,\n  \"raw\": {\n    \"a\": 1\n  }\n}\n",
        [JSON_ROW] = "{\"text\": null, \"nan\": \"NaN\", \"inf\": \"-Infinity\", \"unknown\": null, "
                     "\"row\": {\"n\": 18446744073709551615, \"words\": [\"x\", \"\\\"y\\\"\"]}, \"empty\": [],\"as\": \"is\", "
                     "\"third\": 0.333, \"raw\": {\n  \"a\": 1\n}}",
        [JSON_TIGHT] = "{\"text\":null,\"nan\":\"NaN\",\"inf\":\"-Infinity\",\"unknown\":null,"
                       "\"row\":{\"n\":18446744073709551615,\"words\":[\"x\",\"\\\"y\\\"\"]},\"empty\":[],\"as\": \"is\","
                       "\"third\":0.333,\"raw\":{\n  \"a\": 1\n}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct buf b CLEANUP_BUF;
        struct json *read;
        buf_init(&b, 4096);
        struct json_out j = json_begin(&b, (enum json_layout)i, '{');
        written_members(&j);
        assert_string_equal(b.p, expected[i]);
        assert_int_equal(json_parse(&read, buf_text(&b), NULL, NULL), 0);
        json_free(read);
    }
}

static void writer_breaks_lines(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 4096);
    struct json_out j = json_begin(&b, JSON_TIGHT, '[');
    for (int i = 0; i < 2; i++) {
        json_line(&j, 1);
        json_int(&j, NULL, i);
    }
    json_line(&j, 0);
    json_close(&j, ']');
    assert_string_equal(b.p, "[\n 0,\n 1\n]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers), cmocka_unit_test(values_have_types), cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(a_value_may_stand_before_other_text), cmocka_unit_test(depth_is_bounded), cmocka_unit_test(writer_layouts), cmocka_unit_test(writer_breaks_lines), cmocka_unit_test(printed_text_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
