/* child.h: starts a helper program (llmfake) that prints one line when it is ready, and ends it. */
#ifndef LLMLOAD_CHILD_H
#define LLMLOAD_CHILD_H
#include "base/query.h"

struct child_process {
    struct query query;
    char line[300]; /* the first line of its standard output, without line end */
};

/* Searches argv[0] in the folder of this program, then in the PATH. Its standard error is
 * dropped. It ends with this program. */
int child_start(struct child_process *ret, char *const argv[], struct err *err);
/* Sends SIGTERM, waits 5 s for the end, and sends SIGKILL then. */
void child_end(struct child_process *c);
#endif
