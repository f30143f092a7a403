/* fault-server.c: an MLflow server (api.h) that misbehaves by script.
 *
 *   fault-server [--port N] [--journal FILE] [--script FILE] [--idle SECONDS] [--body-max BYTES] [--unfiltered]
 *
 * prints "port N" and serves until it is killed. A line of the script: PATTERN FROM[-[TO]] KIND [ARGUMENT…]: of the requests whose "METHOD URI"
 * contains PATTERN ("*": all) the FROM-th to the TO-th (from 1) meet the fault; the first line that fits wins. POST /fault/script sets a new
 * script and forgets the log, GET /fault/log returns a line for each request: "METHOD URI KIND auth=… workspace=… type=… expect=… host=…".
 * `after-KIND` does what is asked before the fault; faults.c lists the kinds. */
#include "server/faults.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

struct rule {
    char *pattern, *kind, *argument;
    uint64_t from, to, seen;
};

struct server {
    struct api *api;
    pthread_mutex_t lock;
    struct rule *rules;
    size_t n_rules;
    struct buf log;
    uint64_t body_max;
};

struct request {
    char *uri;
    struct buf body;
    bool begun;
    const struct rule *rule;
};

static void script_set(struct server *s, struct str script)
{
    pthread_mutex_lock(&s->lock);
    s->rules = calloc(1000, sizeof *s->rules);
    s->n_rules = 0;
    buf_clear(&s->log);
    while (script.p && s->n_rules < 1000) {
        struct str line = str_cut(&script, '\n'), pattern = str_word(&line), range = str_word(&line), kind = str_word(&line);
        if (!kind.n || pattern.p[0] == '#')
            continue;
        struct rule *r = &s->rules[s->n_rules++];
        struct str from = str_cut(&range, '-');
        *r = (struct rule){.pattern = strndup(pattern.p, pattern.n), .kind = strndup(kind.p, kind.n), .from = 1, .to = UINT64_MAX};
        line = str_trim(line);
        r->argument = strndup(line.n ? line.p : "", line.n);
        str_uint(from, &r->from);
        if (!range.p)
            r->to = r->from;
        else if (range.n)
            str_uint(range, &r->to);
    }
    pthread_mutex_unlock(&s->lock);
}

static const struct rule *rule_for(struct server *s, const char *line)
{
    const struct rule *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_rules; i++) {
        struct rule *r = &s->rules[i];
        if (strcmp(r->pattern, "*") != 0 && !strstr(line, r->pattern))
            continue;
        r->seen++;
        if (!found && r->seen >= r->from && r->seen <= r->to)
            found = r;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
    return value ? value : "-";
}

static void log_add(struct server *s, struct MHD_Connection *c, const char *method, const char *uri, const char *kind)
{
    pthread_mutex_lock(&s->lock);
    buf_printf(&s->log, "%s %s %s auth=%s workspace=%s type=%s expect=%s host=%s\n", method, uri, kind, header(c, "Authorization"),
               header(c, "X-MLFLOW-WORKSPACE"), header(c, "Content-Type"), header(c, "Expect"), header(c, "Host"));
    pthread_mutex_unlock(&s->lock);
}

static enum MHD_Result reply(struct MHD_Connection *c, const struct answer *a)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(a->body.n, a->body.p ? a->body.p : (char *)"", MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(r, "Content-Type", a->type);
    if (a->etag)
        MHD_add_response_header(r, "ETag", a->etag);
    enum MHD_Result rc = MHD_queue_response(c, (unsigned)a->status, r);
    MHD_destroy_response(r);
    return rc;
}

static enum MHD_Result control(struct server *s, struct MHD_Connection *c, const struct request *q)
{
    struct answer a = {.status = 200, .type = "text/plain"};
    buf_init(&a.body, 64 << 20);
    if (strcmp(q->uri, "/fault/script") == 0)
        script_set(s, buf_text(&q->body));
    else {
        pthread_mutex_lock(&s->lock);
        buf_str(&a.body, buf_text(&s->log));
        pthread_mutex_unlock(&s->lock);
    }
    enum MHD_Result rc = reply(c, &a);
    buf_deinit(&a.body);
    return rc;
}

/* The whole request is here. */
static enum MHD_Result act(struct server *s, struct MHD_Connection *c, const char *method, struct request *q)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    const char *kind = q->rule ? q->rule->kind : "fine";
    bool after = strncmp(kind, "after-", 6) == 0;
    struct answer a = {.status = 200, .type = "application/json"};
    if (!q->rule || after || fault_needs_answer(kind))
        api_do(s->api, method, q->uri, header(c, "Host"), buf_text(&q->body), &a);
    if (q->rule) {
        fault_do(info->connect_fd, kind + (after ? 6 : 0), q->rule->argument, q->uri, &a);
        buf_deinit(&a.body);
        return MHD_NO; /* what was to be said is said: the connection is closed */
    }
    enum MHD_Result rc = reply(c, &a);
    buf_deinit(&a.body);
    return rc;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *bytes,
                                  size_t *n, void **state)
{
    struct server *s = context;
    struct request *q = *state;
    (void)url;
    (void)version;
    bool ours = strncmp(q->uri, "/fault/", 7) == 0;
    if (!q->begun) {
        struct buf line;
        buf_init(&line, 1 << 20);
        buf_printf(&line, "%s %s", method, q->uri);
        q->begun = true;
        buf_init(&q->body, 1 << 30);
        if (!ours) {
            q->rule = rule_for(s, line.p);
            log_add(s, c, method, q->uri, q->rule ? q->rule->kind : "fine");
        }
        buf_deinit(&line);
        if (q->rule && strcmp(q->rule->kind, "early") == 0) { /* refused before the body is read, as proxies do */
            struct answer a = {.status = atol(q->rule->argument), .type = "text/html"};
            buf_init(&a.body, 1000);
            buf_puts(&a.body, "<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>");
            return reply(c, &a);
        }
        return MHD_YES;
    }
    if (*n) {
        buf_add(&q->body, bytes, *n);
        *n = 0;
        return MHD_YES;
    }
    if (!ours && s->body_max && q->body.n > s->body_max) {
        struct answer a = {.status = 413, .type = "text/html"};
        buf_init(&a.body, 1000);
        buf_puts(&a.body, "<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>");
        return reply(c, &a);
    }
    return ours ? control(s, c, q) : act(s, c, method, q);
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *c)
{
    struct request *q = calloc(1, sizeof *q);
    (void)context;
    (void)c;
    q->uri = strdup(uri);
    return q;
}

static void on_completed(void *context, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
    struct request *q = *state;
    (void)context;
    (void)c;
    (void)code;
    if (!q)
        return;
    buf_deinit(&q->body);
    free(q->uri);
    free(q);
}

static uint64_t number(const char *text)
{
    uint64_t n = 0;
    if (!str_uint(str_of(text), &n)) {
        fprintf(stderr, "fault-server: \"%s\" is not a number\n", text);
        exit(2);
    }
    return n;
}

static void script_file(struct server *s, const char *path)
{
    char text[64 << 10];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(2);
    }
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    script_set(s, (struct str){text, n});
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"port", 1, NULL, 'p'}, {"journal", 1, NULL, 'j'}, {"script", 1, NULL, 's'},
                                            {"idle", 1, NULL, 'i'}, {"body-max", 1, NULL, 'b'}, {"unfiltered", 0, NULL, 'u'}, {0}};
    struct server s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *journal = NULL;
    unsigned idle = 0;
    bool unfiltered = false;
    buf_init(&s.log, 64 << 20);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that dies leaves nothing */
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'p': at.sin_port = htons((uint16_t)number(optarg)); break;
        case 'j': journal = optarg; break;
        case 's': script_file(&s, optarg); break;
        case 'i': idle = (unsigned)number(optarg); break;
        case 'b': s.body_max = number(optarg); break;
        case 'u': unfiltered = true; break;
        default: return 2;
        }
    s.api = api_new(journal, unfiltered);
    if (!s.api) {
        perror(journal);
        return 1;
    }
    struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL, NULL, on_request, &s,
                                            MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL,
                                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_CONNECTION_TIMEOUT, idle,
                                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)256 << 10, MHD_OPTION_END);
    if (!d) {
        fprintf(stderr, "fault-server: cannot listen\n");
        return 1;
    }
    printf("port %u\n", (unsigned)MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    for (;;)
        pause();
}
