/* repo.h: a git repository: open it, resolve names, read trees, files, commits and configuration. Writing: objects.h, ref.h. The user's own
 * git as a program (fetch, push, sign): program.h.
 *
 * Objects and refs are libgit2's (loaded at the first repo_open, library.h); the types here are
 * not. Foreign repositories are hostile:
 * every reader states its bounds, names come as they are stored (any byte but NUL and '/') and never reach a shell, a path or a terminal unseen.
 * Not for two threads at once. No call moves HEAD, reads or writes the index or the work tree. */
#ifndef GIT_REPO_H
#define GIT_REPO_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct repo;

/* The name of an object: SHA-1, 20 bytes. */
struct repo_id {
    unsigned char b[20];
};
enum { REPO_HEX = 41 }; /* 40 digits and the NUL */

static inline bool repo_id_eq(const struct repo_id *a, const struct repo_id *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}
/* Writes the name as 40 hexadecimal digits. */
void repo_id_hex(const struct repo_id *id, char ret[REPO_HEX]);
/* Reads a name of exactly 40 hexadecimal digits; false: the text is none. */
bool repo_id_parse(struct repo_id *ret, struct str hex);

/* ---- the repository ---- */

enum { REPO_HERE = 1 /* path is the repository or its work tree itself: folders above it are not searched */ };
/* Opens the repository that holds path: bare, a work tree or a folder in it, a linked worktree,
 * shallow. Ignores GIT_DIR and similar variables; follows GIT_CEILING_DIRECTORIES,
 * GIT_DISCOVERY_ACROSS_FILESYSTEM and safe.directory. 0; 1: there is none (err filled: what to
 * do); -1: it cannot be used: SHA-256, foreign owner (safe.directory), damaged, libgit2 missing. */
int repo_open(struct repo **ret, const char *path, unsigned flags, struct err *err);
void repo_close(struct repo *r); /* NULL is allowed */
const char *repo_dir(const struct repo *r); /* absolute, ends in '/': ".../.git/", or of a worktree ".../.git/worktrees/x/" */
const char *repo_common(const struct repo *r); /* the folder of objects, refs and config; ends in '/' */
const char *repo_workdir(const struct repo *r); /* ends in '/'; NULL: bare */
bool repo_is_bare(const struct repo *r);
bool repo_is_shallow(const struct repo *r);
/* Makes objects and packs visible that another process has written since. */
void repo_refresh(struct repo *r);

/* ---- names ---- */

enum repo_kind { REPO_ANY, REPO_COMMIT = 1, REPO_TREE, REPO_BLOB, REPO_TAG };
/* Resolves a revision in any form that git understands ("origin/main", "HEAD~2", a hash), and
 * follows it to an object of the requested kind. 0; 1: there is none (err filled); -1 with err. */
int repo_resolve(struct repo *r, const char *rev, enum repo_kind kind, struct repo_id *ret, struct err *err);
/* Reads the object that a ref names (its full name, "refs/heads/main"), and follows symbolic refs.
 * 0; 1: there is none (err untouched); -1 with err. */
int repo_ref(struct repo *r, const char *name, struct repo_id *ret, struct err *err);
/* Reads into the arena which ref a symbolic one ("HEAD", "refs/remotes/origin/HEAD") names. 0; 1:
 * there is none, or it is not symbolic (a detached HEAD); err untouched; -1 with err. */
int repo_symbolic(struct repo *r, const char *name, struct arena *a, const char **ret, struct err *err);
/* Lists the full names of the refs that match the glob ("refs/heads/b*"), in the arena; *ret ends
 * in NULL. 0; -1 with err. */
int repo_refs(struct repo *r, const char *glob, struct arena *a, const char ***ret, size_t *ret_count, struct err *err);
/* Returns whether git accepts the full name for a ref. */
bool repo_ref_legal(struct repo *r, const char *name);

/* ---- objects ---- */

/* Returns whether the object is in the repository, or among those that its writer has collected. */
bool repo_has(struct repo *r, const struct repo_id *id);
/* Reads kind and size of an object; ret_kind and ret_bytes may be NULL. 0; 1: there is none (err
 * filled); -1 with err. */
int repo_look(struct repo *r, const struct repo_id *id, enum repo_kind *ret_kind, uint64_t *ret_bytes, struct err *err);
/* Appends a complete object of that kind (REPO_ANY: of any). 0; 1: there is none (err filled); -1
 * with err: ERR_INPUT where it is of another kind, or has more than max bytes (sys EFBIG, before
 * anything is read into memory). */
int repo_read(struct repo *r, const struct repo_id *id, enum repo_kind kind, size_t max, struct buf *ret, struct err *err);
/* Appends the first max bytes of a file's content; *ret_bytes: how many it has. 0; 1: there is none
 * (err filled); -1 with err: ERR_INPUT for more than 1 GiB, as libgit2 reads all of it into memory. */
int repo_read_head(struct repo *r, const struct repo_id *id, size_t max, struct buf *ret, uint64_t *ret_bytes, struct err *err);

struct repo_commit {
    struct repo_id tree;
    unsigned parents;
    struct repo_id parent[8]; /* the first 8 */
    int64_t author_s, committer_s; /* since 1970 */
    const char *author_name, *author_email, *committer_name, *committer_email, *message; /* in the arena; bytes as stored */
    const char *header; /* the lines before the message, as stored; libgit2 cuts control characters off the ends of names */
};
/* Reads a commit; its texts live in the arena. 0; -1: no such commit, or out of memory. */
int repo_commit_read(struct repo *r, const struct repo_id *id, struct arena *a, struct repo_commit *ret, struct err *err);
/* Calls `each` for the commits that `from` reaches and `without` (NULL: none) does not, newest
 * first, until it returns non-zero, which is returned. 0 after the last one; -1 with err. */
int repo_history(struct repo *r, const struct repo_id *from, const struct repo_id *without,
                 int (*each)(void *context, const struct repo_id *id), void *context, struct err *err);
/* Returns 1 where a shallow clone lacks a parent of one of these commits, 0 where it lacks none, -1
 * with err. */
int repo_history_is_cut(struct repo *r, const struct repo_id *from, const struct repo_id *without, struct err *err);
/* Finds the best common ancestor of two commits. 0 with *ret; 1: they have none; -1 with err. */
int repo_merge_base(struct repo *r, const struct repo_id *a, const struct repo_id *b, struct repo_id *ret, struct err *err);
/* Returns 1 where `old` is `tip` or one of its ancestors, 0 where it is neither, -1 with err. */
int repo_contains(struct repo *r, const struct repo_id *tip, const struct repo_id *old, struct err *err);

/* ---- configuration ---- */

/* Reads a value into the arena as `git config --get` does: the last one over all files and the
 * environment. 0; 1: it is not set (err untouched); -1 with err. */
int repo_config(struct repo *r, const char *key, struct arena *a, const char **ret, struct err *err);
/* Returns the last value as a boolean; `otherwise` where it is not set, is no boolean or cannot be
 * read. */
bool repo_config_on(struct repo *r, const char *key, bool otherwise);
/* Writes the value into the repository's own configuration (.git/config), or removes the key (value
 * NULL; an absent key is no error). -1 with err. */
int repo_config_set(struct repo *r, const char *key, const char *value, struct err *err);
/* Lists the names of the remotes, in the arena; *ret ends in NULL. 0; -1 with err. */
int repo_remotes(struct repo *r, struct arena *a, const char ***ret, struct err *err);
/* Reads the address of a remote (push: that it is pushed to, if it has one) into the arena. 0; 1:
 * there is no such remote, or it has no address (err untouched); -1 with err. */
int repo_remote_url(struct repo *r, const char *remote, bool push, struct arena *a, const char **ret, struct err *err);

/* Returns the version of the libgit2 that can be loaded ("1.5.1"), or NULL. */
const char *repo_library(void);
#endif
