/* git.h: reads the state of a repository through libgit2, which is loaded at run time. Only for a
 * child process. */
#ifndef PROBES_GIT_H
#define PROBES_GIT_H
#include "probes/probe.h"

/* Records commit, branch, origin (without credentials) and whether tracked files were changed, as
 * MLflow's tags, or why they are missing. Records nothing where the directory is in no repository. */
void source_git_emit(const char *directory, const struct host *h, struct record *r);
#endif
