/* The rank is read from what launchers really set: rows from live systems. */
#include "launch/rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void environments(void **state)
{
    (void)state;
    static const struct {
        const char *what, *env[12];
        int known;
        uint32_t rank, ranks;
        const char *source;
    } cases[] = {
        {"login shell", {"HOME=/root"}, 0, 0, 0, ""},
        {"srun step", {"SLURM_PROCID=3", "SLURM_STEP_ID=0", "SLURM_NTASKS=8", "SLURM_STEP_NUM_TASKS=4"}, 1, 3, 4, "SLURM_PROCID"},
        {"sbatch shell", {"SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_JOB_ID=7"}, 0, 0, 0, ""},
        {"sbatch shell, step id as a marker", {"SLURM_PROCID=0", "SLURM_STEP_ID=4294967291"}, 0, 0, 0, ""},
        {"the same since Slurm 26.05", {"SLURM_PROCID=0", "SLURM_STEP_ID=-5"}, 0, 0, 0, ""},
        {"interactive step", {"SLURM_PROCID=0", "SLURM_STEP_ID=4294967290"}, 0, 0, 0, ""},
        {"salloc shell", {"SLURM_JOB_ID=7", "SLURM_NTASKS=8"}, 0, 0, 0, ""},
        {"Open MPI in sbatch", {"SLURM_PROCID=0", "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=2"}, 1, 2, 4, "PMIX_RANK"},
        {"Open MPI in a step", {"SLURM_PROCID=0", "SLURM_STEP_ID=1", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}, 1, 1, 2, "OMPI_COMM_WORLD_RANK"},
        {"MPICH in a step", {"SLURM_PROCID=0", "SLURM_STEP_ID=1", "PMI_RANK=5", "PMI_SIZE=6"}, 1, 5, 6, "PMI_RANK"},
        {"Cray PALS", {"PALS_RANKID=9"}, 1, 9, 0, "PALS_RANKID"},
        {"MVAPICH2", {"MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=2"}, 1, 1, 2, "MV2_COMM_WORLD_RANK"},
        {"Flux", {"FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=2"}, 1, 1, 2, "FLUX_TASK_RANK"},
        {"jsrun", {"JSM_NAMESPACE_RANK=3", "JSM_NAMESPACE_SIZE=4"}, 1, 3, 4, "JSM_NAMESPACE_RANK"},
        {"aprun", {"ALPS_APP_PE=3"}, 1, 3, 0, "ALPS_APP_PE"},
        {"a step with PMIx", {"SLURM_PROCID=2", "SLURM_STEP_ID=1", "PMIX_RANK=2", "SLURM_STEP_NUM_TASKS=4"}, 1, 2, 4, "PMIX_RANK"},
        {"MPICH in a step with PMIx", {"SLURM_PROCID=0", "SLURM_STEP_ID=1", "PMIX_RANK=0", "PMI_RANK=3", "PMI_SIZE=4"}, 1, 3, 4, "PMI_RANK"},
        {"its first rank", {"SLURM_PROCID=0", "SLURM_STEP_ID=1", "PMIX_RANK=0", "PMI_RANK=0", "PMI_SIZE=4"}, 1, 0, 4, "PMIX_RANK"},
        {"MPICH of one rank in each task", {"SLURM_PROCID=2", "SLURM_STEP_ID=1", "PMIX_RANK=2", "PMI_RANK=0", "PMI_SIZE=1"}, 1, 0, 1, "PMI_RANK"},
        {"Open MPI in a step with PMI2", {"SLURM_PROCID=0", "SLURM_STEP_ID=1", "PMI_RANK=0", "PMIX_RANK=3", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"}, 1, 3, 4, "PMIX_RANK"},
        {"garbage", {"PMI_RANK=one", "PMIX_RANK=-1", "OMPI_COMM_WORLD_RANK="}, 0, 0, 0, ""},
        {"garbage before something good", {"PMIX_RANK=x", "PMI_RANK=1", "PMI_SIZE=2"}, 1, 1, 2, "PMI_RANK"},
        {"a size that cannot be", {"PMI_RANK=4", "PMI_SIZE=2"}, 1, 4, 0, "PMI_RANK"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *const *env = (char *const *)cases[i].env;
        struct rank got = rank_find(env);
        if (got.known != (cases[i].known == 1) || got.rank != cases[i].rank || got.ranks != cases[i].ranks || strcmp(got.source, cases[i].source) != 0)
            fail_msg("%s: known %d, %u of %u, %s", cases[i].what, got.known, got.rank, got.ranks, got.source);
    }
}

static void the_first_rank_of_a_node_leads_it(void **state)
{
    (void)state;
    static const struct {
        const char *what, *env[12];
        int leads;
    } cases[] = {
        {"srun, second node", {"SLURM_PROCID=4", "SLURM_STEP_ID=0", "SLURM_LOCALID=0"}, 1},
        {"srun, its second rank", {"SLURM_PROCID=5", "SLURM_STEP_ID=0", "SLURM_LOCALID=1"}, 0},
        {"srun, rank 0 records", {"SLURM_PROCID=0", "SLURM_STEP_ID=0", "SLURM_LOCALID=0"}, 0},
        {"batch shell", {"SLURM_PROCID=0", "SLURM_LOCALID=0"}, 0},
        {"Open MPI below a step of daemons", {"PMIX_RANK=3", "OMPI_COMM_WORLD_LOCAL_RANK=1", "SLURM_PROCID=1", "SLURM_STEP_ID=0", "SLURM_LOCALID=0"}, 0},
        {"Open MPI, second node", {"PMIX_RANK=2", "OMPI_COMM_WORLD_LOCAL_RANK=0", "SLURM_LOCALID=0"}, 1},
        {"srun --mpi=pmix", {"PMIX_RANK=2", "SLURM_PROCID=2", "SLURM_STEP_ID=0", "SLURM_LOCALID=0"}, 1},
        {"MPICH's hydra", {"PMI_RANK=2", "MPI_LOCALRANKID=0"}, 1},
        {"PALS", {"PALS_RANKID=7", "PALS_LOCAL_RANKID=0"}, 1},
        {"PALS, not told", {"PALS_RANKID=7"}, 0},
        {"Flux", {"FLUX_TASK_RANK=2", "FLUX_TASK_LOCAL_ID=0"}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *const *env = (char *const *)cases[i].env;
        struct rank rank = rank_find(env);
        if (rank_leads_node(&rank, env) != (cases[i].leads == 1))
            fail_msg("%s", cases[i].what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(environments), cmocka_unit_test(the_first_rank_of_a_node_leads_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
