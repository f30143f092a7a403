/* exporter_http.h: HTTP requests of exporters: address, headers, credentials, gzip, and what a reply means. */
#ifndef EXPORTERS_EXPORTER_HTTP_H
#define EXPORTERS_EXPORTER_HTTP_H
#include "exporters/exporter.h"

/* The rows of keys that these functions read. */
#define EXPORTER_HTTP_ROWS EXPORTER_HTTP_ROWS_FIXED, EXPORTER_HTTP_ROW_METHOD, EXPORTER_HTTP_ROW_GZIP
#define EXPORTER_HTTP_ROW_METHOD                                                                                                           \
    {                                                                                                                                      \
        .name = EXPORTER_KEY_METHOD, .kind = OPT_CHOICE, .arg = "POST|PUT", .value = "POST", .help = "Use this method",                    \
        .flags = OPT_FROM_FILE                                                                                                             \
    }
#define EXPORTER_HTTP_ROW_GZIP                                                                                                             \
    {                                                                                                                                      \
        .name = EXPORTER_KEY_GZIP, .kind = OPT_FLAG, .help = "Compress requests", .flags = OPT_FROM_FILE                                   \
    }
/* Those of an exporter that chooses method and compression itself. */
#define EXPORTER_HTTP_ROWS_FIXED                                                                                                           \
    {.name = EXPORTER_KEY_URL, .kind = OPT_TEXT, .arg = "URL", .help = "Send to this address, http or https", .flags = OPT_FROM_FILE},     \
        {.name = EXPORTER_KEY_URL_SECRET,                                                                                                  \
         .kind = OPT_PAIR,                                                                                                                 \
         .arg = EXPORTER_SECRET_ARG,                                                                                                       \
         .help = "Read the address there: that of a webhook is a secret",                                                                  \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_HEADER,                                                                                                      \
         .kind = OPT_PAIR,                                                                                                                 \
         .arg = "{NAME: VALUE}",                                                                                                           \
         .help = "Add these headers, which hold no secrets",                                                                               \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_TOKEN,                                                                                                       \
         .kind = OPT_PAIR,                                                                                                                 \
         .arg = EXPORTER_SECRET_ARG,                                                                                                       \
         .help = "Send this token as `Authorization: Bearer`",                                                                             \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_TOKEN_HEADER,                                                                                                \
         .kind = OPT_TEXT,                                                                                                                 \
         .arg = "NAME",                                                                                                                    \
         .help = "Send the token as this header instead",                                                                                  \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_TOKEN_SCHEME,                                                                                                \
         .kind = OPT_TEXT,                                                                                                                 \
         .arg = "WORD",                                                                                                                    \
         .value = "Bearer",                                                                                                                \
         .help = "Send this word before the token: Token for InfluxDB, ApiKey, Splunk …",                                                  \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_USER,                                                                                                        \
         .kind = OPT_TEXT,                                                                                                                 \
         .arg = "NAME",                                                                                                                    \
         .help = "Authenticate as this user (basic), with `password`",                                                                     \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_PASSWORD,                                                                                                    \
         .kind = OPT_PAIR,                                                                                                                 \
         .arg = EXPORTER_SECRET_ARG,                                                                                                       \
         .help = "Read the user's password there",                                                                                         \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = EXPORTER_KEY_TIMEOUT,                                                                                                     \
         .kind = OPT_DURATION,                                                                                                             \
         .arg = "DURATION",                                                                                                                \
         .value = "10s",                                                                                                                   \
         .help = "Stop a request after this time",                                                                                         \
         .flags = OPT_FROM_FILE},                                                                                                          \
    {                                                                                                                                      \
        .name = EXPORTER_KEY_CA_FILE, .kind = OPT_TEXT, .arg = "PATH", .help = "Trust these certificates instead of the system's",         \
        .flags = OPT_FROM_FILE                                                                                                             \
    }

struct exporter_http; /* in the link's arena, but for libcurl's part */

/* Checks these keys together. */
int exporter_http_configure(const struct exporter_config *c, struct err *err);
/* Reads the secrets and loads libcurl; makes no request. The caller calls exporter_http_close, also
 * after a failure. */
enum exporter_answer exporter_http_open(struct exporter_link *l, struct exporter_http **ret, struct err *err);
/* For exporters with an address and credentials of their own: reads method, gzip, timeout and ca-file only. */
struct exporter_http_own {
    const char *url;
    const char *user, *password; /* basic authentication, or with sigv4 key and secret; NULL */
    const char *sigv4; /* see base/http.h; NULL */
    bool is_plain; /* requests are not compressed, whatever the value of the key gzip */
};
/* Does what exporter_http_open does, with this address and these credentials. */
enum exporter_answer exporter_http_open_own(struct exporter_link *l, const struct exporter_http_own *own, struct exporter_http **ret,
                                            struct err *err);
void exporter_http_close(struct exporter_http *h); /* NULL is allowed */
/* Sends a body. url: the address with the caller's additions; NULL: as it is configured.
 * 2xx: SENT. The destination refuses the body (400, 413, 422 …): REFUSED. It fails with this request
 * (500 …): FAILED. All else, such as 401, 404, 429, 503 and no reply: LATER. */
enum exporter_answer exporter_http_send(struct exporter_link *l, struct exporter_http *h, const char *url, struct str body,
                                        struct err *err);
/* A request that differs from the configured one. */
struct exporter_http_request {
    const char *method; /* NULL: as configured */
    const char *url; /* NULL: as configured */
    const char *type; /* Content-Type; NULL: application/json */
    const char *const *headers; /* further ones, which may hold secrets; NULL */
    struct str body;
    int *ret_status; /* gets the status of the reply, 0: there was none; may be NULL */
    struct buf *ret_body; /* the body of a successful reply is appended; may be NULL */
    struct buf *reply; /* receives the body of a reply 2xx; NULL */
};
/* As exporter_http_send. */
enum exporter_answer exporter_http_call(struct exporter_link *l, struct exporter_http *h, const struct exporter_http_request *call,
                                        struct err *err);
/* Sends a GET request without data, and appends what was found. SENT: a server answers there, and
 * does not refuse the credentials. */
enum exporter_answer exporter_http_check(struct exporter_link *l, struct exporter_http *h, struct buf *found, struct err *err);
/* The address as it is configured; NULL until open. */
const char *exporter_http_url(const struct exporter_http *h);
/* Appends the request for people, with *** for secrets. Its headers are not printed. */
void exporter_http_print_request(const struct exporter_config *c, const struct exporter_http_request *q, struct buf *to);
#endif
