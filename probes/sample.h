/* sample.h: what samplers share: files kept open, counters that become rates, names of devices in keys.
 *
 * A sampler is a probe with a `sample` hook; what it keeps (struct probe, keeps) holds these. All paths are relative to host->root. */
#ifndef PROBES_SAMPLE_H
#define PROBES_SAMPLE_H
#include "probes/look.h"
#include "probes/state.h"

/* A file that is read again and again. Zeroed: not tried yet. */
struct sampled_file {
    int fd; /* number + 1; 0: not open */
    int why; /* errno of the opening; 0: open, or not tried */
};
/* Reads it anew, at most 64 KiB, into memory that holds until the next call. False with errno: not to be had (it is tried once), or gone. */
bool sample_read(const struct host *h, struct sampled_file *f, struct str *ret, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same for a file with one number, perhaps with "@<time>" behind it. */
bool sample_number(const struct host *h, struct sampled_file *f, double *ret, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void sample_close(struct sampled_file *f);

/* Something that is counted upwards. Zeroed: not seen yet. */
struct sample_count {
    double last, sum; /* sum: all that was counted since it was first seen, whatever went round meanwhile */
    int64_t ns;
    bool known;
};
/* Takes its value of now. range: the highest value, after which it begins at 0 again; 0: it does not, and a lower value is a device that was
 * reset, from which on is counted anew. True, and what was counted per second since the last time; false: there is no such yet. */
bool sample_rate(struct sample_count *c, const struct host *h, double now, double range, double *ret);

/* A series of the node, "system/…": rounded to 0.1 as MLflow's are, or to 0.001. */
void sample_emit(const struct host *h, struct record *r, const char *key, double value);
void sample_emit_fine(const struct host *h, struct record *r, double value, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A device's name for a key: its own where the kernel or systemd made it (sda, nvme0n1, enp1s0f0, mlx5_0), else `other` and its number: a name that
 * holds an address or was chosen by people stays out of keys. */
void sample_device_name(char ret[24], const char *name, const char *other, int number);
#endif
