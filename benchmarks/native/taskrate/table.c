/* table.c: the table of tasks: columns, compressed by zlib (a gzip file).
 *
 * "taskrate tasks 1\n", then for each batch a line of JSON that names it, its number of tasks and its columns, LF, and the columns one
 * after the other, each with all tasks, little endian. begin_ns is the CLOCK_MONOTONIC of the first submission, from which submit_ns counts; the other times are differences to the
 * task's own submit_ns, INT64_MIN where there is none. begin_ns is 0 where nothing was submitted. */
#include "benchmarks/native/taskrate/output.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/place.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PIECE = 4096, LINE_MAX_BYTES = 4096, COLUMN_STEP = 1 << 20 };
static const char magic[] = "taskrate tasks 1\n";
#define COLUMNS                                                                                                                            \
    "[[\"submit_ns\",\"i8\"],[\"submitted_ns\",\"i8\"],[\"start_ns\",\"i8\"],[\"end_ns\",\"i8\"],[\"known_ns\",\"i8\"],[\"node\",\"u2\"],[\"status\",\"i2\"],[\"flags\",\"u1\"]]"

struct task_table {
    gzFile file;
    size_t batches;
    char path[4096];
};

static int table_set_error(struct task_table *t, struct err *err)
{
    int number = 0;
    const char *words = gzerror(t->file, &number);
    return err_set(err, ERR_SYSTEM, "%s: %s", t->path, number == Z_ERRNO ? strerror(errno) : words);
}

int table_open(struct task_table **ret, const char *dir, struct err *err)
{
    struct task_table *t = calloc(1, sizeof *t);
    if (!t)
        return err_memory(err, "the table of tasks");
    snprintf(t->path, sizeof t->path, "%s/tasks.trt", dir);
    int fd = place_create(t->path, 0, 0644);
    bool ours = fd >= 0 && (fs_lock(fd) == 0 || (errno != EAGAIN && errno != EACCES)); /* a file system without locks: as if locked */
    if (fd >= 0 && !ours)
        err_set(err, ERR_INPUT, "%s: another taskrate writes its results there now; use another folder", dir);
    else if (!ours || ftruncate(fd, 0) < 0 || !(t->file = gzdopen(fd, "wb1")))
        err_sys(err, "%s", t->path);
    if (!t->file) {
        fs_close(&fd);
        free(t);
        return -1;
    }
    *ret = t;
    return gzwrite(t->file, magic, sizeof magic - 1) > 0 ? 0 : table_set_error(t, err);
}

enum table_column { SUBMIT, SUBMITTED, START, END, KNOWN };

static int64_t table_cell(const struct tasks *k, size_t i, enum table_column c, int64_t begin)
{
    int64_t v = c == SUBMIT      ? k->submit[i]
                : c == SUBMITTED ? k->submitted[i]
                : c == START     ? k->self[i].start
                : c == END       ? k->self[i].end
                                 : k->known[i];
    if (!v || !k->submit[i])
        return INT64_MIN;
    return c == SUBMIT ? v - begin : v - k->submit[i];
}

static bool table_write(struct task_table *t, const void *p, size_t n)
{
    return gzwrite(t->file, p, (unsigned)n) == (int)n;
}

static bool table_write_times(struct task_table *t, const struct tasks *k, enum table_column c, int64_t begin)
{
    uint64_t piece[PIECE];
    for (size_t i = 0; i < k->n;) {
        size_t n = 0;
        while (n < PIECE && i < k->n)
            piece[n++] = htole64((uint64_t)table_cell(k, i++, c, begin));
        if (!table_write(t, piece, n * sizeof piece[0]))
            return false;
    }
    return true;
}

static bool table_write_shorts(struct task_table *t, const struct tasks *k, bool node)
{
    uint16_t piece[PIECE];
    for (size_t i = 0; i < k->n;) {
        size_t n = 0;
        for (; n < PIECE && i < k->n; i++)
            piece[n++] = htole16(node ? k->node[i] : (uint16_t)k->status[i]);
        if (!table_write(t, piece, n * sizeof piece[0]))
            return false;
    }
    return true;
}

static bool table_write_flags(struct task_table *t, const struct tasks *k)
{
    for (size_t i = 0; i < k->n; i += PIECE)
        if (!table_write(t, k->flags + i, k->n - i < PIECE ? k->n - i : PIECE))
            return false;
    return true;
}

int table_add(struct task_table *t, const struct bench *b, const struct task_batch *batch, struct err *err)
{
    const struct tasks *k = &b->tasks;
    int64_t begin = INT64_MAX;
    for (size_t i = 0; i < k->n; i++)
        if (k->submit[i] && k->submit[i] < begin)
            begin = k->submit[i];
    CLEANUP_BUF struct buf line;
    buf_init(&line, 4096);
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    json_uint(&j, "batch", t->batches++);
    json_text(&j, "kind", batch->floor ? "floor" : batch->warmup ? "warmup" : batch->chain ? "chain" : "batch");
    json_uint(&j, "repetition", batch->repetition);
    json_uint(&j, "tasks", k->n);
    json_printf(&j, "duration_s", "%.9g", batch->duration);
    json_int(&j, "begin_ms", batch->begin_wall_ms);
    json_int(&j, "begin_ns", begin == INT64_MAX ? 0 : begin);
    json_raw(&j, "columns", STR(COLUMNS));
    json_close(&j, '}');
    buf_putc(&line, '\n');
    bool good = !line.failed && gzwrite(t->file, line.p, (unsigned)line.n) > 0;
    for (enum table_column c = SUBMIT; good && c <= KNOWN; c++)
        good = table_write_times(t, k, c, begin);
    good = good && table_write_shorts(t, k, true) && table_write_shorts(t, k, false) && table_write_flags(t, k);
    return good ? 0 : table_set_error(t, err);
}

int table_close(struct task_table *t, struct err *err)
{
    int rc = 0;
    if (!t)
        return 0;
    errno = 0;
    if (gzclose(t->file) != Z_OK)
        rc = err_set(err, ERR_SYSTEM, "%s: %s", t->path, errno ? strerror(errno) : "could not be completed");
    free(t);
    return rc;
}

struct table_reading {
    gzFile file;
    const char *path;
    size_t n, room;
    int64_t *time[KNOWN + 1];
    uint16_t *node, *status;
    uint8_t *flags;
};

static int table_read(struct table_reading *r, void *to, size_t n, struct err *err)
{
    for (size_t have = 0; have < n;) {
        unsigned want = n - have > 1 << 20 ? 1 << 20 : (unsigned)(n - have);
        int got = gzread(r->file, (char *)to + have, want);
        if (got <= 0)
            return err_set(err, ERR_INPUT, "%s: the table %s in the middle of a batch", r->path, got ? "is damaged" : "ends");
        have += (size_t)got;
    }
    return 0;
}

static void table_free_columns(struct table_reading *r)
{
    for (int c = SUBMIT; c <= KNOWN; c++)
        free(r->time[c]);
    free(r->node), free(r->status), free(r->flags);
    memset(r->time, 0, sizeof r->time);
    r->node = r->status = NULL;
    r->flags = NULL;
}

/* A column of n cells. Memory grows with what is really there: a table with a false size ends
 * first. */
static void *table_read_column(struct table_reading *r, size_t size, struct err *err)
{
    char *p = NULL;
    for (size_t have = 0, want; have < r->n; have = want) {
        want = have + COLUMN_STEP < r->n ? have + COLUMN_STEP : r->n;
        char *more = realloc(p, want * size);
        if (!more)
            err_set(err, ERR_SYSTEM, "%s: memory for %zu tasks", r->path, r->n);
        if (!more || table_read(r, more + have * size, (want - have) * size, err) < 0) {
            free(more ? more : p);
            return NULL;
        }
        p = more;
    }
    return p;
}

/* The columns of one batch. */
static int table_read_columns(struct table_reading *r, struct err *err)
{
    table_free_columns(r);
    for (int c = SUBMIT; c <= KNOWN; c++)
        if (!(r->time[c] = table_read_column(r, 8, err)))
            return -1;
    if (!(r->node = table_read_column(r, 2, err)) || !(r->status = table_read_column(r, 2, err)))
        return -1;
    return (r->flags = table_read_column(r, 1, err)) ? 0 : -1;
}

static void print_time(int64_t v)
{
    v = (int64_t)le64toh((uint64_t)v);
    if (v == INT64_MIN)
        fputs("\t-", stdout);
    else
        printf("\t%lld", (long long)v);
}

/* Prints the tasks of a batch as lines. Returns 0, or another value with *err. */
static int print_batch(struct table_reading *r, const struct json *head, struct err *err)
{
    double n = json_number(json_get(head, "tasks"), 0);
    CLEANUP_BUF struct buf kind;
    buf_init(&kind, 256);
    buf_plain(&kind, str_of(json_string(json_get(head, "kind"), "-")), 20);
    if (!(n >= 1 && n <= 1e8))
        return err_set(err, ERR_INPUT, "%s: a batch of %g tasks", r->path, n);
    r->n = (size_t)n;
    if (table_read_columns(r, err) < 0)
        return -1;
    for (size_t i = 0; i < r->n; i++) {
        printf("%lld\t%s\t%zu", (long long)json_integer(json_get(head, "batch"), 0), kind.p, i);
        for (int c = SUBMIT; c <= KNOWN; c++)
            print_time(r->time[c][i]);
        printf("\t%u\t%d\t%u\n", le16toh(r->node[i]), (int16_t)le16toh(r->status[i]), r->flags[i]);
    }
    return 0;
}

/* Prints all batches of a table with a line of headings. Returns 0, or another value with *err. */
static int print_all(struct table_reading *r, struct err *err)
{
    char line[LINE_MAX_BYTES];
    int number = Z_OK;
    if (!gzgets(r->file, line, sizeof line) || strcmp(line, magic) != 0)
        return err_set(err, ERR_INPUT, "%s: no table of tasks (\"taskrate PROVIDER --out DIR\" writes one, DIR/tasks.trt)", r->path);
    puts("batch\tkind\ttask\tsubmit_ns\tsubmitted_ns\tstart_ns\tend_ns\tknown_ns\tnode\tstatus\tflags");
    while (gzgets(r->file, line, sizeof line)) {
        struct json *head = NULL;
        if (json_parse(&head, str_of(line), NULL, err) < 0)
            return err_wrap(err, "%s: the head of a batch", r->path);
        int rc = print_batch(r, head, err);
        json_free(head);
        if (rc < 0)
            return -1;
    }
    if (gzerror(r->file, &number) && number != Z_OK)
        return err_set(err, ERR_INPUT, "%s: the table is damaged or not complete", r->path);
    return fflush(stdout) ? err_sys(err, "writing to standard output") : 0;
}

int table_print(const char *path, struct err *err)
{
    struct table_reading r = {.path = path, .file = gzopen(path, "rbe")};
    if (!r.file)
        return err_sys(err, "%s", path);
    int rc = print_all(&r, err);
    table_free_columns(&r);
    gzclose(r.file);
    return rc;
}
