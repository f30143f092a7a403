/* ref.h: moves refs: a lock that serialises committers, and a move that succeeds only if the ref
 * has not changed. */
#ifndef GIT_REF_H
#define GIT_REF_H
#include "git/commit.h"

/* Committers of one repository work in turns (by the lock <common>/benchwrap/turn), so that no work
 * is done twice. The kernel releases the lock when its holder dies. Where the file system has no
 * such locks no process waits, and ref_move still detects a conflict. If ref_move was killed while
 * it held a lock of git, the next holder of the turn removes that lock. */
#define REF_TURN "turn"
struct ref_turn {
    int fd;
};
/* Acquires the turn. name: REF_TURN, or the name of another lock of this kind. Waits at most wait_s
 * seconds. 0; 1: another process still holds it (err names process and host where they are known);
 * 2: `done` (may be NULL), called while waiting, returned true; -1. */
int ref_turn_take(struct ref_turn *ret, struct repo *r, const char *name, double wait_s, bool (*done)(void *context), void *context, struct err *err);
void ref_turn_give(struct ref_turn *t);

/* Moves the ref from `was` (NULL: it must not exist) to `is`, with a line in its reflog. turn: the
 * caller's, or NULL. 0; 1: another process has moved the ref (see err); -1: another process
 * has locked it for longer than wait_s (err explains the lock file: its age, what to do), or it is
 * not writable. */
int ref_move(const struct ref_turn *turn, struct repo *r, const char *name, const struct repo_id *was, const struct repo_id *is, const struct commit_person *who, const char *why,
             double wait_s, struct err *err);
/* Returns whether it is the branch of this work tree or a linked one. Moving such a branch would
 * make its files appear deleted. */
bool ref_checked_out(struct repo *r, const char *name);
#endif
