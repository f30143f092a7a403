/* memory_traffic.c: what goes over the memory controllers of the node while the program runs, on request (--counters).
 *
 * The kernel describes each counter in /sys/bus/event_source/devices/<unit>/: type (its number), cpumask (where to open it), events/<name> ("event=0x04,
 * umask=0x03") with .scale and .unit (6.103515625e-5 MiB: 64 bytes), format/<term> ("config:0-7"): Documentation/ABI/testing/sysfs-bus-event_source-devices*.
 * They are the node's, not the program's, and the kernel shows them to root, or where kernel.perf_event_paranoid is 0 or below. */
#include "probes/memory_traffic.h"

#include "base/fs.h"
#include "probes/sample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const struct probe probe_memory_traffic;

#define UNITS "sys/bus/event_source/devices"
enum { PACKAGES_MAX = 32 };

/* ---- what there is ---- */

struct traffic_search {
    const struct host *h;
    struct traffic_event *at;
    size_t n, max;
};

/* Stores a value in the bits that a term's format names: "config:0-7,21", "config1:0-31". */
static bool traffic_put_bits(struct str format, uint64_t value, uint64_t config[3])
{
    struct str word = str_cut(&format, ':');
    size_t which = str_is(word, "config") ? 0 : str_is(word, "config1") ? 1 : str_is(word, "config2") ? 2 : 3;
    while (which < 3 && format.p && format.n) {
        struct str range = str_cut(&format, ','), from = str_cut(&range, '-');
        uint64_t first, last;
        if (!str_uint(str_trim(from), &first) || first > 63)
            return false;
        last = first;
        if (range.p && (!str_uint(str_trim(range), &last) || last < first || last > 63))
            return false;
        uint64_t mask = last - first == 63 ? ~UINT64_C(0) : (UINT64_C(1) << (last - first + 1)) - 1;
        config[which] |= (value & mask) << first;
        value = last - first == 63 ? 0 : value >> (last - first + 1);
    }
    return which < 3 && value == 0;
}

static bool traffic_parse_number(struct str text, uint64_t *ret)
{
    return str_starts(text, "0x") ? str_based(text, 16, ret) : str_uint(text, ret);
}

/* Makes the configuration of an event ("event=0x04,umask=0x03") by the unit's formats. False: a
 * term is not known, or its value does not fit. */
static bool traffic_make_config(const struct host *h, const char *unit, struct str terms, uint64_t config[3])
{
    while (terms.p && terms.n) {
        struct str value = str_cut(&terms, ','), name = str_cut(&value, '=');
        struct look_text format;
        uint64_t number = 1; /* a term without a value is a flag */
        if (name.n > 40 || (value.p && !traffic_parse_number(str_trim(value), &number)) ||
            !look_read(h, &format, UNITS "/%.60s/format/" STR_FMT, unit, STR_ARG(str_trim(name))) ||
            !traffic_put_bits((struct str){format.p, format.n}, number, config))
            return false;
    }
    return true;
}

/* Returns how many bytes one count of the event means. 0: the kernel does not report it. */
static double traffic_bytes_per_count(const struct host *h, const char *unit, const char *event)
{
    static const struct {
        const char *name;
        double bytes;
    } rows[] = {{"MiB", 1048576}, {"KiB", 1024}, {"GiB", 1073741824}, {"Bytes", 1}, {"bytes", 1}, {"B", 1}, {"MB", 1e6}, {"GB", 1e9}};
    struct look_text scale, name;
    double number;
    if (!look_read(h, &scale, UNITS "/%.60s/events/%s.scale", unit, event) || !str_double((struct str){scale.p, scale.n}, &number) ||
        !(number > 0) || !look_read(h, &name, UNITS "/%.60s/events/%s.unit", unit, event))
        return 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name.p, rows[i].name) == 0)
            return number * rows[i].bytes;
    return 0;
}

struct traffic_adding {
    struct traffic_search *f;
    struct traffic_event e;
};

static void traffic_add_cpu(void *context, int64_t cpu)
{
    struct traffic_adding *a = context;
    if (a->f->n == a->f->max)
        return;
    a->e.cpu = (int)cpu;
    a->f->at[a->f->n++] = a->e;
}

/* Adds one counter, on each processor of the unit's mask. False: the unit or its terms cannot be
 * read. */
static bool traffic_add_event(struct traffic_search *f, const char *unit, struct str terms, bool write, double bytes)
{
    struct traffic_adding a = {.f = f, .e = {.write = write, .bytes = bytes}};
    struct look_text mask;
    int64_t type;
    if (bytes <= 0 || !look_read_int(f->h, &type, UNITS "/%.60s/type", unit) || type < 0 || type > UINT32_MAX ||
        !traffic_make_config(f->h, unit, terms, a.e.config))
        return false;
    a.e.type = (uint32_t)type;
    return look_read(f->h, &mask, UNITS "/%.60s/cpumask", unit) &&
           look_each_number((struct str){mask.p, mask.n}, PACKAGES_MAX, traffic_add_cpu, &a);
}

/* Adds the events of a memory controller that count reads and writes. Adds nothing for another
 * unit. */
static void traffic_read_unit(void *context, const char *unit)
{
    static const struct {
        const char *name;
        bool write;
    } rows[] = {{"cas_count_read", false}, {"cas_count_write", true}, {"data_read", false},
                {"data_write", true},      {"data_reads", false},     {"data_writes", true}};
    struct traffic_search *f = context;
    struct look_text terms;
    if (strncmp(unit, "amd_umc_", 8) == 0) { /* CAS commands: event 0x0a, by direction; the kernel names no events of this unit */
        traffic_add_event(f, unit, STR("event=0x0a,rdwrmask=0x1"), false, 64);
        traffic_add_event(f, unit, STR("event=0x0a,rdwrmask=0x2"), true, 64);
        return;
    }
    if (strncmp(unit, "uncore_imc", 10) != 0)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (look_read(f->h, &terms, UNITS "/%.60s/events/%s", unit, rows[i].name))
            traffic_add_event(f, unit, (struct str){terms.p, terms.n}, rows[i].write, traffic_bytes_per_count(f->h, unit, rows[i].name));
}

static void traffic_read_programmable(void *context, const char *unit)
{
    if (!strstr(unit, "free_running"))
        traffic_read_unit(context, unit);
}

size_t traffic_find_events(const struct host *h, struct traffic_event *ret, size_t max)
{
    struct traffic_search f = {.h = h, .at = ret, .max = max};
    look_each_name(h, UNITS, traffic_read_programmable, &f);
    if (f.n == 0) /* the same data, counted by others: never both */
        look_each_name(h, UNITS, traffic_read_unit, &f);
    return f.n;
}

/* ---- what they count ---- */

struct traffic {
    struct traffic_event at[TRAFFIC_MAX];
    int fd[TRAFFIC_MAX];
    size_t n;
    struct sample_count way[2];
    bool open;
};

/* Reads how many bytes were moved since the counters were opened: from memory, to memory; scaled
 * where a counter had to share its place. False: one cannot be read. */
static bool traffic_read_counters(const struct traffic *t, double ret[2])
{
    ret[0] = ret[1] = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t v[3]; /* value, enabled, running */
        if (read(t->fd[i], v, sizeof v) != (ssize_t)sizeof v || v[2] == 0)
            return false;
        ret[t->at[i].write] += (double)v[0] * ((double)v[1] / (double)v[2]) * t->at[i].bytes;
    }
    return true;
}

static void traffic_close_counters(void *kept)
{
    struct traffic *t = kept;
    for (size_t i = 0; t->open && i < t->n; i++)
        close(t->fd[i]);
    t->open = false;
}

/* Opens all counters. Returns 0, or the errno of the one that cannot be opened, and closes the
 * others: half of them would be half of the data. */
static int traffic_open_counters(struct traffic *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct perf_event_attr attr = {.size = sizeof attr,
                                       .type = t->at[i].type,
                                       .config = t->at[i].config[0],
                                       .config1 = t->at[i].config[1],
                                       .config2 = t->at[i].config[2],
                                       .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
        t->fd[i] = (int)syscall(SYS_perf_event_open, &attr, -1, t->at[i].cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (t->fd[i] >= 0)
            continue;
        int why = errno;
        while (i-- > 0)
            close(t->fd[i]);
        return why;
    }
    t->open = t->n > 0;
    return 0;
}

static void traffic_emit_reason(const struct host *h, struct record *r, int why)
{
    if (why == EACCES || why == EPERM)
        emit_missing(h, r, "counters.node_memory_read_GB",
                     "the kernel shows the memory controllers' counters to root only: sysctl kernel.perf_event_paranoid is above 0");
    else
        emit_missing(h, r, "counters.node_memory_read_GB", "the memory controllers' counters cannot be opened: %s", strerror(why));
}

/* Opens the counters of the memory controllers for --counters, or records why they are missing.
 * Always 0. */
static int traffic_before(struct host *h, struct record *r, struct err *err)
{
    struct traffic *t = h->counters ? probe_data(h, &probe_memory_traffic) : NULL;
    (void)err;
    if (!t)
        return 0;
    t->n = traffic_find_events(h, t->at, TRAFFIC_MAX);
    if (t->n == 0) {
        emit_missing(h, r, "counters.node_memory_read_GB",
                     "the kernel shows no counters of memory controllers here (uncore_imc, amd_umc; none in virtual machines)");
        return 0;
    }
    int why = h->real ? traffic_open_counters(t) : ENODEV;
    if (why)
        traffic_emit_reason(h, r, why);
    return 0;
}

static int traffic_sample(struct host *h, struct record *r, struct err *err)
{
    static const char *const ways[2] = {"read", "write"};
    struct traffic *t = h->counters ? probe_data(h, &probe_memory_traffic) : NULL;
    double bytes[2], rate;
    (void)err;
    for (int i = 0; t && t->open && traffic_read_counters(t, bytes) && i < 2; i++)
        if (sample_rate(&t->way[i], h, bytes[i], 0, &rate))
            sample_emit_fine(h, r, rate / 1e6, "system/memory_%s_megabytes_per_second", ways[i]);
    return 0;
}

/* Records how many GB the memory controllers of the node read and wrote while the program ran, or
 * why that is missing. Does nothing without --counters. Always returns 0. */
static int traffic_after(struct host *h, struct record *r, struct err *err)
{
    struct traffic *t = h->counters ? probe_data(h, &probe_memory_traffic) : NULL;
    double bytes[2];
    (void)err;
    if (!t || !t->open)
        return 0;
    if (traffic_read_counters(t, bytes)) {
        record_metric(r, "counters.node_memory_read_GB", bytes[0] / 1e9, "GB", DIR_NONE, 0, 0);
        record_metric(r, "counters.node_memory_write_GB", bytes[1] / 1e9, "GB", DIR_NONE, 0, 0);
    } else
        emit_missing(h, r, "counters.node_memory_read_GB", "the memory controllers' counters were in use by others, or cannot be read");
    return 0;
}

const struct probe probe_memory_traffic = {
    .name = "memory_traffic",
    .summary = "what goes over the node's memory controllers, with --counters",
    .before = traffic_before,
    .sample = traffic_sample,
    .after = traffic_after,
    .keeps = sizeof(struct traffic),
    .drop = traffic_close_counters,
};
