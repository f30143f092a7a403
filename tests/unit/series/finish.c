/* finish.c: what a series states about its repetitions. */
#include "series/finish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct series_repetition repetition_of(size_t n, const char *noisy, bool unjudged, bool warmup)
{
    return (struct series_repetition){.order = n, .repetition = n, .status = "FINISHED", .verdict = "", .reason = "", .noisy = noisy,
                                      .unjudged = unjudged, .warmup = warmup};
}

/* text: the tag of the series, "" for none. unjudged: its count of repetitions that were not judged, -1 for none. */
static void assert_disturbed(struct series_repetition *runs, size_t count, const char *text, double unjudged)
{
    static const char *const keys[] = {""};
    struct record r;
    struct series_notes n = {.sweep = {.points = 1}, .keys = keys, .count = count, .first = runs, .end = "enough"};
    struct rules_outcome outcome = {0};
    for (size_t i = 0; i + 1 < count; i++)
        runs[i].next = &runs[i + 1];
    n.last = &runs[count - 1];
    arena_init(&n.arena, 0);
    record_init(&r, "0123456789abcdef0123456789abcdef", 1);
    series_record_all(&r, &n, &outcome);
    struct str tag = record_text(&r, FACT_TAG, "benchwrap.noisy");
    assert_int_equal(tag.n, strlen(text));
    assert_memory_equal(tag.p ? tag.p : "", text, tag.n);
    assert_float_equal(record_number(&r, "series.unjudged", -1), unjudged, 0);
    record_deinit(&r);
    arena_deinit(&n.arena);
}

static void repetitions_that_were_not_judged_are_counted(void **state)
{
    struct series_repetition quiet[] = {repetition_of(1, "", false, false), repetition_of(2, "", false, false)},
                             disturbed[] = {repetition_of(1, "steal", true, true), repetition_of(1, "", false, false),
                                            repetition_of(2, "steal 3 %", false, false)},
                             some[] = {repetition_of(1, "", true, false), repetition_of(2, "steal 3 %", false, false),
                                       repetition_of(3, "", true, false), repetition_of(1, "", true, true)},
                             unknown[] = {repetition_of(1, "", true, false)};
    (void)state;
    assert_disturbed(quiet, 2, "", -1);
    assert_disturbed(disturbed, 3, "1 of 2 repetitions were disturbed; the first, repetition 2: steal 3 %", -1);
    assert_disturbed(some, 4, "1 of 3 repetitions were disturbed (2 not judged); the first, repetition 2: steal 3 %", 2);
    assert_disturbed(unknown, 1, "", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(repetitions_that_were_not_judged_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
