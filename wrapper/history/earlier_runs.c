/* earlier_runs.c: choose the runs that one run is compared with. */
#include "history/earlier_runs.h"

#include "compare/compare.h"
#include "history/history.h"
#include "runs/entry_stats.h"

#include <string.h>

/* Stores the names of what separates two runs, for a hint, where these are only arguments and the
 * program, and fewer than those that are stored. */
static void note_other_arguments(const struct comparison_key pair[2], struct arena *a, struct earlier_runs *ret)
{
    const char **names = comparison_key_separating(pair, a);
    size_t n = 0, known = 0;
    for (; names && names[n]; n++)
        if (strncmp(names[n], "argument.", strlen("argument.")) != 0 && strcmp(names[n], "program") != 0)
            return;
    while (ret->other_arguments && ret->other_arguments[known])
        known++;
    if (n && (!known || n < known))
        ret->other_arguments = names;
}

/* Returns the group with the run's key; NULL: there is none. */
static const struct history_group *own_group(const struct earlier_request *asked, const struct history *of, struct arena *a,
                                             struct earlier_runs *ret)
{
    const struct history_group *own = NULL;
    for (size_t i = 0; i < of->group_count; i++) {
        struct comparison_key pair[2] = {*asked->key, of->groups[i].key};
        if (comparison_key_shared(&pair[0], &pair[1]))
            own = &of->groups[i];
        else if (comparison_key_same(&pair[0], &pair[1], COMPARISON_SYSTEM))
            note_other_arguments(pair, a, ret);
    }
    return own;
}

static int take_newest(const struct earlier_request *asked, const struct history_group *own, struct arena *a, struct earlier_runs *ret,
                       struct err *err)
{
    size_t n = own ? own->member_count : 0;
    ret->count = n < asked->runs_max ? n : asked->runs_max;
    ret->list = arena_get(a, (ret->count + 1) * sizeof *ret->list);
    if (!ret->list)
        return err_memory(err, "the history of runs");
    for (size_t i = 0; i < ret->count; i++)
        ret->list[i] = own->members[n - 1 - i]->run;
    return 0;
}

static bool counts_as_earlier(const struct earlier_request *asked, const struct tree_run *other)
{
    return !other->problem && other->status == RUN_FINISHED && strcmp(other->id, asked->run->id) != 0 &&
           asked->may_count(asked->context, other);
}

/* history_group_runs chooses. It reads the runs' files, so that it gets only runs that share the inputs, and first as many as are needed. */
int earlier_runs_find(const struct earlier_request *asked, struct runs *runs, struct arena *a, struct earlier_runs *ret, struct err *err)
{
    const struct history_request groups = {
        .ignore = asked->ignore, .rules = asked->rules, .sweeps = entry_stats_points(asked->run) > 0, .arena = a};
    const size_t searched_max = asked->searched_max ? asked->searched_max : SIZE_MAX;
    struct runs near = *runs;
    int status = 0;
    size_t i = 0;
    *ret = (struct earlier_runs){0};
    near.count = near.gone = 0;
    near.all = arena_get(a, (runs->count + 1) * sizeof *near.all);
    if (!near.all)
        return err_memory(err, "the history of runs");
    for (size_t most = asked->runs_max; status == 0; most *= 2) {
        struct history of;
        for (; i < runs->count && near.count < most && ret->searched < searched_max; i++) {
            if (!counts_as_earlier(asked, runs->all[i]))
                continue;
            ret->searched++;
            if (inputs_shared(asked->inputs, runs, runs->all[i], a))
                near.all[near.count++] = runs->all[i];
        }
        status = history_group_runs(&groups, &near, &of, err);
        runs->gone += near.gone;
        near.gone = 0;
        const struct history_group *own = status ? NULL : own_group(asked, &of, a, ret);
        bool enough = i == runs->count || ret->searched == searched_max || (own && own->member_count >= asked->runs_max);
        if (status == 0 && enough)
            status = take_newest(asked, own, a, ret, err);
        history_close(&of);
        if (enough)
            break;
    }
    return status;
}
