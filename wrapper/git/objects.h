/* objects.h: new objects for a repository: collected in memory, then written as one pack that is synced before a ref names it. Refs are moved
 * by ref.h, when the pack is there.
 *
 * A kill or a full disk at any moment leaves the repository as it was: the pack is made below <common>/benchwrap/ and renamed into objects/pack
 * when it is complete and synced. What an earlier kill left there is removed by the next
 * objects_new; whoever has a writer open for a repository should
 * hold ref.h's turn. */
#ifndef GIT_OBJECTS_H
#define GIT_OBJECTS_H
#include "git/tree.h"

/* Opens a writer: until objects_free, readers of r see what was written here, too. 0; -1 with err,
 * also where the repository has a writer (ERR_BUG). */
int objects_new(struct repo *r, struct err *err);
/* Closes the writer, if there is one, and forgets what was not flushed. */
void objects_free(struct repo *r);
/* Adds an object of that kind, unless the repository has it, and sets *ret to its name. name: path
 * or last part of it, for the pack's differences (equal names are compared with each other); may be
 * NULL. 0; -1 with err. */
int objects_write(struct repo *r, enum repo_kind kind, struct str content, const char *name, struct repo_id *ret, struct err *err);
/* Returns how much was written since the last flush, in bytes before compression. */
uint64_t objects_waiting(const struct repo *r);
/* Writes all that waits as one pack, synced, in its place; nothing where nothing waits. 0; -1 with
 * err. */
int objects_flush(struct repo *r, struct err *err);

struct tree_edit {
    const char *path;     /* from the top, "mlruns/12/ab…"; no leading, trailing or double '/' */
    unsigned mode;        /* REPO_MODE_…; 0: the entry is removed (absent is fine) */
    struct repo_id id;
};
/* Makes the tree `base` (NULL: empty) with the edits in it: an entry at the path is replaced,
 * folders on the way are made, folders that become empty vanish. Sorts the edits; two of one path,
 * or one below another, are a mistake of the caller: ERR_BUG. A folder's entries are copied, not
 * parsed into a table, so that an edit in a folder of 100,000 costs one pass over its bytes. 0; -1
 * with err. */
int objects_edit_tree(struct repo *r, const struct repo_id *base, struct tree_edit *edits, size_t count, struct repo_id *ret, struct err *err);
#endif
