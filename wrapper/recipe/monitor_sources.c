/* monitor_sources.c: where the samples of a monitor come from; see monitor_sources.h. */
#include "recipe/monitor_sources.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/prom.h"
#include "collector/collector_lines.h"
#include "launch/collector.h"
#include "recipe/service_token.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NODE_SERIES = 400 /* as NAMES_MAX of the collector */,
    STEP_BYTES = 16 << 20,
    SERIES_MAX = 1 << 20,
    END_MS = 2000,
    ASK_S = 60,
    PAGE_MAX = 8 << 20,
    NUMBER_BYTES = 64 << 10
};

/* ---- nodes ---- */

int monitor_nodes_begin(struct monitor_nodes *ret, const char *core, char *const *srun, double interval_s, struct err *err)
{
    char period[40];
    size_t n = 0;
    const char *line[24];
    *ret = (struct monitor_nodes){.step = QUERY_NONE};
    snprintf(period, sizeof period, "%.0f", interval_s * 1000);
    for (; srun && *srun; srun++)
        line[n++] = *srun;
    const char *const rest[] = {core, NODE_WORD, "step", "private", period, NULL};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        line[n++] = rest[i];
    return query_start(&ret->step, (char *const *)line, environ, STEP_BYTES, 0, QUERY_INPUT, err);
}

/* The series with this number of a node, until the next call, which may move the list. NULL: out of memory, too many nodes,
 * or no legal number. */
static struct monitor_series *series_numbered(struct monitor_nodes *n, struct str node, int64_t number)
{
    size_t base = 0;
    while (base < n->count && !str_is(node, n->series[base].node))
        base += NODE_SERIES;
    if (number < 0 || number >= NODE_SERIES || base + NODE_SERIES > SERIES_MAX)
        return NULL;
    if (base == n->count) {
        struct monitor_series *more = realloc(n->series, (base + NODE_SERIES) * sizeof *more);
        char *name = strndup(node.p, node.n);
        if (!more || !name) {
            free(name);
            if (more)
                n->series = more;
            return NULL;
        }
        n->series = more;
        memset(more + base, 0, NODE_SERIES * sizeof *more);
        n->series[base].node = name;
        n->count = base + NODE_SERIES;
    }
    return &n->series[base + (size_t)number];
}

/* Passes the samples of one line of a node's collector to `to`. A line of kind "k" names a series
 * instead: its name is allocated and belongs to n. Ignores lines that are damaged. */
static void read_node_line(struct monitor_nodes *n, struct str line, monitor_sample *to, void *context)
{
    struct str node, array;
    struct json *j = NULL;
    struct err err = {0};
    if (!node_line_read(line, &node, &array) || json_parse(&j, array, NULL, &err))
        return;
    const char *kind = json_string(json_at(j, 0), "");
    if (strcmp(kind, "k") == 0) {
        struct monitor_series *s = series_numbered(n, node, json_integer(json_at(j, 1), -1));
        const char *name = json_string(json_at(j, 2), "");
        if (s && !s->name)
            s->name = strdup(name);
    } else if (strcmp(kind, "s") == 0)
        for (const struct json *number = json_at(j, 2), *value; number && (value = json_next(number)); number = json_next(value)) {
            struct monitor_series *s = series_numbered(n, node, json_integer(number, -1));
            char name[NODE_NAME_MAX + 1];
            snprintf(name, sizeof name, "%.*s", (int)node.n, node.p);
            if (s && s->name && json_is_number(value))
                to(context, name, "node", str_of(s->name), json_number(value, NAN));
        }
    json_free(j);
}

void monitor_nodes_read(struct monitor_nodes *n, monitor_sample *to, void *context)
{
    struct buf *text = &n->step.text;
    size_t taken = 0;
    if (n->step.end == QUERY_RUNS && (clock_mono_ns() - n->asked_ns) / 1000000000 >= ASK_S) { /* a collector that receives nothing ends */
        n->asked_ns = clock_mono_ns();
        (void)!write(n->step.in, "t 1\n", 4);
    }
    if (n->step.end == QUERY_RUNS)
        if (query_poll(&n->step) != QUERY_RUNS && !n->why[0])
            snprintf(n->why, sizeof n->why, "%.300s", n->step.why.n ? n->step.why.p : "the collectors ended");
    for (const char *end; text->n > taken && (end = memchr(text->p + taken, '\n', text->n - taken)); taken = (size_t)(end - text->p) + 1)
        read_node_line(n, (struct str){text->p + taken, (size_t)(end - text->p) - taken}, to, context);
    if (taken) {
        memmove(text->p, text->p + taken, text->n - taken + 1);
        text->n -= taken;
    }
}

void monitor_nodes_end(struct monitor_nodes *n)
{
    fs_close(&n->step.in);
    if (n->step.end == QUERY_RUNS)
        query_wait(&n->step, END_MS);
    query_close(&n->step);
    for (size_t i = 0; i < n->count; i++) {
        free(n->series[i].node);
        free(n->series[i].name);
    }
    free(n->series);
    n->series = NULL;
    n->count = 0;
}

/* ---- services ---- */

/* The percentile query of the HPC Benchmark Toolkit needs these. */
#define TOOLKIT_BUCKETS "_request_latency_seconds_bucket"

static bool is_histogram_part(const struct prom_sample *s)
{
    return (str_ends(s->name, "_bucket") && !str_ends(s->name, TOOLKIT_BUCKETS)) || str_has(s->labels, "quantile=\"");
}

void monitor_page_read(struct str page, const char *node, const char *component, monitor_sample *to, void *context)
{
    struct prom_sample s;
    for (int rc; (rc = prom_next(&page, &s)) != 0;)
        if (rc > 0 && isfinite(s.value) && !is_histogram_part(&s))
            to(context, node, component, s.text, s.value);
}

size_t monitor_services_read(struct http *http, const struct json *live, monitor_sample *to, void *context)
{
    size_t missed = 0;
    for (const struct json *s = json_first(json_get(live, "services")); s; s = json_next(s)) {
        const char *path = json_string(json_get(s, "metrics"), NULL);
        const char *token = json_string(json_get(s, "token"), NULL);
        CLEANUP_BUF struct buf header = {0};
        char url[2000], component[200];
        struct http_reply reply = {0};
        struct err err = {0};
        if (!path)
            continue;
        snprintf(url, sizeof url, "http://%.300s:%lld%s%.1000s", json_string(json_get(s, "host"), ""),
                 (long long)json_integer(json_get(s, "metrics_port"), 0), path[0] == '/' ? "" : "/", path);
        snprintf(component, sizeof component, "%.100s.%lld", json_string(json_get(s, "role"), ""),
                 (long long)json_integer(json_get(s, "instance"), 0));
        buf_init(&header, PAGE_MAX);
        const char *const headers[] = {token && service_token_header(token, &header) ? header.p : NULL, NULL};
        const struct http_request q = {.method = "GET", .url = url, .headers = headers, .reply_max = PAGE_MAX};
        if (http_do(http, &q, &reply, &err) == 0 && reply.status == 200)
            monitor_page_read(buf_text(&reply.body), json_string(json_get(s, "node"), ""), component, to, context);
        else
            missed++;
        http_reply_deinit(&reply);
    }
    return missed;
}

/* ---- numbers of the user's own ---- */

static bool monitor_first_number(struct str text, double *ret)
{
    for (struct str rest = text, word; (word = str_word(&rest)).n > 0;)
        if (str_double(word, ret) && isfinite(*ret))
            return true;
    return false;
}

bool monitor_custom_read(struct monitor_custom *m, double limit_s, double *ret)
{
    CLEANUP_BUF struct buf text;
    struct err err = {0};
    bool good;
    buf_init(&text, NUMBER_BYTES + 1);
    if (m->file) {
        good = fs_read(AT_FDCWD, m->file, NUMBER_BYTES, FS_LINKS, &text, &err) == 0 && monitor_first_number(buf_text(&text), ret);
        m->missed += !good;
        return good;
    }
    bool was_started = m->query.pid > 0;
    if (was_started && query_poll(&m->query) == QUERY_RUNS)
        return false;
    good = was_started && m->query.end == QUERY_DONE && m->query.status == 0 && monitor_first_number(buf_text(&m->query.text), ret);
    m->missed += was_started && !good;
    query_close(&m->query);
    m->query = QUERY_NONE;
    query_start(&m->query, m->words, environ, NUMBER_BYTES, (int64_t)(limit_s * 1000), 0, &err);
    return good;
}
