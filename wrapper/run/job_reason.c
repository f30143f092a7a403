/* job_reason.c: why the scheduler ended a run: the messages of its daemons in the output, and
 * scontrol's state of the job. */
#include "run/job_reason.h"

#include "base/clock.h"
#include "base/env.h"
#include "probes/slurm_job.h"
#include "run/state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { ANSWER_MAX = 1 << 20 };

static const char *slurm_job_id(const struct run *run)
{
    const char *id = env_text(run->host.env, "SLURM_JOB_ID");
    return id && *id && strspn(id, "0123456789") == strlen(id) ? id : NULL;
}

void job_reason_set(struct run *run, struct str words)
{
    struct job_reason *j = &run->job.reason;
    if (!words.n || j->text[0])
        return;
    snprintf(j->text, sizeof j->text, STR_FMT, STR_ARG(str_sub(words, 0, sizeof j->text - 1)));
    for (char *c = j->text; *c; c++)
        *c = (char)(*c == '_' ? ' ' : tolower((unsigned char)*c));
    record_tag(&run->record, "job.end", str_of(j->text));
}

/* ---- scontrol ---- */

void job_reason_ask(struct run *run)
{
    struct job_reason *j = &run->job.reason;
    const char *id = slurm_job_id(run);
    char *line[] = {(char *)"scontrol", (char *)"show", (char *)"job", (char *)id, NULL};
    struct err err = {0};
    if (!id || j->asked || opt_on(&run->plan.opts, OPTION_NO_SCONTROL))
        return;
    char **env = job_environment(run);
    j->asked_ms = clock_wall_ms();
    j->asked = env && query_start(&j->ask, line, env, ANSWER_MAX, run_answer_ms(run, JOB_LIMIT_MS), 0, &err) == 0;
    free(env);
}

/* Returns whether the job was requeued after this run began. */
static bool is_requeued(const struct run *run, const struct slurm_job *job)
{
    const char *was = env_text(run->host.env, "SLURM_RESTART_COUNT");
    int64_t before = 0, now = 0;
    if (was && !str_int(str_of(was), &before))
        return false;
    return str_int(job->field[SLURM_RESTARTS], &now) && now > before;
}

/* Updates the end of the allocation: the time limit may have been changed since the job began, and
 * time in which the job was suspended does not count. */
static void update_allocation_end(struct run *run, const struct slurm_job *job)
{
    int64_t limit_s, ran_s = 0;
    if (str_is(job->field[SLURM_LIMIT], "unlimited"))
        run->job.ends_ms = 0;
    else if (str_int(job->field[SLURM_LIMIT], &limit_s) && (!job->field[SLURM_RAN].n || str_int(job->field[SLURM_RAN], &ran_s)))
        run->job.ends_ms = run->job.reason.asked_ms + (limit_s - ran_s) * 1000;
}

/* Sets the reason why the job ended from its state. While it ends, scontrol reports COMPLETING
 * whatever the reason: then only a requeue and a preemption are known. */
static void reason_from_state(struct run *run, const struct slurm_job *job)
{
    struct str state = job->field[SLURM_STATE];
    if (str_is(state, "RUNNING") || str_is(state, "COMPLETING") || str_is(state, "PENDING")) {
        if (is_requeued(run, job))
            job_reason_set(run, STR("requeued"));
        else if (job->field[SLURM_PREEMPTED].n)
            job_reason_set(run, STR("preempted"));
        run->job.reason.goes_on = str_is(state, "RUNNING");
        return;
    }
    job_reason_set(run, state);
}

void job_reason_receive(struct run *run, int64_t wait_ms)
{
    struct job_reason *j = &run->job.reason;
    struct slurm_job job;
    struct err err = {0};
    struct slurm_who who = {
        .id = slurm_job_id(run), .array = env_text(run->host.env, "SLURM_ARRAY_JOB_ID"), .name = env_text(run->host.env, "SLURM_JOB_NAME")};
    if (!j->asked || j->ask.end != QUERY_RUNS)
        return;
    if ((wait_ms > 0 ? query_wait(&j->ask, wait_ms) : query_poll(&j->ask)) != QUERY_DONE || !WIFEXITED(j->ask.status) ||
        WEXITSTATUS(j->ask.status))
        return;
    if (slurm_job_parse_text(&job, buf_text(&j->ask.text), &who, &err) == 0) {
        if (!is_requeued(run, &job))
            update_allocation_end(run, &job);
        reason_from_state(run, &job);
    }
    slurm_job_deinit(&job);
}

void job_reason_close(struct run *run)
{
    query_close(&run->job.reason.ask);
}

/* ---- the output ---- */

struct searching {
    struct run *run;
    const char *id;
    bool found;
    bool own; /* srun itself ends its step: a task had failed or ended before */
};

/* Returns whether srun reports that it ended the step itself, by --kill-on-bad-exit or --wait:
 * "srun: launch/slurm: _step_signal: Terminating StepId=1.0". */
static bool is_own_end(struct str line)
{
    return str_starts(line, "srun: ") && str_has(line, "Terminating StepId=");
}

/* Returns whether the time may be one while the run lasted. It is the local time of its node, whose
 * time zone may be another one: time zones differ by quarters of an hour. */
static bool is_time_of_run(const struct run *run, struct str when)
{
    enum { QUARTER_S = 900, ZONES_S = 14 * 3600, SLACK_S = 5 };
    struct tm tm = {0};
    char text[32];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(str_sub(when, 0, sizeof text - 1)));
    if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        return false;
    int64_t lasted = (run->end.wall_ms - run->wire->start_wall_ms) / 1000 + 2 * SLACK_S,
            after = (int64_t)timegm(&tm) - (run->wire->start_wall_ms / 1000 - SLACK_S);
    return after >= -ZONES_S && after <= ZONES_S + lasted && ((after % QUARTER_S) + QUARTER_S) % QUARTER_S <= lasted;
}

/* Called for each line: searches Slurm's message that it ended a step or job, and its cause:
 * "slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026-11-23T14:48:43 DUE TO NODE FAILURE, SEE
 * SLURMCTLD LOG FOR DETAILS ***". */
static void search_cancel_line(void *context, struct str line)
{
    struct searching *s = context;
    static const char node[] = "srun: error: Node failure on ";
    s->own |= is_own_end(line);
    if (str_starts(line, node)) {
        s->found = true;
        job_reason_set(s->run, STR("node failure"));
    }
    ptrdiff_t stars = str_find(line, STR("error: *** "));
    if ((!str_starts(line, "slurmstepd") && !str_starts(line, "srun: ")) || stars < 0)
        return;
    struct str rest = str_sub(line, (size_t)stars + sizeof "error: *** " - 1, line.n), kind = str_word(&rest), name = str_word(&rest),
               job = name;
    if (!str_is(kind, "STEP") && !str_is(kind, "JOB"))
        return;
    if (s->run->step.id[0] && str_is(kind, "STEP") && !str_is(name, s->run->step.id))
        return;
    job = str_cut(&name, '.');
    ptrdiff_t cancelled = str_find(rest, STR(" CANCELLED AT ")), due = str_find(rest, STR(" DUE TO "));
    if (!str_is(job, s->id) || cancelled < 0 ||
        !is_time_of_run(s->run, str_sub(rest, (size_t)cancelled + sizeof " CANCELLED AT " - 1, rest.n)))
        return;
    s->found |= due >= 0 || !s->own;
    if (due < 0)
        return;
    struct str cause = str_sub(rest, (size_t)due + sizeof " DUE TO " - 1, rest.n);
    ptrdiff_t end = str_find(cause, STR(" ***")), comma = str_find(cause, STR(","));
    if (end >= 0)
        job_reason_set(s->run, str_sub(cause, 0, (size_t)(comma >= 0 && comma < end ? comma : end)));
}

bool job_reason_in_output(struct run *run)
{
    static const char *const logs[] = {"stderr.log", "stdout.log"};
    struct searching s = {.run = run, .id = slurm_job_id(run)};
    for (size_t i = 0; s.id && i < sizeof logs / sizeof *logs && !s.found; i++)
        spool_stream_lines(run->spool.dir, logs[i], run->log_max, search_cancel_line, &s);
    return s.found;
}
