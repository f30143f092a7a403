/* units.c: spellings programs print, and the difference between binary and decimal. */
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void spellings_mean_the_right_amount(void **state)
{
    static const struct { const char *text, *to; double one; } rows[] = {
        {"MiB/s", "MiB_per_s", 1}, {"MiB/sec", "MiB_per_s", 1}, {"MB/s", "MB_per_s", 1}, {"MB/sec", "MiB_per_s", 1e6 / 1048576},
        {"KiB/s", "MiB_per_s", 1.0 / 1024}, {"KB/s", "MB_per_s", 1e-3}, {"kB/s", "MB_per_s", 1e-3}, {"GiB/s", "MiB_per_s", 1024},
        {"GB/s", "MB_per_s", 1000}, {"GB/s", "MiB_per_s", 1e9 / 1048576}, {"B/s", "B_per_s", 1}, {"MBytes/sec", "MB_per_s", 1},
        {"Mbytes/sec", "MB_per_s", 1}, {"Kbit/s", "bit_per_s", 1e3}, {"Gbits/sec", "bit_per_s", 1e9}, {"Mbps", "bit_per_s", 1e6},
        {"usec", "us", 1}, {"usec", "ns", 1000}, {"msec", "s", 1e-3}, {"nsec", "us", 1e-3}, {"\xc2\xb5s", "us", 1}, {"sec", "s", 1},
        {"seconds", "ms", 1000}, {"IOPS", "op_per_s", 1}, {"ops/sec", "op_per_s", 1}, {"op/s", "op_per_s", 1}, {"kIOPS", "op_per_s", 1000},
        {"%", "percent", 1}, {"GFLOP/s", "GFLOP_per_s", 1}, {"Gflops", "GFLOP_per_s", 1}, {"Tflops", "GFLOP_per_s", 1000}, {"Mflops/s", "GFLOP_per_s", 1e-3}, {"TFLOPS", "GFLOP_per_s", 1000}, {"MFLOP/s", "GFLOP_per_s", 1e-3},
        {"GTEPS", "GTEPS", 1}, {"TEPS", "GTEPS", 1e-9}, {"MTEPS", "GTEPS", 1e-3}, {"tok/s", "token_per_s", 1}, {"GHz", "Hz", 1e9},
        {"KiB", "B", 1024}, {"KB", "B", 1000}, {"kbytes", "B", 1000}, {"bytes", "B", 1}, {"TiB", "GiB", 1024}, {"kW", "W", 1000},
        {" MiB/s ", "MiB_per_s", 1}, {"MiB / s", "MiB_per_s", 1}, {"minutes", "s", 60},
        {"Mbit/s", "MB_per_s", 1.0 / 8}, {"Mib/s", "MiB_per_s", 1.0 / 8}, {"Mibit/s", "MiB_per_s", 1.0 / 8}, {"Kibit/s", "B_per_s", 128}, {"Mb/s", "MB_per_s", 1.0 / 8},
        {"Gbits/sec", "MB_per_s", 125}, {"B/s", "bit_per_s", 8}, {"MB/s", "bit_per_s", 8e6}, {"bit", "B", 1.0 / 8}, {"Kbps", "B_per_s", 125},
        {"Kops/s", "op_per_s", 1000}, {"Mop/s", "op_per_s", 1e6}, {"GUP/s", "op_per_s", 1e9}, {"Messages/s", "op_per_s", 1}, {"tps", "op_per_s", 1},
        {"MByte/s", "MB_per_s", 1}, {"kWh", "J", 3.6e6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct unit *from = units_find(str_of(rows[i].text)), *to = units_find(str_of(rows[i].to));
        double got = NAN;
        if (!from || !to || !units_convert(1, from, to, &got) || fabs(got - rows[i].one) > 1e-12 * rows[i].one)
            fail_msg("1 %s is %.17g %s, wanted %.17g", rows[i].text, got, rows[i].to, rows[i].one);
    }
}

static void unknown_text_has_no_unit(void **state)
{
    static const char *const rows[] = {"", "furlong", "mib/s", "MIB/s", "Mi", "/s", "s/s", "MiB/ms", "B/s/s", "m"};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (units_find(str_of(rows[i])))
            fail_msg("\"%s\" was taken for %s", rows[i], units_find(str_of(rows[i]))->name);
}

static void dimensions_do_not_mix(void **state)
{
    double got = 7;
    (void)state;
    assert_false(units_convert(1, units_find(STR("MiB")), units_find(STR("MiB_per_s")), &got));
    assert_false(units_convert(1, units_find(STR("bit/s")), units_find(STR("B")), &got));
    assert_false(units_convert(1, units_find(STR("FLOPs")), units_find(STR("GFLOP_per_s")), &got));
    assert_false(units_convert(1, NULL, units_find(STR("s")), &got));
    assert_true(got == 7);
}

static void names_of_the_contract_come_back(void **state)
{
    (void)state;
    assert_string_equal(units_find(STR("MiB/s"))->name, "MiB_per_s");
    assert_string_equal(units_find(STR("usec"))->name, "us");
    assert_string_equal(units_find(STR("IOPS"))->name, "op_per_s");
    double got;
    assert_true(units_convert(54528, units_find(STR("ns")), units_find(STR("us")), &got) && got == 54.528);
    assert_true(units_convert(0.05, units_find(STR("MB/s")), units_find(STR("MiB_per_s")), &got) && got == 0.0476837158203125); /* rounded once */
    assert_true(units_convert(0.05, units_find(STR("MiB/s")), units_find(STR("MB_per_s")), &got) && got == 0.052428800000000005);
    assert_true(units_convert(0.1, units_find(STR("s")), units_find(STR("ms")), &got) && got == 100);
    assert_true(units_convert(1234.5, units_find(STR("s")), units_find(STR("sec")), &got) && got == 1234.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_mean_the_right_amount), cmocka_unit_test(unknown_text_has_no_unit),
        cmocka_unit_test(dimensions_do_not_mix), cmocka_unit_test(names_of_the_contract_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
