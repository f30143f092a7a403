/* campaign_ready.c: wait until a service is ready, and send what it needs then. */
#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "base/http.h"
#include "recipe/campaign_beats.h"
#include "recipe/service_token.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TRY_MS = 2000, STILL_S = 30, STILL_PAUSE_MS = 100, READY_REPLY_MAX = 1 << 20 };

static unsigned ready_port(const struct campaign_service *s, const struct campaign_seat *seat, const char *name)
{
    for (size_t i = 0; i < s->port_count; i++)
        if (strcmp(s->ports[i].name, name) == 0)
            return seat->ports[i];
    return s->port_count ? seat->ports[0] : 0;
}

/* What is known of a node's address; NULL: nothing. */
static struct addrinfo *known_addresses(const struct campaign *c, const char *host)
{
    for (size_t i = 0; i < c->hosts.count; i++)
        if (strcmp(c->hosts.nodes[i].address, host) == 0)
            return c->hosts.nodes[i].known;
    return NULL;
}

/* Returns true if the port of the address accepts a connection within TRY_MS. A signal of the
 * campaign ends the wait with false. */
static bool try_address(const struct campaign *c, const struct addrinfo *x, unsigned port)
{
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to = {0};
    int why = 0;
    socklen_t n = sizeof why;
    CLEANUP_FD int fd = socket(x->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd p[] = {{fd, POLLOUT, 0}, {c->signals, POLLIN, 0}};
    if (fd < 0 || x->ai_addrlen > sizeof to)
        return false;
    memcpy(&to, x->ai_addr, x->ai_addrlen);
    if (x->ai_family == AF_INET6)
        to.v6.sin6_port = htons((uint16_t)port);
    else
        to.v4.sin_port = htons((uint16_t)port);
    return connect(fd, (struct sockaddr *)&to, x->ai_addrlen) == 0 || (errno == EINPROGRESS && poll(p, 2, TRY_MS) > 0 && p[0].revents &&
                                                                       getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) == 0 && why == 0);
}

bool campaign_can_connect(const struct campaign *c, const char *host, unsigned port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *known = known_addresses(c, host), *list = NULL;
    bool connected = false;
    if (!known && getaddrinfo(host, NULL, &hints, &list))
        return false;
    for (struct addrinfo *x = known ? known : list; x && !connected; x = x->ai_next)
        connected = try_address(c, x, port);
    if (list)
        freeaddrinfo(list);
    return connected;
}

/* The address of the process, or of a service that runs already, without its path: "http://host:port". */
static void put_service_origin(const struct campaign_service *s, const struct campaign_process *p, struct buf *to)
{
    if (p) {
        buf_printf(to, "http://%s:%u", p->seat->host, ready_port(s, p->seat, "http"));
        return;
    }
    const char *from = strstr(s->endpoint, "://"), *host = from ? from + 3 : s->endpoint;
    buf_printf(to, "%s%.*s", from ? "" : "http://", (int)(host - s->endpoint + (ptrdiff_t)strcspn(host, "/")), s->endpoint);
}

/* Returns true if a request for the path has a status below 400. *ret_status: of the answer; 0:
 * there was none. */
static bool try_http(struct campaign *c, const struct campaign_service *s, const struct campaign_process *p, const char *path,
                     int *ret_status)
{
    const char *token = s->token;
    CLEANUP_BUF struct buf url, header;
    struct http_reply reply = {0};
    struct err err = {0};
    buf_init(&url, 8192);
    put_service_origin(s, p, &url);
    buf_puts(&url, path);
    buf_init(&header, 8192);
    const char *const headers[] = {token && service_token_header(token, &header) ? header.p : NULL, NULL};
    const struct http_request q = {.method = "GET", .url = url.p, .headers = headers, .reply_max = READY_REPLY_MAX, .fresh = true};
    *ret_status = !url.failed && http_do(c->http, &q, &reply, &err) == 0 ? reply.status : 0;
    bool good = *ret_status && *ret_status < 400;
    http_reply_deinit(&reply);
    return good;
}

static bool try_command(struct campaign *c, char *const *words)
{
    struct query q = QUERY_NONE;
    bool good = query_start(&q, words, environ, READY_REPLY_MAX, 5 * TRY_MS, 0, NULL) == 0;
    good = good && campaign_query_wait(c, &q, 5 * TRY_MS) == QUERY_DONE && q.status == 0;
    query_close(&q);
    return good;
}

/* p: NULL for a service that runs already. */
static bool try_ready(struct campaign *c, const struct recipe_ready *ready, const struct campaign_service *s,
                      const struct campaign_process *p, int *ret_status)
{
    if (ready->command)
        return try_command(c, ready->command);
    if (ready->http)
        return try_http(c, s, p, ready->http, ret_status);
    return !ready->tcp || !p || campaign_can_connect(c, p->seat->host, ready_port(s, p->seat, ready->tcp));
}

static const char *died_words(struct campaign *c, const struct campaign_process *p)
{
    char words[EXIT_WORDS_SIZE];
    if (p->keeper.errnum)
        return arena_printf(c->arena, "%s cannot be started: %s", p->component, err_words(p->keeper.errnum));
    bool killed = p->keeper.status & 0x7f;
    exit_words(words, killed ? 0 : (p->keeper.status >> 8) & 0xff, killed ? p->keeper.status & 0x7f : 0);
    return arena_printf(c->arena, "%s ended before it was ready: %s%s", p->component, words[0] ? words : "exit status 0",
                        campaign_last_line(c, campaign_log_name(p->component, p->seat, c->arena)));
}

int campaign_wait_ready(struct campaign *c, const struct recipe_ready *ready, const struct campaign_service *s,
                        const struct campaign_process *p, const char **ret_why)
{
    int64_t until = clock_mono_ns() + (int64_t)(ready->timeout_s * 1e9);
    const char *name = p ? p->component : s->role->name;
    int status = 0;
    int interval = ready->interval_s < 0.01 ? 10 : ready->interval_s > 10 ? 10000 : (int)(ready->interval_s * 1000);
    for (int pause = 5;; pause = pause * 2 < interval ? pause * 2 : interval) { /* short at first: many are ready at once */
        campaign_wait(c, 0);
        if (p && p->keeper.ended) {
            *ret_why = died_words(c, p);
            return 1;
        }
        if ((*ret_why = campaign_beats_cancelled(c)))
            return 1;
        if (try_ready(c, ready, s, p, &status))
            return 0;
        if (clock_mono_ns() >= until) {
            *ret_why = arena_printf(c->arena, "%s was not ready after %g s: %s%s", name, ready->timeout_s,
                                    ready->http      ? "no good answer at "
                                    : ready->tcp     ? "no connection to port "
                                    : ready->command ? "its command never exited with 0"
                                                     : "",
                                    ready->http  ? ready->http
                                    : ready->tcp ? ready->tcp
                                                 : "");
            if (ready->http && *ret_why)
                *ret_why = status ? arena_printf(c->arena, "%s, the last one had status %d", *ret_why, status)
                                  : arena_printf(c->arena, "%s, no reply to the last request", *ret_why);
            return 1;
        }
        campaign_wait(c, pause);
    }
}

/* Returns true if the process, or the endpoint, still answers where it was ready. Also true without
 * a check: for readiness by a command, an ended process, or after a signal. */
static bool still_answers(struct campaign *c, const struct recipe_ready *ready, const struct campaign_service *s,
                          const struct campaign_process *p)
{
    int64_t until = clock_mono_ns() + (int64_t)((ready->timeout_s < STILL_S ? ready->timeout_s : STILL_S) * 1e9);
    int status;
    if (ready->command || (p && p->keeper.ended))
        return true;
    while (!try_ready(c, ready, s, p, &status)) {
        if (c->signal || campaign_beats_lost(c) || clock_mono_ns() >= until)
            return c->signal;
        campaign_wait(c, STILL_PAUSE_MS);
    }
    return true;
}

const char *campaign_services_silent(struct campaign *c, const struct recipe_point *p)
{
    for (size_t i = 0; i < p->part_count; i++) {
        struct campaign_service *s = &c->services[i];
        const struct recipe_part *part = &p->parts[i];
        if (!s->is_up)
            continue;
        bool answers = !s->endpoint || !part->ready.is_set || still_answers(c, &part->ready, s, NULL);
        /* the readiness of a role is that of its last program */
        for (size_t k = 0; answers && part->process_count && k < s->process_count; k++)
            if (strcmp(s->processes[k].component, part->processes[part->process_count - 1].component) == 0)
                answers = still_answers(c, &part->processes[part->process_count - 1].ready, s, &s->processes[k]);
        if (!answers) {
            s->hash[0] = 0; /* it starts again for the next point */
            return arena_printf(c->arena, "the service %s does not answer any more", part->role->name);
        }
    }
    return NULL;
}

int campaign_send_requests(struct campaign *c, const struct recipe_part *part, const struct campaign_service *s, const char **ret_why)
{
    for (size_t i = 0; i < part->request_count; i++)
        for (size_t k = 0; k < s->open_count; k++) {
            const struct recipe_request *r = &part->requests[i];
            CLEANUP_BUF struct buf url;
            struct http_reply reply = {0};
            struct http *http = NULL;
            struct err err = {0};
            buf_init(&url, 8192);
            buf_printf(&url, "http://%s:%u%s", s->seats[k].host, ready_port(s, &s->seats[k], "http"), r->path);
            const struct http_config config = {
                .agent = "benchwrap/" BW_VERSION, .total_s = r->timeout_s, .stall_s = r->timeout_s, .cancel_fd = c->signals, .proxy = ""};
            const struct http_request q = {
                .method = r->method, .url = url.p, .type = "application/json", .body = str_of(r->body), .reply_max = READY_REPLY_MAX};
            int rc = http_new(&http, &config, &err) ? -1 : http_do(http, &q, &reply, &err);
            if (rc || reply.status >= 400)
                *ret_why = rc ? arena_printf(c->arena, "%s: %s", part->role->name, err.text)
                              : arena_printf(c->arena, "%s: %s answered with status %d: %.200s", part->role->name, r->path, reply.status,
                                             reply.body.p ? reply.body.p : "");
            bool failed = rc || reply.status >= 400;
            http_reply_deinit(&reply);
            http_free(http);
            if (failed)
                return 1;
        }
    return 0;
}
