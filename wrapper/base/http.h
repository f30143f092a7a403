/* http.h: an HTTP client: requests one after the other over a kept connection.
 *
 * libcurl is loaded (dlopen) when the first client is made: it costs several milliseconds, which no measured program shall wait for, and a
 * machine without it can do all but talk to servers. A client is one thread's.
 *
 * TCP_QUICKACK is re-armed before every wait: Python servers send header and body in two segments with Nagle's algorithm on, and without it
 * each reply waits 40 ms for the delayed acknowledgement of the first. */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct http;
/* The reason of a request that was sent and got no answer: the server may have executed it. */
#define HTTP_NO_ANSWER "the server closed the connection without an answer"

struct http_config {
    const char *agent;           /* User-Agent */
    const char *ca_file;         /* PEM certificates (a file, or a folder of them) that are trusted instead of the system's; NULL */
    const char *client_cert;     /* PEM file with certificate and key; NULL */
    const char *user, *password; /* basic authentication; user NULL: none */
    const char *bearer;          /* token, used where there is no user; NULL */
    const char *const *headers;  /* "Name: value", sent with every request (not with foreign ones); NULL-terminated, or NULL */
    const char *proxy;           /* except for no_proxy; NULL: by http_proxy, https_proxy, all_proxy, no_proxy; "": none */
    const char *sigv4;           /* "aws:amz:REGION:SERVICE": requests are signed so, with user and password as key and secret; NULL */
    const char *unix_socket;     /* path of the socket to connect to instead of the address's host; NULL */
    bool insecure;               /* certificates are not checked */
    bool no_redirects;
    double connect_s, total_s;   /* at most so long for a connection, and for a complete request that moves no file; 0: 10 and 120 */
    double stall_s;              /* stop when fewer than 10 bytes per second came for so long; 0: 30 */
    int cancel_fd;               /* aborts a request as soon as it is readable; -1: none */
};

/* Makes a client with copies of all texts. 0 with *ret, which the caller frees with http_free; -1 with
 * ERR_SYSTEM: libcurl cannot be loaded (the text names the package), or out of memory. */
int http_new(struct http **ret, const struct http_config *config, struct err *err);
void http_free(struct http *h); /* NULL is allowed */

struct http_request {
    const char *method, *url;
    const char *type;        /* Content-Type of the body; NULL: application/octet-stream */
    struct str body;         /* p NULL: none, or from body_fd */
    int body_fd;             /* with body_bytes > 0 and body.p NULL: read from here with pread */
    uint64_t body_at, body_bytes;
    const char *const *headers; /* further ones; NULL */
    bool foreign;            /* not the server of the configuration (a presigned address): no credentials, none of its headers */
    bool fresh;              /* on a new connection, unless the kept one was used within a second: libcurl repeats a request silently when a kept
                              * one breaks before the reply, as idle ones do */
    bool parting;            /* a last message, sent even while cancel_fd is readable; 5 s at most */
    double total_s;          /* at most so long for this request; 0: the client's */
    size_t reply_max;        /* bytes of the reply that are kept; 0: 16 MiB. A longer one is an error */
    int reply_fd;            /* with to_fd: a successful reply is written here, without regard to reply_max */
    bool to_fd;
};

enum http_trouble {
    HTTP_FINE,
    HTTP_UNSENT,    /* no connection: nothing can have happened at the server */
    HTTP_UNKNOWN,   /* it broke after the connection was made: the server may have executed the request */
    HTTP_UNTRUSTED, /* certificates: the server's is not trusted, or the client's cannot be used */
    HTTP_HOPELESS,  /* address, too long a reply: trying again will not help */
    HTTP_CANCELLED,
};

struct http_reply {
    int status;              /* 200 … */
    struct buf body;         /* the caller frees it: http_reply_deinit */
    char type[100];          /* Content-Type */
    char etag[200];          /* ETag; "" if none came or it is longer */
    char peer[80];           /* address and port that answered: "127.0.0.1 5000" */
    double retry_after_s;    /* of the server; -1: none */
    int64_t date_s;          /* by the server's clock, since 1970: Date, and Age of a stored reply; 0: not known */
    int64_t limit_reset_s;   /* X-RateLimit-Reset or RateLimit-Reset where nothing remains: since 1970; 0: none */
    enum http_trouble trouble;
};
/* Makes one attempt. 0: a reply came, whatever its status. -1: none came; reply->trouble has the
 * reason. The err text names method and address (without credentials). */
int http_do(struct http *h, const struct http_request *q, struct http_reply *ret, struct err *err);
void http_reply_deinit(struct http_reply *r);

/* Appends s as part of an address: all but letters, digits and "-._~" as %XX; '/' stays if
 * keep_slash. */
void http_escape(struct buf *to, struct str s, bool keep_slash);
/* Appends the address for a message: without credentials and query (which may have a signature),
 * harmless for a terminal. */
void http_print_url(struct buf *to, const char *url);
/* Returns the version of the libcurl that can be loaded, or NULL. */
const char *http_library(void);
#endif
