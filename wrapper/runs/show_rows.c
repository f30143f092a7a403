/* show_rows.c: the facts of one run as rows: attributes, params, metrics, tags. */
#include "base/listing.h"
#include "mlruns-format/tree.h"
#include "runs/entry_stats.h"
#include "runs/show.h"

#include <math.h>

static void add_fact_row(struct listing *l, const char *kind, const char *key, const char *value)
{
    listing_text(l, kind);
    listing_text(l, key);
    listing_text(l, value);
    for (int i = 0; i < 4; i++)
        listing_none(l);
}

static void add_entry_rows(struct listing *l, const char *kind, const struct tree_entry *list)
{
    for (const struct tree_entry *e = list; e; e = e->next) {
        listing_text(l, kind);
        listing_text(l, e->key);
        listing_str(l, e->value);
        for (int i = 0; i < 4; i++)
            listing_none(l);
    }
}

static void add_metric_rows(const struct show_state *s, struct listing *l)
{
    for (const struct tree_entry *e = s->run->metrics; e; e = e->next) {
        const struct tree_sample *last = tree_entry_latest(e);
        listing_text(l, "metric");
        listing_text(l, e->key);
        listing_known(l, last ? last->value : NAN);
        listing_text(l, show_metric_unit(s, e->key));
        listing_text(l, json_string(json_get(show_metric_detail(s, e->key), "direction"), NULL));
        listing_known(l, entry_stats_median(s->run, e));
        listing_integer(l, (int64_t)e->count);
    }
}

int show_rows(const struct show_state *s, enum listing_form form)
{
    static const struct listing_column columns[] = {
        {"kind"}, {"key"}, {"value"}, {"unit"}, {"direction"}, {"median", .right = true}, {"n", .right = true}};
    const struct tree_run *run = s->run;
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, s->arena);
    add_fact_row(&l, "attribute", "run_id", run->id);
    add_fact_row(&l, "attribute", "run_name", run->name);
    add_fact_row(&l, "attribute", "experiment", run->experiment);
    add_fact_row(&l, "attribute", "status", runs_status(run));
    add_fact_row(&l, "attribute", "start_time", arena_printf(s->arena, "%lld", (long long)run->start_ms));
    add_fact_row(&l, "attribute", "end_time", run->end_ms ? arena_printf(s->arena, "%lld", (long long)run->end_ms) : NULL);
    add_fact_row(&l, "attribute", "user_id", run->user);
    add_entry_rows(&l, "param", run->params);
    add_metric_rows(s, &l);
    add_entry_rows(&l, "tag", run->tags);
    int status = listing_write(&l, form, s->out);
    listing_deinit(&l);
    return status;
}
