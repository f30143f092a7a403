/* server_copies.h: where runs of the tree are on MLflow servers, as uploads have noted. */
#ifndef RUNS_SERVER_COPIES_H
#define RUNS_SERVER_COPIES_H
#include "mlflow/sent_notes.h"
#include "runs/runs.h"

/* Returns the servers that have the run completely, in the arena; NULL: none is known, or the tree
 * is a commit. */
const struct sent_note *server_copies_of(const struct runs *runs, const struct tree_run *run, struct arena *a);
/* Returns the id in the tree of the run whose id on a server is `id`, or begins with it; NULL: no
 * such run is known, or several are. In the arena. */
const char *server_copies_find(const struct runs *runs, const char *id, struct arena *a);
#endif
