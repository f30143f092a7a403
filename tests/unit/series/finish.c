/* finish.c: what a series states about its repetitions. */
#include "base/fs.h"
#include "series/finish.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

/* A line that is cut off in the middle of the notes is a run that the statistics lack; the last
 * one may be cut off by a kill. */
static void damaged_lines_are_counted(void **state)
{
#define RUN(order) "{\"order\":" #order ",\"point\":0,\"repetition\":" #order ",\"exit\":0,\"run\":\"0123456789abcdef0123456789abcdef\"," \
                   "\"status\":\"FINISHED\",\"values\":[]}\n"
    static const char head[] = "{\"format\":1,\"sweep\":[],\"points\":[\"\"]}\n";
    static const struct {
        const char *lines;
        size_t runs, damaged;
        const char *warning;
    } rows[] = {{RUN(1) RUN(2), 2, 0, ""},
                {RUN(1) "{\"order\":2,\"po", 1, 0, ""},
                {RUN(1) "{\"order\":2,\"po" RUN(3) RUN(4), 2, 1, "1 line of repetitions.jsonl cannot be read: the statistics lack the runs there"},
                {RUN(1) "x\n\n" RUN(4), 2, 2, "2 lines of repetitions.jsonl cannot be read: the statistics lack the runs there"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[] = "/tmp/benchwrap-unit.XXXXXX", text[2000];
        struct series_notes notes;
        struct rules_outcome outcome = {0};
        struct record r;
        struct str warning = STR("");
        assert_non_null(mkdtemp(path));
        int dir = open(path, O_RDONLY | O_DIRECTORY);
        snprintf(text, sizeof text, "%s%s", head, rows[i].lines);
        assert_int_equal(fs_create(dir, SERIES_NOTES, str_of(text), 0600, NULL), 0);
        struct folder in = folder_disk(dir);
        assert_int_equal(series_notes_read(&in, &notes, NULL), 0);
        assert_int_equal(notes.count, rows[i].runs);
        assert_int_equal(notes.damaged, rows[i].damaged);
        record_init(&r, "0123456789abcdef0123456789abcdef", 1);
        series_record_all(&r, &notes, &outcome);
        for (const struct fact *f = r.first; f; f = f->next)
            warning = f->kind == FACT_WARNING ? f->text : warning;
        assert_true(str_is(warning, rows[i].warning));
        record_deinit(&r);
        series_notes_deinit(&notes);
        close(dir);
        fs_remove_tree(AT_FDCWD, path, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_lines_are_counted), cmocka_unit_test(repetitions_that_were_not_judged_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
