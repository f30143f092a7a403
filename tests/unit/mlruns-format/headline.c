/* headline.c: which metrics a table shows of a run, and their values; whether it shows the verdict. */
#include "mlruns-format/headline.h"
#include "base/folder.h"
#include "mlruns-format/no_metrics.h"
#include "mlruns-format/verdict.h"
#include "tests/unit/place.h"

#include <string.h>

#define RUN "1/a0000000000040008000000000000001"
#define PARENT "1/b0000000000040008000000000000002"

static void put(struct place *p, const char *path, const char *text)
{
    char way[200];
    snprintf(way, sizeof way, "%s", path);
    *strrchr(way, '/') = 0;
    assert_int_equal(fs_mkdirs(p->dir, way, 0777, NULL), 0);
    assert_int_equal(fs_write(p->dir, path, str_of(text), 0666, false, NULL), 0);
}

/* The headline metrics of the run as a table shows them. */
static const char *shown(struct place *p, size_t max)
{
    static struct buf b;
    struct folder tree = folder_disk(p->dir);
    struct tree_run run = {.path = "mlruns/" RUN};
    struct headline list[HEADLINES_MAX];
    struct arena a;
    arena_init(&a, 0);
    buf_deinit(&b);
    buf_init(&b, 4096);
    size_t n = headlines_of(&tree, &run, max, &a, list);
    for (size_t i = 0; i < n; i++)
        headline_show(&b, &list[i]);
    arena_deinit(&a);
    return b.p ? b.p : "";
}

static double value_of(struct place *p, const char *key, bool found)
{
    struct folder tree = folder_disk(p->dir);
    struct tree_run run = {.path = "mlruns/" RUN};
    struct arena a;
    double value = -1;
    arena_init(&a, 0);
    assert_int_equal(headline_value(&tree, &run, key, &a, &value), found);
    arena_deinit(&a);
    return value;
}

static void a_value_is_the_median_or_the_last_step(void **state)
{
    struct place *p = *state;
    put(p, RUN "/metrics/bw", "10 4 0\n11 1 1\n12 2 2\n");
    assert_true(value_of(p, "bw", true) == 2);
    put(p, RUN "/metrics/bw", "10 4 0\n11 1 1\n12 inf 2\n"); /* of the finite ones */
    assert_true(value_of(p, "bw", true) == 2.5);
    put(p, RUN "/metrics/bw.max", "10 4 7\n11 1 1\n12 2 2\n");
    assert_true(value_of(p, "bw.max", true) == 4);
    put(p, RUN "/metrics/bw.max", "12 4 1\n11 3 1\nnot a line\n13 5\n"); /* of one step the latest; no step is 0 */
    assert_true(value_of(p, "bw.max", true) == 4);
    put(p, RUN "/metrics/bw.max", "x y z\n");
    value_of(p, "bw.max", false);
    value_of(p, "absent", false);
}

static void a_long_series_is_read_completely(void **state)
{
    struct place *p = *state;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 801; i++)
        buf_printf(&b, "%d %d %d\n", 1000 + i, i < 401 ? 10 : 20, i);
    assert_true(b.n > 4096);
    put(p, RUN "/metrics/bw", b.p);
    assert_true(value_of(p, "bw", true) == 10);
    put(p, RUN "/metrics/bw.max", b.p); /* a statistic: the value of the greatest step */
    assert_true(value_of(p, "bw.max", true) == 20);
}

static void the_tag_names_them_and_wall_time_is_last(void **state)
{
    struct place *p = *state;
    put(p, RUN "/metrics/run.wall_s", "10 3 0\n");
    put(p, RUN "/metrics/a_MiB_per_s", "10 7 0\n");
    put(p, RUN "/metrics/b", "10 8 0\n");
    put(p, RUN "/tags/benchwrap.headline", "run.wall_s gone ../b a_MiB_per_s b");
    assert_string_equal(shown(p, 8), "a 7 MiB/s, b 8, run.wall 3 s");
    assert_string_equal(shown(p, 2), "a 7 MiB/s, b 8");
    put(p, RUN "/tags/benchwrap.headline", "gone");
    assert_string_equal(shown(p, 8), ""); /* named, so others are not chosen */
}

static void without_the_tag_statistics_come_first(void **state)
{
    struct place *p = *state;
    put(p, RUN "/metrics/run.wall_s", "10 3 0\n"); /* about the run */
    put(p, RUN "/metrics/c", "10 3 0\n");
    put(p, RUN "/metrics/a", "10 1 0\n");
    put(p, RUN "/metrics/.hidden", "10 1 0\n");
    assert_string_equal(shown(p, 8), "a 1, c 3");
    put(p, RUN "/metrics/a.mean", "10 2 0\n");
    assert_string_equal(shown(p, 8), "a.mean 2");
    put(p, RUN "/metrics/c.median", "10 4 0\n");
    put(p, RUN "/metrics/b.median", "10 5 0\n");
    assert_string_equal(shown(p, 8), "b.median 5, c.median 4");
    assert_string_equal(shown(p, 1), "b.median 5");
}

static void the_curve_of_a_sweep_is_no_headline(void **state)
{
    struct place *p = *state;
    put(p, RUN "/metrics/a.median", "10 1 1\n11 2 2\n");
    put(p, RUN "/tags/benchwrap.headline", "a.median");
    assert_string_equal(shown(p, 8), "a.median 2");
    put(p, RUN "/params/series.points", "1\n");
    assert_string_equal(shown(p, 8), "a.median 2");
    put(p, RUN "/params/series.points", "2\n");
    assert_string_equal(shown(p, 8), "");
    put(p, RUN "/metrics/a.median", "10 1 1\n");
    assert_string_equal(shown(p, 8), "a.median 1");
}

static void a_column_is_the_median_of_several(void **state)
{
    struct place *p = *state;
    struct folder tree = folder_disk(p->dir);
    struct tree_run run = {.path = "mlruns/" RUN};
    struct arena a;
    arena_init(&a, 0);
    put(p, RUN "/metrics/one", "10 1 0\n");
    put(p, RUN "/metrics/two", "10 1 0\n11 2 1\n");
    assert_string_equal(headline_column(&tree, &run, "one", &a), "one");
    assert_string_equal(headline_column(&tree, &run, "two", &a), "two.median");
    assert_string_equal(headline_column(&tree, &run, "two.max", &a), "two.max");
    put(p, RUN "/tags/benchwrap.repetition", "1");
    assert_string_equal(headline_column(&tree, &run, "one", &a), "one"); /* without a parent run */
    put(p, RUN "/tags/mlflow.parentRunId", strchr(PARENT, '/') + 1);
    assert_string_equal(headline_column(&tree, &run, "one", &a), "one.median");
    put(p, PARENT "/params/series.points", "3"); /* a point of a sweep */
    assert_string_equal(headline_column(&tree, &run, "one", &a), "one");
    arena_deinit(&a);
}

static void a_verdict_is_shown_where_it_was_judged(void **state)
{
    struct place *p = *state;
    struct folder tree = folder_disk(p->dir);
    struct tree_run run = {.path = "mlruns/" RUN};
    struct arena a;
    arena_init(&a, 0);
    assert_null(verdict_shown(&tree, &run, &a));
    put(p, RUN "/tags/benchwrap.verdict", "none");
    assert_null(verdict_shown(&tree, &run, &a));
    put(p, RUN "/tags/benchwrap.verdict", "fail");
    assert_string_equal(verdict_shown(&tree, &run, &a), "fail");
    put(p, RUN "/tags/benchwrap.verdict", "pass");
    assert_null(verdict_shown(&tree, &run, &a));
    put(p, RUN "/artifacts/benchwrap.json", "{\"references\": [{\"verdict\": \"no reference\"}]}");
    assert_null(verdict_shown(&tree, &run, &a));
    put(p, RUN "/artifacts/benchwrap.json", "{\"references\": [{\"verdict\": \"no reference\"}, {\"verdict\": \"pass\"}, {}]}");
    assert_string_equal(verdict_shown(&tree, &run, &a), "pass");
    struct json *detail = NULL;
    assert_int_equal(json_parse(&detail, STR("{\"references\": [{\"verdict\": \"no reference\"}, {\"verdict\": \"pass\"}, {}]}"), NULL, NULL), 0);
    assert_int_equal(verdict_judged(detail), 2);
    json_free(detail);
    arena_deinit(&a);
}

static void the_reason_without_metrics_is_the_first(void **state)
{
    struct json *detail = NULL;
    (void)state;
    assert_true(str_is(no_metrics_in(STR("no metrics: no rules")), "no rules"));
    assert_null(no_metrics_in(STR("no metrics:")).p);
    assert_null(no_metrics_of(NULL));
    assert_int_equal(json_parse(&detail, STR("{\"warnings\": [{\"text\": \"other\"}, {\"text\": \"no metrics: a\"}, {\"text\": \"no metrics: b\"}]}"), NULL, NULL), 0);
    assert_string_equal(no_metrics_of(detail), "a");
    json_free(detail);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_begin, place_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_value_is_the_median_or_the_last_step), IN_PLACE(a_long_series_is_read_completely), IN_PLACE(the_tag_names_them_and_wall_time_is_last),
        IN_PLACE(without_the_tag_statistics_come_first), IN_PLACE(the_curve_of_a_sweep_is_no_headline), IN_PLACE(a_column_is_the_median_of_several),
        IN_PLACE(a_verdict_is_shown_where_it_was_judged), cmocka_unit_test(the_reason_without_metrics_is_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
