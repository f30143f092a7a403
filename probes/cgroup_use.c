/* cgroup_use.c: what this process's control group uses while the program runs, how often its
 * processors were withheld from it, and whether memory ran out in it. */
#include "probes/cgroup.h"
#include "probes/noise.h"
#include "probes/processes.h"
#include "probes/sample.h"

#include <stdio.h>

extern const struct probe probe_cgroup_use;

struct cgroup_use {
    bool searched;
    struct cgroup cpu, usage_1, memory; /* usage_1: of version 1's cpuacct; version 2 has the use in cpu */
    bool memory_above; /* memory is that of a group above the program's, which lacks the controller */
    struct cgroup limit; /* where processors are withheld: the group itself, or one above it whose limit is less */
    const char *limit_why; /* why that group is not known */
    char quota[64]; /* the limit's text at the first reading */
    bool limit_changed; /* a later reading had another one */
    struct sampled_file cpu_file, limit_file, quota_file, usage_file, memory_file, events_file;
    struct sample_count usage, periods, throttled, throttled_s, killed, node_killed;
    int64_t first_ns; /* when it was first counted */
    bool foreign; /* the program was found in other groups, */
    bool foreign_time; /* or has used more processor time than the group */
};

static const double ELSEWHERE_LEAST_S = 0.2, ELSEWHERE_PART = 0.2; /* of the program's processor time */
static const double SHORTEST_S = 0.1; /* a period of the kernel's default limit: fewer have no share */
static const double TENTH = 10; /* percent of the periods: a program that was held back so often measures its limit */

static double cgroup_use_value(struct str text, const char *key, bool *ret_found)
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

/* Finds the group of the controller. The root group counts as none: its counters are the
 * machine's. */
static void cgroup_use_find_group(struct host *h, const char *controller, struct cgroup *ret)
{
    if (cgroup_of_controller(h, controller, ret) && cgroup_is_root(h, ret))
        ret->found = false;
}

/* Reads the processor time that the group has used, in seconds. cpu_stat: the text of version 2's
 * cpu.stat, or "". */
static bool cgroup_use_read_cpu_s(struct host *h, struct cgroup_use *g, struct str cpu_stat, double *ret)
{
    bool found = false;
    if (g->usage_1.found && g->usage_1.version == 1) {
        found = sample_number(h, &g->usage_file, ret, "%s/cpuacct.usage", g->usage_1.dir);
        *ret /= 1e9;
    } else if (g->cpu.found && g->cpu.version == 2)
        *ret = cgroup_use_value(cpu_stat, "usage_usec", &found) / 1e6;
    return found;
}

/* Updates the counts of periods in which processors were withheld, and records a sample. Version 2
 * counts in microseconds, version 1 in nanoseconds. */
static void cgroup_use_count_throttling(struct host *h, struct record *r, struct cgroup_use *g, struct str cpu_stat)
{
    double rate, part;
    bool has_periods, has_throttled, has_time, two = g->cpu.version == 2;
    double periods = cgroup_use_value(cpu_stat, "nr_periods", &has_periods),
           throttled = cgroup_use_value(cpu_stat, "nr_throttled", &has_throttled);
    double time = cgroup_use_value(cpu_stat, two ? "throttled_usec" : "throttled_time", &has_time) / (two ? 1e6 : 1e9);
    if (has_time)
        sample_rate(&g->throttled_s, h, time, 0, &rate);
    if (!has_periods || !has_throttled)
        return;
    bool both = sample_rate(&g->periods, h, periods, 0, &rate);
    both &= sample_rate(&g->throttled, h, throttled, 0, &part);
    if (both && rate > 0 && r)
        sample_emit_fine(h, r, 100 * part / rate, "system/cgroup_throttled_percentage");
}

/* Compares the limit with that of the first reading: it may change and come back. */
static void cgroup_use_check_limit(struct host *h, struct cgroup_use *g)
{
    struct str text;
    char now[sizeof g->quota];
    if (g->limit_changed ||
        !sample_read(h, &g->quota_file, &text, g->limit.version == 2 ? "%s/cpu.max" : "%s/cpu.cfs_quota_us", g->limit.dir))
        return;
    snprintf(now, sizeof now, STR_FMT, STR_ARG(text));
    if (!g->quota[0])
        memcpy(g->quota, now, sizeof now);
    g->limit_changed = strcmp(now, g->quota) != 0;
}

/* Updates the processor counts of the groups, and records a sample. r NULL: records nothing. */
static void cgroup_use_count_processors(struct host *h, struct record *r, struct cgroup_use *g)
{
    struct str cpu_stat = {"", 0};
    double usage, rate;
    if (g->limit.found)
        cgroup_use_check_limit(h, g);
    if (g->limit.found && sample_read(h, &g->limit_file, &cpu_stat, "%s/cpu.stat", g->limit.dir))
        cgroup_use_count_throttling(h, r, g, cpu_stat);
    cpu_stat = (struct str){"", 0};
    if (g->cpu.found && g->cpu.version == 2)
        sample_read(h, &g->cpu_file, &cpu_stat, "%s/cpu.stat", g->cpu.dir);
    if (cgroup_use_read_cpu_s(h, g, cpu_stat, &usage) && sample_rate(&g->usage, h, usage, 0, &rate) && r)
        sample_emit_fine(h, r, 100 * rate, "system/cgroup_cpu_percentage");
}

/* Updates the count of killed processes, and records a sample of the memory. r NULL: records
 * nothing. */
static void cgroup_use_read_memory(struct host *h, struct record *r, struct cgroup_use *g)
{
    struct str text;
    double value, rate;
    bool found, two = g->memory.version == 2;
    if (!g->memory.found)
        return;
    if (sample_number(h, &g->memory_file, &value, "%s/%s", g->memory.dir, two ? "memory.current" : "memory.usage_in_bytes") && r &&
        !g->memory_above)
        sample_emit_fine(h, r, value / 1e6, "system/cgroup_memory_megabytes");
    if (sample_read(h, &g->events_file, &text, "%s/%s", g->memory.dir, two ? "memory.events" : "memory.oom_control")) {
        value = cgroup_use_value(text, "oom_kill", &found);
        if (found)
            sample_rate(&g->killed, h, value, 0, &rate);
    }
}

/* Updates the count of processes of the node that the kernel killed for memory: those of all
 * groups, and of none, are one number. Source: count_vm_event(OOM_KILL), Linux 4.13. */
static void cgroup_use_count_node_kills(struct host *h, struct cgroup_use *g)
{
    struct buf text CLEANUP_BUF;
    double value, rate;
    bool found;
    buf_init(&text, 1 << 17);
    if (look_read_file(h, "proc/vmstat", 32768, &text) != 0)
        return;
    value = cgroup_use_value(buf_text(&text), "oom_kill", &found);
    if (found)
        sample_rate(&g->node_killed, h, value, 0, &rate);
}

static void cgroup_use_find_memory(struct host *h, struct cgroup_use *g)
{
    cgroup_use_find_group(h, "memory", &g->memory);
    if (!g->memory.found || g->memory.version == 1)
        return;
    size_t own = strlen(g->memory.dir);
    g->memory.found = cgroup_climb_to_memory(h, &g->memory);
    g->memory_above = g->memory.found && strlen(g->memory.dir) < own;
}

static void cgroup_use_find_groups(struct host *h, struct cgroup_use *g)
{
    if (g->searched)
        return;
    cgroup_use_find_group(h, "cpu", &g->cpu);
    g->limit = g->cpu;
    g->limit_why = cgroup_climb_to_limit(h, &g->limit);
    g->limit.found &= !g->limit_why;
    cgroup_use_find_group(h, "cpuacct", &g->usage_1);
    cgroup_use_find_memory(h, g);
    g->searched = true;
}

/* Counts from the program's first moment on: memory can run out before the first sample. Always
 * 0. */
static int cgroup_use_before(struct host *h, struct record *r, struct err *err)
{
    struct cgroup_use *g = probe_data(h, &probe_cgroup_use);
    (void)r;
    (void)err;
    if (!g || !h->argv || h->regrouped)
        return 0;
    probes_set_now(h);
    cgroup_use_find_groups(h, g);
    g->first_ns = h->state->now_ns;
    cgroup_use_count_processors(h, NULL, g);
    cgroup_use_read_memory(h, NULL, g);
    cgroup_use_count_node_kills(h, g);
    return 0;
}

/* Sets g->foreign where the program, or what it has started, moved to another group, as by its own
 * `systemd-run --scope`. */
static void cgroup_use_detect_move(struct host *h, struct cgroup_use *g)
{
    pid_t pids[PROCESSES_SEEN];
    bool known;
    if (g->foreign || h->pid <= 1 || !look_has_own_proc(h))
        return;
    g->foreign = cgroup_is_other(h, h->pid, &known);
    size_t n = processes_list(h, pids);
    for (size_t i = 0; i < n && !g->foreign; i++)
        g->foreign = cgroup_is_other(h, pids[i], &known);
}

/* Returns whether the group has used less processor time than the program: then it was in another
 * group between two samples. False where the counting began late. */
static bool cgroup_use_ran_outside(const struct host *h, const struct cgroup_use *g, const struct record *r)
{
    double own = record_number(r, "run.user_s", 0) + record_number(r, "run.system_s", 0), wall = record_number(r, "run.wall_s", -1);
    bool from_start = wall >= 0 && g->first_ns && (double)(h->state->now_ns - g->first_ns) / 1e9 >= wall;
    return from_start && g->usage.known && own - g->usage.sum > ELSEWHERE_LEAST_S && own - g->usage.sum > ELSEWHERE_PART * own;
}

const char *cgroup_use_foreign_reason(const struct host *h, const struct record *r)
{
    struct cgroup_use *g = probe_data(h, &probe_cgroup_use);
    if (h->regrouped)
        return h->regrouped;
    if (g && g->searched && h->state->ended && !g->foreign && !g->foreign_time) {
        cgroup_use_count_processors((struct host *)h, NULL, g);
        g->foreign_time = cgroup_use_ran_outside(h, g, r);
    }
    if (g && g->foreign_time)
        return "the program ran at least partly in another control group: it used more processor time than the group in which it was started";
    return g && g->foreign ? "the program moved to another control group than the one that it was started in" : NULL;
}

bool cgroup_use_limit_changed(const struct host *h)
{
    const struct cgroup_use *g = probe_data(h, &probe_cgroup_use);
    return g && g->limit_changed;
}

static int cgroup_use_sample(struct host *h, struct record *r, struct err *err)
{
    struct cgroup_use *g = probe_data(h, &probe_cgroup_use);
    (void)err;
    if (!g || h->regrouped)
        return 0;
    cgroup_use_find_groups(h, g);
    cgroup_use_detect_move(h, g);
    cgroup_use_count_processors(h, g->foreign ? NULL : r, g);
    cgroup_use_read_memory(h, g->foreign ? NULL : r, g);
    return 0;
}

/* Records the group's metrics as missing where the program's groups are others. Returns whether
 * they are. */
static bool cgroup_use_emit_foreign(struct host *h, struct record *r)
{
    static const char *const keys[] = {"cgroup.throttled_s", "cgroup.throttled_percent", "cgroup.oom_kills"};
    const char *why = cgroup_use_foreign_reason(h, r);
    for (size_t i = 0; why && i < sizeof keys / sizeof *keys; i++)
        emit_missing(h, r, keys[i], "%s", why);
    return why;
}

/* Kills in other groups may be of the program's own processes, in groups that it has made. */
static void cgroup_use_emit_kills(struct host *h, struct record *r, struct cgroup_use *g)
{
    const char *group = g->memory_above ? "a control group above the program's" : "the control group";
    double own = g->killed.known ? g->killed.sum : 0, others = 0;
    cgroup_use_count_node_kills(h, g);
    if (g->node_killed.known && g->node_killed.sum > own)
        others = g->node_killed.sum - own;
    if (g->killed.known && own > 0 && g->memory_above)
        emit_missing(h, r, "cgroup.oom_kills", "%.0f in %s, which counts the memory of several groups", own, group);
    else if (g->killed.known && others > 0)
        emit_missing(h, r, "cgroup.oom_kills",
                     "%.0f in the program's group, and %.0f in other groups of the node, perhaps of the program too", own, others);
    else if (g->killed.known)
        record_metric(r, "cgroup.oom_kills", own, "", DIR_LOWER, 0, 0);
    if (own > 0)
        noise_add_reason(r, "the kernel killed %.0f process%s of %s because memory was exhausted", own, own == 1 ? "" : "es", group);
    if (others > 0)
        noise_add_reason(r, "the kernel killed %.0f process%s %s because memory was exhausted", others, others == 1 ? "" : "es",
                         g->killed.known ? "outside of the program's control group" : "of the node");
}

/* Returns whether the program was so short that throttling of benchwrap's own processes around it
 * would be counted as its own. False where the program's end was not observed. */
static bool cgroup_use_is_short(const struct host *h, const struct cgroup_use *g, const struct record *r)
{
    return g->first_ns && record_number(r, "run.wall_s", -1) >= 0 &&
           !noise_window_is_run(r, (double)(h->state->now_ns - g->first_ns) / 1e9, SHORTEST_S);
}

static void cgroup_use_emit_throttling(struct host *h, struct record *r, struct cgroup_use *g)
{
    double percent = g->periods.sum > 0 ? 100 * g->throttled.sum / g->periods.sum : 0;
    if (g->limit_why) {
        emit_missing(h, r, "cgroup.throttled_s", "%s", g->limit_why);
        emit_missing(h, r, "cgroup.throttled_percent", "%s", g->limit_why);
        return;
    }
    if (cgroup_use_is_short(h, g, r)) {
        if (g->throttled_s.known)
            emit_missing(h, r, "cgroup.throttled_s", NOISE_SHORT_RUN);
        if (g->periods.known)
            emit_missing(h, r, "cgroup.throttled_percent", NOISE_SHORT_RUN);
        return;
    }
    if (g->throttled_s.known)
        record_metric(r, "cgroup.throttled_s", g->throttled_s.sum, "s", DIR_LOWER, 0, 0);
    if (g->periods.known && g->periods.sum > 0)
        record_metric(r, "cgroup.throttled_percent", percent, "percent", DIR_LOWER, 0, 0);
    if (percent > TENTH)
        noise_add_reason(r, "the control group's limit withheld processors in %.3g %% of its periods", percent);
}

/* Records what was counted since the first reading. */
static int cgroup_use_after(struct host *h, struct record *r, struct err *err)
{
    struct cgroup_use *g = probe_data(h, &probe_cgroup_use);
    (void)err;
    if (str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series") || cgroup_use_emit_foreign(h, r) || !g || !g->searched)
        return 0;
    cgroup_use_count_processors(h, NULL, g);
    cgroup_use_read_memory(h, NULL, g);
    cgroup_use_emit_throttling(h, r, g);
    cgroup_use_emit_kills(h, r, g);
    return 0;
}

static void cgroup_use_drop(void *kept)
{
    struct cgroup_use *g = kept;
    sample_close(&g->cpu_file);
    sample_close(&g->limit_file);
    sample_close(&g->quota_file);
    sample_close(&g->usage_file);
    sample_close(&g->memory_file);
    sample_close(&g->events_file);
}

const struct probe probe_cgroup_use = {
    .name = "cgroup_use",
    .summary = "use and throttling of the control group while the program runs",
    .before = cgroup_use_before,
    .sample = cgroup_use_sample,
    .after = cgroup_use_after,
    .nested = true,
    .keeps = sizeof(struct cgroup_use),
    .drop = cgroup_use_drop,
};
