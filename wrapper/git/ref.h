/* ref.h: moving refs: the committers' turn, and a move that happens only if nobody was faster. */
#ifndef GIT_REF_H
#define GIT_REF_H
#include "git/commit.h"

/* Committers of one repository go one after the other (a lock of ours, <common>/benchwrap/turn): so work is not done twice. It is released by the
 * kernel when its holder dies. Where the file system has no such locks nobody waits, and ref_move still tells who was faster. A lock of git's that ref_move
 * had when it was killed is removed by who takes the turn next. */
#define REF_TURN "turn"
struct ref_turn {
    int fd;
};
/* name: REF_TURN, or another one's that goes one after the other. Waits at most so long. 0; 1: somebody else still has it (err names him by process and host where he told). `done` (may be NULL) is asked while
 * waiting: when it says true, waiting has become needless: 2. */
int ref_turn_take(struct ref_turn *ret, struct repo *r, const char *name, double wait_s, bool (*done)(void *context), void *context, struct err *err);
void ref_turn_give(struct ref_turn *t);

/* turn: the caller's, or NULL. Makes the ref point from `was` (NULL: it must not exist) to `is`, with a line in its reflog. 0; 1: it has moved meanwhile: look again (err says
 * so); -1: locked by somebody else for longer than wait_s (err explains the lock file: its age, what to do), or not writable. */
int ref_move(const struct ref_turn *turn, struct repo *r, const char *name, const struct repo_id *was, const struct repo_id *is, const struct commit_person *who, const char *why,
             double wait_s, struct err *err);
/* Is it the branch of this work tree or a linked one? Then moving it would make their files look deleted. */
bool ref_checked_out(struct repo *r, const char *name);
#endif
