/* pages_group.c (test): leaderboards: ranks, ties, directions, missing values; the newest run against the earlier ones. */
#include "pages/pages_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct page_facts nothing = {"0", NULL, 0};

static struct page_run result_of(const char *site, double value, const char *better, const char *status)
{
    struct page_run run = {.id = "", .experiment = "io", .name = "", .status = status, .verdict = "", .reason = "", .experiment_id = "1", .stamp = "", .site = site, .cluster = "", .partition = "",
                           .machine = "", .version = "", .measured = "m", .measurement = "m-1", .system = site, .problem = "", .stale = "", .noisy = "", .warning = "", .unjudged = "", .inputs = &nothing, .conditions = &nothing, .value_count = value > 0};
    run.values[0] = (struct page_value){"v", "s", better, value};
    return run;
}

static void board_of(const char *better, const struct page_run *runs, size_t n, struct arena *a, struct page_board *ret)
{
    static struct page_value metric;
    struct page_groups groups;
    struct err err = {0};
    const struct page_run **all = arena_get(a, n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = &runs[i];
    metric = (struct page_value){"v", "s", better, 0};
    assert_int_equal(page_groups_by(all, n, page_by_measurement, a, &groups, &err), 0);
    assert_int_equal(groups.count, 1);
    assert_int_equal(page_board_of(&groups.list[0], all, n, &metric, a, ret, &err), 0);
}

static void ranks_and_ties(void **state)
{
    (void)state;
    struct page_run runs[] = {
        result_of("a", 10, "lower", "FINISHED"), result_of("a", 10.1, "lower", "FINISHED"), result_of("a", 10.2, "lower", "FINISHED"), result_of("b", 10.05, "lower", "FINISHED"),
        result_of("b", 10.15, "lower", "FINISHED"), result_of("b", 10.25, "lower", "FINISHED"), result_of("c", 20, "lower", "FINISHED"), result_of("c", 20.1, "lower", "FINISHED"),
        result_of("c", 20.2, "lower", "FINISHED"), result_of("d", 0, "lower", "FAILED"), result_of("e", 1, "lower", "FAILED")};
    struct page_board b;
    struct arena a;
    arena_init(&a, 0);
    runs[1].noisy = "first"; /* newest first */
    runs[2].noisy = "second";
    runs[2].warning = "w";
    runs[0].unjudged = "too short";
    runs[9].noisy = "of a run without a value";
    board_of("lower", runs, sizeof runs / sizeof *runs, &a, &b);
    assert_int_equal(b.count, 5);
    assert_string_equal(b.places[0].site, "a");
    assert_int_equal(b.places[0].rank, 1);
    assert_int_equal(b.places[1].rank, 1); /* b cannot be told from a */
    assert_int_equal(b.places[2].rank, 3);
    assert_true(b.places[2].median == 20.1 && b.places[2].best == 20);
    assert_true(b.places[0].disturbed == 2 && b.places[0].warned == 1 && b.places[1].disturbed == 0);
    assert_string_equal(b.places[0].noisy, "first");
    assert_string_equal(b.places[0].warning, "w");
    assert_int_equal(b.places[0].unjudged, 1);
    assert_string_equal(b.places[0].unjudged_why, "too short");
    assert_true(!b.places[3].system && !b.places[4].system && b.places[4].failed == 1 && !b.places[4].rank); /* a failed run is no result, however good */
    board_of("higher", runs, sizeof runs / sizeof *runs, &a, &b);
    assert_string_equal(b.places[0].site, "c");
    board_of("", runs, sizeof runs / sizeof *runs, &a, &b);
    assert_true(!b.is_ranked && b.places[0].rank == 0);
    assert_string_equal(b.places[0].site, "a");
    arena_deinit(&a);
}

static void news_of_the_newest(void **state)
{
    (void)state;
    const double steady[] = {100.1, 100, 101, 99, 100.5, 99.5, 100}, slow[] = {80, 100, 101, 99, 100.5, 99.5, 100}, few[] = {80, 100, 101, 99, 100};
    assert_int_equal(page_news_of(steady, 7, "higher").change, PAGE_CHANGE_NONE);
    assert_int_equal(page_news_of(slow, 7, "higher").change, PAGE_CHANGE_WORSE);
    assert_int_equal(page_news_of(slow, 7, "lower").change, PAGE_CHANGE_BETTER);
    assert_int_equal(page_news_of(slow, 7, "").change, PAGE_CHANGE_FEW);
    assert_int_equal(page_news_of(few, 5, "higher").change, PAGE_CHANGE_FEW);
    assert_int_equal(page_news_of(few, 0, "higher").change, PAGE_CHANGE_FEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_and_ties), cmocka_unit_test(news_of_the_newest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
