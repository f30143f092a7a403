/* history_notes.c: changes as annotations of charts; see history.h. */
#include "history/history.h"

#include "base/json_out.h"
#include "base/show.h"

#include <math.h>

enum { NOTE_BYTES = 1 << 16 };

struct notes_state {
    history_sendable *sendable;
    void *context;
    struct arena *a;
};

/* Copies the changed facts with the values that may be sent. Returns false when out of memory. */
static bool keep_sendable(const struct notes_state *s, const struct level_change *c, struct level_change *ret)
{
    *ret = *c;
    ret->changed = arena_get(s->a, (c->changed_count + 1) * sizeof *ret->changed);
    for (size_t i = 0; ret->changed && i < c->changed_count; i++) {
        struct cause_change *to = &ret->changed[i];
        *to = c->changed[i];
        to->before = to->before ? s->sendable(s->context, c->before, to->key, to->before) : NULL;
        to->after = to->after ? s->sendable(s->context, c->run, to->key, to->after) : NULL;
        if (!to->before != !c->changed[i].before || !to->after != !c->changed[i].after)
            return false;
    }
    return ret->changed != NULL;
}

/* Returns the note's text in the arena, such as "EXPERIMENT: METRIC … since run 1a2b3c4d,
 * regression, from 3 to 4". NULL: it does not fit in NOTE_BYTES, or out of memory. */
static const char *note_text(const char *experiment, const struct history_metric_series *m, const struct level_change *c, struct arena *a)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, NOTE_BYTES);
    buf_plain(&b, str_of(experiment), 200);
    buf_printf(&b, ": %s %s since run %.8s, %s", history_metric_label(m, a), history_change_words(m, c, a), c->run->id,
               level_verdict_name(c->verdict));
    if (c->is.ratio_known) {
        buf_puts(&b, ", from ");
        show_quantity(&b, c->is.before, m->key->unit);
        buf_puts(&b, " to ");
        show_quantity(&b, c->is.after, m->key->unit);
    }
    if (c->changed_count) {
        buf_puts(&b, ". Also changed: ");
        history_put_causes(c, &b);
    }
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}

static void put_note_data(struct json_out *j, const struct history_metric_series *m, const struct level_change *c)
{
    json_open(j, "data", '{');
    json_text(j, "metric", m->key->name);
    if (m->key->step >= 0)
        json_int(j, "step", m->key->step);
    json_text(j, "unit", m->key->unit);
    json_text(j, "run", c->run->id);
    json_text(j, "run_before", c->before->id);
    json_double(j, "before", c->is.before);
    json_double(j, "after", c->is.after);
    json_known(j, "ratio", c->is.ratio_known ? c->is.ratio : NAN);
    json_double(j, "p", c->is.p);
    json_close(j, '}');
}

/* False: out of memory. */
static bool make_note(const struct notes_state *s, const struct history_group *g, const struct history_metric_series *m,
                      const struct level_change *change, struct history_note *ret)
{
    struct buf b CLEANUP_BUF;
    struct arena *a = s->a;
    struct level_change sendable, *c = &sendable;
    buf_init(&b, NOTE_BYTES);
    const char *experiment = s->sendable(s->context, change->run, NULL, g->experiment);
    if (!experiment || !keep_sendable(s, change, c))
        return false;
    const char *text = note_text(experiment, m, c, a);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_int(&j, "time", c->run->start_ms);
    json_open(&j, "tags", '[');
    json_text(&j, NULL, "benchwrap");
    json_text(&j, NULL, "change");
    json_text(&j, NULL, level_verdict_name(c->verdict));
    json_text(&j, NULL, experiment);
    json_text(&j, NULL, m->key->name);
    json_close(&j, ']');
    json_text(&j, "text", text);
    put_note_data(&j, m, c);
    json_close(&j, '}');
    const char *record = text && !b.failed ? arena_dup(a, b.p, b.n) : NULL;
    const char *step = m->key->step >= 0 ? arena_printf(a, "@%lld", (long long)m->key->step) : "";
    *ret = (struct history_note){.id = record && step ? arena_printf(a, "%s %s%s", c->run->id, m->key->name, step) : NULL,
                                 .record = {record, b.n}};
    return ret->id != NULL;
}

int history_notes(const struct history *h, history_sendable *sendable, void *context, struct arena *a, struct history_note **ret,
                  size_t *ret_count)
{
    const struct notes_state s = {.sendable = sendable, .context = context, .a = a};
    size_t n = 0;
    *ret_count = 0;
    for (size_t i = 0; i < h->group_count; i++)
        for (size_t k = 0; k < h->groups[i].metric_count; k++)
            n += h->groups[i].metrics[k].points.count;
    struct history_note *list = *ret = arena_get(a, (n + 1) * sizeof *list);
    for (size_t i = 0; list && i < h->group_count; i++)
        for (size_t k = 0; k < h->groups[i].metric_count; k++) {
            const struct history_metric_series *m = &h->groups[i].metrics[k];
            for (size_t x = 0; x < m->points.count; x++)
                if (!make_note(&s, &h->groups[i], m, &m->changes[x], &list[(*ret_count)++]))
                    return -1;
        }
    return list ? 0 : -1;
}
