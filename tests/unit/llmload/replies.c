/* replies.c: raw replies of five real servers, cut at every byte, give the same events, and the right ones. */
#include "llm_reply.h"

#include "base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct expected {
    const char *name;
    int status;
    uint32_t events, chunks;
    int64_t input, output;
    bool done, finished, error;
} rows[] = {
#include "replies.def"
};

static const char folder[] = "tests/fuzz/corpus/llm_reply";

static void read_sample(struct buf *to, const char *name)
{
    char path[300];
    struct err err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    buf_init(to, 1 << 20);
    if (fs_read(AT_FDCWD, path, 1 << 19, 0, to, &err) < 0)
        fail_msg("%s", err.text);
}

static void real_replies_say_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct expected *x = &rows[i];
        struct buf b CLEANUP_BUF;
        struct reply_seen s;
        read_sample(&b, x->name);
        reply_read(&s, b.p + 1, b.n - 1, b.p[0] & 1, 0, 0);
        if (s.status != x->status || s.events != x->events || s.chunks != x->chunks || s.input != x->input || s.output != x->output ||
            s.done != x->done || s.finished != x->finished || s.error != x->error || s.trouble)
            fail_msg("{\"%s\", %d, %u, %u, %lld, %lld, %s, %s, %s}, trouble %d", x->name, s.status, s.events, s.chunks, (long long)s.input,
                     (long long)s.output, s.done ? "true" : "false", s.finished ? "true" : "false", s.error ? "true" : "false", s.trouble);
        buf_deinit(&s.text);
    }
}

static void every_cut_gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        struct reply_seen whole, cut;
        read_sample(&b, rows[i].name);
        bool lines = b.p[0] & 1;
        reply_read(&whole, b.p + 1, b.n - 1, lines, 0, 0);
        for (size_t at = 1; at < b.n - 1; at++) {
            reply_read(&cut, b.p + 1, b.n - 1, lines, at, 0);
            if (!reply_same(&whole, &cut))
                fail_msg("%s cut at byte %zu is another reply", rows[i].name, at);
            buf_deinit(&cut.text);
        }
        for (size_t step = 1; step < 9; step++) {
            reply_read(&cut, b.p + 1, b.n - 1, lines, step, step);
            if (!reply_same(&whole, &cut))
                fail_msg("%s in pieces of %zu is another reply", rows[i].name, step);
            buf_deinit(&cut.text);
        }
        buf_deinit(&whole.text);
    }
}

#define SSE "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define TOKEN(text) "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}"

static const struct made {
    const char *what, *reply, *text;
    uint32_t events, chunks;
    bool done, error;
    int trouble;
} corners[] = {
    {"CRLF", SSE "data: " TOKEN("a") "\r\n\r\ndata: [DONE]\r\n\r\n", "a", 1, 1, true, false, 0},
    {"lone CR", SSE "data: " TOKEN("a") "\r\rdata: " TOKEN("b") "\r\rdata: [DONE]\r\r", "ab", 2, 2, true, false, 0},
    {"several data lines", SSE "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n", "a", 1, 1, false, false, 0},
    {"comments, id, retry, event", SSE ": ping\n\nevent: message\nid: 7\nretry: 10\ndata: " TOKEN("a") "\n\n: x\n", "a", 1, 1, false, false,
     0},
    {"no blank after the colon", SSE "data:" TOKEN("a") "\n\ndata:[DONE]\n\n", "a", 1, 1, true, false, 0},
    {"no blank line at the end", SSE "data: " TOKEN("a") "\n\ndata: " TOKEN("b"), "ab", 2, 2, false, false, 0},
    {"empty, null and absent content",
     SSE
     "data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":null}}]}\n\ndata: {\"choices\":[{\"delta\":{}}]}\n\n"
     "data: {\"choices\":[]}\n\n",
     "", 4, 0, false, false, 0},
    {"data behind [DONE]", SSE "data: [DONE]\n\ndata: " TOKEN("late") "\n\n", "", 0, 0, true, false, 0},
    {"byte order mark",
     SSE "\xef\xbb\xbf"
         "data: " TOKEN("a") "\n\n",
     "a", 1, 1, false, false, 0},
    {"surrogates and NUL escapes", SSE "data: " TOKEN("\\ud83d\\ude00\\u0041\\n\\ud83d") "\n\n",
     "\xf0\x9f\x98\x80"
     "A\n\xef\xbf\xbd",
     1, 1, false, false, 0},
    {"reasoning in both spellings",
     SSE "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"x\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"y\"}}]}\n\n",
     "", 2, 2, false, false, 0},
    {"tool calls are output", SSE "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\"}}]}}]}\n\n", "", 1, 1,
     false, false, 0},
    {"content in parts",
     SSE "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"\"}]}}]}\n\n"
         "data: {\"choices\":[{\"delta\":{\"content\":[]}}]}\n\n",
     "a", 2, 1, false, false, 0},
    {"reasoning in parts",
     SSE "data: {\"choices\":[{\"delta\":{\"content\":\"\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"x\"}]}}]}\n\n"
         "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"y\"}]}]}}]}\n\n",
     "", 2, 2, false, false, 0},
    {"speech", SSE "data: {\"choices\":[{\"delta\":{\"audio\":{\"id\":\"i\"}}}]}\n\ndata: {\"choices\":[{\"delta\":{\"audio\":{\"data\":\"AA\"}}}]}\n\n",
     "", 2, 1, false, false, 0},
    {"an error in the middle", SSE "data: " TOKEN("a") "\n\ndata: {\"error\":{\"message\":\"dead\",\"code\":500}}\n\ndata: [DONE]\n\n", "a",
     2, 1, true, true, 0},
    {"an error that is no event", SSE "data: " TOKEN("a") "\n\n{\"error\":{\"message\":\"dead\"}}", "a", 2, 1, false, true, 0},
    {"an event named error", SSE "event: error\ndata: {\"message\":\"dead\"}\n\n", "", 1, 0, false, true, 0},
    {"a quote ends the likeness", SSE "data: " TOKEN("a") "\n\ndata: " TOKEN("b\",\"x\":\"c") "\n\ndata: " TOKEN("d\\\"e") "\n\n", "abd\"e",
     3, 3, false, false, 0},
    {"not JSON", SSE "data: {\"choices\":[{\"delta\n\n", "", 0, 0, false, false, STREAM_MALFORMED},
    {"too deep",
     SSE "data: {\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n\n",
     "", 0, 0, false, false, STREAM_MALFORMED},
    {"plain text", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello", "", 0, 0, false, false, STREAM_WRONG_TYPE},
    {"an event stream that is called text", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\ndata: " TOKEN("a") "\n\n", "a", 1, 1, false,
     false, 0},
    {"an interim reply first", "HTTP/1.1 100 Continue\r\n\r\n" SSE "data: " TOKEN("a") "\n\n", "a", 1, 1, false, false, 0},
    {"chunks with extensions and trailers",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n6;x=y\r\ndata: \r\n8\r\n{\"error\"\r\nd\r\n:\"no more\"}\n\n\r\n0\r\nA: b\r\n\r\n",
     "", 1, 0, false, true, 0},
};

static void corners_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        const struct made *m = &corners[i];
        for (size_t step = 0; step < 4; step++) {
            struct reply_seen s;
            struct buf text CLEANUP_BUF;
            reply_read(&s, m->reply, strlen(m->reply), false, step, step);
            buf_init(&text, 1 << 16);
            for (struct str rest = buf_text(&s.text), line; rest.p && rest.n;) {
                line = str_cut(&rest, '|');
                if (rest.p)
                    buf_str(&text, line);
                const char *end = rest.p ? memchr(rest.p, '\n', rest.n) : NULL;
                rest = end ? str_sub(rest, (size_t)(end + 1 - rest.p), rest.n) : (struct str){NULL, 0};
            }
            bool like = m->error || str_is(buf_text(&text), m->text) || (!text.n && !*m->text);
            if (s.events != m->events || s.chunks != m->chunks || s.done != m->done || s.error != m->error || s.trouble != m->trouble ||
                !like)
                fail_msg("%s (pieces of %zu): %u events, %u chunks, done %d, error %d, trouble %d, text \"%s\"", m->what, step, s.events,
                         s.chunks, s.done, s.error, s.trouble, text.p ? text.p : "");
            buf_deinit(&s.text);
        }
    }
}

static void counts_that_no_answer_has_are_none(void **state)
{
    static const char usage[] = "{\"choices\":[],\"usage\":{\"prompt_tokens\":%s,\"completion_tokens\":%s},\"timings\":{\"prompt_ms\":%s}}";
    static const struct {
        const char *told;
        int64_t count, ns;
    } rows_of_counts[] = {{"12", 12, 12000000}, {"12.0", 12, 12000000}, {"99999999999999", -1, 0},
                          {"1e300", -1, 0},     {"-3", -1, 0},          {"4294967297", -1, 4294967297000000},
                          {"\"3\"", -1, 0},     {"null", -1, 0},        {"true", -1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows_of_counts / sizeof *rows_of_counts; i++) {
        char text[300];
        struct event e;
        const char *v = rows_of_counts[i].told;
        snprintf(text, sizeof text, usage, v, v, v);
        assert_true(event_read(&e, str_of(text)));
        assert_int_equal(e.input_tokens, rows_of_counts[i].count);
        assert_int_equal(e.output_tokens, rows_of_counts[i].count);
        assert_int_equal(e.prefill_ns, rows_of_counts[i].ns);
    }
}

static void choices_are_told_apart(void **state)
{
    static const struct {
        const char *text;
        bool several;
        int64_t output;
        size_t finish;
    } events[] = {
        {TOKEN("a"), false, -1, 0},
        {"{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}", true, -1, 0},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"}},{\"delta\":{\"content\":\"b\"}}]}", true, -1, 0},
        {"{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"null\"}]}", false, -1, 0},
        {"{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\",\"usage\":{\"completion_tokens\":5}}]}", false, 5, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct event e;
        assert_true(event_read(&e, str_of(events[i].text)));
        assert_int_equal(e.several, events[i].several);
        assert_int_equal(e.output_tokens, events[i].output);
        assert_int_equal(e.finish.n, events[i].finish);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_replies_say_what_they_say),
        cmocka_unit_test(every_cut_gives_the_same),
        cmocka_unit_test(corners_are_known),
        cmocka_unit_test(choices_are_told_apart),
        cmocka_unit_test(counts_that_no_answer_has_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
