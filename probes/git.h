/* git.h: a look at a repository through libgit2, loaded on the spot. Only for a process of its own. */
#ifndef PROBES_GIT_H
#define PROBES_GIT_H

/* Writes lines into fd: "commit …", "branch …", "url …" (without credentials), "dirty true|false"; "error …" when something is in the way.
 * Nothing when the directory is in no repository. */
void git_look(const char *directory, int fd);
#endif
