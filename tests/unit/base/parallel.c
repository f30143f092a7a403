/* parallel.c: each once, by several workers, what they took lasting. */
#include "base/parallel.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 10007 };

struct work {
    const char *texts[MANY];
    unsigned calls[MANY];
};

static void one(void *context, size_t i, struct arena *arena)
{
    struct work *w = context;
    w->calls[i]++;
    w->texts[i] = arena_printf(arena, "%zu", i * i);
}

static void each_is_done_once(void **state)
{
    static const size_t counts[] = {0, 1, 63, 64, 65, MANY};
    (void)state;
    for (unsigned workers = 1; workers <= PARALLEL_MAX + 1; workers += 2)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            struct work *w = calloc(1, sizeof *w);
            struct arena a;
            arena_init(&a, 0);
            parallel_each(workers, counts[k], one, w, &a);
            for (size_t i = 0; i < MANY; i++) {
                assert_int_equal(w->calls[i], i < counts[k]);
                if (i < counts[k])
                    assert_int_equal(strtoull(w->texts[i], NULL, 10), i * i);
            }
            assert_false(a.failed);
            arena_deinit(&a);
            free(w);
        }
}

static void small(void *context, size_t i, struct arena *arena)
{
    (void)context;
    if (i == 7)
        arena_get(arena, SIZE_MAX);
}

static void lack_of_memory_is_told(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    parallel_each(2, 100, small, NULL, &a);
    assert_true(a.failed);
    arena_deinit(&a);
}

static void workers_are_worth_their_while(void **state)
{
    (void)state;
    assert_int_equal(parallel_workers(0, 100), 1);
    assert_int_equal(parallel_workers(199, 100), 1);
    unsigned many = parallel_workers(1000000, 100);
    assert_true(many >= 1 && many <= PARALLEL_MAX);
    assert_true(parallel_workers(200, 100) <= 2);
}

static void blocked(void *context, size_t i, struct arena *arena)
{
    sigset_t now;
    (void)i;
    (void)arena;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (!pthread_equal(pthread_self(), *(pthread_t *)context))
        assert_true(sigismember(&now, SIGTERM));
}

static void signals_are_the_callers(void **state)
{
    struct arena a;
    sigset_t now;
    pthread_t caller = pthread_self();
    (void)state;
    arena_init(&a, 0);
    parallel_each(4, 100000, blocked, &caller, &a);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert_false(sigismember(&now, SIGTERM));
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_done_once),
        cmocka_unit_test(lack_of_memory_is_told),
        cmocka_unit_test(workers_are_worth_their_while),
        cmocka_unit_test(signals_are_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
