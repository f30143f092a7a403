/* stats.c: against published values (NIST StRD, tables of Student's t) and values from an independent calculation. */
#include "base/stats.h"

#include "draws.h"

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

/* ---- what one more value may be; by simulation with a fixed seed ---- */

enum shape { NORMAL, LOG_NORMAL, UNIFORM, EXPONENTIAL, STUDENT3, AROUND_ZERO };

static double draw(enum shape shape)
{
    double z, c = 0;
    switch (shape) {
    case NORMAL: return 100 * (1 + 0.02 * draws_normal());
    case LOG_NORMAL: return 100 * exp(0.3 * draws_normal());
    case UNIFORM: return 90 + 20 * draws_uniform();
    case EXPONENTIAL: return 100 - 10 * log(draws_uniform());
    case STUDENT3:
        z = draws_normal();
        for (int i = 0; i < 3; i++) {
            double y = draws_normal();
            c += y * y;
        }
        return 100 + 2 * z / sqrt(c / 3);
    default: return draws_normal();
    }
}

/* Part of the claims when the further value comes about like the others, times `factor`. */
static double claims(enum shape shape, size_t n, double factor)
{
    enum { TIMES = 3000 };
    int made = 0;
    for (int i = 0; i < TIMES; i++) {
        double v[100];
        struct stats_expected e;
        for (size_t k = 0; k < n; k++)
            v[k] = draw(shape);
        double x = draw(shape) * factor;
        assert_true(stats_expect(v, n, x, &e));
        made += e.p <= STATS_EXPECT_P;
        assert_int_equal(e.p <= STATS_EXPECT_P, x < e.low || x > e.high); /* the interval and the chance say the same */
    }
    return (double)made / TIMES;
}

static void few_false_claims(void **state)
{
    static const struct { enum shape shape; double most; } rows[] = { /* with three standard deviations of the simulation */
        {NORMAL, 0.025 + 0.0086}, {LOG_NORMAL, 0.025 + 0.0086}, {UNIFORM, 0.025 + 0.0086}, {AROUND_ZERO, 0.025 + 0.0086},
        {EXPONENTIAL, 0.05 + 0.012}, {STUDENT3, 0.05 + 0.012},
    };
    static const size_t ns[] = {5, 10, 20, 40, 100};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t k = 0; k < 5; k++) {
            double got = claims(rows[i].shape, ns[k], 1);
            if (got > rows[i].most)
                fail_msg("distribution %d, n %zu: %.4f of the claims are false", rows[i].shape, ns[k], got);
        }
}

static void a_tenth_is_seen_through_two_percent_of_noise(void **state)
{
    (void)state;
    assert_true(claims(NORMAL, 10, 0.9) > 0.95);
    assert_true(claims(NORMAL, 10, 1.1) > 0.95);
    assert_true(claims(NORMAL, 5, 0.9) > 0.7);
    assert_true(claims(NORMAL, 100, 0.9) > 0.97);
}

static void expectations_have_exact_values_and_limits(void **state)
{
    double v[] = {8, 9, 10, 11, 12}, same[] = {7, 7, 7, 7, 7}, negative[] = {-2, -1, 0, 1, 2};
    struct stats_expected e;
    (void)state;
    assert_false(stats_expect(v, 4, 1, &e));
    assert_true(stats_expect(negative, 5, 3, &e)); /* mean 0, sd sqrt(2.5), qt(0.9875, 4) = 3.49541 */
    near(e.high, 3.495405933 * sqrt(2.5) * sqrt(1.2), 1e-8);
    near(e.low, -e.high, 1e-12);
    near(e.p, 0.15830242337545797, 1e-12);
    assert_true(stats_expect(same, 5, 7, &e));
    assert_true(e.p == 1 && e.low <= 7 && e.high >= 7);
    near(e.low, 7, 1e-14);
    near(e.high, 7, 1e-14);
    assert_true(stats_expect(same, 5, 7.5, &e));
    assert_true(e.p == 0);
    near(stats_mad(v, 5), 1, 1e-15);
    near(stats_mad((double[]){1, 1, 2, 2, 4, 6, 9}, 7), 1, 1e-15);
}

static void what_is_never_negative_is_not_expected_to_be(void **state)
{
    static const struct { double v[5], x, low; bool far; } rows[] = {
        {{8, 1, 20, 2, 5}, 0, 0, true},      /* all are positive: zero is off, and no bound is negative */
        {{0, 0, 1, 0, 9}, 2, 0, false},      /* counts */
        {{0, 0, 0, 0, 0}, 0, 0, false},
        {{-1, 0, 1, 0, 2}, 1, -5, false},    /* differences: of these a negative one may come */
        {{1, 2, 3, 2, 1}, -1, -5, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct stats_expected e;
        assert_true(stats_expect(rows[i].v, 5, rows[i].x, &e));
        if (e.low < rows[i].low || (rows[i].low < 0) != (e.low < 0) || (e.p <= STATS_EXPECT_P) != rows[i].far)
            fail_msg("row %zu: %g … %g, p %g", i, e.low, e.high, e.p);
    }
}

static void holm_keeps_the_level_over_all(void **state)
{
    static const double p[] = {0.01, 0.04, 0.03, 0.005}; /* 0.005 <= 0.05/4, 0.01 <= 0.05/3, 0.03 > 0.05/2 */
    bool sure[4];
    (void)state;
    assert_true(stats_holm(p, 4, 0.05, sure));
    assert_true(sure[0] && !sure[1] && !sure[2] && sure[3]);
    assert_true(stats_holm(p, 0, 0.05, sure));
    int wrong = 0; /* ten metrics of equal runs: in few of the comparisons is one of them claimed */
    for (int i = 0; i < 500; i++) {
        double v[10], q[10];
        bool any = false, ten[10];
        for (int m = 0; m < 10; m++) {
            struct stats_expected e;
            for (int k = 0; k < 10; k++)
                v[k] = draw(NORMAL);
            stats_expect(v, 10, draw(NORMAL), &e);
            q[m] = e.p;
        }
        assert_true(stats_holm(q, 10, STATS_EXPECT_P, ten));
        for (int m = 0; m < 10; m++)
            any = any || ten[m];
        wrong += any;
    }
    assert_true(wrong <= 25);
}

/* Metrics that are corrected together (the headline metrics, or all others), with 2 % noise: how often any is claimed where nothing has changed, and how often
 * 5 % of one are found. The help of `compare` states these. */
static void false_claims_and_power_of_a_comparison(void **state)
{
    enum { TRIALS = 2000, METRICS_MAX = 20, RUNS_MAX = 10 };
    static const struct { int runs, metrics; double power; } rows[] = { /* with three standard deviations of the simulation on each side */
        {5, 1, 0.76}, {5, 3, 0.58}, {5, 20, 0.26}, {10, 1, 0.98}, {10, 3, 0.93}, {10, 20, 0.79},
    };
    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const int runs = rows[r].runs, metrics = rows[r].metrics;
        int any = 0, found = 0;
        for (int i = 0; i < TRIALS; i++) {
            double p[METRICS_MAX], a[RUNS_MAX], b[RUNS_MAX];
            bool sure[METRICS_MAX], one = false;
            for (int m = 0; m < metrics; m++) {
                for (int k = 0; k < runs; k++)
                    a[k] = draw(NORMAL), b[k] = draw(NORMAL);
                p[m] = stats_ratio_p(a, (size_t)runs, b, (size_t)runs);
            }
            assert_true(stats_holm(p, (size_t)metrics, 0.05, sure));
            for (int m = 0; m < metrics; m++)
                one = one || sure[m];
            any += one;
            for (int k = 0; k < runs; k++)
                b[k] *= 1.05;
            p[metrics - 1] = stats_ratio_p(a, (size_t)runs, b, (size_t)runs);
            assert_true(stats_holm(p, (size_t)metrics, 0.05, sure));
            found += sure[metrics - 1];
        }
        double power = (double)found / TRIALS, width = 3 * sqrt(rows[r].power * (1 - rows[r].power) / TRIALS) + 0.005;
        if (fabs(power - rows[r].power) > width || any > 0.05 * TRIALS)
            fail_msg("%d runs, %d metrics: power %.3f, any claim %.3f", runs, metrics, power, (double)any / TRIALS);
    }
}

static void a_quantile_needs_as_many_values_as_mlperf_says(void **state)
{
    (void)state;
    assert_int_equal(stats_quantile_needs(0.5), 11);
    assert_int_equal(stats_quantile_needs(0.9), 64);
    assert_int_equal(stats_quantile_needs(0.95), 130);
    assert_int_equal(stats_quantile_needs(0.99), 662);
    assert_int_equal(stats_quantile_needs(0.999), 6636);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_false_claims), cmocka_unit_test(a_quantile_needs_as_many_values_as_mlperf_says),
        cmocka_unit_test(a_tenth_is_seen_through_two_percent_of_noise),
        cmocka_unit_test(expectations_have_exact_values_and_limits), cmocka_unit_test(what_is_never_negative_is_not_expected_to_be),
        cmocka_unit_test(holm_keeps_the_level_over_all), cmocka_unit_test(false_claims_and_power_of_a_comparison),
        cmocka_unit_test(student_t_has_the_tabulated_points), cmocka_unit_test(close_large_values_keep_their_spread),
        cmocka_unit_test(few_samples_give_no_interval),       cmocka_unit_test(quantiles_are_of_type_7),
        cmocka_unit_test(ratio_of_medians_has_price_and_bonetts_interval), cmocka_unit_test(ratio_refuses_too_little_and_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
