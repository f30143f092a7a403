/* detail_facts.c (test): facts survive as bytes, and bytes that are cut or foreign are no facts. */
#include "history/detail_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void round_trip(void **state)
{
    CLEANUP_BUF struct buf b;
    struct detail_fact read;
    (void)state;
    buf_init(&b, 4096);
    detail_fact_put(&b, &(struct detail_fact){.kind = DETAIL_METRIC, .key = STR("bw"), .unit = STR(""), .number = 12.5, .samples = 3});
    detail_fact_put(&b, &(struct detail_fact){.kind = DETAIL_PARAM, .key = STR("size"), .value = STR("4 MiB"), .source = STR("argv")});
    struct str rest = buf_text(&b);
    assert_true(detail_fact_take(&rest, &read));
    assert_true(read.kind == DETAIL_METRIC && str_is(read.key, "bw") && read.number == 12.5 && read.samples == 3);
    assert_true(read.unit.p && !read.unit.n && !read.direction.p && !read.value.p); /* empty is not missing */
    assert_true(detail_fact_take(&rest, &read));
    assert_true(read.kind == DETAIL_PARAM && str_is(read.key, "size") && str_is(read.value, "4 MiB") && str_is(read.source, "argv"));
    assert_int_equal(rest.n, 0);
}

static void damaged(void **state)
{
    CLEANUP_BUF struct buf b;
    struct detail_fact read;
    (void)state;
    buf_init(&b, 4096);
    detail_fact_put(&b, &(struct detail_fact){.kind = DETAIL_METRIC, .key = STR("bw"), .value = STR("v"), .number = 1, .samples = 1});
    for (size_t n = 0; n < b.n; n++) {
        char *cut = malloc(n + 1); /* so that a read behind the end is found */
        memcpy(cut, b.p, n);
        struct str rest = {cut, n};
        assert_false(detail_fact_take(&rest, &read));
        free(cut);
    }
    assert_false(detail_fact_take(&(struct str){"\x05\0\0\0\0\0\0\0\0\0\0\0\0", 13}, &read)); /* no such kind */
    assert_false(detail_fact_take(&(struct str){"\0\xff\xff\xff\xffkey", 8}, &read)); /* a text that is longer than the bytes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(damaged),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
