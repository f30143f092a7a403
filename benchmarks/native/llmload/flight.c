/* flight.c: a request in flight: from the bytes of its reply to a result. */
#include "benchmarks/native/llmload/worker.h"

#include "base/array.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20, BODY_MAX = 16 << 20, CHUNKS_MOST = 1 << 24 /* more of one answer are counted, not kept */ };

void flight_begin(struct worker *w, struct flight *f, enum phase phase, uint64_t index, int64_t scheduled_ns)
{
    struct reply_stream stream = f->stream;
    struct buf text = f->text, thinking = f->thinking;
    struct chunk *chunks = f->chunks;
    size_t room = f->chunk_room;
    buf_clear(&text);
    buf_clear(&thinking);
    *f = (struct flight){.stream = stream, .text = text, .thinking = thinking, .chunks = chunks, .chunk_room = room};
    if (!f->text.max)
        buf_init(&f->text, w->run->wants_body ? BODY_MAX + 1 : TEXT_MAX), buf_init(&f->thinking, TEXT_MAX);
    f->r.index = f->r.session = index;
    f->r.item = UINT64_MAX;
    f->r.worker = (uint16_t)w->number;
    f->r.phase = phase;
    f->r.scheduled_ns = scheduled_ns;
    f->r.begin_ns = f->last_byte_ns = w->now_ns;
    f->wants_text = w->run->wants_text || w->run->load->turns > 1 || w->run->prompts->count;
    uint64_t now_flying = atomic_fetch_add_explicit(&w->run->in_flight, 1, memory_order_relaxed) + 1;
    if (now_flying > w->m.in_flight_max)
        w->m.in_flight_max = now_flying;
    w->in_flight++;
}

void flight_deinit(struct flight *f)
{
    reply_stream_deinit(&f->stream);
    buf_deinit(&f->text);
    buf_deinit(&f->thinking);
    free(f->chunks);
    free(f->error);
}

/* Stores the first error of a flight as plain text in f->error, which the flight owns; later ones
 * are ignored. The client's secrets are hidden before the text is shortened: the rest of one would
 * not be found. */
static void store_first_error(struct worker *w, struct flight *f, struct str text)
{
    enum { ERROR_MAX = 300, READ_MAX = 4 * ERROR_MAX + 64 };
    if (f->error)
        return;
    struct buf plain, hidden CLEANUP_BUF;
    buf_init(&plain, 6 * ERROR_MAX + 4);
    buf_init(&hidden, READ_MAX + 1);
    buf_str(&hidden, str_sub(text, 0, READ_MAX));
    if (hidden.p && !hidden.failed) {
        load_hide_secrets(w->run->load, hidden.p, hidden.n);
        buf_plain(&plain, buf_text(&hidden), ERROR_MAX);
    }
    f->error = plain.p ? plain.p : strdup("");
}

static void keep_escaped(struct worker *w, struct flight *f, struct str escaped)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 16);
    event_unescape(str_sub(escaped, 0, 2000), &text);
    store_first_error(w, f, str_trim(buf_text(&text)));
}

void flight_head(struct worker *w, struct flight *f, unsigned status, enum http1_type type)
{
    static const enum stream_framing by_type[] = {FRAMING_UNKNOWN, FRAMING_SSE, FRAMING_LINES, FRAMING_JSON, FRAMING_JSON, FRAMING_UNKNOWN};
    const struct load *load = w->run->load;
    bool ollama = dialects[load->dialect].ollama;
    enum stream_framing framing = status / 100 == 2 ? by_type[type] : FRAMING_JSON;
    if (framing == FRAMING_JSON && type == HTTP1_TYPE_JSON && status / 100 == 2 && load->stream && ollama)
        framing = FRAMING_LINES;
    f->r.status = (uint16_t)status;
    f->has_status = true;
    stream_reset(&f->stream, framing, ollama && load->stream);
    if (status / 100 == 2 && type == HTTP1_TYPE_HTML)
        f->stream.trouble = STREAM_WRONG_TYPE;
}

/* Each read since the last count was of one segment at least. A count of segments that came since
 * the read is no beginning for the next one. */
int64_t flight_read_segments(struct worker *w, struct flight *f)
{
    const struct conn *c = (const void *)f;
    bool is_unread = false;
    if (!w->stamped || f->segments < 0 || f->is_judged)
        return f->read_segments;
    f->is_judged = true;
    int64_t segments = lateness_segments(c->fd, c->received, &is_unread);
    f->read_segments = segments < 0 ? -1 : segments - f->segments - (f->reads - 1);
    if (!is_unread)
        f->segments = segments, f->reads = 0;
    return f->read_segments;
}

/* Returns whether all bytes of this read came in one segment. Several may be one write or several:
 * the kernel does not report it. */
static bool came_at_once(struct worker *w, struct flight *f)
{
    int64_t segments = flight_read_segments(w, f);
    return segments >= 0 && segments <= 1;
}

/* Returns by how many ns an event may have come before its stamp. followed: other bytes came behind
 * it in the read. */
static int64_t may_be_earlier(struct worker *w, struct flight *f, bool followed)
{
    int64_t at = f->last_byte_ns;
    int64_t held = f->held_ns ? at - f->held_ns : 0; /* its segments were sent when the window was open again */
    if (w->stamped && !followed)
        return held;
    int64_t latest = w->stamped ? at : lateness_last_data(((const struct conn *)(const void *)f)->fd, at);
    int64_t early = at - lateness_after(&w->late, f->r.sent_ns, latest + LATENESS_NEAR_NS);
    return early <= held || early <= LATENESS_NEAR_NS || came_at_once(w, f) ? held : early;
}

/* Stores by how much the times that this read brought may be earlier, as far as the client can
 * know. Returns that of its first chunk. more: bytes came behind the last chunk. */
static int64_t settle_arrival(struct worker *w, struct flight *f, bool more)
{
    bool followed = more || f->read_events > f->read_rank;
    int64_t early = may_be_earlier(w, f, followed || f->read_chunks > 1);
    if (f->r.chunks == f->read_chunks)
        f->r.first_early_ns = early;
    if (f->read_second)
        f->r.second_early_ns = early;
    if (f->read_output)
        f->r.output_early_ns = early;
    f->r.last_early_ns = followed || !w->stamped || f->held_ns ? early : 0;
    return early;
}

/* Gaps that share a stamp; none is longer than most_ns. */
static void count_shared(struct worker *w, const struct flight *f, uint32_t gaps, int64_t most_ns, bool is_late)
{
    if (f->r.phase != PHASE_MEASURE || f->r.several)
        return;
    w->m.itl_shared += gaps;
    w->m.itl_late += is_late ? gaps : 0;
    hdr_add_open(&w->m.h[METRIC_ITL], most_ns, gaps);
    if (f->pending_tokens)
        hdr_add_open(&w->m.h[METRIC_PTL], most_ns, f->pending_tokens);
}

/* Counts the pending gap, whose ends are known. */
static void count_gap(struct worker *w, const struct flight *f)
{
    if (f->r.several)
        return;
    if (f->r.phase == PHASE_MEASURE) {
        hdr_add(&w->m.h[METRIC_ITL], f->pending_gap_ns);
        if (f->pending_tokens)
            hdr_add_many(&w->m.h[METRIC_PTL], f->pending_gap_ns / f->pending_tokens, f->pending_tokens);
    }
    atomic_fetch_add_explicit(&w->live.itl_ns, (uint64_t)f->pending_gap_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->live.itl_n, 1, memory_order_relaxed);
}

/* A gap into a read that brought one chunk is known where the read was not late; those of several
 * chunks share a stamp and show nothing. Without stamps, neither does one between chunks that one
 * wait found. */
static void settle_gap(struct worker *w, struct flight *f, bool more)
{
    if (f->read_chunks == 0)
        return;
    bool is_first = f->r.chunks == f->read_chunks;
    int64_t before = is_first ? 0 : f->r.last_early_ns, here = settle_arrival(w, f, more), early = before + here;
    int64_t most = is_first ? here : f->pending_gap_ns + before; /* all chunks of a first read came within what is not known of it */
    if (is_first && result_first_known(&f->r)) {
        atomic_fetch_add_explicit(&w->live.ttft_ns, (uint64_t)(f->r.first_ns - f->r.sent_ns), memory_order_relaxed);
        atomic_fetch_add_explicit(&w->live.ttft_n, 1, memory_order_relaxed);
    }
    bool one_look = !w->stamped && f->r.last_ns - f->pending_gap_ns >= w->late.returned_ns;
    bool shared = f->read_chunks > 1 || (!is_first && (one_look || !lateness_known(early, f->pending_gap_ns)));
    if (shared) {
        f->r.shared += f->read_chunks;
        for (uint32_t i = 1; w->run->wants_chunks && i <= f->read_chunks && f->r.chunks <= f->chunk_room; i++)
            f->chunks[f->r.chunks - i].shared = 1;
        count_shared(w, f, f->read_chunks - is_first, most, early > LATENESS_NEAR_NS);
    } else if (f->r.chunks > 1)
        count_gap(w, f);
    f->read_chunks = 0;
}

void flight_read_begin(struct flight *f)
{
    f->read_events = f->read_chunks = f->read_rank = 0;
    f->read_tail = f->read_pieces = 0;
    f->read_segments = -1;
    f->is_judged = f->read_byte = f->read_second = f->read_output = false;
    f->reads++;
}

void flight_read_end(struct worker *w, struct flight *f)
{
    w->m.reads_all++;
    if (f->read_byte && w->run->load->stream)
        f->r.byte_early_ns = may_be_earlier(w, f, true);
    settle_gap(w, f, f->read_tail > 0);
}

/* Adds a chunk to the list. Out of memory: it is left out, and r.chunks, which the caller counts,
 * shows it. */
static void keep_chunk(struct flight *f, struct chunk c)
{
    if (f->r.chunks >= CHUNKS_MOST)
        return;
    if (!ARRAY_FITS(f->chunks, f->chunk_room, (size_t)f->r.chunks + 1))
        return;
    f->chunks[f->r.chunks] = c;
}

/* Stores the times of the first, the second and the first output chunk, and the gap before the
 * read's first chunk, which settle_gap counts. */
static void note_first(struct flight *f, const struct event *e, int64_t at, uint32_t tokens)
{
    struct request_result *r = &f->r;
    if (!r->first_ns) {
        r->first_ns = at;
        f->pending_gap_ns = 0;
    } else {
        if (!r->second_ns)
            r->second_ns = at, f->read_second = true;
        if (!f->read_chunks) /* the others of this read have its stamp, too */
            f->pending_gap_ns = at - r->last_ns, f->pending_tokens = tokens;
    }
    if (!r->first_output_ns && e->output)
        r->first_output_ns = at, f->read_output = true;
}

/* Adds a chunk with text: its times, and its tokens to the throughput. */
static void take_chunk(struct worker *w, struct flight *f, const struct event *e, uint32_t tokens)
{
    struct request_result *r = &f->r;
    int64_t at = f->last_byte_ns;
    struct series_bucket *bucket = series_at(&w->m.series, at - w->run->begin_ns);
    if (w->run->wants_chunks)
        keep_chunk(f, (struct chunk){at, tokens, 0, !e->output});
    if (f->stream.framing != FRAMING_JSON) /* complete answers do not show when their first token came */
        note_first(f, e, at, tokens);
    r->has_thoughts |= !e->output || e->reasoning.n > 0;
    r->last_ns = at;
    r->chunks++;
    f->read_chunks++;
    f->read_rank = f->read_events;
    bucket->chunks++;
    bucket->tokens += tokens ? tokens : 1;
    if (at >= w->run->measure_ns && at < w->run->cooldown_ns)
        w->m.window_tokens += tokens ? tokens : 1;
}

/* Stores the counts of an event's usage. A count of 0 is none, but for cached tokens. */
static void take_usage(struct flight *f, const struct event *e)
{
    struct request_result *r = &f->r;
    bool running = e->text && !e->finish.n && f->stream.framing != FRAMING_JSON; /* a count so far */
    if (e->input_tokens > 0)
        r->input_tokens = (uint32_t)e->input_tokens, r->input_source = TOKENS_USAGE;
    if (e->output_tokens > 0)
        r->output_tokens = (uint32_t)e->output_tokens, r->output_source = running ? TOKENS_CONTINUOUS : TOKENS_USAGE;
    if (e->cached_tokens >= 0)
        r->cached_tokens = (uint32_t)e->cached_tokens, r->has_cached = true;
    if (e->reasoning_tokens > 0)
        r->reasoning_tokens = (uint32_t)e->reasoning_tokens;
}

struct arriving {
    struct worker *w;
    struct flight *f;
};

/* Adds one event of the reply to the request's result. */
static void take_event(void *context, const struct event *e)
{
    struct arriving *a = context;
    struct flight *f = a->f;
    uint32_t tokens = 0;
    f->r.events++;
    f->read_events++;
    if (f->r.status / 100 != 2) {
        keep_escaped(a->w, f, e->message.n ? e->message : e->error);
        return;
    }
    if (e->error.n && !f->error)
        keep_escaped(a->w, f, e->message.n ? e->message : e->error);
    if (e->usage) {
        bool running = f->usage_tokens || !f->r.chunks; /* from the first chunk with text on: a last chunk's total is no chunk's part */
        if (e->text && running && e->output_tokens > f->usage_tokens) {
            tokens = (uint32_t)e->output_tokens - f->usage_tokens; /* those of chunks without text before it belong to it */
            f->usage_tokens = (uint32_t)e->output_tokens;
        }
        take_usage(f, e);
    }
    if (e->ids) {
        f->ids += e->ids;
        tokens = e->ids;
    }
    if (e->prefill_ns || e->decode_ns || e->total_ns) {
        f->r.server_prefill_ns = e->prefill_ns, f->r.server_decode_ns = e->decode_ns;
        f->r.server_load_ns = e->load_ns, f->r.server_total_ns = e->total_ns;
    }
    if (e->finish.n && !f->r.finish[0]) {
        size_t n = e->finish.n < sizeof f->r.finish - 1 ? e->finish.n : sizeof f->r.finish - 1;
        memcpy(f->r.finish, e->finish.p, n);
    }
    f->finished |= e->finish.n > 0 || e->done;
    f->r.several |= e->several && f->stream.framing != FRAMING_JSON;
    if (f->wants_text && e->content.n)
        event_unescape(e->content, &f->text);
    if (a->w->run->prompts->count && e->reasoning.n)
        event_unescape(e->reasoning, &f->thinking);
    if (e->text)
        take_chunk(a->w, f, e, tokens);
}

bool flight_body(struct worker *w, struct flight *f, struct str bytes, int64_t at_ns)
{
    enum { ERROR_BODY_MAX = 64 << 10 };
    struct arriving a = {w, f};
    struct reply_stream *s = &f->stream;
    f->last_byte_ns = at_ns;
    f->r.bytes += (uint32_t)bytes.n;
    if (f->r.status / 100 != 2 && s->line.n + bytes.n > ERROR_BODY_MAX)
        return true; /* enough of an error page */
    bool done = s->done;
    bool good = reply_stream_feed(s, bytes.p, bytes.n, take_event, &a);
    f->read_events += !done && s->done;
    return good;
}

static enum request_ending by_status(unsigned status)
{
    switch (status) {
    case 401:
    case 403: return ENDING_HTTP_401;
    case 429: return ENDING_HTTP_429;
    case 503: return ENDING_HTTP_503;
    default: return status / 100 == 4 ? ENDING_HTTP_4XX : status / 100 == 5 ? ENDING_HTTP_5XX : ENDING_HTTP_OTHER;
    }
}

static enum request_ending by_trouble(unsigned trouble)
{
    switch (trouble) {
    case STREAM_TOO_LONG: return ENDING_TOO_LONG;
    case STREAM_WRONG_TYPE: return ENDING_WRONG_TYPE;
    case STREAM_CODING: return ENDING_ENCODING;
    default: return ENDING_MALFORMED;
    }
}

const char *flight_trouble(const struct flight *f)
{
    switch (f->stream.trouble) {
    case STREAM_TOO_LONG: return "a line or event above 16 MiB (or out of memory)";
    case STREAM_WRONG_TYPE: return "the reply is neither an event stream nor JSON";
    case STREAM_CODING: return "the compressed body is damaged";
    default: return "an event that is not JSON";
    }
}

/* Stores the status of an answer without a body as the request's error. */
static void keep_status(struct worker *w, struct flight *f)
{
    char text[160];
    bool elsewhere = f->r.status / 100 == 3;
    snprintf(text, sizeof text, "HTTP status %u without a body%s", f->r.status,
             elsewhere ? ": redirects are not followed; use the address it points to as --url" : "");
    store_first_error(w, f, str_of(text));
}

/* Returns whether the server stopped the request, which it may report by the finish reason alone:
 * "error" (vLLM), "abort" (vLLM, SGLang). Stores the error then. */
static bool given_up(struct worker *w, struct flight *f)
{
    char text[80];
    if (strcmp(f->r.finish, "error") != 0 && strncmp(f->r.finish, "abort", 5) != 0)
        return false;
    snprintf(text, sizeof text, "the server stopped the request: finish reason \"%s\"", f->r.finish);
    store_first_error(w, f, str_of(text));
    return true;
}

/* Reads what is left of a complete body, and returns how the request ended. */
static enum request_ending flight_judge_body(struct worker *w, struct flight *f)
{
    struct arriving a = {w, f};
    struct reply_stream *s = &f->stream;
    bool json = s->framing == FRAMING_JSON;
    struct str body = buf_text(&s->line);
    if (json && w->run->wants_body && f->r.status / 100 == 2 && body.n <= BODY_MAX)
        buf_clear(&f->text), buf_str(&f->text, body);
    flight_read_begin(f);
    w->stamped = f->is_stamped; /* what is complete at the end of the connection came with the last bytes */
    struct str page = str_trim(body);
    if (f->r.status / 100 != 2) {
        struct event e;
        if (event_read(&e, page) && (e.message.n || e.error.n))
            keep_escaped(w, f, e.message.n ? e.message : e.error);
        else if (page.n)
            store_first_error(w, f, page);
        else
            keep_status(w, f);
        return by_status(f->r.status);
    }
    bool good = stream_end(s, take_event, &a);
    settle_gap(w, f, false);
    if (!good && s->trouble == STREAM_MALFORMED && !json) { /* its last line had no end */
        store_first_error(w, f, str_of("the body ended in the middle of an event"));
        return ENDING_TRUNCATED;
    }
    if (!good) {
        store_first_error(w, f, str_of(flight_trouble(f)));
        return by_trouble(s->trouble);
    }
    if (f->error || given_up(w, f))
        return ENDING_IN_BAND;
    if (!f->finished && !s->done && !((json || dialects[w->run->load->dialect].bare_end) && f->r.chunks)) {
        store_first_error(w, f, str_of(f->r.bytes ? "the body ended without finish reason or [DONE]" : "the body was empty"));
        return ENDING_TRUNCATED;
    }
    return f->r.chunks ? ENDING_OK : ENDING_EMPTY;
}

/* Counts the tokens of an answer's two texts. Returns false where one cannot be counted. */
static bool count_by_tokenizer(const struct prompt_source *p, struct flight *f, uint32_t *ret)
{
    uint32_t thinking = f->thinking.n ? p->count(p, buf_text(&f->thinking)) : 0, text = f->text.n ? p->count(p, buf_text(&f->text)) : 0;
    *ret = thinking + text;
    return (thinking || !f->thinking.n) && (text || !f->text.n);
}

/* Sets the number of output tokens by the best source, where the server has not reported it. */
static void count_tokens(struct worker *w, struct flight *f)
{
    uint32_t n;
    const struct prompt_source *p = w->run->prompts;
    struct request_result *r = &f->r;
    if (r->output_source)
        return;
    if (f->ids)
        r->output_tokens = f->ids, r->output_source = TOKENS_IDS;
    else if (p->count && (f->text.n || f->thinking.n) && !f->text.failed && !f->thinking.failed && !w->run->wants_body &&
             count_by_tokenizer(p, f, &n))
        r->output_tokens = n, r->output_source = TOKENS_FILE;
    else if (w->run->load->stream && r->chunks)
        r->output_tokens = r->chunks, r->output_source = TOKENS_CHUNKS;
}

/* In any case, or at best, where late reads leave the times open. From the scheduled send: who
 * waits for a slot of this client waits all the same, else a search under a cap would find any rate
 * good. */
static bool meets_objectives(const struct objectives *o, const struct request_result *r, bool at_best)
{
    int64_t first = r->first_ns - (at_best ? r->first_early_ns : 0),
            last = (r->last_ns ? r->last_ns : r->end_ns) - (at_best ? r->last_early_ns : 0);
    int64_t span = r->last_ns - r->first_ns + (at_best ? -r->last_early_ns : r->first_early_ns);
    uint32_t tokens = result_sent_tokens(r);
    int64_t tpot = tokens > 1 ? span / (int64_t)(tokens - 1) : 0;
    int64_t itl = r->chunks > 1 ? span / (int64_t)(r->chunks - 1) : 0;
    if (!o->ttft_ns && !o->tpot_ns && !o->itl_ns && !o->e2el_ns)
        return false;
    if ((o->ttft_ns || o->tpot_ns || o->itl_ns) &&
        !r->first_ns) /* not streamed, or without text: unknown times do not meet the objectives */
        return false;
    if ((o->tpot_ns || o->itl_ns) && r->several)
        return false;
    return (!o->ttft_ns || first - r->scheduled_ns <= o->ttft_ns) && (!o->tpot_ns || (r->output_source && tpot <= o->tpot_ns)) &&
           (!o->itl_ns || itl <= o->itl_ns) && (!o->e2el_ns || last - r->scheduled_ns <= o->e2el_ns);
}

/* Counts a request that was really sent within the window; where there is none, a measured one. */
static void note_sent(struct worker *w, const struct request_result *r)
{
    const struct load_run *run = w->run;
    bool by_time = run->cooldown_ns < INT64_MAX;
    if (by_time ? r->sent_ns < run->measure_ns || r->sent_ns >= run->cooldown_ns : r->phase != PHASE_MEASURE)
        return;
    w->m.sent++;
    w->m.last_send_ns = r->sent_ns > w->m.last_send_ns ? r->sent_ns : w->m.last_send_ns;
}

/* Adds the time in flight of a request to that of the window; see metrics.h. */
static void count_in_flight(struct worker *w, const struct request_result *r)
{
    const struct load_run *run = w->run;
    bool by_time = run->cooldown_ns < INT64_MAX;
    int64_t from = by_time && r->sent_ns < run->measure_ns ? run->measure_ns : r->sent_ns;
    int64_t to = by_time && r->end_ns > run->cooldown_ns ? run->cooldown_ns : r->end_ns;
    if (to > from && (by_time || r->phase == PHASE_MEASURE))
        w->m.window_in_flight_ns += (uint64_t)(to - from);
}

static void count_latency(struct live_counters *live, int64_t ns)
{
    size_t i = 0;
    while (i < LIVE_LATENCIES && (double)ns > live_latencies_s[i] * 1e9)
        i++;
    atomic_fetch_add_explicit(&live->e2el_ns, (uint64_t)ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&live->latency[i], 1, memory_order_relaxed);
}

/* Adds a request that has ended to the time series and the live counters. */
static void flight_count_end(struct worker *w, const struct request_result *r)
{
    bool failed = ending_rows[r->ending].failed, completed = r->ending == ENDING_OK || r->ending == ENDING_EMPTY;
    struct metrics *m = &w->m;
    int64_t begin = w->run->begin_ns;
    struct series_bucket *end = series_at(&m->series, r->end_ns - begin);
    end->completed += completed;
    end->failed += failed;
    end->good += r->good;
    m->window_completed += completed && r->end_ns >= w->run->measure_ns && r->end_ns < w->run->cooldown_ns;
    if (r->sent_ns) {
        note_sent(w, r);
        count_in_flight(w, r);
        series_at(&m->series, r->sent_ns - begin)->sent++;
        series_in_flight(&m->series, r->sent_ns - begin, r->end_ns - begin);
    }
    m->events_all += r->events;
    atomic_fetch_add_explicit(&w->live.failed, failed, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->live.completed, completed, memory_order_relaxed);
    if (completed && r->sent_ns)
        count_latency(&w->live, (r->last_ns ? r->last_ns : r->end_ns) - r->sent_ns);
    atomic_fetch_add_explicit(&w->live.tokens, r->output_tokens, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->live.chunks, r->chunks, memory_order_relaxed);
}

void flight_end(struct worker *w, struct flight *f, enum request_ending ending, const char *error)
{
    struct request_result *r = &f->r;
    const struct load_run *run = w->run;
    if (error)
        store_first_error(w, f, str_of(error));
    r->end_ns = ending == ENDING_OK ? f->last_byte_ns : clock_mono_ns();
    if (ending != ENDING_OK && f->read_chunks) /* cut off within a read */
        settle_gap(w, f, true);
    r->ending = ending == ENDING_OK ? flight_judge_body(w, f) : ending;
    if (ending != ENDING_OK && f->stream.trouble)
        r->ending = by_trouble(f->stream.trouble);
    count_tokens(w, f);
    r->short_answer = r->ending == ENDING_OK && run->load->ignore_eos && r->asked_tokens && r->output_tokens < r->asked_tokens &&
                      r->output_source != TOKENS_CHUNKS;
    r->in_one_piece = r->ending == ENDING_OK && run->load->stream && f->stream.framing == FRAMING_JSON;
    r->good = r->ending == ENDING_OK && meets_objectives(&run->load->objectives, r, false);
    r->good_unknown = r->ending == ENDING_OK && !r->good && meets_objectives(&run->load->objectives, r, true);
    r->error = f->error;
    r->chunk_list = run->wants_chunks && r->chunks <= f->chunk_room ? f->chunks : NULL;
    if (run->wants_body)
        r->body = buf_text(&f->text);
    else
        r->text = buf_text(&f->text);
    metrics_take(&w->m, r);
    flight_count_end(w, r);
    for (struct result_sink *s = run->sinks; s; s = s->next)
        s->take(s, w->number, r);
    atomic_fetch_sub_explicit(&w->run->in_flight, 1, memory_order_relaxed);
    w->in_flight--;
    w->in_flight_at[r->endpoint]--;
    stream_reset(&f->stream, FRAMING_UNKNOWN, false);
    free(f->error);
    f->error = NULL;
}
