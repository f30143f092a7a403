/* json_scan.c (test): members, texts and numbers of documents; damage ends the scan. */
#include "base/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void members(void **state)
{
    struct json_scan s = json_scan_of(STR(" {\"a\": {\"x\": [1, {\"y\": \"}\"}, \"]\\\"\"], \"v\": -1.5e3}, \"b\\\"\" : \"te\\\\\", \"c\":[],\"d\":[1,2] , \"e\" : {} }"));
    struct str key, value;
    double number;
    (void)state;
    assert_true(json_scan_enter(&s));
    assert_true(json_scan_member(&s, &key) && str_is(key, "a"));
    assert_true(json_scan_enter(&s));
    assert_true(json_scan_member(&s, &key) && str_is(key, "x"));
    assert_true(json_scan_value(&s, &value) && str_is(value, "[1, {\"y\": \"}\"}, \"]\\\"\"]"));
    assert_true(json_scan_member(&s, &key) && str_is(key, "v"));
    assert_false(json_scan_text(&s, &value));
    assert_true(json_scan_number(&s, &number) && number == -1500);
    assert_false(json_scan_member(&s, &key));
    assert_true(json_scan_member(&s, &key) && str_is(key, "b\\\""));
    assert_false(json_scan_number(&s, &number));
    assert_true(json_scan_text(&s, &value) && str_is(value, "te\\\\"));
    assert_true(json_scan_member(&s, &key) && !json_scan_enter(&s) && json_scan_value(&s, &value) && str_is(value, "[]"));
    assert_true(json_scan_member(&s, &key) && json_scan_value(&s, &value) && str_is(value, "[1,2]"));
    assert_true(json_scan_member(&s, &key) && str_is(key, "e") && json_scan_value(&s, &value) && str_is(value, "{}"));
    assert_false(json_scan_member(&s, &key));
    assert_false(s.damaged);
}

static void damage(void **state)
{
    static const char *const texts[] = {"{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[1", "{\"a\":\"\\", "{\"a\":{\"b\":1}", "{\"a\":}", "{\"a\" 1}", "{a:1}", "{\"a\":1 2}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json_scan s = json_scan_of(str_of(texts[i]));
        struct str key, value;
        assert_true(json_scan_enter(&s));
        while (json_scan_member(&s, &key))
            json_scan_value(&s, &value);
        if (!s.damaged)
            fail_msg("%s", texts[i]);
        assert_false(json_scan_member(&s, &key) || json_scan_value(&s, &value) || json_scan_text(&s, &value) || json_scan_enter(&s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members), cmocka_unit_test(damage)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
