/* search.c: the search for the highest rate, against servers of known capacity whose runs vary as real ones do. */
#include "benchmarks/native/llmload/random.h"
#include "benchmarks/native/llmload/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A server that meets the objectives up to `capacity`, a run of `seconds`, hiccups in this share of the runs, a late client in that. */
struct server {
    double capacity, seconds, hiccups, late;
    uint64_t random;
    unsigned runs;
};

static double server_random(struct server *s)
{
    return random_unit(random_mix(s->random++));
}

/* The number of arrivals varies as Poisson's; above the capacity the queue grows, so that the later ones miss; hiccups spoil a tenth or more. */
static int server_try(void *context, double level, struct search_trial *ret, struct err *err)
{
    struct server *s = context;
    double n = level * s->seconds, spoilt = 0;
    (void)err;
    n = fmax(1, round(n + sqrt(n) * random_normal(random_mix(s->random), random_mix(s->random + 1))));
    s->random += 2;
    ret->sent_rate = ret->offered_rate = n / s->seconds;
    double over = ret->sent_rate / s->capacity;
    double share = over <= 1 ? 0.9985 : over < 1.01 ? 0.99 - (over - 1) : 0.5 / over;
    if (server_random(s) < s->hiccups)
        spoilt = 0.1 + 0.3 * server_random(s);
    ret->is_late = server_random(s) < s->late;
    if (ret->is_late)
        spoilt = 0.5;
    ret->due = (uint64_t)n;
    for (uint64_t i = 0; i < ret->due; i++)
        ret->good += server_random(s) < share * (1 - spoilt);
    s->runs++;
    return 0;
}

static void the_known_rate_is_found(void **state)
{
    static const struct {
        double capacity, begin, seconds, hiccups, late;
    } rows[] = {{160, 10, 10, 0, 0}, {160, 1000, 10, 0.05, 0}, {160, 1, 20, 0.03, 0.1}, {3000, 100, 1, 0.03, 0.2}, {7, 1, 120, 0, 0}};
    unsigned wrong = 0, found = 0, all = 0;
    (void)state;
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
        for (uint64_t i = 0; i < 60; i++, all++) {
            struct server server = {rows[k].capacity, rows[k].seconds, rows[k].hiccups, rows[k].late, random_at(k, 1, i), 0};
            struct rate_search s = {.share = 0.99, .begin = rows[k].begin};
            assert_int_equal(search_run(&s, server_try, &server, NULL), 0);
            assert_true(server.runs <= 90); /* late ones among them */
            found += !s.why;
            wrong += !s.why && fabs(s.rate / rows[k].capacity - 1) > 0.05;
        }
    assert_int_equal(wrong, 0);
    assert_true(found > all * 3 / 4);
}

/* A queue of one slot with Poisson arrivals: bursts spoil some runs and spare others, at one rate. Its 99 % bound, 43.6 a second for 60 ms with
 * 12.5 ms each, is from a simulation of ten million requests. */
static int queue_try(void *context, double level, struct search_trial *ret, struct err *err)
{
    struct server *s = context;
    double t = 0, free_at = 0;
    (void)err;
    while ((t -= log(1 - server_random(s)) / level) < s->seconds) {
        free_at = fmax(t, free_at) + 0.0125;
        ret->due++;
        ret->good += free_at - t <= 0.06;
    }
    ret->sent_rate = ret->offered_rate = (double)ret->due / s->seconds;
    s->runs++;
    return 0;
}

static void bursts_do_not_raise_the_answer(void **state)
{
    static const double seconds[] = {2, 10, 60};
    unsigned found[3] = {0}, wrong = 0, close[3] = {0};
    double sum = 0;
    (void)state;
    for (unsigned k = 0; k < 3; k++)
        for (uint64_t i = 0; i < 40; i++) {
            struct server server = {.seconds = seconds[k], .random = random_at(k, 3, i)};
            struct rate_search s = {.share = 0.99, .begin = 10, .least = 2 / seconds[k]};
            assert_int_equal(search_run(&s, queue_try, &server, NULL), 0);
            found[k] += !s.why;
            wrong += !s.why && fabs(s.rate / 43.6 - 1) > 0.1;
            close[k] += !s.why && fabs(s.rate / 43.6 - 1) <= search_uncertainty(1 / sqrt(43.6 * seconds[k]));
            sum += k == 2 && !s.why ? s.rate / 43.6 - 1 : 0;
        }
    assert_true(found[0] <= 4); /* runs of 80 requests: inconclusive, and warned of */
    assert_true(found[2] > 35);
    assert_true(wrong <= 4);
    assert_true(found[1] >= 8 && close[1] >= 0.9 * found[1]); /* the uncertainty that is reported: 12 % at 436 requests a run */
    assert_true(close[2] >= 0.9 * found[2]);
    assert_true(fabs(sum / found[2]) < 0.03);
}

/* Ends: a client that is always late, a rate that nothing meets, one that nothing misses. */
static void what_cannot_be_found_has_a_reason(void **state)
{
    struct err err = {0};
    (void)state;
    struct server late = {160, 10, 0, 1, 1, 0}, none = {0.001, 10, 0, 0, 1, 0}, fast = {1e12, 0.001, 0, 0, 1, 0};
    struct rate_search s = {.share = 0.99, .begin = 300};
    assert_int_equal(search_run(&s, server_try, &late, &err), 0);
    assert_string_equal(s.why, "the client was late");
    s = (struct rate_search){.share = 0.99, .begin = 10, .least = 0.2};
    assert_int_equal(search_run(&s, server_try, &none, &err), 0);
    assert_true(!s.why && s.rate == 0);
    s = (struct rate_search){.share = 0.99, .begin = 10};
    assert_int_equal(search_run(&s, server_try, &fast, &err), 0);
    assert_string_equal(s.why, "no rate was too high");
}

static void misses_are_no_accident(void **state)
{
    (void)state;
    assert_false(search_is_missed(10, 10, 0.99));
    assert_false(search_is_missed(9, 10, 0.99)); /* 9.6 % by chance */
    assert_true(search_is_missed(8, 10, 0.99));
    assert_false(search_is_missed(985, 1000, 0.99)); /* 8.2 % */
    assert_true(search_is_missed(980, 1000, 0.99));
    assert_true(search_is_missed(9, 10, 1));
    assert_false(search_is_missed(0, 0, 0.99));
    assert_int_equal(search_least(0.99), 299);
    assert_int_equal(search_least(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_known_rate_is_found), cmocka_unit_test(bursts_do_not_raise_the_answer),
                                       cmocka_unit_test(what_cannot_be_found_has_a_reason),
                                       cmocka_unit_test(misses_are_no_accident)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
