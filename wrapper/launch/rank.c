/* rank.c: which rank of a parallel program this process is, from the environment variables of its
 * launcher. */
#include "launch/rank.h"

#include "base/env.h"
#include "base/slurm.h"

#include <string.h>

/* The order decides where several are set: what MPI launchers set is nearer to the program than the step around them. */
static const struct {
    const char *rank, *ranks[3];
} rows[] = {
    {"PMIX_RANK", {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}},
    {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}},
    {"PMI_RANK", {"PMI_SIZE"}},
    {"PALS_RANKID", {"PALS_SIZE", "PMI_SIZE"}},
    {"MV2_COMM_WORLD_RANK", {"MV2_COMM_WORLD_SIZE"}},
    {"FLUX_TASK_RANK", {"FLUX_JOB_SIZE"}},
    {"JSM_NAMESPACE_RANK", {"JSM_NAMESPACE_SIZE"}}, /* LSF's jsrun */
    {"ALPS_APP_PE", {NULL}}, /* aprun */
    {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}},
};

static bool rank_number(const char *text, uint32_t *ret)
{
    uint64_t v;
    if (!text || !str_uint(str_of(text), &v) || v > UINT32_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

/* Returns whether a step that srun started has this process: the shells of sbatch and salloc have
 * SLURM_PROCID too, or inherit it. */
static bool in_srun_step(char *const *env)
{
    const char *id = env_get(env, "SLURM_STEP_ID");
    return slurm_is_step(id ? id : env_get(env, "SLURM_STEPID"));
}

/* Returns whether the rank is that of Slurm's step (SLURM_PROCID). Another number comes from a
 * launcher within the step, which is nearer to the program. */
static bool is_the_steps(uint32_t rank, char *const *env)
{
    uint32_t id;
    return in_srun_step(env) && rank_number(env_get(env, "SLURM_PROCID"), &id) && id == rank;
}

struct rank rank_find(char *const *env)
{
    struct rank found = {.source = ""};
    size_t row = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t rank;
        if (!rank_number(env_get(env, rows[i].rank), &rank) || (strcmp(rows[i].rank, "SLURM_PROCID") == 0 && !in_srun_step(env)))
            continue;
        bool steps = is_the_steps(rank, env);
        if (found.known && steps)
            continue;
        found = (struct rank){.known = true, .rank = rank, .source = rows[i].rank};
        row = i;
        if (!steps)
            break;
    }
    for (size_t k = 0; found.known && k < 3 && rows[row].ranks[k]; k++)
        if (rank_number(env_get(env, rows[row].ranks[k]), &found.ranks) && found.ranks > found.rank)
            return found;
    found.ranks = 0;
    return found;
}

bool rank_is_slurms(char *const *env)
{
    uint32_t id;
    struct rank found = rank_find(env);
    return !found.known || (rank_number(env_get(env, "SLURM_PROCID"), &id) && id == found.rank);
}

bool rank_leads_node(const struct rank *rank, char *const *env)
{
    /* Each in addition to the launcher's own rank: in a step of Slurm that holds mpirun's daemons, SLURM_LOCALID is the daemon's. */
    static const struct {
        const char *rank, *locals[3];
    } locals[] = {
        {"PMIX_RANK", {"OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_LOCAL_RANK", "SLURM_LOCALID"}},
        {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_LOCAL_RANK"}},
        {"PMI_RANK", {"MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"}},
        {"PALS_RANKID", {"PALS_LOCAL_RANKID"}},
        {"MV2_COMM_WORLD_RANK", {"MV2_COMM_WORLD_LOCAL_RANK"}},
        {"FLUX_TASK_RANK", {"FLUX_TASK_LOCAL_ID"}},
        {"JSM_NAMESPACE_RANK", {"JSM_NAMESPACE_LOCAL_RANK"}},
        {"SLURM_PROCID", {"SLURM_LOCALID"}},
    };
    uint32_t local;
    for (size_t i = 0; rank->known && rank->rank && i < sizeof locals / sizeof *locals; i++)
        for (size_t k = 0; strcmp(locals[i].rank, rank->source) == 0 && k < 3 && locals[i].locals[k]; k++)
            if (rank_number(env_get(env, locals[i].locals[k]), &local))
                return local == 0;
    return false;
}
