/* stats.c: against published values (NIST StRD, tables of Student's t) and values from an independent calculation. */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("got %.17g, wanted %.17g", got, want);
}

static void student_t_has_the_tabulated_points(void **state)
{
    static const struct { size_t df; double t; } rows[] = { /* R: qt(0.975, df) */
        {1, 12.7062047361747}, {2, 4.30265272974946}, {3, 3.18244630528371}, {4, 2.77644510519779}, {5, 2.57058183563631}, {9, 2.26215716279821},
        {10, 2.22813885198627}, {30, 2.04227245630124}, {100, 1.98397151852355}, {1000, 1.96233908082641}, {1000000, 1.95996635682007},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        near(stats_t975(rows[i].df), rows[i].t, 2e-9);
}

static void close_large_values_keep_their_spread(void **state)
{
    double v[1001]; /* NIST StRD NumAcc4: mean 10000000.2, sd 0.1, "higher" difficulty */
    struct stats s;
    (void)state;
    v[0] = 10000000.2;
    for (int i = 1; i < 1001; i++)
        v[i] = i % 2 ? 10000000.1 : 10000000.3;
    stats_of(v, 1001, &s);
    near(s.mean, 10000000.2, 1e-15);
    near(s.sd, 0.1, 1e-8);
    double w[3] = {10000001, 10000003, 10000002}; /* NumAcc1 */
    stats_of(w, 3, &s);
    assert_true(s.mean == 10000002 && s.sd == 1 && s.median == 10000002 && s.min == 10000001 && s.max == 10000003);
    near(s.ci_low, 10000002 - 4.30265272974946 / sqrt(3), 1e-12);
    near(s.ci_high, 10000002 + 4.30265272974946 / sqrt(3), 1e-12);
}

static void few_samples_give_no_interval(void **state)
{
    double v[2] = {3, 1};
    struct stats s;
    (void)state;
    stats_of(v, 2, &s);
    assert_true(s.n == 2 && s.mean == 2 && s.median == 2 && isnan(s.ci_low) && isnan(s.ci_high));
    near(s.sd, M_SQRT2, 1e-15);
    stats_of(v, 1, &s);
    assert_true(s.n == 1 && isnan(s.sd) && s.median == s.mean);
}

static void quantiles_are_of_type_7(void **state)
{
    static const double v[] = {1, 2, 4, 8, 16, 32}; /* R: quantile(c(1,2,4,8,16,32), q) */
    (void)state;
    near(stats_quantile(v, 6, 0.25), 2.5, 1e-15);
    near(stats_quantile(v, 6, 0.5), 6, 1e-15);
    near(stats_quantile(v, 6, 0.9), 24, 1e-15);
    near(stats_quantile(v, 6, 0.99), 31.2, 1e-14);
    assert_true(stats_quantile(v, 6, 0) == 1 && stats_quantile(v, 6, 1) == 32 && stats_quantile(v, 1, 0.3) == 1);
}

static void ratio_of_medians_has_price_and_bonetts_interval(void **state)
{
    double a[] = {77, 87, 88, 114, 151, 210, 219, 246, 253, 262, 296, 299, 306, 376, 428, 515, 666, 1310, 2611};
    double b[] = {59, 106, 174, 207, 219, 237, 313, 365, 458, 497, 515, 529, 557, 615, 625, 645, 973, 1065, 3215};
    double ratio, low, high;
    (void)state;
    assert_true(stats_ratio(a, 19, b, 19, &ratio, &low, &high)); /* expectations: the paper's formulas in Python */
    near(ratio, 497.0 / 262, 1e-12);
    near(low, 1.05126957994881, 1e-9);
    near(high, 3.42291486281387, 1e-9);
    double c[] = {12, 10, 11}, d[] = {20, 23, 22};
    assert_true(stats_ratio(c, 3, d, 3, &ratio, &low, &high));
    near(ratio, 2, 1e-15);
    near(low, 1.64451050413844, 1e-9);
    near(high, 2.43233472205494, 1e-9);
    assert_true(c[0] == 12); /* the samples stay as they were */
}

static void ratio_refuses_too_little_and_zero(void **state)
{
    double two[] = {1, 2}, three[] = {1, 2, 3}, zero[] = {0, 0, 1}, ratio = 5, low, high;
    (void)state;
    assert_false(stats_ratio(two, 2, three, 3, &ratio, &low, &high));
    assert_false(stats_ratio(three, 3, two, 2, &ratio, &low, &high));
    assert_false(stats_ratio(three, 3, zero, 3, &ratio, &low, &high));
    assert_true(ratio == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_t_has_the_tabulated_points), cmocka_unit_test(close_large_values_keep_their_spread),
        cmocka_unit_test(few_samples_give_no_interval),       cmocka_unit_test(quantiles_are_of_type_7),
        cmocka_unit_test(ratio_of_medians_has_price_and_bonetts_interval), cmocka_unit_test(ratio_refuses_too_little_and_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
