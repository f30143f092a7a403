/* campaign_search.c: search the largest value that meets an objective, by halving the candidates. */
#include "base/clock.h"
#include "recipe/campaign.h"

/* Returns true if the point was compared with this objective before. */
static bool is_compared(const struct campaign *c, const struct campaign_point *p)
{
    return p && p->outcome != OUTCOME_NEVER_RAN && p->outcome != OUTCOME_CANCELLED && strcmp(p->objective, c->recipe->search.text) == 0;
}

/* Did every run of the point that counts meet the objective? A point that is not valid does not. 1, 0; -1: not known. */
static int compare_point(struct campaign *c, const struct recipe_point *p, const struct campaign_point *state)
{
    bool any = false;
    for (const struct series_repetition *run = state->outcome == OUTCOME_VALID ? c->repeat.notes.first : NULL; run; run = run->next) {
        const char *unknown;
        if (run->point != p->index || !series_counts(run))
            continue;
        int truth = campaign_truth(c, c->recipe->search.condition, &p->values, run, &unknown);
        if (truth < 0)
            campaign_say(c, "search: %s is not known: %s", c->recipe->search.text, unknown);
        if (truth != 1)
            return truth;
        any = true;
    }
    if (!any && state->outcome == OUTCOME_VALID)
        campaign_say(c, "search: %s: the runs belong to an earlier record; --new measures them again", p->label);
    return any ? 1 : state->outcome == OUTCOME_VALID ? -1 : 0;
}

/* Compares a measured point, and notes it. 0; 1: not known; -1 with err. */
static int note_comparison(struct campaign *c, const struct recipe_point *p, struct err *err)
{
    struct campaign_point *state = campaign_point_find(&c->state, p->id);
    if (!state || is_compared(c, state))
        return 0;
    int met = compare_point(c, p, state);
    if (met < 0)
        return 1;
    state->objective = c->recipe->search.text;
    state->met = met;
    return campaign_note_point(&c->state, state, err);
}

/* Prints the outcome of a search and records the largest value that meets the condition as the
 * metric series.objective. `meets`, `fails`: as next_candidate sets them. */
static void report_search(struct campaign *c, size_t first, ptrdiff_t meets, size_t fails)
{
    const struct recipe_search *s = &c->recipe->search;
    const struct parameter_sweep *sweep = &c->recipe->sweep;
    struct record *r = &c->repeat.run.record;
    double value;
    if (meets < 0) {
        campaign_say(c, "search: no value of %s from %s on meets %s", s->axis, sweep_value(sweep, first, sweep->count - 1), s->text);
        return;
    }
    const char *highest = sweep_value(sweep, first + (size_t)meets, sweep->count - 1);
    if (fails < s->count)
        campaign_say(c, "search: %s=%s is the highest known to meet %s; %s does not", s->axis, highest, s->text,
                     sweep_value(sweep, first + fails, sweep->count - 1));
    else
        campaign_say(c, "search: %s=%s, the largest value, meets %s", s->axis, highest, s->text);
    r->source = "recipe";
    if (str_double(str_of(highest), &value))
        record_metric(r, "series.objective", value, "", DIR_HIGHER, (int64_t)(first / s->count), clock_wall_ms());
    r->source = "recorder";
}

/* The next candidate of the search whose points begin at `first`; false: it has ended. *ret_meets:
 * the largest index known to meet the objective, -1: none; *ret_fails: the smallest one known not
 * to. */
static bool next_candidate(const struct campaign *c, size_t first, size_t *ret_index, ptrdiff_t *ret_meets, size_t *ret_fails)
{
    *ret_meets = -1;
    *ret_fails = c->recipe->search.count;
    while (*ret_fails > (size_t)(*ret_meets + 1)) {
        size_t middle = (size_t)(*ret_meets + 1) + (*ret_fails - (size_t)(*ret_meets + 1)) / 2;
        const struct campaign_point *state = campaign_point_find(&c->state, c->planned.points[first + middle].id);
        *ret_index = middle;
        if (!is_compared(c, state))
            return true;
        if (state->met)
            *ret_meets = (ptrdiff_t)middle;
        else
            *ret_fails = middle;
    }
    return false;
}

bool campaign_search_is_done(const struct campaign *c)
{
    ptrdiff_t meets;
    size_t index, fails;
    for (size_t first = 0; first < c->planned.count; first += c->recipe->search.count)
        if (next_candidate(c, first, &index, &meets, &fails))
            return false;
    return true;
}

int campaign_search(struct campaign *c, struct err *err)
{
    size_t number = 0, index, fails;
    ptrdiff_t meets;
    for (size_t first = 0; first < c->planned.count; first += c->recipe->search.count) {
        while (next_candidate(c, first, &index, &meets, &fails)) {
            const struct recipe_point *p = &c->planned.points[first + index];
            int rc = campaign_execute_point(c, p, ++number, err);
            if (rc || c->signal || c->is_over || c->is_partial)
                return rc;
            rc = note_comparison(c, p, err);
            if (rc)
                return rc < 0 ? -1 : 0;
        }
        report_search(c, first, meets, fails);
    }
    return 0;
}
