/* compare_data.c: a comparison for programs: as JSON, and as rows. */
#include "base/json_out.h"
#include "compare/arguments.h"
#include "compare/compare_data.h"
#include "compare/compare_parts.h"
#include "compare/compare_machine.h"
#include "runs/stale.h"

#include <math.h>
#include <string.h>

static void machine_json(struct json_out *j, const struct compare_group *groups, size_t count, struct arena *a)
{
    static const char *const states[] = {[MACHINE_UNKNOWN] = "unknown", [MACHINE_SAME] = "same", [MACHINE_DIFFERS] = "differs"};
    struct machine_difference parts[MACHINE_PARTS];
    machine_compare(groups, count, a, parts);
    json_open(j, "machine", '{');
    for (int i = 0; i < MACHINE_PARTS; i++) {
        json_open(j, parts[i].name, '{');
        json_text(j, "is", states[parts[i].state]);
        json_open(j, "differing", '[');
        for (const char **key = parts[i].keys; key && *key; key++)
            json_text(j, NULL, *key);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* Appends what differs between the groups' programs themselves: each key with a value for each
 * group. */
static void program_json(struct json_out *j, const struct compare_group *groups, size_t count, struct arena *a)
{
    json_open(j, "program", '{');
    for (const char **key = program_compare(groups, count, a); key && *key; key++) {
        json_open(j, *key, '[');
        for (size_t g = 0; g < count; g++)
            json_text(j, NULL, compare_param(&groups[g], *key, a));
        json_close(j, ']');
    }
    json_close(j, '}');
}

/* Returns what the values of a side are. */
static const char *samples_word(const struct compared_side *side, const struct compare_group *group)
{
    return side->repetitions ? "repetitions" : side->n > group->count ? "samples" : "runs";
}

static void side_json(struct json_out *j, const struct compared_side *side, const struct compare_group *group, size_t g)
{
    json_open(j, NULL, '{');
    json_int(j, "group", (int64_t)g);
    json_int(j, "n", (int64_t)side->n);
    json_text(j, "samples", samples_word(side, group));
    if (side->n)
        json_double(j, "median", side->median);
    else
        json_null(j, "median");
    if (side->change.known) {
        json_double(j, "ratio", side->change.ratio);
        json_double(j, "ratio_low", side->change.low);
        json_double(j, "ratio_high", side->change.high);
        json_known(j, "p", side->change.p);
    } else {
        json_null(j, "ratio");
    }
    json_text(j, "verdict", side->outcome ? compare_verdict(side) : NULL);
    if (side->other_units) {
        json_uint(j, "other_units", side->other_units);
        json_text(j, "other_unit", side->other_unit);
    }
    json_close(j, '}');
}

int compare_print_json(const struct compare_group *groups, size_t count, const struct compared_metric *metrics,
                       const struct compared_keys *keys, FILE *out, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1u << 30);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_open(&j, "groups", '[');
    for (size_t g = 0; g < count; g++) {
        json_open(&j, NULL, '{');
        json_text(&j, "name", groups[g].name);
        json_open(&j, "runs", '[');
        for (size_t i = 0; i < groups[g].count; i++)
            json_text(&j, NULL, groups[g].members[i].run->id);
        json_close(&j, ']');
        const struct counted_runs disturbed = compare_count_disturbed(&groups[g]);
        json_uint(&j, "disturbed", disturbed.n);
        json_uint(&j, "unjudged", disturbed.unjudged);
        json_open(&j, "stale", '[');
        for (size_t i = 0; i < groups[g].count; i++)
            if (stale_reason(groups[g].members[i].run))
                json_text(&j, NULL, groups[g].members[i].run->id);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "params", '{');
    for (const char **key = compare_params(groups, count, a); *key; key++) {
        json_open(&j, *key, '[');
        for (size_t g = 0; g < count; g++)
            json_text(&j, NULL, compare_param(&groups[g], *key, a));
        json_close(&j, ']');
    }
    json_close(&j, '}');
    compare_keys_json(keys, groups, count, &j, a);
    program_json(&j, groups, count, a);
    machine_json(&j, groups, count, a);
    json_open(&j, "metrics", '[');
    for (const struct compared_metric *m = metrics; m; m = m->next) {
        json_open(&j, NULL, '{');
        json_text(&j, "key", m->key);
        if (m->step >= 0)
            json_int(&j, "step", m->step);
        else
            json_null(&j, "step");
        json_text(&j, "unit", m->unit);
        json_text(&j, "direction", *m->direction ? m->direction : NULL);
        json_open(&j, "groups", '[');
        for (size_t g = 0; g < count; g++)
            side_json(&j, &m->sides[g], &groups[g], g);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, out);
    return b.failed ? -1 : 0;
}

/* ---- rows ---- */

int compare_print_rows(const struct compare_group *groups, size_t count, const struct compared_metric *metrics, enum listing_form form,
                       FILE *out, struct arena *a)
{
    static const struct listing_column columns[] = {{"metric"},
                                                    {"step", .right = true},
                                                    {"unit"},
                                                    {"direction"},
                                                    {"group"},
                                                    {"n", .right = true},
                                                    {"samples"},
                                                    {"median", .right = true},
                                                    {"ratio", .right = true},
                                                    {"ratio_low", .right = true},
                                                    {"ratio_high", .right = true},
                                                    {"p", .right = true},
                                                    {"verdict"}};
    struct listing l;
    listing_init(&l, columns, sizeof columns / sizeof *columns, a);
    for (const struct compared_metric *m = metrics; m; m = m->next)
        for (size_t g = 0; g < count; g++) {
            const struct compared_side *side = &m->sides[g];
            listing_text(&l, m->key);
            listing_known(&l, m->step >= 0 ? (double)m->step : NAN);
            listing_text(&l, m->unit);
            listing_text(&l, *m->direction ? m->direction : NULL);
            listing_text(&l, groups[g].name);
            listing_integer(&l, (int64_t)side->n);
            listing_text(&l, samples_word(side, &groups[g]));
            listing_known(&l, side->n > 0 ? side->median : NAN);
            listing_known(&l, side->change.known ? side->change.ratio : NAN);
            listing_known(&l, side->change.known ? side->change.low : NAN);
            listing_known(&l, side->change.known ? side->change.high : NAN);
            listing_known(&l, side->change.known ? side->change.p : NAN);
            listing_text(&l, side->outcome ? compare_verdict(side) : NULL);
        }
    int status = listing_write(&l, form, out);
    listing_deinit(&l);
    return status;
}
