/* server_copies.c: where runs of the tree are on MLflow servers; see server_copies.h. */
#include "runs/server_copies.h"

#include "plan/paths.h"

#include <string.h>

/* Returns the folder of the notes: "sync" next to "spool". NULL: a commit has none. */
static const char *notes_folder(const struct runs *runs, struct arena *a)
{
    const char *spool = runs->root >= 0 ? plan_spool_of(runs->tree, a) : NULL;
    return spool ? arena_printf(a, "%.*s/sync", (int)(strlen(spool) - strlen("/spool")), spool) : NULL;
}

const struct sent_note *server_copies_of(const struct runs *runs, const struct tree_run *run, struct arena *a)
{
    const char *folder = notes_folder(runs, a);
    return folder ? sent_notes_of(folder, run->id, a) : NULL;
}

const char *server_copies_find(const struct runs *runs, const char *id, struct arena *a)
{
    enum { LEAST = 4, MOST = 32 };
    size_t n = strlen(id);
    const char *folder = n >= LEAST && n <= MOST && strspn(id, "0123456789abcdef") == n ? notes_folder(runs, a) : NULL;
    return folder ? sent_notes_find(folder, id, a) : NULL;
}
