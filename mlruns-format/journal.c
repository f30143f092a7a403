/* journal.c: writing the facts of a run to disk while it runs. Reading is journal_read.c's. */
#include "mlruns-format/journal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json_out.h"
#include "mlruns-format/crc32c.h"
#include "mlruns-format/journal_line.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PENDING_MAX = 8 << 20, /* kept while the disk refuses; what comes on top is counted and lost */
    FLUSH_AT = 64 << 10 /* from this size on, lines are written without a flush by the caller */
};

struct journal {
    int fd;
    struct buf out; /* complete lines, of which the first `written` bytes are in the file */
    size_t written;
    struct buf line; /* the object being made */
    size_t lost; /* facts without space in the buffer, since the last "lost" line */
    int error, reported; /* errno in force, and the one already reported; 0: none */
    int64_t started_ns; /* CLOCK_MONOTONIC; 0: not known */
    bool unsynced;
    bool locked; /* reopened, and the file system has locks */
};

/* Acquires the write lock of this open file description. 0; 1: another one has it; -1: the file
 * system has no locks (errno). */
static int journal_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc;
    do
        rc = fcntl(fd, F_OFD_SETLK, &lock);
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return 0;
    return errno == EAGAIN || errno == EACCES ? 1 : -1;
}

/* Returns a journal that owns fd, without a lock. NULL: out of memory; fd stays open. */
static struct journal *journal_new(int fd)
{
    struct journal *j = calloc(1, sizeof *j);
    if (j) {
        j->fd = fd;
        buf_init(&j->out, PENDING_MAX);
        buf_init(&j->line, 1 << 20);
    }
    return j;
}

/* Writes what waits in j->out. 0; -1 with j->error: what is not written waits for the next call. */
static int journal_write_out(struct journal *j)
{
    while (j->written < j->out.n) {
        ssize_t k = write(j->fd, j->out.p + j->written, j->out.n - j->written);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            j->error = k < 0 ? errno : EIO;
            return -1;
        }
        j->written += (size_t)k;
        j->unsynced = true;
    }
    buf_clear(&j->out);
    j->written = 0;
    j->error = 0;
    return 0;
}

/* Frees space in `out` by moving up what is not written. A line is appended completely or not at
 * all. */
static bool journal_put_line(struct journal *j)
{
    if (j->line.failed)
        return false;
    if (j->written > PENDING_MAX / 2) {
        memmove(j->out.p, j->out.p + j->written, j->out.n - j->written + 1);
        j->out.n -= j->written;
        j->written = 0;
    }
    if (!buf_room(&j->out, j->line.n + 10)) {
        j->out.failed = false;
        return false;
    }
    buf_printf(&j->out, "%08x ", crc32c_extend(0, j->line.p, j->line.n));
    buf_str(&j->out, buf_text(&j->line));
    buf_putc(&j->out, '\n');
    return true;
}

/* Appends the object of one member that is a number. */
static void journal_put_one(struct journal *j, const char *name, int64_t v)
{
    struct json_out o = json_begin(&j->line, JSON_TIGHT, '{');
    json_int(&o, name, v);
    json_close(&o, '}');
}

static void journal_put_lost(struct journal *j)
{
    journal_put_one(j, "lost", (int64_t)j->lost);
    if (journal_put_line(j))
        j->lost = 0;
    buf_clear(&j->line);
}

/* Appends the object in j->line. */
static void journal_end_line(struct journal *j)
{
    bool taken = journal_put_line(j);
    buf_clear(&j->line);
    if (!taken)
        j->lost++;
    else if (j->lost)
        journal_put_lost(j);
    if (j->out.n - j->written >= FLUSH_AT && !j->error)
        journal_write_out(j);
}

static void journal_add_int(struct json_out *o, const char *name, int64_t v)
{
    bool exact = v >= -INT64_C(9007199254740992) && v <= INT64_C(9007199254740992); /* beyond 2^53 readers of JSON lose digits */
    json_printf(o, name, exact ? "%lld" : "\"%lld\"", (long long)v);
}

/* Adds a path. A path is bytes, JSON is UTF-8: a path that is not UTF-8 is stored as hexadecimal
 * digits too, else the run would go to another folder. */
static void journal_add_path(struct json_out *o, const char *name, const char *path)
{
    struct str s = str_of(path);
    json_str(o, name, s);
    if (str_valid_utf8(s))
        return;
    char hex[24];
    snprintf(hex, sizeof hex, "%s_hex", name);
    json_printf(o, hex, "\"");
    for (size_t i = 0; i < s.n; i++)
        buf_printf(o->to, "%02x", (unsigned char)s.p[i]);
    buf_putc(o->to, '"');
}

/* Appends the first line of the journal to j->line. journal_read_head reads it back. */
static void journal_put_head(struct journal *j, const struct journal_head *head)
{
    struct json_out o = json_begin(&j->line, JSON_TIGHT, '{');
    journal_add_int(&o, "journal", JOURNAL_VERSION);
    json_str(&o, "id", str_of(head->id));
    json_str(&o, "boot_id", str_of(head->boot_id));
    journal_add_int(&o, "start", head->start_ms);
    if (head->start_ns)
        journal_add_int(&o, "start_ns", head->start_ns);
    json_str(&o, "host", str_of(head->host));
    json_str(&o, "experiment", str_of(head->experiment));
    json_str(&o, "run_name", str_of(head->run_name));
    journal_add_path(&o, "tree", head->tree);
    json_str(&o, "user", str_of(head->user));
    json_str(&o, "job", str_of(head->job));
    json_str(&o, "options", str_of(head->options));
    json_open(&o, "argv", '[');
    for (char **a = head->argv; a && *a; a++)
        json_text(&o, NULL, *a);
    json_close(&o, ']');
    json_close(&o, '}');
}

void journal_boot_id(char to[40])
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, 256);
    to[0] = 0;
    if (fs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 200, FS_CUT, &b, NULL) == 0) {
        struct str s = str_trim(buf_text(&b));
        snprintf(to, 40, STR_FMT, STR_ARG(s));
    }
}

/* The name under which a journal is made: under its own name it is locked and has its first line,
 * so that a process that searches dead runs cannot acquire the lock before the writer has it. */
#define JOURNAL_NEW "journal.new"

int journal_create(struct journal **ret, int dir, const struct journal_head *head, struct err *err)
{
    if (faccessat(dir, "journal", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return err_sys(err, "cannot create the journal");
    }
    CLEANUP_FD int fd = openat(dir, JOURNAL_NEW, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return err_sys(err, "cannot create the journal");
    journal_lock(fd); /* no other process knows the file; some file systems have no locks */
    struct journal *j = journal_new(fd);
    if (!j)
        return err_sys(err, "cannot create the journal");
    fs_take(&fd); /* the journal's now */
    struct journal_head with_boot = *head;
    if (!with_boot.boot_id[0])
        journal_boot_id(with_boot.boot_id);
    buf_deinit(&j->line);
    buf_init(&j->line, JOURNAL_LINE_MAX - 16); /* a command line can have 2 MiB */
    journal_put_head(j, &with_boot);
    int rc = -1;
    if (j->line.failed)
        err_set(err, ERR_SYSTEM, "cannot write the journal: out of memory, or the command line is too long");
    else {
        journal_end_line(j);
        if (j->out.n && journal_write_out(j) < 0) {
            errno = j->error;
            err_sys(err, "cannot write the journal");
        } else if (j->lost)
            err_memory(err, "the journal");
        else if (renameat(dir, JOURNAL_NEW, dir, "journal") < 0)
            err_sys(err, "cannot create the journal");
        else
            rc = 0;
    }
    if (rc < 0) {
        buf_clear(&j->out);
        journal_close(j);
        unlinkat(dir, JOURNAL_NEW, 0);
        return -1;
    }
    *ret = j;
    return 0;
}

void journal_fact(void *journal, const struct fact *f)
{
    static const char *const kinds[] = {"param", "metric", "tag", "artifact", "missing", "warning"};
    struct journal *j = journal;
    struct json_out o = json_begin(&j->line, JSON_TIGHT, '{');
    json_text(&o, "fact", kinds[f->kind]);
    if (f->kind != FACT_WARNING)
        json_str(&o, "key", f->key);
    if (f->kind == FACT_METRIC) {
        json_metric(&o, "value", f->value);
        journal_add_int(&o, "step", f->step);
        if (f->unit && *f->unit)
            json_text(&o, "unit", f->unit);
        if (f->direction != DIR_NONE)
            json_text(&o, "direction", record_direction_name(f->direction));
    } else
        json_str(&o, "text", f->text);
    journal_add_int(&o, "time", f->time_ms);
    if (f->source && *f->source)
        json_text(&o, "source", f->source);
    json_close(&o, '}');
    journal_end_line(j);
}

void journal_beat(struct journal *j, int64_t now_ms)
{
    struct json_out o = json_begin(&j->line, JSON_TIGHT, '{');
    json_int(&o, "beat", now_ms);
    if (j->started_ns)
        json_int(&o, "after", (clock_mono_ns() - j->started_ns) / 1000000);
    json_close(&o, '}');
    journal_end_line(j);
}

void journal_started(struct journal *j, int64_t time_ms, int64_t mono_ns)
{
    j->started_ns = mono_ns;
    journal_put_one(j, "started", time_ms);
    journal_end_line(j);
}

void journal_ended(struct journal *j, int64_t end_ms, enum run_status status, const char *reason)
{
    struct json_out o = json_begin(&j->line, JSON_TIGHT, '{');
    journal_add_int(&o, "ended", end_ms);
    journal_add_int(&o, "status", status);
    json_str(&o, "reason", str_of(reason));
    json_close(&o, '}');
    journal_end_line(j);
}

int journal_flush(struct journal *j, bool sync, struct err *err)
{
    if (journal_write_out(j) == 0 && sync && j->unsynced) {
        if (fdatasync(j->fd) < 0 && errno != EINVAL && errno != ENOSYS)
            j->error = errno; /* the kernel reports a lost page once: so does the journal */
        j->unsynced = false;
    }
    if (j->error == 0 && j->lost) { /* the "lost" line did not fit before */
        journal_put_lost(j);
        journal_write_out(j);
    }
    if (j->error == 0) {
        j->reported = 0;
        return 0;
    }
    if (j->reported == j->error)
        return 1;
    j->reported = errno = j->error;
    return err_sys(err, "cannot write the journal");
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    journal_write_out(j);
    close(j->fd);
    buf_deinit(&j->out);
    buf_deinit(&j->line);
    free(j);
}

int journal_reopen(struct journal **ret, int dir, struct err *err)
{
    CLEANUP_FD int fd = openat(dir, "journal", O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return err_sys(err, "cannot open the journal");
    int held = journal_lock(fd);
    if (held == 1)
        return 1;
    size_t good;
    struct stat st;
    if (journal_good_bytes(fd, &good, err) < 0)
        return -1;
    if (good == 0)
        return err_set(err, ERR_INPUT, "cannot continue the journal: its first line is damaged");
    if (fstat(fd, &st) < 0 || ((size_t)st.st_size > good && ftruncate(fd, (off_t)good) < 0))
        return err_sys(err, "cannot cut the damaged end of the journal");
    struct journal *j = journal_new(fd);
    if (!j)
        return err_sys(err, "cannot open the journal");
    fs_take(&fd); /* the journal's now */
    j->locked = held == 0;
    *ret = j;
    return 0;
}

bool journal_is_locked(const struct journal *j)
{
    return j && j->locked;
}
