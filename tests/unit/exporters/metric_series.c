/* Names and values of series in base units, the labels of runs, and the text that Prometheus reads. */
#include "exporters/metric_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void test_names(void **state)
{
    static const struct {
        const char *key, *unit, *family;
        double value, base;
    } rows[] = {
        {"write.bw_MiB_per_s.max", "MiB_per_s", "benchwrap_write_bw_max_bytes_per_second", 1.5, 1572864},
        {"latency_us.p99", "us", "benchwrap_latency_p99_seconds", 3.5, 3.5e-06},
        {"energy.gpu_J", "J", "benchwrap_energy_gpu_joules", 7, 7},
        {"noise.steal_percent", "percent", "benchwrap_noise_steal_ratio", 12.5, 0.125},
        {"net_bit_per_s", "bit_per_s", "benchwrap_net_bytes_per_second", 8, 1},
        {"run.exit_status", "", "benchwrap_run_exit_status", 3, 3},
        {"gpu.count", "", "benchwrap_gpu_count_value", 4, 4},
        {"Loss/train total", "", "benchwrap_loss_train_total_value", 1, 1},
        {"size_mb.x", "", "benchwrap_sizemb_x", 1, 1},
        {"a.b_s.n", "", "benchwrap_abs_n", 2, 2},
        {"time_min", "min", "benchwrap_time_seconds", 2, 120},
        {"x", "GTEPS", "benchwrap_x_edges_per_second", 2, 2e9},
    };
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct metric_name n;
        assert_true(metric_series_name(rows[i].key, rows[i].unit, &a, &n));
        assert_string_equal(n.family, rows[i].family);
        assert_true(metric_series_value(&n, rows[i].value) == rows[i].base);
    }
    arena_deinit(&a);
}

static void test_numbers(void **state)
{
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 200);
    const double values[] = {0.1, 1e300, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        metric_series_number(&b, values[i]);
        buf_putc(&b, ' ');
    }
    assert_string_equal(b.p, "0.1 1e+300 +Inf -Inf NaN ");
}

static void test_text(void **state)
{
    const struct tree_sample one[] = {{1500, 0, 0.5}, {61001, 1, NAN}};
    struct exporter_series s[] = {
        {.family = "f_seconds", .unit = "seconds", .help = "Help.", .labels = {{"a", "x\"y\\z\n"}, {"run", "1"}}, .n_labels = 2, .samples = one, .count = 2},
        {.family = "g", .unit = "", .help = "", .samples = one, .count = 1},
    };
    const struct metric_set set = {.list = s, .count = 2};
    static const char *const no_run[] = {"run", NULL};
    struct buf b CLEANUP_BUF;
    (void)state;
    buf_init(&b, 2000);
    metric_text_put(&set, METRIC_TEXT_BACKFILL, no_run, &b);
    assert_string_equal(b.p, "# TYPE f_seconds gauge\n# UNIT f_seconds seconds\n# HELP f_seconds Help.\n"
                             "f_seconds{a=\"x\\\"y\\\\z\\n\"} 0.5 1.500\nf_seconds{a=\"x\\\"y\\\\z\\n\"} NaN 61.001\n"
                             "# TYPE g gauge\n# HELP g \ng 0.5 1.500\n# EOF\n");
    buf_clear(&b);
    s[0].count = 1;
    metric_text_put(&set, METRIC_TEXT_PLAIN, NULL, &b);
    assert_string_equal(b.p, "# HELP f_seconds Help.\n# TYPE f_seconds gauge\nf_seconds{a=\"x\\\"y\\\\z\\n\",run=\"1\"} 0.5\n"
                             "# HELP g \n# TYPE g gauge\ng 0.5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
