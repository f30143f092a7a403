/* child.h: a helper program (llmfake) that is started, tells one line when it is ready, and is ended. */
#ifndef LLMLOAD_CHILD_H
#define LLMLOAD_CHILD_H
#include "base/err.h"

#include <sys/types.h>

struct child_process {
    pid_t pid;
    char line[300]; /* the first line of its standard output, without line end */
};

/* argv[0] is looked for beside this program, then in the PATH. Its standard error is thrown away. It dies with us. */
int child_start(struct child_process *ret, char *const argv[], struct err *err);
/* SIGTERM, wait 5 s, SIGKILL. */
void child_end(struct child_process *c);
#endif
