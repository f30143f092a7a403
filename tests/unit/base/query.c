/* ask.c: a question to another program ends by its answer, its length, its time or the program's own end, whatever the program leaves behind. */
#include "base/query.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

extern char **environ;

/* sh -c script, asked to its end; 60 s are for ever here. */
static struct query answer(const char *script, size_t max, int64_t limit_ms)
{
    struct query a;
    struct err err = {0};
    char *words[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL};
    assert_int_equal(query_start(&a, words, environ, max, limit_ms, 0, &err), 0);
    query_wait(&a, 120000);
    return a;
}

static void each_end(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        size_t max;
        int64_t limit_ms;
        enum query_end end;
        int status;
        const char *text, *why;
    } rows[] = {
        {"echo yes; echo no >&2; exit 3", 100, 60000, QUERY_DONE, 3, "yes\n", "no\n"},
        {"exec >&- 2>&-; sleep 0.1; exit 4", 100, 60000, QUERY_DONE, 4, "", ""},
        {"printf 12345", 5, 60000, QUERY_DONE, 0, "12345", ""},
        {"printf 123456", 5, 60000, QUERY_LONG, 0, "12345", ""},
        {"head -c 3000000 /dev/zero >&2; echo said", 100, 60000, QUERY_DONE, 0, "said\n", NULL},
        {"exec head -c 300000000 /dev/zero", 1000, 60000, QUERY_LONG, 0, NULL, ""},
        {"echo first; exec sleep 100", 100, 300, QUERY_LATE, 0, NULL, ""},
        {"kill -STOP $$", 100, 300, QUERY_LATE, 0, "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct query a = answer(rows[i].script, rows[i].max, rows[i].limit_ms);
        assert_int_equal(a.end, rows[i].end);
        assert_int_equal(a.pid, 0);
        if (a.end == QUERY_DONE)
            assert_int_equal(WEXITSTATUS(a.status), rows[i].status);
        if (rows[i].text)
            assert_string_equal(a.text.p ? a.text.p : "", rows[i].text);
        if (rows[i].why)
            assert_string_equal(a.why.p ? a.why.p : "", rows[i].why);
        query_close(&a);
    }
}

/* As a site's own scontrol that starts a logger. */
static void who_keeps_the_pipe_is_not_waited_for(void **state)
{
    (void)state;
    int64_t pid;
    struct query a = answer("setsid sleep 100 & echo $!; head -c 200000 /dev/zero | tr '\\0' x", 1 << 20, 60000);
    assert_int_equal(a.end, QUERY_DONE);
    struct str rest = buf_text(&a.text), first = str_cut(&rest, '\n');
    assert_int_equal(rest.n, 200000);
    assert_true(str_int(first, &pid) && pid > 1);
    kill((pid_t)pid, SIGKILL);
    query_close(&a);
}

static void no_such_program(void **state)
{
    (void)state;
    struct query a;
    struct err err = {0};
    char *words[] = {(char *)"no-such-program-anywhere", NULL};
    assert_int_equal(query_start(&a, words, environ, 100, 60000, 0, &err), 0);
    assert_int_equal(query_wait(&a, 120000), QUERY_DONE);
    assert_int_equal(WEXITSTATUS(a.status), 127);
    query_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_end), cmocka_unit_test(who_keeps_the_pipe_is_not_waited_for), cmocka_unit_test(no_such_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
