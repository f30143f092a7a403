/* campaign_targets.c: the services of a campaign that are up, as another machine reaches them; see campaign_targets.h. */
#include "recipe/campaign_targets.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "recipe/campaign_live.h"

#include <pwd.h>
#include <unistd.h>

enum { TARGETS_MAX = 10000, LOCAL_FIRST = 1024, LOCAL_LAST = 65535 };

/* A word that needs no quotes in YAML and in a shell. */
static bool is_plain(const char *text)
{
    return text[0] && text[0] != '-' && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/")] == 0;
}

/* ---- reading ---- */

struct target_list {
    struct campaign_targets *to;
    size_t room, token_room;
    struct arena *a;
};

static bool is_local_taken(const struct campaign_targets *t, unsigned port)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->list[i].local == port)
            return true;
    return port == LAPTOP_PROMETHEUS || port == LAPTOP_GRAFANA;
}

/* The same port where it is free, and not one of root's. */
static unsigned local_port(const struct campaign_targets *t, unsigned port)
{
    unsigned local = port < LOCAL_FIRST ? port + 10000 : port;
    while (is_local_taken(t, local))
        local = local == LOCAL_LAST ? LOCAL_FIRST : local + 1;
    return local;
}

static size_t number_token(struct target_list *l, const char *file)
{
    struct campaign_targets *t = l->to;
    size_t k = 0;
    while (k < t->token_count && strcmp(t->tokens[k], file) != 0)
        k++;
    if (k == t->token_count && ARRAY_FITS_IN(l->a, t->tokens, l->token_room, k + 1))
        t->tokens[t->token_count++] = file;
    return k;
}

static void add_target(struct target_list *l, struct campaign_target target)
{
    if (!is_plain(target.host) || !is_plain(target.role) || !is_plain(target.node) || (target.metrics && !is_plain(target.metrics)) ||
        !target.port || l->to->count == TARGETS_MAX || !ARRAY_FITS_IN(l->a, l->to->list, l->room, l->to->count + 1))
        return;
    target.local = local_port(l->to, target.port);
    target.token_number = target.token ? number_token(l, target.token) : 0;
    l->to->list[l->to->count++] = target;
}

static const char *target_text(const struct json *j, const char *key, struct arena *a)
{
    const char *text = json_string(json_get(j, key), NULL);
    return text ? arena_dup(a, text, strlen(text)) : NULL;
}

static unsigned target_port(const struct json *j, const char *key)
{
    int64_t port = json_integer(json_get(j, key), 0);
    return port > 0 && port <= LOCAL_LAST ? (unsigned)port : 0;
}

/* The address of its clients, and that of its metrics where they have a port of their own. */
static void add_service_targets(struct target_list *l, const struct json *s)
{
    const char *role = target_text(s, "role", l->a), *node = target_text(s, "node", l->a), *host = target_text(s, "host", l->a);
    struct campaign_target target = {.role = role ? role : "",
                                     .node = node ? node : "",
                                     .host = host ? host : "",
                                     .instance = json_integer(json_get(s, "instance"), 0),
                                     .port = target_port(s, "port"),
                                     .metrics = target_text(s, "metrics", l->a),
                                     .token = target_text(s, "token", l->a)};
    unsigned metrics_port = target_port(s, "metrics_port");
    if (target.metrics && metrics_port && metrics_port != target.port) {
        struct campaign_target metrics = target;
        metrics.port = metrics_port;
        target.metrics = NULL;
        add_target(l, target);
        add_target(l, metrics);
    } else
        add_target(l, target);
}

/* The Pushgateway of `monitoring`. What the recipe calls localhost is the host of the campaign's process. */
static void add_gateway_target(struct target_list *l, const struct json *live)
{
    const char *url = json_string(json_get(live, "pushgateway"), ""), *scheme = strstr(url, "://"), *own = target_text(live, "host", l->a);
    struct str rest = str_of(scheme ? scheme + 3 : url), at = str_sub(rest, 0, strcspn(rest.p, "/")), port = at, host = str_cut(&port, ':');
    int64_t number = 9091;
    if (!host.n || (port.p && !str_int(port, &number)) || number < 1 || number > LOCAL_LAST)
        return;
    bool is_own = str_is(host, "localhost") || str_is(host, "127.0.0.1");
    const char *name = is_own && own ? own : arena_dup(l->a, host.p, host.n);
    if (name)
        add_target(
            l, (struct campaign_target){
                   .role = "pushgateway", .node = name, .host = name, .port = (unsigned)number, .metrics = "/metrics", .is_gateway = true});
}

int campaign_targets_read(struct campaign_targets *ret, const char *folder, struct arena *a, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct json *live = NULL;
    CLEANUP_FD int dir = place_open_folder(folder, 0);
    struct err why = {0};
    struct target_list list = {.to = ret, .a = a};
    *ret = (struct campaign_targets){0};
    buf_init(&text, CAMPAIGN_LIVE_MAX + 1);
    if (dir >= 0 && fs_read(dir, CAMPAIGN_LIVE, CAMPAIGN_LIVE_MAX, 0, &text, &why) == 0 &&
        json_parse(&live, buf_text(&text), NULL, &why) == 0) {
        for (const struct json *s = json_first(json_get(live, "services")); s; s = json_next(s))
            add_service_targets(&list, s);
        if (ret->count)
            add_gateway_target(&list, live);
    }
    json_free(live);
    if (a->failed)
        return err_memory(err, "the services");
    return ret->count ? 0 : err_set(err, ERR_INPUT, "no service of the campaign is up");
}

/* ---- printing ---- */

void campaign_targets_scrape(const struct campaign_targets *t, bool local, struct buf *to)
{
    buf_puts(to, "scrape_configs:\n");
    for (size_t i = 0; i < t->count; i++) {
        const struct campaign_target *x = &t->list[i];
        if (!x->metrics)
            continue;
        buf_printf(to, "  - job_name: %s.%lld\n    metrics_path: %s\n", x->role, x->instance, x->metrics);
        if (x->token && local)
            buf_printf(to, "    authorization: {credentials_file: token-%zu}\n", x->token_number);
        else if (x->token) {
            buf_puts(to, "    authorization: {credentials_file: ");
            buf_json(to, str_of(x->token));
            buf_puts(to, "}\n");
        }
        if (x->is_gateway)
            buf_puts(to, "    honor_labels: true\n");
        buf_printf(to, "    static_configs:\n      - targets: [\"%s:%u\"]\n        labels: {node: \"%s\"}\n", local ? "127.0.0.1" : x->host,
                   local ? x->local : x->port, x->node);
    }
}

const char *campaign_targets_login(struct arena *a)
{
    struct passwd entry, *user = NULL;
    char names[4096], host[256] = "";
    if (getpwuid_r(getuid(), &entry, names, sizeof names, &user) != 0)
        user = NULL;
    campaign_own_host(host, sizeof host);
    bool known = user && is_plain(user->pw_name);
    return arena_printf(a, "%s%s%s", known ? user->pw_name : "", known ? "@" : "", is_plain(host) ? host : "LOGIN_NODE");
}

int campaign_targets_print(const char *folder, bool tunnels, struct buf *to, struct err *err)
{
    struct campaign_targets t;
    struct arena a;
    arena_init(&a, 0);
    int rc = campaign_targets_read(&t, folder, &a, err);
    const char *login = campaign_targets_login(&a);
    if (rc == 0 && !tunnels)
        campaign_targets_scrape(&t, false, to);
    for (size_t i = 0; rc == 0 && tunnels && login && i < t.count; i++)
        buf_printf(to, "ssh -N -L %u:%s:%u %s\n", t.list[i].local, t.list[i].host, t.list[i].port, login);
    if (rc == 0 && (to->failed || !login))
        rc = err_memory(err, "the services");
    arena_deinit(&a);
    return rc;
}
