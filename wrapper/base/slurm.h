/* slurm.h: what the numbers that Slurm assigns mean. */
#ifndef BASE_SLURM_H
#define BASE_SLURM_H
#include "base/str.h"

/* Returns whether the text (SLURM_STEP_ID) is the id of a step that srun started; NULL is none.
 * Batch, interactive and extern steps have ids from 0xfffffff0 on (4294967291 is "batch"), since
 * Slurm 26.05 written as signed numbers (-5). */
static inline bool slurm_is_step(const char *id)
{
    uint64_t step;
    return id && str_uint(str_of(id), &step) && step < 0xfffffff0u;
}
#endif
