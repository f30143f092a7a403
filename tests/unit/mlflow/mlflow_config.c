/* mlflow_config.c: what MLflow's environment variables and credentials file make of a client. */
#include "../place.h"
#include "mlflow/mlflow.h"

struct row {
    const char *env[8]; /* NULL-terminated */
    const char *file;   /* ~/.mlflow/credentials; NULL: none */
    const char *field, *value;
};

static const char *shown(const struct mlflow_config *c, const char *field)
{
    static char text[100];
    double number = 0;
    if (strcmp(field, "uri") == 0)
        return c->uri;
    if (strcmp(field, "user") == 0)
        return c->http.user ? c->http.user : "none";
    if (strcmp(field, "password") == 0)
        return c->http.password ? c->http.password : "none";
    if (strcmp(field, "token") == 0)
        return c->http.bearer ? c->http.bearer : "none";
    if (strcmp(field, "ca") == 0)
        return c->http.ca_file ? c->http.ca_file : "none";
    if (strcmp(field, "cert") == 0)
        return c->http.client_cert ? c->http.client_cert : "none";
    if (strcmp(field, "proxy") == 0)
        return c->http.proxy ? c->http.proxy : "none";
    if (strcmp(field, "header") == 0)
        return c->http.headers && c->http.headers[0] ? c->http.headers[0] : "none";
    if (strcmp(field, "warning") == 0)
        return c->warning ? c->warning : "none";
    number = strcmp(field, "insecure") == 0         ? c->http.insecure
             : strcmp(field, "no_redirects") == 0   ? c->http.no_redirects
             : strcmp(field, "timeout") == 0        ? c->http.total_s
             : strcmp(field, "stall") == 0          ? c->http.stall_s
             : strcmp(field, "retries") == 0        ? c->retries
             : strcmp(field, "backoff") == 0        ? c->backoff_s
             : strcmp(field, "jitter") == 0         ? c->jitter_s
             : strcmp(field, "retry_after") == 0    ? c->heed_retry_after
             : strcmp(field, "multipart") == 0      ? (double)c->multipart_bytes
             : strcmp(field, "part") == 0           ? (double)c->part_bytes
                                                    : -1;
    snprintf(text, sizeof text, "%g", number);
    return text;
}

#define URI "MLFLOW_TRACKING_URI=http://h:5000"
static const struct row rows[] = {
    {{"MLFLOW_TRACKING_URI=http://h:5000"}, NULL, "uri", "http://h:5000"},
    {{"MLFLOW_TRACKING_URI=https://H/lab/mlflow// "}, NULL, "uri", "https://H/lab/mlflow"},
    {{"MLFLOW_TRACKING_URI=http://jo:p%40ss%3a@h/x@y"}, NULL, "uri", "http://h/x@y"},
    {{"MLFLOW_TRACKING_URI=http://jo:p%40ss%3a@h/"}, NULL, "password", "p@ss:"},
    {{"MLFLOW_TRACKING_URI=http://jo:a@b@h"}, NULL, "password", "a@b"},
    {{"MLFLOW_TRACKING_URI=http://[::1]:5000/"}, NULL, "uri", "http://[::1]:5000"},
    {{"MLFLOW_TRACKING_URI=http://jo:x@h", "MLFLOW_TRACKING_USERNAME=al", "MLFLOW_TRACKING_PASSWORD=y"}, NULL, "user", "al"},
    {{URI}, NULL, "user", "none"},
    {{URI, "MLFLOW_TRACKING_USERNAME=al"}, NULL, "user", "none"},
    {{URI, "MLFLOW_TRACKING_USERNAME=al", "MLFLOW_TRACKING_PASSWORD="}, NULL, "user", "none"},
    {{URI}, "[mlflow]\nmlflow_tracking_username = jo\nmlflow_tracking_password = p w\n", "password", "p w"},
    {{URI}, "[mlflow]\r\nmlflow_tracking_username=jo\r\nmlflow_tracking_password=pw\r\n", "password", "pw"},
    {{URI}, "[mlflow]\nMLFlow_Tracking_Username: jo\nmlflow_tracking_password: a=b%%\n", "password", "a=b%"},
    {{URI}, "[x]\nmlflow_tracking_username = jo\nmlflow_tracking_password = pw\n", "user", "none"},
    {{URI}, "[mlflow]\n#mlflow_tracking_username = jo\nmlflow_tracking_password = pw\n[x]\nmlflow_tracking_username = jo\n", "user", "none"},
    {{URI, "MLFLOW_TRACKING_USERNAME=al"}, "[mlflow]\nmlflow_tracking_username = jo\nmlflow_tracking_password = pw", "user", "al"},
    {{URI, "MLFLOW_TRACKING_USERNAME=al"}, "[mlflow]\nmlflow_tracking_username = jo\nmlflow_tracking_password = pw", "password", "pw"},
    {{URI, "MLFLOW_TRACKING_TOKEN=t"}, NULL, "token", "t"},
    {{URI}, NULL, "token", "none"},
    {{URI, "MLFLOW_TRACKING_SERVER_CERT_PATH=/ca", "REQUESTS_CA_BUNDLE=/r"}, NULL, "ca", "/ca"},
    {{URI, "CURL_CA_BUNDLE=/c", "REQUESTS_CA_BUNDLE=/r"}, NULL, "ca", "/r"},
    {{URI, "SSL_CERT_FILE=/s"}, NULL, "ca", "/s"},
    {{URI, "MLFLOW_TRACKING_INSECURE_TLS=True", "REQUESTS_CA_BUNDLE=/r"}, NULL, "ca", "none"},
    {{URI, "MLFLOW_TRACKING_INSECURE_TLS=True"}, NULL, "insecure", "1"},
    {{URI, "MLFLOW_TRACKING_INSECURE_TLS=1"}, NULL, "insecure", "1"},
    {{URI, "MLFLOW_TRACKING_INSECURE_TLS=no"}, NULL, "insecure", "0"},
    {{URI, "MLFLOW_TRACKING_CLIENT_CERT_PATH=/cc"}, NULL, "cert", "/cc"},
    {{URI, "HTTP_PROXY=http://p:1"}, NULL, "proxy", "http://p:1"},
    {{URI, "HTTP_PROXY=http://p:1", "http_proxy=http://q:1"}, NULL, "proxy", "none"},
    {{"MLFLOW_TRACKING_URI=https://h", "HTTP_PROXY=http://p:1"}, NULL, "proxy", "none"},
    {{URI}, NULL, "header", "none"},
    {{URI, "MLFLOW_WORKSPACE=team a"}, NULL, "header", "X-MLFLOW-WORKSPACE: team a"},
    {{URI, "MLFLOW_WORKSPACE=a\r\nX-Evil: 1"}, NULL, "header", "none"},
    {{URI}, NULL, "timeout", "120"},
    {{URI, "MLFLOW_HTTP_REQUEST_TIMEOUT=7"}, NULL, "timeout", "7"},
    {{URI, "MLFLOW_HTTP_REQUEST_TIMEOUT=7"}, NULL, "stall", "7"},
    {{URI, "MLFLOW_HTTP_REQUEST_TIMEOUT=soon"}, NULL, "timeout", "120"},
    {{URI}, NULL, "retries", "7"},
    {{URI, "MLFLOW_HTTP_REQUEST_MAX_RETRIES=0"}, NULL, "retries", "0"},
    {{URI, "MLFLOW_HTTP_REQUEST_MAX_RETRIES=-3"}, NULL, "retries", "7"},
    {{URI, "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR=0.5"}, NULL, "backoff", "0.5"},
    {{URI, "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER=0"}, NULL, "jitter", "0"},
    {{URI, "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER=nan"}, NULL, "jitter", "1"},
    {{URI}, NULL, "retry_after", "1"},
    {{URI, "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER=false"}, NULL, "retry_after", "0"},
    {{URI}, NULL, "no_redirects", "0"},
    {{URI, "MLFLOW_ALLOW_HTTP_REDIRECTS=false"}, NULL, "no_redirects", "1"},
    {{URI}, NULL, "multipart", "0"},
    {{URI, "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD=true"}, NULL, "multipart", "5.24288e+08"},
    {{URI, "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD=true"}, NULL, "part", "1.04858e+07"},
    {{URI, "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD=true", "MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE=1000"}, NULL, "multipart", "1000"},
    {{URI, "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD=true", "MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE=0"}, NULL, "part", "1.04858e+07"},
    {{URI}, NULL, "warning", "none"},
    {{URI, "MLFLOW_TRACKING_AWS_SIGV4=true"}, NULL, "warning", "MLFLOW_TRACKING_AWS_SIGV4 is not supported: the request is sent unsigned"},
};

static int take(struct place *p, const struct row *r, const char *uri, struct mlflow_config *c, struct arena *a, struct err *err)
{
    char home[100];
    const char *env[10] = {home};
    snprintf(home, sizeof home, "HOME=%s", p->path);
    assert_int_equal(fs_mkdirs(p->dir, ".mlflow", 0700, NULL), 0);
    unlinkat(p->dir, ".mlflow/credentials", 0);
    if (r->file)
        assert_int_equal(fs_create(p->dir, ".mlflow/credentials", str_of(r->file), 0600, NULL), 0);
    for (int i = 0; i < 8; i++)
        env[i + 1] = r->env[i];
    return mlflow_config_from(c, uri, (char *const *)(uintptr_t)env, a, err);
}

static void every_variable(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mlflow_config c;
        struct arena a;
        struct err err = {0};
        arena_init(&a, 1 << 20);
        if (take(*state, &rows[i], NULL, &c, &a, &err))
            fail_msg("row %zu: %s", i, err.text);
        if (strcmp(shown(&c, rows[i].field), rows[i].value) != 0)
            fail_msg("row %zu (%s): %s is \"%s\", not \"%s\"", i, rows[i].env[0], rows[i].field, shown(&c, rows[i].field), rows[i].value);
        arena_deinit(&a);
    }
}

static void no_address(void **state)
{
    static const char *const bad[] = {"sqlite:///x.db", "./mlruns", "databricks", "ftp://h", "http://h/\033[2J", "http://h/a b", "http://h\r\nX: 1",
                                      "postgresql://jo:secret@db/mlflow", "jo:secret@h", "postgresql://db/mlflow?user=jo&password=secret"};
    const struct row none = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mlflow_config c;
        struct arena a;
        struct err err = {0};
        arena_init(&a, 1 << 20);
        assert_int_equal(take(*state, &none, bad[i], &c, &a, &err), -1);
        assert_int_equal(err.kind, ERR_INPUT);
        assert_non_null(strstr(err.text, "is not the address of a tracking server"));
        assert_null(strstr(err.text, "secret"));
        assert_null(strpbrk(err.text, "\033\r\n"));
        arena_deinit(&a);
    }
    struct mlflow_config c;
    struct arena a;
    struct err err = {0};
    arena_init(&a, 1 << 20);
    assert_int_equal(take(*state, &none, NULL, &c, &a, &err), -1);
    assert_non_null(strstr(err.text, "MLFLOW_TRACKING_URI"));
    const struct row both = {.env = {"MLFLOW_TRACKING_INSECURE_TLS=true", "MLFLOW_TRACKING_SERVER_CERT_PATH=/ca"}};
    assert_int_equal(take(*state, &both, "https://h", &c, &a, &err), -1);
    assert_non_null(strstr(err.text, "exclude each other"));
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_variable, place_begin, place_end),
        cmocka_unit_test_setup_teardown(no_address, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
