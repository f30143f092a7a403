/* service_token.c: the token that requests to a service carry; see service_token.h. */
#include "recipe/service_token.h"

#include "base/secret.h"

enum { SERVICE_TOKEN_MAX = 4096 };

bool service_token_header(const char *file, struct buf *to)
{
    struct buf text CLEANUP_BUF;
    struct err err = {0};
    buf_init(&text, SERVICE_TOKEN_MAX + 1);
    if (secret_read(file, true, SERVICE_TOKEN_MAX, &text, &err))
        return false;
    struct str token = str_trim(buf_text(&text));
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] <= ' ' || (unsigned char)token.p[i] >= 0x7f)
            return false;
    buf_puts(to, "Authorization: Bearer ");
    buf_str(to, token);
    return token.n > 0 && !to->failed;
}
