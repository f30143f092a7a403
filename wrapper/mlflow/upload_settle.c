/* upload_settle.c: the duplicates of many runs, searched together: one question for all that were completed in a second or two. */
#include "base/clock.h"
#include "mlflow/upload_parts.h"

#include <stdio.h>

enum { WAIT_NS = 2000000000 };

bool upload_may_wait(const struct upload *u, const struct upload_place *p)
{
    return u->config.together && !u->careful && !p->lost && !p->doubled && u->unsettled_count < UPLOAD_TOGETHER;
}

void upload_wait(struct upload *u, struct upload_experiment *e, const char *id, int64_t start_ms, const struct upload_state *state)
{
    struct upload_unsettled *w = &u->unsettled[u->unsettled_count];
    if (!u->unsettled_count++)
        u->unsettled_ns = clock_mono_ns();
    *w = (struct upload_unsettled){.experiment = e, .start_ms = start_ms, .state = *state};
    snprintf(w->id, sizeof w->id, "%s", id);
}

bool upload_settle_due(const struct upload *u)
{
    return u->unsettled_count == UPLOAD_TOGETHER || (u->unsettled_count && clock_mono_ns() - u->unsettled_ns > WAIT_NS);
}

bool upload_is_unsettled(const struct upload *u, const char *id)
{
    for (size_t i = 0; i < u->unsettled_count; i++)
        if (strcmp(u->unsettled[i].id, id) == 0)
            return true;
    return false;
}

/* Sets *ret to false if another of this user's runs in the experiment began in the same time. A
 * duplicate begins when its original does. Runs that were sent before may have begun then too, so
 * false only means that each needs its own request. */
static enum mlflow_answer are_alone(struct upload *u, const struct upload_experiment *e, bool *ret, struct err *err)
{
    struct buf ids CLEANUP_BUF, filter CLEANUP_BUF;
    int64_t first = INT64_MAX, last = INT64_MIN;
    bool others = false;
    buf_init(&ids, 64 << 10);
    buf_init(&filter, 64 << 10);
    for (size_t i = 0; i < u->unsettled_count; i++) {
        const struct upload_unsettled *w = &u->unsettled[i];
        if (w->experiment != e)
            continue;
        first = w->start_ms < first ? w->start_ms : first;
        last = w->start_ms > last ? w->start_ms : last;
        buf_printf(&ids, "%s'%s'", ids.n ? "," : "", w->state.server_id);
    }
    buf_printf(&filter,
               "tags.`" UPLOAD_TAG_ID
               "` LIKE '%%' and attributes.start_time >= %lld and attributes.start_time <= %lld and attributes.run_id NOT IN (%s)",
               (long long)first, (long long)last, ids.p);
    enum mlflow_answer answer = mlflow_run_search_pages(u->m, e->id, filter.p, false, 1, upload_one_is_enough, &others, err);
    *ret = answer == MLFLOW_FINE && !others;
    if (answer == MLFLOW_REFUSED)
        u->config.together = false; /* a server that does not know such a question */
    return answer == MLFLOW_REFUSED ? MLFLOW_FINE : answer;
}

/* Determines for each run that waits whether it has no duplicate, by one request for all of its
 * experiment. */
static enum mlflow_answer ask_together(struct upload *u, bool alone[UPLOAD_TOGETHER], struct err *err)
{
    enum mlflow_answer answer = MLFLOW_FINE;
    for (size_t i = 0; i < u->unsettled_count && answer == MLFLOW_FINE; i++) {
        size_t same = 0;
        while (u->unsettled[same].experiment != u->unsettled[i].experiment)
            same++;
        if (same == i)
            answer = are_alone(u, u->unsettled[i].experiment, &alone[i], err);
        else
            alone[i] = alone[same];
    }
    return answer;
}

enum mlflow_answer upload_settle_all(struct upload *u, void (*again)(void *context, const char *id), void *context, size_t *ret_left,
                                     struct err *err)
{
    bool alone[UPLOAD_TOGETHER] = {false};
    size_t n = u->unsettled_count;
    enum mlflow_answer answer = mlflow_settle(u->m, err);
    *ret_left = n;
    if (answer != MLFLOW_FINE)
        memset(u->recent, 0, sizeof u->recent); /* what was made since may be lost */
    else if (n > 1)
        answer = ask_together(u, alone, err);
    for (size_t i = 0; i < n; i++) {
        const struct upload_unsettled *w = &u->unsettled[i];
        if (answer == MLFLOW_FINE && !alone[i])
            answer = upload_is_alone(u, w->experiment, w->id, w->state.server_id, &alone[i], err);
        if (answer != MLFLOW_FINE)
            break;
        --*ret_left;
        if (alone[i])
            upload_state_write(u, w->id, &w->state);
        else {
            u->careful = true; /* others are at work: nothing waits from now on, so that this list stays what it is */
            again(context, w->id);
        }
    }
    u->unsettled_count = 0;
    return answer;
}
