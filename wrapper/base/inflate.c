/* inflate.c: undoes gzip and deflate through zlib, loaded at run time; see inflate.h. */
#include "base/inflate.h"

#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* zlib's stable ABI (zlib.h, z_stream), written down so that its headers are not needed to build. */
struct z_stream_abi {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state, *zalloc, *zfree, *opaque;
    int data_type;
    unsigned long adler, reserved;
};
enum { Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5, AUTO_HEADER = 15 + 32, NO_HEADER = -15, GZIP_MAGIC = 0x1f };

static struct {
    int (*init)(struct z_stream_abi *z, int bits, const char *version, int size);
    int (*run)(struct z_stream_abi *z, int flush);
    int (*end)(struct z_stream_abi *z);
    int (*again)(struct z_stream_abi *z);
} zlib;

struct inflater {
    struct z_stream_abi z;
    bool ended, raw;
};

/* Loads zlib's functions; those that it lacks stay NULL. */
static void zlib_load(void)
{
    void *h = library_open(LIBRARY_ZLIB);
    if (h) {
        zlib.run = (__typeof__(zlib.run))dlsym(h, "inflate");
        zlib.end = (__typeof__(zlib.end))dlsym(h, "inflateEnd");
        zlib.again = (__typeof__(zlib.again))dlsym(h, "inflateReset");
        zlib.init = (__typeof__(zlib.init))dlsym(h, "inflateInit2_");
    }
}

struct inflater *inflate_new(enum inflate_form form)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, zlib_load);
    struct inflater *i = zlib.init && zlib.run && zlib.end && zlib.again ? calloc(1, sizeof *i) : NULL;
    if (i && zlib.init(&i->z, form == INFLATE_RAW ? NO_HEADER : AUTO_HEADER, "1.2.11", (int)sizeof i->z) != Z_OK) {
        free(i);
        return NULL;
    }
    if (i)
        i->raw = form == INFLATE_RAW;
    return i;
}

void inflate_free(struct inflater *i)
{
    if (i)
        zlib.end(&i->z);
    free(i);
}

bool inflate_feed(struct inflater *i, struct str in, bool (*put)(void *context, struct str out), void *context)
{
    unsigned char out[16384];
    i->z.next_in = (const unsigned char *)in.p;
    i->z.avail_in = (unsigned)in.n;
    for (;;) {
        if (i->ended) { /* another gzip member may follow (RFC 1952, 2.2); other bytes are ignored, as gzip does */
            if (i->raw || !i->z.avail_in || *i->z.next_in != GZIP_MAGIC || zlib.again(&i->z) != Z_OK)
                return true;
            i->ended = false;
        }
        i->z.next_out = out;
        i->z.avail_out = sizeof out;
        int status = zlib.run(&i->z, 0);
        size_t n = sizeof out - i->z.avail_out;
        if (n && !put(context, (struct str){(const char *)out, n}))
            return false;
        i->ended = status == Z_STREAM_END;
        if (status != Z_OK && status != Z_STREAM_END)
            return status == Z_BUF_ERROR; /* it needs more input */
        if (!i->z.avail_in && i->z.avail_out)
            return true;
    }
}

bool inflate_ended(const struct inflater *i)
{
    return i->ended;
}

size_t inflate_left(const struct inflater *i)
{
    return i->z.avail_in;
}

bool inflate_make_gzip(struct str in, struct buf *to)
{
    enum { LEVEL = 6, DEFLATED = 8, GZIP_BITS = 15 + 16, MEMORY = 8, DEFAULT_STRATEGY = 0, FINISH = 4 };
    void *h = library_open(LIBRARY_ZLIB);
    if (!h || in.n > INT32_MAX)
        return false;
    int (*begin)(struct z_stream_abi * z, int level, int method, int bits, int memory, int strategy, const char *version, int size) =
        (__typeof__(begin))dlsym(h, "deflateInit2_");
    int (*run)(struct z_stream_abi * z, int flush) = (__typeof__(run))dlsym(h, "deflate");
    int (*end)(struct z_stream_abi * z) = (__typeof__(end))dlsym(h, "deflateEnd");
    unsigned long (*bound)(struct z_stream_abi * z, unsigned long n) = (__typeof__(bound))dlsym(h, "deflateBound");
    struct z_stream_abi z = {.next_in = (const unsigned char *)in.p, .avail_in = (unsigned)in.n};
    if (!begin || !run || !end || !bound ||
        begin(&z, LEVEL, DEFLATED, GZIP_BITS, MEMORY, DEFAULT_STRATEGY, "1.2.11", (int)sizeof z) != Z_OK)
        return false;
    size_t most = bound(&z, in.n);
    char *p = buf_room(to, most);
    z.next_out = (unsigned char *)p;
    z.avail_out = (unsigned)most;
    bool good = p && run(&z, FINISH) == Z_STREAM_END;
    if (good)
        to->n += most - z.avail_out;
    end(&z);
    return good;
}
