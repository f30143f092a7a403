/* noise.c: who else used the processors while the program ran: other processes, and the hypervisor (steal). */
#include "probes/noise.h"

#include "probes/look.h"
#include "probes/processes.h"
#include "probes/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Thresholds of "disturbed". A quarter of a processor is what a desktop or a monitoring agent uses;
 * 5 % of a big node counts all the same. */
static const double OTHERS_LEAST = 0.25, OTHERS_PART = 0.05, STEAL_PERCENT = 1, SHORTEST_S = 0.5;

void noise_add_reason(struct record *r, const char *fmt, ...)
{
    struct buf text CLEANUP_BUF;
    struct buf all CLEANUP_BUF;
    va_list ap;
    buf_init(&text, 1024);
    buf_init(&all, 5000);
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    const struct fact *was = record_find(r, FACT_TAG, "benchwrap.noisy");
    if (was)
        buf_printf(&all, STR_FMT "; ", STR_ARG(was->text));
    buf_str(&all, buf_text(&text));
    if (text.failed || all.failed)
        return;
    record_warning(r, "disturbed: %s", text.p);
    record_tag(r, "benchwrap.noisy", buf_text(&all));
}

extern const struct probe probe_noise;

bool noise_window_is_run(const struct record *r, double window_s, double least_s)
{
    double run = record_number(r, "run.wall_s", 0);
    return run >= least_s && window_s >= least_s && window_s <= 2 * run;
}

/* Kept between the hooks: the times of /proc/stat at the start. */
struct noise_times {
    int64_t ns; /* 0: not known */
    double busy, steal; /* seconds of processor time since boot, all processors */
};

/* Reads the busy and stolen time of all processors from /proc/stat, in seconds. As psutil counts,
 * waiting for I/O is idle; the time of guests is part of user. False: it cannot be read. */
static bool noise_read_times(const struct host *h, struct noise_times *ret)
{
    struct buf text CLEANUP_BUF;
    double ticks = (double)sysconf(_SC_CLK_TCK), v[8];
    buf_init(&text, 8192);
    if (look_read_file(h, "proc/stat", 512, &text) < 0 || ticks <= 0)
        return false;
    struct str all = buf_text(&text), line = str_cut(&all, '\n');
    if (!str_is(str_word(&line), "cpu"))
        return false;
    for (int i = 0; i < 8; i++) /* user nice system idle iowait irq softirq steal */
        if (!str_double(str_word(&line), &v[i]))
            return false;
    *ret = (struct noise_times){.ns = probes_clock_ns(h), .busy = (v[0] + v[1] + v[2] + v[5] + v[6]) / ticks, .steal = v[7] / ticks};
    return true;
}

static int noise_before(struct host *h, struct record *r, struct err *err)
{
    struct noise_times *start = probe_data(h, &probe_noise);
    (void)r;
    if (!start)
        return err_memory(err, "the noise sampler");
    if (h->real && !noise_read_times(h, start))
        *start = (struct noise_times){0};
    return 0;
}

/* What the program and benchwrap have used: NULL, or why that is not known. */
static const char *noise_own_time(const struct host *h, const struct record *r, double *ret)
{
    double user = record_number(r, "run.user_s", -1), sys = record_number(r, "run.system_s", -1);
    if (!str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "process"))
        return "ranks of the same program cannot be distinguished from other processes";
    if (user < 0 || sys < 0)
        return "the program's own processor time is not known";
    if (record_number(r, "run.left_running", 0) > 0)
        return "the program left processes behind, whose time is not known";
    if (processes_unwaited_s(h, r) > 0)
        return "the program did not wait for its child processes, whose time is not known";
    *ret = user + sys + record_number(r, "run.overhead_s", 0);
    return NULL;
}

/* Records how many processors other processes used on average. busy_s: processor time of all of
 * them in `wall` seconds. */
static void noise_emit_others(struct host *h, struct record *r, double busy_s, double wall, int64_t processors)
{
    double own = 0, others;
    const char *why = noise_own_time(h, r, &own);
    if (why) {
        emit_missing(h, r, "noise.other_processors", "%s", why);
        return;
    }
    others = (busy_s - own) / wall;
    others = others > 0 ? others : 0; /* ticks are coarse */
    record_metric(r, "noise.other_processors", others, "", DIR_LOWER, 0, 0);
    if (others > OTHERS_LEAST && others > OTHERS_PART * (double)processors)
        noise_add_reason(r, "other processes used %.2g of %lld processor%s", others, (long long)processors,
                         str_plural((uint64_t)processors));
}

static int noise_after(struct host *h, struct record *r, struct err *err)
{
    const struct noise_times *was = probe_data(h, &probe_noise);
    struct noise_times now;
    struct look_text online;
    if (!was)
        return err_memory(err, "the noise sampler");
    if (!h->real || !record_find(r, FACT_TAG, "benchwrap.scope") || str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return 0; /* each run of a series records its own */
    int64_t processors = look_read(h, &online, "sys/devices/system/cpu/online") ? look_count_numbers((struct str){online.p, online.n}) : -1;
    if (!was->ns || processors < 1 || !noise_read_times(h, &now)) {
        emit_missing(h, r, "noise.other_processors", "processor times are not readable: /proc/stat");
        return 0;
    }
    double wall = (double)(now.ns - was->ns) / 1e9;
    if (!noise_window_is_run(r, wall, SHORTEST_S)) {
        emit_missing(h, r, "noise.other_processors", "the run was too short: processor times are counted in ticks of %.0f ms",
                     1e3 / (double)sysconf(_SC_CLK_TCK));
        return 0;
    }
    noise_emit_others(h, r, now.busy - was->busy, wall, processors);
    double steal = 100 * (now.steal - was->steal) / (wall * (double)processors);
    if (steal >= 0)
        record_metric(r, "noise.steal_percent", steal, "percent", DIR_LOWER, 0, 0);
    if (steal > STEAL_PERCENT)
        noise_add_reason(r, "the hypervisor took %.2g %% of the processors' time (steal)", steal);
    return 0;
}

const struct probe probe_noise = {
    .name = "noise",
    .summary = "processor time of other processes and of the hypervisor while the program ran",
    .before = noise_before,
    .after = noise_after,
    .nested = true,
    .keeps = sizeof(struct noise_times),
};
