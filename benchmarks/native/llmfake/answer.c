/* answer.c: what is sent when: the schedule of an answer, and what goes wrong in it on purpose. */
#include "benchmarks/native/llmfake/serve.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static uint64_t answer_mix_bits(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdU;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53U;
    return x ^ x >> 33;
}

static double answer_draw_uniform(struct fake_client *c)
{
    c->random = answer_mix_bits(c->random + 0x9e3779b97f4a7c15U);
    return ((double)(c->random >> 11) + 0.5) / 9007199254740992.0;
}

/* Draws a delay, in ns, from the client's random numbers: two of them where it varies, none where
 * it is constant. */
static int64_t answer_draw_delay(struct fake_client *c, const struct delay *d)
{
    double s = d->median_s;
    if (d->sigma > 0) {
        double a = answer_draw_uniform(c), b = answer_draw_uniform(c); /* in this order, whatever the compiler */
        s *= exp(d->sigma * sqrt(-2 * log(a)) * cos(2 * M_PI * b));
    }
    return (int64_t)(s * 1e9);
}

/* Returns when the service of the request begins: at once, or when a slot is free. Draws what the
 * answer will draw, and restores the random numbers. */
static int64_t service_begin(struct thread *t, struct fake_client *c)
{
    const struct fake *f = t->fake;
    uint64_t random = c->random;
    if (!f->slots)
        return t->now_ns;
    int64_t service = answer_draw_delay(c, &f->ttft) + (int64_t)(f->tail_s * 1e9);
    for (uint32_t i = 1; i < c->chunks; i++)
        service += answer_draw_delay(c, &f->itl);
    c->random = random;
    return slots_take(f->slots, t->now_ns, service);
}

/* Draws the request's fault by the shares of --fault, FAULT_NONE for the rest. Draws one number in
 * any case. */
static enum fault pick_fault(const struct fake *f, struct fake_client *c)
{
    double u = answer_draw_uniform(c);
    for (int i = 1; i < FAULTS; i++) {
        if (u < f->fault_share[i])
            return (enum fault)i;
        u -= f->fault_share[i];
    }
    return FAULT_NONE;
}

/* Returns the number behind the first such key of the body, which is searched as text; 0: there is
 * none. */
static uint64_t number_after(struct str body, const char *key)
{
    ptrdiff_t at = str_find(body, str_of(key));
    if (at < 0)
        return 0;
    struct str rest = str_trim(str_sub(body, (size_t)at + strlen(key), body.n));
    if (!rest.n || rest.p[0] != ':')
        return 0;
    rest = str_trim(str_sub(rest, 1, rest.n));
    uint64_t n = 0;
    for (size_t i = 0; i < rest.n && str_is_digit(rest.p[i]) && n < 100000000; i++)
        n = n * 10 + (uint64_t)(rest.p[i] - '0');
    return n;
}

static bool wants_stream(const struct fake_client *c, struct str body)
{
    ptrdiff_t at = str_find(body, str_of("\"stream\""));
    if (at < 0)
        return c->api >= API_OLLAMA_CHAT; /* Ollama streams unless the request turns it off */
    struct str rest = str_trim(str_sub(body, (size_t)at + 8, body.n));
    return rest.n > 1 && str_starts(str_trim(str_sub(rest, 1, rest.n)), "true");
}

/* Sets the fault of a path "/fault/NAME/v1/…", whatever --fault is, and returns the rest of the
 * path; another path is returned as it is. */
static const char *path_fault(struct fake_client *c, const char *path)
{
    static const char prefix[] = "/fault/";
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return path;
    const char *name = path + sizeof prefix - 1;
    size_t n = strcspn(name, "/");
    for (int i = 1; i < FAULTS; i++)
        if (strlen(fault_names[i]) == n && memcmp(fault_names[i], name, n) == 0) {
            c->fault = (uint8_t)i;
            return name + n;
        }
    return path;
}

/* Of Triton each model has paths of its own. */
static bool is_triton_path(struct str path)
{
    return str_starts(path, "/v2/models/") && (str_ends(path, "/generate") || str_ends(path, "/generate_stream"));
}

/* Sets c->api by the path. False: no API has it, and c->api is unchanged. */
static bool known_path(struct fake_client *c, const char *path)
{
    static const char *const paths[APIS] = {"/v1/chat/completions", "/v1/completions", NULL, "/api/chat", "/api/generate"};
    for (int i = 0; i < APIS; i++)
        if (i == API_TRITON ? is_triton_path(str_of(path)) : strcmp(path, paths[i]) == 0) {
            c->api = (uint8_t)i;
            return true;
        }
    return false;
}

/* Sends what is in t->scratch, and clears it. */
static void send_scratch(struct thread *t, struct fake_client *c)
{
    client_send(t, c, t->scratch.p, t->scratch.n);
    buf_clear(&t->scratch);
}

static void answer_schedule(struct thread *t, struct fake_client *c, enum client_stage stage, int64_t due_ns)
{
    c->stage = (uint8_t)stage;
    c->due_ns = due_ns;
    timers_set(&t->timers, &c->timer, due_ns);
}

static void answer_end(struct thread *t, struct fake_client *c)
{
    c->stage = STAGE_IDLE;
    log_event(t, c, SENDLOG_END, clock_mono_ns(), 0);
    if (c->close_after || t->fake->close_after || t->fake->by_close)
        c->close_when_sent = true;
    client_flush(t, c);
}

/* Handles a fault that replaces the complete answer. False: it is none of those. */
static bool whole_fault(struct thread *t, struct fake_client *c)
{
    const struct fake *f = t->fake;
    static const char garbage[] = "\x16\x03\x01\x02garbage that is no HTTP\x00\xff\xfe\r\n\r\n";
    static const char html[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 52\r\n\r\n<html><body>Welcome to the gateway.</body></html>   \n";
    switch (c->fault) {
    case FAULT_429: reply_status(f, &t->scratch, 429, "too many requests"); break;
    case FAULT_503: reply_status(f, &t->scratch, 503, "overloaded"); break;
    case FAULT_500: reply_status(f, &t->scratch, 500, "internal error"); break;
    case FAULT_401: reply_status(f, &t->scratch, 401, "wrong key"); break;
    case FAULT_404: reply_status(f, &t->scratch, 404, "no such model"); break;
    case FAULT_HTML: buf_puts(&t->scratch, html); break;
    case FAULT_GARBAGE: buf_add(&t->scratch, garbage, sizeof garbage - 1); break;
    case FAULT_HANG: c->stage = STAGE_SILENT; return true;
    case FAULT_REFUSE: client_close(t, c); return true;
    case FAULT_DRIP:
        c->sent = 0;
        answer_schedule(t, c, STAGE_DRIP, t->now_ns);
        return true;
    default: return false;
    }
    send_scratch(t, c);
    answer_end(t, c);
    return true;
}

/* Sets the answer's tokens and chunks: by --tokens, else by the limit in the request, else 16,
 * fewer for two faults; and the prompt's tokens, a quarter of the body's bytes. */
static void set_tokens(struct thread *t, struct fake_client *c, struct str body)
{
    const struct fake *f = t->fake;
    uint64_t asked = number_after(body, "\"max_tokens\"");
    if (!asked)
        asked = number_after(body, c->api >= API_OLLAMA_CHAT ? "\"num_predict\"" : "\"max_completion_tokens\"");
    c->tokens = f->tokens ? f->tokens : asked ? (uint32_t)asked : 16;
    if (c->fault == FAULT_EMPTY)
        c->tokens = 0;
    if (c->fault == FAULT_SHORT)
        c->tokens /= 2;
    c->input = (uint32_t)(body.n / 4);
    c->chunks = (c->tokens + f->per_chunk - 1) / f->per_chunk;
    c->sent = 0;
}

/* Appends the chunk whose turn it is (c->sent): the first one, with --reasoning one of reasoning in
 * the first half, else the usual one. */
static void put_token(struct thread *t, struct fake_client *c, struct buf *to)
{
    const struct reply_parts *p = &reply_pieces[c->api];
    const struct fake *f = t->fake;
    const struct reply_part *piece = c->sent == 0 ? &p->first_token : f->reasoning && c->sent < c->chunks / 2 ? &p->reasoning : &p->token;
    uint32_t so_far = (c->sent + 1) * f->per_chunk;
    if (f->usage == USAGE_EVERY)
        reply_counted(f, (enum fake_api)c->api, to, c->input, so_far < c->tokens ? so_far : c->tokens);
    else
        buf_add(to, piece->p, piece->n);
}

/* Sends the complete answer at once. Each kind of answer is made once and stored for later
 * requests, BURSTS of them at most. */
static void send_burst(struct thread *t, struct fake_client *c)
{
    const struct reply_parts *p = &reply_pieces[c->api];
    unsigned i = 0;
    while (i < t->burst_count && (t->bursts[i].api != c->api || t->bursts[i].tokens != c->tokens || t->bursts[i].input != c->input))
        i++;
    if (i == t->burst_count) {
        struct buf b;
        buf_init(&b, (size_t)1 << 30);
        buf_add(&b, p->head.p, p->head.n);
        buf_add(&b, p->role.p, p->role.n);
        for (c->sent = 0; c->sent < c->chunks; c->sent++)
            put_token(t, c, &b);
        reply_tail(t->fake, (enum fake_api)c->api, &b, c->input, c->tokens);
        if (i == BURSTS || b.failed) { /* too many kinds to keep */
            client_send(t, c, b.p, b.n);
            buf_deinit(&b);
            answer_end(t, c);
            return;
        }
        t->bursts[t->burst_count].api = c->api, t->bursts[t->burst_count].tokens = c->tokens, t->bursts[t->burst_count].input = c->input;
        t->bursts[t->burst_count].p = b.p;
        t->bursts[t->burst_count++].n = b.n;
    }
    t->events += c->chunks;
    c->sent = c->chunks;
    if (t->log) {
        int64_t now = clock_mono_ns();
        for (uint32_t k = 0; k < c->chunks; k++)
            log_event(t, c, k, now, 0);
    }
    c->burst = t->bursts[i].p;
    c->burst_left = t->bursts[i].n;
    answer_end(t, c);
}

void answer_begin(struct thread *t, struct fake_client *c, const char *method, const char *path, struct str body)
{
    const struct fake *f = t->fake;
    t->requests++;
    c->random = answer_mix_bits(f->seed * 0x9e3779b97f4a7c15U + c->request + 1);
    c->fault = (uint8_t)pick_fault(f, c);
    path = path_fault(c, path);
    if (strcmp(method, "GET") == 0 || !known_path(c, path)) {
        reply_get(f, &t->scratch, path);
        send_scratch(t, c);
        answer_end(t, c);
        return;
    }
    log_event(t, c, SENDLOG_RECEIVED, c->arrived_ns, t->now_ns - c->arrived_ns);
    if (whole_fault(t, c))
        return;
    set_tokens(t, c, body);
    t->tokens += c->tokens;
    t->input_tokens += c->input;
    c->stream = c->api == API_TRITON ? str_ends(str_of(path), "_stream") : wants_stream(c, body);
    int64_t begin = service_begin(t, c);
    bool at_once = begin <= t->now_ns && f->ttft.median_s <= 0 && f->itl.median_s <= 0 && f->tail_s <= 0;
    if (c->stream && at_once && c->fault == FAULT_NONE && !f->split && !f->comments) {
        send_burst(t, c);
        return;
    }
    int64_t due = begin + answer_draw_delay(c, &f->ttft);
    if (!c->stream)
        for (uint32_t i = 1; i < c->chunks; i++)
            due += answer_draw_delay(c, &f->itl);
    if (due <= t->now_ns && !c->stream) {
        c->stage = STAGE_WAIT_HEAD;
        c->due_ns = t->now_ns;
        answer_due(t, c);
        return;
    }
    answer_schedule(t, c, STAGE_WAIT_HEAD, due);
}

static void note_late(struct thread *t, const struct fake_client *c, int64_t at_ns)
{
    int64_t late = at_ns - c->due_ns;
    t->late_sum_ns += (double)late;
    t->late_over_1ms += late > 1000000;
    t->late_max_ns = late > t->late_max_ns ? late : t->late_max_ns;
    t->events++;
}

/* Makes the fault that is due in the middle of a stream. Returns true where the answer is over. */
static bool middle_fault(struct thread *t, struct fake_client *c)
{
    const struct fake *f = t->fake;
    struct linger hard = {1, 0};
    static const char error[] = "{\"error\":{\"message\":\"engine died in the middle\",\"type\":\"EngineDeadError\",\"code\":500}}";
    struct buf event CLEANUP_BUF;
    buf_init(&event, 4096);
    if (c->fault == FAULT_EMPTY || c->fault == FAULT_SHORT) /* of the complete answer */
        return false;
    send_scratch(t, c); /* the head, where the middle is the beginning */
    if (c->broken)
        return true;
    switch (c->fault) {
    case FAULT_IN_BAND:
        reply_event(f, (enum fake_api)c->api, &event, error);
        if (c->api < API_TRITON)
            reply_event(f, (enum fake_api)c->api, &event, "[DONE]");
        break;
    case FAULT_BAD_JSON: reply_event(f, (enum fake_api)c->api, &event, "{\"choices\":[{\"delta\":{\"content\":\"unfinis"); break;
    case FAULT_TRUNCATE: break;
    case FAULT_STALL: c->stage = STAGE_SILENT; return true;
    case FAULT_RESET:
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        client_close(t, c);
        return true;
    case FAULT_CLOSE: client_close(t, c); return true;
    case FAULT_HUGE:
        client_send(t, c, "40000000\r\ndata: ", 16);
        answer_schedule(t, c, STAGE_HUGE, t->now_ns);
        return true;
    default: return false;
    }
    if (event.n)
        reply_frame(f, &t->scratch, event.p, event.n);
    if (!f->by_close)
        buf_puts(&t->scratch, "0\r\n\r\n");
    send_scratch(t, c);
    answer_end(t, c);
    return true;
}

/* Sends the next part of a streamed answer, or the fault that is due, and logs its time. */
static void send_token(struct thread *t, struct fake_client *c)
{
    const struct reply_parts *p = &reply_pieces[c->api];
    const struct fake *f = t->fake;
    buf_clear(&t->scratch);
    if (c->sent == 0) {
        buf_add(&t->scratch, p->head.p, p->head.n);
        buf_add(&t->scratch, p->role.p, p->role.n);
    }
    if (c->fault && c->sent == c->chunks / 2 && middle_fault(t, c))
        return;
    buf_add(&t->scratch, p->comment.p, p->comment.n);
    bool plain = c->sent && !p->comment.n && f->usage != USAGE_EVERY && !(f->reasoning && c->sent < c->chunks / 2);
    if (c->chunks && !plain)
        put_token(t, c, &t->scratch);
    int64_t before = clock_mono_ns();
    if (plain)
        client_send(t, c, p->token.p, p->token.n);
    else
        send_scratch(t, c);
    if (c->chunks) {
        note_late(t, c, before);
        if (t->log)
            log_event(t, c, c->sent, before, clock_mono_ns() - before);
        c->sent++;
    }
    if (c->broken)
        return;
    if (c->sent < c->chunks)
        answer_schedule(t, c, STAGE_TOKENS, c->due_ns + answer_draw_delay(c, &f->itl));
    else
        answer_schedule(t, c, STAGE_TAIL, c->due_ns + (int64_t)(f->tail_s * 1e9));
    if (c->due_ns <= t->now_ns && c->stage == STAGE_TAIL) {
        timers_clear(&t->timers, &c->timer);
        answer_due(t, c);
    }
}

static void answer_drip_byte(struct thread *t, struct fake_client *c)
{
    const struct reply_part *p = &reply_pieces[API_CHAT].head;
    if (c->sent >= p->n) {
        c->stage = STAGE_SILENT;
        return;
    }
    client_send(t, c, p->p + c->sent++, 1);
    if (!c->broken)
        answer_schedule(t, c, STAGE_DRIP, t->now_ns + 100000000);
}

static void answer_send_huge(struct thread *t, struct fake_client *c)
{
    enum { PIECE = 1 << 20, MOST = 1000 };
    buf_clear(&t->scratch);
    char *p = buf_room(&t->scratch, PIECE);
    if (!p || c->sent++ > MOST) {
        client_close(t, c);
        return;
    }
    memset(p, 'x', PIECE);
    client_send(t, c, p, PIECE);
    if (!c->broken && !c->out.n)
        answer_schedule(t, c, STAGE_HUGE, t->now_ns);
}

void answer_resume(struct thread *t, struct fake_client *c)
{
    if (c->stage == STAGE_HUGE)
        answer_schedule(t, c, STAGE_HUGE, t->now_ns);
}

void answer_due(struct thread *t, struct fake_client *c)
{
    const struct fake *f = t->fake;
    switch (c->stage) {
    case STAGE_WAIT_HEAD:
        if (!c->stream) {
            reply_whole(f, (enum fake_api)c->api, &t->scratch, c->input, c->tokens);
            send_scratch(t, c);
            if (!c->broken)
                answer_end(t, c);
            return;
        }
        c->stage = STAGE_TOKENS;
        /* fall through */
    case STAGE_TOKENS: send_token(t, c); break;
    case STAGE_TAIL:
        buf_clear(&t->scratch);
        reply_tail(f, (enum fake_api)c->api, &t->scratch, c->input, c->tokens);
        send_scratch(t, c);
        if (!c->broken)
            answer_end(t, c);
        break;
    case STAGE_DRIP: answer_drip_byte(t, c); break;
    case STAGE_HUGE: answer_send_huge(t, c); break;
    default: break;
    }
}
