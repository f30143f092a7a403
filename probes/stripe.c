/* stripe.c: how a parallel file system lays out a file or the files of a directory. */
#include "probes/stripe.h"

#include "base/query.h"

#include <stdio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

enum { ANSWER_MAX = 65536 };

/* ---- Lustre's attribute ---- */

static uint64_t stripe_little_endian(const char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

enum {
    LOV_V1 = 0x0bd10bd0,
    LOV_V3 = 0x0bd30bd0,
    LOV_COMPOSITE = 0x0bd60bd0,
    LOV_SPECIFIC = 0x0bd50bd0,
    LOV_HEAD = 32, /* magic 4, pattern 4, object id 16, stripe size 4, count 2, offset 2 */
    LOV_POOL = 16,
    COMPOSITE_HEAD = 32,
    COMPOSITE_ENTRY = 48, /* id 4, flags 4, extent 16, offset 4, size 4, … */
    ENTRY_IN_USE = 0x10
};

/* Reads a plain layout. Returns false where the text is none. */
static bool stripe_of_plain_lov(struct str lov, struct stripe *ret)
{
    if (lov.n < LOV_HEAD)
        return false;
    uint64_t magic = stripe_little_endian(lov.p, 4), pattern = stripe_little_endian(lov.p + 4, 4),
             count = stripe_little_endian(lov.p + 28, 2);
    if (magic != LOV_V1 && magic != LOV_V3 && magic != LOV_SPECIFIC)
        return false;
    ret->size_B = (int64_t)stripe_little_endian(lov.p + 24, 4);
    ret->all = count == 0xffff;
    ret->count = ret->all ? -1 : (int64_t)count;
    snprintf(ret->pattern, sizeof ret->pattern, "%s", pattern & 0x100 ? "mdt" : pattern & 0x2 ? "raid1" : pattern & 0x1 ? "raid0" : "");
    if (magic != LOV_V1 && lov.n >= LOV_HEAD + LOV_POOL)
        for (size_t i = 0; i < LOV_POOL && lov.p[LOV_HEAD + i] > ' ' && lov.p[LOV_HEAD + i] < 127; i++)
            ret->pool[i] = lov.p[LOV_HEAD + i];
    return true;
}

bool stripe_of_lov(struct str lov, struct stripe *ret)
{
    *ret = (struct stripe){.count = -1, .size_B = -1};
    if (lov.n < LOV_HEAD)
        return false;
    if (stripe_little_endian(lov.p, 4) != LOV_COMPOSITE)
        return stripe_of_plain_lov(lov, ret);
    unsigned entries = (unsigned)stripe_little_endian(lov.p + 14, 2);
    bool found = false;
    for (unsigned i = 0; i < entries && COMPOSITE_HEAD + (i + 1) * (size_t)COMPOSITE_ENTRY <= lov.n; i++) {
        const char *entry = lov.p + COMPOSITE_HEAD + (size_t)i * COMPOSITE_ENTRY;
        uint64_t flags = stripe_little_endian(entry + 4, 4), offset = stripe_little_endian(entry + 24, 4),
                 size = stripe_little_endian(entry + 28, 4);
        struct stripe one = {.count = -1, .size_B = -1};
        if (offset > lov.n || size > lov.n - offset || !stripe_of_plain_lov(str_sub(lov, offset, size), &one))
            continue;
        if (!found || flags & ENTRY_IN_USE)
            *ret = one;
        found = true;
    }
    ret->components = entries;
    return found;
}

/* ---- what tools print ---- */

/* Returns the number or word behind "name:" anywhere in a line; "" if it is not there. */
static struct str stripe_word_behind(struct str line, const char *name)
{
    ptrdiff_t at = str_find(line, str_of(name));
    if (at < 0)
        return (struct str){"", 0};
    struct str rest = str_sub(line, (size_t)at + strlen(name), line.n);
    return str_word(&rest);
}

/* Parses the number behind the name, also with a unit of size. Returns false where there is
 * none. */
static bool stripe_parse_number(struct str line, const char *name, int64_t *ret)
{
    struct str value = stripe_word_behind(line, name);
    uint64_t size;
    if (value.n > 0 && (value.p[value.n - 1] == ';' || value.p[value.n - 1] == ','))
        value.n--;
    if (str_int(value, ret))
        return true;
    if (!str_size(value, &size) || size > INT64_MAX)
        return false;
    *ret = (int64_t)size;
    return true;
}

static void stripe_parse_word(struct str line, const char *name, char *ret, size_t size)
{
    struct str value = stripe_word_behind(line, name);
    if (value.n > 0 && value.n < size && str_valid_utf8(value) && !memchr(value.p, 27, value.n))
        snprintf(ret, size, STR_FMT, STR_ARG(value));
}

bool stripe_of_lfs(struct str text, struct stripe *ret)
{
    *ret = (struct stripe){.count = -1, .size_B = -1};
    bool any = false;
    while (text.p) { /* of a composite layout the last component counts, as with the attribute */
        struct str line = str_cut(&text, '\n');
        int64_t n;
        any |= stripe_parse_number(line, "stripe_count:", &ret->count);
        any |= stripe_parse_number(line, "stripe_size:", &ret->size_B);
        stripe_parse_word(line, "lmm_pool:", ret->pool, sizeof ret->pool);
        stripe_parse_word(line, "pattern:", ret->pattern, sizeof ret->pattern);
        if (stripe_parse_number(line, "lcm_entry_count:", &n) && n > 0 && n < 1000)
            ret->components = (unsigned)n;
    }
    ret->all = any && ret->count == -1;
    return any;
}

bool stripe_of_beegfs(struct str text, struct stripe *ret)
{
    *ret = (struct stripe){.count = -1, .size_B = -1};
    bool any = false;
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        any |= stripe_parse_number(line, "Chunksize:", &ret->size_B);
        if (stripe_parse_number(line, "actual:", &ret->count) || stripe_parse_number(line, "desired:", &ret->count))
            any = true;
        if (str_has(line, "+ Type:"))
            stripe_parse_word(line, "Type:", ret->pattern, sizeof ret->pattern);
    }
    return any;
}

bool stripe_of_mmlsattr(struct str text, struct stripe *ret)
{
    *ret = (struct stripe){.count = -1, .size_B = -1};
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        stripe_parse_word(line, "storage pool name:", ret->pool, sizeof ret->pool);
        stripe_parse_word(line, "data replication:", ret->pattern, sizeof ret->pattern);
    }
    return ret->pool[0] != 0;
}

/* ---- requests ---- */

/* Runs a vendor's tool with the environment env, and appends its output of at most 64 KiB. Returns
 * 0, or -1 with err: it is not installed, failed, or did not end within wait_ms. */
static int stripe_run_tool(const char *const *argv, char *const *env, int wait_ms, struct buf *ret, struct err *err)
{
    struct query ask;
    if (query_start(&ask, (char *const *)argv, env, ANSWER_MAX, wait_ms, 0, err) != 0) {
        query_close(&ask);
        return -1;
    }
    enum query_end end = query_wait(&ask, wait_ms);
    bool good = end == QUERY_DONE && WIFEXITED(ask.status) && WEXITSTATUS(ask.status) == 0;
    if (good)
        buf_str(ret, buf_text(&ask.text));
    else if (end == QUERY_LATE || end == QUERY_RUNS)
        err_set(err, ERR_SYSTEM, "%s did not end within %d ms", argv[0], wait_ms);
    else
        err_set(err, ERR_SYSTEM, "%s %s", argv[0],
                end == QUERY_DONE && WIFEXITED(ask.status) && WEXITSTATUS(ask.status) == 127 ? "is not installed" : "failed");
    query_close(&ask);
    return good ? 0 : -1;
}

/* Runs a vendor's tool for wait_ms at most, and parses its output. Returns 1 with *ret; -1 with
 * err: the tool failed, or `parse` found nothing. */
static int stripe_read_by_tool(const char *const *argv, char *const *env, bool (*parse)(struct str, struct stripe *), int wait_ms,
                               struct stripe *ret, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, ANSWER_MAX + 8192);
    if (stripe_run_tool(argv, env, wait_ms, &text, err) != 0)
        return -1;
    return parse(buf_text(&text), ret) ? 1 : err_set(err, ERR_INPUT, "what %s prints about the layout is not understood", argv[0]);
}

static bool stripe_read_ceph_number(const char *path, const char *of, const char *field, int64_t *ret)
{
    char name[64], value[64];
    snprintf(name, sizeof name, "ceph.%s.layout.%s", of, field);
    ssize_t n = getxattr(path, name, value, sizeof value);
    return n > 0 && str_int((struct str){value, (size_t)n}, ret);
}

/* Reads the layout from the attributes of CephFS. Returns 1 with *ret, or -1 with err: there are
 * none. */
static int stripe_read_ceph(const char *path, struct stripe *ret, struct err *err)
{
    static const char *const kinds[] = {"file", "dir"};
    *ret = (struct stripe){.count = -1, .size_B = -1};
    for (int i = 0; i < 2; i++)
        if (stripe_read_ceph_number(path, kinds[i], "stripe_count", &ret->count)) {
            stripe_read_ceph_number(path, kinds[i], "stripe_unit", &ret->size_B);
            return 1;
        }
    return err_set(err, ERR_SYSTEM, "CephFS reports no layout here: the directory has the default of its pool");
}

/* Reads the layout from the attribute lustre.lov, else by "lfs getstripe". Returns 1 with *ret, or
 * -1 with the tool's error. A missing or unknown attribute is no error. */
static int stripe_read_lustre(const char *path, char *const *env, int wait_ms, struct stripe *ret, struct err *err)
{
    const char *const argv[] = {"lfs", "getstripe", "-d", path, NULL}; /* -d: of a directory itself, not of what is in it */
    char lov[16384];
    ssize_t n = getxattr(path, "lustre.lov", lov, sizeof lov);
    if (n > 0 && stripe_of_lov((struct str){lov, (size_t)n}, ret))
        return 1;
    return stripe_read_by_tool(argv, env, stripe_of_lfs, wait_ms, ret, err);
}

int stripe_read(const char *type, const char *path, char *const *env, int wait_ms, struct stripe *ret, struct err *err)
{
    const char *const beegfs[] = {"beegfs-ctl", "--getentryinfo", "--nomappings", path, NULL};
    const char *const gpfs[] = {"mmlsattr", "-L", path, NULL};
    if (strcmp(type, "lustre") == 0)
        return stripe_read_lustre(path, env, wait_ms, ret, err);
    if (strcmp(type, "beegfs") == 0)
        return stripe_read_by_tool(beegfs, env, stripe_of_beegfs, wait_ms, ret, err);
    if (strcmp(type, "gpfs") == 0)
        return stripe_read_by_tool(gpfs, env, stripe_of_mmlsattr, wait_ms, ret, err);
    if (strcmp(type, "ceph") == 0)
        return stripe_read_ceph(path, ret, err);
    return 0;
}
