/* sandbox.c: work in a child process: its findings, and what is reported where it cannot start. */
#include "check/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>

#include <cmocka.h>

static void report_one(const struct verify_state *t, struct run_check *r, const void *context)
{
    (void)r;
    t->tell(t->context, CHECK_TRUTH, "metrics/x", context);
}

/* The findings of one run of the work, and the text of the first. */
static size_t run_work(struct check_state *k, const char **ret_text)
{
    struct run_check r = {.k = k, .path = "mlruns/1/r"};
    arena_init(&r.a, 0);
    sandbox_run(&r, &(struct sandbox_work){report_one, "differs", CHECK_RULES, "reading the output", "artifacts/rules.yaml"});
    arena_deinit(&r.a);
    *ret_text = k->first ? k->first->text : "";
    return k->count;
}

static void findings_of_the_child_are_reported(void **state)
{
    struct arena a;
    struct check_state k;
    const char *text;
    (void)state;
    arena_init(&a, 0);
    check_begin(&k, &a);
    assert_int_equal(run_work(&k, &text), 1);
    assert_int_equal(k.first->id, CHECK_TRUTH);
    assert_string_equal(text, "differs");
    check_end(&k);
    arena_deinit(&a);
}

/* Without a pipe nothing is verified: that must not look like a run without findings. */
static void a_missing_pipe_is_reported(void **state)
{
    struct arena a;
    struct check_state k;
    struct rlimit was, none;
    const char *text;
    (void)state;
    arena_init(&a, 0);
    check_begin(&k, &a);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = (struct rlimit){0, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    size_t count = run_work(&k, &text);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(count, 1);
    assert_int_equal(k.first->id, CHECK_LIMIT);
    assert_string_equal(text, "reading the output: cannot start a child process: Too many open files");
    check_end(&k);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(findings_of_the_child_are_reported), cmocka_unit_test(a_missing_pipe_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
