/* Expressions: what is refused, where the caret stands, how keys read. tests/mlruns/filters.py compares with MLflow's client. */
#include "base/screen.h"
#include "filter/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void refused_with_a_caret(void **state)
{
    (void)state;
    static const struct { const char *text, *message, *caret_at; } rows[] = {
        {"metrics.a > 'x'", "expected a number without quotes", "'x'"},
        {"metrics.a = 1 OR metrics.b = 2", "expected AND; the language has no OR", "OR"},
        {"metrics.a == 1", "write one =", "=="},
        {"metric.a >", "expected a number", ""},
        {"metrcs.a > 1", "did you mean metrics?", "metrcs"},
        {"attributes.stats = 'x'", "did you mean status?", "attributes"},
        {"bw > 1", "write metrics.bw, params.bw or tags.bw;", "bw"},
        {"metrics.in > 1", "is a word of SQL; write the key in backticks", "in >"},
        {"metrics.a/b > 1", "in backticks", "/b"},
        {"params.a = 'x", "is never closed", "'x"},
        {"params.a > 'x'", "texts have = != LIKE ILIKE, got >", "> "},
        {"params.a IN ('x')", "IN is for run_id, datasets and variables", "IN"},
        {"run_id IN ()", "expected a text in quotes", ")"},
        {"run_id IN ('a' 'b')", "expected \",\" or \")\"", "'b'"},
        {"metrics.a IS NULL", "got IS NULL", "IS"},
        {"params.a IS NOT  NULL", "expected NULL or NOT NULL", "NOT"},
        {"status NOT LIKE 'x'", "no other negation", "NOT"},
        {"metrics.a > 1 AND", "expected metrics.KEY", ""},
        {"(metrics.a > 1)", "expected metrics.KEY", "("},
        {"params.größe = 'ä' AND metrics.日本 >> 1", "got \">>\"", ">>"},
        {"env.HOME > 1", "texts have", "> "},
        {"envs.HOME = 'x'", "did you mean env?", "envs"},
        {" ", "expected metrics.KEY", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct err err = {0};
        const struct filter *f;
        arena_init(&a, 0);
        if (filter_parse(rows[i].text, &a, &f, &err) == 0)
            fail_msg("accepted: %s", rows[i].text);
        const char *line = strchr(err.excerpt, '\n'), *caret = line ? strchr(line, '^') : NULL;
        if (!strstr(err.text, rows[i].message) || !caret || caret[1])
            fail_msg("%s: %s\n%s", rows[i].text, err.text, err.excerpt);
        size_t column = screen_text_width((struct str){err.excerpt, (size_t)(strstr(rows[i].text, rows[i].caret_at) - rows[i].text) + 2});
        if (*rows[i].caret_at && (size_t)(caret - line - 1) != column)
            fail_msg("%s: the caret is at %zu, not %zu\n%s", rows[i].text, (size_t)(caret - line - 1), column, err.excerpt);
        arena_deinit(&a);
    }
}

static void keys_show_as_they_are_read(void **state)
{
    (void)state;
    static const char *const shown[] = {"metrics.a", "params.fs.type", "tags.`a b`", "metrics.`system/cpu`", "params.`in`", "metrics.`99th`", "tags.größe", "metrics.1st"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct arena a;
        struct err err = {0};
        struct filter_key key;
        bool descending = true;
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1 << 16);
        arena_init(&a, 0);
        assert_int_equal(filter_parse_order(shown[i], "--sort", &a, &key, &descending, &err), 0);
        assert_false(descending);
        filter_key_show(&b, &key);
        assert_string_equal(b.p, shown[i]);
        arena_deinit(&a);
    }
}

static void a_long_expression_is_bounded(void **state)
{
    (void)state;
    struct arena a;
    struct err err = {0};
    const struct filter *f;
    char *text = malloc(FILTER_TEXT_MAX + 2);
    memset(text, '(', FILTER_TEXT_MAX + 1);
    text[FILTER_TEXT_MAX + 1] = 0;
    arena_init(&a, 0);
    assert_int_equal(filter_parse(text, &a, &f, &err), -1);
    text[FILTER_TEXT_MAX] = 0;
    assert_int_equal(filter_parse(text, &a, &f, &err), -1);
    assert_true(strlen(err.excerpt) < 200);
    arena_deinit(&a);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused_with_a_caret), cmocka_unit_test(keys_show_as_they_are_read),
                                       cmocka_unit_test(a_long_expression_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
