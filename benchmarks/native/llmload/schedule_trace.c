/* schedule_trace.c: traces of real services as schedules: Azure's and BurstGPT's CSV, Mooncake's
 * and llmload's own JSONL.
 *
 * Azure:    TIMESTAMP,ContextTokens,GeneratedTokens     2023-11-16 18:17:03.9799600,4808,10
 * BurstGPT: Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type   (seconds)
 * Mooncake: {"timestamp": 27482 (ms), "input_length": 6955, "output_length": 52, "hash_ids": [46,
 * 47]} own:      {"at_s": 1.5, "input_tokens": 100, "output_tokens": 20, "session": 3, "text":
 * "…"}, all but at_s as wished */
#include "benchmarks/native/llmload/schedule.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/json.h"
#include "benchmarks/native/llmload/inputs.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRACE_MAX = 1 << 30, COLUMNS = 16, TOKENS_MOST = 100000000 };

struct trace_reading {
    struct schedule *s;
    const struct load *load;
    const char *path;
    size_t line;
    struct err *err;
};

static int trace_error(struct trace_reading *r, const char *why)
{
    return err_set(r->err, ERR_INPUT, "%s:%zu: %s", r->path, r->line, why);
}

/* Adds a request of the trace at at_s seconds. The order in the file decides between equal times.
 * -1 with the trace's error: the time is impossible, or out of memory. */
static int trace_add_arrival(struct trace_reading *r, struct arrival a, double at_s)
{
    if (!isfinite(at_s) || fabs(at_s) > 4e9)
        return trace_error(r, "a time that cannot be");
    struct arrival *to = schedule_room(r->s);
    if (!to)
        return trace_error(r, "more requests than a schedule can have (or out of memory)");
    a.at_ns = (int64_t)(at_s * 1e9);
    a.index = r->s->n; /* its place in the file decides between equal times */
    *to = a;
    r->s->n++;
    return 0;
}

/* "2023-11-16 18:17:03.9799600" (or with T) -> seconds since 1970; NaN: it is none. */
static double parse_calendar(struct str s)
{
    struct tm tm = {0};
    char text[32];
    double fraction = 0;
    if (s.n < 19 || s.n > 40)
        return NAN;
    memcpy(text, s.p, 19);
    text[19] = '\0';
    text[10] = ' ';
    const char *end = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
    if (!end || *end)
        return NAN;
    struct str rest = str_sub(s, 19, s.n);
    if (rest.n > 1 && rest.p[0] == '.') {
        size_t n = 1;
        while (n < rest.n && str_is_digit(rest.p[n]))
            n++;
        char digits[48] = "0";
        memcpy(digits + 1, rest.p, n);
        if (!str_double(str_of(digits), &fraction))
            return NAN;
    }
    return (double)timegm(&tm) + fraction;
}

struct trace_columns {
    int at, in, out;
};

static int find_column(const struct str *cells, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(str_trim(cells[i]), name))
            return (int)i;
    return -1;
}

static size_t cut_cells(struct str line, struct str cells[COLUMNS])
{
    size_t n = 0;
    while (line.p && n < COLUMNS)
        cells[n++] = str_trim(str_cut(&line, ','));
    return n;
}

/* Adds the arrival of one row. Returns 0, or another value with the reader's error. */
static int csv_row(struct trace_reading *r, const struct trace_columns *c, struct str line)
{
    struct str cells[COLUMNS];
    size_t n = cut_cells(line, cells);
    double at;
    uint64_t in, out;
    if ((int)n <= c->at || (int)n <= c->in || (int)n <= c->out)
        return trace_error(r, "too few columns");
    if (!str_double(cells[c->at], &at) && isnan(at = parse_calendar(cells[c->at])))
        return trace_error(r, "the time is neither seconds nor YYYY-MM-DD HH:MM:SS");
    if (!str_uint(cells[c->in], &in) || !str_uint(cells[c->out], &out) || in > TOKENS_MOST || out > TOKENS_MOST)
        return trace_error(r, "a count of tokens is not a whole number");
    /* BurstGPT notes failed requests with no tokens. 0 would mean "as set by the options", so request the shortest. */
    struct arrival a = {.input_tokens = in ? (uint32_t)in : 1, .output_tokens = out ? (uint32_t)out : 1, .session = r->s->n};
    return trace_add_arrival(r, a, at);
}

/* Adds the row's blocks to the schedule; a->blocks becomes the place of the first one + 1. Returns
 * 0, or -1 with the trace's error. */
static int trace_add_blocks(struct trace_reading *r, const struct json *ids, struct arrival *a)
{
    struct schedule *s = r->s;
    for (const struct json *i = json_first(ids); i; i = json_next(i)) {
        if (s->blocks_n >= UINT32_MAX - 1 || !ARRAY_FITS(s->blocks, s->blocks_size, s->blocks_n + 1))
            return trace_error(r, "out of memory for so many hash_ids");
        if (!a->blocks)
            a->blocks = (uint32_t)s->blocks_n + 1;
        s->blocks[s->blocks_n++] = (uint64_t)json_integer(i, 0);
        a->block_count++;
    }
    return 0;
}

/* Adds the row's text to the schedule; a->text becomes its place + 1. Returns 0, or -1 with the
 * trace's error. */
static int trace_add_text(struct trace_reading *r, const char *text, struct arrival *a)
{
    struct schedule *s = r->s;
    size_t n = strlen(text);
    if (s->texts_n + n >= UINT32_MAX || !ARRAY_FITS(s->texts, s->texts_size, s->texts_n + n))
        return trace_error(r, "out of memory for so many texts");
    memcpy(s->texts + s->texts_n, text, n);
    a->text = (uint32_t)s->texts_n + 1;
    a->text_bytes = (uint32_t)n;
    s->texts_n += n;
    return 0;
}

/* Adds the arrival of one line of a JSON trace, Mooncake's or llmload's own. -1: a member is
 * missing or wrong, with the error set. */
static int json_row(struct trace_reading *r, struct str line)
{
    struct json *j;
    struct err why = {0};
    if (json_parse(&j, line, NULL, &why) < 0)
        return trace_error(r, why.text);
    bool mooncake = json_get(j, "timestamp") && !json_get(j, "at_s");
    const struct json *at = json_get(j, mooncake ? "timestamp" : "at_s");
    double in = json_number(json_get(j, mooncake ? "input_length" : "input_tokens"), 0);
    double out = json_number(json_get(j, mooncake ? "output_length" : "output_tokens"), 0);
    struct arrival a = {.session = (uint64_t)json_integer(json_get(j, "session"), (int64_t)r->s->n)};
    const char *text = json_string(json_get(j, "text"), NULL);
    int status = 0;
    if (!json_is_number(at))
        status = trace_error(r, "no \"at_s\" (seconds) or \"timestamp\" (ms)");
    else if (!(in >= 0 && in <= TOKENS_MOST && out >= 0 && out <= TOKENS_MOST))
        status = trace_error(r, "a count of tokens that cannot be");
    else if (trace_add_blocks(r, json_get(j, "hash_ids"), &a) == 0 && (!text || trace_add_text(r, text, &a) == 0)) {
        a.input_tokens = (uint32_t)in, a.output_tokens = (uint32_t)out;
        r->s->trace_kind = mooncake ? "mooncake" : "jsonl";
        status = trace_add_arrival(r, a, json_number(at, 0) / (mooncake ? 1000 : 1));
    } else {
        status = -1;
    }
    json_free(j);
    return status;
}

/* Finds the columns of a CSV trace of Azure or BurstGPT by its header. -1 with the trace's error:
 * another format. */
static int trace_read_header(struct trace_reading *r, struct str line, struct trace_columns *ret)
{
    struct str cells[COLUMNS];
    size_t n = cut_cells(line, cells);
    *ret = (struct trace_columns){find_column(cells, n, "TIMESTAMP"), find_column(cells, n, "ContextTokens"),
                                  find_column(cells, n, "GeneratedTokens")};
    r->s->trace_kind = "azure";
    if (ret->at >= 0 && ret->in >= 0 && ret->out >= 0)
        return 0;
    *ret = (struct trace_columns){find_column(cells, n, "Timestamp"), find_column(cells, n, "Request tokens"),
                                  find_column(cells, n, "Response tokens")};
    r->s->trace_kind = "burstgpt";
    if (ret->at >= 0 && ret->in >= 0 && ret->out >= 0)
        return 0;
    return trace_error(r, "neither JSON lines, nor a CSV with the columns of Azure (TIMESTAMP,ContextTokens,GeneratedTokens) or BurstGPT "
                          "(Timestamp,…,Request tokens,Response tokens)");
}

static int by_time(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    return x->at_ns != y->at_ns ? (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns) : (x->index > y->index) - (x->index < y->index);
}

/* Times from the first on, at --trace-speed; rows after the run's end, or too many, are left
 * out. */
static void trace_settle_times(struct schedule *s, const struct load *l)
{
    qsort(s->list, s->n, sizeof *s->list, by_time);
    int64_t first = s->n ? s->list[0].at_ns : 0;
    double end = l->duration_s > 0 ? l->warmup_s + l->duration_s + l->cooldown_s : 1e9;
    size_t kept = 0, most = l->requests ? l->requests + l->warmup_requests : s->n;
    for (size_t i = 0; i < s->n && kept < most; i++) {
        double at = (double)(s->list[i].at_ns - first) / l->trace_speed;
        if (at >= end * 1e9)
            break;
        s->list[i].at_ns = (int64_t)at;
        s->list[kept++] = s->list[i];
    }
    s->n = kept;
}

int schedule_read_trace(struct schedule *s, const struct load *l, struct err *err)
{
    struct buf text CLEANUP_BUF;
    struct trace_reading r = {s, l, l->trace, 0, err};
    struct trace_columns columns = {0};
    buf_init(&text, TRACE_MAX);
    if (fs_read(AT_FDCWD, l->trace, TRACE_MAX - 1, 0, &text, err) < 0)
        return err_wrap(err, "reading the trace");
    inputs_note(l->inputs, "trace", buf_text(&text));
    struct str rest = buf_text(&text);
    if (str_starts(rest, "\xef\xbb\xbf"))
        rest = str_sub(rest, 3, rest.n);
    bool json = str_trim(rest).n && str_trim(rest).p[0] == '{', head = !json;
    while (rest.p && rest.n) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        r.line++;
        if (!line.n)
            continue;
        int status = json ? json_row(&r, line) : head ? trace_read_header(&r, line, &columns) : csv_row(&r, &columns, line);
        head = false;
        if (status < 0)
            return -1;
    }
    if (!s->n)
        return err_set(err, ERR_INPUT, "%s has no requests", l->trace);
    trace_settle_times(s, l);
    return 0;
}
