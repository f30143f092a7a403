/* child.c: a helper program, started and ended; see child.h. */
#include "benchmarks/native/llmload/child.h"

#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READY_MS = 10000, END_MS = 5000, TURN_MS = 10, WORDS_MAX = 30, ANSWER_MAX = 4096 };

extern char **environ;

static void path_beside_self(char *to, size_t size, const char *name)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    if ((size_t)snprintf(to, size, "%s/%s", self, name) >= size || access(to, X_OK) < 0)
        snprintf(to, size, "%s", name);
}

/* Waits for the child's first line, READY_MS at most. Returns 0, or -1 with *err. */
static int child_read_line(struct child_process *c, const char *name, struct err *err)
{
    int64_t until = clock_mono_ns() + READY_MS * INT64_C(1000000);
    while (!str_has(buf_text(&c->query.text), "\n")) {
        if (query_wait(&c->query, TURN_MS) != QUERY_RUNS)
            return err_set(err, ERR_SYSTEM, "cannot start %s: expected it next to llmload or in PATH", name);
        if (clock_mono_ns() >= until)
            return err_set(err, ERR_SYSTEM, "%s did not get ready within %d s", name, READY_MS / 1000);
    }
    struct str rest = buf_text(&c->query.text), line = str_cut(&rest, '\n');
    snprintf(c->line, sizeof c->line, STR_FMT, STR_ARG(line));
    return 0;
}

int child_start(struct child_process *ret, char *const argv[], struct err *err)
{
    char path[4200], *own[WORDS_MAX + 1] = {path};
    *ret = (struct child_process){.query = QUERY_NONE};
    path_beside_self(path, sizeof path, argv[0]);
    for (size_t i = 1; i < WORDS_MAX && argv[i]; i++)
        own[i] = argv[i];
    int status = query_start(&ret->query, own, environ, ANSWER_MAX, 0, QUERY_NO_NICE, err);
    if (status == 0)
        status = child_read_line(ret, argv[0], err);
    if (status < 0)
        query_close(&ret->query);
    return status;
}

void child_end(struct child_process *c)
{
    if (c->query.pid > 0)
        kill(c->query.pid, SIGTERM);
    query_wait(&c->query, END_MS);
    query_close(&c->query);
}
