/* logs_view.c: prints merged lines of a campaign, filtered, and counts them; see logs.h. */
#include "logs/logs_format.h"

#include <stdlib.h>
#include <string.h>

enum { VIEW_BLOCK = 64 << 10 };

/* ---- filters ---- */

static bool filter_has(const char *const *list, const struct logs_line *line, const char *name)
{
    for (; list && *list; list++) {
        size_t n = strlen(name);
        uint64_t instance;
        if (strcmp(*list, name) == 0)
            return true;
        if (name == line->component && strncmp(*list, name, n) == 0 && (*list)[n] == '.' && str_uint(str_of(*list + n + 1), &instance) &&
            instance == line->instance)
            return true;
    }
    return false;
}

bool logs_filter_accepts(const struct logs_filter *f, const struct logs_line *line)
{
    if ((f->components && !filter_has(f->components, line, line->component)) || (f->nodes && !filter_has(f->nodes, line, line->node)))
        return false;
    if (f->stream && (strcmp(f->stream, "stderr") == 0) != line->is_error)
        return false;
    if (f->least != LOGS_UNKNOWN && logs_line_severity(line->text) > f->least)
        return false;
    if (f->request && !str_is(logs_request_id(line->text), f->request))
        return false;
    return !f->text || str_has(line->text, f->text);
}

/* ---- printing ---- */

struct viewing {
    const struct logs_view *v;
    struct buf text;
    struct buf *last; /* a ring of the last lines */
    size_t at, count;
    bool is_live; /* the last lines are printed: new ones follow */
};

static int view_write(struct viewing *g, struct err *err)
{
    if (g->text.failed)
        return err_memory(err, "log lines");
    if (g->text.n && fwrite(g->text.p, 1, g->text.n, g->v->out) != g->text.n)
        return err_sys(err, "cannot write the lines");
    buf_clear(&g->text);
    return 0;
}

static void view_add_line(struct viewing *g, const struct logs_line *line)
{
    if (g->v->json)
        logs_json_write(&g->text, line);
    else
        logs_text_write(&g->text, line, true);
}

/* Appends a line that the filter accepts to g->text, and writes that once it is full. With g->last,
 * and before the live part, only stores the line as one of the last ones. 0; -1 with err. */
static int view_line(void *context, const struct logs_line *line, struct err *err)
{
    struct viewing *g = context;
    if (!logs_filter_accepts(&g->v->filter, line))
        return 0;
    if (!g->last || g->is_live) {
        view_add_line(g, line);
        return g->text.n < VIEW_BLOCK ? 0 : view_write(g, err);
    }
    buf_clear(&g->text);
    view_add_line(g, line);
    struct buf *slot = &g->last[g->at];
    buf_clear(slot);
    buf_str(slot, buf_text(&g->text));
    buf_clear(&g->text);
    g->at = (g->at + 1) % g->v->last;
    g->count += g->count < g->v->last;
    return slot->failed ? err_memory(err, "the last lines") : 0;
}

static void view_add_last(struct viewing *g)
{
    for (size_t i = 0; g->last && !g->is_live && i < g->count; i++)
        buf_str(&g->text, buf_text(&g->last[(g->at + g->v->last - g->count + i) % g->v->last]));
    g->is_live = true;
}

static int view_idle(void *context, struct err *err)
{
    struct viewing *g = context;
    view_add_last(g);
    if (view_write(g, err))
        return -1;
    return fflush(g->v->out) ? err_sys(err, "cannot write the lines") : 0;
}

int logs_view_print(const struct logs_view *v, struct err *err)
{
    struct viewing g = {.v = v};
    struct logs_merge m = {
        .folder = v->folder, .follow = v->follow, .stop_fd = v->stop_fd, .each = view_line, .idle = view_idle, .context = &g};
    buf_init(&g.text, 64 << 20);
    if (v->last && !(g.last = calloc(v->last, sizeof *g.last)))
        return err_memory(err, "the last %zu lines", v->last);
    for (size_t i = 0; i < v->last; i++)
        buf_init(&g.last[i], 1 << 20);
    int rc = logs_merge_streams(&m, NULL, err);
    if (rc == 0) {
        view_add_last(&g);
        rc = view_write(&g, err);
    }
    for (size_t i = 0; i < v->last; i++)
        buf_deinit(&g.last[i]);
    free(g.last);
    buf_deinit(&g.text);
    return rc;
}
