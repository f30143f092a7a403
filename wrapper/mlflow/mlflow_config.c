/* mlflow_config.c: MLflow's own environment variables and credentials file as the configuration of a client. */
#include "base/env.h"
#include "base/fs.h"
#include "mlflow/mlflow.h"

#include <fcntl.h>
#include <stdio.h>

/* Returns whether the variable has one of Python's words for true, as MLflow reads them;
 * `otherwise`: it is not set. */
static bool config_env_bool(char *const *env, const char *name, bool otherwise)
{
    const char *text = env_text(env, name);
    if (!text)
        return otherwise;
    return strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

static double config_env_number(char *const *env, const char *name, double otherwise)
{
    const char *text = env_text(env, name);
    double v;
    return text && str_double(str_trim(str_of(text)), &v) && v >= 0 && v < 1e6 ? v : otherwise;
}

static uint64_t config_env_bytes(char *const *env, const char *name, uint64_t otherwise)
{
    const char *text = env_text(env, name);
    uint64_t n;
    return text && str_uint(str_trim(str_of(text)), &n) && n > 0 ? n : otherwise;
}

bool mlflow_is_server(const char *uri)
{
    return uri && (strncasecmp(uri, "http://", 7) == 0 || strncasecmp(uri, "https://", 8) == 0);
}

static const char *config_unescape(struct str s, struct arena *a)
{
    char *to = arena_get(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; to && i < s.n; i++) {
        bool code = s.p[i] == '%' && i + 2 < s.n && str_hex_digit(s.p[i + 1]) >= 0 && str_hex_digit(s.p[i + 2]) >= 0;
        to[n++] = code ? (char)(str_hex_digit(s.p[i + 1]) * 16 + str_hex_digit(s.p[i + 2])) : s.p[i];
        i += code ? 2 : 0;
    }
    return to;
}

/* Splits http://user:word@host/path/ into http://host/path and the credentials: an address is
 * printed, they never are. */
static const char *take_address(struct mlflow_config *c, const char *uri, struct arena *a)
{
    struct str s = str_trim(str_of(uri));
    size_t scheme = (size_t)str_find(s, STR("://")) + 3;
    struct str rest = str_sub(s, scheme, s.n);
    size_t authority = 0, at = 0;
    while (authority < rest.n && !strchr("/?#", rest.p[authority]))
        authority++;
    for (size_t i = 0; i < authority; i++)
        at = rest.p[i] == '@' ? i + 1 : at;
    if (at) {
        struct str word = str_sub(rest, 0, at - 1), user = str_cut(&word, ':');
        c->http.user = config_unescape(user, a);
        c->http.password = config_unescape(word.p ? word : STR(""), a);
    }
    rest = str_sub(rest, at, rest.n);
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    return arena_printf(a, STR_FMT STR_FMT, (int)scheme, s.p, STR_ARG(rest));
}

/* Returns the value as Python's configparser has it: a per cent sign is doubled there. In the
 * arena. */
static const char *ini_value(struct str s, struct arena *a)
{
    char *to = arena_get(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; to && i < s.n; i++) {
        to[n++] = s.p[i];
        i += s.p[i] == '%' && i + 1 < s.n && s.p[i + 1] == '%';
    }
    return to;
}

/* Reads ~/.mlflow/credentials: an INI file with the section [mlflow]. */
static void take_credentials_file(struct mlflow_config *c, char *const *env, struct arena *a)
{
    const char *home = env_text(env, "HOME");
    struct buf text CLEANUP_BUF;
    bool ours = false;
    size_t sep;
    buf_init(&text, 64 * 1024);
    if (!home || fs_read(AT_FDCWD, arena_printf(a, "%s/.mlflow/credentials", home), 64 * 1024 - 1, 0, &text, NULL))
        return;
    struct str rest = buf_text(&text);
    while (rest.p) {
        struct str line = str_trim(str_cut(&rest, '\n')), value, key;
        if (line.n && line.p[0] == '[')
            ours = str_is(line, "[mlflow]");
        if (!ours || !line.n || strchr("[#;", line.p[0]))
            continue;
        for (sep = 0; sep < line.n && line.p[sep] != '=' && line.p[sep] != ':'; sep++)
            ;
        key = str_trim(str_sub(line, 0, sep));
        value = str_trim(str_sub(line, sep + 1, line.n));
        if (str_is_anycase(key, "mlflow_tracking_username") && !c->http.user)
            c->http.user = ini_value(value, a);
        if (str_is_anycase(key, "mlflow_tracking_password") && !c->http.password)
            c->http.password = ini_value(value, a);
    }
}

/* Reads user and password from the environment, else from MLflow's file of credentials, and the
 * token. A user without a password, or the reverse, counts as none. */
static void take_credentials(struct mlflow_config *c, char *const *env, struct arena *a)
{
    if (env_text(env, "MLFLOW_TRACKING_USERNAME"))
        c->http.user = env_text(env, "MLFLOW_TRACKING_USERNAME");
    if (env_text(env, "MLFLOW_TRACKING_PASSWORD"))
        c->http.password = env_text(env, "MLFLOW_TRACKING_PASSWORD");
    if (!c->http.user || !c->http.password)
        take_credentials_file(c, env, a);
    c->http.bearer = env_text(env, "MLFLOW_TRACKING_TOKEN");
    if (!c->http.user || !c->http.password) /* half a pair is none: then the token counts, as with MLflow's client */
        c->http.user = c->http.password = NULL;
}

/* Reads what makes up the TLS part. Python's HTTP library, and with it MLflow's client, trusts what
 * these variables name, too. */
static void take_trust(struct mlflow_config *c, char *const *env)
{
    static const char *const names[] = {"MLFLOW_TRACKING_SERVER_CERT_PATH", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    c->http.insecure = config_env_bool(env, "MLFLOW_TRACKING_INSECURE_TLS", false);
    for (size_t i = 0; i < sizeof names / sizeof *names && !c->http.ca_file && !c->http.insecure; i++)
        c->http.ca_file = env_text(env, names[i]);
    c->http.client_cert = env_text(env, "MLFLOW_TRACKING_CLIENT_CERT_PATH");
    /* libcurl reads http_proxy, https_proxy, all_proxy and no_proxy itself; of this one only Python's client knows. */
    if (strncasecmp(c->uri, "http:", 5) == 0 && !env_text(env, "http_proxy") && !env_text(env, "all_proxy") && !env_text(env, "ALL_PROXY"))
        c->http.proxy = env_text(env, "HTTP_PROXY");
}

/* Reads time limits in seconds, retries, and sizes of parts from the variables that MLflow's client
 * uses, with its defaults. */
static void take_patience(struct mlflow_config *c, char *const *env)
{
    c->http.total_s = config_env_number(env, "MLFLOW_HTTP_REQUEST_TIMEOUT", 120);
    c->http.stall_s = c->http.total_s; /* a server that works so long sends nothing before its reply */
    c->http.no_redirects = !config_env_bool(env, "MLFLOW_ALLOW_HTTP_REDIRECTS", true);
    c->retries = (int)config_env_number(env, "MLFLOW_HTTP_REQUEST_MAX_RETRIES", 7);
    c->backoff_s = config_env_number(env, "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", 2);
    c->jitter_s = config_env_number(env, "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER", 1);
    c->heed_retry_after = config_env_bool(env, "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER", true);
    if (config_env_bool(env, "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD", false)) {
        c->multipart_bytes = config_env_bytes(env, "MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE", (uint64_t)500 << 20);
        c->part_bytes = config_env_bytes(env, "MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE", (uint64_t)10 << 20);
    }
}

/* Returns whether an address, which is printed, has only characters that can be. */
static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return str_valid_utf8(s);
}

/* Sets err for a text that is no address. It may be the address of a database, with a password in
 * it, which is not printed. Returns -1. */
static int not_an_address(const char *uri, struct err *err)
{
    const char *at = strrchr(uri, '@'), *scheme = strstr(uri, "://");
    struct buf shown CLEANUP_BUF;
    buf_init(&shown, 2000);
    size_t end = strcspn(uri, "?"); /* a database may have its password behind it */
    bool cut = at || uri[end];
    if (at)
        end = scheme && scheme < at ? (size_t)(scheme - uri) + 3 : 0;
    buf_plain(&shown, str_sub(str_of(uri), 0, end), 100);
    buf_puts(&shown, cut ? "..." : "");
    return err_set(err, ERR_INPUT, "\"%s\" is not the address of a tracking server (http:// or https://)", shown.p);
}

const char *mlflow_config_warning(char *const *env, struct arena *a)
{
    const char *plugin = env_text(env, "MLFLOW_TRACKING_AUTH");
    if (plugin)
        return arena_printf(
            a, "MLFLOW_TRACKING_AUTH=%.40s names a Python plug-in, which cannot be used here: the request is sent without it", plugin);
    if (config_env_bool(env, "MLFLOW_TRACKING_AWS_SIGV4", false))
        return "MLFLOW_TRACKING_AWS_SIGV4 is not supported: the request is sent unsigned";
    return NULL;
}

int mlflow_config_from(struct mlflow_config *ret, const char *uri, char *const *env, struct arena *a, struct err *err)
{
    struct mlflow_config c = {.http = {.agent = "benchwrap/" BW_VERSION, .cancel_fd = -1}};
    uri = uri && *uri ? uri : env_text(env, "MLFLOW_TRACKING_URI");
    if (!uri)
        return err_set(err, ERR_INPUT, "no server is named: use --to http://HOST:5000, or set MLFLOW_TRACKING_URI");
    if (!mlflow_is_server(uri) || !is_printable(str_trim(str_of(uri))))
        return not_an_address(uri, err);
    c.uri = take_address(&c, uri, a);
    take_credentials(&c, env, a);
    if (!c.uri)
        return err_memory(err, "the server's configuration");
    take_trust(&c, env);
    take_patience(&c, env);
    if (c.http.insecure && env_text(env, "MLFLOW_TRACKING_SERVER_CERT_PATH"))
        return err_set(err, ERR_INPUT, "MLFLOW_TRACKING_INSECURE_TLS and MLFLOW_TRACKING_SERVER_CERT_PATH exclude each other: unset one");
    const char *workspace = env_text(env, "MLFLOW_WORKSPACE"), **headers = arena_get(a, 2 * sizeof *headers);
    if (workspace && headers && !strpbrk(workspace, "\r\n"))
        headers[0] = arena_printf(a, "X-MLFLOW-WORKSPACE: %s", workspace);
    c.http.headers = headers;
    c.warning = mlflow_config_warning(env, a);
    if (a->failed || !c.uri)
        return err_memory(err, "the server's configuration");
    *ret = c;
    return 0;
}
