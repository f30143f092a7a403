/* usual.c: what earlier runs with the same inputs measured, for the summary of a run. */
#include "run/usual.h"

#include "base/folder.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/show.h"
#include "base/stats.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RUNS_READ "10" /* the newest; each costs about a millisecond */
enum { ANSWER_MAX = 16 << 20, TURN_MS = 1000, NAMES_MIN = STATS_EXPECT_MIN + 1 };

/* Called for each entry: counts visible folders, and ends at NAMES_MIN. */
static int count_folder(void *context, const struct folder_entry *e)
{
    size_t *n = context;
    *n += e->name.p[0] != '.' && e->kind == FOLDER_FOLDER;
    return *n >= NAMES_MIN;
}

/* Returns whether the experiment has NAMES_MIN runs or more, so that the first runs of most
 * experiments start no process. */
static bool has_enough_runs(const struct finished *f)
{
    CLEANUP_FD int root = place_open_folder(f->head.tree, 0);
    CLEANUP_FOLDER struct folder in = {0};
    char name[24];
    size_t n = 0;
    struct folder tree = folder_disk(root);
    snprintf(name, sizeof name, "%u", f->experiment);
    if (root < 0 || folder_enter(&tree, name, &in) < 0)
        return false;
    folder_names(&in, count_folder, &n);
    return n >= NAMES_MIN;
}

void usual_begin(struct query *ret, const struct finished *f, char *const *env, int64_t limit_ms)
{
    char core[PATH_MAX], run[40], tree[] = "--tree", history[] = "--history", json[] = "--json", compare[] = "compare",
                                  last[] = "--last=" RUNS_READ;
    char *const line[] = {core, compare, run, history, last, json, tree, (char *)f->head.tree, NULL};
    struct err err = {0};
    *ret = QUERY_NONE;
    ssize_t n = f->place[0] && has_enough_runs(f) ? readlink("/proc/self/exe", core, sizeof core - 1) : -1;
    if (n <= 0)
        return;
    core[n] = 0;
    snprintf(run, sizeof run, "=%s", f->record.id);
    query_start(ret, line, env, ANSWER_MAX, limit_ms, 0, &err);
}

struct json *usual_end(struct query *ask)
{
    struct json *doc = NULL;
    struct err err = {0};
    while (ask->pid && query_wait(ask, TURN_MS) == QUERY_RUNS) {}
    if (ask->end == QUERY_DONE && ask->status == 0 && json_parse(&doc, buf_text(&ask->text), NULL, &err) < 0)
        doc = NULL;
    query_close(ask);
    return doc;
}

/* Returns the usual values of a metric without a step; NULL: none are known. The JSON owns them. */
static const struct json *usual_metric(const struct json *usual, const char *key)
{
    for (const struct json *m = json_first(json_get(usual, "metrics")); m; m = json_next(m))
        if (json_is_null(json_get(m, "step")) && strcmp(json_string(json_get(m, "key"), ""), key) == 0)
            return m;
    return NULL;
}

const char *usual_range(const struct json *usual, const char *key, double scale, struct arena *a, enum style *ret_style)
{
    const struct json *m = usual_metric(usual, key), *min = json_get(m, "min"), *max = json_get(m, "max");
    const char *verdict = json_string(json_get(m, "verdict"), "");
    double value = json_number(json_get(m, "value"), 0), median = json_number(json_get(m, "median"), 0);
    bool same = strcmp(verdict, "no change") == 0, worse = strcmp(verdict, "regression") == 0, better = strcmp(verdict, "improvement") == 0;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 256);
    if (!json_is_number(min) || !json_is_number(max) || (!same && !worse && !better && strcmp(verdict, "different") != 0))
        return NULL;
    buf_printf(&b, "%s%lld earlier runs: ", same ? "" : value < median ? "low, " : "high, ", (long long)json_integer(json_get(m, "n"), 0));
    show_value(&b, json_number(min, 0) * scale);
    buf_puts(&b, " … ");
    show_value(&b, json_number(max, 0) * scale);
    *ret_style = worse ? STYLE_BAD : better ? STYLE_GOOD : STYLE_DIM;
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}
