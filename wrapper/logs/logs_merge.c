/* logs_merge.c: passes the lines of all raw streams on in the order of time; see logs.h. */
#include "base/array.h"
#include "base/fs.h"
#include "logs/logs_source.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MERGE_FILES_MAX = 65536, MERGE_WAIT_MS = 50 };

struct merging {
    const struct logs_merge *m;
    struct logs_clocks clocks;
    struct merge_stream {
        char file[LOGS_NAME_MAX];
        struct logs_source source;
        bool waits; /* has no line at present */
    } * *streams; /* by name */
    size_t count, room;
    struct merge_stream **heap; /* those with a line, the earliest first */
    size_t heap_n, heap_room;
    int64_t last_ns;
    uint64_t late;
};

/* ---- the heap ---- */

static bool merge_is_before(const struct merge_stream *a, const struct merge_stream *b)
{
    if (a->source.line.time_ns != b->source.line.time_ns)
        return a->source.line.time_ns < b->source.line.time_ns;
    return strcmp(a->file, b->file) < 0;
}

/* Moves the source at the root of the heap to its place by the time of its line. */
static void merge_sift_down(struct merging *g)
{
    size_t i = 0;
    for (;;) {
        size_t next = 2 * i + 1;
        if (next + 1 < g->heap_n && merge_is_before(g->heap[next + 1], g->heap[next]))
            next++;
        if (next >= g->heap_n || !merge_is_before(g->heap[next], g->heap[i]))
            return;
        struct merge_stream *s = g->heap[i];
        g->heap[i] = g->heap[next];
        g->heap[next] = s;
        i = next;
    }
}

static void merge_push(struct merging *g, struct merge_stream *s)
{
    size_t i = g->heap_n++;
    for (; i > 0 && merge_is_before(s, g->heap[(i - 1) / 2]); i = (i - 1) / 2)
        g->heap[i] = g->heap[(i - 1) / 2];
    g->heap[i] = s;
}

/* ---- streams ---- */

static int merge_stream_order(const void *a, const void *b)
{
    return strcmp((*(struct merge_stream *const *)a)->file, (*(struct merge_stream *const *)b)->file);
}

static int merge_file_order(const void *key, const void *element)
{
    return strcmp(key, (*(struct merge_stream *const *)element)->file);
}

/* Opens a stream and appends it behind the g->count known ones; the caller adds *added to g->count.
 * 0; -1 with err. */
static int merge_add_stream(struct merging *g, const char *file, const struct logs_source_name *name, size_t *added, struct err *err)
{
    if (!ARRAY_FITS(g->streams, g->room, g->count + *added + 1) || !ARRAY_FITS(g->heap, g->heap_room, g->count + *added + 1))
        return err_memory(err, "the logs of a campaign");
    struct merge_stream *s = calloc(1, sizeof *s);
    if (!s)
        return err_memory(err, "the logs of a campaign");
    snprintf(s->file, sizeof s->file, "%s", file);
    if (logs_source_open(&s->source, g->m->folder, file, name, g->m->stamps, err)) {
        logs_source_close(&s->source);
        free(s);
        return -1;
    }
    s->source.line.stream = g->count + *added;
    s->waits = true;
    g->streams[g->count + (*added)++] = s;
    return 0;
}

/* Streams that appeared since the last call. */
static int merge_refresh(struct merging *g, struct err *err)
{
    struct fs_names files;
    size_t added = 0;
    int rc = fs_list(g->m->folder, ".", &files, err);
    if (rc)
        return rc;
    for (size_t i = 0; rc == 0 && i < files.count; i++) {
        struct logs_source_name name;
        if (logs_source_name_read(str_of(files.names[i]), &name) &&
            !(g->count && bsearch(files.names[i], g->streams, g->count, sizeof *g->streams, merge_file_order)))
            rc = merge_add_stream(g, files.names[i], &name, &added, err);
    }
    fs_names_deinit(&files);
    g->count += added;
    if (added)
        qsort(g->streams, g->count, sizeof *g->streams, merge_stream_order);
    logs_clocks_deinit(&g->clocks);
    return rc ? rc : logs_clocks_read(&g->clocks, g->m->folder, err);
}

/* Lines that have come for streams without one. */
static void merge_fill(struct merging *g, bool final)
{
    for (size_t i = 0; i < g->count; i++)
        logs_source_see(&g->streams[i]->source);
    for (size_t i = 0; i < g->count; i++)
        if (g->streams[i]->waits && logs_source_next(&g->streams[i]->source, &g->clocks, final)) {
            g->streams[i]->waits = false;
            merge_push(g, g->streams[i]);
        }
}

/* Passes on what is not later than limit_ns. */
static int merge_pass_on(struct merging *g, int64_t limit_ns, bool final, struct err *err)
{
    while (g->heap_n && g->heap[0]->source.line.time_ns <= limit_ns) {
        struct merge_stream *s = g->heap[0];
        g->late += s->source.line.time_ns < g->last_ns;
        g->last_ns = s->source.line.time_ns > g->last_ns ? s->source.line.time_ns : g->last_ns;
        int rc = g->m->each(g->m->context, &s->source.line, err);
        if (rc)
            return rc;
        s->waits = !logs_source_next(&s->source, &g->clocks, final);
        if (s->waits)
            g->heap[0] = g->heap[--g->heap_n];
        merge_sift_down(g);
    }
    return 0;
}

/* True: the campaign has ended. */
static bool merge_wait(const struct logs_merge *m)
{
    struct pollfd p = {.fd = m->stop_fd, .events = POLLIN};
    return poll(&p, 1, MERGE_WAIT_MS) > 0;
}

/* Passes lines on in the order of their times, each after a delay in which earlier ones may arrive,
 * until m->stop_fd is readable; without m->follow only once. 0; else the result of a callback, or
 * -1 with err. */
static int merge_run(struct merging *g, struct err *err)
{
    int64_t delay_ns = (int64_t)((g->m->delay_s > 0 ? g->m->delay_s : 1) * 1e9);
    bool final = !g->m->follow;
    for (;;) {
        int64_t now = logs_now_ns(); /* before the streams are read: what comes later has a later time */
        int rc = merge_refresh(g, err);
        if (rc)
            return rc;
        merge_fill(g, final);
        rc = merge_pass_on(g, final ? INT64_MAX : now - delay_ns, final, err);
        if (rc || final) {
            for (size_t i = 0; rc == 0 && i < g->count; i++)
                logs_source_end(&g->streams[i]->source);
            return rc;
        }
        if (g->m->idle && (rc = g->m->idle(g->m->context, err)))
            return rc;
        final = merge_wait(g->m);
    }
}

/* Each stream needs two descriptors. */
static void merge_raise_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max < MERGE_FILES_MAX ? r.rlim_max : MERGE_FILES_MAX;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

int logs_merge_streams(const struct logs_merge *m, uint64_t *ret_late, struct err *err)
{
    struct merging g = {.m = m, .last_ns = INT64_MIN};
    merge_raise_limit();
    int rc = merge_run(&g, err);
    for (size_t i = 0; i < g.count; i++) {
        logs_source_close(&g.streams[i]->source);
        free(g.streams[i]);
    }
    free(g.streams);
    free(g.heap);
    logs_clocks_deinit(&g.clocks);
    if (ret_late)
        *ret_late = g.late;
    return rc;
}
