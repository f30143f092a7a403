/* frequency.c: at which frequency the processors run while the program does.
 *
 * Read by the sampler only, never before the program: between Linux 4.13 and 5.17 a read of
 * scaling_cur_freq can sleep for 10 ms. */
#include "probes/look.h"
#include "probes/state.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>

enum { LOOKED_AT = 4 /* processors: each read can interrupt the processor that it is about */ };

extern const struct probe probe_frequency;

/* Kept between the samples. */
struct frequency_samples {
    bool none; /* the kernel shows none: it is not read again */
    int64_t step;
};

/* Records the mean frequency of at most LOOKED_AT allowed processors. After a failure it stops,
 * with the reason in the record. */
static int frequency_sample(struct host *h, struct record *r, struct err *err)
{
    struct frequency_samples *f = probe_data(h, &probe_frequency);
    cpu_set_t allowed;
    double sum = 0;
    int found = 0, why = ENOENT;
    if (!f)
        return err_memory(err, "the frequency sampler");
    if (f->none || !h->real || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    for (int cpu = 0, looked = 0; cpu < CPU_SETSIZE && looked < LOOKED_AT; cpu++) {
        int64_t kHz;
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        looked++;
        if (look_read_int(h, &kHz, "sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu) && kHz > 0) {
            sum += (double)kHz * 1e3;
            found++;
        } else
            why = errno;
    }
    if (found)
        record_metric(r, "cpu.frequency_Hz", round(sum / found), "Hz", DIR_NONE, f->step++, 0);
    else {
        f->none = true;
        if (why == ENOENT)
            emit_missing(h, r, "cpu.frequency_Hz", "the kernel reports no current frequency here (no cpufreq; usual in virtual machines)");
        else
            emit_unreadable(h, r, "cpu.frequency_Hz", "sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq");
    }
    return 0;
}

const struct probe probe_frequency = {
    .name = "frequency",
    .summary = "frequency of the processors while the program runs",
    .sample = frequency_sample,
    .nested = true,
    .keeps = sizeof(struct frequency_samples),
};
