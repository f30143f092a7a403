/* Figures of batches whose times are known: rates, quantiles, concurrency, losses; the model and METG50 of made-up sweeps. */
#include "benchmarks/native/taskrate/figures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const int64_t ms = 1000000;

static void close_to(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9 * fabs(expected) + 1e-12))
        fail_msg("got %.12g, expected %.12g", got, expected);
}

/* 100 tasks: submitted every ms, call of 0.5 ms, start 2 ms after submission, 10 ms long, known 1 ms after the end. */
static void fill(struct bench *b, struct task_batch *batch)
{
    struct err err;
    memset(b, 0, sizeof *b);
    assert_int_equal(tasks_init(&b->tasks, 200, &err), 0);
    assert_int_equal(tasks_begin(&b->tasks, 100, &err), 0);
    assert_int_equal(clocks_begin(&b->clocks, &err), 0);
    for (int i = 0; i < 100; i++) {
        int64_t a = 1000000000 + i * ms;
        b->tasks.submit[i] = a;
        b->tasks.submitted[i] = a + ms / 2;
        b->tasks.self[i] = (struct wire_stamps){a + 2 * ms, a + 12 * ms};
        b->tasks.known[i] = a + 13 * ms;
        b->tasks.status[i] = 0;
        b->tasks.flags[i] = TASK_SUBMITTED | TASK_STAMPED | TASK_ENDED;
    }
    *batch = (struct task_batch){.tasks = 100, .duration = 0.01, .slots = 20, .begin = 1000000000, .end = 1000000000 + 112 * ms};
}

static void empty(struct bench *b)
{
    tasks_deinit(&b->tasks);
    clocks_deinit(&b->clocks);
}

static void complete(void **state)
{
    struct bench b;
    struct task_batch x;
    (void)state;
    fill(&b, &x);
    figures_of(&b, &x);
    assert_true(x.complete);
    assert_null(x.no_throughput);
    close_to(x.makespan, 0.111);
    close_to(x.throughput, 100 / 0.111);
    close_to(x.client_throughput, 100 / 0.112);
    close_to(x.submit_rate, 100 / 0.0995);
    close_to(x.steady, 1000);
    close_to(x.start.at[0], 0.002);
    close_to(x.run.at[4], 0.010);
    close_to(x.completed.at[3], 0.001);
    close_to(x.turnaround.mean, 0.013);
    close_to(x.concurrency_max, 10);
    close_to(x.concurrency_mean, 1.0 / 0.109);
    close_to(x.idle, 1 - 1.0 / (0.111 * 20));
    assert_int_equal(x.nodes, 1);
    close_to(x.clock_width, 0);
    empty(&b);
}

/* One task of 12 ms shows no rate; its span is one all the same. */
static void few_tasks_in_a_short_time(void **state)
{
    struct bench b;
    struct task_batch x;
    (void)state;
    fill(&b, &x);
    b.tasks.n = 1, x.tasks = 1;
    figures_of(&b, &x);
    assert_true(x.complete && x.too_brief);
    assert_null(x.no_throughput);
    close_to(x.makespan, 0.012);
    close_to(x.throughput, 0);
    close_to(x.client_throughput, 0);
    close_to(x.ended_rate, 0);
    close_to(x.submit_rate, 0);
    empty(&b);
}

static void losses(void **state)
{
    struct bench b;
    struct task_batch x;
    (void)state;
    fill(&b, &x);
    b.tasks.flags[99] = TASK_SUBMITTED; /* the last one never told */
    b.tasks.known[99] = b.tasks.self[99].start = b.tasks.self[99].end = 0;
    b.tasks.status[7] = 3;
    b.tasks.flags[8] |= TASK_TWICE;
    b.tasks.duplicates = 1;
    figures_of(&b, &x);
    assert_int_equal(x.lost, 1);
    assert_int_equal(x.failed, 1);
    assert_int_equal(x.duplicates, 1);
    assert_int_equal(x.ended, 99);
    close_to(x.throughput, 0);
    close_to(x.ended_rate, 99 / 0.110);
    assert_string_equal(x.no_throughput, "tasks were lost: this is no throughput");
    empty(&b);
    fill(&b, &x);
    b.tasks.flags[5] = TASK_SUBMITTED | TASK_REFUSED;
    figures_of(&b, &x);
    assert_int_equal(x.refused, 1);
    assert_int_equal(x.submitted, 99);
    assert_int_equal(x.lost, 0);
    assert_string_equal(x.no_throughput, "the batch was not completed: this is no throughput");
    empty(&b);
    fill(&b, &x);
    x.given_up = true;
    b.tasks.flags[5] = TASK_SUBMITTED;
    figures_of(&b, &x);
    assert_int_equal(x.cancelled, 1);
    assert_int_equal(x.lost, 0);
    empty(&b);
}

static void sorting(void **state)
{
    int64_t v[997];
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 997; i++)
        v[i] = (int64_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 40) - 4000000;
    tasks_sort(v, 997);
    for (int i = 1; i < 997; i++)
        assert_true(v[i - 1] <= v[i]);
    int64_t few[] = {10, 20, 30, 40};
    close_to(tasks_quantile(few, 4, 0.5), 25);
    close_to(tasks_quantile(few, 4, 1), 40);
    close_to(tasks_quantile(few, 1, 0.99), 10);
}

/* Batches that follow makespan = n T / slots + t_s (n / slots)^alpha. */
static void made_up(struct bench *b, const size_t *sizes, size_t n, const double *durations, size_t d, double t_s, double alpha)
{
    memset(b, 0, sizeof *b);
    b->batches = calloc(n * d * 3, sizeof *b->batches);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            for (unsigned r = 0; r < 3; r++) {
                double per_slot = (double)sizes[i] / 8, span = per_slot * durations[k] + t_s * pow(per_slot, alpha);
                b->batches[b->batch_count++] =
                    (struct task_batch){.tasks = sizes[i], .duration = durations[k], .repetition = r, .slots = 8, .makespan = span, .throughput = (double)sizes[i] / span, .complete = true};
            }
}

static void the_model(void **state)
{
    struct bench b;
    struct batch_group *g = calloc(GROUPS_MAX, sizeof *g);
    struct model m;
    struct metg metg;
    (void)state;
    size_t n;
    made_up(&b, (size_t[]){80, 800, 8000}, 3, (double[]){0, 0.1}, 2, 0.02, 1.25);
    n = figures_groups(&b, g);
    assert_int_equal(n, 6);
    assert_int_equal(g[0].throughput.n, 3);
    figures_model(g, n, &m);
    assert_true(m.known && !m.alpha_assumed && m.points == 3);
    close_to(m.t_s, 0.02);
    close_to(m.alpha, 1.25);
    figures_metg(g, n, &m, &metg); /* the largest size: 1000 a slot: T = 0.02 * 1000^0.25 = 0.11247, above the durations measured */
    assert_true(isnan(metg.seconds) && fabs(metg.high - 4 * 0.02 * pow(1000, 0.25)) < 1e-6); /* a range, which what was measured bounds */
    assert_true(metg.low >= 0.1 && metg.low < metg.high);
    free(b.batches);
    made_up(&b, (size_t[]){80}, 1, (double[]){0.022, 0.04}, 2, 0.03, 1); /* 42 % and 57 % */
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    assert_true(m.alpha_assumed);
    close_to(m.t_s, 0.03);
    figures_metg(g, n, &m, &metg);
    close_to(metg.seconds, 0.03); /* a task costs as much at both: the efficiencies say exactly where it is as long as that */
    assert_false(metg.at_most || metg.at_least);
    free(b.batches);
    static const double costs[] = {0.003, 0.03, 0.3}; /* durations far apart: a range with the cost in it, not the middle of the durations */
    for (size_t i = 0; i < 3; i++) {
        made_up(&b, (size_t[]){80}, 1, (double[]){0.001, 1}, 2, costs[i], 1);
        n = figures_groups(&b, g);
        figures_model(g, n, &m);
        figures_metg(g, n, &m, &metg);
        assert_true(isnan(metg.seconds) && metg.low >= 0.001 && metg.low <= costs[i] && costs[i] <= metg.high && metg.high <= 1 && metg.high / metg.low < 6.3);
        free(b.batches);
    }
    made_up(&b, (size_t[]){80}, 1, (double[]){0.02, 0.04}, 2, 0.03, 1);
    for (size_t i = 0; i < b.batch_count; i++) /* the longer duration keeps less than half of the slots busy, the shorter one more */
        b.batches[i].makespan = b.batches[i].duration == 0.02 ? 0.25 : 1;
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    figures_metg(g, n, &m, &metg);
    assert_true(isnan(metg.seconds) && isnan(metg.low) && strstr(metg.how, "a longer duration kept less"));
    free(b.batches);
    made_up(&b, (size_t[]){3}, 1, (double[]){0.01, 1}, 2, 0.03, 1); /* of 8 slots */
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    figures_metg(g, n, &m, &metg);
    assert_true(isnan(metg.seconds) && isnan(metg.low) && strstr(metg.how, "so few tasks"));
    free(b.batches);
    made_up(&b, (size_t[]){80, 800, 8000}, 3, (double[]){0}, 1, 0.02, 0.5);
    for (size_t i = 0; i < b.batch_count; i++) /* scattered sizes: an exponent's interval that would reach below zero is none */
        b.batches[i].makespan *= b.batches[i].tasks == 800 ? 3 : 1;
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    assert_true(m.points == 3 && isnan(m.alpha_low) && isnan(m.alpha_high) && m.t_low > 0);
    free(b.batches);
    made_up(&b, (size_t[]){80, 800, 8000}, 3, (double[]){0}, 1, 0.02, 1.25);
    for (size_t i = 0; i < b.batch_count; i++) /* 1, -2 and 1 % off the line: the same line, and residuals of squares 6e-4 */
        b.batches[i].makespan *= exp(b.batches[i].tasks == 800 ? -0.02 : 0.01);
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    close_to(m.t_s, 0.02);
    close_to(m.alpha, 1.25);
    double t = 12.7062; /* Student's, of one degree; errors: 0.01 sqrt(3) / ln 10 of the exponent, 0.01 sqrt(14) of ln t_s */
    assert_true(fabs(m.alpha_low - (1.25 - t * 0.01 * sqrt(3) / log(10))) < 1e-5 && fabs(m.alpha_high - (1.25 + t * 0.01 * sqrt(3) / log(10))) < 1e-5);
    assert_true(fabs(log(m.t_low / 0.02) + t * 0.01 * sqrt(14)) < 1e-4 && fabs(log(m.t_high / 0.02) - t * 0.01 * sqrt(14)) < 1e-4);
    free(b.batches);
    made_up(&b, (size_t[]){80}, 1, (double[]){1}, 1, 0.03, 1);
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    figures_metg(g, n, &m, &metg);
    assert_true(metg.at_most);
    close_to(metg.seconds, 1);
    b.batches[0].throttled = true; /* a limited run says nothing of the scheduler */
    n = figures_groups(&b, g);
    figures_model(g, n, &m);
    figures_metg(g, n, &m, &metg);
    assert_true(isnan(metg.seconds));
    assert_false(m.known);
    free(b.batches);
    free(g);
}

/* Time of a batch of n tasks of duration t on each of 8 slots, for launchers of several kinds. */
typedef double launcher_law(double n, double t);
static double each_costs(double n, double t) { return n * (t + 0.02); } /* each task costs 20 ms */
static double one_at_a_time(double n, double t) { return fmax(n * t, 8 * n * 0.005); } /* a task is started each 5 ms */
static double one_at_a_time_and_cost(double n, double t) { return fmax(n * (t + 0.004), 8 * n * 0.005); } /* a task is started each 5 ms, and costs 4 ms */
static double is_polled(double n, double t) { return n * 0.05 * ceil(t / 0.05 - 1e-9); } /* the end of a task is noticed each 50 ms */
static double starts_late(double n, double t) { return 2 + n * t; } /* the batch waits 2 s */
static double cost_grows(double n, double t) { return n * (t + 0.01 * sqrt(1 + t / 0.01)); } /* a longer task costs more */
/* The cost of a task grows from 10 ms at t = 0 to 20 ms from t = 10 ms on. */
static double cost_doubles(double n, double t) { return n * (t + 0.01 * (1 + fmin(1, t / 0.01))); }
static double is_smooth(double n, double t) { return n * t / (1 - exp(-t / 0.03)); } /* no task seems shorter than 30 ms */
static double is_round(double n, double t) { return n * hypot(t, 0.03); } /* the same, with a wide transition */
static double contention(double n, double t) { return n * t + 0.003 * pow(n, 1.4); } /* more tasks cost more each */
static double two_phases(double n, double t) { return n * fmax(t, 0.01) + n * 0.005; } /* at least 10 ms, and 5 ms of cleaning up */

static double half_busy(launcher_law *law, double n)
{
    double low = 1e-6, high = 10;
    for (int i = 0; i < 200; i++) {
        double middle = sqrt(low * high);
        if (n * middle / law(n, middle) >= 0.5)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void metg_of_known_launchers(void **state)
{
    static launcher_law *const laws[] = {each_costs, one_at_a_time, one_at_a_time_and_cost, is_polled,  starts_late, cost_grows,
                                         cost_doubles, is_smooth,   is_round,               contention, two_phases};
    static const double shorter[] = {0, 0.02, 0.1, 0.3, 0.5, 0.75, 0.95}, longer[] = {1.02, 1.3, 2, 5, 15, 90};
    struct batch_group *g = calloc(GROUPS_MAX, sizeof *g);
    size_t values = 0;
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        for (size_t s = 0; s < sizeof shorter / sizeof *shorter; s++)
            for (size_t l = 0; l < sizeof longer / sizeof *longer; l++) {
                struct bench b;
                struct model m;
                struct metg metg;
                double truth = half_busy(laws[i], 100), durations[] = {shorter[s] * truth, longer[l] * truth};
                made_up(&b, (size_t[]){800}, 1, durations, 2, 0, 1);
                for (size_t k = 0; k < b.batch_count; k++)
                    b.batches[k].makespan = laws[i](100, b.batches[k].duration ? b.batches[k].duration : 1e-9);
                size_t n = figures_groups(&b, g);
                figures_model(g, n, &m);
                figures_metg(g, n, &m, &metg);
                free(b.batches);
                if (metg.at_most || isnan(metg.low)) {
                    assert_true(isnan(metg.seconds) || (metg.at_most && metg.seconds >= truth));
                    continue;
                }
                if (!(metg.low <= truth * 1.0001 && truth <= metg.high * 1.0001))
                    fail_msg("law %zu, %g and %g of %g: between %g and %g", i, shorter[s], longer[l], truth, metg.low, metg.high);
                if (isfinite(metg.seconds) && fabs(log(metg.seconds / truth)) > log(1.35))
                    fail_msg("law %zu, %g and %g of %g: %g", i, shorter[s], longer[l], truth, metg.seconds);
                values += isfinite(metg.seconds);
            }
    assert_true(values > 100);
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(complete), cmocka_unit_test(few_tasks_in_a_short_time), cmocka_unit_test(losses), cmocka_unit_test(sorting), cmocka_unit_test(the_model), cmocka_unit_test(metg_of_known_launchers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
