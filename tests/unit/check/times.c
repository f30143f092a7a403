/* times.c: starts, ends, samples and durations, at both sides of each limit. */
#include "checked_run.h"

static const int64_t BASE_MS = INT64_C(1700000000000);

/* A run from BASE_MS + start_s to BASE_MS + end_s, checked now_s after BASE_MS, in a commit of commit_s (0: none). */
static const char *findings(double start_s, double end_s, double now_s, double commit_s, const char *facts)
{
    struct check_state k = {.now_ms = BASE_MS + (int64_t)(now_s * 1e3), .committed_ms = commit_s ? BASE_MS + (int64_t)(commit_s * 1e3) : 0};
    struct run_check r = {.k = &k, .meta = {.start_ms = BASE_MS + (int64_t)(start_s * 1e3), .end_ms = BASE_MS + (int64_t)(end_s * 1e3)}};
    return checked_findings(check_times, &r, facts, "{}");
}

static void starts_and_ends(void **state)
{
    (void)state;
    assert_string_equal(findings(0, 10, 20, 0, "t:a=b"), "");
    assert_string_equal(findings(10, 10, 20, 0, "t:a=b"), "");
    assert_string_equal(findings(10, 9, 20, 0, "t:a=b"), "time run/meta.yaml: it ended before it started");
    assert_string_equal(findings(0, 300, 0, 0, "t:a=b"), "");
    assert_string_equal(findings(0, 300.2, 0, 0, "t:a=b"), "time run/meta.yaml: it ends in the future, by 300 s");
    assert_string_equal(findings(0, 301, 0, 0, "t:a=b"), "time run/meta.yaml: it ends in the future, by 301 s");
    assert_string_equal(findings(0, 310, 1000, 10, "t:a=b"), "");
    assert_string_equal(findings(0, 311, 1000, 10, "t:a=b"), "time-odd run/meta.yaml: it ended 301 s after the commit that brings it");
    assert_string_equal(findings(631152000 - 1.7e9, 631152001 - 1.7e9, 0, 0, "t:a=b"), "");
    assert_string_equal(findings(631151999 - 1.7e9, 631152001 - 1.7e9, 0, 0, "t:a=b"), "time run/meta.yaml: it started before 1990");
}

static void durations(void **state)
{
    static const char differs[] = "time-odd run/metrics/run.wall_s: the program ran for %s s, and the run from start to end lasts %s s";
    char expected[300];
    (void)state;
    assert_string_equal(findings(0, 100, 1e6, 0, "m:run.wall_s=-1"), "time run/metrics/run.wall_s: a negative duration");
    assert_string_equal(findings(0, 50, 1e6, 0, "m:run.wall_s=0"), "");
    assert_string_equal(findings(0, 100, 1e6, 0, "m:run.wall_s=106"), "");
    snprintf(expected, sizeof expected, differs, "106.5", "100");
    assert_string_equal(findings(0, 100, 1e6, 0, "m:run.wall_s=106.5"), expected);
    snprintf(expected, sizeof expected, differs, "93701", "100"); /* 26 h and 101 s */
    assert_string_equal(findings(0, 100, 1e6, 0, "m:run.wall_s=93701"), expected);
    assert_string_equal(findings(0, 100, 1e6, 0, "m:run.wall_s=93702"), "time run/metrics/run.wall_s: the program ran for 93702 s, and the run from start to "
                                                                         "end lasts 100 s: no clock is set back by more than 26 h");
    assert_string_equal(findings(0, 170, 1e6, 0, "m:run.wall_s=100"), ""); /* without durations of probes a minute */
    snprintf(expected, sizeof expected, differs, "100", "171");
    assert_string_equal(findings(0, 171, 1e6, 0, "m:run.wall_s=100"), expected);
    assert_string_equal(findings(0, 171, 1e6, 0, "m:run.wall_s=100 t:benchwrap.series=sweep"), "");
    assert_string_equal(findings(0, 118, 1e6, 0, "m:run.wall_s=100 m:probe.before_ms=1000 m:probe.after_ms=2000"), ""); /* 110 + 3 + 5 */
    snprintf(expected, sizeof expected, differs, "100", "118.5");
    assert_string_equal(findings(0, 118.5, 1e6, 0, "m:run.wall_s=100 m:probe.before_ms=1000 m:probe.after_ms=2000"), expected);
    assert_string_equal(findings(0, 175, 1e6, 0, "m:run.wall_s=100 m:probe.before_ms=900000"), ""); /* probes count a minute at most */
    snprintf(expected, sizeof expected, differs, "100", "175.5");
    assert_string_equal(findings(0, 175.5, 1e6, 0, "m:run.wall_s=100 m:probe.before_ms=900000"), expected);
}

static void samples(void **state)
{
    static const char odd[] = "time-odd run/metrics/a: samples have times more than a day before the start or after the end of the run";
    (void)state;
    assert_string_equal(findings(0, 10, 1e6, 0, "m:a=1@-86400"), "");
    assert_string_equal(findings(0, 10, 1e6, 0, "m:a=1@-86401"), odd);
    assert_string_equal(findings(0, 10, 1e6, 0, "m:a=1@86410"), "");
    assert_string_equal(findings(0, 10, 1e6, 0, "m:a=1@86411"), odd);
    assert_string_equal(findings(0, 10, 20, 0, "m:a=1@320"), "");
    assert_string_equal(findings(0, 10, 20, 0, "m:a=1@321"), "time run/metrics/a: it was measured in the future, by 301 s");
    assert_string_equal(findings(0, 10, 20, 0, "m:a=1@321 m:b=1@322 p:c=1"),
                        "time run/metrics/a: it was measured in the future, by 301 s\ntime run/metrics/b: it was measured in the future, by 302 s");
    const char *got = findings(0, 10, 1e6, 0, "m:a=1@-86401 m:b=1@-86401 m:c=1@-86401 m:d=1@-86401"); /* three are enough */
    assert_true(strstr(got, "metrics/c: ") && !strstr(got, "metrics/d: "));
    got = findings(0, 10, 20, 0, "m:a=1@400 m:b=1@400 m:c=1@400 m:d=1@400");
    assert_true(strstr(got, "metrics/c: ") && !strstr(got, "metrics/d: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(starts_and_ends), cmocka_unit_test(durations), cmocka_unit_test(samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
