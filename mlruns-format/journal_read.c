/* journal_read.c: replaying a journal up to its last complete line. The file may be truncated or
 * damaged anywhere. */
#include "base/fs.h"
#include "base/array.h"
#include "base/json.h"
#include "mlruns-format/crc32c.h"
#include "mlruns-format/journal.h"
#include "mlruns-format/journal_line.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };

/* Lines of a file, one after the other, in a buffer that grows to the longest line and no further. */
struct journal_lines {
    int fd;
    off_t at; /* of the next read */
    char *p;
    size_t size, from, n; /* bytes from..n are not used yet */
    size_t good; /* bytes of complete, valid lines so far */
    int error; /* errno of a read that failed */
};

/* Reads the next bytes of the file behind those in l->p, which grows as needed. Returns false at
 * the end of the file, at a line longer than JOURNAL_LINE_MAX (l->error 0), and on failure
 * (l->error is the errno). The caller frees l->p. */
static bool journal_read_more(struct journal_lines *l)
{
    if (l->from) {
        memmove(l->p, l->p + l->from, l->n - l->from);
        l->n -= l->from;
        l->from = 0;
    }
    if (l->n == l->size) {
        size_t need = l->size ? l->size + 1 : PIECE;
        if (need > JOURNAL_LINE_MAX || !ARRAY_FITS(l->p, l->size, need)) {
            l->error = need > JOURNAL_LINE_MAX ? 0 : ENOMEM; /* longer than any line that benchwrap writes: damaged */
            return false;
        }
    }
    ssize_t k;
    do
        k = pread(l->fd, l->p + l->n, l->size - l->n, l->at);
    while (k < 0 && errno == EINTR);
    if (k < 0)
        l->error = errno;
    if (k <= 0)
        return false;
    l->n += (size_t)k;
    l->at += k;
    return true;
}

/* Reads eight lower-case hexadecimal digits; false: they are none. */
static bool parse_hex8(const char *p, uint32_t *ret)
{
    uint32_t v = 0;
    for (int i = 0; i < 8; i++) {
        char c = p[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *ret = v;
    return true;
}

/* Finds the object of the next line, which refers to l->p until the next call. False at the first
 * line that is torn or wrong, at the end, and on failure (l->error). */
static bool journal_next_line(struct journal_lines *l, struct str *ret)
{
    size_t seen = 0;
    char *lf;
    while (!(lf = l->n > l->from + seen ? memchr(l->p + l->from + seen, '\n', l->n - l->from - seen) : NULL)) {
        seen = l->n - l->from;
        if (!journal_read_more(l))
            return false;
    }
    const char *p = l->p + l->from;
    size_t n = (size_t)(lf - p);
    uint32_t crc;
    if (n < 11 || p[8] != ' ' || !parse_hex8(p, &crc) || crc32c_extend(0, p + 9, n - 9) != crc)
        return false;
    *ret = (struct str){p + 9, n - 9};
    l->from += n + 1;
    l->good += n + 1;
    return true;
}

int journal_good_bytes(int fd, size_t *ret, struct err *err)
{
    struct journal_lines l = {.fd = fd};
    struct str line;
    while (journal_next_line(&l, &line))
        ;
    free(l.p);
    if (l.error) {
        errno = l.error;
        return err_sys(err, "cannot read the journal");
    }
    *ret = l.good;
    return 0;
}

/* Returns an integer of the object, also one beyond 2^53 that is written as text; `otherwise` where
 * it has none. */
static int64_t get_int(const struct json *j, const char *key, int64_t otherwise)
{
    const struct json *v = json_get(j, key);
    int64_t got;
    if (json_is_string(v))
        return str_int(str_of(json_string(v, "")), &got) ? got : otherwise;
    return json_integer(v, otherwise);
}

static const char *get_text(const struct json *j, const char *key)
{
    return json_string(json_get(j, key), "");
}

static const char *journal_copy_text(struct arena *a, const char *z)
{
    const char *copy = arena_dup(a, z, strlen(z));
    return copy ? copy : "";
}

/* Returns a copy of the path in the arena; one that is not UTF-8 is stored as hexadecimal
 * digits. */
static const char *get_path(struct arena *a, const struct json *j, const char *key, const char *key_hex)
{
    static const char digits[] = "0123456789abcdef";
    const char *hex = get_text(j, key_hex);
    size_t n = strspn(hex, digits) / 2;
    if (n == 0 || hex[2 * n])
        return journal_copy_text(a, get_text(j, key));
    char *path = arena_get(a, n + 1);
    for (size_t i = 0; path && i < n; i++)
        path[i] = (char)((strchr(digits, hex[2 * i]) - digits) * 16 + (strchr(digits, hex[2 * i + 1]) - digits));
    if (!path)
        return "";
    path[n] = 0;
    return path;
}

/* Reads the first line of the journal into *head and initialises *r; the texts of *head are in r's
 * arena. Returns -1 with err where it names no run, is of a later version, or memory is used up; *r
 * then needs no record_deinit. */
static int journal_read_head(const struct json *j, struct record *r, struct journal_head *head, struct err *err)
{
    *head = (struct journal_head){.start_ms = get_int(j, "start", 0), .start_ns = get_int(j, "start_ns", 0)};
    int64_t version = get_int(j, "journal", -1);
    if (version > JOURNAL_VERSION)
        return err_set(err, ERR_INPUT, "the journal is of version %lld, this program knows version %d: use the newer benchwrap",
                       (long long)version, JOURNAL_VERSION);
    const char *id = get_text(j, "id");
    if (version < 1 || !record_is_id(str_of(id)) || head->start_ms <= 0)
        return err_set(err, ERR_INPUT, "the first line of the journal does not name a run");
    snprintf(head->id, sizeof head->id, "%s", id);
    snprintf(head->boot_id, sizeof head->boot_id, "%s", get_text(j, "boot_id"));
    record_init(r, head->id, head->start_ms);
    struct arena *a = &r->arena;
    head->host = journal_copy_text(a, get_text(j, "host"));
    head->experiment = journal_copy_text(a, get_text(j, "experiment"));
    head->run_name = journal_copy_text(a, get_text(j, "run_name"));
    head->tree = get_path(a, j, "tree", "tree_hex");
    head->user = journal_copy_text(a, get_text(j, "user"));
    head->job = journal_copy_text(a, get_text(j, "job"));
    head->options = journal_copy_text(a, get_text(j, "options"));
    const struct json *argv = json_get(j, "argv");
    size_t n = 0;
    head->argv = arena_get(a, (json_count(argv) + 1) * sizeof *head->argv);
    for (const struct json *e = json_first(argv); head->argv && e; e = json_next(e))
        head->argv[n++] = (char *)(uintptr_t)journal_copy_text(a, json_string(e, ""));
    if (a->failed) {
        record_deinit(r);
        return err_memory(err, "the journal");
    }
    return 0;
}

/* Reads a fact, whose texts are j's. False: it is none, or of a kind that a later version knows. */
static bool read_fact(const struct json *j, struct fact *ret)
{
    static const char *const kinds[] = {"param", "metric", "tag", "artifact", "missing", "warning"};
    const char *fact = json_string(json_get(j, "fact"), "");
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(kinds[kind], fact) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds)
        return false;
    *ret = (struct fact){.kind = (enum fact_kind)kind,
                         .key = str_of(get_text(j, "key")),
                         .text = str_of(get_text(j, "text")),
                         .value = kind == FACT_METRIC ? json_number(json_get(j, "value"), NAN) : 0,
                         .time_ms = get_int(j, "time", 0),
                         .step = get_int(j, "step", 0),
                         .unit = get_text(j, "unit"),
                         .source = get_text(j, "source"),
                         .direction = record_direction_of(get_text(j, "direction"))};
    return true;
}

/* Reads one object after the first: a fact, a beat, started, ended, lost. Unknown ones are of a
 * later minor version: ignored. */
static void journal_read_line(const struct json *j, struct record *r, struct journal_state *st)
{
    struct fact f;
    int64_t time = 0;
    if (json_get(j, "fact")) {
        if (!read_fact(j, &f))
            return;
        time = f.time_ms;
        record_fact(r, &f);
    } else if (json_get(j, "beat")) {
        time = get_int(j, "beat", 0);
        st->lasted_ms = get_int(j, "after", -1);
    } else if (json_get(j, "started")) {
        st->started = true;
        st->started_ms = time = get_int(j, "started", 0);
    } else if (json_get(j, "ended")) {
        int64_t status = get_int(j, "status", RUN_KILLED);
        st->ended = true;
        r->end_ms = time = get_int(j, "ended", 0);
        r->status = status == RUN_FINISHED || status == RUN_FAILED ? (enum run_status)status : RUN_KILLED;
        st->reason = journal_copy_text(&r->arena, get_text(j, "reason"));
    } else if (json_get(j, "lost"))
        st->lost += (size_t)get_int(j, "lost", 0);
    if (time > st->last_ms)
        st->last_ms = time;
}

const char *journal_path(int dir, const char *path, struct arena *a)
{
    char link[64], folder[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    if (!path || strncmp(path, "../", 3) != 0)
        return path;
    ssize_t n = readlink(link, folder, sizeof folder - 1);
    if (n <= 0)
        return path;
    folder[n] = 0;
    for (char *slash; strncmp(path, "../", 3) == 0 && (slash = strrchr(folder, '/')); path += 3)
        *slash = 0;
    return arena_printf(a, "%s/%s", folder, path);
}

int journal_read(int dir, struct record *record, struct journal_head *ret_head, struct journal_state *ret_state, struct err *err)
{
    *ret_state = (struct journal_state){.reason = "", .lasted_ms = -1};
    CLEANUP_FD int fd = openat(dir, "journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) < 0)
        return err_sys(err, "cannot read the journal");
    if (!S_ISREG(file.st_mode))
        return err_set(err, ERR_INPUT, "cannot read the journal: it is not a regular file");
    struct journal_lines l = {.fd = fd};
    struct str line;
    int rc = 0;
    while (rc == 0) {
        size_t good = l.good;
        struct json *j = NULL;
        if (!journal_next_line(&l, &line))
            break;
        if (json_parse(&j, line, NULL, NULL) < 0 || !json_is_object(j)) { /* a valid sum over content that benchwrap does not write */
            json_free(j);
            l.good = good;
            break;
        }
        if (ret_state->lines == 0)
            rc = journal_read_head(j, record, ret_head, err);
        else
            journal_read_line(j, record, ret_state);
        ret_state->lines += rc == 0;
        json_free(j);
    }
    free(l.p);
    if (rc == 0 && ret_state->lines == 0) {
        errno = l.error;
        return l.error ? err_sys(err, "cannot read the journal") : err_set(err, ERR_INPUT, "the first line of the journal is incomplete");
    }
    if (rc < 0)
        return -1;
    if (l.error) { /* what could be read counts; the rest may come back with the disk */
        errno = l.error;
        err_sys(err, "cannot read the complete journal");
        record_deinit(record);
        return -1;
    }
    ret_head->tree = journal_path(dir, ret_head->tree, &record->arena);
    if (ret_state->last_ms < ret_head->start_ms)
        ret_state->last_ms = ret_head->start_ms;
    ret_state->good_bytes = l.good;
    ret_state->all_bytes = (size_t)file.st_size > l.good ? (size_t)file.st_size : l.good;
    return 0;
}

bool journal_is_of_boot(const struct journal_head *head)
{
    char here[256] = "", boot[40];
    journal_boot_id(boot);
    gethostname(here, sizeof here - 1);
    return boot[0] && head->host && (!head->host[0] || strcmp(head->host, here) == 0) && strcmp(head->boot_id, boot) == 0;
}

/* Returns whether the machine, whichever it is, has not booted since the journal was begun. */
static bool is_same_boot(int fd)
{
    struct journal_lines l = {.fd = fd};
    struct str line;
    struct json *j = NULL;
    bool same = false;
    char boot[40];
    journal_boot_id(boot);
    if (boot[0] && journal_next_line(&l, &line) && json_parse(&j, line, NULL, NULL) == 0)
        same = strcmp(boot, get_text(j, "boot_id")) == 0;
    json_free(j);
    free(l.p);
    return same;
}

int journal_alive(int dir)
{
    CLEANUP_FD int fd = openat(dir, "journal", O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
        return -1;
    if (lock.l_type != F_UNLCK)
        return 1; /* some file systems show locks of other hosts: then that is as sure */
    return is_same_boot(fd) ? 0 : -1;
}

/* ---- a journal that is still written ---- */

struct journal_tail {
    struct journal_lines lines;
    struct record head; /* owns the head's texts; holds no facts */
    off_t mark;
};

int journal_follow(struct journal_tail **ret, int dir, struct journal_head *ret_head, struct err *err)
{
    CLEANUP_FD int fd = openat(dir, "journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct journal_tail *t = fd < 0 ? NULL : calloc(1, sizeof *t);
    struct str line;
    struct json *j = NULL;
    if (!t)
        return err_sys(err, "cannot read the journal");
    t->lines.fd = fd;
    int rc;
    if (journal_next_line(&t->lines, &line) && json_parse(&j, line, NULL, NULL) == 0)
        rc = journal_read_head(j, &t->head, ret_head, err);
    else {
        errno = t->lines.error;
        rc = errno ? err_sys(err, "cannot read the journal") : err_set(err, ERR_INPUT, "the first line of the journal is incomplete");
    }
    json_free(j);
    if (rc == 0)
        ret_head->tree = journal_path(dir, ret_head->tree, &t->head.arena);
    if (rc) {
        free(t->lines.p);
        free(t);
        return -1;
    }
    fs_take(&fd); /* the tail's now */
    journal_tail_mark(t);
    *ret = t;
    return 0;
}

size_t journal_tail_read(struct journal_tail *t, size_t most, void (*each)(void *context, const struct fact *fact), void *context)
{
    struct str line;
    size_t n = 0;
    while (n < most && journal_next_line(&t->lines, &line)) {
        struct json *j = NULL;
        struct fact f;
        if (json_parse(&j, line, NULL, NULL) == 0 && read_fact(j, &f)) {
            each(context, &f);
            n++;
        }
        json_free(j);
    }
    return n;
}

void journal_tail_mark(struct journal_tail *t)
{
    t->mark = (off_t)t->lines.good;
}

void journal_tail_back(struct journal_tail *t)
{
    t->lines.at = t->mark;
    t->lines.good = (size_t)t->mark;
    t->lines.from = t->lines.n = 0;
}

void journal_tail_close(struct journal_tail *t)
{
    if (!t)
        return;
    close(t->lines.fd);
    free(t->lines.p);
    record_deinit(&t->head);
    free(t);
}
