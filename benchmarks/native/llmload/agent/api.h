/* api.h: a small HTTP server for control: requests with short bodies, answered one at a time (over
 * libmicrohttpd, loaded at run time). */
#ifndef LLMLOAD_API_H
#define LLMLOAD_API_H
#include "base/buf.h"
#include "base/err.h"

struct api;

struct api_call {
    const char *method, *path;
    struct str body;
};
/* Fills body (empty before) and returns the HTTP status. *type: "application/json" unless it is
 * set. One call at a time. */
typedef unsigned api_handler(void *context, const struct api_call *call, struct buf *body, const char **type);

struct api_config {
    const char *address; /* IPv4, IPv6 or a name of this host */
    uint16_t port;       /* 0: any */
    const char *token;   /* every request needs "Authorization: Bearer TOKEN", or a signature by it (token.h) */
    api_handler *handler;
    void (*sent)(void *context); /* a reply has gone out; NULL */
    void *context;
};
/* Requests from web pages (an Origin header) are refused: a page in a browser may connect to
 * loopback. ERR_SYSTEM: no libmicrohttpd, or the address is not free. */
int api_start(struct api **ret, const struct api_config *config, struct err *err);
uint16_t api_port(const struct api *a);
void api_stop(struct api *a); /* NULL is allowed */
/* Fills the body with an object of one text, and a line end. */
void api_answer_text(struct buf *body, const char *key, const char *text);
/* 0, or -1 with ERR_SYSTEM where this build or this machine has no agents; the text names the step
 * that adds them. */
int api_check(struct err *err);
#endif
