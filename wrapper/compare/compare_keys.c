/* compare_keys.c: the comparison keys of groups of runs. */
#include "compare/compare_keys.h"

#include "base/json_out.h"

#include <string.h>

static const char *list_left_out(const char *by, const struct opt_value *ignore, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    if (by)
        buf_plain(&b, str_of(by), 100);
    for (const struct opt_value *v = ignore; v && v->text; v = v->next) {
        buf_puts(&b, b.n ? ", " : "");
        buf_plain(&b, str_of(v->text), 100);
    }
    return b.n ? arena_dup(a, b.p, b.n) : NULL;
}

/* Is one thing measured in the group and in the first one? first: the group's place among the keys. */
static bool is_one_measurement(const struct compared_keys *keys, size_t first, const struct compare_group *base, const struct compare_group *group)
{
    for (size_t i = 1; i < base->count; i++)
        if (!comparison_key_same(&keys->list[0], &keys->list[i], COMPARISON_MEASURED))
            return false;
    for (size_t i = 0; i < group->count; i++)
        if (!comparison_key_same(&keys->list[0], &keys->list[first + i], COMPARISON_MEASURED))
            return false;
    return true;
}

int compare_keys_read(const struct runs *runs, const struct compare_group *groups, size_t count, const char *by, const struct opt_value *ignore,
                      struct compared_metric *metrics, struct arena *a, struct compared_keys *ret, struct err *err)
{
    struct comparison_reader reader;
    struct opt_value named = {.text = by, .next = (struct opt_value *)ignore};
    size_t n = 0;
    int status = 0;
    *ret = (struct compared_keys){.left_out = list_left_out(by, ignore, a)};
    for (size_t g = 0; g < count; g++)
        ret->count += groups[g].count;
    struct comparison_key *list = arena_get(a, (ret->count + 1) * sizeof *list);
    if (!list)
        return err_memory(err, "the keys of %zu runs", ret->count);
    comparison_open(&reader, runs, NULL, by ? &named : ignore);
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
    n = 0;
    for (size_t g = 0; g < count; n += groups[g++].count)
        if (!is_one_measurement(ret, n, &groups[0], &groups[g]))
            for (struct compared_metric *m = metrics; m; m = m->next)
                m->sides[g].other_inputs = g > 0;
    return 0;
}

/* ---- printing ---- */

/* The values of a fact in a group: one text, "several", or "none". */
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

/* "differs in site (A a, B b), cluster (A x, B y) and 2 more" */
static void put_differing(const struct compared_keys *keys, enum comparison_part part, const struct compare_group *groups, size_t count,
                          struct buf *to)
{
    enum { NAMED_MAX = 4, VALUES_MAX = 4 /* groups whose values are named */ };
    const char **names = keys->differing[part];
    size_t n = 0;
    for (; names[n]; n++) {
        if (n >= NAMED_MAX)
            continue;
        buf_puts(to, n ? ", " : " differs in ");
        buf_plain(to, str_of(names[n]), 100);
        size_t first = 0;
        for (size_t g = 0; g < count && count <= VALUES_MAX; first += groups[g++].count) {
            buf_printf(to, "%s%c ", g ? ", " : " (", (char)('A' + g));
            put_fact_value(keys->list + first, groups[g].count, names[n], to);
        }
        buf_puts(to, count <= VALUES_MAX ? ")" : "");
    }
    if (n > NAMED_MAX)
        buf_printf(to, " and %zu more", n - NAMED_MAX);
}

void compare_keys_show(const struct compared_keys *keys, const struct compare_group *groups, size_t count, struct buf *to)
{
    enum { NAMED_MAX = 4 };
    for (enum comparison_part part = COMPARISON_MEASURED; part <= COMPARISON_SYSTEM; part++) {
        buf_printf(to, "%s%s", part ? ", " : "Key: ", comparison_part_name(part));
        if (keys->differing[part][0]) {
            put_differing(keys, part, groups, count, to);
            continue;
        }
        buf_printf(to, " %s", keys->list[0].id[part]);
        size_t begin = to->n;
        buf_puts(to, " (");
        if (part == COMPARISON_SYSTEM)
            comparison_key_show(&keys->list[0], part, NAMED_MAX, to);
        if (to->n == begin + 2)
            to->n = begin;
        else
            buf_putc(to, ')');
    }
    if (keys->left_out)
        buf_printf(to, ", without %s", keys->left_out);
    buf_putc(to, '.');
}

void compare_keys_hint(const struct compared_keys *keys, const struct compared_metric *metrics, size_t count, struct buf *to)
{
    bool hidden = false;
    for (const struct compared_metric *m = metrics; m; m = m->next)
        for (size_t g = 1; g < count; g++)
            hidden = hidden || (m->sides[g].other_inputs && m->sides[g].outcome >= OUTCOME_SAME);
    if (!hidden)
        return;
    const char *first = keys->differing[COMPARISON_MEASURED][0];
    buf_puts(to, " \"other inputs\": no verdict.");
    if (first)
        buf_printf(to, " hint: --ignore %s judges although it differs.", first);
}

void compare_keys_json(const struct compared_keys *keys, const struct compare_group *groups, size_t count, struct json_out *j)
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
