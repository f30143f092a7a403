/* config.c: the configuration that git would have: what the environment sets, files included where a remote is; git itself is the judge. */
#include "tests/unit/git_place.h"

#include "git/repo.h"

static void set_all(const char *const *pairs, bool on)
{
    for (; *pairs; pairs += 2)
        if (on)
            setenv(pairs[0], pairs[1], 1);
        else
            unsetenv(pairs[0]);
}

static const char *value(struct place *p, const char *key)
{
    static char text[1000];
    struct repo *r;
    struct err err = {0};
    struct arena a;
    const char *found = "(none)";
    arena_init(&a, 0);
    if (repo_open(&r, p->path, REPO_HERE, &err) || repo_config(r, key, &a, &found, &err) < 0)
        fail_msg("%s", err.text);
    snprintf(text, sizeof text, "%s", found);
    repo_close(r);
    arena_deinit(&a);
    return text;
}

static void the_environment_sets_keys(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    static const char *const env[] = {"GIT_CONFIG_COUNT",
                                      "6",
                                      "GIT_CONFIG_KEY_0",
                                      "User.Name",
                                      "GIT_CONFIG_VALUE_0",
                                      "first",
                                      "GIT_CONFIG_KEY_1",
                                      "user.NAME",
                                      "GIT_CONFIG_VALUE_1",
                                      "Zoe \"x\"\nof two lines",
                                      "GIT_CONFIG_KEY_2",
                                      "gpg.ssh.defaultKeyCommand",
                                      "GIT_CONFIG_VALUE_2",
                                      "one two",
                                      "GIT_CONFIG_KEY_3",
                                      "gpg.SSH.program",
                                      "GIT_CONFIG_VALUE_3",
                                      "another subsection",
                                      "GIT_CONFIG_KEY_4",
                                      "commit.gpgSign",
                                      "GIT_CONFIG_VALUE_4",
                                      "Yes",
                                      "GIT_CONFIG_KEY_5",
                                      "a.no",
                                      "GIT_CONFIG_VALUE_5",
                                      "off",
                                      NULL};
    git(p, 0, "init", "-q", ".", NULL);
    git(p, 0, "config", "user.name", "of the file", NULL);
    git(p, 0, "config", "own.key", "kept", NULL);
    set_all(env, true);
    assert_string_equal(value(p, "user.name"), "Zoe \"x\"\nof two lines");
    assert_string_equal(value(p, "gpg.ssh.defaultkeycommand"), "one two");
    assert_string_equal(value(p, "gpg.ssh.program"), "(none)"); /* subsections are of one case of letters */
    assert_string_equal(value(p, "own.key"), "kept");
    assert_int_equal(repo_open(&r, p->path, REPO_HERE, &err), 0);
    assert_true(repo_config_on(r, "commit.gpgsign", false) && !repo_config_on(r, "a.no", true) && repo_config_on(r, "no.such", true));
    assert_int_equal(repo_config_set(r, "own.key", "new", &err), 0);
    repo_close(r);
    assert_string_equal(value(p, "own.key"), "new");
    setenv("GIT_CONFIG_COUNT", "nonsense", 1);
    assert_int_equal(repo_open(&r, p->path, REPO_HERE, &err), -1); /* as git says */
    assert_non_null(strstr(err.text, "(git config --list): fatal: "));
    set_all(env, false);
    assert_string_equal(value(p, "user.name"), "of the file");
}

static void files_are_included_where_a_remote_is(void **state)
{
    struct place *p = *state;
    git(p, 0, "init", "-q", ".", NULL);
    fs_write(p->dir, "work", STR("[test]\nmail = at@work\n[commit]\ngpgsign\n"), 0666, false, NULL);
    fs_write(p->dir, "global", STR("[test]\nmail = at@home\n[includeIf \"hasconfig:remote.*.url:https://work.example/**\"]\npath = work\n"),
             0666, false, NULL);
    char global[100];
    snprintf(global, sizeof global, "%s/global", p->path);
    setenv("GIT_CONFIG_GLOBAL", global, 1);
    assert_string_equal(value(p, "test.mail"), git(p, 0, "config", "test.mail", NULL));
    git(p, 0, "remote", "add", "origin", "https://work.example/a/b.git", NULL);
    assert_string_equal(value(p, "test.mail"), git(p, 0, "config", "test.mail", NULL)); /* at@work, of git 2.36 and newer */
    unsetenv("GIT_CONFIG_GLOBAL");
}

static void ceilings_are_not_passed(void **state)
{
    struct place *p = *state;
    struct repo *r = NULL;
    struct err err = {0};
    char sub[100];
    git(p, 0, "init", "-q", ".", NULL);
    fs_mkdirs(p->dir, "a/b", 0777, NULL);
    snprintf(sub, sizeof sub, "%s/a/b", p->path);
    assert_int_equal(repo_open(&r, sub, 0, &err), 0);
    repo_close(r);
    setenv("GIT_CEILING_DIRECTORIES", p->path, 1);
    assert_int_equal(repo_open(&r, sub, 0, &err), 1);
    unsetenv("GIT_CEILING_DIRECTORIES");
}

/* safe.directory where libgit2 does not look for it. */
static void git_knows_whom_to_trust(void **state)
{
    struct place *p = *state;
    struct repo *r = NULL;
    struct err err = {0};
    const char *env[] = {"GIT_CONFIG_COUNT", "1", "GIT_CONFIG_KEY_0", "safe.directory", "GIT_CONFIG_VALUE_0", p->path, NULL};
    git(p, 0, "init", "-q", ".", NULL);
    if (geteuid() != 0 || fchown(p->dir, 12345, (gid_t)-1) || fchownat(p->dir, ".git", 12345, (gid_t)-1, 0))
        skip();
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    assert_int_equal(repo_open(&r, p->path, 0, &err), -1);
    assert_non_null(strstr(err.text, "safe.directory"));
    set_all(env, true);
    assert_int_equal(repo_open(&r, p->path, 0, &err), 0);
    repo_close(r);
    set_all(env, false);
    assert_int_equal(repo_open(&r, p->path, 0, &err), -1); /* for that one alone */
    unsetenv("GIT_CONFIG_GLOBAL");
    unsetenv("GIT_CONFIG_NOSYSTEM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_environment_sets_keys, place_begin, place_end),
        cmocka_unit_test_setup_teardown(files_are_included_where_a_remote_is, place_begin, place_end),
        cmocka_unit_test_setup_teardown(ceilings_are_not_passed, place_begin, place_end),
        cmocka_unit_test_setup_teardown(git_knows_whom_to_trust, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
