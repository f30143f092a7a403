/* row_words.c: the words in a table of runs for a run that has others below it. */
#include "runs/row_words.h"

#include "series/table.h"

#include <string.h>

/* Reads the notes of a series from its files. Returns false where it has none that can be read. */
static bool read_row_series(const struct table_run *r, struct series_notes *ret)
{
    char path[256];
    struct err err = {0};
    CLEANUP_FOLDER struct folder in = {0};
    struct folder_entry e;
    snprintf(path, sizeof path, "%s/artifacts", tree_run_path(r->run));
    if (!r->row->is_series || folder_enter(&r->tree, path, &in) < 0 || folder_look(&in, SERIES_NOTES, &e, NULL) < 0)
        return false;
    if (series_notes_read(&in, ret, &err) == 0)
        return true;
    series_notes_deinit(ret);
    return false;
}

void row_words(struct table_run *r, struct arena *a)
{
    struct series_notes notes;
    const char *s = str_plural(r->folded);
    r->sweep = NULL;
    r->children = r->folded ? arena_printf(a, r->row->is_series ? "%zu run%s" : "%zu child run%s", r->folded, s) : NULL;
    if (!read_row_series(r, &notes))
        return;
    if (notes.sweep.count) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 16 << 10);
        series_brief(&notes, series_figures(&notes), &b);
        r->sweep = arena_dup(a, b.p ? b.p : "", b.n);
        if (r->folded)
            r->children = arena_printf(a, "%zu point%s", notes.sweep.points, str_plural(notes.sweep.points));
    }
    series_notes_deinit(&notes);
}

bool row_words_made_name(const char *name, const char *benchmark)
{
    size_t n = benchmark ? strlen(benchmark) : 0;
    if (!n || strncmp(name, benchmark, n) != 0 || name[n] != ' ' || strlen(name + n) != strlen(" 2026-11-22 22:43:31"))
        return false;
    for (const char *p = name + n; *p; p++)
        if (!strchr(" -:0123456789", *p))
            return false;
    return true;
}
