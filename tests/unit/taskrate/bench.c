/* What a measurement notes of its scheduler, where providers are found, and the line that a task becomes. */
#include "benchmarks/native/taskrate/bench.h"
#include "benchmarks/native/taskrate/provider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void facts_are_stored_once(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    char name[16];
    (void)state;
    arena_init(&b->arena, 0);
    assert_null(bench_fact_of(b, "version"));
    bench_fact(b, "version", str_of("23.02\x1b"));
    bench_fact(b, "version", str_of("24"));
    assert_int_equal(b->fact_count, 1);
    assert_true(strncmp(bench_fact_of(b, "version"), "23.02", 5) == 0);
    assert_null(strchr(bench_fact_of(b, "version"), '\x1b'));
    for (int i = 0; i < FACTS_MAX + 1; i++) {
        snprintf(name, sizeof name, "n%d", i);
        bench_fact(b, name, str_of("v"));
    }
    assert_int_equal(b->fact_count, FACTS_MAX);
    snprintf(name, sizeof name, "n%d", FACTS_MAX - 2);
    assert_string_equal(bench_fact_of(b, name), "v"); /* the last one */
    assert_null(bench_fact_of(b, "absent"));
    arena_deinit(&b->arena);
    free(b);
}

static void notes_are_stored_once(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    (void)state;
    arena_init(&b->arena, 0);
    bench_note(b, "%d nodes", 2);
    bench_note(b, "%d nodes", 3);
    bench_note(b, "2 nodes");
    assert_int_equal(b->note_count, 2);
    assert_string_equal(b->notes[0], "2 nodes");
    assert_string_equal(b->notes[1], "3 nodes");
    for (int i = 0; i < NOTES_MAX; i++)
        bench_note(b, "note %d", i);
    assert_int_equal(b->note_count, NOTES_MAX);
    arena_deinit(&b->arena);
    free(b);
}

static void providers_are_found_by_name(void **state)
{
    (void)state;
    assert_true(provider_count > 5);
    for (size_t i = 0; i < provider_count; i++)
        assert_ptr_equal(provider_find(providers[i]->name), providers[i]);
    assert_null(provider_find("slurm"));
    assert_null(provider_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(facts_are_stored_once), cmocka_unit_test(notes_are_stored_once),
                                       cmocka_unit_test(providers_are_found_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
