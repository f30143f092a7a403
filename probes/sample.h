/* sample.h: files kept open, counters that become rates, and names of devices, for all samplers.
 *
 * A sampler is a probe with a `sample` hook; its data (struct probe, keeps) holds these. All paths
 * are relative to host->root. */
#ifndef PROBES_SAMPLE_H
#define PROBES_SAMPLE_H
#include "probes/look.h"
#include "probes/state.h"

/* A file that is read repeatedly. Zeroed: not tried yet. sample_close closes it. */
struct sampled_file {
    int fd; /* number + 1; 0: not open */
    int why; /* errno of the opening; 0: open, or not tried */
};
/* Reads the file again from its beginning, at most 64 KiB in complete lines; the path is opened once. *ret is valid
 * until the next call for any file. Returns false with errno: it cannot be opened, which is tried
 * once, or read, or is empty. */
bool sample_read(const struct host *h, struct sampled_file *f, struct str *ret, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a file that begins with a finite number, perhaps followed by "@<time>". */
bool sample_number(const struct host *h, struct sampled_file *f, double *ret, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sample_close(struct sampled_file *f);

/* A counter. Zeroed: not read yet. */
struct sample_count {
    double last, sum; /* sum: all that was counted since the first reading */
    int64_t ns;
    bool known;
};
/* Adds the counter's present value `now`, read at h->state->now_ns. range: the highest value, after
 * which it begins at 0 again; 0: it does not, and a lower value means that the device was reset.
 * Returns true with the increase per second since the last value. Returns false where there is no
 * last value, the counter was reset, or less than 100 ms have passed. A value that comes so early
 * is ignored until the program has ended; then it is added to the sum. */
bool sample_rate(struct sample_count *c, const struct host *h, double now, double range, double *ret);

/* Records a value of a "system/…" series, rounded to 0.1 as MLflow does, or to 0.001. */
void sample_emit(const struct host *h, struct record *r, const char *key, double value);
void sample_emit_fine(const struct host *h, struct record *r, double value, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes a device's name for a key: its own where the kernel or systemd made it (sda, nvme0n1,
 * enp1s0f0, mlx5_0), with "_" for "-"; else `other`, of which 12 bytes count, and its number. A
 * name that holds an address or was chosen by people stays out of keys. */
void sample_device_name(char ret[24], const char *name, const char *other, int number);
#endif
