/* event.c: one pass over a JSON object of a reply; see event.h. */
#include "benchmarks/native/llmload/event.h"

#include "base/buf.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The place of a value decides what its members mean. */
enum event_place { SKIP, TOP, CHOICES, CHOICE, DELTA, USAGE, DETAILS, TIMINGS, FAULT, TOKEN, IDS, TOOLS, PARTS, THOUGHTS, AUDIO };

struct event_reader {
    const char *p, *end;
    struct event *e;
    unsigned depth;
    bool rich; /* something besides plain content was received */
};

const char *event_quote(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned hit = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)));
        if (hit)
            return p + __builtin_ctz(hit);
    }
#endif
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static void event_skip_blanks(struct event_reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

static bool take_char(struct event_reader *r, char c)
{
    event_skip_blanks(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* Reads a string, whose quote r->p is at. *ret is its inside, with escapes. Returns false where it
 * has no end. */
static bool read_string(struct event_reader *r, struct str *ret)
{
    const char *begin = ++r->p, *p = begin;
    for (;;) {
        p = event_quote(p, r->end);
        if (p >= r->end)
            return false;
        if (*p == '"')
            break;
        p += 2;
    }
    *ret = (struct str){begin, (size_t)(p - begin)};
    r->p = p + 1;
    return true;
}

static bool take_literal(struct event_reader *r, const char *z, size_t n)
{
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, z, n) != 0)
        return false;
    r->p += n;
    return true;
}

/* Reads the characters of a number, of which *ret points to the text. Returns false where none
 * begins here. Its value is not checked. */
static bool read_number_text(struct event_reader *r, struct str *ret)
{
    const char *begin = r->p;
    while (r->p < r->end &&
           ((*r->p >= '0' && *r->p <= '9') || *r->p == '-' || *r->p == '+' || *r->p == '.' || *r->p == 'e' || *r->p == 'E'))
        r->p++;
    *ret = (struct str){begin, (size_t)(r->p - begin)};
    return r->p > begin && ((*begin >= '0' && *begin <= '9') || (*begin == '-' && ret->n > 1));
}

static bool str_equals(struct str s, const char *z, size_t n)
{
    return s.n == n && memcmp(s.p, z, n) == 0;
}
#define IS(s, z) str_equals(s, z, sizeof(z) - 1)

/* Returns the integer part of a number, for a count of tokens; -1: no number, negative, or 9e15 and
 * more. */
static int64_t number_whole(struct str s)
{
    double v;
    int64_t n = 0;
    size_t i = 0;
    while (i < s.n && i < 15 && str_is_digit(s.p[i]))
        n = n * 10 + (s.p[i++] - '0');
    if (i == s.n && i)
        return n;
    return str_double(s, &v) && v >= 0 && v < 9e15 ? (int64_t)v : -1;
}

/* Stores a duration of the server: milliseconds below "timings", else nanoseconds. */
static void duration_member(struct event *e, enum event_place place, struct str key, struct str value)
{
    int64_t v = number_whole(value);
    double ms;
    if (v < 0)
        return;
    if (place == TIMINGS) {
        if (v > INT64_MAX / 1000000 || !str_double(value, &ms))
            return;
        if (IS(key, "prompt_ms"))
            e->prefill_ns = (int64_t)(ms * 1e6);
        else if (IS(key, "predicted_ms"))
            e->decode_ns = (int64_t)(ms * 1e6);
    } else if (IS(key, "prompt_eval_duration"))
        e->prefill_ns = v;
    else if (IS(key, "eval_duration"))
        e->decode_ns = v;
    else if (IS(key, "load_duration"))
        e->load_ns = v;
    else if (IS(key, "total_duration"))
        e->total_ns = v;
}

/* A count of tokens that no prompt or answer can have is none. */
static void count_member(struct event *e, enum event_place place, struct str key, struct str value)
{
    enum { TOKENS_MAX = 1000000000 };
    int64_t v = number_whole(value);
    if (v < 0 || v > TOKENS_MAX)
        return;
    if (place == USAGE) {
        if (IS(key, "prompt_tokens") || IS(key, "input_tokens"))
            e->input_tokens = v;
        else if (IS(key, "completion_tokens") || IS(key, "output_tokens"))
            e->output_tokens = v;
        e->usage |= v > 0;
    } else if (place == DETAILS) {
        if (IS(key, "cached_tokens"))
            e->cached_tokens = v;
        else if (IS(key, "reasoning_tokens"))
            e->reasoning_tokens = v;
    } else if (place == TIMINGS && IS(key, "cache_n")) {
        e->cached_tokens = v;
    } else if (place == TOP) {
        if (IS(key, "prompt_eval_count"))
            e->input_tokens = v, e->usage |= v > 0;
        else if (IS(key, "eval_count"))
            e->output_tokens = v, e->usage |= v > 0;
        else if (IS(key, "prompt_eval_cached_count"))
            e->cached_tokens = v;
    }
}

static void number_member(struct event *e, enum event_place place, struct str key, struct str value)
{
    if (place == CHOICE) {
        e->several |= IS(key, "index") && number_whole(value) > 0;
        return;
    }
    count_member(e, place, key, value);
    if (place == TIMINGS || place == TOP)
        duration_member(e, place, key, value);
}

/* Stores text that is no plain string of the delta: parts of a content, reasoning in parts, speech. */
static void part_member(struct event *e, enum event_place place, struct str key, struct str value)
{
    bool output = (place == PARTS && IS(key, "text")) || (place == AUDIO && (IS(key, "transcript") || IS(key, "data")));
    bool thought = place == THOUGHTS && (IS(key, "text") || IS(key, "summary"));
    if (!value.n || (!output && !thought))
        return;
    e->text = true;
    e->output |= output;
    struct str *to = output ? &e->content : &e->reasoning;
    if (!to->n && place != AUDIO)
        *to = value;
}

/* Stores a member whose value is a text, by its place and key. */
static void text_member(struct event_reader *r, enum event_place place, struct str key, struct str value)
{
    struct event *e = r->e;
    bool delta = place == DELTA, top = place == TOP;
    if (place == PARTS || place == THOUGHTS || place == AUDIO) {
        part_member(e, place, key, value);
        return;
    }
    if ((delta && IS(key, "content")) || (place == CHOICE && IS(key, "text")) || (top && (IS(key, "response") || IS(key, "text_output"))) ||
        (place == TOKEN && IS(key, "text"))) {
        if (!value.n)
            return;
        if (e->text)
            r->rich = true;
        e->text = e->output = true;
        if (!e->content.n)
            e->content = value;
        return;
    }
    if (!delta || !IS(key, "role"))
        r->rich |= delta || place == FAULT;
    if ((delta && (IS(key, "reasoning_content") || IS(key, "reasoning") || IS(key, "thinking"))) || (top && IS(key, "thinking"))) {
        r->rich = true;
        e->text |= value.n > 0;
        if (!e->reasoning.n)
            e->reasoning = value;
    } else if (delta && IS(key, "refusal")) {
        e->text |= value.n > 0, e->output |= value.n > 0;
    } else if ((place == CHOICE && IS(key, "finish_reason")) || (top && IS(key, "done_reason"))) {
        r->rich = true;
        if (!IS(value, "null")) /* of servers that have none yet */
            e->finish = value;
    } else if (top && IS(key, "error")) {
        r->rich = true;
        e->error = e->message = value;
        if (!value.n)
            e->error = (struct str){key.p, key.n};
    } else if (top && (IS(key, "detail") || IS(key, "message"))) { /* FastAPI; older vLLM: with "object": "error" */
        r->rich = true;
        e->message = value;
    } else if (top && IS(key, "object") && IS(value, "error")) {
        r->rich = true;
        e->error = value;
    } else if (place == FAULT && IS(key, "message")) {
        e->message = value;
    }
}

/* Returns what an object or array below this key means. */
static enum event_place place_below(enum event_place place, struct str key)
{
    switch (place) {
    case TOP:
        if (IS(key, "choices"))
            return CHOICES;
        if (IS(key, "usage"))
            return USAGE;
        if (IS(key, "message") || IS(key, "delta"))
            return DELTA;
        if (IS(key, "error"))
            return FAULT;
        if (IS(key, "timings"))
            return TIMINGS;
        return IS(key, "token") ? TOKEN : SKIP;
    case CHOICE:
        if (IS(key, "delta") || IS(key, "message"))
            return DELTA;
        if (IS(key, "usage"))
            return USAGE;
        return IS(key, "token_ids") ? IDS : SKIP;
    case USAGE: return IS(key, "prompt_tokens_details") || IS(key, "completion_tokens_details") ? DETAILS : SKIP;
    case DELTA:
        if (IS(key, "content"))
            return PARTS;
        if (IS(key, "reasoning_details"))
            return THOUGHTS;
        if (IS(key, "audio"))
            return AUDIO;
        return IS(key, "tool_calls") || IS(key, "function_call") ? TOOLS : SKIP;
    case PARTS: return IS(key, "thinking") ? THOUGHTS : SKIP;
    default: return SKIP;
    }
}

static bool read_value(struct event_reader *r, enum event_place place, struct str key);

/* Reads a JSON object at r->p, which points to its "{", and passes each member to read_value.
 * False: not valid, or cut. */
static bool read_object(struct event_reader *r, enum event_place place)
{
    struct str key;
    r->p++;
    if (take_char(r, '}'))
        return true;
    do {
        event_skip_blanks(r);
        if (r->p >= r->end || *r->p != '"' || !read_string(r, &key) || !take_char(r, ':') || !read_value(r, place, key))
            return false;
    } while (take_char(r, ','));
    return take_char(r, '}');
}

/* Do the elements of an array there mean something? */
static bool is_kept(enum event_place place)
{
    return place == TOOLS || place == PARTS || place == THOUGHTS;
}

/* Reads an array: choices, token ids, or values to be skipped. False: it is no valid JSON, or
 * incomplete. */
static bool read_array(struct event_reader *r, enum event_place place)
{
    struct str none = {NULL, 0};
    r->p++;
    if (take_char(r, ']'))
        return true;
    do {
        event_skip_blanks(r);
        if (place == CHOICES) {
            if (r->e->choices++)
                r->rich = r->e->several = true;
            if (r->p >= r->end || *r->p != '{' || !read_object(r, CHOICE))
                return false;
        } else {
            if (place == IDS)
                r->e->ids++;
            if (!read_value(r, is_kept(place) ? place : SKIP, none))
                return false;
        }
    } while (take_char(r, ','));
    return take_char(r, ']');
}

/* Reads an object or array, with what its place means. Returns false where it is malformed or too
 * deep. */
static bool read_nested(struct event_reader *r, enum event_place place, struct str key)
{
    enum event_place there = key.p ? place_below(place, key) : place; /* an element is what its array is */
    const char *begin = r->p;
    if (r->depth >= EVENT_DEPTH)
        return false;
    if (there != SKIP && there != CHOICES && there != DELTA)
        r->rich = true;
    r->depth++;
    bool ok = *begin == '{' ? read_object(r, there) : read_array(r, there);
    r->depth--;
    size_t n = (size_t)(r->p - begin);
    if (ok && there == FAULT)
        r->e->error = (struct str){begin, n};
    if (ok && there == TOOLS && n > 2)
        r->e->text = r->e->output = true;
    if (ok && place == TOP && IS(key, "detail") && !r->e->message.n)
        r->e->message = (struct str){begin, n};
    return ok;
}

/* Reads one JSON value, and stores what it means at this place under this key. False: it is no
 * valid JSON, or incomplete. */
static bool read_value(struct event_reader *r, enum event_place place, struct str key)
{
    struct str s;
    event_skip_blanks(r);
    if (r->p >= r->end)
        return false;
    switch (*r->p) {
    case '"':
        if (!read_string(r, &s))
            return false;
        if (place != SKIP)
            text_member(r, place, key, s);
        return true;
    case '{':
    case '[': return read_nested(r, place, key);
    case 't':
        if (place == TOP && IS(key, "done"))
            r->e->done = r->rich = true;
        return take_literal(r, "true", 4);
    case 'f': return take_literal(r, "false", 5);
    case 'n': return take_literal(r, "null", 4);
    default:
        if (!read_number_text(r, &s))
            return false;
        if (place != SKIP)
            number_member(r->e, place, key, s);
        return true;
    }
}

bool event_read(struct event *ret, struct str text)
{
    *ret = (struct event){.input_tokens = -1, .output_tokens = -1, .cached_tokens = -1, .reasoning_tokens = -1};
    struct event_reader r = {.p = text.p, .end = text.p + text.n, .e = ret};
    event_skip_blanks(&r);
    if (r.p >= r.end || *r.p != '{' || !read_object(&r, TOP))
        return false;
    event_skip_blanks(&r);
    ret->simple = ret->text && ret->output && !r.rich && !ret->ids && ret->content.n;
    return r.p == r.end;
}

/* Returns the number of four hexadecimal digits at p; -1: these are not there. */
static int parse_hex4(const char *p, const char *end)
{
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

static void put_utf8(struct buf *to, unsigned c)
{
    char b[4];
    size_t n = 0;
    if (c < 0x80)
        b[n++] = (char)c;
    else if (c < 0x800)
        b[n++] = (char)(0xc0 | c >> 6);
    else if (c < 0x10000)
        b[n++] = (char)(0xe0 | c >> 12), b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    else
        b[n++] = (char)(0xf0 | c >> 18), b[n++] = (char)(0x80 | (c >> 12 & 0x3f)), b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    if (c >= 0x80)
        b[n++] = (char)(0x80 | (c & 0x3f));
    buf_add(to, b, n);
}

/* Appends what the escape behind a backslash at p - 1 stands for. Returns the place behind it. */
static const char *read_escape(const char *p, const char *end, struct buf *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *known = *p ? strchr(from, *p) : NULL;
    if (known) {
        buf_putc(to, into[known - from]);
        return p + 1;
    }
    int high = *p == 'u' ? parse_hex4(p + 1, end) : -1;
    if (high < 0) {
        put_utf8(to, 0xfffd);
        return p + 1;
    }
    p += 5;
    if (high >= 0xd800 && high < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        int low = parse_hex4(p + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            put_utf8(to, 0x10000U + ((unsigned)(high - 0xd800) << 10) + (unsigned)(low - 0xdc00));
            return p + 6;
        }
    }
    put_utf8(to, high >= 0xd800 && high < 0xe000 ? 0xfffd : (unsigned)high);
    return p;
}

void event_unescape(struct str escaped, struct buf *to)
{
    if (!escaped.n)
        return;
    const char *p = escaped.p, *end = p + escaped.n;
    while (p < end) {
        const char *q = memchr(p, '\\', (size_t)(end - p));
        buf_add(to, p, (size_t)((q ? q : end) - p));
        if (!q || q + 1 >= end)
            return;
        p = read_escape(q + 1, end, to);
    }
}
