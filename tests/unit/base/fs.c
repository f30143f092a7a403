/* fs.c: bounded reading, whole writing, trees removed and synced, links refused. */
#include "tests/unit/place.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void reading_is_bounded(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    assert_int_equal(fs_create(p->dir, "ten", STR("0123456789"), 0666, NULL), 0);
    static const struct { size_t max; int flags, rc; const char *text; } rows[] = {
        {10, 0, 0, "0123456789"}, {100, 0, 0, "0123456789"}, {9, 0, -1, NULL}, {9, FS_CUT, 1, "012345678"}, {0, FS_CUT, 1, ""}, {10, FS_CUT, 0, "0123456789"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 1 << 20);
        buf_puts(&b, ">");
        assert_int_equal(fs_read(p->dir, "ten", rows[i].max, rows[i].flags, &b, &err), rows[i].rc);
        if (rows[i].text)
            assert_string_equal(b.p + 1, rows[i].text);
        else
            assert_non_null(strstr(err.text, "ten: it is longer than 9 bytes"));
    }
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1 << 20);
    assert_int_equal(fs_read(AT_FDCWD, "/proc/self/status", 1 << 18, 0, &b, NULL), 0); /* says it has 0 bytes */
    assert_non_null(strstr(b.p, "Pid:"));
    buf_clear(&b);
    assert_int_equal(fs_read(AT_FDCWD, "/dev/zero", 1000, FS_CUT, &b, NULL), 1);
    assert_int_equal(b.n, 1000);
}

static void reading_never_waits_and_takes_no_folder(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1 << 20);
    mkfifoat(p->dir, "fifo", 0666);
    alarm(60);
    fs_read(p->dir, "fifo", 100, 0, &b, &err);
    alarm(0);
    assert_int_equal(b.n, 0);
    assert_int_equal(fs_read(p->dir, ".", 100, 0, &b, &err), -1);
    assert_int_equal(err.sys, EISDIR);
    assert_int_equal(fs_read(p->dir, "none", 100, 0, &b, &err), -1);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text, "cannot read none: No such file or directory");
}

static void writing_is_whole_or_not_at_all(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct rlimit was, small;
    struct fs_names l;
    assert_int_equal(fs_write(p->dir, "f", STR("one"), 0600, true, NULL), 0);
    assert_int_equal(fs_write(p->dir, "f", STR("two"), 0600, false, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    small.rlim_cur = 2;
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = fs_write(p->dir, "f", STR("three"), 0600, true, &err);
    int rc2 = fs_create(p->dir, "g", STR("three"), 0600, NULL);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_int_equal(rc, -1);
    assert_int_equal(rc2, -1);
    assert_int_equal(err.sys, EFBIG);
    struct buf b CLEANUP_BUF;
    buf_init(&b, 100);
    fs_read(p->dir, "f", 50, 0, &b, NULL);
    assert_string_equal(b.p, "two");
    unlinkat(p->dir, "g", 0);
    assert_int_equal(fs_list(p->dir, ".", &l, NULL), 0);
    assert_int_equal(l.count, 1); /* no temporary file stays */
    fs_names_deinit(&l);
    assert_int_equal(fs_create(p->dir, "f", STR("x"), 0600, NULL), -1);
    assert_int_equal(fs_write(p->dir, "no/such/folder", STR("x"), 0600, false, NULL), -1);
}

static void what_is_no_file_is_written_to(void **state)
{
    struct place *p = *state;
    char pipe[100], link[100];
    snprintf(pipe, sizeof pipe, "%s/pipe", p->path);
    snprintf(link, sizeof link, "%s/link", p->path);
    struct stat st;
    char got[8] = "";
    assert_int_equal(mkfifoat(p->dir, "pipe", 0600), 0);
    assert_int_equal(symlinkat("pipe", p->dir, "link"), 0);
    assert_int_equal(fs_write(AT_FDCWD, pipe, STR("x"), 0600, false, NULL), -1); /* nobody reads */
    int reader = openat(p->dir, "pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(fs_write(AT_FDCWD, pipe, STR("one"), 0600, true, NULL), 0);
    assert_int_equal(fs_write(AT_FDCWD, link, STR("two"), 0600, false, NULL), 0);
    assert_int_equal(read(reader, got, 6), 6);
    assert_string_equal(got, "onetwo");
    close(reader);
    assert_true(fstatat(p->dir, "pipe", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(st.st_mode));
    assert_true(fstatat(p->dir, "link", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode));
    /* Below a descriptor it is another user's: it is replaced. */
    assert_int_equal(fs_write(p->dir, "pipe", STR("file"), 0600, false, NULL), 0);
    assert_true(fstatat(p->dir, "pipe", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
}

static void folders(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    assert_int_equal(fs_mkdirs(p->dir, "a/b/c", 0777, NULL), 0);
    assert_int_equal(fs_mkdirs(p->dir, "a/b/c", 0777, NULL), 0);
    assert_int_equal(fs_mkdirs(p->dir, "a/b//d/", 0777, NULL), 0);
    fs_create(p->dir, "a/file", STR(""), 0666, NULL);
    assert_int_equal(fs_mkdirs(p->dir, "a/file/x", 0777, &err), -1);
    assert_int_equal(fs_mkdirs(p->dir, "a/file", 0777, &err), -1);
    assert_int_equal(err.sys, ENOTDIR);
    assert_int_equal(fs_mkdirs(p->dir, "", 0777, NULL), -1);
    assert_int_equal(fs_sync_tree(p->dir, "a", &err), 0);
    assert_int_equal(fs_sync_tree(p->dir, "absent", &err), -1);
}

static void removing_stays_below(void **state)
{
    struct place *p = *state;
    fs_mkdirs(p->dir, "keep", 0777, NULL);
    fs_create(p->dir, "keep/file", STR("x"), 0666, NULL);
    fs_mkdirs(p->dir, "gone/deep/er", 0777, NULL);
    fs_create(p->dir, "gone/deep/file", STR("x"), 0666, NULL);
    assert_int_equal(symlinkat("../keep", p->dir, "gone/link"), 0);
    assert_int_equal(symlinkat("keep", p->dir, "link"), 0);
    mkfifoat(p->dir, "gone/fifo", 0666);
    assert_int_equal(fs_remove_tree(p->dir, "gone", NULL), 0);
    assert_int_equal(faccessat(p->dir, "gone", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(fs_remove_tree(p->dir, "link", NULL), 0); /* the link, not what it names */
    assert_int_equal(faccessat(p->dir, "link", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(faccessat(p->dir, "keep/file", F_OK, 0), 0);
    assert_int_equal(fs_remove_tree(p->dir, "gone", NULL), 0);
    assert_int_equal(fs_remove_tree(p->dir, "keep/file", NULL), 0);
}

static void copies_and_links(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct stat a, b;
    char *big = malloc(300000);
    for (int i = 0; i < 300000; i++)
        big[i] = (char)(i * 7);
    fs_create(p->dir, "big", (struct str){big, 300000}, 0600, NULL);
    assert_int_equal(fs_copy(p->dir, "big", p->dir, "copy", 0600, &err), 0);
    assert_int_equal(fs_link(p->dir, "big", p->dir, "link", 0600, &err), 0);
    fstatat(p->dir, "big", &a, 0);
    fstatat(p->dir, "link", &b, 0);
    assert_true(a.st_ino == b.st_ino);
    fstatat(p->dir, "copy", &b, 0);
    assert_true(a.st_ino != b.st_ino);
    struct buf t CLEANUP_BUF;
    buf_init(&t, 1 << 20);
    fs_read(p->dir, "copy", 1 << 19, 0, &t, NULL);
    assert_true(t.n == 300000 && memcmp(t.p, big, t.n) == 0);
    free(big);
    assert_int_equal(fs_copy(p->dir, "big", p->dir, "copy", 0600, &err), -1); /* never over another */
    assert_int_equal(fs_link(p->dir, "big", p->dir, "copy", 0600, &err), -1);
    assert_int_equal(symlinkat("/etc/hostname", p->dir, "sym"), 0);
    assert_int_equal(fs_copy(p->dir, "sym", p->dir, "c2", 0600, &err), -1);
    assert_int_equal(fs_link(p->dir, "sym", p->dir, "c2", 0600, &err), -1);
    assert_int_equal(fs_link(p->dir, ".", p->dir, "c2", 0600, &err), -1);
    assert_int_equal(fs_copy(AT_FDCWD, "/proc/self/status", p->dir, "status", 0600, &err), 0);
    fstatat(p->dir, "status", &b, 0);
    assert_true(b.st_size > 100);
    assert_int_equal(fs_link(AT_FDCWD, "/proc/version", p->dir, "version", 0600, &err), 0); /* another file system: copied */
    fstatat(p->dir, "version", &b, 0);
    assert_true(b.st_size > 10);
}

static void a_copy_that_does_not_fit_is_not_left(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct rlimit old, small = {.rlim_cur = 100000};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    char *big = calloc(1, 300000);
    assert_int_equal(fs_write(p->dir, "big", (struct str){big, 300000}, 0600, false, &err), 0);
    free(big);
    sighandler_t was = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(fs_copy(p->dir, "big", p->dir, "copy", 0600, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, was);
    assert_non_null(strstr(err.text, "File too large"));
    assert_int_equal(faccessat(p->dir, "copy", F_OK, 0), -1);
}

static void listing_is_sorted(void **state)
{
    static const char *const names[] = {"b", "a", "B", "10", "9", ".x"};
    struct place *p = *state;
    struct fs_names l;
    for (size_t i = 0; i < 6; i++)
        fs_create(p->dir, names[i], STR(""), 0666, NULL);
    assert_int_equal(fs_list(p->dir, ".", &l, NULL), 0);
    assert_int_equal(l.count, 6);
    assert_string_equal(l.names[0], ".x");
    assert_string_equal(l.names[5], "b");
    fs_names_deinit(&l);
    assert_int_equal(fs_list(p->dir, "absent", &l, NULL), -1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, place_begin, place_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(reading_is_bounded), IN_FOLDER(reading_never_waits_and_takes_no_folder), IN_FOLDER(writing_is_whole_or_not_at_all), IN_FOLDER(what_is_no_file_is_written_to), IN_FOLDER(folders),
        IN_FOLDER(removing_stays_below), IN_FOLDER(copies_and_links), IN_FOLDER(a_copy_that_does_not_fit_is_not_left), IN_FOLDER(listing_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
