/* pull.c: pull requests, whatever the forge: what all kinds have in common. */
#include "forge/pull_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { TEXT_MAX = 8u << 20 };

static const struct forge_api *const apis[] = {
    [FORGE_GITHUB] = &forge_github, [FORGE_GITLAB] = &forge_gitlab, [FORGE_GITEA] = &forge_gitea};

static const char *forge_copy_text(struct forge *f, const char *text)
{
    return text ? arena_dup(&f->arena, text, strlen(text)) : NULL;
}

static void own_place(struct forge *f, struct forge_place *to, const struct forge_place *from)
{
    *to = *from;
    to->host = forge_copy_text(f, from->host);
    to->path = forge_copy_text(f, from->path);
    to->owner = forge_copy_text(f, from->owner);
    to->web = forge_copy_text(f, from->web);
    to->api = forge_copy_text(f, from->api);
}

/* Returns whether a token would go unencrypted to a forge that neither the user, the table of
 * public forges nor the environment names. */
static bool is_open_wire(const struct forge_place *p)
{
    return strncasecmp(p->api, "http://", 7) == 0 && !p->named;
}

int forge_open(struct forge **ret, const struct forge_place *target, const struct forge_place *source, const struct forge_token *token,
               const struct http_config *http, struct err *err)
{
    struct http_config config = *http;
    if (target->kind == FORGE_NONE || source->kind != target->kind || !target->api)
        return err_set(err, ERR_INPUT, "%s is on no forge that is known", target->path ? target->path : "the repository");
    if (token && token->secret && is_open_wire(target))
        return err_set(err, ERR_INPUT, "%s: a token is not sent without encryption; git config benchwrap.forgeUrl %s allows it",
                       target->api, target->web);
    struct forge *f = calloc(1, sizeof *f);
    if (!f)
        return err_memory(err, "a client of the forge");
    arena_init(&f->arena, 1 << 20);
    f->api = apis[target->kind];
    own_place(f, &f->target, target);
    own_place(f, &f->source, source);
    if (token && token->secret) {
        bool basic = token->user && target->kind == FORGE_GITEA; /* Gitea accepts a helper's password as it accepts tokens */
        f->token_where = forge_copy_text(f, token->where);
        config.user = basic ? token->user : NULL;
        config.password = basic ? token->secret : NULL;
        config.bearer = basic ? NULL : token->secret;
    }
    int rc = f->arena.failed ? err_memory(err, "a client of the forge") : http_new(&f->http, &config, err);
    if (rc) {
        forge_close(f);
        return -1;
    }
    *ret = f;
    return 0;
}

int64_t forge_date_s(const struct forge *f)
{
    return f->date_s;
}

void forge_close(struct forge *f)
{
    if (!f)
        return;
    http_free(f->http);
    arena_deinit(&f->arena);
    free(f);
}

bool forge_same_repository(const struct forge *f)
{
    return strcasecmp(f->target.path, f->source.path) == 0;
}

void forge_note(const struct forge_pull *pull, struct forge_pull *open, struct forge_pull *last)
{
    struct forge_pull *to = pull->state == FORGE_OPEN ? open : last;
    if (!to->number)
        *to = *pull;
}

enum forge_answer forge_find(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open,
                             struct forge_pull *ret_last, struct err *err)
{
    *ret_open = *ret_last = (struct forge_pull){0};
    return f->api->find(f, b, a, ret_open, ret_last, err);
}

enum forge_answer forge_create(struct forge *f, const struct forge_branch *b, const char *title, const char *text, struct arena *a,
                               struct forge_pull *ret, struct err *err)
{
    struct buf body CLEANUP_BUF;
    struct json *j = NULL;
    *ret = (struct forge_pull){0};
    buf_init(&body, TEXT_MAX);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    f->api->put_text(&out, title, text);
    if (body.failed) {
        err_memory(err, "the text of the pull request");
        return FORGE_REFUSED;
    }
    enum forge_answer answer = f->api->create(f, b, &out, a, &j, err);
    if (answer == FORGE_FINE && !f->api->pull_of(j, a, ret)) {
        err_set(err, ERR_REMOTE, "%s: the reply to a new pull request has no number", forge_kind_name(f->target.kind));
        answer = FORGE_REFUSED;
    }
    json_free(j);
    return answer;
}

enum forge_answer forge_update(struct forge *f, const struct forge_pull *pull, const char *title, const char *text, struct err *err)
{
    struct buf body CLEANUP_BUF, url CLEANUP_BUF;
    struct forge_call call = {.what = "new text of the pull request"};
    buf_init(&body, TEXT_MAX);
    buf_init(&url, 8192);
    struct json_out out = json_begin(&body, JSON_TIGHT, '{');
    f->api->put_text(&out, title, text);
    json_close(&out, '}');
    f->api->update(f, pull, &url, &call.method);
    if (body.failed || url.failed) {
        err_memory(err, "the text of the pull request"); /* share has cut it */
        return FORGE_REFUSED;
    }
    call.url = url.p;
    call.body = buf_text(&body);
    return forge_send(f, &call, NULL, err);
}
