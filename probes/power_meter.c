/* power_meter.c: the power of the node: by a command of the user (--power-command), such as ipmitool or a client of Redfish, else by the kernel's meters.
 * Both can take seconds or hang, so a child process reads them, and the sampler records what it has sent. */
#include "base/query.h"
#include "base/str.h"
#include "probes/fact_text.h"
#include "probes/hwmon.h"
#include "probes/look.h"
#include "probes/probe_child.h"
#include "probes/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern const struct probe probe_power_meter;

enum { WORDS_MAX = 64, OUTPUT_MAX = 64 << 10, COMMAND_MS = 5000, PAUSE_S = 5, FAILURES_MAX = 5, SOON_STEPS = 600, LATER_S = 10 };
static const double MOST_W = 1e6;

struct power_meter {
    bool begun;
    struct probe_child aside;
};

/* Divides the command into words at blanks, in place; no shell reads it. Returns false where it has
 * none, or more than WORDS_MAX. */
static bool split_power_command(char *text, char *words[WORDS_MAX + 1])
{
    size_t n = 0;
    char *rest, *word = strtok_r(text, " \t", &rest);
    for (; word && n < WORDS_MAX; word = strtok_r(NULL, " \t", &rest))
        words[n++] = word;
    words[n] = NULL;
    return n > 0 && !word;
}

/* Returns the first number of a text ("Instantaneous power reading: 280 Watts"); NAN: it has none, or
 * one that is no power. */
static double first_power(struct str text)
{
    while (text.n) {
        size_t n = 0;
        double value;
        while (n < text.n && (str_is_digit(text.p[n]) || (n && text.p[n] == '.')))
            n++;
        if (n && str_double((struct str){text.p, text.p[n - 1] == '.' ? n - 1 : n}, &value))
            return value <= MOST_W ? value : NAN;
        text = str_sub(text, n ? n : 1, text.n);
    }
    return NAN;
}

/* Runs the command for at most COMMAND_MS, and returns the power that it prints, in watts. NAN: it
 * failed, or printed none. */
static double read_power(char *const *words, char *const *env)
{
    struct query q = QUERY_NONE;
    double value = NAN;
    if (query_start(&q, words, env, OUTPUT_MAX, COMMAND_MS, 0, NULL) == 0 && query_wait(&q, COMMAND_MS + 1000) == QUERY_DONE &&
        WIFEXITED(q.status) && WEXITSTATUS(q.status) == 0)
        value = first_power(buf_text(&q.text));
    query_close(&q);
    return value;
}

/* Sends one sample to the listener of r, and adds nothing to r. Sends nothing for a value that is
 * not finite. */
static void send_power(const struct record *r, const char *meter, double power_W, int64_t step)
{
    struct record one;
    char key[60];
    record_init(&one, r->id, r->start_ms);
    one.listen = r->listen;
    one.context = r->context;
    one.source = r->source;
    snprintf(key, sizeof key, "system/power_%s_watts", meter);
    if (isfinite(power_W))
        record_metric(&one, key, power_W, NULL, DIR_NONE, step, 0);
    record_deinit(&one);
}

/* Runs the command repeatedly, with PAUSE_S seconds between, and sends what it prints. Returns
 * after FAILURES_MAX failures in a row. */
static void run_power_command(struct host *h, struct record *r)
{
    char *words[WORDS_MAX + 1], text[4096];
    const struct timespec pause = {.tv_sec = PAUSE_S};
    if ((size_t)snprintf(text, sizeof text, "%s", h->power_command) >= sizeof text || !split_power_command(text, words)) {
        emit_missing(h, r, "system/power_node_watts", "--power-command: expected 1 to %d words of at most %zu bytes together", WORDS_MAX,
                     sizeof text - 1);
        return;
    }
    for (int64_t step = 0, failures = 0; failures < FAILURES_MAX; step++) {
        double power_W = read_power(words, h->env);
        failures = isfinite(power_W) ? 0 : failures + 1;
        if (failures == 1)
            emit_missing(h, r, "system/power_node_watts", "the command of --power-command failed, or printed no number");
        send_power(r, "node", power_W, step);
        nanosleep(&pause, NULL);
    }
}

/* Sends the power of the kernel's meters until the process is ended; returns at once where there
 * are none. Cray's counters are the node's meter where there are both. */
static void read_kernel_meters(const struct host *h, const struct record *r)
{
    struct hwmon_meter meters[HWMON_METERS_MAX];
    size_t count = hwmon_find_meters(h, meters);
    bool is_cray = look_exists(h, "sys/cray/pm_counters/energy");
    if (!count)
        return;
    for (int64_t step = 0;; step++) {
        const struct timespec pause = {.tv_sec = step < SOON_STEPS ? 1 : LATER_S};
        for (size_t i = 0; i < count; i++)
            if (!is_cray || strcmp(meters[i].key, "node") != 0)
                send_power(r, meters[i].key, hwmon_read_meter(h, &meters[i]), step);
        nanosleep(&pause, NULL);
    }
}

static bool has_power_command(const struct host *h)
{
    return h->power_command && h->power_command[0];
}

static int power_meter_run(struct host *h, struct record *r, struct err *err)
{
    (void)err;
    if (has_power_command(h))
        run_power_command(h, r);
    else
        read_kernel_meters(h, r);
    return 0;
}

static void power_meter_emit(struct power_meter *w, struct host *h, struct record *r)
{
    struct fact_text f;
    child_work_read(&w->aside.work);
    struct str rest = buf_text(&w->aside.work.text);
    while (fact_text_next(&rest, &f) > 0)
        fact_text_replay(h, r, &f);
    probe_child_forget(&w->aside, rest);
}

static int power_meter_sample(struct host *h, struct record *r, struct err *err)
{
    struct power_meter *w = probe_data(h, &probe_power_meter);
    if (!w || !h->real)
        return 0;
    if (!w->begun) {
        w->begun = true;
        if ((has_power_command(h) || hwmon_has_meters(h)) && probe_child_begin(&w->aside, h, r, power_meter_run, true) != 0)
            return err_sys(err, "cannot start a process for the power meters");
    } else if (w->aside.work.pid)
        power_meter_emit(w, h, r);
    return 0;
}

static int power_meter_after(struct host *h, struct record *r, struct err *err)
{
    struct power_meter *w = probe_data(h, &probe_power_meter);
    (void)err;
    if (w && w->begun && w->aside.work.pid) {
        power_meter_emit(w, h, r);
        child_work_deinit(&w->aside.work);
    }
    return 0;
}

static void power_meter_drop(void *kept)
{
    struct power_meter *w = kept;
    if (w->aside.work.pid)
        child_work_deinit(&w->aside.work);
    child_work_reap(&w->aside.work, PROBE_REAP_MS);
}

const struct probe probe_power_meter = {
    .name = "power_meter",
    .summary = "power of the node by the command of --power-command, else by the kernel's power meters (hwmon)",
    .sample = power_meter_sample,
    .after = power_meter_after,
    .keeps = sizeof(struct power_meter),
    .drop = power_meter_drop,
};
