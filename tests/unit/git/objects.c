/* objects.c: packs and trees that git likes, edits that equal git's own, refs that move once. */
#include "git/objects.h"

#include "git/ref.h"
#include "tests/unit/git_place.h"

#include <sys/stat.h>
#include <sys/wait.h>

static struct repo *open_new(struct place *p)
{
    struct repo *r;
    struct err err = {0};
    git(p, 0, "init", "-q", "--bare", ".", NULL);
    if (repo_open(&r, p->path, REPO_HERE, &err) || objects_new(r, &err))
        fail_msg("%s", err.text);
    return r;
}

static struct repo_id blob(struct repo *r, const char *text)
{
    struct repo_id id;
    struct err err = {0};
    if (objects_write(r, REPO_BLOB, str_of(text), "x", &id, &err))
        fail_msg("%s", err.text);
    return id;
}

static struct repo_id commit(struct repo *r, const struct repo_id *tree, const struct repo_id *parent)
{
    struct repo_id id;
    struct commit_draft d = {
        .tree = *tree, .parents = parent, .parent_count = parent ? 1 : 0, .author = {"A", "a@b", 1700000000, -90}, .message = "m\n"};
    d.committer = d.author;
    assert_int_equal(commit_write(r, &d, NULL, &id, NULL), 0);
    return id;
}

static void edited_trees_equal_those_of_git(void **state)
{
    struct place *p = *state;
    struct repo *r = open_new(p);
    struct err err = {0};
    struct repo_id tree, last, previous;
    static const struct {
        struct tree_edit edits[6];
        const char *is;
    } rows[] = {
        {{{"b/x", REPO_MODE_FILE, {{0}}}, {"a", REPO_MODE_EXEC, {{0}}}, {"b.c", REPO_MODE_FILE, {{0}}}, {"b-", REPO_MODE_FILE, {{0}}}},
         "a b- b.c b/x"},
        {{{"b0", REPO_MODE_FILE, {{0}}}, {"b/a/deep", REPO_MODE_FILE, {{0}}}}, "a b- b.c b/a/deep b/x b0"},
        {{{"b", REPO_MODE_FILE, {{0}}}}, "a b b- b.c b0"}, /* a file where a folder was */
        {{{"b/y", REPO_MODE_FILE, {{0}}}, {"b0/z", REPO_MODE_FILE, {{0}}}}, "a b- b.c b/y b0/z"}, /* and back */
        {{{"b/y", 0, {{0}}}, {"none/at/all", 0, {{0}}}, {"a", 0, {{0}}}}, "b- b.c b0/z"}, /* what becomes empty vanishes */
        {{{"b-", 0, {{0}}}, {"b.c", 0, {{0}}}, {"b0/z", 0, {{0}}}}, ""},
    };
    bool have = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree_edit edits[6];
        size_t n = 0;
        for (; n < 6 && rows[i].edits[n].path; n++) {
            edits[n] = rows[i].edits[n];
            edits[n].id = blob(r, rows[i].edits[n].path);
        }
        if (objects_edit_tree(r, have ? &previous : NULL, edits, n, &tree, &err))
            fail_msg("%s", err.text);
        previous = tree;
        last = commit(r, &tree, have ? &last : NULL);
        have = true;
        assert_int_equal(objects_flush(r, &err), 0);
        char hex[REPO_HEX];
        repo_id_hex(&tree, hex);
        char names[1000];
        snprintf(names, sizeof names, "%s", git(p, 0, "ls-tree", "-r", "--name-only", hex, NULL));
        for (char *c = names; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        assert_string_equal(names, rows[i].is);
    }
    assert_int_equal(ref_move(NULL, r, "refs/heads/main", NULL, &last, &(struct commit_person){"A", "a@b", 1, 0}, "why", 1, &err), 0);
    assert_string_equal(git(p, 0, "fsck", "--strict", "--no-progress", "--no-dangling", NULL), "");
    assert_string_equal(git(p, 0, "log", "--format=%an %ae %ai", "-1", "main", NULL), "A a@b 2023-11-14 20:43:20 -0130");
    assert_int_equal(
        objects_edit_tree(r, NULL, (struct tree_edit[]){{"a", REPO_MODE_FILE, tree}, {"a/b", REPO_MODE_FILE, tree}}, 2, &tree, &err), -1);
    assert_int_equal(err.kind, ERR_BUG);
    repo_close(r);
}

static void many_edits_at_random(void **state)
{
    struct place *p = *state;
    struct repo *r = open_new(p);
    struct repo_id tree, last;
    struct err err = {0};
    bool there[5][300] = {{0}};
    unsigned x = 12345;
    for (int round = 0; round < 40; round++) {
        static char paths[60][40];
        struct tree_edit edits[60];
        size_t n = 0, left = 0;
        bool now[5][300] = {{0}};
        for (int i = 0; i < 60; i++) {
            x = x * 1103515245 + 12345;
            unsigned dir = x >> 16 & 0xff, name = x >> 8 & 0xff;
            dir %= 5;
            if (now[dir][name])
                continue;
            now[dir][name] = true;
            there[dir][name] = round % 3 != 2;
            snprintf(paths[n], sizeof paths[n], "d%u/%x%s", dir, name * 2654435761u, name & 1 ? ".x" : "");
            edits[n] = (struct tree_edit){.path = paths[n], .mode = there[dir][name] ? REPO_MODE_FILE : 0};
            edits[n].id = blob(r, paths[n]);
            n++;
        }
        assert_int_equal(objects_edit_tree(r, round ? &tree : NULL, edits, n, &tree, &err), 0);
        for (int d = 0; d < 5; d++)
            for (int k = 0; k < 300; k++)
                left += there[d][k];
        last = commit(r, &tree, round ? &last : NULL);
        if (round % 7 == 6 || round == 39) {
            assert_int_equal(objects_flush(r, &err), 0);
            char hex[REPO_HEX];
            repo_id_hex(&last, hex);
            const char *names = git(p, 0, "ls-tree", "-r", "--name-only", hex, NULL);
            size_t lines = *names ? 1 : 0;
            for (const char *c = names; *c; c++)
                lines += *c == '\n';
            assert_int_equal(lines, left);
        }
    }
    assert_int_equal(ref_move(NULL, r, "refs/heads/main", NULL, &last, &(struct commit_person){"A", "a@b", 1, 0}, "why", 1, &err), 0);
    assert_string_equal(git(p, 0, "fsck", "--strict", "--no-progress", "--no-dangling", NULL), "");
    repo_close(r);
}

static void what_is_there_is_not_written_again(void **state)
{
    struct place *p = *state;
    struct repo *r = open_new(p);
    struct err err = {0};
    blob(r, "one");
    blob(r, "one");
    assert_int_equal(objects_waiting(r), 3);
    assert_int_equal(objects_flush(r, &err), 0);
    blob(r, "one");
    assert_int_equal(objects_waiting(r), 0);
    blob(r, "two");
    objects_free(r); /* forgotten */
    assert_string_equal(git(p, 0, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)", NULL),
                        "43dd47ea691c90a5fa7827892c70241913351963");
    assert_int_not_equal(access("/nowhere", F_OK), 0);
    repo_close(r);
}

static void a_ref_moves_for_the_first_only(void **state)
{
    struct place *p = *state;
    struct repo *r = open_new(p);
    struct err err = {0};
    struct commit_person who = {"A", "a@b", 1, 0};
    struct repo_id tree, one, two;
    struct tree_edit e = {.path = "f", .mode = REPO_MODE_FILE, .id = blob(r, "1")};
    static const char ref[] = "refs/heads/benchwrap/s/0123abcd";
    assert_int_equal(objects_edit_tree(r, NULL, &e, 1, &tree, &err), 0);
    one = commit(r, &tree, NULL);
    two = commit(r, &tree, &one);
    assert_int_equal(objects_flush(r, &err), 0);
    assert_int_equal(ref_move(NULL, r, ref, NULL, &one, &who, "first", 1, &err), 0);
    assert_int_equal(ref_move(NULL, r, ref, NULL, &two, &who, "again", 1, &err), 1);
    assert_int_equal(ref_move(NULL, r, ref, &two, &one, &who, "back", 1, &err), 1);
    git(p, 0, "pack-refs", "--all", NULL);
    assert_int_equal(ref_move(NULL, r, ref, &one, &two, &who, "second", 1, &err), 0);
    fs_create(p->dir, "refs/heads/benchwrap/s/0123abcd.lock", STR(""), 0666, NULL);
    assert_int_equal(ref_move(NULL, r, ref, &two, &one, &who, "locked", 0.05, &err), -1);
    assert_non_null(strstr(err.text, "0123abcd.lock is there for"));
    assert_int_equal(access(p->path, F_OK), 0);
    unlinkat(p->dir, "refs/heads/benchwrap/s/0123abcd.lock", 0);
    git(p, 0, "symbolic-ref", "HEAD", ref, NULL);
    repo_close(r);
}

static bool say_yes(void *context)
{
    return ++*(int *)context > 2;
}

static void turns_are_taken(void **state)
{
    struct place *p = *state;
    struct repo *r = open_new(p);
    struct err err = {0};
    struct ref_turn mine, theirs;
    int asked = 0;
    assert_int_equal(ref_turn_take(&mine, r, REF_TURN, 1, NULL, NULL, &err), 0);
    assert_int_equal(ref_turn_take(&theirs, r, REF_TURN, 0.05, NULL, NULL, &err), 1);
    assert_non_null(strstr(err.text, "process "));
    assert_int_equal(ref_turn_take(&theirs, r, REF_TURN, 60, say_yes, &asked, &err), 2);
    ref_turn_give(&mine);
    assert_int_equal(ref_turn_take(&theirs, r, REF_TURN, 1, NULL, NULL, &err), 0);
    ref_turn_give(&theirs);
    repo_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edited_trees_equal_those_of_git, place_begin, place_end),
        cmocka_unit_test_setup_teardown(many_edits_at_random, place_begin, place_end),
        cmocka_unit_test_setup_teardown(what_is_there_is_not_written_again, place_begin, place_end),
        cmocka_unit_test_setup_teardown(a_ref_moves_for_the_first_only, place_begin, place_end),
        cmocka_unit_test_setup_teardown(turns_are_taken, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
