/* git.h: a look at a repository through libgit2, loaded on the spot. Only for a process of its own. */
#ifndef PROBES_GIT_H
#define PROBES_GIT_H
#include "probes/probe.h"

/* Tells commit, branch, origin (without credentials) and whether tracked files were changed, as tags of MLflow's, or what is in the way.
 * Nothing when the directory is in no repository. */
void source_git_emit(const char *directory, const struct host *h, struct record *r);
#endif
