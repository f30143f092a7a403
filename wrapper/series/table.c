/* table.c: the figures of a series, as a table for people and as JSON for programs. */
#include "base/listing.h"
#include "base/show.h"
#include "series/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_number(struct listing *l, struct arena *a, double value)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    if (isnan(value)) {
        listing_none(l);
        return;
    }
    show_double(&b, value);
    listing_number(l, value, arena_dup(a, b.p ? b.p : "", b.n));
}

static void put_interval(struct listing *l, struct arena *a, const struct stats *s)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 128);
    if (s->n < 3) {
        listing_text(l, "too few samples");
        return;
    }
    show_double(&b, s->ci_low);
    buf_puts(&b, " .. ");
    show_double(&b, s->ci_high);
    listing_text(l, arena_dup(a, b.p, b.n));
}

static void put_row(struct listing *l, struct series_notes *n, const struct series_figure *f)
{
    size_t unit = strlen(f->unit), length = strlen(f->key);
    bool named = unit && length > unit + 1 && strcmp(f->key + length - unit, f->unit) == 0 && f->key[length - unit - 1] == '_';
    const char *of = f->of[0] == 'p' ? "" : f->of; /* percentiles have it in their key */
    if (n->sweep.count)
        listing_text(l, series_label(n, f->point));
    listing_text(l, arena_printf(&n->arena, "%.*s%s%s", (int)(named ? length - unit - 1 : length), f->key, of[0] ? " " : "", of));
    listing_text(l, f->unit[0] ? f->unit : "");
    listing_number(l, (double)f->stats.n, NULL);
    put_number(l, &n->arena, f->stats.median);
    put_number(l, &n->arena, f->stats.mean);
    put_interval(l, &n->arena, &f->stats);
    put_number(l, &n->arena, f->stats.min);
    put_number(l, &n->arena, f->stats.max);
}

void series_table(struct series_notes *n, const struct series_figure *figures, bool all, size_t most, struct buf *to)
{
    static const struct listing_column columns[] = {{"point", "POINT", false, 60},
                                                    {"metric", "METRIC", false, 60},
                                                    {"unit", "UNIT", false, 0},
                                                    {"n", "N", true, 0},
                                                    {"median", "MEDIAN", true, 0},
                                                    {"mean", "MEAN", true, 0},
                                                    {"interval", "95 % OF MEAN", false, 0},
                                                    {"min", "MIN", true, 0},
                                                    {"max", "MAX", true, 0}};
    size_t skip = n->sweep.count ? 0 : 1, size = 0, shown = 0, more = 0;
    struct listing l;
    char *text = NULL;
    listing_init(&l, columns + skip, sizeof columns / sizeof *columns - skip, &n->arena);
    for (const struct series_figure *f = figures; f; f = f->next)
        if ((all || f->headline) && (!most || shown < most)) {
            put_row(&l, n, f);
            shown++;
        } else if (all || f->headline)
            more++;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        listing_print(&l, out);
        fclose(out);
        buf_add(to, text, size);
    }
    if (more)
        buf_printf(to, "and %zu more: benchwrap show\n", more);
    free(text);
    listing_deinit(&l);
}

static void json_known(struct json_out *j, const char *key, double value)
{
    if (isfinite(value))
        json_double(j, key, value);
    else
        json_null(j, key);
}

void series_json(struct series_notes *n, const struct series_figure *figures, struct json_out *j)
{
    json_open(j, "repetitions", '[');
    for (const struct series_figure *f = figures; f; f = f->next) {
        const struct stats *s = &f->stats;
        bool few = s->n < 3;
        json_open(j, NULL, '{');
        json_text(j, "point", n->sweep.count ? series_label(n, f->point) : NULL);
        json_text(j, "metric", f->key);
        json_text(j, "of", f->of[0] ? f->of : NULL);
        json_text(j, "unit", f->unit);
        json_text(j, "direction", record_direction_name(f->direction));
        json_flag(j, "headline", f->headline);
        json_int(j, "n", (int64_t)s->n);
        json_known(j, "median", s->median);
        json_known(j, "mean", s->mean);
        json_known(j, "sd", s->n < 2 ? NAN : s->sd);
        json_known(j, "min", s->min);
        json_known(j, "max", s->max);
        json_known(j, "ci_low", few ? NAN : s->ci_low);
        json_known(j, "ci_high", few ? NAN : s->ci_high);
        json_close(j, '}');
    }
    json_close(j, ']');
}
