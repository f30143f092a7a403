/* archive.c: store a job's script, environment, output, result and manifest, in the run and below
 * --archive. */
#include "run/archive.h"

#include "base/child_work.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/place.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS = 4, MANIFEST_MAX = 1 << 20, PIECE = 64 << 10, EXPORT_MS = 5000, NAME_BYTES = 160, PART_NAME = 64, OLD_S = 3600 };
#define UNFINISHED ".unfinished"

/* What is kept, where it is with the run, and its ending in the folder. */
static const struct {
    const char *name, *artifact, *source, *ending;
} parts[PARTS] = {{"script", "job/script.sh", "job/script.sh", ".sh"},
                  {"environment", "job/environment.txt", "environment.txt", ".env"},
                  {"stdout", "job/stdout.log", "stdout.log", ".out"},
                  {"stderr", "job/stderr.log", "stderr.log", ".err"}};

static const struct fact *archive_last_fact(const struct record *r, enum fact_kind kind, const char *key)
{
    const struct fact *found = NULL;
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == kind && str_is(f->key, key))
            found = f;
    return found;
}

/* Writes the name of the part's file in the spool to ret. False: no such regular file, or ret is too
 * small. */
static bool archive_part_file(const struct archive_job *job, size_t part, char *ret, size_t size)
{
    struct stat st;
    const struct fact *f = archive_last_fact(job->record, FACT_ARTIFACT, parts[part].source);
    if (!f || f->text.n >= size)
        return false;
    snprintf(ret, size, STR_FMT, STR_ARG(f->text));
    return fstatat(job->spool->dir, ret, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* ---- names ---- */

/* Appends foreign words as a part of a name: no slash, no leading dot, nothing that a shell or a
 * terminal knows; at most PART_NAME bytes. */
static void archive_add_name(struct buf *to, struct str word)
{
    word = str_sub(word, 0, PART_NAME);
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && i);
        buf_putc(to, plain ? c : '_');
    }
}

static struct str archive_tag(const struct archive_job *job, const char *key)
{
    return record_text(job->record, FACT_TAG, key);
}

static struct str archive_restart_count(const struct archive_job *job)
{
    return record_text(job->record, FACT_PARAM, "slurm.restart_count");
}

/* Writes the files' name without its ending: "job_42", "job_40_7" (task of an array),
 * "job_42.r1.s0" (restart, step); without a scheduler "job_<run id>". */
static void archive_name(const struct archive_job *job, char *ret, size_t size)
{
    struct buf text CLEANUP_BUF;
    struct str array = archive_tag(job, "job.array_id"), task = archive_tag(job, "job.array_task"), step = archive_tag(job, "job.step"),
               again = archive_restart_count(job);
    struct str id = archive_tag(job, "job.id");
    buf_init(&text, NAME_BYTES * 4);
    buf_puts(&text, "job_");
    if (!id.n)
        id = str_of(job->head->job);
    archive_add_name(&text, array.n && task.n ? array : id.n ? id : str_of(job->record->id));
    if (array.n && task.n) {
        buf_putc(&text, '_');
        archive_add_name(&text, task);
    }
    if (again.n && !str_is(again, "0")) {
        buf_puts(&text, ".r");
        archive_add_name(&text, again);
    }
    if (step.n) {
        buf_puts(&text, ".s");
        archive_add_name(&text, step);
    }
    snprintf(ret, size, "%s", text.p ? text.p : "job_");
}

/* ---- result and manifest ---- */

static void archive_add_text(struct json_out *j, const char *key, struct str value)
{
    if (value.n)
        json_str(j, key, value);
    else
        json_null(j, key);
}

/* Appends status, times and use of the program as an object under the key (NULL: as the document).
 * What is not known is null. */
static void archive_add_result(struct json_out *j, const char *key, const struct archive_job *job)
{
    const struct record *r = job->record;
    json_open_row(j, key, '{');
    json_text(j, "status", record_status_name(r->status));
    archive_add_text(j, "ended", archive_tag(job, "benchwrap.ended"));
    archive_add_text(j, "signal", archive_tag(job, "benchwrap.signal_number"));
    json_int(j, "start_ms", r->start_ms);
    json_int(j, "end_ms", r->end_ms);
    json_known(j, "exit_status", record_number(r, "run.exit_status", NAN));
    json_known(j, "wall_s", record_number(r, "run.wall_s", NAN));
    json_known(j, "user_s", record_number(r, "run.user_s", NAN));
    json_known(j, "system_s", record_number(r, "run.system_s", NAN));
    json_known(j, "max_rss_MiB", record_number(r, "run.max_rss_MiB", NAN));
    json_close(j, '}');
}

/* Appends the size and the SHA-256 of the file as members. -1 with errno: it cannot be read. */
static int archive_add_sum(struct json_out *j, int dir, const char *file)
{
    unsigned char piece[PIECE];
    char hex[SHA256_HEX];
    struct sha256 sum;
    uint64_t size = 0;
    ssize_t n;
    CLEANUP_FD int fd = place_open(dir, file, O_RDONLY, 0);
    if (fd < 0)
        return -1;
    sha256_init(&sum);
    while ((n = read(fd, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        sha256_add(&sum, piece, (size_t)n);
        size += (uint64_t)n;
    }
    sha256_end(&sum, hex);
    json_uint(j, "size", size);
    json_text(j, "sha256", hex);
    return 0;
}

/* Returns why the part is not in the archive, as static text or in the record's arena. */
static const char *why_missing(const struct archive_job *job, size_t part)
{
    const struct fact *f = archive_last_fact(job->record, FACT_MISSING, parts[part].source);
    if (f && f->text.p)
        return arena_dup(&job->record->arena, f->text.p, f->text.n);
    if (part == 0)
        return "no script of a batch job is known to this run";
    if (part == 3 && str_is(archive_tag(job, "benchwrap.streams"), "merged"))
        return "it is in stdout: both went to one file";
    return part == 1 ? "not recorded" : "nothing was written to it";
}

/* Appends the manifest of the archive. `name`: of the files in the folder, NULL for their paths in
 * the run. 0; -1 with err. */
static int make_manifest(const struct archive_job *job, const char *name, struct buf *to, struct err *err)
{
    char file[600];
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_int(&j, "format", MLRUNS_FORMAT);
    json_text(&j, "run_id", job->record->id);
    archive_add_text(&j, "cluster", archive_tag(job, "cluster"));
    archive_add_text(&j, "job_id", archive_tag(job, "job.id"));
    archive_add_text(&j, "array_id", archive_tag(job, "job.array_id"));
    archive_add_text(&j, "array_task", archive_tag(job, "job.array_task"));
    archive_add_text(&j, "restart", archive_restart_count(job));
    archive_add_text(&j, "step", archive_tag(job, "job.step"));
    archive_add_result(&j, "result", job);
    json_open(&j, "files", '[');
    for (size_t i = 0; i < PARTS; i++) {
        if (!archive_part_file(job, i, file, sizeof file))
            continue;
        json_open_row(&j, NULL, '{');
        json_text(&j, "part", parts[i].name);
        json_printf(&j, "path", "\"%s%s\"", name ? name : parts[i].artifact, name ? parts[i].ending : "");
        if (archive_add_sum(&j, job->spool->dir, file))
            return err_sys(err, "cannot read %s of the spool", file);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "missing", '[');
    for (size_t i = 0; i < PARTS; i++) {
        if (archive_part_file(job, i, file, sizeof file))
            continue;
        json_open_row(&j, NULL, '{');
        json_text(&j, "part", parts[i].name);
        archive_add_text(&j, "reason", str_of(why_missing(job, i)));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_flag(&j, "complete", true);
    json_close(&j, '}');
    return to->failed ? err_memory(err, "the archive") : 0;
}

/* Writes job/result.json and job/manifest.json into the spool, and records both as artifacts. -1
 * with err. */
static int archive_store_texts(const struct archive_job *job, struct err *err)
{
    struct buf result CLEANUP_BUF, manifest CLEANUP_BUF;
    buf_init(&result, MANIFEST_MAX);
    buf_init(&manifest, MANIFEST_MAX);
    struct json_out j = {.to = &result, .layout = JSON_ROW};
    archive_add_result(&j, NULL, job);
    buf_putc(&result, '\n');
    if (mkdirat(job->spool->dir, "job", 0700) != 0 && errno != EEXIST)
        return err_sys(err, "cannot make job/ in the spool");
    if (make_manifest(job, NULL, &manifest, err) || fs_write(job->spool->dir, "job/result.json", buf_text(&result), 0600, false, err) ||
        fs_write(job->spool->dir, "job/manifest.json", buf_text(&manifest), 0600, false, err))
        return -1;
    record_artifact(job->record, "job/result.json", "job/result.json");
    record_artifact(job->record, "job/manifest.json", "job/manifest.json");
    return 0;
}

void archive_store(const struct archive_job *job)
{
    struct err err = {0};
    char file[600];
    if (archive_store_texts(job, &err)) {
        record_missing(job->record, "job/manifest.json", "%s", err.text);
        return;
    }
    for (size_t i = 0; i < PARTS; i++)
        if (archive_part_file(job, i, file, sizeof file))
            record_artifact(job->record, parts[i].artifact, file);
}

/* ---- the folder ---- */

/* Opens DIR/<user>, which must be private and owned by this user. */
static int archive_open_folder(const struct archive_job *job, const char *dir, struct err *err)
{
    struct stat st;
    struct buf user CLEANUP_BUF;
    buf_init(&user, PART_NAME + 1);
    if (job->head->user && *job->head->user)
        archive_add_name(&user, str_of(job->head->user));
    else
        buf_printf(&user, "%ld", (long)geteuid());
    CLEANUP_FD int root = place_open_folder(dir, 0700);
    if (root < 0)
        return err_sys(err, "cannot open %s", dir);
    if (mkdirat(root, user.p, 0700) != 0 && errno != EEXIST)
        return err_sys(err, "cannot make %s/%s", dir, user.p);
    CLEANUP_FD int fd = openat(root, user.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st))
        return err_sys(err, "cannot open %s/%s", dir, user.p);
    if (st.st_uid != geteuid() || st.st_mode & 022)
        return err_set(err, ERR_INPUT, "%s/%s belongs to another user, or others may write to it", dir, user.p);
    return fs_take(&fd);
}

enum owner { OWNER_NONE, OWNER_OTHER, OWNER_SELF, OWNER_DONE };

/* Reads the .json of a name. OWNER_NONE: there is no file. OWNER_OTHER: it is another run's or
 * cannot be read. OWNER_DONE: this run's, and complete. */
static enum owner archive_owner(const struct archive_job *job, int dir, const char *path)
{
    struct stat st;
    struct json *j = NULL;
    struct buf text CLEANUP_BUF = {0};
    enum owner found = OWNER_OTHER;
    if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return OWNER_NONE;
    buf_init(&text, MANIFEST_MAX + 1);
    if (fs_read(dir, path, MANIFEST_MAX, 0, &text, NULL) == 0 && json_parse(&j, buf_text(&text), NULL, NULL) == 0 &&
        strcmp(json_string(json_get(j, "run_id"), ""), job->record->id) == 0)
        found = json_bool(json_get(j, "complete"), false) ? OWNER_DONE : OWNER_SELF;
    json_free(j);
    return found;
}

/* Moves a file to a new name, where it is complete from the first moment, also without hard links
 * (vfat). A file system without that kind of rename (NFS) has hard links. */
static int put_new(int aside, const char *from, int dir, const char *path, struct err *err)
{
    if (renameat2(aside, from, dir, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS)
        return fs_link(aside, from, dir, path, 0600, err);
    return err_sys(err, "cannot rename a file to %s", path);
}

/* Claims the name, unless another run has it, by a complete .json which states that the rest is
 * missing. Returns the owner of the name afterwards; OWNER_NONE: err. */
static enum owner archive_claim_name(const struct archive_job *job, int dir, int aside, const char *name, struct err *err)
{
    static const char claim[] = "claim";
    char path[NAME_BYTES + 48];
    struct buf text CLEANUP_BUF = {0};
    snprintf(path, sizeof path, "%s.json", name);
    enum owner owner = archive_owner(job, dir, path);
    if (owner != OWNER_NONE)
        return owner;
    buf_init(&text, 200);
    struct json_out j = json_begin(&text, JSON_ROW, '{');
    json_text(&j, "run_id", job->record->id);
    json_flag(&j, "complete", false);
    json_close(&j, '}');
    buf_putc(&text, '\n');
    if (fs_write(aside, claim, buf_text(&text), 0600, false, err))
        return OWNER_NONE;
    if (put_new(aside, claim, dir, path, err) == 0)
        owner = OWNER_SELF;
    else
        owner = archive_owner(job, dir, path); /* another one was quicker */
    unlinkat(aside, claim, 0);
    return owner;
}

/* Writes a file of the archive to disk, under a temporary name. */
static int export_part(const struct archive_job *job, int aside, size_t part, struct err *err)
{
    char file[600];
    if (!archive_part_file(job, part, file, sizeof file))
        return 0;
    if (fs_copy(job->spool->dir, file, aside, parts[part].ending, 0600, err))
        return -1;
    CLEANUP_FD int fd = openat(aside, parts[part].ending, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? err_sys(err, "cannot sync %s", parts[part].ending) : 0;
}

/* Renames the file to its name in the folder; without such a file removes what an earlier attempt
 * left under the name. 0; -1 with err. */
static int put_in_place(int aside, const char *ending, int dir, const char *name, struct err *err)
{
    char path[NAME_BYTES + 48];
    snprintf(path, sizeof path, "%s%s", name, ending);
    if (renameat(aside, ending, dir, path) == 0)
        return 0;
    if (errno != ENOENT)
        return err_sys(err, "cannot rename a file to %s", path);
    unlinkat(dir, path, 0); /* of an attempt that did not end: this run owns the name */
    return 0;
}

/* Writes the files of this name into the folder, all synced before the first one is renamed; the
 * .json is complete once all others have their names. 0; -1 with err. */
static int export_files(const struct archive_job *job, int dir, int aside, const char *name, struct err *err)
{
    struct buf manifest CLEANUP_BUF;
    buf_init(&manifest, MANIFEST_MAX);
    for (size_t i = 0; i < PARTS; i++)
        if (export_part(job, aside, i, err))
            return -1;
    if (make_manifest(job, name, &manifest, err) || fs_write(aside, ".json", buf_text(&manifest), 0600, true, err))
        return -1;
    for (size_t i = 0; i < PARTS; i++)
        if (put_in_place(aside, parts[i].ending, dir, name, err))
            return -1;
    return put_in_place(aside, ".json", dir, name, err) ? -1 : 0;
}

/* Removes what killed runs have left for more than an hour. */
static void archive_clean_up(int dir)
{
    struct fs_names list;
    struct stat st;
    struct err ignored = {0};
    if (fs_list(dir, UNFINISHED, &list, &ignored))
        return;
    for (size_t i = 0; i < list.count; i++) {
        char path[NAME_BYTES + 48];
        int n = snprintf(path, sizeof path, UNFINISHED "/%s", list.names[i]);
        if (n < (int)sizeof path && fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && clock_wall_ms() / 1000 - st.st_mtime > OLD_S)
            fs_remove_tree(dir, path, &ignored);
    }
    fs_names_deinit(&list);
}

/* Opens a new, empty folder in which the files are made; *ret is its path in dir. Returns the
 * descriptor; -1 with err. */
static int archive_open_unfinished(const struct archive_job *job, int dir, char *ret, size_t size, struct err *err)
{
    snprintf(ret, size, UNFINISHED "/%s", job->record->id);
    archive_clean_up(dir);
    int rc = fs_remove_tree(dir, ret, err);
    for (int i = 0; rc == 0 && i < 9; i++) { /* another run that has ended may remove the folders between */
        int fd = -1;
        if ((rc = fs_mkdirs(dir, ret, 0700, err)) == 0 && (fd = openat(dir, ret, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) >= 0)
            return fd;
    }
    return rc ? -1 : err_sys(err, "cannot open %s", ret);
}

/* Exports the files under the job's name, with the run id behind it where another run has that
 * name. 0, also where they are there already; -1 with err: what this run stored under the name is
 * removed. */
static int export_named(const struct archive_job *job, int dir, int aside, struct err *err)
{
    char name[NAME_BYTES + 40], path[NAME_BYTES + 48];
    archive_name(job, name, NAME_BYTES);
    enum owner owner = archive_claim_name(job, dir, aside, name, err);
    if (owner == OWNER_OTHER) {
        size_t n = strlen(name);
        snprintf(name + n, sizeof name - n, "-%s", job->record->id);
        owner = archive_claim_name(job, dir, aside, name, err);
    }
    if (owner == OWNER_OTHER)
        return err_set(err, ERR_INPUT, "%s.json is there already, and not of this run", name);
    if (owner != OWNER_SELF)
        return owner == OWNER_DONE ? 0 : -1;
    if (export_files(job, dir, aside, name, err) == 0)
        return 0;
    for (size_t i = 0; i < PARTS; i++) {
        snprintf(path, sizeof path, "%s%s", name, parts[i].ending);
        unlinkat(dir, path, 0);
    }
    snprintf(path, sizeof path, "%s.json", name);
    unlinkat(dir, path, 0);
    return -1;
}

/* Exports the job's files into the folder `where`, and removes the unfinished ones. 0; -1 with
 * err. */
static int export_all(const struct archive_job *job, const char *where, struct err *err)
{
    char path[NAME_BYTES];
    struct err ignored = {0};
    CLEANUP_FD int dir = archive_open_folder(job, where, err);
    if (dir < 0)
        return -1;
    CLEANUP_FD int aside = archive_open_unfinished(job, dir, path, sizeof path, err);
    int rc = aside < 0 || export_named(job, dir, aside, err) ? -1 : 0;
    fs_remove_tree(dir, path, &ignored);
    unlinkat(dir, UNFINISHED, AT_REMOVEDIR);
    return rc;
}

struct archive_exporting {
    struct archive_job job;
    struct spool spool;
    const char *dir;
};

/* Runs in a child process: writes the job's files into x->dir. Returns the child's exit status: 0,
 * or 2 with the error's text written to `out`. */
static int archive_export_here(void *context, int out)
{
    struct archive_exporting *x = context;
    struct err err = {0};
    if (export_all(&x->job, x->dir, &err) == 0)
        return 0;
    fs_write_all(out, err.text, strlen(err.text));
    return 2;
}

int archive_export(const struct archive_job *job, const char *dir, struct err *err)
{
    struct archive_exporting x = {.job = *job, .spool = *job->spool, .dir = dir};
    struct child_work child;
    const struct child_work_plan plan = {
        .run = archive_export_here, .context = &x, .name = "benchwrap-keep", .keep = {&x.spool.dir}, .max = 1 << 16};
    x.job.spool = &x.spool;
    int rc = 0;
    if (child_work_start(&child, &plan) < 0)
        rc = err_sys(err, "--archive: no process");
    else if (!child_work_wait(&child, clock_mono_ns() + EXPORT_MS * INT64_C(1000000)))
        rc = err_set(err, ERR_SYSTEM, "--archive %s: not done within %d s; the run itself is recorded", dir, EXPORT_MS / 1000);
    else if (child_work_reap(&child, -1) != 0)
        rc = err_set(err, ERR_SYSTEM, "--archive %s: %s; the run itself is recorded", dir,
                     child.text.n ? child.text.p : "the process that wrote it was killed");
    child_work_deinit(&child);
    return rc;
}
