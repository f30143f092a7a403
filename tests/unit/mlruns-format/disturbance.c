/* disturbance.c: a run is quiet only if its record has measured that. */
#include "mlruns-format/disturbance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void a_run_is_judged_by_what_was_measured(void **state)
{
    static const struct {
        const char *detail, *why;
    } cases[] = {
        {"{\"metrics\": {\"noise.other_processors\": {\"value\": 0}}}", NULL},
        {"{\"metrics\": {\"x\": {\"value\": 0}}, \"missing\": [{\"key\": \"y\", \"reason\": \"no\"}, {\"key\": \"noise.other_processors\", "
         "\"reason\": \"too short\"}]}",
         "too short"},
        {"{\"missing\": [{\"key\": \"noise.other_processors\"}]}", "its record states no reason"},
        {"{\"metrics\": {}}", "noise.other_processors was not recorded"},
        {"{\"tags\": {\"benchwrap.series\": {\"value\": \"repeat\"}}, \"metrics\": {\"series.noisy\": {\"value\": 0}}}", NULL},
        {"{\"tags\": {\"benchwrap.series\": {\"value\": \"repeat\"}}, \"metrics\": {\"series.unjudged\": {\"value\": 1}}}",
         "not all of its repetitions could be judged"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *detail = NULL;
        assert_int_equal(json_parse(&detail, str_of(cases[i].detail), NULL, NULL), 0);
        const char *why = disturbance_unjudged(detail);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
        else
            assert_null(why);
        json_free(detail);
    }
    assert_string_equal(disturbance_unjudged(NULL), "noise.other_processors was not recorded"); /* a run of others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_is_judged_by_what_was_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
