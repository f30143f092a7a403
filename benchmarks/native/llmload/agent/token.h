/* token.h: the secret that agents and their coordinator share. */
#ifndef LLMLOAD_TOKEN_H
#define LLMLOAD_TOKEN_H
#include "base/buf.h"
#include "base/err.h"

enum { TOKEN_MAX = 4096, TOKEN_LEAST = 16 };
/* From the file, or where path is NULL from LLMLOAD_TOKEN; empty: there is none. ERR_INPUT: shorter than TOKEN_LEAST, or blanks in it. */
int token_read(const char *path, struct buf *ret, struct err *err);
#endif
