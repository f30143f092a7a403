/* repack.c: joins packs that commits have left when there are many; see repack.h. */
#include "results/repack.h"

#include "base/fs.h"
#include "git/program.h"
#include "git/ref.h"

#include <fcntl.h>
#include <stdio.h>

enum { LIMIT_S = 1800, USAGE = 129 };

/* Returns the number of packs of the repository; 0 where they cannot be listed. */
static size_t count_packs(const struct repo *r)
{
    char path[4096];
    struct fs_names list;
    size_t n = 0;
    snprintf(path, sizeof path, "%sobjects/pack", repo_common(r));
    if (fs_list(AT_FDCWD, path, &list, NULL))
        return 0;
    for (size_t i = 0; i < list.count; i++)
        n += str_ends(str_of(list.names[i]), ".pack");
    fs_names_deinit(&list);
    return n;
}

static int git_repack(const struct repo *r, const char *how)
{
    const char *argv[] = {"git", "-c", "gc.auto=0", "repack", "-q", "-d", how, NULL};
    struct program_end end;
    struct program p = {.argv = argv, .dir = repo_common(r), .limit_s = LIMIT_S};
    int rc = program_run(&p, &end, NULL);
    int status = rc ? -1 : end.status;
    program_end_deinit(&end);
    return status;
}

bool repack_when_due(struct repo *r)
{
    struct arena a;
    const char *text;
    arena_init(&a, 4096);
    bool partial = repo_config(r, "extensions.partialclone", &a, &text, NULL) == 0; /* its packs are not all alike */
    arena_deinit(&a);
    struct ref_turn turn;
    if (partial || count_packs(r) < REPACK_FROM || ref_turn_take(&turn, r, "repack", 0, NULL, NULL, NULL))
        return false; /* nothing to do, or another process repacks */
    int status = git_repack(r, "--geometric=2");
    if (status == USAGE) /* git before 2.32 */
        status = git_repack(r, "-A");
    ref_turn_give(&turn);
    if (status == 0)
        repo_refresh(r);
    return status == 0;
}
