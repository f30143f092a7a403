/* campaign_nodes: how often nodes are named that differ by chance alone, by simulation with a fixed seed. TRIALS: how many comparisons of each kind. */
#include "recipe/campaign.h"

#include "draws.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DRAWN_MAX = 64 };
enum ring { SINGLE, PAIR_ALONE, PAIR_SLOWER, PAIR_SUM };
enum noise { NOISE_NORMAL, NOISE_LOG_NORMAL, NOISE_STUDENT4, NOISE_EXPONENTIAL, NOISE_MEDIAN, NOISES };

/* A limit that few runs reach. */
static double exponential(void)
{
    return 100 + 5 * log(draws_uniform());
}

static double median_of_five(void)
{
    double v[5];
    for (int i = 0; i < 5; i++) {
        double x = exponential();
        int k = i;
        for (; k > 0 && v[k - 1] > x; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
    return v[2];
}

static double draw(enum noise noise)
{
    double c = 0;
    switch (noise) {
    case NOISE_NORMAL: return 100 + 2 * draws_normal();
    case NOISE_LOG_NORMAL: return 100 * exp(0.2 * draws_normal());
    case NOISE_EXPONENTIAL: return exponential();
    case NOISE_MEDIAN: return median_of_five();
    default:
        for (int i = 0; i < 4; i++) {
            double y = draws_normal();
            c += y * y;
        }
        return 100 + 2 * draws_normal() / sqrt(c / 4);
    }
}

/* Values of n nodes that are all alike: of single nodes, or the better pair of each. */
static void draw_nodes(enum ring ring, enum noise noise, size_t n, double *to)
{
    double node[DRAWN_MAX], pair[DRAWN_MAX];
    for (size_t i = 0; i < n; i++)
        node[i] = draw(noise);
    for (size_t i = 0; i < n; i++) {
        double next = node[(i + 1) % n];
        pair[i] = ring == PAIR_SLOWER ? fmin(node[i], next) : ring == PAIR_SUM ? node[i] + next : node[i];
    }
    for (size_t i = 0; i < n; i++)
        to[i] = ring == SINGLE ? node[i] : fmax(pair[i], pair[(i + n - 1) % n]);
}

/* The share of comparisons that name a node. */
static double alarms(enum ring ring, enum noise noise, size_t n, int trials)
{
    int any = 0;
    for (int i = 0; i < trials; i++) {
        double v[DRAWN_MAX];
        bool differs[DRAWN_MAX], one = false;
        draw_nodes(ring, noise, n, v);
        assert_true(campaign_values_differ(v, n, ring != SINGLE, differs));
        for (size_t k = 0; k < n; k++)
            one = one || differs[k];
        any += one;
    }
    return (double)any / trials;
}

static void good_nodes_are_seldom_named(void **state)
{
    static const char *const rings[] = {"single nodes", "pairs, each with its own noise", "pairs as fast as their slower node", "pairs, sums of their nodes"};
    static const char *const noises[] = {"normal", "log-normal", "Student t, 4 degrees", "exponential", "median of five exponential ones"};
    static const size_t sizes[] = {6, 8, 16, 32};
    const char *wanted = getenv("TRIALS");
    int trials = wanted ? atoi(wanted) : 1000;
    (void)state;
    for (int r = SINGLE; r <= PAIR_SUM; r++)
        for (int k = NOISE_NORMAL; k < (wanted ? NOISES : NOISE_STUDENT4); k++)
            for (size_t i = r == SINGLE ? 0 : 1; i < (wanted ? 4 : 3); i++) {
                double rate = alarms((enum ring)r, (enum noise)k, sizes[i], trials);
                if (wanted)
                    printf("# %s, %s, %zu nodes: %.2f %%\n", rings[r], noises[k], sizes[i], 100 * rate);
                if (!wanted && rate > 0.05 + 3 * sqrt(0.05 * 0.95 / trials))
                    fail_msg("%s, %s, %zu nodes: %.3f", rings[r], noises[k], sizes[i], rate);
            }
}

static void a_bad_node_is_named(void **state)
{
    int found = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        double v[8];
        bool differs[8];
        draw_nodes(PAIR_SLOWER, NOISE_NORMAL, 8, v);
        v[2] -= 30;
        found += campaign_values_differ(v, 8, true, differs) && differs[2];
    }
    assert_int_equal(found, 200);
    assert_false(campaign_values_differ((const double[]){1, 1, 1, 1, 2}, 5, false, (bool[5]){0}));
    assert_false(campaign_values_differ((const double[]){1, 1, 1, 1, 1, 1, 2}, 7, true, (bool[7]){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_nodes_are_seldom_named), cmocka_unit_test(a_bad_node_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
