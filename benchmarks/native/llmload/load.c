/* load.c: one run's description, from the options; see load.h. */
#include "benchmarks/native/llmload/load.h"

#include "base/fs.h"
#include "base/json.h"
#include "benchmarks/native/llmload/options.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct opt_row load_rows[LOAD_ROWS] = {
#define OPTION(name, letter, kind, arg, env, value, group, help) {name, letter, kind, arg, env, value, group, help, 0},
#include "benchmarks/native/llmload/options.def"
#undef OPTION
};
const struct dialect_row dialects[DIALECTS] = {
    [DIALECT_CHAT] = {"openai-chat", "/v1/chat/completions", "/health", .chat = true},
    [DIALECT_COMPLETIONS] = {"openai-completions", "/v1/completions", "/health"},
    [DIALECT_OLLAMA_CHAT] = {"ollama-chat", "/api/chat", "/api/version", .ollama = true, .chat = true},
    [DIALECT_OLLAMA_GENERATE] = {"ollama-generate", "/api/generate", "/api/version", .ollama = true},
    [DIALECT_TRITON] = {"triton-generate", "/generate_stream", "/v2/health/ready", .by_model = true, .bare_end = true},
};
const char *const arrivals_names[ARRIVALS_KINDS] = {"closed", "constant", "poisson", "gamma", "bursts", "trace"};

enum { SECRETS_MAX = 64 << 10, DEFAULT_DURATION_S = 30 };

/* Parses "N", "N@TIME" or "N-M@TIME" into the next piece. Returns 0, or another value with *err. */
static int profile_piece(struct profile *p, struct str one, const char *what, struct err *err)
{
    struct str rest = one, values = str_cut(&rest, '@'), to = values;
    if (p->n == PROFILE_MAX)
        return err_set(err, ERR_USAGE, "%s: more than %d pieces", what, PROFILE_MAX);
    struct str from = str_cut(&to, '-');
    double *f = &p->piece[p->n].from, *t = &p->piece[p->n].to, *s = &p->piece[p->n].seconds;
    *s = 0;
    if (!str_double(from, f) || (to.p && !str_double(to, t)) || !isfinite(*f) || *f < 0 ||
        (rest.p && (!str_duration(rest, s) || !(*s > 0))))
        return err_set(err, ERR_USAGE, "%s: expected N, N@TIME or N-M@TIME, got \"%.*s\"", what, (int)(one.n < 60 ? one.n : 60), one.p);
    if (!to.p)
        *t = *f;
    if (!isfinite(*t) || *t < 0 || *f > 1e9 || *t > 1e9 || (*f != *t && *s <= 0))
        return err_set(err, ERR_USAGE, "%s: expected a time, and numbers from 0 to 1e9, got \"%.*s\"", what, (int)(one.n < 60 ? one.n : 60),
                       one.p);
    p->n++;
    return 0;
}

/* Reads the pieces of a rate or concurrency. Returns 0, or -1 with *err; `what` names the option. */
static int profile_read(struct profile *ret, const char *text, const char *what, struct err *err)
{
    struct str rest = str_of(text);
    *ret = (struct profile){0};
    while (rest.p)
        if (profile_piece(ret, str_trim(str_cut(&rest, ',')), what, err) < 0)
            return -1;
    for (unsigned i = 0; i + 1 < ret->n; i++)
        if (ret->piece[i].seconds <= 0)
            return err_set(err, ERR_USAGE,
                           "%s: expected @TIME behind every piece but the last, got \"%.60s\"; --sweep LEVELS runs once for each level",
                           what, text);
    return 0;
}

double profile_at(const struct profile *p, double t)
{
    for (unsigned i = 0; i < p->n; i++) {
        if (t < p->piece[i].seconds)
            return p->piece[i].from + (p->piece[i].to - p->piece[i].from) * (t > 0 ? t : 0) / p->piece[i].seconds;
        t -= p->piece[i].seconds;
    }
    return p->n ? p->piece[p->n - 1].to : 0;
}

double profile_most(const struct profile *p)
{
    double most = 0;
    for (unsigned i = 0; i < p->n; i++)
        most = fmax(most, fmax(p->piece[i].from, p->piece[i].to));
    return most;
}

double profile_seconds(const struct profile *p)
{
    double sum = 0;
    for (unsigned i = 0; i < p->n; i++)
        sum += p->piece[i].seconds;
    return sum;
}

/* Reads a number of at least `low`; *ret stays as it is where the option is not given. Returns 0,
 * or -1 with *err. */
static int read_number(const struct opt_set *set, const char *name, double low, double *ret, struct err *err)
{
    const char *text = opt_text(set, name);
    if (!text)
        return 0;
    if (!str_double(str_of(text), ret) || !isfinite(*ret) || *ret < low)
        return err_set(err, ERR_USAGE, "--%s: expected a number >= %g, got \"%.40s\"", name, low, text);
    return 0;
}

static bool header_is_good(struct str line)
{
    const char *colon = memchr(line.p, ':', line.n);
    for (size_t i = 0; i < line.n; i++)
        if ((unsigned char)line.p[i] < ' ' && line.p[i] != '\t')
            return false;
    return colon && colon > line.p;
}

/* Adds a header; an empty line is none. file: where it is from; NULL: the command line. Returns 0, or
 * -1 with *err. */
static int load_add_header(struct load *l, struct str line, const char *file, struct arena *a, struct err *err)
{
    enum { HEADERS_MAX = 64 };
    if (!line.n)
        return 0;
    if (!header_is_good(line)) /* which may be a secret: not in the message */
        return err_set(err, ERR_USAGE, "--header%s%.200s: expected \"Name: value\", got %s", file ? " @" : "", file ? file : "",
                       memchr(line.p, ':', line.n) == NULL ? "a text without a colon"
                       : line.p[0] == ':'                  ? "a value without a name"
                                                           : "a control character");
    if (!l->headers)
        l->headers = arena_get(a, HEADERS_MAX * sizeof *l->headers);
    if (l->header_count == HEADERS_MAX)
        return err_set(err, ERR_USAGE, "--header: more than %d", HEADERS_MAX);
    if (!l->headers || !(l->headers[l->header_count++] = arena_dup(a, line.p, line.n)))
        return err_memory(err, "--header");
    return 0;
}

/* Adds the headers of --header, also those of a file ("@FILE"). Returns 0, or another value with
 * *err. */
static int read_headers(struct load *l, const struct opt_set *set, struct arena *a, struct err *err)
{
    for (const struct opt_value *v = opt_find(set, OPTION_HEADER); v && v->text; v = v->next) {
        struct buf text CLEANUP_BUF;
        buf_init(&text, SECRETS_MAX);
        if (v->text[0] != '@') {
            if (load_add_header(l, str_trim(str_of(v->text)), NULL, a, err) < 0)
                return -1;
            continue;
        }
        if (fs_read(AT_FDCWD, v->text + 1, SECRETS_MAX - 1, 0, &text, err) < 0)
            return err_wrap(err, "--header %s", v->text);
        for (struct str rest = buf_text(&text); rest.p;)
            if (load_add_header(l, str_trim(str_cut(&rest, '\n')), v->text + 1, a, err) < 0)
                return -1;
    }
    return 0;
}

/* Reads the API key from a file, else from a variable, into the arena. l->key NULL: there is none.
 * Returns 0, or another value with *err. */
static int read_key(struct load *l, const struct opt_set *set, struct arena *a, struct err *err)
{
    const char *file = opt_text(set, OPTION_KEY_FILE), *variable = opt_text(set, OPTION_KEY_ENV);
    struct buf text CLEANUP_BUF;
    buf_init(&text, SECRETS_MAX);
    if (file) {
        if (fs_read(AT_FDCWD, file, SECRETS_MAX - 1, 0, &text, err) < 0)
            return err_wrap(err, "--key-file");
    } else if (variable && getenv(variable)) {
        buf_puts(&text, getenv(variable));
    }
    struct str key = str_trim(buf_text(&text));
    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.p[i] <= ' ' || key.p[i] == 0x7f)
            return err_set(err, ERR_USAGE, "the API key (%s) has blanks or control characters in it", file ? "--key-file" : variable);
    if (file && !key.n)
        return err_set(err, ERR_USAGE, "--key-file %s is empty", file);
    l->key = key.n ? arena_dup(a, key.p, key.n) : NULL;
    return 0;
}

/* ---- secrets of this client in what a server answers ---- */

/* Replaces the secret in the text, and the beginning of one at its end, where the text was cut. */
static void hide_secret(char *text, size_t n, struct str secret)
{
    enum { SECRET_MIN = 6, PART_MIN = 4 };
    if (secret.n < SECRET_MIN)
        return;
    for (char *at = text; (at = memmem(at, n - (size_t)(at - text), secret.p, secret.n)); at += secret.n)
        memset(at, '*', secret.n);
    for (size_t part = n < secret.n ? n : secret.n - 1; part >= PART_MIN; part--)
        if (memcmp(text + n - part, secret.p, part) == 0) {
            memset(text + n - part, '*', part);
            return;
        }
}

void load_hide_secrets(const struct load *l, char *text, size_t n)
{
    static const char *const plain[] = {"content-type", "accept", "user-agent", "connection"};
    if (l->key)
        hide_secret(text, n, str_of(l->key));
    for (size_t i = 0; i < l->header_count; i++) {
        struct str value = str_of(l->headers[i]), name = str_trim(str_cut(&value, ':'));
        bool is_plain = false;
        for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
            is_plain |= name.n == strlen(plain[k]) && strncasecmp(name.p, plain[k], name.n) == 0;
        if (is_plain)
            continue;
        for (value = str_trim(value); value.p && value.n;) /* "Bearer TOKEN": each word */
            hide_secret(text, n, str_cut(&value, ' '));
    }
}

/* Checks that --path is not the path of another API, which would get requests in a form that it
 * does not accept. Returns 0, or -1 with *err. */
static int load_check_path(const struct load *l, struct err *err)
{
    struct str path = str_of(l->path ? l->path : "");
    struct str plain = str_sub(path, 0, strcspn(path.p, "?"));
    const char *named = NULL;
    for (int i = 0; i < DIALECTS; i++) {
        size_t n = strlen(dialects[i].path);
        if (plain.n < n || memcmp(plain.p + plain.n - n, dialects[i].path, n) != 0)
            continue;
        if ((enum dialect)i == l->dialect)
            return 0;
        named = dialects[i].name;
    }
    return named ? err_set(err, ERR_USAGE, "--path %.80s: is the path of another API than %s; add --api %s", l->path,
                           dialects[l->dialect].name, named)
                 : 0;
}

/* Sets the path where --path did not. Triton's names the model, and whether the answer is streamed.
 * Returns 0, or -1 with *err. */
static int set_load_path(struct load *l, struct arena *a, struct err *err)
{
    bool by_model = dialects[l->dialect].by_model;
    if (by_model && (!l->model || strpbrk(l->model, "/?# ")))
        return err_set(err, ERR_USAGE, "--api %s needs --model, the name of a model in the server's repository", dialects[l->dialect].name);
    if (!l->path)
        l->path = by_model ? arena_printf(a, "/v2/models/%s/%s", l->model, l->stream ? "generate_stream" : "generate")
                           : dialects[l->dialect].path;
    return 0;
}

/* Reads the options that name the service: addresses, API, path, model. -1 with err: one is missing
 * or wrong. */
static int read_service(struct load *l, const struct opt_set *set, struct arena *a, struct err *err)
{
    for (const struct opt_value *v = opt_find(set, OPTION_URL); v && v->text; v = v->next)
        l->url_count++;
    if (!l->url_count)
        return err_set(
            err, ERR_USAGE,
            "--url is missing: llmload --url http://node:8000 [--model M] [--concurrency C | --rate R] [--requests N | --duration T]");
    l->urls = arena_get(a, l->url_count * sizeof *l->urls);
    if (!l->urls)
        return err_memory(err, "--url");
    size_t n = 0;
    for (const struct opt_value *v = opt_find(set, OPTION_URL); v && v->text; v = v->next)
        l->urls[n++] = v->text;
    size_t shown = strcspn(l->urls[0], "?#");
    l->shown_url = arena_printf(a, "%.*s%s", (int)shown, l->urls[0], l->urls[0][shown] ? "?…" : "");
    for (int i = 0; i < DIALECTS; i++)
        if (strcmp(opt_text(set, OPTION_API), dialects[i].name) == 0)
            l->dialect = (enum dialect)i;
    l->path = opt_text(set, OPTION_PATH);
    if (l->path && (l->path[0] != '/' || strpbrk(l->path, " \t\r\n")))
        return err_set(err, ERR_USAGE, "--path: expected a path that begins with / and has no blanks, got \"%.80s\"", l->path);
    if (load_check_path(l, err) < 0)
        return -1;
    l->model = opt_text(set, OPTION_MODEL);
    l->least_in_flight = strcmp(opt_text(set, OPTION_BALANCE), "least") == 0;
    l->proxy = opt_text(set, OPTION_PROXY);
    l->ca_file = opt_text(set, OPTION_CA_FILE);
    l->insecure = opt_on(set, OPTION_INSECURE);
    l->http2 = opt_on(set, OPTION_HTTP2);
    return read_headers(l, set, a, err) < 0 ? -1 : read_key(l, set, a, err);
}

/* Stores the members of --body without their braces in the arena. Returns 0, or another value with
 * *err. */
static int read_body(struct load *l, const char *text, struct arena *a, struct err *err)
{
    struct json *j;
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, 1 << 24);
    if (!text)
        return 0;
    if (json_parse(&j, str_of(text), NULL, err) < 0)
        return err_wrap(err, "--body");
    bool object = json_is_object(j);
    if (object)
        json_print(j, &plain);
    json_free(j);
    if (!object || plain.failed)
        return err_set(err, ERR_USAGE, "--body: expected a JSON object as in '{\"top_p\": 0.9}', got \"%.60s\"", text);
    l->extra_body = (struct str){arena_dup(a, plain.p + 1, plain.n - 2), plain.n - 2};
    return 0;
}

static int read_requests(struct load *l, const struct opt_set *set, struct arena *a, struct err *err)
{
    l->stream = !opt_on(set, OPTION_NO_STREAM);
    l->ignore_eos = opt_on(set, OPTION_IGNORE_EOS);
    l->continuous_usage = opt_on(set, OPTION_CONTINUOUS_USAGE);
    l->token_ids = opt_on(set, OPTION_TOKEN_IDS);
    l->max_tokens = (uint32_t)opt_integer(set, OPTION_MAX_TOKENS);
    l->max_field = opt_text(set, OPTION_MAX_FIELD);
    l->temperature = -1;
    if (opt_integer(set, OPTION_MAX_TOKENS) < 0 || opt_integer(set, OPTION_MAX_TOKENS) > 1 << 30)
        return err_set(err, ERR_USAGE, "--max-tokens: expected a number from 0 to %d, got \"%.40s\"", 1 << 30,
                       opt_text(set, OPTION_MAX_TOKENS));
    return read_number(set, "temperature", 0, &l->temperature, err) < 0 ? -1 : read_body(l, opt_text(set, OPTION_BODY), a, err);
}

static int read_bursts(struct load *l, const char *text, struct err *err)
{
    struct str rest = str_of(text), on = str_cut(&rest, ':');
    if (!rest.p || !str_duration(on, &l->burst_on_s) || !str_duration(rest, &l->burst_off_s) || !(l->burst_on_s > 0) || l->burst_off_s < 0)
        return err_set(err, ERR_USAGE, "--bursts: expected ON:OFF as in 2s:8s, got \"%.40s\"", text);
    return 0;
}

static int read_cancel(struct load *l, const char *text, struct err *err)
{
    struct str rest = str_of(text ? text : "0@1s"), share = str_cut(&rest, '@');
    if (!rest.p || !str_double(share, &l->cancel_share) || !str_duration(rest, &l->cancel_after_s) ||
        !(l->cancel_share >= 0 && l->cancel_share <= 1) || !(l->cancel_after_s > 0))
        return err_set(err, ERR_USAGE, "--cancel: expected SHARE@TIME as in 0.1@2s, got \"%.40s\"", text);
    return 0;
}

/* Returns whether the text is "inf", by which other tools send all requests at once. */
static bool is_infinite(const char *text)
{
    double v;
    return str_double(str_of(text), &v) && isinf(v);
}

/* Reads when requests are sent: --rate, --trace, --concurrency and --bursts. Returns 0, or another
 * value with *err. */
static int read_arrivals(struct load *l, const struct opt_set *set, struct err *err)
{
    const char *rate = opt_text(set, OPTION_RATE), *concurrency = opt_text(set, OPTION_CONCURRENCY);
    l->trace = opt_text(set, OPTION_TRACE);
    l->trace_speed = 1;
    l->arrivals = l->trace ? ARRIVALS_TRACE : ARRIVALS_CLOSED;
    if (rate && is_infinite(rate))
        return err_set(err, ERR_USAGE,
                       "--rate: expected a finite number, got \"%.40s\"; --concurrency N without a rate sends N requests at once", rate);
    if (rate && l->trace)
        return err_set(err, ERR_USAGE, "--rate and --trace cannot be together: a trace has its own times (--trace-speed changes them)");
    if (rate) {
        for (int i = 0; i < ARRIVALS_KINDS; i++)
            if (strcmp(opt_text(set, OPTION_ARRIVALS), arrivals_names[i]) == 0)
                l->arrivals = (enum arrivals)i;
        if (profile_read(&l->rate, rate, "--rate", err) < 0)
            return -1;
    }
    if (concurrency && profile_read(&l->concurrency, concurrency, "--concurrency", err) < 0)
        return -1;
    if (concurrency && !(profile_most(&l->concurrency) >= 0.5))
        return err_set(err, ERR_USAGE, "--concurrency %.60s: no stream at any time, so no request either", concurrency);
    if (!rate && !l->trace && !concurrency && profile_read(&l->concurrency, "1", "--concurrency", err) < 0)
        return -1;
    if (read_number(set, "burstiness", 1e-3, &l->burstiness, err) < 0 || read_number(set, "trace-speed", 1e-6, &l->trace_speed, err) < 0)
        return -1;
    return read_bursts(l, opt_text(set, OPTION_BURSTS), err) < 0 ? -1 : read_cancel(l, opt_text(set, OPTION_CANCEL), err);
}

/* Reads how long the load is: requests, duration, phases, turns and seed. Returns 0, or another
 * value with *err. */
static int read_length(struct load *l, const struct opt_set *set, struct err *err)
{
    static const struct {
        const char *name;
        int64_t least, most;
    } counts[] = {
        {"requests", 1, INT64_MAX}, {"warmup-requests", 0, INT64_MAX}, {"turns", 1, 1000000}, {"seed", 0, INT64_MAX}, {"threads", 0, 256}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t n = opt_text(set, counts[i].name) ? opt_integer(set, counts[i].name) : counts[i].least;
        if (n < counts[i].least)
            return err_set(err, ERR_USAGE, "--%s: expected a number >= %lld, got \"%lld\"", counts[i].name, (long long)counts[i].least,
                           (long long)n);
        if (n > counts[i].most)
            return err_set(err, ERR_USAGE, "--%s: expected a number <= %lld, got \"%lld\"", counts[i].name, (long long)counts[i].most,
                           (long long)n);
    }
    l->requests = opt_text(set, OPTION_REQUESTS) ? (uint64_t)opt_integer(set, OPTION_REQUESTS) : 0;
    l->duration_s = opt_text(set, OPTION_DURATION) ? opt_seconds(set, OPTION_DURATION) : 0;
    if (opt_text(set, OPTION_DURATION) && !(l->duration_s > 0))
        return err_set(err, ERR_USAGE, "--duration: expected a time > 0, got \"%.40s\"", opt_text(set, OPTION_DURATION));
    if (!l->requests && !(l->duration_s > 0) && !l->trace)
        l->duration_s = profile_seconds(&l->rate) > 0          ? profile_seconds(&l->rate)
                        : profile_seconds(&l->concurrency) > 0 ? profile_seconds(&l->concurrency)
                                                               : DEFAULT_DURATION_S;
    l->warmup_s = opt_seconds(set, OPTION_WARMUP);
    l->cooldown_s = opt_seconds(set, OPTION_COOLDOWN);
    l->grace_s = opt_seconds(set, OPTION_GRACE);
    l->warmup_requests = (uint64_t)opt_integer(set, OPTION_WARMUP_REQUESTS);
    l->turns = (unsigned)opt_integer(set, OPTION_TURNS);
    l->think_s = opt_seconds(set, OPTION_THINK);
    l->seed = (uint64_t)opt_integer(set, OPTION_SEED);
    l->threads = (unsigned)opt_integer(set, OPTION_THREADS);
    l->drop = opt_on(set, OPTION_DROP);
    l->schedule_out = opt_text(set, OPTION_SCHEDULE_OUT);
    l->shares = 1;
    if (l->turns > 1 && !dialects[l->dialect].chat)
        return err_set(err, ERR_USAGE, "--turns needs a chat API (--api openai-chat or ollama-chat)");
    return 0;
}

/* Sets the objectives of a named preset. Returns 0, or another value with *err for an unknown
 * name. */
static int read_preset(struct load *l, const char *name, struct err *err)
{
    static const struct {
        const char *name;
        int64_t ttft_ms, tpot_ms;
    } presets[] = {
#define OBJECTIVE(name, ttft, tpot) {name, ttft, tpot},
#include "benchmarks/native/llmload/objectives.def"
#undef OBJECTIVE
    };
    struct buf known CLEANUP_BUF;
    buf_init(&known, 1000);
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            l->objectives = (struct objectives){.ttft_ns = presets[i].ttft_ms * 1000000, .tpot_ns = presets[i].tpot_ms * 1000000};
            l->objectives_name = presets[i].name;
            return 0;
        }
        buf_printf(&known, "%s%s", i ? ", " : "", presets[i].name);
    }
    return err_set(err, ERR_USAGE, "--slo: expected one of %s, got \"%.40s\"", known.p, name);
}

/* Reads --slo, then --goodput, which replaces single objectives, in nanoseconds. Returns 0, or
 * another value with *err. */
static int read_objectives(struct load *l, const struct opt_set *set, struct err *err)
{
    if (opt_text(set, OPTION_SLO) && read_preset(l, opt_text(set, OPTION_SLO), err) < 0)
        return -1;
    for (const struct opt_value *v = opt_find(set, OPTION_GOODPUT); v && v->text; v = v->next) {
        struct str list = str_of(v->text);
        while (list.p) {
            struct str rest = str_trim(str_cut(&list, ',')), name = str_cut(&rest, ':');
            double ms;
            int64_t *to = str_is(name, "ttft")   ? &l->objectives.ttft_ns
                          : str_is(name, "itl")  ? &l->objectives.itl_ns
                          : str_is(name, "tpot") ? &l->objectives.tpot_ns
                          : str_is(name, "e2el") ? &l->objectives.e2el_ns
                                                 : NULL;
            if (!to || !rest.p || !str_double(rest, &ms) || !(ms > 0 && ms < 1e9))
                return err_set(err, ERR_USAGE,
                               "--goodput: expected ttft, itl, tpot or e2el with milliseconds as in ttft:500, got \"%.40s\"", v->text);
            *to = (int64_t)(ms * 1e6);
        }
    }
    const struct objectives *o = &l->objectives;
    if (!l->stream && (o->ttft_ns || o->itl_ns || o->tpot_ns))
        return err_set(err, ERR_USAGE, "--no-stream: answers in one piece have no times of tokens; expected e2el as the only objective");
    return 0;
}

static bool load_option_given(const struct opt_set *set, const char *name)
{
    const struct opt_value *v = opt_find(set, name);
    return v && v->text && v->origin != OPT_DEFAULT;
}

/* Rejects options that have no effect with the others: the user expects a load that would not be made. */
static int refuse_options_without_effect(const struct load *l, const struct opt_set *set, struct err *err)
{
    bool open_loop = l->arrivals != ARRIVALS_CLOSED;
    bool has_rate = l->rate.n > 0;
    const struct {
        const char *name, *needs;
        bool has;
    } rows[] = {{"arrivals", "--rate", l->rate.n > 0},
                {"burstiness", has_rate ? "--arrivals gamma" : "--rate and --arrivals gamma", l->arrivals == ARRIVALS_GAMMA},
                {"bursts", has_rate ? "--arrivals bursts" : "--rate and --arrivals bursts", l->arrivals == ARRIVALS_BURSTS},
                {"trace-speed", "--trace", l->trace != NULL},
                {"drop",
                 open_loop          ? "--concurrency"
                 : l->concurrency.n ? "--rate or --trace"
                                    : "--concurrency, and --rate or --trace",
                 open_loop && l->concurrency.n},
                {"think", "--turns", l->turns > 1},
                {"cooldown", "--duration", l->duration_s > 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (load_option_given(set, rows[i].name) && !rows[i].has)
            return err_set(err, ERR_USAGE, "--%s changes nothing without %s", rows[i].name, rows[i].needs);
    return 0;
}

int load_check_end(const struct load *l, unsigned agents, struct err *err)
{
    const struct profile *p = &l->concurrency;
    double last = p->n ? p->piece[p->n - 1].to : agents;
    if (l->duration_s > 0 || l->drop || floor(last + 0.5) >= agents)
        return 0;
    return err_set(
        err, ERR_USAGE,
        "--concurrency ends with %g streams, fewer than %u: a run by count would never end (use --duration, or a last piece of %u or more)",
        last, agents, agents);
}

int load_read(struct load *ret, const struct opt_set *set, struct arena *arena, struct err *err)
{
    *ret = (struct load){0};
    if (read_service(ret, set, arena, err) < 0 || read_requests(ret, set, arena, err) < 0 || read_arrivals(ret, set, err) < 0 ||
        read_length(ret, set, err) < 0 || read_objectives(ret, set, err) < 0 || refuse_options_without_effect(ret, set, err) < 0)
        return -1;
    if (set_load_path(ret, arena, err) < 0)
        return -1;
    ret->connect_s = opt_seconds(set, OPTION_CONNECT_TIMEOUT);
    ret->ttft_s = opt_seconds(set, OPTION_TTFT_TIMEOUT);
    ret->stall_s = opt_seconds(set, OPTION_STALL_TIMEOUT);
    ret->request_s = opt_seconds(set, OPTION_TIMEOUT);
    ret->source_address = opt_text(set, OPTION_SOURCE);
    ret->user_clock = opt_on(set, OPTION_USER_CLOCK);
    return arena->failed ? err_memory(err, "the options") : 0;
}
