/* endpoint.c: the addresses that a load goes to; see endpoint.h. */
#include "benchmarks/native/llmload/endpoint.h"

#include "base/address.h"
#include "base/http.h"
#include "base/str.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { URL_MAX = 2000 };

/* Sets the address of a Unix socket from "SOCKET[:PATH]". *ret_path: the path, "" where there is
 * none. Returns 0, or another value with *err. */
static int read_unix(struct endpoint *e, struct str rest, const char **ret_path, struct arena *a, struct err *err)
{
    struct str path = str_cut(&rest, ':');
    struct sockaddr_un *local = &e->address[0].u.local;
    if (!path.n || path.n >= sizeof local->sun_path)
        return err_set(err, ERR_USAGE, "the path of a Unix socket must have 1 to %zu characters", sizeof local->sun_path - 1);
    e->socket = arena_dup(a, path.p, path.n);
    e->host = "localhost";
    e->base = arena_printf(a, "unix:%s", e->socket);
    *ret_path = rest.p ? arena_dup(a, rest.p, rest.n) : "";
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path.p, path.n);
    e->address[0].length = sizeof *local;
    e->address[0].family = AF_UNIX;
    e->addresses = 1;
    return 0;
}

/* Sets the request's path from the URL's path and the dialect's, and the prefix of the server's
 * other pages. Texts are in the arena or constant. */
static void endpoint_set_path(struct endpoint *e, struct str path, const char *dialect_path, struct arena *a)
{
    size_t n = path.n;
    e->path = dialect_path;
    e->prefix = "";
    while (n && path.p[n - 1] == '/')
        n--;
    if (n >= 3 && memcmp(path.p + n - 3, "/v1", 3) == 0 && strncmp(dialect_path, "/v1/", 4) == 0) {
        e->path = arena_printf(a, "%.*s%s", (int)n, path.p, dialect_path + 3);
        e->prefix = arena_dup(a, path.p, n - 3);
    } else if (n) {
        e->path = arena_dup(a, path.p, path.n);
    }
}

/* Sets path and query: the path of a URL goes before the API's, its query behind, a fragment
 * nowhere. Returns 0, or -1 with *err where both have a query. */
static int set_path(struct endpoint *e, const char *given, const char *dialect_path, struct arena *a, struct err *err)
{
    struct str rest = str_of(given), query = str_cut(&rest, '#'), path = str_cut(&query, '?');
    if (query.n && strchr(dialect_path, '?'))
        return err_set(err, ERR_USAGE, "--url and --path both have a ?query: leave one of them out");
    e->query = query.n ? arena_printf(a, "?%.*s", (int)query.n, query.p) : "";
    endpoint_set_path(e, path, dialect_path, a);
    return 0;
}

enum { SHOWN_SIZE = 81 };

/* Writes what a message may show of an address, which is not its query: that may hold a key. Returns
 * `ret`. */
static const char *shown_url(const char *url, char ret[SHOWN_SIZE])
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 2048);
    http_print_url(&text, url);
    snprintf(ret, SHOWN_SIZE, "%s", text.p ? text.p : "");
    return ret;
}

/* Returns whether an address has a user's name or password, also one that is wrong otherwise. */
static bool has_user(const char *url)
{
    const char *scheme = memmem(url, strcspn(url, "?#"), "://", 3), *host = scheme ? scheme + 3 : url;
    return strncmp(url, "unix:", 5) != 0 && memchr(host, '@', strcspn(host, "/?#"));
}

static bool has_no_blank(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return true;
}

int endpoint_read(struct endpoint *ret, const char *url, const char *dialect_path, struct arena *a, struct err *err)
{
    struct endpoint e = {0};
    struct str rest = str_of(url);
    const char *path = "", *scheme = "http://";
    char shown[SHOWN_SIZE];
    if (has_user(url))
        return err_set(err, ERR_USAGE,
                       "--url with a user's name or password in it: give --header \"Authorization: …\" by a file, or --key-file");
    if (!has_no_blank(rest) || !rest.n || rest.n > URL_MAX)
        return err_set(err, ERR_USAGE, "--url: expected an address such as http://node:8000, got \"%s\"", shown_url(url, shown));
    if (str_starts(rest, "unix:")) {
        if (read_unix(&e, str_sub(rest, 5, rest.n), &path, a, err) < 0)
            return err_wrap(err, "--url %s", shown_url(url, shown));
    } else {
        e.tls = str_starts(rest, "https://");
        if (e.tls)
            scheme = "https://";
        if (str_find(rest, str_of("://")) >= 0) {
            if (!e.tls && !str_starts(rest, "http://"))
                return err_set(err, ERR_USAGE, "--url: expected http://, https:// or unix:, got \"%s\"", shown_url(url, shown));
            rest = str_sub(rest, strlen(scheme), rest.n);
        }
        struct str host = {rest.p, strcspn(rest.p, "/?#")};
        path = rest.p + host.n;
        if (!host.n)
            return err_set(err, ERR_USAGE, "--url %s: no host in it", shown_url(url, shown));
        e.host = arena_dup(a, host.p, host.n);
        e.base = arena_printf(a, "%s%s", scheme, e.host);
    }
    e.url = url;
    if (set_path(&e, path, dialect_path, a, err) < 0)
        return -1;
    *ret = e;
    return a->failed ? err_sys(err, "addresses") : 0;
}

/* Appends the addresses of the host, ENDPOINT_ADDRESSES at most, with its port or 80. Returns 0, or
 * another value with *err. */
static int resolve_host(struct endpoint *e, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list;
    char host[256], port[8] = "80", shown[SHOWN_SIZE];
    struct str name = str_of(e->host);
    const char *bracket = memrchr(name.p, ']', name.n), *colon = memrchr(name.p, ':', name.n);
    if (colon && (!bracket || colon > bracket)) {
        struct str digits = {colon + 1, name.n - (size_t)(colon + 1 - name.p)};
        uint64_t n;
        if (!str_uint(digits, &n) || !n || n > 65535)
            return err_set(err, ERR_USAGE, "--url %s: expected a port from 1 to 65535, got \"%.20s\"", shown_url(e->url, shown), digits.p);
        memcpy(port, digits.p, digits.n + 1);
        name.n = (size_t)(colon - name.p);
    }
    if (name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = str_sub(name, 1, name.n - 2);
    if (!name.n || name.n >= sizeof host)
        return err_set(err, ERR_USAGE, "--url %s: no host in it", shown_url(e->url, shown));
    memcpy(host, name.p, name.n);
    host[name.n] = '\0';
    int status = getaddrinfo(host, port, &hints, &list);
    if (status)
        return err_set(err, ERR_REMOTE, "looking up %.80s: %s", host, gai_strerror(status));
    for (struct addrinfo *i = list; i && e->addresses < ENDPOINT_ADDRESSES; i = i->ai_next) {
        memcpy(&e->address[e->addresses].u.storage, i->ai_addr, i->ai_addrlen);
        e->address[e->addresses].length = i->ai_addrlen;
        e->address[e->addresses++].family = i->ai_family;
    }
    freeaddrinfo(list);
    return e->addresses ? 0 : err_set(err, ERR_REMOTE, "%.80s has no address", host);
}

int endpoint_resolve(struct endpoint *e, struct err *err)
{
    return e->socket || e->tls ? 0 : resolve_host(e, err);
}

bool endpoint_is_elsewhere(struct endpoint *e)
{
    if (e->socket)
        return false;
    if (!e->addresses && resolve_host(e, NULL) < 0)
        return true;
    for (unsigned i = 0; i < e->addresses; i++)
        if (address_is_own(&e->address[i].u.any))
            return false;
    return true;
}
