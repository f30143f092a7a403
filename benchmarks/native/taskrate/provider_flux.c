/* provider_flux.c: flux submit, a job for each task, or all at once by --cc (--array). Tried with flux-core 0.88. */
#include "benchmarks/native/taskrate/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum provider_how flux_how(const struct bench *b)
{
    return b->set.array ? HOW_BULK : HOW_DETACHED;
}

static void flux_identity(struct buf *to)
{
    const char *uri = getenv("FLUX_URI");
    buf_printf(to, "%s", uri ? uri : "-");
}

/* "STATE NNODES NCORES": cores that are up. */
static int flux_begin(struct bench *b, struct err *err)
{
    CLEANUP_BUF struct buf out, version;
    uint64_t n;
    buf_init(&out, 65536);
    buf_init(&version, 65536);
    if (queue_ask(b, &out, err, "flux", "resource", "list", "-n", "-s", "up", "-o", "{ncores}", NULL) < 0)
        return err_wrap(err, "cannot read Flux's resources, so nothing was submitted");
    struct str text = buf_text(&out), line = str_trim(str_cut(&text, '\n'));
    if (!str_uint(line, &n) || !n)
        return err_set(err, ERR_REMOTE, "Flux has no cores that are up; nothing was submitted");
    b->slots = (unsigned)n;
    b->slots_from = "cores that are up (flux resource list)";
    if (queue_ask(b, &version, NULL, "flux", "version", NULL) == 0) {
        text = buf_text(&version);
        while (text.p) {
            line = str_cut(&text, '\n');
            struct str name = str_trim(str_cut(&line, ':'));
            if (line.p)
                bench_fact(b, arena_dup(&b->arena, name.p, name.n) ? arena_printf(&b->arena, "flux." STR_FMT, STR_ARG(name)) : "flux",
                           str_trim(line));
        }
        b->scheduler_version = bench_fact_of(b, "flux.libflux-core");
    }
    buf_clear(&out);
    if (queue_ask(b, &out, NULL, "flux", "queue", "status", NULL) == 0) {
        bench_fact(b, "flux.queue", str_trim(buf_text(&out)));
        if (str_has(buf_text(&out), "submission is disabled"))
            return err_set(err, ERR_REMOTE, "Flux's queue accepts no jobs (submission is disabled); nothing was submitted");
    }
    return 0;
}

static size_t flux_chunk(const struct bench *b)
{
    (void)b;
    return 10000;
}

static int flux_line(struct bench *b, struct submission *s, struct err *err)
{
    const char *name = arena_printf(s->arena, "--job-name=%s", b->tag);
    const char *ids = arena_printf(s->arena, "--cc=0-%zu", s->count - 1);
    if (!name || !ids || queue_line(b, s, err, "flux", "submit", name, "--ntasks=1", "--output=none", NULL) < 0)
        return -1;
    if (b->set.array && words_add(&s->argv, ids, err) < 0)
        return -1;
    if (words_join(&s->argv, &b->set.extra, err) < 0)
        return -1;
    return provider_task(b, s, s->first, b->set.array ? "FLUX_JOB_CC" : NULL, 0, &s->argv, err);
}

/* Counts Flux's jobs of this run; ret->known stays false where the query fails. */
static void flux_ask(struct bench *b, struct queue *ret)
{
    CLEANUP_BUF struct buf out;
    const char *name = arena_printf(&b->arena, "--name=%s", b->tag);
    buf_init(&out, (size_t)4 << 20);
    *ret = (struct queue){0};
    if (!name ||
        queue_ask(b, &out, NULL, "flux", "jobs", "-n", "-c", "0", "-f", "pending,running", name, "-o", "{status_abbrev}", NULL) < 0)
        return;
    ret->known = true;
    for (struct str rest = buf_text(&out); rest.n;) {
        struct str state = str_trim(str_cut(&rest, '\n'));
        if (str_is(state, "R") || str_is(state, "C"))
            ret->running++;
        else if (state.n) {
            ret->waiting++;
            snprintf(ret->why, sizeof ret->why, "state %.*s", state.n < 20 ? (int)state.n : 20, state.p);
        }
    }
}

/* Ends the jobs of this name. Returns 0, or another value with *err. */
static int flux_cancel(const char *tag, struct err *err)
{
    char name[64], pattern[64];
    CLEANUP_BUF struct buf out;
    buf_init(&out, 1 << 20);
    snprintf(name, sizeof name, "--name=%s", tag);
    snprintf(pattern, sizeof pattern, "name:%s", tag);
    if (queue_ask(NULL, &out, err, "flux", "jobs", "-n", "-c", "0", "-f", "pending,running", name, "-o", "{id}", NULL) < 0)
        return -1;
    if (!queue_lines(buf_text(&out)))
        return 0;
    buf_clear(&out);
    if (queue_ask(NULL, &out, err, "flux", "pkill", pattern, NULL) < 0)
        return -1;
    return queue_ask(NULL, &out, err, "flux", "jobs", "-n", "-c", "0", "-f", "pending", name, "-o", "{id}", NULL);
}

const struct task_provider provider_flux = {.name = "flux",
                                            .summary = "flux submit for each task; --array: one flux submit --cc for many tasks",
                                            .path = "client -> flux submit -> broker (ingest, scheduler) -> job shell -> process",
                                            .live = true,
                                            .remote = true,
                                            .cap = 1000,
                                            .rate = 50,
                                            .clients = 4,
                                            .tasks = 100,
                                            .chain = 3,
                                            .how = flux_how,
                                            .begin = flux_begin,
                                            .line = flux_line,
                                            .chunk = flux_chunk,
                                            .ask = flux_ask,
                                            .identity = flux_identity,
                                            .cancel = flux_cancel};
