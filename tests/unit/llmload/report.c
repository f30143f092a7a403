/* report.c (test): what llmload prints for people fits the terminal, whatever was measured. */
#include "benchmarks/native/llmload/report.h"

#include "benchmarks/native/llmload/calibrate.h"
#include "benchmarks/native/llmload/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The report of 1000 requests; every latency lies between two times. */
static char *report_of(double low_ms, double high_ms, size_t columns)
{
    struct load load = {.shown_url = "http://h:1", .concurrency = {.n = 1, .piece = {{.to = 16}}}, .requests = 1000, .stream = true};
    struct outcome *o = calloc(1, sizeof *o);
    struct screen screen = {.width = columns, .is_terminal = true};
    struct err err;
    struct buf to;
    assert_non_null(o);
    assert_int_equal(metrics_init(&o->m, &err), 0);
    for (int i = 0; i < METRICS; i++)
        for (int k = 0; k < 1000; k++)
            hdr_add(&o->m.h[i], (int64_t)((low_ms + (high_ms - low_ms) * k / 1000) * 1e6));
    o->m.ended[PHASE_MEASURE][ENDING_OK] = 1000;
    o->m.first_send_ns = 1;
    o->m.last_end_ns = 2251000001;
    buf_init(&to, 1 << 16);
    report_table(&(struct report){.load = &load, .outcome = o}, (struct report_wish){.details = true, .define = true}, &screen, &to);
    assert_false(to.failed);
    metrics_deinit(&o->m);
    free(o);
    return to.p;
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;
    for (struct str rest = str_of(text); rest.p;) {
        size_t width = screen_text_width(str_cut(&rest, '\n'));
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The levels of a sweep, then the client's own error, of the same figure everywhere. */
static char *tables_of(double v, size_t columns)
{
    struct load load = {.arrivals = ARRIVALS_CLOSED};
    struct screen screen = {.width = columns, .is_terminal = true};
    struct sweep s = {.search = true, .answer = {.rate = 10, .share = 0.99}, .point_count = 2};
    struct calibration c = {.plan = {.streams = 2000}, .compared = 1234567, .shared = 4321, .events_per_s = v, .cpu_us_per_event = v};
    struct buf to;
    for (size_t i = 0; i < s.point_count; i++)
        s.points[i] = (struct saturation_point){v, v, v, v, v, v, v};
    hdr_init(&c.itl_error), hdr_init(&c.ttft), hdr_init(&c.true_ttft);
    hdr_add(&c.itl_error, (int64_t)(v * 1e6)), hdr_add(&c.ttft, (int64_t)(v * 1e6)), hdr_add(&c.true_ttft, (int64_t)(v * 1e6));
    buf_init(&to, 1 << 16);
    sweep_table(&s, &load, &screen, &to);
    calibration_table(&c, 1, &screen, &to);
    hdr_deinit(&c.itl_error), hdr_deinit(&c.ttft), hdr_deinit(&c.true_ttft);
    assert_false(to.failed);
    return to.p;
}

static void assert_fits(char *out, size_t columns)
{
    if (widest_line(out) > columns)
        fprintf(stderr, "%s", out);
    assert_true(widest_line(out) <= columns);
    free(out);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    static const double rows[][2] = {{0.4671, 1.377}, {0.000123, 0.0987}, {0.0321, 987654}, {12345, 99999}, {1e6, 1e9}};
    static const size_t widths[] = {60, 80, 120, 200};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            assert_fits(report_of(rows[i][0], rows[i][1], widths[w]), widths[w]);
            assert_fits(tables_of(rows[i][1], widths[w]), widths[w]);
        }
}

static void sixty_columns_show_every_percentile(void **state)
{
    (void)state;
    char *out = report_of(0.0321, 987654, 60);
    assert_non_null(strstr(out, "\n  latency, ms        mean    p50    p90    p95    p99    max\n"));
    assert_non_null(strstr(out, "\n  first, scheduled 493333 492713 887716 937108 976837 986666\n"));
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_line_is_wider_than_the_terminal),
                                       cmocka_unit_test(sixty_columns_show_every_percentile)};
    return cmocka_run_group_tests_name("llmload/report", tests, NULL, NULL);
}
