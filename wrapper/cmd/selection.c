/* selection.c: reads the options that choose runs. */
#include "cmd/selection.h"

#include "base/clock.h"
#include "benchmarks/rules.h"

#include <math.h>
#include <string.h>

struct runs_place selection_place(const struct cmd_context *c)
{
    const struct opt_value *tree = opt_find(&c->opts, OPTION_TREE), *ref = opt_find(&c->opts, OPTION_REF);
    return (struct runs_place){.tree = tree ? tree->text : NULL, .ref = ref ? ref->text : NULL, .env = c->env, .notes = c->notes};
}

/* The option where it chooses runs: the --tag of annotate, which sets one, belongs to another group. Never NULL, as opt_find. */
static const struct opt_value *chosen_by(const struct cmd_context *c, const char *name)
{
    static const struct opt_value none;
    for (size_t i = 0; i < c->opts.count; i++)
        if (strcmp(c->opts.rows[i].name, name) == 0 && str_is(str_of(c->opts.rows[i].group), SELECTION_GROUP))
            return &c->opts.values[i];
    return &none;
}

int selection_naming_place(const struct cmd_context *c, struct runs_place *ret)
{
    struct runs_filter *filter = selection_given(c) ? ARENA_NEW(c->arena, struct runs_filter) : NULL;
    *ret = selection_place(c);
    ret->filter = filter;
    if (!selection_given(c))
        return 0;
    return filter ? selection_filter(c, filter) : err_memory(c->err, "the options that choose runs");
}

int selection_open(struct runs *ret, struct cmd_context *c, struct err *err)
{
    struct runs_place place;
    return selection_naming_place(c, &place) < 0 ? -1 : runs_open(ret, &place, c->arena, err);
}

int selection_open_for(struct runs *ret, struct cmd_context *c, char *const *operands, int count, struct err *err)
{
    struct runs_place place;
    return selection_naming_place(c, &place) < 0 ? -1 : runs_open_for(ret, &place, operands, count, c->arena, err);
}

int selection_filter(const struct cmd_context *c, struct runs_filter *ret)
{
    const char *query = chosen_by(c, OPTION_FILTER)->text;
    *ret = (struct runs_filter){
        .experiment = chosen_by(c, OPTION_EXPERIMENT)->text, .status = chosen_by(c, OPTION_STATUS)->text, .tags = chosen_by(c, OPTION_TAG)};
    return query ? filter_parse(query, c->arena, &ret->query, c->err) : 0;
}

bool selection_given(const struct cmd_context *c)
{
    static const char *const names[] = {OPTION_EXPERIMENT, OPTION_STATUS, OPTION_TAG, OPTION_FILTER};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (chosen_by(c, names[i])->text)
            return true;
    return false;
}

int selection_since(const struct cmd_context *c, int64_t *ret_ms)
{
    static const char *const formats[] = {
        "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "@%s"};
    const char *text = opt_text(&c->opts, OPTION_SINCE);
    double age;
    *ret_ms = 0;
    if (!text)
        return 0;
    if (str_duration(str_of(text), &age) && age >= 0) {
        *ret_ms = clock_wall_ms() - (int64_t)(age * 1000);
        return 0;
    }
    for (size_t i = 0; !*ret_ms && i < sizeof formats / sizeof *formats; i++)
        rules_time(str_of(text), str_of(formats[i]), ret_ms);
    return *ret_ms
               ? 0
               : err_set(c->err, ERR_USAGE,
                         "--since: expected a past time like 2026-11-20 or \"2026-11-20 17:03\", or an age like 12h or 7d, got \"%.60s\"",
                         text);
}

int selection_fraction(const struct cmd_context *c, const char *option, double *ret)
{
    struct str text = str_trim(str_of(opt_text(&c->opts, option)));
    bool percent = str_ends(text, "%");
    if (percent)
        text = str_trim(str_sub(text, 0, text.n - 1));
    if (!str_double(text, ret) || !(*ret >= 0) || !isfinite(*ret))
        return err_set(c->err, ERR_USAGE, "--%s: expected a fraction, for example 2%% or 0.02, got \"%.40s\"", option,
                       opt_text(&c->opts, option));
    *ret /= percent ? 100 : 1;
    return 0;
}
