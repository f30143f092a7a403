/* show.c (test): values as people read them. */
#include "base/show.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void values_read_well(void **state)
{
    static const struct { double seconds; const char *shown; } durations[] = {
        {0, "0 s"}, {0.0000125, "12.5 us"}, {0.0081, "8.1 ms"}, {0.5, "0.50 s"}, {0.9999, "1.0 s"}, {59.94, "59.9 s"}, {120, "2 min 0 s"}, {7199.6, "120 min 0 s"}, {7200, "2 h 0 min"}, {-1, "?"},
    };
    static const struct { uint64_t bytes; const char *shown; } sizes[] = {
        {0, "0 B"}, {1023, "1023 B"}, {1536, "1.5 KiB"}, {104857600, "100 MiB"}, {UINT64_MAX, "16.0 EiB"},
    };
    static const struct { double v; const char *shown; } numbers[] = {
        {3, "3"}, {1234567.25, "1234567.2"}, {0.001234567, "0.00123457"}, {1e300, "1e+300"}, {-INFINITY, "-inf"},
    };
    struct buf b;
    (void)state;
    buf_init(&b, 256);
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++, buf_clear(&b)) {
        show_duration(&b, durations[i].seconds);
        assert_string_equal(b.p, durations[i].shown);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++, buf_clear(&b)) {
        show_size(&b, sizes[i].bytes);
        assert_string_equal(b.p, sizes[i].shown);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++, buf_clear(&b)) {
        show_double(&b, numbers[i].v);
        assert_string_equal(b.p, numbers[i].shown);
    }
    show_time_utc(&b, -1);
    assert_string_equal(b.p, "1969-12-31T23:59:59.999Z");
    buf_deinit(&b);
}

static void measured_values_have_three_digits_and_their_unit(void **state)
{
    static const struct { double v; const char *unit, *shown; } rows[] = {
        {1085.42, "MiB_per_s", "1085 MiB/s"}, {171000, "op_per_s", "171000 op/s"}, {2.0642, "us", "2.06 us"},   {0.45, "ms", "0.45 ms"},
        {0.53718, "s", "0.537 s"},            {10.71, NULL, "10.7"},               {0, "", "0"},                {99.97, "percent", "100 %"},
        {-22.31, "percent", "-22.3 %"},       {88567.3, "GFLOP_per_s", "88567 GFLOP/s"}, {0.00052, "s", "520 us"}, {2e-5, "s", "20 us"}, {0.00435, "s", "4.35 ms"}, {0.0999, "s", "99.9 ms"}, {0.1, "s", "0.1 s"}, {-3e-8, "s", "-30 ns"}, {NAN, "s", "NaN s"},
        {12345678.5, NULL, "1.235e+07"},      {12345678, "B", "12345678 B"},
    };
    static const struct { const char *key, *unit, *shown; } names[] = {
        {"write.bw_MiB_per_s", "MiB_per_s", "write.bw"}, {"write.clat_us.p99", "us", "write.clat.p99"}, {"requests", "", "requests"},
        {"a_us_b", "us", "a_us_b"},                      {"us", "us", "us"},                            {"rate_s", NULL, "rate_s"},
    };
    static const struct { double ratio, low, high; const char *change, *interval; } changes[] = {
        {0.78, 0.74, 0.9, "-22 %", "-26 … -10 %"},
        {3.73, 2.6, 5.31, "+273 %", "+160 … +431 %"},
        {592, 42, 8270, "592 x", "42 … 8270 x"},
        {0.0145, 0.0102, 0.0208, "-98.6 %", "-99.0 … -97.9 %"},
        {0.00169, 0.00014, 0.003, "-99.83 %", "-99.986 … -99.70 %"},
        {1, 0.9, 1.2, "0 %", "-10 … +20 %"},
        {0.4, 0.3, 1.2, "-60 %", "-70 … +20 %"},
        {1.004, 0.5, 3, "+0.4 %", "-50 … +200 %"},
        {24, 5.5, 104, "24 x", "5.5 … 104 x"},
        {12, 0.5, 30, "12 x", "0.50 … 30 x"},
        {12, 1.004, 30, "12 x", "1.004 … 30 x"},
        {1.04, 1.0003, 1.2, "+4.0 %", "+0.03 … +20 %"},
        {0.4, 0.3, 0.998, "-60 %", "-70 … -0.2 %"},
        {1.0002, 1.00004, 1.0005, "+0.02 %", "+0.004 … +0.05 %"},
        {2, 1.5, 3, "+100 %", "+50 … +200 %"},
    };
    struct buf b;
    (void)state;
    buf_init(&b, 256);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++, buf_clear(&b)) {
        show_quantity(&b, rows[i].v, rows[i].unit);
        assert_string_equal(b.p, rows[i].shown);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++, buf_clear(&b)) {
        show_metric(&b, names[i].key, names[i].unit);
        assert_string_equal(b.p, names[i].shown);
    }
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        show_change(&b, changes[i].ratio);
        assert_string_equal(b.p, changes[i].change);
        buf_clear(&b);
        show_change_interval(&b, changes[i].ratio, changes[i].low, changes[i].high);
        assert_string_equal(b.p, changes[i].interval);
        buf_clear(&b);
    }
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_read_well),
        cmocka_unit_test(measured_values_have_three_digits_and_their_unit),
    };
    return cmocka_run_group_tests_name("base/show", tests, NULL, NULL);
}
