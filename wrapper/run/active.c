/* active.c: follow the journals of runs in progress. */
#include "run/active.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "base/utf8.h"
#include "mlruns-format/journal.h"
#include "run/spool.h"
#include "run/stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SILENT_MS = 15 * 60 * 1000 /* as leftovers.c */, COMMAND_MAX = 400, RUNS_FOLLOWED = 1000 };

struct active_entry {
    struct active_run run;
    struct active_sample samples[ACTIVE_SAMPLES];
    struct spool spool;
    struct journal_tail *tail;
    struct journal_head head; /* the tail owns its texts */
    struct arena arena;
    bool is_measured; /* output_bytes are known */
    const struct active_run *first; /* its parent, if that is in the list, else itself */
    int64_t read_ns;
    uint64_t log_max; /* bytes of each stream that are stored */
};
struct active_runs {
    const char *roots[2], *tree;
    struct active_entry **list;
    size_t count, room;
};

struct active_runs *active_runs_new(const char *spool, const char *fallback, const char *tree)
{
    struct active_runs *a = calloc(1, sizeof *a);
    if (a)
        *a = (struct active_runs){.roots = {spool, fallback}, .tree = tree};
    return a;
}

static void active_entry_free(struct active_entry *e)
{
    if (!e)
        return;
    journal_tail_close(e->tail);
    spool_close(&e->spool);
    arena_deinit(&e->arena);
    free(e);
}

void active_runs_free(struct active_runs *a)
{
    for (size_t i = 0; a && i < a->count; i++)
        active_entry_free(a->list[i]);
    if (a)
        free(a->list);
    free(a);
}

/* ---- one run ---- */

static void copy_short(char *to, size_t size, struct str text)
{
    size_t n = text.n < size ? text.n : size - 1;
    memcpy(to, text.n ? text.p : "", n);
    to[n] = 0;
}

/* Stores the newest value of a metric for `benchwrap ps`. Metrics beyond ACTIVE_SAMPLES are
 * ignored. */
static void note_sample(struct active_entry *e, const struct fact *f)
{
    size_t i = 0;
    while (i < e->run.sample_count && !str_is(f->key, e->samples[i].key))
        i++;
    if (i == ACTIVE_SAMPLES || f->key.n >= sizeof e->samples[i].key)
        return;
    struct active_sample *s = &e->samples[i];
    if (i == e->run.sample_count) {
        copy_short(s->key, sizeof s->key, f->key);
        copy_short(s->unit, sizeof s->unit, str_of(f->unit));
        e->run.sample_count++;
    }
    s->value = f->value;
    s->time_ms = f->time_ms;
    s->is_logged = f->source && strcmp(f->source, "log") == 0;
}

/* Called for each new fact of the journal: keeps samples, parent, and the number of nodes and
 * tasks, which a step's param overrides. */
static void note_active_fact(void *context, const struct fact *f)
{
    struct active_entry *e = context;
    struct active_run *run = &e->run;
    if (f->kind == FACT_METRIC)
        note_sample(e, f);
    else if (f->kind == FACT_TAG && str_is(f->key, "mlflow.parentRunId") && record_is_id(f->text))
        copy_short(run->parent, sizeof run->parent, f->text);
    else if (f->kind == FACT_TAG && str_is(f->key, "benchwrap.series"))
        run->is_series = true;
    else if (f->kind == FACT_PARAM && (str_is(f->key, "step.nodes") || (str_is(f->key, "job.nodes") && !run->nodes[0])))
        copy_short(run->nodes, sizeof run->nodes, f->text);
    else if (f->kind == FACT_PARAM && (str_is(f->key, "step.tasks") || (str_is(f->key, "job.tasks") && !run->tasks[0])))
        copy_short(run->tasks, sizeof run->tasks, f->text);
}

/* Returns the words of the command in one line, harmless on a terminal, cut behind COMMAND_MAX
 * bytes with "...". In the arena; NULL: out of memory. */
static const char *command_of(char **argv, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (; argv && *argv && b.n < COMMAND_MAX; argv++) {
        buf_puts(&b, b.n ? " " : "");
        buf_plain(&b, str_of(*argv), COMMAND_MAX);
    }
    size_t n = utf8_cut(buf_text(&b), COMMAND_MAX);
    return arena_printf(a, "%.*s%s", (int)n, b.p ? b.p : "", n < b.n ? "..." : "");
}

/* Returns whether the run is in progress. */
static bool is_entry_alive(struct active_entry *e, int64_t now_ms)
{
    struct stat st;
    int alive;
    if (faccessat(e->spool.dir, "published", F_OK, 0) == 0 || fstatat(e->spool.dir, "journal", &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    e->run.heard_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    alive = journal_alive(e->spool.dir);
    e->run.is_certain = alive == 1;
    return alive == 1 || (alive < 0 && now_ms - e->run.heard_ms < SILENT_MS);
}

/* Opens a run of the spool that has not ended; active_entry_free frees it. NULL: it has ended,
 * cannot be read, or out of memory. */
static struct active_entry *active_entry_open(const char *root, const char *name)
{
    struct active_entry *e = calloc(1, sizeof *e);
    struct err err = {0};
    if (!e)
        return NULL;
    e->spool = SPOOL_NONE;
    arena_init(&e->arena, 1 << 20);
    if (spool_open(&e->spool, root, name, &err) || !is_entry_alive(e, clock_wall_ms()) ||
        journal_follow(&e->tail, e->spool.dir, &e->head, &err)) {
        active_entry_free(e);
        return NULL;
    }
    struct json *options = NULL;
    if (json_parse(&options, str_of(e->head.options), NULL, &err) == 0)
        e->log_max = (uint64_t)json_integer(json_get(options, "log_max"), 0);
    json_free(options);
    memcpy(e->run.id, e->head.id, sizeof e->run.id);
    e->run.name = e->head.run_name;
    e->run.experiment = e->head.experiment;
    e->run.host = e->head.host;
    e->run.job = e->head.job;
    e->run.start_ms = e->head.start_ms;
    e->run.start_ns = journal_is_of_boot(&e->head) ? e->head.start_ns : 0;
    e->run.command = command_of(e->head.argv, &e->arena);
    e->run.samples = e->samples;
    return e->run.command ? e : (active_entry_free(e), NULL);
}

double active_run_elapsed_s(const struct active_run *run)
{
    return run->start_ns ? (double)(clock_mono_ns() - run->start_ns) / 1e9 : (double)(clock_wall_ms() - run->start_ms) / 1e3;
}

/* ---- output ---- */

/* Returns when one of the stream's non-empty files was written last, ms of Unix time; 0: never, or
 * it is not known. */
static int64_t stream_written_ms(const struct spool *s, const char *name)
{
    struct fs_names list;
    struct stat st;
    int64_t latest = 0;
    if (fs_list(s->dir, ".", &list, NULL))
        return 0;
    for (size_t i = 0; i < list.count; i++)
        if (str_starts(str_of(list.names[i]), name) && fstatat(s->dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
            int64_t at = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
            latest = st.st_size && at > latest ? at : latest;
        }
    fs_names_deinit(&list);
    return latest;
}

/* Updates bytes, bytes per second since the last reading (first: since the start), and time of the
 * run's output. */
static void measure_output(struct active_entry *e)
{
    struct active_run *run = &e->run;
    static const char *const names[] = {"stdout.log", "stderr.log"};
    int64_t now = clock_mono_ns(), latest = 0;
    uint64_t before = run->output_bytes, bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        struct spool_stream_kept kept;
        spool_stream_inspect(e->spool.dir, names[i], e->log_max, &kept);
        int64_t written = kept.total ? stream_written_ms(&e->spool, names[i]) : 0;
        bytes += kept.total;
        latest = written > latest ? written : latest;
    }
    double seconds = e->is_measured ? (double)(now - e->read_ns) / 1e9 : active_run_elapsed_s(run);
    if (!e->is_measured)
        before = 0;
    run->output_rate = seconds > 0 && bytes >= before ? (double)(bytes - before) / seconds : NAN;
    run->output_bytes = bytes;
    run->output_ms = latest;
    e->is_measured = true;
    e->read_ns = now;
}

/* ---- all of them ---- */

static struct active_entry *find_active_entry(const struct active_runs *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->list[i]->run.id, name) == 0)
            return a->list[i];
    return NULL;
}

/* Adds the runs of this tree that are new in the folder. One that another process is finishing has
 * another name there. */
static void find_new_entries(struct active_runs *a, const char *root)
{
    CLEANUP_FD int fd = root ? place_open_folder(root, 0) : -1;
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder)
        fs_take(&fd); /* the stream's now */
    for (struct dirent *d; folder && a->count < RUNS_FOLLOWED && (d = readdir(folder));) {
        struct active_entry *e = record_is_id(str_of(d->d_name)) ? find_active_entry(a, d->d_name) : NULL;
        if (e || !record_is_id(str_of(d->d_name)))
            continue;
        e = active_entry_open(root, d->d_name);
        bool ours = e && e->head.tree && strcmp(e->head.tree, a->tree) == 0 && strcmp(e->run.id, d->d_name) == 0;
        if (ours && ARRAY_FITS(a->list, a->room, a->count + 1))
            a->list[a->count++] = e;
        else
            active_entry_free(e);
    }
    if (folder)
        closedir(folder);
}

static int order_by_start(const struct active_run *a, const struct active_run *b)
{
    if (a->start_ms != b->start_ms)
        return a->start_ms < b->start_ms ? 1 : -1;
    return strcmp(a->id, b->id);
}

/* Orders for qsort: the newest first; child runs after their parent, so that they can be listed
 * below it. */
static int order_active_runs(const void *x, const void *y)
{
    const struct active_entry *a = *(struct active_entry *const *)x, *b = *(struct active_entry *const *)y;
    if (a->first != b->first)
        return order_by_start(a->first, b->first);
    bool a_first = a->first == &a->run, b_first = b->first == &b->run;
    return a_first != b_first ? (a_first ? -1 : 1) : order_by_start(&a->run, &b->run);
}

void active_runs_refresh(struct active_runs *a, size_t facts)
{
    size_t kept = 0;
    int64_t now = clock_wall_ms();
    for (size_t i = 0; i < a->count; i++) {
        struct active_entry *e = a->list[i];
        if (is_entry_alive(e, now))
            a->list[kept++] = e;
        else
            active_entry_free(e);
    }
    a->count = kept;
    for (size_t i = 0; i < 2; i++)
        find_new_entries(a, a->roots[i]);
    for (size_t i = 0; i < a->count; i++) {
        journal_tail_read(a->list[i]->tail, facts, note_active_fact, a->list[i]);
        measure_output(a->list[i]);
    }
    for (size_t i = 0; i < a->count; i++) {
        const struct active_entry *parent = a->list[i]->run.parent[0] ? find_active_entry(a, a->list[i]->run.parent) : NULL;
        a->list[i]->first = parent ? &parent->run : &a->list[i]->run;
    }
    if (a->count)
        qsort(a->list, a->count, sizeof *a->list, order_active_runs);
}

size_t active_runs_count(const struct active_runs *a)
{
    return a->count;
}

const struct active_run *active_runs_at(const struct active_runs *a, size_t i)
{
    return &a->list[i]->run;
}

const struct active_sample *active_run_sample(const struct active_run *run, const char *key)
{
    for (size_t i = 0; i < run->sample_count; i++)
        if (strcmp(run->samples[i].key, key) == 0)
            return &run->samples[i];
    return NULL;
}
