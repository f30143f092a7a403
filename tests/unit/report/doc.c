/* doc.c and its writers: every block in each format, with foreign text escaped. */
#include "report/doc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define EVIL "<b>\\x{1}_$ | `@me`"

static void fill(struct doc *d)
{
    static const struct doc_column columns[] = {{EVIL}, {"n", "<u>", true}};
    static struct doc_card cards[] = {{.name = EVIL, .value = "1", .unit = "<u>", .more = EVIL, .style = STYLE_GOOD}};
    static const double x[] = {1, 2};
    static const struct chart_series series = {.name = EVIL, .mark = CHART_CURVE, .x = x, .y = x, .n = 2};
    static const struct chart chart = {.title = EVIL, .series = &series, .count = 1};
    d->title = EVIL;
    d->foot = EVIL;
    doc_answer(d, STYLE_BAD, EVIL, EVIL);
    doc_cards(d, cards, 1);
    doc_heading(d, EVIL);
    doc_text(d, STYLE_DIM, EVIL);
    doc_note(d, EVIL);
    doc_command(d, EVIL);
    doc_chart(d, &chart);
    doc_fold(d, EVIL);
    struct doc_grid *t = doc_table(d, EVIL, columns, 2);
    doc_cell_text(t, STYLE_BAD, EVIL);
    doc_cell_number(t, STYLE_PLAIN, 12.5, "12.5");
    doc_cell_text(t, STYLE_PLAIN, NULL);
    doc_cell_number(t, STYLE_GOOD, NAN, NULL);
    assert_int_equal(doc_rows(t), 2);
    doc_fact(doc_facts(d, EVIL), EVIL, EVIL);
    doc_unfold(d);
    doc_output(d, STR(EVIL "\n\n\x1b[31mred\n"));
}

static void each_format_escapes(void **state)
{
    static int (*const writers[])(const struct doc *, struct buf *) = {doc_html, doc_markdown, doc_latex};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct arena a;
        struct buf b CLEANUP_BUF;
        arena_init(&a, 0);
        buf_init(&b, 1 << 20);
        struct doc d = {.a = &a};
        fill(&d);
        assert_int_equal(writers[i](&d, &b), 0);
        assert_true(str_valid_utf8(buf_text(&b)));
        assert_null(strchr(b.p, '\x1b'));
        assert_null(strstr(b.p, "<b>"));
        assert_null(strstr(b.p, "<u>"));
        if (i == 1)
            assert_null(strstr(b.p, "@me"));
        if (i == 2)
            assert_null(strstr(b.p, "\\x{1}"));
        assert_non_null(strstr(b.p, "12.5"));
        arena_deinit(&a);
    }
}

static void a_page_is_complete(void **state)
{
    struct arena a;
    struct buf b CLEANUP_BUF;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, 1 << 20);
    struct doc d = {.a = &a};
    fill(&d);
    assert_int_equal(doc_html(&d, &b), 0);
    assert_true(str_starts(buf_text(&b), "<!DOCTYPE html>") && str_ends(buf_text(&b), "</html>\n"));
    assert_non_null(strstr(b.p, "default-src 'none'"));
    assert_non_null(strstr(b.p, "data-v=\"12.5\""));
    assert_non_null(strstr(b.p, "<svg class=\"chart\""));
    assert_non_null(strstr(b.p, "<details><summary>"));
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_format_escapes), cmocka_unit_test(a_page_is_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
