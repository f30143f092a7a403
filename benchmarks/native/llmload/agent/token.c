/* token.c: see token.h. */
#include "benchmarks/native/llmload/agent/token.h"

#include "base/secret.h"
#include "base/sha256.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* In the home, which the nodes of a cluster share; $XDG_RUNTIME_DIR is another one on each node. */
static int token_default_path(char ret[PATH_MAX], struct err *err)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;
    if (config && config[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/llmload/agent-token", config);
    else if (home && home[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/.config/llmload/agent-token", home);
    return n > 0 && n < PATH_MAX ? 0 : err_set(err, ERR_USAGE, "no folder for the agents' token\nhint: set HOME, or use --token-file FILE");
}

/* Agents of several nodes start at once: one of them creates the file, all read it. */
static int token_read_or_create(const char *path, struct buf *text, struct err *err)
{
    int rc = secret_read(path, false, TOKEN_MAX - 1, text, err);
    if (rc > 0)
        rc = secret_create(path, err) < 0 ? -1 : secret_read(path, true, TOKEN_MAX - 1, text, err);
    return rc < 0 ? err_wrap(err, "the agents' token") : 0;
}

/* Returns 0 where the token is long enough and has only printable ASCII, else -1 with *err, which
 * names the source. */
static int token_check(struct str token, const char *source, struct err *err)
{
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] <= ' ' || (unsigned char)token.p[i] >= 0x7f)
            return err_set(err, ERR_INPUT, "%.300s: the token contains blanks or other characters than ASCII", source);
    return token.n >= TOKEN_MIN
               ? 0
               : err_set(err, ERR_INPUT, "%.300s: expected a token of at least %d characters, got %zu", source, TOKEN_MIN, token.n);
}

int token_find(const char *path, struct buf *ret, struct buf *ret_source, struct err *err)
{
    char usual[PATH_MAX];
    const char *variable = getenv("LLMLOAD_TOKEN");
    struct buf text CLEANUP_BUF;
    buf_init(&text, TOKEN_MAX);
    if (!path && variable && *variable) {
        path = "LLMLOAD_TOKEN";
        buf_puts(&text, variable);
    } else {
        if (!path && token_default_path(usual, err))
            return -1;
        path = path ? path : usual;
        if (token_read_or_create(path, &text, err))
            return -1;
    }
    struct str token = str_trim(buf_text(&text));
    int rc = token_check(token, path, err);
    if (rc == 0)
        buf_str(ret, token);
    if (rc == 0 && ret_source)
        buf_puts(ret_source, path);
    if (text.p)
        explicit_bzero(text.p, text.n);
    unsetenv("LLMLOAD_TOKEN");
    return rc;
}

/* ---- signatures: HMAC-SHA-256 (RFC 2104) ---- */

enum { BLOCK = 64, DIGEST = 32 };

static void digest_bytes(struct sha256 *s, unsigned char ret[DIGEST])
{
    char hex[SHA256_HEX];
    sha256_end(s, hex);
    for (size_t i = 0; i < DIGEST; i++)
        ret[i] = (unsigned char)((unsigned)str_hex_digit(hex[2 * i]) << 4 | (unsigned)str_hex_digit(hex[2 * i + 1]));
}

/* Begins one of the two hashes: with the key, xor the pad. */
static void hmac_begin(struct sha256 *s, struct str key, unsigned char pad)
{
    unsigned char block[BLOCK] = {0};
    if (key.n > BLOCK) {
        sha256_init(s);
        sha256_add(s, key.p, key.n);
        digest_bytes(s, block);
    } else {
        memcpy(block, key.p, key.n);
    }
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= pad;
    sha256_init(s);
    sha256_add(s, block, BLOCK);
    explicit_bzero(block, sizeof block);
}

/* HMAC-SHA-256 of the parts by the token, in hexadecimal. */
static void token_sign(const char *token, const struct str *parts, size_t count, char ret[SHA256_HEX])
{
    struct sha256 s;
    unsigned char inner[DIGEST];
    hmac_begin(&s, str_of(token), 0x36);
    for (size_t i = 0; i < count; i++) {
        char length[32]; /* no two lists of parts yield the same bytes */
        int n = snprintf(length, sizeof length, "%zu:", parts[i].n);
        sha256_add(&s, length, (size_t)n);
        if (parts[i].n)
            sha256_add(&s, parts[i].p, parts[i].n);
    }
    digest_bytes(&s, inner);
    hmac_begin(&s, str_of(token), 0x5c);
    sha256_add(&s, inner, sizeof inner);
    sha256_end(&s, ret);
}

void token_sign_request(const char *token, const struct token_request *q, char ret[SHA256_HEX])
{
    const struct str parts[] = {STR("request"), str_of(q->nonce), str_of(q->at), str_of(q->method), str_of(q->path), q->body};
    token_sign(token, parts, sizeof parts / sizeof *parts, ret);
}

void token_sign_agent(const char *token, const char *nonce, const char *at, char ret[SHA256_HEX])
{
    const struct str parts[] = {STR("agent"), str_of(nonce), str_of(at)};
    token_sign(token, parts, sizeof parts / sizeof *parts, ret);
}
