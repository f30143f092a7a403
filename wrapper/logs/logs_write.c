/* logs_write.c: writes the merged files of a campaign: stdout.log, stderr.log, aggregated.jsonl; see logs.h. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/inflate.h"
#include "base/place.h"
#include "logs/logs_format.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { WRITE_BLOCK = 256 << 10, WRITE_PACK = 1 << 20, OUTPUTS = 3 };
#define WRITE_NEW ".new"

struct merged_file {
    const char *path; /* NULL: not written */
    int fd;
    struct buf text; /* not written yet */
    uint64_t bytes; /* of the file */
    unsigned pieces; /* NAME.1.gz … */
};
struct merged_files {
    int folder;
    const struct logs_outputs *o;
    struct merged_file file[OUTPUTS]; /* stdout, stderr, JSON lines */
    bool is_new; /* written under the name NAME.new */
    bool is_ready; /* loggers_ready exists */
    int64_t flushed_ns;
    struct logs_counts counts;
};

/* ---- files ---- */

/* A path of the user's, or one below the folder of the logs. */
static int merged_at(const struct merged_files *w, const char *path)
{
    return path[0] == '/' ? AT_FDCWD : w->folder;
}

static int merged_open_path(const struct merged_files *w, const char *path, int flags)
{
    return path[0] == '/' ? place_create(path, flags & ~(O_WRONLY | O_CREAT), 0600) : place_open(w->folder, path, flags, 0600);
}

static void merged_name(const struct merged_file *f, unsigned piece, bool is_new, char *ret, size_t size)
{
    if (piece)
        snprintf(ret, size, "%s%s.%u.gz", f->path, is_new ? WRITE_NEW : "", piece);
    else
        snprintf(ret, size, "%s%s", f->path, is_new ? WRITE_NEW : "");
}

/* Creates the current file of a merged log, and its folder. -1 with err. */
static int merged_open(struct merged_files *w, struct merged_file *f, struct err *err)
{
    char name[4200], folder[4200];
    merged_name(f, 0, w->is_new, name, sizeof name);
    const char *slash = strrchr(name, '/');
    if (slash && slash > name) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
        if (fs_mkdirs(merged_at(w, name), folder, 0700, err))
            return -1;
    }
    f->fd = merged_open_path(w, name, O_WRONLY | O_CREAT | O_TRUNC);
    f->bytes = 0;
    return f->fd < 0 ? err_sys(err, "cannot write %s", name) : 0;
}

static int merged_flush_file(struct merged_file *f, struct err *err)
{
    if (!f->path || f->text.n == 0)
        return 0;
    if (f->text.failed)
        return err_memory(err, "merged logs");
    if (fs_write_all(f->fd, f->text.p, f->text.n))
        return err_sys(err, "cannot write %s", f->path);
    f->bytes += f->text.n;
    buf_clear(&f->text);
    return 0;
}

/* The bytes of a complete file as gzip, a member for each MiB: memory is bounded. */
static int merged_pack(struct merged_files *w, const char *from, const char *to, struct err *err)
{
    struct buf block CLEANUP_BUF, packed CLEANUP_BUF;
    CLEANUP_FD int in = from[0] == '/' ? place_open_named(from) : place_open(w->folder, from, O_RDONLY, 0);
    CLEANUP_FD int out = merged_open_path(w, to, O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t n;
    buf_init(&block, WRITE_PACK);
    buf_init(&packed, 2 * WRITE_PACK);
    char *p = buf_room(&block, WRITE_PACK);
    if (in < 0 || out < 0 || !p)
        return err_sys(err, "cannot compress %s", from);
    while ((n = read(in, p, WRITE_PACK)) > 0) {
        buf_clear(&packed);
        if (!inflate_make_gzip((struct str){p, (size_t)n}, &packed))
            return err_set(err, ERR_SYSTEM, "cannot compress %s: zlib is not installed", from);
        if (fs_write_all(out, packed.p, packed.n))
            return err_sys(err, "cannot write %s", to);
    }
    return n < 0 ? err_sys(err, "cannot read %s", from) : 0;
}

static void merged_remove(const struct merged_files *w, const struct merged_file *f, unsigned piece, bool is_new)
{
    char name[4200];
    merged_name(f, piece, is_new, name, sizeof name);
    unlinkat(merged_at(w, name), name, 0);
}

/* A file that is large enough becomes a compressed piece. */
static int merged_rotate(struct merged_files *w, struct merged_file *f, struct err *err)
{
    char name[4200], piece[4200];
    if (!w->o->max_bytes || f->bytes < w->o->max_bytes)
        return 0;
    merged_name(f, 0, w->is_new, name, sizeof name);
    merged_name(f, ++f->pieces, w->is_new, piece, sizeof piece);
    fs_close(&f->fd);
    if (merged_pack(w, name, piece, err))
        return -1;
    if (w->o->keep && f->pieces > w->o->keep)
        merged_remove(w, f, f->pieces - w->o->keep, w->is_new);
    return merged_open(w, f, err);
}

static int merged_flush(struct merged_files *w, struct err *err)
{
    for (size_t i = 0; i < OUTPUTS; i++)
        if (merged_flush_file(&w->file[i], err) || (w->file[i].path && merged_rotate(w, &w->file[i], err)))
            return -1;
    w->flushed_ns = clock_mono_ns();
    return 0;
}

/* ---- lines ---- */

/* Appends a merged line to its files, and raises an alert where it has a text of `logs.alert`. 0; -1 with err. */
static int merged_line(void *context, const struct logs_line *line, struct err *err)
{
    struct merged_files *w = context;
    struct merged_file *text = &w->file[line->is_error ? 1 : 0], *json = &w->file[2];
    if (logs_counts_add(&w->counts, line, err))
        return -1;
    if (text->path)
        logs_text_write(&text->text, line, false);
    if (json->path)
        logs_json_write(&json->text, line);
    for (const char *const *a = w->o->alerts; a && *a; a++)
        if (str_has(line->text, *a))
            w->o->alert(w->o->context, line, *a);
    return text->text.n >= WRITE_BLOCK || json->text.n >= WRITE_BLOCK ? merged_flush(w, err) : 0;
}

/* The lines are on their way: what waits for the loggers may continue. */
static int merged_idle(void *context, struct err *err)
{
    struct merged_files *w = context;
    double flush_s = w->o->flush_s > 0 ? w->o->flush_s : 1;
    if (!w->is_ready && fs_write(w->folder, LOGS_READY, STR("ready\n"), 0600, false, err))
        return -1;
    w->is_ready = true;
    return clock_mono_ns() - w->flushed_ns >= (int64_t)(flush_s * 1e9) ? merged_flush(w, err) : 0;
}

static int merged_write_summary(const struct merged_files *w, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 64 << 20);
    logs_counts_json(&w->counts, &text);
    return text.failed ? err_memory(err, "a summary of logs") : fs_write(w->folder, LOGS_SUMMARY, buf_text(&text), 0600, false, err);
}

/* ---- write all logs ---- */

static int merged_begin(struct merged_files *w, int folder, const struct logs_outputs *o, bool is_new, struct err *err)
{
    const struct logs_paths names = logs_paths_of(o);
    const char *paths[OUTPUTS] = {names.out, names.error, names.lines};
    *w = (struct merged_files){.folder = folder, .o = o, .is_new = is_new};
    for (size_t i = 0; i < OUTPUTS; i++) {
        w->file[i] = (struct merged_file){.path = paths[i], .fd = -1};
        buf_init(&w->file[i].text, 64 << 20);
    }
    for (size_t i = 0; i < OUTPUTS; i++)
        if (paths[i] && merged_open(w, &w->file[i], err))
            return -1;
    return 0;
}

/* Pieces that an earlier call left, from this number on until none is found. */
static void merged_remove_pieces(const struct merged_files *w, const struct merged_file *f, unsigned from)
{
    char name[4200];
    for (;; from++) {
        merged_name(f, from, false, name, sizeof name);
        if (unlinkat(merged_at(w, name), name, 0))
            return;
    }
}

/* Renames each NAME.new to NAME, with its pieces. -1 with err: one could not be renamed; the others
 * before it are. */
static int merged_publish(struct merged_files *w, struct err *err)
{
    char from[4200], to[4200];
    for (size_t i = 0; i < OUTPUTS; i++) {
        struct merged_file *f = &w->file[i];
        unsigned first = w->o->keep && f->pieces > w->o->keep ? f->pieces - w->o->keep + 1 : 1;
        for (unsigned piece = 0; f->path && piece <= f->pieces; piece = piece < first ? first : piece + 1) {
            merged_name(f, piece, true, from, sizeof from);
            merged_name(f, piece, false, to, sizeof to);
            if (renameat(merged_at(w, from), from, merged_at(w, to), to))
                return err_sys(err, "cannot write %s", to);
        }
        if (f->path)
            merged_remove_pieces(w, f, f->pieces + 1);
    }
    return 0;
}

/* Ends the merged files after the merge returned rc: writes and publishes them, or with rc != 0
 * removes the new ones. Closes and frees all of them. Returns rc, or -1 with err. */
static int merged_end(struct merged_files *w, int rc, struct err *err)
{
    if (rc == 0)
        rc = merged_flush(w, err);
    if (rc == 0 && w->is_new)
        rc = merged_publish(w, err);
    if (rc == 0)
        rc = merged_write_summary(w, err);
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (rc && w->is_new && w->file[i].path)
            merged_remove(w, &w->file[i], 0, true);
        fs_close(&w->file[i].fd);
        buf_deinit(&w->file[i].text);
    }
    logs_counts_deinit(&w->counts);
    return rc;
}

static int merged_once(int folder, const struct logs_outputs *o, bool follow, int stop_fd, uint64_t *ret_late, struct err *err)
{
    struct merged_files w;
    struct logs_merge m = {
        .folder = folder, .stamps = follow, .follow = follow, .stop_fd = stop_fd, .each = merged_line, .idle = merged_idle, .context = &w};
    int rc = merged_begin(&w, folder, o, !follow, err);
    if (rc == 0)
        rc = logs_merge_streams(&m, ret_late, err);
    return merged_end(&w, rc, err);
}

int logs_write_merged(int folder, const struct logs_outputs *outputs, bool follow, int stop_fd, struct err *err)
{
    static const struct logs_outputs usual;
    struct logs_outputs o = outputs ? *outputs : usual;
    uint64_t late = 0;
    int rc = merged_once(folder, &o, follow, stop_fd, &late, err);
    o.alerts = NULL; /* they were raised */
    if (rc == 0 && follow && late)
        rc = merged_once(folder, &o, false, -1, &late, err);
    return rc;
}
