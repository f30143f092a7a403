/* slurm_step.c: srun steps in an allocation: the surrounding job's, or one that taskrate makes. */
#include "base/str.h"
#include "benchmarks/native/taskrate/command.h"
#include "benchmarks/native/taskrate/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum provider_how slurm_step_how(const struct bench *b)
{
    (void)b;
    return HOW_ATTACHED;
}

/* "salloc: Granted job allocation 12" */
static bool slurm_step_read_grant(struct str text, char *ret, size_t size)
{
    static const char words[] = "Granted job allocation ";
    ptrdiff_t at = str_find(text, STR("Granted job allocation "));
    uint64_t id;
    if (at < 0)
        return false;
    struct str rest = str_sub(text, (size_t)at + sizeof words - 1, text.n), word = str_word(&rest);
    if (!str_uint(word, &id))
        return false;
    snprintf(ret, size, "%llu", (unsigned long long)id);
    return true;
}

/* Makes an allocation that stays until it is cancelled. salloc prints its messages on standard
 * error: a shell joins the two. */
static int slurm_step_allocate(struct bench *b, struct err *err)
{
    struct argument_words argv = {.n = 0};
    char tasks[32], name[80];
    CLEANUP_BUF struct buf out;
    unsigned want = b->set.slots ? b->set.slots : b->slots;
    buf_init(&out, 65536);
    snprintf(tasks, sizeof tasks, "--ntasks=%u", want);
    snprintf(name, sizeof name, "--job-name=%s", b->tag);
    if (words_addv(&argv, err, "/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", "salloc", "--no-shell", name, tasks, "--immediate=60", NULL) <
            0 ||
        words_join(&argv, &b->set.extra, err) < 0)
        return -1;
    b->submitted = true;
    int rc = command_run(b, &argv, 90, &out, err);
    if (rc == 0 && slurm_step_read_grant(buf_text(&out), b->jobs, sizeof b->jobs)) {
        b->slots = want;
        b->slots_from = "tasks of an allocation that taskrate made";
        return 0;
    }
    CLEANUP_BUF struct buf plain;
    buf_init(&plain, 1024);
    buf_plain(&plain, str_trim(buf_text(&out)), 300);
    return err_set(err, ERR_REMOTE,
                   "salloc of %u task%s with --immediate=60 made no allocation: %s; start taskrate in an allocation, or use fewer --slots",
                   want, str_plural(want), plain.n ? plain.p : "no word");
}

/* Uses the allocation of this process, or makes one. Returns 0, or another value with *err. */
static int slurm_step_begin(struct bench *b, struct err *err)
{
    const char *job = getenv("SLURM_JOB_ID"), *tasks = getenv("SLURM_NTASKS"), *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");
    uint64_t n, most;
    if (slurm_begin(b, 0, err) < 0)
        return -1;
    size_t steps = slurm_all_tasks(b) / (b->set.width ? b->set.width : 1);
    if (str_uint(str_of(bench_fact_of(b, "MaxStepCount")), &most) && steps > most)
        return err_set(err, ERR_REMOTE, "this would create %zu steps, and a job may have %llu (MaxStepCount); use fewer --tasks", steps,
                       (unsigned long long)most);
    if (!job || !str_uint(str_of(job), &n))
        return slurm_step_allocate(b, err);
    snprintf(b->jobs, sizeof b->jobs, "%llu", (unsigned long long)n);
    if (str_uint(str_of(tasks), &n) && n) {
        b->slots = (unsigned)n;
        b->slots_from = "SLURM_NTASKS of the allocation";
    } else if ((n = slurm_count_processors(str_of(cpus)))) {
        b->slots = (unsigned)n;
        b->slots_from = "processors of the allocation's nodes";
    }
    return 0;
}

static size_t slurm_step_chunk(const struct bench *b)
{
    return b->set.width ? b->set.width : 1;
}

/* Makes the srun of one step. 0; -1 with err. */
static int slurm_step_line(struct bench *b, struct submission *s, struct err *err)
{
    const char *srun = command_path(b, "srun", err), *job, *tasks;
    if (!srun)
        return -1;
    job = arena_printf(s->arena, "--jobid=%s", b->jobs);
    tasks = arena_printf(s->arena, "--ntasks=%zu", s->count);
    if (!job || !tasks ||
        words_addv(&s->argv, err, srun, job, tasks, "--cpus-per-task=1", "--exact", "--mem=0", "--quiet", "--input=none",
                   "--output=/dev/null", "--error=/dev/null", NULL) < 0)
        return -1;
    if (s->count == 1 && words_add(&s->argv, "--nodes=1", err) < 0) /* a wide one uses as many nodes as it needs */
        return -1;
    return provider_task(b, s, s->first, s->count > 1 ? "SLURM_PROCID" : NULL, 0, &s->argv, err);
}

const struct task_provider provider_slurm_step = {.name = "slurm-step",
                                                  .summary = "an srun step for each task (or --width of them) in an allocation",
                                                  .path = "client -> srun -> slurmctld (step creation) -> slurmd -> slurmstepd -> process",
                                                  .live = true,
                                                  .remote = true,
                                                  .cap = 1000,
                                                  .rate = 50,
                                                  .calls = 2, /* what the allocation is, and a step in it */
                                                  .clients = 8,
                                                  .tasks = 50,
                                                  .chain = 10,
                                                  .how = slurm_step_how,
                                                  .begin = slurm_step_begin,
                                                  .line = slurm_step_line,
                                                  .chunk = slurm_step_chunk,
                                                  .count = slurm_count,
                                                  .identity = slurm_identity,
                                                  .cancel = slurm_cancel};
