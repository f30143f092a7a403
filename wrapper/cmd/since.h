/* since.h: --since, the time from which on runs are meant. */
#ifndef CMD_SINCE_H
#define CMD_SINCE_H
#include "cmd/cmd.h"

/* The option "since" of the command as milliseconds of the epoch: a time, or an age (12h) before now; 0 without the option.
 * ERR_USAGE: it is neither. */
int since_read(const struct cmd_context *c, int64_t *ret_ms);
#endif
