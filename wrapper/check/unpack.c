/* unpack.c: unpack gzip, zlib, zip and tar within bounds, recognised by their bytes, not the name. */
#include "check/parts.h"

#include "base/inflate.h"

#include <stdlib.h>

enum { DEPTH_MAX = 3, TRIES_MAX = 20000 /* entries of a zip file */, ZIP_HEAD = 30 };

static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} closed[] = {{"\3757zXZ", 5, "compressed by xz"},
              {"BZh", 3, "compressed by bzip2"},
              {"\x28\xb5\x2f\xfd", 4, "compressed by zstd"},
              {"\x04\x22\x4d\x18", 4, "compressed by lz4"},
              {"\x1f\x9d", 2, "compressed by compress"},
              {"7z\xbc\xaf\x27\x1c", 6, "a 7z archive"},
              {"Rar!\x1a", 5, "a rar archive"},
              {"age-encryption.org/", 19, "encrypted by age"},
              {"Salted__", 8, "encrypted by OpenSSL"},
              {"!<arch>\n", 8, "an archive of ar"},
              {"070701", 6, "an archive of cpio"},
              {"-----BEGIN PGP MESSAGE", 22, "encrypted by PGP"}};

struct unpacking {
    struct buf *to;
    size_t most; /* bytes of `to` */
    bool full;
};
/* Streams of a zip file that do not end are read again, at most so often all together: entries that
 * overlap would be read thousands of times. */
enum { ZIP_READINGS = 4 };

static bool unpack_append(void *context, struct str out)
{
    struct unpacking *u = context;
    if (u->to->n + out.n > u->most || u->to->failed) {
        u->full = true;
        return false;
    }
    buf_str(u->to, out);
    return true;
}

static bool has_magic(struct str s, const char *bytes, size_t n)
{
    return s.n >= n && memcmp(s.p, bytes, n) == 0;
}

static bool is_zlib(struct str s)
{
    return s.n > 8 && s.p[0] == 0x78 && (((unsigned)s.p[0] << 8) | (unsigned char)s.p[1]) % 31 == 0 && !(s.p[1] & 0x20);
}

static unsigned short_at(struct str s, size_t at)
{
    return (unsigned)(unsigned char)s.p[at] | (unsigned)(unsigned char)s.p[at + 1] << 8;
}

/* Unpacks the data, at most DEPTH_MAX deep, and appends the content to u->to. Returns why it cannot
 * be read; NULL: it is unpacked, or not compressed. */
static const char *unpack_data(struct unpacking *u, struct str s, int depth);

static bool leads_out(struct str path)
{
    if (path.n && (path.p[0] == '/' || path.p[0] == '\\'))
        return true;
    for (size_t i = 0; i + 2 <= path.n; i++)
        if (memcmp(path.p + i, "..", 2) == 0 && (i == 0 || strchr("/\\", path.p[i - 1])) &&
            (i + 2 == path.n || strchr("/\\", path.p[i + 2])))
            return true;
    return false;
}

/* Unpacks what was appended from offset `before` on, if it is an archive itself. Returns NULL, or why it
 * cannot be read. */
static const char *unpack_inner(struct unpacking *u, size_t before, int depth)
{
    size_t n = u->to->n - before;
    char *inner = n ? malloc(n) : NULL; /* `to` may move while more is added */
    if (!inner)
        return n ? "an archive that needs more memory than there is" : NULL;
    memcpy(inner, u->to->p + before, n);
    const char *why = unpack_data(u, (struct str){inner, n}, depth + 1);
    free(inner);
    return why;
}

/* Appends the content of the entry of a zip file that begins at `at`. Sets *ret_end to where the
 * next may begin, and adds to *lost the bytes of a stream that does not end. NULL, or why the
 * entry cannot be read. */
static const char *zip_entry(struct unpacking *u, struct str s, size_t at, int depth, size_t *ret_end, size_t *lost)
{
    unsigned flags = short_at(s, at + 6), method = short_at(s, at + 8);
    size_t from = at + ZIP_HEAD + short_at(s, at + 26) + short_at(s, at + 28);
    *ret_end = at + 4;
    if (flags & 1)
        return "an encrypted zip archive";
    if (method != 0 && method != 8)
        return "a zip archive that is compressed in another way than by deflate";
    if (leads_out(str_sub(s, at + ZIP_HEAD, short_at(s, at + 26))))
        return "a zip archive with a path that leads out of it";
    if (method == 0 || from >= s.n) /* the caller has searched uncompressed entries */
        return NULL;
    struct inflater *i = inflate_new(INFLATE_RAW);
    if (!i)
        return "compressed, and zlib is not available";
    struct str rest = str_sub(s, from, s.n - from);
    size_t before = u->to->n;
    if (inflate_feed(i, rest, unpack_append, u) && inflate_ended(i))
        *ret_end = s.n - inflate_left(i);
    else
        *lost += rest.n - inflate_left(i);
    inflate_free(i);
    const char *why = unpack_inner(u, before, depth);
    buf_putc(u->to, '\n');
    return why;
}

/* Appends the compressed entries of a zip archive to u->to, until u->full. NULL; else why content
 * was not unpacked, a static text. */
static const char *unpack_zip(struct unpacking *u, struct str s, int depth)
{
    unsigned tries = 0;
    for (size_t at = 0, end, lost = 0; at + ZIP_HEAD < s.n && !u->full; at = end) {
        const char *next = memchr(s.p + at, 'P', s.n - at - ZIP_HEAD), *why;
        if (!next)
            return NULL;
        at = (size_t)(next - s.p);
        end = at + 1;
        if (memcmp(next, "PK\3\4", 4) != 0)
            continue;
        if (tries++ == TRIES_MAX)
            return "a zip archive of too many files";
        if ((why = zip_entry(u, s, at, depth, &end, &lost)))
            return why;
        if (lost / ZIP_READINGS > s.n)
            return "a zip archive whose entries overlap";
    }
    return NULL;
}

/* Returns whether there may be a zip archive at the end of another file, such as a picture or a
 * program, where some programs open it. */
static bool has_zip_behind(struct str s)
{
    enum { END = 22, COMMENT_MAX = 65535 };
    struct str tail = s.n > END + COMMENT_MAX ? str_sub(s, s.n - END - COMMENT_MAX, END + COMMENT_MAX) : s;
    return tail.n >= END && memmem(tail.p, tail.n, "PK\5\6", 4) && memmem(s.p, s.n, "PK\3\4", 4);
}

enum { TAR_BLOCK = 512, TAR_MAGIC = 257, TAR_SIZE = 124, TAR_TYPE = 156 };

static bool is_tar(struct str s)
{
    return s.n >= TAR_BLOCK && memcmp(s.p + TAR_MAGIC, "ustar", 5) == 0;
}

/* Unpacks the members of a tar archive that are archives themselves; the others are read with
 * the archive. Returns why something was not unpacked, a static text. NULL: all was. */
static const char *unpack_tar(struct unpacking *u, struct str s, int depth)
{
    for (size_t at = 0; at + TAR_BLOCK <= s.n && s.p[at] && !u->full;) {
        size_t size = 0, name_n = strnlen(s.p + at, 100);
        char type = s.p[at + TAR_TYPE];
        if (leads_out(str_sub(s, at, name_n)))
            return "a tar archive with a path that leads out of it";
        if (type >= '1' && type <= '6' && type != '5')
            return "a tar archive with links or devices";
        for (size_t i = 0; i < 11 && s.p[at + TAR_SIZE + i] >= '0' && s.p[at + TAR_SIZE + i] <= '7'; i++)
            size = size * 8 + (size_t)(s.p[at + TAR_SIZE + i] - '0');
        at += TAR_BLOCK;
        if (size > s.n - at)
            size = s.n - at;
        const char *why = unpack_data(u, str_sub(s, at, size), depth + 1);
        if (why)
            return why;
        at += (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    }
    return u->full ? "larger than the limit of check when unpacked" : NULL;
}

/* Appends what a compressed text or archive holds to u->to, also of archives in it, at most
 * DEPTH_MAX deep. NULL, also for other files; else why content was not unpacked, a static text. */
static const char *unpack_data(struct unpacking *u, struct str s, int depth)
{
    size_t before = u->to->n;
    bool gzip = has_magic(s, "\x1f\x8b", 2) || is_zlib(s), zip = has_magic(s, "PK\3\4", 4) || has_zip_behind(s);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (has_magic(s, closed[i].bytes, closed[i].n))
            return closed[i].what;
    bool tar = is_tar(s);
    if (!gzip && !zip && !tar)
        return NULL;
    if (depth == DEPTH_MAX || s.n > UINT32_MAX)
        return "compressed again and again";
    if (tar)
        return unpack_tar(u, s, depth);
    if (zip) {
        const char *why = unpack_zip(u, s, depth);
        return why ? why : u->full ? "larger than the limit of check when unpacked" : NULL;
    }
    struct inflater *i = inflate_new(INFLATE_HEADER);
    if (!i)
        return "compressed, and zlib is not available";
    inflate_feed(i, s, unpack_append, u); /* the readable part of a damaged one counts, too */
    inflate_free(i);
    if (u->full)
        return "larger than the limit of check when unpacked";
    return unpack_inner(u, before, depth);
}

const char *check_unpack(struct str data, size_t most, struct buf *to)
{
    struct unpacking u = {.to = to, .most = to->n + most};
    return unpack_data(&u, data, 0);
}
