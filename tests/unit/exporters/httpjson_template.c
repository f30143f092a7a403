/* Templates with {{KEY}}: a value that does not fit is an error, never a truncated request. */
#include "exporters/httpjson_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONG_TEXT = 65 << 20 };

static void test_large_value(void **state)
{
    struct exporter_config config = {.name = "test"};
    struct err err = {0};
    struct arena a;
    struct buf to CLEANUP_BUF;
    char *text = malloc(LONG_TEXT + 1);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG_TEXT);
    text[LONG_TEXT] = 0;
    struct tree_entry tag = {.key = "a", .value = {text, LONG_TEXT}};
    struct tree_run run = {.id = "0123456789abcdef0123456789abcdef", .experiment = "e", .user = "", .path = "", .tags = &tag};
    arena_init(&a, 0);
    struct exporter_run read = {.run = &run, .arena = &a};
    struct template_values values = {.config = &config, .run = &read};
    buf_init(&to, 1 << 30);
    assert_int_equal(template_expand("{{run}}", &values, &to, &err), -1);
    assert_non_null(strstr(err.text, "a request"));
    buf_clear(&to);
    err = (struct err){0};
    tag.value.n = 3;
    assert_int_equal(template_expand("{{run}}", &values, &to, &err), 0);
    assert_non_null(strstr(to.p, "\"a\":\"xxx\""));
    free(text);
    arena_deinit(&a);
}

/* Slack notifies everyone in a channel where a message has "<!channel>". In an alert that quotes the
 * line of a log it is escaped. In a message that the user wrote it stays. */
static void test_foreign_message(void **state)
{
    struct opt_row row = {.name = "preset"};
    struct opt_value value = {.text = "slack"};
    struct exporter_config config = {.name = "test", .opts = {.rows = &row, .values = &value, .count = 1}};
    struct template_values values = {.config = &config, .message = "<!channel>", .is_foreign = true};
    struct err err = {0};
    struct buf to CLEANUP_BUF;
    (void)state;
    buf_init(&to, 1000);
    assert_int_equal(template_expand("{\"text\":\"{{summary}}\"}", &values, &to, &err), 0);
    assert_string_equal(to.p, "{\"text\":\"&lt;!channel&gt;\"}");
    buf_clear(&to);
    values.is_foreign = false;
    assert_int_equal(template_expand("{\"text\":\"{{summary}}\"}", &values, &to, &err), 0);
    assert_string_equal(to.p, "{\"text\":\"<!channel>\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_value), cmocka_unit_test(test_foreign_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
