/* pressure.c: how long work of the node waited for processors, memory and I/O while the program ran (pressure stall information). */
#include "base/clock.h"
#include "probes/look.h"
#include "probes/noise.h"
#include "probes/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[PRESSURES] = {"cpu", "memory", "io"};
static const double MEMORY_PERCENT = 1, SHORTEST_S = 0.05;

/* "some avg10=0.00 … total=123": microseconds since boot in which at least one task waited. */
static bool read_total(const struct host *h, size_t i, double *ret)
{
    struct look file;
    int64_t total;
    if (!look(h, &file, "proc/pressure/%s", names[i]))
        return false;
    struct str text = {file.p, file.n}, line = str_cut(&text, '\n');
    ptrdiff_t at = str_starts(line, "some ") ? str_find(line, STR("total=")) : -1;
    if (at < 0 || !str_int(str_trim(str_sub(line, (size_t)at + 6, line.n)), &total)) {
        errno = EINVAL;
        return false;
    }
    *ret = (double)total / 1e6;
    return true;
}

static int before(struct host *h, struct record *r, struct err *err)
{
    struct noise_pressure *p = &h->state->pressure;
    (void)r;
    (void)err;
    if (!h->real)
        return 0;
    p->ns = clock_mono_ns();
    for (size_t i = 0; i < PRESSURES; i++)
        p->known[i] = read_total(h, i, &p->total[i]);
    return 0;
}

static int after(struct host *h, struct record *r, struct err *err)
{
    const struct noise_pressure *p = &h->state->pressure;
    double wall = (double)(clock_mono_ns() - p->ns) / 1e9, now;
    (void)err;
    if (!h->real || !p->ns || str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"))
        return 0;
    for (size_t i = 0; i < PRESSURES; i++) {
        char key[40];
        snprintf(key, sizeof key, "pressure.%s_percent", names[i]);
        if (!p->known[i] || !read_total(h, i, &now)) {
            tell_missing(h, r, key, "the kernel tells no pressure stall information (/proc/pressure: before Linux 4.20, or psi=0)");
            continue;
        }
        if (wall < SHORTEST_S || now < p->total[i])
            continue;
        double percent = 100 * (now - p->total[i]) / wall;
        percent = percent < 100 ? percent : 100;
        record_metric(r, key, percent, "percent", DIR_LOWER, 0, 0);
        if (strcmp(names[i], "memory") == 0 && percent > MEMORY_PERCENT)
            noise_say(r, "work waited for memory %.2g %% of the time", percent);
    }
    return 0;
}

const struct probe probe_pressure = {
    .name = "pressure",
    .summary = "time that work waited for processors, memory and I/O while the program ran",
    .before = before,
    .after = after,
    .nested = true,
};
