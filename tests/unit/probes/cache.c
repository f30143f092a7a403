/* cache: lasting facts come back as they were told; a damaged, foreign or outdated file counts as none. */
#include "base/fs.h"
#include "probes/look.h"
#include "probes/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

struct bench {
    char dir[64], cache[80], spool[80];
    struct host h;
};

static void put(int root, const char *path, const char *text)
{
    assert_int_equal(fs_write(root, path, str_of(text), 0644, false, NULL), 0);
}

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    snprintf(b->dir, sizeof b->dir, "/tmp/benchwrap-cache.XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->cache, sizeof b->cache, "%s/cache", b->dir);
    snprintf(b->spool, sizeof b->spool, "%s/spool", b->dir);
    int root = open(b->dir, O_RDONLY | O_DIRECTORY);
    fs_mkdirs(root, "proc/sys/kernel/random", 0755, NULL);
    fs_mkdirs(root, "proc/self", 0755, NULL);
    fs_mkdirs(root, "spool", 0755, NULL);
    put(root, "proc/sys/kernel/hostname", "n1\n");
    put(root, "proc/sys/kernel/random/boot_id", "b1\n");
    put(root, "proc/self/status", "Cpus_allowed_list:\t0-3\n");
    b->h = (struct host){.root = root, .root_path = b->dir, .cache = b->cache, .spool = open(b->spool, O_RDONLY | O_DIRECTORY)};
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    fs_remove_tree(AT_FDCWD, b->dir, NULL);
    close(b->h.root);
    close(b->h.spool);
    free(b);
    return 0;
}

static void begin(struct record *r)
{
    record_init(r, "0123456789abcdef0123456789abcdef", 1);
}

/* Tells facts of every kind and keeps those behind the first. */
static void keep(struct bench *b)
{
    struct record r;
    begin(&r);
    record_param(&r, "before", STR("not kept"));
    const struct fact *after = r.last;
    record_param(&r, "cpu.model", STR("line one\nline two"));
    record_tag(&r, "hostname", STR("n1"));
    record_missing(&r, "cpu.cores", "%s", "why not");
    put(b->h.spool, "x.xml", "<x/>\n");
    record_artifact(&r, "x.xml", "x.xml");
    cache_store(&b->h, "x", &r, after);
    record_deinit(&r);
    unlinkat(b->h.spool, "x.xml", 0);
}

static bool replay(struct bench *b, struct record *r)
{
    begin(r);
    return cache_replay(&b->h, "x", r);
}

static void facts_come_back(void **state)
{
    struct bench *b = *state;
    struct record r;
    struct look_text x;
    keep(b);
    assert_true(replay(b, &r));
    assert_int_equal(r.count, 4);
    assert_true(str_is(record_find(&r, FACT_PARAM, "cpu.model")->text, "line one\nline two"));
    assert_true(str_is(record_find(&r, FACT_TAG, "hostname")->text, "n1"));
    assert_null(record_find(&r, FACT_PARAM, "before"));
    assert_true(look_read(&b->h, &x, "spool/x.xml"));
    assert_string_equal(x.p, "<x/>");
    record_deinit(&r);
}

static void what_they_depend_on_is_in_the_name(void **state)
{
    struct bench *b = *state;
    static const char *const rows[][2] = {{"proc/sys/kernel/random/boot_id", "b2\n"},
                                          {"proc/sys/kernel/hostname", "n2\n"},
                                          {"proc/self/status", "Cpus_allowed_list:\t0-1\n"},
                                          {"sys/devices/system/cpu/online", "0-2\n"},
                                          {"sys/devices/system/cpu/cpu0/microcode/version", "0x2b000606\n"}};
    fs_mkdirs(b->h.root, "sys/devices/system/cpu/cpu0/microcode", 0755, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record r;
        keep(b);
        put(b->h.root, rows[i][0], rows[i][1]);
        assert_false(replay(b, &r));
        record_deinit(&r);
    }
    struct record r;
    keep(b);
    b->h.public_profile = true;
    assert_false(replay(b, &r));
    record_deinit(&r);
}

/* A job that may use other accelerators, and memory that has been initialised since. */
static void what_is_visible_is_in_the_name(void **state)
{
    struct bench *b = *state;
    struct record r;
    char selected[] = "CUDA_VISIBLE_DEVICES=0,1", *two[] = {selected, NULL}, *none[] = {NULL};
    b->h.env = none;
    keep(b);
    b->h.env = two;
    assert_false(replay(b, &r));
    record_deinit(&r);
    fs_mkdirs(b->h.root, "dev", 0755, NULL);
    keep(b);
    put(b->h.root, "dev/nvidia1", "");
    assert_false(replay(b, &r));
    record_deinit(&r);
    fs_mkdirs(b->h.root, "sys/bus/pci/devices", 0755, NULL);
    put(b->h.root, "sys/bus/pci/devices/0000:01:00.0", "");
    keep(b);
    put(b->h.root, "sys/bus/pci/devices/0000:01:00.1", ""); /* a virtual function */
    assert_false(replay(b, &r));
    record_deinit(&r);
    put(b->h.root, "proc/meminfo", "MemTotal:        7170260 kB\n"); /* of all nodes: the second one's is initialised late, too */
    keep(b);
    put(b->h.root, "proc/meminfo", "MemTotal:       10800260 kB\n");
    assert_false(replay(b, &r));
    record_deinit(&r);
}

/* A sandbox hides /proc/cpuinfo or /sys/bus: nothing is kept from there, and nothing is replayed. */
static void a_partial_view_is_not_kept(void **state)
{
    static const char full[] =
        "22 1 0:20 / /proc rw - proc proc rw\n23 1 0:21 / /sys rw - sysfs sysfs rw\n24 22 0:20 /sys /proc/sys ro - proc proc rw\n";
    static const char *const hidden[] = {"30 22 0:5 /null /proc/cpuinfo rw - devtmpfs udev rw\n",
                                         "31 23 0:30 / /sys/bus rw - tmpfs none rw\n",
                                         "32 22 0:50 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw\n",
                                         "33 1 0:60 / /sys rw - tmpfs none rw\n", "34 22 0:20 /version /proc/cpuinfo rw - proc proc rw\n"};
    struct bench *b = *state;
    struct record r;
    char text[512];
    put(b->h.root, "proc/self/mountinfo", full);
    keep(b);
    assert_true(replay(b, &r));
    record_deinit(&r);
    unlinkat(b->h.spool, "x.xml", 0);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        snprintf(text, sizeof text, "%s%s", full, hidden[i]);
        put(b->h.root, "proc/self/mountinfo", text);
        assert_false(replay(b, &r));
        record_deinit(&r);
        keep(b);
        assert_false(replay(b, &r));
        record_deinit(&r);
    }
}

static void mounts_are_read_once(void **state)
{
    struct bench *b = *state;
    struct probes_state kept = {0};
    struct buf own CLEANUP_BUF;
    buf_init(&own, LOOK_MOUNTS_MAX + (1 << 17));
    buf_init(&kept.mounts, LOOK_MOUNTS_MAX + (1 << 17));
    unlinkat(b->h.root, "proc/self/mountinfo", 0);
    b->h.state = &kept;
    assert_null(look_read_mounts(&b->h, &own).p);
    put(b->h.root, "proc/self/mountinfo", "22 1 0:20 / /first rw - proc proc rw\n");
    assert_true(str_has(look_read_mounts(&b->h, &own), "/first"));
    put(b->h.root, "proc/self/mountinfo", "22 1 0:20 / /second rw - proc proc rw\n");
    assert_true(str_has(look_read_mounts(&b->h, &own), "/first"));
    b->h.state = NULL;
    assert_true(str_has(look_read_mounts(&b->h, &own), "/second"));
    buf_deinit(&kept.mounts);
}

static void another_job_on_the_same_processors_shares_them(void **state)
{
    struct bench *b = *state;
    struct record r;
    fs_mkdirs(b->h.root, "sys/fs/cgroup/job_1", 0755, NULL);
    fs_mkdirs(b->h.root, "sys/fs/cgroup/job_2", 0755, NULL);
    put(b->h.root, "sys/fs/cgroup/job_1/cpuset.cpus.effective", "0-3\n");
    put(b->h.root, "sys/fs/cgroup/job_2/cpuset.cpus.effective", "0-3\n");
    put(b->h.root, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    put(b->h.root, "proc/self/cgroup", "0::/job_1\n");
    put(b->h.root, "proc/self/cpuset", "/job_1\n");
    keep(b);
    put(b->h.root, "proc/self/cgroup", "0::/job_2\n");
    put(b->h.root, "proc/self/cpuset", "/job_2\n");
    assert_true(replay(b, &r));
    record_deinit(&r);
    unlinkat(b->h.spool, "x.xml", 0);
    put(b->h.root, "sys/fs/cgroup/job_2/cpuset.cpus.effective", "0-7\n");
    assert_false(replay(b, &r));
    record_deinit(&r);
}

/* The one file in the cache. */
static void path_of(struct bench *b, char path[400])
{
    struct fs_names list;
    assert_int_equal(fs_list(AT_FDCWD, b->cache, &list, NULL), 0);
    assert_int_equal(list.count, 1);
    snprintf(path, 400, "%s/%s", b->cache, list.names[0]);
    fs_names_deinit(&list);
}

static void each_damaged_byte_is_noticed(void **state)
{
    struct bench *b = *state;
    char path[400];
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 17);
    keep(b);
    path_of(b, path);
    assert_int_equal(fs_read(AT_FDCWD, path, 65536, 0, &text, NULL), 0);
    for (size_t i = 0; i < text.n; i++) {
        struct record r;
        text.p[i] ^= 1;
        assert_int_equal(fs_write(AT_FDCWD, path, buf_text(&text), 0600, false, NULL), 0);
        assert_false(replay(b, &r));
        assert_int_equal(r.count, 0);
        record_deinit(&r);
        text.p[i] ^= 1;
    }
    for (size_t n = 0; n < text.n; n += 7) {
        struct record r;
        assert_int_equal(fs_write(AT_FDCWD, path, (struct str){text.p, n}, 0600, false, NULL), 0);
        assert_false(replay(b, &r));
        record_deinit(&r);
    }
}

static void files_that_others_may_write_are_not_believed(void **state)
{
    struct bench *b = *state;
    char path[400];
    struct record r;
    keep(b);
    path_of(b, path);
    chmod(path, 0622);
    assert_false(replay(b, &r));
    record_deinit(&r);
    chmod(path, 0600);
    assert_true(replay(b, &r));
    record_deinit(&r);
    chmod(b->cache, 0777);
    assert_false(replay(b, &r));
    record_deinit(&r);
}

/* A file that cannot be read now (here: a folder stands in its place) may be readable a moment later; one that is not there, or root's, is so until the next boot. */
static void what_failed_for_a_moment_does_not_last(void **state)
{
    struct bench *b = *state;
    struct record r;
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            fs_mkdirs(b->h.root, "proc/cpuinfo", 0755, NULL);
        else {
            fs_remove_tree(b->h.root, "proc/cpuinfo", NULL);
            put(b->h.root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: A\n");
        }
        begin(&r);
        probes_run(PROBE_BEFORE, false, &b->h, &r);
        probes_end(&b->h);
        assert_true((record_find(&r, FACT_PARAM, "cpu.model") != NULL) == (i == 1));
        record_deinit(&r);
    }
    begin(&r);
    probes_run(PROBE_BEFORE, false, &b->h, &r);
    for (size_t i = 0; i < probes_count; i++)
        if (strcmp(probes[i]->name, "cpu") == 0)
            assert_true(probes_costs(&b->h)[i].cached);
    probes_end(&b->h);
    record_deinit(&r);
}

static void kept_without_a_spool_is_not_enough_with_one(void **state)
{
    struct bench *b = *state;
    struct record r;
    int spool = b->h.spool;
    b->h.spool = -1;
    begin(&r);
    record_param(&r, "cpu.model", STR("x"));
    cache_store(&b->h, "x", &r, NULL);
    record_deinit(&r);
    assert_true(replay(b, &r));
    record_deinit(&r);
    b->h.spool = spool;
    assert_false(replay(b, &r));
    record_deinit(&r);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(facts_come_back),
        TEST(what_failed_for_a_moment_does_not_last),
        TEST(what_they_depend_on_is_in_the_name),
        TEST(what_is_visible_is_in_the_name),
        TEST(a_partial_view_is_not_kept),
        TEST(mounts_are_read_once),
        TEST(another_job_on_the_same_processors_shares_them),
        TEST(each_damaged_byte_is_noticed),
        TEST(files_that_others_may_write_are_not_believed),
        TEST(kept_without_a_spool_is_not_enough_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
