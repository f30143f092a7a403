/* slurm_batch.c: an sbatch for each task. */
#include "benchmarks/native/taskrate/slurm.h"

static enum provider_how slurm_batch_how(const struct bench *b)
{
    (void)b;
    return HOW_DETACHED;
}

static int slurm_batch_begin(struct bench *b, struct err *err)
{
    return slurm_begin(b, slurm_all_tasks(b), err);
}

static size_t slurm_batch_chunk(const struct bench *b)
{
    (void)b;
    return 1;
}

static int slurm_batch_line(struct bench *b, struct submission *s, struct err *err)
{
    buf_puts(s->input, "#!/bin/sh\nexec ");
    if (provider_task_line(b, s, s->first, NULL, 0, s->input, err) < 0)
        return -1;
    buf_putc(s->input, '\n');
    return slurm_sbatch(b, s, err);
}

const struct task_provider provider_slurm_batch = {.name = "slurm-batch",
                                                   .summary = "an sbatch for each task: the complete way through the controller",
                                                   .path = "client -> sbatch -> slurmctld -> slurmd -> slurmstepd -> sh -> process",
                                                   .live = true,
                                                   .remote = true,
                                                   .cap = 1000,
                                                   .rate = 50,
                                                   .clients = 4,
                                                   .tasks = 100,
                                                   .chain = 3,
                                                   .how = slurm_batch_how,
                                                   .begin = slurm_batch_begin,
                                                   .line = slurm_batch_line,
                                                   .chunk = slurm_batch_chunk,
                                                   .ask = slurm_ask,
                                                   .count = slurm_count,
                                                   .identity = slurm_identity,
                                                   .cancel = slurm_cancel};
