/* stop_signals.h: end a command between two steps when the user or the system stops it. */
#ifndef BASE_STOP_SIGNALS_H
#define BASE_STOP_SIGNALS_H
#include <signal.h>

/* Blocks SIGINT, SIGTERM and SIGHUP, and returns a descriptor that is readable once one has arrived; -1: none can be made. The caller closes it.
 * ret_before: the mask before, or NULL. */
int stop_signals_open(sigset_t *ret_before);
#endif
