/* records.c: see records.h. The form is AIPerf's "Working with Profile Export Files" (docs of
 * version 0.13); what it has no name for has one of llmload. */
#include "base/json_out.h"
#include "benchmarks/native/llmload/output/records.h"

#include "benchmarks/native/llmload/output/lines.h"
#include "benchmarks/native/llmload/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

struct records {
    struct result_sink sink;
    struct line_writer *lines;
    const char *path;
    bool csv, chunks;
    uint64_t seed;
    int64_t wall_ns;
    struct err trouble; /* of writing: reported after the run, whose result matters more than these lines */
};

const char records_csv_head[] =
    "index,session,turn,phase,ending,status,endpoint,worker,scheduled_at,sent_at,first_at,last_at,ended_at,ttft_ms,tpot_ms,e2el_ms,"
    "ttft_from_schedule_ms,e2el_from_schedule_ms,input_tokens,input_source,output_tokens,output_source,cached_tokens,reasoning_tokens,"
    "chunks,shared_stamps,events,bytes,reconnects,finish,good,error\n";

/* Milliseconds between two times; the caller has checked that both exist. */
static double records_ms(int64_t from, int64_t to)
{
    return (double)(to - from) / 1e6;
}

/* ---- JSON ---- */

static void put_wall_time(struct json_out *j, const char *key, int64_t at, int64_t wall_ns)
{
    if (at)
        json_int(j, key, at + wall_ns);
    else
        json_null(j, key);
}

static void put_record_value(struct json_out *j, const char *tag, double v, const char *unit)
{
    json_open(j, tag, '{');
    json_known(j, "value", v);
    json_text(j, "unit", unit);
    json_close(j, '}');
}

/* Appends the places of inter_chunk_latency that do not describe the service: these events arrived
 * with one stamp. */
static void put_shared(const struct request_result *r, struct json_out *j)
{
    json_open(j, "shared_gaps", '[');
    for (uint32_t i = 1; i < r->chunks; i++)
        if (r->chunk_list[i].shared)
            json_uint(j, NULL, i - 1);
    json_close(j, ']');
}

static void put_metadata(const struct request_result *r, int64_t wall_ns, uint64_t seed, bool chunks, struct json_out *j)
{
    bool cancelled = r->ending == ENDING_CANCELLED;
    json_open(j, "metadata", '{');
    json_uint(j, "session_num", r->session);
    json_printf(j, "x_request_id", "\"%012llu\"", (unsigned long long)r->index); /* as in the header X-Request-Id */
    json_printf(j, "x_correlation_id", "\"%016llx\"", (unsigned long long)random_at(seed, 2, r->session));
    json_printf(j, "conversation_id", "\"%llu\"", (unsigned long long)(r->item == UINT64_MAX ? r->session : r->item));
    json_uint(j, "turn_index", r->turn);
    put_wall_time(j, "request_start_ns", r->sent_ns ? r->sent_ns : r->begin_ns, wall_ns);
    put_wall_time(j, "request_ack_ns", r->first_byte_ns, wall_ns);
    put_wall_time(j, "request_end_ns", r->end_ns, wall_ns);
    put_wall_time(j, "scheduled_ns", r->scheduled_ns, wall_ns);
    json_printf(j, "worker_id", "\"worker_%u\"", r->worker);
    json_text(j, "record_processor_id", "llmload");
    json_text(j, "benchmark_phase", r->phase == PHASE_MEASURE ? "profiling" : phase_names[r->phase]);
    json_flag(j, "was_cancelled", cancelled);
    put_wall_time(j, "cancellation_time_ns", cancelled ? r->end_ns : 0, wall_ns);
    json_uint(j, "request_index", r->index);
    json_uint(j, "endpoint", r->endpoint);
    json_text(j, "ending", ending_rows[r->ending].name);
    json_text(j, "input_token_source", token_source_names[r->input_source]);
    json_text(j, "output_token_source", token_source_names[r->output_source]);
    json_uint(j, "reconnects", r->reconnects);
    json_str(j, "finish_reason", str_of(r->finish));
    if (chunks && r->chunk_list && r->shared)
        put_shared(r, j);
    if (r->first_early_ns || r->second_early_ns || r->last_early_ns) { /* that much earlier they may have come */
        json_int(j, "first_token_early_ns", r->first_early_ns);
        json_int(j, "second_token_early_ns", r->second_early_ns);
        json_int(j, "last_token_early_ns", r->last_early_ns);
    }
    json_close(j, '}');
}

static void put_gaps(const struct request_result *r, struct json_out *j)
{
    json_open(j, "inter_chunk_latency", '{');
    json_open(j, "value", '[');
    for (uint32_t i = 1; i < r->chunks; i++)
        json_printf(j, NULL, "%.6g", records_ms(r->chunk_list[i - 1].at_ns, r->chunk_list[i].at_ns));
    json_close(j, ']');
    json_text(j, "unit", "ms");
    json_close(j, '}');
}

/* Time per output token, ms; NaN: not known. */
static double per_token(const struct request_result *r)
{
    uint32_t tokens = result_sent_tokens(r);
    bool has_span = r->first_ns && r->last_ns > r->first_ns && result_span_known(r);
    return r->output_source != TOKENS_UNKNOWN && tokens > 1 && !r->several && has_span ? records_ms(r->first_ns, r->last_ns) / (tokens - 1)
                                                                                       : NAN;
}

static void put_record_metrics(const struct request_result *r, bool chunks, struct json_out *j)
{
    int64_t end = r->last_ns ? r->last_ns : r->end_ns;
    bool in = r->input_source != TOKENS_UNKNOWN, out = r->output_source != TOKENS_UNKNOWN;
    json_open(j, "metrics", '{');
    if (in)
        put_record_value(j, "input_sequence_length", r->input_tokens, "tokens");
    if (out) {
        put_record_value(j, "output_sequence_length", r->output_tokens, "tokens");
        put_record_value(j, "output_token_count", r->output_tokens - (r->reasoning_tokens <= r->output_tokens ? r->reasoning_tokens : 0),
                         "tokens");
        if (r->reasoning_tokens)
            put_record_value(j, "reasoning_token_count", r->reasoning_tokens, "tokens");
    }
    bool first = r->first_ns && result_first_known(r), last = result_last_known(r);
    if (r->sent_ns && end > r->sent_ns && last)
        put_record_value(j, "request_latency", records_ms(r->sent_ns, end), "ms");
    if (r->sent_ns && first)
        put_record_value(j, "time_to_first_token", records_ms(r->sent_ns, r->first_ns), "ms");
    if (r->first_ns && r->second_ns && result_second_known(r))
        put_record_value(j, "time_to_second_token", records_ms(r->first_ns, r->second_ns), "ms");
    if (r->sent_ns && r->first_output_ns && result_output_known(r))
        put_record_value(j, "time_to_first_output_token", records_ms(r->sent_ns, r->first_output_ns), "ms");
    double each = per_token(r);
    if (isfinite(each)) {
        put_record_value(j, "inter_token_latency", each, "ms");
        put_record_value(j, "output_token_throughput_per_user", 1000 / each, "tokens/sec/user");
    }
    if (r->scheduled_ns && end && last)
        put_record_value(j, "request_latency_from_schedule", records_ms(r->scheduled_ns, end), "ms");
    if (chunks && r->chunk_list && r->chunks > 1)
        put_gaps(r, j);
    json_close(j, '}');
}

void records_json_line(const struct request_result *r, int64_t wall_ns, uint64_t seed, bool chunks, struct buf *to)
{
    const struct ending_row *ending = &ending_rows[r->ending];
    bool whole = !ending->failed && r->ending != ENDING_CANCELLED && r->ending != ENDING_UNFINISHED;
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    put_metadata(r, wall_ns, seed, chunks, &j);
    if (whole) {
        put_record_metrics(r, chunks, &j);
        json_null(&j, "error");
    } else {
        json_open(&j, "metrics", '{');
        if (r->input_source != TOKENS_UNKNOWN)
            put_record_value(&j, "error_isl", r->input_tokens, "tokens");
        json_close(&j, '}');
        json_open(&j, "error", '{');
        json_uint(&j, "code", r->status >= 300 ? r->status : r->ending == ENDING_CANCELLED ? 499 : 0);
        json_text(&j, "type", ending->name);
        json_text(&j, "message", r->error ? r->error : ending->help);
        json_close(&j, '}');
    }
    json_close(&j, '}');
    buf_putc(to, '\n');
}

/* ---- CSV (RFC 4180) ---- */

static void put_csv_time(struct buf *to, int64_t t, int64_t wall_ns)
{
    if (t)
        buf_printf(to, "%lld.%09lld", (long long)((t + wall_ns) / 1000000000), (long long)((t + wall_ns) % 1000000000));
    buf_putc(to, ',');
}

static void put_csv_gap(struct buf *to, int64_t from, int64_t until)
{
    if (from && until)
        buf_printf(to, "%.6f", records_ms(from, until));
    buf_putc(to, ',');
}

static void put_csv_count(struct buf *to, uint32_t n, enum token_source source)
{
    if (source != TOKENS_UNKNOWN)
        buf_printf(to, "%u", n);
    buf_printf(to, ",%s,", token_source_names[source]);
}

static void put_csv_quoted(struct buf *to, const char *text)
{
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, 4096);
    buf_plain(&plain, str_of(text), 500);
    if (!plain.n)
        return;
    buf_putc(to, '"');
    for (size_t i = 0; i < plain.n; i++) {
        buf_putc(to, plain.p[i]);
        if (plain.p[i] == '"')
            buf_putc(to, '"');
    }
    buf_putc(to, '"');
}

void records_csv_line(const struct request_result *r, int64_t wall_ns, struct buf *to)
{
    int64_t end = r->last_ns ? r->last_ns : ending_rows[r->ending].failed ? 0 : r->end_ns;
    buf_printf(to, "%llu,%llu,%u,%s,%s,", (unsigned long long)r->index, (unsigned long long)r->session, r->turn, phase_names[r->phase],
               ending_rows[r->ending].name);
    if (r->status)
        buf_printf(to, "%u", r->status);
    buf_printf(to, ",%u,%u,", r->endpoint, r->worker);
    const int64_t times[] = {r->scheduled_ns, r->sent_ns, r->first_ns, r->last_ns, r->end_ns};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        put_csv_time(to, times[i], wall_ns);
    bool first = result_first_known(r), last = result_last_known(r);
    put_csv_gap(to, r->sent_ns, first ? r->first_ns : 0);
    double each = per_token(r);
    if (isfinite(each))
        buf_printf(to, "%.6f", each);
    buf_putc(to, ',');
    put_csv_gap(to, r->sent_ns, last ? end : 0);
    put_csv_gap(to, r->scheduled_ns, first ? r->first_ns : 0);
    put_csv_gap(to, r->scheduled_ns, last ? end : 0);
    put_csv_count(to, r->input_tokens, r->input_source);
    put_csv_count(to, r->output_tokens, r->output_source);
    if (r->has_cached)
        buf_printf(to, "%u", r->cached_tokens);
    buf_printf(to, ",%u,%u,%u,%u,%u,%u,", r->reasoning_tokens, r->chunks, r->shared, r->events, r->bytes, r->reconnects);
    put_csv_quoted(to, r->finish);
    buf_printf(to, ",%d,", r->good);
    put_csv_quoted(to, r->error ? r->error : "");
    buf_putc(to, '\n');
}

/* ---- the sink ---- */

/* Opens the file, and notes how far the wall clock is ahead. Returns 0, or -1 with *err. */
static int records_start(struct result_sink *sink, unsigned workers, struct err *err)
{
    struct records *r = (struct records *)(void *)sink;
    struct timespec real, mono;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    r->wall_ns = ((int64_t)real.tv_sec - mono.tv_sec) * 1000000000 + (real.tv_nsec - mono.tv_nsec);
    return lines_open(&r->lines, r->path, r->csv ? "csv" : "records", workers, r->csv ? str_of(records_csv_head) : STR(""), err);
}

static void records_take_result(struct result_sink *sink, unsigned worker, const struct request_result *result)
{
    struct records *r = (struct records *)(void *)sink;
    struct buf *to = lines_buf(r->lines, worker);
    if (r->csv)
        records_csv_line(result, r->wall_ns, to);
    else
        records_json_line(result, r->wall_ns, r->seed, r->chunks, to);
    lines_added(r->lines, worker);
}

/* Writes what is left and closes the file. Returns 0 also after a failure, which records_end
 * returns once the run is over. */
static int records_finish(struct result_sink *sink, struct err *err)
{
    struct records *r = (struct records *)(void *)sink;
    struct line_writer *l = r->lines;
    (void)err;
    r->lines = NULL;
    if (l)
        lines_close(l, &r->trouble);
    return 0;
}

int records_end(const struct records *r, struct err *err)
{
    if (!r || r->trouble.kind == ERR_NONE)
        return 0;
    *err = r->trouble;
    return -1;
}

int records_new(struct records **ret, const char *path, bool csv, bool chunks, uint64_t seed, struct err *err)
{
    struct records *r = calloc(1, sizeof *r);
    if (!r)
        return err_memory(err, "the records");
    *r = (struct records){.path = path, .csv = csv, .chunks = chunks, .seed = seed};
    r->sink =
        (struct result_sink){.wants_chunks = chunks && !csv, .start = records_start, .take = records_take_result, .finish = records_finish};
    *ret = r;
    return 0;
}

void records_free(struct records *r)
{
    if (r && r->lines)
        lines_close(r->lines, NULL);
    free(r);
}

struct result_sink *records_sink(struct records *r)
{
    return &r->sink;
}
