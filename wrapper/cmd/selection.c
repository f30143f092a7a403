/* selection.c: reads the options that choose runs. */
#include "cmd/selection.h"

#include "base/clock.h"
#include "benchmarks/rules.h"

#include <math.h>

struct runs_place selection_place(const struct cmd_context *c)
{
    const struct opt_value *tree = opt_find(&c->opts, OPTION_TREE), *ref = opt_find(&c->opts, OPTION_REF);
    return (struct runs_place){.tree = tree ? tree->text : NULL, .ref = ref ? ref->text : NULL, .env = c->env, .notes = c->notes};
}

int selection_open(struct runs *ret, struct cmd_context *c, struct err *err)
{
    const struct runs_place place = selection_place(c);
    return runs_open(ret, &place, c->arena, err);
}

int selection_open_for(struct runs *ret, struct cmd_context *c, char *const *operands, int count, struct err *err)
{
    const struct runs_place place = selection_place(c);
    return runs_open_for(ret, &place, operands, count, c->arena, err);
}

int selection_filter(const struct cmd_context *c, struct runs_filter *ret)
{
    const struct opt_value *experiment = opt_find(&c->opts, OPTION_EXPERIMENT), *status = opt_find(&c->opts, OPTION_STATUS);
    const char *query = opt_text(&c->opts, OPTION_FILTER);
    *ret = (struct runs_filter){
        .experiment = experiment ? experiment->text : NULL, .status = status ? status->text : NULL, .tags = opt_find(&c->opts, OPTION_TAG)};
    return query ? filter_parse(query, c->arena, &ret->query, c->err) : 0;
}

bool selection_given(const struct cmd_context *c)
{
    return opt_text(&c->opts, OPTION_EXPERIMENT) || opt_text(&c->opts, OPTION_STATUS) || opt_text(&c->opts, OPTION_TAG) ||
           opt_text(&c->opts, OPTION_FILTER);
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
