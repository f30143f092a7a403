/* call.c: one call of a forge's interface: its attempts, and what an answer means. */
#include "base/clock.h"
#include "forge/pull_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { REPLY_MAX = 32 << 20, ATTEMPTS = 4, PATIENCE_S = 60, ABSENT_WAIT_S = 1 };

/* ---- what an answer means ---- */

/* Appends the forge's own words: GitHub's message and its errors, GitLab's message (text, list or
 * object) or error, Gitea's message. */
static void forge_add_words(const struct json *j, unsigned depth, struct buf *to)
{
    const char *text = json_string(j, NULL);
    if (text) {
        buf_puts(to, to->n ? "; " : "");
        buf_plain(to, str_trim(str_of(text)), 200);
    }
    for (const struct json *k = depth && !text ? json_first(j) : NULL; k && to->n < 600; k = json_next(k))
        forge_add_words(k, depth - 1, to);
}

static void forge_words_of(const struct json *j, const struct http_reply *r, struct buf *to)
{
    buf_puts(to, "");
    forge_add_words(json_get(j, "message"), 2, to);
    for (const struct json *e = json_first(json_get(j, "errors")); e && to->n < 600; e = json_next(e))
        forge_add_words(json_is_string(e) ? e : json_get(e, "message"), 0, to);
    if (!to->n)
        forge_add_words(json_get(j, "error_description") ? json_get(j, "error_description") : json_get(j, "error"), 1, to);
    if (!to->n && !j)
        buf_plain(to, str_trim(buf_text(&r->body)), 120);
}

static bool words_mention(const struct buf *words, const char *a)
{
    return words->p && strcasestr(words->p, a) != NULL;
}

static bool is_limit(const struct http_reply *r, const struct buf *words)
{
    return r->status == 429 ||
           (r->status == 403 && (r->limit_reset_s > 0 || words_mention(words, "rate limit") || words_mention(words, "abuse")));
}

static enum forge_answer answer_limited(const struct http_reply *r, const char *forge, const char *what, const struct buf *words,
                                        struct err *err)
{
    char until[64] = "later";
    time_t now = time(NULL), at = r->retry_after_s > 0 ? now + (time_t)r->retry_after_s : (time_t)r->limit_reset_s;
    struct tm tm;
    if (at > now && at < (time_t)1 << 40 && localtime_r(&at, &tm)) /* the forge's clock may be another one */
        strftime(until, sizeof until, at - now < 43200 ? "after %H:%M:%S" : "after %Y-%m-%d %H:%M", &tm);
    err_set(err, ERR_REMOTE, "%s: %s: too many requests (%s); try again %s", forge, what, words->n ? words->p : "its limit is reached",
            until);
    return FORGE_LIMITED;
}

/* Sets the error of status 401 or 403, with the right that the token needs. Returns
 * FORGE_DENIED. */
static enum forge_answer answer_denied(const struct forge *f, const char *forge, const char *what, int status, const struct buf *words,
                                       struct err *err)
{
    const char *rights = f->target.kind == FORGE_GITHUB   ? "repository permission \"Pull requests: write\", or scope repo"
                         : f->target.kind == FORGE_GITLAB ? "scope api and the role Developer"
                                                          : "scope write:repository";
    if (!f->token_where)
        err_set(err, ERR_REMOTE, "%s: %s: %d %s; the forge may report this only with a token", forge, what, status, words->p);
    else if (status == 401)
        err_set(err, ERR_REMOTE,
                "%s: %s: 401 %s; the token of %s is not accepted (expired, or another forge's?); make a new token, then share again", forge,
                what, words->p, f->token_where);
    else
        err_set(err, ERR_REMOTE, "%s: %s: %d %s; the token of %s has not the right to do that (%s)", forge, what, status, words->p,
                f->token_where, rights);
    return FORGE_DENIED;
}

/* Returns what the status of a reply means, with err. A duplicate has 422 on GitHub and 409 on
 * Gitea and GitLab; a branch without new commits 422 on GitHub, a missing one 404 on Gitea. */
static enum forge_answer answer_of_reply(const struct forge *f, const struct forge_call *call, const struct http_reply *r,
                                         const struct json *j, struct err *err)
{
    const char *forge = forge_kind_name(f->target.kind), *what = call->what;
    struct buf words CLEANUP_BUF;
    buf_init(&words, 4096);
    forge_words_of(j, r, &words);
    if (is_limit(r, &words))
        return answer_limited(r, forge, what, &words, err);
    if (r->status == 401 || r->status == 403)
        return answer_denied(f, forge, what, r->status, &words, err);
    err_set(err, ERR_REMOTE, "%s: %s: %d %s%s", forge, what, r->status, words.p,
            r->status == 404   ? f->token_where ? "; there is no such repository or branch, or this token may not see it"
                                                : "; a private repository is shown with a token only"
            : r->status == 413 ? "; the text is too long for it"
                               : "");
    if (r->status == 404 || r->status == 410)
        return FORGE_ABSENT;
    if (r->status == 409 || (r->status == 422 && words_mention(&words, "already exists")))
        return FORGE_EXISTS;
    if ((r->status == 422 || r->status == 400) && (words_mention(&words, "no commits between") ||
                                                   words_mention(&words, "no changes between") || words_mention(&words, "no difference")))
        return FORGE_EMPTY;
    return r->status >= 500 || r->status == 408 ? FORGE_LATER : FORGE_REFUSED;
}

/* ---- attempts ---- */

static void forge_wait_s(double s)
{
    struct timespec t = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static enum forge_answer answer_no_reply(const struct forge *f, const struct http_reply *r, struct err *err)
{
    err_wrap(err, "%s", forge_kind_name(f->target.kind));
    if (!err->hint[0] && (r->trouble != HTTP_UNTRUSTED && r->trouble != HTTP_CANCELLED))
        err_hint(err, "run benchwrap share again when the forge answers");
    return r->trouble == HTTP_HOPELESS || r->trouble == HTTP_UNTRUSTED || r->trouble == HTTP_CANCELLED ? FORGE_REFUSED : FORGE_LATER;
}

/* Sends one request. *again: seconds to wait before it may be repeated, 0: not known, -1: it must
 * not be. *ret as of forge_send. Everything but FORGE_FINE comes with err. */
static enum forge_answer forge_attempt(struct forge *f, const struct forge_call *call, struct json **ret, double *again, struct err *err)
{
    struct http_request q = {.method = call->method,
                             .url = call->url,
                             .type = "application/json",
                             .body = call->body,
                             .headers = f->api->headers,
                             .fresh = call->once,
                             .reply_max = REPLY_MAX};
    struct http_reply r;
    struct json *j = NULL;
    enum forge_answer answer = FORGE_FINE;
    *again = -1;
    f->status = 0;
    if (http_do(f->http, &q, &r, err)) {
        answer = answer_no_reply(f, &r, err);
        *again = answer == FORGE_LATER && (!call->once || r.trouble == HTTP_UNSENT) ? 0 : -1;
        http_reply_deinit(&r);
        return answer;
    }
    f->status = r.status;
    f->date_s = r.date_s ? r.date_s : f->date_s;
    bool good = r.status >= 200 && r.status < 300;
    if (r.body.n && json_parse(&j, buf_text(&r.body), NULL, err))
        j = NULL;
    if (!good)
        answer = answer_of_reply(f, call, &r, j, err);
    else if (!j && ret)
        answer = (err_set(err, ERR_REMOTE,
                          "%s: %s: cannot read the reply as JSON; check that %s is the address of its API (git config benchwrap.forgeApi)",
                          forge_kind_name(f->target.kind), call->what, f->target.api),
                  FORGE_REFUSED);
    if (answer == FORGE_LIMITED)
        *again = r.retry_after_s;
    else if (answer == FORGE_LATER && !call->once)
        *again = r.retry_after_s > 0 ? r.retry_after_s : 0;
    if (ret)
        *ret = answer == FORGE_FINE ? j : NULL;
    if (!ret || answer != FORGE_FINE)
        json_free(j);
    http_reply_deinit(&r);
    return answer;
}

enum forge_answer forge_send(struct forge *f, const struct forge_call *call, struct json **ret, struct err *err)
{
    int64_t begin = clock_mono_ns();
    double again;
    if (ret)
        *ret = NULL;
    for (int i = 1;; i++) {
        enum forge_answer answer = forge_attempt(f, call, ret, &again, err);
        if (answer == FORGE_ABSENT && i == 1 && strcmp(call->method, "GET") == 0)
            again = ABSENT_WAIT_S; /* Gitea does not show a new repository until a moment after its first push */
        if (answer == FORGE_FINE || again < 0 || i == ATTEMPTS)
            return answer;
        double wait = again > 0 ? again : 0.5 * (1 << i);
        if ((double)(clock_mono_ns() - begin) / 1e9 + wait > PATIENCE_S)
            return answer;
        forge_wait_s(wait);
    }
}

const char *forge_text(const struct json *object, const char *pointer, struct arena *a)
{
    struct buf b CLEANUP_BUF;
    const char *text = json_string(json_pointer(object, pointer), "");
    buf_init(&b, 4u << 20);
    buf_puts(&b, "");
    buf_utf8(&b, str_of(text));
    const char *copy = b.failed ? NULL : arena_dup(a, b.p, b.n);
    return copy ? copy : "";
}
