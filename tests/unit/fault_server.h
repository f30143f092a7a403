/* fault_server.h: tests/server/fault-server as a child of a unit test, driven through its own control addresses. */
#ifndef UNIT_FAULT_SERVER_H
#define UNIT_FAULT_SERVER_H
#include "base/http.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fault_server {
    pid_t pid;
    unsigned port;
    char uri[60];
    struct http *control;
};

/* False: it was not built (its library is missing). argv ends in NULL, without the program's name. */
static bool fault_server_start(struct fault_server *s, const char *const *arguments)
{
    char path[4000];
    char *argv[20] = {path};
    int out[2];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 40);
    assert_true(n > 0);
    path[n] = 0;
    for (int i = 0; i < 3; i++) /* tests/unit/LAYER/NAME -> tests/server */
        *strrchr(path, '/') = 0;
    size_t at = strlen(path);
    snprintf(path + at, sizeof path - at, "/server/fault-server");
    if (access(path, X_OK))
        return false;
    for (int i = 0; arguments && arguments[i] && i < 18; i++)
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    assert_int_equal(pipe(out), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        dup2(out[1], 1);
        close(out[0]);
        close(out[1]);
        execv(path, argv);
        _exit(127);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    assert_int_equal(fscanf(f, "port %u", &s->port), 1);
    fclose(f);
    snprintf(s->uri, sizeof s->uri, "http://127.0.0.1:%u", s->port);
    struct http_config config = {.cancel_fd = -1};
    assert_int_equal(http_new(&s->control, &config, NULL), 0);
    return true;
}

static void fault_server_stop(struct fault_server *s)
{
    http_free(s->control);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

/* What it shall do wrong from now on ("" nothing); its log begins anew. */
static inline void fault_script(struct fault_server *s, const char *script)
{
    char url[100];
    struct http_reply r;
    snprintf(url, sizeof url, "%s/fault/script", s->uri);
    struct http_request q = {.method = "POST", .url = url, .body = str_of(script)};
    assert_int_equal(http_do(s->control, &q, &r, NULL), 0);
    assert_int_equal(r.status, 200);
    http_reply_deinit(&r);
}

/* A line for each request since. */
static inline void fault_log(struct fault_server *s, struct buf *to)
{
    char url[100];
    struct http_reply r;
    snprintf(url, sizeof url, "%s/fault/log", s->uri);
    struct http_request q = {.method = "GET", .url = url};
    assert_int_equal(http_do(s->control, &q, &r, NULL), 0);
    buf_init(to, 16 << 20);
    buf_puts(to, "");
    buf_str(to, buf_text(&r.body));
    http_reply_deinit(&r);
}
#endif
