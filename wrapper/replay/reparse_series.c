/* reparse_series.c: compute the statistics of a parent run again, after its child runs were amended or retracted. */
#include "replay/reparse_state.h"

#include "base/array.h"
#include "base/sha256.h"
#include "series/values.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 256 << 20 };

/* Reads the values of the run that amends the repetition. */
static void series_take_amended(const struct reparse *x, struct series_notes *n, struct series_repetition *run, const char *id)
{
    struct tree_run *now;
    const char *problem = NULL;
    struct json *detail =
        tree_find(x->runs->root, id, TREE_META, x->arena, &now, NULL) ? NULL : runs_detail(x->runs, now, &problem, x->arena);
    run->values = NULL;
    run->inputs = NULL;
    if (detail) {
        memcpy(run->id, id, sizeof run->id);
        series_values_take(run, detail, &n->arena);
    } else {
        run->status = "";
        run->reason = "the record of the run that amends it cannot be read";
    }
    json_free(detail);
}

/* Replaces each repetition by its amendment. Returns how many differ from the notes; -1 with err. */
static int series_renew_notes(const struct reparse *x, const struct tree_run *of, struct series_notes *n, struct err *err)
{
    char(*ids)[33] = arena_get(x->arena, (n->count + 1) * sizeof *ids);
    size_t i = 0;
    int changed = 0;
    if (!ids)
        return err_memory(err, "the repetitions");
    for (const struct series_repetition *run = n->first; run; run = run->next)
        memcpy(ids[i++], run->id, sizeof *ids);
    if (runs_current_ids(x->runs, of, ids, n->count, x->arena, err))
        return -1;
    i = 0;
    for (struct series_repetition *run = n->first; run; run = run->next, i++) {
        if (series_is_current(run, ids[i]))
            continue;
        changed++;
        if (ids[i][0]) {
            series_take_amended(x, n, run, ids[i]);
            continue;
        }
        run->status = SERIES_RETRACTED;
        run->values = NULL;
        run->inputs = NULL;
    }
    return n->arena.failed ? err_memory(err, "the repetitions") : changed;
}

/* Appends the notes of the repetitions as the lines of their file. -1 with err: out of memory. */
static int series_print_notes(const struct series_notes *n, struct buf *to, struct err *err)
{
    series_head_print(n, to);
    for (const struct series_repetition *run = n->first; run; run = run->next)
        series_run_print(run, to);
    if (n->end[0])
        series_end_print(n->end, to);
    return to->failed ? err_memory(err, "the notes of the repetitions") : 0;
}

/* Amends the parent run by one with these notes. Its id follows from the run and the notes: two
 * processes that do the same make one run. Returns -1 with err. */
static int series_amend(struct reparse_state *g, const struct series_notes *n, struct reparsed *ret, struct err *err)
{
    CLEANUP_BUF struct buf text;
    char hash[SHA256_HEX];
    struct made_run m;
    buf_init(&text, NOTES_MAX);
    if (series_print_notes(n, &text, err))
        return -1;
    sha256_of(text.p, text.n, hash);
    make_id(ret->id, "reparse", str_of(arena_printf(g->x->arena, "%s/%s/%s", g->root_id, g->run->id, hash)));
    if (reparse_begin(&m, g, ret->id, g->x->arena, err))
        return -1;
    if (make_text(&m, SERIES_NOTES, buf_text(&text), err)) {
        make_drop(&m);
        return -1;
    }
    reparse_conclude(&m, g, g->run->end_ms + 1, ret); /* as late as the start is: the wall time stays */
    return 0;
}

static void series_read_again(struct reparse_state *g, struct reparsed *ret)
{
    struct series_notes notes = {0};
    struct err err = {0};
    struct folder in = folder_disk(g->artifacts);
    int changed = series_notes_read(&in, &notes, &err) ? -1 : series_renew_notes(g->x, g->run, &notes, &err);
    ret->result = changed ? REPARSE_FAILED : REPARSE_SAME;
    if (changed < 0 || (changed && series_amend(g, &notes, ret, &err))) {
        ret->why = arena_printf(g->x->arena, "%s", err.text);
        ret->id[0] = 0;
    }
    series_notes_deinit(&notes);
}

void reparse_series(const struct reparse *x, const struct tree_run *run, struct reparsed *ret)
{
    struct reparse_state g = {.x = x, .artifacts = -1, .series = true};
    struct tree_run *now = NULL;
    struct err err = {0};
    char id[1][33];
    *ret = (struct reparsed){.result = REPARSE_SKIPPED, .why = "it is retracted"};
    memcpy(id[0], run->id, sizeof id[0]);
    if (runs_current_ids(x->runs, run, id, 1, x->arena, &err) ||
        (id[0][0] && tree_find(x->runs->root, id[0], TREE_METRICS, x->arena, &now, &err))) {
        ret->result = REPARSE_FAILED;
        ret->why = arena_printf(x->arena, "%s", err.text);
    }
    if (!now)
        return;
    g.run = now;
    if (!(ret->why = reparse_open(&g, x->arena)))
        series_read_again(&g, ret);
    reparse_close(&g);
}

/* ---- which parent runs ---- */

const char *reparse_parent_of(const struct reparse *x, const struct tree_run *run)
{
    struct tree_run *parent;
    const char *id = runs_file(x->runs, run, "tags/mlflow.parentRunId", 64, x->arena);
    if (!id || !record_is_id(str_of(id)) || tree_find(x->runs->root, id, TREE_META, x->arena, &parent, NULL) ||
        !runs_file(x->runs, parent, "tags/benchwrap.series", 64, x->arena))
        return NULL;
    return id;
}

int reparse_parents_add(struct reparse_parents *p, const char *id, bool changed, struct arena *a)
{
    if (p->count && strcmp(p->list[p->count - 1].id, id) == 0) {
        p->list[p->count - 1].changed |= changed;
        return 0;
    }
    if (!ARRAY_FITS_IN(a, p->list, p->room, p->count + 1))
        return -1;
    struct reparse_parent *at = &p->list[p->count++];
    *at = (struct reparse_parent){.changed = changed};
    memcpy(at->id, id, sizeof at->id);
    return 0;
}

static int order_parents(const void *a, const void *b)
{
    return strcmp(((const struct reparse_parent *)a)->id, ((const struct reparse_parent *)b)->id);
}

void reparse_parents_sort(struct reparse_parents *p)
{
    size_t kept = 0;
    if (p->count)
        qsort(p->list, p->count, sizeof *p->list, order_parents);
    for (size_t i = 0; i < p->count; i++)
        if (kept && strcmp(p->list[kept - 1].id, p->list[i].id) == 0)
            p->list[kept - 1].changed |= p->list[i].changed;
        else
            p->list[kept++] = p->list[i];
    p->count = kept;
}
