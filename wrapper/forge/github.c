/* github.c: pull requests of GitHub (REST, version 2022-11-28): docs.github.com/rest/pulls/pulls. */
#include "forge/pull_parts.h"

#include <stdio.h>
#include <strings.h>

static const char *const headers[] = {"Accept: application/vnd.github+json", "X-GitHub-Api-Version: 2022-11-28", NULL};

bool pulls_item(const struct json *item, bool merged, struct arena *a, struct forge_pull *ret)
{
    const char *state = json_string(json_get(item, "state"), "");
    int64_t number = json_integer(json_get(item, "number"), 0);
    *ret = (struct forge_pull){.number = number > 0 ? (uint64_t)number : 0,
                               .state = strcmp(state, "open") == 0 ? FORGE_OPEN
                                        : merged                   ? FORGE_MERGED
                                                                   : FORGE_CLOSED,
                               .url = forge_text(item, "/html_url", a),
                               .title = forge_text(item, "/title", a),
                               .text = forge_text(item, "/body", a),
                               .tip = forge_text(item, "/head/sha", a)};
    return ret->number > 0;
}

static bool github_pull_of(const struct json *item, struct arena *a, struct forge_pull *ret)
{
    return pulls_item(item, json_is_string(json_get(item, "merged_at")), a, ret);
}

/* The filter `head` is ignored in silence where its form is wrong, so each is checked. */
static bool github_is_ours(const struct forge *f, const struct forge_branch *b, const struct json *item)
{
    const char *owner = json_string(json_pointer(item, "/head/user/login"), f->source.owner); /* null: the account is gone */
    return strcmp(json_string(json_pointer(item, "/head/ref"), ""), b->branch) == 0 &&
           strcmp(json_string(json_pointer(item, "/base/ref"), ""), b->base) == 0 && strcasecmp(owner, f->source.owner) == 0;
}

/* Finds the pull requests of the branch, among the newest 100: the newest open one in *ret_open,
 * the newest other one in *ret_last, with texts in the arena. */
static enum forge_answer github_find(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open,
                                     struct forge_pull *ret_last, struct err *err)
{
    struct buf url CLEANUP_BUF;
    struct json *list;
    struct forge_pull pull;
    buf_init(&url, 8192);
    buf_printf(&url, "%s/repos/%s/pulls?state=all&sort=created&direction=desc&per_page=100&head=%s%%3A", f->target.api, f->target.path,
               f->source.owner);
    http_escape(&url, str_of(b->branch), false);
    buf_puts(&url, "&base=");
    http_escape(&url, str_of(b->base), false);
    enum forge_answer answer =
        forge_send(f, &(struct forge_call){.method = "GET", .what = "the pull requests of this branch", .url = url.p}, &list, err);
    for (const struct json *item = answer == FORGE_FINE ? json_first(list) : NULL; item; item = json_next(item))
        if (github_is_ours(f, b, item) && github_pull_of(item, a, &pull))
            forge_note(&pull, ret_open, ret_last);
    json_free(list);
    return answer;
}

void pulls_text(struct json_out *body, const char *title, const char *text)
{
    json_text(body, "title", title);
    json_text(body, "body", text);
}

enum forge_answer pulls_create(struct forge *f, const struct forge_branch *b, struct json_out *body, struct arena *a, struct json **ret,
                               struct err *err)
{
    const char *url = arena_printf(a, "%s/repos/%s/pulls", f->target.api, f->target.path);
    json_text(body, "head", forge_same_repository(f) ? b->branch : arena_printf(a, "%s:%s", f->source.owner, b->branch));
    json_text(body, "base", b->base);
    json_close(body, '}');
    return forge_send(
        f, &(struct forge_call){.method = "POST", .what = "a new pull request", .url = url, .body = buf_text(body->to), .once = true}, ret,
        err);
}

static enum forge_answer github_create(struct forge *f, const struct forge_branch *b, struct json_out *body, struct arena *a,
                                       struct json **ret, struct err *err)
{
    json_flag(body, "maintainer_can_modify", false);
    return pulls_create(f, b, body, a, ret, err);
}

void pulls_update(struct forge *f, const struct forge_pull *pull, struct buf *url, const char **ret_method)
{
    buf_printf(url, "%s/repos/%s/pulls/%llu", f->target.api, f->target.path, (unsigned long long)pull->number);
    *ret_method = "PATCH";
}

const struct forge_api forge_github = {.headers = headers,
                                       .find = github_find,
                                       .create = github_create,
                                       .put_text = pulls_text,
                                       .update = pulls_update,
                                       .pull_of = github_pull_of};
