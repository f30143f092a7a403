/* configuration.h: reads the options of configuration files. Of plan.c. */
#ifndef WRAPPER_PLAN_CONFIGURATION_H
#define WRAPPER_PLAN_CONFIGURATION_H
#include "plan/plan.h"

/* Reads /etc/benchwrap.yaml, the user's file, and the files of p->repository into p->opts, in this
 * order. What is wrong in them becomes a warning. Adds each file to p->files. */
void plan_read_configuration(struct plan *p);
/* Returns whether an untrusted user owns the open file of the repository, in a place where every
 * user can have created it; then a warning names it. Also true, with a warning, where the file cannot
 * be examined. repository: the root, open; path: the file's, relative to it. Another file may have
 * had the name when the repository was found. */
bool plan_is_planted(struct plan *p, int repository, const char *path, int fd);
#endif
