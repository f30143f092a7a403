/* provider_lsf.c: bsub for each task, or a job array (--array). Not yet tried on a live system. */
#include "benchmarks/native/taskrate/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum provider_how lsf_how(const struct bench *b)
{
    return b->set.array ? HOW_BULK : HOW_DETACHED;
}

static void lsf_identity(struct buf *to)
{
    const char *conf = getenv("LSF_ENVDIR");
    buf_printf(to, "%s", conf ? conf : "-");
}

/* "host STATUS JL/U MAX NJOBS RUN …": job slots of hosts that are ok or merely full. */
static size_t job_slots(struct str text)
{
    size_t all = 0;
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        str_word(&line);
        struct str status = str_word(&line);
        str_word(&line);
        struct str max = str_word(&line);
        uint64_t n;
        if ((str_is(status, "ok") || str_is(status, "closed") || str_is(status, "closed_Full")) && str_uint(max, &n))
            all += (size_t)n;
    }
    return all;
}

/* "    MAX_JOB_ARRAY_SIZE = 1000": records those of `bparams -a` that limit the task rate. */
static void lsf_read_parameters(struct bench *b, struct str text)
{
    static const char *const keys[] = {
        "MBD_SLEEP_TIME", "SBD_SLEEP_TIME", "JOB_SCHEDULING_INTERVAL", "JOB_ACCEPT_INTERVAL", "MAX_JOB_ARRAY_SIZE",         "MAX_JOB_NUM",
        "MAX_PEND_JOBS",  "CLEAN_PERIOD",   "JOB_DEP_LAST_SUB",        "MAX_USER_PRIORITY",   "PEND_REASON_UPDATE_INTERVAL"};
    while (text.p) {
        struct str line = str_cut(&text, '\n'), name = str_trim(str_cut(&line, '='));
        for (size_t i = 0; line.p && i < sizeof keys / sizeof keys[0]; i++)
            if (str_is(name, keys[i]))
                bench_fact(b, arena_printf(&b->arena, "lsf.%s", keys[i]), str_trim(line));
    }
}

/* Reads slots, parameters and version of LSF. Returns 0, or another value with *err, without slots
 * too. */
static int lsf_begin(struct bench *b, struct err *err)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, (size_t)1 << 20);
    queue_untried(b);
    if (queue_ask(b, &out, err, "bhosts", "-w", NULL) < 0)
        return err_wrap(err, "cannot read LSF's hosts, so nothing was submitted");
    b->slots = (unsigned)job_slots(buf_text(&out));
    b->slots_from = "job slots of hosts that are ok (bhosts)";
    if (!b->slots)
        return err_set(err, ERR_REMOTE, "no host of LSF accepts jobs; nothing was submitted");
    buf_clear(&out);
    if (queue_ask(b, &out, NULL, "bparams", "-a", NULL) == 0)
        lsf_read_parameters(b, buf_text(&out));
    buf_clear(&out);
    if (queue_ask(b, &out, NULL, "lsid", NULL) == 0) {
        struct str text = buf_text(&out);
        bench_fact(b, "lsf.version", str_cut(&text, '\n'));
        b->scheduler_version = bench_fact_of(b, "lsf.version");
    }
    return 0;
}

static size_t lsf_chunk(const struct bench *b)
{
    uint64_t most;
    return str_uint(str_of(bench_fact_of(b, "lsf.MAX_JOB_ARRAY_SIZE")), &most) && most ? (size_t)most : 1000;
}

/* The command is one argument that LSF passes to a shell; indices begin with 1. */
static int lsf_line(struct bench *b, struct submission *s, struct err *err)
{
    const char *name = b->set.array ? arena_printf(s->arena, "%s[1-%zu]", b->tag, s->count) : b->tag;
    CLEANUP_BUF struct buf task;
    buf_init(&task, (size_t)1 << 20);
    if (!name || queue_line(b, s, err, "bsub", "-J", name, "-n", "1", "-o", "/dev/null", "-e", "/dev/null", "-rn", NULL) < 0 ||
        words_join(&s->argv, &b->set.extra, err) < 0 ||
        provider_task_line(b, s, s->first, b->set.array ? "LSB_JOBINDEX" : NULL, 1, &task, err) < 0)
        return -1;
    const char *command = arena_dup(s->arena, task.p, task.n);
    return command ? words_add(&s->argv, command, err) : err_memory(err, "a command");
}

/* Counts LSF's jobs of this run; ret->known stays false where the query fails. */
static void lsf_ask(struct bench *b, struct queue *ret)
{
    CLEANUP_BUF struct buf out;
    struct err err = {0};
    buf_init(&out, (size_t)4 << 20);
    *ret = (struct queue){0};
    int rc = queue_ask(b, &out, &err, "bjobs", "-noheader", "-J", b->tag, "-o", "stat", NULL);
    ret->known = rc == 0 || str_has(str_of(err.text), "is not found") || str_has(str_of(err.text), "No unfinished job");
    for (struct str rest = buf_text(&out); rest.n;) {
        struct str state = str_trim(str_cut(&rest, '\n'));
        bool waits = str_is(state, "PEND") || str_is(state, "PSUSP") || str_is(state, "USUSP") || str_is(state, "SSUSP");
        ret->waiting += waits;
        ret->running += str_is(state, "RUN") || str_is(state, "PROV");
        if (waits)
            snprintf(ret->why, sizeof ret->why, "state %.*s", state.n < 20 ? (int)state.n : 20, state.p);
    }
}

static int lsf_cancel(const char *tag, struct err *err)
{
    CLEANUP_BUF struct buf out;
    struct err no = {0};
    buf_init(&out, 1 << 20);
    if (queue_ask(NULL, &out, &no, "bkill", "-J", tag, "0", NULL) == 0 || str_has(str_of(no.text), "is not found") ||
        str_has(str_of(no.text), "No matching job") || str_has(str_of(no.text), "No unfinished job"))
        return 0;
    return err_set(err, ERR_REMOTE, "%s", no.text);
}

const struct task_provider provider_lsf = {.name = "lsf",
                                           .summary = "bsub for each task; --array: a job array (not yet tried on a live system)",
                                           .path = "client -> bsub -> mbatchd -> mbschd -> sbatchd -> sh -> process",
                                           .remote = true,
                                           .cap = 1000,
                                           .rate = 10,
                                           .clients = 2,
                                           .tasks = 100,
                                           .chain = 3,
                                           .how = lsf_how,
                                           .begin = lsf_begin,
                                           .line = lsf_line,
                                           .chunk = lsf_chunk,
                                           .ask = lsf_ask,
                                           .identity = lsf_identity,
                                           .cancel = lsf_cancel};
