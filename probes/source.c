/* source.c: the git state of the program's directory, after it has ended: commit, branch, uncommitted changes, origin.
 *
 * Reading can hang (a dead file server) or be slow (a large working tree), and libgit2 must not be
 * in the recorder: a child process does all of it. What
 * was found within two seconds counts. */
#include "probes/git.h"
#include "probes/look.h"
#include "probes/program.h"

#include <stdlib.h>

/* Records the repository of the folder that the program's script or file is in. */
static int source_after(struct host *h, struct record *r, struct err *err)
{
    char path[4096];
    (void)err;
    if (!h->real || !h->argv || !h->argv[0])
        return 0;
    if (!program_find_script(h, path, sizeof path) && !program_find_path(h, path, sizeof path))
        return 0; /* the software probe records why */
    char *resolved = realpath(path, NULL), *slash = resolved ? strrchr(resolved, '/') : NULL;
    if (slash) {
        slash[slash == resolved] = 0;
        source_git_emit(resolved, h, r);
    }
    free(resolved);
    return 0;
}

const struct probe probe_source = {
    .name = "source",
    .summary = "git state of the program's directory (after it has ended, aside)",
    .after = source_after,
    .limit_ms = 2000,
    .aside = true,
    .nested = true,
    .anywhere = true,
};
