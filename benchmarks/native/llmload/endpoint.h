/* endpoint.h: the addresses that a load goes to. */
#ifndef LLMLOAD_ENDPOINT_H
#define LLMLOAD_ENDPOINT_H
#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { ENDPOINT_ADDRESSES = 8 };

struct endpoint {
    const char *url; /* as given, credentials removed */
    const char *host; /* for the Host header, port included where it is not the default */
    const char *path; /* of requests */
    const char *query; /* of the URL, to go behind every path: "?api-version=2", or "" */
    const char *prefix; /* what goes before /health, /metrics, /v1/models: the URL's path before its /v1; "": nothing */
    const char *base; /* scheme://host:port, for other paths of the same server; unix: that of the socket, with host localhost */
    const char *socket; /* path of a Unix socket, or NULL */
    bool tls;
    struct {
        union {
            struct sockaddr any;
            struct sockaddr_storage storage;
            struct sockaddr_un local;
        } u;
        socklen_t length;
        int family;
    } address[ENDPOINT_ADDRESSES];
    unsigned addresses;
};

/* Accepts "http://host:port[/path][?query]", "host:port", "https://…",
 * "unix:/socket[:/path[?query]]" separate; texts go to the arena. path NULL or "/" in the URL: that
 * of the dialect; a path that ends in "/v1" gets the rest of it; another one is the requests' own.
 * ERR_USAGE. */
int endpoint_read(struct endpoint *ret, const char *url, const char *dialect_path, struct arena *arena, struct err *err);
/* Resolves the name (blocks). ERR_REMOTE with the resolver's message. Does nothing for Unix sockets
 * and TLS, where libcurl resolves. */
int endpoint_resolve(struct endpoint *e, struct err *err);
/* Is the service on another machine, by its addresses? Resolves the name if that has not been done
 * (blocks). True where that fails: only a proxy knows the name. */
bool endpoint_is_elsewhere(struct endpoint *e);
#endif
