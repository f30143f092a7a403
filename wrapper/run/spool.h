/* spool.h: store a run until it is safe in the tree: one directory per run, claimed by renaming. */
#ifndef WRAPPER_RUN_SPOOL_H
#define WRAPPER_RUN_SPOOL_H
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct spool {
    int root;           /* the folder of all runs */
    int dir;            /* this run's */
    char name[96];      /* its name below root: the run id, or after a claim "<id>+<pid>" */
    uid_t owner;        /* of a foreign one, after SPOOL_FOREIGN */
};
#define SPOOL_MAKING ".making-" /* begins the name of a directory that is not a run yet (run/make.c) */
#define SPOOL_SHARED ".shared-" /* prefix of a folder next to a run's, then its id: what the program's MLflow client logs (run/shared.h) */
#define SPOOL_HELD "held" /* a file of a run whose campaign may be resumed: no other process finishes it within a week */
#define SPOOL_NONE ((struct spool){-1, -1, "", 0})
enum { SPOOL_FOREIGN = 2 };

/* Makes root (mkdir -p, 0700) and root/name in it, which must not exist. */
int spool_create(struct spool *ret, const char *root, const char *name, struct err *err);
/* Opens root/name. 1: it is not there (any more). SPOOL_FOREIGN: it belongs to another user, ret->owner, who finishes it; nothing is open. */
int spool_open(struct spool *ret, const char *root, const char *name, struct err *err);
/* Renames the directory so that no other process finishes it. 0; 1: another process was faster; -1. */
int spool_claim(struct spool *s, struct err *err);
/* Marks the run as published: stores `where` ("mlruns/<exp>/<run>", several with blanks between)
 * below tree_parent, so that only syncing and removing remain. 0; -1 with err. */
int spool_mark_published(struct spool *s, const char *tree_parent, const char *where, struct err *err);
/* Seconds since it was published; INT_MAX if it was not. */
int spool_published_for(const struct spool *s);
/* Syncs the run in the tree and removes the spool directory. 0; 1: it is not published yet; -1 with
 * err. */
int spool_release(struct spool *s, struct err *err);
/* Removes the directory with everything in it (the program never started), and the folder next to
 * it. */
int spool_discard(struct spool *s, struct err *err);
/* Removes only the folder next to it. */
int spool_drop_shared(struct spool *s);
void spool_close(struct spool *s);
/* Writes the path relative to the run's directory ("../../../mlruns"), which names no home folder,
 * into ret. False: it is longer than `size` bytes, or the directory is unknown. */
bool spool_relative(const struct spool *s, const char *path, char *ret, size_t size);
/* Appends the absolute path of the run's directory, for messages. 0; -1. */
int spool_path(const struct spool *s, struct buf *to);
#endif
