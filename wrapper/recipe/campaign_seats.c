/* campaign_seats.c: where processes of a campaign run: nodes, ports, names in their texts, environment, logs. */
#include "base/array.h"
#include "base/fs.h"
#include "base/home_path.h"
#include "base/place.h"
#include "recipe/campaign.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_MAX = 64 << 10 };

/* ---- nodes ---- */

static size_t node_offset(const struct recipe_point *p, const struct recipe_part *part)
{
    size_t at = 0;
    for (size_t i = 0; &p->parts[i] != part; i++)
        if (recipe_has_own_nodes(&p->parts[i]))
            at += p->parts[i].nodes;
    return at;
}

/* The campaign's nodes that no role of the point names, up to n; their number. */
static size_t free_nodes(const struct campaign *c, const struct recipe_point *p, const struct campaign_node **to, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < c->hosts.count && count < n; i++)
        if (!c->hosts.is_slurm || !recipe_has_host(p, c->hosts.nodes[i].name))
            to[count++] = &c->hosts.nodes[i];
    return count;
}

struct campaign_seat *campaign_seats(struct campaign *c, const struct recipe_point *p, const struct recipe_part *part, struct arena *a,
                                     const char **ret_why)
{
    const struct recipe_part *at =
        part->role->nodes_of ? &p->parts[part->role->nodes_of - c->recipe->roles] : part; /* whose nodes they are */
    char **hosts = part->hosts ? part->hosts : at->hosts;
    size_t first = node_offset(p, at), n = part->nodes * part->instances;
    struct campaign_seat *seats = arena_get(a, (n + 1) * sizeof *seats);
    const struct campaign_node **nodes = arena_get(a, (first + part->nodes + 1) * sizeof *nodes);
    size_t count = nodes && !hosts ? free_nodes(c, p, nodes, first + part->nodes) : 1;
    if (c->hosts.is_slurm && !hosts && first + part->nodes > count) {
        *ret_why = arena_printf(c->arena, "the point needs %zu nodes, and the allocation has %zu", recipe_nodes_of(p), c->hosts.count);
        return NULL;
    }
    for (size_t i = 0; seats && nodes && i < n; i++) {
        size_t node = i / part->instances;
        const struct campaign_node *on = hosts ? &c->hosts.nodes[0] : nodes[(first + node) % count];
        const char *name = hosts ? hosts[node] : on->name;
        for (size_t k = 0; hosts && k < c->hosts.count; k++)
            if (strcmp(name, c->hosts.nodes[k].name) == 0)
                on = &c->hosts.nodes[k];
        seats[i] = (struct campaign_seat){.node = arena_dup(a, name, strlen(name)), .host = on->address, .instance = i, .group = on->group};
    }
    if (a->failed)
        *ret_why = "out of memory";
    return a->failed ? NULL : seats;
}

/* ---- ports ---- */

/* Binds the port for a moment; 0: any free one. Returns the port, 0: it cannot be bound. */
static unsigned try_port(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t n = sizeof at;
    int one = 1;
    CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(fd, (struct sockaddr *)&at, sizeof at) ||
        listen(fd, 1) || getsockname(fd, (struct sockaddr *)&at, &n))
        return 0;
    return ntohs(at.sin_port);
}

/* Is the port free on the seat's node? On this node it is bound for a moment. Elsewhere it is free where no process
 * accepts a connection; 0 stands for a port between those that clients and servers use by default. */
static unsigned try_port_of_seat(const struct campaign *c, const struct campaign_seat *seat, unsigned port)
{
    if (!port && c->hosts.is_slurm)
        port = 20000 + (unsigned)rand() % 12000;
    return c->hosts.is_slurm && campaign_can_connect(c, seat->host, port) ? 0 : try_port(port);
}

/* Returns true if another seat of the campaign has the port, which may not listen yet. */
static bool is_port_taken(const struct campaign *c, const struct campaign_seat *mine, unsigned port)
{
    for (size_t i = 0; i < RECIPE_ROLES_MAX; i++) {
        const struct campaign_service *s = &c->services[i];
        for (size_t k = 0; k < s->seat_count; k++)
            for (size_t n = 0; n < s->port_count; n++)
                if (&s->seats[k] != mine && s->seats[k].ports[n] == port && strcmp(s->seats[k].host, mine->host) == 0)
                    return true;
    }
    return false;
}

int campaign_take_ports(struct campaign *c, const struct recipe_part *part, struct campaign_seat *seat, struct err *err)
{
    for (size_t i = 0; i < part->port_count; i++) {
        unsigned asked = part->ports[i].number ? part->ports[i].number + (unsigned)(seat->instance % part->instances) : 0, port = 0;
        if (asked && asked <= 65535 && !is_port_taken(c, seat, asked))
            port = try_port_of_seat(c, seat, asked);
        for (int tries = 0; !port && tries < 100; tries++)
            if ((port = try_port_of_seat(c, seat, 0)) && is_port_taken(c, seat, port))
                port = 0;
        if (!port)
            return err_set(err, ERR_SYSTEM, "no port is free for %s", part->role->name);
        seat->ports[i] = port;
        if (part->ports[i].number && port != asked)
            campaign_say(c, "%s: port %u is occupied or not allowed; it gets port %u", part->role->name, asked, port);
    }
    return 0;
}

/* ---- names in texts ---- */

static unsigned port_named(const struct campaign_service *s, const struct campaign_seat *seat, struct str name)
{
    for (size_t i = 0; i < s->port_count; i++)
        if (str_is(name, s->ports[i].name))
            return seat->ports[i];
    return 0;
}

unsigned campaign_client_port(const struct campaign_service *s, const struct campaign_seat *seat)
{
    unsigned port = port_named(s, seat, STR("http"));
    return port || !s->port_count ? port : seat->ports[0];
}

static const char *port_text(struct arena *a, unsigned number)
{
    return number ? arena_printf(a, "%u", number) : NULL;
}

static const char *join_seats(struct campaign_scope *x, const struct campaign_service *s, const char *before, bool with_port)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < s->open_count; i++) {
        buf_printf(&b, "%s%s%s", i ? "," : "", before, s->seats[i].host);
        if (with_port)
            buf_printf(&b, ":%u", campaign_client_port(s, &s->seats[i]));
    }
    return b.failed ? NULL : arena_dup(x->arena, b.p ? b.p : "", b.n);
}

/* Returns the host or the port of an address such as http://node:8000/v1, in the arena. NULL: out of
 * memory. */
static const char *part_of_address(struct arena *a, const char *address, bool port)
{
    const char *from = strstr(address, "://"), *host = from ? from + 3 : address;
    size_t n = strcspn(host, "/"), literal = *host == '[' ? strcspn(host, "]") : 0; /* [::1]:8000 */
    const char *colon = literal < n ? memchr(host + literal, ':', n - literal) : NULL;
    if (port)
        return colon ? arena_dup(a, colon + 1, n - (size_t)(colon + 1 - host)) : strncmp(address, "https://", 8) == 0 ? "443" : "80";
    if (literal && literal < n)
        return arena_dup(a, host + 1, literal - 1);
    return arena_dup(a, host, colon ? (size_t)(colon - host) : n);
}

/* Returns the value of {SERVICE.KEY}, such as url or hosts, in the scope's arena. NULL: the service
 * is not up, or has no such key. */
static const char *name_of_service(struct campaign_scope *x, const struct campaign_service *s, struct str key)
{
    if (!s->is_up && !s->endpoint)
        return NULL;
    if (s->endpoint)
        return str_is(key, "url") || str_is(key, "urls") ? s->endpoint
               : str_is(key, "host")                     ? part_of_address(x->arena, s->endpoint, false)
               : str_is(key, "port")                     ? part_of_address(x->arena, s->endpoint, true)
                                                         : NULL;
    if (str_is(key, "host"))
        return s->seats[0].host;
    if (str_is(key, "port"))
        return port_text(x->arena, campaign_client_port(s, &s->seats[0]));
    if (str_is(key, "url"))
        return arena_printf(x->arena, "http://%s:%u", s->seats[0].host, campaign_client_port(s, &s->seats[0]));
    if (str_is(key, "urls"))
        return join_seats(x, s, "http://", true);
    if (str_is(key, "addresses"))
        return join_seats(x, s, "", true);
    if (str_is(key, "hosts"))
        return join_seats(x, s, "", false);
    return str_starts(key, "ports.") ? port_text(x->arena, port_named(s, &s->seats[0], str_sub(key, 6, key.n))) : NULL;
}

const char *campaign_lookup(void *context, struct str name)
{
    struct campaign_scope *x = context;
    const struct campaign_service *s = x->service;
    if (str_is(name, "campaign"))
        return x->c->state.folder;
    if (x->seat && str_is(name, "host"))
        return x->seat->host;
    if (x->seat && str_is(name, "node"))
        return x->seat->node;
    if (x->seat && str_is(name, "instance"))
        return arena_printf(x->arena, "%zu", x->seat->instance);
    if (s && s->seats && str_is(name, "head"))
        return s->seats[0].host;
    if (s && s->seats && str_starts(name, "head.ports."))
        return port_text(x->arena, port_named(s, &s->seats[0], str_sub(name, 11, name.n)));
    if (s && x->seat && str_is(name, "port"))
        return port_text(x->arena, campaign_client_port(s, x->seat));
    if (s && x->seat && str_starts(name, "ports."))
        return port_text(x->arena, port_named(s, x->seat, str_sub(name, 6, name.n)));
    for (size_t i = 0; i < x->c->recipe->role_count; i++) {
        size_t n = strlen(x->c->recipe->roles[i].name);
        if (str_starts(name, x->c->recipe->roles[i].name) && name.n > n && name.p[n] == '.')
            return name_of_service(x, &x->c->services[i], str_sub(name, n + 1, name.n));
    }
    return NULL;
}

/* ---- starting ---- */

const char *campaign_secret_path(const struct yaml *file, struct arena *a)
{
    return home_path(arena_dup(a, file->text.p, file->text.n), a);
}

/* NAME=VALUE of a variable whose value is in a file; NULL: it cannot be read. */
static char *secret_variable(const struct yaml *file, struct arena *a)
{
    CLEANUP_BUF struct buf text;
    const char *path = campaign_secret_path(file, a);
    buf_init(&text, SECRET_MAX + 1);
    if (!path || fs_read(AT_FDCWD, path, SECRET_MAX, FS_LINKS, &text, NULL))
        return NULL;
    struct str value = str_trim(buf_text(&text));
    return memchr(value.p, 0, value.n) ? NULL : arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(file->key), STR_ARG(value));
}

/* The variables that the process has besides those of benchwrap. */
static char **part_variables(const struct recipe_part *part, size_t *ret_n, struct arena *a)
{
    const struct yaml *files = part ? yaml_get(part->role->at, "secret_files") : NULL;
    size_t n = 0, more = 0;
    while (part && part->env && part->env[n])
        n++;
    for (const struct yaml *y = files ? files->child : NULL; y; y = y->next)
        more++;
    char **list = arena_get(a, (n + more + 1) * sizeof *list);
    if (!list)
        return NULL;
    if (n)
        memcpy(list, part->env, n * sizeof *list);
    for (const struct yaml *y = files ? files->child : NULL; y; y = y->next)
        if ((list[n] = secret_variable(y, a)))
            n++;
    *ret_n = n;
    return list;
}

char **campaign_process_env(const struct recipe_part *part, struct arena *a)
{
    size_t n = 0, k = 0, at = 0;
    char **more = part_variables(part, &k, a);
    while (environ[n])
        n++;
    char **env = arena_get(a, (n + k + 2) * sizeof *env);
    if (!env || !more)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t name = strcspn(environ[i], "=");
        bool replaced = false;
        for (size_t m = 0; m < k; m++)
            replaced |= strncmp(environ[i], more[m], name + 1) == 0;
        if (!replaced)
            env[at++] = environ[i];
    }
    for (size_t i = 0; i < k; i++)
        env[at++] = more[i];
    env[at] = NULL;
    return env;
}

/* A name as a part of a file's name. */
static const char *file_part(const char *text, struct arena *a)
{
    char *copy = arena_dup(a, text, strlen(text));
    for (char *p = copy; p && *p; p++)
        if (!str_is_letter(*p) && !str_is_digit(*p) && !strchr("_-", *p))
            *p = '_';
    return copy;
}

const char *campaign_log_name(const char *component, const struct campaign_seat *seat, struct arena *a)
{
    const char *name = file_part(component, a), *node = file_part(seat->node, a);
    return name && node ? arena_printf(a, "%s.%zu.%s", name, seat->instance, node) : NULL;
}

const char *campaign_last_line(struct campaign *c, const char *log_name)
{
    enum { TAIL_BYTES = 2000, SHOWN_BYTES = 200 };
    CLEANUP_BUF struct buf shown;
    char tail[TAIL_BYTES], file[1200];
    struct stat st;
    snprintf(file, sizeof file, "logs/%.1000s.err", log_name ? log_name : "");
    CLEANUP_FD int fd = log_name ? place_open(c->state.dir, file, O_RDONLY, 0) : -1;
    ssize_t n = fd < 0 || fstat(fd, &st) ? -1 : pread(fd, tail, sizeof tail, st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0);
    struct str text = str_trim((struct str){tail, n > 0 ? (size_t)n : 0});
    const char *line = text.n ? memrchr(text.p, '\n', text.n) : NULL;
    buf_init(&shown, 4 * SHOWN_BYTES);
    if (text.n)
        buf_plain(&shown, line ? (struct str){line + 1, text.n - (size_t)(line + 1 - text.p)} : text, SHOWN_BYTES);
    const char *words = arena_printf(c->arena, "%s%s (%s)", shown.n ? ": " : "", shown.n ? shown.p : "", log_name ? file : "logs");
    return words ? words : "";
}

int campaign_start(struct campaign *c, struct campaign_process *ret, const char *component, const struct campaign_seat *seat, char **words,
                   char **env, bool is_launcher, struct arena *a, struct err *err)
{
    const char *name = campaign_log_name(component, seat, a), *base = name ? arena_printf(a, "%s/logs/%s", c->state.folder, name) : NULL;
    struct keeper_plan plan = {.words = words, .env = env, .grace_s = c->grace_s, .is_launcher = is_launcher};
    plan.out = base ? arena_printf(a, "%s.out", base) : NULL;
    plan.err = base ? arena_printf(a, "%s.err", base) : NULL;
    if (!plan.out || !plan.err || !words || !env)
        return err_memory(err, "%s", component);
    *ret = (struct campaign_process){.component = component, .seat = seat};
    return keeper_start(&ret->keeper, &plan, err);
}
