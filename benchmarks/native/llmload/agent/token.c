/* token.c: see token.h. */
#include "benchmarks/native/llmload/agent/token.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdlib.h>

int token_read(const char *path, struct buf *ret, struct err *err)
{
    const char *name = path ? path : "LLMLOAD_TOKEN", *variable = getenv("LLMLOAD_TOKEN");
    struct buf text CLEANUP_BUF;
    buf_init(&text, TOKEN_MAX);
    if (path) {
        if (fs_read(AT_FDCWD, path, TOKEN_MAX - 1, 0, &text, err) < 0)
            return err_wrap(err, "--token-file");
    } else if (variable)
        buf_puts(&text, variable);
    struct str token = str_trim(buf_text(&text));
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] <= ' ' || (unsigned char)token.p[i] >= 0x7f)
            return err_set(err, ERR_INPUT, "%.300s: the token has blanks or other characters than ASCII in it", name);
    if ((path || token.n) && token.n < TOKEN_LEAST)
        return err_set(err, ERR_INPUT, "%.300s: a token of at least %d characters is wanted (openssl rand -hex 16)", name, TOKEN_LEAST);
    if (token.n)
        buf_str(ret, token);
    if (text.p)
        explicit_bzero(text.p, text.n);
    return 0;
}
