/* slurm_array.c: one sbatch --array for many tasks. */
#include "base/str.h"
#include "benchmarks/native/taskrate/slurm.h"

static enum provider_how slurm_array_how(const struct bench *b)
{
    (void)b;
    return HOW_BULK;
}

static int slurm_array_begin(struct bench *b, struct err *err)
{
    uint64_t most;
    if (slurm_begin(b, slurm_all_tasks(b), err) < 0)
        return -1;
    if (str_uint(str_of(bench_fact_of(b, "MaxArraySize")), &most) && most < 2)
        return err_set(err, ERR_REMOTE, "this Slurm accepts no job arrays (MaxArraySize %llu); nothing was submitted",
                       (unsigned long long)most);
    return 0;
}

/* The largest index is MaxArraySize - 1. */
static size_t slurm_array_chunk(const struct bench *b)
{
    uint64_t most;
    return str_uint(str_of(bench_fact_of(b, "MaxArraySize")), &most) && most > 1 ? (size_t)most : 1000;
}

static int slurm_array_line(struct bench *b, struct submission *s, struct err *err)
{
    const char *array = arena_printf(s->arena, "--array=0-%zu", s->count - 1);
    buf_puts(s->input, "#!/bin/sh\nexec ");
    if (!array || provider_task_line(b, s, s->first, "SLURM_ARRAY_TASK_ID", 0, s->input, err) < 0)
        return -1;
    buf_putc(s->input, '\n');
    return slurm_sbatch(b, s, err) < 0 ? -1 : words_add(&s->argv, array, err);
}

const struct task_provider provider_slurm_array = {.name = "slurm-array",
                                                   .summary = "one sbatch --array for many tasks: one call, then as slurm-batch",
                                                   .path = "client -> sbatch --array -> slurmctld -> slurmd -> slurmstepd -> sh -> process",
                                                   .live = true,
                                                   .remote = true,
                                                   .cap = 1000,
                                                   .rate = 50,
                                                   .clients = 1,
                                                   .tasks = 100,
                                                   .chain = 3,
                                                   .how = slurm_array_how,
                                                   .begin = slurm_array_begin,
                                                   .line = slurm_array_line,
                                                   .chunk = slurm_array_chunk,
                                                   .ask = slurm_ask,
                                                   .count = slurm_count,
                                                   .identity = slurm_identity,
                                                   .cancel = slurm_cancel};
