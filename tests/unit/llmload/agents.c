/* agents.c: lists of agents and Slurm's lists of nodes; pages of metrics; a run's aggregate as text and back. */
#include "base/json.h"
#include "benchmarks/native/llmload/agent/hosts.h"
#include "benchmarks/native/llmload/metrics.h"
#include "benchmarks/native/llmload/output/records.h"
#include "base/prom.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const char *joined(const struct hosts *h)
{
    static char line[600];
    size_t n = 0;
    line[0] = 0;
    for (size_t i = 0; i < h->count && n < sizeof line - 80; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", i ? " " : "", h->address[i]);
    return line;
}

static const char *nodes = "n[1-2,09],login", *tasks = "2(x2),1,3";

static char *environment(const char *name)
{
    return (char *)(strcmp(name, "SLURM_STEP_NODELIST") == 0 ? nodes : strcmp(name, "SLURM_STEP_TASKS_PER_NODE") == 0 ? tasks : NULL);
}

static void agents_are_found(void **state)
{
    static struct hosts h;
    struct arena a;
    struct err err = {0};
    (void)state;
    arena_init(&a, 1 << 22);
    assert_int_equal(hosts_read(&h, "a:1, b ,[::1]:7,[fe80::2]", &a, &err), 0);
    assert_string_equal(joined(&h), "a:1 b:6000 [::1]:7 [fe80::2]:6000");
    static const char *const bad[] = {"", "a,,b", "a b", "a/x", "u@h"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hosts_read(&h, bad[i], &a, &err), -1);
    assert_int_equal(hosts_expand(&h, STR("rack[08-10]-n1,x"), &a, &err), 0);
    assert_string_equal(joined(&h), "rack08-n1 rack09-n1 rack10-n1 x");
    assert_int_equal(hosts_expand(&h, STR("n[1-99999999]"), &a, &err), -1);
    assert_int_equal(hosts_expand(&h, STR("n[1-"), &a, &err), -1);
    assert_int_equal(hosts_expand(&h, STR("n[z]"), &a, &err), -1);
    assert_int_equal(hosts_srun(&h, "", 9000, environment, &a, &err), 0);
    assert_string_equal(joined(&h), "n1:9000 n1:9001 n2:9000 n2:9001 n09:9000 login:9000 login:9001 login:9002");
    assert_int_equal(hosts_srun(&h, "-ib0", 9000, environment, &a, &err), 0);
    assert_true(str_starts(str_of(joined(&h)), "n1-ib0:9000 n1-ib0:9001 "));
    tasks = "2(x9999999999999999999999)";
    assert_int_equal(hosts_srun(&h, "", 9000, environment, &a, &err), -1);
    tasks = "1";
    assert_int_equal(hosts_srun(&h, "", 9000, environment, &a, &err), -1);
    arena_deinit(&a);
}

static void pages_of_metrics_are_read(void **state)
{
    struct str page = STR("# HELP x y\nx 1\nx_bucket{le=\"+Inf\",m=\"a\\\"b\\n\"} 3 1700000000000\n{\"quoted.name\", a=\"1\"} +Inf\nx{a=\"1} 2\nbroken\ny{} 1e3 # {t=\"1\"} 2\n# EOF\n");
    static const struct { const char *name; double value; int rc; } want[] = {
        {"x", 1, 1}, {"x_bucket", 3, 1}, {"quoted.name", INFINITY, 1}, {"", 0, -1}, {"", 0, -1}, {"y", 1000, 1}};
    struct prom_sample s;
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(prom_next(&page, &s), want[i].rc);
        if (want[i].rc < 0)
            continue;
        assert_true(str_is(s.name, want[i].name) && s.value == want[i].value);
        if (i == 1)
            assert_true(str_is(s.labels, "le=\"+Inf\",m=\"a\\\"b\\n\""));
    }
    assert_int_equal(prom_next(&page, &s), 0);
}

static void take(struct metrics *m, uint64_t i)
{
    int64_t t = (int64_t)(1000000000 + i * 1000);
    struct request_result r = {.index = i, .phase = PHASE_MEASURE, .ending = i % 7 ? ENDING_OK : ENDING_HTTP_503, .status = i % 7 ? 200 : 503, .scheduled_ns = t, .begin_ns = t,
                       .sent_ns = t + 10, .first_byte_ns = t + 500, .first_ns = t + 1000 + (int64_t)(i * i % 977), .last_ns = t + 900000, .end_ns = t + 910000,
                       .chunks = 9, .events = 10, .output_tokens = 9, .output_source = TOKENS_USAGE, .input_tokens = 5, .input_source = TOKENS_USAGE,
                       .error = i % 7 ? NULL : "busy"};
    metrics_take(m, &r);
}

/* What two agents tell in text comes to the same as if one had seen all. */
static void shares_add_up(void **state)
{
    struct metrics one, part[2], sum;
    struct err err = {0};
    (void)state;
    metrics_init(&one, &err), metrics_init(&part[0], &err), metrics_init(&part[1], &err), metrics_init(&sum, &err);
    for (uint64_t i = 0; i < 5000; i++)
        take(&one, i), take(&part[i % 2], i);
    for (int k = 0; k < 2; k++) {
        struct buf text CLEANUP_BUF;
        struct json *j;
        buf_init(&text, 64 << 20);
        struct json_out out = {.to = &text, .layout = JSON_TIGHT};
        metrics_print(&part[k], NULL, &out);
        assert_int_equal(json_parse(&j, buf_text(&text), NULL, &err), 0);
        if (metrics_read(&sum, j, &err) < 0)
            fail_msg("%s", err.text);
        json_free(j);
    }
    assert_int_equal(metrics_completed(&sum), metrics_completed(&one));
    assert_int_equal(metrics_failed(&sum), metrics_failed(&one));
    assert_int_equal(sum.output_tokens, one.output_tokens);
    assert_int_equal(sum.status[503], one.status[503]);
    assert_string_equal(sum.first_error[ENDING_HTTP_503], "busy");
    for (int m = 0; m < METRICS; m++) {
        assert_int_equal(sum.h[m].n, one.h[m].n);
        if (one.h[m].n) {
            assert_true(hdr_quantile(&sum.h[m], 0.99) == hdr_quantile(&one.h[m], 0.99) && sum.h[m].max == one.h[m].max);
            assert_true(fabs(sum.h[m].mean - one.h[m].mean) <= 1e-9 * fabs(one.h[m].mean));
        }
    }
    static const char *const bad[] = {"{}", "{\"warmup\":[]}", "[]", "null"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json *j;
        assert_int_equal(json_parse(&j, str_of(bad[i]), NULL, &err), 0);
        assert_int_equal(metrics_read(&sum, j, &err), -1);
        json_free(j);
    }
    metrics_deinit(&one), metrics_deinit(&part[0]), metrics_deinit(&part[1]), metrics_deinit(&sum);
}

static void records_are_json_and_csv(void **state)
{
    struct chunk chunks[] = {{1000000, 0, 0, 0}, {3000000, 0, 0, 0}, {3500000, 0, 1, 0}};
    struct request_result r = {.index = 7, .session = 7, .item = UINT64_MAX, .phase = PHASE_MEASURE, .status = 200, .sent_ns = 500000, .first_ns = 1000000, .last_ns = 3500000,
                       .end_ns = 3600000, .chunks = 3, .shared = 1, .chunk_list = chunks, .output_tokens = 3, .output_source = TOKENS_CHUNKS, .finish = "a\"b"};
    struct buf b CLEANUP_BUF;
    struct json *j;
    (void)state;
    buf_init(&b, 1 << 20);
    records_json_line(&r, 1000, 1, true, &b);
    assert_int_equal(json_parse(&j, buf_text(&b), NULL, NULL), 0);
    assert_true(json_number(json_pointer(j, "/metrics/time_to_first_token/value"), 0) == 0.5);
    assert_true(json_number(json_pointer(j, "/metrics/inter_chunk_latency/value/1"), 0) == 0.5);
    assert_true(json_number(json_pointer(j, "/metrics/inter_token_latency/value"), 0) == 1.25);
    assert_int_equal(json_count(json_pointer(j, "/metadata/shared_gaps")), 1);
    assert_int_equal(json_integer(json_pointer(j, "/metadata/shared_gaps/0"), 0), 1);
    assert_null(json_pointer(j, "/metrics/input_sequence_length")); /* not known: not there */
    assert_true(json_number(json_pointer(j, "/metadata/request_start_ns"), 0) == 501000);
    assert_true(json_is_null(json_get(j, "error")));
    json_free(j);
    buf_clear(&b);
    r.ending = ENDING_HTTP_503, r.status = 503, r.error = "server \"busy\",\nwait";
    records_json_line(&r, 0, 1, true, &b);
    assert_int_equal(json_parse(&j, buf_text(&b), NULL, NULL), 0);
    assert_int_equal(json_integer(json_pointer(j, "/error/code"), 0), 503);
    assert_int_equal(json_count(json_get(j, "metrics")), 0);
    json_free(j);
    buf_clear(&b);
    records_csv_line(&r, 0, &b);
    assert_true(str_ends(buf_text(&b), ",\"a\"\"b\",0,\"server \"\"busy\"\",\\x0await\"\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_are_found), cmocka_unit_test(pages_of_metrics_are_read), cmocka_unit_test(shares_add_up), cmocka_unit_test(records_are_json_and_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
