/* repo.c: opening repositories of every shape, names, objects, configuration; git itself is the judge. */
#include "git/repo.h"

#include "git/tree.h"
#include "tests/unit/git_place.h"

static void fill(struct place *p)
{
    git(p, 0, "init", "-q", ".", NULL);
    fs_mkdirs(p->dir, "a/b", 0777, NULL);
    fs_create(p->dir, "a/b/c", STR("deep\n"), 0666, NULL);
    fs_create(p->dir, "a.txt", STR("flat\n"), 0666, NULL);
    fs_create(p->dir, "run", STR("x"), 0777, NULL);
    git(p, 0, "add", ".", NULL);
    git(p, 0, "commit", "-qm", "first\n\nbody", NULL);
    git(p, 0, "tag", "-a", "-m", "t", "v1", NULL);
    fs_write(p->dir, "a.txt", STR("flat two\n"), 0666, false, NULL);
    git(p, 0, "commit", "-qam", "second", NULL);
}

static void ids_are_forty_digits(void **state)
{
    struct repo_id id, again;
    char hex[REPO_HEX];
    (void)state;
    assert_true(repo_id_parse(&id, STR("00ff0123456789abcdefABCDEF00112233445566")));
    repo_id_hex(&id, hex);
    assert_string_equal(hex, "00ff0123456789abcdefabcdef00112233445566");
    assert_true(repo_id_parse(&again, str_of(hex)) && repo_id_eq(&id, &again));
    assert_false(repo_id_parse(&id, STR("00ff0123456789abcdefABCDEF0011223344556")));
    assert_false(repo_id_parse(&id, STR("0xff0123456789abcdefABCDEF00112233445566")));
    assert_false(repo_id_parse(&id, STR("+1ff0123456789abcdefABCDEF00112233445566")));
}

static void every_shape_is_opened(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    char path[200];
    fill(p);
    git(p, 0, "clone", "-q", "--bare", ".", "bare.git", NULL);
    git(p, 0, "worktree", "add", "-q", "wt", "-b", "other", NULL);
    snprintf(path, sizeof path, "file://%s", p->path);
    git(p, 0, "clone", "-q", "--depth", "1", path, "shallow", NULL);
    static const struct { const char *at; bool bare, shallow; } rows[] = {
        {"", false, false}, {"/a/b", false, false}, {"/bare.git", true, false}, {"/wt", false, false}, {"/wt/a", false, false}, {"/shallow", false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct repo_id head;
        snprintf(path, sizeof path, "%s%s", p->path, rows[i].at);
        assert_int_equal(repo_open(&r, path, 0, &err), 0);
        assert_int_equal(repo_is_bare(r), rows[i].bare);
        assert_int_equal(repo_is_shallow(r), rows[i].shallow);
        assert_int_equal(repo_workdir(r) == NULL, rows[i].bare);
        assert_int_equal(repo_resolve(r, "HEAD", REPO_COMMIT, &head, &err), 0);
        repo_close(r);
    }
    assert_int_equal(repo_open(&r, "/", 0, &err), 1);
    assert_non_null(strstr(err.text, "benchwrap init"));
    snprintf(path, sizeof path, "%s/a", p->path);
    assert_int_equal(repo_open(&r, path, REPO_HERE, &err), 1);
    git(p, 0, "init", "-q", "--object-format=sha256", "big", NULL);
    snprintf(path, sizeof path, "%s/big", p->path);
    assert_int_equal(repo_open(&r, path, 0, &err), -1);
    assert_non_null(strstr(err.text, "SHA-256"));
    fs_write(p->dir, "bare.git/HEAD", STR("rubbish"), 0666, false, NULL);
    fs_write(p->dir, "bare.git/config", STR("[[["), 0666, false, NULL);
    snprintf(path, sizeof path, "%s/bare.git", p->path);
    assert_int_not_equal(repo_open(&r, path, 0, &err), 0);
}

static void names_lead_to_objects(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    struct arena a;
    struct repo_id id, other;
    char hex[REPO_HEX];
    const char *text, **refs;
    size_t count;
    arena_init(&a, 0);
    fill(p);
    assert_int_equal(repo_open(&r, p->path, 0, &err), 0);
    static const struct { const char *rev; enum repo_kind kind; const char *same; } rows[] = {
        {"HEAD", REPO_COMMIT, "HEAD"}, {"HEAD~1", REPO_COMMIT, "HEAD^"}, {"v1", REPO_ANY, "v1"}, {"v1", REPO_COMMIT, "v1^{}"},
        {"main", REPO_TREE, "main^{tree}"}, {"main:a.txt", REPO_BLOB, "main:a.txt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(repo_resolve(r, rows[i].rev, rows[i].kind, &id, &err), 0);
        repo_id_hex(&id, hex);
        assert_string_equal(hex, git(p, 0, "rev-parse", rows[i].same, NULL));
    }
    assert_int_equal(repo_resolve(r, "nowhere", REPO_COMMIT, &id, &err), 1);
    assert_int_equal(repo_resolve(r, "--all", REPO_COMMIT, &id, &err), 1);
    assert_int_equal(repo_resolve(r, "main:a.txt", REPO_COMMIT, &id, &err), 1);
    assert_int_equal(repo_ref(r, "refs/heads/main", &id, &err), 0);
    assert_int_equal(repo_ref(r, "refs/heads/none", &id, &err), 1);
    assert_int_equal(repo_symbolic(r, "HEAD", &a, &text, &err), 0);
    assert_string_equal(text, "refs/heads/main");
    git(p, 0, "update-ref", "refs/heads/benchwrap/s/1", "HEAD~1", NULL);
    git(p, 0, "update-ref", "refs/heads/benchwrap/s/2", "HEAD~1", NULL);
    git(p, 0, "update-ref", "refs/heads/benchwrap/t/2", "HEAD~1", NULL);
    assert_int_equal(repo_refs(r, "refs/heads/benchwrap/*", &a, &refs, &count, &err), 0);
    assert_int_equal(count, 3);
    assert_null(refs[3]);
    assert_true(repo_ref_legal(r, "refs/heads/benchwrap/s/1") && !repo_ref_legal(r, "refs/heads/a..b"));
    git(p, 0, "checkout", "-q", "--detach", NULL);
    assert_int_equal(repo_symbolic(r, "HEAD", &a, &text, &err), 1);
    repo_resolve(r, "main", REPO_COMMIT, &id, &err);
    repo_resolve(r, "main~1", REPO_COMMIT, &other, &err);
    assert_int_equal(repo_contains(r, &id, &other, &err), 1);
    assert_int_equal(repo_contains(r, &other, &id, &err), 0);
    struct repo_commit c;
    assert_int_equal(repo_commit_read(r, &other, &a, &c, &err), 0);
    assert_string_equal(c.message, "first\n\nbody\n");
    assert_string_equal(c.author_email, "a@b");
    assert_int_equal(c.parents, 0);
    repo_close(r);
    arena_deinit(&a);
}

static int add_path(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *e)
{
    assert_null(was);
    buf_printf(context, "%o %s;", e->mode, path);
    return strcmp(path, "skip") == 0 ? REPO_SKIP : 0;
}

static int add_change(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is)
{
    buf_printf(context, "%s%s %s;", was ? "-" : "", is ? "+" : "", path);
    return 0;
}

static void trees_are_walked_and_compared(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    struct repo_id was, is;
    struct repo_entry e;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 65536);
    fill(p);
    fs_mkdirs(p->dir, "a.d/skip", 0777, NULL);
    fs_mkdirs(p->dir, "skip/x", 0777, NULL);
    fs_create(p->dir, "skip/x/y", STR("1"), 0666, NULL);
    fs_create(p->dir, "a.d/new", STR("1"), 0666, NULL);
    fs_remove_tree(p->dir, "a", NULL);
    git(p, 0, "add", "-A", ".", NULL);
    git(p, 0, "commit", "-qm", "third", NULL);
    assert_int_equal(repo_open(&r, p->path, 0, &err), 0);
    assert_int_equal(repo_resolve(r, "HEAD~1", REPO_TREE, &was, &err), 0);
    assert_int_equal(repo_resolve(r, "HEAD", REPO_TREE, &is, &err), 0);
    assert_int_equal(repo_diff(r, NULL, &is, NULL, add_path, &text, &err), 0);
    assert_string_equal(text.p, "40000 a.d;100644 a.d/new;100644 a.txt;100755 run;40000 skip;");
    buf_clear(&text);
    assert_int_equal(repo_diff(r, &was, &is, NULL, add_change, &text, &err), 0);
    assert_string_equal(text.p, "+ a.d;+ a.d/new;- a;- a/b;- a/b/c;+ skip;+ skip/x;+ skip/x/y;");
    assert_int_equal(repo_diff(r, NULL, &was, &(struct repo_bounds){.depth = 2}, add_path, &text, &err), -1);
    assert_non_null(strstr(err.text, "2 deep"));
    assert_int_equal(repo_diff(r, NULL, &was, &(struct repo_bounds){.entries = 3}, add_path, &text, &err), -1);
    assert_int_equal(repo_find(r, &was, "a/b/c", &e, &err), 0);
    assert_int_equal(e.mode, REPO_MODE_FILE);
    assert_int_equal(repo_find(r, &was, "a/b/c/d", &e, &err), 1);
    assert_int_equal(repo_find(r, &was, "a/none", &e, &err), 1);
    assert_int_equal(repo_find(r, &was, "", &e, &err), 0);
    assert_true(repo_id_eq(&e.id, &was));
    repo_find(r, &was, "a/b/c", &e, &err);
    buf_clear(&text);
    assert_int_equal(repo_read(r, &e.id, REPO_BLOB, 4, &text, &err), -1);
    assert_int_equal(repo_read(r, &e.id, REPO_TREE, 100, &text, &err), -1);
    assert_int_equal(repo_read(r, &e.id, REPO_BLOB, 5, &text, &err), 0);
    assert_string_equal(text.p, "deep\n");
    repo_close(r);
}

static void damaged_trees_are_refused(void **state)
{
    static const struct { struct str raw; int rc; } rows[] = {
        {{"", 0}, 0}, {{"40000 a\0" "01234567890123456789", 28}, 1}, {{"40000 a\0" "0123456789012345678", 27}, -1}, {{"40000 a", 7}, -1},
        {{"a", 1}, -1}, {{" a\0" "01234567890123456789", 23}, -1}, {{"40000 \0" "01234567890123456789", 27}, -1}, {{"999 a\0" "01234567890123456789", 26}, -1},
        {{"40000", 5}, -1}, {{"40000 ", 6}, -1},
    };
    struct repo_entry e;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str rest = rows[i].raw;
        assert_int_equal(repo_tree_next(&rest, &e, NULL), rows[i].rc);
    }
}

/* As git(1) tells of them: instead of the user's and the system's. */
static void files_that_the_environment_names_are_configuration(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    struct arena a;
    const char *text;
    char file[100];
    arena_init(&a, 0);
    fill(p);
    snprintf(file, sizeof file, "%s/named", p->path);
    fs_write(p->dir, "named", STR("[test]\nkey = named\n"), 0666, false, NULL);
    setenv("GIT_CONFIG_GLOBAL", file, 1);
    assert_int_equal(repo_open(&r, p->path, 0, &err), 0);
    assert_int_equal(repo_config(r, "test.key", &a, &text, &err), 0);
    assert_string_equal(text, "named");
    assert_int_equal(repo_config_set(r, "test.key", "own", &err), 0);
    assert_int_equal(repo_config(r, "test.key", &a, &text, &err), 0);
    assert_string_equal(text, "own"); /* the repository's is nearer */
    repo_close(r);
    unsetenv("GIT_CONFIG_GLOBAL");
    assert_int_equal(repo_open(&r, p->path, 0, &err), 0);
    assert_int_equal(repo_config_set(r, "test.key", NULL, &err), 0);
    assert_int_equal(repo_config(r, "test.key", &a, &text, &err), 1);
    repo_close(r);
    arena_deinit(&a);
}

static void configuration_is_read_and_written(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    struct arena a;
    const char *text, **remotes;
    arena_init(&a, 0);
    fill(p);
    git(p, 0, "remote", "add", "origin", "https://example.org/x.git", NULL);
    git(p, 0, "config", "commit.gpgsign", "yes", NULL);
    assert_int_equal(repo_open(&r, p->path, 0, &err), 0);
    assert_int_equal(repo_config(r, "benchwrap.clone", &a, &text, &err), 1);
    assert_int_equal(repo_config_set(r, "benchwrap.clone", "0123abcd", &err), 0);
    assert_int_equal(repo_config(r, "benchwrap.clone", &a, &text, &err), 0);
    assert_string_equal(text, "0123abcd");
    assert_string_equal(git(p, 0, "config", "benchwrap.clone", NULL), "0123abcd");
    assert_int_equal(repo_config_set(r, "benchwrap.clone", NULL, &err), 0);
    assert_int_equal(repo_config_set(r, "benchwrap.clone", NULL, &err), 0);
    assert_true(repo_config_on(r, "commit.gpgsign", false) && repo_config_on(r, "no.such", true));
    assert_int_equal(repo_remotes(r, &a, &remotes, &err), 0);
    assert_string_equal(remotes[0], "origin");
    assert_null(remotes[1]);
    assert_int_equal(repo_remote_url(r, "origin", true, &a, &text, &err), 0);
    assert_string_equal(text, "https://example.org/x.git");
    assert_int_equal(repo_remote_url(r, "none", true, &a, &text, &err), 1);
    repo_close(r);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_forty_digits),
        cmocka_unit_test_setup_teardown(every_shape_is_opened, place_begin, place_end),
        cmocka_unit_test_setup_teardown(names_lead_to_objects, place_begin, place_end),
        cmocka_unit_test_setup_teardown(trees_are_walked_and_compared, place_begin, place_end),
        cmocka_unit_test(damaged_trees_are_refused),
        cmocka_unit_test_setup_teardown(files_that_the_environment_names_are_configuration, place_begin, place_end),
        cmocka_unit_test_setup_teardown(configuration_is_read_and_written, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
