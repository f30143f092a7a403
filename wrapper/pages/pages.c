/* pages.c: static web pages of a tree: reads what is new, then writes the pages that change. */
#include "pages/pages_index.h"
#include "pages/pages_parts.h"
#include "pages/pages_read.h"

#include "base/fs.h"
#include "base/place.h"
#include "runs/stale.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 32 /* runs that one thread reads in a row: they share the rules of an experiment */ };

struct pages_work {
    const struct pages_request *request;
    struct page_files files;
    struct page_data before; /* by id */
    struct page_run *now; /* as the runs of the request */
    bool *is_read, *is_gone; /* is_gone: deleted since the runs were listed */
    struct err *errors; /* of each chunk */
};

static int by_page_id(const void *a, const void *b)
{
    return strcmp(((const struct page_run *)a)->id, ((const struct page_run *)b)->id);
}

/* Returns what the index knows of the run, if the run's files are those that it was read from. */
static const struct page_run *find_unchanged(const struct pages_work *w, const char *id, const char *stamp)
{
    const struct page_run key = {.id = id};
    const struct page_run *found = w->before.count ? bsearch(&key, w->before.runs, w->before.count, sizeof key, by_page_id) : NULL;
    char path[PAGE_PATH];
    if (!found || !*stamp || strcmp(found->stamp, stamp) != 0 || strcmp(found->status, "RUNNING") == 0)
        return NULL;
    page_path_run(id, ".html", path);
    return page_file_exists(&w->files, path) ? found : NULL;
}

/* Reads a run for its page: into *ret in `a`, or what the index knows of it. Returns -1 with
 * err. */
static int read_page_run(struct pages_work *w, struct runs *own, struct comparison_reader *reader, size_t i, struct arena *a,
                         struct page_run *ret, struct err *err)
{
    const struct tree_run *run = own->all[i];
    const char *stamp = page_stamp(own, run, a);
    const struct page_run *known = w->request->rebuild ? NULL : find_unchanged(w, run->id, stamp);
    if (known) {
        *ret = *known;
        return 0;
    }
    w->is_read[i] = true;
    int got = page_run_read(own, reader, run, &w->files, a, ret, err);
    if (got < 0)
        return -1;
    w->is_gone[i] = got == 1;
    ret->stamp = *ret->problem ? "" : stamp; /* a damaged run is read again: it may have been incomplete only */
    return 0;
}

/* Reads CHUNK runs into w->now, from the index or their folders, with the memory of each run freed
 * after it. The first error of the chunk is in w->errors. Workers call it in parallel. */
static void read_chunk(void *context, size_t chunk, struct arena *a)
{
    struct pages_work *w = context;
    struct runs own = *w->request->runs; /* the parent that is read last is this thread's */
    struct comparison_reader reader;
    size_t first = chunk * CHUNK, end = first + CHUNK < own.count ? first + CHUNK : own.count;
    own.parent = NULL;
    comparison_open(&reader, &own, NULL, NULL);
    for (size_t i = first; i < end && !w->errors[chunk].kind; i++) {
        struct arena one; /* what the run's page needed is freed, what the other pages need is copied */
        struct page_run run;
        arena_init(&one, 0);
        own.parent = NULL;
        int status = read_page_run(w, &own, &reader, i, &one, &run, &w->errors[chunk]);
        if (status == 0 && one.failed)
            err_memory(&w->errors[chunk], "the run %.8s", own.all[i]->id);
        else if (status == 0 && !w->is_read[i])
            w->now[i] = run;
        else if (status == 0)
            page_run_copy(&w->now[i], &run, i > first ? &w->now[i - 1] : NULL, a);
        arena_deinit(&one);
    }
    comparison_close(&reader);
}

/* Reads all runs in parallel, in the caller's thread alone where the folder cannot be shared.
 * Returns -1 with the error of the first chunk that has one. */
static int read_pages_runs(struct pages_work *w, struct err *err)
{
    struct runs *runs = w->request->runs;
    size_t chunks = (runs->count + CHUNK - 1) / CHUNK;
    w->errors = calloc(chunks + 1, sizeof *w->errors);
    if (!w->errors)
        return err_memory(err, "the pages");
    if (w->before.count)
        qsort(w->before.runs, w->before.count, sizeof *w->before.runs, by_page_id);
    unsigned workers = folder_shared(&runs->folder) ? parallel_workers(chunks, 1) : 1;
    parallel_each(workers, chunks, read_chunk, w, w->request->arena);
    int status = w->request->arena->failed ? err_memory(err, "the pages") : 0;
    for (size_t i = 0; i < chunks && status == 0; i++)
        if (w->errors[i].kind) {
            *err = w->errors[i];
            status = -1;
        }
    free(w->errors);
    return status;
}

/* ---- what is gone ---- */

/* Leaves out the runs that were deleted while they were read; remove_gone removes their pages. */
static void drop_deleted_runs(struct pages_work *w)
{
    struct runs *runs = w->request->runs;
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (w->is_gone[i]) {
            runs->gone++;
            continue;
        }
        runs->all[kept] = runs->all[i];
        w->is_read[kept] = w->is_read[i];
        w->now[kept++] = w->now[i];
    }
    runs->count = kept;
}

static int by_run_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct shown_runs {
    const char **ids;
    size_t count;
};

static bool is_known_run(const void *context, const char *id)
{
    const struct shown_runs *known = context;
    return known->count && bsearch(&id, known->ids, known->count, sizeof(char *), by_run_text);
}

static int remove_gone(struct pages_work *w, const struct page_data *now, struct err *err)
{
    struct shown_runs known = {.ids = arena_get(now->arena, (now->count + 1) * sizeof(char *)), .count = now->count};
    if (!known.ids)
        return err_memory(err, "the pages");
    for (size_t i = 0; i < now->count; i++)
        known.ids[i] = now->runs[i].id;
    if (known.count)
        qsort(known.ids, known.count, sizeof(char *), by_run_text);
    return page_files_clean(&w->files, is_known_run, &known, err);
}

/* ---- all ---- */

/* Writes the pages of experiments, measurements and machines, the feed and the start page. Returns
 * -1 with err. */
static int write_groups(struct page_book *book, struct err *err)
{
    for (size_t i = 0; i < book->experiment_count; i++) {
        struct page_experiment *e = &book->experiments[i];
        if (page_write_experiment(book, e, err) < 0 || page_write_badge(book, e, err) < 0)
            return -1;
        for (size_t k = 0; k < e->count; k++)
            if (page_write_measurement(book, e, &e->measurements[k], err) < 0)
                return -1;
    }
    for (size_t i = 0; i < book->machines.count; i++)
        if (page_write_machine(book, &book->machines.list[i], err) < 0)
            return -1;
    return page_write_feed(book, err) < 0 ? -1 : page_write_start(book, err);
}

/* Reads the runs, writes all pages, and removes those of runs and groups that no longer exist. The
 * index is written last, so that it never has more than the pages. Returns -1 with err. */
static int write_pages(struct pages_work *w, struct pages_result *ret, struct err *err)
{
    const struct pages_request *q = w->request;
    if (read_pages_runs(w, err) < 0)
        return -1;
    drop_deleted_runs(w);
    struct page_book book = {.request = q, .files = &w->files, .data = {w->now, q->runs->count, q->arena}, .a = q->arena};
    qsort(w->now, q->runs->count, sizeof *w->now, page_run_order);
    if (pages_facts_share(&book.data, err) < 0 || page_book_fill(&book, err) < 0 || write_groups(&book, err) < 0 ||
        remove_gone(w, &book.data, err) < 0)
        return -1;
    ret->runs = book.data.count;
    for (size_t i = 0; i < ret->runs; i++) {
        ret->read += w->is_read[i];
        ret->damaged += *w->now[i].problem != 0;
    }
    ret->written = w->files.written;
    ret->removed = w->files.removed;
    return pages_index_write(w->files.folder, &book.data, err); /* last: an index never knows more than the pages */
}

int pages_write(const struct pages_request *request, struct pages_result *ret, struct err *err)
{
    struct pages_work w = {.request = request};
    CLEANUP_FD int folder = -1;
    *ret = (struct pages_result){0};
    if (runs_load(request->runs, request->filter, request->arena, err) < 0)
        return -1;
    if (!request->runs->count)
        return err_set(err, ERR_INPUT, "%s", runs_explain_none(request->runs, request->filter, request->arena));
    stale_notes(request->notes, (const struct tree_run *const *)request->runs->all, request->runs->count);
    folder = place_open_folder(request->out, 0755);
    if (folder < 0)
        return err_sys(err, "cannot make the folder %s", request->out);
    w.files.folder = folder;
    w.now = arena_get(request->arena, (request->runs->count + 1) * sizeof *w.now);
    w.is_read = arena_get(request->arena, request->runs->count + 1);
    w.is_gone = arena_get(request->arena, request->runs->count + 1);
    if (!w.now || !w.is_read || !w.is_gone)
        return err_memory(err, "the pages");
    if (pages_index_read(folder, request->arena, &w.before, err) < 0)
        return -1;
    int status = write_pages(&w, ret, err);
    page_files_deinit(&w.files);
    return status;
}
