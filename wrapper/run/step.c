/* step.c: the step that the program's srun got: its nodes and tasks, from Slurm's record of it while it runs. */
#include "run/step.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/hostlist.h"
#include "base/slurm.h"
#include "launch/peel.h"
#include "launch/proc.h"
#include "probes/slurm_step.h"
#include "run/elsewhere.h"
#include "run/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_MS = 100, HEAR_MS = 20, LIMIT_MS = 2000, TRIES = 12, COMPONENTS = 16, ANSWER_MAX = 1 << 20, LIST_MAX = 1 << 20 };
static const int64_t MS = 1000000;

static bool is_srun(const struct run *run)
{
    const char *launcher = peel_launcher(run->plan.argv);
    return launcher && strcmp(launcher, "srun") == 0;
}

static bool env_positive_number(const struct run *run, const char *variable, int64_t *ret)
{
    const char *text = env_text(run->host.env, variable);
    return text && str_int(str_of(text), ret) && *ret > 0;
}

/* Components of a heterogeneous job, else 1. */
static int64_t job_components(const struct run *run)
{
    int64_t n = 1;
    return env_positive_number(run, "SLURM_HET_SIZE", &n) && n > 1 ? n : 1;
}

/* Records a param of the step, unless the value is not positive or the param is recorded
 * already. */
static void record_step_param(struct run *run, const char *source, const char *key, int64_t value)
{
    const char *before = run->record.source;
    if (value <= 0 || record_find(&run->record, FACT_PARAM, key))
        return;
    run->record.source = source;
    record_param_int(&run->record, key, value);
    run->record.source = before;
    run->dirty = true;
}

static void record_step_missing(struct run *run, const char *key, const char *why)
{
    const char *before = run->record.source;
    if (record_find(&run->record, FACT_PARAM, key) || record_find(&run->record, FACT_MISSING, key))
        return;
    run->record.source = "launcher";
    record_missing(&run->record, key, "%s", why);
    run->record.source = before;
}

/* Returns whether variables of the environment set how many tasks srun starts without -n, whatever
 * their number per node. */
static bool has_tasks_of_job(const struct run *run)
{
    int64_t n;
    return is_srun(run) && (env_positive_number(run, "SLURM_NTASKS", &n) || env_positive_number(run, "SLURM_NPROCS", &n));
}

/* Returns the processors for each task that srun reads from its environment where it has no -c; 0: none. Since Slurm 22.05 srun reads
 * this variable in place of SLURM_CPUS_PER_TASK. */
static int64_t srun_cpus_per_task(struct run *run)
{
    const char *text = env_text(elsewhere_variables(run->plan.argv, run->host.env, &run->plan.arena), "SRUN_CPUS_PER_TASK");
    int64_t n;
    return is_srun(run) && text && str_int(str_of(text), &n) && n > 0 ? n : 0;
}

void step_record(struct run *run)
{
    struct peel_shape shape;
    int64_t nodes = 0;
    bool told = peel_read_shape(run->plan.argv, &shape);
    record_step_param(run, "launcher", "step.tasks", shape.tasks);
    if (!shape.tasks_per_node || shape.tasks || !has_tasks_of_job(run))
        record_step_param(run, "launcher", "step.tasks_per_node", shape.tasks_per_node);
    record_step_param(run, "launcher", "step.cpus_per_task",
                      shape.cpus_per_task ? shape.cpus_per_task
                      : told              ? srun_cpus_per_task(run)
                                          : 0);
    bool one = job_components(run) == 1 && env_positive_number(run, "SLURM_JOB_NUM_NODES", &nodes) && nodes == 1;
    run->step.wanted = is_srun(run) && !run->host.own_job && env_positive_number(run, "SLURM_JOB_ID", &nodes) &&
                       !(one && told && shape.tasks) && !opt_on(&run->plan.opts, OPTION_NO_SCONTROL);
}

void step_begin(struct run *run)
{
    if (run->step.wanted && job_components(run) <= COMPONENTS)
        run->step.look_ns = clock_mono_ns() + FIRST_MS * MS;
}

/* ---- requests ---- */

/* Starts "scontrol show step" with the id of the job, or of its component, without waiting: the
 * answer lists all steps, and handle_step_answer chooses this run's. Where no id is known, or
 * scontrol cannot be started, the step stays unknown without an error. The run's host owns the
 * strings of `env`. */
static void query_step(struct run *run)
{
    struct run_step *s = &run->step;
    char name[64] = "SLURM_JOB_ID";
    struct err err = {0};
    if (job_components(run) > 1)
        snprintf(name, sizeof name, "SLURM_JOB_ID_HET_GROUP_%d", s->component);
    const char *id = env_text(run->host.env, name);
    char *line[] = {(char *)"scontrol", (char *)"show", (char *)"step", (char *)id, NULL};
    char **env = job_environment(run);
    s->look_ns = INT64_MAX;
    if (id && env && strspn(id, "0123456789") == strlen(id))
        query_start(&s->ask, line, env, ANSWER_MAX, run_answer_ms(run, LIMIT_MS), 0, &err);
    free(env);
}

/* Called by slurm_step_parse: returns whether the srun with this host and pid was started by this
 * run. */
static bool is_own_srun(void *context, struct str host, pid_t pid)
{
    const struct run *run = context;
    char own[256] = "";
    struct str rest;
    gethostname(own, sizeof own - 1);
    rest = str_of(own);
    return str_eq(str_cut(&rest, '.'), str_cut(&host, '.')) && proc_is_below(pid, run->host.pid);
}

static void retry_step_later(struct run *run)
{
    struct run_step *s = &run->step;
    int64_t wait_ms = (int64_t)FIRST_MS << (s->tries < 9 ? 2 * s->tries : 18);
    s->component = 0;
    s->nodes = s->tasks = 0;
    buf_deinit(&s->list);
    if (++s->tries < TRIES)
        s->look_ns = clock_mono_ns() + (wait_ms < 60000 ? wait_ms : 60000) * MS;
}

/* Handles the answer about one component of the job, and queries the next. No step of this run:
 * srun has not made it yet, or uses other components, so all are queried again later. A failed
 * query ends the search. */
static void handle_step_answer(struct run *run)
{
    struct run_step *s = &run->step;
    struct slurm_step step;
    struct err err = {0};
    bool good = s->ask.end == QUERY_DONE && WIFEXITED(s->ask.status), absent = good && WEXITSTATUS(s->ask.status) != 0;
    int found = absent ? 0 : good ? slurm_step_parse(&step, buf_text(&s->ask.text), is_own_srun, run, &err) : -1;
    if (found > 0) {
        if (!s->list.max)
            buf_init(&s->list, LIST_MAX);
        s->nodes += step.nodes;
        s->tasks += step.tasks;
        if (job_components(run) == 1)
            snprintf(s->id, sizeof s->id, STR_FMT, STR_ARG(step.id));
        buf_printf(&s->list, "%s" STR_FMT, s->list.n ? "," : "", STR_ARG(step.list));
    }
    query_close(&s->ask);
    if (found < 0)
        return; /* no answer, or one that is not believed: another one would be no better */
    if (++s->component < job_components(run))
        query_step(run);
    else if (s->nodes && !s->list.failed)
        s->known = true;
    else
        retry_step_later(run);
}

int64_t step_next(const struct run *run)
{
    const struct run_step *s = &run->step;
    return s->ask.pid ? clock_mono_ns() + HEAR_MS * MS : s->look_ns;
}

void step_on_time(struct run *run, int64_t now_ns)
{
    struct run_step *s = &run->step;
    if (now_ns >= s->look_ns)
        query_step(run);
    if (s->ask.pid && query_poll(&s->ask) != QUERY_RUNS)
        handle_step_answer(run);
}

/* ---- the facts at the end ---- */

static int64_t param_of(const struct run *run, const char *key)
{
    const struct fact *f = record_find(&run->record, FACT_PARAM, key);
    int64_t n = 0;
    return f && str_int(f->text, &n) ? n : 0;
}

/* Returns whether an MPI launcher uses every node: it fills all slots of the allocation, or has no
 * number of tasks. */
static bool fills_job(const struct run *run)
{
    struct peel_shape shape;
    int64_t slots =
        param_of(run, "job.tasks") ? param_of(run, "job.tasks") : param_of(run, "job.nodes") * param_of(run, "job.tasks_per_node");
    return !is_srun(run) && peel_read_shape(run->plan.argv, &shape) && !shape.hosts && !shape.per_round &&
           (!shape.tasks || (slots && shape.tasks >= slots));
}

/* Nodes that get ranks where each gets so many before the first one gets more; 0: not known. */
static int64_t nodes_of_rounds(const struct peel_shape *shape, int64_t job)
{
    int64_t all = shape->tasks && shape->per_round ? (shape->tasks + shape->per_round - 1) / shape->per_round : 0;
    return all < job ? all : job;
}

/* Records nodes and tasks of the step from the launcher's options, or the reason why they are
 * missing. Sets s->known and s->all. */
static void record_launcher_shape(struct run *run)
{
    struct run_step *s = &run->step;
    struct peel_shape shape;
    int64_t job = param_of(run, "job.nodes");
    bool told = peel_read_shape(run->plan.argv, &shape);
    if (s->known)
        return;
    if (job > 1 && slurm_is_step(env_text(run->host.env, "SLURM_STEP_ID"))) /* the step around this process may have fewer */
        job = 0;
    int64_t rounds = told && !shape.hosts ? nodes_of_rounds(&shape, job) : 0;
    bool all = told && (job == 1 || (shape.nodes == job && shape.tasks >= job) || fills_job(run) || (rounds && rounds == job));
    s->known = s->all = job && !shape.hosts && (all || (job == 1 && is_srun(run)));
    if (s->all)
        record_step_param(run, "launcher", "step.nodes", job);
    else if (told && shape.nodes && (!shape.tasks || shape.tasks >= shape.nodes))
        record_step_param(run, "launcher", "step.nodes", shape.nodes);
    record_step_param(run, "launcher", "step.nodes", rounds);
    if (rounds * shape.per_round == shape.tasks)
        record_step_param(run, "launcher", "step.tasks_per_node", shape.per_round);
    record_step_missing(run, "step.nodes",
                        !s->wanted          ? "the launcher's options do not state on how many nodes it starts the program"
                        : s->tries >= TRIES ? "Slurm reported no step of this srun"
                                            : "the step had ended before Slurm reported it, or Slurm did not answer");
    record_step_missing(run, "step.tasks",
                        s->wanted ? "srun's options do not state it, and Slurm reported no step"
                                  : "the launcher's options do not state it");
}

/* Warns where the program's step runs on other nodes than benchwrap: Slurm chose them after this
 * node's facts were recorded. Where collectors report, nodes_record warns. */
static void warn_of_other_nodes(struct run *run)
{
    const char *own = env_text(run->host.env, "SLURMD_NODENAME");
    struct str list = run->step.list.n ? buf_text(&run->step.list) : STR("");
    if (!own || !list.n || run->host.elsewhere || run->nodes.expected > 0 || hostlist_has(list, str_of(own)))
        return;
    record_warning(&run->record,
                   "the program ran on other nodes than benchwrap: the hardware and system metrics of this run are not theirs");
    run->dirty = true;
}

void step_end(struct run *run, int64_t until_ns)
{
    struct run_step *s = &run->step;
    struct peel_shape shape;
    s->look_ns = INT64_MAX;
    while (s->ask.pid && clock_mono_ns() < until_ns && query_wait(&s->ask, (until_ns - clock_mono_ns()) / MS) != QUERY_RUNS)
        handle_step_answer(run);
    s->look_ns = INT64_MAX;
    if (!run->host.starts_ranks)
        return;
    if (s->known) {
        warn_of_other_nodes(run);
        record_step_param(run, "scontrol", "step.nodes", s->nodes);
        record_step_param(run, "scontrol", "step.tasks", s->tasks);
        if (s->nodes == 1 || (peel_read_shape(run->plan.argv, &shape) && shape.tasks_per_node * s->nodes == s->tasks))
            record_step_param(run, "scontrol", "step.tasks_per_node", s->tasks / s->nodes);
    }
    record_launcher_shape(run);
}

void step_close(struct run *run)
{
    query_close(&run->step.ask);
    buf_deinit(&run->step.list);
    run->step = RUN_STEP_NONE;
}
