/* azure_token.c: access tokens of Microsoft Entra ID; see azure_token.h. */
#include "exporters/azure_token.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/http.h"
#include "base/json.h"
#include "base/query.h"
#include "base/secret.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
    TOKEN_BYTES = 64 << 10,
    TOKEN_REPLY_BYTES = 256 << 10,
    FORM_BYTES = 256 << 10,
    EARLY_S = 300, /* a token is renewed so long before it expires */
    UNKNOWN_S = 300, /* a token without a known end is read again after this time */
    LOGIN_S = 20,
    METADATA_S = 5, /* the service of the machine answers at once, or there is none */
    METADATA_TRIES = 3,
    AZ_MS = 60000
};

enum azure_source { SOURCE_AUTO, SOURCE_TOKEN, SOURCE_SECRET, SOURCE_CERTIFICATE, SOURCE_WORKLOAD, SOURCE_MANAGED, SOURCE_AZ };

static const struct {
    const char *name, *text;
} azure_sources[] = {[SOURCE_AUTO] = {"auto", "the managed identity or az"},
                     [SOURCE_TOKEN] = {"token", "the key token"},
                     [SOURCE_SECRET] = {"secret", "a client secret"},
                     [SOURCE_CERTIFICATE] = {"certificate", "a client certificate"},
                     [SOURCE_WORKLOAD] = {"workload", "a workload identity"},
                     [SOURCE_MANAGED] = {"managed", "the managed identity"},
                     [SOURCE_AZ] = {"az", "az"}};

static const struct azure_cloud {
    const char *name, *ending, *login, *resources[2]; /* by enum azure_audience; queries go to the second one */
} azure_clouds[] = {
    {"public", ".azure.com", "https://login.microsoftonline.com", {"https://monitor.azure.com", "https://api.loganalytics.io"}},
    {"government", ".azure.us", "https://login.microsoftonline.us", {"https://monitor.azure.us", "https://api.loganalytics.us"}},
    {"china", ".azure.cn", "https://login.chinacloudapi.cn", {"https://monitor.azure.cn", "https://api.loganalytics.azure.cn"}}};

struct azure_token {
    enum azure_source source;
    const struct azure_cloud *cloud;
    const char *resource;
    const char *login; /* https://login.microsoftonline.com */
    const char *tenant, *client, *certificate, *federated, *identity;
    const char *secret; /* of the client */
    struct buf text; /* the token */
    int64_t renew_ns; /* 0: there is none */
};

const char *azure_token_query_host(const struct azure_token *t)
{
    return t->cloud->resources[AZURE_FOR_QUERIES];
}

const char *azure_token_source(const struct azure_token *t)
{
    return azure_sources[t->source].text;
}

int azure_token_configure(const struct exporter_config *c, struct err *err)
{
    static const char *const paths[] = {AZURE_KEY_CLIENT_CERTIFICATE, AZURE_KEY_FEDERATED_TOKEN};
    const char *credential = opt_text(&c->opts, AZURE_KEY_CREDENTIAL);
    if (exporter_secret_check(c, AZURE_KEY_CLIENT_SECRET, err) || exporter_secret_check(c, EXPORTER_KEY_TOKEN, err))
        return -1;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (exporter_text(c, paths[i]) && exporter_text(c, paths[i])[0] != '/')
            return err_set(err, ERR_INPUT, "%s: expected an absolute path", paths[i]);
    if (strcmp(credential, "token") == 0 && !exporter_text(c, EXPORTER_KEY_TOKEN))
        return err_set(err, ERR_INPUT, "credential token: expected the key token");
    return 0;
}

/* ---- the source ---- */

static const char *azure_setting(const struct exporter_link *l, const char *key, const char *variable)
{
    const char *text = exporter_text(l->config, key);
    return text ? text : env_text(l->env, variable);
}

/* Exactly one name of a tenant or application: it becomes a part of addresses. */
static bool is_azure_id(const char *id)
{
    for (const char *p = id; *p; p++)
        if (!str_is_letter(*p) && !str_is_digit(*p) && *p != '-' && *p != '.')
            return false;
    return *id && strlen(id) <= 100;
}

/* Returns the source of `credential`, or the one whose values are configured; else SOURCE_AUTO tries them. */
static enum azure_source choose_source(const struct exporter_link *l, const struct azure_token *t)
{
    const char *name = opt_text(&l->config->opts, AZURE_KEY_CREDENTIAL);
    for (size_t i = SOURCE_TOKEN; i < sizeof azure_sources / sizeof *azure_sources; i++)
        if (strcmp(azure_sources[i].name, name) == 0)
            return (enum azure_source)i;
    if (exporter_text(l->config, EXPORTER_KEY_TOKEN))
        return SOURCE_TOKEN;
    if (exporter_text(l->config, AZURE_KEY_IDENTITY))
        return SOURCE_MANAGED;
    if (t->tenant && t->client && t->secret)
        return SOURCE_SECRET;
    if (t->tenant && t->client && t->certificate)
        return SOURCE_CERTIFICATE;
    return t->tenant && t->client && t->federated ? SOURCE_WORKLOAD : SOURCE_AUTO;
}

static const struct azure_cloud *choose_cloud(const struct exporter_config *c, const char *endpoint)
{
    const char *name = opt_text(&c->opts, AZURE_KEY_CLOUD), *host = strstr(endpoint, "://");
    struct str rest = str_of(host ? host + 3 : endpoint);
    rest.n = strcspn(rest.p, ":/?#");
    for (size_t i = 0; i < sizeof azure_clouds / sizeof *azure_clouds; i++)
        if (strcmp(name, azure_clouds[i].name) == 0 || (strcmp(name, "auto") == 0 && str_ends_anycase(rest, azure_clouds[i].ending)))
            return &azure_clouds[i];
    return &azure_clouds[0];
}

/* Checks that the source of access tokens has all its keys. -1 with err, which names the missing
 * one. */
static int check_token_source(const struct azure_token *t, struct err *err)
{
    bool application = t->source == SOURCE_SECRET || t->source == SOURCE_CERTIFICATE || t->source == SOURCE_WORKLOAD;
    const char *missing = application && !t->tenant                            ? "tenant, or AZURE_TENANT_ID"
                          : application && !t->client                          ? "client, or AZURE_CLIENT_ID"
                          : t->source == SOURCE_SECRET && !t->secret           ? "client-secret, or AZURE_CLIENT_SECRET"
                          : t->source == SOURCE_CERTIFICATE && !t->certificate ? "client-certificate, or AZURE_CLIENT_CERTIFICATE_PATH"
                          : t->source == SOURCE_WORKLOAD && !t->federated      ? "federated-token, or AZURE_FEDERATED_TOKEN_FILE"
                                                                               : NULL;
    if (missing)
        return err_set(err, ERR_INPUT, "no access token: expected the key %s", missing);
    if ((t->tenant && !is_azure_id(t->tenant)) || (t->client && !is_azure_id(t->client)) || (t->identity && !is_azure_id(t->identity)))
        return err_set(err, ERR_INPUT,
                       "no access token: the id of a tenant, application or identity has other characters than letters, "
                       "digits, - and .");
    if (strncmp(t->login, "https://", 8) != 0)
        return err_set(err, ERR_INPUT, "no access token: AZURE_AUTHORITY_HOST: expected an address that begins with https://");
    return 0;
}

int azure_token_open(struct exporter_link *l, const char *endpoint, enum azure_audience audience, struct azure_token **ret, struct err *err)
{
    struct azure_token *t = ARENA_NEW(l->arena, struct azure_token);
    const char *host = env_text(l->env, "AZURE_AUTHORITY_HOST");
    *ret = t;
    if (!t)
        return err_memory(err, "an access token");
    buf_init(&t->text, TOKEN_BYTES);
    t->cloud = choose_cloud(l->config, endpoint);
    t->resource = t->cloud->resources[audience];
    t->login = !host ? t->cloud->login : strstr(host, "://") ? host : arena_printf(l->arena, "https://%s", host);
    t->tenant = azure_setting(l, AZURE_KEY_TENANT, "AZURE_TENANT_ID");
    t->client = azure_setting(l, AZURE_KEY_CLIENT, "AZURE_CLIENT_ID");
    t->certificate = azure_setting(l, AZURE_KEY_CLIENT_CERTIFICATE, "AZURE_CLIENT_CERTIFICATE_PATH");
    t->federated = azure_setting(l, AZURE_KEY_FEDERATED_TOKEN, "AZURE_FEDERATED_TOKEN_FILE");
    t->identity = exporter_text(l->config, AZURE_KEY_IDENTITY);
    if (exporter_secret(l->config, AZURE_KEY_CLIENT_SECRET, l->env, l->until_ns, l->arena, &t->secret, err) < 0)
        return -1;
    if (!t->secret && !exporter_text(l->config, AZURE_KEY_CLIENT_SECRET))
        t->secret = env_text(l->env, "AZURE_CLIENT_SECRET");
    if (l->arena->failed)
        return err_memory(err, "an access token");
    t->source = choose_source(l, t);
    return check_token_source(t, err);
}

void azure_token_close(struct azure_token *t)
{
    if (!t)
        return;
    if (t->text.p)
        explicit_bzero(t->text.p, t->text.size);
    buf_deinit(&t->text);
    t->renew_ns = 0;
}

/* ---- replies ---- */

/* The token of a reply, and when it expires. */
static int keep_token(struct azure_token *t, const struct json *j, const char *member, struct err *err)
{
    const char *text = json_string(json_get(j, member), "");
    const struct json *in = json_get(j, "expires_in"), *on = json_get(j, "expires_on");
    double left_s = json_number(in, NAN), on_s = json_number(on, NAN);
    if (isnan(left_s))
        str_double(str_of(json_string(in, "")), &left_s); /* of the machine's service: a text */
    if (isnan(on_s))
        str_double(str_of(json_string(on, "")), &on_s);
    if (isnan(left_s) && !isnan(on_s))
        left_s = on_s - (double)clock_wall_ms() / 1e3;
    for (const char *p = text; *p; p++)
        if (*p <= ' ' || *p >= 0x7f)
            text = "";
    buf_clear(&t->text);
    buf_puts(&t->text, text);
    if (!*text || t->text.failed)
        return err_set(err, ERR_REMOTE, "the reply has no access token");
    if (left_s <= 0)
        return err_set(err, ERR_REMOTE, "the access token has expired already: is the clock of this machine right?");
    left_s = isnan(left_s) ? UNKNOWN_S : left_s > 2 * EARLY_S ? left_s - EARLY_S : left_s / 2;
    t->renew_ns = clock_mono_ns() + (int64_t)((left_s < 86400 ? left_s : 86400) * 1e9);
    return 0;
}

/* The reason of a refusal, without what was sent. */
static void put_refusal(const struct azure_token *t, const struct json *j, struct buf *to)
{
    struct str text = str_of(json_string(json_get(j, "error_description"), json_string(json_get(j, "error"), "")));
    if (t->secret && str_find(text, str_of(t->secret)) >= 0)
        return;
    buf_plain(to, str_trim(str_cut(&text, '\n')), 300);
}

/* Stores the token of a reply in t. -1 with err, which has the reason of the service but no token;
 * place: the service's name for it. */
static int token_from_reply(struct azure_token *t, const char *place, const struct http_reply *r, struct err *err)
{
    struct json *j = NULL;
    struct buf words CLEANUP_BUF;
    buf_init(&words, 4096);
    int rc = json_parse(&j, buf_text(&r->body), NULL, NULL);
    if (r->status >= 200 && r->status < 300)
        rc = rc ? err_set(err, ERR_REMOTE, "the reply is no JSON") : keep_token(t, j, "access_token", err);
    else {
        put_refusal(t, j, &words);
        rc = err_set(err, ERR_REMOTE, "status %d%s%s", r->status, words.n ? ": " : "", words.p ? words.p : "");
    }
    json_free(j);
    return rc ? err_wrap(err, "%s", place) : 0;
}

/* Sends the request and keeps the token of its reply. *ret_status: 0: no reply. */
static int request_token(struct exporter_link *l, struct azure_token *t, const struct http_config *how, const struct http_request *q,
                         int *ret_status, struct err *err)
{
    struct http *http = NULL;
    struct http_reply r = {.status = 0};
    struct buf place CLEANUP_BUF;
    buf_init(&place, 2000);
    http_print_url(&place, q->url);
    *ret_status = 0;
    if (http_new(&http, how, err))
        return -1;
    int rc = http_do(http, q, &r, err);
    if (rc == 0) {
        *ret_status = r.status;
        l->retry_after_s = r.status < 300 ? -1 : r.retry_after_s;
        rc = token_from_reply(t, place.p, &r, err);
    }
    if (r.body.p)
        explicit_bzero(r.body.p, r.body.size);
    http_reply_deinit(&r);
    http_free(http);
    return rc;
}

static double token_seconds(const struct exporter_link *l, double most)
{
    double left = (double)(l->until_ns - clock_mono_ns()) / 1e9;
    return left < 0.001 ? 0.001 : left < most ? left : most;
}

/* ---- sources ---- */

static void put_form(struct buf *to, const char *name, const char *value)
{
    buf_printf(to, "%s%s=", to->n ? "&" : "", name);
    http_escape(to, str_of(value), false);
}

/* A token of an application: OAuth 2.0, client credentials. */
static int request_as_client(struct exporter_link *l, struct azure_token *t, struct err *err)
{
    struct buf form CLEANUP_BUF, proof CLEANUP_BUF;
    const char *url = arena_printf(l->arena, "%.*s/%s/oauth2/v2.0/token", (int)(strlen(t->login) - str_ends(str_of(t->login), "/")),
                                   t->login, t->tenant),
               *scope = arena_printf(l->arena, "%s/.default", t->resource);
    int status;
    buf_init(&form, FORM_BYTES);
    buf_init(&proof, FORM_BYTES);
    if (!url || !scope)
        return err_memory(err, "an access token");
    if (t->source == SOURCE_WORKLOAD && secret_read(t->federated, true, FORM_BYTES / 4, &proof, err))
        return -1;
    if (t->source == SOURCE_CERTIFICATE && azure_assertion_sign(l, t->certificate, t->client, url, &proof, err))
        return -1;
    put_form(&form, "client_id", t->client);
    put_form(&form, "grant_type", "client_credentials");
    put_form(&form, "scope", scope);
    if (t->source == SOURCE_SECRET)
        put_form(&form, "client_secret", t->secret);
    else {
        put_form(&form, "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        buf_puts(&form, "&client_assertion=");
        http_escape(&form, str_trim(buf_text(&proof)), false);
    }
    if (form.failed || proof.failed)
        return err_memory(err, "an access token");
    const struct http_config how = {.agent = "benchwrap/" BW_VERSION,
                                    .ca_file = exporter_text(l->config, EXPORTER_KEY_CA_FILE),
                                    .no_redirects = true,
                                    .total_s = token_seconds(l, LOGIN_S),
                                    .cancel_fd = l->cancel_fd};
    const struct http_request q = {
        .method = "POST", .url = url, .type = "application/x-www-form-urlencoded", .body = buf_text(&form), .reply_max = TOKEN_REPLY_BYTES};
    int rc = request_token(l, t, &how, &q, &status, err);
    explicit_bzero(form.p, form.size);
    if (proof.p)
        explicit_bzero(proof.p, proof.size);
    return rc;
}

/* The address of the machine's own service, and a header that it expects. */
static const char *metadata_url(const struct exporter_link *l, const struct azure_token *t, const char **ret_header, struct err *err)
{
    const char *service = env_text(l->env, "IDENTITY_ENDPOINT"), *header = env_text(l->env, "IDENTITY_HEADER"),
               *base = env_text(l->env, "AZURE_POD_IDENTITY_AUTHORITY_HOST");
    struct buf query CLEANUP_BUF;
    buf_init(&query, 4096);
    put_form(&query, "api-version", service && header ? "2019-08-01" : "2018-02-01");
    put_form(&query, "resource", t->resource);
    if (t->identity)
        put_form(&query, "client_id", t->identity);
    *ret_header = service && header ? arena_printf(l->arena, "X-IDENTITY-HEADER: %s", header) : "Metadata: true";
    if (service && header)
        base = arena_printf(l->arena, "%s?%s", service, query.p);
    else if (service && env_text(l->env, "IMDS_ENDPOINT"))
        return err_set(err, ERR_INPUT, "no access token: for a machine of Azure Arc configure token: {command: …}"), NULL;
    else {
        base = base ? base : "http://169.254.169.254";
        base = arena_printf(l->arena, "%.*s/metadata/identity/oauth2/token?%s", (int)(strlen(base) - str_ends(str_of(base), "/")), base,
                            query.p);
    }
    if (!base || !*ret_header || strpbrk(*ret_header, "\r\n"))
        return err_set(err, ERR_INPUT, "no access token: IDENTITY_HEADER has a line end"), NULL;
    return base;
}

static bool token_pause(const struct exporter_link *l, int ms)
{
    struct pollfd p = {.fd = l->cancel_fd, .events = POLLIN};
    return clock_mono_ns() + ms * INT64_C(1000000) < l->until_ns && poll(&p, 1, ms) == 0;
}

/* Requests a token from the service that the cloud offers on this machine, and repeats the request
 * while the service is being updated. -1 with err; *ret_none: no such service answers. */
static int request_managed(struct exporter_link *l, struct azure_token *t, bool *ret_none, struct err *err)
{
    const char *header, *url = metadata_url(l, t, &header, err);
    *ret_none = false;
    if (!url)
        return -1;
    const struct http_config how = {.agent = "benchwrap/" BW_VERSION,
                                    .proxy = "",
                                    .no_redirects = true,
                                    .connect_s = token_seconds(l, METADATA_S) / 2,
                                    .total_s = token_seconds(l, METADATA_S),
                                    .cancel_fd = l->cancel_fd};
    const struct http_request q = {
        .method = "GET", .url = url, .headers = (const char *const[]){header, NULL}, .reply_max = TOKEN_REPLY_BYTES};
    for (int i = 1;; i++) {
        int status, rc = request_token(l, t, &how, &q, &status, err);
        bool again = status == 404 || status == 410 || status == 429 || status >= 500; /* the service is being updated */
        *ret_none = rc && status == 0;
        if (rc == 0 || !again || i == METADATA_TRIES || !token_pause(l, 500 << i))
            return rc ? err_wrap(err, "no access token from the managed identity") : 0;
    }
}

/* Requests a token from the command `az`, which the user has logged in, and stores it in t. -1 with
 * err, which never has the token. */
static int request_from_az(struct exporter_link *l, struct azure_token *t, struct err *err)
{
    char *scope = arena_printf(l->arena, "%s/.default", t->resource);
    char az[] = "az", account[] = "account", verb[] = "get-access-token", of[] = "--scope", as[] = "-o", json[] = "json";
    char *argv[] = {az, account, verb, of, scope, as, json, NULL};
    struct query q = QUERY_NONE;
    struct json *j = NULL;
    int64_t ms = (int64_t)(token_seconds(l, AZ_MS / 1e3) * 1e3) + 1;
    if (!scope)
        return err_memory(err, "an access token");
    if (query_start(&q, argv, l->env, TOKEN_REPLY_BYTES, ms, QUERY_NO_NICE, err))
        return err_wrap(err, "no access token");
    enum query_end end = query_wait(&q, ms);
    struct buf why CLEANUP_BUF;
    buf_init(&why, 4096);
    struct str first = str_trim(buf_text(&q.why));
    buf_plain(&why, str_trim(str_cut(&first, '\n')), 200);
    int rc = end == QUERY_LATE || end == QUERY_RUNS ? err_set(err, ERR_SYSTEM, "az did not end in time")
             : end != QUERY_DONE                    ? err_set(err, ERR_SYSTEM, "az printed more than %d bytes", TOKEN_REPLY_BYTES)
             : WIFEXITED(q.status) && WEXITSTATUS(q.status) == 127 ? err_set(err, ERR_SYSTEM, "cannot run az: exit status 127")
             : q.status ? err_set(err, ERR_SYSTEM, "az failed%s%s", why.n ? ": " : "", why.p ? why.p : "")
             : json_parse(&j, buf_text(&q.text), NULL, NULL) ? err_set(err, ERR_SYSTEM, "az printed no JSON")
                                                             : keep_token(t, j, "accessToken", err);
    json_free(j);
    if (q.text.p)
        explicit_bzero(q.text.p, q.text.size);
    query_close(&q);
    return rc ? err_wrap(err, "no access token") : 0;
}

static int read_configured(struct exporter_link *l, struct azure_token *t, struct err *err)
{
    const char *text;
    if (exporter_secret(l->config, EXPORTER_KEY_TOKEN, l->env, l->until_ns, l->arena, &text, err))
        return -1;
    buf_clear(&t->text);
    buf_puts(&t->text, text);
    t->renew_ns = clock_mono_ns() + UNKNOWN_S * INT64_C(1000000000);
    return t->text.failed ? err_memory(err, "an access token") : 0;
}

/* Requests an access token from t->source. SOURCE_AUTO requests a managed identity's, and where
 * there is none one from `az`, which then becomes the source. 0; -1 with err. */
static int request_by_source(struct exporter_link *l, struct azure_token *t, struct err *err)
{
    struct err why = {0};
    bool none;
    switch (t->source) {
    case SOURCE_TOKEN: return read_configured(l, t, err);
    case SOURCE_SECRET:
    case SOURCE_CERTIFICATE:
    case SOURCE_WORKLOAD: return request_as_client(l, t, err) ? err_wrap(err, "no access token from %s", azure_token_source(t)) : 0;
    case SOURCE_AZ: return request_from_az(l, t, err);
    default: break;
    }
    if (request_managed(l, t, &none, &why) == 0)
        return 0;
    if (t->source == SOURCE_AUTO && none && request_from_az(l, t, NULL) == 0) {
        t->source = SOURCE_AZ;
        return 0;
    }
    if (err)
        *err = why;
    if (t->source == SOURCE_AUTO)
        err_hint(err, "configure the key credential; docs/howto-exporter.md lists the sources of tokens");
    return -1;
}

enum exporter_answer azure_token_get(struct exporter_link *l, struct azure_token *t, bool renew, const char **ret, struct err *err)
{
    if (renew || !t->renew_ns || clock_mono_ns() >= t->renew_ns) {
        t->renew_ns = 0;
        if (request_by_source(l, t, err))
            return EXPORTER_LATER;
    }
    *ret = t->text.p;
    return EXPORTER_SENT;
}
