/* folder.c: a tree of a commit as a folder: what stands at a path, and the bounds of reading, as a folder on disk has them. */
#include "git/folder.h"

#include "tests/unit/git_place.h"

#include <errno.h>

static void a_tree_reads_as_a_folder(void **state)
{
    struct place *p = *state;
    struct repo *r;
    struct err err = {0};
    struct repo_id tree;
    struct repo_entry e;
    CLEANUP_FOLDER struct folder f = {0};
    CLEANUP_BUF struct buf b;
    git(p, 0, "init", "-q", ".", NULL);
    assert_int_equal(fs_mkdirs(p->dir, "sub", 0777, NULL), 0);
    fs_write(p->dir, "sub/file", str_of("0123456789"), 0666, false, NULL);
    fs_write(p->dir, "top", str_of("x"), 0666, false, NULL);
    git(p, 0, "add", ".", NULL);
    git(p, 0, "commit", "-qm", "m", NULL);
    if (repo_open(&r, p->path, REPO_HERE, &err) || repo_resolve(r, "HEAD", REPO_TREE, &tree, &err))
        fail_msg("%s", err.text);
    assert_int_equal(git_folder_open(r, &tree, &f), 0);
    assert_int_equal(git_folder_find(&f, "sub/file", &e), 0);
    assert_int_equal(e.mode, REPO_MODE_FILE);
    char hex[REPO_HEX];
    repo_id_hex(&e.id, hex);
    assert_string_equal(hex, git(p, 0, "rev-parse", "HEAD:sub/file", NULL));
    assert_int_equal(git_folder_find(&f, "sub", &e), 0);
    assert_int_equal(e.mode, REPO_MODE_DIR);
    assert_int_equal(git_folder_find(&f, "none", &e), 1);
    assert_int_equal(git_folder_find(&f, "sub/none", &e), 1);
    assert_int_equal(git_folder_find(&f, "top/file", &e), 1);
    buf_init(&b, 12); /* no room for the whole and more */
    assert_int_equal(folder_read(&f, "sub/file", 9, &b), -1);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(folder_read_head(&f, "sub/file", 4, &b), 1);
    assert_int_equal(b.n, 4);
    assert_int_equal(folder_read_head(&f, "top", 4, &b), 0);
    assert_int_equal(b.n, 5);
    folder_leave(&f);
    repo_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(a_tree_reads_as_a_folder, place_begin, place_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
