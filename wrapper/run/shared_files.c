/* shared_files.c: the files that the program's own MLflow client logged, as artifacts of the run; see shared_files.h. */
#include "run/shared_files.h"

#include "base/err.h"
#include "base/fs.h"
#include "run/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 32, FILES_MAX = 10000, PATH_BYTES = 1100 };

/* Returns whether a file that every run has, or that the end of the run may add, has this path, or
 * an artifact that is recorded already. */
static bool is_taken(const struct record *r, const char *path)
{
    static const char *const own[] = {"stdout.log",   "stderr.log", "benchwrap.json", "manifest.json",   "manifest.json.sig",
                                      "series.jsonl", "rules.yaml", "topology.xml",   "environment.txt", "nodes.json"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(path, own[i]) == 0)
            return true;
    if (strncmp(path, "job/", 4) == 0) /* the archive of a job */
        return true;
    return record_find(r, FACT_ARTIFACT, path) != NULL;
}

/* Writes the path, with "mlflow/" before it as often as needed: the client may have used the names
 * below mlflow/, too. */
static void free_path(const struct record *r, const char *wanted, char ret[PATH_BYTES])
{
    snprintf(ret, PATH_BYTES, "%s", wanted);
    for (size_t n = strlen(ret); is_taken(r, ret) && n + 8 < PATH_BYTES; n += 7) {
        memmove(ret + 7, ret, n + 1);
        memcpy(ret, "mlflow/", 7);
    }
}

void shared_add_file(struct shared_into *to, int dir, const char *file, const char *wanted)
{
    struct record *r = to->r;
    char path[PATH_BYTES], name[40];
    struct stat st;
    struct err err = {0};
    uint64_t left = to->left;
    CLEANUP_FD int from = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free_path(r, wanted, path);
    if (from < 0 || fstat(from, &st) || !S_ISREG(st.st_mode)) {
        record_missing(r, path, "the program's MLflow client logged it, but it is no file that can be read");
        return;
    }
    if ((uint64_t)st.st_size > left || to->files >= FILES_MAX) {
        record_missing(r, path, "not kept: with its %lld bytes the run's files would be larger than --artifact-max", (long long)st.st_size);
        return;
    }
    snprintf(name, sizeof name, "mlflow-%.8s-%zu", r->id, to->files++);
    unlinkat(to->spool, name, 0); /* of a finish step that was killed; the tree may have it too */
    CLEANUP_FD int copy = openat(to->spool, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (copy < 0 || keep_copy(r, from, copy, &left, to->redact, path, &err)) {
        record_missing(r, path, "not kept: %s", copy < 0 ? strerror(errno) : err.text);
        return;
    }
    to->left = left;
    struct fact fact = {
        .kind = FACT_ARTIFACT, .key = str_of(path), .text = str_of(name), .time_ms = r->start_ms, .unit = "", .source = SHARED_SOURCE};
    record_fact(r, &fact);
}

static void add_folder(struct shared_into *to, int dir, const char *name, const char *path, int depth);

static void add_entry(struct shared_into *to, int dir, const char *name, const char *path, int depth)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        add_folder(to, dir, name, path, depth);
    else
        shared_add_file(to, dir, name, path);
}

/* Adds the files below dir/name under `path`, folder by folder. A folder that is missing is
 * ignored; one that cannot be read or is too deep is recorded as missing. */
static void add_folder(struct shared_into *to, int dir, const char *name, const char *path, int depth)
{
    static const char why[] = "the program's MLflow client logged this folder, which is not kept: %s";
    struct fs_names list;
    char below[PATH_BYTES];
    CLEANUP_FD int folder = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0 && errno == ENOENT)
        return;
    const char *shown = *path ? path : "artifacts";
    if (folder < 0 || depth > DEPTH_MAX) {
        record_missing(to->r, shown, why, folder < 0 ? err_words(errno) : "it is too deep");
        return;
    }
    if (fs_list(folder, ".", &list, NULL)) {
        record_missing(to->r, shown, why, err_words(errno));
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        int n = snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", list.names[i]);
        if (n < (int)sizeof below)
            add_entry(to, folder, list.names[i], below, depth + 1);
        else
            record_missing(to->r, below, why, "its path is too long");
    }
    fs_names_deinit(&list);
}

void shared_add_entry(struct shared_into *to, int dir, const char *name, const char *path)
{
    add_entry(to, dir, name, path, 0);
}

void shared_add_folder(struct shared_into *to, int dir, const char *name, const char *path)
{
    add_folder(to, dir, name, path, 0);
}
