/* system.c: what the node is doing while the program runs, under the names of MLflow's system metrics (megabyte = 10^6, rounded to 0.1).
 *
 * Files stay open and are read with pread: a sample costs tens of microseconds of processor time. The first sample is the base of what is
 * counted since (processor time, network); it tells memory and disk only. */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/state.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { TEXT = 1 << 16 }; /* /proc/stat of 1000 processors: the first line is what counts; /proc/net/dev of 400 interfaces */

struct sampler {
    int stat, meminfo, net, disk; /* descriptors, -1: not to be had */
    int64_t step;
    double busy, total; /* processor time at the last sample, ticks */
    double received, sent; /* network at the first sample, bytes */
    char text[TEXT];
};

static int open_file(struct host *h, struct record *r, const char *path, const char *key)
{
    int fd = openat(h->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        tell_unreadable(h, r, key, path);
    return fd;
}

/* A root file system on a server could hang statvfs; only local kinds are asked. */
static bool root_is_local(struct host *h)
{
    static const char *const remote[] = {"nfs",  "nfs4", "lustre", "gpfs",      "ceph",  "beegfs", "9p",
                                         "cifs", "smb3", "afs",    "glusterfs", "panfs", "wekafs"};
    struct buf mounts CLEANUP_BUF;
    buf_init(&mounts, 1 << 20);
    bool local = false;
    if (look_file(h, "proc/self/mountinfo", (1 << 20) - 65536, &mounts) != 0)
        return false;
    for (struct str rest = buf_text(&mounts); rest.p;) {
        struct mount_line m;
        if (!parse_mount_line(str_cut(&rest, '\n'), &m) || !str_is(m.point, "/"))
            continue;
        local = !str_starts(m.type, "fuse");
        for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
            local &= !str_is(m.type, remote[i]);
    }
    return local;
}

static struct sampler *start(struct host *h, struct record *r)
{
    struct sampler *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->stat = open_file(h, r, "proc/stat", "system/cpu_utilization_percentage");
    s->meminfo = open_file(h, r, "proc/meminfo", "system/system_memory_usage_megabytes");
    s->net = open_file(h, r, "proc/self/net/dev", "system/network_receive_megabytes");
    s->disk = -1;
    if (h->real) {
        if (root_is_local(h))
            s->disk = openat(h->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        else
            record_missing(r, "system/disk_usage_megabytes",
                           "the root file system lies on a server, which is not asked while the program runs");
    }
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    fs_close(&s->stat);
    fs_close(&s->meminfo);
    fs_close(&s->net);
    fs_close(&s->disk);
    free(s);
}

static bool again(struct sampler *s, int fd, struct str *ret)
{
    if (fd < 0)
        return false;
    size_t n = 0;
    for (;;) { /* proc gives at most a page or so per call */
        ssize_t got = pread(fd, s->text + n, sizeof s->text - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        n += (size_t)got;
        if (got == 0 || n == sizeof s->text)
            break;
        if (fd == s->stat && memchr(s->text, '\n', n)) /* its first line is all we want */
            break;
    }
    *ret = (struct str){s->text, n};
    return n > 0;
}

static void tell_sample(struct record *r, const char *key, double value, const struct sampler *s, int64_t now)
{
    record_metric(r, key, round(value * 10) / 10, NULL, DIR_NONE, s->step, now);
}

/* As psutil counts: waiting for I/O is idle, a guest's time is already in user. */
static void sample_cpu(struct sampler *s, struct record *r, int64_t now)
{
    struct str text;
    double busy = 0, total = 0;
    if (!again(s, s->stat, &text))
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
    if (s->step > 0 && total > s->total && busy >= s->busy)
        tell_sample(r, "system/cpu_utilization_percentage", 100 * (busy - s->busy) / (total - s->total), s, now);
    s->busy = busy;
    s->total = total;
}

static bool kilobytes(struct str text, const char *key, double *ret)
{
    struct str value = look_value(text, key, ':');
    return str_double(str_word(&value), ret);
}

static void sample_memory(struct sampler *s, struct record *r, int64_t now)
{
    struct str text;
    double total, available;
    if (!again(s, s->meminfo, &text) || !kilobytes(text, "MemTotal", &total) || !kilobytes(text, "MemAvailable", &available) || total <= 0)
        return;
    tell_sample(r, "system/system_memory_usage_megabytes", (total - available) * 1024 / 1e6, s, now);
    tell_sample(r, "system/system_memory_usage_percentage", 100 * (total - available) / total, s, now);
}

static void sample_network(struct sampler *s, struct record *r, int64_t now)
{
    struct str text;
    double received = 0, sent = 0;
    if (!again(s, s->net, &text))
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
    if (s->step == 0) {
        s->received = received;
        s->sent = sent;
    } else if (received >= s->received && sent >= s->sent) { /* less: an interface went away */
        tell_sample(r, "system/network_receive_megabytes", (received - s->received) / 1e6, s, now);
        tell_sample(r, "system/network_transmit_megabytes", (sent - s->sent) / 1e6, s, now);
    }
}

static void sample_disk(struct sampler *s, struct record *r, int64_t now)
{
    struct statvfs st;
    if (s->disk < 0 || fstatvfs(s->disk, &st) != 0)
        return;
    double unit = (double)st.f_frsize, used = (double)(st.f_blocks - st.f_bfree) * unit, available = (double)st.f_bavail * unit;
    tell_sample(r, "system/disk_usage_megabytes", used / 1e6, s, now);
    tell_sample(r, "system/disk_available_megabytes", available / 1e6, s, now);
    if (used + available > 0)
        tell_sample(r, "system/disk_usage_percentage", 100 * used / (used + available), s, now);
}

static int sample(struct host *h, struct record *r, struct err *err)
{
    if (!h->state->sampler) {
        h->state->sampler = start(h, r);
        if (!h->state->sampler)
            return err_set(err, ERR_SYSTEM, "out of memory");
    }
    struct sampler *s = h->state->sampler;
    int64_t now = clock_wall_ms();
    sample_cpu(s, r, now);
    sample_memory(s, r, now);
    sample_network(s, r, now);
    sample_disk(s, r, now);
    s->step++;
    return 0;
}

const struct probe probe_system = {
    .name = "system",
    .summary = "load of the node while the program runs (system/… metrics)",
    .sample = sample,
};
