/* pull_parts.h: what the kinds of forges share when they talk about pull requests, and the few things in which they differ. */
#ifndef FORGE_PULL_PARTS_H
#define FORGE_PULL_PARTS_H
#include "base/json_out.h"
#include "base/json.h"
#include "forge/forge.h"

struct forge_call {
    const char *method;      /* "GET" … */
    const char *what;        /* "open pull requests of benchwrap/x/12345678", for messages */
    const char *url;
    struct str body;         /* p NULL: none */
    bool once;               /* it creates something: not repeated when the outcome is unknown */
};

struct forge_api {
    const char *const *headers; /* of every request; NULL-terminated */
    enum forge_answer (*find)(struct forge *f, const struct forge_branch *b, struct arena *a, struct forge_pull *ret_open, struct forge_pull *ret_last, struct err *err);
    enum forge_answer (*create)(struct forge *f, const struct forge_branch *b, struct json_out *body, struct arena *a, struct json **ret, struct err *err); /* body: open, with the text */
    void (*put_text)(struct json_out *body, const char *title, const char *text);
    void (*update)(struct forge *f, const struct forge_pull *pull, struct buf *url, const char **ret_method);
    bool (*pull_of)(const struct json *item, struct arena *a, struct forge_pull *ret); /* false: it is none */
};
extern const struct forge_api forge_github, forge_gitlab, forge_gitea;

struct forge {
    struct http *http;
    const struct forge_api *api;
    struct forge_place target, source;
    const char *token_where; /* NULL: no token */
    int64_t date_s;          /* of the last answer that has one, s since 1970; 0: none */
    int status;              /* HTTP status of the last answer; 0: none came */
    struct arena arena;
};

/* Sends one request, repeated where that may help. *ret (may be NULL) is the caller's to free;
 * NULL where there was no JSON. */
enum forge_answer forge_send(struct forge *f, const struct forge_call *call, struct json **ret, struct err *err);
/* Returns a text of JSON, in the arena; "" for anything else. */
const char *forge_text(const struct json *object, const char *pointer, struct arena *a);
/* Records an item of a listing (newest first) as the first open one, or the first of the others. */
void forge_note(const struct forge_pull *pull, struct forge_pull *open, struct forge_pull *last);
/* Returns whether source and target are one repository. */
bool forge_same_repository(const struct forge *f);

/* ---- GitHub's way, most of which Gitea and Forgejo have (github.c) ---- */

/* Fills *ret from one item of a listing. merged: the caller has found out, as each forge reports
 * it differently. False: it has no number. Texts are in the arena. */
bool pulls_item(const struct json *item, bool merged, struct arena *a, struct forge_pull *ret);
/* As in struct forge_api. */
enum forge_answer pulls_create(struct forge *f, const struct forge_branch *b, struct json_out *body, struct arena *a, struct json **ret,
                               struct err *err);
void pulls_text(struct json_out *body, const char *title, const char *text);
void pulls_update(struct forge *f, const struct forge_pull *pull, struct buf *url, const char **ret_method);
#endif
