/* node_name.c: what the ranks of a launch have in common, and the name of this node. */
#include "collector/node_name.h"

#include "base/env.h"
#include "base/slurm.h"
#include "launch/rank.h"
#include "mlruns-format/record.h"

#include <string.h>

bool node_launch(char *const *env, char ret[33])
{
    static const char *const launches[] = {"PMIX_NAMESPACE", "PALS_APID", "FLUX_JOB_ID", "SLURM_STEP_ID"};
    static const char *const jobs[] = {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID_HET_GROUP_0", "SLURM_JOB_ID", "SLURM_RESTART_COUNT", "PBS_JOBID",
                                       "LSB_JOBID",          "FLUX_ENCLOSING_ID"};
    struct buf text CLEANUP_BUF;
    const char *launch = NULL;
    size_t i = 0;
    buf_init(&text, 1 << 16);
    for (; i < sizeof launches / sizeof *launches && !launch; i++)
        launch = env_text(env, launches[i]);
    if (!launch || (i == sizeof launches / sizeof *launches && !slurm_is_step(launch)))
        return false; /* batch and interactive steps are no launch of ranks */
    buf_printf(&text, "launch %zu %s", i, launch);
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
        const char *value = env_text(env, jobs[k]);
        if (k == 2 && env_text(env, jobs[1]))
            value = NULL; /* each component of a heterogeneous job has an id of its own */
        buf_printf(&text, "\n%s", value ? value : "");
    }
    if (text.failed)
        return false;
    record_named_id(ret, buf_text(&text));
    return true;
}

void node_folder(const char *spool, const char *launch, struct buf *to)
{
    const char *slash = strrchr(spool, '/');
    buf_str(to, (struct str){spool, slash ? (size_t)(slash - spool) : strlen(spool)});
    buf_printf(to, "/nodes/%s", launch);
}

void node_own_name(char *const *env, const char *host, char ret[NODE_NAME_MAX + 1])
{
    const char *name = env_text(env, "SLURMD_NODENAME");
    bool hydra = env_text(env, "PMI_RANK") && !env_text(env, "OMPI_COMM_WORLD_RANK") && !rank_is_slurms(env);
    struct str plain = str_of(host);
    if (env_text(env, "SLURM_JOB_ID")) /* whose names of nodes are short */
        plain = str_cut(&(struct str){host, strlen(host)}, '.');
    node_name_make(ret, name && !hydra ? str_of(name) : plain);
}
