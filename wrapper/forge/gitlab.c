/* gitlab.c: merge requests of GitLab: /api/v4, docs.gitlab.com/api/merge_requests. */
#include "forge/pull_parts.h"

#include <stdio.h>

static const char *const headers[] = {"Accept: application/json", NULL};

/* Fills *ret from a merge request, with texts in the arena. Returns false where it has no
 * number. */
static bool gitlab_pull_of(const struct json *item, struct arena *a, struct forge_pull *ret)
{
    const char *state = json_string(json_get(item, "state"), "");
    int64_t number = json_integer(json_get(item, "iid"), 0);
    *ret = (struct forge_pull){.number = number > 0 ? (uint64_t)number : 0,
                               .state = strcmp(state, "merged") == 0   ? FORGE_MERGED
                                        : strcmp(state, "closed") == 0 ? FORGE_CLOSED
                                                                       : FORGE_OPEN, /* locked: being merged */
                               .url = forge_text(item, "/web_url", a),
                               .title = forge_text(item, "/title", a),
                               .text = forge_text(item, "/description", a),
                               .tip = forge_text(item, "/sha", a)};
    return ret->number > 0;
}

/* A project is named by its complete path as one part of the address. */
static void put_project(struct buf *url, const struct forge *f, const struct forge_place *p)
{
    buf_printf(url, "%s/projects/", f->target.api);
    http_escape(url, str_of(p->path), false);
}

/* Queries the number of a project, which a request between two of them requires. */
static enum forge_answer project_id(struct forge *f, const struct forge_place *p, int64_t *ret, struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 8192);
    struct json *j;
    put_project(&url, f, p);
    enum forge_answer answer = forge_send(f, &(struct forge_call){.method = "GET", .what = p->path, .url = url.p}, &j, err);
    *ret = json_integer(json_get(j, "id"), 0);
    json_free(j);
    if (answer == FORGE_FINE && *ret <= 0) {
        err_set(err, ERR_REMOTE, "GitLab: %s: the reply has no number of the project", p->path);
        return FORGE_REFUSED;
    }
    return answer;
}

/* Finds the merge requests of the branch, among the newest 100: the newest open one in *ret_open,
 * the newest other one in *ret_last, with texts in the arena. */
static enum forge_answer gitlab_find(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open,
                                     struct forge_pull *ret_last, struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 8192);
    struct json *list;
    struct forge_pull pull;
    int64_t from = 0;
    enum forge_answer answer = forge_same_repository(f) ? FORGE_FINE : project_id(f, &f->source, &from, err);
    if (answer != FORGE_FINE)
        return answer;
    put_project(&url, f, &f->target);
    buf_puts(&url, "/merge_requests?state=all&order_by=created_at&sort=desc&per_page=100&source_branch=");
    http_escape(&url, str_of(b->branch), false);
    buf_puts(&url, "&target_branch=");
    http_escape(&url, str_of(b->base), false);
    answer = forge_send(f, &(struct forge_call){.method = "GET", .what = "the merge requests of this branch", .url = url.p}, &list, err);
    for (const struct json *item = answer == FORGE_FINE ? json_first(list) : NULL; item; item = json_next(item)) {
        int64_t source = json_integer(json_get(item, "source_project_id"), 0),
                target = json_integer(json_get(item, "target_project_id"), 0);
        bool ours = from ? source == from : source == target;
        if (ours && strcmp(json_string(json_get(item, "source_branch"), ""), b->branch) == 0 && gitlab_pull_of(item, a, &pull))
            forge_note(&pull, ret_open, ret_last);
    }
    json_free(list);
    return answer;
}

static void gitlab_put_text(struct json_out *body, const char *title, const char *text)
{
    json_text(body, "title", title);
    json_text(body, "description", text);
}

/* Creates the merge request at the project that the branch is in. */
static enum forge_answer gitlab_create(struct forge *f, const struct forge_branch *b, struct json_out *body, struct arena *a,
                                       struct json **ret, struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 8192);
    int64_t into = 0;
    enum forge_answer answer = forge_same_repository(f) ? FORGE_FINE : project_id(f, &f->target, &into, err);
    (void)a;
    if (answer != FORGE_FINE)
        return answer;
    json_text(body, "source_branch", b->branch);
    json_text(body, "target_branch", b->base);
    if (into)
        json_int(body, "target_project_id", into);
    json_close(body, '}');
    put_project(&url, f, &f->source);
    buf_puts(&url, "/merge_requests");
    return forge_send(
        f, &(struct forge_call){.method = "POST", .what = "a new merge request", .url = url.p, .body = buf_text(body->to), .once = true},
        ret, err);
}

static void gitlab_update(struct forge *f, const struct forge_pull *pull, struct buf *url, const char **ret_method)
{
    put_project(url, f, &f->target);
    buf_printf(url, "/merge_requests/%llu", (unsigned long long)pull->number);
    *ret_method = "PUT";
}

const struct forge_api forge_gitlab = {.headers = headers,
                                       .find = gitlab_find,
                                       .create = gitlab_create,
                                       .put_text = gitlab_put_text,
                                       .update = gitlab_update,
                                       .pull_of = gitlab_pull_of};
