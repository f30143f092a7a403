/* system.c: what the node is doing while the program runs, under the names of MLflow's system metrics (megabyte = 10^6, rounded to 0.1).
 *
 * Files stay open and are read with pread: a sample costs tens of microseconds of processor time. The first sample is the base of what is
 * counted since (processor time, network); it records memory and disk only. */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/sample.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

extern const struct probe probe_system;

struct sampler {
    struct sampled_file stat, meminfo, net;
    bool looked; /* whether the root file system may be queried */
    int disk; /* descriptor of the root + 1; 0: must not be queried */
    struct sample_count busy, total; /* processor time, ticks */
    double received, sent; /* network at the first sample, bytes */
};

enum { FS_TYPE_SIZE = 64 };

/* Copies the type of the root file system; "" where mountinfo does not show it. Returns whether it is
 * of a local kind: statvfs of one on a server could hang. */
static bool system_root_is_local(struct host *h, char ret_type[FS_TYPE_SIZE])
{
    static const char *const remote[] = {"nfs",  "nfs4", "lustre", "gpfs",      "ceph",  "beegfs", "9p",
                                         "cifs", "smb3", "afs",    "glusterfs", "panfs", "wekafs"};
    struct buf mounts CLEANUP_BUF;
    buf_init(&mounts, LOOK_MOUNTS_MAX + (1 << 17));
    bool local = false;
    ret_type[0] = 0;
    for (struct str rest = look_read_mounts(h, &mounts); rest.p;) {
        struct mount_line m;
        if (!parse_mount_line(str_cut(&rest, '\n'), &m) || !str_is(m.point, "/"))
            continue;
        snprintf(ret_type, FS_TYPE_SIZE, STR_FMT, STR_ARG(str_sub(m.type, 0, FS_TYPE_SIZE - 1)));
        local = !str_starts(m.type, "fuse");
        for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
            local &= !str_is(m.type, remote[i]);
    }
    return local;
}

static void system_drop(void *kept)
{
    struct sampler *s = kept;
    sample_close(&s->stat);
    sample_close(&s->meminfo);
    sample_close(&s->net);
    if (s->disk)
        close(s->disk - 1);
}

/* Reads a file. At the first sample a failure is recorded as missing. */
static bool system_read_file(struct host *h, struct record *r, struct sampled_file *f, const char *path, const char *key, struct str *ret)
{
    if (sample_read(h, f, ret, "%s", path))
        return true;
    if (h->state->round == 0)
        emit_unreadable(h, r, key, path);
    return false;
}

/* Records the use of the processors, as psutil counts: waiting for I/O is idle, a guest's time is
 * already in user. */
static void system_sample_cpu(struct sampler *s, struct host *h, struct record *r)
{
    struct str text;
    double busy = 0, total = 0, busy_rate, total_rate;
    if (!system_read_file(h, r, &s->stat, "proc/stat", "system/cpu_utilization_percentage", &text))
        return;
    struct str line = str_cut(&text, '\n');
    str_word(&line); /* "cpu" */
    for (int i = 0; i < 8; i++) { /* user nice system idle iowait irq softirq steal */
        double ticks;
        if (!str_double(str_word(&line), &ticks))
            return;
        total += ticks;
        busy += i == 3 || i == 4 ? 0 : ticks;
    }
    bool both = sample_rate(&s->busy, h, busy, 0, &busy_rate);
    both &= sample_rate(&s->total, h, total, 0, &total_rate);
    if (both && total_rate > 0)
        sample_emit(h, r, "system/cpu_utilization_percentage", 100 * busy_rate / total_rate);
}

static bool system_parse_kilobytes(struct str text, const char *key, double *ret)
{
    struct str value = look_value(text, key, ':');
    return str_double(str_word(&value), ret);
}

static void system_sample_memory(struct sampler *s, struct host *h, struct record *r)
{
    struct str text;
    double total, available;
    if (!system_read_file(h, r, &s->meminfo, "proc/meminfo", "system/system_memory_usage_megabytes", &text) ||
        !system_parse_kilobytes(text, "MemTotal", &total) || !system_parse_kilobytes(text, "MemAvailable", &available) || total <= 0)
        return;
    sample_emit(h, r, "system/system_memory_usage_megabytes", (total - available) * 1024 / 1e6);
    sample_emit(h, r, "system/system_memory_usage_percentage", 100 * (total - available) / total);
}

/* Records the bytes of all interfaces since the first sample. */
static void system_sample_network(struct sampler *s, struct host *h, struct record *r)
{
    struct str text;
    double received = 0, sent = 0;
    if (!system_read_file(h, r, &s->net, "proc/self/net/dev", "system/network_receive_megabytes", &text))
        return;
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        str_cut(&line, ':');
        if (!line.p)
            continue; /* headings */
        double in, out;
        if (!str_double(str_word(&line), &in))
            continue;
        for (int i = 0; i < 7; i++)
            str_word(&line);
        if (!str_double(str_word(&line), &out))
            continue;
        received += in;
        sent += out;
    }
    if (h->state->round == 0) {
        s->received = received;
        s->sent = sent;
    } else if (received >= s->received && sent >= s->sent) { /* less: an interface went away */
        sample_emit(h, r, "system/network_receive_megabytes", (received - s->received) / 1e6);
        sample_emit(h, r, "system/network_transmit_megabytes", (sent - s->sent) / 1e6);
    }
}

static void system_open_disk(struct sampler *s, struct host *h, struct record *r)
{
    char type[FS_TYPE_SIZE];
    s->looked = true;
    if (!h->real)
        return;
    if (system_root_is_local(h, type))
        s->disk = openat(h->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) + 1;
    else if (type[0])
        emit_missing(h, r, "system/disk_usage_megabytes",
                     "the root file system, %s, can be on a server, which is not queried while the program runs", type);
    else
        emit_missing(h, r, "system/disk_usage_megabytes",
                     "/proc/self/mountinfo does not show the root file system; a server is not queried while the program runs");
}

static void system_sample_disk(struct sampler *s, struct host *h, struct record *r)
{
    struct statvfs st;
    if (!s->looked)
        system_open_disk(s, h, r);
    if (!s->disk || fstatvfs(s->disk - 1, &st) != 0)
        return;
    double unit = (double)st.f_frsize, used = (double)(st.f_blocks - st.f_bfree) * unit, available = (double)st.f_bavail * unit;
    sample_emit(h, r, "system/disk_usage_megabytes", used / 1e6);
    sample_emit(h, r, "system/disk_available_megabytes", available / 1e6);
    if (used + available > 0)
        sample_emit(h, r, "system/disk_usage_percentage", 100 * used / (used + available));
}

static int system_sample(struct host *h, struct record *r, struct err *err)
{
    struct sampler *s = probe_data(h, &probe_system);
    if (!s)
        return err_memory(err, "the system sampler");
    system_sample_cpu(s, h, r);
    system_sample_memory(s, h, r);
    system_sample_network(s, h, r);
    system_sample_disk(s, h, r);
    return 0;
}

const struct probe probe_system = {
    .name = "system",
    .summary = "load of the node while the program runs (system/… metrics)",
    .sample = system_sample,
    .keeps = sizeof(struct sampler),
    .drop = system_drop,
};
