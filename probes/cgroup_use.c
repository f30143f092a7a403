/* cgroup_use.c: what our control group uses while the program runs, how often its processors were withheld from it, and whether memory ran out in it. */
#include "probes/cgroup.h"
#include "probes/noise.h"
#include "probes/sample.h"

#include <stdio.h>

extern const struct probe probe_cgroup_use;

struct cgroup_use {
    bool looked, none;
    struct cgroup cpu, memory; /* the same group in version 2 */
    bool two;
    struct sample_file cpu_file, usage_file, memory_file, events_file;
    struct sample_count usage, periods, throttled, throttled_s, killed;
};

static const double TENTH = 10; /* percent of the periods: a program that was held back so often measures its limit */

static double value_of(struct str text, const char *key, bool *ret_found)
{
    double value = 0;
    *ret_found = false;
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        if (str_is(str_word(&line), key))
            *ret_found = str_double(str_word(&line), &value);
    }
    return value;
}

static void find(struct host *h, struct cgroup_use *g)
{
    char path[1100];
    g->looked = true;
    g->two = cgroup_own(h, "", &g->cpu);
    snprintf(path, sizeof path, "%s/cpu.stat", g->cpu.dir);
    if (g->two && look_exists(h, path))
        g->memory = g->cpu;
    else {
        g->two = false;
        g->none = !cgroup_own(h, "cpu", &g->cpu);
        cgroup_own(h, "memory", &g->memory);
    }
}

/* Of version 2 everything in microseconds; of version 1 nanoseconds, and the use in a file of its own. */
static void see_processors(struct host *h, struct record *r, struct cgroup_use *g)
{
    struct str text;
    double rate, part, usage;
    bool has_usage, has_periods, has_throttled, has_time;
    if (!sample_read(h, &g->cpu_file, &text, "%s/cpu.stat", g->cpu.dir))
        return;
    usage = value_of(text, "usage_usec", &has_usage) / 1e6;
    double periods = value_of(text, "nr_periods", &has_periods), throttled = value_of(text, "nr_throttled", &has_throttled);
    double time = g->two ? value_of(text, "throttled_usec", &has_time) / 1e6 : value_of(text, "throttled_time", &has_time) / 1e9;
    if (!g->two && sample_number(h, &g->usage_file, &usage, "%s/cpuacct.usage", g->cpu.dir)) {
        usage /= 1e9;
        has_usage = true;
    }
    if (has_usage && sample_rate(&g->usage, h, usage, 0, &rate) && r)
        sample_tell_fine(h, r, 100 * rate, "system/cgroup_cpu_percentage");
    if (has_time)
        sample_rate(&g->throttled_s, h, time, 0, &rate);
    if (!has_periods || !has_throttled)
        return;
    bool both = sample_rate(&g->periods, h, periods, 0, &rate);
    both &= sample_rate(&g->throttled, h, throttled, 0, &part);
    if (both && rate > 0 && r)
        sample_tell_fine(h, r, 100 * part / rate, "system/cgroup_throttled_percentage");
}

static void see_memory(struct host *h, struct record *r, struct cgroup_use *g)
{
    struct str text;
    double value, rate;
    bool found;
    if (!g->memory.found)
        return;
    if (sample_number(h, &g->memory_file, &value, "%s/%s", g->memory.dir, g->two ? "memory.current" : "memory.usage_in_bytes") && r)
        sample_tell_fine(h, r, value / 1e6, "system/cgroup_memory_megabytes");
    if (sample_read(h, &g->events_file, &text, "%s/%s", g->memory.dir, g->two ? "memory.events" : "memory.oom_control")) {
        value = value_of(text, "oom_kill", &found);
        if (found)
            sample_rate(&g->killed, h, value, 0, &rate);
    }
}

static int sample(struct host *h, struct record *r, struct err *err)
{
    struct cgroup_use *g = probe_kept(h, &probe_cgroup_use);
    (void)err;
    if (!g)
        return 0;
    if (!g->looked)
        find(h, g);
    if (g->none)
        return 0;
    see_processors(h, r, g);
    see_memory(h, r, g);
    return 0;
}

/* Only of runs that were sampled: what was counted since the first look. */
static int after(struct host *h, struct record *r, struct err *err)
{
    struct cgroup_use *g = probe_kept(h, &probe_cgroup_use);
    (void)err;
    if (!g || !g->looked || g->none || str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return 0;
    see_processors(h, NULL, g);
    see_memory(h, NULL, g);
    if (g->throttled_s.known)
        record_metric(r, "cgroup.throttled_s", g->throttled_s.sum, "s", DIR_LOWER, 0, 0);
    if (g->periods.known && g->periods.sum > 0) {
        double percent = 100 * g->throttled.sum / g->periods.sum;
        record_metric(r, "cgroup.throttled_percent", percent, "percent", DIR_LOWER, 0, 0);
        if (percent > TENTH)
            noise_say(r, "the control group's limit withheld processors in %.2g %% of its periods", percent);
    }
    if (g->killed.known)
        record_metric(r, "cgroup.oom_kills", g->killed.sum, "", DIR_LOWER, 0, 0);
    if (g->killed.sum > 0)
        noise_say(r, "the kernel killed %.0f processes of the control group for want of memory", g->killed.sum);
    return 0;
}

static void drop(void *kept)
{
    struct cgroup_use *g = kept;
    sample_close(&g->cpu_file);
    sample_close(&g->usage_file);
    sample_close(&g->memory_file);
    sample_close(&g->events_file);
}

const struct probe probe_cgroup_use = {
    .name = "cgroup_use",
    .summary = "use and throttling of the control group while the program runs",
    .sample = sample,
    .after = after,
    .nested = true,
    .keeps = sizeof(struct cgroup_use),
    .drop = drop,
};
