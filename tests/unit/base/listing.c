/* listing.c (test): cuts, columns that leave a narrow table, colours, harmless text, JSON and CSV from the same cells. */
#include "base/listing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

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
    static const struct listing_column narrow = {"k", "H", false, 5}, free_width = {"k", "H", false, 0},
                                       foreign = {.key = "k", .heading = "k\033[31m", .above = "\xe2\x80\xae" "e\033[31m"};
    static const struct { const struct listing_column *column; const char *text, *shown; } rows[] = {
        {&narrow, "abcde", "H\nabcde\n"},
        {&narrow, "abcdef", "H\nabcd\xe2\x80\xa6\n"},
        {&narrow, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", "H\n\xe6\xbc\xa2\xe6\xbc\xa2\xe2\x80\xa6\n"},
        {&free_width, "a\033[31mb\tc", "H\na\\x1b[31mb\\x09c\n"},
        {&free_width, "\xc2\x9b" "x", "H\n\\x9bx\n"},
        {&free_width, NULL, "H\n-\n"},
        {&free_width, "", "H\n\n"},
        {&free_width, "a\xe2\x80\xa8" "b", "H\na\\u2028b\n"},
        {&foreign, "x", "\\u202ee\\x1b[31m\nk\\x1b[31m\nx\n"}, /* a name of an experiment above the key of a param */
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

/* The table of three runs on a screen. */
static const struct listing_column runs[] = {
    {"run", "RUN", false, 0, .whole = true, .above = "fio"},
    {"status", "STATUS", false, 0, .drop = 1, .common = ""},
    {"bench", "BENCHMARK", false, 0, .drop = 2, .common = "all with"},
    {"note", "NOTE", false, 0, .no_empty = true},
    {"site", "SITE", false, 0, .drop = 3},
    {"node", "NODE", false, 0, .drop = 1},
    {"bw", "MiB/s", true, 0, .above = "write.bw"},
};

static char *runs_table(struct screen screen, const char *third_status)
{
    static const char *const rows[][6] = {{"e885e16c", "ok", "fio", "", "berlin", "tux01"},
                                          {"8774c275", "ok", "fio", "", "potsdam", "tux02"},
                                          {"c77b3c24", "ok", "fio", "", "berlin", "tux01"}};
    struct arena a;
    struct listing l;
    struct buf b;
    arena_init(&a, 0);
    buf_init(&b, 1 << 16);
    listing_init(&l, runs, sizeof runs / sizeof *runs, &a);
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 6; c++)
            listing_text(&l, r == 2 && c == 1 ? third_status : rows[r][c]);
        listing_number(&l, 1185.0 + (double)r, NULL);
        if (r == 0)
            listing_style(&l, STYLE_GOOD);
    }
    assert_int_equal(listing_render(&l, &screen, &b), 0);
    listing_deinit(&l);
    arena_deinit(&a);
    return b.p;
}

static void columns_leave_a_narrow_table_and_results_stay(void **state)
{
    static const struct { size_t width; bool colour; const char *status, *shown; } rows[] = {
        {SIZE_MAX, false, "ok",
         "all with fio\nfio                       write.bw\nRUN       SITE     NODE      MiB/s\n"
         "e885e16c  berlin   tux01      1185\n8774c275  potsdam  tux02      1186\nc77b3c24  berlin   tux01      1187\n"},
        {30, false, "ok",
         "all with fio\nfio              write.bw\nRUN       NODE      MiB/s\ne885e16c  tux01      1185\n8774c275  tux02      1186\n"
         "c77b3c24  tux01      1187\n"},
        {20, false, "ok",
         "all with fio\nfio       write.bw\nRUN          MiB/s\ne885e16c      1185\n8774c275      1186\nc77b3c24      1187\n"},
        {20, true, "ok",
         "all with fio\n\033[1mfio       write.bw\033[0m\n\033[1mRUN          MiB/s\033[0m\ne885e16c      \033[32m1185\033[0m\n"
         "8774c275      1186\nc77b3c24      1187\n"},
        {SIZE_MAX, false, "FAILED",
         "all with fio\nfio                               write.bw\nRUN       STATUS  SITE     NODE      MiB/s\n"
         "e885e16c  ok      berlin   tux01      1185\n8774c275  ok      potsdam  tux02      1186\nc77b3c24  FAILED  berlin   tux01      1187\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *out = runs_table((struct screen){.width = rows[i].width, .is_terminal = true, .has_colour = rows[i].colour}, rows[i].status);
        assert_string_equal(out, rows[i].shown);
        free(out);
    }
}

static void a_text_extends_over_columns(void **state)
{
    static const struct listing_column columns[] = {{"a", "A", false, 0}, {"b", "BBB", true, 0}, {"c", "CCC", true, 0}, {"d", "D", true, 0}};
    struct screen screen = {.width = 20, .is_terminal = true};
    struct arena a;
    struct listing l;
    struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, 4096);
    listing_init(&l, columns, 4, &a);
    listing_text(&l, "x");
    listing_number(&l, 1, NULL);
    listing_number(&l, 22, NULL);
    listing_number(&l, 333, NULL);
    listing_text(&l, "y");
    listing_span(&l, "best", 2);
    listing_number(&l, 4, NULL);
    assert_int_equal(listing_rows(&l), 2);
    assert_int_equal(listing_render(&l, &screen, &b), 0);
    assert_string_equal(b.p, "A  BBB  CCC    D\nx    1   22  333\ny  best        4\n");
    buf_clear(&b);
    listing_csv(&l, false, &b);
    assert_string_equal(b.p, "a,b,c,d\r\nx,1,22,333\r\ny,best,,4\r\n");
    listing_deinit(&l);
    buf_deinit(&b);
    arena_deinit(&a);
}

/* What leaves a table of whole names and numbers where no column may be dropped: blanks, then the names' line, then numbers. */
static void every_table_fits_its_screen(void **state)
{
    static const struct listing_column columns[] = {
        {"name", "NAME", .whole = true}, {"a", "A", .right = true}, {"b", "B", .right = true}, {"verdict", "", .whole = true}};
    static const struct { size_t width; const char *shown; } rows[] = {
        {35, "NAME                 A   B\nvalidation_accuracy  1  22  better\n"},
        {33, "NAME                A  B\nvalidation_accuracy 1 22 better\n"},
        {24, "NAME         A  B\nvalidation_accuracy\n             1 22 better\n"},
        {18, "NAME     A\nvalidation_accuracy\n         1 better\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct screen screen = {.width = rows[i].width, .is_terminal = true};
        struct arena a;
        struct listing l;
        struct buf b;
        arena_init(&a, 0);
        buf_init(&b, 4096);
        listing_init(&l, columns, 4, &a);
        listing_text(&l, "validation_accuracy");
        listing_number(&l, 1, NULL);
        listing_number(&l, 22, NULL);
        listing_text(&l, "better");
        assert_int_equal(listing_render(&l, &screen, &b), 0);
        assert_string_equal(b.p, rows[i].shown);
        listing_deinit(&l);
        buf_deinit(&b);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_text_is_harmless_and_cut_visibly),
        cmocka_unit_test(columns_leave_a_narrow_table_and_results_stay),
        cmocka_unit_test(a_text_extends_over_columns),
        cmocka_unit_test(every_table_fits_its_screen),
        cmocka_unit_test(columns_are_aligned_and_json_has_the_same_cells),
    };
    return cmocka_run_group_tests_name("base/listing", tests, NULL, NULL);
}
