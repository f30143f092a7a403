/* folder.c: a folder on disk as its readers see it: bounds, links, kinds. */
#include "base/folder.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int dir;
static char place[] = "/tmp/benchwrap-unit.XXXXXX";

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(place) || (dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return -1;
    return fs_create(dir, "file", STR("0123456789"), 0644, NULL) || fs_create(dir, "run", STR("x"), 0755, NULL) || mkdirat(dir, "sub", 0700) ||
           fs_create(dir, "sub/empty", STR(""), 0644, NULL) || symlinkat("/etc/passwd", dir, "link") || mkfifoat(dir, "fifo", 0600);
}

static int end(void **state)
{
    (void)state;
    close(dir);
    return fs_remove_tree(AT_FDCWD, place, NULL);
}

static void files_are_read_within_their_bounds(void **state)
{
    struct folder f = folder_disk(dir);
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    assert_int_equal(folder_read(&f, "file", 10, &b), 0);
    assert_true(str_is(buf_text(&b), "0123456789"));
    buf_clear(&b);
    assert_int_equal(folder_read(&f, "file", 9, &b), -1);
    assert_int_equal(errno, EFBIG);
    buf_clear(&b);
    assert_int_equal(folder_read_head(&f, "file", 4, &b), 1);
    assert_true(str_is(buf_text(&b), "0123"));
    buf_clear(&b);
    assert_int_equal(folder_read(&f, "sub/empty", 0, &b), 0);
    assert_int_equal(b.n, 0);
}

static void what_is_no_file_is_refused(void **state)
{
    static const struct { const char *path; int why; } rows[] = {{"link", ELOOP}, {"sub", EISDIR}, {"none", ENOENT}, {"file/x", ENOTDIR}};
    struct folder f = folder_disk(dir), below;
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(folder_read(&f, rows[i].path, 100, &b), -1);
        assert_int_equal(errno, rows[i].why);
    }
    assert_int_equal(folder_enter(&f, "link", &below), -1);
    assert_int_equal(folder_enter(&f, "file", &below), -1);
    folder_leave(&below); /* nothing is held */
    assert_int_equal(folder_read(&f, "fifo", 100, &b), -1); /* and does not wait for a writer */
    assert_int_equal(errno, ELOOP);
}

static int see(void *context, const struct folder_entry *e)
{
    static const struct { const char *name; enum folder_kind kind; } rows[] = {
        {"file", FOLDER_FILE}, {"run", FOLDER_PROGRAM}, {"sub", FOLDER_FOLDER}, {"link", FOLDER_LINK}, {"fifo", FOLDER_OTHER}};
    for (size_t i = 0; i < 5; i++)
        if (str_is(e->name, rows[i].name)) {
            assert_int_equal(e->kind, rows[i].kind);
            ++*(int *)context;
        }
    return 0;
}

/* The same without a look at modes: a program is a file. */
static int see_name(void *context, const struct folder_entry *e)
{
    struct folder_entry as_listed = *e;
    assert_int_not_equal(e->kind, FOLDER_PROGRAM);
    if (str_is(e->name, "run") && e->kind == FOLDER_FILE)
        as_listed.kind = FOLDER_PROGRAM;
    return see(context, &as_listed);
}

static void entries_have_their_kinds(void **state)
{
    struct folder f = folder_disk(dir), below;
    struct folder_entry e;
    uint64_t size;
    int seen = 0;
    (void)state;
    assert_int_equal(folder_list(&f, see, &seen), 0);
    assert_int_equal(seen, 5);
    assert_int_equal(folder_names(&f, see_name, &seen), 0);
    assert_int_equal(seen, 10);
    assert_int_equal(folder_look(&f, "file", &e, &size), 0);
    assert_int_equal(size, 10);
    assert_int_equal(folder_enter(&f, "sub", &below), 0);
    assert_int_equal(folder_look(&below, "empty", &e, &size), 0);
    folder_leave(&below);
    folder_leave(&f);
    assert_int_equal(fcntl(dir, F_GETFD) >= 0, 1); /* the descriptor stays the caller's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_read_within_their_bounds), cmocka_unit_test(what_is_no_file_is_refused), cmocka_unit_test(entries_have_their_kinds)};
    return cmocka_run_group_tests(tests, begin, end);
}
