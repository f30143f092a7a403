/* cache.c: facts that hold until the next boot, kept in one small file per probe.
 *
 * The name carries what the facts depend on (node, user, boot, processors allowed, what is visible,
 * benchwrap's version); the first line carries
 * a checksum of the rest. A file that is not the user's own, writable by others or damaged counts
 * as none:
 *   benchwrap-facts 1 <checksum>\n   then the facts as fact_text.h describes. */
#include "probes/state.h"

#include "base/fs.h"
#include "base/place.h"
#include "probes/cgroup.h"
#include "probes/fact_text.h"
#include "probes/look.h"
#include "probes/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "benchwrap-facts 1 ";
enum { CACHE_MAX = 8 << 20 }; /* topology of the largest machine known: 0.4 MB */
enum { HEAD = sizeof magic - 1 + 17 }; /* magic, 16 hex digits, LF */
enum { KEEP = 16 }; /* files per node and probe: jobs with other processor sets come back */

static uint64_t cache_hash_bytes(uint64_t hash, const void *p, size_t n)
{
    const unsigned char *c = p;
    while (n-- > 0)
        hash = (hash ^ *c++) * 0x100000001b3u;
    return hash;
}

static const uint64_t fnv_start = 0xcbf29ce484222325u;

static uint64_t cache_hash_str(uint64_t hash, struct str s)
{
    return cache_hash_bytes(cache_hash_bytes(hash, s.p, s.n), "", 1);
}

/* Reads which processors the cpuset control group allows, bound or not: its list, since its path
 * has the job's number in it and facts shall outlive the job; the path where the list is not
 * visible. Returns the length of the text. */
static size_t cache_read_cpuset(const struct host *h, struct look_text *ret)
{
    struct cgroup g;
    if (!look_read(h, ret, "proc/self/cpuset"))
        return ret->n = 0;
    struct look_text path = *ret;
    if (!cgroup_of_controller(h, "cpuset", &g) || !cgroup_allowed_cpus(h, &g, ret))
        *ret = path;
    return ret->n;
}

static void cache_mix_text(void *context, struct str text)
{
    uint64_t *hash = context;
    *hash = cache_hash_str(*hash, text);
}

/* Returns the hashes of what the facts depend on; not good where the boot cannot be named (then
 * nothing lasts). */
static struct cache_key cache_make_key(const struct host *h)
{
    struct look_text text;
    struct cache_key k = {.known = true, .node = fnv_start, .rest = cache_hash_str(fnv_start, str_of(BW_VERSION))};
    if (!look_read(h, &text, "proc/sys/kernel/hostname"))
        return k;
    k.node = cache_hash_str(cache_hash_str(k.node, (struct str){text.p, text.n}), str_of(h->root_path));
    if (!look_read(h, &text, "proc/sys/kernel/random/boot_id"))
        return k;
    k.rest = cache_hash_str(k.rest, (struct str){text.p, text.n});
    if (look_read(h, &text, "sys/devices/system/cpu/online"))
        k.rest = cache_hash_str(k.rest, (struct str){text.p, text.n});
    if (look_read(h, &text, "sys/devices/system/cpu/cpu0/microcode/version")) /* may be replaced while the kernel runs */
        k.rest = cache_hash_str(k.rest, (struct str){text.p, text.n});
    struct buf status CLEANUP_BUF;
    buf_init(&status, LOOK_STATUS_MAX + (1 << 17));
    if (look_read_own_status(h, &status) != 0)
        return k;
    k.rest = cache_hash_str(k.rest, look_value(buf_text(&status), "Cpus_allowed_list", ':'));
    k.rest = cache_hash_str(k.rest, look_value(buf_text(&status), "Mems_allowed_list", ':'));
    k.rest = cache_hash_str(k.rest, (struct str){text.p, cache_read_cpuset(h, &text)});
    view_mix(h, cache_mix_text, &k.rest);
    uid_t user = geteuid();
    k.rest = cache_hash_bytes(k.rest, &user, sizeof user);
    k.rest = cache_hash_bytes(k.rest, &h->public_profile, sizeof h->public_profile);
    char reason[256];
    k.good = !view_is_partial(h, reason); /* a partial view is not kept for runs with a full one */
    return k;
}

/* Writes the name of a probe's file: "<node>-<probe>-<rest of the key>"; *ret_prefix: the length of
 * the first two. Returns whether facts may be cached. The files behind the key are read once for a
 * host with state. */
static bool cache_file_name(const struct host *h, const char *probe, char ret[128], size_t *ret_prefix)
{
    struct cache_key own = {.known = false}, *k = h->state ? &h->state->cache : &own;
    if (!k->known)
        *k = cache_make_key(h);
    int n = snprintf(ret, 128, "%016llx-%s-", (unsigned long long)k->node, probe);
    *ret_prefix = (size_t)n;
    snprintf(ret + n, 128 - (size_t)n, "%016llx", (unsigned long long)k->rest);
    return k->good;
}

int probes_cache_open(const struct host *h)
{
    struct stat st;
    int fd = !h->cache ? -1 : place_open_folder(h->cache, 0);
    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() || st.st_mode & 022)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Appends a file of the cache. Returns false where it cannot be read, is longer than CACHE_MAX, is
 * not a regular file of this user, or others can write to it. */
static bool cache_read_file(int dir, const char *name, struct buf *text)
{
    struct stat st;
    int fd CLEANUP_FD = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022 || st.st_size > CACHE_MAX)
        return false;
    for (;;) {
        char *room = buf_room(text, 65536);
        ssize_t got = room ? read(fd, room, 65536) : -1;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            return true;
        text->n += (size_t)got;
    }
}

/* Returns whether the checksum in the first line is right. *ret: the text behind that line. */
static bool cache_has_checksum(struct str text, struct str *ret)
{
    char head[HEAD + 1];
    if (text.n < HEAD)
        return false;
    *ret = str_sub(text, HEAD, text.n);
    snprintf(head, sizeof head, "%s%016llx\n", magic, (unsigned long long)cache_hash_bytes(fnv_start, ret->p, ret->n));
    return memcmp(head, text.p, HEAD) == 0;
}

bool cache_replay(const struct host *h, const char *probe, struct record *r)
{
    char name[128];
    size_t prefix;
    if (!h->cache || !cache_file_name(h, probe, name, &prefix))
        return false;
    int dir CLEANUP_FD = probes_cache_open(h);
    struct buf text CLEANUP_BUF;
    buf_init(&text, CACHE_MAX + (1 << 17));
    struct str rest, all;
    struct fact_text f;
    if (dir < 0 || !cache_read_file(dir, name, &text) || !cache_has_checksum(buf_text(&text), &all))
        return false;
    int more = 0;
    bool artifacts = false;
    for (rest = all; (more = fact_text_next(&rest, &f)) > 0;)
        artifacts |= f.kind == 'A';
    /* Made without a spool, so without the artifacts that are required now: read the machine again. */
    if (more < 0 || (h->spool >= 0 && !artifacts && str_has(all, "artifacts were switched off")))
        return false;
    for (rest = all; fact_text_next(&rest, &f) > 0;)
        fact_text_replay(h, r, &f);
    return true;
}

/* Appends a fact, and an artifact with its content. Leaves out metrics, which are of this moment,
 * and warnings, which were given. Returns false where nothing may be cached: an artifact cannot be
 * read, or out of memory. */
static bool cache_add_fact(const struct host *h, struct buf *to, const struct fact *f)
{
    struct buf content CLEANUP_BUF;
    buf_init(&content, CACHE_MAX);
    char file[256];
    if (f->kind == FACT_METRIC || f->kind == FACT_WARNING)
        return true;
    if (f->kind != FACT_ARTIFACT) {
        fact_text_add_fact(to, f);
        return !to->failed;
    }
    if (h->spool < 0 || f->text.n >= sizeof file || !str_eq(f->text, f->key))
        return false;
    memcpy(file, f->text.p, f->text.n);
    file[f->text.n] = 0;
    if (fs_read(h->spool, file, CACHE_MAX, 0, &content, NULL) != 0)
        return false;
    fact_text_add(to, 'A', f->key, buf_text(&content));
    return !to->failed;
}

/* Removes the other files of this node and probe where there are more than KEEP: old boots and
 * forgotten processor sets (a miss costs 10 ms, once). */
static void cache_remove_old(int dir, const char *name, size_t prefix)
{
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    if (!d) {
        fs_close(&again);
        return;
    }
    size_t count = 0;
    for (struct dirent *e; (e = readdir(d));)
        count += strncmp(e->d_name, name, prefix) == 0;
    if (count > KEEP) {
        rewinddir(d);
        for (struct dirent *e; (e = readdir(d));)
            if (strncmp(e->d_name, name, prefix) == 0 && strcmp(e->d_name, name) != 0)
                unlinkat(dir, e->d_name, 0);
    }
    closedir(d);
}

void cache_store(const struct host *h, const char *probe, const struct record *r, const struct fact *after)
{
    char name[128];
    size_t prefix;
    if (!h->cache || !cache_file_name(h, probe, name, &prefix))
        return;
    struct buf body CLEANUP_BUF, whole CLEANUP_BUF;
    buf_init(&body, CACHE_MAX - HEAD);
    buf_init(&whole, CACHE_MAX);
    for (const struct fact *f = after ? after->next : r->first; f; f = f->next)
        if (!cache_add_fact(h, &body, f))
            return;
    if (h->spool < 0)
        fact_text_add(&body, 'N', STR(""), STR("artifacts were switched off"));
    buf_printf(&whole, "%s%016llx\n", magic, (unsigned long long)cache_hash_bytes(fnv_start, body.p, body.n));
    buf_str(&whole, buf_text(&body));
    if (whole.failed || fs_mkdirs(AT_FDCWD, h->cache, 0700, NULL) != 0)
        return;
    int dir CLEANUP_FD = probes_cache_open(h);
    if (dir >= 0 && fs_write(dir, name, buf_text(&whole), 0600, false, NULL) == 0)
        cache_remove_old(dir, name, prefix);
}
