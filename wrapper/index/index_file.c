/* index_file.c: the file of an index. */
#include "index/index_file.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_HEAD = 32,
    WORTH = 256, /* new values, below which a command writes nothing: most read few runs */
    PIECE = 1 << 20, /* bytes that are written at once */
    DEAD_MAX = 1 << 20, /* bytes of replaced records that are always accepted */
    UNUSED_DAYS = 60 /* after which the index of another tree is removed */
};
#define FILE_MAX (INT64_C(8) << 30)

struct file_head {
    char name[20];
    uint32_t version, order, unused;
};
_Static_assert(sizeof(struct file_head) == FILE_HEAD, "no gaps");
static const struct file_head head = {"benchwrap-index", 2, 0x01020304, 0};

struct record_place {
    uint64_t hash; /* of the run; 0: no record */
    uint64_t at;
    uint32_t length, first; /* bytes of the record and of its first part */
};

struct index_file {
    char *path, *name;
    int folder, fd /* for reading */, out /* for writing, with the file's lock; -1: not this process */;
    struct record_place *places; /* open addressing */
    size_t capacity, count;
    uint64_t end; /* of the records in the file that are complete */
    uint64_t live; /* bytes of those that count */
    pthread_mutex_t lock; /* of all that follows, and of the places */
    struct buf pending; /* records that are not written yet; they belong at `end` */
    size_t new_values;
    bool refused /* it does not write */, replace /* the file is no index of this program */;
};

/* ---- places ---- */

static uint64_t run_hash(const char *run)
{
    return hash_bytes(1, run, strlen(run)) | 1;
}

/* Returns the slot of the hash in the table; its hash is 0 where the index lacks the run. */
static struct record_place *place_of_run(const struct index_file *f, uint64_t hash)
{
    size_t i = hash & (f->capacity - 1);
    while (f->places[i].hash && f->places[i].hash != hash)
        i = (i + 1) & (f->capacity - 1);
    return &f->places[i];
}

/* Makes space for one more run in the table of places. False: out of memory; the table is
 * unchanged. */
static bool grow_places(struct index_file *f)
{
    if (2 * (f->count + 1) < f->capacity)
        return true;
    struct index_file grown = {.capacity = f->capacity ? 2 * f->capacity : 1024};
    grown.places = calloc(grown.capacity, sizeof *grown.places);
    if (!grown.places)
        return false;
    for (size_t i = 0; i < f->capacity; i++)
        if (f->places[i].hash)
            *place_of_run(&grown, f->places[i].hash) = f->places[i];
    free(f->places);
    f->places = grown.places;
    f->capacity = grown.capacity;
    return true;
}

static bool note_record(struct index_file *f, const struct index_head *is, uint64_t at)
{
    if (!grow_places(f))
        return false;
    uint64_t hash = run_hash(is->run);
    struct record_place *place = place_of_run(f, hash);
    f->count += !place->hash;
    f->live += is->length - (place->hash ? place->length : 0);
    *place = (struct record_place){hash, at, (uint32_t)is->length, (uint32_t)is->first};
    return true;
}

/* ---- reading ---- */

/* Reads exactly n bytes at the offset. Returns false at an error or the end of the file. */
static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
    for (char *p = to; n;) {
        ssize_t k = pread(fd, p, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
        at += (uint64_t)k;
    }
    return true;
}

/* Finds the records behind f->end. What follows the last complete one is no record. */
static void scan_records(struct index_file *f, uint64_t size)
{
    char bytes[INDEX_HEAD];
    struct index_head is;
    while (size - f->end >= INDEX_HEAD && read_at(f->fd, bytes, sizeof bytes, f->end) && index_record_head(bytes, &is) &&
           is.length <= size - f->end && note_record(f, &is, f->end))
        f->end += is.length;
}

/* Opens the index file and scans its records. Returns false where it does not exist or is not safe;
 * f->replace: it has another format and must be written again. */
static bool open_index(struct index_file *f, int flags)
{
    struct stat st;
    struct file_head is;
    f->fd = place_open(f->folder, f->name, flags, 0600);
    if (f->fd < 0 || fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022) {
        fs_close(&f->fd);
        return false;
    }
    if (st.st_size == 0)
        return true;
    if (st.st_size < FILE_HEAD || !read_at(f->fd, &is, sizeof is, 0) || memcmp(&is, &head, sizeof is) != 0) {
        f->replace = true;
        fs_close(&f->fd);
        return false;
    }
    f->end = FILE_HEAD;
    scan_records(f, (uint64_t)st.st_size);
    return true;
}

struct index_file *index_file_open(const char *folder, const char *name)
{
    struct index_file *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->fd = f->out = -1;
    f->path = strdup(folder);
    f->name = strdup(name);
    f->folder = place_open_folder(folder, 0);
    pthread_mutex_init(&f->lock, NULL);
    buf_init(&f->pending, 2 * (size_t)INDEX_RECORD_MAX);
    if (!f->path || !f->name || (f->folder >= 0 && !place_is_own(f->folder)))
        f->refused = true;
    else if (f->folder >= 0)
        open_index(f, O_RDONLY);
    return f;
}

/* Appends n bytes of the file, or of what is not written yet. */
static bool copy_index_bytes(struct index_file *f, uint64_t at, size_t n, struct buf *to)
{
    pthread_mutex_lock(&f->lock);
    bool is_pending = at >= f->end;
    if (is_pending && f->pending.n >= n && at - f->end <= f->pending.n - n)
        buf_add(to, f->pending.p + (at - f->end), n);
    else if (is_pending)
        to->failed = true;
    pthread_mutex_unlock(&f->lock);
    if (is_pending)
        return !to->failed;
    char *room = buf_room(to, n);
    if (!room || !read_at(f->fd, room, n, at))
        return false;
    to->n += n;
    room[n] = 0;
    return true;
}

bool index_file_find(struct index_file *f, const char *run, struct buf *bytes, struct index_record *ret, uint64_t *ret_at)
{
    buf_clear(bytes);
    pthread_mutex_lock(&f->lock);
    struct record_place place = f->capacity ? *place_of_run(f, run_hash(run)) : (struct record_place){0};
    pthread_mutex_unlock(&f->lock);
    *ret_at = place.at;
    return place.hash && copy_index_bytes(f, place.at, place.first, bytes) && index_record_parse(buf_text(bytes), ret) &&
           strcmp(ret->run, run) == 0;
}

bool index_file_value(struct index_file *f, uint64_t at, const struct index_entry *e, struct buf *to)
{
    size_t before = to->n;
    return copy_index_bytes(f, at + e->at, e->value.n, to) && index_value_check((struct str){to->p + before, e->value.n}) == e->check;
}

/* ---- writing ---- */

static int remove_unused(void *context, const char *name, unsigned char type)
{
    const struct index_file *f = context;
    struct stat st;
    (void)type;
    if (strcmp(name, f->name) != 0 && fstatat(f->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        time(NULL) - st.st_mtime > UNUSED_DAYS * 86400)
        unlinkat(f->folder, name, 0);
    return 0;
}

static bool make_index(struct index_file *f)
{
    if (f->folder < 0)
        f->folder = place_open_folder(f->path, 0700);
    if (f->folder < 0 || !place_is_own(f->folder))
        return false;
    if (f->replace)
        unlinkat(f->folder, f->name, 0);
    fs_each_name(f->folder, NULL, remove_unused, f);
    return open_index(f, O_RDWR | O_CREAT) && f->end == 0; /* else another process has begun one since */
}

/* Returns whether the file of that name is the one that was read. */
static bool is_same_index(const struct index_file *f)
{
    struct stat named, opened;
    return fstat(f->fd, &opened) == 0 && fstatat(f->folder, f->name, &named, AT_SYMLINK_NOFOLLOW) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/* Opens the file for writing: the one that was read, which others may have extended, or a new one. */
static bool become_writer(struct index_file *f)
{
    struct stat st;
    if (f->fd < 0 && !make_index(f))
        return false;
    f->out = place_open(f->folder, f->name, O_RDWR, 0);
    if (f->out < 0 || fs_lock(f->out) < 0 || !is_same_index(f) || fstat(f->out, &st) < 0)
        return false;
    if (st.st_size == 0) {
        f->end = FILE_HEAD;
        return pwrite(f->out, &head, sizeof head, 0) == (ssize_t)sizeof head;
    }
    if (f->end == 0)
        return false;
    scan_records(f, (uint64_t)st.st_size);
    return ftruncate(f->out, (off_t)f->end) == 0;
}

/* Enters the records that waited until this process became the writer, at the places where they are
 * written now. False: out of memory, or a record is not valid. */
static bool note_pending(struct index_file *f)
{
    struct index_head is;
    for (size_t at = 0; at < f->pending.n; at += is.length)
        if (!index_record_head(f->pending.p + at, &is) || !note_record(f, &is, f->end + at))
            return false;
    return true;
}

/* Appends the pending records to the file. After a failed write f->refused is set, the file is cut
 * to complete records, and no more is written. */
static void write_pending(struct index_file *f)
{
    const char *p = f->pending.p;
    uint64_t at = f->end;
    for (size_t n = f->pending.n; n && !f->refused;) {
        ssize_t k = pwrite(f->out, p, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) { /* the disk is full, for example */
            f->refused = true;
            if (ftruncate(f->out, (off_t)f->end) < 0)
                return; /* a part of a record is none, either */
            break;
        }
        p += k;
        n -= (size_t)k;
        at += (uint64_t)k;
    }
    if (!f->refused)
        f->end = at;
    buf_clear(&f->pending);
}

void index_file_add(struct index_file *f, struct str record, size_t new_values)
{
    struct index_head is;
    pthread_mutex_lock(&f->lock);
    size_t before = f->pending.n;
    f->new_values += new_values;
    if (!f->refused) {
        buf_str(&f->pending, record);
        f->refused = f->pending.failed || (f->out >= 0 && (!index_record_head(record.p, &is) || !note_record(f, &is, f->end + before)));
    }
    if (!f->refused && f->out < 0 && f->new_values >= WORTH)
        f->refused = !become_writer(f) || !note_pending(f);
    if (!f->refused && f->out >= 0 && f->pending.n >= PIECE)
        write_pending(f);
    if (f->refused)
        buf_clear(&f->pending);
    pthread_mutex_unlock(&f->lock);
}

static int by_record_place(const void *a, const void *b)
{
    const struct record_place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Copies the records that count into a new file; copies of damaged ones are damaged. */
static bool copy_live(struct index_file *f, int to)
{
    size_t n = 0;
    CLEANUP_BUF struct buf b;
    buf_init(&b, PIECE + (size_t)INDEX_RECORD_MAX);
    buf_add(&b, &head, sizeof head);
    for (size_t i = 0; i < f->capacity; i++)
        if (f->places[i].hash)
            f->places[n++] = f->places[i];
    f->capacity = 0; /* it is a list now */
    if (n)
        qsort(f->places, n, sizeof *f->places, by_record_place);
    for (size_t i = 0; i < n; i++) {
        char *room = buf_room(&b, f->places[i].length);
        if (!room || !read_at(f->fd, room, f->places[i].length, f->places[i].at))
            return false;
        b.n += f->places[i].length;
        if (b.n >= PIECE && fs_write_all(to, b.p, b.n) == 0)
            buf_clear(&b);
        else if (b.n >= PIECE)
            return false;
    }
    return fs_write_all(to, b.p, b.n) == 0;
}

/* Replaces the file by one without the records that do not count any more. Readers of the old file
 * continue with it. */
static void shrink_index(struct index_file *f)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%ld", f->name, (long)getpid());
    CLEANUP_FD int to = place_open(f->folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (to >= 0 && (!copy_live(f, to) || renameat(f->folder, name, f->folder, f->name) < 0))
        unlinkat(f->folder, name, 0);
}

void index_file_close(struct index_file *f)
{
    if (!f)
        return;
    if (f->out >= 0 && !f->refused && f->pending.n)
        write_pending(f);
    if (f->out >= 0 && f->live > FILE_MAX)
        unlinkat(f->folder, f->name, 0); /* the next command makes it again */
    else if (f->out >= 0 && !f->refused && f->end - f->live > f->live / 2 + DEAD_MAX)
        shrink_index(f);
    fs_close(&f->out);
    fs_close(&f->fd);
    fs_close(&f->folder);
    pthread_mutex_destroy(&f->lock);
    buf_deinit(&f->pending);
    free(f->places);
    free(f->path);
    free(f->name);
    free(f);
}
