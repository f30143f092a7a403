/* Long documents are cut, the cuts are named, and what is missing stays missing. */
#include "mcp/mcp_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The answer's members for a document. NULL: it does not fit. */
static struct json *answered(const char *text, enum mcp_end end, size_t max)
{
    CLEANUP_BUF struct buf b;
    struct json *doc = NULL, *ret = NULL;
    struct err err = {0};
    struct arena a;
    arena_init(&a, 0);
    buf_init(&b, 1 << 20);
    assert_int_equal(json_parse(&doc, str_of(text), NULL, &err), 0);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    int rc = mcp_answer_data(&j, doc, end, max, &a);
    json_close(&j, '}');
    json_free(doc);
    arena_deinit(&a);
    if (rc == 0)
        assert_int_equal(json_parse(&ret, buf_text(&b), NULL, &err), 0);
    return ret;
}

static void short_documents_stay(void **state)
{
    CLEANUP_BUF struct buf b;
    struct json *got = answered("{\"a\":[1,null,{\"b\":\"x\"}],\"c\":null,\"d\":1e-300,\"e\":false}", MCP_HEAD, 1000);
    (void)state;
    buf_init(&b, 4096);
    json_print(json_get(got, "data"), &b);
    assert_string_equal(b.p, "{\"a\":[1,null,{\"b\":\"x\"}],\"c\":null,\"d\":1e-300,\"e\":false}");
    assert_int_equal(json_count(json_get(got, "cut")), 0);
    json_free(got);
}

static void long_lists_are_cut(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%c%d", i ? ',' : '[', i);
    buf_putc(&b, ']');
    struct json *head = answered(b.p, MCP_HEAD, 500), *tail = answered(b.p, MCP_TAIL, 500);
    size_t n = json_count(json_get(head, "data"));
    assert_true(n >= 32 && n < 200);
    assert_int_equal(json_integer(json_at(json_get(head, "data"), 0), -1), 0);
    assert_int_equal(json_integer(json_at(json_get(tail, "data"), json_count(json_get(tail, "data")) - 1), -1), 999);
    assert_non_null(strstr(json_string(json_at(json_get(head, "cut"), 0), ""), "of 1000 elements"));
    assert_non_null(strstr(json_string(json_at(json_get(tail, "cut"), 0), ""), "the last ones"));
    json_free(head);
    json_free(tail);
}

static void long_texts_are_cut_between_characters(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    buf_puts(&b, "{\"t\":\"x");
    for (int i = 0; i < 20000; i++)
        buf_puts(&b, "\xc3\xbc");
    buf_puts(&b, "\"}");
    struct json *got = answered(b.p, MCP_HEAD, 3000);
    const char *text = json_string(json_pointer(got, "/data/t"), "");
    assert_true(strlen(text) > 100 && strlen(text) < 3000 && str_valid_utf8(str_of(text)));
    assert_non_null(strstr(json_string(json_at(json_get(got, "cut"), 0), ""), "of 40001 bytes"));
    json_free(got);
    assert_null(answered("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1}", MCP_HEAD, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_documents_stay), cmocka_unit_test(long_lists_are_cut),
                                       cmocka_unit_test(long_texts_are_cut_between_characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
