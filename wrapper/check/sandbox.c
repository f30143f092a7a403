/* sandbox.c: work on a foreign run in a child process of limited time and memory, which sends its
 * findings through a pipe. */
#include "check/verify.h"

#include "base/child_work.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>

enum {
    RUN_S = 20, /* processor seconds for one run */
    WALL_S = 3 * RUN_S,
    ALL_S = 120, /* seconds of all runs of one check */
    REPLY_MAX = 256 << 10,
    MEMORY_MAX = 2 << 10 /* MiB */
};

/* Writes a finding as a line "id TAB file TAB text" to the pipe; file and text are cut to 1,000
 * bytes each. Ignores a failure. */
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

struct sandbox_call {
    struct run_check *check;
    const struct sandbox_work *what;
};

/* In the child process: does the work and writes each finding as a line to out, differences as
 * CHECK_TRUTH. Always 0. */
static int sandbox_work_here(void *context, int out)
{
    const struct sandbox_call *call = context;
    struct verify_state t = {.tell = sandbox_report, .context = &out, .differs = CHECK_TRUTH};
    call->what->work(&t, call->check, call->what->context);
    return 0;
}

/* Reports the findings of the child process's lines. Lines that are none are ignored. */
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
    struct sandbox_call call = {r, what};
    struct child_work child;
    const struct child_work_plan plan = {
        .run = sandbox_work_here, .context = &call, .keep_all = true, .max = REPLY_MAX, .cpu_s = RUN_S, .memory_mib = MEMORY_MAX};
    int64_t begin = clock_mono_ns();
    if (r->k->apart_s > ALL_S) {
        run_found(r, CHECK_LIMIT, what->file, 0, "this check has computed claimed values for %d s; those of this run were not checked",
                  ALL_S);
        return;
    }
    if (child_work_start(&child, &plan) < 0) {
        run_found(r, CHECK_LIMIT, what->file, 0, "%s: cannot start a child process: %s", what->what, err_words(errno));
        child_work_deinit(&child);
        return;
    }
    bool done = child_work_wait(&child, begin + (int64_t)WALL_S * 1000000000);
    if (!done)
        child_work_kill(&child);
    int status = child_work_reap(&child, -1);
    r->k->apart_s += (double)(clock_mono_ns() - begin) / 1e9;
    sandbox_relay(r, buf_text(&child.text));
    if (!done)
        run_found(r, what->endless, what->file, 0, "%s did not end within %d s", what->what, WALL_S);
    else if (status != 0)
        run_found(r, what->endless, what->file, 0, "%s failed: it needed more than %d s of processor time or %d MiB, or crashed",
                  what->what, RUN_S, MEMORY_MAX);
    child_work_deinit(&child);
}
