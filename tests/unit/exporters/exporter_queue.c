/* The spool of exporters: entries in the order of time, bounds, dead letters, damage, other users' folders. */
#include "exporters/exporter_queue.h"

#include "base/buf.h"
#include "base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[200], spool[240];
static struct exporter_queue q;

static int setup(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "%s/exporter_queue.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(base));
    snprintf(spool, sizeof spool, "%s/.benchwrap/spool", base);
    struct err err = {0};
    if (exporter_queue_open(&q, spool, "lake", true, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    exporter_queue_close(&q);
    return fs_remove_tree(AT_FDCWD, base, NULL);
}

static void add(unsigned n, int64_t end_ms)
{
    char id[33];
    struct err err = {0};
    snprintf(id, sizeof id, "%032x", n);
    if (exporter_queue_add(&q, id, end_ms, "/tree/mlruns", &err))
        fail_msg("%s", err.text);
}

static void test_order(void **state)
{
    struct exporter_entry first[10];
    size_t total;
    (void)state;
    for (unsigned i = 0; i < 500; i++)
        add(i, 1700000000000 + (i * 7919) % 500);
    add(3, 1700000000000 + (3 * 7919) % 500); /* twice: one entry */
    assert_int_equal(exporter_queue_first(&q, ".", "", first, 10, &total), 10);
    assert_int_equal(total, 500);
    for (int i = 0; i < 10; i++)
        assert_int_equal(strncmp(first[i].name, "170000000000", 12) == 0 && first[i].name[12] - '0' == i, 1);
    assert_int_equal(strlen(exporter_entry_run(first[0].name)), 32);
    char after[EXPORTER_ENTRY_SIZE];
    memcpy(after, first[9].name, sizeof after);
    size_t seen = 10;
    for (size_t n; (n = exporter_queue_first(&q, ".", after, first, 7, NULL)); seen += n) {
        for (size_t i = 1; i < n; i++)
            assert_true(strcmp(first[i - 1].name, first[i].name) < 0);
        assert_true(strcmp(after, first[0].name) < 0);
        memcpy(after, first[n - 1].name, sizeof after);
    }
    assert_int_equal(seen, 500);
    assert_int_equal(exporter_queue_trim(&q, ".", 100, UINT64_MAX), 400);
    assert_int_equal(exporter_queue_first(&q, ".", "", first, 1, &total), 1);
    assert_int_equal(total, 100);
    assert_int_equal(strncmp(first[0].name, "1700000000400", 13), 0); /* the oldest went */
    assert_int_equal(exporter_queue_trim(&q, ".", 100, UINT64_MAX), 0);
}

/* Bytes of the disk count, whatever a block has: the entries that stay fit, and one more would not. */
static void test_trim_bytes(void **state)
{
    struct exporter_entry first;
    struct stat st;
    size_t total;
    (void)state;
    for (int i = 0; i < 600; i++)
        add((unsigned)i + 1, 1700000000000 + i);
    assert_int_equal(exporter_queue_first(&q, ".", "", &first, 1, NULL), 1);
    assert_int_equal(fstatat(q.dir, first.name, &st, 0), 0);
    uint64_t one = (uint64_t)(st.st_blocks * 512 > st.st_size ? st.st_blocks * 512 : st.st_size);
    assert_int_equal(exporter_queue_trim(&q, ".", 1000, 600 * one), 0);
    assert_int_equal(exporter_queue_trim(&q, ".", 1000, 10 * one + one / 2), 590);
    assert_int_equal(exporter_queue_first(&q, ".", "", &first, 1, &total), 1);
    assert_int_equal(total, 10);
    assert_int_equal(strncmp(first.name, "1700000000590", 13), 0); /* the oldest went */
    assert_int_equal(exporter_queue_trim(&q, ".", 5, 10 * one), 5); /* both bounds hold */
}

static void test_letters(void **state)
{
    struct arena a;
    struct exporter_entry one;
    struct exporter_item item, letter;
    size_t total;
    (void)state;
    arena_init(&a, 0);
    add(1, 5);
    assert_int_equal(exporter_queue_first(&q, ".", "", &one, 1, NULL), 1);
    assert_string_equal(one.name, "0000000000005-00000000000000000000000000000001");
    assert_int_equal(exporter_queue_read(&q, ".", one.name, &a, &item, NULL), 0);
    assert_string_equal(item.tree, "/tree/mlruns");
    item.done = 4;
    item.why = "it said \"no\"\n";
    assert_int_equal(exporter_queue_set_aside(&q, one.name, &item, NULL), 0);
    assert_int_equal(exporter_queue_first(&q, ".", "", NULL, 0, &total), 0);
    assert_int_equal(total, 0);
    assert_int_equal(exporter_queue_read(&q, EXPORTER_DEAD, one.name, &a, &letter, NULL), 0);
    assert_string_equal(letter.why, item.why);
    assert_int_equal(letter.done, 4);
    assert_true(letter.failed_ms > 0);
    assert_int_equal(exporter_queue_resend(&q, one.name, NULL), 0);
    assert_int_equal(exporter_queue_read(&q, ".", one.name, &a, &item, NULL), 0);
    assert_int_equal(item.done, 4);
    assert_string_equal(item.why, "");
    assert_int_equal(exporter_queue_read(&q, EXPORTER_DEAD, one.name, &a, &item, NULL), 1);
    arena_deinit(&a);
}

static void test_damage(void **state)
{
    static const char *const texts[] = {"", "garbage", "[]", "{\"tree\": 3}", "{\"tree\": \"\"}", "\xff\xfe"};
    struct arena a;
    struct exporter_item item;
    struct exporter_state s;
    struct err err = {0};
    size_t total;
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(fs_write(q.dir, "0000000000005-00000000000000000000000000000001", str_of(texts[i]), 0600, false, &err), 0);
        assert_int_equal(exporter_queue_read(&q, ".", "0000000000005-00000000000000000000000000000001", &a, &item, &err), -1);
        assert_int_equal(fs_write(q.dir, "state", str_of(texts[i]), 0600, false, &err), 0);
        exporter_state_read(&q, &s);
        assert_int_equal(s.sent, 0);
    }
    static const char *const others[] = {"5-0", "x", ".1700000000000-00000000000000000000000000000001", "1700000000000-0000000000000000000000000000000g",
                                         "1700000000000-000000000000000000000000000000011", "lock", "dead"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(fs_write(q.dir, others[i], STR("{}"), 0600, false, &err), 0);
    exporter_queue_first(&q, ".", "", NULL, 0, &total);
    assert_int_equal(total, 1);
    struct exporter_state full = {.sent = 7, .dropped = 2, .failures = 3, .since_ms = 4, .not_before_ms = 5, .asked = true, .why = "w\"x"};
    assert_int_equal(exporter_state_write(&q, &full, &err), 0);
    exporter_state_read(&q, &s);
    assert_memory_equal(&s, &full, sizeof s);
    assert_int_equal(exporter_queue_add(&q, "../../../etc/passwd", 5, "/t", &err), -1);
    arena_deinit(&a);
}

static void test_place(void **state)
{
    struct exporter_queue other;
    struct err err = {0};
    char path[300];
    (void)state;
    assert_int_equal(exporter_queue_open(&other, spool, "none", false, &err), 1);
    snprintf(path, sizeof path, "%s/.benchwrap/export", base);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(exporter_queue_open(&other, spool, "lake", false, &err), -1);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(exporter_queue_lock(&q, 0), 0);
    assert_int_equal(exporter_queue_open(&other, spool, "lake", false, &err), 0);
    assert_int_equal(exporter_queue_lock(&other, 50), 1);
    fs_close(&q.lock);
    assert_int_equal(exporter_queue_lock(&other, 50), 0);
    exporter_queue_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trim_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_letters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_place, setup, teardown),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
