/* result_files.c: imports the files that `benchwrap compare` names into a private tree; see result_files.h. */
#include "compare/result_files.h"

#include "base/fs.h"
#include "base/place.h"
#include "import/import.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESULT_FILE_MAX = 256 << 20 };

/* Returns whether the name is the path of a regular file. */
static bool result_is_file(struct str name)
{
    char path[4096];
    struct stat st;
    if (name.n == 0 || name.n >= sizeof path)
        return false;
    memcpy(path, name.p, name.n);
    path[name.n] = 0;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int result_files_named(char *const *operands, int count, struct err *err)
{
    struct str other = {0};
    bool found = false;
    for (int i = 0; i < count; i++)
        for (struct str rest = str_of(operands[i]); rest.p && strcmp(operands[i], "vs") != 0;) {
            struct str one = str_cut(&rest, ',');
            if (result_is_file(one))
                found = true;
            else if (!other.p)
                other = one;
        }
    if (found && other.p)
        return err_set(err, ERR_INPUT, "expected files alone or runs alone: \"%.*s\" is not a file", (int)(other.n < 300 ? other.n : 300),
                       other.p);
    return found;
}

/* One operand that is being read. */
struct result_group {
    struct buf runs; /* their ids, with commas between */
    const char *unknown, *why; /* the first file that could not be imported, and why; set where `wrong` is */
    bool wrong;
    struct arena *a;
};

/* Adds the id of an imported run to the group, or notes the first file that could not be imported
 * and why. */
static void result_take(void *context, const char *name, const struct imported *got)
{
    struct result_group *g = context;
    if (got->result == IMPORT_DONE || got->result == IMPORT_THERE) {
        buf_printf(&g->runs, "%s=%s", g->runs.n ? "," : "", got->id);
        return;
    }
    if (g->wrong)
        return;
    g->wrong = true;
    g->unknown = arena_dup(g->a, name, strlen(name));
    g->why = got->result == IMPORT_UNKNOWN
                 ? "no rules know this output; import it with \"benchwrap import --rules NAME\", and compare its run"
             : got->why && *got->why ? got->why
                                     : "it cannot be imported";
}

/* Reads the files of one operand (with commas between) as runs. Returns their records as JSON in
 * the arena. NULL with err: a file is none that rules know, or out of memory. */
static char *result_read_group(const struct importer *im, const char *operand, struct arena *a, struct err *err)
{
    struct result_group g = {.a = a};
    buf_init(&g.runs, 1 << 20);
    for (struct str rest = str_of(operand); rest.p && !g.wrong;) {
        struct str one = str_cut(&rest, ',');
        const char *path = arena_dup(a, one.p, one.n);
        if (path)
            import_file(im, AT_FDCWD, path, path, a, result_take, &g);
    }
    char *runs = g.wrong || g.runs.failed ? NULL : arena_dup(a, g.runs.p ? g.runs.p : "", g.runs.n);
    if (g.wrong)
        err_set(err, ERR_INPUT, "%.300s: %.300s", g.unknown ? g.unknown : operand, g.why);
    else if (!runs)
        err_memory(err, "the runs of the files");
    buf_deinit(&g.runs);
    return runs;
}

/* Makes the temporary folder for the runs of the files, below TMPDIR or /tmp, and the tree in it.
 * Returns -1 with err; f->folder is then empty if no folder was made. */
static int result_make_folder(struct result_files *f, struct arena *a, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    int n = snprintf(f->folder, sizeof f->folder, "%s/benchwrap-compare.XXXXXX", parent && parent[0] == '/' ? parent : "/tmp");
    if (n < 0 || (size_t)n >= sizeof f->folder)
        snprintf(f->folder, sizeof f->folder, "/tmp/benchwrap-compare.XXXXXX");
    if (!mkdtemp(f->folder)) {
        err_sys(err, "making a folder for the comparison: %s", f->folder);
        f->folder[0] = 0;
        return -1;
    }
    f->tree = arena_printf(a, "%s/mlruns", f->folder);
    return f->tree ? fs_mkdirs(AT_FDCWD, f->tree, 0700, err) : err_memory(err, "the comparison");
}

static void result_note(void *context, const char *text)
{
    (void)context;
    (void)text; /* a faulty file in the user's catalogue: other commands name it */
}

int result_files_open(struct result_files *ret, char *const *operands, int count, char **env, struct arena *a, struct err *err)
{
    struct plan plan;
    *ret = (struct result_files){.operands = arena_get(a, ((size_t)count + 1) * sizeof *ret->operands)};
    if (!ret->operands)
        return err_memory(err, "the comparison");
    if (result_make_folder(ret, a, err) < 0)
        return -1;
    char *line[] = {arena_dup(a, "import", 6), arena_printf(a, "--tree=%s", ret->tree), NULL};
    if (!line[0] || !line[1] || plan_make(&plan, 2, line, env, err))
        return -1;
    struct importer im = {
        .plan = &plan, .root = place_open_folder(plan.tree, 0), .exit_status = -1, .streams = "stdout", .max = RESULT_FILE_MAX};
    int rc = im.root < 0 ? err_sys(err, "opening %s", ret->tree) : import_catalogue(&im, a, result_note, NULL, err);
    for (int i = 0; rc == 0 && i < count; i++) {
        ret->operands[i] = strcmp(operands[i], "vs") == 0 ? operands[i] : result_read_group(&im, operands[i], a, err);
        if (!ret->operands[i])
            rc = -1;
    }
    import_deinit(&im);
    plan_deinit(&plan);
    return rc;
}

void result_files_close(struct result_files *files)
{
    if (files->folder[0])
        fs_remove_tree(AT_FDCWD, files->folder, NULL);
    files->folder[0] = 0;
}
