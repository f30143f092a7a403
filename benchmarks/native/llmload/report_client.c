/* report_client.c: was the client itself the bottleneck? Reported in one way, in the table, in
 * JSON and to the recorder. */
#include "benchmarks/native/llmload/report_parts.h"

#include <math.h>

static double share_of(uint64_t n, uint64_t all)
{
    return all ? (double)n / (double)all : 0;
}

void report_client(struct client_lateness *ret, const struct outcome *o)
{
    const struct metrics *m = &o->m;
    const double shares[CLIENT_SIGNS] = {
        [CLIENT_FIRST] = share_of(m->first_unknown, m->h[METRIC_TTFT].n + m->first_unknown),
        [CLIENT_LAST] = share_of(m->last_unknown, m->h[METRIC_E2EL].n + m->last_unknown),
        [CLIENT_GAPS] = share_of(m->itl_late, m->h[METRIC_ITL].n + m->h[METRIC_ITL].open),
        [CLIENT_READS] = share_of(m->reads_late, m->reads),
        [CLIENT_SENDS] = share_of(m->sends_late, m->scheduled),
        [CLIENT_STEAL] = o->steal_percent / 100,
    };
    *ret = (struct client_lateness){.waited = o->wall_s > 0 && o->threads ? (double)m->queued_ns / 1e9 / o->wall_s / o->threads : 0};
    for (int i = 0; i < CLIENT_SIGNS; i++) {
        ret->share[i] = shares[i];
        ret->is_late |= shares[i] > CLIENT_LATE_SHARE;
    }
}

void report_client_say(const struct client_lateness *c, struct buf *to)
{
    static const char *const says[CLIENT_SIGNS] = {
        [CLIENT_FIRST] = "of the first tokens have no exact time and are left out",
        [CLIENT_LAST] = "of the last tokens have no exact time and are left out",
        [CLIENT_GAPS] = "of the gaps have no exact length because of late reads, and are left out",
        [CLIENT_READS] = "of the reads came more than 10 ms after their bytes",
        [CLIENT_SENDS] = "of the requests were sent more than 10 ms late",
        [CLIENT_STEAL] = "of the time the hypervisor withheld (steal), times are too long",
    };
    const char *before = ": ";
    buf_puts(to, "the client was the bottleneck");
    for (int i = 0; i < CLIENT_SIGNS; i++)
        if (c->share[i] > CLIENT_LATE_SHARE) {
            buf_printf(to, "%s%.3g %% %s", before, 100 * c->share[i], says[i]);
            before = "; ";
        }
    if (c->waited > CLIENT_LATE_SHARE)
        buf_printf(to, "; its threads waited %.3g %% of their time for a processor, which other processes or threads used",
                   100 * c->waited);
    else if (c->share[CLIENT_STEAL] <= CLIENT_LATE_SHARE)
        buf_puts(to, "; possible reasons: other processes, the limit of a control group, or a stop of the process");
}
