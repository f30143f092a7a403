/* logs_summary.c: counts the lines of raw streams of a campaign; see logs.h and logs_format.h. */
#include "base/array.h"
#include "base/json_out.h"
#include "logs/logs_format.h"

#include <stdlib.h>
#include <string.h>

struct logs_count {
    char component[LOGS_COMPONENT_SIZE], node[LOGS_NAME_MAX];
    bool is_error;
    uint64_t lines, bytes;
    int64_t first_ns, last_ns;
};

const struct listing_column logs_summary_columns[] = {
    {"component", "COMPONENT", .whole = true},
    {"node", "NODE", .whole = true},
    {"stream", "STREAM"},
    {"lines", "LINES", .right = true},
    {"bytes", "BYTES", .right = true},
    {"first", "FIRST", .drop = 2},
    {"last", "LAST", .drop = 1},
    {"seconds", "SECONDS", .right = true},
    {"lines_per_s", "LINES/S", .right = true},
};
const size_t logs_summary_columns_count = sizeof logs_summary_columns / sizeof *logs_summary_columns;

int logs_counts_add(struct logs_counts *c, const struct logs_line *line, struct err *err)
{
    for (; line->stream >= c->count; c->count++) {
        if (!ARRAY_FITS(c->streams, c->room, c->count + 1))
            return err_memory(err, "a summary of logs");
        memset(&c->streams[c->count], 0, sizeof *c->streams);
    }
    struct logs_count *s = &c->streams[line->stream];
    if (!s->component[0]) {
        logs_component_text(line, s->component);
        snprintf(s->node, sizeof s->node, "%s", line->node);
        s->is_error = line->is_error;
        s->first_ns = line->time_ns;
    }
    s->lines += !line->has_more;
    s->bytes += line->text.n + !line->has_more;
    s->last_ns = line->time_ns;
    return 0;
}

void logs_counts_deinit(struct logs_counts *c)
{
    free(c->streams);
    *c = (struct logs_counts){.count = 0};
}

static double count_seconds(const struct logs_count *s)
{
    return (double)(s->last_ns - s->first_ns) / 1e9;
}

void logs_counts_json(const struct logs_counts *c, struct buf *to)
{
    char time[LOGS_TIME_SIZE];
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    uint64_t lines = 0;
    for (size_t i = 0; i < c->count; i++)
        lines += c->streams[i].lines;
    json_uint(&j, "lines", lines);
    json_open(&j, "streams", '[');
    for (size_t i = 0; i < c->count; i++) {
        const struct logs_count *s = &c->streams[i];
        if (!s->component[0])
            continue;
        json_open_row(&j, NULL, '{');
        json_text(&j, "component", s->component);
        json_text(&j, "node", s->node);
        json_text(&j, "stream", s->is_error ? "stderr" : "stdout");
        json_uint(&j, "lines", s->lines);
        json_uint(&j, "bytes", s->bytes);
        json_text(&j, "first", logs_time_text(s->first_ns, time));
        json_text(&j, "last", logs_time_text(s->last_ns, time));
        json_double(&j, "seconds", count_seconds(s));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

struct logs_summing {
    const struct logs_filter *filter;
    struct logs_counts counts;
};

static int sum_line(void *context, const struct logs_line *line, struct err *err)
{
    struct logs_summing *g = context;
    return g->filter && !logs_filter_accepts(g->filter, line) ? 0 : logs_counts_add(&g->counts, line, err);
}

/* Adds the row of one stream. */
static void sum_list_stream(struct listing *l, const struct logs_count *s)
{
    char time[LOGS_TIME_SIZE];
    double seconds = count_seconds(s);
    listing_str(l, str_of(s->component));
    listing_str(l, str_of(s->node));
    listing_text(l, s->is_error ? "stderr" : "stdout");
    listing_number(l, (double)s->lines, NULL);
    listing_number(l, (double)s->bytes, NULL);
    listing_str(l, str_of(logs_time_text(s->first_ns, time)));
    listing_str(l, str_of(logs_time_text(s->last_ns, time)));
    listing_number(l, seconds, NULL);
    if (seconds > 0)
        listing_number(l, (double)s->lines / seconds, NULL);
    else
        listing_none(l);
}

int logs_summary_list(int folder, const struct logs_filter *filter, struct listing *l, struct err *err)
{
    struct logs_summing g = {.filter = filter};
    const struct logs_merge m = {.folder = folder, .stop_fd = -1, .each = sum_line, .context = &g};
    int rc = logs_merge_streams(&m, NULL, err);
    for (size_t i = 0; rc == 0 && i < g.counts.count; i++)
        if (g.counts.streams[i].component[0])
            sum_list_stream(l, &g.counts.streams[i]);
    logs_counts_deinit(&g.counts);
    return rc;
}
