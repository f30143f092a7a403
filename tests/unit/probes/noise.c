/* noise, pressure, throttle: two looks at a machine that is made of files, and what is said of the time between. */
#include "base/fs.h"
#include "probes/probe.h"
#include "probes/state.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct probe probe_noise, probe_pressure, probe_throttle;

struct machine {
    char folder[40];
    struct host h;
    struct probes_state state;
    struct record r;
};

static void put(struct machine *m, const char *path, const char *text)
{
    char dir[200];
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = 0;
    assert_int_equal(fs_mkdirs(m->h.root, dir, 0700, NULL), 0);
    assert_int_equal(fs_write(m->h.root, path, str_of(text), 0600, false, NULL), 0);
}

/* Time stands still but for what a test adds: a busy machine changes no figure. */
static int64_t test_ns;

static int64_t fixed_clock(void)
{
    return test_ns;
}

static void begin(struct machine *m)
{
    *m = (struct machine){.folder = "/tmp/benchwrap-unit.XXXXXX"};
    assert_non_null(mkdtemp(m->folder));
    test_ns = 100000000000;
    m->state.view.known = true; /* what the folder lacks, the machine lacks */
    m->state.kept = calloc(probes_count, sizeof *m->state.kept);
    assert_non_null(m->state.kept);
    m->h = (struct host){.root = open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .real = true, .spool = -1, .state = &m->state, .clock = fixed_clock};
    record_init(&m->r, "0123456789abcdef0123456789abcdef", 1);
    record_tag(&m->r, "benchwrap.scope", STR("process"));
    put(m, "sys/devices/system/cpu/online", "0-3\n");
    put(m, "proc/stat", "cpu  1000 0 500 90000 10 0 5 100 0 0\ncpu0 1 1 1 1\n");
    put(m, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    put(m, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
}

static void end(struct machine *m)
{
    char name[sizeof m->folder];
    for (size_t i = 0; i < probes_count; i++)
        free(m->state.kept[i]);
    free(m->state.kept);
    record_deinit(&m->r);
    close(m->h.root);
    snprintf(name, sizeof name, "%s", m->folder);
    fs_remove_tree(AT_FDCWD, name, NULL);
}

static double metric(const struct record *r, const char *key)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_is(f->key, key))
            return f->value;
    return NAN;
}

static const char *missing(const struct record *r, const char *key)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_MISSING && str_is(f->key, key))
            return f->text.p;
    return "";
}

static const char *noisy(const struct record *r)
{
    const struct fact *f = record_find(r, FACT_TAG, "benchwrap.noisy");
    return f ? f->text.p : "";
}

static void lasted(struct machine *m, double s)
{
    record_metric(&m->r, "run.wall_s", s, "s", DIR_LOWER, 0, 0);
}

static void used(struct machine *m, double user)
{
    if (!record_find(&m->r, FACT_METRIC, "run.wall_s"))
        lasted(m, 10);
    record_metric(&m->r, "run.user_s", user, "s", DIR_LOWER, 0, 0);
    record_metric(&m->r, "run.system_s", 0, "s", DIR_LOWER, 0, 0);
}

static void others_are_what_the_program_did_not_use(void **state)
{
    static const struct { double own; double others; const char *noisy; } rows[] = {
        {30, 1, "other processes used 1 of 4 processors"}, {39, 0.1, ""}, {40, 0, ""}, {45, 0, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        begin(&m);
        probe_noise.before(&m.h, &m.r, NULL);
        test_ns += 10000000000; /* ten seconds ago */
        put(&m, "proc/stat", "cpu  4000 0 1500 90000 10 0 5 100 0 0\n"); /* 40 s more, at 100 ticks a second */
        used(&m, rows[i].own);
        probe_noise.after(&m.h, &m.r, NULL);
        assert_true(fabs(metric(&m.r, "noise.other_processors") - rows[i].others) < 0.01);
        assert_true(metric(&m.r, "noise.steal_percent") == 0);
        assert_string_equal(noisy(&m.r), rows[i].noisy);
        end(&m);
    }
}

static void stolen_time_is_said(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    probe_noise.before(&m.h, &m.r, NULL);
    test_ns += 10000000000;
    put(&m, "proc/stat", "cpu  1000 0 500 90000 10 0 5 500 0 0\n"); /* 4 of 40 s */
    used(&m, 0);
    probe_noise.after(&m.h, &m.r, NULL);
    assert_true(fabs(metric(&m.r, "noise.steal_percent") - 10) < 0.001);
    assert_string_equal(noisy(&m.r), "the hypervisor took 10 % of the processors' time (steal)");
    end(&m);
}

static void what_cannot_be_known_is_missing(void **state)
{
    static const struct { const char *scope; int ago_ms; double user, left; const char *why; } rows[] = {
        {"process", 100, 1, 0, "the run was too short"},
        {"rank0", 9000, 1, 0, "ranks of the same program"},
        {"launcher", 9000, 1, 0, "ranks of the same program"},
        {"process", 9000, -1, 0, "own processor time is not known"},
        {"process", 9000, 1, 2, "left processes behind"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        begin(&m);
        record_tag(&m.r, "benchwrap.scope", str_of(rows[i].scope));
        probe_noise.before(&m.h, &m.r, NULL);
        test_ns += rows[i].ago_ms * 1000000LL;
        lasted(&m, 10);
        if (rows[i].user >= 0)
            used(&m, rows[i].user);
        if (rows[i].left > 0)
            record_metric(&m.r, "run.left_running", rows[i].left, "", DIR_NONE, 0, 0);
        probe_noise.after(&m.h, &m.r, NULL);
        assert_true(isnan(metric(&m.r, "noise.other_processors")));
        if (!strstr(missing(&m.r, "noise.other_processors"), rows[i].why))
            fail_msg("%zu: \"%s\"", i, missing(&m.r, "noise.other_processors"));
        end(&m);
    }
}

static void a_file_of_another_shape_is_missing(void **state)
{
    static const char *const texts[] = {"", "cpu\n", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n", "cpu 1 2 x 4 5 6 7 8\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct machine m;
        begin(&m);
        put(&m, "proc/stat", texts[i]);
        probe_noise.before(&m.h, &m.r, NULL);
        used(&m, 1);
        probe_noise.after(&m.h, &m.r, NULL);
        assert_true(isnan(metric(&m.r, "noise.other_processors")));
        assert_string_equal(missing(&m.r, "noise.other_processors"), "processor times are not readable: /proc/stat");
        end(&m);
    }
}

static void pressure_is_a_share_of_the_time(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    probe_pressure.before(&m.h, &m.r, NULL);
    test_ns += 10000000000;
    lasted(&m, 10);
    put(&m, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\n");
    put(&m, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=500005\n");
    probe_pressure.after(&m.h, &m.r, NULL);
    assert_true(fabs(metric(&m.r, "pressure.cpu_percent") - 20) < 0.1);
    assert_true(fabs(metric(&m.r, "pressure.memory_percent") - 5) < 0.1);
    assert_string_equal(noisy(&m.r), "work waited for memory 5 % of the time");
    assert_non_null(strstr(missing(&m.r, "pressure.io_percent"), "no pressure stall information"));
    m.state.view.partial = true;
    snprintf(m.state.view.reason, sizeof m.state.view.reason, "a mount hides it");
    record_deinit(&m.r);
    record_init(&m.r, "0123456789abcdef0123456789abcdef", 1);
    lasted(&m, 10);
    probe_pressure.after(&m.h, &m.r, NULL);
    assert_string_equal(missing(&m.r, "pressure.io_percent"), "a part of the machine is hidden: a mount hides it");
    end(&m);
}

static void a_share_of_other_times_is_missing(void **state)
{
    static const struct { double run, window; } rows[] = {{0.01, 0.07}, {0.3, 0.9}, {0.01, 0.01}}; /* seconds */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        begin(&m);
        probe_pressure.before(&m.h, &m.r, NULL);
        test_ns += (int64_t)(rows[i].window * 1e9);
        lasted(&m, rows[i].run);
        put(&m, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\n");
        probe_pressure.after(&m.h, &m.r, NULL);
        assert_true(isnan(metric(&m.r, "pressure.cpu_percent")));
        assert_non_null(strstr(missing(&m.r, "pressure.cpu_percent"), "the run was too short"));
        end(&m);
    }
}

static void throttling_is_counted(void **state)
{
    struct machine m;
    char path[100];
    (void)state;
    begin(&m);
    probe_throttle.after(&m.h, &m.r, NULL);
    assert_non_null(strstr(missing(&m.r, "noise.throttled"), "counts no thermal throttling"));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", i);
        put(&m, path, "7\n");
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count", i);
        put(&m, path, "1\n");
    }
    probe_throttle.before(&m.h, &m.r, NULL);
    put(&m, "sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "10\n");
    probe_throttle.after(&m.h, &m.r, NULL);
    assert_true(metric(&m.r, "noise.throttled") == 3);
    assert_string_equal(noisy(&m.r), "processors were slowed down for heat: the kernel's counters of at most 16 of them rose by 3");
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_what_the_program_did_not_use), cmocka_unit_test(stolen_time_is_said),
        cmocka_unit_test(what_cannot_be_known_is_missing),         cmocka_unit_test(a_file_of_another_shape_is_missing),
        cmocka_unit_test(pressure_is_a_share_of_the_time),         cmocka_unit_test(throttling_is_counted),
        cmocka_unit_test(a_share_of_other_times_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
