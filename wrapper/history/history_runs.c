/* history_runs.c: choose the runs of a history, and group them by comparison key. */
#include "base/array.h"
#include "base/clock.h"
#include "history/history.h"
#include "runs/inherit.h"

#include <stdlib.h>
#include <string.h>

/* ---- which runs ---- */

static int by_content(const void *a, const void *b)
{
    const struct facts_run *const *x = a, *const *y = b;
    if ((*x)->content != (*y)->content)
        return (*x)->content < (*y)->content ? -1 : 1;
    return strcmp((*x)->run->id, (*y)->run->id);
}

static int by_oldest(const void *a, const void *b)
{
    const struct facts_run *const *x = a, *const *y = b;
    if ((*x)->run->start_ms != (*y)->run->start_ms)
        return (*x)->run->start_ms < (*y)->run->start_ms ? -1 : 1;
    return strcmp((*x)->run->id, (*y)->run->id);
}

bool history_is_ahead(const struct facts_run *r)
{
    enum { AHEAD_MS = 5 * 60 * 1000 };
    return r->run->start_ms > clock_wall_ms() + AHEAD_MS;
}

/* Chooses the runs that count, oldest first, and counts the others in h. Returns how many. */
static size_t choose_history_runs(struct history *h, bool sweeps, const struct facts_run **list)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < h->facts.count; i++) {
        const struct facts_run *r = &h->facts.runs[i];
        bool ahead = history_is_ahead(r), damaged = r->run->problem != NULL, failed = r->run->status != RUN_FINISHED;
        if (r->is_warmup || r->is_annotation || r->in_parent || r->is_sweep != sweeps)
            continue;
        h->damaged += damaged;
        h->failed += failed && !damaged;
        h->ahead += ahead && !damaged && !failed;
        if (!ahead && !damaged && !failed)
            list[n++] = r;
    }
    qsort(list, n, sizeof *list, by_content);
    for (size_t i = 0; i < n; i++)
        if (!kept || list[kept - 1]->content != list[i]->content)
            list[kept++] = list[i];
    h->copies = n - kept;
    qsort(list, kept, sizeof *list, by_oldest);
    return kept;
}

/* ---- groups ---- */

struct grouping {
    const struct history_request *asked;
    struct runs *runs;
    struct comparison_reader reader;
    struct history *h;
    size_t capacity;
    struct same_inputs { /* runs of one hash of inputs in one experiment: the key is read of the first alone */
        uint64_t inputs, experiment;
        size_t group;
    } * seen;
    size_t seen_count; /* slots, a power of two */
    struct arena *a;
};

/* Reads the comparison key of a run. 1: the run was deleted since the listing. */
static int read_group_key(struct grouping *g, const struct tree_run *run, struct comparison_key *ret, struct err *err)
{
    struct tree_run *full = NULL;
    const char *problem = NULL;
    int got = runs_find_listed(g->runs, run, TREE_PARAMS | TREE_TAGS, g->a, &full, err);
    if (got)
        return got;
    inherit_params(g->runs, full, g->a);
    struct json *detail = runs_detail(g->runs, full, &problem, g->a);
    int status = comparison_key_of(&g->reader, full, detail, g->a, ret, err);
    json_free(detail);
    return status;
}

/* Finds the group with the run's experiment and comparison key, or adds one; *ret is its index.
 * Returns 1 when the run was deleted since the listing, -1 with err. */
static int group_of_key(struct grouping *g, const struct facts_run *r, size_t *ret, struct err *err)
{
    struct comparison_key key;
    int got = read_group_key(g, r->run, &key, err);
    if (got)
        return got;
    for (*ret = 0; *ret < g->h->group_count; ++*ret) {
        const struct history_group *is = &g->h->groups[*ret];
        if (strcmp(is->experiment, r->run->experiment) == 0 && comparison_key_shared(&is->key, &key))
            return 0;
    }
    if (!ARRAY_FITS_IN(g->a, g->h->groups, g->capacity, g->h->group_count + 1))
        return err_memory(err, "the history of runs");
    g->h->groups[g->h->group_count++] = (struct history_group){.key = key, .experiment = r->run->experiment};
    return 0;
}

/* Finds the run's group as group_of_key does, but reads the key once for runs with the same hash of
 * inputs and the same experiment. Returns what group_of_key returns. */
static int history_group_of(struct grouping *g, const struct facts_run *r, size_t *ret, struct err *err)
{
    size_t at = (r->inputs ^ r->run->experiment_id * UINT64_C(0x9e3779b97f4a7c15)) & (g->seen_count - 1);
    for (; g->seen[at].group; at = (at + 1) & (g->seen_count - 1))
        if (g->seen[at].inputs == r->inputs && g->seen[at].experiment == r->run->experiment_id) {
            *ret = g->seen[at].group - 1;
            return 0;
        }
    int got = group_of_key(g, r, ret, err);
    if (got)
        return got;
    g->seen[at] = (struct same_inputs){r->inputs, r->run->experiment_id, *ret + 1};
    return 0;
}

static int by_most_runs(const void *a, const void *b)
{
    const struct history_group *x = a, *y = b;
    if (x->member_count != y->member_count)
        return x->member_count > y->member_count ? -1 : 1;
    int order = 0;
    for (enum comparison_part part = 0; part < COMPARISON_PARTS && !order; part++)
        order = strcmp(x->key.id[part], y->key.id[part]);
    return order;
}

/* Divides the runs among groups by experiment and comparison key; a run that was deleted since the
 * listing gets none. Returns -1 with err. */
static int group_runs(struct grouping *g, const struct facts_run **list, size_t n, struct err *err)
{
    for (g->seen_count = 16; g->seen_count < 2 * n;)
        g->seen_count *= 2;
    g->seen = arena_get(g->a, g->seen_count * sizeof *g->seen);
    if (!g->seen)
        return err_memory(err, "the history of runs");
    comparison_open(&g->reader, g->runs, g->asked->rules, g->asked->ignore);
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        size_t at;
        int got = history_group_of(g, list[i], &at, err);
        struct history_group *to = got ? NULL : &g->h->groups[at];
        status = got < 0 ? -1 : 0;
        if (to && !ARRAY_FITS(to->members, to->member_capacity, to->member_count + 1))
            status = err_memory(err, "the history of runs");
        else if (to)
            to->members[to->member_count++] = list[i];
    }
    comparison_close(&g->reader);
    return status;
}

int history_group_runs(const struct history_request *asked, struct runs *runs, struct history *ret, struct err *err)
{
    struct grouping g = {.asked = asked, .runs = runs, .h = ret, .a = asked->arena};
    const struct facts_run **list = arena_get(asked->arena, (runs->count + 1) * sizeof *list);
    *ret = (struct history){0};
    if (!list)
        return err_memory(err, "the history of runs");
    if (run_facts_read(runs, false, asked->arena, &ret->facts, err) < 0 ||
        group_runs(&g, list, choose_history_runs(ret, asked->sweeps, list), err) < 0)
        return -1;
    if (ret->group_count)
        qsort(ret->groups, ret->group_count, sizeof *ret->groups, by_most_runs);
    return 0;
}
