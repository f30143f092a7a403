/* tree_thinned.c: reads artifacts/series.jsonl, which has all samples of the series that are
 * thinned in the metric files. */
#include "mlruns-format/tree_thinned.h"

#include "base/array.h"
#include "base/json.h"
#include "mlruns-format/tree_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SERIES_BYTES = 512 << 20 };

static const char SERIES_PATH[] = "artifacts/series.jsonl";

/* Returns whether a series of so many points may be thinned: SERIES_MAX / 2 - 1 buckets of three
 * samples or more, of which the last are empty in a series just above SERIES_MAX. */
bool tree_may_be_thinned(size_t points)
{
    return points > SERIES_MAX / 3 && points <= SERIES_MAX;
}

struct thinned_series {
    struct tree_entry entry;
    struct tree_sample *samples;
    size_t capacity;
};

/* Returns the series of one key, appended to the list where it is new, in the arena. NULL: out of
 * memory. */
static struct thinned_series *thinned_find(struct tree_entry **list, const char *key, struct arena *a)
{
    for (; *list; list = &(*list)->next)
        if (strcmp((*list)->key, key) == 0)
            return (struct thinned_series *)*list;
    struct thinned_series *t = ARENA_NEW(a, struct thinned_series);
    if (!t || !(t->entry.key = arena_dup(a, key, strlen(key))))
        return NULL;
    *list = &t->entry;
    return t;
}

/* Appends the samples of one line: {"key":KEY,"samples":[[ms,step,value],…]}. */
static int thinned_add_line(const struct json *line, const char *key, struct arena *a, struct tree_entry **list)
{
    struct thinned_series *t = thinned_find(list, key, a);
    const struct json *samples = json_get(line, "samples");
    size_t n = t ? t->entry.count : 0;
    if (!t || !ARRAY_FITS_IN(a, t->samples, t->capacity, n + json_count(samples) + 1))
        return -1;
    for (const struct json *s = json_first(samples); s; s = json_next(s))
        t->samples[n++] =
            (struct tree_sample){json_integer(json_at(s, 0), 0), json_integer(json_at(s, 1), 0), json_number(json_at(s, 2), NAN)};
    t->entry.samples = t->samples;
    t->entry.count = n;
    return 0;
}

int tree_thinned_read(const struct folder *run, const char *key, struct arena *a, struct tree_entry **ret, struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, SERIES_BYTES);
    *ret = NULL;
    if (folder_read(run, SERIES_PATH, SERIES_BYTES - (1 << 17), &text) < 0)
        return errno == ENOENT || errno == ENOTDIR ? 1 : err_sys(err, "cannot read %s", SERIES_PATH);
    int rc = 0;
    for (struct str rest = buf_text(&text); rest.n && rc == 0;) {
        struct json *j = NULL;
        if (json_parse(&j, str_cut(&rest, '\n'), NULL, err) < 0)
            return err_wrap(err, SERIES_PATH);
        const char *own = json_string(json_get(j, "key"), NULL);
        if (own && (!key || strcmp(own, key) == 0) && thinned_add_line(j, own, a, ret) < 0)
            rc = err_memory(err, SERIES_PATH);
        json_free(j);
    }
    return rc;
}
