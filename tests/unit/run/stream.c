/* run/stream.c: tests of wrapper/run/stream.c: head, tail and cut of a stream, as they lie on disk after any number of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fs.h"
#include "run/stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIMIT = 64, BYTES = 1000 };

static char byte_at(uint64_t i)
{
    return (char)('a' + i % 26);
}

static int fresh_dir(char path[64])
{
    memcpy(path, "/tmp/run_stream.XXXXXX", sizeof "/tmp/run_stream.XXXXXX");
    assert_non_null(mkdtemp(path));
    return open(path, O_RDONLY | O_DIRECTORY);
}

struct collected {
    char text[BYTES];
    size_t n;
    uint64_t cut_at, cut;
};

static void collect(void *context, const void *p, size_t n)
{
    struct collected *c = context;
    assert_true(c->n + n <= sizeof c->text);
    memcpy(c->text + c->n, p, n);
    c->n += n;
}

static void collect_cut(void *context, uint64_t bytes)
{
    struct collected *c = context;
    c->cut_at = c->n;
    c->cut = bytes;
}

/* Writes `total` bytes in pieces of `step` and checks what can be read back. */
static void check(uint64_t total, size_t step)
{
    char path[64], block[BYTES];
    int dir = fresh_dir(path);
    struct spool_stream s;
    spool_stream_init(&s, dir, "stdout.log", LIMIT);
    for (uint64_t at = 0; at < total;) {
        size_t n = total - at < step ? (size_t)(total - at) : step;
        for (size_t i = 0; i < n; i++)
            block[i] = byte_at(at + i);
        spool_stream_write(&s, block, n);
        at += n;
    }
    spool_stream_deinit(&s);
    assert_int_equal(s.lost, 0);

    struct spool_stream_kept kept;
    struct collected c = {0};
    spool_stream_inspect(dir, "stdout.log", LIMIT, &kept);
    assert_int_equal(kept.total, total);
    assert_int_equal(kept.head + kept.cut + kept.tail, total);
    assert_true(kept.cut == 0 || (kept.head == LIMIT / 2 && kept.tail == LIMIT / 2));
    assert_true(total > LIMIT || kept.cut == 0);
    assert_int_equal(spool_stream_feed(dir, "stdout.log", LIMIT, collect, collect_cut, &c, NULL), 0);
    assert_int_equal(c.n, kept.head + kept.tail);
    assert_int_equal(c.cut, kept.cut);
    for (size_t i = 0; i < c.n; i++)
        assert_int_equal(c.text[i], byte_at(i < kept.head ? i : i + kept.cut));

    struct buf name;
    const char *file = NULL;
    buf_init(&name, 200);
    assert_int_equal(spool_stream_join(dir, "stdout.log", LIMIT, &name, &file, NULL), 0);
    assert_int_equal(spool_stream_join(dir, "stdout.log", LIMIT, &name, &file, NULL), 0); /* as after a crash */
    struct buf text;
    buf_init(&text, BYTES * 2);
    if (total == 0)
        assert_null(file);
    else {
        assert_int_equal(fs_read(dir, file, BYTES * 2, 0, &text, NULL), 0);
        assert_true(kept.cut ? str_has(buf_text(&text), "bytes of this stream are not kept") : text.n == total);
    }
    buf_deinit(&text);
    buf_deinit(&name);
    close(dir);
    assert_int_equal(fs_remove_tree(AT_FDCWD, path, NULL), 0);
}

static void every_length_reads_back(void **state)
{
    (void)state;
    static const size_t steps[] = {1, 7, 32, 33, 500};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (uint64_t total = 0; total < 300; total += steps[i] > 7 ? 1 : 13)
            check(total, steps[i]);
}

static void nothing_is_kept_with_limit_zero(void **state)
{
    (void)state;
    char path[64];
    int dir = fresh_dir(path);
    struct spool_stream s;
    spool_stream_init(&s, dir, "stdout.log", 0);
    spool_stream_write(&s, "abc", 3);
    assert_int_equal(s.total, 3);
    assert_int_equal(faccessat(dir, "stdout.log", F_OK, 0), -1);
    close(dir);
    fs_remove_tree(AT_FDCWD, path, NULL);
}

static void a_full_disk_is_counted(void **state)
{
    (void)state;
    char path[64];
    int dir = fresh_dir(path);
    struct spool_stream s;
    spool_stream_init(&s, dir, "stdout.log", LIMIT);
    assert_int_equal(symlinkat("/dev/full", dir, "stdout.log"), 0);
    spool_stream_write(&s, "abcdef", 6);
    assert_int_equal(s.lost, 6);
    assert_int_equal(s.total, 6);
    assert_true(s.error != 0);
    spool_stream_deinit(&s);
    close(dir);
    fs_remove_tree(AT_FDCWD, path, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_reads_back),
        cmocka_unit_test(nothing_is_kept_with_limit_zero),
        cmocka_unit_test(a_full_disk_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
