/* exporter_http.c: HTTP requests of exporters; see exporter_http.h. */
#include "exporters/exporter_http.h"

#include "base/clock.h"
#include "base/http.h"
#include "base/inflate.h"
#include "base/show.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEADERS_MAX = 32, REPLY_MAX = 1 << 20, BODY_MAX = 256 << 20, WORDS_MAX = 200, SECRET_PART = 6, CLOCK_DIFFERENCE_S = 60 };

struct exporter_http {
    struct http *http;
    const char *url, *method;
    bool gzip;
    bool is_secret_url;
    const char *secrets[2]; /* that a reply could repeat; NULL: none */
};

static bool is_http_url(const char *url)
{
    return (strncasecmp(url, "http://", 7) == 0 && url[7]) || (strncasecmp(url, "https://", 8) == 0 && url[8]);
}

/* A name and a value of a header: no control character, the name a token of HTTP. */
static bool is_http_header(struct str name, struct str value)
{
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] <= ' ' || (unsigned char)name.p[i] >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", name.p[i]))
            return false;
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] < ' ' || value.p[i] == 0x7f)
            return false;
    return name.n > 0;
}

static bool has_other_scheme(const struct exporter_config *c)
{
    const char *scheme = opt_text(&c->opts, EXPORTER_KEY_TOKEN_SCHEME);
    return scheme && strcmp(scheme, "Bearer") != 0;
}

int exporter_http_configure(const struct exporter_config *c, struct err *err)
{
    const char *url = exporter_text(c, EXPORTER_KEY_URL), *token_header = exporter_text(c, EXPORTER_KEY_TOKEN_HEADER);
    static const char *const secrets[] = {EXPORTER_KEY_URL_SECRET, EXPORTER_KEY_TOKEN, EXPORTER_KEY_PASSWORD};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (exporter_secret_check(c, secrets[i], err))
            return -1;
    if (!url == !exporter_text(c, EXPORTER_KEY_URL_SECRET))
        return err_set(err, ERR_INPUT, "expected one of the keys url and url-secret");
    if (url && (!is_http_url(url) || memchr(url + 8, '@', strcspn(url + 8, "/?#")) || strpbrk(url, "\r\n\t ")))
        return err_set(err, ERR_INPUT, "url: expected http://HOST/… or https://HOST/…, without user and password");
    if (!exporter_text(c, EXPORTER_KEY_USER) != !exporter_text(c, EXPORTER_KEY_PASSWORD))
        return err_set(err, ERR_INPUT, "expected user and password, or none of them");
    if (exporter_text(c, EXPORTER_KEY_USER) && exporter_text(c, EXPORTER_KEY_TOKEN) && !token_header)
        return err_set(err, ERR_INPUT, "token and user exclude each other");
    if (has_other_scheme(c) && !is_http_header(str_of(opt_text(&c->opts, EXPORTER_KEY_TOKEN_SCHEME)), STR("")))
        return err_set(err, ERR_INPUT, "token-scheme: expected a word, such as Token");
    if (token_header && (!exporter_text(c, EXPORTER_KEY_TOKEN) || !is_http_header(str_of(token_header), STR(""))))
        return err_set(err, ERR_INPUT, "token-header: expected the name of a header, and token");
    size_t headers = 0;
    for (const struct opt_value *v = opt_find(&c->opts, EXPORTER_KEY_HEADER); v && v->text; v = v->next) {
        struct str value = str_of(v->text), name = str_cut(&value, '=');
        if (++headers > HEADERS_MAX)
            return err_set(err, ERR_INPUT, "header: expected at most %d headers", HEADERS_MAX);
        if (!is_http_header(name, value.p ? value : STR("")))
            return err_set(err, ERR_INPUT, "header: expected {NAME: VALUE} on one line");
    }
    return 0;
}

/* "Name: value" of each configured header, then that of the token. NULL: out of memory. */
static const char **http_headers(struct exporter_link *l, const char *token, bool gzip)
{
    const char **list = arena_get(l->arena, (HEADERS_MAX + 4) * sizeof *list), *name = exporter_text(l->config, EXPORTER_KEY_TOKEN_HEADER);
    size_t n = 0;
    for (const struct opt_value *v = opt_find(&l->config->opts, EXPORTER_KEY_HEADER); list && v && v->text; v = v->next) {
        struct str value = str_of(v->text), key = str_cut(&value, '=');
        list[n++] = arena_printf(l->arena, STR_FMT ": " STR_FMT, STR_ARG(key), STR_ARG(value));
    }
    if (list && token && name)
        list[n++] = arena_printf(l->arena, "%s: %s", name, token);
    else if (list && token && has_other_scheme(l->config))
        list[n++] = arena_printf(l->arena, "Authorization: %s %s", opt_text(&l->config->opts, EXPORTER_KEY_TOKEN_SCHEME), token);
    if (list && gzip)
        list[n++] = "Content-Encoding: gzip";
    return l->arena->failed ? NULL : list;
}

/* Returns the seconds that a request may last: the exporter's timeout, the time left to the
 * delivery, or an hour, whichever is shortest. */
static double http_seconds_left(const struct exporter_link *l)
{
    double left_s = (double)(l->until_ns - clock_mono_ns()) / 1e9, total_s = opt_seconds(&l->config->opts, EXPORTER_KEY_TIMEOUT);
    return total_s > 0 && total_s < left_s ? total_s : left_s < 3600 ? left_s : 3600;
}

/* config: what differs from one exporter to another. */
static enum exporter_answer http_begin(struct exporter_link *l, struct exporter_http *h, struct http_config *config, struct err *err)
{
    const struct exporter_config *c = l->config;
    double total_s = http_seconds_left(l);
    h->method = opt_text(&c->opts, EXPORTER_KEY_METHOD);
    h->method = h->method ? h->method : "POST";
    if (total_s <= 0)
        return err_set(err, ERR_SYSTEM, "no time is left"), EXPORTER_LATER;
    config->agent = "benchwrap/" BW_VERSION;
    config->ca_file = exporter_text(c, EXPORTER_KEY_CA_FILE);
    config->no_redirects = true; /* headers of the user would go to the other host */
    config->connect_s = opt_seconds(&c->opts, EXPORTER_KEY_TIMEOUT);
    config->total_s = total_s;
    config->cancel_fd = l->cancel_fd;
    return http_new(&h->http, config, err) ? EXPORTER_LATER : EXPORTER_SENT;
}

enum exporter_answer exporter_http_open(struct exporter_link *l, struct exporter_http **ret, struct err *err)
{
    const struct exporter_config *c = l->config;
    struct exporter_http *h = ARENA_NEW(l->arena, struct exporter_http);
    const char *token = NULL, *password = NULL;
    *ret = h;
    if (!h)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    h->url = exporter_text(c, EXPORTER_KEY_URL);
    h->is_secret_url = !h->url;
    if ((!h->url && exporter_secret(c, EXPORTER_KEY_URL_SECRET, l->env, l->until_ns, l->arena, &h->url, err)) ||
        exporter_secret(c, EXPORTER_KEY_TOKEN, l->env, l->until_ns, l->arena, &token, err) < 0 ||
        exporter_secret(c, EXPORTER_KEY_PASSWORD, l->env, l->until_ns, l->arena, &password, err) < 0)
        return EXPORTER_LATER;
    if (!is_http_url(h->url))
        return err_set(err, ERR_INPUT, "url-secret: expected http://HOST/… or https://HOST/…"), EXPORTER_LATER;
    h->gzip = opt_on(&c->opts, EXPORTER_KEY_GZIP);
    const char **headers = http_headers(l, token, h->gzip);
    if (!headers)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    h->secrets[0] = token;
    h->secrets[1] = password;
    struct http_config config = {.user = exporter_text(c, EXPORTER_KEY_USER),
                                 .password = password,
                                 .bearer = exporter_text(c, EXPORTER_KEY_TOKEN_HEADER) || has_other_scheme(c) ? NULL : token,
                                 .headers = headers};
    return http_begin(l, h, &config, err);
}

enum exporter_answer exporter_http_open_own(struct exporter_link *l, const struct exporter_http_own *own, struct exporter_http **ret,
                                            struct err *err)
{
    struct exporter_http *h = ARENA_NEW(l->arena, struct exporter_http);
    const char *const gzip[] = {"Content-Encoding: gzip", NULL};
    *ret = h;
    if (!h)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    h->url = own->url;
    h->gzip = !own->is_plain && opt_on(&l->config->opts, EXPORTER_KEY_GZIP);
    h->secrets[0] = own->password;
    struct http_config config = {.user = own->user, .password = own->password, .sigv4 = own->sigv4, .headers = h->gzip ? gzip : NULL};
    return http_begin(l, h, &config, err);
}

void exporter_http_close(struct exporter_http *h)
{
    if (h && h->http)
        http_free(h->http);
    if (h)
        h->http = NULL;
}

const char *exporter_http_url(const struct exporter_http *h)
{
    return h->url;
}

/* An address that another user of the machine may see: scheme and host. */
static void exporter_http_say(const char *url, struct buf *to)
{
    const char *host = strstr(url, "://");
    size_t n = host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
    const char *at = n ? memrchr(url, '@', n) : NULL;
    if (at)
        buf_plain(to, (struct str){at + 1, n - (size_t)(at + 1 - url)}, 200);
    else
        buf_plain(to, (struct str){url, n}, 200);
}

/* What an answer of the destination means. */
static enum exporter_answer answer_of(int status)
{
    if (status >= 200 && status < 300)
        return EXPORTER_SENT;
    if (status == 401 || status == 403 || status == 404 || status == 405 || status == 407 || status == 408 || status == 425 ||
        status == 429)
        return EXPORTER_LATER;
    if (status == 502 || status == 503 || status == 504 || status == 507 || status < 400)
        return EXPORTER_LATER;
    return status >= 500 ? EXPORTER_FAILED : EXPORTER_REFUSED;
}

static const char *status_hint(int status)
{
    switch (status) {
    case 401: return " (the token or password is wrong or has expired)";
    case 403: return " (these credentials lack the right)";
    case 404:
    case 405: return " (is this the right address?)";
    case 413: return " (the request is too large)";
    default: return status >= 300 && status < 400 ? " (a redirect is not followed: configure the new address)" : "";
    }
}

/* A clock that differs makes signatures and tokens wrong: "; the server's clock is 12 min ahead of this one's". */
static void put_clock_words(const struct http_reply *r, struct buf *to)
{
    double ahead_s = (double)r->date_s - (double)clock_wall_ms() / 1e3;
    if (!r->date_s || r->status >= 500 || (ahead_s < CLOCK_DIFFERENCE_S && ahead_s > -CLOCK_DIFFERENCE_S))
        return;
    buf_puts(to, "; the server's clock is ");
    show_duration(to, ahead_s < 0 ? -ahead_s : ahead_s);
    buf_printf(to, " %s this machine's", ahead_s < 0 ? "behind" : "ahead of");
}

/* The bytes of a body are compressed into `packed`. */
static struct str pack_body(const struct exporter_http *h, struct str body, struct buf *packed, struct err *err)
{
    if (!h->gzip)
        return body;
    if (inflate_make_gzip(body, packed))
        return buf_text(packed);
    err_set(err, ERR_SYSTEM, "cannot compress a request: zlib is not installed, or there is no memory for it");
    return (struct str){NULL, 0};
}

/* The text of a failed request names the address, which may be a secret. */
static enum exporter_answer set_no_reply(const char *place, const struct err *why, struct err *err)
{
    const char *url = strstr(why->text, "://"), *reason = url ? strstr(url, ": ") : NULL;
    err_set(err, ERR_REMOTE, "%s: %s", place ? place : "", reason ? reason + 2 : "no reply");
    return EXPORTER_LATER;
}

/* Returns whether the text has a part of the address's path or query that is long enough to be one of
 * a secret. */
static bool has_part_of_url(struct str text, const char *url)
{
    const char *host = strstr(url, "://");
    for (const char *p = host ? host + 3 + strcspn(host + 3, "/?#") : ""; *p;) {
        struct str part = {p, strcspn(p, "/?#&=")};
        if (part.n >= SECRET_PART && str_find(text, part) >= 0)
            return true;
        p += part.n + (p[part.n] != 0);
    }
    return false;
}

/* Appends the beginning of a reply for people, harmless for a terminal; nothing where the reply
 * repeats a secret. */
static void put_reply_words(const struct exporter_http *h, const char *const *headers, struct str reply, struct buf *to)
{
    for (size_t i = 0; i < sizeof h->secrets / sizeof *h->secrets; i++)
        if (h->secrets[i] && str_find(reply, str_of(h->secrets[i])) >= 0)
            return;
    if (h->is_secret_url && has_part_of_url(reply, h->url))
        return;
    for (; headers && *headers; headers++) {
        const char *blank = strncmp(*headers, "Authorization:", 14) == 0 ? strrchr(*headers, ' ') : NULL;
        if (blank && blank[1] && str_find(reply, str_of(blank + 1)) >= 0)
            return;
    }
    buf_plain(to, str_trim(reply), WORDS_MAX);
}

enum exporter_answer exporter_http_call(struct exporter_link *l, struct exporter_http *h, const struct exporter_http_request *call,
                                        struct err *err)
{
    struct http_reply r = {.status = 0};
    struct buf packed CLEANUP_BUF, words CLEANUP_BUF, clock CLEANUP_BUF, place CLEANUP_BUF;
    struct err why = {0};
    double total_s = http_seconds_left(l);
    buf_init(&packed, BODY_MAX);
    buf_init(&words, 8192);
    buf_init(&clock, 200);
    buf_init(&place, 2000);
    exporter_http_say(h->url, &place);
    if (total_s <= 0)
        return err_set(err, ERR_REMOTE, "%s: no time is left", place.p ? place.p : ""), EXPORTER_LATER;
    struct str body = pack_body(h, call->body, &packed, err);
    if (!body.p)
        return EXPORTER_LATER;
    struct http_request q = {.method = call->method ? call->method : h->method,
                             .url = call->url ? call->url : h->url,
                             .type = call->type ? call->type : "application/json",
                             .headers = call->headers,
                             .body = body,
                             .fresh = true,
                             .total_s = total_s,
                             .reply_max = REPLY_MAX};
    int rc = http_do(h->http, &q, &r, &why);
    if (call->ret_status)
        *call->ret_status = rc ? 0 : r.status;
    if (call->ret_body && rc == 0 && r.status < 300)
        buf_str(call->ret_body, buf_text(&r.body));
    enum exporter_answer answer = rc ? EXPORTER_LATER : answer_of(r.status);
    if (rc)
        set_no_reply(place.p, &why, err);
    else if (answer != EXPORTER_SENT) {
        put_reply_words(h, q.headers, buf_text(&r.body), &words);
        put_clock_words(&r, &clock);
        err_set(err, ERR_REMOTE, "%s: status %d%s%s%s%s", place.p ? place.p : "", r.status, status_hint(r.status), clock.p ? clock.p : "",
                words.n ? ": " : "", words.p ? words.p : "");
        l->retry_after_s = r.retry_after_s;
    }
    if (call->reply && answer == EXPORTER_SENT)
        buf_str(call->reply, buf_text(&r.body));
    http_reply_deinit(&r);
    return answer;
}

enum exporter_answer exporter_http_send(struct exporter_link *l, struct exporter_http *h, const char *url, struct str body, struct err *err)
{
    return exporter_http_call(l, h, &(struct exporter_http_request){.url = url, .body = body}, err);
}

enum exporter_answer exporter_http_check(struct exporter_link *l, struct exporter_http *h, struct buf *found, struct err *err)
{
    struct http_reply r = {.status = 0};
    struct http_request q = {.method = "GET", .url = h->url, .fresh = true, .total_s = http_seconds_left(l), .reply_max = REPLY_MAX};
    struct err why = {0};
    struct buf place CLEANUP_BUF;
    buf_init(&place, 2000);
    exporter_http_say(h->url, &place);
    int rc = http_do(h->http, &q, &r, &why);
    int status = r.status;
    l->retry_after_s = r.retry_after_s;
    http_reply_deinit(&r);
    if (rc)
        return set_no_reply(place.p, &why, err);
    if (status == 401 || status == 403 || (status >= 300 && status < 400) || status >= 500)
        return err_set(err, ERR_REMOTE, "%s: status %d%s", place.p ? place.p : "", status, status_hint(status)), EXPORTER_LATER;
    buf_printf(found, "%s answers with status %d to GET%s", place.p ? place.p : "", status,
               status == 404 || status == 405 ? ", as endpoints may that accept POST alone" : "");
    return EXPORTER_SENT;
}

void exporter_http_print_request(const struct exporter_config *c, const struct exporter_http_request *q, struct buf *to)
{
    const char *url = q->url ? q->url : exporter_text(c, EXPORTER_KEY_URL);
    buf_printf(to, "%s %s\n", q->method ? q->method : opt_text(&c->opts, EXPORTER_KEY_METHOD), url ? url : "***");
    if (exporter_text(c, EXPORTER_KEY_TOKEN_HEADER))
        buf_printf(to, "%s: ***\n", exporter_text(c, EXPORTER_KEY_TOKEN_HEADER));
    else if (exporter_text(c, EXPORTER_KEY_TOKEN))
        buf_printf(to, "Authorization: %s ***\n", has_other_scheme(c) ? opt_text(&c->opts, EXPORTER_KEY_TOKEN_SCHEME) : "Bearer");
    else if (exporter_text(c, EXPORTER_KEY_USER))
        buf_puts(to, "Authorization: Basic ***\n");
    for (const struct opt_value *v = opt_find(&c->opts, EXPORTER_KEY_HEADER); v && v->text; v = v->next) {
        struct str value = str_of(v->text), name = str_cut(&value, '=');
        buf_printf(to, STR_FMT ": " STR_FMT "\n", STR_ARG(name), STR_ARG(value));
    }
    buf_printf(to, "Content-Type: %s\n%s\n", q->type ? q->type : "application/json",
               opt_on(&c->opts, EXPORTER_KEY_GZIP) ? "Content-Encoding: gzip\n" : "");
    buf_str(to, q->body);
    buf_putc(to, '\n');
}
