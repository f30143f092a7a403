/* gitea.c: pull requests of Gitea and Forgejo: /api/v1, as its own description (/swagger.v1.json) has them. */
#include "forge/pull_parts.h"

#include <stdio.h>
#include <strings.h>

enum { PAGE = 50 /* the most that a server gives unless it was told otherwise */, PAGES = 40 };

static const char *const headers[] = {"Accept: application/json", NULL};

static bool pull_of(const struct json *item, struct arena *a, struct forge_pull *ret)
{
    const char *state = json_string(json_get(item, "state"), "");
    int64_t number = json_integer(json_get(item, "number"), 0);
    *ret = (struct forge_pull){.number = number > 0 ? (uint64_t)number : 0,
                               .state = strcmp(state, "open") == 0                   ? FORGE_OPEN
                                        : json_bool(json_get(item, "merged"), false) ? FORGE_MERGED
                                                                                     : FORGE_CLOSED,
                               .url = forge_text(item, "/html_url", a),
                               .title = forge_text(item, "/title", a),
                               .text = forge_text(item, "/body", a),
                               .tip = forge_text(item, "/head/sha", a)};
    return ret->number > 0;
}

/* Once the branch is gone, head.ref is refs/pull/N/head and only head.label still has its name. */
static bool is_ours(const struct forge *f, const struct forge_branch *b, const struct json *item)
{
    const char *ref = json_string(json_pointer(item, "/head/ref"), ""), *label = json_string(json_pointer(item, "/head/label"), "");
    const char *from = json_string(json_pointer(item, "/head/repo/full_name"), f->source.path); /* null: it is gone */
    const char *colon = strchr(label, ':');
    return (strcmp(ref, b->branch) == 0 || strcmp(colon ? colon + 1 : label, b->branch) == 0) && strcasecmp(from, f->source.path) == 0 &&
           strcmp(json_string(json_pointer(item, "/base/ref"), ""), b->base) == 0;
}

/* There is no filter by branch in all versions: the open ones are read through, then the latest of the others. */
static enum forge_answer look(struct forge *f, const struct forge_branch *b, const char *state, int pages, struct arena *a,
                              struct forge_pull *open, struct forge_pull *last, struct err *err)
{
    enum forge_answer answer = FORGE_FINE;
    for (int page = 1, more = 1; more && page <= pages && answer == FORGE_FINE; page++) {
        struct json *list;
        struct forge_pull pull;
        const char *url = arena_printf(a, "%s/repos/%s/pulls?state=%s&sort=recentupdate&limit=%d&page=%d", f->target.api, f->target.path,
                                       state, PAGE, page);
        answer = forge_call(f, &(struct forge_call){.method = "GET", .what = "the pull requests of this branch", .url = url}, &list, err);
        for (const struct json *item = answer == FORGE_FINE ? json_first(list) : NULL; item; item = json_next(item))
            if (is_ours(f, b, item) && pull_of(item, a, &pull))
                forge_note(&pull, open, last);
        more = answer == FORGE_FINE && json_count(list) > 0 && !open->number && !last->number;
        json_free(list);
    }
    return answer;
}

static enum forge_answer find(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open,
                              struct forge_pull *ret_last, struct err *err)
{
    enum forge_answer answer = look(f, b, "open", PAGES, a, ret_open, ret_last, err);
    return answer == FORGE_FINE && !ret_open->number ? look(f, b, "closed", PAGES / 10, a, ret_open, ret_last, err) : answer;
}

static void put_text(struct buf *body, const char *title, const char *text)
{
    forge_github.put_text(body, title, text);
}

static enum forge_answer create(struct forge *f, const struct forge_branch *b, struct buf *body, struct arena *a, struct json **ret,
                                struct err *err)
{
    const char *url = arena_printf(a, "%s/repos/%s/pulls", f->target.api, f->target.path);
    const char *head = forge_same_repository(f) ? b->branch : arena_printf(a, "%s:%s", f->source.owner, b->branch);
    buf_puts(body, ",\"head\":");
    buf_json(body, str_of(head));
    buf_puts(body, ",\"base\":");
    buf_json(body, str_of(b->base));
    buf_putc(body, '}');
    return forge_call(
        f, &(struct forge_call){.method = "POST", .what = "a new pull request", .url = url, .body = buf_text(body), .once = true}, ret,
        err);
}

static void update(struct forge *f, const struct forge_pull *pull, struct buf *url, const char **ret_method)
{
    buf_printf(url, "%s/repos/%s/pulls/%llu", f->target.api, f->target.path, (unsigned long long)pull->number);
    *ret_method = "PATCH";
}

const struct forge_api forge_gitea = {
    .headers = headers, .find = find, .create = create, .put_text = put_text, .update = update, .pull_of = pull_of};
