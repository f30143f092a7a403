/* stream.c: cuts a reply's body into events; see stream.h. Line rules: WHATWG HTML, server-sent
 * events, 9.2.6. */
#include "benchmarks/native/llmload/stream.h"

#include <string.h>

enum { MEMO_MAX = 1024 /* bytes of a line, for each stream */ };

struct stream_feeding {
    struct reply_stream *s;
    stream_take *take;
    void *context;
    struct str pending; /* the event's only data so far, in place; p NULL: none, or it is in s->data */
};

void reply_stream_init(struct reply_stream *s, enum stream_framing framing, bool lines)
{
    *s = (struct reply_stream){.framing = (uint8_t)framing, .lines = lines};
    buf_init(&s->memo.line, MEMO_MAX);
    buf_init(&s->line, STREAM_EVENT_MAX);
    buf_init(&s->data, STREAM_EVENT_MAX);
}

void reply_stream_deinit(struct reply_stream *s)
{
    buf_deinit(&s->memo.line);
    buf_deinit(&s->line);
    buf_deinit(&s->data);
}

/* Returns the buffer empty for the next use; memory of more than KEEP bytes is freed. The caller
 * replaces its own copy by the result. */
static struct buf stream_reuse_buf(struct buf b)
{
    enum { KEEP = 2048 };
    if (b.size > KEEP) {
        buf_deinit(&b);
        buf_init(&b, STREAM_EVENT_MAX);
    }
    buf_clear(&b);
    return b;
}

void stream_reset(struct reply_stream *s, enum stream_framing framing, bool lines)
{
    *s = (struct reply_stream){
        .framing = (uint8_t)framing, .lines = lines, .memo = s->memo, .line = stream_reuse_buf(s->line), .data = stream_reuse_buf(s->data)};
}

static bool stream_fail(struct reply_stream *s, enum stream_trouble why)
{
    s->trouble = (uint8_t)why;
    return false;
}

/* Reads the text of one event and passes it on. False: it is malformed, which the stream notes. */
static bool stream_emit_event(struct stream_feeding *f, struct str text, struct event *e)
{
    struct reply_stream *s = f->s;
    if (s->done) {
        s->after_done++;
        return true;
    }
    if (str_is(str_trim(text), "[DONE]")) {
        s->done = true;
        return true;
    }
    if (!event_read(e, text))
        return stream_fail(s, STREAM_MALFORMED);
    if (s->named_error && !e->error.n)
        e->error = e->message.n ? e->message : text;
    s->events++;
    f->take(f->context, e);
    return true;
}

/* Handles a complete event: passes its data on, which is pending or was stored. False: not
 * valid. */
static bool stream_end_event(struct stream_feeding *f)
{
    struct reply_stream *s = f->s;
    struct event e;
    bool good = true;
    if (s->has_data) {
        struct str text = f->pending.p ? f->pending : buf_text(&s->data);
        good = str_trim(text).n == 0 || stream_emit_event(f, text, &e);
    }
    f->pending.p = NULL;
    buf_clear(&s->data);
    s->has_data = s->named_error = false;
    return good;
}

/* Copies the pending data of an event, which is in place, to s->data. Returns false where it does
 * not fit. */
static bool keep_data(struct stream_feeding *f)
{
    if (f->pending.p) {
        buf_str(&f->s->data, f->pending);
        f->pending.p = NULL;
    }
    return !f->s->data.failed || stream_fail(f->s, STREAM_TOO_LONG);
}

/* Adds a line of an event's data; a first one in place is not copied. Returns false where it is too
 * long. */
static bool more_data(struct stream_feeding *f, struct str value, bool in_place)
{
    struct reply_stream *s = f->s;
    if (!s->has_data && in_place) {
        f->pending = value;
        s->has_data = true;
        return true;
    }
    if (!keep_data(f))
        return false;
    if (s->has_data)
        buf_putc(&s->data, '\n');
    s->has_data = true;
    buf_str(&s->data, value);
    return !s->data.failed || stream_fail(s, STREAM_TOO_LONG);
}

/* Reads a line of a stream of server-sent events. Returns false after trouble, which is stored in
 * the stream. */
static bool sse_line(struct stream_feeding *f, struct str line, bool in_place)
{
    struct reply_stream *s = f->s;
    if (!s->begun) {
        s->begun = true;
        if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0)
            line = str_sub(line, 3, line.n);
    }
    if (!line.n)
        return stream_end_event(f);
    struct event e;
    if (line.p[0] == '{' && !s->has_data && event_read(&e, line) &&
        e.error.n) { /* the bare error of a server that has begun a stream already */
        s->events++;
        f->take(f->context, &e);
        return true;
    }
    struct str value = line, field = str_cut(&value, ':');
    if (!value.p)
        value = (struct str){"", 0};
    else if (value.n && value.p[0] == ' ')
        value = str_sub(value, 1, value.n);
    if (str_is(field, "data"))
        return more_data(f, value, in_place);
    if (str_is(field, "event"))
        s->named_error = str_is(value, "error");
    return true; /* comments, id, retry, and what is not known */
}

/* Reads a line of JSON; a blank one is no event. Returns false after trouble. */
static bool stream_json_line(struct stream_feeding *f, struct str line)
{
    struct event e;
    if (!f->s->begun) {
        f->s->begun = true;
        if (line.n >= 3 && memcmp(line.p, "\xef\xbb\xbf", 3) == 0)
            line = str_sub(line, 3, line.n);
    }
    return str_trim(line).n == 0 || stream_emit_event(f, line, &e);
}

static bool stream_take_line(struct stream_feeding *f, struct str line, bool in_place)
{
    return f->s->framing == FRAMING_SSE ? sse_line(f, line, in_place) : stream_json_line(f, line);
}

/* Emits the line where it is the remembered event with another text. Returns false where it is not. */
static bool by_memo(struct stream_feeding *f, const char *p, size_t n)
{
    struct stream_memo *m = &f->s->memo;
    struct str line = buf_text(&m->line);
    if (!line.n || n <= m->before + m->behind || f->s->has_data || f->s->named_error || f->s->done)
        return false;
    const char *text = p + m->before, *behind = p + n - m->behind;
    if (memcmp(p, line.p, m->before) != 0 || memcmp(behind, line.p + line.n - m->behind, m->behind) != 0 ||
        event_quote(text, behind) != behind)
        return false;
    m->e.content = (struct str){text, (size_t)(behind - text)};
    f->s->events++;
    f->take(f->context, &m->e);
    return true;
}

/* Forgets the event before, and remembers this one with its line where it is content alone. */
static void keep_memo(struct stream_memo *m, const char *p, size_t n, const struct event *e)
{
    buf_clear(&m->line);
    if (!e->simple || e->finish.n || n > MEMO_MAX)
        return;
    buf_add(&m->line, p, n);
    if (m->line.failed)
        buf_clear(&m->line);
    m->e = *e;
    m->before = (size_t)(e->content.p - p);
    m->behind = n - m->before - e->content.n;
}

/* A line in place, with the blank line that completes it just behind: reads the event and remembers
 * it. */
static bool whole_event(struct stream_feeding *f, const char *p, size_t n)
{
    struct event e = {.simple = false}; /* "[DONE]" is no event */
    size_t head = p[5] == ' ' ? 6 : 5;
    struct str text = {p + head, n - head};
    if (!str_trim(text).n)
        return true;
    if (!stream_emit_event(f, text, &e))
        return false;
    if (str_is(str_trim(text), "[DONE]"))
        return true;
    keep_memo(&f->s->memo, p, n, &e);
    return true;
}

/* Returns the first CR or LF at or after p; NULL: none. Lone CRs are rare, so most of the bytes are
 * read once. */
static const char *stream_line_end(const char *p, const char *end, const char **cr)
{
    if (*cr && *cr < p)
        *cr = memchr(p, '\r', (size_t)(end - p));
    const char *lf = memchr(p, '\n', (size_t)((*cr ? *cr : end) - p));
    return lf ? lf : *cr;
}

/* Reads n bytes of a stream of lines; an incomplete last line waits for the next bytes. False:
 * trouble, which the stream notes. */
static bool stream_take_lines(struct stream_feeding *f, const char *p, size_t n)
{
    struct reply_stream *s = f->s;
    const char *end = p + n, *cr = memchr(p, '\r', n);
    s->behind = n;
    if (s->cr && *p == '\n')
        p++;
    s->cr = false;
    while (p < end) {
        uint32_t events = s->events;
        const char *eol = stream_line_end(p, end, &cr);
        if (!eol) {
            buf_add(&s->line, p, (size_t)(end - p));
            break;
        }
        bool whole = s->line.n == 0;
        size_t len = (size_t)(eol - p);
        if (whole && s->framing == FRAMING_SSE && s->begun && eol + 1 < end && *eol == '\n' && eol[1] == '\n' && len > 6 &&
            memcmp(p, "data:", 5) == 0 && !s->has_data && !s->named_error) {
            if (!by_memo(f, p, len) && !whole_event(f, p, len))
                return false;
            p = eol + 2;
            s->behind = s->events == events ? s->behind : (size_t)(end - p);
            continue;
        }
        if (!whole)
            buf_add(&s->line, p, len);
        if (s->line.failed)
            return stream_fail(s, STREAM_TOO_LONG);
        if (!stream_take_line(f, whole ? (struct str){p, len} : buf_text(&s->line), whole))
            return false;
        buf_clear(&s->line);
        p = eol + 1;
        if (*eol == '\r') {
            s->cr = p == end;
            p += p < end && *p == '\n';
        }
        s->behind = s->events == events ? s->behind : (size_t)(end - p);
    }
    return keep_data(f) && (!s->line.failed || stream_fail(s, STREAM_TOO_LONG));
}

/* Decides by the first bytes where the content type did not. */
static bool stream_guess_framing(struct reply_stream *s, struct str text)
{
    if (text.n < 3 && memcmp(text.p, "\xef\xbb\xbf", text.n) == 0)
        return true;
    struct str t = str_starts(text, "\xef\xbb\xbf") ? str_sub(text, 3, text.n) : text;
    t = str_trim(t);
    if (!t.n)
        return true;
    static const char *const fields[] = {":", "data:", "event:", "id:", "retry:"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t n = t.n < strlen(fields[i]) ? t.n : strlen(fields[i]);
        if (memcmp(t.p, fields[i], n) == 0) {
            if (n == strlen(fields[i]))
                s->framing = FRAMING_SSE;
            return true;
        }
    }
    if (t.p[0] != '{')
        return stream_fail(s, STREAM_WRONG_TYPE);
    s->framing = s->lines ? FRAMING_LINES : FRAMING_JSON;
    return true;
}

/* Stores the bytes until the framing is known, and reads them again then. Returns false after
 * trouble. */
static bool feed_unknown(struct reply_stream *s, const char *p, size_t n, stream_take *take, void *context)
{
    buf_add(&s->line, p, n);
    if (s->line.failed)
        return stream_fail(s, STREAM_TOO_LONG);
    if (!stream_guess_framing(s, buf_text(&s->line)) || s->framing == FRAMING_UNKNOWN)
        return !s->trouble;
    struct buf kept CLEANUP_BUF = s->line;
    buf_init(&s->line, STREAM_EVENT_MAX);
    return reply_stream_feed(s, kept.p, kept.n, take, context);
}

bool reply_stream_feed(struct reply_stream *s, const char *p, size_t n, stream_take *take, void *context)
{
    if (s->trouble)
        return false;
    if (!n)
        return true;
    if (s->framing == FRAMING_UNKNOWN)
        return feed_unknown(s, p, n, take, context);
    if (s->framing == FRAMING_JSON) {
        buf_add(&s->line, p, n);
        return !s->line.failed || stream_fail(s, STREAM_TOO_LONG);
    }
    struct stream_feeding f = {.s = s, .take = take, .context = context};
    return stream_take_lines(&f, p, n);
}

bool stream_end(struct reply_stream *s, stream_take *take, void *context)
{
    struct stream_feeding f = {.s = s, .take = take, .context = context};
    if (s->trouble)
        return false;
    if (s->framing == FRAMING_UNKNOWN)
        return s->line.n == 0 || stream_fail(s, STREAM_WRONG_TYPE);
    bool good = s->line.n == 0 || stream_take_line(&f, buf_text(&s->line), false);
    if (good && s->framing == FRAMING_SSE)
        good = stream_end_event(&f);
    buf_clear(&s->line);
    return good;
}
