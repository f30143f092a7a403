/* forge.c: any bytes as the address of a remote, a helper's answer, and the text of a pull request: no address or link keeps a password or what ends a
 * line, no token is more than one word, nothing of a text outside our marks is lost. Parts are separated by a line with "--". */
#include "share/share.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str part(struct str *rest)
{
    ptrdiff_t at = str_find(*rest, STR("\n--\n"));
    struct str one = at < 0 ? *rest : str_sub(*rest, 0, (size_t)at);
    *rest = at < 0 ? STR("") : str_sub(*rest, (size_t)at + 4, rest->n);
    return one;
}

static void check(const char *text)
{
    for (const char *p = text; p && *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"'<>\\@", *p))
            abort();
}

static void look(const char *url, const struct forge_named *named, struct arena *a)
{
    struct forge_place p;
    struct buf question CLEANUP_BUF;
    buf_init(&question, 1 << 20);
    if (forge_place_of(&p, url, named, NULL, a, NULL) || p.kind == FORGE_NONE)
        return;
    check(p.host);
    check(p.web);
    check(p.api);
    if (!p.path || !p.owner || strpbrk(p.path, "\r\n\"'<> ") || strlen(p.owner) >= strlen(p.path))
        abort();
    const char *link = forge_link(&p, &p, "main", "benchwrap/a b/\"12345678", a);
    if (!link || strpbrk(link, "\r\n\"'<> "))
        abort();
    forge_token_question(&p, &question);
    size_t lines = 0;
    for (size_t i = 0; i < question.n; i++)
        lines += question.p[i] == '\n';
    if (lines != 4)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {size ? (const char *)data : "", size}, url = part(&rest), answer = part(&rest), text = part(&rest);
    struct buf whole CLEANUP_BUF;
    struct forge_token token;
    struct arena a;
    arena_init(&a, 64 << 20);
    buf_init(&whole, 16 << 20);
    const char *address = arena_dup(&a, url.p, url.n), *old = arena_dup(&a, text.p, text.n);
    look(address, NULL, &a);
    look(address, &(struct forge_named){.kind = "gitlab"}, &a);
    look(address, &(struct forge_named){.kind = "gitea", .web = "https://host/below"}, &a);
    if (forge_token_answer(&token, answer, &a) && (!*token.secret || strpbrk(token.secret, " \t\r\n\v\f")))
        abort();
    if (share_text_refresh(old, STR("ours"), &whole) && (!strstr(whole.p, "ours") || whole.n > strlen(old) + 4))
        abort();
    arena_deinit(&a);
    return 0;
}
