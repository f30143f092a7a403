/* yaml.c: what the YAML reader gives, where things stand, and what it refuses. */
#include "base/buf.h"
#include "base/yaml.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct yaml *parse(struct arena *a, const char *text, struct err *err)
{
    struct yaml *y = NULL;
    arena_init(a, 1 << 20);
    err_clear(err);
    if (yaml_parse(&y, "f.yaml", str_of(text), a, err))
        return NULL;
    return y;
}

static void tree_has_keys_lists_and_places(void **state)
{
    struct arena a;
    struct err err;
    struct yaml *y = parse(&a, "name: ior\nlist:\n  - one\n  - 'no'\nempty:\nmap: {a: 1, b: [x]}\n", &err);
    (void)state;
    assert_non_null(y);
    assert_true(str_is(yaml_text(y, "name", ""), "ior"));
    const struct yaml *list = yaml_get(y, "list");
    assert_int_equal(list->kind, YAML_LIST);
    assert_true(str_is(list->child->text, "one"));
    assert_true(list->child->plain);
    assert_false(list->child->next->plain);
    assert_int_equal(list->child->next->line, 4);
    assert_int_equal(list->child->next->column, 5);
    assert_true(yaml_is_null(yaml_get(y, "empty")));
    assert_int_equal(yaml_get(y, "empty")->line, 5);
    assert_true(str_is(yaml_get(yaml_get(y, "map"), "b")->child->text, "x"));
    assert_null(yaml_get(y, "absent"));
    assert_true(str_is(yaml_text(y, "absent", "other"), "other"));
    arena_deinit(&a);
}

static void scalars_stay_what_was_written(void **state)
{
    struct arena a;
    struct err err;
    struct yaml *y = parse(&a, "a: no\nb: 012\nc: 'no'\nd: ~\ne: 1_0\n", &err);
    bool is = true;
    (void)state;
    assert_true(str_is(yaml_text(y, "b", ""), "012"));
    assert_true(str_is(yaml_text(y, "e", ""), "1_0"));
    assert_int_equal(yaml_bool(yaml_get(y, "a"), &is), 0);
    assert_false(is);
    assert_int_equal(yaml_bool(yaml_get(y, "c"), &is), -1);
    assert_true(yaml_is_null(yaml_get(y, "d")));
    assert_false(yaml_is_null(yaml_get(y, "a")));
    arena_deinit(&a);
}

static void refusals_name_line_and_column(void **state)
{
    static const struct { const char *text, *says; } rows[] = {
        {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: the key \"a\" occurs twice in this map (first in line 1)"},
        {"a: &x 1\n", "f.yaml:1:4: anchors (&name) are not allowed here"},
        {"a: &x [1]\nb: *x\n", "f.yaml:1:4: anchors (&name) are not allowed here"},
        {"b: *x\n", "f.yaml:1:4: aliases (*name) are not allowed here"},
        {"a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document (---) is not allowed here"},
        {"? [x]\n: 1\n", "f.yaml:1:3: a key must be plain text"},
        {"a: [1, 2\nb: 3\n", "f.yaml:2:2: "},
        {"a: \"x\\0y\"\n", "f.yaml:1:4: a NUL character is not allowed here"},
        {"a: \xff\xfe\n", "f.yaml:1:4: "},
        {"", "f.yaml:1:1: the document is empty"},
        {"\ta: 1\n", "f.yaml:1:1: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        struct err err;
        assert_null(parse(&a, rows[i].text, &err));
        if (strncmp(err.text, rows[i].says, strlen(rows[i].says)))
            fail_msg("%s: got \"%s\", wanted \"%s\"", rows[i].text, err.text, rows[i].says);
        arena_deinit(&a);
    }
}

static void depth_and_memory_are_bounded(void **state)
{
    char deep[402];
    struct arena a;
    struct err err;
    struct yaml *y = NULL;
    (void)state;
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    deep[400] = 0;
    assert_null(parse(&a, deep, &err));
    assert_non_null(strstr(err.text, "100 levels"));
    arena_deinit(&a);
    arena_init(&a, 512);
    assert_int_equal(yaml_parse(&y, "f", STR("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]"), &a, &err), -1);
    assert_non_null(strstr(err.text, "memory"));
    arena_deinit(&a);
}

/* Each key is searched among all before it: with a list of them this document needs minutes. */
static void many_keys_of_one_map_cost_little(void **state)
{
    struct arena a;
    struct yaml *doc = NULL;
    struct err err = {0};
    CLEANUP_BUF struct buf text;
    (void)state;
    arena_init(&a, 0);
    buf_init(&text, 8 << 20);
    for (int i = 0; i < 300000; i++)
        buf_printf(&text, "k%d: {k%d: 1}\n", i, i);
    assert_int_equal(yaml_parse(&doc, "f.yaml", buf_text(&text), &a, &err), 0);
    buf_puts(&text, "k7: 1\n");
    assert_int_equal(yaml_parse(&doc, "f.yaml", buf_text(&text), &a, &err), -1);
    assert_string_equal(err.text, "f.yaml:300001:1: the key \"k7\" occurs twice in this map (first in line 8)");
    arena_deinit(&a);
}

static void complaints_point_at_the_node(void **state)
{
    struct arena a;
    struct err err;
    struct yaml *y = parse(&a, "a: 1\nb:   wrong\n", &err);
    (void)state;
    assert_int_equal(yaml_complain(yaml_get(y, "b"), "f.yaml", &err, "%s is not a number", "wrong"), -1);
    assert_string_equal(err.text, "f.yaml:2:6: wrong is not a number");
    assert_int_equal(err.kind, ERR_INPUT);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_has_keys_lists_and_places), cmocka_unit_test(scalars_stay_what_was_written),
        cmocka_unit_test(refusals_name_line_and_column),  cmocka_unit_test(depth_and_memory_are_bounded),
        cmocka_unit_test(complaints_point_at_the_node),  cmocka_unit_test(many_keys_of_one_map_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
