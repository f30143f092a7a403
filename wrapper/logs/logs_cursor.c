/* logs_cursor.c: the stored position in each followed log; see logs_follow.h. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "logs/logs_follow_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CURSOR_MAX = 256 << 20, CURSOR_GAP_MS = 20, CURSOR_SYNC_MS = 1000, CURSOR_COST = 20 };
#define CURSOR_RECENT "cursor.recent" /* as cursor, but not synced: it outlives a kill, and may be damaged by a power failure */
#define CURSOR_LOCK "lock"
#define CURSOR_DAMAGED "cursor.damaged"
#define CURSOR_HEAD "{\"benchwrap_log_cursor\":1,\"scanned\":\""
#define CURSOR_END "{\"end\":true}"

/* A generation of an earlier call. It is searched on disk by the first scan. */
static int cursor_restore(struct logs_follow *f, const struct generation_line *line, struct err *err)
{
    struct follow_log *log = follow_find_log(f, line->path);
    struct logs_generation g = line->g;
    g.fd = -1;
    if (!log)
        log = follow_make_log(f, line->path, SIZE_MAX);
    if (!log || !follow_add_generation(f, log, &g, line->now, NULL))
        return err_memory(err, "the positions in log files");
    log->is_restored = true;
    return 0;
}

/* Restores what a cursor has, or only checks it. 0; 1: it is damaged; -1 with err. */
static int cursor_parse(struct logs_follow *f, struct str text, bool only_checks, struct err *err)
{
    while (text.p && text.n) {
        struct generation_line g;
        struct json *j = NULL;
        struct str line = str_cut(&text, '\n');
        if (str_is(line, CURSOR_END))
            return text.p && text.n == 0 ? 0 : 1;
        if (json_parse(&j, line, NULL, NULL))
            return 1;
        int rc = !generation_read(j, &g) ? 1 : only_checks ? 0 : cursor_restore(f, &g, err);
        json_free(j);
        if (rc)
            return rc;
    }
    return 1;
}

/* The first line: when the files were inspected last. */
static bool cursor_parse_head(struct str *text, int64_t *ret_ns)
{
    struct str line = str_cut(text, '\n');
    uint64_t ns;
    if (!str_starts(line, CURSOR_HEAD) || !str_ends(line, "\"}"))
        return false;
    line = str_sub(line, sizeof CURSOR_HEAD - 1, line.n - (sizeof CURSOR_HEAD - 1) - 2);
    if (!str_based(line, 16, &ns))
        return false;
    *ret_ns = (int64_t)ns;
    return true;
}

/* Reads one of the two files. 0; 1: it is not there, or damaged (*ret_damaged); -1 with err. */
static int cursor_read(const struct logs_follow *f, const char *name, struct buf *text, struct str *ret, int64_t *ret_ns, bool *ret_damaged,
                       struct err *err)
{
    struct err why = {0};
    if (fs_read(f->config.state, name, CURSOR_MAX - 65536, 0, text, &why)) {
        if (why.sys == ENOENT)
            return 1;
        if (err)
            *err = why;
        return -1;
    }
    *ret = buf_text(text);
    if (cursor_parse_head(ret, ret_ns) && cursor_parse(NULL, *ret, true, NULL) == 0)
        return 0;
    *ret_damaged = true;
    return 1;
}

/* Restores the positions from the newer of the two stored cursors, or from none. A damaged cursor
 * without a usable copy is renamed and noted. 0; -1 with err. */
static int cursor_load(struct logs_follow *f, struct err *err)
{
    struct buf text[2] = {{.max = CURSOR_MAX}, {.max = CURSOR_MAX}};
    struct str lines[2];
    int64_t scanned_ns[2] = {0};
    bool damaged = false, ignored;
    int rc[2] = {cursor_read(f, LOGS_CURSOR, &text[0], &lines[0], &scanned_ns[0], &damaged, err), 1};
    if (rc[0] >= 0)
        rc[1] = cursor_read(f, CURSOR_RECENT, &text[1], &lines[1], &scanned_ns[1], &ignored, err);
    int use = rc[1] == 0 && (rc[0] != 0 || scanned_ns[1] >= scanned_ns[0]) ? 1 : 0, done = rc[0] < 0 || rc[1] < 0 ? -1 : 0;
    if (done == 0 && rc[use] == 0) {
        f->is_first = false;
        f->since_ns = scanned_ns[use];
        done = cursor_parse(f, lines[use], false, err);
    } else if (done == 0 && damaged && !f->config.only_reads) {
        follow_note(f, "the file %s in the state folder is damaged: it is now %s, and lines may be delivered twice", LOGS_CURSOR,
                    CURSOR_DAMAGED);
        renameat(f->config.state, LOGS_CURSOR, f->config.state, CURSOR_DAMAGED);
        f->is_first = false;
    }
    buf_deinit(&text[0]);
    buf_deinit(&text[1]);
    return done;
}

/* What a kill left of a cursor that was being written (fs_write). */
static int cursor_remove_part(void *context, const char *name, unsigned char type)
{
    const struct logs_follow *f = context;
    (void)type;
    if (name[0] == '.' && str_ends(str_of(name), ".tmp"))
        unlinkat(f->config.state, name, 0);
    return 0;
}

int follow_load_cursor(struct logs_follow *f, struct err *err)
{
    if (f->config.state < 0)
        return 0;
    if (!f->config.only_reads && (f->lock = place_open(f->config.state, CURSOR_LOCK, O_WRONLY | O_CREAT, 0600)) < 0)
        return err_sys(err, "cannot write the state folder");
    if (f->lock >= 0 && fs_lock(f->lock)) {
        err_set(err, ERR_SYSTEM, "cannot follow the logs: another process does, with the same state folder");
        return err_hint(err, "stop it, or name another folder with --state");
    }
    if (!f->config.only_reads)
        fs_each_name(f->config.state, NULL, cursor_remove_part, f);
    return cursor_load(f, err);
}

/* The time that is stored is that of the last scan of all files: what appears later is new. */
static void cursor_write(const struct logs_follow *f, struct buf *text)
{
    buf_printf(text, CURSOR_HEAD "%llx\"}\n", (unsigned long long)f->seen_ns);
    for (size_t i = 0; i < f->count; i++)
        for (const struct logs_generation *g = f->logs[i]->first; g; g = g->next)
            if (!g->is_replaced)
                generation_write(g, f->logs[i]->path, text);
    buf_puts(text, CURSOR_END "\n");
}

int logs_follow_save(struct logs_follow *f, bool force, struct err *err)
{
    struct buf text CLEANUP_BUF;
    int64_t now = clock_mono_ns(), since = now - f->saved_ns;
    bool sync = force || now - f->synced_ns > CURSOR_SYNC_MS * INT64_C(1000000);
    buf_init(&text, CURSOR_MAX);
    if (f->config.state < 0 || f->config.only_reads || !f->is_dirty ||
        (!force && (since < CURSOR_GAP_MS * INT64_C(1000000) || since < CURSOR_COST * f->save_cost_ns)))
        return 0;
    cursor_write(f, &text);
    int rc = text.failed ? err_memory(err, "the positions in log files")
                         : fs_write(f->config.state, sync ? LOGS_CURSOR : CURSOR_RECENT, buf_text(&text), 0600, sync, err);
    if (rc == 0 && sync)
        unlinkat(f->config.state, CURSOR_RECENT, 0);
    f->saved_ns = clock_mono_ns();
    f->save_cost_ns = sync ? 0 : f->saved_ns - now;
    f->synced_ns = sync ? f->saved_ns : f->synced_ns;
    f->is_dirty = rc != 0 || !sync;
    return rc;
}
