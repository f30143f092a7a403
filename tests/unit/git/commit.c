/* commit.c: who commits and when, as git itself would say. */
#include "git/commit.h"

#include "tests/unit/git_place.h"

static const char *ident(struct place *p)
{
    static char text[1100];
    struct repo *r;
    struct err err = {0};
    struct arena a;
    struct commit_person who;
    arena_init(&a, 0);
    if (repo_open(&r, p->path, REPO_HERE, &err))
        fail_msg("%s", err.text);
    if (commit_author(r, &a, &who, &err))
        snprintf(text, sizeof text, "%s", err.text);
    else
        snprintf(text, sizeof text, "%s <%s> %lld %+05d", who.name, who.email, (long long)who.time_s,
                 who.offset_min / 60 * 100 + who.offset_min % 60);
    repo_close(r);
    arena_deinit(&a);
    return text;
}

static void the_author_is_git_s(void **state)
{
    struct place *p = *state;
    git(p, 0, "init", "-q", ".", NULL);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("GIT_AUTHOR_DATE", "2026-02-03T04:05:06-0130", 1);
    assert_non_null(strstr(ident(p), "git does not know who commits"));
    setenv("GIT_AUTHOR_NAME", "Ada", 1);
    setenv("EMAIL", "ada@example.org", 1);
    assert_string_equal(ident(p), "Ada <ada@example.org> 1770096906 -0130");
    git(p, 0, "config", "user.useConfigOnly", "true", NULL);
    assert_non_null(strstr(ident(p), "git does not know who commits")); /* EMAIL is no configuration */
    git(p, 0, "config", "author.email", "of@the.file", NULL);
    assert_string_equal(ident(p), "Ada <of@the.file> 1770096906 -0130");
    setenv("GIT_AUTHOR_DATE", "@1700000000 +0545", 1);
    assert_string_equal(ident(p), "Ada <of@the.file> 1700000000 +0545");
    setenv("GIT_AUTHOR_DATE", "nonsense", 1);
    assert_non_null(strstr(ident(p), "GIT_AUTHOR_DATE: fatal: invalid date format: nonsense"));
    unsetenv("GIT_AUTHOR_DATE");
    unsetenv("GIT_AUTHOR_NAME");
    unsetenv("EMAIL");
    unsetenv("GIT_CONFIG_GLOBAL");
    unsetenv("GIT_CONFIG_NOSYSTEM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(the_author_is_git_s, place_begin, place_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
