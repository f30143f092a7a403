/* scrape.c: the thread, its readings, what they come to; see scrape.h. */
#include "benchmarks/native/llmload/server/scrape.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/prom.h"
#include "benchmarks/native/llmload/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum figure_kind { GAUGE, COUNTER };
enum figure_join { SUM, MOST };
enum { NAMES_MAX = 6, REFUSALS = 3, READING_S = 5 /* at most for one reading */, LINE_SAMPLES_MAX = 4 << 20 /* bytes */ };

static const struct figure_row {
    const char *name;
    enum figure_kind kind;
    enum figure_join join;
    const char *names[NAMES_MAX + 1];
} rows[] = {
#define FIGURE(name, kind, join, ...) {name, kind, join, {__VA_ARGS__}},
#include "benchmarks/native/llmload/server/figures.def"
#undef FIGURE
};
enum { FIGURES = sizeof rows / sizeof *rows, ENERGY_MAX = 1 << 20 /* changes of the counter of energy */ };

struct figure_sum {
    double first, last, sum, least, most, step; /* step: sum of the increases (a restart counts from zero) */
    uint64_t n;
};

/* When the counter of energy had changed. */
struct energy_reading {
    double at_ns, value_J;
};

struct scrape {
    struct llm_server server;
    struct scrape_config config;
    pthread_t thread;
    bool running;
    int wake[2], file;
    int64_t begin_ns;
    struct figure_sum figures[FIGURES]; /* the thread's until it has ended */
    struct load page_load; /* for --scrape-url: the load without its secrets */
    struct energy_reading *energy;
    size_t n_energy, energy_cap;
    uint64_t readings, failures, bad_lines;
    bool has_first, has_last; /* the readings before and after the load succeeded: the differences of counters are of all of it */
    char trouble[200];
    bool silent; /* the last reading was stopped */
    _Atomic int refused; /* in a row */
    _Atomic bool suspicious; /* no request succeeds: check whether it is still there */
    uint64_t completed, failed; /* at the last tick */
    char gone[160];
};

/* ---- one reading ---- */

/* Adds a reading. A value below the last one is of a counter that began again from zero. */
static void keep_value(struct figure_sum *f, double v)
{
    if (!f->n)
        *f = (struct figure_sum){.first = v, .least = v, .most = v};
    else
        f->step += v >= f->last ? v - f->last : v;
    f->n++;
    f->last = v;
    f->sum += v;
    f->least = fmin(f->least, v);
    f->most = fmax(f->most, v);
}

struct scrape_reading {
    double value[FIGURES];
    int by[FIGURES]; /* index of the name that it has come from; -1: none yet */
};

/* Stores a sample of metric i that came under its name number `by`. A name with a lower number goes
 * before; samples of one name are joined. */
static void join_value(struct scrape_reading *r, size_t i, int by, double v)
{
    if (!isfinite(v) || (r->by[i] >= 0 && r->by[i] < by))
        return;
    if (r->by[i] != by)
        r->value[i] = v;
    else
        r->value[i] = rows[i].join == SUM ? r->value[i] + v : fmax(r->value[i], v);
    r->by[i] = by;
}

static bool name_is_among(struct str name, const char *names)
{
    struct str rest = str_of(names);
    while (rest.p)
        if (str_eq(str_cut(&rest, '+'), name))
            return true;
    return false;
}

static void reading_take_sample(struct scrape_reading *r, struct str name, double v)
{
    for (size_t i = 0; i < FIGURES; i++)
        for (int k = 0; rows[i].names[k]; k++)
            if (name_is_among(name, rows[i].names[k]))
                join_value(r, i, k, v);
}

static void scrape_add_member(struct json_out *line, const struct prom_sample *s)
{
    struct buf key CLEANUP_BUF;
    buf_init(&key, 1 << 16);
    buf_str(&key, s->name);
    if (s->labels.n)
        buf_printf(&key, "{" STR_FMT "}", STR_ARG(s->labels));
    json_name(line, buf_text(&key));
    json_known(line, NULL, s->value);
}

/* Stores the samples of a page of metrics, and appends them to the line of the file; those beyond LINE_SAMPLES_MAX
 * are counted there. Malformed lines are counted in s. */
static void take_page(struct scrape *s, struct str page, struct scrape_reading *r, struct json_out *line)
{
    struct prom_sample sample;
    uint64_t left_out = 0;
    for (int rc; (rc = prom_next(&page, &sample)) != 0;) {
        if (rc < 0) {
            s->bad_lines++;
            continue;
        }
        reading_take_sample(r, sample.name, sample.value);
        if (s->file < 0 || str_ends(sample.name, "_bucket"))
            continue;
        if (line->to->n < LINE_SAMPLES_MAX)
            scrape_add_member(line, &sample);
        else
            left_out++;
    }
    if (left_out)
        json_uint(line, "samples_left_out", left_out);
}

/* Ollama has no page of metrics: what it holds in memory, and how much of it in the GPU's. */
static void take_models(struct str text, struct scrape_reading *r)
{
    struct json *j = NULL;
    if (json_parse(&j, text, NULL, NULL) < 0)
        return;
    for (const struct json *m = json_first(json_get(j, "models")); m; m = json_next(m)) {
        reading_take_sample(r, STR("ollama_ps_size"), json_number(json_get(m, "size"), NAN));
        reading_take_sample(r, STR("ollama_ps_size_vram"), json_number(json_get(m, "size_vram"), NAN));
    }
    json_free(j);
}

/* A service updates its counter at times of its own. Only changes are stored: between two of them the energy is not known. */
static void store_energy_change(struct scrape *s, double value_J)
{
    if (s->n_energy && s->energy[s->n_energy - 1].value_J == value_J)
        return;
    if (s->n_energy < ENERGY_MAX && ARRAY_FITS(s->energy, s->energy_cap, s->n_energy + 1))
        s->energy[s->n_energy++] = (struct energy_reading){(double)clock_mono_ns(), value_J};
}

static void scrape_write_line(struct scrape *s, const struct buf *line)
{
    if (s->file >= 0 && (line->failed || fs_write_all(s->file, line->p, line->n) < 0)) {
        snprintf(s->trouble, sizeof s->trouble, "--scrape-file: %s", line->failed ? "a reading is too long" : strerror(errno));
        fs_close(&s->file);
    }
}

/* Stores the values of one reading, and appends them to the file of readings. */
static void take_reply(struct scrape *s, struct str body)
{
    struct scrape_reading r;
    struct buf line CLEANUP_BUF;
    buf_init(&line, 8 << 20);
    for (size_t i = 0; i < FIGURES; i++)
        r.by[i] = -1;
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    json_printf(&j, "t_s", "%.3f", (double)(clock_mono_ns() - s->begin_ns) / 1e9);
    json_int(&j, "wall_ms", clock_wall_ms());
    if (str_trim(body).n && str_trim(body).p[0] == '{')
        take_models(body, &r);
    else
        take_page(s, body, &r, &j);
    for (size_t i = 0; i < FIGURES; i++)
        if (r.by[i] >= 0) {
            keep_value(&s->figures[i], r.value[i]);
            if (strcmp(rows[i].name, "energy_J") == 0)
                store_energy_change(s, r.value[i]);
        }
    s->readings++;
    json_close(&j, '}');
    buf_putc(&line, '\n');
    scrape_write_line(s, &line);
}

/* Reads the metrics once; a failure is counted, with its reason in s->trouble. */
static void read_once(struct scrape *s)
{
    struct http_reply r;
    struct err err = {0};
    bool ollama = !s->config.url && dialects[s->server.dialect].ollama;
    const char *path = s->config.url ? s->server.api_path : ollama ? "/api/ps" : "/metrics";
    server_patience(&s->server, READING_S);
    int rc = server_ask(&s->server, path, NULL, &r, &err);
    atomic_store(&s->refused, rc < 0 && r.trouble == HTTP_UNSENT ? atomic_load(&s->refused) + 1 : 0);
    s->silent = r.trouble == HTTP_CANCELLED;
    if (rc == 0 && r.status == 200)
        take_reply(s, buf_text(&r.body));
    else {
        s->failures++;
        if (rc == 0)
            snprintf(s->trouble, sizeof s->trouble, "%.100s answers %d", path, r.status);
        else
            snprintf(s->trouble, sizeof s->trouble, "%.190s", err.text);
    }
    http_reply_deinit(&r);
}

/* ---- the thread ---- */

/* Waits at most so many seconds; true: scrape_stop was called. */
static bool scrape_wait_end(struct scrape *s, double seconds)
{
    struct pollfd p = {.fd = s->wake[0], .events = POLLIN};
    return poll(&p, 1, (int)(seconds * 1000)) > 0;
}

/* The thread that reads the service's metrics at each interval until the end is requested. Returns
 * NULL. */
static void *scrape_main(void *context)
{
    struct scrape *s = context;
    double every = s->config.every_s > 0 ? s->config.every_s : 1;
    int64_t next = clock_mono_ns();
    for (;;) {
        next += (int64_t)(every * 1e9);
        double wait = (double)(next - clock_mono_ns()) / 1e9;
        if (scrape_wait_end(s, wait > 0 ? wait : 0))
            break;
        if (wait < 0)
            next = clock_mono_ns();
        if (s->config.every_s > 0 || atomic_load(&s->suspicious))
            read_once(s);
    }
    return NULL;
}

/* The page of --scrape-url may be of another server: the load's key and headers do not go there. */
static int scrape_open_server(struct scrape *s, const struct load *load, struct err *err)
{
    if (!s->config.url)
        return server_open(&s->server, load, 0, s->config.pid, s->wake[0], err);
    s->page_load = *load;
    s->page_load.urls = &s->config.url;
    s->page_load.url_count = 1;
    s->page_load.path = "/metrics";
    s->page_load.key = NULL;
    s->page_load.header_count = 0;
    if (server_open(&s->server, &s->page_load, 0, s->config.pid, s->wake[0], err) < 0)
        return err_wrap(err, "--scrape-url");
    return 0;
}

int scrape_start(struct scrape **ret, const struct load *load, const struct scrape_config *config, struct err *err)
{
    struct scrape *s = calloc(1, sizeof *s);
    if (!s)
        return err_memory(err, "the metrics of the server");
    *s = (struct scrape){.config = *config, .file = -1, .wake = {-1, -1}, .begin_ns = clock_mono_ns()};
    int rc = 0;
    if (config->file && (s->file = place_create(config->file, O_TRUNC, 0644)) < 0)
        rc = err_sys(err, "--scrape-file %.300s", config->file);
    if (rc == 0 && pipe2(s->wake, O_CLOEXEC) < 0)
        rc = err_sys(err, "reading the service's metrics");
    if (rc == 0)
        rc = scrape_open_server(s, load, err);
    if (rc == 0 && config->every_s > 0) {
        read_once(s);
        s->has_first = s->readings > 0;
    }
    if (rc == 0 && (errno = pthread_create(&s->thread, NULL, scrape_main, s)) != 0)
        rc = err_sys(err, "starting a thread");
    if (rc < 0) {
        scrape_free(s);
        return -1;
    }
    s->running = true;
    *ret = s;
    return 0;
}

bool scrape_gone(struct scrape *s, const struct live_counts *l)
{
    if (s->gone[0])
        return true;
    if (!server_lives(&s->server)) {
        snprintf(s->gone, sizeof s->gone, "the server's process %d is gone, %.1f s after the start", (int)s->config.pid, l->elapsed_s);
        return true;
    }
    bool fails = l->failed > s->failed && l->completed == s->completed;
    s->failed = l->failed;
    if (l->completed != s->completed)
        atomic_store(&s->suspicious, false);
    else if (fails)
        atomic_store(&s->suspicious, true);
    s->completed = l->completed;
    if (!atomic_load(&s->suspicious) || atomic_load(&s->refused) < REFUSALS)
        return false;
    snprintf(s->gone, sizeof s->gone, "the server has refused %d connections in a row, %.1f s after the start", REFUSALS, l->elapsed_s);
    return true;
}

void scrape_stop(struct scrape *s)
{
    if (!s->running)
        return;
    ssize_t written = write(s->wake[1], "", 1);
    (void)written;
    pthread_join(s->thread, NULL);
    s->running = false;
    char once;
    if (s->config.every_s > 0 && !s->gone[0] && !s->silent && read(s->wake[0], &once, 1) == 1) { /* so that this reading is not stopped */
        uint64_t before = s->readings;
        read_once(s);
        s->has_last = s->readings > before;
    }
}

void scrape_free(struct scrape *s)
{
    if (!s)
        return;
    scrape_stop(s);
    server_deinit(&s->server);
    fs_close(&s->file);
    fs_close(&s->wake[0]);
    fs_close(&s->wake[1]);
    free(s->energy);
    free(s);
}

/* ---- what it came to ---- */

double scrape_counted(const struct scrape *s, const char *name)
{
    for (size_t i = 0; s->has_first && s->has_last && i < FIGURES; i++)
        if (strcmp(rows[i].name, name) == 0 && rows[i].kind == COUNTER && s->figures[i].n > 1)
            return s->figures[i].step;
    return NAN;
}

double scrape_energy_J(const struct scrape *s, double from_ns, double to_ns)
{
    const double covered = 0.8; /* of the time, by the changes in it */
    enum { CHANGES_MIN = 3 };
    const struct energy_reading *first = NULL, *last = NULL;
    size_t n = 0;
    for (size_t i = 1; i < s->n_energy; i++) { /* the first reading is no change */
        const struct energy_reading *e = &s->energy[i];
        if (e->at_ns < from_ns || e->at_ns > to_ns)
            continue;
        if (last && e->value_J < last->value_J)
            return NAN; /* the service was started again */
        first = first ? first : e;
        last = e;
        n++;
    }
    if (n < CHANGES_MIN || last->at_ns - first->at_ns < covered * (to_ns - from_ns))
        return NAN;
    return (last->value_J - first->value_J) / (last->at_ns - first->at_ns) * (to_ns - from_ns);
}

void scrape_json(const struct scrape *s, struct json_out *j)
{
    if (s->gone[0])
        json_text(j, "server_gone", s->gone);
    if (s->config.every_s <= 0)
        return;
    json_uint(j, "server_readings", s->readings);
    json_uint(j, "server_readings_failed", s->failures);
    json_uint(j, "server_lines_malformed", s->bad_lines);
    if (s->trouble[0])
        json_text(j, "server_readings_trouble", s->trouble);
    if (!s->has_first || !s->has_last)
        json_text(j, "server_counters_missing",
                  s->has_first ? "no reading succeeded after the load" : "the reading before the load failed: a part of it is not counted");
    json_open(j, "server_metrics", '{');
    for (size_t i = 0; i < FIGURES; i++) {
        const struct figure_sum *f = &s->figures[i];
        if (!f->n || (rows[i].kind == COUNTER && f->n < 2))
            continue;
        if (rows[i].kind == COUNTER) {
            json_known(j, rows[i].name, s->has_first && s->has_last ? f->step : NAN);
            continue;
        }
        json_open(j, rows[i].name, '{');
        json_known(j, "mean", f->sum / (double)f->n);
        json_known(j, "min", f->least);
        json_known(j, "max", f->most);
        json_known(j, "last", f->last);
        json_uint(j, "n", f->n);
        json_close(j, '}');
    }
    json_close(j, '}');
}

const char *scrape_why_gone(const struct scrape *s)
{
    return s->gone[0] ? s->gone : NULL;
}
