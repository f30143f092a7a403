/* around.c: see around.h. */
#include "benchmarks/native/llmload/around.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/emit.h"
#include "benchmarks/native/llmload/endpoint.h"
#include "benchmarks/native/llmload/output/plots.h"
#include "benchmarks/native/llmload/report_parts.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

static int stop_fd = -1; /* can be read when a signal has come */
enum { FACTS_S = 15, MODEL_S = 5 }; /* for all queries before a run, readiness excepted; for the name of the model alone */

/* ---- before ---- */

/* Opens the file of the option for records of requests, and adds it to the sinks. Does nothing
 * without the option: *ret is unchanged. -1 with err. *ret is freed by the caller. */
static int add_records(struct around *a, struct records **ret, const char *option, bool csv, struct err *err)
{
    const char *path = opt_text(a->set, option);
    if (!path)
        return 0;
    if (records_new(ret, path, csv, !opt_on(a->set, OPTION_NO_CHUNKS), a->load->seed, err) < 0)
        return -1;
    records_sink(*ret)->next = a->sinks;
    a->sinks = records_sink(*ret);
    return 0;
}

/* Opens the files of records and the scoring, as the options require, and adds them to a->sinks.
 * Returns 0, or -1 with *err; around_deinit frees what was opened. */
static int open_sinks(struct around *a, struct prompt_source *prompts, struct err *err)
{
    if (add_records(a, &a->records, "records", false, err) < 0 || add_records(a, &a->csv, "csv", true, err) < 0)
        return -1;
    if (scoring_new(&a->scoring, prompts, err) < 0)
        return -1;
    if (a->scoring) {
        scoring_sink(a->scoring)->next = a->sinks;
        a->sinks = scoring_sink(a->scoring);
    }
    return 0;
}

/* Waits for the server and reads its model and facts, as the options require. Returns 0, or another
 * value with *err. */
static int query_server(struct around *a, pid_t pid, struct err *err)
{
    const struct opt_set *set = a->set;
    bool wait = opt_text(set, OPTION_WAIT_READY) != NULL, facts = wait || opt_on(set, OPTION_FACTS) || opt_text(set, OPTION_SCRAPE);
    a->server_used = facts || (dialects[a->load->dialect].ollama && !a->load->model);
    if (!a->server_used && a->load->model)
        return 0;
    if (server_open(&a->server, a->load, 0, pid, stop_fd, a->server_used ? err : NULL) < 0)
        return a->server_used ? -1 : 0; /* the requests meet the same, and report it */
    a->server_open = true;
    if (wait && server_ready(&a->server, &a->load->model, opt_seconds(set, OPTION_WAIT_READY), &a->ready, err) < 0)
        return -1;
    a->server_ready = wait;
    server_patience(&a->server, a->server_used ? FACTS_S : MODEL_S);
    if (!a->load->model)
        a->load->model = server_first_model(&a->server);
    if (dialects[a->load->dialect].ollama && !a->load->model)
        return err_set(err, ERR_REMOTE, "Ollama at %.200s lists no model (--model NAME, and `ollama pull NAME` there)", a->load->shown_url);
    if (facts)
        server_facts(&a->server, &a->facts);
    return 0;
}

/* ---- while it runs ---- */

/* Sends the values since the last call to the recorder. Closes the connection where the recorder
 * has ended. */
static void send_live_metrics(struct around *a, const struct live_counts *l)
{
    double seconds = l->elapsed_s - a->last.elapsed_s;
    const struct {
        const char *key;
        double value;
    } rows[] = {{"live.requests_op_per_s", (double)(l->completed - a->last.completed) / seconds},
                {"live.output_token_per_s", (double)(l->tokens - a->last.tokens) / seconds},
                {"live.chunks_op_per_s", (double)(l->chunks - a->last.chunks) / seconds},
                {"live.in_flight", (double)l->in_flight},
                {"live.failed", (double)l->failed},
                {"live.dropped", (double)l->dropped},
                {"live.ttft_ms", l->ttft_s * 1e3},
                {"live.itl_ms", l->itl_s * 1e3}};
    int64_t now = clock_wall_ms();
    for (size_t i = 0; a->recorder >= 0 && i < sizeof rows / sizeof *rows; i++)
        if (emit_metric(a->recorder, rows[i].key, rows[i].value, a->looks, now) < 0)
            fs_close(&a->recorder); /* the recorder has ended: the load continues */
}

static void around_show_progress(struct around *a, const struct live_counts *l)
{
    char more[160];
    double seconds = fmax(l->elapsed_s - a->last.elapsed_s, 1e-3);
    size_t done = a->load->duration_s > 0 ? (size_t)l->elapsed_s : (size_t)(l->completed + l->failed);
    int n = snprintf(more, sizeof more, "%.0f req/s, %.0f tok/s, %llu in flight, %llu failed",
                     (double)(l->completed - a->last.completed) / seconds,
                     (double)(l->tokens ? l->tokens - a->last.tokens : l->chunks - a->last.chunks) / seconds,
                     (unsigned long long)l->in_flight, (unsigned long long)l->failed);
    if (n > 0 && (size_t)n < sizeof more && isfinite(l->ttft_s))
        snprintf(more + n, sizeof more - (size_t)n, ", ttft %.1f ms", l->ttft_s * 1e3);
    progress_show(&a->progress, done, more);
}

static void around_tick(void *context, const struct live_counts *l)
{
    struct around *a = context;
    a->looks++;
    if (!a->quiet)
        around_show_progress(a, l);
    if (a->recorder >= 0)
        send_live_metrics(a, l);
    a->last = *l;
}

static bool server_is_gone(void *context)
{
    struct around *a = context;
    return a->scrape && scrape_gone(a->scrape, &a->last);
}

/* Begins the progress of a run. A search or sweep is several runs: each counts from 0 on. */
static void begin_progress(void *context, const struct load *l)
{
    struct around *a = context;
    progress_clear(&a->progress);
    a->last = (struct live_counts){0};
    a->quiet = opt_on(a->set, OPTION_QUIET);
    if (l->duration_s > 0)
        progress_begin(&a->progress, stderr, "second", (size_t)(l->warmup_s + l->duration_s + l->cooldown_s));
    else
        progress_begin(&a->progress, stderr, "request", (size_t)(l->requests + l->warmup_requests));
}

/* Reports before a run which of its percentiles will be missing, of a sweep or search once. */
static void warn_of_few(void *context, const struct load *l, double requests)
{
    struct around *a = context;
    CLEANUP_BUF struct buf text;
    buf_init(&text, 400);
    if (requests > 0 && !a->quiet && !a->warned)
        report_foresee(l, requests, &text);
    if (!text.n)
        return;
    a->warned = true;
    progress_clear(&a->progress);
    fprintf(stderr, "llmload: %s\n", text.p);
}

/* Starts to read the service's metrics, and to check that it lives, where an option requires one of
 * them. Returns 0, or -1 with *err. */
static int watch_server(struct around *a, pid_t pid, struct err *err)
{
    struct scrape_config config = {.every_s = opt_text(a->set, OPTION_SCRAPE) ? opt_seconds(a->set, OPTION_SCRAPE) : 0,
                                   .url = opt_text(a->set, OPTION_SCRAPE_URL),
                                   .file = opt_text(a->set, OPTION_SCRAPE_FILE),
                                   .pid = pid};
    if ((config.file || config.url) && !config.every_s)
        return err_set(err, ERR_USAGE, "%s: expected --scrape T too, as in --scrape 1s", config.file ? "--scrape-file" : "--scrape-url");
    if (!config.every_s && !pid && !a->server_used)
        return 0;
    return scrape_start(&a->scrape, a->load, &config, err);
}

int around_begin(struct around *a, const struct opt_set *set, struct load *load, struct prompt_source *prompts, bool records,
                 struct err *err)
{
    const char *name = getenv("BENCHWRAP_SOCKET");
    int64_t pid = opt_text(set, OPTION_SERVER_PID) ? opt_integer(set, OPTION_SERVER_PID) : 0;
    *a = (struct around){.set = set, .load = load, .recorder = -1};
    a->hooks = (struct engine_hooks){
        .begin = begin_progress, .ready = warn_of_few, .tick = around_tick, .stop = server_is_gone, .context = a, .every_s = 1};
    if (pid < 0 || pid > INT32_MAX)
        return err_set(err, ERR_USAGE, "--server-pid: expected the number of a process, got \"%.40s\"", opt_text(set, OPTION_SERVER_PID));
    if (query_server(a, (pid_t)pid, err) < 0 || (records && open_sinks(a, prompts, err) < 0) || watch_server(a, (pid_t)pid, err) < 0)
        return -1;
    if (name && *name)
        a->recorder = emit_open(name, NULL); /* not recorded then: the run is measured all the same */
    begin_progress(a, load);
    return 0;
}

/* ---- after ---- */

int around_end(struct around *a, const struct outcome *o, struct err *err)
{
    struct buf title CLEANUP_BUF;
    buf_init(&title, 400);
    progress_clear(&a->progress);
    if (a->scrape)
        scrape_stop(a->scrape);
    int written = records_end(a->records, err) < 0 || records_end(a->csv, err) < 0 ? -1 : 0;
    if (!opt_text(a->set, OPTION_PLOTS))
        return written;
    buf_printf(&title, "llmload %.100s%s%.100s", a->load->shown_url, a->load->model ? ", " : "", a->load->model ? a->load->model : "");
    return plots_write(opt_text(a->set, OPTION_PLOTS), o, title.p, written < 0 ? NULL : err) < 0 ? -1 : written;
}

/* Returns the tokens that the server has counted in all phases of the run. NaN: not known. */
static double server_tokens(const struct around *a)
{
    return a->scrape ? scrape_counted(a->scrape, "generation_tokens") : NAN;
}

/* Returns whether one of the load's services is on another machine, whose energy is not that of
 * this one. */
static bool is_load_elsewhere(const struct load *load)
{
    struct arena a;
    struct endpoint e;
    bool elsewhere = false;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < load->url_count && !elsewhere; i++)
        elsewhere = endpoint_read(&e, load->urls[i], load->path, &a, NULL) == 0 && endpoint_is_elsewhere(&e);
    arena_deinit(&a);
    return elsewhere;
}

/* Appends the energy that the service counted while the load was measured, where it is known, and
 * whether a service is on another machine. */
static void put_energy(const struct around *a, const struct outcome *o, struct json_out *j)
{
    struct report_derived d;
    double from_ns, to_ns;
    const struct load_report r = {.load = a->load, .outcome = o};
    report_derive(&d, &r);
    report_window_ns(o, &d, &from_ns, &to_ns);
    double energy_J = a->scrape && from_ns > 0 && to_ns > from_ns ? scrape_energy_J(a->scrape, from_ns, to_ns) : NAN;
    if (isfinite(energy_J))
        json_double(j, "server_energy_J", energy_J);
    if (is_load_elsewhere(a->load))
        json_int(j, "server_elsewhere", 1);
}

void around_json(struct around *a, const struct outcome *o, struct json_out *j)
{
    put_energy(a, o, j);
    if (a->server_ready)
        server_ready_json(&a->ready, j);
    if (a->server_used)
        server_facts_json(&a->facts, j);
    if (a->scrape)
        scrape_json(a->scrape, j);
    if (a->scoring)
        scoring_json(a->scoring, j);
}

/* Appends a time of readiness: "-" where the gate was not passed, or the server has no such page. */
static void put_ready_time(const char *what, double seconds, struct buf *to)
{
    buf_puts(to, what);
    if (isfinite(seconds))
        buf_printf(to, "%.3f s", seconds);
    else
        buf_putc(to, '-');
}

void around_table(struct around *a, struct buf *to)
{
    buf_puts(to, a->server_used || a->scrape || a->scoring ? "\n" : "");
    if (a->server_used) {
        buf_puts(to, "  server: ");
        buf_plain(to, str_of(a->facts.kind ? a->facts.kind : "unknown kind"), 40);
        buf_puts(to, ", version ");
        buf_plain(to, str_of(a->facts.version ? a->facts.version : "unknown"), 80);
        buf_putc(to, '\n');
    }
    if (a->server_ready) {
        put_ready_time("  ready: connection after ", a->ready.connect_s, to);
        put_ready_time(", health ", a->ready.health_s, to);
        put_ready_time(", model ", a->ready.model_s, to);
        put_ready_time(",\n         first answer ", a->ready.answer_s, to);
        buf_putc(to, '\n');
    }
    if (isfinite(server_tokens(a))) {
        double prompts = scrape_counted(a->scrape, "prompt_tokens");
        buf_printf(to, "  server's own count: %.0f tokens generated", server_tokens(a));
        if (isfinite(prompts))
            buf_printf(to, ", %.0f of prompts", prompts);
        buf_putc(to, '\n');
    }
    if (a->scrape && scrape_why_gone(a->scrape))
        buf_printf(to, "  ! server ended: %s\n", scrape_why_gone(a->scrape));
    if (a->scoring)
        scoring_table(a->scoring, to);
}

void around_log(const struct around *a, struct str result)
{
    static const char message[] = "{\"artifact\":\"" LLMLOAD_RESULT "\"}";
    CLEANUP_FD int file = a->recorder < 0 ? -1 : memfd_create(LLMLOAD_RESULT, MFD_CLOEXEC);
    if (file >= 0 && fs_write_all(file, result.p, result.n) == 0)
        (void)emit_send(a->recorder, str_of(message), file); /* the record has the table's values then */
}

void around_deinit(struct around *a)
{
    progress_clear(&a->progress);
    scrape_free(a->scrape);
    records_free(a->records);
    records_free(a->csv);
    scoring_free(a->scoring);
    if (a->server_open)
        server_deinit(&a->server);
    fs_close(&a->recorder);
}

static void on_signal(int signal)
{
    int code = errno;
    engine_stop(signal);
    (void)eventfd_write(stop_fd, 1);
    errno = code;
}

void around_catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU};
    struct sigaction a = {.sa_handler = on_signal};
    if (stop_fd < 0)
        stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &a, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing, not the end */
}
