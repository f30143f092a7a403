/* http_serve.h: a small HTTP server for documents that are made when they are requested: GET and HEAD alone, one answer for each connection.
 *
 * Requests are hostile: a head has a bounded length and time, connections a bounded number. */
#ifndef BASE_HTTP_SERVE_H
#define BASE_HTTP_SERVE_H
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>
#include <sys/socket.h>

struct http_place {
    struct sockaddr_storage address;
    socklen_t size;
};
/* Reads "[ADDRESS:]PORT": 9100, 0.0.0.0:9100, [::]:9100; the loopback address without ADDRESS. No
 * names: nothing is resolved. False: it is none. */
bool http_serve_place(const char *text, struct http_place *ret);
/* Listens there; port 0: the kernel chooses one. Returns the descriptor, or -1 with err. */
int http_serve_listen(const struct http_place *place, struct err *err);
/* Appends "http://ADDRESS:PORT" of a listening descriptor. */
void http_serve_url(int fd, struct buf *to);

/* The parts of a request's head that count; they point into it. */
struct http_question {
    struct str method, path, accept; /* path: without a query; accept: the header, "" none */
};

/* Makes the answer to a GET: its type (a text that stays valid) and body. Returns the status, 200 or 404. */
typedef int http_serve_answer(void *context, const struct http_question *q, const char **ret_type, struct buf *body);
struct http_server;
/* Serves on a listening descriptor, which it closes at the end. NULL: out of memory. */
struct http_server *http_serve_new(int listener, http_serve_answer *answer, void *context);
/* Answers requests until `until_ns` (monotonic), then returns 0; or until stop_fd is readable or
 * closed, then returns 1. */
int http_serve_wait(struct http_server *s, int stop_fd, int64_t until_ns);
void http_serve_free(struct http_server *s);
#endif
