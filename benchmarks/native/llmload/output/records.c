/* records.c: see records.h. The form is AIPerf's "Working with Profile Export Files" (docs of
 * version 0.13); what it has no name for has one of ours. */
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

/* Milliseconds between two times; the caller has looked that both are there. */
static double records_ms(int64_t from, int64_t to)
{
    return (double)(to - from) / 1e6;
}

/* ---- JSON ---- */

static void put_wall_time(struct buf *to, const char *key, int64_t at, int64_t wall_ns)
{
    if (at)
        buf_printf(to, ",\"%s\":%" PRId64, key, at + wall_ns);
    else
        buf_printf(to, ",\"%s\":null", key);
}

static void put_record_value(struct buf *to, const char *tag, double v, const char *unit)
{
    buf_printf(to, "%s\"%s\":{\"value\":", to->p[to->n - 1] == '{' ? "" : ",", tag);
    buf_double(to, v);
    buf_printf(to, ",\"unit\":\"%s\"}", unit);
}

/* Which places of inter_chunk_latency say nothing of the service, because several events came with
 * one stamp. */
static void put_shared(const struct request_result *r, struct buf *to)
{
    const char *comma = "";
    buf_puts(to, ",\"shared_gaps\":[");
    for (uint32_t i = 1; i < r->chunks; i++)
        if (r->chunk_list[i].shared) {
            buf_printf(to, "%s%u", comma, i - 1);
            comma = ",";
        }
    buf_putc(to, ']');
}

static void put_metadata(const struct request_result *r, int64_t wall_ns, uint64_t seed, bool chunks, struct buf *to)
{
    bool cancelled = r->ending == ENDING_CANCELLED;
    buf_printf(
        to,
        "{\"metadata\":{\"session_num\":%llu,\"x_request_id\":\"%012llu\",\"x_correlation_id\":\"%016llx\",\"conversation_id\":\"%llu\",\"turn_index\":%u",
        (unsigned long long)r->session, (unsigned long long)r->index, /* as in the header X-Request-Id */
        (unsigned long long)random_at(seed, 2, r->session), (unsigned long long)(r->item == UINT64_MAX ? r->session : r->item), r->turn);
    put_wall_time(to, "request_start_ns", r->sent_ns ? r->sent_ns : r->begin_ns, wall_ns);
    put_wall_time(to, "request_ack_ns", r->first_byte_ns, wall_ns);
    put_wall_time(to, "request_end_ns", r->end_ns, wall_ns);
    put_wall_time(to, "scheduled_ns", r->scheduled_ns, wall_ns);
    buf_printf(to, ",\"worker_id\":\"worker_%u\",\"record_processor_id\":\"llmload\",\"benchmark_phase\":\"%s\",\"was_cancelled\":%s",
               r->worker, r->phase == PHASE_MEASURE ? "profiling" : phase_names[r->phase], cancelled ? "true" : "false");
    put_wall_time(to, "cancellation_time_ns", cancelled ? r->end_ns : 0, wall_ns);
    buf_printf(to, ",\"request_index\":%llu,\"endpoint\":%u,\"ending\":\"%s\"", (unsigned long long)r->index, r->endpoint,
               ending_rows[r->ending].name);
    buf_printf(to, ",\"input_token_source\":\"%s\",\"output_token_source\":\"%s\",\"reconnects\":%u,\"finish_reason\":",
               token_source_names[r->input_source], token_source_names[r->output_source], r->reconnects);
    buf_json(to, str_of(r->finish));
    if (chunks && r->chunk_list && r->shared)
        put_shared(r, to);
    if (r->first_early_ns || r->second_early_ns || r->last_early_ns) /* that much earlier they may have come */
        buf_printf(to, ",\"first_token_early_ns\":%lld,\"second_token_early_ns\":%lld,\"last_token_early_ns\":%lld",
                   (long long)r->first_early_ns, (long long)r->second_early_ns, (long long)r->last_early_ns);
    buf_putc(to, '}');
}

static void put_gaps(const struct request_result *r, struct buf *to)
{
    buf_puts(to, ",\"inter_chunk_latency\":{\"value\":[");
    for (uint32_t i = 1; i < r->chunks; i++)
        buf_printf(to, "%s%.6g", i > 1 ? "," : "", records_ms(r->chunk_list[i - 1].at_ns, r->chunk_list[i].at_ns));
    buf_puts(to, "],\"unit\":\"ms\"}");
}

/* Time per output token, ms; NaN: not known. */
static double per_token(const struct request_result *r)
{
    uint32_t tokens = result_sent_tokens(r);
    bool has_span = r->first_ns && r->last_ns > r->first_ns && result_span_known(r);
    return r->output_source != TOKENS_UNKNOWN && tokens > 1 && !r->several && has_span ? records_ms(r->first_ns, r->last_ns) / (tokens - 1)
                                                                                       : NAN;
}

static void put_record_metrics(const struct request_result *r, bool chunks, struct buf *to)
{
    int64_t end = r->last_ns ? r->last_ns : r->end_ns;
    bool in = r->input_source != TOKENS_UNKNOWN, out = r->output_source != TOKENS_UNKNOWN;
    buf_puts(to, ",\"metrics\":{");
    if (in)
        put_record_value(to, "input_sequence_length", r->input_tokens, "tokens");
    if (out) {
        put_record_value(to, "output_sequence_length", r->output_tokens, "tokens");
        put_record_value(to, "output_token_count", r->output_tokens - (r->reasoning_tokens <= r->output_tokens ? r->reasoning_tokens : 0),
                         "tokens");
        if (r->reasoning_tokens)
            put_record_value(to, "reasoning_token_count", r->reasoning_tokens, "tokens");
    }
    bool first = r->first_ns && result_first_known(r), last = result_last_known(r);
    if (r->sent_ns && end > r->sent_ns && last)
        put_record_value(to, "request_latency", records_ms(r->sent_ns, end), "ms");
    if (r->sent_ns && first)
        put_record_value(to, "time_to_first_token", records_ms(r->sent_ns, r->first_ns), "ms");
    if (r->first_ns && r->second_ns && result_second_known(r))
        put_record_value(to, "time_to_second_token", records_ms(r->first_ns, r->second_ns), "ms");
    if (r->sent_ns && r->first_output_ns && result_output_known(r))
        put_record_value(to, "time_to_first_output_token", records_ms(r->sent_ns, r->first_output_ns), "ms");
    double each = per_token(r);
    if (isfinite(each)) {
        put_record_value(to, "inter_token_latency", each, "ms");
        put_record_value(to, "output_token_throughput_per_user", 1000 / each, "tokens/sec/user");
    }
    if (r->scheduled_ns && end && last)
        put_record_value(to, "request_latency_from_schedule", records_ms(r->scheduled_ns, end), "ms");
    if (chunks && r->chunk_list && r->chunks > 1)
        put_gaps(r, to);
    buf_putc(to, '}');
}

void records_json_line(const struct request_result *r, int64_t wall_ns, uint64_t seed, bool chunks, struct buf *to)
{
    const struct ending_row *ending = &ending_rows[r->ending];
    bool whole = !ending->failed && r->ending != ENDING_CANCELLED && r->ending != ENDING_UNFINISHED;
    put_metadata(r, wall_ns, seed, chunks, to);
    if (whole) {
        put_record_metrics(r, chunks, to);
        buf_puts(to, ",\"error\":null}\n");
        return;
    }
    buf_puts(to, ",\"metrics\":{");
    if (r->input_source != TOKENS_UNKNOWN)
        put_record_value(to, "error_isl", r->input_tokens, "tokens");
    buf_printf(to, "},\"error\":{\"code\":%u,\"type\":\"%s\",\"message\":",
               r->status >= 300                ? r->status
               : r->ending == ENDING_CANCELLED ? 499
                                               : 0,
               ending->name);
    buf_json(to, str_of(r->error ? r->error : ending->help));
    buf_puts(to, "}}\n");
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
