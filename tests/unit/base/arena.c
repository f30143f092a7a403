/* arena.c: zeroed, aligned pieces that stay where they are, and a maximum that is kept. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void pieces_do_not_overlap(void **state)
{
    struct arena a;
    unsigned char *p[2000];
    size_t n[2000];
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < 2000; i++) {
        n[i] = i % 97 == 0 ? 20000 + i : i % 61;
        p[i] = arena_get(&a, n[i]);
        assert_non_null(p[i]);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        for (size_t k = 0; k < n[i]; k++)
            assert_int_equal(p[i][k], 0);
        memset(p[i], (int)(i % 251) + 1, n[i]);
    }
    for (size_t i = 0; i < 2000; i++)
        for (size_t k = 0; k < n[i]; k++)
            assert_int_equal(p[i][k], i % 251 + 1);
    arena_deinit(&a);
}

static void the_maximum_is_kept(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a, 1000);
    assert_non_null(arena_get(&a, 900));
    assert_null(arena_get(&a, 200));
    assert_true(a.failed);
    assert_non_null(arena_get(&a, 16)); /* what fits still goes in; failed stays */
    assert_true(a.failed);
    arena_deinit(&a);
    assert_true(a.used == 0 && a.max == 1000 && !a.failed);
    arena_init(&a, 0);
    assert_null(arena_get(&a, SIZE_MAX));
    assert_null(arena_get(&a, SIZE_MAX / 2));
    assert_true(a.failed);
    arena_deinit(&a);
}

static void another_arenas_pieces_are_taken_over(void **state)
{
    struct arena a, b;
    (void)state;
    arena_init(&a, 0);
    arena_init(&b, 0);
    arena_adopt(&a, &b); /* both empty */
    assert_true(a.used == 0 && !a.failed);
    for (int round = 0; round < 3; round++) { /* into an empty one, into one in use; of one block, of several */
        const char *own = arena_dup(&a, "own", 3), *texts[200];
        for (int i = 0; i < 200; i++)
            texts[i] = arena_printf(&b, "%d%*s", i, round * 300, "");
        size_t used = a.used + b.used;
        arena_adopt(&a, &b);
        assert_true(a.used == used && b.used == 0 && !b.last);
        assert_string_equal(own, "own");
        for (int i = 0; i < 200; i++)
            assert_int_equal(strtol(texts[i], NULL, 10), i);
    }
    arena_init(&b, 8);
    assert_null(arena_get(&b, 100));
    arena_adopt(&a, &b);
    assert_true(a.failed && !b.failed && b.max == 8);
    arena_deinit(&a); /* a leak, or one freed twice, is the sanitizer's to find */
}

static void texts(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    assert_string_equal(arena_dup(&a, "abcdef", 3), "abc");
    assert_string_equal(arena_dup(&a, NULL, 0), "");
    assert_string_equal(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    char big[5000];
    memset(big, 'b', 4999);
    big[4999] = 0;
    assert_string_equal(arena_printf(&a, "%s", big), big);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_do_not_overlap), cmocka_unit_test(the_maximum_is_kept),
                                       cmocka_unit_test(another_arenas_pieces_are_taken_over), cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
