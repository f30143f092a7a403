/* sandbox.c: work on a foreign run in a child process of limited time and memory, which sends its
 * findings through a pipe. */
#include "check/verify.h"

#include "base/apart.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RUN_S = 20, /* processor seconds for one run; wall time is three times that */
    ALL_S = 120, /* seconds of all runs of one check */
    REPLY_MAX = 256 << 10,
    MEMORY_MAX = 2 << 10 /* MiB */
};

static void sandbox_report(void *context, enum check_id id, const char *file, const char *text)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 4096);
    buf_printf(&b, "%d\t%.1000s\t%.1000s", (int)id, file, text);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == '\n')
            b.p[i] = ' ';
    buf_putc(&b, '\n');
    fs_write_all(*(int *)context, b.p, b.n);
}

static void sandbox_limit(void)
{
    struct rlimit none = {0, 0}, cpu = {RUN_S, RUN_S};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__
    struct rlimit memory = {(rlim_t)MEMORY_MAX << 20, (rlim_t)MEMORY_MAX << 20};
    setrlimit(RLIMIT_AS, &memory);
#endif
}

static void sandbox_relay(struct run_check *r, struct str reply)
{
    while (reply.p && reply.n) {
        struct str line = str_cut(&reply, '\n'), id = str_cut(&line, '\t'), file = line.p ? str_cut(&line, '\t') : (struct str){"", 0};
        uint64_t number;
        if (!str_uint(id, &number) || number >= CHECK_KINDS || !line.p)
            continue;
        const char *path = arena_dup(&r->a, file.p, file.n);
        if (path)
            run_found(r, (enum check_id)number, path, 0, STR_FMT, STR_ARG(line));
    }
}

void sandbox_run(struct run_check *r, const struct sandbox_work *what)
{
    CLEANUP_BUF struct buf reply;
    int ends[2] = {-1, -1}, status = 0;
    int64_t begin = clock_mono_ns();
    buf_init(&reply, REPLY_MAX);
    if (r->k->apart_s > ALL_S) {
        run_found(r, CHECK_LIMIT, what->file, 0,
                  "working out what runs claim has taken %d s in this check; the figures of this one were not looked at", ALL_S);
        return;
    }
    pid_t pid = pipe(ends) < 0 ? -1 : fork();
    if (pid < 0) {
        run_found(r, CHECK_LIMIT, what->file, 0, "%s: cannot start a child process: %s", what->what, err_words(errno));
        fs_close(&ends[0]);
        fs_close(&ends[1]);
        return;
    }
    if (pid == 0) {
        close(ends[0]); /* so that writing fails once the parent has closed its end */
        struct verify_state t = {.tell = sandbox_report, .context = &ends[1], .differs = CHECK_TRUTH};
        sandbox_limit();
        what->work(&t, r, what->context);
        _exit(0);
    }
    close(ends[1]);
    bool done = apart_hear(ends[0], begin + (int64_t)3 * RUN_S * 1000000000, &reply);
    close(ends[0]);
    if (!done)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    r->k->apart_s += (double)(clock_mono_ns() - begin) / 1e9;
    sandbox_relay(r, buf_text(&reply));
    if (!done || !WIFEXITED(status) || WEXITSTATUS(status))
        run_found(r, what->endless, what->file, 0, "%s did not come to an end within %d s and %d MiB", what->what, RUN_S, MEMORY_MAX);
}
