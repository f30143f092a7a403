/* repo_state.h: what the files of wrapper/git/ know of an opened repository. */
#ifndef GIT_REPO_STATE_H
#define GIT_REPO_STATE_H
#include "git/library.h"
#include "git/repo.h"

struct repo {
    const struct git2 *git;
    git_repository *repository;
    git_odb *odb;
    git_config *config; /* a snapshot; setting a value makes a new one */
    struct buf told; /* "key LF value NUL" each, in git's order: the output of git itself, where libgit2 does not read all of the configuration; else empty */
    git_odb *unsaved; /* what its writer has collected so far, or NULL; belongs to `objects` */
    struct objects *objects;
    struct repo_id kept_id; /* the last large tree read: who works on one reads it several times */
    struct buf kept;
};

/* Reads the configuration into r from the files and the environment as they are now. 0; -1 with err. */
int config_take(struct repo *r, struct err *err);
/* Frees both. */
void config_drop(struct repo *r);
/* Returns a boolean of the environment as git reads it; not set: false. */
bool config_env_on(const struct git2 *git, const char *variable);

/* Ids here and libgit2's are the same 20 bytes. */
static inline const git_oid *repo_oid(const struct repo_id *id)
{
    _Static_assert(sizeof(git_oid) == sizeof(struct repo_id), "a libgit2 built for SHA-256 has other structs");
    return (const git_oid *)(const void *)id;
}
static inline struct repo_id repo_id_of(const git_oid *oid)
{
    struct repo_id id;
    memcpy(id.b, oid->id, sizeof id.b);
    return id;
}
#endif
