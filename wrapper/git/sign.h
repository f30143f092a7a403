/* sign.h: signatures by the user's gpg, gpgsm or ssh-keygen, as git-commit(1) has them made. */
#ifndef GIT_SIGN_H
#define GIT_SIGN_H
#include "git/commit.h"

/* Appends the armoured signature of the text, by ssh-keygen or gpg. The program is stopped after a
 * minute (two, where it may request a passphrase). -1 with err. */
int sign_text(struct repo *r, const struct signer *signer, const struct commit_person *who, struct str text, struct buf *ret,
              struct err *err);
/* OpenSSH's signature (ssh-keygen -Y sign) of text by s->key, for a purpose ("git"). */
int sign_ssh(struct repo *r, const struct signer *s, const char *purpose, struct str text, struct buf *ret, struct err *err);
/* The program that makes those (gpg.ssh.program, else ssh-keygen). NULL: no memory. */
const char *sign_ssh_program(struct repo *r, struct arena *a);
#endif
