/* Raw streams of a campaign: redacted, indexed, merged in corrected clock order without loss, live and at the end. */
#include "base/json.h"
#include "logs/logs.h"
#include "../place.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void put(int folder, const char *component, unsigned instance, const char *node, bool is_error, const char *const *texts,
                const int64_t *times)
{
    struct logs_stream *s;
    struct err err = {0};
    if (logs_stream_open(&s, folder, &(struct logs_stream_name){component, instance, node, is_error}, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; texts[i]; i++)
        assert_int_equal(logs_stream_write(s, str_of(texts[i]), times[i], &err), 0);
    assert_int_equal(logs_stream_close(s, &err), 0);
}

static char *slurp(int folder, const char *name)
{
    struct buf b;
    struct err err = {0};
    buf_init(&b, 64 << 20);
    if (fs_read(folder, name, 64 << 20, 0, &b, &err))
        fail_msg("%s", err.text);
    buf_putc(&b, 0);
    return b.p;
}

static void test_order(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    const int64_t s = 1000000000;
    put(p->dir, "vllm", 0, "n1", false, (const char *[]){"one\ntw", "o\nfive\n", NULL}, (int64_t[]){1 * s, 2 * s});
    put(p->dir, "vllm", 0, "n1", true, (const char *[]){"bad\n", NULL}, (int64_t[]){3 * s});
    put(p->dir, "client", 1, "n2.cluster", false, (const char *[]){"late clock\nno end", NULL}, (int64_t[]){101 * s});
    /* 1.5 s on the campaign's clock */
    assert_int_equal(fs_write(p->dir, "clocks", STR("n2.cluster 0 99500000000\nnonsense\n"), 0600, false, &err), 0);
    if (logs_write_merged(p->dir, NULL, false, -1, &err))
        fail_msg("%s", err.text);
    char *out = slurp(p->dir, "stdout.log"), *bad = slurp(p->dir, "stderr.log"), *lines = slurp(p->dir, "aggregated.jsonl");
    assert_string_equal(out, "[1970-01-01T00:00:01.000000Z] [n1] [vllm] one\n"
                             "[1970-01-01T00:00:01.500000Z] [n2.cluster] [client.1] late clock\n"
                             "[1970-01-01T00:00:01.500000Z] [n2.cluster] [client.1] no end\n"
                             "[1970-01-01T00:00:02.000000Z] [n1] [vllm] two\n"
                             "[1970-01-01T00:00:02.000000Z] [n1] [vllm] five\n");
    assert_string_equal(bad, "[1970-01-01T00:00:03.000000Z] [n1] [vllm] bad\n");
    assert_non_null(strstr(lines, "{\"timestamp\":\"1970-01-01T00:00:01.500000Z\",\"node\":\"n2.cluster\",\"component\":\"client.1\","
                                  "\"message\":\"late clock\",\"stream\":\"stdout\"}\n"));
    free(out);
    free(bad);
    free(lines);
    assert_int_equal(faccessat(p->dir, "summary.json", R_OK, 0), 0);
}

static void test_secrets(void **state)
{
    struct place *p = *state;
    put(p->dir, "a", 0, "n", false, (const char *[]){"HF_TOKEN=hf_abcdefgh", "ijklmnopqrstuvwxyz012345\nfine\n", NULL},
        (int64_t[]){1000, 2000});
    char *raw = slurp(p->dir, "a.0.n.out");
    assert_null(strstr(raw, "hf_abc"));
    assert_non_null(strstr(raw, "\nfine\n"));
    assert_int_equal(strlen(raw), 50);
    free(raw);
}

static void test_names(void **state)
{
    struct place *p = *state;
    struct logs_stream *s;
    struct err err = {0};
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"../x", 0, "n", false}, &err), -1);
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"a", 0, "n/..", false}, &err), -1);
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"a.b", 0, "n", false}, &err), -1);
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"", 0, "n", false}, &err), -1);
    assert_null(s);
}

/* A line of 10 MB, and bytes that are no text. */
static void test_long(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    size_t n = 10 << 20, at = 0;
    char *big = malloc(n + 2);
    for (size_t i = 0; i < n; i++)
        big[i] = (char)(i % 251 == '\n' ? ' ' : i % 251);
    memcpy(big + n, "\n", 2);
    struct logs_stream *s;
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"a", 0, "n", false}, &err), 0);
    assert_int_equal(logs_stream_write(s, (struct str){big, n + 1}, 5, &err), 0);
    assert_int_equal(logs_stream_close(s, &err), 0);
    int raw = openat(p->dir, "a.0.n.out", O_RDONLY);
    assert_int_equal(read(raw, big, n), n); /* as it was stored: random bytes may look like secrets */
    close(raw);
    assert_int_equal(logs_write_merged(p->dir, NULL, false, -1, &err), 0);
    int fd = openat(p->dir, "stdout.log", O_RDONLY);
    char *merged = malloc(n + (1 << 20));
    ssize_t got = read(fd, merged, n + (1 << 20));
    close(fd);
    for (char *line = merged, *end; line < merged + got; line = end + 1) { /* the parts together are the line */
        end = memchr(line, '\n', (size_t)(merged + got - line));
        assert_non_null(end);
        char *text = (char *)memmem(line, 100, "[a] ", 4) + 4;
        size_t len = (size_t)(end - text);
        if (at + len > n)
            len = n - at;
        else if (len > 17 && memcmp(end - 17, " [line continues]", 17) == 0)
            len -= 17;
        assert_int_equal(memcmp(text, big + at, len), 0);
        at += len;
    }
    assert_int_equal(at, n);
    free(merged);
    free(big);
}

struct live {
    int folder, stop[2];
    int result;
    struct err err;
};

static void *follow(void *context)
{
    struct live *l = context;
    const struct logs_outputs o = {.flush_s = 0.05};
    l->result = logs_write_merged(l->folder, &o, true, l->stop[0], &l->err);
    return NULL;
}

static void test_live(void **state)
{
    struct place *p = *state;
    struct live l = {.folder = p->dir};
    pthread_t thread;
    struct logs_stream *s[4];
    struct err err = {0};
    enum { LINES = 20000 };
    static unsigned char seen[4][LINES];
    memset(seen, 0, sizeof seen);
    assert_int_equal(pipe(l.stop), 0);
    pthread_create(&thread, NULL, follow, &l);
    for (unsigned i = 0; i < 4; i++) {
        char node[8];
        snprintf(node, sizeof node, "n%u", i);
        assert_int_equal(logs_stream_open(&s[i], p->dir, &(struct logs_stream_name){"c", i, node, i % 2}, &err), 0);
    }
    for (int k = 0; k < LINES; k++) {
        char text[32];
        snprintf(text, sizeof text, "line %d\n", k);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(logs_stream_write(s[i], str_of(text), 0, &err), 0);
        if (k % 5000 == 0)
            usleep(60000);
    }
    assert_int_equal(faccessat(p->dir, "loggers_ready", R_OK, 0), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(logs_stream_close(s[i], &err), 0);
    assert_int_equal(write(l.stop[1], "x", 1), 1);
    pthread_join(thread, NULL);
    if (l.result)
        fail_msg("%s", l.err.text);
    char *lines = slurp(p->dir, "aggregated.jsonl"), last[64] = "";
    size_t count = 0;
    int next[4] = {0};
    const char *all = lines + strlen(lines);
    for (char *line = lines, *end; (end = memchr(line, '\n', (size_t)(all - line))); line = end + 1, count++) {
        *end = 0;
        int k = atoi(strstr(line, "line ") + 5), i = strstr(line, "\"node\":\"n")[9] - '0';
        char time[64];
        snprintf(time, sizeof time, "%.27s", strstr(line, "timestamp\":\"") + 12);
        assert_int_equal(k, next[i]++); /* each line once, in its stream's order */
        assert_true(strcmp(last, time) <= 0);
        strcpy(last, time);
    }
    assert_int_equal(count, 4 * LINES);
    free(lines);
    close(l.stop[0]);
    close(l.stop[1]);
}

static void test_rotation(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct logs_stream *s;
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"c", 0, "n", false}, &err), 0);
    for (int k = 0; k < 40000; k++) {
        char text[64];
        snprintf(text, sizeof text, "this is the line with the number %d\n", k);
        assert_int_equal(logs_stream_write(s, str_of(text), 1000 + k, &err), 0);
    }
    assert_int_equal(logs_stream_close(s, &err), 0);
    const struct logs_outputs o = {.max_bytes = 1 << 20, .keep = 1, .lines = ""};
    if (logs_write_merged(p->dir, &o, false, -1, &err))
        fail_msg("%s", err.text);
    assert_int_equal(faccessat(p->dir, "stdout.log", R_OK, 0), 0);
    assert_int_equal(faccessat(p->dir, "stdout.log.1.gz", R_OK, 0), -1);
    assert_int_equal(faccessat(p->dir, "stdout.log.2.gz", R_OK, 0), 0);
    assert_int_equal(faccessat(p->dir, "stdout.log.new", R_OK, 0), -1);
    assert_int_equal(faccessat(p->dir, "aggregated.jsonl", R_OK, 0), -1);
}

static void test_view(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    char *text = NULL;
    size_t n = 0;
    put(p->dir, "vllm", 0, "n1", false, (const char *[]){"INFO start\nERROR gone\n\033[31mred\n", NULL}, (int64_t[]){1000000});
    put(p->dir, "vllm", 1, "n2", true, (const char *[]){"warning: slow\n", NULL}, (int64_t[]){2000000});
    const struct {
        struct logs_filter filter;
        size_t last;
        const char *expected;
    } cases[] = {
        {{.least = LOGS_ERROR}, 0, "[1970-01-01T00:00:00.001000Z] [n1] [vllm] ERROR gone\n"},
        {{.least = LOGS_UNKNOWN, .components = (const char *[]){"vllm.1", NULL}}, 0, "[1970-01-01T00:00:00.002000Z] [n2] [vllm.1] warning: slow\n"},
        {{.least = LOGS_UNKNOWN, .nodes = (const char *[]){"n1", NULL}}, 1, "[1970-01-01T00:00:00.001000Z] [n1] [vllm] \\x1b[31mred\n"},
        {{.least = LOGS_UNKNOWN, .stream = "stderr"}, 0, "[1970-01-01T00:00:00.002000Z] [n2] [vllm.1] warning: slow\n"},
        {{.least = LOGS_UNKNOWN, .text = "gone"}, 0, "[1970-01-01T00:00:00.001000Z] [n1] [vllm] ERROR gone\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct logs_view v = {.folder = p->dir, .filter = cases[i].filter, .last = cases[i].last, .stop_fd = -1};
        v.out = open_memstream(&text, &n);
        assert_int_equal(logs_view_print(&v, &err), 0);
        fclose(v.out);
        assert_string_equal(text, cases[i].expected);
        free(text);
    }
    struct listing l;
    struct arena a;
    arena_init(&a, 0);
    listing_init(&l, logs_summary_columns, logs_summary_columns_count, &a);
    assert_int_equal(logs_summary_list(p->dir, NULL, &l, &err), 0);
    assert_int_equal(listing_rows(&l), 2);
    listing_deinit(&l);
    arena_deinit(&a);
}

/* Until the file has this text, a minute at most. */
static void wait_for_text(int folder, const char *name, const char *text)
{
    for (int i = 0; i < 6000; i++, usleep(10000)) {
        char now[4096];
        int fd = openat(folder, name, O_RDONLY);
        ssize_t n = fd < 0 ? 0 : read(fd, now, sizeof now);
        if (fd >= 0)
            close(fd);
        if (n > 0 && memmem(now, (size_t)n, text, strlen(text)))
            return;
    }
    fail_msg("%s does not get \"%s\"", name, text);
}

/* A process wrote its streams itself: the merging stores when it saw the bytes, and replaces secrets. */
static void test_seen(void **state)
{
    struct place *p = *state;
    struct live l = {.folder = p->dir};
    pthread_t thread;
    struct arena a;
    struct listing rows;
    struct err err = {0};
    size_t bad = 99;
    int fd = openat(p->dir, "c.0.n.out", O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_int_equal(pipe(l.stop), 0);
    pthread_create(&thread, NULL, follow, &l);
    assert_int_equal(write(fd, "one\nHF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\n", 49), 49);
    wait_for_text(p->dir, "stdout.log", "one");
    assert_int_equal(write(fd, "tw", 2), 2);
    usleep(250000);
    assert_int_equal(write(fd, "o\n", 2), 2);
    assert_int_equal(write(l.stop[1], "x", 1), 1);
    pthread_join(thread, NULL);
    assert_int_equal(l.result, 0);
    char *out = slurp(p->dir, "stdout.log"), *again;
    assert_null(strstr(out, "hf_abc"));
    assert_non_null(strstr(out, "] [n] [c] two\n"));
    assert_true(strncmp(out, strstr(out, "two") - 38, 29) < 0);
    assert_int_equal(logs_write_merged(p->dir, NULL, false, -1, &err), 0);
    again = slurp(p->dir, "stdout.log");
    assert_string_equal(out, again);
    free(out);
    free(again);
    arena_init(&a, 0);
    listing_init(&rows, logs_check_columns, logs_check_columns_count, &a);
    assert_int_equal(logs_check_folder(p->dir, NULL, &rows, &bad, &err), 0);
    assert_int_equal(bad, 0);
    assert_true(listing_rows(&rows) >= 20);
    fd = (close(fd), openat(p->dir, "stdout.log", O_WRONLY));
    assert_int_equal(pwrite(fd, "x", 1, 39), 1); /* one changed byte is found */
    listing_deinit(&rows);
    listing_init(&rows, logs_check_columns, logs_check_columns_count, &a);
    assert_int_equal(logs_check_folder(p->dir, NULL, &rows, &bad, &err), 0);
    assert_int_equal(bad, 1);
    listing_deinit(&rows);
    arena_deinit(&a);
    close(fd);
    close(l.stop[0]);
    close(l.stop[1]);
}

static void test_pipes(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    int a[2], b[2];
    struct logs_stream *s[2];
    assert_int_equal(pipe(a), 0);
    assert_int_equal(pipe(b), 0);
    assert_int_equal(logs_stream_open(&s[0], p->dir, &(struct logs_stream_name){"c", 0, "n", false}, &err), 0);
    assert_int_equal(logs_stream_open(&s[1], p->dir, &(struct logs_stream_name){"c", 0, "n", true}, &err), 0);
    assert_int_equal(write(a[1], "out\n", 4), 4);
    assert_int_equal(write(b[1], "err\n", 4), 4);
    close(a[1]);
    close(b[1]);
    assert_true(logs_stream_read(s[0], a[0]));
    assert_true(logs_stream_read(s[1], b[0]));
    assert_false(logs_stream_read(s[0], a[0]));
    assert_int_equal(logs_stream_close(s[0], &err), 0);
    assert_int_equal(logs_stream_close(s[1], &err), 0);
    char *out = slurp(p->dir, "c.0.n.out"), *bad = slurp(p->dir, "c.0.n.err");
    assert_string_equal(out, "out\n");
    assert_string_equal(bad, "err\n");
    free(out);
    free(bad);
    close(a[0]);
    close(b[0]);
}

/* An entry that a full disk cuts must not shift those that follow. */
static void test_full_disk(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct logs_stream *s;
    struct rlimit was, small;
    struct stat st;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = (struct rlimit){24, was.rlim_max};
    assert_int_equal(logs_stream_open(&s, p->dir, &(struct logs_stream_name){"a", 0, "n", false}, &err), 0);
    assert_int_equal(logs_stream_write(s, STR("1\n"), 1000000000, &err), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(logs_stream_write(s, STR("2\n"), 2000000000, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    logs_stream_write(s, STR("3\n"), 3000000000, &err);
    logs_stream_close(s, &err);
    assert_int_equal(fstatat(p->dir, "a.0.n.out.idx", &st, 0), 0);
    assert_int_equal(st.st_size, 3 * 16);
    assert_int_equal(logs_write_merged(p->dir, NULL, false, -1, &err), 0);
    char *out = slurp(p->dir, "stdout.log");
    assert_string_equal(out, "[1970-01-01T00:00:01.000000Z] [n] [a] 1\n"
                             "[1970-01-01T00:00:03.000000Z] [n] [a] 2\n"
                             "[1970-01-01T00:00:03.000000Z] [n] [a] 3\n");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_secrets, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_names, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_long, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_live, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_rotation, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_view, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_seen, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_pipes, place_begin, place_end),
        cmocka_unit_test_setup_teardown(test_full_disk, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
