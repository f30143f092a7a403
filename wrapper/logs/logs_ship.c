/* logs_ship.c: delivers lines of followed logs by an exporter; see logs_ship.h. */
#include "logs/logs_ship.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/listing.h"
#include "exporters/exporter_records.h"
#include "logs/logs_dead.h"
#include "logs/logs_generation.h"
#include "logs/logs_source.h"
#include "logs/logs_time.h"
#include "probes/redact.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SHIP_READ = 256 << 10, /* bytes of one piece of a file */
    SHIP_RECORDS = 8192, /* of a batch */
    SHIP_JSON = 1 << 20, /* bytes of a batch at which it is full */
    SHIP_ATTEMPT_MS = 1000, /* between attempts, rotation is observed */
    SHIP_WAIT_MS = 1000,
    SHIP_PART_NEAR = 200 /* a long line is divided at a blank, if one is so near */
};

/* How far a delivered record brings its file. */
struct ship_mark {
    struct logs_generation *generation;
    uint64_t end;
    bool is_line; /* it ends a line */
};
struct shipping {
    const struct ship *s;
    struct logs_follow *follow;
    struct exporter_records *sender;
    struct ship_counts *counts;
    int64_t boot_ns;
    char *read; /* SHIP_READ bytes */
    struct logs_piece piece; /* in `read`; n == used: none */
    size_t used;
    uint64_t piece_begin; /* offset of the piece in its file */
    bool is_continued; /* the next part continues a line */
    struct buf json;
    struct str records[SHIP_RECORDS];
    size_t starts[SHIP_RECORDS];
    struct ship_mark marks[SHIP_RECORDS];
    struct exporter_record_id ids[SHIP_RECORDS];
    size_t count, handled, tag; /* the batch */
    bool is_unsaved; /* the positions cannot be stored, and this was reported */
    bool is_failing; /* the destination accepts nothing, and this was reported */
    int64_t failing_since_ns;
};

static void ship_note(const struct ship *s, const char *text)
{
    s->note(s->context, text);
}

/* When the machine started, for the kernel's times. */
static int64_t ship_boot_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return logs_now_ns() - ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
}

/* ---- batches ---- */

/* Where a line that is too long is divided. */
static size_t ship_part_end(const char *p, size_t n, size_t max)
{
    if (n <= max)
        return n;
    for (size_t i = max; i > max - SHIP_PART_NEAR; i--)
        if (str_is_blank(p[i - 1]))
            return i;
    size_t end = max;
    while (end > max - 4 && ((unsigned char)p[end] & 0xc0) == 0x80)
        end--;
    return end;
}

/* The next line of the piece, or a part of it, becomes a record. */
static void ship_add_record(struct shipping *g, const struct ship_source *source, int64_t now_ns)
{
    const char *p = g->read + g->used, *end = memchr(p, '\n', g->piece.n - g->used);
    size_t line_n = end ? (size_t)(end - p) : g->piece.n - g->used, n = ship_part_end(p, line_n, (size_t)g->s->config->line_max);
    bool has_more = n < line_n || (!end && g->piece.has_more);
    struct str text = {p, n};
    if (!has_more && text.n && text.p[text.n - 1] == '\r')
        text.n--;
    const struct logs_record_form form = {source->format, source->is_parsed, g->s->computer, g->boot_ns};
    const struct logs_record_line line = {text, g->piece.path, now_ns, g->is_continued, has_more};
    g->starts[g->count] = g->json.n;
    logs_record_write(&form, &line, &g->json);
    g->used += n + (end && n == line_n ? 1 : 0);
    g->marks[g->count] = (struct ship_mark){g->piece.generation, g->piece_begin + g->used, !has_more};
    g->is_continued = has_more;
    g->count++;
}

/* Reads the next lines without secrets. False: no file has more. */
static bool ship_read_piece(struct shipping *g, size_t tag)
{
    g->used = g->piece.n = 0;
    if (logs_follow_read(g->follow, tag, g->read, SHIP_READ, &g->piece) != 1)
        return false;
    redact_secrets(g->piece.text, g->piece.n, g->piece.secrets, NULL, NULL);
    g->piece_begin = g->piece.end - g->piece.n;
    g->is_continued = g->piece.is_continued;
    return true;
}

/* The place in the file, and the record: a truncated file has other lines at a place, and equal lines have other places. */
static struct exporter_record_id ship_record_id(const struct ship_mark *mark, struct str record)
{
    const uint64_t place[] = {mark->generation->id.dev, mark->generation->id.ino, (uint64_t)mark->generation->id.born_ns, mark->end};
    return (struct exporter_record_id){hash_bytes(1, place, sizeof place), hash_bytes(2, record.p, record.n)};
}

/* Collects records of one stream. False: there are none. */
static bool ship_fill(struct shipping *g)
{
    int64_t now_ns = logs_now_ns();
    g->count = g->handled = 0;
    buf_clear(&g->json);
    while (g->count < SHIP_RECORDS && g->json.n < SHIP_JSON) {
        if (g->used == g->piece.n && !ship_read_piece(g, g->count ? g->tag : SIZE_MAX))
            break;
        g->tag = g->piece.tag;
        while (g->used < g->piece.n && g->count < SHIP_RECORDS && g->json.n < SHIP_JSON)
            ship_add_record(g, &g->s->config->sources[g->tag], now_ns);
    }
    for (size_t i = 0; i < g->count; i++) {
        g->records[i] = (struct str){g->json.p + g->starts[i], (i + 1 < g->count ? g->starts[i + 1] : g->json.n) - g->starts[i]};
        g->ids[i] = ship_record_id(&g->marks[i], g->records[i]);
    }
    return g->count > 0;
}

static void ship_refused(void *context, struct str record, const char *why)
{
    struct shipping *g = context;
    struct err err = {0};
    g->counts->refused++;
    if (logs_dead_add(g->s->state, g->s->config->dead_max, g->s->config->sources[g->tag].stream, record, why, &g->counts->dropped, &err))
        ship_note(g->s, err.text);
}

/* Reports the beginning and the end of an outage, once each. */
static void ship_report_outage(struct shipping *g, bool fails, const char *why)
{
    char text[1200];
    if (fails == g->is_failing)
        return;
    g->is_failing = fails;
    g->failing_since_ns = clock_mono_ns();
    if (fails)
        snprintf(text, sizeof text, "cannot deliver log lines to %s: %s; they wait in their files", g->s->exporter->name, why);
    else
        snprintf(text, sizeof text, "%s accepts log lines again", g->s->exporter->name);
    ship_note(g->s, text);
}

static bool ship_is_cancelled(const struct ship *s)
{
    struct pollfd p = {.fd = s->cancel_fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* Sends the batch, or a part of it. */
static void ship_send(struct shipping *g)
{
    const struct exporter_batch b = {.records = g->records + g->handled,
                                     .count = g->count - g->handled,
                                     .stream = g->s->config->sources[g->tag].stream,
                                     .ids = g->ids + g->handled};
    struct err err = {0};
    size_t n = 0;
    uint64_t refused = g->counts->refused;
    enum exporter_answer answer = exporter_records_send(g->sender, &b, clock_mono_ns() + SHIP_ATTEMPT_MS * INT64_C(1000000), &n, &err);
    for (size_t i = g->handled; i < g->handled + n; i++) {
        logs_follow_ack(g->follow, g->marks[i].generation, g->marks[i].end);
        g->counts->lines += g->marks[i].is_line;
    }
    g->counts->records += n - (g->counts->refused - refused);
    g->handled += n;
    if (answer == EXPORTER_SENT || n)
        ship_report_outage(g, false, "");
    if (answer != EXPORTER_SENT && !ship_is_cancelled(g->s))
        ship_report_outage(g, true, err.text);
}

/* ---- ship all logs ---- */

/* Opens the follower of all configured logs. 0; -1 with err: ship_close is required also then. */
static int ship_open(struct shipping *g, const struct ship *s, bool only_reads, struct ship_counts *counts, struct err *err)
{
    const struct logs_follow_config follow = {.state = s->state,
                                              .only_reads = only_reads,
                                              .from_end = s->config->from_end,
                                              .settle_s = s->config->settle_s,
                                              .scan_s = s->config->scan_s,
                                              .held_max = s->config->held_max,
                                              .note = s->note,
                                              .context = s->context};
    *counts = (struct ship_counts){.lines = 0};
    g->s = s;
    g->counts = counts;
    g->boot_ns = ship_boot_ns();
    buf_init(&g->json, 16 << 20);
    if (logs_follow_open(&g->follow, &follow, err))
        return -1;
    for (size_t i = 0; i < s->config->count; i++)
        for (const char **p = s->config->sources[i].paths; *p; p++)
            if (logs_follow_add(g->follow, *p, i, err))
                return -1;
    return 0;
}

static int ship_open_sender(struct shipping *g, struct err *err)
{
    const struct exporter_records_config sender = {
        .exporter = g->s->exporter, .env = g->s->env, .cancel_fd = g->s->cancel_fd, .refused = ship_refused, .context = g};
    g->read = malloc(SHIP_READ);
    return g->read ? exporter_records_open(&g->sender, &sender, err) : err_memory(err, "log lines");
}

static void ship_close(struct shipping *g)
{
    if (g->follow)
        g->counts->lost = logs_follow_dropped(g->follow);
    exporter_records_close(g->sender);
    logs_follow_close(g->follow);
    buf_deinit(&g->json);
    free(g->read);
    free(g);
}

/* A full disk of the state folder stops no delivery: it is reported once, and lines may come twice after a kill. */
static void ship_save(struct shipping *g, bool force)
{
    struct err err = {0};
    bool fails = logs_follow_save(g->follow, force, &err) != 0;
    if (fails && !g->is_unsaved)
        ship_note(g->s, err.text);
    g->is_unsaved = fails;
}

/* 1: the end; 0: continue. */
static int ship_step(struct shipping *g, double wait_s, int *ret, struct err *err)
{
    if (logs_follow_scan(g->follow, err))
        return *ret = -1, 1;
    bool has_batch = g->handled < g->count || ship_fill(g);
    if (has_batch) {
        ship_send(g);
        if (g->s->once && g->is_failing && clock_mono_ns() - g->failing_since_ns > (int64_t)(wait_s * 1e9))
            return *ret = 1, 1;
    } else if (g->s->once && !logs_follow_is_unsure(g->follow))
        return 1;
    ship_save(g, !has_batch);
    return logs_follow_wait(g->follow, g->s->cancel_fd, has_batch ? 0 : SHIP_WAIT_MS);
}

int ship_run(const struct ship *s, double wait_s, struct ship_counts *ret, struct err *err)
{
    struct shipping *g = calloc(1, sizeof *g);
    int rc = 0;
    if (!g)
        return err_memory(err, "log lines");
    if (ship_open(g, s, false, ret, err) || ship_open_sender(g, err))
        rc = -1;
    /* from now on, what appears and is rotated is new, also after a kill */
    if (rc == 0 && (logs_follow_scan(g->follow, err) || logs_follow_save(g->follow, true, err)))
        rc = -1;
    while (rc == 0 && !ship_step(g, wait_s, &rc, err))
        ;
    if (rc >= 0 && logs_follow_save(g->follow, true, err))
        rc = -1;
    ship_close(g);
    return rc;
}

/* ---- dead letters ---- */

int ship_resend_dead(const struct ship *s, double wait_s, struct ship_counts *ret, struct err *err)
{
    *ret = (struct ship_counts){.lines = 0};
    const struct logs_dead_resend what = {.state = s->state,
                                          .exporter = s->exporter,
                                          .env = s->env,
                                          .cancel_fd = s->cancel_fd,
                                          .max = s->config->dead_max,
                                          .until_ns = clock_mono_ns() + (int64_t)(wait_s * 1e9)};
    return logs_dead_send(&what, &ret->records, &ret->refused, &ret->dropped, err);
}

/* ---- the listing ---- */

struct ship_rows {
    const struct ship *s;
    struct listing *l;
};

static void ship_add_row(void *context, const struct logs_follow_status *st)
{
    const struct ship_rows *r = context;
    if (st->tag >= r->s->config->count)
        return;
    const struct ship_source *source = &r->s->config->sources[st->tag];
    listing_text(r->l, source->name);
    listing_text(r->l, st->path);
    listing_text(r->l, source->stream);
    listing_text(r->l, source->is_parsed ? "parsed" : "raw");
    listing_number(r->l, (double)st->at, NULL);
    listing_number(r->l, (double)(st->size > st->at ? st->size - st->at : 0), NULL);
}

int ship_list(const struct ship *s, struct listing *l, struct err *err)
{
    struct ship_counts counts;
    struct ship_rows rows = {s, l};
    struct shipping *g = calloc(1, sizeof *g);
    if (!g)
        return err_memory(err, "log lines");
    int rc = ship_open(g, s, true, &counts, err);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = logs_follow_scan(g->follow, err);
    if (rc == 0)
        logs_follow_list(g->follow, ship_add_row, &rows);
    ship_close(g);
    return rc;
}
