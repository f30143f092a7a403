/* provider_pbs.c: qsub for each task, or a job array (--array), of OpenPBS and PBS Pro. Not yet tried on a live system. */
#include "benchmarks/native/taskrate/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum provider_how pbs_how(const struct bench *b)
{
    return b->set.array ? HOW_BULK : HOW_DETACHED;
}

static void pbs_identity(struct buf *to)
{
    const char *server = getenv("PBS_DEFAULT"), *other = getenv("PBS_SERVER");
    buf_printf(to, "%s", server ? server : other ? other : "-");
}

/* The entries of `qstat -Bf` that limit the task rate. */
static const char *const server_keys[] = {"server_state",        "scheduling",
                                          "scheduler_iteration", "max_array_size",
                                          "max_queued",          "max_run",
                                          "max_job_sequence_id", "job_history_enable",
                                          "pbs_version",         "eligible_time_enable",
                                          "backfill_depth",      "resources_assigned.ncpus",
                                          "total_jobs"};

static void pbs_read_attributes(struct bench *b, struct str text)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n'), name = str_trim(str_cut(&line, '='));
        for (size_t i = 0; line.p && i < sizeof server_keys / sizeof server_keys[0]; i++)
            if (str_is(name, server_keys[i]))
                bench_fact(b, arena_printf(&b->arena, "pbs.%s", server_keys[i]), str_trim(line));
    }
}

/* Free and used processors of the nodes that are not down or offline. */
static size_t pbs_count_processors(struct str text)
{
    size_t all = 0;
    bool usable = false;
    while (text.p) {
        struct str line = str_cut(&text, '\n'), name = str_trim(str_cut(&line, '='));
        uint64_t n;
        if (!line.p)
            continue;
        line = str_trim(line);
        if (str_is(name, "state"))
            usable = !str_has(line, "down") && !str_has(line, "offline") && !str_has(line, "unknown");
        if (usable && str_is(name, "resources_available.ncpus") && str_uint(line, &n))
            all += (size_t)n;
    }
    return all;
}

/* Reads the server's configuration and its nodes. -1 with err, which states that nothing was
 * submitted. */
static int pbs_begin(struct bench *b, struct err *err)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, (size_t)4 << 20);
    queue_untried(b);
    if (queue_ask(b, &out, err, "qstat", "-Bf", NULL) < 0)
        return err_wrap(err, "cannot read the PBS server's configuration, so nothing was submitted");
    pbs_read_attributes(b, buf_text(&out));
    b->scheduler_version = bench_fact_of(b, "pbs.pbs_version");
    const char *scheduling = bench_fact_of(b, "pbs.scheduling");
    if (scheduling && strcmp(scheduling, "False") == 0)
        return err_set(err, ERR_REMOTE,
                       "the PBS server does not schedule now (scheduling = False): no job would start; nothing was submitted");
    buf_clear(&out);
    if (queue_ask(b, &out, err, "pbsnodes", "-a", NULL) < 0)
        return err_wrap(err, "cannot read the PBS server's nodes, so nothing was submitted");
    b->slots = (unsigned)pbs_count_processors(buf_text(&out));
    b->slots_from = "processors of nodes that are up (pbsnodes -a)";
    return b->slots ? 0 : err_set(err, ERR_REMOTE, "no node of the PBS server accepts jobs; nothing was submitted");
}

static size_t pbs_chunk(const struct bench *b)
{
    uint64_t most;
    return str_uint(str_of(bench_fact_of(b, "pbs.max_array_size")), &most) && most ? (size_t)most : 10000;
}

/* An array has at least two tasks there; one alone is a plain job. */
static int pbs_line(struct bench *b, struct submission *s, struct err *err)
{
    bool array = b->set.array && s->count > 1;
    const char *range = arena_printf(s->arena, "0-%zu", s->count - 1);
    if (!range || queue_line(b, s, err, "qsub", "-N", b->tag, "-o", "/dev/null", "-e", "/dev/null", "-r", "n", NULL) < 0)
        return -1;
    if (array && words_addv(&s->argv, err, "-J", range, NULL) < 0)
        return -1;
    if (words_join(&s->argv, &b->set.extra, err) < 0)
        return -1;
    buf_puts(s->input, "#!/bin/sh\nexec ");
    if (provider_task_line(b, s, s->first, array ? "PBS_ARRAY_INDEX" : NULL, 0, s->input, err) < 0)
        return -1;
    buf_putc(s->input, '\n');
    return 0;
}

static void pbs_ask(struct bench *b, struct queue *ret)
{
    CLEANUP_BUF struct buf out, held;
    buf_init(&out, (size_t)4 << 20);
    buf_init(&held, (size_t)4 << 20);
    *ret = (struct queue){0};
    if (queue_ask(b, &out, NULL, "qselect", "-N", b->tag, NULL) < 0)
        return;
    ret->known = true;
    ret->waiting = queue_lines(buf_text(&out));
    if (queue_ask(b, &held, NULL, "qselect", "-N", b->tag, "-s", "H", NULL) == 0 && queue_lines(buf_text(&held)))
        snprintf(ret->why, sizeof ret->why, "%zu are held", queue_lines(buf_text(&held)));
}

/* Deletes the jobs of this name. Returns 0, or another value with *err at the first one that is
 * neither deleted nor finished. */
static int pbs_cancel(const char *tag, struct err *err)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, (size_t)4 << 20);
    if (queue_ask(NULL, &out, err, "qselect", "-N", tag, NULL) < 0)
        return -1;
    for (struct str rest = buf_text(&out); rest.n;) {
        struct str id = str_trim(str_cut(&rest, '\n'));
        char text[256];
        if (!id.n || id.n >= sizeof text || id.p[0] == '-')
            continue;
        CLEANUP_BUF struct buf no;
        buf_init(&no, 65536);
        snprintf(text, sizeof text, STR_FMT, STR_ARG(id));
        if (queue_ask(NULL, &no, err, "qdel", text, NULL) < 0 && !str_has(str_of(err->text), "finished"))
            return -1;
    }
    return 0;
}

const struct task_provider provider_pbs = {.name = "pbs",
                                           .summary = "qsub for each task; --array: a job array (not yet tried on a live system)",
                                           .path = "client -> qsub -> server -> scheduler -> mom -> sh -> process",
                                           .remote = true,
                                           .cap = 1000,
                                           .rate = 10,
                                           .clients = 2,
                                           .tasks = 100,
                                           .chain = 3,
                                           .how = pbs_how,
                                           .begin = pbs_begin,
                                           .line = pbs_line,
                                           .chunk = pbs_chunk,
                                           .ask = pbs_ask,
                                           .identity = pbs_identity,
                                           .cancel = pbs_cancel};
