/* run_counters: what the kernel's counters become: scaled where they shared the processor's, missing with the reason where they did not count. */
#include "run/counters.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CYCLES, INSTRUCTIONS, REFERENCES, MISSES, BRANCHES, BRANCH_MISSES };

static const char *reason(const struct record *r, const char *key)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_MISSING && str_is(f->key, key))
            return f->text.p;
    return "";
}

static void counters_become_metrics(void **state)
{
    struct record r;
    (void)state;
    struct counter_value v[COUNTERS_COUNT] = {0};
    record_init(&r, "0123456789abcdef0123456789abcdef", 1);
    counters_record(&r, v, 5);
    assert_null(r.first); /* not asked for */
    for (size_t i = 0; i < COUNTERS_COUNT; i++)
        v[i] = (struct counter_value){.asked = 1, .error = ENOENT};
    v[CYCLES] = (struct counter_value){.value = 1000, .enabled_ns = 100, .running_ns = 100, .asked = 1};
    v[INSTRUCTIONS] = (struct counter_value){.value = 1250, .enabled_ns = 100, .running_ns = 50, .asked = 1};
    v[REFERENCES] = (struct counter_value){.value = 7, .enabled_ns = 100, .running_ns = 0, .asked = 1};
    v[BRANCHES] = (struct counter_value){.error = EACCES, .asked = 1};
    counters_record(&r, v, 5);
    assert_true(record_number(&r, "counters.cycles", -1) == 1000);
    assert_true(record_number(&r, "counters.instructions", -1) == 2500);
    assert_true(record_number(&r, "counters.instructions_per_cycle", -1) == 2.5);
    assert_true(record_number(&r, "counters.counted_percent", -1) == 50);
    assert_true(record_number(&r, "counters.cache_references", -1) == -1);
    assert_non_null(strstr(reason(&r, "counters.cache_references"), "never counted"));
    assert_non_null(strstr(reason(&r, "counters.cache_misses"), "virtual machines"));
    assert_non_null(strstr(reason(&r, "counters.branches"), "perf_event_paranoid"));
    assert_true(record_number(&r, "counters.cache_misses_percent", -1) == -1);
    record_deinit(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_become_metrics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
