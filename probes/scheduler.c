/* scheduler.c: the job of this process, from the environment alone: no call to a scheduler.
 *
 * job.* describes the allocation, step.* the launch that the program belongs to: Slurm's step, or the world of an MPI launcher,
 * which counts above the step's since mpirun inside a step starts what it likes. */
#include "base/fs.h"
#include "base/hostlist.h"
#include "base/slurm.h"
#include "probes/look.h"

#include <errno.h>
#include <stdio.h>

enum provider { NONE, SLURM, PBS, TORQUE, LSF, FLUX, KUBERNETES, GRIDENGINE };
enum scheduler_use { TAG, STEP, OUTSIDE_STEP, PARAM, COUNT, MIB };

static const struct {
    enum provider provider;
    const char *variable;
    enum scheduler_use how;
    const char *key;
} rows[] = {
#define VAR(provider, variable, how, key) {provider, variable, how, key},
#include "probes/scheduler.def"
#undef VAR
};

/* A variable with a meaning: not blank, not a scheduler's word for nothing. */
static const char *scheduler_read_value(const struct host *h, const char *name)
{
    static const char *const nothing[] = {"", "(null)", "N/A", "None", "n/a", "n/s"};
    const char *value = look_env(h, name);
    for (size_t i = 0; value && i < sizeof nothing / sizeof *nothing; i++)
        if (strcmp(value, nothing[i]) == 0)
            return NULL;
    return value;
}

static bool scheduler_read_count(const struct host *h, const char *name, int64_t *ret)
{
    const char *value = scheduler_read_value(h, name);
    int64_t n;
    if (!value || !str_int(str_of(value), &n) || n < 0)
        return false;
    *ret = n;
    return true;
}

/* Returns how many components the heterogeneous job has; 0: it is none. */
static int64_t scheduler_het_size(const struct host *h)
{
    int64_t het = 0;
    return scheduler_read_count(h, "SLURM_HET_SIZE", &het) && het > 1 && het < 4096 ? het : 0;
}

/* A variable of Slurm's job. The plain one is that of a component in a heterogeneous job: then the values of all components with commas between,
 * or one that they have in common. *ret_differ: they have none. NULL: none, or not of each component. */
static const char *scheduler_read_job_value(const struct host *h, const char *variable, struct buf *to, bool *ret_differ)
{
    int64_t het = scheduler_het_size(h);
    const char *first = NULL;
    *ret_differ = false;
    for (int64_t i = 0; i < het; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_HET_GROUP_%lld", variable, (long long)i);
        const char *value = scheduler_read_value(h, name);
        if (!value)
            return NULL;
        first = first ? first : value;
        *ret_differ |= strcmp(first, value) != 0;
        buf_printf(to, "%s%s", i ? "," : "", value);
    }
    return !het ? scheduler_read_value(h, variable) : to->failed ? NULL : *ret_differ ? to->p : first;
}

/* Returns the scheduler of the innermost job that has started the program, by the variables of the
 * environment. Flux comes first: its jobs may run inside a Slurm job. NONE: there is no job, or the
 * program runs in another job than this process (own_job). */
static enum provider scheduler_detect(const struct host *h)
{
    if (h->own_job)
        return NONE;
    if (scheduler_read_value(h, "FLUX_JOB_ID"))
        return FLUX;
    if (scheduler_read_value(h, "SLURM_JOB_ID"))
        return SLURM;
    if (scheduler_read_value(h, "PBS_JOBID"))
        return scheduler_read_value(h, "PBS_NP") || scheduler_read_value(h, "PBS_VNODENUM") || scheduler_read_value(h, "PBS_NUM_PPN")
                   ? TORQUE
                   : PBS;
    if (scheduler_read_value(h, "LSB_JOBID"))
        return LSF;
    if (scheduler_read_value(h, "JOB_ID") &&
        (scheduler_read_value(h, "SGE_TASK_ID") || scheduler_read_value(h, "PE_HOSTFILE") || scheduler_read_value(h, "SGE_ROOT")))
        return GRIDENGINE;
    if (scheduler_read_value(h, "KUBERNETES_SERVICE_HOST"))
        return KUBERNETES;
    return NONE;
}

/* Returns whether two variables list different nodes: srun --jobid from outside of the job sets the
 * job's list to the nodes of its step. Then scontrol's answer is recorded. */
static bool scheduler_has_two_lists(const struct host *h)
{
    const char *one = scheduler_read_value(h, "SLURM_JOB_NODELIST"), *other = scheduler_read_value(h, "SLURM_NODELIST");
    return one && other && !scheduler_het_size(h) && strcmp(one, other) != 0;
}

static bool scheduler_in_step(const struct host *h)
{
    return slurm_is_step(scheduler_read_value(h, "SLURM_STEP_ID"));
}

/* Records the fact of row i from its variable. Records nothing where the variable is not set, or
 * does not describe the program's step. */
static void scheduler_emit_row(struct host *h, struct record *r, size_t i)
{
    const char *value = scheduler_read_value(h, rows[i].variable), *all = NULL;
    struct buf components CLEANUP_BUF;
    bool differ = false;
    int64_t n;
    buf_init(&components, 1 << 16);
    if (rows[i].provider == SLURM && scheduler_het_size(h) && strncmp(rows[i].key, "job.", 4) == 0 && strcmp(rows[i].key, "job.id") != 0)
        all = scheduler_read_job_value(h, rows[i].variable, &components, &differ);
    value = all ? all : value;
    if (differ && rows[i].how == MIB) {
        emit_missing(h, r, rows[i].key, "the components of this heterogeneous job have %s MiB", all);
        return;
    }
    if (!value || (rows[i].how == STEP && !slurm_is_step(value)) || (rows[i].how == OUTSIDE_STEP && scheduler_in_step(h)) ||
        (h->starts_ranks && strncmp(rows[i].key, "step.", 5) == 0) ||
        (strcmp(rows[i].key, "job.nodelist") == 0 && scheduler_has_two_lists(h)))
        return;
    switch (rows[i].how) {
    case STEP:
    case OUTSIDE_STEP:
    case TAG: emit_tag(h, r, rows[i].key, str_of(value)); break;
    case PARAM: emit_text(h, r, rows[i].key, value); break;
    case COUNT:
    case MIB:
        if (!str_int(str_of(value), &n) || n < 0)
            emit_missing(h, r, rows[i].key, "%s is not a number", rows[i].variable);
        else if (rows[i].how == COUNT)
            emit_int(h, r, rows[i].key, n);
        else if (n > 0) /* 0: all of the node */
            emit_GiB(h, r, rows[i].key, (double)n * 1048576.0);
    }
}

/* "2(x2),1" -> sum, number of nodes, and the common value (0: they differ). */
struct per_node {
    int64_t sum, nodes, common;
};

/* Parses "16(x3),8". Returns false, and leaves *ret, where the text has another form. */
static bool scheduler_parse_per_node(const char *text, struct per_node *ret)
{
    struct str rest = str_of(text);
    struct per_node p = {0};
    while (rest.p && rest.n > 0) {
        struct str item = str_cut(&rest, ','), number = str_cut(&item, '(');
        int64_t value, times = 1;
        if (!str_int(number, &value) || value < 0 || value > 1 << 24)
            return false;
        if (item.p && (!str_starts(item, "x") || !str_ends(item, ")") || !str_int(str_sub(item, 1, item.n - 2), &times) || times < 1 ||
                       times > 1 << 24))
            return false;
        p.common = p.nodes == 0 || p.common == value ? value : 0;
        p.sum += value * times;
        p.nodes += times;
    }
    if (p.nodes == 0)
        return false;
    *ret = p;
    return true;
}

/* Records the number unless the key has one: the launcher's options (srun -n 4 …) precede variables
 * that a step may have inherited. */
static void scheduler_emit_once(struct host *h, struct record *r, const char *key, int64_t value)
{
    if (!record_find(r, FACT_PARAM, key))
        emit_int(h, r, key, value);
}

/* Reads the world of an MPI launcher or process manager: its world is what runs. False: none. */
static bool scheduler_mpi_world(const struct host *h, int64_t *ret_tasks, int64_t *ret_local)
{
    static const char *const worlds[] = {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "PALS_SIZE",
                                         "JSM_NAMESPACE_SIZE",   "FLUX_JOB_SIZE"};
    static const char *const locals[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE",
                                         "JSM_NAMESPACE_LOCAL_SIZE"};
    *ret_local = 0;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        if (scheduler_read_count(h, worlds[i], ret_tasks) && *ret_tasks > 0) {
            for (size_t k = 0; k < sizeof locals / sizeof *locals; k++)
                if (scheduler_read_count(h, locals[k], ret_local))
                    break;
            return true;
        }
    return false;
}

/* Sums NAME_HET_GROUP_<i> over the components of a heterogeneous job. False: a component has no
 * number. */
static bool scheduler_het_sum(const struct host *h, const char *const names[2], int64_t size, int64_t *ret)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < size; i++) {
        char name[64];
        int64_t n = 0;
        for (size_t k = 0; k < 2 && n == 0; k++) {
            snprintf(name, sizeof name, "%s_HET_GROUP_%lld", names[k], (long long)i);
            scheduler_read_count(h, name, &n);
        }
        if (n == 0)
            return false;
        sum += n;
    }
    *ret = sum;
    return true;
}

/* Returns whether Slurm's step is that of an MPI launcher's daemons, whose world is another one. */
static bool scheduler_is_daemon_step(const struct host *h)
{
    int64_t mpi, local, tasks;
    return scheduler_mpi_world(h, &mpi, &local) && (!scheduler_read_count(h, "SLURM_STEP_NUM_TASKS", &tasks) || mpi != tasks);
}

/* What Slurm's variables describe. */
enum slurm_scope {
    SLURM_ALLOCATION,
    SLURM_OWN_STEP, /* the program is a task of it */
    SLURM_OUTER_STEP /* the program starts its ranks as another step, or by MPI */
};

static enum slurm_scope scheduler_slurm_scope(const struct host *h)
{
    return !scheduler_in_step(h) ? SLURM_ALLOCATION : h->starts_ranks ? SLURM_OUTER_STEP : SLURM_OWN_STEP;
}

static int scheduler_count_node(void *context, struct str name)
{
    int64_t *n = context;
    *n += memchr(name.p, '[', name.n) ? INT32_MIN : 1; /* a range that is not understood */
    return 0;
}

/* Returns whether the list of the job's nodes has another number of them than `nodes`, and that in *ret. False where there is no list,
 * or it is not understood. */
static bool scheduler_lists_other(const struct host *h, int64_t nodes, int64_t *ret)
{
    const char *list = scheduler_read_value(h, "SLURM_JOB_NODELIST");
    *ret = 0;
    return list && hostlist_each(str_of(list), scheduler_count_node, ret) == 0 && *ret > 0 && *ret != nodes;
}

static void scheduler_emit_slurm_nodes(struct host *h, struct record *r, enum slurm_scope scope)
{
    static const char *const names[] = {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
    int64_t nodes, listed, het = scheduler_het_size(h);
    if (scope == SLURM_OWN_STEP && !scheduler_is_daemon_step(h) && scheduler_read_count(h, "SLURM_STEP_NUM_NODES", &nodes))
        scheduler_emit_once(h, r, "step.nodes", nodes);
    if (het && !scheduler_het_sum(h, names, het, &nodes))
        emit_missing(h, r, "job.nodes", "this heterogeneous job does not list the nodes of each of its %lld components", (long long)het);
    else if (!het && !scheduler_read_count(h, names[0], &nodes) &&
             (scope != SLURM_ALLOCATION || !scheduler_read_count(h, names[1], &nodes)))
        return;
    else if (!het && scheduler_lists_other(h, nodes, &listed))
        emit_missing(h, r, "job.nodes",
                     "the variables of Slurm state %lld nodes, but SLURM_JOB_NODELIST lists %lld: one of them was changed in the job",
                     (long long)nodes, (long long)listed);
    else
        scheduler_emit_once(h, r, "job.nodes", nodes);
}

/* Records a number on each node ("2(x2)"), unless it contradicts the tasks that are known: without
 * -n, batch jobs list slots there, not tasks. */
static void scheduler_emit_per_node(struct host *h, struct record *r, const char *variable, const char *key, bool known, int64_t tasks)
{
    const char *text = scheduler_read_value(h, variable);
    struct per_node p;
    if (!text || record_find(r, FACT_PARAM, key))
        return;
    if (!scheduler_parse_per_node(text, &p))
        emit_missing(h, r, key, "%s is not understood", variable);
    else if (known && p.sum != tasks)
        return;
    else if (p.common > 0)
        scheduler_emit_once(h, r, key, p.common);
    else
        emit_text(h, r, key, text);
}

static void scheduler_emit_job_tasks(struct host *h, struct record *r)
{
    static const char *const names[] = {"SLURM_NTASKS", "SLURM_NPROCS"};
    int64_t tasks = 0, het = scheduler_het_size(h);
    bool known = het ? scheduler_het_sum(h, names, het, &tasks) : scheduler_read_count(h, names[0], &tasks);
    const char *slots = scheduler_read_value(h, "SLURM_TASKS_PER_NODE");
    struct per_node p;
    if (known && !het && slots && scheduler_parse_per_node(slots, &p) && p.sum != tasks)
        emit_missing(h, r, "job.tasks", "SLURM_NTASKS is %lld, but SLURM_TASKS_PER_NODE lists %lld: one of them was changed in the job",
                     (long long)tasks, (long long)p.sum);
    else if (known)
        scheduler_emit_once(h, r, "job.tasks", tasks);
    if (!het)
        scheduler_emit_per_node(h, r, "SLURM_TASKS_PER_NODE", "job.tasks_per_node", known, tasks);
}

/* Records the tasks of the step. Inside a step SLURM_NTASKS is the step's: what the job was given
 * is not known there. */
static void scheduler_emit_step_tasks(struct host *h, struct record *r)
{
    int64_t tasks;
    bool known = scheduler_read_count(h, "SLURM_STEP_NUM_TASKS", &tasks) || scheduler_read_count(h, "SLURM_NTASKS", &tasks);
    if (scheduler_is_daemon_step(h)) { /* scheduler_emit_mpi records the launcher's own world */
        if (known)
            emit_int(h, r, "slurm.tasks", tasks);
        return;
    }
    if (known)
        scheduler_emit_once(h, r, "step.tasks", tasks);
    scheduler_emit_per_node(h, r, "SLURM_STEP_TASKS_PER_NODE", "step.tasks_per_node", known, tasks);
}

/* srun of Slurm 22.05 to 23.02 does not read SLURM_CPUS_PER_TASK, yet steps inherit it from the batch script. Where the step cannot have
 * that many, or a step's binding contradicts it, the variable is not believed. */
static void scheduler_emit_slurm_cpus(struct host *h, struct record *r, enum slurm_scope scope)
{
    int64_t asked, set, cpus, on_node;
    struct per_node p;
    struct buf components CLEANUP_BUF;
    bool differ;
    buf_init(&components, 1 << 16);
    const char *text = scheduler_read_job_value(h, "SLURM_JOB_CPUS_PER_NODE", &components, &differ);
    if (text && scheduler_parse_per_node(text, &p)) {
        if (p.common > 0)
            emit_int(h, r, "job.cpus_per_node", p.common);
        else
            emit_text(h, r, "job.cpus_per_node", text);
    }
    components.n = 0;
    const char *per_task = scheduler_read_job_value(h, "SLURM_CPUS_PER_TASK", &components, &differ);
    if (scope == SLURM_OUTER_STEP)
        return;
    if (differ)
        emit_missing(h, r, scope == SLURM_OWN_STEP ? "step.cpus_per_task" : "job.cpus_per_task",
                     "the components of this heterogeneous job have %s", per_task);
    if (!per_task || !str_int(str_of(per_task), &asked) || asked < 0)
        return;
    bool said = scheduler_read_count(h, "SRUN_CPUS_PER_TASK", &set) && set == asked;
    if (scope == SLURM_OWN_STEP && !said && scheduler_read_count(h, "SLURM_CPUS_ON_NODE", &cpus) &&
        scheduler_read_value(h, "SLURM_STEP_TASKS_PER_NODE") &&
        scheduler_parse_per_node(scheduler_read_value(h, "SLURM_STEP_TASKS_PER_NODE"), &p)) {
        on_node = p.common > 0 ? p.common : 1;
        if (asked * on_node > cpus) {
            emit_missing(
                h, r, "step.cpus_per_task",
                "SLURM_CPUS_PER_TASK=%lld was inherited from the batch script and not applied: the step's processors and tasks on this node: %lld and %lld "
                "(srun of Slurm 22.05 to 23.02 needs SRUN_CPUS_PER_TASK)",
                (long long)asked, (long long)cpus, (long long)on_node);
            return;
        }
    }
    scheduler_emit_once(h, r, scope == SLURM_OWN_STEP ? "step.cpus_per_task" : "job.cpus_per_task", asked);
}

/* Sums "4", "a100:4", "a100:2,v100:1". False: it has another form. */
static bool scheduler_parse_gpus(const char *text, int64_t *ret)
{
    int64_t sum = 0;
    for (struct str rest = str_of(text); rest.p;) {
        struct str item = str_cut(&rest, ','), number = item;
        int64_t n;
        while (item.p)
            number = str_cut(&item, ':');
        if (!str_int(number, &n) || n < 0)
            return false;
        sum += n;
    }
    *ret = sum;
    return true;
}

static void scheduler_emit_gpus(struct host *h, struct record *r, const char *variable, const char *key)
{
    const char *text = scheduler_read_value(h, variable);
    int64_t n;
    if (text && scheduler_het_size(h))
        emit_missing(h, r, key, "%s is of one component of this heterogeneous job", variable);
    else if (text && scheduler_parse_gpus(text, &n))
        scheduler_emit_once(h, r, key, n);
}

/* SLURM_GPUS_ON_NODE counts those of this node. The variable that contradicts as many on each of the others; NULL: none. */
static const char *scheduler_uneven_gpus(const struct host *h, bool step)
{
    int64_t nodes = 1, here = 0, all;
    struct per_node p;
    const char *total = scheduler_read_value(h, "SLURM_GPUS"), *on_node = scheduler_read_value(h, "SLURM_GPUS_ON_NODE");
    const char *tasks = scheduler_read_value(h, step ? "SLURM_STEP_TASKS_PER_NODE" : "SLURM_TASKS_PER_NODE");
    scheduler_read_count(h, step ? "SLURM_STEP_NUM_NODES" : "SLURM_JOB_NUM_NODES", &nodes);
    if (nodes < 2 || scheduler_read_value(h, "SLURM_GPUS_PER_NODE") || !on_node || !scheduler_parse_gpus(on_node, &here))
        return NULL;
    if (total && scheduler_parse_gpus(total, &all) && all != here * nodes)
        return "SLURM_GPUS";
    if (scheduler_read_value(h, "SLURM_GPUS_PER_TASK") && tasks && scheduler_parse_per_node(tasks, &p) && p.common == 0)
        return "SLURM_GPUS_PER_TASK";
    return NULL;
}

static void scheduler_emit_slurm_gpus(struct host *h, struct record *r, enum slurm_scope scope)
{
    const char *key = scope == SLURM_OWN_STEP ? "step.gpus_per_node" : "job.gpus_per_node";
    const char *uneven = scope == SLURM_OUTER_STEP ? NULL : scheduler_uneven_gpus(h, scope == SLURM_OWN_STEP);
    if (uneven && !scheduler_het_size(h))
        emit_missing(h, r, key, "%s does not show as many GPUs on the other nodes as on this one", uneven);
    else if (scope != SLURM_OUTER_STEP)
        scheduler_emit_gpus(h, r, "SLURM_GPUS_ON_NODE", key);
    scheduler_emit_gpus(h, r, "SLURM_GPUS_PER_NODE", "job.gpus_per_node");
}

/* Returns on how many nodes an MPI world with `local` of its tasks on this node runs, in an
 * allocation of `nodes`; 0: not known. */
static int64_t scheduler_world_nodes(int64_t tasks, int64_t local, int64_t nodes)
{
    return local == tasks ? 1 : local > 0 && local < tasks && nodes == 2 ? 2 : 0;
}

/* Records the tasks and nodes of an MPI launcher's world, where the program is one of its ranks.
 * The launcher reports the tasks of all nodes and of this node only, so the nodes may be
 * missing. */
static void scheduler_emit_mpi(struct host *h, struct record *r)
{
    int64_t tasks, local, nodes = 0;
    const struct fact *step = record_find(r, FACT_PARAM, "step.nodes"), *job = record_find(r, FACT_PARAM, "job.nodes");
    if (h->starts_ranks || !scheduler_mpi_world(h, &tasks, &local))
        return;
    scheduler_emit_once(h, r, "step.tasks", tasks);
    if (step || ((!scheduler_in_step(h) || !scheduler_read_count(h, "SLURM_STEP_NUM_NODES", &nodes)) && job))
        str_int(step ? step->text : job->text, &nodes);
    if (!step) {
        nodes = scheduler_world_nodes(tasks, local, nodes);
        if (nodes)
            scheduler_emit_once(h, r, "step.nodes", nodes);
        else
            emit_missing(h, r, "step.nodes", "the MPI launcher reports the number of its tasks, not of their nodes");
    }
    if (nodes && local > 0 && nodes * local == tasks)
        scheduler_emit_once(h, r, "step.tasks_per_node", local);
}

static void scheduler_emit_slurm(struct host *h, struct record *r)
{
    enum slurm_scope scope = scheduler_slurm_scope(h);
    scheduler_emit_slurm_nodes(h, r, scope);
    if (scope == SLURM_OWN_STEP)
        scheduler_emit_step_tasks(h, r);
    else if (scope == SLURM_ALLOCATION)
        scheduler_emit_job_tasks(h, r);
    scheduler_emit_slurm_cpus(h, r, scope);
    scheduler_emit_slurm_gpus(h, r, scope);
}

/* Counts the distinct names and the lines of a list of hosts, one name a line. False: it cannot be
 * read, is empty, or has more than 20000 names. */
static bool scheduler_read_nodefile(struct host *h, const char *variable, int64_t *ret_nodes, int64_t *ret_lines)
{
    const char *path = scheduler_read_value(h, variable);
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    if (!path || path[0] != '/' || look_read_file(h, path + 1, (1 << 20) - 65536, &text) != 0)
        return false;
    *ret_nodes = *ret_lines = 0;
    struct str all = buf_text(&text), last = {"", 0};
    for (struct str rest = all; rest.p;) {
        struct str name = str_trim(str_cut(&rest, '\n'));
        if (name.n == 0)
            continue;
        ++*ret_lines;
        if (str_eq(name, last)) /* lines of one host are mostly adjacent */
            continue;
        last = name;
        bool seen = false;
        for (struct str before = {all.p, (size_t)(name.p - all.p)}; before.p && !seen;)
            seen = str_eq(str_trim(str_cut(&before, '\n')), name);
        *ret_nodes += !seen;
        if (*ret_nodes > 20000)
            return false;
    }
    return *ret_lines > 0;
}

static void scheduler_emit_pbs(struct host *h, struct record *r)
{
    int64_t nodes, lines;
    if (!scheduler_read_nodefile(h, "PBS_NODEFILE", &nodes, &lines)) {
        if (!record_find(r, FACT_PARAM, "job.nodes"))
            emit_missing(h, r, "job.nodes", "PBS_NODEFILE is not readable");
        return;
    }
    scheduler_emit_once(h, r, "job.nodes", nodes);
    scheduler_emit_once(h, r, "job.tasks", lines); /* PBS: one line for each place of an MPI process */
    if (lines % nodes == 0)
        scheduler_emit_once(h, r, "job.tasks_per_node", lines / nodes);
}

/* Records nodes and slots of LSF's job. Where jsrun starts the tasks, the launch node does not
 * count. */
static void scheduler_emit_lsf(struct host *h, struct record *r)
{
    const char *text = scheduler_read_value(h, "LSB_MCPU_HOSTS");
    int64_t nodes = 0, slots = 0, common = 0, n, index;
    bool launch_node = false;
    if (scheduler_read_count(h, "LSB_JOBINDEX", &index) && index > 0)
        emit_tag(h, r, "job.array_task", str_of(scheduler_read_value(h, "LSB_JOBINDEX")));
    for (struct str rest = str_of(text), name = str_word(&rest); text && name.n > 0; name = str_word(&rest)) {
        if (!str_int(str_word(&rest), &n) || n < 0) {
            emit_missing(h, r, "job.nodes", "LSB_MCPU_HOSTS is not understood");
            return;
        }
        launch_node = nodes == 0 ? n == 1 : launch_node && n > 1;
        common = nodes == 0 || common == n ? n : 0;
        nodes++;
        slots += n;
    }
    if (nodes == 0)
        return;
    if (scheduler_read_value(h, "JSM_NAMESPACE_SIZE") &&
        launch_node) { /* where jsrun is, the first host with its one slot runs the script, no tasks */
        nodes--;
        slots--;
    }
    scheduler_emit_once(h, r, "job.nodes", nodes);
    scheduler_emit_once(h, r, "job.tasks", slots);
    if (common > 0)
        scheduler_emit_once(h, r, "job.tasks_per_node", common);
}

static void scheduler_emit_kubernetes(struct host *h, struct record *r)
{
    struct look_text text; /* the file next to it, `token`, is a secret and not read */
    if (look_read(h, &text, "var/run/secrets/kubernetes.io/serviceaccount/namespace"))
        emit_tag(h, r, "job.namespace", (struct str){text.p, text.n});
}

/* Records the scheduler and its job from the environment, or why the job is not known. Returns 0. */
static int scheduler_before(struct host *h, struct record *r, struct err *err)
{
    static const char *const names[] = {"none", "slurm", "pbs", "torque", "lsf", "flux", "kubernetes", "gridengine"};
    (void)err;
    enum provider provider = scheduler_detect(h);
    const char *maker = h->own_job ? h->own_job : h->submits;
    if (provider == NONE && maker)
        emit_missing(h, r, "job.scheduler", "%s makes the job of the program, which this environment does not describe", maker);
    else if (provider == NONE && h->elsewhere)
        emit_missing(h, r, "job.scheduler", "%s", h->elsewhere);
    else if (provider == NONE && h->hidden_job)
        emit_missing(h, r, "job.scheduler", "%s shows that this process is in a job, which its environment does not describe",
                     h->hidden_job);
    else
        emit_text(h, r, "job.scheduler", names[provider]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].provider == provider)
            scheduler_emit_row(h, r, i);
    if (provider == SLURM)
        scheduler_emit_slurm(h, r);
    if (provider == PBS || provider == TORQUE)
        scheduler_emit_pbs(h, r);
    if (provider == LSF)
        scheduler_emit_lsf(h, r);
    if (provider == KUBERNETES)
        scheduler_emit_kubernetes(h, r);
    scheduler_emit_mpi(h, r);
    return 0;
}

const struct probe probe_scheduler = {
    .name = "scheduler",
    .summary = "job, nodes, tasks, from the environment",
    .before = scheduler_before,
    .nested = true,
    .anywhere = true,
};
