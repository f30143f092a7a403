/* files.c: find which of the files that the rules name the program wrote. */
#include "run/files.h"

#include "base/clock.h"
#include "base/fs.h"
#include "benchmarks/catalogue.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    GRAIN_MS = 20, /* file times come from the kernel's coarse clock */
    PATH_BYTES = 4096,
    ALL_BYTES = 8 << 20
};
/* The child's report of a file; its path follows. A last one with rule ALL_TOLD ends the list. */
struct file_report {
    uint32_t rule, path_n;
    uint64_t dev, ino, size;
    int64_t mtime_ns, btime_ns; /* of the last file: mtime_ns is the time when all had been found */
};
static const uint32_t ALL_TOLD = UINT32_MAX;

static int64_t statx_time_ns(struct statx_timestamp t)
{
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Writes a report that the rule's pattern matches more than FILES_SEEN_MAX files: one without a
 * path. False: fd cannot be written. */
static bool report_too_many(int fd, uint32_t rule)
{
    struct file_report t = {.rule = rule};
    return fs_write_all(fd, &t, sizeof t) == 0;
}

/* Writes a struct file_report and the path to fd; nothing for what is no regular file. False: fd
 * cannot be written. */
static bool report_file(int fd, uint32_t rule, const char *path)
{
    struct statx st;
    size_t n = strlen(path);
    if (n >= PATH_BYTES || statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &st) || !S_ISREG(st.stx_mode))
        return true;
    struct file_report t = {.rule = rule,
                            .path_n = (uint32_t)n,
                            .dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
                            .ino = st.stx_ino,
                            .size = st.stx_size,
                            .mtime_ns = statx_time_ns(st.stx_mtime),
                            .btime_ns = st.stx_mask & STATX_BTIME ? statx_time_ns(st.stx_btime) : 0};
    return fs_write_all(fd, &t, sizeof t) == 0 && fs_write_all(fd, path, n) == 0;
}

/* Runs in the child: reports the files of one pattern. A name from the arguments is no pattern,
 * whatever characters it has. False: fd cannot be written. */
static bool report_rule_files(int fd, const struct rules *rules, uint32_t i, char *const *argv, struct arena *a)
{
    const char *pattern = rules_file(rules, i), *path = rules_file_path(rules, i, argv, a);
    glob_t found = {0};
    bool good = true;
    if (!path)
        return true;
    if (path != pattern || !strpbrk(pattern, "*?["))
        return report_file(fd, i, path);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0 && found.gl_pathc > FILES_SEEN_MAX)
        good = report_too_many(fd, i); /* the newest may be among those that are not listed */
    else
        for (size_t k = 0; good && k < found.gl_pathc; k++)
            good = report_file(fd, i, found.gl_pathv[k]);
    globfree(&found);
    return good;
}

struct files_question {
    const char *rules;
    char *const *argv;
};

/* Runs in a child process: writes a report of each file that the rules name to fd, and a last one
 * when all have been found. Returns the exit status: 1 where the list is incomplete. */
static int files_report_all(void *context, int fd)
{
    const struct files_question *q = context;
    struct rules *rules;
    struct arena a;
    struct file_report all = {.rule = ALL_TOLD};
    arena_init(&a, 1 << 20);
    if (rules_load(&rules, q->rules, NULL))
        return 1;
    for (uint32_t i = 0; i < FILES_RULES_MAX && rules_file(rules, i); i++)
        if (!report_rule_files(fd, rules, i, q->argv, &a))
            return 1;
    all.mtime_ns = clock_mono_ns();
    fs_write_all(fd, &all, sizeof all);
    return 0;
}

/* Returns whether the rules may name files. Most do not, and need no child process. Searches their
 * text without compiling it. */
static bool name_files(const char *rules)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, CATALOGUE_FILE_MAX + 1);
    return rules && catalogue_read(rules, &text, NULL) == 0 && str_has(buf_text(&text), "file:");
}

void files_look_begin(struct child_work *ret, const char *rules, char *const *argv)
{
    struct files_question q = {rules, argv};
    const struct child_work_plan plan = {.run = files_report_all, .context = &q, .max = ALL_BYTES};
    *ret = CHILD_WORK_NONE;
    if (name_files(rules))
        child_work_start(ret, &plan);
}

/* Reads the child's reports into *ret, in the arena. ret->known is set only where the list is
 * complete. */
static void read_file_reports(struct str text, struct arena *a, struct files_list *ret)
{
    struct file_seen **tail = &ret->first;
    while (text.n >= sizeof(struct file_report)) {
        struct file_report t;
        memcpy(&t, text.p, sizeof t);
        text = str_sub(text, sizeof t, text.n);
        if (t.rule == ALL_TOLD) {
            ret->known = true;
            ret->mono_ns = t.mtime_ns;
            return;
        }
        struct file_seen *f = ARENA_NEW(a, struct file_seen);
        const char *path = t.path_n <= text.n ? arena_dup(a, text.p, t.path_n) : NULL;
        if (!f || !path)
            return;
        *f = (struct file_seen){
            .rule = t.rule, .dev = t.dev, .ino = t.ino, .size = t.size, .mtime_ns = t.mtime_ns, .btime_ns = t.btime_ns, .path = path};
        *tail = f;
        tail = &f->next;
        text = str_sub(text, t.path_n, text.n);
    }
}

void files_seen(struct child_work *look, int64_t wait_ms, struct arena *a, struct files_list *ret)
{
    *ret = (struct files_list){0};
    if (child_work_wait(look, clock_mono_ns() + wait_ms * 1000000))
        child_work_reap(look, -1);
    read_file_reports(buf_text(&look->text), a, ret);
    child_work_deinit(look);
}

static const struct file_seen *same_path(const struct file_seen *list, const struct file_seen *f)
{
    for (; list; list = list->next)
        if (list->rule == f->rule && !strcmp(list->path, f->path))
            return list;
    return NULL;
}

static bool is_before(int64_t ns, int64_t run_ms)
{
    return ns / 1000000 + GRAIN_MS < run_ms;
}

enum file_change { STALE, MADE, CHANGED, DOUBTFUL };

/* Returns what the program did to a file. The program may have been running at the reading before.
 * That reading then shows the earlier state only where the file had not changed since long. */
static enum file_change file_change_of(const struct files_list *before, const struct file_seen *old, const struct file_seen *f,
                                       int64_t run_ms, bool in_time)
{
    if (before->known && !old)
        return MADE;
    if (old && (in_time || is_before(old->mtime_ns, run_ms))) {
        bool same = old->dev == f->dev && old->ino == f->ino;
        return same && old->size == f->size && old->mtime_ns == f->mtime_ns ? STALE : same ? CHANGED : MADE;
    }
    if (f->btime_ns / 1000000 >= run_ms)
        return MADE;
    return is_before(f->mtime_ns, run_ms) ? STALE : DOUBTFUL;
}

void files_choose(const struct files_list *before, const struct file_seen *after, uint32_t rule, int64_t run_ms, int64_t program_ns,
                  struct file_chosen *ret)
{
    *ret = (struct file_chosen){.too_many = same_path(before->first, &(struct file_seen){.rule = rule, .path = ""}) ||
                                            same_path(after, &(struct file_seen){.rule = rule, .path = ""})};
    for (const struct file_seen *f = ret->too_many ? NULL : after; f; f = f->next) {
        if (f->rule != rule)
            continue;
        const struct file_seen *old = before->known ? same_path(before->first, f) : NULL;
        enum file_change as = file_change_of(before, old, f, run_ms, before->known && before->mono_ns < program_ns);
        if (as == STALE)
            ret->stale = f;
        if (as == DOUBTFUL)
            ret->doubtful = f;
        if (as == STALE || as == DOUBTFUL)
            continue;
        ret->fresh++;
        if (ret->file &&
            (f->mtime_ns < ret->file->mtime_ns || (f->mtime_ns == ret->file->mtime_ns && strcmp(f->path, ret->file->path) < 0)))
            continue;
        ret->file = f;
        ret->from = as == CHANGED && old && f->size > old->size ? old->size : 0;
    }
}
