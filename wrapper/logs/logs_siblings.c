/* logs_siblings.c: lists the older generations of a log file; see logs_siblings.h. */
#include "logs/logs_siblings.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIBLINGS_FILES = 1000, SIBLINGS_TRIES = 60, SIBLINGS_AT_ONCE = 4, SIBLINGS_STEP_MS = 10, SIBLINGS_BLOCK = 64 << 10 };

struct sibling_listing {
    struct siblings *s;
    const char *log;
    bool has_vanished; /* a file that was listed was renamed or removed before it was inspected */
};

/* Adds a file of the folder to the list if its name is that of a rotated log, with an allocated
 * path. Sets l->has_vanished where the file is gone again. Always 0: without memory the file is
 * left out. */
static int sibling_add(void *context, const char *name, unsigned char type)
{
    struct sibling_listing *l = context;
    struct sibling x = {.is_packed = str_ends(str_of(name), ".gz")};
    const char *base = str_base_name(l->log);
    (void)type;
    if (!generation_is_rotated_name(str_of(name), str_of(base)) || l->s->count == SIBLINGS_FILES)
        return 0;
    if (asprintf(&x.path, "%.*s%s", (int)(base - l->log), l->log, name) < 0)
        return 0;
    bool is_there = generation_stat_path(x.path, &x.st) == 0;
    l->has_vanished |= !is_there;
    if (!is_there || !x.st.is_regular || !ARRAY_FITS(l->s->list, l->s->room, l->s->count + 1)) {
        free(x.path);
        return 0;
    }
    l->s->list[l->s->count++] = x;
    return 0;
}

static int sibling_order_names(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;
    return strcmp(x->path, y->path);
}

/* The oldest first. */
static int sibling_order_ages(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;
    if (x->st.mtime_ns != y->st.mtime_ns)
        return x->st.mtime_ns < y->st.mtime_ns ? -1 : 1;
    return -str_natural(x->path, y->path); /* .2 is older than .1 */
}

void siblings_free(struct siblings *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].path);
    free(s->list);
    *s = (struct siblings){.list = NULL};
}

/* True: no listed file has vanished since. */
static bool siblings_list(struct siblings *s, const char *log)
{
    struct sibling_listing l = {s, log, false};
    char *folder = strndup(log, (size_t)(str_base_name(log) - log));
    *s = (struct siblings){.list = NULL};
    if (folder)
        fs_each_name(AT_FDCWD, folder, sibling_add, &l);
    free(folder);
    if (generation_stat_path(log, &s->live.st))
        s->live.st.is_regular = false;
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, sibling_order_names);
    return !l.has_vanished;
}

/* The same files have the same names: a rotation renames at least one of them. */
static bool siblings_are_equal(const struct siblings *a, const struct siblings *b)
{
    bool equal = a->count == b->count && a->live.st.is_regular == b->live.st.is_regular &&
                 (!a->live.st.is_regular || generation_is_same(&a->live.st.id, &b->live.st.id));
    for (size_t i = 0; equal && i < a->count; i++)
        equal = strcmp(a->list[i].path, b->list[i].path) == 0 && generation_is_same(&a->list[i].st.id, &b->list[i].st.id);
    return equal;
}

static size_t siblings_read_begin(int fd, char ret[GENERATION_MARK])
{
    ssize_t n = fd < 0 ? 0 : pread(fd, ret, GENERATION_MARK, 0);
    return n > 0 ? (size_t)n : 0;
}

/* Returns whether the log's present file begins with all that this file has: then this file is a
 * copy, and the log was not truncated since. s->has_moved: the file was renamed while it was
 * read. */
static bool sibling_is_of_live(const struct sibling *x, int live_fd, struct siblings *s)
{
    char begin[GENERATION_MARK];
    if (x->is_packed || !s->live.st.is_regular || generation_is_same(&x->st.id, &s->live.st.id) ||
        (x->st.id.born_ns && x->st.id.born_ns < s->live.st.id.born_ns))
        return false;
    CLEANUP_FD int fd = generation_open(x->path, &x->st.id);
    s->has_moved |= fd < 0 && (errno == ESTALE || errno == ENOENT);
    size_t n = siblings_read_begin(fd, begin);
    if (n == 0 || n > s->live.begin_n || memcmp(begin, s->live.begin, n) != 0)
        return n == 0; /* the copy begins */
    char *block = malloc(2 * (size_t)SIBLINGS_BLOCK);
    bool equal = block != NULL;
    ssize_t got = 1;
    for (off_t at = 0; equal && got > 0; at += got) {
        got = pread(fd, block, SIBLINGS_BLOCK, at);
        equal = got <= 0 ||
                (pread(live_fd, block + SIBLINGS_BLOCK, (size_t)got, at) == got && memcmp(block, block + SIBLINGS_BLOCK, (size_t)got) == 0);
    }
    free(block);
    return equal;
}

/* Returns whether the opened file is the one that has the path now. fd < 0: it could not be opened,
 * with errno `why`; that is true for a file that exists but cannot be read. */
static bool siblings_have_opened(const struct siblings *s, int fd, int why)
{
    struct logs_file_stat st;
    if (fd < 0)
        return !s->live.st.is_regular || why != ENOENT;
    return s->live.st.is_regular && generation_stat_fd(fd, &st) == 0 && generation_is_same(&st.id, &s->live.st.id);
}

/* Two equal listings, between two equal beginnings of the log's file. */
static bool siblings_find_once(struct siblings *ret, const char *log, int live_fd)
{
    struct siblings earlier;
    char begin[GENERATION_MARK];
    CLEANUP_FD int own = live_fd < 0 ? place_open_found(log) : -1;
    int fd = live_fd < 0 ? own : live_fd, why = errno;
    size_t n = siblings_read_begin(fd, begin);
    bool good = siblings_list(&earlier, log);
    good = siblings_list(ret, log) && good && siblings_are_equal(&earlier, ret) && siblings_have_opened(ret, fd, why);
    siblings_free(&earlier);
    ret->live.begin_n = n;
    memcpy(ret->live.begin, begin, n);
    for (size_t i = 0; good && i < ret->count; i++)
        ret->list[i].is_of_live = sibling_is_of_live(&ret->list[i], fd, ret);
    good = good && !ret->has_moved && siblings_read_begin(fd, begin) == n && memcmp(begin, ret->live.begin, n) == 0;
    if (!good)
        siblings_free(ret);
    return good;
}

/* Was the open file renamed, so that no listing can find it at the log's path? */
static bool siblings_have_lost(const char *log, int fd)
{
    struct logs_file_stat at_path, open_one;
    return fd >= 0 && generation_stat_fd(fd, &open_one) == 0 &&
           (generation_stat_path(log, &at_path) || !generation_is_same(&at_path.id, &open_one.id));
}

bool siblings_find(struct siblings *ret, const char *log, int live_fd)
{
    bool good = false;
    for (int i = 0; i < SIBLINGS_TRIES && !(good = siblings_find_once(ret, log, live_fd)) && !siblings_have_lost(log, live_fd); i++)
        if (i >= SIBLINGS_AT_ONCE)
            usleep(SIBLINGS_STEP_MS * 1000);
    if (good && ret->count)
        qsort(ret->list, ret->count, sizeof *ret->list, sibling_order_ages);
    return good;
}
