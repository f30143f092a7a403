/* listing.c (test): widths, cuts, harmless text, values as people read them, JSON from the same cells. */
#include "cmd/listing.h"

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

static void values_read_well(void **state)
{
    static const struct { double seconds; const char *shown; } durations[] = {
        {0.0000125, "12.5 us"}, {0.5, "500 ms"}, {0.9999, "1.0 s"}, {59.94, "59.9 s"}, {120, "2 min 0 s"}, {7199.6, "120 min 0 s"}, {7200, "2 h 0 min"}, {-1, "?"},
    };
    static const struct { uint64_t bytes; const char *shown; } sizes[] = {
        {0, "0 B"}, {1023, "1023 B"}, {1536, "1.5 KiB"}, {104857600, "100 MiB"}, {UINT64_MAX, "16.0 EiB"},
    };
    static const struct { double v; const char *shown; } numbers[] = {
        {3, "3"}, {1234567.25, "1234567.2"}, {0.001234567, "0.00123457"}, {1e300, "1e+300"}, {-INFINITY, "-inf"},
    };
    struct buf b;
    (void)state;
    buf_init(&b, 256);
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++, buf_clear(&b)) {
        show_duration(&b, durations[i].seconds);
        assert_string_equal(b.p, durations[i].shown);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++, buf_clear(&b)) {
        show_size(&b, sizes[i].bytes);
        assert_string_equal(b.p, sizes[i].shown);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++, buf_clear(&b)) {
        show_double(&b, numbers[i].v);
        assert_string_equal(b.p, numbers[i].shown);
    }
    show_time_utc(&b, -1);
    assert_string_equal(b.p, "1969-12-31T23:59:59.999Z");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_a_terminal),
        cmocka_unit_test(foreign_text_is_harmless_and_cut_visibly),
        cmocka_unit_test(columns_are_aligned_and_json_has_the_same_cells),
        cmocka_unit_test(values_read_well),
    };
    return cmocka_run_group_tests_name("cmd/listing", tests, NULL, NULL);
}
