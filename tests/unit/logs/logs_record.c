/* Times, levels and parts of log lines, and the records that are made of them. */
#include "base/json.h"
#include "logs/logs_record.h"
#include "logs/logs_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void test_times(void **state)
{
    const int64_t now = INT64_C(1767225600) * 1000000000; /* 2026-01-01 */
    static const struct {
        const char *line, *time;
    } cases[] = {
        {"[2025-09-08T21:11:35.869] x", "2025-09-08T21:11:35.869000Z"},
        {"2025-09-08 21:11:35,5 - x", "2025-09-08T21:11:35.500000Z"},
        {"2025-09-08T21:11:35Z", "2025-09-08T21:11:35.000000Z"},
        {"2025-09-08T21:11:35+02:00 h x", "2025-09-08T19:11:35.000000Z"},
        {"2025-09-08T21:11:35.000001-0530 h x", "2025-09-09T02:41:35.000001Z"},
        {"2024-02-29T00:00:00 leap", "2024-02-29T00:00:00.000000Z"},
        {"Sep  8 21:11:35 h x", "2025-09-08T21:11:35.000000Z"},
        {"Jan 02 00:00:00 h x", "2026-01-02T00:00:00.000000Z"},
        {"Dec 31 23:59:59 h x", "2025-12-31T23:59:59.000000Z"},
        {"<13>Sep  8 21:11:35 h x", "2025-09-08T21:11:35.000000Z"},
        {"<165>1 2025-09-08T21:11:35Z h x", "2025-09-08T21:11:35.000000Z"},
        {"2262-01-01T00:00:00Z", NULL},
        {"2025-13-08T21:11:35", NULL},
        {"2025-09-08T25:11:35", NULL},
        {"2025-09-08", NULL},
        {"1234567890", NULL},
        {"Sep", NULL},
        {"[", NULL},
        {"", NULL},
    };
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = 0;
        char text[LOGS_TIME_SIZE];
        bool has = logs_line_time(str_of(cases[i].line), now, &ns);
        if (has != (cases[i].time != NULL))
            fail_msg("%s: %d", cases[i].line, has);
        if (has)
            assert_string_equal(logs_time_text(ns, text), cases[i].time);
    }
}

static void test_levels(void **state)
{
    (void)state;
    assert_int_equal(logs_line_severity(STR("[2025-09-08T21:11:35.869] error: x")), LOGS_ERROR);
    assert_int_equal(logs_line_severity(STR("E0908 21:11:35 x")), LOGS_ERROR);
    assert_int_equal(logs_line_severity(STR("2025 - name - WARNING - x")), LOGS_WARNING);
    assert_int_equal(logs_line_severity(STR("time=1 level=info msg=x")), LOGS_INFO);
    assert_int_equal(logs_line_severity(STR("an error in a sentence")), LOGS_UNKNOWN);
    assert_int_equal(logs_line_severity(STR("")), LOGS_UNKNOWN);
    assert_int_equal(logs_severity_find(STR("Critical")), LOGS_FATAL);
}

static void check_record(enum logs_format format, bool is_parsed, const char *line, const char *expected)
{
    const struct logs_record_form form = {format, is_parsed, "host", 1000000000};
    const struct logs_record_line of = {.text = str_of(line), .path = "/f", .now_ns = INT64_C(1757365895) * 1000000000};
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1 << 20);
    logs_record_write(&form, &of, &b);
    assert_string_equal(b.p, expected);
}

static void test_records(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    check_record(LOGS_FORMAT_RAW, false, "a \"b\"", "{\"TimeGenerated\":\"2025-09-08T21:11:35.000000Z\",\"RawData\":\"a \\\"b\\\"\",\"Computer\":\"host\",\"FilePath\":\"/f\"}");
    check_record(LOGS_FORMAT_SLURM, true, "[2025-09-08T21:11:36.5] [12.batch] error: x: y",
                 "{\"TimeGenerated\":\"2025-09-08T21:11:36.500000Z\",\"Level\":\"error\",\"Component\":\"12.batch\",\"Message\":\"x: y\",\"Computer\":\"host\",\"FilePath\":\"/f\"}");
    check_record(LOGS_FORMAT_SLURM, true, "[2025-09-08T21:11:36] sched: Allocate JobId=1",
                 "{\"TimeGenerated\":\"2025-09-08T21:11:36.000000Z\",\"Component\":\"sched\",\"Message\":\"Allocate JobId=1\",\"Computer\":\"host\",\"FilePath\":\"/f\"}");
    check_record(LOGS_FORMAT_SYSLOG, true, "Sep  8 21:11:36 n1 systemd[1]: Started",
                 "{\"TimeGenerated\":\"2025-09-08T21:11:36.000000Z\",\"Process\":\"systemd\",\"ProcessId\":1,\"Message\":\"Started\",\"Computer\":\"n1\",\"FilePath\":\"/f\"}");
    check_record(LOGS_FORMAT_SYSLOG, true, "no form", "{\"TimeGenerated\":\"2025-09-08T21:11:35.000000Z\",\"Message\":\"no form\",\"Computer\":\"host\",\"FilePath\":\"/f\"}");
    check_record(LOGS_FORMAT_JSON, false, "{\"a\":1}", "{\"a\":1}");
    check_record(LOGS_FORMAT_JSON, false, "{\"a\":", "{\"TimeGenerated\":\"2025-09-08T21:11:35.000000Z\",\"RawData\":\"{\\\"a\\\":\",\"Computer\":\"host\",\"FilePath\":\"/f\"}");
    check_record(LOGS_FORMAT_DMESG, true, "[    1.500000] usb: x",
                 "{\"TimeGenerated\":\"1970-01-01T00:00:02.500000Z\",\"Message\":\"usb: x\",\"Computer\":\"host\",\"FilePath\":\"/f\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times), cmocka_unit_test(test_levels), cmocka_unit_test(test_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
