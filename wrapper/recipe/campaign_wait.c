/* campaign_wait.c: wait for signals, processes and answers. After a signal every wait ends in time, whatever does not answer. */
#include "base/clock.h"
#include "recipe/campaign_alerts.h"
#include "recipe/campaign_beats.h"
#include "recipe/campaign_monitor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { POLL_MAX = 4096, BEAT_S = 60, TURN_MS = 100, QUERY_TURN_MS = 50, TEARDOWN_MORE_MS = 2000 };

/* ---- the end of the campaign ---- */

/* Calls for the keeper of each process of the campaign. */
static void each_keeper(struct campaign *c, void (*call)(struct keeper *k))
{
    call(&c->client.keeper);
    for (size_t i = 0; i < c->other_count; i++)
        call(&c->others[i].keeper);
    for (size_t i = 0; i < c->recipe->role_count; i++)
        for (size_t k = 0; k < c->services[i].process_count; k++)
            call(&c->services[i].processes[k].keeper);
}

void campaign_cancel(struct campaign *c, int number)
{
    int64_t more = clock_mono_ns() + TEARDOWN_MORE_MS * INT64_C(1000000);
    each_keeper(c, c->signal ? keeper_hurry : keeper_stop);
    if (!c->signal) {
        c->signal = number;
        c->end_ns = more + (int64_t)(c->grace_s * 1e9);
        campaign_beats_stop(c);
        campaign_monitor_stop(&c->monitor);
    } else if (more < c->end_ns)
        c->end_ns = more;
}

int campaign_left_ms(const struct campaign *c, enum campaign_stage stage, int64_t until_ns)
{
    enum { MOST_MS = 3600000 };
    static const int earlier_ms[] = {[CAMPAIGN_PROCESSES] = 1000, [CAMPAIGN_STEPS] = 500, [CAMPAIGN_LOGS] = 0};
    int64_t end = c->signal ? c->end_ns - earlier_ms[stage] * INT64_C(1000000) : INT64_MAX;
    int64_t left = ((end < until_ns ? end : until_ns) - clock_mono_ns()) / 1000000;
    return left < 0 ? 0 : left > MOST_MS ? MOST_MS : (int)left;
}

static void read_campaign_signals(struct campaign *c)
{
    struct signalfd_siginfo info;
    while (read(c->signals, &info, sizeof info) == (ssize_t)sizeof info)
        campaign_cancel(c, (int)info.ssi_signo);
}

/* ---- waiting ---- */

static size_t poll_add(struct pollfd *list, size_t n, struct keeper *k)
{
    if (k->work.fd >= 0 && n < POLL_MAX)
        list[n++] = (struct pollfd){k->work.fd, POLLIN, 0};
    return n;
}

static void poll_keeper(struct keeper *k)
{
    if (k->work.pid > 0)
        keeper_poll(k);
}

void campaign_wait(struct campaign *c, int ms)
{
    static struct pollfd list[POLL_MAX + 1];
    size_t n = 1;
    list[0] = (struct pollfd){c->signals, POLLIN, 0};
    n = poll_add(list, n, &c->client.keeper);
    for (size_t i = 0; i < c->other_count; i++)
        n = poll_add(list, n, &c->others[i].keeper);
    for (size_t i = 0; i < c->recipe->role_count; i++)
        for (size_t k = 0; k < c->services[i].process_count; k++)
            n = poll_add(list, n, &c->services[i].processes[k].keeper);
    poll(list, n, ms);
    read_campaign_signals(c);
    each_keeper(c, poll_keeper);
    campaign_alerts_poll(c);
    if (clock_mono_ns() >= c->next_beat_ns) {
        c->next_beat_ns = clock_mono_ns() + BEAT_S * INT64_C(1000000000);
        if (c->repeat.recorded)
            repeat_write_heartbeat(&c->repeat);
    }
}

int64_t campaign_grace_end(const struct campaign *c, int more_ms)
{
    return clock_mono_ns() + (int64_t)(c->grace_s * 1e9) + more_ms * INT64_C(1000000);
}

bool campaign_end_keeper(struct campaign *c, struct keeper *k, int64_t until_ns)
{
    keeper_stop(k);
    for (int left; k->work.pid > 0 && !keeper_poll(k) && (left = campaign_left_ms(c, CAMPAIGN_PROCESSES, until_ns)) > 0;)
        campaign_wait(c, left < TURN_MS ? left : TURN_MS);
    return keeper_close(k);
}

enum query_end campaign_query_wait(struct campaign *c, struct query *q, int limit_ms)
{
    bool is_ending = c->signal; /* the query is part of the tear-down */
    int64_t until = clock_mono_ns() + limit_ms * INT64_C(1000000);
    for (int left; (left = campaign_left_ms(c, CAMPAIGN_STEPS, until)) > 0;) {
        if (query_wait(q, left < QUERY_TURN_MS ? left : QUERY_TURN_MS) != QUERY_RUNS)
            break;
        campaign_wait(c, 0);
        if (!is_ending && campaign_beats_cancelled(c))
            break;
    }
    return q->end;
}
