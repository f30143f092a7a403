/* campaign_monitor.c: the process that monitors a campaign; see campaign_monitor.h. */
#include "recipe/campaign_monitor.h"

#include "base/clock.h"
#include "base/exit_words.h"
#include "base/fs.h"
#include "base/place.h"
#include "exporters/metric_text.h"
#include "exporters/pushgateway.h"
#include "logs/logs_time.h"
#include "recipe/campaign_live.h"
#include "recipe/monitor_sources.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CUSTOM_MAX = 64,
    LATEST_MAX = 20000,
    BODY_MAX = 64 << 20,
    LIVE_BYTES = 16 << 20,
    CUSTOM_BYTES = 256 << 20,
    SHORT_MS = 100,
    END_MS = 4000,
    REAP_MS = 1000
};

/* The newest value of a series. */
struct latest_sample {
    const char *node, *component, *metric;
    double value;
};

struct monitoring {
    struct arena arena;
    int dir, control, csv, customs_file; /* csv -1: none */
    const char *core, *campaign, *gateway; /* gateway NULL: none */
    const char **patterns; /* of metrics; NULL: all */
    char **srun; /* and its options; NULL: this machine alone */
    double interval_s, push_s;
    struct monitor_custom customs[CUSTOM_MAX];
    size_t custom_count;
    struct monitor_nodes nodes;
    struct http *http;
    struct json *live;
    struct latest_sample *latest; /* a hash table of LATEST_MAX places */
    size_t latest_count, dropped, services_missed, pushes, pushes_missed;
    struct buf rows; /* of the CSV file, not written yet */
    const char *csv_path;
    size_t rows_missed, customs_missed; /* times that samples could not be written */
    int64_t now_ms;
};

/* ---- samples ---- */

static uint64_t hash_sample_text(uint64_t h, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * UINT64_C(1099511628211);
    return (h ^ 255) * UINT64_C(1099511628211);
}

/* Stores the last value of a series in the hash table of LATEST_MAX slots. When half of them are
 * used, a new series is only counted in m->dropped. */
static void note_latest(struct monitoring *m, const char *node, const char *component, struct str metric, double value)
{
    uint64_t h =
        hash_sample_text(hash_sample_text(hash_sample_text(UINT64_C(14695981039346656037), str_of(node)), str_of(component)), metric);
    for (size_t i = h % LATEST_MAX;; i = (i + 1) % LATEST_MAX) {
        struct latest_sample *l = &m->latest[i];
        if (l->metric && (!str_is(metric, l->metric) || strcmp(l->node, node) != 0 || strcmp(l->component, component) != 0))
            continue;
        if (!l->metric) {
            if (m->latest_count == LATEST_MAX / 2) {
                m->dropped++;
                return;
            }
            l->node = arena_dup(&m->arena, node, strlen(node));
            l->component = arena_dup(&m->arena, component, strlen(component));
            l->metric = arena_dup(&m->arena, metric.p, metric.n);
            if (m->arena.failed) {
                l->metric = NULL;
                return;
            }
            m->latest_count++;
        }
        l->value = value;
        return;
    }
}

/* A field of a CSV file. */
static void put_sample_field(struct buf *to, struct str text)
{
    buf_putc(to, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            buf_putc(to, '"');
        buf_putc(to, (unsigned char)text.p[i] < ' ' ? ' ' : text.p[i]);
    }
    buf_putc(to, '"');
}

static bool is_metric_chosen(const struct monitoring *m, struct str metric)
{
    char name[400];
    snprintf(name, sizeof name, "%.*s", (int)(metric.n < 399 ? metric.n : 399), metric.p);
    for (size_t i = 0; m->patterns && m->patterns[i]; i++)
        if (fnmatch(m->patterns[i], name, 0) == 0)
            return true;
    return !m->patterns;
}

/* Stores a sample as the latest of its series, and appends its line of the CSV file to m->rows.
 * Ignores metrics that `monitoring.metrics` does not choose, except custom ones. */
static void take_sample(void *context, const char *node, const char *component, struct str metric, double value)
{
    struct monitoring *m = context;
    char time[LOGS_TIME_SIZE];
    if (strcmp(component, "custom") != 0 && !is_metric_chosen(m, metric))
        return;
    note_latest(m, node, component, metric, value);
    if (m->csv < 0)
        return;
    buf_printf(&m->rows, "%s,", logs_time_text(m->now_ms * 1000000, time));
    put_sample_field(&m->rows, str_of(node));
    buf_putc(&m->rows, ',');
    put_sample_field(&m->rows, str_of(component));
    buf_putc(&m->rows, ',');
    put_sample_field(&m->rows, metric);
    buf_putc(&m->rows, ',');
    metric_series_number(&m->rows, value);
    buf_putc(&m->rows, '\n');
}

/* Reads a sample of each series of the user's, and appends it to the campaign's file. */
static void take_customs(struct monitoring *m)
{
    CLEANUP_BUF struct buf lines;
    buf_init(&lines, 1 << 16);
    for (size_t i = 0; i < m->custom_count; i++) {
        double value;
        if (!monitor_custom_read(&m->customs[i], m->interval_s > 60 ? m->interval_s : 60, &value))
            continue;
        m->customs[i].has_sample = true;
        take_sample(m, "", "custom", str_of(m->customs[i].name), value);
        buf_printf(&lines, "%lld %s %.17g\n", (long long)m->now_ms, m->customs[i].name, value);
    }
    if (lines.failed || (lines.n && fs_write_all(m->customs_file, lines.p, lines.n)))
        m->customs_missed++;
}

static void read_live(struct monitoring *m)
{
    CLEANUP_BUF struct buf text;
    struct err err = {0};
    struct json *live = NULL;
    buf_init(&text, LIVE_BYTES + 1);
    if (fs_read(m->dir, CAMPAIGN_LIVE, LIVE_BYTES, 0, &text, &err) || json_parse(&live, buf_text(&text), NULL, &err))
        return;
    json_free(m->live);
    m->live = live;
}

static void take_all_samples(struct monitoring *m)
{
    m->now_ms = clock_wall_ms();
    read_live(m);
    monitor_nodes_read(&m->nodes, take_sample, m);
    if (m->http)
        m->services_missed += monitor_services_read(m->http, m->live, take_sample, m);
    take_customs(m);
    if (m->rows.failed || (m->rows.n && fs_write_all(m->csv, m->rows.p, m->rows.n)))
        m->rows_missed++;
    buf_clear(&m->rows);
}

/* ---- pushing ---- */

/* A legal name of Prometheus of this text. */
static void put_metric_name(struct buf *to, const char *before, struct str text)
{
    buf_puts(to, before);
    for (size_t i = 0; i < text.n; i++)
        buf_putc(to, str_is_letter(text.p[i]) || str_is_digit(text.p[i]) || (text.p[i] == ':' && !before[0]) ? text.p[i] : '_');
}

static void put_label(struct buf *to, const char *name, const char *value)
{
    buf_printf(to, "%s=\"", name);
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\')
            buf_putc(to, '\\');
        buf_putc(to, (unsigned char)*p < ' ' ? ' ' : *p);
    }
    buf_putc(to, '"');
}

/* Appends the latest sample of a series: NAME{LABELS,bw_node="…",bw_component="…"} VALUE. */
static void put_latest(struct buf *to, const struct latest_sample *l)
{
    struct str name = str_of(l->metric), labels = {0};
    const char *brace = strchr(l->metric, '{');
    if (brace) {
        labels = str_of(brace + 1);
        labels.n -= labels.n && labels.p[labels.n - 1] == '}';
        labels.n -= labels.n && labels.p[labels.n - 1] == ',';
        name.n = (size_t)(brace - l->metric);
    }
    put_metric_name(to,
                    strcmp(l->component, "node") == 0     ? "benchwrap_node_"
                    : strcmp(l->component, "custom") == 0 ? "benchwrap_custom_"
                                                          : "",
                    str_starts(name, "system/") ? str_sub(name, 7, name.n) : name);
    buf_printf(to, "{" STR_FMT "%s", STR_ARG(labels), labels.n ? "," : "");
    put_label(to, "bw_node", l->node);
    buf_putc(to, ',');
    put_label(to, "bw_component", l->component);
    buf_puts(to, "} ");
    metric_series_number(to, l->value);
    buf_putc(to, '\n');
}

static void put_alias(struct buf *to, const char *service, const char *suffix, double value)
{
    if (isnan(value))
        return;
    put_metric_name(to, service[0] && !str_is_digit(service[0]) ? "" : "_", str_of(service));
    buf_printf(to, "_%s ", suffix);
    metric_series_number(to, value);
    buf_putc(to, '\n');
}

/* Returns true if samples of executors are pushed, which have the toolkit's names themselves. */
static bool has_executors(const struct monitoring *m, const char *service)
{
    CLEANUP_BUF struct buf name;
    buf_init(&name, 1000);
    put_metric_name(&name, "", str_of(service));
    buf_puts(&name, "_workload_running");
    for (size_t i = 0; i < LATEST_MAX; i++)
        if (m->latest[i].metric && str_is(buf_text(&name), m->latest[i].metric))
            return true;
    return false;
}

static void put_cache_alias(const struct monitoring *m, const char *service, struct buf *to)
{
    static const char *const caches[] = {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"};
    for (size_t i = 0; str_starts(str_of(service), "vllm") && i < LATEST_MAX; i++)
        for (size_t k = 0; m->latest[i].metric && k < 2; k++)
            if (str_starts(str_of(m->latest[i].metric), caches[k])) {
                put_alias(to, service, "cache_usage", m->latest[i].value);
                return;
            }
}

/* The names of the HPC Benchmark Toolkit. */
static void put_aliases(const struct monitoring *m, bool with_samples, struct buf *to)
{
    const char *service = json_string(json_get(m->live, "measured"), "");
    bool is_vllm = str_starts(str_of(service), "vllm");
    if (!service[0])
        return;
    if (with_samples && has_executors(m, service)) {
        put_cache_alias(m, service, to);
        return;
    }
    put_alias(to, service, "workload_running", json_bool(json_get(m->live, "running"), false));
    put_alias(to, service, "throughput_rps", json_number(json_get(m->live, "throughput_rps"), NAN));
    put_alias(to, service, "request_latency_seconds", json_number(json_get(m->live, "latency_s"), NAN));
    put_alias(to, service, "requests_total", json_number(json_get(m->live, "requests"), NAN));
    put_alias(to, service, "errors_total", json_number(json_get(m->live, "errors"), NAN));
    if (is_vllm)
        put_alias(to, service, "tokens_per_request", json_number(json_get(m->live, "tokens_per_request"), NAN));
    if (with_samples)
        put_cache_alias(m, service, to);
}

/* Replaces the campaign's group of metrics on the push gateway. The last push has the results alone: the
 * gateway would show old samples as current ones. */
static void push_group(struct monitoring *m, bool is_last)
{
    CLEANUP_BUF struct buf url, body;
    const struct metric_label group = {"campaign", m->campaign};
    struct http_reply reply = {0};
    struct err err = {0};
    buf_init(&url, 8192);
    buf_init(&body, BODY_MAX);
    read_live(m);
    put_aliases(m, !is_last, &body);
    for (size_t i = 0; !is_last && i < LATEST_MAX; i++)
        if (m->latest[i].metric)
            put_latest(&body, &m->latest[i]);
    if (!body.n)
        return;
    pushgateway_url(m->gateway, "benchwrap", &group, 1, &url);
    const struct http_request q = {.method = "PUT", .url = url.p, .type = METRIC_TEXT_TYPE, .body = buf_text(&body)};
    m->pushes++;
    if (url.failed || body.failed || http_do(m->http, &q, &reply, &err) || reply.status / 100 != 2)
        m->pushes_missed++;
    http_reply_deinit(&reply);
}

/* ---- the process ---- */

/* Waits; false: the campaign is over. */
static bool wait_until(const struct monitoring *m, int64_t until_ns)
{
    for (;;) {
        int64_t ms = (until_ns - clock_mono_ns()) / 1000000;
        struct pollfd p = {m->control, POLLIN, 0};
        if (poll(&p, 1, ms < 0 ? 0 : ms > SHORT_MS ? SHORT_MS : (int)ms) > 0)
            return false;
        if (ms <= 0)
            return true;
    }
}

/* Writes a line on `out` for each kind of sample or push that is missing. */
static void report_troubles(const struct monitoring *m, int out)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 8192);
    if (m->pushes_missed)
        buf_printf(&text, "%zu of %zu pushes to %s failed\n", m->pushes_missed, m->pushes, m->gateway);
    if (m->nodes.why[0])
        buf_printf(&text, "the nodes are not sampled: %.300s\n", m->nodes.why);
    if (m->services_missed)
        buf_printf(&text, "%zu requests for the metrics of services failed\n", m->services_missed);
    if (m->dropped)
        buf_printf(&text, "%zu samples are of more series than %d and were not pushed\n", m->dropped, LATEST_MAX / 2);
    if (m->rows_missed)
        buf_printf(&text, "samples could not be written to %.300s %zu times\n", m->csv_path, m->rows_missed);
    if (m->customs_missed)
        buf_printf(&text, "samples of monitoring.custom could not be stored %zu times\n", m->customs_missed);
    for (size_t i = 0; i < m->custom_count; i++)
        if (m->customs[i].missed)
            buf_printf(&text, "monitoring.custom.%s: no number %zu times\n", m->customs[i].name, m->customs[i].missed);
        else if (!m->customs[i].has_sample)
            buf_printf(&text, "monitoring.custom.%s: no number before the end\n", m->customs[i].name);
    fs_write_all(out, text.p ? text.p : "", text.n);
}

/* Samples at each interval, and pushes at each push_interval, until the campaign closes the pipe.
 * Runs in the monitor's process. Writes what failed to `out` at the end. Returns 0; 1: out of
 * memory, or no HTTP client. */
static int run_monitor(void *context, int out)
{
    struct monitoring *m = context;
    const struct http_config config = {.agent = "benchwrap/" BW_VERSION, .connect_s = 1, .total_s = 5, .cancel_fd = -1, .proxy = ""};
    struct err err = {0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* it ends when the campaign closes the pipe */
    buf_init(&m->rows, BODY_MAX);
    m->latest = arena_get(&m->arena, LATEST_MAX * sizeof *m->latest);
    if (!m->latest || http_new(&m->http, &config, &err))
        return 1;
    memset(m->latest, 0, LATEST_MAX * sizeof *m->latest);
    int64_t period = (int64_t)(m->interval_s * 1e9), next = clock_mono_ns(), push = next + (int64_t)(m->push_s * 1e9);
    if (monitor_nodes_begin(&m->nodes, m->core, m->srun, m->interval_s, &err))
        snprintf(m->nodes.why, sizeof m->nodes.why, "%.300s", err.text);
    while (wait_until(m, next)) {
        take_all_samples(m);
        if (m->gateway && clock_mono_ns() >= push) {
            push_group(m, false);
            push = clock_mono_ns() + (int64_t)(m->push_s * 1e9);
        }
        next = next + period > clock_mono_ns() ? next + period : clock_mono_ns() + period;
    }
    take_all_samples(m);
    if (m->gateway)
        push_group(m, true);
    monitor_nodes_end(&m->nodes);
    for (size_t i = 0; i < m->custom_count; i++)
        query_close(&m->customs[i].query);
    http_free(m->http);
    report_troubles(m, out);
    return 0;
}

/* ---- the beginning ---- */

/* Reads `monitoring.custom` into m->customs. 0; -1 with err: too many, or a wrong command. */
static int read_customs(struct monitoring *m, const struct recipe *r, const struct yaml *monitoring, struct err *err)
{
    const struct yaml *list = yaml_get(monitoring, "custom");
    for (const struct yaml *y = list ? list->child : NULL; y; y = y->next) {
        struct monitor_custom *x = &m->customs[m->custom_count];
        if (m->custom_count++ == CUSTOM_MAX)
            return yaml_complain(y, r->file, err, "more than %d series", CUSTOM_MAX);
        *x = (struct monitor_custom){.name = arena_dup(&m->arena, y->key.p, y->key.n), .query = QUERY_NONE};
        x->file = recipe_scalar(r, y, "file", NULL);
        const struct yaml *command = yaml_get(y, "command");
        if (command && !(x->words = recipe_words(command, r->file, &m->arena, err)))
            return -1;
    }
    return 0;
}

/* Opens the file of custom samples and the CSV file, whose first line it writes where it is empty. 0; -1
 * with err; what is open then stays in m. */
static int open_files(struct monitoring *m, const struct recipe *r, const struct yaml *monitoring, struct err *err)
{
    const char *path = recipe_scalar(r, monitoring, "csv", NULL);
    struct stat st;
    m->customs_file = place_open(m->dir, CAMPAIGN_CUSTOM, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (m->customs_file < 0)
        return err_sys(err, "cannot write %s", CAMPAIGN_CUSTOM);
    if (!path)
        return 0;
    m->csv_path = path;
    m->csv = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (m->csv < 0 || fstat(m->csv, &st))
        return err_sys(err, "monitoring.csv: cannot write %.300s", path);
    return st.st_size || fs_write_all(m->csv, "time,node,component,metric,value\n", 33) == 0 ? 0
                                                                                             : err_sys(err, "cannot write %.300s", path);
}

/* Reads the key `monitoring` into m, with texts in m->arena, and opens its files. m->patterns stays
 * NULL for "all". 0; -1 with err. */
static int read_monitoring(struct monitoring *m, struct campaign *c, const struct yaml *monitoring, struct err *err)
{
    const struct yaml *names = yaml_get(monitoring, "metrics");
    char core[4096];
    ssize_t n = readlink("/proc/self/exe", core, sizeof core - 1);
    size_t count = 0;
    core[n > 0 ? n : 0] = 0;
    m->interval_s = 1;
    m->push_s = 15;
    str_duration(yaml_text(monitoring, "interval", "1s"), &m->interval_s);
    str_duration(yaml_text(monitoring, "push_interval", "15s"), &m->push_s);
    m->core = arena_dup(&m->arena, core, strlen(core));
    m->campaign = c->recipe->name;
    m->gateway = recipe_scalar(c->recipe, monitoring, "pushgateway", NULL);
    m->srun = c->hosts.is_slurm ? campaign_slurm_watch(&c->hosts, "monitor", &m->arena) : NULL;
    for (const struct yaml *y = names ? names->child : NULL; y; y = y->next)
        count++;
    if (names && !yaml_is_null(names)) {
        m->patterns = arena_get(&m->arena, (count + 2) * sizeof *m->patterns);
        size_t k = 0;
        for (const struct yaml *y = names->kind == YAML_LIST ? names->child : names; m->patterns && y;
             y = names->kind == YAML_LIST ? y->next : NULL)
            m->patterns[k++] = arena_dup(&m->arena, y->text.p, y->text.n);
        if (m->patterns)
            m->patterns[k] = NULL;
        if (k == 1 && m->patterns[0] && strcmp(m->patterns[0], "all") == 0)
            m->patterns = NULL;
    }
    if (m->arena.failed)
        return err_memory(err, "the monitor");
    return read_customs(m, c->recipe, monitoring, err) || open_files(m, c->recipe, monitoring, err) ? -1 : 0;
}

int campaign_monitor_begin(struct campaign_monitor *ret, struct campaign *c, struct err *err)
{
    static struct monitoring m; /* of the child process, too */
    const struct yaml *monitoring = yaml_get(c->recipe->root, "monitoring");
    int ends[2];
    *ret = CAMPAIGN_MONITOR_NONE;
    if (!monitoring || yaml_is_null(monitoring))
        return 0;
    m = (struct monitoring){.dir = c->state.dir, .csv = -1, .customs_file = -1, .control = -1, .nodes = {.step = QUERY_NONE}};
    arena_init(&m.arena, 0);
    if (read_monitoring(&m, c, monitoring, err) || (pipe2(ends, O_CLOEXEC) && err_sys(err, "cannot monitor"))) {
        fs_close(&m.csv);
        fs_close(&m.customs_file);
        return -1;
    }
    m.control = ends[0];
    const struct child_work_plan plan = {.run = run_monitor,
                                         .context = &m,
                                         .name = "bw-monitor",
                                         .keep = {&m.dir, &m.control, &m.csv, &m.customs_file},
                                         .outlives = true,
                                         .nice = 10,
                                         .max = 8192};
    int rc = child_work_start(&ret->work, &plan), why = errno;
    close(ends[0]);
    fs_close(&m.csv);
    fs_close(&m.customs_file);
    ret->control = ends[1];
    c->custom_count = m.custom_count;
    for (size_t i = 0; i < m.custom_count; i++)
        c->customs[i] = m.customs[i].name;
    if (rc == 0)
        return 0;
    fs_close(&ret->control);
    child_work_deinit(&ret->work);
    errno = why;
    return err_sys(err, "cannot monitor");
}

void campaign_monitor_stop(struct campaign_monitor *m)
{
    fs_close(&m->control);
}

void campaign_monitor_end(struct campaign_monitor *m, struct campaign *c)
{
    int64_t now = clock_mono_ns();
    if (m->work.pid <= 0)
        return;
    campaign_monitor_stop(m);
    int wait_ms = campaign_left_ms(c, CAMPAIGN_STEPS, now + END_MS * INT64_C(1000000));
    char words[EXIT_WORDS_SIZE];
    int status = 0;
    if (child_work_wait(&m->work, now + wait_ms * INT64_C(1000000)))
        status = child_work_reap(&m->work, REAP_MS);
    else
        child_work_kill(&m->work);
    for (struct str rest = buf_text(&m->work.text), line; rest.p && (line = str_cut(&rest, '\n')).n;)
        campaign_say(c, "monitoring: " STR_FMT, STR_ARG(line));
    exit_words(words, 0, status > 0 ? status & 0x7f : 0);
    if (words[0])
        campaign_say(c, "monitoring: its process was %s: later samples are missing", words);
    child_work_deinit(&m->work);
    *m = CAMPAIGN_MONITOR_NONE;
}

/* ---- series of the user's own in the record ---- */

double campaign_custom_mean(struct campaign *c, const char *name, int64_t from_ms, int64_t to_ms)
{
    CLEANUP_BUF struct buf text;
    struct err err = {0};
    double sum = 0, value;
    size_t n = 0;
    int64_t time;
    buf_init(&text, CUSTOM_BYTES + 1);
    if (fs_read(c->state.dir, CAMPAIGN_CUSTOM, CUSTOM_BYTES, 0, &text, &err))
        return NAN;
    for (struct str rest = buf_text(&text); rest.p && rest.n;) {
        struct str line = str_cut(&rest, '\n'), when = str_word(&line), what = str_word(&line);
        if (str_is(what, name) && str_int(when, &time) && time >= from_ms && time <= to_ms && str_double(str_word(&line), &value)) {
            sum += value;
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

void campaign_custom_record(struct campaign *c, const struct campaign_point *p, size_t number)
{
    struct record *r = &c->repeat.run.record;
    const char *before = r->source;
    r->source = "recipe";
    for (size_t i = 0; i < c->custom_count; i++) {
        char key[200];
        double mean = campaign_custom_mean(c, c->customs[i], p->start_ms, p->end_ms);
        snprintf(key, sizeof key, "custom.%.150s", c->customs[i]);
        if (!isnan(mean))
            record_metric(r, key, mean, "", DIR_NONE, (int64_t)number, p->end_ms);
    }
    r->source = before;
}
