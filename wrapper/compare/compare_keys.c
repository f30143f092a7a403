/* compare_keys.c: the comparison keys of groups of runs. */
#include "compare/compare_keys.h"

#include "base/json_out.h"
#include "runs/inherit.h"

#include <string.h>

/* Returns whether one thing is measured in the group and in the first one. first: the group's index
 * among the keys. */
static bool is_one_measurement(const struct compared_keys *keys, size_t first, const struct compare_group *base,
                               const struct compare_group *group)
{
    for (size_t i = 1; i < base->count; i++)
        if (!comparison_key_same(&keys->list[0], &keys->list[i], COMPARISON_MEASURED))
            return false;
    for (size_t i = 0; i < group->count; i++)
        if (!comparison_key_same(&keys->list[0], &keys->list[first + i], COMPARISON_MEASURED))
            return false;
    return true;
}

/* ---- what the user names besides by its key ---- */

/* Returns whether two texts are one quantity: the same word, number, size ("4k", 4096) or duration
 * ("1.5s", 1.5). */
static bool is_one_quantity(struct str x, struct str y)
{
    double a, b;
    uint64_t m, n;
    return str_eq(x, y) || (str_double(x, &a) && str_double(y, &b) && a == b) || (str_size(x, &m) && str_size(y, &n) && m == n) ||
           (str_duration(x, &a) && str_duration(y, &b) && a == b);
}

/* Returns whether every run has one value under both keys. Then who names the one names the other:
 * --by bs, of "fio --bs={bs}", and block_size_B. */
static bool is_named_twice(const struct compared_keys *keys, const struct compare_group *groups, size_t count, const char *axis,
                           const char *name)
{
    size_t at = 0;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++, at++) {
            const struct tree_run *run = groups[g].members[i].run;
            const struct tree_entry *e = runs_entry(run->params, axis), *tag = e ? e : runs_entry(run->tags, axis);
            struct str value = comparison_key_value(&keys->list[at], name);
            if (!tag || !value.p || !is_one_quantity(tag->value, value))
                return false;
        }
    return true;
}

/* Adds `name` in front of the facts that the user leaves out. False: out of memory. */
static bool leave_out(const struct opt_value **ignore, const char *name, struct arena *a)
{
    struct opt_value *v = ARENA_NEW(a, struct opt_value);
    if (!v)
        return false;
    *v = (struct opt_value){.text = name, .next = (struct opt_value *)*ignore};
    *ignore = v;
    return true;
}

/* Leaves out swept axes: a swept axis is named by the user, as --by is. Returns false when out of
 * memory. */
static bool leave_out_axes(const struct runs *runs, const struct compare_group *groups, size_t count, const char **names,
                           const struct opt_value **ignore, struct arena *a)
{
    for (; *names; names++) {
        bool swept = false;
        for (size_t g = 0; g < count && !swept; g++)
            swept = inherit_is_swept(runs, groups[g].members[0].run, *names, a);
        if (swept && !leave_out(ignore, *names, a))
            return false;
    }
    return true;
}

/* Extends `ignore` by swept axes and by what repeats one of them, or `by`, under another key. True: it has grown. */
static int leave_out_repeated(const struct runs *runs, const struct compared_keys *keys, const struct compare_group *groups, size_t count,
                              const struct opt_value **ignore, struct arena *a)
{
    const struct opt_value *before = *ignore;
    const char **names = keys->differing[COMPARISON_MEASURED];
    if (!leave_out_axes(runs, groups, count, names, ignore, a))
        return -1;
    for (; *names; names++)
        for (const struct opt_value *axis = *ignore; axis && axis->text; axis = axis->next)
            if (strcmp(axis->text, *names) != 0 && is_named_twice(keys, groups, count, axis->text, *names)) {
                if (!leave_out(ignore, *names, a))
                    return -1;
                break;
            }
    return *ignore != before;
}

/* Reads the key of each member, and what differs. */
static int read_keys(const struct runs *runs, const struct compare_group *groups, size_t count, const struct opt_value *ignore,
                     struct arena *a, struct compared_keys *ret, struct err *err)
{
    struct comparison_reader reader;
    size_t n = 0;
    int status = 0;
    struct comparison_key *list = arena_get(a, (ret->count + 1) * sizeof *list);
    if (!list)
        return err_memory(err, "the keys of %zu runs", ret->count);
    comparison_open(&reader, runs, NULL, ignore);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count && status == 0; i++)
            status = comparison_key_of(&reader, groups[g].members[i].run, groups[g].members[i].detail, a, &list[n++], err);
    comparison_close(&reader);
    if (status < 0)
        return -1;
    ret->list = list;
    for (enum comparison_part part = 0; part < COMPARISON_PARTS; part++)
        if (!(ret->differing[part] = comparison_key_difference(list, n, part, a)))
            return err_memory(err, "the keys of %zu runs", n);
    return 0;
}

int compare_keys_read(const struct runs *runs, const struct compare_group *groups, size_t count, const char *by,
                      const struct opt_value *ignore, struct compared_metric *metrics, struct arena *a, struct compared_keys *ret,
                      struct err *err)
{
    struct opt_value named = {.text = by, .next = (struct opt_value *)ignore};
    const struct opt_value *left_out = by ? &named : ignore;
    *ret = (struct compared_keys){0};
    for (size_t g = 0; g < count; g++)
        ret->count += groups[g].count;
    int grown = read_keys(runs, groups, count, left_out, a, ret, err);
    if (grown == 0)
        grown = leave_out_repeated(runs, ret, groups, count, &left_out, a);
    if (grown < 0 || (grown && read_keys(runs, groups, count, left_out, a, ret, err) < 0))
        return a->failed ? err_memory(err, "the keys of %zu runs", ret->count) : -1;
    ret->left_out = comparison_left_out(left_out, a);
    size_t n = 0;
    for (size_t g = 0; g < count; n += groups[g++].count)
        if (!is_one_measurement(ret, n, &groups[0], &groups[g]))
            for (struct compared_metric *m = metrics; m; m = m->next)
                m->sides[g].other_inputs = g > 0;
    return 0;
}

bool compare_add_arguments(const struct runs *runs, const struct compare_group *groups, size_t count, struct arena *a)
{
    struct compare_arguments args;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            if (!json_count(json_pointer(groups[g].members[i].detail, "/run/argv")))
                return false;
    arguments_open(&args, runs);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            const struct compare_member *m = &groups[g].members[i];
            struct tree_entry **at = &m->run->params;
            while (*at)
                at = &(*at)->next;
            *at = arguments_params(&args, m->run, m->detail, a);
        }
    arguments_close(&args);
    return true;
}

/* ---- printing ---- */

/* Appends the values of a fact in a group: one text, "several", or "none". */
static void put_fact_value(const struct comparison_key *keys, size_t n, const char *name, struct buf *to)
{
    struct str first = comparison_key_value(&keys[0], name);
    for (size_t i = 1; i < n; i++) {
        struct str value = comparison_key_value(&keys[i], name);
        if (!value.p != !first.p || (value.p && !str_eq(value, first))) {
            buf_puts(to, "several");
            return;
        }
    }
    if (first.p)
        buf_plain(to, first, 40);
    else
        buf_puts(to, "none");
}

/* Appends "site (A a, B b), cluster (A x, B y) and 2 more". */
static void put_differing(const struct compared_keys *keys, enum comparison_part part, const struct compare_group *groups, size_t count,
                          struct buf *to)
{
    enum { NAMED_MAX = 4, VALUES_MAX = 4 /* groups whose values are named */ };
    const char **names = keys->differing[part];
    size_t n = 0;
    for (; names[n]; n++) {
        if (n >= NAMED_MAX)
            continue;
        buf_puts(to, n ? ", " : "");
        buf_plain(to, str_of(names[n]), 100);
        size_t first = 0;
        bool with_values = part != COMPARISON_MEASURED && count <= VALUES_MAX; /* those of inputs are in a table */
        for (size_t g = 0; g < count && with_values; first += groups[g++].count) {
            buf_printf(to, "%s%c ", g ? ", " : " (", (char)('A' + g));
            put_fact_value(keys->list + first, groups[g].count, names[n], to);
        }
        buf_puts(to, with_values ? ")" : "");
    }
    if (n > NAMED_MAX)
        buf_printf(to, " and %zu more", n - NAMED_MAX);
}

/* Appends in which inputs the groups differ, without those that the user named. Where they are the
 * same, appends that only with keys->left_out, or with `all`, which adds the key. */
static void show_inputs(const struct compared_keys *keys, const struct compare_group *groups, size_t count, bool all, struct buf *to)
{
    bool differ = keys->differing[COMPARISON_MEASURED][0] != NULL;
    if (!differ && !all && !keys->left_out)
        return;
    if (keys->left_out)
        buf_printf(to, "Except for %s %s", keys->left_out, differ ? "the inputs differ in " : "the inputs are the same");
    else
        buf_puts(to, differ ? "The inputs differ in " : "The same inputs");
    if (differ) {
        put_differing(keys, COMPARISON_MEASURED, groups, count, to);
        buf_puts(to, ": no verdict there");
    } else if (all) {
        buf_printf(to, " (key %s)", keys->list[0].id[COMPARISON_MEASURED]);
    }
    buf_puts(to, ". ");
}

/* Appends in what the systems differ; all: also that they are the same, with the key. */
static void show_system(const struct compared_keys *keys, const struct compare_group *groups, size_t count, bool all, struct buf *to)
{
    enum { NAMED_MAX = 4 };
    if (keys->differing[COMPARISON_SYSTEM][0]) {
        buf_puts(to, "Different systems: they differ in ");
        put_differing(keys, COMPARISON_SYSTEM, groups, count, to);
        buf_putc(to, '.');
        return;
    }
    if (!all)
        return;
    buf_printf(to, "System: the same (key %s", keys->list[0].id[COMPARISON_SYSTEM]);
    size_t begin = to->n;
    buf_puts(to, ": ");
    comparison_key_show(&keys->list[0], COMPARISON_SYSTEM, NAMED_MAX, to);
    if (to->n == begin + 2)
        to->n = begin;
    buf_puts(to, ").");
}

void compare_keys_show(const struct compared_keys *keys, const struct compare_group *groups, size_t count, bool all, struct buf *to)
{
    show_inputs(keys, groups, count, all, to);
    show_system(keys, groups, count, all, to);
    while (to->n && to->p[to->n - 1] == ' ')
        to->n--;
}

void compare_keys_hint(const struct compared_keys *keys, const struct compared_metric *metrics, size_t count, struct arena *a,
                       struct buf *to)
{
    bool hidden = false;
    for (const struct compared_metric *m = metrics; m; m = m->next)
        for (size_t g = 1; g < count; g++)
            hidden = hidden || (m->sides[g].other_inputs && m->sides[g].outcome >= OUTCOME_SAME);
    if (!hidden)
        return;
    const char **names = keys->differing[COMPARISON_MEASURED], *options = names[0] ? comparison_ignore_options(names, a) : NULL;
    buf_puts(to, " \"other inputs\": no verdict.");
    if (options)
        buf_printf(to, " hint: %s judges although %s.", options, names[1] ? "these differ" : "it differs");
}

void compare_keys_json(const struct compared_keys *keys, const struct compare_group *groups, size_t count, struct json_out *j,
                       struct arena *a)
{
    json_open(j, "keys", '{');
    json_text(j, "left_out", keys->left_out);
    json_open(j, "differing", '{');
    for (enum comparison_part part = 0; part < COMPARISON_PARTS; part++) {
        json_open(j, comparison_part_name(part), '[');
        for (const char **name = keys->differing[part]; *name; name++)
            json_text(j, NULL, *name);
        json_close(j, ']');
    }
    json_close(j, '}');
    json_text(j, "hidden", comparison_key_hidden(keys->list, keys->count, a));
    json_open(j, "groups", '[');
    size_t first = 0;
    for (size_t g = 0; g < count; first += groups[g++].count) {
        json_open(j, NULL, '{');
        comparison_key_json(&keys->list[first], j);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}
