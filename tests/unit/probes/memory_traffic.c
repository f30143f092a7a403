/* memory_traffic: which counters are opened, and how, by what the kernel writes of them in sysfs. */
#include "probes/memory_traffic.h"
#include "base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define UNITS "sys/bus/event_source/devices/"

static char folder[40];
static struct host h;

static void put(const char *path, const char *text)
{
    char dir[200];
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = 0;
    assert_int_equal(fs_mkdirs(h.root, dir, 0700, NULL), 0);
    assert_int_equal(fs_write(h.root, path, str_of(text), 0600, false, NULL), 0);
}

/* The files of one unit: path behind its folder, text; {NULL} ends them. */
static void put_unit(const char *unit, const char *const (*files)[2])
{
    for (; (*files)[0]; files++) {
        char path[200];
        snprintf(path, sizeof path, UNITS "%s/%s", unit, (*files)[0]);
        put(path, (*files)[1]);
    }
}

/* The same data as the channels' once more, counted by themselves. */
static void put_free_running(const char *unit)
{
    static const char *const files[][2] = {{"type", "20"},
                                           {"cpumask", "0"},
                                           {"format/event", "config:0-7"},
                                           {"format/umask", "config:8-15"},
                                           {"events/data_read", "event=0xff,umask=0x20"},
                                           {"events/data_read.scale", "6.103515625e-5"},
                                           {"events/data_read.unit", "MiB"},
                                           {NULL, NULL}};
    put_unit(unit, files);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/benchwrap-unit.XXXXXX");
    assert_non_null(mkdtemp(folder));
    h = (struct host){.root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .root_path = folder, .spool = -1, .cwd = "/", .counters = true};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(h.root);
    fs_remove_tree(AT_FDCWD, folder, NULL);
    return 0;
}

/* Two channels of two packages, as Linux 6.1 writes them on Skylake-SP. */
static void intel_s_channels(void **state)
{
    struct traffic_event e[16];
    (void)state;
    for (int i = 0; i < 2; i++) {
        char unit[40];
        const char *const files[][2] = {{"type", i ? "14" : "13"},
                                        {"cpumask", "0,24"},
                                        {"format/event", "config:0-7"},
                                        {"format/umask", "config:8-15"},
                                        {"events/cas_count_read", "event=0x04,umask=0x03"},
                                        {"events/cas_count_read.scale", "6.103515625e-5"},
                                        {"events/cas_count_read.unit", "MiB"},
                                        {"events/cas_count_write", "event=0x04,umask=0x0c"},
                                        {"events/cas_count_write.scale", "6.103515625e-5"},
                                        {"events/cas_count_write.unit", "MiB"},
                                        {"events/clockticks", "event=0x00"},
                                        {NULL, NULL}};
        snprintf(unit, sizeof unit, "uncore_imc_%d", i);
        put_unit(unit, files);
    }
    put_free_running("uncore_imc_free_running_0"); /* left alone */
    put(UNITS "uncore_cha_0/type", "30");
    assert_int_equal(traffic_find_events(&h, e, 16), 8);
    assert_int_equal(e[0].type, 13);
    assert_int_equal(e[0].cpu, 0);
    assert_int_equal(e[1].cpu, 24);
    assert_true(e[0].config[0] == 0x0304 && !e[0].write);
    assert_true(e[2].config[0] == 0x0c04 && e[2].write);
    assert_true(e[0].bytes == 64);
    assert_int_equal(e[7].type, 14);
    assert_int_equal(traffic_find_events(&h, e, 3), 3); /* no more than asked for */
    put(UNITS "uncore_imc_1/events/cas_count_write.unit", "apples"); /* what is not understood is not guessed */
    assert_int_equal(traffic_find_events(&h, e, 16), 6);
    put(UNITS "uncore_imc_1/format/umask", "config:8-9"); /* 0x0c does not fit */
    assert_int_equal(traffic_find_events(&h, e, 16), 6);
    put(UNITS "uncore_imc_1/events/cas_count_read", "event=0x04,umask=0x03,more=1"); /* a term without a format */
    assert_int_equal(traffic_find_events(&h, e, 16), 4);
}

static void free_running_where_there_is_nothing_else(void **state)
{
    struct traffic_event e[16];
    (void)state;
    put_free_running("uncore_imc_free_running");
    assert_int_equal(traffic_find_events(&h, e, 16), 1);
    assert_true(e[0].config[0] == 0x20ff && e[0].bytes == 64);
}

/* Bits of a term may lie apart. */
static void amd_s_channels(void **state)
{
    struct traffic_event e[16];
    (void)state;
    put(UNITS "amd_umc_0/type", "40");
    put(UNITS "amd_umc_0/cpumask", "0");
    put(UNITS "amd_umc_0/format/event", "config:0-7");
    put(UNITS "amd_umc_0/format/rdwrmask", "config:8,10");
    assert_int_equal(traffic_find_events(&h, e, 16), 2);
    assert_true(e[0].config[0] == 0x10a && !e[0].write && e[0].bytes == 64);
    assert_true(e[1].config[0] == 0x40a && e[1].write);
}

static void nothing_there_is_said(void **state)
{
    struct traffic_event e[16];
    struct record r;
    (void)state;
    assert_int_equal(traffic_find_events(&h, e, 16), 0);
    record_init(&r, "0123456789abcdef0123456789abcdef", 1);
    probes_run(PROBE_BEFORE, false, &h, &r);
    const struct fact *f = r.first;
    while (f && !(f->kind == FACT_MISSING && str_is(f->key, "counters.node_memory_read_GB")))
        f = f->next;
    assert_true(f && str_starts(f->text, "the kernel shows no counters of memory controllers here"));
    probes_end(&h);
    record_deinit(&r);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(intel_s_channels), TEST(free_running_where_there_is_nothing_else), TEST(amd_s_channels), TEST(nothing_there_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
