/* forge_reply.c: any bytes as what a forge answers about pull requests: of each kind a request is a number above zero and whole texts, or none; the text
 * that goes back to it is JSON again. */
#include "forge/pull_parts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct forge_api *api, const struct json *item, struct arena *a)
{
    struct forge_pull p, open = {0}, last = {0};
    struct buf body CLEANUP_BUF;
    struct json *again = NULL;
    buf_init(&body, 64 << 20);
    if (!api->pull_of(item, a, &p))
        return;
    if (!p.number || !p.url || !p.title || !p.text || !p.tip)
        abort();
    forge_note(&p, &open, &last);
    if (open.number + last.number != p.number || (p.state == FORGE_OPEN) != (open.number > 0))
        abort();
    struct json_out j = json_begin(&body, JSON_TIGHT, '{');
    api->put_text(&j, p.title, p.text);
    json_close(&j, '}');
    if (!body.failed && json_parse(&again, buf_text(&body), NULL, NULL) < 0)
        abort();
    json_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct forge_api *const kinds[] = {&forge_github, &forge_gitlab, &forge_gitea};
    struct json *reply;
    struct arena a;
    if (json_parse(&reply, (struct str){size ? (const char *)data : "", size}, NULL, NULL) < 0)
        return 0;
    arena_init(&a, 64 << 20);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        look(kinds[i], reply, &a);
        for (const struct json *item = json_first(reply); item; item = json_next(item))
            look(kinds[i], item, &a);
    }
    arena_deinit(&a);
    json_free(reply);
    return 0;
}
