/* token.h: the secret that agents and their coordinator share. */
#ifndef LLMLOAD_TOKEN_H
#define LLMLOAD_TOKEN_H
#include "base/buf.h"
#include "base/err.h"

enum { TOKEN_MAX = 4096, TOKEN_MIN = 16 };
/* Appends the token to ret, and where it comes from to ret_source (NULL: not wanted): from the file path, or where path is NULL from LLMLOAD_TOKEN, or
 * from $XDG_CONFIG_HOME/llmload/agent-token (~/.config). A file that does not exist is created with a generated token, mode 0600. LLMLOAD_TOKEN
 * leaves the environment, so that children do not inherit it. ERR_INPUT: shorter than TOKEN_MIN, blanks in it, or a file that others can read;
 * ERR_USAGE: there is no home. */
int token_find(const char *path, struct buf *ret, struct buf *ret_source, struct err *err);
#endif
