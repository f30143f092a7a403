/* faults.h: the ways in which the fault server misbehaves. */
#ifndef SERVER_FAULTS_H
#define SERVER_FAULTS_H
#include "server/api.h"

/* Is this fault a damaged form of the true answer? */
bool fault_needs_answer(const char *kind);
/* Says on the connection's descriptor what the kind means, and returns when that is done or the client is gone. The caller closes it. */
void fault_do(int fd, const char *kind, const char *argument, const char *uri, const struct answer *a);
#endif
