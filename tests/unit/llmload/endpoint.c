/* endpoint.c: URLs taken apart, services on other machines, and a name whose first address does not answer. */
#include "benchmarks/native/llmload/endpoint.h"

#include "benchmarks/native/llmload/engine.h"
#include "benchmarks/native/llmload/metrics.h"
#include "benchmarks/native/llmload/options.h"
#include "benchmarks/native/llmload/prompts/prompts.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static void urls_are_taken_apart(void **state)
{
    static const struct {
        const char *url, *path, *host, *base, *prefix, *query;
    } rows[] = {
        {"http://n:8", "/v1/chat/completions", "n:8", "http://n:8", "", ""},
        {"n:8/", "/v1/chat/completions", "n:8", "http://n:8", "", ""},
        {"http://n:8?a=1", "/v1/chat/completions", "n:8", "http://n:8", "", "?a=1"},
        {"http://n:8/v1?a=/v1&b", "/v1/chat/completions", "n:8", "http://n:8", "", "?a=/v1&b"},
        {"https://n/x/v1/?a=1#top", "/x/v1/chat/completions", "n", "https://n", "/x", "?a=1"},
        {"http://n/x/answer?a=1", "/x/answer", "n", "http://n", "", "?a=1"},
        {"http://n#top?a", "/v1/chat/completions", "n", "http://n", "", ""},
        {"http://n/?", "/v1/chat/completions", "n", "http://n", "", ""},
        {"unix:/s?k:/p/v1?a=1", "/p/v1/chat/completions", "localhost", "unix:/s?k", "/p", "?a=1"},
    };
    struct arena a;
    struct err err = {0};
    struct endpoint e;
    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(endpoint_read(&e, rows[i].url, "/v1/chat/completions", &a, &err), 0);
        assert_string_equal(e.path, rows[i].path);
        assert_string_equal(e.host, rows[i].host);
        assert_string_equal(e.base, rows[i].base);
        assert_string_equal(e.prefix, rows[i].prefix);
        assert_string_equal(e.query, rows[i].query);
    }
    assert_int_equal(endpoint_read(&e, "n?a=1", "/x?b=2", &a, &err), -1);
    assert_int_equal(endpoint_read(&e, "http://?a=1", "/x", &a, &err), -1);
    assert_int_equal(endpoint_read(&e, "http://u:p@n?a=1", "/x", &a, &err), -1);
    static const char *const wrong[] = {"ftp://n/?key=sesame", "http://?key=sesame", "http://n:x/?key=sesame", "http://n /?key=sesame",
                                        "http://u:sesame @n",  "u:ses sesame@n",     "ftp://u:sesame@n", "n?key=sesame&u=http://m"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) { /* no message has a key of the query, or a password */
        err_clear(&err);
        assert_true(endpoint_read(&e, wrong[i], "/x", &a, &err) < 0 || endpoint_resolve(&e, &err) < 0);
        assert_null(strstr(err.text, "sesame"));
    }
    arena_deinit(&a);
}

/* No test sends a request to 192.0.2.1, which documents use as an example. */
static void services_elsewhere(void **state)
{
    static const struct {
        const char *url;
        bool elsewhere;
    } rows[] = {
        {"http://127.0.0.1:9", false},   {"https://127.0.0.1", false},           {"http://two.test:8", false},
        {"unix:/tmp/socket", false},     {"https://192.0.2.1:8000/v1", true},    {"http://192.0.2.1", true},
        {"http://unknown.test:8", true}, {"https://unknown.test:8000/v1", true},
    };
    struct arena a;
    struct endpoint e;
    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(endpoint_read(&e, rows[i].url, "/v1/completions", &a, NULL), 0);
        if (endpoint_is_elsewhere(&e) != rows[i].elsewhere)
            fail_msg("%s", rows[i].url);
    }
    arena_deinit(&a);
}

/* ---- a name with two addresses: 127.0.0.2 is silent, 127.0.0.1 answers ---- */

static in_port_t port;
static _Atomic int silent_tries;

static struct sockaddr_in loopback(int last)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(0x7f000000U + (unsigned)last)};
}

/* Stand for the C library's, in this program. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    static struct sockaddr_in address[2];
    static struct addrinfo list[2];
    (void)service, (void)hints;
    bool is_two = strcmp(node, "two.test") == 0;
    struct in_addr only;
    if (!is_two && inet_pton(AF_INET, node, &only) != 1)
        return EAI_NONAME;
    for (int i = is_two ? 0 : 1; i < 2; i++) {
        address[i] = loopback(2 - i);
        if (!is_two)
            address[i].sin_addr = only;
        list[i] = (struct addrinfo){.ai_family = AF_INET,
                                    .ai_addr = (struct sockaddr *)&address[i],
                                    .ai_addrlen = sizeof address[i],
                                    .ai_next = i ? NULL : &list[1]};
    }
    *ret = is_two ? list : &list[1];
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    (void)list;
}

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    if (to->sa_family == AF_INET && ((const struct sockaddr_in *)(const void *)to)->sin_addr.s_addr == loopback(2).sin_addr.s_addr)
        silent_tries++;
    return (int)syscall(SYS_connect, fd, to, length);
}

static int listener(int last, int backlog)
{
    struct sockaddr_in a = loopback(last);
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, backlog) < 0) {
        close(fd);
        return -1;
    }
    getsockname(fd, (struct sockaddr *)&a, &n);
    port = a.sin_port;
    return fd;
}

/* Answers one request a connection, and closes. */
static void *serve(void *context)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 88\r\nConnection: close\r\n\r\n"
                                "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":{\"total\":1}}    ";
    for (int fd; (fd = accept(*(int *)context, NULL, NULL)) >= 0; close(fd)) {
        char got[4096];
        size_t n = 0;
        for (ssize_t more; n < sizeof got - 1 && (more = read(fd, got + n, sizeof got - 1 - n)) > 0;) {
            n += (size_t)more;
            got[n] = '\0';
            if (strstr(got, "\r\n\r\n") && got[n - 1] == '}')
                break;
        }
        if (!strncmp(got, "POST /v1/chat/completions?a=1 HTTP", 34) && write(fd, reply, sizeof reply - 1) < 0)
            break;
    }
    return NULL;
}

static void load_two(uint64_t *ret_completed, uint64_t *ret_failed)
{
    char url[80];
    snprintf(url, sizeof url, "http://two.test:%d/v1?a=1", ntohs(port));
    const char *words[] = {"llmload", "--url", url, "-n", "3", "-c", "1", "--no-stream", "--connect-timeout", "2s", "-q", NULL};
    char **argv = (char **)(uintptr_t)words;
    struct opt_value values[LOAD_ROWS];
    struct opt_set set = {.rows = load_rows, .count = LOAD_ROWS, .values = values};
    struct arena arena;
    struct load load;
    struct prompt_source *prompts = NULL;
    struct outcome o;
    struct err err = {0};
    int next;
    arena_init(&arena, 8 << 20);
    opt_defaults(&set, getenv);
    if (opt_parse(&set, 11, argv, &next, &err) < 0 || load_read(&load, &set, &arena, &err) < 0 ||
        prompts_open(&prompts, &set, &load, &err) < 0 || engine_run(&o, &load, prompts, NULL, NULL, &err) < 0)
        fail_msg("%s", err.text);
    *ret_completed = o.last.completed;
    *ret_failed = o.last.failed;
    outcome_deinit(&o);
    prompts->close(prompts);
    opt_deinit(&set);
    arena_deinit(&arena);
}

static void a_silent_address_is_passed_over(void **state)
{
    int fill[4], silent = -1, real = -1;
    uint64_t completed, failed;
    pthread_t thread;
    (void)state;
    for (int i = 0; i < 50 && silent < 0; i++) { /* a port that is free at both */
        port = 0;
        if (real >= 0)
            close(real);
        real = listener(1, 16);
        silent = listener(2, 0);
    }
    assert_true(real >= 0 && silent >= 0);
    struct sockaddr_in a = loopback(2);
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) { /* a full queue: the kernel answers no more */
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(fill[i], (struct sockaddr *)&a, sizeof a);
    }
    assert_int_equal(pthread_create(&thread, NULL, serve, &real), 0);
    silent_tries = 0;
    load_two(&completed, &failed);
    assert_int_equal(completed, 3);
    assert_int_equal(failed, 0);
    assert_int_equal(silent_tries, 1); /* what answered is tried first from then on */
    shutdown(real, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(real);
    close(silent);
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++)
        close(fill[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(urls_are_taken_apart), cmocka_unit_test(services_elsewhere),
                                       cmocka_unit_test(a_silent_address_is_passed_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
