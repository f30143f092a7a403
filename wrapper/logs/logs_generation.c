/* logs_generation.c: recognises files of followed logs; see logs_generation.h. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/place.h"
#include "logs/logs_generation.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int generation_stat(int dir, const char *path, int flags, struct logs_file_stat *ret)
{
    struct statx st;
    if (statx(dir, path, flags, STATX_BASIC_STATS | STATX_BTIME, &st))
        return -1;
    *ret = (struct logs_file_stat){.id = {.dev = makedev(st.stx_dev_major, st.stx_dev_minor), .ino = st.stx_ino},
                                   .size = st.stx_size,
                                   .mtime_ns = st.stx_mtime.tv_sec * INT64_C(1000000000) + st.stx_mtime.tv_nsec,
                                   .is_regular = S_ISREG(st.stx_mode),
                                   .is_deleted = st.stx_nlink == 0};
    if (st.stx_mask & STATX_BTIME)
        ret->id.born_ns = st.stx_btime.tv_sec * INT64_C(1000000000) + st.stx_btime.tv_nsec;
    return 0;
}

int generation_stat_path(const char *path, struct logs_file_stat *ret)
{
    return generation_stat(AT_FDCWD, path, AT_STATX_SYNC_AS_STAT, ret);
}

int generation_stat_fd(int fd, struct logs_file_stat *ret)
{
    return generation_stat(fd, "", AT_EMPTY_PATH, ret);
}

bool generation_is_same(const struct logs_identity *a, const struct logs_identity *b)
{
    return a->ino == b->ino && a->dev == b->dev && (!a->born_ns || !b->born_ns || a->born_ns == b->born_ns);
}

int generation_open(const char *path, const struct logs_identity *id)
{
    struct logs_file_stat st;
    CLEANUP_FD int fd = place_open_found(path);
    if (fd < 0 || generation_stat_fd(fd, &st))
        return -1;
    if (generation_is_same(&st.id, id))
        return fs_take(&fd);
    errno = ESTALE;
    return -1;
}

static uint64_t generation_mark_of(const char *p, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

bool generation_has_mark(const struct logs_generation *g, int fd)
{
    char p[GENERATION_MARK];
    return g->mark_n == 0 || (pread(fd, p, g->mark_n, 0) == (ssize_t)g->mark_n && generation_mark_of(p, g->mark_n) == g->mark);
}

static bool generation_is_mark(const char *p, size_t n)
{
    return n == GENERATION_MARK || memchr(p, '\n', n);
}

void generation_set_mark(struct logs_generation *g, const char *p, size_t n, bool is_settled)
{
    if (!is_settled && !generation_is_mark(p, n))
        return;
    g->mark = generation_mark_of(p, n);
    g->mark_n = (unsigned)n;
}

bool generation_check_mark(struct logs_generation *g)
{
    char p[GENERATION_MARK];
    ssize_t n = pread(g->fd, p, sizeof p, 0);
    if (n < (ssize_t)g->mark_n || (g->mark_n && generation_mark_of(p, g->mark_n) != g->mark))
        return false;
    if (n > (ssize_t)g->mark_n)
        generation_set_mark(g, p, (size_t)n, g->mark_n > 0);
    return true;
}

bool generation_has_line(const struct logs_generation *g)
{
    char p[GENERATION_MARK];
    ssize_t n = pread(g->fd, p, sizeof p, 0);
    return n > 0 && generation_is_mark(p, (size_t)n);
}

void generation_write(const struct logs_generation *g, const char *path, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "path", path);
    json_text(&j, "now", g->path);
    json_printf(&j, "dev", "\"%llx\"", (unsigned long long)g->id.dev);
    json_printf(&j, "ino", "\"%llx\"", (unsigned long long)g->id.ino);
    json_printf(&j, "born", "\"%llx\"", (unsigned long long)g->id.born_ns);
    json_printf(&j, "mark", "\"%llx\"", (unsigned long long)g->mark);
    json_uint(&j, "mark_n", g->mark_n);
    json_uint(&j, "at", g->at);
    json_uint(&j, "size", g->size);
    json_printf(&j, "mtime", "\"%llx\"", (unsigned long long)g->mtime_ns);
    json_flag(&j, "done", g->is_done && g->at == g->read);
    json_flag(&j, "packed", g->is_packed);
    json_flag(&j, "key", g->secrets.in_key && g->at == g->read);
    json_flag(&j, "continued", g->is_continued && g->at == g->read);
    json_close(&j, '}');
    buf_putc(to, '\n');
}

/* Numbers of 64 bits are stored in hexadecimal: a JSON number holds 53. */
static bool generation_number(const struct json *j, const char *key, uint64_t *ret)
{
    const char *text = json_string(json_get(j, key), NULL);
    return text && str_based(str_of(text), 16, ret);
}

bool generation_read(const struct json *j, struct generation_line *ret)
{
    uint64_t born, mtime;
    int64_t mark_n = json_integer(json_get(j, "mark_n"), -1), at = json_integer(json_get(j, "at"), -1),
            size = json_integer(json_get(j, "size"), -1);
    *ret = (struct generation_line){.path = json_string(json_get(j, "path"), NULL), .now = json_string(json_get(j, "now"), NULL)};
    if (!ret->path || !ret->now || ret->path[0] != '/' || ret->now[0] != '/' || mark_n < 0 || mark_n > GENERATION_MARK || at < 0 ||
        size < 0 || !generation_number(j, "dev", &ret->g.id.dev) || !generation_number(j, "ino", &ret->g.id.ino) ||
        !generation_number(j, "born", &born) || !generation_number(j, "mark", &ret->g.mark) || !generation_number(j, "mtime", &mtime))
        return false;
    ret->g.id.born_ns = (int64_t)born;
    ret->g.mtime_ns = (int64_t)mtime;
    ret->g.mark_n = (unsigned)mark_n;
    ret->g.at = ret->g.read = (uint64_t)at;
    ret->g.size = (uint64_t)size;
    ret->g.is_done = json_bool(json_get(j, "done"), false);
    ret->g.secrets.in_key = json_bool(json_get(j, "key"), false);
    ret->g.is_packed = json_bool(json_get(j, "packed"), false);
    ret->g.is_continued = json_bool(json_get(j, "continued"), false);
    return true;
}

bool generation_is_rotated_name(struct str name, struct str base)
{
    static const char *const packed[] = {".gz", ".xz", ".bz2", ".zst"};
    if (name.n <= base.n + 1 || memcmp(name.p, base.p, base.n) != 0)
        return false;
    struct str rest = str_sub(name, base.n, name.n);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (str_ends(rest, packed[i]))
            rest.n -= strlen(packed[i]);
    if (rest.n < 2 || (rest.p[0] != '.' && rest.p[0] != '-'))
        return false;
    rest = str_sub(rest, 1, rest.n);
    if (str_is(rest, "old") || str_is(rest, "bak"))
        return true;
    for (size_t i = 0; i < rest.n; i++)
        if (!str_is_digit(rest.p[i]) && (i == 0 || !strchr("._-T:", rest.p[i])))
            return false;
    return true;
}
