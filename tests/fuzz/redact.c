/* redact.c: any bytes as a text, a stream and a named value: the length stays, and UTF-8 and JSON stay what they are. */
#include "base/json.h"
#include "probes/redact.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MOST = 64 << 10 };

static void must(bool good)
{
    if (!good)
        abort();
}

/* The parser accepts control characters within strings, which JSON does not. */
static bool is_json(struct str text)
{
    struct json *parsed = NULL;
    struct err err = {0};
    bool in = false;
    for (size_t i = 0; i < text.n; i++) {
        in ^= text.p[i] == '"';
        if (((unsigned char)text.p[i] < 0x20 && (in || !strchr("\t\r\n", text.p[i]))) || (in && (text.p[i] == '\\' && ++i == text.n)))
            return false;
    }
    bool good = json_parse(&parsed, text, NULL, &err) == 0;
    json_free(parsed);
    return good;
}

static void take(void *context, const void *p, size_t n)
{
    buf_add(context, p, n);
}

static void as_text(struct str text, char *copy)
{
    struct redact r = {.ids = NULL};
    redact_text(&r, copy, text.n);
    struct str once = {copy, text.n};
    if (str_valid_utf8(text))
        must(str_valid_utf8(once));
    if (is_json(text))
        must(is_json(once));
}

static void as_stream(struct str text)
{
    struct redact r = {.ids = NULL};
    struct redact_stream s;
    struct buf got CLEANUP_BUF;
    buf_init(&got, 2 * text.n + 4096);
    redact_stream_init(&s, &r, take, &got);
    for (size_t at = 0, k = 1; at < text.n; at += k, k = k % 61 + 5) {
        redact_stream_write(&s, text.p + at, k < text.n - at ? k : text.n - at);
        redact_stream_flush(&s, false);
    }
    redact_stream_flush(&s, true);
    redact_stream_deinit(&s);
    must(got.n == text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size < TEXT_MOST ? size : TEXT_MOST};
    char *copy = malloc(text.n + 1);
    must(copy != NULL);
    memcpy(copy, data, text.n);
    as_text(text, copy);
    as_stream(text);
    memcpy(copy, data, text.n);
    size_t name = text.n < 24 ? text.n / 2 : 12;
    struct redact r = {.ids = NULL};
    redact_named(&r, str_sub(text, 0, name), copy + name, text.n - name);
    must(memcmp(copy, data, name) == 0);
    free(copy);
    return 0;
}
