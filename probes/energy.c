/* energy.c: energy that processors, memory and node consume: RAPL's domains (powercap), AMD's
 * counters (hwmon amd_energy), and Cray's of the node.
 *
 * The probe reads the counters before the program, at each sample, and after it. RAPL's wrap after
 * 65 to 262 kJ, minutes at full load; they must be read more often than that. The recorder samples
 * at least once a minute. Power is recorded as a series, energy as the run's total. */
#include "base/clock.h"
#include "probes/noise.h"
#include "probes/sample.h"

#include <errno.h>
#include <stdio.h>

extern const struct probe probe_energy;

enum { SOCKETS_MAX = 64 /* or dies, of which powercap has a folder each */, PARTS_MAX = 4, DOMAINS_MAX = SOCKETS_MAX * (1 + PARTS_MAX) };

static const int64_t SHORTEST_NS = 50000000; /* the counters move once a millisecond */
static const double AROUND_MAX = 1.25; /* times the run: what was counted besides it is benchwrap's own energy */

struct domain {
    char key[24], path[96];
    const char *total; /* the run's metric that it is part of */
    double scale, range; /* joules in one; highest value, 0: none */
    struct sampled_file file;
    struct sample_count count;
};

struct energy {
    struct domain at[DOMAINS_MAX];
    int count;
    int64_t start_ns, longest_ns; /* the longest time between two readings */
    int64_t last_ns;
    bool closed; /* only root may read them */
};

/* "package-0", "core", "uncore", "dram", "psys" and the run's metrics. Cores are part of their
 * package and have no own metric. */
static const char *energy_total_key(struct str name)
{
    return str_starts(name, "package") ? "energy.package_J"
           : str_is(name, "dram")      ? "energy.dram_J"
           : str_is(name, "psys")      ? "energy.platform_J"
                                       : NULL;
}

/* Adds the counter of one folder of powercap, if it is of a known kind. False with errno: it cannot
 * be read. */
static bool energy_add_rapl(const struct host *h, struct energy *e, const char *folder, int socket)
{
    struct look_text name;
    int64_t range;
    double first;
    if (e->count == DOMAINS_MAX)
        return true;
    struct domain *d = &e->at[e->count];
    if (!look_read(h, &name, "%s/name", folder) || !look_read_int(h, &range, "%s/max_energy_range_uj", folder))
        return errno == ENOENT;
    *d = (struct domain){.scale = 1e-6, .range = (double)range, .total = energy_total_key((struct str){name.p, name.n})};
    snprintf(d->path, sizeof d->path, "%.70s/energy_uj", folder);
    if (!d->total && !str_is((struct str){name.p, name.n}, "core") && !str_is((struct str){name.p, name.n}, "uncore"))
        return true;
    if (strncmp(name.p, "package", 7) == 0)
        snprintf(d->key, sizeof d->key, "package%d", socket);
    else
        snprintf(d->key, sizeof d->key, "%.8s%d", name.p, socket);
    if (!sample_number(h, &d->file, &first, "%s", d->path)) {
        int why = errno;
        sample_close(&d->file);
        errno = why;
        return false;
    }
    e->count++;
    return true;
}

/* Returns false where RAPL exists but cannot be read; the missing fact is then recorded. */
static bool energy_find_rapl(struct host *h, struct record *r, struct energy *e)
{
    char folder[80];
    for (int socket = 0; socket < SOCKETS_MAX; socket++) {
        snprintf(folder, sizeof folder, "sys/class/powercap/intel-rapl:%d", socket);
        if (!look_exists(h, folder))
            break;
        if (!energy_add_rapl(h, e, folder, socket)) {
            e->closed = errno == EACCES || errno == EPERM;
            emit_missing(h, r, "energy.package_J",
                         e->closed ? "the kernel shows the processors' energy to root only (since Linux 5.10): powercap's energy_uj"
                                   : "powercap's energy_uj cannot be read");
            return false;
        }
        for (int part = 0; part < PARTS_MAX; part++) {
            snprintf(folder, sizeof folder, "sys/class/powercap/intel-rapl:%d:%d", socket, part);
            if (!look_exists(h, folder))
                break;
            energy_add_rapl(h, e, folder, socket);
        }
    }
    return true;
}

/* Adds one counter of the driver amd_energy, if it is that of a socket ("Esocket0"): those of cores
 * are part of it. False: there is none of this number. */
static bool energy_add_socket(const struct host *h, struct energy *e, const char *folder, int number)
{
    struct look_text label;
    int64_t socket;
    double first;
    struct domain *d = &e->at[e->count];
    if (!look_read(h, &label, "%s/energy%d_label", folder, number))
        return false;
    if (e->count == DOMAINS_MAX || strncmp(label.p, "Esocket", 7) != 0 || !str_int(str_of(label.p + 7), &socket) || socket < 0 ||
        socket >= SOCKETS_MAX)
        return true;
    *d = (struct domain){.scale = 1e-6, .total = "energy.package_J"};
    snprintf(d->key, sizeof d->key, "package%d", (int)socket);
    snprintf(d->path, sizeof d->path, "%.60s/energy%d_input", folder, number);
    if (sample_number(h, &d->file, &first, "%s", d->path)) {
        e->count++;
        return true;
    }
    e->closed = errno == EACCES || errno == EPERM;
    sample_close(&d->file);
    return true;
}

struct energy_search {
    const struct host *h;
    struct energy *energy;
};

static void energy_add_amd(void *context, const char *name)
{
    enum { NUMBERS = 1024 }; /* a counter for each core, and those of the sockets behind them */
    const struct energy_search *s = context;
    struct look_text driver;
    char folder[60];
    int number = 1;
    snprintf(folder, sizeof folder, "sys/class/hwmon/%.20s", name);
    if (!look_read(s->h, &driver, "%s/name", folder) || strcmp(driver.p, "amd_energy") != 0)
        return;
    while (number <= NUMBERS && energy_add_socket(s->h, s->energy, folder, number))
        number++;
}

/* Adds the counters of a Cray node. Of "123456 J 1690000000 us" the first number counts. They are
 * world-readable, and do not wrap. */
static void energy_find_cray(struct host *h, struct energy *e)
{
    static const struct {
        const char *file, *key, *total;
    } rows[] = {{"energy", "node", "energy.node_J"},
                {"cpu_energy", "cpu", "energy.cpu_J"},
                {"memory_energy", "memory", "energy.memory_J"},
                {"accel0_energy", "accel0", "energy.accel_J"},
                {"accel1_energy", "accel1", "energy.accel_J"},
                {"accel2_energy", "accel2", "energy.accel_J"},
                {"accel3_energy", "accel3", "energy.accel_J"}};
    double first;
    if (!look_exists(h, "sys/cray/pm_counters"))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && e->count < DOMAINS_MAX; i++) {
        struct domain *d = &e->at[e->count];
        *d = (struct domain){.scale = 1, .total = rows[i].total};
        snprintf(d->key, sizeof d->key, "%s", rows[i].key);
        snprintf(d->path, sizeof d->path, "sys/cray/pm_counters/%s", rows[i].file);
        if (sample_number(h, &d->file, &first, "%s", d->path))
            e->count++;
        else
            sample_close(&d->file);
    }
}

/* Returns whether a counter that was not read for so long may have wrapped more than once: a
 * package consumes one kilowatt at most. */
static bool energy_is_lost(const struct domain *d, int64_t longest_ns)
{
    static const double most_W = 1000;
    return d->range > 0 && (double)longest_ns / 1e9 * most_W > d->range * d->scale;
}

/* Reads all; power into the record, if there is one. */
static void energy_read_domains(struct host *h, struct energy *e, struct record *r)
{
    int64_t now = h->state->now_ns, since = e->last_ns ? now - e->last_ns : 0;
    if (since > e->longest_ns)
        e->longest_ns = since;
    e->last_ns = now;
    for (int i = 0; i < e->count; i++) {
        struct domain *d = &e->at[i];
        double value, rate;
        if (!sample_number(h, &d->file, &value, "%s", d->path) || !sample_rate(&d->count, h, value, d->range, &rate))
            continue;
        if (r && !energy_is_lost(d, since))
            sample_emit_fine(h, r, rate * d->scale, "system/power_%s_watts", d->key);
    }
}

/* Finds the counters and reads them for the first time, or records why energy is missing. -1 with
 * err: out of memory. */
static int energy_before(struct host *h, struct record *r, struct err *err)
{
    struct energy *e = probe_data(h, &probe_energy);
    if (!e)
        return err_memory(err, "the energy counters");
    bool readable = energy_find_rapl(h, r, e);
    if (readable && e->count == 0)
        look_each_name(h, "sys/class/hwmon", energy_add_amd, &(struct energy_search){h, e});
    energy_find_cray(h, e);
    if (e->count == 0 && readable)
        emit_absent(
            h, r, "energy.package_J",
            e->closed ? "the kernel shows the processors' energy to root only: hwmon's amd_energy"
                      : "the kernel shows no counters of energy here (powercap, amd_energy, Cray's pm_counters; none in virtual machines)");
    if (e->count == 0)
        return 0;
    probes_set_now(h);
    energy_read_domains(h, e, NULL);
    e->start_ns = h->state->now_ns;
    return 0;
}

static int energy_sample(struct host *h, struct record *r, struct err *err)
{
    struct energy *e = probe_data(h, &probe_energy);
    (void)err;
    if (e && e->count > 0)
        energy_read_domains(h, e, r);
    return 0;
}

/* Records the energy that each counter measured while the program ran, or why it is missing: the
 * run was too short, or the counter may have wrapped. Returns 0. */
static int energy_after(struct host *h, struct record *r, struct err *err)
{
    struct energy *e = probe_data(h, &probe_energy);
    (void)err;
    if (!e || e->count == 0 || str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return 0;
    int64_t counted_ns = h->state->now_ns - e->start_ns;
    double wall_s = record_number(r, "run.wall_s", -1);
    bool is_short = counted_ns < SHORTEST_NS || (wall_s >= 0 && (double)counted_ns / 1e9 > AROUND_MAX * wall_s);
    energy_read_domains(h, e, NULL);
    for (int i = 0; i < e->count; i++) {
        const struct domain *d = &e->at[i];
        double sum = 0;
        bool again = false, lost = false;
        for (int k = 0; d->total && k < e->count; k++) {
            if (!e->at[k].total || strcmp(e->at[k].total, d->total) != 0)
                continue;
            again |= k < i;
            lost |= energy_is_lost(&e->at[k], e->longest_ns);
            sum += e->at[k].count.sum * e->at[k].scale;
        }
        if (!d->total || again)
            continue;
        if (is_short)
            emit_missing(h, r, d->total, NOISE_SHORT_RUN);
        else if (lost)
            emit_missing(h, r, d->total, "the counter was not read for %.0f s and may have wrapped more than once",
                         (double)e->longest_ns / 1e9);
        else
            record_metric(r, d->total, sum, "J", DIR_LOWER, 0, 0);
    }
    return 0;
}

static void energy_drop(void *kept)
{
    struct energy *e = kept;
    for (int i = 0; i < e->count; i++)
        sample_close(&e->at[i].file);
}

const struct probe probe_energy = {
    .name = "energy",
    .summary = "energy of processors, memory and node (RAPL, Cray's counters), and their power while the program runs",
    .before = energy_before,
    .sample = energy_sample,
    .after = energy_after,
    .nested = true,
    .keeps = sizeof(struct energy),
    .drop = energy_drop,
};
