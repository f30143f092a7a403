/* pressure.c: how long work of the node waited for processors, memory and I/O while the program ran (pressure stall information). */
#include "probes/look.h"
#include "probes/noise.h"
#include "probes/sample.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PRESSURES = 3 };
static const char *const names[PRESSURES] = {"cpu", "memory", "io"};
static const double MEMORY_PERCENT = 1, SHORTEST_S = 0.1;

extern const struct probe probe_pressure;

/* Kept between the hooks. */
struct pressures {
    int64_t start_ns; /* 0: not known */
    bool known[PRESSURES];
    int why[PRESSURES]; /* errno of a total that was not known at the start */
    double start_s[PRESSURES]; /* the totals at the start, in seconds */
    struct sampled_file files[PRESSURES];
    struct sample_count some[PRESSURES], full[PRESSURES];
};

/* Parses "some avg10=0.00 … total=123", microseconds since boot, into seconds in which at least one
 * task ("some ") or all tasks ("full ") waited. False with errno: there is no such line. */
static bool pressure_parse_total(struct str text, const char *kind, double *ret)
{
    int64_t total;
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        ptrdiff_t at = str_starts(line, kind) ? str_find(line, STR("total=")) : -1;
        if (at < 0 || !str_int(str_trim(str_sub(line, (size_t)at + 6, line.n)), &total))
            continue;
        *ret = (double)total / 1e6;
        return true;
    }
    errno = EINVAL;
    return false;
}

static bool pressure_read_total(const struct host *h, size_t i, double *ret)
{
    struct look_text file;
    return look_read(h, &file, "proc/pressure/%s", names[i]) && pressure_parse_total((struct str){file.p, file.n}, "some ", ret);
}

/* Reads the totals before the program starts. -1 with err: out of memory. A captured machine has
 * none. */
static int pressure_before(struct host *h, struct record *r, struct err *err)
{
    struct pressures *p = probe_data(h, &probe_pressure);
    (void)r;
    if (!p)
        return err_memory(err, "the pressure sampler");
    if (!h->real)
        return 0;
    p->start_ns = probes_clock_ns(h);
    for (size_t i = 0; i < PRESSURES; i++) {
        p->known[i] = pressure_read_total(h, i, &p->start_s[i]);
        p->why[i] = errno;
    }
    return 0;
}

static int pressure_after(struct host *h, struct record *r, struct err *err)
{
    const struct pressures *p = probe_data(h, &probe_pressure);
    if (!p)
        return err_memory(err, "the pressure sampler");
    double wall = (double)(probes_clock_ns(h) - p->start_ns) / 1e9, now;
    if (!h->real || !p->start_ns || str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return 0;
    for (size_t i = 0; i < PRESSURES; i++) {
        char key[40];
        snprintf(key, sizeof key, "pressure.%s_percent", names[i]);
        errno = p->why[i];
        if (!p->known[i] || !pressure_read_total(h, i, &now)) {
            if (errno == ENOENT || errno == EOPNOTSUPP)
                emit_absent(h, r, key, "the kernel reports no pressure stall information (/proc/pressure: before Linux 4.20, or psi=0)");
            else
                emit_missing(h, r, key, "not readable: /proc/pressure/%s: %s", names[i], strerror(errno));
            continue;
        }
        if (now < p->start_s[i] || !noise_window_is_run(r, wall, SHORTEST_S)) {
            emit_missing(h, r, key, now < p->start_s[i] ? "the kernel's count fell" : NOISE_SHORT_RUN);
            continue;
        }
        double percent = 100 * (now - p->start_s[i]) / wall;
        percent = percent < 100 ? percent : 100;
        record_metric(r, key, percent, "percent", DIR_LOWER, 0, 0);
        if (strcmp(names[i], "memory") == 0 && percent > MEMORY_PERCENT)
            noise_add_reason(r, "work waited for memory %.2g %% of the time", percent);
    }
    return 0;
}

static void pressure_emit_share(struct host *h, struct record *r, struct sample_count *c, struct str text, const char *kind,
                                const char *key)
{
    double total, rate;
    if (pressure_parse_total(text, kind, &total) && sample_rate(c, h, total, 0, &rate))
        sample_emit_fine(h, r, rate < 1 ? 100 * rate : 100, "%s", key);
}

/* Records in how much of the time at least one task waited, or (full) all did. Of processors "full"
 * is always 0 for the node. Always 0. */
static int pressure_sample(struct host *h, struct record *r, struct err *err)
{
    static const char *const some[PRESSURES] = {"system/pressure_cpu_percentage", "system/pressure_memory_percentage",
                                                "system/pressure_io_percentage"},
                             *const full[PRESSURES] = {NULL, "system/pressure_memory_full_percentage",
                                                       "system/pressure_io_full_percentage"};
    struct pressures *p = probe_data(h, &probe_pressure);
    (void)err;
    for (size_t i = 0; p && i < PRESSURES; i++) {
        struct str text;
        if (!sample_read(h, &p->files[i], &text, "proc/pressure/%s", names[i]))
            continue; /* `after` records why */
        pressure_emit_share(h, r, &p->some[i], text, "some ", some[i]);
        if (full[i])
            pressure_emit_share(h, r, &p->full[i], text, "full ", full[i]);
    }
    return 0;
}

static void pressure_drop(void *kept)
{
    struct pressures *p = kept;
    for (size_t i = 0; i < PRESSURES; i++)
        sample_close(&p->files[i]);
}

const struct probe probe_pressure = {
    .name = "pressure",
    .summary = "time that work waited for processors, memory and I/O while the program ran",
    .before = pressure_before,
    .after = pressure_after,
    .sample = pressure_sample,
    .nested = true,
    .keeps = sizeof(struct pressures),
    .drop = pressure_drop,
};
