/* logs_follow.c: follows log files: finds them, reads and acknowledges lines; see logs_follow.h. */
#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "logs/logs_follow_parts.h"
#include "logs/logs_source.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FOLLOW_IDLE_S = 60, FOLLOW_FILES_MAX = 65536, FOLLOW_COST = 10, FOLLOW_REST_MS = 5 };

void follow_note(const struct logs_follow *f, const char *fmt, ...)
{
    char text[5000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    f->config.note(f->config.context, text);
}

static int64_t follow_seconds_ns(double s, double usual)
{
    return (int64_t)((s > 0 ? s : usual) * 1e9);
}

/* ---- scanning ---- */

static void follow_note_unreadable(const struct logs_follow *f, struct follow_log *log)
{
    if (!log->is_noted)
        follow_note(f, "cannot read %s: %s", log->path, err_words(errno));
    log->is_noted = true;
}

/* The file that has the path now is a new one. */
static void follow_begin_generation(struct logs_follow *f, struct follow_log *log, const struct live_file *live)
{
    struct logs_generation fresh = {.id = live->st.id, .fd = -1, .size = live->st.size, .mtime_ns = live->st.mtime_ns};
    struct logs_generation *g = follow_add_generation(f, log, &fresh, log->path, NULL);
    if (!g)
        return;
    generation_set_mark(g, live->begin, live->begin_n, false);
    if (f->is_first && f->config.from_end)
        g->at = g->read = live->st.size;
    if (follow_open_generation(f, g))
        log->is_noted = false;
    else if (errno == ESTALE || errno == ENOENT)
        f->is_unsure = true; /* it was renamed just now, or removed: the next scan searches it */
    else if (errno != EMFILE && errno != ENFILE) { /* of those it is opened when others are finished */
        follow_note_unreadable(f, log);
        follow_remove_generation(f, g); /* the next scan tries again */
    }
}

/* What an open file is by now. */
static void follow_refresh(struct logs_follow *f, struct logs_generation *g)
{
    struct logs_file_stat st;
    (void)f;
    if (g->fd < 0 || generation_stat_fd(g->fd, &st))
        return;
    if (st.size != g->size || st.mtime_ns != g->mtime_ns) {
        g->grown_ns = follow_mono_of(st.mtime_ns);
        g->before_ns = g->mark_n ? g->mtime_ns : g->before_ns; /* an empty file may be written and truncated unseen */
    }
    if (st.size > g->size && g->is_done && !g->is_replaced)
        g->is_done = !generation_has_mark(g, g->fd); /* it grew after its successor appeared */
    if (st.size < g->size)
        g->shrunk = g->size;
    g->size = st.size;
    g->mtime_ns = st.mtime_ns;
    g->is_deleted = st.is_deleted;
}

/* May a last line without an end count as complete? Nothing was added for a while. */
static bool follow_is_settled(const struct logs_follow *f, const struct logs_generation *g)
{
    return clock_mono_ns() - g->grown_ns > follow_seconds_ns(f->config.settle_s, 5);
}

/* The path is still the file of the last generation, which grew or was truncated. False: files move all the time. */
static bool follow_check_last(struct logs_follow *f, struct follow_log *log, const struct logs_file_stat *st)
{
    struct logs_generation *g = log->last;
    if (g->fd < 0 && (g->is_cut || st->size != g->read || st->mtime_ns != g->mtime_ns)) {
        follow_set_path(g, log->path);
        if (!follow_open_generation(f, g) && errno != ESTALE && errno != ENOENT)
            follow_note_unreadable(f, log);
    }
    if (g->fd < 0)
        return true;
    g->is_cut |= g->size < g->read || (g->mark_n && !generation_check_mark(g));
    if (g->is_cut)
        return follow_restart_truncated(f, log);
    bool is_settled = follow_is_settled(f, g);
    return g->mark_n > 0 || g->size == 0 || !(is_settled || generation_has_line(g)) || follow_find_copies(f, log, is_settled);
}

/* The path is another file, or the same one that grew or was truncated. False: files move all the time. */
static bool follow_check_path(struct logs_follow *f, struct follow_log *log, const struct logs_file_stat *st)
{
    struct live_file live = {.st = *st};
    const struct logs_generation *known = follow_find_generation(f, &st->id);
    if (known && known->log != log)
        return true; /* an older generation of another log, whose name matches a pattern, too */
    if (known && known == log->last) {
        bool has_older = log->is_restored && log->first != log->last;
        return follow_check_last(f, log, st) && (!has_older || follow_find_rotated(f, log, &live));
    }
    if (log->last ? !follow_find_rotated(f, log, &live) : !f->is_first && !follow_find_earlier(f, log, &live))
        return false;
    if (live.st.is_regular && !follow_find_generation(f, &live.st.id))
        follow_begin_generation(f, log, &live);
    return true;
}

static void follow_check_log(struct logs_follow *f, struct follow_log *log)
{
    struct logs_file_stat st;
    struct live_file live;
    for (struct logs_generation *g = log->first; g; g = g->next)
        follow_refresh(f, g);
    bool is_there = generation_stat_path(log->path, &st) == 0 && st.is_regular;
    if (is_there ? follow_check_path(f, log, &st) /* between two files: the older ones may be there */
                 : !log->is_restored || !log->last || follow_find_rotated(f, log, &live))
        log->is_restored = false;
}

/* Is the name that of an older generation of a log that is followed itself? */
static bool follow_is_rotated(const struct logs_follow *f, const char *path)
{
    char base[4200];
    const char *name = str_base_name(path);
    for (const char *cut = strpbrk(name, ".-"); cut; cut = strpbrk(cut + 1, ".-")) {
        size_t n = (size_t)(cut - path);
        if (n == 0 || n >= sizeof base)
            continue;
        memcpy(base, path, n);
        base[n] = 0;
        if (generation_is_rotated_name(str_of(name), str_of(base + (name - path))) && follow_find_log(f, base))
            return true;
    }
    return false;
}

static void follow_check_new(struct logs_follow *f, const char *path, size_t tag)
{
    struct logs_file_stat st;
    struct follow_log *log = follow_find_log(f, path);
    if (log || generation_stat_path(path, &st) || !st.is_regular || follow_is_rotated(f, path))
        return;
    struct logs_generation *known = follow_find_generation(f, &st.id);
    if (known)
        return; /* the same file by another name */
    if (!follow_make_log(f, path, tag) && f->count == FOLLOW_LOGS_MAX)
        follow_note(f, "%s and further files are not followed: there are more than %d", path, FOLLOW_LOGS_MAX);
}

static int follow_no_error(const char *path, int error)
{
    (void)path;
    (void)error;
    return 0;
}

/* Logs of an earlier call belong to the first pattern that matches, also while no file has their name. */
static void follow_tag_restored(struct logs_follow *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->n_patterns && f->logs[i]->tag == SIZE_MAX; k++)
            if (fnmatch(f->patterns[k].text, f->logs[i]->path, FNM_PATHNAME | FNM_PERIOD) == 0)
                f->logs[i]->tag = f->patterns[k].tag;
}

/* Follows the files that match a pattern now. No match, and folders that cannot be read, are no
 * error. 0; -1 with err: out of memory. */
static int follow_expand(struct logs_follow *f, struct follow_pattern *p, struct err *err)
{
    glob_t found = {.gl_pathc = 0};
    if (!p->has_wildcards) {
        follow_check_new(f, p->text, p->tag);
        return 0;
    }
    int rc = glob(p->text, 0, follow_no_error, &found);
    if (rc == GLOB_NOSPACE) {
        globfree(&found);
        return err_memory(err, "the files of %s", p->text);
    }
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        follow_check_new(f, found.gl_pathv[i], p->tag);
    globfree(&found);
    return 0;
}

/* Deleted files that wait cost disk space: the oldest of them go. */
static void follow_bound_deleted(struct logs_follow *f)
{
    uint64_t held = 0, max = f->config.held_max ? f->config.held_max : UINT64_C(1) << 30;
    struct logs_generation *oldest;
    do {
        oldest = NULL;
        held = 0;
        for (size_t i = 0; i < f->count; i++)
            for (struct logs_generation *g = f->logs[i]->first; g; g = g->next) {
                if (g->fd < 0 || !g->is_deleted)
                    continue;
                held += g->size;
                if (!oldest || g->mtime_ns < oldest->mtime_ns)
                    oldest = g;
            }
        if (held <= max || !oldest)
            break;
        uint64_t lost = oldest->size > oldest->at ? oldest->size - oldest->at : 0;
        if (lost)
            follow_note(f, "%llu bytes of %s are lost: the file was deleted, and deleted files that wait have more than %llu bytes",
                        (unsigned long long)lost, oldest->log->path, (unsigned long long)max);
        f->dropped += lost;
        oldest->read = oldest->at = oldest->size;
        oldest->is_done = true;
        follow_close_fd(f, oldest);
    } while (true);
}

/* Generations that are finished, and whose file is gone, are forgotten. */
static void follow_forget_finished(struct logs_follow *f, struct follow_log *log, bool look)
{
    struct logs_file_stat st;
    for (struct logs_generation *g = log->first, *next; g; g = next) {
        next = g->next;
        if (!g->is_done || g->at < g->read || g->acked < g->given)
            continue;
        bool is_gone = g->is_deleted || g->is_missing;
        if (!is_gone && look && g->fd < 0) {
            is_gone = generation_stat_path(g->path, &st) || !generation_is_same(&st.id, &g->id);
            if (!is_gone && st.size > g->size && !g->is_packed && follow_open_generation(f, g))
                g->is_done = !generation_has_mark(g, g->fd); /* a writer that did not notice the rotation */
        }
        if (is_gone && g->fd < 0 && look && !g->is_deleted) { /* it may have been renamed again: its folder knows */
            g->is_missing = true;
            is_gone = clock_mono_ns() - g->grown_ns > FOLLOW_IDLE_S * INT64_C(1000000000);
        }
        if (is_gone && (g->is_deleted || g->fd < 0))
            follow_remove_generation(f, g);
        else if (g->fd >= 0 && clock_mono_ns() - g->grown_ns > FOLLOW_IDLE_S * INT64_C(1000000000))
            follow_close_fd(f, g);
    }
}

/* Reads events away. True: names changed. */
static bool follow_read_events(struct logs_follow *f)
{
    char text[16384] __attribute__((aligned(8)));
    bool changed = false;
    ssize_t n;
    while (f->events >= 0 && (n = read(f->events, text, sizeof text)) > 0)
        for (char *p = text; p < text + n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)p;
            changed |= (e->mask & ~(unsigned)(IN_MODIFY | IN_CLOSE_WRITE)) != 0;
            p += sizeof *e + e->len;
        }
    return changed;
}

/* The time stamp that a file would get now, or a little less: the kernel uses the time of its last
 * tick, and some file systems store seconds. */
static int64_t follow_file_time(void)
{
    int64_t now = logs_now_ns();
    return now - now % INT64_C(1000000000) - INT64_C(10000000);
}

int logs_follow_scan(struct logs_follow *f, struct err *err)
{
    int64_t begin = clock_mono_ns(), since = begin - f->scanned_ns;
    f->is_changed |= follow_read_events(f) || f->is_unsure;
    f->is_unsure = false;
    int64_t seen_ns = follow_file_time();
    bool all = f->is_first || ((f->is_changed || since > follow_seconds_ns(f->config.scan_s, 1)) && since > FOLLOW_COST * f->scan_cost_ns);
    if (f->scanned_ns == 0)
        follow_tag_restored(f);
    for (size_t i = 0; all && i < f->n_patterns; i++)
        if (follow_expand(f, &f->patterns[i], err))
            return -1;
    for (size_t i = 0; i < f->count; i++) {
        struct follow_log *log = f->logs[i];
        if (log->tag != SIZE_MAX && (all || (log->last && log->last->fd >= 0)))
            follow_check_log(f, log);
        if (log->first && (log->first != log->last || log->first->is_done))
            follow_forget_finished(f, log, all);
    }
    follow_bound_deleted(f);
    if (all) {
        f->is_dirty |= f->is_first;
        f->is_changed = f->is_first = false;
        f->seen_ns = seen_ns;
        f->scanned_ns = clock_mono_ns();
        f->scan_cost_ns = f->scanned_ns - begin;
    }
    return 0;
}

bool logs_follow_is_unsure(const struct logs_follow *f)
{
    return f->is_changed || f->is_unsure;
}

/* ---- reading ---- */

/* Returns the end of the first piece of a line that is longer than n bytes: behind a blank in the
 * last 200, else n, but not within a UTF-8 character. n is 200 at least. */
static size_t follow_part_end(const char *p, size_t n)
{
    for (size_t i = n; i > n - 200; i--)
        if (str_is_blank(p[i - 1]))
            return i;
    for (size_t i = n; i > n - 4; i--)
        if (((unsigned char)p[i - 1] & 0xc0) != 0x80)
            return (unsigned char)p[i - 1] >= 0xc0 && str_utf8(p + i - 1, n - i + 1) == 0 ? i - 1 : n;
    return n;
}

/* The generation to read next: the first that is not done. A successor is read once this one is at its end. */
static struct logs_generation *follow_current(const struct follow_log *log)
{
    struct logs_generation *g = log->first;
    while (g && g->is_done)
        g = g->next;
    return g;
}

/* Marks a rotated generation as done when it is read to its end. has_rest: an incomplete last line
 * is still held. Returns whether nothing more is expected from it. */
static bool follow_finish_rotated(const struct logs_follow *f, struct logs_generation *g, bool has_rest)
{
    struct logs_generation *next = g->next;
    if (!next)
        return false;
    bool is_over = next->size > 0 || next->next || g->is_deleted || follow_is_settled(f, g);
    if (is_over && !has_rest)
        g->is_done = true;
    return is_over;
}

/* An older generation cannot be read any more: its successors are. */
static void follow_give_up(const struct logs_follow *f, struct logs_generation *g)
{
    if (g->read < g->size)
        follow_note(f, "lines of %s behind byte %llu are lost: %s cannot be read", g->log->path, (unsigned long long)g->read, g->path);
    g->is_done = true;
}

/* Reads the next complete lines of a generation into buffer, or a part of a line that fills it. A
 * last line without an end is read once its file is rotated or settled. 1: *ret is filled; 0:
 * nothing can be read now. */
static int follow_read_generation(struct logs_follow *f, struct logs_generation *g, char *buffer, size_t size, struct logs_piece *ret)
{
    struct logs_file_stat st;
    if (g->fd < 0 && (g->read < g->size || g->next) && !follow_open_generation(f, g) && errno != EMFILE && errno != ENFILE &&
        follow_find_file(f, g) == 0 && g->next)
        follow_give_up(f, g);
    if (g->fd < 0 || (!g->next && (g->is_cut || g->mark_n == 0)))
        return 0;
    if (g->is_cut || !generation_check_mark(g)) { /* it was truncated: the next scan handles that */
        if (g->next)
            follow_give_up(f, g);
        return 0;
    }
    ssize_t n = pread(g->fd, buffer, size, (off_t)g->read);
    if (n <= 0 || generation_stat_fd(g->fd, &st) || st.size < g->read + (uint64_t)n || !generation_has_mark(g, g->fd)) {
        if (n == 0)
            follow_finish_rotated(f, g, false);
        return 0;
    }
    const char *end = memrchr(buffer, '\n', (size_t)n);
    size_t used = end ? (size_t)(end - buffer) + 1 : 0;
    bool has_more = false;
    if (!end && (size_t)n == size) {
        used = follow_part_end(buffer, size);
        has_more = true;
    } else if (!end && g->read + (uint64_t)n >= st.size && (g->next ? follow_finish_rotated(f, g, true) : follow_is_settled(f, g)))
        used = (size_t)n;
    if (used == 0)
        return 0;
    *ret = (struct logs_piece){.generation = g,
                               .path = g->log->path,
                               .tag = g->log->tag,
                               .text = buffer,
                               .n = used,
                               .has_more = has_more,
                               .is_continued = g->is_continued,
                               .end = g->read + used,
                               .secrets = &g->secrets};
    g->is_continued = has_more;
    g->read += used;
    g->given = g->read;
    if (g->size < g->read)
        g->size = g->read;
    return 1;
}

int logs_follow_read(struct logs_follow *f, size_t tag, char *buffer, size_t size, struct logs_piece *ret)
{
    for (size_t i = 0; i < f->count; i++) {
        struct follow_log *log = f->logs[(f->at + i) % f->count];
        struct logs_generation *g = NULL, *last = NULL;
        if (log->tag == SIZE_MAX || (tag != SIZE_MAX && log->tag != tag))
            continue;
        while ((g = follow_current(log)) && g != last) { /* a generation that turns out to be done is followed by the next */
            last = g;
            if (follow_read_generation(f, g, buffer, size, ret)) {
                f->at = (f->at + i + 1) % f->count;
                return 1;
            }
        }
    }
    return 0;
}

void logs_follow_ack(struct logs_follow *f, struct logs_generation *g, uint64_t end)
{
    if (end > g->at)
        g->at = end;
    if (end > g->acked)
        g->acked = end;
    f->is_dirty = true;
}

/* ---- waiting ---- */

bool logs_follow_wait(struct logs_follow *f, int cancel_fd, int wait_ms)
{
    struct pollfd p[2] = {{.fd = cancel_fd, .events = POLLIN}, {.fd = f->events, .events = POLLIN}};
    int scan_ms = (int)(follow_seconds_ns(f->config.scan_s, 1) / 1000000);
    int n = poll(p, 2, wait_ms < scan_ms ? wait_ms : scan_ms);
    if (n > 0 && !p[0].revents) { /* events come in swarms: the scan costs at most a tenth of the time */
        int64_t rest = FOLLOW_COST * f->scan_cost_ns / 1000000;
        poll(p, 1, rest < FOLLOW_REST_MS ? FOLLOW_REST_MS : rest < scan_ms ? (int)rest : scan_ms);
    }
    return p[0].revents != 0;
}

/* ---- follow a log ---- */

/* Deleted files that wait, and many files that grow at once, need descriptors. */
static void follow_raise_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max < FOLLOW_FILES_MAX ? r.rlim_max : FOLLOW_FILES_MAX;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

int logs_follow_open(struct logs_follow **ret, const struct logs_follow_config *config, struct err *err)
{
    struct logs_follow *f = calloc(1, sizeof *f);
    *ret = NULL;
    if (!f)
        return err_memory(err, "following logs");
    f->config = *config;
    f->lock = -1;
    f->is_first = true;
    f->since_ns = follow_file_time();
    follow_raise_limit();
    f->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK); /* without it, files are inspected each second */
    if (follow_load_cursor(f, err)) {
        logs_follow_close(f);
        return -1;
    }
    *ret = f;
    return 0;
}

void logs_follow_close(struct logs_follow *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        while (f->logs[i]->first)
            follow_remove_generation(f, f->logs[i]->first);
        free(f->logs[i]->path);
        free(f->logs[i]);
    }
    for (size_t i = 0; i < f->n_patterns; i++)
        free(f->patterns[i].text);
    free(f->patterns);
    free(f->logs);
    fs_close(&f->lock);
    fs_close(&f->events);
    free(f);
}

int logs_follow_add(struct logs_follow *f, const char *pattern, size_t tag, struct err *err)
{
    if (pattern[0] != '/' || strlen(pattern) > 4000)
        return err_set(err, ERR_INPUT, "cannot follow \"%.80s\": expected an absolute path", pattern);
    char *copy = ARRAY_FITS(f->patterns, f->patterns_room, f->n_patterns + 1) ? strdup(pattern) : NULL;
    if (!copy)
        return err_memory(err, "following %s", pattern);
    size_t literal = strcspn(pattern, "*?[");
    bool has_wildcards = pattern[literal] != 0;
    f->patterns[f->n_patterns++] = (struct follow_pattern){copy, tag, has_wildcards};
    if (has_wildcards) { /* new folders appear there */
        char *folder = strndup(pattern, literal);
        if (folder)
            follow_watch_folder(f, folder);
        free(folder);
    } else
        follow_watch_folder(f, pattern);
    return 0;
}

void logs_follow_list(const struct logs_follow *f, void (*each)(void *context, const struct logs_follow_status *s), void *context)
{
    for (size_t i = 0; i < f->count; i++)
        for (const struct logs_generation *g = f->logs[i]->first; g; g = g->next)
            if (!g->is_done)
                each(context, &(struct logs_follow_status){.path = f->logs[i]->path,
                                                           .now = g->path,
                                                           .tag = f->logs[i]->tag,
                                                           .at = g->at,
                                                           .size = g->size,
                                                           .is_deleted = g->is_deleted});
}

uint64_t logs_follow_dropped(const struct logs_follow *f)
{
    return f->dropped;
}
