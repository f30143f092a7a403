/* schema.c: documents against the schemas of the format. */
#include "mlruns-format/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char first[400];

static void tell(void *context, const char *where, const char *what)
{
    if (!(*(int *)context)++)
        snprintf(first, sizeof first, "%s %s", where, what);
}

static int check(enum schema schema, const char *text)
{
    struct json *j = NULL;
    int told = 0;
    *first = 0;
    assert_int_equal(json_parse(&j, str_of(text), NULL, NULL), 0);
    int found = schema_check(schema, j, 100, tell, &told);
    assert_int_equal(found, told);
    json_free(j);
    return found;
}

#define FILE_OF(path) "{\"path\": \"" path "\", \"size\": 1, \"sha256\": \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}"
#define FIVE FILE_OF("a") "," FILE_OF("b") "," FILE_OF("c") "," FILE_OF("d") "," FILE_OF("e")
#define ID "0123456789abcdef0123456789abcdef"

static void manifests(void **state)
{
    static const struct { const char *text, *complaint; } rows[] = {
        {"{\"format\": 1, \"run_id\": \"" ID "\", \"files\": [" FIVE "]}", ""},
        {"{\"format\": 2, \"run_id\": \"" ID "\", \"files\": [" FIVE "]}", "/format is not the value wanted"},
        {"{\"format\": 1, \"run_id\": \"X\", \"files\": [" FIVE "]}", "/run_id is not of the form ^[0-9a-f]{32}$"},
        {"{\"format\": 1, \"run_id\": \"" ID "\", \"files\": [" FILE_OF("a") "]}", "/files has too few elements"},
        {"{\"format\": 1, \"run_id\": \"" ID "\"}", "/ has no member files"},
        {"{\"format\": 1, \"format\": 1, \"run_id\": \"" ID "\", \"files\": [" FIVE "]}", "/ has the key twice: format"},
        {"{\"format\": 1, \"run_id\": \"" ID "\", \"files\": [" FIVE "], \"x\": 1}", "/x is a member that the format does not know"},
        {"{\"format\": 1, \"run_id\": \"" ID "\", \"files\": {}}", "/files is not of type array"},
        {"{\"format\": 1, \"run_id\": \"" ID "\", \"files\": [" FIVE ",{\"path\": \"\", \"size\": -1, \"sha256\": \"\"}]}", "/files/5/path is too short or too long"},
        {"[]", "/ is not of type object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(SCHEMA_MANIFEST, rows[i].text);
        assert_string_equal(first, rows[i].complaint);
    }
}

static void records(void **state)
{
#define HEAD "{\"format\": 1, \"generator\": \"x\", \"run\": {\"id\": \"" ID "\", \"name\": \"n\", \"experiment\": {\"id\": \"1\", \"name\": \"n\", \"wanted\": \"n\"}, \"status\": \"FINISHED\", \"start_ms\": 1, \"end_ms\": null, \"user\": \"\", \"host\": \"\", \"job\": \"\", \"argv\": []}, \"verdict\": {\"word\": \"none\", \"reason\": \"\"}, \"params\": {}, \"tags\": {}, \"artifacts\": [], \"missing\": [], \"warnings\": [], \"metrics\": "
    (void)state;
    assert_int_equal(check(SCHEMA_RECORD, HEAD "{}}"), 0);
    assert_int_equal(check(SCHEMA_RECORD, HEAD "{\"a\": {\"value\": \"nan\", \"unit\": \"\", \"direction\": \"\", \"source\": \"x\", \"samples\": 1}}}"), 0);
    check(SCHEMA_RECORD, HEAD "{\"a\": {\"value\": \"5\", \"unit\": \"\", \"direction\": \"\", \"source\": \"x\", \"samples\": 1}}}");
    assert_string_equal(first, "/metrics/a/value is none of the kinds that are allowed here");
    check(SCHEMA_RECORD, HEAD "{\"\\u00e4\": {\"value\": 5, \"unit\": \"\", \"direction\": \"up\", \"source\": \"x\", \"samples\": 0}}}");
    assert_non_null(strstr(first, "is not of the form"));
    assert_int_equal(check(SCHEMA_RECORD, HEAD "{\"a\": {\"value\": 5, \"unit\": \"\", \"direction\": \"up\", \"source\": \"x\", \"samples\": 0.5}}}"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(manifests), cmocka_unit_test(records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
