/* libraries.c: resolves NEEDED: RPATH, LD_LIBRARY_PATH, RUNPATH, ld.so.cache, the standard folders; files of the right kind only. */
#include "probes/libraries.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_FILE_MAX = 16 << 20 };

struct resolver {
    const struct host *h;
    struct library_list *list;
    unsigned machine;
    bool wide, big;
    const char *env_path; /* LD_LIBRARY_PATH or NULL */
    struct buf cache; /* /etc/ld.so.cache */
    struct elf elf; /* of the file under the hands */
};

/* A file that requires libraries. */
struct asker {
    const char *path, *rpath, *runpath;
};

/* Opens path below the root if it is an ELF file for this machine, read into r->elf. */
static bool libraries_can_load(struct resolver *r, const char *path)
{
    struct stat st;
    int fd CLEANUP_FD = path[0] == '/' ? openat(r->h->root, path + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && elf_read_fd(&r->elf, fd, NULL) == 0 && r->elf.machine == r->machine &&
           r->elf.wide == r->wide;
}

/* Writes the path of `name` in the folder, with $ORIGIN and $LIB as the loader knows them. False:
 * the folder has another $, or it does not fit. */
static bool libraries_expand(const struct resolver *r, struct str dir, const char *asker, const char *name, char *ret, size_t size)
{
    size_t n = 0;
    const char *slash = strrchr(asker, '/');
    for (size_t i = 0; i < dir.n;) {
        struct str rest = str_sub(dir, i, dir.n), with = {dir.p + i, 1};
        size_t skip = 1;
        if (str_starts(rest, "$ORIGIN") || str_starts(rest, "${ORIGIN}")) {
            with = (struct str){asker, (size_t)(slash - asker)};
            skip = rest.p[1] == '{' ? 9 : 7;
        } else if (str_starts(rest, "$LIB") || str_starts(rest, "${LIB}")) {
            with = r->wide ? STR("lib64") : STR("lib");
            skip = rest.p[1] == '{' ? 6 : 4;
        } else if (dir.p[i] == '$')
            return false;
        if (n + with.n >= size)
            return false;
        memcpy(ret + n, with.p, with.n);
        n += with.n;
        i += skip;
    }
    int more = snprintf(ret + n, size - n, "%s%s", n > 0 && ret[n - 1] != '/' ? "/" : "", name);
    return n > 0 && more > 0 && (size_t)more < size - n;
}

/* Searches these folders, with ":" or ";" between them, for a library that can be loaded. Returns
 * true with its path in ret. */
static bool libraries_find_in_path(struct resolver *r, const char *folders, const char *asker, const char *name, char *ret, size_t size)
{
    for (struct str rest = str_of(folders); folders && rest.p;) {
        size_t colon = 0;
        while (colon < rest.n && rest.p[colon] != ':' && rest.p[colon] != ';')
            colon++;
        struct str dir = str_sub(rest, 0, colon);
        rest = colon < rest.n ? str_sub(rest, colon + 1, rest.n) : (struct str){NULL, 0};
        if (dir.n > 0 && libraries_expand(r, dir, asker, name, ret, size) && libraries_can_load(r, ret))
            return true;
    }
    return false;
}

/* Returns the 32-bit number at `at` of ld.so.cache, in that file's byte order. */
static uint32_t libraries_cache_number(const struct resolver *r, size_t at)
{
    const unsigned char *p = (const unsigned char *)r->cache.p + at;
    return r->big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                  : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static const char *libraries_cache_text(const struct resolver *r, uint32_t at)
{
    return at < r->cache.n && memchr(r->cache.p + at, 0, r->cache.n - at) ? r->cache.p + at : NULL;
}

/* Finds the library in ld.so.cache (format "glibc-ld.so.cache1.1": 48 bytes of header, then entries
 * of 24 bytes: flags, name, path, OS version, hwcap of 8 bytes). Sets *ret_variant where variants
 * for some processors exist. */
static bool libraries_find_in_cache(struct resolver *r, const char *name, char *ret, size_t size, bool *ret_variant)
{
    static const char magic[] = "glibc-ld.so.cache1.1";
    bool found = false;
    if (r->cache.n < 48 || memcmp(r->cache.p, magic, sizeof magic - 1) != 0)
        return false;
    size_t entries = libraries_cache_number(r, 20);
    if (entries > (r->cache.n - 48) / 24)
        return false;
    for (size_t i = 0; i < entries; i++) {
        size_t at = 48 + 24 * i;
        const char *key = libraries_cache_text(r, libraries_cache_number(r, at + 4)),
                   *path = libraries_cache_text(r, libraries_cache_number(r, at + 8));
        if (!key || !path || strcmp(key, name) != 0)
            continue;
        if (libraries_cache_number(r, at + 16) != 0 || libraries_cache_number(r, at + 20) != 0)
            *ret_variant = true;
        else if (!found && (size_t)snprintf(ret, size, "%s", path) < size)
            found = libraries_can_load(r, ret);
    }
    return found;
}

/* Searches a library in the order of the dynamic linker. Returns true with its path in ret. */
static bool libraries_find_file(struct resolver *r, const struct asker *a, const char *name, char *ret, size_t size, bool *ret_variant)
{
    static const char standard[] =
        "/lib64:/usr/lib64:/lib:/usr/lib:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
        "/lib/powerpc64le-linux-gnu:/usr/lib/powerpc64le-linux-gnu:/lib/s390x-linux-gnu:/usr/lib/s390x-linux-gnu";
    if (strchr(name, '/'))
        return (size_t)snprintf(ret, size, "%s", name) < size && libraries_can_load(r, ret);
    return (!a->runpath && libraries_find_in_path(r, a->rpath, a->path, name, ret, size)) ||
           libraries_find_in_path(r, r->env_path, a->path, name, ret, size) ||
           libraries_find_in_path(r, a->runpath, a->path, name, ret, size) || libraries_find_in_cache(r, name, ret, size, ret_variant) ||
           libraries_find_in_path(r, standard, a->path, name, ret, size);
}

/* Returns the name of the file behind the links, without its folder: "libmpi.so.40.30.4". In the
 * list's arena; NULL: the path is too long, or out of memory. */
static const char *libraries_real_name(const struct resolver *r, const char *path)
{
    char target[4096], at[4096];
    if ((size_t)snprintf(at, sizeof at, "%s", path) >= sizeof at)
        return NULL;
    for (int hops = 0; hops < 8; hops++) {
        ssize_t n = readlinkat(r->h->root, at + 1, target, sizeof target - 1);
        if (n <= 0)
            break;
        target[n] = 0;
        char *slash = strrchr(at, '/');
        size_t keep = target[0] == '/' ? 0 : (size_t)(slash - at) + 1;
        if (keep + (size_t)n >= sizeof at)
            break;
        memcpy(at + keep, target, (size_t)n + 1);
    }
    const char *slash = strrchr(at, '/');
    return arena_dup(r->list->arena, slash ? slash + 1 : at, strlen(slash ? slash + 1 : at));
}

static bool libraries_is_listed(const struct library_list *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->files[i].name, name) == 0)
            return true;
    return false;
}

static void libraries_add_needed(struct resolver *r, const struct elf *e)
{
    struct library_list *l = r->list;
    for (size_t i = 0; i < e->needed_count && l->count < LIBRARIES_MOST; i++) {
        if (libraries_is_listed(l, e->needed[i]))
            continue;
        const char *name = arena_dup(l->arena, e->needed[i], strlen(e->needed[i]));
        if (name)
            l->files[l->count++] = (struct library_file){.name = name, .build_id = ""};
    }
}

static const char *libraries_dup_text(struct arena *a, const char *z)
{
    return z ? arena_dup(a, z, strlen(z)) : NULL;
}

void libraries_resolve(struct library_list *ret, const struct host *h, const char *program, const struct elf *elf, struct arena *arena)
{
    struct resolver *r = arena_get(arena, sizeof *r);
    struct asker *askers = arena_get(arena, (LIBRARIES_MOST + 1) * sizeof *askers);
    unsigned *who = arena_get(arena, LIBRARIES_MOST * sizeof *who); /* index of the asker of each library */
    *ret = (struct library_list){.arena = arena};
    if (!r || !askers || !who)
        return;
    const char *why;
    *r = (struct resolver){.h = h,
                           .list = ret,
                           .machine = elf->machine,
                           .wide = elf->wide,
                           .big = elf->big,
                           .env_path = look_variable(h, "LD_LIBRARY_PATH", &why)};
    buf_init(&r->cache, CACHE_FILE_MAX + 65536);
    look_read_file(h, "etc/ld.so.cache", CACHE_FILE_MAX, &r->cache);
    askers[0] = (struct asker){program, elf->rpath, elf->runpath};
    libraries_add_needed(r, elf);
    for (size_t i = 0; i < ret->count; i++) {
        struct library_file *f = &ret->files[i];
        char path[4096];
        askers[i + 1] = askers[who[i]];
        /* The RPATH of the program also applies to what its libraries require. */
        bool found = libraries_find_file(r, &askers[who[i]], f->name, path, sizeof path, &f->variant) ||
                     (who[i] > 0 && !askers[who[i]].runpath && !askers[0].runpath &&
                      libraries_find_in_path(r, askers[0].rpath, program, f->name, path, sizeof path));
        if (!found)
            continue;
        f->path = arena_dup(arena, path, strlen(path));
        f->file = libraries_real_name(r, path);
        f->build_id = arena_dup(arena, r->elf.build_id, strlen(r->elf.build_id));
        askers[i + 1] = (struct asker){f->path, libraries_dup_text(arena, r->elf.rpath), libraries_dup_text(arena, r->elf.runpath)};
        size_t before = ret->count;
        libraries_add_needed(r, &r->elf);
        for (size_t k = before; k < ret->count; k++)
            who[k] = (unsigned)(i + 1);
    }
    buf_deinit(&r->cache);
}

static bool libraries_is_named(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && (name[n] == '.' || name[n] == '-' || name[n] == '_');
}

const char *library_key(const char *name)
{
    static const struct {
        const char *prefix, *key;
    } rows[] = {
#define LIBRARY(prefix, key) {prefix, key},
#include "probes/libraries.def"
#undef LIBRARY
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (libraries_is_named(name, rows[i].prefix))
            return rows[i].key;
    return NULL;
}

bool library_is_mpi(const char *name)
{
    bool mpi = libraries_is_named(name, "libmpi") || libraries_is_named(name, "libmpich") || strncmp(name, "libmpi_cray", 11) == 0 ||
               strncmp(name, "libmpi_gnu", 10) == 0;
    return mpi && strncmp(name, "libmpi_mpifh", 12) != 0 && strncmp(name, "libmpi_cxx", 10) != 0 && strncmp(name, "libmpi_usempi", 13) != 0;
}
