/* exporter_queue.c: the spool of exporters; see exporter_queue.h. */
#include "exporters/exporter_queue.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENTRY_MAX = 64 << 10, LOCK_STEP_MS = 20, TRIM_MIN = 256, TRIM_SHARE = 16, TIME_DIGITS = 13 };

/* Appends the folder of all exporters: next to the spool of runs "<...>/.benchwrap/spool". */
static void exporter_queue_root(const char *spool, struct buf *to)
{
    const char *slash = strrchr(spool, '/');
    buf_printf(to, "%.*s/export", slash ? (int)(slash - spool) : 0, spool);
}

int exporter_queue_open(struct exporter_queue *ret, const char *spool, const char *name, bool make, struct err *err)
{
    struct buf root CLEANUP_BUF;
    buf_init(&root, 8192);
    *ret = EXPORTER_QUEUE_NONE;
    exporter_queue_root(spool, &root);
    CLEANUP_FD int folder = root.p ? place_open_below(root.p, 2, make ? 0700 : 0) : -1;
    if (folder >= 0 && !place_is_own(folder))
        return err_set(err, ERR_INPUT, "cannot use %s: it belongs to another user, or others can write it", root.p);
    if (folder >= 0)
        ret->dir = make ? place_make_folder(folder, name, 0700) : place_open(folder, name, O_RDONLY | O_DIRECTORY, 0);
    if (ret->dir < 0)
        return !make && errno == ENOENT ? 1 : err_sys(err, "cannot open %s/%s", root.p ? root.p : "", name);
    if (place_is_own(ret->dir))
        return 0;
    exporter_queue_close(ret);
    return err_set(err, ERR_INPUT, "cannot use %s/%s: it belongs to another user, or others can write it", root.p, name);
}

void exporter_queue_close(struct exporter_queue *q)
{
    fs_close(&q->lock);
    fs_close(&q->dir);
}

int exporter_queue_lock(struct exporter_queue *q, int64_t wait_ms)
{
    const struct timespec step = {0, LOCK_STEP_MS * 1000000L};
    int64_t until = clock_mono_ns() + wait_ms * 1000000;
    if (q->lock < 0 && (q->lock = place_open(q->dir, "lock", O_RDWR | O_CREAT, 0600)) < 0)
        return 0; /* a full disk: two processes may send the same run */
    while (fs_lock(q->lock)) {
        if (errno != EAGAIN && errno != EACCES)
            return 0; /* a file system without locks */
        if (clock_mono_ns() >= until) {
            fs_close(&q->lock);
            return 1;
        }
        nanosleep(&step, NULL);
    }
    return 0;
}

/* ---- entries ---- */

static bool is_queue_entry(const char *name)
{
    struct str s = str_of(name);
    for (size_t i = 0; i < TIME_DIGITS; i++)
        if (name[i] < '0' || name[i] > '9') /* ends at a NUL */
            return false;
    return s.n == EXPORTER_ENTRY_SIZE - 1 && name[TIME_DIGITS] == '-' && str_hex(str_sub(s, TIME_DIGITS + 1, 32), 32);
}

const char *exporter_entry_run(const char *name)
{
    return is_queue_entry(name) ? name + TIME_DIGITS + 1 : "";
}

int exporter_queue_add(const struct exporter_queue *q, const char *run_id, int64_t end_ms, const char *tree, struct err *err)
{
    char name[EXPORTER_ENTRY_SIZE];
    struct exporter_item item = {.tree = tree, .why = ""};
    end_ms = end_ms < 0 ? 0 : end_ms > INT64_C(9999999999999) ? INT64_C(9999999999999) : end_ms;
    snprintf(name, sizeof name, "%013" PRId64 "-%.32s", end_ms, run_id);
    if (!is_queue_entry(name))
        return err_set(err, ERR_BUG, "\"%.40s\" is no id of a run", run_id);
    if (faccessat(q->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    return exporter_queue_write(q, ".", name, &item, err);
}

/* The `max` smallest names so far, as a heap whose first is the last in order. */
struct first_names {
    struct exporter_entry *at;
    size_t count, max, total;
    const char *after;
};

static void heap_swap(struct exporter_entry *a, struct exporter_entry *b)
{
    struct exporter_entry c = *a;
    *a = *b;
    *b = c;
}

static void heap_sink(struct first_names *f, size_t i, size_t count)
{
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && strcmp(f->at[child + 1].name, f->at[child].name) > 0)
            child++;
        if (strcmp(f->at[i].name, f->at[child].name) >= 0)
            return;
        heap_swap(&f->at[i], &f->at[child]);
    }
}

/* Counts an entry in f->total, and stores its name if it is one of the f->max first ones behind
 * f->after. f->at is a heap with the last of these names on top. */
static int queue_each_entry(void *context, const char *name, unsigned char type)
{
    struct first_names *f = context;
    (void)type;
    if (!is_queue_entry(name))
        return 0;
    f->total++;
    if (f->max == 0 || strcmp(name, f->after) <= 0)
        return 0;
    if (f->count < f->max) {
        size_t i = f->count++;
        snprintf(f->at[i].name, sizeof f->at[i].name, "%s", name);
        for (; i && strcmp(f->at[(i - 1) / 2].name, f->at[i].name) < 0; i = (i - 1) / 2)
            heap_swap(&f->at[i], &f->at[(i - 1) / 2]);
    } else if (strcmp(name, f->at[0].name) < 0) {
        snprintf(f->at[0].name, sizeof f->at[0].name, "%s", name);
        heap_sink(f, 0, f->count);
    }
    return 0;
}

size_t exporter_queue_first(const struct exporter_queue *q, const char *folder, const char *after, struct exporter_entry *ret, size_t max,
                            size_t *ret_total)
{
    struct first_names f = {.at = ret, .max = max, .after = after};
    CLEANUP_FD int dir = place_open(q->dir, folder, O_RDONLY | O_DIRECTORY, 0);
    if (dir >= 0)
        fs_each_name(dir, NULL, queue_each_entry, &f);
    for (size_t n = f.count; n > 1; n--) { /* the heap becomes a sorted list */
        heap_swap(&f.at[0], &f.at[n - 1]);
        heap_sink(&f, 0, n - 1);
    }
    if (ret_total)
        *ret_total = f.total;
    return f.count;
}

static void entry_path(char ret[80], const char *folder, const char *name)
{
    bool top = strcmp(folder, ".") == 0;
    snprintf(ret, 80, "%.16s%s%.60s", top ? "" : folder, top ? "" : "/", name);
}

int exporter_queue_read(const struct exporter_queue *q, const char *folder, const char *name, struct arena *a, struct exporter_item *ret,
                        struct err *err)
{
    char path[80];
    struct json *j = NULL;
    struct err why = {0};
    struct buf text CLEANUP_BUF;
    buf_init(&text, ENTRY_MAX + 1);
    entry_path(path, folder, name);
    if (fs_read(q->dir, path, ENTRY_MAX, 0, &text, &why)) {
        if (err)
            *err = why;
        return why.sys == ENOENT ? 1 : -1;
    }
    if (json_parse(&j, buf_text(&text), NULL, err))
        return err_wrap(err, "entry %s", path);
    const char *tree = json_string(json_get(j, "tree"), ""), *words = json_string(json_get(j, "why"), "");
    int64_t done = json_integer(json_get(j, "done"), 0), tries = json_integer(json_get(j, "tries"), 0);
    *ret = (struct exporter_item){.tree = arena_dup(a, tree, strlen(tree)),
                                  .why = arena_dup(a, words, strlen(words)),
                                  .done = done > 0 ? (uint64_t)done : 0,
                                  .tries = tries > 0 ? (uint64_t)tries : 0,
                                  .failed_ms = json_integer(json_get(j, "failed_ms"), 0)};
    json_free(j);
    if (!ret->tree || !ret->why)
        return err_memory(err, "an entry of the export spool");
    return *ret->tree ? 0 : err_set(err, ERR_INPUT, "entry %s names no tree", path);
}

int exporter_queue_write(const struct exporter_queue *q, const char *folder, const char *name, const struct exporter_item *item,
                         struct err *err)
{
    char path[80];
    struct buf text CLEANUP_BUF;
    buf_init(&text, ENTRY_MAX);
    entry_path(path, folder, name);
    struct json_out j = json_begin(&text, JSON_ROW, '{');
    json_text(&j, "tree", item->tree);
    if (item->done)
        json_uint(&j, "done", item->done);
    if (item->tries)
        json_uint(&j, "tries", item->tries);
    if (item->failed_ms)
        json_int(&j, "failed_ms", item->failed_ms);
    if (item->why[0])
        json_text(&j, "why", item->why);
    json_close(&j, '}');
    buf_putc(&text, '\n');
    if (text.failed)
        return err_memory(err, "an entry of the export spool");
    return fs_write(q->dir, path, buf_text(&text), 0600, false, err);
}

void exporter_queue_remove(const struct exporter_queue *q, const char *folder, const char *name)
{
    char path[80];
    entry_path(path, folder, name);
    unlinkat(q->dir, path, 0);
}

int exporter_queue_set_aside(const struct exporter_queue *q, const char *name, const struct exporter_item *item, struct err *err)
{
    CLEANUP_FD int dead = place_make_folder(q->dir, EXPORTER_DEAD, 0700);
    if (dead < 0)
        return err_sys(err, "cannot open the folder of dead letters");
    struct exporter_item letter = *item;
    letter.failed_ms = clock_wall_ms();
    if (exporter_queue_write(q, EXPORTER_DEAD, name, &letter, err))
        return -1;
    exporter_queue_remove(q, ".", name); /* after a kill before this it is in both, and is tried once more */
    return 0;
}

int exporter_queue_resend(const struct exporter_queue *q, const char *name, struct err *err)
{
    struct arena a;
    struct exporter_item item;
    arena_init(&a, 1 << 20);
    int rc = exporter_queue_read(q, EXPORTER_DEAD, name, &a, &item, err);
    if (rc == 0) {
        struct exporter_item again = {.tree = item.tree, .why = "", .done = item.done};
        rc = exporter_queue_write(q, ".", name, &again, err);
        if (rc == 0)
            exporter_queue_remove(q, EXPORTER_DEAD, name);
    }
    arena_deinit(&a);
    return rc < 0 ? -1 : 0;
}

/* What an entry occupies. A file system that stores short files with their names reports no blocks for them. */
static uint64_t entry_bytes(int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return 0;
    uint64_t blocks = (uint64_t)st.st_blocks * 512, bytes = (uint64_t)st.st_size;
    return blocks > bytes ? blocks : bytes;
}

struct folder_size {
    int dir;
    uint64_t bytes;
};

static int queue_add_size(void *context, const char *name, unsigned char type)
{
    struct folder_size *f = context;
    (void)type;
    f->bytes += is_queue_entry(name) ? entry_bytes(f->dir, name) : 0;
    return 0;
}

size_t exporter_queue_trim(const struct exporter_queue *q, const char *folder, size_t max, uint64_t max_bytes)
{
    CLEANUP_FD int dir = place_open(q->dir, folder, O_RDONLY | O_DIRECTORY, 0);
    struct folder_size size = {.dir = dir};
    size_t n, step, removed = 0, left;
    exporter_queue_first(q, folder, "", NULL, 0, &left);
    bool may_exceed = dir >= 0 && left > max_bytes / ENTRY_MAX; /* an entry is never larger: only then are sizes read */
    if (may_exceed)
        fs_each_name(dir, NULL, queue_add_size, &size);
    /* Each scan reads all names, so it removes a share of them: a million needs twenty scans, and a step of constant size
     * thousands. */
    struct exporter_entry *oldest = malloc((left / TRIM_SHARE + TRIM_MIN) * sizeof *oldest);
    do {
        step = left / TRIM_SHARE + TRIM_MIN;
        n = oldest && (left > max || size.bytes > max_bytes) ? exporter_queue_first(q, folder, "", oldest, step, NULL) : 0;
        for (size_t i = 0; i < n && (left > max || size.bytes > max_bytes); i++) {
            uint64_t bytes = may_exceed ? entry_bytes(dir, oldest[i].name) : 0;
            exporter_queue_remove(q, folder, oldest[i].name);
            size.bytes -= bytes < size.bytes ? bytes : size.bytes;
            left--;
            removed++;
        }
    } while (n == step);
    free(oldest);
    return removed;
}

/* ---- state ---- */

void exporter_state_read(const struct exporter_queue *q, struct exporter_state *ret)
{
    struct json *j = NULL;
    struct buf text CLEANUP_BUF;
    buf_init(&text, ENTRY_MAX + 1);
    *ret = (struct exporter_state){.sent = 0};
    if (fs_read(q->dir, "state", ENTRY_MAX, 0, &text, NULL) || json_parse(&j, buf_text(&text), NULL, NULL))
        return; /* counts from zero */
    int64_t sent = json_integer(json_get(j, "sent"), 0), dropped = json_integer(json_get(j, "dropped"), 0),
            failures = json_integer(json_get(j, "failures"), 0);
    ret->sent = sent > 0 ? (uint64_t)sent : 0;
    ret->dropped = dropped > 0 ? (uint64_t)dropped : 0;
    ret->failures = failures > 0 ? (uint64_t)failures : 0;
    ret->since_ms = json_integer(json_get(j, "since_ms"), 0);
    ret->not_before_ms = json_integer(json_get(j, "not_before_ms"), 0);
    ret->asked = json_bool(json_get(j, "asked"), false);
    snprintf(ret->why, sizeof ret->why, "%s", json_string(json_get(j, "why"), ""));
    json_free(j);
}

int exporter_state_write(const struct exporter_queue *q, const struct exporter_state *s, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, ENTRY_MAX);
    struct json_out j = json_begin(&text, JSON_ROW, '{');
    json_uint(&j, "sent", s->sent);
    json_uint(&j, "dropped", s->dropped);
    json_uint(&j, "failures", s->failures);
    json_int(&j, "since_ms", s->since_ms);
    json_int(&j, "not_before_ms", s->not_before_ms);
    json_flag(&j, "asked", s->asked);
    json_text(&j, "why", s->why);
    json_close(&j, '}');
    buf_putc(&text, '\n');
    return fs_write(q->dir, "state", buf_text(&text), 0600, false, err);
}
