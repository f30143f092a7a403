/* collector_reports.c: check the collectors' reports line by line, find the offsets of their clocks, and
 * store them in the spool. */
#include "run/collector_reports.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hostlist.h"
#include "base/place.h"
#include "collector/node_name.h"
#include "run/state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    PIECE = 8 << 20,
    AT_ONCE_MS = 9000, /* a collector writes each sample at once so long */
    OLD_S = 3 * 86400
};
static const int64_t MS = 1000000;

/* What the recorder knows of a node while the program runs. */
struct collector_node {
    char name[NODE_NAME_MAX + 1];
    char slurm[NODE_NAME_MAX + 1]; /* in a public record, what Slurm calls it; "": not known */
    uint64_t at; /* bytes of its file that have been read */
    bool ended;
    int64_t error_ms; /* of its clock's offset to this host's; the smallest that is known */
    int64_t start_ms; /* by its own clock */
    int64_t least_ms, most_ms; /* bounds of its offset, by the time stamp of a file that appeared between two readings */
};

/* ---- into the spool ---- */

/* Appends lines to NODES_LINES in the spool, up to NODES_FILE_MAX bytes; counts what is not stored. */
static void collector_reports_store(struct run *run, struct str lines)
{
    struct run_collectors *n = &run->nodes;
    if (n->file < 0)
        n->file = openat(run->spool.dir, NODES_LINES, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (n->file < 0 || n->bytes + lines.n > NODES_FILE_MAX || fs_write_all(n->file, lines.p, lines.n))
        n->cut += lines.n;
    else
        n->bytes += lines.n;
}

void collector_reports_note(struct run *run, const char *node, const char *array)
{
    struct buf line CLEANUP_BUF;
    buf_init(&line, 2 * NODE_LINE_MAX);
    if (node_line(&line, node, str_of(array)))
        collector_reports_store(run, buf_text(&line));
}

void collector_reports_note_used(struct run *run, const struct buf *list)
{
    const struct run_collectors *n = &run->nodes;
    for (size_t i = 0; i < n->seen_count; i++) {
        const char *name = run->host.public_profile ? n->seen[i].slurm : n->seen[i].name;
        if (!list || *name)
            collector_reports_note(run, n->seen[i].name, !list || hostlist_has(buf_text(list), str_of(name)) ? "[\"u\",1]" : "[\"u\",0]");
    }
}

/* ---- received messages ---- */

/* Returns the row of the node, appended where it is new. The pointer is valid until the next call.
 * NULL: NODES_MAX are there, or out of memory. */
static struct collector_node *find_collector_node(struct run *run, struct str name)
{
    struct run_collectors *n = &run->nodes;
    for (size_t i = 0; i < n->seen_count; i++)
        if (str_is(name, n->seen[i].name))
            return &n->seen[i];
    if (n->seen_count == NODES_MAX || !ARRAY_FITS(n->seen, n->seen_room, n->seen_count + 1)) {
        n->cut++; /* its lines are not stored */
        return NULL;
    }
    struct collector_node *s = &n->seen[n->seen_count++];
    *s = (struct collector_node){.error_ms = INT64_MAX, .least_ms = INT64_MIN / 4, .most_ms = INT64_MAX / 4};
    snprintf(s->name, sizeof s->name, STR_FMT, STR_ARG(name));
    return s;
}

static void set_clock(struct run *run, struct collector_node *s, int64_t offset_ms, int64_t error_ms)
{
    char array[80];
    if (error_ms >= s->error_ms)
        return;
    s->error_ms = error_ms;
    snprintf(array, sizeof array, "[\"o\",%" PRId64 ",%" PRId64 "]", offset_ms, error_ms);
    collector_reports_note(run, s->name, array);
}

/* Cuts off the next number of ["c",12,34]. False: there is none. */
static bool number_cut(struct str *rest, int64_t *ret)
{
    struct str word = str_cut(rest, ',');
    if (str_ends(word, "]"))
        word.n--;
    return str_int(word, ret);
}

/* Reads the answer to a clock request: the offset is known to half the time of the round trip. */
static void read_clock_reply(struct run *run, struct collector_node *s, struct str array)
{
    struct run_collectors *n = &run->nodes;
    int64_t token, wall, now = clock_mono_ns();
    str_cut(&array, ',');
    if (!number_cut(&array, &token) || !number_cut(&array, &wall) || token != n->asked_ns)
        return;
    int64_t half = (now - n->asked_ns) / MS / 2;
    set_clock(run, s, wall - (n->asked_wall_ms + half), half + 1);
}

/* Reads the name that Slurm has for the node from its line ["n","cn12"]. */
static void read_slurm_name(struct collector_node *s, struct str array)
{
    str_cut(&array, ',');
    if (array.p && array.n > 3 && array.n - 3 <= NODE_NAME_MAX)
        snprintf(s->slurm, sizeof s->slurm, STR_FMT, STR_ARG(str_sub(array, 1, array.n - 3)));
}

/* Bounds the offset of the node's clock by a time in its file. The line is new since the reading
 * before. A node that has just begun wrote it at once. */
static void read_time_stamp(struct run *run, struct collector_node *s, struct str array)
{
    struct run_collectors *n = &run->nodes;
    int64_t wall;
    bool begins = str_starts(array, "[\"h\"");
    if (n->way != NODES_FILES || (!begins && !str_starts(array, "[\"s\"")))
        return;
    str_cut(&array, ',');
    if (!number_cut(&array, &wall))
        return;
    s->start_ms = begins ? wall : s->start_ms;
    if (wall - s->start_ms > AT_ONCE_MS || !n->looked_ms)
        return;
    int64_t least = wall - clock_wall_ms(), most = wall - n->looked_ms;
    s->least_ms = least > s->least_ms ? least : s->least_ms;
    s->most_ms = most < s->most_ms ? most : s->most_ms;
    if (s->most_ms >= s->least_ms)
        set_clock(run, s, (s->least_ms + s->most_ms) / 2, (s->most_ms - s->least_ms) / 2 + 1);
}

/* Handles one line of a collector. Appends to `good` what is to be stored; drops lines that are no
 * report or whose node has no row. */
static void read_report_line(struct run *run, struct str line, struct buf *good)
{
    struct run_collectors *n = &run->nodes;
    struct str node, array;
    if (!node_line_read(line, &node, &array) || str_is(node, "-"))
        return;
    struct collector_node *s = find_collector_node(run, node);
    if (!s)
        return;
    if (str_starts(array, "[\"c\""))
        read_clock_reply(run, s, array);
    else if (str_starts(array, "[\"n\"") || str_starts(array, "[\"u\"")) {
        if (n->way == NODES_STEP && array.p[2] == 'n')
            read_slurm_name(s, array);
    } else {
        read_time_stamp(run, s, array);
        n->ended += str_starts(array, "[\"e\"") && !s->ended;
        s->ended |= str_starts(array, "[\"e\"");
        if (n->way == NODES_STEP && (str_starts(array, "[\"h\"") || str_starts(array, "[\"p\"") || str_starts(array, "[\"x\""))) {
            buf_str(&n->facts, line);
            buf_putc(&n->facts, '\n');
        }
        buf_str(good, line);
        buf_putc(good, '\n');
    }
}

size_t collector_reports_read(struct run *run, struct str text)
{
    struct buf good CLEANUP_BUF;
    size_t taken = 0;
    buf_init(&good, text.n + 16);
    while (taken < text.n) {
        const char *end = memchr(text.p + taken, '\n', text.n - taken);
        if (!end)
            break;
        read_report_line(run, (struct str){text.p + taken, (size_t)(end - text.p) - taken}, &good);
        taken = (size_t)(end - text.p) + 1;
    }
    if (good.n)
        collector_reports_store(run, buf_text(&good));
    return taken;
}

/* ---- files of ranks' collectors ---- */

/* Reads the new complete lines of one collector's file, at most PIECE bytes. Ignores a file of
 * another user and what is no regular file. */
static void read_report_file(struct run *run, int dir, const char *name, uid_t owner)
{
    struct collector_node *s = find_collector_node(run, str_of(name));
    struct buf text CLEANUP_BUF;
    struct stat st;
    buf_init(&text, PIECE + 1);
    CLEANUP_FD int fd = place_open(dir, name, O_RDONLY, 0);
    if (!s || fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != owner || (uint64_t)st.st_size <= s->at)
        return;
    size_t want = (uint64_t)st.st_size - s->at < PIECE ? (size_t)((uint64_t)st.st_size - s->at) : PIECE;
    char *room = buf_room(&text, want);
    ssize_t got = room ? pread(fd, room, want, (off_t)s->at) : -1;
    if (got <= 0)
        return;
    s->at += collector_reports_read(run, (struct str){room, (size_t)got});
}

void collector_reports_scan(struct run *run)
{
    struct fs_names list;
    struct statfs fs;
    int64_t now_ms = clock_wall_ms();
    CLEANUP_FD int dir = place_open_below(run->nodes.folder, NODE_FOLDER_LEVELS, 0);
    struct stat st, own; /* in a folder that others can write, another user may have created a file of that name */
    bool there = dir >= 0 && fstat(dir, &st) == 0 && fstat(run->spool.dir, &own) == 0 && st.st_uid == own.st_uid &&
                 fs_list(dir, ".", &list, NULL) == 0;
    for (size_t i = 0; there && i < list.count; i++) {
        char name[NODE_NAME_MAX + 1];
        node_name_make(name, str_of(list.names[i]));
        if (strcmp(name, list.names[i]) == 0)
            read_report_file(run, dir, name, own.st_uid);
    }
    if (there)
        fs_names_deinit(&list);
    bool late = fstatfs(run->spool.dir, &fs) != 0 || fs.f_type == NFS_SUPER_MAGIC; /* NFS shows files late: no evidence about clocks */
    run->nodes.looked_ms = late ? 0 : now_ms;
}

void collector_reports_remove(const char *folder)
{
    struct fs_names list;
    struct stat st;
    char parent[4200];
    snprintf(parent, sizeof parent, "%s", folder);
    *strrchr(parent, '/') = 0;
    CLEANUP_FD int dir = place_open_below(parent, NODE_FOLDER_LEVELS - 1, 0);
    if (dir < 0)
        return;
    if (fstatat(dir, str_base_name(folder), &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid())
        fs_remove_tree(dir, str_base_name(folder), NULL);
    if (fs_list(dir, ".", &list, NULL))
        return;
    for (size_t i = 0; i < list.count; i++)
        if (fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid() &&
            clock_wall_ms() / 1000 - st.st_mtime > OLD_S)
            fs_remove_tree(dir, list.names[i], NULL);
    fs_names_deinit(&list);
}
