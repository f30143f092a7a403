/* disks.c: what each disk of the node reads and writes while the program runs, and how busy it is.
 * Complete disks, no partitions. */
#include "probes/sample.h"

#include <stdio.h>

extern const struct probe probe_disks;

enum { DISKS_MAX = 16, OTHERS = DISKS_MAX /* the rest, summed */, SECTOR = 512 /* here always, whatever the disk's own are */ };

struct disk {
    char device[40], key[24];
    bool whole, active;
    struct sample_count read, written, busy;
};

struct disks {
    struct sampled_file file;
    struct disk at[DISKS_MAX + 1];
    int count, named;
};

/* Returns whether the device is a disk and no partition. Loop, RAM, floppy and optical devices are
 * none. */
static bool disks_is_whole(const struct host *h, const char *device)
{
    static const char *const none[] = {"loop", "ram", "zram", "fd", "sr"};
    char path[80];
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strncmp(device, none[i], strlen(none[i])) == 0)
            return false;
    snprintf(path, sizeof path, "sys/block/%.40s", device);
    for (char *c = path + 10; *c; c++) /* sysfs writes it so: cciss/c0d0 */
        *c = *c == '/' ? '!' : *c;
    return look_exists(h, path);
}

/* Returns its row; makes one for a new disk. Disks beyond DISKS_MAX share the row OTHERS. NULL: a
 * partition. */
static struct disk *disks_find_disk(const struct host *h, struct disks *d, struct str device)
{
    if (device.n == 0 || device.n >= sizeof d->at->device)
        return NULL;
    for (int i = 0; i < d->count; i++)
        if (str_is(device, d->at[i].device))
            return d->at[i].whole ? &d->at[i] : NULL;
    char name[sizeof d->at->device];
    memcpy(name, device.p, device.n);
    name[device.n] = 0;
    if (!disks_is_whole(h, name))
        return NULL; /* partitions are checked each time: their rows would be many */
    if (d->count == DISKS_MAX)
        return &d->at[OTHERS];
    struct disk *one = &d->at[d->count++];
    memcpy(one->device, name, sizeof name);
    sample_device_name(one->key, name, "disk", ++d->named);
    one->whole = true;
    return one;
}

/* Updates the counts of one disk, and records samples once it has moved data. */
static void disks_emit_disk(struct host *h, struct record *r, struct disk *d, double read, double written, double busy_ms)
{
    double read_s, written_s, busy_s;
    d->active |= d->read.known && (read > d->read.last || written > d->written.last);
    bool has_read = sample_rate(&d->read, h, read, 0, &read_s), has_written = sample_rate(&d->written, h, written, 0, &written_s);
    bool has_busy = sample_rate(&d->busy, h, busy_ms, 4294967295.0, &busy_s);
    if (!d->active) /* a series of zeros has no information */
        return;
    if (has_read)
        sample_emit_fine(h, r, read_s * SECTOR / 1e6, "system/disk_%s_read_megabytes_per_second", d->key);
    if (has_written)
        sample_emit_fine(h, r, written_s * SECTOR / 1e6, "system/disk_%s_write_megabytes_per_second", d->key);
    if (has_busy && d->whole)
        sample_emit_fine(h, r, busy_s < 1000 ? busy_s / 10 : 100, "system/disk_%s_busy_percentage", d->key);
}

/* Parses a line of diskstats: "259 0 nvme0n1 reads merged sectors ms writes merged sectors ms
 * in_flight busy_ms …". False: it has another form. */
static bool disks_parse_line(struct str line, struct str *ret_device, double v[10])
{
    str_word(&line);
    str_word(&line);
    *ret_device = str_word(&line);
    for (int i = 0; i < 10; i++)
        if (!str_double(str_word(&line), &v[i]))
            return false;
    return true;
}

/* Records what the disks have read and written since the sample before; the first sample is a base.
 * Returns 0 also where the kernel shows no disks. */
static int disks_sample(struct host *h, struct record *r, struct err *err)
{
    struct disks *d = probe_data(h, &probe_disks);
    struct str text, device;
    double v[10], read = 0, written = 0;
    bool others = false;
    (void)err;
    if (!d || !sample_read(h, &d->file, &text, "proc/diskstats")) {
        if (d && h->state->round == 0)
            emit_unreadable(h, r, "system/disk", "proc/diskstats");
        return 0;
    }
    while (text.p) {
        struct disk *one = disks_parse_line(str_cut(&text, '\n'), &device, v) ? disks_find_disk(h, d, device) : NULL;
        if (one == &d->at[OTHERS]) {
            read += v[2];
            written += v[6];
            others = true;
        } else if (one)
            disks_emit_disk(h, r, one, v[2], v[6], v[9]);
    }
    if (others) {
        snprintf(d->at[OTHERS].key, sizeof d->at[OTHERS].key, "others");
        disks_emit_disk(h, r, &d->at[OTHERS], read, written, 0);
    }
    return 0;
}

static void disks_drop(void *kept)
{
    sample_close(&((struct disks *)kept)->file);
}

const struct probe probe_disks = {
    .name = "disks",
    .summary = "what each disk reads and writes while the program runs",
    .sample = disks_sample,
    .keeps = sizeof(struct disks),
    .drop = disks_drop,
};
