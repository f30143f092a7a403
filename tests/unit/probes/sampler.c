/* sampler: machines made of files and a clock made of a number: what samplers tell of counters that grow, go round, are reset, or vanish. */
#include "base/fs.h"
#include "probes/hwmon.h"
#include "probes/probe.h"
#include "probes/sample.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t now_ns;

static int64_t clock_of_test(void)
{
    return now_ns;
}

struct machine {
    char folder[40];
    struct host h;
    struct record r;
};

static void put(struct machine *m, const char *path, const char *text)
{
    char dir[200];
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = 0;
    assert_int_equal(fs_mkdirs(m->h.root, dir, 0700, NULL), 0);
    int fd = openat(m->h.root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600); /* in place: samplers keep files open */
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void begin(struct machine *m)
{
    *m = (struct machine){.folder = "/tmp/benchwrap-unit.XXXXXX"};
    assert_non_null(mkdtemp(m->folder));
    m->h = (struct host){.root = open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .root_path = m->folder, .spool = -1, .cwd = "/", .clock = clock_of_test};
    record_init(&m->r, "0123456789abcdef0123456789abcdef", 1);
    now_ns = 1000000000000;
}

static void end(struct machine *m)
{
    char name[sizeof m->folder];
    probes_end(&m->h);
    record_deinit(&m->r);
    close(m->h.root);
    snprintf(name, sizeof name, "%s", m->folder);
    fs_remove_tree(AT_FDCWD, name, NULL);
}

/* After so many seconds. */
static void sample(struct machine *m, double seconds)
{
    now_ns += (int64_t)(seconds * 1e9);
    probes_run(PROBE_SAMPLE, false, &m->h, &m->r);
}

static double last(const struct machine *m, const char *key)
{
    double value = NAN;
    for (const struct fact *f = m->r.first; f; f = f->next)
        if (f->kind == FACT_METRIC && str_is(f->key, key))
            value = f->value;
    return value;
}

static size_t count(const struct machine *m, const char *start)
{
    size_t n = 0;
    for (const struct fact *f = m->r.first; f; f = f->next)
        n += f->kind == FACT_METRIC && str_starts(f->key, start);
    return n;
}

static const char *missing(const struct machine *m, const char *key)
{
    for (const struct fact *f = m->r.first; f; f = f->next)
        if (f->kind == FACT_MISSING && str_is(f->key, key))
            return f->text.p;
    return "";
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fabs(b) + 1e-6;
}

/* Slingshot: HPE's telemetry files, as on a node of an EX system: a number of octets and when it was read from the card. */
static void slingshot_has_rates(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "sys/class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets", "5000000@1795242239.000000001\n");
    put(&m, "sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", "4294967295@1795242239.000000001\n"); /* 48 bits: no end of 32 */
    put(&m, "sys/class/cxi/cxi1/device/port/link", "up\n"); /* an older driver: without telemetry */
    sample(&m, 1);
    put(&m, "sys/class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets", "5005000000@1795242249.000000001\n");
    put(&m, "sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", "4394967295@1795242249.000000001\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/network_cxi0_receive_megabytes_per_second"), 500));
    assert_true(near(last(&m, "system/network_cxi0_transmit_megabytes_per_second"), 10));
    assert_int_equal(count(&m, "system/network_cxi1"), 0);
    assert_string_equal(missing(&m, "system/fabric"), "");
    end(&m);
}

static void pressure_is_the_share_of_time(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
    sample(&m, 1);
    put(&m, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000005\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/pressure_memory_percentage"), 25));
    assert_true(near(last(&m, "system/pressure_memory_full_percentage"), 10));
    assert_true(isnan(last(&m, "system/pressure_cpu_percentage")));
    end(&m);
}

static void disks_have_rates_and_partitions_none(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "sys/block/nvme0n1/size", "1");
    put(&m, "sys/block/sda/size", "1");
    put(&m, "sys/block/nvme-eui.0025388b11b2c3d4/size", "1");
    put(&m, "proc/diskstats", " 259 0 nvme0n1 10 0 1000 5 10 0 2000 5 0 100 10 0 0 0 0\n 259 1 nvme0n1p1 10 0 1000 5 10 0 2000 5 0 100 10\n 8 0 sda 1 0 8 1 0 0 0 0 0 1 1\n"
                              " 9 0 nvme-eui.0025388b11b2c3d4 1 0 8 1 0 0 0 0 0 1 1\n 7 0 loop0 9 0 9 9 9 9 9 9 9 9 9\n");
    sample(&m, 1);
    put(&m, "proc/diskstats", " 259 0 nvme0n1 10 0 201000 5 10 0 102000 5 0 5100 10 0 0 0 0\n 259 1 nvme0n1p1 10 0 9001000 5 10 0 2000 5 0 100 10\n 8 0 sda 1 0 8 1 0 0 0 0 0 1 1\n"
                              " 9 0 nvme-eui.0025388b11b2c3d4 1 0 2008 1 0 0 0 0 0 1 1\n 7 0 loop0 9 0 99 9 9 9 9 9 9 9 9\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/disk_nvme0n1_read_megabytes_per_second"), 10.24));
    assert_true(near(last(&m, "system/disk_nvme0n1_write_megabytes_per_second"), 5.12));
    assert_true(near(last(&m, "system/disk_nvme0n1_busy_percentage"), 50));
    assert_int_equal(count(&m, "system/disk_nvme0n1p1"), 0);
    assert_int_equal(count(&m, "system/disk_sda"), 0); /* idle */
    assert_int_equal(count(&m, "system/disk_loop0"), 0);
    assert_true(near(last(&m, "system/disk_disk3_read_megabytes_per_second"), 0.102)); /* no serial in a key */
    put(&m, "proc/diskstats", " 259 0 nvme0n1 1 0 10 5 10 0 20 5 0 51 10\n"); /* reset, and disks gone */
    size_t before = count(&m, "system/disk_nvme0n1_read");
    sample(&m, 10);
    assert_int_equal(count(&m, "system/disk_nvme0n1_read"), before);
    end(&m);
}

/* So many disks: the first are told one by one, the rest as one. */
static void disks_are_bounded(void **state)
{
    struct machine m;
    struct buf text CLEANUP_BUF;
    (void)state;
    begin(&m);
    buf_init(&text, 1 << 20);
    for (int round = 0; round < 2; round++) {
        buf_clear(&text);
        for (int i = 0; i < 100; i++) {
            char path[60];
            snprintf(path, sizeof path, "sys/block/dm-%d/size", i);
            put(&m, path, "1");
            buf_printf(&text, "253 %d dm-%d 1 0 %d 1 1 0 0 1 0 1 1\n", i, i, round * 20000);
        }
        put(&m, "proc/diskstats", text.p);
        sample(&m, 10);
    }
    assert_true(near(last(&m, "system/disk_dm_15_read_megabytes_per_second"), 1.024));
    assert_true(isnan(last(&m, "system/disk_dm_16_read_megabytes_per_second")));
    assert_true(near(last(&m, "system/disk_others_read_megabytes_per_second"), 84 * 1.024));
    end(&m);
}

static void cards_and_ports_have_rates(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "sys/class/net/eth0/device/vendor", "0x15b3");
    put(&m, "sys/class/net/enx525400a1b2c3/device/vendor", "0x15b3");
    put(&m, "proc/self/net/dev", "Inter-|   Receive  |  Transmit\n face |bytes packets\n    lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n  eth0: 1000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0\n"
                                 "enx525400a1b2c3: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n veth9: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    put(&m, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n");
    put(&m, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "0\n");
    put(&m, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "0\n");
    put(&m, "sys/class/infiniband/ibx0c42a1030065f3a2/ports/1/counters/port_rcv_data", "0\n");
    put(&m, "sys/class/infiniband/ibx0c42a1030065f3a2/ports/1/counters/port_xmit_data", "0\n");
    put(&m, "sys/class/infiniband/qib0/ports/1/counters/port_rcv_data", "4294967295\n");
    put(&m, "sys/class/infiniband/qib0/ports/1/counters/port_xmit_data", "9\n");
    sample(&m, 1);
    put(&m, "proc/self/net/dev", "h\nh\n    lo: 9999995 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n  eth0: 10001000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0\n"
                                 "enx525400a1b2c3: 1000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n veth9: 7000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    put(&m, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25001000\n");
    put(&m, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "50\n");
    put(&m, "sys/class/infiniband/ibx0c42a1030065f3a2/ports/1/counters/port_rcv_data", "2500000\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/network_eth0_receive_megabytes_per_second"), 1));
    assert_true(last(&m, "system/network_eth0_transmit_megabytes_per_second") == 0);
    assert_true(near(last(&m, "system/network_mlx5_0_1_receive_megabytes_per_second"), 10)); /* words of four octets */
    assert_true(near(last(&m, "system/network_mlx5_0_1_wait_ticks_per_second"), 5));
    assert_int_equal(count(&m, "system/network_lo"), 0);
    assert_int_equal(count(&m, "system/network_veth9"), 0);
    assert_true(near(last(&m, "system/network_card2_receive_megabytes_per_second"), 0.1)); /* its name holds its address */
    assert_true(near(last(&m, "system/network_fabric1_1_receive_megabytes_per_second"), 1));
    assert_true(strstr(missing(&m, "system/fabric"), "32 bits") != NULL);
    for (const struct fact *f = m.r.first; f; f = f->next)
        assert_false(str_has(f->key, "525400") || str_has(f->key, "0c42a1"));
    end(&m);
}

static void lustre_has_rates_for_each_mount(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "proc/fs/lustre/llite/scratch-ffff8a0c12345678/stats",
        "snapshot_time 1 secs.usecs\nread_bytes 1 samples [bytes] 4096 4096 4096\nopen 5 samples [regs]\n");
    sample(&m, 1);
    put(&m, "proc/fs/lustre/llite/scratch-ffff8a0c12345678/stats",
        "snapshot_time 2 secs.usecs\nread_bytes 9 samples [bytes] 4096 4096 50004096\nwrite_bytes 2 samples [bytes] 1 1 20000000 99\nopen 15 samples [regs]\n"
        "getattr 90 samples [usec] 1 2 3\nbrw_read 77 samples [pages] 1 2 3\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/lustre_scratch_read_megabytes_per_second"), 5));
    assert_true(near(last(&m, "system/lustre_scratch_write_megabytes_per_second"), 2));
    assert_true(near(last(&m, "system/lustre_scratch_metadata_operations_per_second"), 10));
    end(&m);
    begin(&m);
    m.h.public_profile = true;
    put(&m, "proc/fs/lustre/llite/secretsite-ffff8a0c12345678/stats", "read_bytes 1 samples [bytes] 1 1 1\n");
    sample(&m, 1);
    put(&m, "proc/fs/lustre/llite/secretsite-ffff8a0c12345678/stats", "read_bytes 1 samples [bytes] 1 1 50000001\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/lustre1_read_megabytes_per_second"), 5));
    end(&m);
}

static void energy_goes_round_and_counts_on(void **state)
{
    static const char *const values[] = {"200000000000\n", "262000000000\n", "10000000000\n", "90000000000\n"};
    struct machine m;
    (void)state;
    begin(&m);
    for (int i = 0; i < 2; i++) {
        char path[100];
        const char *const files[][2] = {{"name", i ? "package-1\n" : "package-0\n"}, {"max_energy_range_uj", "262143328850\n"}, {"energy_uj", "1000000\n"}};
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "sys/class/powercap/intel-rapl:%d/%s", i, files[k][0]);
            put(&m, path, files[k][1]);
        }
    }
    put(&m, "sys/class/powercap/intel-rapl:0:0/name", "dram\n");
    put(&m, "sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "262143328850\n");
    put(&m, "sys/class/powercap/intel-rapl:0:0/energy_uj", values[0]);
    put(&m, "sys/cray/pm_counters/energy", "1000 J 1690000000000000 us\n");
    probes_run(PROBE_BEFORE, false, &m.h, &m.r);
    for (int i = 1; i < 4; i++) {
        put(&m, "sys/class/powercap/intel-rapl:0:0/energy_uj", values[i]);
        if (i == 3) {
            put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "3001000000\n"); /* 3000 J */
            put(&m, "sys/class/powercap/intel-rapl:1/energy_uj", "2001000000\n"); /* 2000 J */
            put(&m, "sys/cray/pm_counters/energy", "10000 J 1690000030000000 us\n");
        }
        sample(&m, 10);
        if (i == 2) /* 143 J to the end, and 10 kJ more, in 10 s */
            assert_true(near(last(&m, "system/power_dram0_watts"), 1014.33));
    }
    assert_true(near(last(&m, "system/power_package0_watts"), 300));
    assert_true(near(last(&m, "system/power_node_watts"), 900));
    now_ns += 1000000000;
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(near(last(&m, "energy.package_J"), 5000));
    assert_true(near(last(&m, "energy.dram_J"), 62000 + 10143.32885 + 80000));
    assert_true(near(last(&m, "energy.node_J"), 9000));
    end(&m);
}

/* Five minutes without a look at a counter that goes round after 65 kJ: no figure is better than a wrong one. */
static void energy_that_may_have_gone_round_twice_is_missing(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put(&m, "sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987\n");
    put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    probes_run(PROBE_BEFORE, false, &m.h, &m.r);
    now_ns += 300000000000;
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(isnan(last(&m, "energy.package_J")));
    assert_true(strstr(missing(&m, "energy.package_J"), "300 s") != NULL);
    end(&m);
}

/* What the node takes before and after a short program is not the program's. */
static void energy_around_a_short_run_is_missing(void **state)
{
    static const struct {
        double wall_s, window_s;
        bool known;
    } rows[] = {{0.2, 0.4, false}, {0.03, 0.04, false}, {2, 2.2, true}, {-1, 2, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        (void)state;
        begin(&m);
        put(&m, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
        put(&m, "sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987\n");
        put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
        probes_run(PROBE_BEFORE, false, &m.h, &m.r);
        put(&m, "sys/class/powercap/intel-rapl:0/energy_uj", "41000000\n");
        now_ns += (int64_t)(rows[i].window_s * 1e9);
        if (rows[i].wall_s >= 0)
            record_metric(&m.r, "run.wall_s", rows[i].wall_s, "s", DIR_LOWER, 0, 0);
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        assert_int_equal(!isnan(last(&m, "energy.package_J")), rows[i].known);
        assert_int_equal(strstr(missing(&m, "energy.package_J"), "too short") != NULL, !rows[i].known);
        end(&m);
    }
}

/* AMD's driver counts cores and sockets; only sockets are packages, and only where powercap has none. */
static void energy_of_amd_is_that_of_its_sockets(void **state)
{
    static const char *const labels[] = {"Ecore000\n", "Ecore001\n", "Esocket0\n", "Esocket1\n"};
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "sys/class/hwmon/hwmon0/name", "k10temp\n");
    put(&m, "sys/class/hwmon/hwmon1/name", "amd_energy\n");
    for (int i = 0; i < 4; i++) {
        char path[100];
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon1/energy%d_label", i + 1);
        put(&m, path, labels[i]);
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon1/energy%d_input", i + 1);
        put(&m, path, "5000000\n");
    }
    probes_run(PROBE_BEFORE, false, &m.h, &m.r);
    put(&m, "sys/class/hwmon/hwmon1/energy1_input", "99000000\n");
    put(&m, "sys/class/hwmon/hwmon1/energy3_input", "2005000000\n"); /* 2000 J */
    put(&m, "sys/class/hwmon/hwmon1/energy4_input", "1005000000\n"); /* 1000 J */
    sample(&m, 10);
    assert_true(near(last(&m, "system/power_package0_watts"), 200));
    assert_true(near(last(&m, "system/power_package1_watts"), 100));
    now_ns += 1000000000;
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(near(last(&m, "energy.package_J"), 3000));
    end(&m);
}

/* Meters of a known scope alone: the machine's, and Grace's sockets; not those that are a part of them, or of other parts. */
static void meters_of_the_kernel(void **state)
{
    static const struct {
        const char *driver, *folder, *oem, *measures, *uW, *key; /* key NULL: it is no meter of the node */
    } cases[] = {
        {"power_meter", "", NULL, NULL, "412000000\n", "node"},
        {"power_meter", "/device", "\n", "LNXSYBUS:00", "412000000\n", "node"},
        {"power_meter", "/device", NULL, "ACPI0007:00", "412000000\n", NULL},
        {"power_meter", "/device", "Grace Power Socket 1\n", "ACPI0007:00", "150000000\n", "cpu1"},
        {"power_meter", "/device", "CPU Power Socket 1\n", NULL, "150000000\n", NULL},
        {"power_meter", "/device", "Module Power Socket 0\n", NULL, "150000000\n", NULL},
        {"power_meter", "/device", "Grace Power Socket -1\n", NULL, "150000000\n", NULL},
        {"power_meter", "/device", NULL, NULL, "unknown\n", NULL},
        {"pmbus", "", NULL, NULL, "412000000\n", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hwmon_meter list[HWMON_METERS_MAX];
        struct machine m;
        char path[100];
        begin(&m);
        put(&m, "sys/class/hwmon/hwmon3/name", cases[i].driver);
        snprintf(path, sizeof path, "sys/class/hwmon/hwmon3%s/power1_average", cases[i].folder);
        put(&m, path, cases[i].uW);
        if (cases[i].oem) {
            snprintf(path, sizeof path, "sys/class/hwmon/hwmon3%s/power1_oem_info", cases[i].folder);
            put(&m, path, cases[i].oem);
        }
        if (cases[i].measures) {
            snprintf(path, sizeof path, "sys/class/hwmon/hwmon3%s/measures/%s", cases[i].folder, cases[i].measures);
            put(&m, path, "");
        }
        assert_int_equal(hwmon_has_meters(&m.h), strcmp(cases[i].driver, "power_meter") == 0);
        size_t n = hwmon_find_meters(&m.h, list);
        assert_int_equal(n, cases[i].key != NULL);
        if (n) {
            assert_string_equal(list[0].key, cases[i].key);
            assert_true(near(hwmon_read_meter(&m.h, &list[0]) * 1e6, strtod(cases[i].uW, NULL)));
        }
        end(&m);
    }
}

/* Two meters of the machine are those of its power supplies, or one twice: none of them is its power. */
static void two_meters_of_the_machine_are_none(void **state)
{
    struct hwmon_meter list[HWMON_METERS_MAX];
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "sys/class/hwmon/hwmon0/name", "power_meter\n");
    put(&m, "sys/class/hwmon/hwmon0/power1_average", "200000000\n");
    put(&m, "sys/class/hwmon/hwmon1/name", "power_meter\n");
    put(&m, "sys/class/hwmon/hwmon1/power1_average", "200000000\n");
    assert_int_equal(hwmon_find_meters(&m.h, list), 0);
    end(&m);
}

static void a_rate_needs_a_window(void **state)
{
    static const char stat[] = "sys/fs/cgroup/job/cpu.stat", key[] = "system/cgroup_cpu_percentage";
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "proc/self/cgroup", "0::/job\n");
    put(&m, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    put(&m, stat, "usage_usec 1000000\n");
    sample(&m, 1);
    put(&m, stat, "usage_usec 2000000\n");
    sample(&m, 0.05);
    assert_true(isnan(last(&m, key))); /* twenty processors of one burst */
    sample(&m, 0.95);
    assert_true(near(last(&m, key), 100));
    end(&m);
}

/* Processor time is counted in ticks of 10 ms: a sample that comes late, and the next one in time, are a few ticks apart. */
static void the_use_of_processors_needs_a_window(void **state)
{
    static const char key[] = "system/cpu_utilization_percentage";
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "proc/stat", "cpu 1000 0 0 1000 0 0 0 0 0 0\n");
    sample(&m, 1);
    put(&m, "proc/stat", "cpu 1001 0 0 1000 0 0 0 0 0 0\n");
    sample(&m, 0.01);
    assert_true(isnan(last(&m, key))); /* one tick of one */
    put(&m, "proc/stat", "cpu 1050 0 0 1150 0 0 0 0 0 0\n");
    sample(&m, 0.99);
    assert_true(near(last(&m, key), 25));
    end(&m);
}

static char program_name[] = "program";
static char *const argv[] = {program_name, NULL};

/* A slice, a pod or a job has the limit, and the kernel counts there: the group of the program below it has none and counts nothing. */
static void throttling_by_a_group_above(void **state)
{
    static const struct {
        const char *own, *above; /* cpu.max of both */
        double throttled_s;
    } rows[] = {{"max 100000\n", "30000 100000\n", 7}, {"50000 100000\n", "max 100000\n", 0.5}, {"50000 100000\n", "200000 100000\n", 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        (void)state;
        begin(&m);
        m.h.argv = argv;
        put(&m, "proc/self/cgroup", "0::/slice/job\n");
        put(&m, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
        put(&m, "sys/fs/cgroup/slice/cpu.max", rows[i].above);
        put(&m, "sys/fs/cgroup/slice/job/cpu.max", rows[i].own);
        put(&m, "sys/fs/cgroup/slice/cpu.stat", "usage_usec 9000000\nnr_periods 100\nnr_throttled 10\nthrottled_usec 1000000\n");
        put(&m, "sys/fs/cgroup/slice/job/cpu.stat", "usage_usec 1000000\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
        put(&m, "sys/fs/cgroup/slice/job/memory.events", "oom_kill 4\n");
        probes_run(PROBE_BEFORE, false, &m.h, &m.r);
        put(&m, "sys/fs/cgroup/slice/cpu.stat", "usage_usec 19000000\nnr_periods 200\nnr_throttled 80\nthrottled_usec 8000000\n");
        put(&m, "sys/fs/cgroup/slice/job/cpu.stat", "usage_usec 4000000\nnr_periods 50\nnr_throttled 5\nthrottled_usec 500000\n");
        sample(&m, 10);
        assert_true(near(last(&m, "system/cgroup_cpu_percentage"), 30)); /* of the own group */
        put(&m, "sys/fs/cgroup/slice/job/memory.events", "oom_kill 5\n");
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        assert_true(near(last(&m, "cgroup.throttled_s"), rows[i].throttled_s));
        assert_true(near(last(&m, "cgroup.throttled_percent"), i == 0 ? 70 : 10));
        assert_true(near(last(&m, "cgroup.oom_kills"), 1));
        end(&m);
    }
}

/* Memory can run out before the first sample. */
static void counts_of_a_short_run(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    m.h.argv = argv;
    put(&m, "proc/self/cgroup", "4:memory:/job\n");
    put(&m, "proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put(&m, "sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    probes_run(PROBE_BEFORE, false, &m.h, &m.r);
    put(&m, "sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(near(last(&m, "cgroup.oom_kills"), 2));
    end(&m);
}

/* The program is in a group of version 2 that counted 1 s of processor time and 100 periods before it. */
static void begin_in_group(struct machine *m)
{
    m->h.argv = argv;
    put(m, "proc/self/cgroup", "0::/job\n");
    put(m, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    put(m, "sys/fs/cgroup/job/cgroup.events", "populated 1\n");
    put(m, "sys/fs/cgroup/job/cpu.stat", "usage_usec 1000000\nnr_periods 100\nnr_throttled 0\nthrottled_usec 0\n");
    probes_run(PROBE_BEFORE, false, &m->h, &m->r);
}

/* The limit of a group withholds processors from benchwrap around the program, too. */
static void throttling_around_a_short_run(void **state)
{
    static const struct {
        double wall_s, window_s;
        bool known;
    } rows[] = {{0.02, 0.5, false}, {0.05, 0.06, false}, {0.3, 0.9, false}, {0.5, 0.6, true}, {-1, 0.5, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        (void)state;
        begin(&m);
        begin_in_group(&m);
        put(&m, "sys/fs/cgroup/job/cpu.stat", "usage_usec 1100000\nnr_periods 105\nnr_throttled 4\nthrottled_usec 400000\n");
        now_ns += (int64_t)(rows[i].window_s * 1e9);
        if (rows[i].wall_s >= 0)
            record_metric(&m.r, "run.wall_s", rows[i].wall_s, "s", DIR_LOWER, 0, 0);
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        assert_int_equal(!isnan(last(&m, "cgroup.throttled_s")), rows[i].known);
        assert_int_equal(!isnan(last(&m, "cgroup.throttled_percent")), rows[i].known);
        assert_int_equal(strstr(missing(&m, "cgroup.throttled_percent"), "too short") != NULL, !rows[i].known);
        assert_int_equal(strstr(missing(&m, "cgroup.throttled_s"), "too short") != NULL, !rows[i].known);
        assert_int_equal(record_find(&m.r, FACT_TAG, "benchwrap.noisy") != NULL, rows[i].known);
        end(&m);
    }
}

/* A group that the program has made counts its own kills in version 1. The kernel's number of the node has them. */
static void kills_outside_of_the_group(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct machine m;
        (void)state;
        begin(&m);
        m.h.argv = argv;
        put(&m, "proc/self/cgroup", "4:memory:/job\n");
        put(&m, "proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        put(&m, "sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill 3\n");
        put(&m, "proc/vmstat", "nr_free_pages 1\noom_kill 7\n");
        probes_run(PROBE_BEFORE, false, &m.h, &m.r);
        put(&m, "sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill 4\n");
        put(&m, "proc/vmstat", i == 0 ? "nr_free_pages 1\noom_kill 8\n" : "nr_free_pages 1\noom_kill 9\n");
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        assert_int_equal(isnan(last(&m, "cgroup.oom_kills")), i == 1);
        assert_int_equal(strstr(missing(&m, "cgroup.oom_kills"), "1 in the program's group, and 1 in other groups") != NULL, i == 1);
        end(&m);
    }
}

/* A program that moves and ends between two samples has used what its first group has not. */
static void time_outside_of_the_group(void **state)
{
    static const struct {
        double user_s, wall_s;
        bool foreign;
    } rows[] = {{3, 1, true}, {1.1, 1, false}, {3, 1e6, false}}; /* the last one began long before the counting */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        (void)state;
        begin(&m);
        begin_in_group(&m);
        put(&m, "sys/fs/cgroup/job/cpu.stat", "usage_usec 2000000\nnr_periods 110\nnr_throttled 0\nthrottled_usec 0\n");
        sample(&m, 2);
        record_metric(&m.r, "run.user_s", rows[i].user_s, "s", DIR_LOWER, 0, 0);
        record_metric(&m.r, "run.system_s", 0, "s", DIR_LOWER, 0, 0);
        record_metric(&m.r, "run.wall_s", rows[i].wall_s, "s", DIR_LOWER, 0, 0);
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        assert_int_equal(isnan(last(&m, "cgroup.throttled_s")), rows[i].foreign);
        assert_int_equal(strstr(missing(&m, "cgroup.throttled_s"), "more processor time") != NULL, rows[i].foreign);
        end(&m);
    }
}

/* cgexec, `systemd-run --scope` or a container engine below the program: what the launcher's groups count is not the program's. */
static void a_program_in_other_groups(void **state)
{
    static const struct {
        const char *groups, *stat;
        bool foreign;
    } rows[] = {{"0::/job\n", "77 (a) S 1 1 1 0 -1 4194304 9\n", false},
                {"0::/job/scope\n", "77 (a) S 1 1 1 0 -1 4194304 9\n", true},
                {"0::/\n", "77 (a) Z 1 1 1 0 -1 4194316 9\n", false},
                {"0::/\n", "77 (a) R 1 1 1 0 -1 4194308 9\n", false}, /* it ends */
                {"0::/other\n", "77 (a) Z) R 1 1 1 0 -1 4194304 9\n", true},
                {"5:misc:/x\n0::/job\n", "77 (a) R 1 1 1 0 -1 4194304 9\n", false},
                {"1:memory:/x\n0::/job\n", "77 (a) R 1 1 1 0 -1 4194304 9\n", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        (void)state;
        begin(&m);
        m.h.argv = argv;
        m.h.pid = 77;
        put(&m, "proc/self/cgroup", "0::/job\n");
        put(&m, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
        put(&m, "sys/fs/cgroup/job/memory.events", "oom_kill 1\n");
        put(&m, "proc/77/cgroup", rows[i].groups);
        put(&m, "proc/77/stat", rows[i].stat);
        sample(&m, 1);
        sample(&m, 1);
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        assert_int_equal(isnan(last(&m, "cgroup.oom_kills")), rows[i].foreign);
        assert_int_equal(strstr(missing(&m, "cgroup.oom_kills"), "another control group") != NULL, rows[i].foreign);
        end(&m);
    }
}

static void throttling_of_the_group(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "proc/self/cgroup", "0::/job\n");
    put(&m, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    put(&m, "sys/fs/cgroup/job/cpu.stat", "usage_usec 1000000\nuser_usec 1\nsystem_usec 1\nnr_periods 100\nnr_throttled 10\nthrottled_usec 5000000\n");
    put(&m, "sys/fs/cgroup/job/memory.current", "500000000\n");
    put(&m, "sys/fs/cgroup/job/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n");
    sample(&m, 1);
    put(&m, "sys/fs/cgroup/job/cpu.stat", "usage_usec 21000000\nuser_usec 1\nsystem_usec 1\nnr_periods 200\nnr_throttled 35\nthrottled_usec 9000000\n");
    put(&m, "sys/fs/cgroup/job/memory.events", "low 0\nhigh 0\nmax 0\noom 2\noom_kill 3\n");
    sample(&m, 10);
    assert_true(near(last(&m, "system/cgroup_cpu_percentage"), 200));
    assert_true(near(last(&m, "system/cgroup_throttled_percentage"), 25));
    assert_true(near(last(&m, "system/cgroup_memory_megabytes"), 500));
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(near(last(&m, "cgroup.throttled_s"), 4));
    assert_true(near(last(&m, "cgroup.throttled_percent"), 25));
    assert_true(near(last(&m, "cgroup.oom_kills"), 2));
    end(&m);
}

/* Both versions are mounted, the controllers are in version 1: the counters of version 2's root are the machine's. */
static void put_hybrid(struct machine *m, int64_t used_ns, int64_t throttled_ns, int periods, int throttled, int kills)
{
    char text[200];
    put(m, "proc/self/cgroup", "4:memory:/job\n3:cpuset:/\n2:cpuacct:/job\n1:cpu:/job\n0::/\n");
    put(m, "proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put(m, "sys/fs/cgroup/unified/cgroup.controllers", "\n");
    snprintf(text, sizeof text, "usage_usec %lld\nnr_periods 1\nnr_throttled 1\nthrottled_usec 1\n", (long long)used_ns * 7 / 1000);
    put(m, "sys/fs/cgroup/unified/cpu.stat", text);
    snprintf(text, sizeof text, "nr_periods %d\nnr_throttled %d\nthrottled_time %lld\n", periods, throttled, (long long)throttled_ns);
    put(m, "sys/fs/cgroup/cpu/job/cpu.stat", text);
    snprintf(text, sizeof text, "%lld\n", (long long)used_ns);
    put(m, "sys/fs/cgroup/cpuacct/job/cpuacct.usage", text);
    put(m, "sys/fs/cgroup/memory/job/memory.usage_in_bytes", "500000000\n");
    snprintf(text, sizeof text, "oom_kill_disable 0\nunder_oom 0\noom_kill %d\n", kills);
    put(m, "sys/fs/cgroup/memory/job/memory.oom_control", text);
}

static void each_controller_is_read_in_its_own_hierarchy(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put_hybrid(&m, 1000000000, 500000000, 100, 10, 0);
    sample(&m, 1);
    put_hybrid(&m, 2600000000, 8500000000, 200, 90, 1);
    sample(&m, 10);
    assert_true(near(last(&m, "system/cgroup_cpu_percentage"), 16));
    assert_true(near(last(&m, "system/cgroup_throttled_percentage"), 80));
    assert_true(near(last(&m, "system/cgroup_memory_megabytes"), 500));
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(near(last(&m, "cgroup.throttled_s"), 8));
    assert_true(near(last(&m, "cgroup.oom_kills"), 1));
    end(&m);
}

/* A controller of version 1 whose mount is not visible is not looked up in version 2. */
static void a_hidden_hierarchy_gives_nothing(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    for (int i = 1; i <= 2; i++) {
        put_hybrid(&m, i * 1000000000LL, 0, 100 * i, 0, i);
        put(&m, "proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
        put(&m, "sys/fs/cgroup/unified/memory.events", i == 1 ? "oom_kill 1\n" : "oom_kill 2\n");
        sample(&m, i);
    }
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_true(isnan(last(&m, "system/cgroup_cpu_percentage")));
    assert_true(isnan(last(&m, "cgroup.throttled_s")));
    assert_true(isnan(last(&m, "cgroup.oom_kills")));
    end(&m);
}

/* A group without the memory controller, or a threaded one: the nearest group above that has it counts its memory. */
static void memory_is_counted_by_the_group_that_has_the_controller(void **state)
{
    (void)state;
    for (int kills = 0; kills < 2; kills++) {
        struct machine m;
        begin(&m);
        put(&m, "proc/self/cgroup", "0::/slice/job/leaf\n");
        put(&m, "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        put(&m, "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        put(&m, "sys/fs/cgroup/slice/job/leaf/cgroup.events", "populated 1\n");
        put(&m, "sys/fs/cgroup/slice/job/cgroup.events", "populated 1\n");
        put(&m, "sys/fs/cgroup/slice/job/memory.current", "500000000\n");
        put(&m, "sys/fs/cgroup/slice/job/memory.events", "oom_kill 4\n");
        put(&m, "proc/vmstat", "oom_kill 7\n");
        m.h.argv = argv;
        probes_run(PROBE_BEFORE, false, &m.h, &m.r);
        put(&m, "sys/fs/cgroup/slice/job/memory.events", kills ? "oom_kill 5\n" : "oom_kill 4\n");
        put(&m, "proc/vmstat", kills ? "oom_kill 8\n" : "oom_kill 7\n");
        sample(&m, 2);
        probes_run(PROBE_AFTER, false, &m.h, &m.r);
        struct str why = record_text(&m.r, FACT_TAG, "benchwrap.noisy");
        assert_true(isnan(last(&m, "system/cgroup_memory_megabytes"))); /* of several groups */
        assert_true(kills ? isnan(last(&m, "cgroup.oom_kills")) : near(last(&m, "cgroup.oom_kills"), 0));
        assert_int_equal(strstr(missing(&m, "cgroup.oom_kills"), "1 in a control group above the program's") != NULL, kills);
        assert_int_equal(str_has(why, "1 process of a control group above the program's"), kills);
        assert_false(str_has(why, "outside of"));
        end(&m);
    }
}

/* The root group of either version counts the machine. The same folder in a namespace is a group like any other. */
static void the_root_group_is_no_group(void **state)
{
    static const struct {
        const char *groups, *mounts, *stat, *mark;
        bool group;
    } rows[] = {
        {"0::/\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "sys/fs/cgroup/cpu.stat", "sys/fs/cgroup/cgroup.controllers", false},
        {"0::/\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "sys/fs/cgroup/cpu.stat", "sys/fs/cgroup/cgroup.events", true},
        {"1:cpu:/\n", "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "sys/fs/cgroup/cpu/cpu.stat", "sys/fs/cgroup/cpu/release_agent", false},
        {"1:cpu:/\n", "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "sys/fs/cgroup/cpu/cpu.stat", "sys/fs/cgroup/cpu/tasks", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine m;
        begin(&m);
        put(&m, "proc/self/cgroup", rows[i].groups);
        put(&m, "proc/self/mountinfo", rows[i].mounts);
        put(&m, rows[i].mark, "\n");
        put(&m, rows[i].stat, "usage_usec 1\nnr_periods 100\nnr_throttled 10\nthrottled_usec 0\nthrottled_time 0\n");
        sample(&m, 1);
        put(&m, rows[i].stat, "usage_usec 1\nnr_periods 200\nnr_throttled 60\nthrottled_usec 0\nthrottled_time 0\n");
        sample(&m, 10);
        assert_true(rows[i].group ? near(last(&m, "system/cgroup_throttled_percentage"), 50) : isnan(last(&m, "system/cgroup_throttled_percentage")));
        end(&m);
    }
}

static void put_process(struct machine *m, int pid, int parent, const char *name, int ticks, int pages, const char *children)
{
    char path[80], text[300];
    snprintf(path, sizeof path, "proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s) S %d 1 1 0 -1 4194304 0 0 0 0 %d 0 %d 0 20 0 1 0 100 1000000 %d 0 0 0\n", pid, name, parent, ticks, ticks, pages);
    put(m, path, text);
    snprintf(path, sizeof path, "proc/%d/task/%d/children", pid, pid);
    put(m, path, children);
}

static void the_tree_is_the_programs_own(void **state)
{
    struct machine m;
    double tick = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    (void)state;
    begin(&m);
    m.h.pid = 200;
    put(&m, "proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 500000 kB\n");
    put_process(&m, 100, 50, "benchwrap", 0, 9, "200 400 ");
    put_process(&m, 200, 100, "a) R 1 (b", 0, 100, "300 999 "); /* 999 has gone */
    put_process(&m, 300, 200, "c", 0, 1000, "");
    put_process(&m, 400, 100, "left behind", 0, 1, "");
    put_process(&m, 500, 50, "somebody else's", 1000, 99999, "");
    sample(&m, 1);
    assert_true(last(&m, "system/process_count") == 3);
    assert_true(fabs(last(&m, "system/process_memory_rss_megabytes") - 1101 * page / 1e6) < 0.051);
    assert_true(last(&m, "system/process_threads") == 3);
    put_process(&m, 300, 200, "c", (int)(10 * tick), 1000, ""); /* 10 s itself, 10 s of children that ended */
    sample(&m, 10);
    assert_true(near(last(&m, "system/process_cpu_percentage"), 200));
    end(&m);
}

/* A tree of thousands costs, and is looked at less often for it; what vanishes meanwhile is no error. */
static void thousands_of_processes_cost_little(void **state)
{
    enum { MANY = 3000 };
    struct machine m;
    struct buf children CLEANUP_BUF;
    (void)state;
    begin(&m);
    buf_init(&children, 1 << 20);
    for (int i = 0; i < MANY; i++)
        buf_printf(&children, "%d ", 1000 + i);
    m.h.pid = 200;
    put_process(&m, 100, 50, "benchwrap", 0, 9, "200 ");
    put_process(&m, 200, 100, "a", 0, 100, children.p);
    for (int i = 0; i < MANY; i += 2) /* every other one has gone */
        put_process(&m, 1000 + i, 200, "x", 0, 1, "");
    for (int i = 0; i < 12; i++)
        sample(&m, 1);
    assert_true(last(&m, "system/process_count") == 1 + MANY / 2);
    size_t told = count(&m, "system/process_count");
    assert_true(told >= 3 && told < 8); /* a walk takes milliseconds: seconds of rest */
    sample(&m, 100000);
    assert_int_equal(count(&m, "system/process_count"), told + 1);
    end(&m);
}

static void clocks_that_jump_give_no_rates(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    put(&m, "proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    sample(&m, 1);
    put(&m, "proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    sample(&m, -500); /* back */
    assert_int_equal(count(&m, "system/pressure_io"), 0);
    sample(&m, 0);
    assert_int_equal(count(&m, "system/pressure_io"), 0);
    sample(&m, 600);
    assert_true(near(last(&m, "system/pressure_io_percentage"), 1));
    end(&m);
}

static void names_in_keys_hold_no_addresses(void **state)
{
    static const char *const rows[][2] = {{"sda", "sda"}, {"sdaa", "sdaa"}, {"nvme0n1", "nvme0n1"}, {"nvme10c2n1", "nvme10c2n1"}, {"dm-3", "dm_3"}, {"md127", "md127"},
        {"eth0", "eth0"}, {"enp129s0f1np1", "enp129s0f1np1"}, {"eno1", "eno1"}, {"ibp65s0", "ibp65s0"}, {"mlx5_bond_0", "x7"}, {"mlx5_12", "mlx5_12"}, {"hfi1_0", "hfi1_0"},
        {"enx525400a1b2c3", "x7"}, {"ibx0c42a1030065f3a2", "x7"}, {"wlx00c0ca9912ab", "x7"}, {"enterprise", "x7"}, {"eth0.100", "x7"}, {"customer-lan", "x7"}, {"", "x7"},
        {"sd", "x7"}, {"sdLABEL", "x7"}, {"nvme-eui.0025388b11b2c3d4", "x7"}, {"eth12345678", "x7"}, {"en\xff", "x7"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char ret[24];
        sample_device_name(ret, rows[i][0], "x", 7);
        assert_string_equal(ret, rows[i][1]);
    }
}

static const char *param(const struct machine *m, const char *key)
{
    const struct fact *f = record_find(&m->r, FACT_PARAM, key);
    return f ? f->text.p : "";
}

static void libraries_in_memory_are_told(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    m.h.pid = 200;
    put_process(&m, 100, 50, "benchwrap", 0, 9, "200 ");
    put_process(&m, 200, 100, "sh", 0, 100, "300 400 ");
    put_process(&m, 300, 200, "app", 0, 1000, "");
    put(&m, "proc/200/maps", "55d0-55d1 r-xp 00000000 fe:00 12 /bin/sh\n7f00-7f01 r-xp 00000000 fe:00 13 /lib/libc.so.6\n");
    put(&m, "proc/300/maps",
        "7f00-7f01 r--p 00000000 fe:00 20 /home/quentin/libfabric.so.9\n7f01-7f02 r-xp 00000000 fe:00 21 /opt/my mpi/lib/libmpi.so.12.2.2\n"
        "7f02-7f03 r-xp 00000000 fe:00 22 /usr/lib/openblas-pthread/libopenblasp-r0.3.21.so (deleted)\n7f03-7f04 r-xp 00000000 fe:00 23 /a/libcudart.so.12.2.140\n"
        "7f04-7f05 r-xp 00000000 fe:00 24 /b/libcudart.so.11.8.89\n7f05-7f06 r-xp 00000000 fe:00 25 /home/quentin/libquentin.so\n7ffc-7ffd r-xp 0 00:00 0 [vdso]\nlast line is cut");
    sample(&m, 1);
    probes_run(PROBE_AFTER, false, &m.h, &m.r);
    assert_string_equal(param(&m, "mpi.library"), "libmpi.so.12.2.2");
    assert_string_equal(param(&m, "lib.openblas"), "libopenblasp-r0.3.21.so");
    assert_string_equal(param(&m, "lib.cudart"), "libcudart.so.12.2.140, libcudart.so.11.8.89");
    assert_string_equal(param(&m, "lib.libfabric"), "");
    for (const struct fact *f = m.r.first; f; f = f->next)
        assert_false(str_has(f->text, "quentin"));
    end(&m);
}

static void put_module(struct machine *m, int number, unsigned size, unsigned more, unsigned kind, unsigned speed, unsigned configured)
{
    char path[80];
    unsigned char raw[64] = {17, 0x54, 0, 0};
    const unsigned words[][2] = {{0x0c, size}, {0x15, speed}, {0x1c, more & 0xffff}, {0x1e, more >> 16}, {0x20, configured}};
    for (size_t i = 0; i < 5; i++) {
        raw[words[i][0]] = (unsigned char)words[i][1];
        raw[words[i][0] + 1] = (unsigned char)(words[i][1] >> 8);
    }
    raw[0x12] = (unsigned char)kind;
    snprintf(path, sizeof path, "sys/firmware/dmi/entries/17-%d/raw", number);
    put(m, path, "x");
    int fd = openat(m->h.root, path, O_WRONLY | O_TRUNC);
    assert_true(write(fd, raw, number == 9 ? 5 : sizeof raw) > 0);
    close(fd);
}

static void memory_modules_are_told_without_serials(void **state)
{
    struct machine m;
    (void)state;
    begin(&m);
    for (int i = 0; i < 200; i++) { /* a server's table has hundreds of other entries, before and behind those of the modules */
        char other[80];
        snprintf(other, sizeof other, "sys/firmware/dmi/entries/%d-%d/raw", i % 2 ? 127 : 9, i);
        put(&m, other, "x");
    }
    for (int i = 0; i < 4; i++)
        put_module(&m, i, 0x7fff, 65536, 0x22, 4800, 4400);
    put_module(&m, 4, 0, 0, 2, 0, 0); /* an empty place */
    put_module(&m, 9, 0x7fff, 65536, 0x22, 4800, 4400); /* a table that is cut */
    put(&m, "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1024\n");
    put(&m, "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
    put(&m, "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "1000\n");
    put(&m, "sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "24\n");
    put(&m, "proc/meminfo", "MemTotal: 1000 kB\n");
    probes_run(PROBE_BEFORE, false, &m.h, &m.r);
    assert_string_equal(param(&m, "dimm.count"), "4");
    assert_string_equal(param(&m, "dimm.size_GiB"), "64");
    assert_string_equal(param(&m, "dimm.kind"), "DDR5");
    assert_string_equal(param(&m, "dimm.speed"), "4400 MT/s");
    assert_string_equal(param(&m, "dimm.speed_rated"), "4800 MT/s");
    assert_string_equal(param(&m, "dimm.places"), "5");
    assert_string_equal(param(&m, "numa.hugepages_2048k"), "1000*1 24*1");
    assert_string_equal(param(&m, "numa.hugepages_1048576k"), "");
    end(&m);
    begin(&m); /* the memory controllers' driver tells of fewer things */
    put(&m, "sys/devices/system/edac/mc/mc0/dimm0/size", "32768\n");
    put(&m, "sys/devices/system/edac/mc/mc0/dimm0/dimm_mem_type", "Registered-DDR4\n");
    put(&m, "sys/devices/system/edac/mc/mc0/dimm1/size", "0\n");
    put(&m, "sys/devices/system/edac/mc/mc1/dimm0/size", "32768\n");
    put(&m, "sys/devices/system/edac/mc/mc1/dimm0/dimm_mem_type", "Registered-DDR4\n");
    probes_run(PROBE_BEFORE, false, &m.h, &m.r);
    assert_string_equal(param(&m, "dimm.count"), "2");
    assert_string_equal(param(&m, "dimm.size_GiB"), "32");
    assert_string_equal(param(&m, "dimm.kind"), "Registered-DDR4");
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure_is_the_share_of_time), cmocka_unit_test(slingshot_has_rates), cmocka_unit_test(disks_have_rates_and_partitions_none), cmocka_unit_test(disks_are_bounded),
        cmocka_unit_test(cards_and_ports_have_rates), cmocka_unit_test(lustre_has_rates_for_each_mount), cmocka_unit_test(energy_goes_round_and_counts_on),
        cmocka_unit_test(energy_that_may_have_gone_round_twice_is_missing),
        cmocka_unit_test(energy_of_amd_is_that_of_its_sockets),
        cmocka_unit_test(meters_of_the_kernel),
        cmocka_unit_test(two_meters_of_the_machine_are_none), cmocka_unit_test(a_rate_needs_a_window), cmocka_unit_test(the_use_of_processors_needs_a_window),
        cmocka_unit_test(throttling_around_a_short_run), cmocka_unit_test(energy_around_a_short_run_is_missing), cmocka_unit_test(throttling_of_the_group),
        cmocka_unit_test(throttling_by_a_group_above),
        cmocka_unit_test(counts_of_a_short_run),
        cmocka_unit_test(kills_outside_of_the_group),
        cmocka_unit_test(time_outside_of_the_group),
        cmocka_unit_test(a_program_in_other_groups),
        cmocka_unit_test(each_controller_is_read_in_its_own_hierarchy),
        cmocka_unit_test(a_hidden_hierarchy_gives_nothing),
        cmocka_unit_test(memory_is_counted_by_the_group_that_has_the_controller),
        cmocka_unit_test(the_root_group_is_no_group), cmocka_unit_test(the_tree_is_the_programs_own),
        cmocka_unit_test(thousands_of_processes_cost_little), cmocka_unit_test(clocks_that_jump_give_no_rates), cmocka_unit_test(names_in_keys_hold_no_addresses),
        cmocka_unit_test(libraries_in_memory_are_told), cmocka_unit_test(memory_modules_are_told_without_serials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
