/* aws_credentials.c: keys of Amazon Web Services; see aws_credentials.h. */
#include "exporters/aws_credentials.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/http.h"
#include "base/json.h"
#include "base/secret.h"

#include <string.h>

enum { REPLY_BYTES = 256 << 10, FILE_BYTES = 64 << 10, SERVICE_S = 5, STS_S = 20 };

int aws_credentials_configure(const struct exporter_config *c, struct err *err)
{
    bool key = exporter_text(c, AWS_KEY_ACCESS_KEY), secret = exporter_text(c, AWS_KEY_SECRET_KEY);
    if (exporter_secret_check(c, AWS_KEY_SECRET_KEY, err) || exporter_secret_check(c, AWS_KEY_SESSION_TOKEN, err))
        return -1;
    if (key != secret || (exporter_text(c, AWS_KEY_SESSION_TOKEN) && !key))
        return err_set(err, ERR_INPUT, "expected access-key and secret-key, or none of them");
    return key && exporter_text(c, AWS_KEY_PROFILE) ? err_set(err, ERR_INPUT, "access-key and profile exclude each other") : 0;
}

static void erase_aws_text(const char *text)
{
    if (text)
        explicit_bzero((void *)(uintptr_t)text, strlen(text));
}

/* The caller's environment stays: only copies are erased. */
void aws_credentials_erase(struct aws_credentials *c)
{
    erase_aws_text(c->secret);
    erase_aws_text(c->token);
    *c = (struct aws_credentials){.key = NULL};
}

/* A header holds them: no blanks and control characters. */
static int check_aws_keys(const struct aws_credentials *c, struct err *err)
{
    const char *const texts[] = {c->key, c->secret, c->token};
    for (size_t i = 0; i < 3; i++)
        for (const char *p = texts[i]; p && *p; p++)
            if (*p <= ' ' || *p >= 0x7f)
                return err_set(err, ERR_INPUT, "the keys of %s have a blank or another character that keys lack", c->source);
    return 0;
}

static const char *copy_aws_text(struct exporter_link *l, const char *text)
{
    return text && *text ? arena_dup(l->arena, text, strlen(text)) : NULL;
}

int aws_credentials_parse(struct exporter_link *l, struct str json, struct aws_credentials *ret, struct err *err)
{
    struct json *j = NULL;
    if (json_parse(&j, json, NULL, NULL))
        return err_set(err, ERR_REMOTE, "the reply is no JSON");
    const char *token = json_string(json_get(j, "Token"), json_string(json_get(j, "SessionToken"), NULL));
    ret->key = copy_aws_text(l, json_string(json_get(j, "AccessKeyId"), NULL));
    ret->secret = copy_aws_text(l, json_string(json_get(j, "SecretAccessKey"), NULL));
    ret->token = copy_aws_text(l, token);
    json_free(j);
    return ret->key && ret->secret ? 0 : err_set(err, ERR_REMOTE, "the reply has no keys");
}

/* ---- requests ---- */

struct aws_call {
    const char *method, *url, *header; /* header may be NULL */
    struct str form; /* p NULL: no body */
    bool is_near; /* a service of this machine: no proxy, and it answers at once */
};

/* Appends the reply's body. *ret_status: 0: no reply. */
static int aws_request(struct exporter_link *l, const struct aws_call *c, struct buf *to, int *ret_status, struct err *err)
{
    struct http *http = NULL;
    struct http_reply r = {.status = 0};
    double left = (double)(l->until_ns - clock_mono_ns()) / 1e9, most = c->is_near ? SERVICE_S : STS_S;
    left = left < 0.001 ? 0.001 : left < most ? left : most;
    const struct http_config how = {.agent = "benchwrap/" BW_VERSION,
                                    .ca_file = c->is_near ? NULL : exporter_text(l->config, EXPORTER_KEY_CA_FILE),
                                    .proxy = c->is_near ? "" : NULL,
                                    .no_redirects = true,
                                    .connect_s = c->is_near ? left / 2 : left,
                                    .total_s = left,
                                    .cancel_fd = l->cancel_fd};
    const char *const headers[] = {c->header, NULL};
    const struct http_request q = {.method = c->method,
                                   .url = c->url,
                                   .type = "application/x-www-form-urlencoded",
                                   .body = c->form,
                                   .headers = headers,
                                   .reply_max = REPLY_BYTES};
    *ret_status = 0;
    if (http_new(&http, &how, err))
        return -1;
    int rc = http_do(http, &q, &r, err);
    if (rc == 0) {
        *ret_status = r.status;
        buf_str(to, buf_text(&r.body));
        if (r.status >= 300) {
            l->retry_after_s = r.retry_after_s;
            rc = err_set(err, ERR_REMOTE, "%.200s: status %d", c->url, r.status);
        }
    }
    if (r.body.p)
        explicit_bzero(r.body.p, r.body.size);
    http_reply_deinit(&r);
    http_free(http);
    return rc;
}

/* ---- sources ---- */

/* The text of the first element of this name. The reply has no attributes and no entities in keys. */
static const char *xml_element(struct exporter_link *l, struct str xml, const char *name)
{
    const char *begin = arena_printf(l->arena, "<%s>", name), *end = arena_printf(l->arena, "</%s>", name);
    ptrdiff_t from = begin ? str_find(xml, str_of(begin)) : -1;
    struct str rest = from < 0 ? STR("") : str_sub(xml, (size_t)from + strlen(begin), xml.n);
    ptrdiff_t until = end ? str_find(rest, str_of(end)) : -1;
    return until > 0 ? arena_dup(l->arena, rest.p, (size_t)until) : NULL;
}

static void put_aws_form(struct buf *to, const char *name, const char *value)
{
    buf_printf(to, "%s%s=", to->n ? "&" : "", name);
    http_escape(to, str_of(value), false);
}

/* The token of a file in exchange for keys of a role, as in Kubernetes. */
static int get_web_identity(struct exporter_link *l, const char *region, struct aws_credentials *ret, struct err *err)
{
    const char *path = env_text(l->env, "AWS_WEB_IDENTITY_TOKEN_FILE"), *session = env_text(l->env, "AWS_ROLE_SESSION_NAME"),
               *endpoint = env_text(l->env, "AWS_ENDPOINT_URL_STS");
    struct buf token CLEANUP_BUF, form CLEANUP_BUF, reply CLEANUP_BUF;
    int status;
    buf_init(&token, FILE_BYTES);
    buf_init(&form, 4 * FILE_BYTES);
    buf_init(&reply, REPLY_BYTES);
    if (secret_read(path, true, FILE_BYTES, &token, err))
        return -1;
    put_aws_form(&form, "Action", "AssumeRoleWithWebIdentity");
    put_aws_form(&form, "Version", "2011-06-15");
    put_aws_form(&form, "RoleArn", env_text(l->env, "AWS_ROLE_ARN"));
    put_aws_form(&form, "RoleSessionName", session ? session : "benchwrap");
    buf_puts(&form, "&WebIdentityToken=");
    http_escape(&form, str_trim(buf_text(&token)), false);
    const char *url = endpoint
                          ? endpoint
                          : arena_printf(l->arena, "https://sts.%s.amazonaws.com%s/", region, strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
    const struct aws_call call = {.method = "POST", .url = url, .form = buf_text(&form)};
    int rc = !url || form.failed ? err_memory(err, "a request") : aws_request(l, &call, &reply, &status, err);
    if (rc == 0) {
        ret->key = xml_element(l, buf_text(&reply), "AccessKeyId");
        ret->secret = xml_element(l, buf_text(&reply), "SecretAccessKey");
        ret->token = xml_element(l, buf_text(&reply), "SessionToken");
        rc = ret->key && ret->secret ? 0 : err_set(err, ERR_REMOTE, "the reply has no keys");
    }
    explicit_bzero(token.p, token.size);
    explicit_bzero(form.p, form.size);
    if (reply.p)
        explicit_bzero(reply.p, reply.size);
    ret->source = "a web identity";
    return rc;
}

/* Returns whether a token may be sent to the address: it is this machine, the container's agent, or
 * encrypted. */
static bool is_container_url(const char *url)
{
    static const char *const begins[] = {"https://",         "http://169.254.170.2/", "http://169.254.170.23/", "http://[fd00:ec2::23]/",
                                         "http://127.0.0.1", "http://localhost"};
    const char *host = strstr(url, "://");
    if (!host || memchr(host + 3, '@', strcspn(host + 3, "/?#"))) /* what seems the host would be a user's name */
        return false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t n = strlen(begins[i]);
        if (strncmp(url, begins[i], n) == 0 && (begins[i][n - 1] == '/' || url[n] == ':' || url[n] == '/'))
            return true;
    }
    return false;
}

/* Requests the keys of the container's role from the address in the environment. 0 with *ret in the
 * link's arena; -1 with err. The reply, which has the secret, is erased. */
static int get_container_keys(struct exporter_link *l, struct aws_credentials *ret, struct err *err)
{
    const char *relative = env_text(l->env, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
               *url = relative ? arena_printf(l->arena, "http://169.254.170.2%s", relative)
                               : env_text(l->env, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
               *path = env_text(l->env, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
               *token = env_text(l->env, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
    struct buf file CLEANUP_BUF, reply CLEANUP_BUF;
    int status;
    buf_init(&file, FILE_BYTES);
    buf_init(&reply, REPLY_BYTES);
    if (!url || !is_container_url(url))
        return err_set(err, ERR_INPUT, "%s: expected https, or an address of this machine",
                       relative ? "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" : "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (path && secret_read(path, true, FILE_BYTES, &file, err))
        return -1;
    struct str text = path ? str_trim(buf_text(&file)) : str_of(token);
    const char *header = text.n ? arena_printf(l->arena, "Authorization: " STR_FMT, STR_ARG(text)) : NULL;
    if (header && strpbrk(header, "\r\n"))
        return err_set(err, ERR_INPUT, "the token for the container's service has a line end");
    const struct aws_call call = {.method = "GET", .url = url, .header = header, .is_near = true};
    int rc = aws_request(l, &call, &reply, &status, err) ? -1 : aws_credentials_parse(l, buf_text(&reply), ret, err);
    if (reply.p)
        explicit_bzero(reply.p, reply.size);
    ret->source = "the container's role";
    return rc;
}

/* IMDSv2: a session's token, the role's name, then its keys. *ret_none: no service answers. */
static int get_machine_keys(struct exporter_link *l, struct aws_credentials *ret, bool *ret_none, struct err *err)
{
    const char *base = env_text(l->env, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    struct buf token CLEANUP_BUF, role CLEANUP_BUF, reply CLEANUP_BUF;
    int status;
    buf_init(&token, 4096);
    buf_init(&role, 4096);
    buf_init(&reply, REPLY_BYTES);
    base = base ? arena_printf(l->arena, "%.*s", (int)(strlen(base) - str_ends(str_of(base), "/")), base) : "http://169.254.169.254";
    const char *path = base ? arena_printf(l->arena, "%s/latest/meta-data/iam/security-credentials/", base) : NULL;
    struct aws_call call = {.method = "PUT",
                            .url = arena_printf(l->arena, "%s/latest/api/token", base ? base : ""),
                            .header = "X-aws-ec2-metadata-token-ttl-seconds: 300",
                            .is_near = true};
    int rc = !path || !call.url ? err_memory(err, "a request") : aws_request(l, &call, &token, &status, err);
    *ret_none = rc && status == 0;
    if (rc)
        return -1;
    struct str session = str_trim(buf_text(&token));
    for (size_t i = 0; i < session.n; i++)
        if (session.p[i] <= ' ' || session.p[i] >= 0x7f)
            return err_set(err, ERR_REMOTE, "the machine's service returned no token");
    call.method = "GET";
    call.header = arena_printf(l->arena, "X-aws-ec2-metadata-token: " STR_FMT, STR_ARG(session));
    call.url = path;
    rc = aws_request(l, &call, &role, &status, err);
    if (status == 404)
        return err_set(err, ERR_INPUT, "the machine has no role");
    struct str roles = buf_text(&role), name = str_trim(str_cut(&roles, '\n'));
    struct buf url CLEANUP_BUF;
    buf_init(&url, 8192);
    buf_puts(&url, path);
    http_escape(&url, name, false);
    call.url = url.p;
    rc = rc || aws_request(l, &call, &reply, &status, err) ? -1 : aws_credentials_parse(l, buf_text(&reply), ret, err);
    if (reply.p)
        explicit_bzero(reply.p, reply.size);
    ret->source = "the machine's role";
    return rc;
}

static int get_configured_keys(struct exporter_link *l, struct aws_credentials *ret, struct err *err)
{
    ret->key = exporter_text(l->config, AWS_KEY_ACCESS_KEY);
    ret->source = "the configuration";
    return exporter_secret(l->config, AWS_KEY_SECRET_KEY, l->env, l->until_ns, l->arena, &ret->secret, err) ||
                   exporter_secret(l->config, AWS_KEY_SESSION_TOKEN, l->env, l->until_ns, l->arena, &ret->token, err) < 0
               ? -1
               : 0;
}

/* Finds keys in the order of AWS's own tools: configuration, environment, web identity, ~/.aws,
 * container, machine. Texts are in the link's arena. -1 with err: no source has some. */
static int get_aws_keys(struct exporter_link *l, const char *region, struct aws_credentials *ret, struct err *err)
{
    const char *key = env_text(l->env, "AWS_ACCESS_KEY_ID"), *secret = env_text(l->env, "AWS_SECRET_ACCESS_KEY"),
               *disabled = env_text(l->env, "AWS_EC2_METADATA_DISABLED");
    bool named = exporter_text(l->config, AWS_KEY_PROFILE), none;
    int rc;
    if (exporter_text(l->config, AWS_KEY_ACCESS_KEY))
        return get_configured_keys(l, ret, err);
    if (key && secret && !named) {
        *ret = (struct aws_credentials){key, copy_aws_text(l, secret), copy_aws_text(l, env_text(l->env, "AWS_SESSION_TOKEN")),
                                        "the environment"};
        return 0;
    }
    if (!named && env_text(l->env, "AWS_WEB_IDENTITY_TOKEN_FILE") && env_text(l->env, "AWS_ROLE_ARN"))
        return get_web_identity(l, region, ret, err);
    if ((rc = aws_files_read(l, ret, err)) <= 0)
        return rc;
    if (env_text(l->env, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") || env_text(l->env, "AWS_CONTAINER_CREDENTIALS_FULL_URI"))
        return get_container_keys(l, ret, err);
    if (disabled && str_is_anycase(str_of(disabled), "true"))
        return err_set(err, ERR_INPUT, "the environment and ~/.aws have no keys");
    rc = get_machine_keys(l, ret, &none, err);
    return rc && none ? err_set(err, ERR_INPUT, "the environment and ~/.aws have no keys, and the machine has no service that returns some")
                      : rc;
}

enum exporter_answer aws_credentials_get(struct exporter_link *l, const char *region, struct aws_credentials *ret, struct err *err)
{
    *ret = (struct aws_credentials){.key = NULL};
    if (get_aws_keys(l, region, ret, err) == 0 && check_aws_keys(ret, err) == 0 && !l->arena->failed)
        return EXPORTER_SENT;
    err_wrap(err, "no keys for AWS");
    return EXPORTER_LATER;
}
