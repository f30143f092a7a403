/* filesystem.c: the file systems that the program works on: those of the paths in its arguments, and of its working directory. Type, options, size, free space
 * before and after, layout of a directory before and of the file that was written.
 *
 * Any access to a path can hang when its server is dead: this probe runs in child processes. The
 * first file system is fs.*, others are fs2.* … */
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/paths.h"
#include "probes/stripe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

enum { MOUNTS_MAX = 6, TOOL_MS = 1500, KEY_SIZE = 96 };

struct filesystem_place {
    char type[64], point[1024], source[256], options[2048];
    long long magic; /* of statfs(2), where there is no mountinfo; else 0 */
    const char *path; /* the first path on this file system */
    const char *file; /* the first that is a regular file, or NULL */
    char directory[PATH_SIZE]; /* what exists of it */
};

/* By the numbers of statfs(2), where there is no mountinfo. */
static const char *filesystem_type_of_magic(uint64_t magic)
{
    static const struct {
        uint64_t magic;
        const char *type;
    } rows[] = {{0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},     {0x19830326, "beegfs"},  {0x6969, "nfs"},      {0x00c36400, "ceph"},
                {0x65735546, "fuse"},   {0x794c7630, "overlay"},  {0x01021994, "tmpfs"},   {0x58465342, "xfs"},  {0xef53, "ext2/ext3/ext4"},
                {0x9123683e, "btrfs"},  {0x2fc12fc1, "zfs"},      {0xff534d42, "cifs"},    {0xfe534d42, "smb2"}, {0x01021997, "9p"},
                {0xf2f52010, "f2fs"},   {0xca451a4e, "bcachefs"}, {0x73717368, "squashfs"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].magic == magic)
            return rows[i].type;
    return "unknown";
}

/* Returns whether the mount option changes speed or meaning; all others can name servers, users and
 * addresses. */
static bool filesystem_is_listed_option(struct str option)
{
    static const char *const names[] = {
#define MOUNT_OPTION(name) name,
#include "probes/filesystem.def"
#undef MOUNT_OPTION
    };
    struct str rest = option, name = str_cut(&rest, '=');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* Appends the mount options that matter for speed, with commas between, each once. */
static void filesystem_add_options(struct buf *to, struct str options)
{
    while (options.p) {
        struct str one = str_cut(&options, ',');
        bool twice = false;
        for (struct str rest = buf_text(to); rest.p && !twice;)
            twice = str_eq(str_cut(&rest, ','), one);
        if (one.n == 0 || twice || !filesystem_is_listed_option(one))
            continue;
        if (to->n > 0)
            buf_putc(to, ',');
        buf_str(to, one);
    }
}

/* Finds the mount with the longest point above the path; of equal ones the last hides the others.
 * False: there is none. */
static bool filesystem_find_mount(struct str mounts, const char *path, struct filesystem_place *ret)
{
    size_t best = 0;
    struct buf options CLEANUP_BUF;
    buf_init(&options, sizeof ret->options - 1);
    while (mounts.p) {
        struct mount_line m;
        char point[1024];
        if (!parse_mount_line(str_cut(&mounts, '\n'), &m) || !parse_mount_path(m.point, point, sizeof point))
            continue;
        size_t n = strcmp(point, "/") == 0 ? 0 : strlen(point);
        if (strncmp(path, point, n) != 0 || (path[n] && path[n] != '/') || n + 1 < best)
            continue;
        best = n + 1;
        snprintf(ret->point, sizeof ret->point, "%s", point);
        snprintf(ret->type, sizeof ret->type, STR_FMT, STR_ARG(str_sub(m.type, 0, sizeof ret->type - 1)));
        snprintf(ret->source, sizeof ret->source, STR_FMT, STR_ARG(str_sub(m.source, 0, sizeof ret->source - 1)));
        buf_clear(&options);
        filesystem_add_options(&options, m.options);
        filesystem_add_options(&options, m.super_options);
        snprintf(ret->options, sizeof ret->options, "%s", options.p && !options.failed ? options.p : "");
    }
    return best > 0;
}

/* Finds what exists of the path, links followed: a directory or the file itself (*ret_file). False:
 * not even the first part below the root exists. */
static bool filesystem_find_existing(const char *path, char ret[PATH_SIZE], bool *ret_file)
{
    char up[PATH_SIZE];
    struct stat st;
    snprintf(up, sizeof up, "%s", path);
    for (bool first = true;; first = false) {
        if (stat(up, &st) == 0) {
            char *real = realpath(up, NULL);
            *ret_file = first && S_ISREG(st.st_mode);
            if (real)
                snprintf(ret, PATH_SIZE, "%s", real);
            free(real);
            return real && (strcmp(up, "/") != 0 || strcmp(path, "/") == 0);
        }
        char *slash = strrchr(up, '/');
        if (!slash)
            return false;
        slash[slash == up] = 0;
        if (slash == up && strcmp(path, "/") != 0 && stat(up, &st) == 0)
            return false;
    }
}

/* Returns whether a word with a slash is no path: "MB/s", "text/html", "org/model". Its first
 * folder is not in the working directory, so the program could not create a file there either. */
static bool filesystem_is_other_word(const struct host *h, const char *path, const char *directory)
{
    size_t n = h->cwd ? strlen(h->cwd) : 0;
    if (!n || strncmp(path, h->cwd, n) != 0 || path[n] != '/' || !strchr(path + n + 1, '/') || strncmp(path + n + 1, "./", 2) == 0)
        return false;
    char *real = realpath(h->cwd, NULL);
    bool same = real && strcmp(real, directory) == 0;
    free(real);
    return same;
}

/* Finds the distinct mounts below the program's paths, at most MOUNTS_MAX. Returns how many. */
static size_t filesystem_find_places(const struct host *h, const struct paths *paths, struct filesystem_place list[MOUNTS_MAX])
{
    struct buf mounts CLEANUP_BUF;
    size_t n = 0;
    bool again = false;
    buf_init(&mounts, LOOK_MOUNTS_MAX + (1 << 17));
    struct str lines = look_read_mounts(h, &mounts);
    for (size_t i = 0; i < paths->count; i++) {
        struct filesystem_place one = {.path = paths->list[i]};
        bool file = false;
        size_t k = 0;
        if (!h->real)
            snprintf(one.directory, sizeof one.directory, "%s", one.path);
        else if (!filesystem_find_existing(one.path, one.directory, &file) || filesystem_is_other_word(h, one.path, one.directory))
            continue;
        bool found = filesystem_find_mount(lines, one.directory, &one);
        if (found && !again && strcmp(one.type, "autofs") == 0) { /* the access has mounted it */
            again = true;
            buf_clear(&mounts);
            look_read_file(h, "proc/self/mountinfo", LOOK_MOUNTS_MAX, &mounts);
            lines = buf_text(&mounts);
            found = filesystem_find_mount(lines, one.directory, &one);
        }
        if (!found) {
            struct statfs s;
            if (!h->real || statfs(one.directory, &s) != 0)
                continue;
            snprintf(one.type, sizeof one.type, "%s", filesystem_type_of_magic((uint64_t)s.f_type));
            one.magic = (long long)s.f_type;
        }
        one.file = file ? one.path : NULL;
        while (k < n && (strcmp(list[k].point, one.point) != 0 || list[k].magic != one.magic))
            k++;
        if (k < n && file && !list[k].file)
            list[k].file = one.path;
        if (k == n && n < MOUNTS_MAX)
            list[n++] = one;
    }
    return n;
}

static const char *filesystem_make_key(size_t i, const char *name, char ret[KEY_SIZE])
{
    if (i == 0)
        snprintf(ret, KEY_SIZE, "fs.%s", name);
    else
        snprintf(ret, KEY_SIZE, "fs%zu.%s", i + 1, name);
    return ret;
}

static void filesystem_emit_free(struct record *r, size_t i, const char *when, const struct statfs *s)
{
    char key[KEY_SIZE], name[32];
    if (s->f_blocks == 0)
        return;
    snprintf(name, sizeof name, "free_%s_GiB", when);
    record_metric(r, filesystem_make_key(i, name, key), (double)s->f_bavail * (double)s->f_frsize / 1073741824.0, "GiB", DIR_NONE, 0, 0);
    snprintf(name, sizeof name, "used_%s_percent", when);
    record_metric(r, filesystem_make_key(i, name, key), 100.0 * (double)(s->f_blocks - s->f_bfree) / (double)s->f_blocks, "percent",
                  DIR_NONE, 0, 0);
}

/* Records the stripes of a path, or why they are missing. Records nothing for a file system without
 * stripes. */
static void filesystem_emit_stripe(struct host *h, struct record *r, size_t i, const char *prefix, const struct filesystem_place *p,
                                   const char *path)
{
    struct stripe s;
    struct err err = {0};
    char key[KEY_SIZE], name[64];
    const struct {
        const char *name, *text;
        int64_t value;
    } * row;
    int got = stripe_read(p->type, path, h->env, TOOL_MS, &s, &err);
    if (got == 0)
        return;
    snprintf(name, sizeof name, "%sstripe_count", prefix);
    if (got < 0) {
        emit_missing(h, r, filesystem_make_key(i, name, key), "%s: %s", p->type, err.text);
        return;
    }
    const typeof(*row) rows[] = {{"stripe_count", s.all ? "all" : "", s.count},
                                 {"stripe_size_B", "", s.size_B},
                                 {"stripe_components", "", s.components ? (int64_t)s.components : -1},
                                 {"stripe_pool", s.pool, -1},
                                 {"stripe_pattern", s.pattern, -1}};
    for (row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        snprintf(name, sizeof name, "%s%s", prefix, row->name);
        if (row->text[0])
            emit_text(h, r, filesystem_make_key(i, name, key), row->text);
        else if (row->value >= 0)
            emit_int(h, r, filesystem_make_key(i, name, key), row->value);
    }
}

/* Records type and options, which come from the kernel's list, before any call that can hang. */
static void filesystem_emit_place(struct host *h, struct record *r, size_t i, const struct filesystem_place *p)
{
    char key[KEY_SIZE];
    struct statfs s;
    emit_text(h, r, filesystem_make_key(i, "type", key), p->type);
    emit_text(h, r, filesystem_make_key(i, "options", key), p->options);
    const struct {
        const char *name, *value;
    } tags[] = {{"point", p->point}, {"source", p->source}, {"path", p->path}};
    for (size_t k = 0; k < 3; k++) {
        char tag[KEY_SIZE + 8];
        snprintf(tag, sizeof tag, "mount.%s", filesystem_make_key(i, tags[k].name, key));
        if (tags[k].value[0])
            emit_tag(h, r, tag, str_of(tags[k].value));
    }
    if (!h->real)
        return;
    if (statfs(p->directory, &s) != 0) {
        emit_missing(h, r, filesystem_make_key(i, "size_GiB", key), "the file system does not answer: %s", strerror(errno));
        return;
    }
    if (s.f_blocks > 0)
        emit_GiB(h, r, filesystem_make_key(i, "size_GiB", key), (double)s.f_blocks * (double)s.f_frsize);
    emit_int(h, r, filesystem_make_key(i, "block_B", key), (int64_t)s.f_bsize);
    filesystem_emit_free(r, i, "start", &s);
    struct stat st;
    const char *slash = stat(p->directory, &st) == 0 && !S_ISDIR(st.st_mode) ? strrchr(p->directory, '/') : NULL;
    char directory[PATH_SIZE];
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - p->directory) + (slash == p->directory) : PATH_SIZE - 1,
             p->directory);
    filesystem_emit_stripe(h, r, i, "", p, directory);
}

/* Calls tell_one for each file system that the program's directory and arguments are on. Returns 0,
 * or another value with *err when out of memory. */
static int filesystem_emit_places(struct host *h, struct record *r, struct err *err,
                                  void (*tell_one)(struct host *, struct record *, size_t, const struct filesystem_place *))
{
    if (h->other_folder) {
        emit_missing(h, r, "fs.type", "%s", h->other_folder);
        return 0;
    }
    struct paths *paths = malloc(sizeof *paths);
    struct filesystem_place *list = malloc(MOUNTS_MAX * sizeof *list);
    if (!paths || !list) {
        free(paths);
        free(list);
        return err_memory(err, "the file systems");
    }
    paths_of_arguments(paths, h->argv, h->cwd);
    size_t n = filesystem_find_places(h, paths, list);
    for (size_t i = 0; i < n; i++)
        tell_one(h, r, i, &list[i]);
    if (n == 0)
        emit_missing(h, r, "fs.type", "/proc/self/mountinfo does not show the file system of the program's directory");
    free(list);
    free(paths);
    return 0;
}

static int filesystem_beside(struct host *h, struct record *r, struct err *err)
{
    return filesystem_emit_places(h, r, err, filesystem_emit_place);
}

static void filesystem_emit_end(struct host *h, struct record *r, size_t i, const struct filesystem_place *p)
{
    struct statfs s;
    if (statfs(p->directory, &s) == 0)
        filesystem_emit_free(r, i, "end", &s);
    if (p->file)
        filesystem_emit_stripe(h, r, i, "file_", p, p->file);
}

static int filesystem_after(struct host *h, struct record *r, struct err *err)
{
    return filesystem_emit_places(h, r, err, filesystem_emit_end);
}

/* Returns whether the hook has anything to do: how the file systems were afterwards is each
 * repetition's, not the series'. */
static bool filesystem_can_run(enum probe_phase phase, const struct host *h, const struct record *r)
{
    return phase != PROBE_AFTER || (h->real && !str_is(record_text(r, FACT_TAG, "benchwrap.scope"), "series"));
}

const struct probe probe_filesystem = {
    .name = "filesystem",
    .summary = "file systems of the program's paths: type, options, free space, striping before and after (aside)",
    .beside = filesystem_beside,
    .after = filesystem_after,
    .wanted = filesystem_can_run,
    .limit_ms = 3000,
    .aside = true,
    .nested = true,
};
