/* listing.c (test): widths, cuts, harmless text, JSON from the same cells. */
#include "base/listing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void widths_are_those_of_a_terminal(void **state)
{
    static const struct { const char *text; size_t width; } rows[] = {
        {"", 0}, {"abc", 3}, {"\xc3\xa4", 1}, {"e\xcc\x81", 1}, {"\xe6\xbc\xa2\xe5\xad\x97", 4}, {"\xf0\x9f\x98\x80", 2}, {"\xff", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(listing_width(str_of(rows[i].text)), rows[i].width);
}

/* The table of one column and one row, as printed to a file. */
static char *table_of(const struct listing_column *column, const char *text)
{
    struct arena a;
    struct listing l;
    char *out = NULL;
    size_t n;
    arena_init(&a, 0);
    FILE *f = open_memstream(&out, &n);
    listing_init(&l, column, 1, &a);
    listing_text(&l, text);
    assert_int_equal(listing_print(&l, f), 0);
    fclose(f);
    listing_deinit(&l);
    arena_deinit(&a);
    return out;
}

static void foreign_text_is_harmless_and_cut_visibly(void **state)
{
    static const struct listing_column narrow = {"k", "H", false, 5}, free_width = {"k", "H", false, 0};
    static const struct { const struct listing_column *column; const char *text, *shown; } rows[] = {
        {&narrow, "abcde", "H\nabcde\n"},
        {&narrow, "abcdef", "H\nabcd\xe2\x80\xa6\n"},
        {&narrow, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", "H\n\xe6\xbc\xa2\xe6\xbc\xa2\xe2\x80\xa6\n"},
        {&free_width, "a\033[31mb\tc", "H\na\\x1b[31mb\\x09c\n"},
        {&free_width, "\xc2\x9b" "x", "H\n\\x9bx\n"},
        {&free_width, NULL, "H\n-\n"},
        {&free_width, "", "H\n\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *out = table_of(rows[i].column, rows[i].text);
        assert_string_equal(out, rows[i].shown);
        free(out);
    }
}

static void columns_are_aligned_and_json_has_the_same_cells(void **state)
{
    static const struct listing_column columns[] = {{"name", "NAME", false, 0}, {"hidden", NULL, false, 0}, {"value", "V", true, 0}};
    struct arena a;
    struct listing l;
    struct buf json;
    char *out = NULL;
    size_t n;
    (void)state;
    arena_init(&a, 0);
    buf_init(&json, 4096);
    listing_init(&l, columns, 3, &a);
    listing_text(&l, "a");
    listing_text(&l, "x\"y");
    listing_number(&l, 1.5, NULL);
    listing_text(&l, "longer");
    listing_none(&l);
    listing_number(&l, NAN, "none");
    assert_int_equal(listing_rows(&l), 2);
    FILE *f = open_memstream(&out, &n);
    listing_print(&l, f);
    fclose(f);
    assert_string_equal(out, "NAME       V\na        1.5\nlonger  none\n");
    listing_json(&l, &json);
    assert_string_equal(json.p, "[\n  {\n    \"name\": \"a\",\n    \"hidden\": \"x\\\"y\",\n    \"value\": 1.5\n  },\n"
                                "  {\n    \"name\": \"longer\",\n    \"hidden\": null,\n    \"value\": \"NaN\"\n  }\n]\n");
    free(out);
    buf_deinit(&json);
    listing_deinit(&l);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_a_terminal),
        cmocka_unit_test(foreign_text_is_harmless_and_cut_visibly),
        cmocka_unit_test(columns_are_aligned_and_json_has_the_same_cells),
    };
    return cmocka_run_group_tests_name("base/listing", tests, NULL, NULL);
}
