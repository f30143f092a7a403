/* share_pull.c: one open pull request for the branch of this clone: opened, or its text made new. */
#include "share/share.h"

#include "base/clock.h"
#include "base/env.h"
#include "plan/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_LIMIT_S = 60, TITLE_MAX = 4096, TEXT_MAX = 1 << 20 };

struct share_forge {
    struct forge *forge;
    struct forge_branch branch;
    struct forge_pull open, last;
};

/* ---- whose word ---- */

/* Only a helper may answer: no prompt on the terminal or by a window. */
static int ask_helper(struct share *s, struct forge_token *ret, struct err *err)
{
    struct buf question CLEANUP_BUF;
    static const char *const argv[] = {"git", "-c", "core.askPass=", "credential", "fill", NULL};
    static const char *const set[] = {"GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", NULL};
    struct program_end end;
    buf_init(&question, 8192);
    forge_token_question(&s->target_place, &question);
    struct program p = {.argv = argv, .dir = s->dir, .set = set, .in = buf_text(&question), .credentials = true, .limit_s = ASK_LIMIT_S};
    if (program_run(&p, &end, err)) {
        program_end_deinit(&end);
        err_clear(err); /* then there is no token */
        return 0;
    }
    if (end.status == 0)
        forge_token_answer(ret, buf_text(&end.out), s->arena);
    if (end.out.p)
        explicit_bzero(end.out.p, end.out.n);
    program_end_deinit(&end);
    return 0;
}

/* Finds the token for the target's forge: by forge_token_find, else from git's credential helper.
 * Without a token ret->secret is NULL, and request->remark names a variable that was set but not
 * used. Returns -1 with err. */
static int find_token(struct share *s, struct forge_token *ret, struct share_request *request, struct err *err)
{
    const char *dir = plan_xdg(s->env, "XDG_CONFIG_HOME", ".config", s->arena);
    const char *tokens = dir ? arena_printf(s->arena, "%s/tokens", dir) : NULL;
    if (forge_token_find(ret, &s->target_place, s->options.token_file, tokens, s->env, s->arena, err))
        return -1;
    if (!ret->secret && ask_helper(s, ret, err))
        return -1;
    if (!ret->secret && ret->unused)
        request->remark = arena_printf(s->arena, "%s is set, but %s is not known to be %s: git config benchwrap.forge %s", ret->unused,
                                       s->target_place.host, forge_kind_name(s->target_place.kind),
                                       s->target_place.kind == FORGE_GITHUB   ? "github"
                                       : s->target_place.kind == FORGE_GITLAB ? "gitlab"
                                                                              : "gitea");
    return 0;
}

/* ---- before the push ---- */

static const char *trust_of(char *const *env)
{
    static const char *const names[] = {"GIT_SSL_CAINFO", "SSL_CERT_FILE", "CURL_CA_BUNDLE"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = env_text(env, names[i]);
    return found;
}

/* Queries the forge for the branch's pull requests into f->open and f->last. One that was closed
 * without a merge, at the commit that was pushed, sets SHARE_CLOSED_BY_HAND. Returns -1 with
 * err. */
static int find_request(struct share *s, struct share_forge *f, struct share_request *request, struct err *err)
{
    enum forge_answer answer = forge_find(f->forge, &f->branch, s->arena, &f->open, &f->last, err);
    if (answer != FORGE_FINE)
        return -1;
    int64_t date_s = forge_date_s(f->forge), now_ms = clock_wall_ms();
    s->ahead_ms = date_s && now_ms > date_s * 1000 ? now_ms - date_s * 1000 : 0;
    char tip[REPO_HEX] = "";
    if (s->was_pushed)
        repo_id_hex(&s->pushed, tip);
    /* Closed without merging, and this site's own: the maintainers of the target have rejected it. */
    if (!f->open.number && f->last.number && f->last.state == FORGE_CLOSED && s->was_pushed &&
        (!f->last.tip[0] || strcmp(f->last.tip, tip) == 0) && !s->options.reopen) {
        request->outcome = SHARE_CLOSED_BY_HAND;
        request->pull = f->last;
    }
    return 0;
}

int share_forge_open(struct share *s, struct share_forge **ret, struct share_request *request, struct err *err)
{
    struct forge_token token = {0};
    struct http_config http = {
        .agent = "benchwrap/" BW_VERSION, .cancel_fd = -1, .connect_s = 10, .total_s = 60, .ca_file = trust_of(s->env)};
    *ret = NULL;
    *request = (struct share_request){.outcome = SHARE_BY_HAND};
    if (s->target_place.kind == FORGE_NONE || s->source_place.kind != s->target_place.kind) {
        request->outcome = s->target_place.host ? SHARE_BY_HAND : SHARE_NO_FORGE;
        if (s->target_place.host)
            request->remark =
                arena_printf(s->arena, "it is not known which forge %s is: git config benchwrap.forge github|gitlab|gitea|forgejo",
                             s->target_place.host);
        return 0;
    }
    request->link = forge_link(&s->target_place, &s->source_place, s->base, s->branch, s->arena);
    if (s->options.no_pull_request)
        return 0;
    if (find_token(s, &token, request, err))
        return -1;
    if (!token.secret)
        return 0;
    struct share_forge *f = calloc(1, sizeof *f);
    if (!f)
        return err_memory(err, "the pull request");
    f->branch = (struct forge_branch){.branch = s->branch, .base = s->base};
    if (forge_open(&f->forge, &s->target_place, &s->source_place, &token, &http, err) || find_request(s, f, request, err)) {
        share_forge_close(f);
        return -1;
    }
    *ret = f;
    return 0;
}

void share_forge_close(struct share_forge *f)
{
    if (f)
        forge_close(f->forge);
    free(f);
}

/* ---- behind the push ---- */

/* Updates title and text of the open pull request, if they differ. A text that a user rewrote
 * stays, and request->remark states it. Returns -1 with err. */
static int refresh_request(struct share_forge *f, const char *title, struct str text, struct share_request *request, struct err *err)
{
    struct buf whole CLEANUP_BUF;
    buf_init(&whole, TEXT_MAX);
    request->outcome = SHARE_REFRESHED;
    request->pull = f->open;
    if (!share_text_refresh(f->open.text, text, &whole)) {
        request->remark = "its text was rewritten by hand, and is left as it is";
        return 0;
    }
    if (whole.failed)
        return err_memory(err, "the text of the pull request");
    if (strcmp(whole.p, f->open.text) == 0 && strcmp(title, f->open.title) == 0)
        return 0;
    return forge_update(f->forge, &f->open, title, whole.p, err) == FORGE_FINE ? 0 : -1;
}

/* Opens the pull request. Where one exists by now, by another share of the clone or because a reply
 * was lost, it is updated. Returns -1 with err. */
static int create_request(struct share *s, struct share_forge *f, const char *title, const char *text, struct share_request *request,
                          struct err *err)
{
    enum forge_answer answer = forge_create(f->forge, &f->branch, title, text, s->arena, &request->pull, err);
    request->outcome = SHARE_OPENED;
    if (answer == FORGE_FINE)
        return 0;
    struct err again = {0};
    if ((answer == FORGE_EXISTS || answer == FORGE_LATER) &&
        forge_find(f->forge, &f->branch, s->arena, &f->open, &f->last, &again) == FORGE_FINE && f->open.number)
        return refresh_request(f, title, str_of(text), request, err);
    return -1;
}

/* Queries the pull request again: maintainers may merge or close it while its branch is checked and
 * pushed. Then it returns -1 with err. */
static int look_again(struct share *s, struct share_forge *f, struct share_request *request, struct err *err)
{
    unsigned long long number = f->open.number;
    if (forge_find(f->forge, &f->branch, s->arena, &f->open, &f->last, err) != FORGE_FINE)
        return -1;
    if (f->open.number || f->last.number != number)
        return 0;
    request->link = NULL;
    if (f->last.state == FORGE_CLOSED)
        return err_set(err, ERR_INPUT,
                       "pull request #%llu was closed while share ran (%.200s); to open another one: benchwrap share --reopen", number,
                       f->last.url);
    err_set(err, ERR_INPUT, "pull request #%llu was merged while share ran (%.200s)", number, f->last.url);
    return err_hint(err, "benchwrap share");
}

int share_forge_request(struct share *s, struct share_forge *f, struct share_request *request, struct err *err)
{
    struct buf title CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&title, TITLE_MAX);
    buf_init(&text, TEXT_MAX);
    share_title(s, &title);
    if (share_text(s, &text, err))
        return err_wrap(err, "the runs are pushed, but their pull request has no text");
    if (title.failed || text.failed)
        return err_memory(err, "the text of the pull request");
    unsigned long long open = f->open.number;
    int rc = open ? look_again(s, f, request, err) : 0;
    if (rc == 0)
        rc = f->open.number ? refresh_request(f, title.p, buf_text(&text), request, err)
                            : create_request(s, f, title.p, text.p, request, err);
    if (rc == 0)
        return 0;
    request->outcome = SHARE_FAILED;
    if (open && request->link) { /* there is nothing to be opened by hand */
        request->link = NULL;
        return err_wrap(err, "the runs are pushed to pull request #%llu, but its text is not refreshed (share again does it)", open);
    }
    return err_wrap(err, "the runs are pushed, but their pull request was not opened or refreshed");
}
