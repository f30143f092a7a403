/* series_values, series_notes: which number stands for a run, and what is read back of a series that was cut off. */
#include "base/fs.h"
#include "series/figures.h"
#include "series/values.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define M(key, value, unit, samples) "\"" key "\": {\"value\": " value ", \"unit\": \"" unit "\", \"direction\": \"higher\", \"samples\": " samples "}"
#define DETAIL(headline, metrics) \
    "{\"run\": {\"status\": \"FINISHED\", \"start_ms\": 5, \"end_ms\": 9}, \"tags\": {\"benchwrap.verdict\": {\"value\": \"pass\"}, " \
    "\"benchwrap.headline\": {\"value\": \"" headline "\"}}, \"metrics\": {" metrics "}}"

/* "key=value of stat unit*" per value; * marks headlines. */
static void show(const char *detail, char *to, size_t size)
{
    struct arena a;
    struct json *j = NULL;
    struct series_repetition run = {0};
    arena_init(&a, 0);
    assert_int_equal(json_parse(&j, str_of(detail), NULL, NULL), 0);
    series_values_take(&run, j, &a);
    assert_string_equal(run.status, "FINISHED");
    assert_string_equal(run.verdict, "pass");
    assert_int_equal(run.end_ms, 9);
    to[0] = 0;
    for (const struct series_run_value *v = run.values; v; v = v->next)
        snprintf(to + strlen(to), size - strlen(to), "%s%s=%g%s%s %s%s", v == run.values ? "" : "; ", v->key, v->value, v->of[0] ? " " : "", v->of, v->unit,
                 v->headline ? "*" : "");
    json_free(j);
    arena_deinit(&a);
}

static void one_value_stands_for_a_run(void **state)
{
    static const struct { const char *what, *detail, *values; } rows[] = {
        {"a single value", DETAIL("", M("rate_MB_per_s", "3", "MB_per_s", "1")), "rate_MB_per_s=3 MB_per_s"},
        {"the headline's statistic", DETAIL("bw.max", M("bw", "1", "", "4") "," M("bw.min", "1", "", "1") "," M("bw.max", "4", "", "1") "," M("bw.median", "2", "", "1")),
         "bw=4 max *"},
        {"several, none is the headline: the median",
         DETAIL("", M("bw", "1", "", "4") "," M("bw.min", "1", "", "1") "," M("bw.max", "4", "", "1") "," M("bw.median", "2", "", "1")), "bw=2 median "},
        {"one statistic beside one value", DETAIL("", M("bw", "7", "", "1") "," M("bw.min", "7", "", "1")), "bw=7 min "},
        {"a course without statistics", DETAIL("", M("loss", "7", "", "100")), ""},
        {"percentiles are figures", DETAIL("lat_us.p99", M("lat_us.p50", "7", "us", "1") "," M("lat_us.p99", "9", "us", "1")), "lat.p50_us=7 p50 us; lat.p99_us=9 p99 us*"},
        {"percentiles without unit", DETAIL("", M("depth.p50", "7", "", "1")), "depth.at_p50=7 p50 "},
        {"n and sd are not", DETAIL("", M("bw.n", "7", "", "1") "," M("bw.sd", "7", "", "1")), ""},
        {"the machine's are left out, the program's use stays",
         DETAIL("", M("load.average_1m", "7", "", "1") "," M("system/cpu_utilization_percentage", "7", "", "1") "," M("run.exit_status", "0", "", "1") "," M(
                        "run.wall_s", "2", "s", "1") "," M("noise.steal_percent", "2", "percent", "1")),
         "run.wall_s=2 s*"},
        {"with headlines the wall time is none", DETAIL("bw", M("bw", "1", "", "1") "," M("run.wall_s", "2", "s", "1")), "bw=1 *; run.wall_s=2 s"},
        {"what is no number", DETAIL("", M("bw", "\"nan\"", "", "1")), ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[1000];
        show(rows[i].detail, got, sizeof got);
        if (strcmp(got, rows[i].values) != 0)
            fail_msg("%s: got \"%s\", wanted \"%s\"", rows[i].what, got, rows[i].values);
    }
}

static const char HEAD[] = "{\"format\":1,\"sweep\":[{\"name\":\"n\",\"integers\":true,\"values\":[\"1\",\"2\"]}],\"points\":[\"n_1\",\"n_2\"]}\n";
#define RUN(order, point, warmup, exit, status, value) "{\"order\":" order ",\"point\":" point ",\"repetition\":1,\"warmup\":" warmup ",\"exit\":" exit \
    ",\"run\":\"0123456789abcdef0123456789abcdef\",\"status\":\"" status "\",\"values\":[{\"key\":\"bw\",\"unit\":\"\",\"headline\":true,\"value\":" value "}]}\n"

/* The notes of a text in a file; NULL text: none. */
static int read_notes(const char *text, struct series_notes *ret)
{
    char folder[] = "/tmp/benchwrap-unit.XXXXXX";
    assert_non_null(mkdtemp(folder));
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    if (text)
        assert_int_equal(fs_create(dir, SERIES_NOTES, str_of(text), 0600, NULL), 0);
    struct folder in = folder_disk(dir);
    int rc = series_notes_read(&in, ret, NULL);
    unlinkat(dir, SERIES_NOTES, 0);
    close(dir);
    rmdir(folder);
    return rc;
}

static struct buf joined(const char *const *parts)
{
    struct buf b;
    buf_init(&b, 100000);
    for (; *parts; parts++)
        buf_puts(&b, *parts);
    return b;
}

static void only_whole_runs_that_finished_count(void **state)
{
    const char *const parts[] = {HEAD, RUN("1", "0", "true", "0", "FINISHED", "100"), RUN("2", "0", "false", "0", "FINISHED", "1"),
                                 RUN("3", "0", "false", "3", "FAILED", "200"), RUN("4", "0", "false", "0", "FAILED", "300"), RUN("5", "1", "false", "0", "FINISHED", "7"),
                                 RUN("6", "0", "false", "0", "FINISHED", "3"), RUN("7", "2", "false", "0", "FINISHED", "900"), RUN("8", "0", "false", "1", "FINISHED", "400"), "{\"order\":9,\"point\":0,\"war", NULL};
    struct buf text = joined(parts);
    struct series_notes n;
    (void)state;
    assert_int_equal(read_notes(text.p, &n), 0);
    assert_int_equal(n.count, 7); /* no point 2 */
    assert_string_equal(n.end, "");
    const struct series_figure *f = series_figures(&n);
    assert_non_null(f);
    assert_int_equal(f->stats.n, 2);
    assert_true(f->stats.mean == 2 && f->stats.max == 3 && f->headline && f->point == 0);
    assert_int_equal(f->next->stats.n, 1);
    assert_true(f->next->point == 1 && f->next->stats.median == 7 && !f->next->next);
    assert_false(series_stable(&n, 1, 1, 0.5, NULL));
    series_notes_deinit(&n);
    buf_deinit(&text);
}

static void notes_that_are_none_are_refused(void **state)
{
    static const char *const texts[] = {NULL, "", "\n", "{}\n", "{\"format\":2,\"sweep\":[],\"points\":[\"\"]}\n", "{\"format\":1,\"sweep\":[],\"points\":[]}\n",
                                        "{\"format\":1,\"sweep\":[{\"name\":\"n\",\"values\":[\"1\",\"2\"]}],\"points\":[\"\"]}\n", "{\"format\":1,", "nonsense"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct series_notes n;
        if (read_notes(texts[i], &n) == 0)
            fail_msg("%zu: taken", i);
        series_notes_deinit(&n);
    }
}

static void what_is_written_is_read_back(void **state)
{
    struct arena a;
    struct series_run_value v = {.key = "bw_s", .of = "max", .unit = "s", .direction = DIR_LOWER, .value = 0.1, .headline = true};
    struct series_repetition run = {.order = 3, .point = 1, .repetition = 2, .exit = 137, .id = "0123456789abcdef0123456789abcdef", .status = "KILLED", .verdict = "fail",
                             .reason = "a \"b\"\n\xff", .noisy = "", .unjudged = true, .start_ms = 1, .end_ms = 2, .values = &v};
    struct series_notes n = {.sweep = {.points = 1}}, back;
    struct buf b;
    (void)state;
    arena_init(&a, 0);
    buf_init(&b, 100000);
    sweep_add(&n.sweep, "x=a b,{,\"", &a, NULL);
    n.keys = sweep_keys(&n.sweep, &a);
    series_head_print(&n, &b);
    series_run_print(&run, &b);
    series_end_print("enough", &b);
    assert_int_equal(read_notes(b.p, &back), 0);
    assert_string_equal(back.sweep.axes[0].values[2], "\"");
    assert_string_equal(back.end, "enough");
    assert_int_equal(back.count, 1);
    assert_true(back.first->unjudged);
    assert_true(back.first->exit == 137 && back.first->order == 3 && back.first->repetition == 2 && !back.first->warmup);
    assert_string_equal(back.first->reason, "a \"b\"\n\xef\xbf\xbd");
    assert_true(back.first->values->value == 0.1 && back.first->values->direction == DIR_LOWER);
    assert_string_equal(back.first->values->of, "max");
    series_notes_deinit(&back);
    buf_deinit(&b);
    arena_deinit(&a);
}

static void width_is_relative_to_the_mean(void **state)
{
    double v[] = {-10, -11, -12, -11}, z[] = {0, 0, 0}, w[] = {-1, 0, 1};
    struct stats s;
    (void)state;
    stats_of(v, 4, &s);
    assert_true(fabs(series_relative(&s) - 3.18244630528371 * s.sd / 2 / 11) < 1e-9);
    stats_of(z, 3, &s);
    assert_true(series_relative(&s) == 0);
    stats_of(w, 3, &s);
    assert_true(series_relative(&s) == -1); /* no mean to be relative to */
    stats_of(v, 2, &s);
    assert_true(series_relative(&s) == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_stands_for_a_run),     cmocka_unit_test(only_whole_runs_that_finished_count), cmocka_unit_test(notes_that_are_none_are_refused),
        cmocka_unit_test(what_is_written_is_read_back), cmocka_unit_test(width_is_relative_to_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
