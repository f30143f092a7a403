/* http1.c: reads an HTTP/1.x reply that comes in pieces; see http1.h. */
#include "benchmarks/native/llmload/http1.h"

#include <string.h>
#include <strings.h>

enum http1_state {
    START,
    IN_HEAD,
    BODY_LENGTH,
    BODY_CLOSE,
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_DATA,
    CHUNK_CR,
    CHUNK_LF,
    TRAILER_START,
    TRAILER_LINE,
    COMPLETE
};

void http1_init(struct http1 *h)
{
    *h = (struct http1){0};
    buf_init(&h->head, HTTP1_HEAD_MAX);
}

void http1_reset(struct http1 *h)
{
    struct buf head = h->head;
    buf_clear(&head);
    *h = (struct http1){.head = head};
}

void http1_deinit(struct http1 *h)
{
    buf_deinit(&h->head);
}

bool http1_begun(const struct http1 *h)
{
    return h->state != START;
}

bool http1_before_chunk_end(const struct http1 *h)
{
    return h->state == CHUNK_CR || h->state == CHUNK_LF;
}

bool http1_eof_is_end(const struct http1 *h)
{
    return h->state == BODY_CLOSE || h->state == COMPLETE;
}

static bool begins_anycase(struct str s, const char *z)
{
    return s.n >= strlen(z) && strncasecmp(s.p, z, strlen(z)) == 0;
}

/* Returns whether the token is among the words with commas between them. */
static bool list_has_token(struct str value, const char *token)
{
    while (value.p && value.n) {
        struct str one = str_trim(str_cut(&value, ','));
        if (str_is_anycase(one, token))
            return true;
    }
    return false;
}

/* Returns the type of content that the field Content-Type names. */
static enum http1_type type_of(struct str value)
{
    struct str rest = value, type = str_trim(str_cut(&rest, ';'));
    if (str_is_anycase(type, "text/event-stream"))
        return HTTP1_TYPE_SSE;
    if (str_is_anycase(type, "application/x-ndjson") || str_is_anycase(type, "application/jsonl") ||
        str_is_anycase(type, "application/x-jsonlines") || str_is_anycase(type, "application/json-lines"))
        return HTTP1_TYPE_NDJSON;
    if (str_is_anycase(type, "application/json") || (begins_anycase(type, "application/") && str_ends_anycase(type, "+json")))
        return HTTP1_TYPE_JSON;
    return str_is_anycase(type, "text/html") ? HTTP1_TYPE_HTML : type.n ? HTTP1_TYPE_OTHER : HTTP1_TYPE_NONE;
}

/* Digits alone, as the grammar requires. */
static bool http1_read_digits(struct str s, uint64_t *ret)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || i >= 18)
            return false;
        n = n * 10 + (unsigned)(s.p[i] - '0');
    }
    *ret = n;
    return s.n > 0;
}

struct http1_framing {
    bool chunked, length, other_coding;
    uint64_t bytes;
};

/* Reads one field of a head. Returns false where it contradicts one before, or cannot be
 * understood. */
static bool http1_take_field(struct http1 *h, struct http1_framing *f, struct str name, struct str value)
{
    uint64_t n;
    if (str_is_anycase(name, "content-length")) {
        while (value.p) { /* "5, 5" is allowed */
            if (!http1_read_digits(str_trim(str_cut(&value, ',')), &n) || (f->length && f->bytes != n))
                return false;
            f->length = true, f->bytes = n;
        }
    } else if (str_is_anycase(name, "transfer-encoding")) {
        if (list_has_token(value, "chunked"))
            f->chunked = true;
        else
            f->other_coding = !str_is_anycase(value, "identity");
    } else if (str_is_anycase(name, "connection") || str_is_anycase(name, "proxy-connection")) {
        if (list_has_token(value, "close"))
            h->keep_alive = false;
        else if (list_has_token(value, "keep-alive"))
            h->keep_alive = true;
    } else if (str_is_anycase(name, "content-type")) {
        h->type = (uint8_t)type_of(value);
    } else if (str_is_anycase(name, "content-encoding")) {
        h->gzip = str_is_anycase(value, "gzip") || str_is_anycase(value, "x-gzip") || str_is_anycase(value, "deflate");
        h->strange_encoding = !h->gzip && value.n && !str_is_anycase(value, "identity");
    }
    return true;
}

/* Reads the status line. Returns false where it is not of HTTP/1, or the status is not from 100 to
 * 599. */
static bool status_line(struct http1 *h, struct str line)
{
    uint64_t status;
    if (!str_starts(line, "HTTP/1.") || line.n < 12 || line.p[8] != ' ' || !http1_read_digits(str_sub(line, 9, 3), &status) ||
        status < 100 || status > 599)
        return false;
    h->keep_alive = line.p[7] != '0';
    h->status = (uint16_t)status;
    return true;
}

/* Chooses the state that reads the body after a complete head. */
static enum http1_got begin_body(struct http1 *h, const struct http1_framing *f)
{
    if (f->other_coding)
        h->strange_encoding = true;
    if (h->status == 101) /* another protocol from here on, which was not requested */
        h->state = COMPLETE, h->keep_alive = false;
    else if (h->status == 204 || h->status == 304)
        h->state = COMPLETE;
    else if (f->chunked)
        h->state = CHUNK_SIZE, h->left = 0, h->digits = 0;
    else if (f->length)
        h->state = f->bytes ? BODY_LENGTH : COMPLETE, h->left = f->bytes;
    else
        h->state = BODY_CLOSE, h->keep_alive = false;
    return HTTP1_HEAD;
}

/* Reads the complete head of a reply, status line and fields, and prepares for its body. Returns
 * HTTP1_MORE also for an interim reply (status below 200), which is dropped; HTTP1_BAD: not
 * HTTP. */
static enum http1_got read_head(struct http1 *h, struct str text)
{
    struct http1_framing f = {0};
    struct str line = str_trim(str_cut(&text, '\n'));
    if (!status_line(h, line))
        return HTTP1_BAD;
    while (text.p && text.n) {
        struct str whole = str_cut(&text, '\n'), value = str_trim(whole);
        if (!value.n || *whole.p == ' ' ||
            *whole.p == '\t') /* the second: a field folded over lines, of which no field read here is long enough */
            continue;
        struct str name = str_cut(&value, ':');
        if (!value.p || !http1_take_field(h, &f, str_trim(name), str_trim(value)))
            return HTTP1_BAD;
    }
    if (h->status < 200 && h->status != 101) { /* an interim reply: the real one follows */
        http1_reset(h);
        return HTTP1_MORE;
    }
    return begin_body(h, &f);
}

bool http1_line(struct http1 *h, struct str line)
{
    struct http1_framing unused = {0};
    if (str_starts(line, "HTTP/")) {
        struct str rest = line;
        uint64_t status;
        str_word(&rest);
        http1_reset(h);
        if (!http1_read_digits(str_word(&rest), &status) || status < 100 || status > 599)
            return false;
        h->status = (uint16_t)status;
        return true;
    }
    struct str value = line, name = str_cut(&value, ':');
    return !value.p || http1_take_field(h, &unused, str_trim(name), str_trim(value));
}

/* Returns the length of the head at p, its empty line included. 0: it is not complete. */
static size_t head_length(const char *p, size_t n, size_t from)
{
    const char *end = p + n, *q = p + from;
    while ((q = memchr(q, '\n', (size_t)(end - q)))) {
        q++;
        if (q < end && *q == '\n')
            return (size_t)(q + 1 - p);
        if (end - q >= 2 && q[0] == '\r' && q[1] == '\n')
            return (size_t)(q + 2 - p);
    }
    return 0;
}

/* Collects the head of a reply from *p (*n bytes), and moves both behind what it has used. Returns
 * HTTP1_MORE where the head is incomplete, HTTP1_TOO_LONG, HTTP1_BAD, or what read_head returns. */
static enum http1_got http1_take_head(struct http1 *h, const char **p, size_t *n)
{
    if (h->state == START) {
        while (*n && (**p == '\r' || **p == '\n')) /* stray line ends before a head */
            ++*p, --*n;
        if (!*n)
            return HTTP1_MORE;
        h->state = IN_HEAD;
    }
    size_t old = h->head.n, whole = old ? 0 : head_length(*p, *n, 0);
    if (whole > HTTP1_HEAD_MAX - 1)
        return HTTP1_TOO_LONG;
    if (whole) {
        struct str text = {*p, whole};
        *p += whole, *n -= whole;
        return read_head(h, text);
    }
    size_t room = HTTP1_HEAD_MAX - 1 - old, add = *n < room ? *n : room;
    buf_add(&h->head, *p, add);
    if (h->head.failed)
        return HTTP1_TOO_LONG;
    if (memcmp(h->head.p, "HTTP/", h->head.n < 5 ? h->head.n : 5) != 0)
        return HTTP1_BAD;
    whole = head_length(h->head.p, h->head.n, old > 3 ? old - 3 : 0);
    if (!whole) {
        *p += add, *n -= add;
        return *n ? HTTP1_TOO_LONG : HTTP1_MORE;
    }
    *p += whole - old, *n -= whole - old;
    struct buf text CLEANUP_BUF = h->head;
    buf_init(&h->head, HTTP1_HEAD_MAX);
    return read_head(h, (struct str){text.p, whole});
}

/* Sets *ret to the next bytes of a body or chunk of known length, and moves *p and *n behind them. */
static enum http1_got some_body(struct http1 *h, const char **p, size_t *n, struct str *ret)
{
    size_t take = *n < h->left ? *n : (size_t)h->left;
    *ret = (struct str){*p, take};
    *p += take, *n -= take, h->left -= take;
    if (!h->left)
        h->state = h->state == CHUNK_DATA ? CHUNK_CR : COMPLETE;
    return HTTP1_BODY;
}

static int hex_digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads one byte of the framing of chunks. False: it is not valid there. */
static bool chunk_byte(struct http1 *h, char c)
{
    int d;
    switch (h->state) {
    case CHUNK_SIZE:
        d = hex_digit_value(c);
        if (d >= 0) {
            h->left = h->left << 4 | (unsigned)d;
            return ++h->digits <= 15;
        }
        if (!h->digits || !memchr("\n\r; \t", c, 5))
            return false;
        h->state = CHUNK_EXTENSION;
        /* fall through */
    case CHUNK_EXTENSION:
        if (c == '\n') {
            h->digits = 0;
            h->state = h->left ? CHUNK_DATA : TRAILER_START;
        }
        return true;
    case CHUNK_CR: h->state = c == '\r' ? CHUNK_LF : CHUNK_SIZE; return c == '\r' || c == '\n';
    case CHUNK_LF: h->state = CHUNK_SIZE; return c == '\n';
    case TRAILER_START:
        if (c == '\n')
            h->state = COMPLETE;
        else if (c != '\r')
            h->state = TRAILER_LINE;
        return true;
    default:
        if (c == '\n')
            h->state = TRAILER_START;
        return true;
    }
}

enum http1_got http1_next(struct http1 *h, const char **p, size_t *n, struct str *ret)
{
    while (*n || h->state == COMPLETE) {
        enum http1_got got;
        switch (h->state) {
        case START:
        case IN_HEAD:
            got = http1_take_head(h, p, n);
            if (got != HTTP1_MORE)
                return got;
            break;
        case BODY_LENGTH:
        case CHUNK_DATA: return some_body(h, p, n, ret);
        case BODY_CLOSE:
            *ret = (struct str){*p, *n};
            *p += *n, *n = 0;
            return HTTP1_BODY;
        case COMPLETE: return HTTP1_END;
        default:
            if (!chunk_byte(h, **p))
                return HTTP1_BAD;
            ++*p, --*n;
        }
    }
    return HTTP1_MORE;
}
