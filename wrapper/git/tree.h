/* tree.h: git's tree objects: entries, paths, walks, differences. Bounded: a tree of a foreign repository may be as deep and as wide as it likes.
 *
 * Format (git-hash-object(1), "tree"): for each entry octal mode, blank, name, NUL, 20 bytes of the object's id; sorted by name, where a folder's
 * name counts as if it ended in '/'. */
#ifndef GIT_TREE_H
#define GIT_TREE_H
#include "git/repo.h"

enum { REPO_MODE_DIR = 0040000, REPO_MODE_FILE = 0100644, REPO_MODE_EXEC = 0100755, REPO_MODE_LINK = 0120000, REPO_MODE_MODULE = 0160000 };

struct repo_entry {
    const char *name;     /* ends in NUL, not in '/'; points into the text it was read from */
    struct repo_id id;
    unsigned mode;        /* as stored: a hostile one may be anything */
};

/* Reads the next entry of a raw tree and moves *rest behind it. Returns 1 with *ret, 0 at the end,
 * -1 with ERR_INPUT where the text is no tree. */
int repo_tree_next(struct str *rest, struct repo_entry *ret, struct err *err);
/* Compares two names in git's order: by their bytes, a folder's as if it ended in '/'. */
int repo_tree_compare(const char *a, bool a_dir, const char *b, bool b_dir);
/* Finds the entry at path ("mlruns/12/ab…", no leading or trailing '/'; "": the tree itself) below
 * a tree or commit. 0; 1: there is none (err untouched); -1 with err. ret->name is NULL afterwards. */
int repo_find(struct repo *r, const struct repo_id *tree_or_commit, const char *path, struct repo_entry *ret, struct err *err);
/* Calls `each` for the entries of one tree, in git's order, until it returns non-zero, which is returned.
 * Returns 0 after the last one, -1 with err; a tree of more than REPO_TREE_MAX bytes is an error. */
enum { REPO_TREE_MAX = 1 << 28 };
int repo_each(struct repo *r, const struct repo_id *tree, int (*each)(void *context, const struct repo_entry *e), void *context, struct err *err);

struct repo_bounds {
    unsigned depth;       /* folders in folders; 0: 50 */
    uint64_t entries;     /* read in all; 0: 20 million */
};
enum { REPO_SKIP = 1000 }; /* returned for a folder by the callbacks below: do not go into it */
/* Calls `each` for what differs between two trees (either may be NULL: empty); was or is NULL where
 * the path is in one only. Equal folders are not entered; a folder that is in one only comes first
 * as itself, then what it holds unless `each` returns REPO_SKIP. Another non-zero result ends it
 * and is returned. 0; -1 with err, also beyond the bounds. */
int repo_diff(struct repo *r, const struct repo_id *was, const struct repo_id *is, const struct repo_bounds *bounds,
              int (*each)(void *context, const char *path, const struct repo_entry *was, const struct repo_entry *is), void *context, struct err *err);
#endif
