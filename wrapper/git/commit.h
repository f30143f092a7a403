/* commit.h: commits as git makes them: whose name they carry, signed if the user's git is set up so, written by objects.h, named by ref.h. */
#ifndef GIT_COMMIT_H
#define GIT_COMMIT_H
#include "git/repo.h"

struct commit_person {
    const char *name, *email; /* without '<', '>' and control characters: what the caller has goes through commit_clean */
    int64_t time_s;
    int offset_min; /* of the local time from UTC */
};
/* The author (committer) as git determines it (GIT_AUTHOR_NAME …, author.name …, user.name …,
 * EMAIL), with the time of now or of GIT_AUTHOR_DATE …. The texts live in the arena. 0; 1: git has
 * no name for the user: err states what to do; -1. */
int commit_author(struct repo *r, struct arena *a, struct commit_person *ret, struct err *err);
int commit_committer(struct repo *r, struct arena *a, struct commit_person *ret, struct err *err);

struct commit_draft {
    struct repo_id tree;
    const struct repo_id *parents;
    size_t parent_count;
    struct commit_person author, committer;
    const char *message; /* UTF-8; ends in LF */
};
/* How commits are signed: commit.gpgSign, gpg.format (openpgp, x509, ssh), user.signingKey, gpg.program and the programs of the other formats. */
struct signer {
    const char *format; /* NULL: not at all */
    const char *program, *key; /* key NULL: gpg chooses by the committer's name; of ssh: a file, or the public key itself */
    bool prompt; /* the passphrase may be read from the terminal */
};
/* Reads from git's configuration how commits are signed; texts are in the arena or static.
 * ret->format NULL: they are not. Returns -1 with err for an unknown format, or ssh without a
 * key. */
int signer_from(struct repo *r, struct arena *a, bool prompt, struct signer *ret, struct err *err);
/* Writes the commit as an object of r's writer, signed where signer (NULL: none) has a format. -1
 * with err. */
int commit_write(struct repo *r, const struct commit_draft *d, const struct signer *signer, struct repo_id *ret, struct err *err);
#endif
