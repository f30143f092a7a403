/* server.c: requests to the service besides the load; see server.h. */
#include "benchmarks/native/llmload/server/server.h"

#include "benchmarks/native/llmload/endpoint.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { REPLY_MAX = 8 << 20, HEADERS_MAX = 64 };

/* Opens s->cancel, an epoll descriptor that can be read once cancel_fd can (-1: none) or the timer
 * s->deadline has expired; requests then end. server_deinit closes both, also after -1 with err. */
static int make_cancel(struct llm_server *s, int cancel_fd, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN};
    s->stop = cancel_fd;
    s->cancel = epoll_create1(EPOLL_CLOEXEC);
    s->deadline = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (s->cancel < 0 || s->deadline < 0 || epoll_ctl(s->cancel, EPOLL_CTL_ADD, s->deadline, &e) < 0 ||
        (cancel_fd >= 0 && epoll_ctl(s->cancel, EPOLL_CTL_ADD, cancel_fd, &e) < 0))
        return err_sys(err, "setting up the requests besides the load");
    return 0;
}

void server_patience(struct llm_server *s, double seconds)
{
    double some = fmin(fmax(seconds, 1e-3), 1e9); /* 0 would mean without limit */
    struct itimerspec t = {.it_value = {(time_t)some, (long)((some - floor(some)) * 1e9)}};
    timerfd_settime(s->deadline, 0, &t, NULL);
}

bool server_is_cancelled(const struct llm_server *s)
{
    struct pollfd p = {.fd = s->stop, .events = POLLIN};
    return s->stop >= 0 && poll(&p, 1, 0) > 0;
}

int server_open(struct llm_server *ret, const struct load *load, size_t which, pid_t pid, int cancel_fd, struct err *err)
{
    struct llm_server s = {.dialect = load->dialect, .pid = pid, .max_field = load->max_field, .load = load};
    struct endpoint e;
    const char *headers[HEADERS_MAX + 1];
    arena_init(&s.arena, 8 << 20);
    for (size_t i = 0; i < load->header_count && i < HEADERS_MAX; i++)
        headers[i] = load->headers[i];
    headers[load->header_count < HEADERS_MAX ? load->header_count : HEADERS_MAX] = NULL;
    if (make_cancel(&s, cancel_fd, err) < 0 || endpoint_read(&e, load->urls[which], load->path, &s.arena, err) < 0) {
        server_deinit(&s);
        return -1;
    }
    s.base = arena_printf(&s.arena, "%s%s", e.socket ? "http://localhost" : e.base, e.prefix);
    s.query = e.query;
    s.api_path = e.path + strlen(e.prefix);
    struct http_config config = {.agent = "llmload/" BW_VERSION,
                                 .bearer = load->key,
                                 .ca_file = load->ca_file,
                                 .headers = headers,
                                 .proxy = load->proxy,
                                 .insecure = load->insecure,
                                 .unix_socket = e.socket,
                                 .connect_s = 5,
                                 .total_s = 600,
                                 .stall_s = 120,
                                 .cancel_fd = s.cancel};
    if (http_new(&s.http, &config, err) < 0) {
        server_deinit(&s);
        return -1;
    }
    *ret = s;
    return 0;
}

void server_deinit(struct llm_server *s)
{
    http_free(s->http);
    arena_deinit(&s->arena);
    if (s->cancel > 0)
        close(s->cancel);
    if (s->deadline > 0)
        close(s->deadline);
    *s = (struct llm_server){0};
}

int server_ask(struct llm_server *s, const char *path, const char *body, struct http_reply *ret, struct err *err)
{
    struct buf url CLEANUP_BUF;
    buf_init(&url, 8192);
    buf_printf(&url, "%s%s%s", s->base, path, s->query);
    struct http_request q = {.method = body ? "POST" : "GET",
                             .url = url.p,
                             .type = "application/json",
                             .body = body ? str_of(body) : (struct str){0},
                             .reply_max = REPLY_MAX};
    if (url.failed) {
        *ret = (struct http_reply){.trouble = HTTP_HOPELESS};
        return err_set(err, ERR_USAGE, "the address is too long");
    }
    int rc = http_do(s->http, &q, ret, err);
    if (rc == 0 && ret->body.p) /* settings, too, may repeat the key */
        load_hide_secrets(s->load, ret->body.p, ret->body.n);
    return rc;
}

struct json *server_json(struct llm_server *s, const char *path)
{
    struct http_reply r;
    struct json *j = NULL;
    if (server_ask(s, path, NULL, &r, NULL) == 0 && r.status == 200)
        json_parse(&j, buf_text(&r.body), NULL, NULL);
    http_reply_deinit(&r);
    return j;
}

bool server_lives(const struct llm_server *s)
{
    return s->pid <= 0 || kill(s->pid, 0) == 0 || errno != ESRCH;
}
