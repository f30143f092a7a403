/* unpack.c: what is in a compressed file, within bounds: gzip, zlib and zip are looked into, by their first bytes, whatever the name says. */
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
              {"-----BEGIN PGP MESSAGE", 22, "encrypted by PGP"}};

struct unpacking {
    struct buf *to;
    size_t most; /* bytes of `to` */
    bool full;
};

static bool put(void *context, struct str out)
{
    struct unpacking *u = context;
    if (u->to->n + out.n > u->most || u->to->failed) {
        u->full = true;
        return false;
    }
    buf_str(u->to, out);
    return true;
}

static bool starts(struct str s, const char *bytes, size_t n)
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

/* One entry of a zip file, that begins at `at`. Sets *ret_end to where the next may begin. NULL, or why it is closed. */
static const char *zip_entry(struct unpacking *u, struct str s, size_t at, size_t *ret_end)
{
    unsigned flags = short_at(s, at + 6), method = short_at(s, at + 8);
    size_t from = at + ZIP_HEAD + short_at(s, at + 26) + short_at(s, at + 28);
    *ret_end = at + 4;
    if (flags & 1)
        return "an encrypted zip archive";
    if (method != 0 && method != 8)
        return "a zip archive that is compressed in another way than by deflate";
    if (method == 0 || from >= s.n) /* what is stored as it is has been looked at */
        return NULL;
    struct inflater *i = inflate_new(INFLATE_RAW);
    if (!i)
        return "compressed (and there is no zlib here)";
    struct str rest = str_sub(s, from, s.n - from);
    if (inflate_feed(i, rest, put, u) && inflate_ended(i))
        *ret_end = s.n - inflate_left(i);
    inflate_free(i);
    buf_putc(u->to, '\n');
    return NULL;
}

static const char *unzip(struct unpacking *u, struct str s)
{
    unsigned tries = 0;
    for (size_t at = 0, end; at + ZIP_HEAD < s.n && !u->full; at = end) {
        const char *next = memchr(s.p + at, 'P', s.n - at - ZIP_HEAD), *why;
        if (!next)
            return NULL;
        at = (size_t)(next - s.p);
        end = at + 1;
        if (memcmp(next, "PK\3\4", 4) != 0)
            continue;
        if (tries++ == TRIES_MAX)
            return "a zip archive of too many files";
        if ((why = zip_entry(u, s, at, &end)))
            return why;
    }
    return NULL;
}

static const char *unpack(struct unpacking *u, struct str s, int depth)
{
    size_t before = u->to->n;
    bool gzip = starts(s, "\x1f\x8b", 2) || is_zlib(s), zip = starts(s, "PK\3\4", 4);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (starts(s, closed[i].bytes, closed[i].n))
            return closed[i].what;
    if (!gzip && !zip)
        return NULL;
    if (depth == DEPTH_MAX || s.n > UINT32_MAX)
        return "compressed again and again";
    if (zip) {
        const char *why = unzip(u, s);
        return why ? why : u->full ? "larger than is looked at, when it is unpacked" : NULL;
    }
    struct inflater *i = inflate_new(INFLATE_HEADER);
    if (!i)
        return "compressed (and there is no zlib here)";
    inflate_feed(i, s, put, u); /* what a damaged one gives counts, too */
    inflate_free(i);
    if (u->full)
        return "larger than is looked at, when it is unpacked";
    char *inner = u->to->n > before ? malloc(u->to->n - before) : NULL; /* `to` may move while more is added */
    if (!inner)
        return NULL;
    struct str copy = {inner, u->to->n - before};
    memcpy(inner, u->to->p + before, copy.n);
    const char *why = unpack(u, copy, depth + 1);
    free(inner);
    return why;
}

const char *check_unpack(struct str data, size_t most, struct buf *to)
{
    struct unpacking u = {.to = to, .most = to->n + most};
    return unpack(&u, data, 0);
}
