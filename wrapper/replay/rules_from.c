/* rules_from.c: reads the output that `rules new` starts from. */
#include "replay/rules_from.h"
#include "base/fs.h"
#include "base/json.h"
#include "benchmarks/guess.h"
#include "runs/runs.h"
#include "launch/peel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends up to GUESS_BYTES_MAX bytes. Returns 0 at the end of the input, 1 where the limit was
 * reached, -1 with err. The caller closes the descriptor. */
static int read_descriptor(int fd, const char *name, struct buf *b, struct err *err)
{
    char *room = buf_room(b, GUESS_BYTES_MAX);
    if (!room)
        return err_memory(err, "reading %s", name);
    while (b->n < GUESS_BYTES_MAX) {
        ssize_t n = read(fd, b->p + b->n, GUESS_BYTES_MAX - b->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "read %s", name);
        if (n == 0)
            return 0;
        b->n += (size_t)n;
    }
    return 1;
}

/* Returns the arguments as recorded, without the launcher; NULL: the record has none. */
static char *const *recorded_argv(const struct json *detail, struct arena *a)
{
    const struct json *list = json_pointer(detail, "/run/argv");
    char **argv = list && json_count(list) ? arena_get(a, (json_count(list) + 1) * sizeof *argv) : NULL;
    size_t n = 0;
    for (const struct json *e = argv ? json_first(list) : NULL; e; e = json_next(e)) {
        const char *word = json_string(e, "");
        if (!(argv[n++] = arena_dup(a, word, strlen(word))))
            return NULL;
    }
    return argv ? peel_program(argv) : NULL;
}

/* Reads standard output of the run, or standard error where the program printed nothing else. */
static int read_streams(struct runs *runs, const struct tree_run *run, struct buf *b, struct err *err)
{
    static const char *const streams[] = {"stdout.log", "stderr.log"};
    struct folder tree = runs_tree(runs, run);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        char path[512];
        int got = snprintf(path, sizeof path, "%s/artifacts/%s", tree_run_path(run), streams[i]) < (int)sizeof path
                      ? folder_read_head(&tree, path, GUESS_BYTES_MAX, b)
                      : -1;
        if (got >= 0 && b->n)
            return got;
    }
    return err_set(err, ERR_INPUT, "--from: the run %.8s has no output: the program printed nothing, or the run did not keep it", run->id);
}

/* Returns of a series the newest of its runs, since the series has no output of its own; else the
 * run itself. NULL with err. */
static struct tree_run *with_output(struct runs *runs, struct tree_run *run, struct arena *a, struct err *err)
{
    const struct runs_filter filter = {.experiment = run->experiment};
    struct tree_run *found = NULL;
    if (!runs_entry(run->tags, "benchwrap.series"))
        return run;
    const char *root = runs_root_id(runs, run, a);
    free(runs->all);
    runs->all = NULL;
    runs->count = 0;
    if (runs_load(runs, &filter, a, err) < 0)
        return NULL;
    for (size_t i = 0; i < runs->count && !found; i++) {
        const char *parent = runs_file(runs, runs->all[i], "tags/mlflow.parentRunId", 64, a);
        found = parent && strcmp(parent, root) == 0 ? runs->all[i] : NULL;
    }
    if (!found)
        err_set(err, ERR_INPUT, "--from: the series %.8s has no run whose output could be read", run->id);
    return found;
}

/* Appends the output of a stored run, and its command line to *argv where that is NULL. Returns 1
 * where a limit cut the output, -1 with err. */
static int read_run_output(const struct runs_place *place, const char *from, struct buf *b, char *const **argv, struct arena *a,
                           struct err *err)
{
    struct runs runs;
    struct tree_run *run;
    const char *problem;
    int rc = runs_open(&runs, place, a, err) ? -1 : runs_find(&runs, from, TREE_TAGS, a, &run, err);
    if (rc == 0 && !(run = with_output(&runs, run, a, err)))
        rc = -1;
    if (rc == 0 && (rc = read_streams(&runs, run, b, err)) >= 0 && !*argv) {
        struct json *detail = runs_detail(&runs, run, &problem, a);
        *argv = recorded_argv(detail, a);
        json_free(detail);
    } else if (rc == 1)
        rc = b->n ? 1 : -1;
    runs_close(&runs);
    return rc;
}

int rules_from(const struct runs_place *place, const char *from, struct buf *b, char *const **argv, struct arena *a, struct err *err)
{
    if (strcmp(from, "-") == 0)
        return read_descriptor(STDIN_FILENO, "standard input", b, err);
    CLEANUP_FD int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return read_descriptor(fd, from, b, err);
    if (errno != ENOENT || strchr(from, '/') || strchr(from, '.'))
        return err_sys(err, "open %s", from);
    return read_run_output(place, from, b, argv, a, err);
}
