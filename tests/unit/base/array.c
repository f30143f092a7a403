/* array.c: elements stay where the array grows; a capacity that cannot be had changes nothing. */
#include "base/array.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct odd {
    char name[33];
    int n;
};

static void elements_stay(void **state)
{
    struct arena a;
    struct odd *heap = NULL, *in = NULL;
    size_t heap_capacity = 0, in_capacity = 0, moves = 0;
    (void)state;
    arena_init(&a, 0);
    for (size_t n = 0; n < 5000; n++) {
        size_t before = heap_capacity;
        assert_true(ARRAY_FITS(heap, heap_capacity, n + 1));
        assert_true(ARRAY_FITS_IN(&a, in, in_capacity, n + 1));
        assert_true(heap_capacity > n && in_capacity > n);
        moves += heap_capacity != before;
        assert_int_equal(in[n].n, 0);
        heap[n] = in[n] = (struct odd){"x", (int)n};
    }
    assert_true(moves <= 11);
    for (int n = 0; n < 5000; n++)
        assert_true(heap[n].n == n && in[n].n == n && heap[n].name[0] == 'x');
    free(heap);
    arena_deinit(&a);
}

static void many_fit_at_once(void **state)
{
    char *bytes = NULL;
    size_t capacity = 0;
    (void)state;
    size_t none = 0;
    assert_true(ARRAY_FITS(bytes, capacity, none));
    assert_null(bytes);
    assert_true(ARRAY_FITS(bytes, capacity, 1));
    assert_int_equal(capacity, 512);
    assert_true(ARRAY_FITS(bytes, capacity, 100000));
    assert_int_equal(capacity, 100000);
    memset(bytes, 1, capacity);
    assert_true(ARRAY_FITS(bytes, capacity, 100001));
    assert_int_equal(capacity, 200000);
    free(bytes);
}

static void what_cannot_be_had_changes_nothing(void **state)
{
    static const size_t needs[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(struct odd), SIZE_MAX / sizeof(struct odd) + 2};
    struct arena a;
    struct odd *heap = NULL, *in = NULL, *was;
    size_t capacity = 0, in_capacity = 0;
    (void)state;
    arena_init(&a, 1000);
    assert_true(ARRAY_FITS(heap, capacity, 1) && ARRAY_FITS_IN(&a, in, in_capacity, 1));
    was = heap;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        size_t before = capacity;
        errno = 0;
        assert_false(ARRAY_FITS(heap, capacity, needs[i]));
        assert_true(errno == ENOMEM && heap == was && capacity == before);
        assert_false(ARRAY_FITS_IN(&a, in, in_capacity, needs[i]));
    }
    was = in;
    size_t before = in_capacity;
    errno = 0;
    assert_false(ARRAY_FITS_IN(&a, in, in_capacity, 20)); /* past the arena's maximum */
    assert_true(errno == ENOMEM && in == was && in_capacity == before && a.failed);
    free(heap);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_stay), cmocka_unit_test(many_fit_at_once),
                                       cmocka_unit_test(what_cannot_be_had_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
