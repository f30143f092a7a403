/* pages_index.c (test): the index of the pages reads back equal; what is cut or changed is no index. */
#include "pages/pages_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct page_fact facts[] = {{"cpu.model", "a\tb\nc\\d"}, {"empty", ""}};
static const struct page_facts inputs = {"i1", facts, 2}, conditions = {"c1", NULL, 0};

static struct page_run run_of(const char *id)
{
    struct page_run run = {.id = id, .experiment = "io", .name = "\\t", .status = "FINISHED", .verdict = "", .reason = "", .experiment_id = "1", .start_ms = -5, .stamp = "x", .site = "a",
                           .cluster = "", .partition = "", .machine = "m", .version = "1", .measured = "1", .system = "2", .problem = "", .stale = "1 of 4\tignored", .noisy = "a\\b", .warning = "w", .unjudged = "too short", .inputs = &inputs, .conditions = &conditions,
                           .value_count = 1, .is_warmup = true};
    run.values[0] = (struct page_value){"bw", "MB_per_s", "higher", 0.1};
    return run;
}

static void reads_back_equal(void **state)
{
    (void)state;
    struct page_run runs[] = {run_of("aa"), run_of("bb")};
    struct page_data data = {runs, 2, NULL}, got;
    struct arena a;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    arena_init(&a, 0);
    pages_index_print(&data, &b);
    assert_true(pages_index_parse(buf_text(&b), &a, &got));
    assert_int_equal(got.count, 2);
    assert_string_equal(got.runs[1].id, "bb");
    assert_string_equal(got.runs[0].name, "\\t");
    assert_string_equal(got.runs[0].stale, "1 of 4\tignored");
    assert_string_equal(got.runs[0].noisy, "a\\b");
    assert_string_equal(got.runs[0].warning, "w");
    assert_string_equal(got.runs[0].unjudged, "too short");
    assert_string_equal(page_fact_value(got.runs[0].inputs, "cpu.model"), "a\tb\nc\\d");
    assert_string_equal(page_fact_value(got.runs[0].inputs, "empty"), "");
    assert_ptr_equal(got.runs[0].inputs, got.runs[1].inputs);
    assert_true(got.runs[0].start_ms == -5 && got.runs[0].is_warmup && !got.runs[0].is_parent && got.runs[0].values[0].value == 0.1);
    for (size_t n = 0; n < b.n; n++) { /* cut anywhere, or one byte changed */
        struct page_data cut;
        assert_false(pages_index_parse(str_sub(buf_text(&b), 0, n), &a, &cut));
        assert_int_equal(cut.count, 0);
        b.p[n] ^= 1;
        assert_false(pages_index_parse(buf_text(&b), &a, &cut));
        b.p[n] ^= 1;
    }
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_back_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
