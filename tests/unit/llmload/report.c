/* report.c (test): what llmload prints for people fits the terminal, whatever was measured. */
#include "benchmarks/native/llmload/report_parts.h"

#include "benchmarks/native/llmload/calibrate.h"
#include "benchmarks/native/llmload/steady.h"
#include "benchmarks/native/llmload/sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The report of 1000 requests; every latency lies between two times. */
static char *report_of(double low_ms, double high_ms, size_t columns)
{
    struct load load = {.shown_url = "http://h:1", .concurrency = {.n = 1, .piece = {{.to = 16}}}, .requests = 1000, .stream = true};
    struct outcome *o = calloc(1, sizeof *o);
    struct prompt_source prompts = {
        .name = "rows", .warning = "2 of 5 rows of the data set were skipped, the first in line 3: its text holds a NUL (\\u0000)"};
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
    report_table(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, (struct report_wish){.details = true, .define = true},
                 &screen, &to);
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
    struct load_sweep s = {
        .search = true, .answer = {.rate = 10, .missed = 11, .share = 0.99}, .point_count = 2, .late = {true}, .failed = {true, true}};
    struct calibration c = {.plan = {.streams = 2000}, .compared = 1234567, .shared = 4321, .events_per_s = v, .cpu_us_per_event = v};
    struct buf to;
    for (size_t i = 0; i < s.point_count; i++)
        s.points[i] = (struct saturation_point){v, v, v, v, v, v, v};
    hdr_init(&c.itl_error), hdr_init(&c.ttft), hdr_init(&c.true_ttft);
    hdr_add(&c.itl_error, (int64_t)(v * 1e6)), hdr_add(&c.ttft, (int64_t)(v * 1e6)), hdr_add(&c.true_ttft, (int64_t)(v * 1e6));
    buf_init(&to, 1 << 16);
    sweep_table(&s, &load, &screen, &to);
    s.search = false, s.high[0] = s.high[1] = v, s.low[0] = s.low[1] = NAN;
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

/* A mean over the known times alone is none of all. */
static void a_mean_of_a_part_is_missing(void **state)
{
    struct load load = {.shown_url = "http://h:1", .concurrency = {.n = 1, .piece = {{.to = 16}}}, .requests = 100, .stream = true};
    struct outcome *o = calloc(1, sizeof *o);
    struct prompt_source prompts = {.name = "rows"};
    struct metrics *m = &o->m;
    struct err err;
    struct buf to CLEANUP_BUF;
    (void)state;
    assert_int_equal(metrics_init(m, &err), 0);
    hdr_add_many(&m->h[METRIC_TTFT], 100000000, 90);
    hdr_add_open(&m->h[METRIC_TTFT], 900000000, 10);
    hdr_add_many(&m->h[METRIC_ITL], 10000000, 90); /* the gaps of 10 late requests share stamps, their sum is known to 0.5 % */
    hdr_add_open(&m->h[METRIC_ITL], 10000000, 10);
    m->itl_all = 100, m->itl_sum_ns = 1e9, m->itl_unknown_ns = 5e6;
    m->ended[PHASE_MEASURE][ENDING_OK] = 100;
    buf_init(&to, 1 << 20);
    struct json_out j = json_begin(&to, JSON_TIGHT, '{');
    report_json(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, &j);
    assert_non_null(strstr(to.p, "\"mean_ttft_ms\":null"));
    assert_non_null(strstr(to.p, "\"n\":90,\"not_known\":10,\"known_alone\":\"sd and min\",\"mean_reason\":\"times that are not known could"));
    assert_non_null(strstr(to.p, "\"mean_itl_ms\":10,"));
    m->itl_unknown_ns = 2e7;
    buf_clear(&to);
    report_json(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, &j);
    assert_non_null(strstr(to.p, "\"mean_itl_ms\":null"));
    buf_clear(&to); /* the table says in one sentence what is missing, and why */
    report_table(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, (struct report_wish){0},
                 &(struct screen){.width = 200}, &to);
    assert_non_null(strstr(to.p, "- : p95 needs 130 values, p99 needs 662 values; times that are not known do not count\n"
                                 "  - : \"first token\": 10 of 100 times are not known, and mean, p90 and max may depend on them\n"));
    metrics_deinit(m);
    free(o);
}

/* So many gaps and first tokens are not known, some of the gaps because of late reads. */
static struct outcome *partly_known(uint64_t first_open, uint64_t gaps_open, uint64_t gaps_late)
{
    struct outcome *o = calloc(1, sizeof *o);
    struct err err;
    assert_non_null(o);
    struct metrics *m = &o->m;
    assert_int_equal(metrics_init(m, &err), 0);
    static const enum metric firsts[] = {METRIC_TTFT, METRIC_TTFT_SCHED};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        hdr_add_many(&m->h[firsts[i]], 100000000, 1000 - first_open);
        hdr_add_open(&m->h[firsts[i]], 900000000, first_open);
    }
    hdr_add_many(&m->h[METRIC_ITL], 10000000, 3000 - gaps_open);
    hdr_add_open(&m->h[METRIC_ITL], 90000000, gaps_open);
    hdr_add_many(&m->h[METRIC_E2EL], 200000000, 1000);
    m->itl_all = 3000, m->itl_sum_ns = 3e10, m->itl_shared = gaps_open, m->itl_late = gaps_late, m->first_unknown = first_open;
    m->ended[PHASE_MEASURE][ENDING_OK] = 1000;
    return o;
}

static char *table_of(struct outcome *o, struct report_wish wish)
{
    struct load load = {.shown_url = "http://h:1", .concurrency = {.n = 1, .piece = {{.to = 16}}}, .requests = 1000, .stream = true};
    struct prompt_source prompts = {.name = "rows"};
    struct buf to;
    buf_init(&to, 1 << 20);
    report_table(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, wish, &(struct screen){.width = 400}, &to);
    assert_false(to.failed);
    metrics_deinit(&o->m);
    free(o);
    return to.p;
}

static void assert_lines(char *text, const char *const lines[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strstr(text, lines[i]))
            fail_msg("missing: %s\nin: %s", lines[i], text);
    free(text);
}

/* Each "-" has its own reason: its row is named, and a row without any known time is shown. */
static void every_missing_cell_has_its_reason(void **state)
{
    static const char *const part[] = {
        "\n\n  - : p99 needs 662 values; times that are not known do not count\n"
        "  - : \"first token\", \"first, scheduled\": 408 of 1000 times are not known, and mean, p90, p95 and max may depend on them\n"};
    static const char *const none[] = {
        "\n  first token          -    -    -    -    -    -\n", "\n\n  - : p50 needs 11 values, p90 needs 64 values, p95 needs 130 values, p99 needs 662 values; times that are not known do not count\n"
        "  - : \"first token\", \"first, scheduled\": 1000 of 1000 times are not known, and mean and max may depend on them\n"};
    (void)state;
    assert_lines(table_of(partly_known(408, 0, 0), (struct report_wish){0}), part, 1);
    assert_lines(table_of(partly_known(1000, 0, 0), (struct report_wish){0}), none, 2);
    char *all = table_of(partly_known(0, 0, 0), (struct report_wish){0});
    assert_null(strstr(all, "- :"));
    free(all);
}

/* Gaps that are not known, and those of them that a late read explains, are two numbers with two names. */
static void unknown_gaps_and_late_reads_agree(void **state)
{
    static const char *const lines[] = {
        "  - : \"between tokens\": 1059 of 3000 times are not known (426 because of late reads), and p90, p95, p99 and max may depend on them\n",
        "  ! the client was the bottleneck: 14.2 % of the gaps have no exact length because of late reads, and are left out",
        "  1059 of 3000 gaps have no exact length (426 because of late reads), and are left out of itl's percentiles\n"};
    (void)state;
    assert_lines(table_of(partly_known(0, 1059, 426), (struct report_wish){.details = true}), lines, 3);
}

/* The kernel's count of the time that the threads waited for a processor names the cause; without it the causes are possible ones. */
static void the_bottleneck_has_a_cause(void **state)
{
    static const char *const waited[] = {"; its threads waited 34 % of their time for a processor, which other processes or threads used\n"};
    static const char *const unknown[] = {"; possible reasons: other processes, the limit of a control group, or a stop of the process\n"};
    (void)state;
    struct outcome *o = partly_known(500, 0, 0);
    o->wall_s = 10, o->threads = 2, o->m.queued_ns = 6800000000U;
    assert_lines(table_of(o, (struct report_wish){0}), waited, 1);
    assert_lines(table_of(partly_known(500, 0, 0), (struct report_wish){0}), unknown, 1);
}

/* A level is the best only where the interval of every other one ends below its own. */
static void only_a_certain_level_is_the_best(void **state)
{
    static const struct {
        double low[3], high[3];
        const char *answer, *json;
    } cases[] = {
        {{9, 19, 29},
         {11, 21, 31},
         "best: 3 streams, 30 tokens/s (95 %: 29 … 31)\n",
         "\"best_level\":3,\"reported_level\":3,\"decided_by\":\"output_throughput\",\"alike_levels\":[]"},
        {{9, 19, 27},
         {11, 28, 31},
         "highest: 3 streams, 30 tokens/s (95 %: 27 … 31); no level is the best: the interval\n  of 1 other reaches it\n",
         "\"best_level\":null,\"reported_level\":3,\"decided_by\":\"output_throughput\",\"alike_levels\":[2]"},
        {{NAN, NAN, NAN},
         {NAN, NAN, NAN},
         "highest: 3 streams, 30 tokens/s (no interval: a level needs a second or more); no\n  level is the best: the intervals of 2 others reach it\n",
         "\"alike_levels\":[1,2]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load load = {.arrivals = ARRIVALS_CLOSED};
        struct screen screen = {.width = 84, .is_terminal = true};
        struct load_sweep s = {.point_count = 3, .best = 2};
        struct buf table, json;
        buf_init(&table, 1 << 16), buf_init(&json, 1 << 16), buf_init(&s.json, 1000);
        for (size_t k = 0; k < 3; k++) {
            s.points[k] = (struct saturation_point){.load = (double)k + 1, .tokens_per_s = 10 * (double)(k + 1), .goodput_per_s = NAN};
            s.low[k] = cases[i].low[k], s.high[k] = cases[i].high[k];
        }
        sweep_table(&s, &load, &screen, &table);
        struct json_out j = json_begin(&json, JSON_TIGHT, '{');
        sweep_json(&s, &load, &j);
        if (!strstr(table.p, cases[i].answer) || !strstr(json.p, cases[i].json))
            fail_msg("case %zu: %s%s", i, table.p, json.p);
        assert_int_equal(strstr(table.p, " best\n") != NULL, i == 0);
        buf_deinit(&table), buf_deinit(&json), buf_deinit(&s.json);
    }
}

/* The interval of a rate comes from the spread of the run's tenths. */
static void an_unsteady_run_has_a_wide_interval(void **state)
{
    struct outcome *o = calloc(1, sizeof *o);
    struct err err;
    (void)state;
    assert_non_null(o);
    assert_int_equal(metrics_init(&o->m, &err), 0);
    o->m.series_begin_ns = 1, o->m.first_send_ns = 1;
    o->m.last_end_ns = 900000000;
    assert_true(isnan(steady_uncertainty(o, STEADY_TOKENS))); /* too short */
    o->m.last_end_ns = 2000000002;
    for (int i = 0; i < 20; i++) {
        struct series_bucket *b = series_at(&o->m.series, i * 100000000LL);
        b->tokens = 100, b->completed = 100 + (i % 4 < 2 ? 50 : 0);
    }
    assert_true(steady_uncertainty(o, STEADY_TOKENS) == 0);
    double wide = steady_uncertainty(o, STEADY_REQUESTS); /* tenths of 300 and 200: a standard deviation of 52.7, t(9) = 2.262 */
    assert_true(wide > 0.1508 - 0.001 && wide < 0.1508 + 0.001);
    assert_true(isnan(steady_uncertainty(o, STEADY_GOOD))); /* none was good */
    metrics_deinit(&o->m);
    free(o);
}

/* What one request of a millisecond took shows no rate, and no peak of a second. */
static void a_short_run_has_no_rates(void **state)
{
    struct load load = {.shown_url = "http://h:1", .concurrency = {.n = 1, .piece = {{.to = 1}}}, .requests = 1, .stream = true};
    struct outcome *o = calloc(1, sizeof *o);
    struct prompt_source prompts = {.name = "rows"};
    struct metrics *m = &o->m;
    struct err err;
    struct buf to CLEANUP_BUF;
    (void)state;
    assert_int_equal(metrics_init(m, &err), 0);
    m->ended[PHASE_MEASURE][ENDING_OK] = 1;
    m->output_tokens = 2, m->output_source[TOKENS_USAGE] = 1;
    m->series_begin_ns = m->window_begin_ns = 1, m->first_send_ns = 1000001, m->last_end_ns = 2300001;
    m->window_in_flight_ns = 1300000;
    series_in_flight(&m->series, 1000000, 2300000);
    series_at(&m->series, 2300000)->tokens = 2;
    buf_init(&to, 1 << 20);
    struct json_out j = json_begin(&to, JSON_TIGHT, '{');
    report_json(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, &j);
    assert_non_null(strstr(to.p, "\"request_throughput\":null"));
    assert_non_null(strstr(to.p, "\"output_throughput\":null"));
    assert_non_null(strstr(to.p, "\"max_output_tokens_per_s\":null"));
    assert_non_null(strstr(to.p, "\"mean_concurrency\":1"));
    assert_non_null(strstr(to.p, "\"too short for rates: 1 completed request in 0.0013 s; 10 requests, or 0.1 s, show one\""));
    metrics_deinit(m);
    free(o);
}

static char *foreseen(const struct load *l, double requests)
{
    struct buf to;
    buf_init(&to, 1000);
    report_foresee(l, requests, &to);
    return to.n ? to.p : NULL;
}

/* The numbers are those of stats_quantile_needs: what the table will leave out, known before the start. */
static void too_few_requests_are_foreseen(void **state)
{
    struct load by_time = {.duration_s = 6}, by_count = {.requests = 661}, trace = {.arrivals = ARRIVALS_TRACE};
    (void)state;
    char *few = foreseen(&by_time, 6), *most = foreseen(&by_count, 661), *one = foreseen(&trace, 1);
    assert_string_equal(few, "6 requests are too few for p50, p90, p95 and p99 of their latencies: p99 needs 662 (--duration)");
    assert_string_equal(most, "661 requests are too few for p99 of their latencies: p99 needs 662 (--requests)");
    assert_string_equal(one, "1 request is too few for p50, p90, p95 and p99 of their latencies: p99 needs 662");
    assert_null(foreseen(&by_time, 662));
    free(few);
    free(most);
    free(one);
}

/* Counts and their nouns agree. */
static void warnings_of_one_and_of_two(void **state)
{
    static const char *const words[2][3] = {
        {"1 arrival was never", "1 request was sent", "1 answer is shorter"},
        {"2 arrivals were never", "2 requests were sent", "2 answers are shorter"},
    };
    struct load load = {.arrivals = ARRIVALS_POISSON};
    struct prompt_source prompts = {.name = "made up"};
    struct outcome *o = calloc(1, sizeof *o);
    (void)state;
    assert_non_null(o);
    for (unsigned n = 1; n <= 2; n++) {
        struct buf to;
        buf_init(&to, 4096);
        o->m.dropped = o->m.late = o->m.short_answers = n;
        report_warnings(&(struct load_report){.load = &load, .prompts = &prompts, .outcome = o}, &(struct report_derived){0}, &to);
        assert_false(to.failed);
        for (int i = 0; i < 3; i++)
            assert_non_null(strstr(to.p, words[n - 1][i]));
        buf_deinit(&to);
    }
    free(o);
}

/* A search whose runs have so many requests, with random arrivals or with even ones. */
static char *search_warnings(uint64_t due, double spread)
{
    struct load load = {.arrivals = ARRIVALS_POISSON};
    static struct load_sweep s;
    struct buf to;
    s = (struct load_sweep){.search = true, .answer = {.rate = 10, .missed = 11, .share = 0.99}, .point_count = 1};
    s.trials[0] = (struct search_trial){.due = due, .good = due, .spread = spread};
    buf_init(&s.json, 100);
    buf_init(&to, 10000);
    struct json_out j = json_begin(&to, JSON_TIGHT, '{');
    sweep_json(&s, &load, &j);
    sweep_deinit(&s);
    return to.p;
}

static void a_search_of_short_runs_says_its_uncertainty(void **state)
{
    static const struct {
        uint64_t due;
        double spread;
        const char *warning;
    } rows[] = {
        {436, 0.048, "\"warnings\":[\"the highest rate is uncertain by 12 %, and more likely too high: a run has 436 requests, 2512 needed (--duration)\"]"},
        {100, 0.1, "uncertain by 25 % or more, and more likely too high: a run has 100 requests, 2500 needed"},
        {100, 0.005, "\"warnings\":[\"the highest rate is uncertain: a run has 100 requests, 299 needed (--duration)\"]"},
        {436, 0.001, "\"warnings\":[]"},
        {2600, 0.0196, "\"warnings\":[]"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = search_warnings(rows[i].due, rows[i].spread);
        assert_non_null(strstr(text, rows[i].warning));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_of_one_and_of_two),
        cmocka_unit_test(every_missing_cell_has_its_reason), cmocka_unit_test(unknown_gaps_and_late_reads_agree),
        cmocka_unit_test(the_bottleneck_has_a_cause),
        cmocka_unit_test(only_a_certain_level_is_the_best), cmocka_unit_test(a_mean_of_a_part_is_missing),
        cmocka_unit_test(an_unsteady_run_has_a_wide_interval), cmocka_unit_test(a_short_run_has_no_rates),
        cmocka_unit_test(too_few_requests_are_foreseen), cmocka_unit_test(a_search_of_short_runs_says_its_uncertainty),
        cmocka_unit_test(no_line_is_wider_than_the_terminal), cmocka_unit_test(sixty_columns_show_every_percentile)};
    return cmocka_run_group_tests_name("llmload/report", tests, NULL, NULL);
}
