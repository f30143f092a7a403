/* token.h: the secret that agents and their coordinator share. */
#ifndef LLMLOAD_TOKEN_H
#define LLMLOAD_TOKEN_H
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"

enum { TOKEN_MAX = 4096, TOKEN_MIN = 16 };
/* Appends the token to ret, and where it comes from to ret_source (may be NULL): from the file
 * path, or where path is NULL from LLMLOAD_TOKEN, or from $XDG_CONFIG_HOME/llmload/agent-token
 * (~/.config). A file that does not exist is created with a generated token, mode 0600.
 * LLMLOAD_TOKEN leaves the environment, so that children do not inherit it. ERR_INPUT: shorter than
 * TOKEN_MIN, blanks in it, or a file that others can read; ERR_USAGE: there is no home. */
int token_find(const char *path, struct buf *ret, struct buf *ret_source, struct err *err);

/* The leader never sends the token: each request carries "Authorization: Llmload NONCE SIGNATURE".
 * Another user's process that listens at an agent's address learns nothing that serves elsewhere.
 * The first request (TOKEN_HELLO) has no address: the agent answers with the address at which it
 * was reached and its own signature, and the leader compares that address with the one that it has
 * connected to. */
#define TOKEN_SCHEME "Llmload "
#define TOKEN_HELLO "/hello"
struct token_request {
    const char *nonce, *at; /* at: the agent's address and port; "" in the first request */
    const char *method, *path;
    struct str body;
};
/* HMAC-SHA-256 by the token, in hexadecimal: of a request; of the agent's answer to TOKEN_HELLO. */
void token_sign_request(const char *token, const struct token_request *q, char ret[SHA256_HEX]);
void token_sign_agent(const char *token, const char *nonce, const char *at, char ret[SHA256_HEX]);
#endif
