/* sacct.c: with --sacct, what Slurm's accounting holds about the steps that the program has
 * started, read after its end. */
#include "base/query.h"
#include "base/clock.h"
#include "base/env.h"
#include "probes/slurm_acct.h"
#include "run/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum {
    LIMIT_MS = 5000 /* usual maximum of all questions */,
    AGAIN_MS = 700 /* a step's data arrives a second after its end */,
    TRIES = 4,
    ANSWER_MAX = 8 << 20
};
static const int64_t MS = 1000000;

static void record_acct_metric(struct record *r, const char *key, double value, double divisor, const char *unit, enum direction dir)
{
    if (value >= 0)
        record_metric(r, key, value / divisor, unit, dir, 0, 0);
}

/* Records what the accounting has; values that it lacks (negative) are left out. */
static void record_acct_steps(struct record *r, const struct slurm_acct *a)
{
    record_acct_metric(r, "slurm.steps", (double)a->steps, 1, "", DIR_NONE);
    record_acct_metric(r, "slurm.step_tasks", (double)a->tasks, 1, "", DIR_NONE);
    record_acct_metric(r, "slurm.cpu_s", a->cpu_s, 1, "s", DIR_LOWER);
    record_acct_metric(r, "slurm.max_rss_MiB", a->max_rss_B, 1048576, "MiB", DIR_LOWER);
    record_acct_metric(r, "slurm.average_rss_MiB", a->ave_rss_B, 1048576, "MiB", DIR_LOWER);
    record_acct_metric(r, "slurm.max_task_read_MB", a->disk_read_B, 1e6, "MB", DIR_NONE);
    record_acct_metric(r, "slurm.max_task_write_MB", a->disk_write_B, 1e6, "MB", DIR_NONE);
    record_acct_metric(r, "slurm.energy_J", a->energy_J, 1, "J", DIR_LOWER);
    if (a->state[0])
        record_tag(r, "job.step_state", str_of(a->state));
}

/* Queries sacct once for the steps of the job `id`, for at most limit_ms milliseconds. Returns NULL
 * with *ret, or why there is no answer. */
static const char *query_sacct(const struct run *run, const char *id, int64_t limit_ms, struct slurm_acct *ret, char *why, size_t size)
{
    static const char *const line[] = {"sacct", "-n", "-P", "--noconvert", "--delimiter=\x1f", ("--format=" SLURM_ACCT_FIELDS), "-j"};
    const char *words[sizeof line / sizeof *line + 2] = {0};
    memcpy(words, line, sizeof line);
    words[sizeof line / sizeof *line] = id;
    char **env = job_environment(run);
    struct query ask;
    struct err err = {0};
    *why = 0;
    if (!env)
        return "out of memory";
    if (query_start(&ask, (char *const *)words, env, ANSWER_MAX, limit_ms, 0, &err))
        snprintf(why, size, "%.300s", err.text);
    else {
        enum query_end end = query_wait(&ask, limit_ms);
        int64_t from = run->wire->start_wall_ms / 1000, to = run->end.wall_ms / 1000 + 1;
        struct str first = str_of(ask.why.n ? job_words(run, ask.why.p) : ""), line1 = str_cut(&first, '\n');
        if (end == QUERY_LONG)
            snprintf(why, size, "its answer is longer than %d MiB (or out of memory)", ANSWER_MAX >> 20);
        else if (end != QUERY_DONE)
            snprintf(why, size, "no answer within %.3g s", (double)limit_ms / 1000);
        else if (!WIFEXITED(ask.status))
            snprintf(why, size, "killed by signal %d", WTERMSIG(ask.status));
        else if (WEXITSTATUS(ask.status) == 127)
            snprintf(why, size, "not found in PATH");
        else if (WEXITSTATUS(ask.status) != 0 || !slurm_acct_parse(ret, buf_text(&ask.text), id, from, to))
            snprintf(why, size, STR_FMT, STR_ARG(line1.n ? str_sub(line1, 0, 300) : STR("its answer is not understood")));
    }
    query_close(&ask);
    free(env);
    return *why ? why : NULL;
}

void sacct_end(struct run *run)
{
    const char *id = run->host.own_job ? NULL : env_text(run->host.env, "SLURM_JOB_ID"), *why = NULL;
    struct record *r = &run->record;
    struct slurm_acct a = {0};
    char text[400];
    int64_t until = clock_mono_ns() + run_answer_ms(run, LIMIT_MS) * MS;
    struct timespec nap = {.tv_nsec = AGAIN_MS * MS};
    if (!opt_on(&run->plan.opts, OPTION_SACCT) || run->end.kind != WIRE_ENDED)
        return;
    const char *source = r->source;
    r->source = "sacct";
    if (!id || strspn(id, "0123456789") != strlen(id))
        why = "this is not a job of Slurm";
    else if (strcmp(run->wire->scope, "rank0") == 0 || strcmp(run->wire->scope, "rank") == 0)
        why = "the step of these ranks ends after the record; write benchwrap before srun";
    else if (job_hurries(run))
        why = "the scheduler ended the job";
    for (int i = 0; i < TRIES && !why; i++) {
        int64_t left = (until - clock_mono_ns()) / MS;
        if (left <= 0)
            break;
        why = query_sacct(run, id, left, &a, text, sizeof text);
        if (why || (a.steps && !a.running))
            break;
        nanosleep(&nap, NULL);
    }
    if (!why && a.steps == 0)
        why = a.running   ? "the step's data has not arrived in time"
              : a.unclear ? "a step that ends in the second in which the program began cannot be distinguished from one before it"
                          : "no step of this job began while the program ran";
    if (why)
        record_missing(r, "slurm.steps", "sacct: %s", why);
    else
        record_acct_steps(r, &a);
    r->source = source;
}
