/* gitea.c: pull requests of Gitea and Forgejo: /api/v1, as its own description (/swagger.v1.json) has them. */
#include "forge/pull_parts.h"

#include <stdio.h>
#include <strings.h>

enum { PAGE = 50 /* the default maximum of a server */, PAGES = 40 };

static const char *const headers[] = {"Accept: application/json", NULL};

static bool gitea_pull_of(const struct json *item, struct arena *a, struct forge_pull *ret)
{
    return pulls_item(item, json_bool(json_get(item, "merged"), false), a, ret);
}

/* Returns whether the pull request is of this branch. Once the branch is gone, head.ref is
 * refs/pull/N/head and only head.label still has its name. */
static bool gitea_is_ours(const struct forge *f, const struct forge_branch *b, const struct json *item)
{
    const char *ref = json_string(json_pointer(item, "/head/ref"), ""), *label = json_string(json_pointer(item, "/head/label"), "");
    const char *from = json_string(json_pointer(item, "/head/repo/full_name"), f->source.path); /* null: it is gone */
    const char *colon = strchr(label, ':');
    return (strcmp(ref, b->branch) == 0 || strcmp(colon ? colon + 1 : label, b->branch) == 0) && strcasecmp(from, f->source.path) == 0 &&
           strcmp(json_string(json_pointer(item, "/base/ref"), ""), b->base) == 0;
}

/* Searches the pages of pull requests in this state until one is of this branch: no filter by
 * branch exists in all versions. */
static enum forge_answer gitea_search_pages(struct forge *f, const struct forge_branch *b, const char *state, int pages, struct arena *a,
                                            struct forge_pull *open, struct forge_pull *last, struct err *err)
{
    enum forge_answer answer = FORGE_FINE;
    for (int page = 1, more = 1; more && page <= pages && answer == FORGE_FINE; page++) {
        struct json *list;
        struct forge_pull pull;
        const char *url = arena_printf(a, "%s/repos/%s/pulls?state=%s&sort=recentupdate&limit=%d&page=%d", f->target.api, f->target.path,
                                       state, PAGE, page);
        answer = forge_send(f, &(struct forge_call){.method = "GET", .what = "the pull requests of this branch", .url = url}, &list, err);
        for (const struct json *item = answer == FORGE_FINE ? json_first(list) : NULL; item; item = json_next(item))
            if (gitea_is_ours(f, b, item) && gitea_pull_of(item, a, &pull))
                forge_note(&pull, open, last);
        more = answer == FORGE_FINE && json_count(list) > 0 && !open->number && !last->number;
        json_free(list);
    }
    return answer;
}

static enum forge_answer gitea_find(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open,
                                    struct forge_pull *ret_last, struct err *err)
{
    enum forge_answer answer = gitea_search_pages(f, b, "open", PAGES, a, ret_open, ret_last, err);
    return answer == FORGE_FINE && !ret_open->number ? gitea_search_pages(f, b, "closed", PAGES / 10, a, ret_open, ret_last, err) : answer;
}

const struct forge_api forge_gitea = {.headers = headers,
                                      .find = gitea_find,
                                      .create = pulls_create,
                                      .put_text = pulls_text,
                                      .update = pulls_update,
                                      .pull_of = gitea_pull_of};
