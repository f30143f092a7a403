/* history_json.c: histories for programs: as one JSON document, and a row for each change. */
#include "history/history.h"

#include "base/json_out.h"

#include <math.h>

static void changed_json(struct json_out *j, const struct level_change *c)
{
    json_open(j, "changed", '[');
    for (size_t i = 0; i < c->changed_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "key", c->changed[i].key);
        json_text(j, "cause", c->changed[i].is.name);
        json_text(j, "before", c->changed[i].before);
        json_text(j, "after", c->changed[i].after);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void change_json(struct json_out *j, const struct history_metric_series *m, const struct level_change *c)
{
    json_open(j, NULL, '{');
    json_text(j, "run", c->run->id);
    json_text(j, "run_before", c->before->id);
    json_int(j, "start_ms", c->run->start_ms);
    json_int(j, "at", (int64_t)c->is.at);
    json_int(j, "found_after", (int64_t)(c->is.seen > c->is.at ? c->is.seen - c->is.at : 0));
    json_double(j, "before", c->is.before);
    json_double(j, "after", c->is.after);
    json_known(j, "ratio", c->is.ratio_known ? c->is.ratio : NAN);
    json_known(j, "ratio_low", c->is.ratio_known ? c->is.low : NAN);
    json_known(j, "ratio_high", c->is.ratio_known ? c->is.high : NAN);
    json_double(j, "p", c->is.p);
    json_text(j, "verdict", level_verdict_name(c->verdict));
    json_flag(j, "newest", c->newest);
    json_flag(j, "counts", m->counts);
    json_int(j, "changed_offset", c->changed_offset);
    changed_json(j, c);
    json_close(j, '}');
}

static void metric_history_json(struct json_out *j, const struct history_group *g, const struct history_metric_series *m)
{
    json_open(j, NULL, '{');
    json_text(j, "key", m->key->name);
    if (m->key->step >= 0)
        json_int(j, "step", m->key->step);
    else
        json_null(j, "step");
    json_text(j, "unit", m->key->unit);
    json_text(j, "direction", *m->direction ? m->direction : NULL);
    json_int(j, "n", (int64_t)m->n);
    json_text(j, "searched", m->n < HISTORY_RUNS_MIN ? "too few" : "yes");
    json_open(j, "changes", '[');
    for (size_t i = 0; i < m->points.count; i++)
        change_json(j, m, &m->changes[i]);
    json_close(j, ']');
    json_open(j, "odd", '[');
    for (size_t i = 0; i < m->points.odd_count; i++) {
        const struct odd_value *o = &m->points.odd[i];
        json_open(j, NULL, '{');
        json_text(j, "run", g->points[m->places[o->at]].run->run->id);
        json_double(j, "value", m->values[o->at]);
        json_double(j, "expected", o->expected);
        json_text(j, "kind", o->kind == ODD_OUTLIER ? "outlier" : "not confirmed");
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void group_json(struct json_out *j, const struct history_group *g)
{
    json_open(j, NULL, '{');
    json_text(j, "experiment", g->experiment);
    comparison_key_json(&g->key, j);
    json_int(j, "runs", (int64_t)g->point_count);
    json_int(j, "first_ms", g->members[0]->run->start_ms);
    json_int(j, "last_ms", g->members[g->member_count - 1]->run->start_ms);
    json_open(j, "metrics", '[');
    for (size_t i = 0; i < g->metric_count; i++)
        metric_history_json(j, g, &g->metrics[i]);
    json_close(j, ']');
    json_close(j, '}');
}

int history_write_json(const struct history *h, const struct history_request *asked, FILE *out)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 30);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_double(&j, "min_effect", asked->min_effect);
    json_text(&j, "ignored", comparison_left_out(asked->ignore, asked->arena));
    json_open(&j, "left_out", '{');
    json_int(&j, "not_finished", (int64_t)h->failed);
    json_int(&j, "copies", (int64_t)h->copies);
    json_int(&j, "in_the_future", (int64_t)h->ahead);
    json_int(&j, "damaged", (int64_t)h->damaged);
    json_close(&j, '}');
    json_open(&j, "groups", '[');
    for (size_t i = 0; i < h->group_count; i++)
        group_json(&j, &h->groups[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, out);
    return b.failed ? -1 : 0;
}

static void add_change_cells(struct listing *l, const struct history_group *g, const struct history_metric_series *m,
                             const struct level_change *c)
{
    const double ratios[] = {c->is.ratio, c->is.low, c->is.high};
    listing_text(l, g->experiment);
    listing_text(l, g->key.id[COMPARISON_MEASURED]);
    listing_text(l, g->key.id[COMPARISON_SYSTEM]);
    listing_text(l, m->key->name);
    listing_known(l, m->key->step >= 0 ? (double)m->key->step : NAN);
    listing_text(l, m->key->unit);
    listing_text(l, *m->direction ? m->direction : NULL);
    listing_text(l, c->run->id);
    listing_text(l, c->before->id);
    listing_integer(l, c->run->start_ms);
    listing_known(l, c->is.before);
    listing_known(l, c->is.after);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        listing_known(l, c->is.ratio_known ? ratios[i] : NAN);
    listing_known(l, c->is.p);
    listing_text(l, level_verdict_name(c->verdict));
    listing_text(l, c->newest ? "yes" : "no");
}

int history_write_rows(const struct history *h, const struct history_request *asked, enum listing_form form, FILE *out)
{
    static const struct listing_column columns[] = {{"experiment"},
                                                    {"measured"},
                                                    {"system"},
                                                    {"metric"},
                                                    {"step", .right = true},
                                                    {"unit"},
                                                    {"direction"},
                                                    {"run"},
                                                    {"run_before"},
                                                    {"start_ms", .right = true},
                                                    {"before", .right = true},
                                                    {"after", .right = true},
                                                    {"ratio", .right = true},
                                                    {"ratio_low", .right = true},
                                                    {"ratio_high", .right = true},
                                                    {"p", .right = true},
                                                    {"verdict"},
                                                    {"newest"}};
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, asked->arena);
    for (size_t i = 0; i < h->group_count; i++)
        for (size_t k = 0; k < h->groups[i].metric_count; k++) {
            const struct history_metric_series *m = &h->groups[i].metrics[k];
            for (size_t n = 0; n < m->points.count; n++)
                add_change_cells(&l, &h->groups[i], m, &m->changes[n]);
        }
    int status = listing_write(&l, form, out);
    listing_deinit(&l);
    return status;
}
