/* change_points.c (test): steps, outliers and newest values, in series of known content; what is published about real ones. */
#include "history/change_points.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t seed;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Are the change points those, each within one value? */
static void expect_points(const char *name, const double *v, size_t n, const size_t *at, size_t count)
{
    struct change_points found;
    assert_true(change_points_find(v, n, 0.02, &found));
    for (size_t i = 0; i < found.count || i < count; i++)
        if (i >= found.count || i >= count || found.list[i].at + 1 < at[i] || found.list[i].at > at[i] + 1)
            fail_msg("%s: %zu change points, the one of number %zu is at %zu", name, found.count, i, i < found.count ? found.list[i].at : 0);
    change_points_deinit(&found);
}

static void steps(void **state)
{
    double v[200];
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
        for (seed = 1; seed < 2000; seed += 97) {
            uint64_t start = seed;
            for (size_t i = 0; i < 200; i++)
                v[i] = sign * 1000 * (1 + 0.01 * normal()) * (i < 80 ? 1 : i < 140 ? 1.06 : 0.9);
            expect_points("two steps", v, 200, (size_t[]){80, 140}, 2);
            expect_points("one step", v, 139, (size_t[]){80}, 1);
            expect_points("none", v, 80, NULL, 0);
            seed = start;
        }
}

/* The documented examples of Apache Otava (tests/series_test.py, examples/csv) and of MongoDB's signal processing algorithms (tests/test_detection.py). */
static void published(void **state)
{
    static const double one[] = {1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55},
                        two[] = {2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78},
                        csv_one[] = {154023, 138455, 143112, 149190, 132098, 151344, 155145, 148889, 149466, 148209},
                        csv_two[] = {10.43, 10.23, 10.29, 10.91, 10.34, 10.69, 9.23, 9.11, 9.13, 9.03};
    static const double mongo[] = {41, 18,  23,  3,   32,  11,  40,  13,  29,  48,  47,  35,  18,  21,  6,   2,   23,  3,   4,   7,
                                   120, 103, 102, 81,  71,  62,  115, 61,  108, 63,  70,  98,  65,  96,  64,  74,  70,  113, 90,  114,
                                   208, 196, 153, 150, 225, 179, 206, 165, 177, 151, 218, 217, 244, 245, 229, 195, 225, 229, 176, 250};
    double v[45];
    (void)state;
    expect_points("otava 1", one, 11, (size_t[]){6}, 1);
    expect_points("otava 2", two, 11, (size_t[]){4}, 1);
    expect_points("otava csv 1", csv_one, 10, NULL, 0);
    expect_points("otava csv 2", csv_two, 10, (size_t[]){6}, 1);
    expect_points("mongo random", mongo, 60, (size_t[]){20, 40}, 2);
    for (size_t i = 0; i < 45; i++)
        v[i] = i < 15 && i != 2 ? 50 : i < 30 ? 100 : i != 32 ? 50 : 100;
    expect_points("mongo regression", v, 30, (size_t[]){15}, 1);
    expect_points("mongo recovery", v, 45, (size_t[]){15, 30}, 2);
    for (size_t i = 30; i < 45; i++)
        v[i] = 150;
    expect_points("mongo two regressions", v, 45, (size_t[]){15, 30}, 2);
    for (size_t i = 0; i < 30; i++)
        v[i] = i < 14 ? 50 : i == 14 ? 74 : 100;
    expect_points("mongo ahead", v, 30, (size_t[]){15}, 1);
    v[14] = 76;
    expect_points("mongo behind", v, 30, (size_t[]){14}, 1);
    for (size_t i = 0; i < 30; i++)
        v[i] = 50;
    expect_points("mongo none", v, 30, NULL, 0);
}

static void outliers(void **state)
{
    struct change_points found;
    double v[60];
    (void)state;
    seed = 5;
    for (size_t i = 0; i < 60; i++)
        v[i] = 100 + normal();
    v[30] = 70;
    v[59] = 130;
    assert_true(change_points_find(v, 60, 0.02, &found));
    assert_int_equal(found.count, 0);
    assert_int_equal(found.odd_count, 2);
    assert_int_equal(found.odd[0].at, 30);
    assert_int_equal(found.odd[0].kind, ODD_OUTLIER);
    assert_int_equal(found.odd[1].at, 59);
    assert_int_equal(found.odd[1].kind, ODD_UNCONFIRMED);
    change_points_deinit(&found);
    v[58] = 131;
    v[57] = 129;
    assert_true(change_points_find(v, 60, 0.02, &found)); /* the third confirms it */
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].at, 57);
    assert_true(found.list[0].ratio_known && found.list[0].low > 1.25 && found.list[0].high < 1.35 && found.list[0].p < 1e-3);
    change_points_deinit(&found);
}

/* The search of a longer history still has the change; a change below the least effect is none. */
static void stable(void **state)
{
    double v[400];
    (void)state;
    seed = 11;
    for (size_t i = 0; i < 400; i++)
        v[i] = 100 * (1 + 0.002 * normal()) * (i < 100 ? 1 : i < 300 ? 1.015 : 1.08);
    for (size_t n = 310; n <= 400; n += 10)
        expect_points("least effect", v, n, (size_t[]){300}, 1);
}

static void bad_input(void **state)
{
    static const double zero[30] = {0};
    double v[40];
    (void)state;
    expect_points("nothing", zero, 0, NULL, 0);
    expect_points("one", zero, 1, NULL, 0);
    expect_points("zeros", zero, 30, NULL, 0);
    for (size_t i = 0; i < 40; i++)
        v[i] = i < 20 ? 0 : 7;
    expect_points("from zero", v, 40, (size_t[]){20}, 1);
    for (size_t i = 0; i < 40; i++)
        v[i] = i < 20 ? 1e308 : -1e308;
    expect_points("huge", v, 40, (size_t[]){20}, 1);
    for (size_t i = 0; i < 40; i++)
        v[i] = (i % 2 ? 1e-308 : 2e-308) * (i < 20 ? 1 : 1e300);
    expect_points("tiny", v, 40, (size_t[]){20}, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),  cmocka_unit_test(published), cmocka_unit_test(outliers),
        cmocka_unit_test(stable), cmocka_unit_test(bad_input),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
