/* api.c: see api.h. */
#include "base/json_out.h"
#include "benchmarks/native/llmload/agent/api.h"

#include "base/library.h"
#include "base/secret.h"
#include "benchmarks/native/llmload/agent/token.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void api_answer_text(struct buf *body, const char *key, const char *text)
{
    struct json_out j = json_begin(body, JSON_TIGHT, '{');
    json_text(&j, key, text);
    json_close(&j, '}');
    buf_putc(body, '\n');
}

#if __has_include(<microhttpd.h>)
#include <microhttpd.h>

#define CALLS(CALL)                                                                                                                        \
    CALL(MHD_start_daemon)                                                                                                                 \
    CALL(MHD_stop_daemon)                                                                                                                  \
    CALL(MHD_get_daemon_info)                                                                                                              \
    CALL(MHD_get_connection_info)                                                                                                          \
    CALL(MHD_lookup_connection_value)                                                                                                      \
    CALL(MHD_create_response_from_buffer)                                                                                                  \
    CALL(MHD_add_response_header)                                                                                                          \
    CALL(MHD_queue_response)                                                                                                               \
    CALL(MHD_destroy_response)

struct api {
    struct api_config config;
    char *token;
    struct MHD_Daemon *daemon;
    uint16_t port;
#define CALL(name) __typeof__(name) *name;
    CALLS(CALL)
#undef CALL
};

enum { BODY_MAX = 1 << 20, REPLY_MAX = 512 << 20 };

/* Writes the address and port at which this connection reached the agent, in the form of
 * http_reply.peer. Returns false where they are not known. */
static bool address_of(struct api *a, struct MHD_Connection *c, char ret[80])
{
    const union MHD_ConnectionInfo *info = a->MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sockaddr_storage own;
    socklen_t n = sizeof own;
    char text[INET6_ADDRSTRLEN];
    if (!info || getsockname(info->connect_fd, (struct sockaddr *)&own, &n))
        return false;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&own;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&own;
    bool six = own.ss_family == AF_INET6;
    if (!inet_ntop(own.ss_family, six ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr, text, sizeof text))
        return false;
    const char *mapped = six && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? strrchr(text, ':') : NULL;
    snprintf(ret, 80, "%s %u", mapped ? mapped + 1 : text, ntohs(six ? v6->sin6_port : v4->sin_port));
    return true;
}

/* Returns whether a leader that knows the token signed the request for this agent. given: "NONCE
 * SIGNATURE". */
static bool is_signed(struct api *a, const char *given, const char *at, const struct api_call *call, char ret_nonce[SECRET_DIGITS + 1])
{
    char expected[SHA256_HEX];
    if (strlen(given) != SECRET_DIGITS + 1 + SHA256_HEX - 1 || given[SECRET_DIGITS] != ' ')
        return false;
    memcpy(ret_nonce, given, SECRET_DIGITS);
    ret_nonce[SECRET_DIGITS] = 0;
    bool hello = strcmp(call->path, TOKEN_HELLO) == 0;
    token_sign_request(a->token, &(struct token_request){ret_nonce, hello ? "" : at, call->method, call->path, call->body}, expected);
    return secret_equal(str_of(given + SECRET_DIGITS + 1), str_of(expected));
}

/* Returns 0 where the request carries the token or its signature, else the HTTP status of the
 * answer, which is appended to body. */
static unsigned api_authorize(struct api *a, struct MHD_Connection *c, const struct api_call *call, struct buf *body)
{
    const char *given = a->MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    char at[80], nonce[SECRET_DIGITS + 1], own[SHA256_HEX];
    size_t scheme = sizeof TOKEN_SCHEME - 1;
    if (given && strncasecmp(given, "Bearer ", 7) == 0 && secret_equal(str_of(given + 7), str_of(a->token)))
        return 0;
    if (!given || strncasecmp(given, TOKEN_SCHEME, scheme) || !address_of(a, c, at) || !is_signed(a, given + scheme, at, call, nonce)) {
        api_answer_text(body, "error", "expected the header Authorization: Bearer TOKEN");
        return 401;
    }
    if (strcmp(call->path, TOKEN_HELLO))
        return 0;
    token_sign_agent(a->token, nonce, at, own);
    struct json_out j = json_begin(body, JSON_TIGHT, '{');
    json_text(&j, "at", at);
    json_text(&j, "signature", own);
    json_close(&j, '}');
    buf_putc(body, '\n');
    return 200;
}

/* Answers a request: refuses those of web pages, without a right, or too long, and calls the
 * handler for others. Returns the HTTP status. */
static unsigned api_answer(struct api *a, struct MHD_Connection *c, const struct api_call *call, struct buf *body, const char **type)
{
    if (a->MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin")) {
        api_answer_text(body, "error", "requests of web pages are refused");
        return 403;
    }
    unsigned status = api_authorize(a, c, call, body);
    if (status)
        return status;
    if (call->body.n > BODY_MAX) {
        api_answer_text(body, "error", "the body is too long");
        return 413;
    }
    return a->config.handler(a->config.context, call, body, type);
}

/* Answers a complete request; 500 without a body where the answer does not fit. */
static enum MHD_Result api_send_reply(struct api *a, struct MHD_Connection *c, const struct api_call *call)
{
    struct buf body CLEANUP_BUF;
    const char *type = "application/json";
    buf_init(&body, REPLY_MAX);
    unsigned status = api_answer(a, c, call, &body, &type);
    if (body.failed) {
        status = 500;
        buf_clear(&body);
    }
    struct MHD_Response *r = a->MHD_create_response_from_buffer(body.n, body.n ? body.p : (void *)a, MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    a->MHD_add_response_header(r, "Content-Type", type);
    a->MHD_add_response_header(r, "Cache-Control", "no-store");
    enum MHD_Result rc = a->MHD_queue_response(c, status, r);
    a->MHD_destroy_response(r);
    return rc;
}

/* libmicrohttpd calls it first with nothing, then with pieces of the body, then without any. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url, const char *method, const char *version,
                                  const char *piece, size_t *piece_n, void **state)
{
    struct api *a = context;
    struct buf *body = *state;
    (void)version;
    if (!body) {
        if (!(body = calloc(1, sizeof *body)))
            return MHD_NO;
        buf_init(body, BODY_MAX + 1);
        *state = body;
        return MHD_YES;
    }
    if (*piece_n) {
        size_t room = BODY_MAX + 1 - body->n;
        buf_add(body, piece, *piece_n < room ? *piece_n : room);
        *piece_n = 0;
        return MHD_YES;
    }
    struct api_call call = {method, url, buf_text(body)};
    return api_send_reply(a, c, &call);
}

/* libmicrohttpd calls it when a request has ended. Reports a reply that was sent completely, and
 * frees the body. */
static void on_end(void *context, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
    struct api *a = context;
    (void)c;
    if (a->config.sent && why == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        a->config.sent(a->config.context);
    if (*state)
        buf_deinit(*state);
    free(*state);
    *state = NULL;
}

static int api_load_library(struct api *a, struct err *err)
{
    void *library = library_open(LIBRARY_MICROHTTPD);
    if (!library)
        return library_err(LIBRARY_MICROHTTPD, err);
#define CALL(name)                                                                                                                         \
    if (!(a->name = (__typeof__(a->name))dlsym(library, #name)))                                                                           \
        return err_set(err, ERR_SYSTEM, "the libmicrohttpd of this machine is too old: it has no %s", #name);
    CALLS(CALL)
#undef CALL
    return 0;
}

/* Starts the server at the address, with its threads, and stores the port. Returns 0, or another
 * value with *err. */
static int listen_at(struct api *a, const struct api_config *config, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", config->port);
    int status = getaddrinfo(config->address, port, &hints, &list);
    if (status)
        return err_set(err, ERR_USAGE, "--listen: cannot find the address %.60s: %s", config->address, gai_strerror(status));
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | (list->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    a->daemon = a->MHD_start_daemon(flags, config->port, NULL, NULL, on_request, a, MHD_OPTION_SOCK_ADDR, list->ai_addr,
                                    MHD_OPTION_NOTIFY_COMPLETED, on_end, a, MHD_OPTION_CONNECTION_TIMEOUT, 120u,
                                    MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_END);
    int why = errno;
    freeaddrinfo(list);
    errno = why;
    if (!a->daemon)
        return err_sys(err, "listening at %.60s port %u", config->address, config->port);
    const union MHD_DaemonInfo *info = a->MHD_get_daemon_info(a->daemon, MHD_DAEMON_INFO_BIND_PORT);
    a->port = info ? info->port : config->port;
    return 0;
}

int api_start(struct api **ret, const struct api_config *config, struct err *err)
{
    struct api *a = calloc(1, sizeof *a);
    if (!a)
        return err_memory(err, "the API of the agent");
    a->config = *config;
    a->token = strdup(config->token);
    if (!a->token || api_load_library(a, err) < 0 || listen_at(a, config, err) < 0) {
        api_stop(a);
        return -1;
    }
    *ret = a;
    return 0;
}

uint16_t api_port(const struct api *a)
{
    return a->port;
}

void api_stop(struct api *a)
{
    if (!a)
        return;
    if (a->daemon)
        a->MHD_stop_daemon(a->daemon);
    if (a->token)
        explicit_bzero(a->token, strlen(a->token));
    free(a->token);
    free(a);
}

int api_check(struct err *err)
{
    return library_open(LIBRARY_MICROHTTPD) ? 0 : library_err(LIBRARY_MICROHTTPD, err);
}

#else /* built where libmicrohttpd's header is not */

int api_check(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "this build has no agents: install libmicrohttpd-dev (Debian) or libmicrohttpd-devel and run make");
}

int api_start(struct api **ret, const struct api_config *config, struct err *err)
{
    (void)ret, (void)config;
    return api_check(err);
}

uint16_t api_port(const struct api *a)
{
    (void)a;
    return 0;
}

void api_stop(struct api *a)
{
    (void)a;
}
#endif
