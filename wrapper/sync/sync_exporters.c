/* sync_exporters.c: deliver to exporters what waits in the spools of a plan. */
#include "sync/sync_exporters.h"

#include "base/clock.h"

#include <string.h>

/* Lists the spools, without duplicates. Returns how many. */
static size_t spools_of(const struct plan *p, const char *ret[2])
{
    size_t n = 0;
    if (p->spool)
        ret[n++] = p->spool;
    if (p->spool_fallback && (n == 0 || strcmp(p->spool, p->spool_fallback) != 0))
        ret[n++] = p->spool_fallback;
    return n;
}

/* Adds the counts of one exporter to the sum. The message of a failure replaces one that is no
 * failure. */
static void exporter_add_outcome(struct exporter_outcome *to, const struct exporter_outcome *one)
{
    to->sent += one->sent;
    to->dead += one->dead;
    to->dropped += one->dropped;
    to->pending += one->pending;
    to->letters += one->letters;
    to->busy |= one->busy;
    to->waits |= one->waits;
    if (one->why[0] && (one->failed || !to->failed))
        memcpy(to->why, one->why, sizeof to->why);
    to->failed |= one->failed;
}

void sync_exporter(const struct plan *p, const struct exporter_config *c, char *const *env, int cancel_fd, struct exporter_outcome *ret)
{
    const char *spools[2];
    size_t n = spools_of(p, spools);
    *ret = (struct exporter_outcome){.sent = 0};
    for (size_t i = 0; i < n; i++) {
        struct exporter_outcome one;
        struct exporter_pass pass = {.config = c,
                                     .spool = spools[i],
                                     .env = env,
                                     .until_ns = clock_mono_ns() + SYNC_EXPORTERS_S * INT64_C(1000000000),
                                     .cancel_fd = cancel_fd,
                                     .patient = true};
        do { /* as long as it continues */
            exporter_deliver(&pass, &one);
            exporter_add_outcome(ret, &(struct exporter_outcome){.sent = one.sent, .dead = one.dead, .dropped = one.dropped});
            pass.until_ns = clock_mono_ns() + SYNC_EXPORTERS_S * INT64_C(1000000000);
        } while (one.sent && one.pending && !one.failed && !one.busy && !one.waits);
        one.sent = one.dead = one.dropped = 0;
        exporter_add_outcome(ret, &one);
    }
}

void sync_exporter_count(const struct plan *p, const struct exporter_config *c, struct exporter_outcome *ret,
                         struct exporter_state *ret_state)
{
    const char *spools[2];
    size_t n = spools_of(p, spools);
    *ret = (struct exporter_outcome){.sent = 0};
    for (size_t i = 0; i < n; i++) {
        struct exporter_outcome one;
        struct exporter_state state;
        exporter_pass_count(&(struct exporter_pass){.config = c, .spool = spools[i]}, &one, &state);
        exporter_add_outcome(ret, &one);
        if (i == 0) {
            *ret_state = state;
            continue;
        }
        ret_state->sent += state.sent;
        ret_state->dropped += state.dropped;
        if (state.failures && !ret_state->failures) {
            state.sent = ret_state->sent;
            state.dropped = ret_state->dropped;
            *ret_state = state;
        }
    }
}
