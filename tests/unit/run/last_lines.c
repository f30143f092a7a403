/* last_lines.c: the last lines of a program, and the reason of a verdict without its consequences. */
#include "run/last_lines.h"
#include "base/folder.h"
#include "tests/unit/place.h"

#include <string.h>

/* "LABEL: LINE|LINE" of the streams in the place. */
static const char *lines_of(const struct place *p)
{
    static char text[20000];
    struct folder in = folder_disk(p->dir);
    struct str lines[LAST_LINES_MAX];
    const char *label = "none";
    CLEANUP_BUF struct buf kept;
    buf_init(&kept, 1 << 20);
    size_t n = last_lines(&in, &kept, &label, lines), at = (size_t)snprintf(text, sizeof text, "%s:", label);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s" STR_FMT, i ? "|" : " ", STR_ARG(lines[i]));
    return text;
}

static void put(const struct place *p, const char *name, struct str text)
{
    assert_int_equal(fs_write(p->dir, name, text, 0666, false, NULL), 0);
}

static void standard_error_comes_first(void **state)
{
    struct place *p = *state;
    assert_string_equal(lines_of(p), "none:");
    put(p, "stdout.log", STR("one\ntwo\n"));
    assert_string_equal(lines_of(p), "output: one|two");
    put(p, "stderr.log", STR(" \n\t\n"));
    assert_string_equal(lines_of(p), "output: one|two");
    put(p, "stderr.log", STR("a\n b \n\nc\nd"));
    assert_string_equal(lines_of(p), "stderr: b|c|d");
}

static void only_the_end_of_a_long_stream_is_read(void **state)
{
    struct place *p = *state;
    enum { TAIL = 8192, LINE = 100 };
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t more = 0; more < 2; more++) { /* a line begins exactly with the part that is read, or one byte before it */
        buf_clear(&b);
        for (int i = 0; i < 100; i++)
            buf_puts(&b, "012345678\n");
        size_t begin = b.n;
        buf_putc(&b, 'x');
        while (b.n < begin + TAIL + more - LINE)
            buf_putc(&b, 'y');
        buf_putc(&b, '\n');
        while (b.n < begin + TAIL + more)
            buf_putc(&b, 'z');
        put(p, "stderr.log", buf_text(&b));
        const char *got = lines_of(p);
        assert_int_equal(strchr(got, 'x') != NULL, more == 0);
        assert_int_equal(strlen(got), strlen("stderr: ") + TAIL);
        put(p, "stderr.log", str_sub(buf_text(&b), begin, b.n)); /* the same where nothing stands before it */
        assert_int_equal(strchr(lines_of(p), 'x') != NULL, more == 0);
    }
}

/* What is read arrives in pieces of up to 64 KiB: a last piece that is small, and one that fills the part that is read. */
static void the_end_is_joined_from_pieces(void **state)
{
    struct place *p = *state;
    static const size_t lasts[] = {1, 1000, 8191, 8192, 8193};
    for (size_t k = 0; k < sizeof lasts / sizeof *lasts; k++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1 << 20);
        while (b.n < (1 << 16) + lasts[k] - 8000)
            buf_puts(&b, ".\n");
        b.n = (1 << 16) + lasts[k] - 8000;
        buf_puts(&b, "\n<");
        while (b.n < (1 << 16) + lasts[k] - 1)
            buf_putc(&b, (char)('a' + b.n % 26));
        buf_putc(&b, '>');
        put(p, "stderr.log", buf_text(&b));
        const char *got = lines_of(p), *from = strchr(got, '<');
        assert_non_null(from);
        assert_memory_equal(from, b.p + b.n - 7999, 7999);
    }
}

static void consequences_are_left_out(void **state)
{
    static const struct {
        const char *reason;
        bool has_failed;
        const char *expected;
    } rows[] = {{"exit status 1; metric a is missing; b is missing", true, "exit status 1"},
                {"exit status 1; metric a is missing; b is missing", false, "exit status 1; metric a is missing; b is missing"},
                {"a is missing; the check x failed", true, "the check x failed"},
                {" is missing", true, " is missing"},
                {"", true, ""},
                {"a is missing;b", true, "a is missing;b"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1000);
        buf_puts(&b, "failed: ");
        failure_reason(str_of(rows[i].reason), rows[i].has_failed, &b);
        assert_string_equal(b.p + strlen("failed: "), rows[i].expected);
    }
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_begin, place_end)
int main(void)
{
    const struct CMUnitTest tests[] = {IN_PLACE(standard_error_comes_first), IN_PLACE(only_the_end_of_a_long_stream_is_read),
                                       IN_PLACE(the_end_is_joined_from_pieces), cmocka_unit_test(consequences_are_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
