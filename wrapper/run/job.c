/* job.c: the recorder's side of its Slurm job: its facts, the allocation's end, and who ended the run. */
#include "run/job.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/slurm.h"
#include "launch/proc.h"
#include "probes/slurm_job.h"
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 200, FRESH_S = 60 /* a job may be resized, or get another time limit */, KEPT_DAYS = 3, KEPT_MAX = 16 << 20 };
static const int64_t MS = 1000000;
static const char KEY[] = "job.allocation"; /* what is missing where scontrol has not answered */

static struct slurm_who slurm_who_of(const struct run *run)
{
    char *const *env = run->host.env;
    return (struct slurm_who){
        .id = env_text(env, "SLURM_JOB_ID"), .array = env_text(env, "SLURM_ARRAY_JOB_ID"), .name = env_text(env, "SLURM_JOB_NAME")};
}

/* ---- the end of the allocation ---- */

/* Notes the end of the allocation, s of Unix time, and when the journal is to be written before
 * that. Ignores a time that cannot be the job's end. */
static void set_end(struct run *run, int64_t ends_s)
{
    int64_t now = clock_wall_ms();
    if (run->job.signal || ends_s * 1000 <= now || ends_s > now / 1000 + INT64_C(10) * 366 * 86400)
        return; /* no end, one that cannot be this job's, or that of a job just cancelled, which is a time and not its limit */
    run->job.ends_ms = ends_s * 1000;
    int64_t left_ms = run->job.ends_ms - JOB_SAFE_S * 1000 - now;
    if (left_ms > 0)
        run->job.safe_ns = clock_mono_ns() + left_ms * MS;
}

/* Writes the whole folder of the spool to the disk: the child process of run_sync does this, and
 * nothing waits for it. */
static void sync_spool_folder(struct run *run)
{
    run_pass_words(run);
    journal_flush(run->journal, false, NULL);
    run_sync(run, true);
}

/* ---- answers that other runs of the job have got ---- */

/* Sets job.kept to the name of the cached answer for this job, "" without a cache. Public records
 * have a separate one. */
static void name_kept(struct run *run, const struct slurm_who *w)
{
    static const char *const names[] = {"SLURM_CONF", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT", "SLURM_JOB_START_TIME",
                                        "SLURM_JOB_NODELIST"};
    struct buf key CLEANUP_BUF;
    char id[33];
    buf_init(&key, 1 << 20);
    buf_puts(&key, w->id);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = env_text(run->host.env, names[i]);
        buf_printf(&key, "\n%s", value ? value : "");
    }
    if (run->host.public_profile)
        buf_puts(&key, "\npublic"); /* which records less */
    record_named_id(id, buf_text(&key));
    if (run->host.cache && !key.failed)
        snprintf(run->job.kept, sizeof run->job.kept, "job-%s", id);
}

/* Answers of jobs that have long ended. */
static void remove_old_answers(int dir)
{
    struct fs_names list;
    struct stat st;
    if (fs_list(dir, ".", &list, NULL))
        return;
    for (size_t i = 0; i < list.count; i++)
        if (strncmp(list.names[i], "job-", 4) == 0 && fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            clock_wall_ms() / 1000 - st.st_mtime > KEPT_DAYS * 86400)
            unlinkat(dir, list.names[i], 0);
    fs_names_deinit(&list);
}

/* Claims the request for this run. False: another run has claimed it, *ret_age_ms ago, at most a minute. Without a cache
 * each run makes its own. */
static bool claim_request(struct run *run, int64_t *ret_age_ms)
{
    char name[48];
    struct stat st;
    if (!run->job.kept[0] || fs_mkdirs(AT_FDCWD, run->host.cache, 0700, NULL))
        return true;
    CLEANUP_FD int dir = probes_cache_open(&run->host);
    if (dir < 0)
        return true;
    snprintf(name, sizeof name, "%s.asked", run->job.kept);
    CLEANUP_FD int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != EEXIST || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        remove_old_answers(dir);
        return true;
    }
    *ret_age_ms = clock_wall_ms() - (int64_t)st.st_mtime * 1000;
    return *ret_age_ms > FRESH_S * 1000 && utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

void job_cache_store(const struct run *run, const char *what, struct str text)
{
    char name[80];
    CLEANUP_FD int dir = run->job.kept[0] ? probes_cache_open(&run->host) : -1;
    snprintf(name, sizeof name, "%s%s", run->job.kept, what);
    if (dir >= 0)
        fs_write(dir, name, text, 0600, false, NULL);
}

bool job_cache_read(const struct run *run, const char *what, struct buf *ret, int64_t *ret_age_ms)
{
    char name[80];
    struct stat st;
    CLEANUP_FD int dir = run->job.kept[0] ? probes_cache_open(&run->host) : -1;
    snprintf(name, sizeof name, "%s%s", run->job.kept, what);
    if (dir < 0 || fs_read(dir, name, KEPT_MAX, 0, ret, NULL) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return false;
    *ret_age_ms = clock_wall_ms() - (int64_t)st.st_mtime * 1000;
    return true;
}

/* ---- the answer ---- */

/* Records that the job's facts are missing: `before`, then the first line of `what`, made harmless.
 * Does nothing once it is late. */
static void record_no_allocation(struct run *run, const char *before, const char *what)
{
    if (run->job.late)
        return;
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, 2048);
    struct str line = str_of(what), first = str_cut(&line, '\n');
    buf_plain(&plain, str_trim(first), 200);
    const char *source = run->record.source;
    run->record.source = "scontrol";
    record_missing(&run->record, KEY, "%s%s", before, plain.p ? plain.p : "");
    run->record.source = source;
    run->dirty = true;
}

/* Warns that the environment is that of an ended job: its shell, or what it has left behind, still
 * has the job's variables. */
static void warn_of_ended_job(struct run *run, const char *how)
{
    if (!run->job.late)
        record_warning(&run->record, "%s: job.* is of that job, and not of this run", how);
}

/* Returns whether the job had ended when the run began. COMPLETING is not an end: its processes may
 * still run. */
static bool is_ended_job(const struct run *run, const struct slurm_job *job)
{
    int64_t ends_s = slurm_job_ends_s(job);
    return ends_s && ends_s * 1000 < run->record.start_ms &&
           str_has_word("BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED TIMEOUT", job->field[SLURM_STATE]);
}

/* Records the facts of the job, or that they are missing since it had ended when the run began. */
static void record_job_facts(struct run *run, const struct slurm_job *job)
{
    char how[160];
    if (run->job.late)
        return;
    if (is_ended_job(run, job)) {
        snprintf(how, sizeof how, "the job of the environment had ended when the run began (" STR_FMT ")",
                 STR_ARG(job->field[SLURM_STATE]));
        record_no_allocation(run, how, "");
        warn_of_ended_job(run, how);
        return;
    }
    const char *source = run->record.source;
    run->record.source = "scontrol";
    slurm_job_emit(job, &run->host, &run->record);
    run->record.source = source;
    run->dirty = true;
    set_end(run, slurm_job_ends_s(job));
}

/* Warns where Slurm does not know the job: slurmctld forgets it some minutes after its end. */
static void warn_of_unknown_job(struct run *run, struct str said)
{
    if (str_has(said, "Invalid job id"))
        warn_of_ended_job(run, "Slurm does not know the job of the environment, which may have ended");
}

/* Records the answer that another run of the job has cached. False: there is none yet. */
static bool reuse_job_answer(struct run *run)
{
    struct buf text CLEANUP_BUF;
    struct slurm_job job;
    buf_init(&text, KEPT_MAX + 65536);
    int64_t age_ms;
    if (!job_cache_read(run, "", &text, &age_ms))
        return false;
    struct str rest = buf_text(&text);
    if (str_starts(rest, "no ")) {
        record_no_allocation(run, "scontrol was called by an earlier run of this job: ", text.p + 3);
        warn_of_unknown_job(run, rest);
        return true;
    }
    slurm_job_read(&job, rest);
    record_job_facts(run, &job);
    slurm_job_deinit(&job);
    return true;
}

static void end_asking(struct run *run)
{
    query_close(&run->job.ask);
    run->job.stage = JOB_IDLE;
}

/* Returns the words of a Slurm tool, which may name hosts; in the public profile a static sentence
 * instead. */
const char *job_words(const struct run *run, const char *said)
{
    return run->host.public_profile ? "failed (its words are withheld: the profile is public)" : said;
}

static void job_no_answer(struct run *run, const char *why)
{
    char text[600];
    snprintf(text, sizeof text, "no %.500s\n", why);
    job_cache_store(run, "", str_of(text));
    record_no_allocation(run, "scontrol: ", why);
    end_asking(run);
}

/* ---- requests ---- */

char **job_environment(const struct run *run)
{
    static const char *const changed[] = {"SLURM_TIME_FORMAT=", "LC_ALL=", "SACCT_"};
    char *const *from = run->host.env;
    size_t n = 0, to = 2;
    while (from[n])
        n++;
    char **env = calloc(n + 3, sizeof *env);
    if (!env)
        return NULL;
    env[0] = (char *)"SLURM_TIME_FORMAT=%s";
    env[1] = (char *)"LC_ALL=C";
    for (size_t i = 0; i < n; i++) {
        bool keeps = true;
        for (size_t k = 0; k < sizeof changed / sizeof *changed; k++)
            keeps &= strncmp(from[i], changed[k], strlen(changed[k])) != 0;
        if (keeps)
            env[to++] = from[i];
    }
    return env;
}

/* Returns whether the job has GPUs. The text form has them on each node with -d alone, which
 * queries the nodes, too: one more call to the controller. */
static bool has_gpus(char *const *env)
{
    return env_text(env, "SLURM_GPUS_ON_NODE") || env_text(env, "SLURM_GPUS_PER_NODE");
}

/* Starts `scontrol show job` for an answer as JSON or text; the text has what is left of the time
 * limit. A failure is recorded by job_no_answer. */
static void start_scontrol(struct run *run, bool json)
{
    struct run_job *j = &run->job;
    const struct slurm_who w = slurm_who_of(run);
    const char *form = json ? "--json" : has_gpus(run->host.env) ? "-d" : NULL;
    char *line[] = {(char *)"scontrol", (char *)"show", (char *)"job", (char *)w.id, (char *)form, NULL};
    int64_t left_ms = json ? j->limit_ms : (j->ask.until_ns - clock_mono_ns()) / MS;
    struct err err = {0};
    char **env = job_environment(run);
    if (!env) {
        job_no_answer(run, "out of memory");
        return;
    }
    if (!json)
        query_close(&j->ask);
    j->stage = json ? JOB_JSON : JOB_TEXT;
    if (query_start(&j->ask, line, env, SLURM_REPLY_MAX, left_ms > 1 ? left_ms : 1, 0, &err))
        job_no_answer(run, err.text);
    free(env);
}

/* Returns whether this scontrol knows no JSON (before 23.02) or the site has no serializer. The
 * controller has received no request then. */
static bool knows_no_json(const struct query *a)
{
    static const char *const words[] = {"unrecognized option", "invalid option", "serializer", "data_parser", "JSON support", "plugin"};
    struct str why = buf_text(&a->why);
    if (!WIFEXITED(a->status) || WEXITSTATUS(a->status) == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_has(why, words[i]))
            return true;
    return false;
}

/* Caches the answer for the other runs of the job: without secrets, and for a public record only
 * what it may have, and times. `text` is a buffer for it. */
static void store_job_answer(const struct run *run, struct slurm_job *job, struct buf *text)
{
    struct redact *clean = run->host.redact;
    for (size_t i = 0; run->host.public_profile && i < SLURM_FIELDS; i++)
        if (slurm_rows[i].kind != SLURM_TIME && !probes_is_public(slurm_rows[i].key))
            job->field[i].n = 0;
    slurm_job_print(job, text);
    if (clean && text->n)
        redact_text(&(struct redact){.ids = clean->ids}, text->p, text->n);
    job_cache_store(run, "", buf_text(text));
}

/* Records the answer and caches it for the job's other runs. Requests text where scontrol knows no
 * JSON. */
static void handle_scontrol_answer(struct run *run)
{
    struct run_job *j = &run->job;
    const struct slurm_who w = slurm_who_of(run);
    struct slurm_job job;
    struct buf text CLEANUP_BUF;
    struct err err = {0};
    buf_init(&text, KEPT_MAX);
    if (j->stage == JOB_JSON && knows_no_json(&j->ask)) {
        start_scontrol(run, false);
        return;
    }
    if (!WIFEXITED(j->ask.status) || WEXITSTATUS(j->ask.status) != 0) {
        bool missing = WIFEXITED(j->ask.status) && WEXITSTATUS(j->ask.status) == 127;
        warn_of_unknown_job(run, buf_text(&j->ask.why));
        job_no_answer(run, missing        ? "not found in PATH"
                           : j->ask.why.n ? job_words(run, j->ask.why.p)
                                          : "it failed and printed no message");
        return;
    }
    int rc = (j->stage == JOB_JSON ? slurm_job_parse_json : slurm_job_parse_text)(&job, buf_text(&j->ask.text), &w, &err);
    if (rc)
        job_no_answer(run, err.text);
    else {
        record_job_facts(run, &job);
        store_job_answer(run, &job, &text);
        end_asking(run);
    }
    slurm_job_deinit(&job);
}

void job_receive(struct run *run)
{
    char text[64];
    switch (run->job.stage == JOB_JSON || run->job.stage == JOB_TEXT ? query_poll(&run->job.ask) : QUERY_RUNS) {
    case QUERY_RUNS: break;
    case QUERY_DONE: handle_scontrol_answer(run); break;
    case QUERY_LATE:
        snprintf(text, sizeof text, "no answer within %.3g s", (double)run->job.limit_ms / 1000);
        job_no_answer(run, text);
        break;
    case QUERY_LONG: job_no_answer(run, "its answer is longer than 32 MiB (or out of memory)"); break;
    case QUERY_FAILED: job_no_answer(run, "could not be started"); break;
    }
}

/* Reuses the answer of another run of the job once that has cached it; until then plans the next
 * reading, and after job.give_up_ns records that there is none. */
static void wait_for_other_run(struct run *run, int64_t now_ns)
{
    if (reuse_job_answer(run))
        run->job.stage = JOB_IDLE;
    else if (now_ns >= run->job.give_up_ns) {
        record_no_allocation(run, "another run of this job called scontrol and got no answer", "");
        run->job.stage = JOB_IDLE;
    } else
        run->job.look_ns = now_ns + LOOK_MS * MS;
}

static bool is_job_number(const char *text)
{
    return text && *text && strlen(text) < 20 && strspn(text, "0123456789") == strlen(text);
}

void job_begin(struct run *run)
{
    struct run_job *j = &run->job;
    const struct slurm_who w = slurm_who_of(run);
    const char *ends = env_text(run->host.env, "SLURM_JOB_END_TIME");
    int64_t n, age_ms = 0;
    if (!is_job_number(w.id) || run->nested)
        return;
    j->limit_ms = run_answer_ms(run, JOB_LIMIT_MS);
    name_kept(run, &w);
    if (ends && str_int(str_of(ends), &n))
        set_end(run, n);
    if (run->host.own_job)
        return; /* this job is not the program's */
    if (opt_on(&run->plan.opts, OPTION_NO_SCONTROL)) {
        record_no_allocation(run, "scontrol was not called (--no-scontrol)", "");
        return;
    }
    if (w.array) {
        record_no_allocation(run, "tasks of an array do not call scontrol: there may be thousands", "");
        return;
    }
    if (claim_request(run, &age_ms)) {
        start_scontrol(run, true);
        return;
    }
    int64_t left_ms = j->limit_ms + 1000 - age_ms;
    j->stage = JOB_OTHER;
    j->give_up_ns = clock_mono_ns() + (left_ms > 0 ? left_ms : 0) * MS;
    wait_for_other_run(run, clock_mono_ns());
}

int job_fd(const struct run *run)
{
    return run->job.ask.out;
}

int64_t job_next(const struct run *run)
{
    const struct run_job *j = &run->job;
    int64_t next = j->safe_ns;
    if (j->stage == JOB_OTHER && j->look_ns < next)
        next = j->look_ns;
    if (j->stage == JOB_JSON || j->stage == JOB_TEXT) {
        int64_t due = clock_mono_ns() + (j->ask.out < 0 ? 2 : QUERY_POLL_MS) * MS;
        due = due < j->ask.until_ns ? due : j->ask.until_ns;
        next = due < next ? due : next;
    }
    if (j->reason.asked && j->reason.ask.end == QUERY_RUNS && clock_mono_ns() + LOOK_MS / 10 * MS < next)
        next = clock_mono_ns() + LOOK_MS / 10 * MS;
    return next;
}

void job_on_time(struct run *run, int64_t now_ns)
{
    if (now_ns >= run->job.safe_ns) {
        run->job.safe_ns = INT64_MAX;
        sync_spool_folder(run);
    }
    if (run->job.stage == JOB_OTHER && now_ns >= run->job.look_ns)
        wait_for_other_run(run, now_ns);
    job_receive(run);
    job_reason_receive(run, 0);
}

/* ---- how it ends ---- */

/* Returns the name of the process if it is one of a scheduler's own on a node; NULL: it is none. */
static const char *name_of_scheduler(const struct proc_id *id)
{
    static const char *const names[] = {"slurmstepd", "slurmd",     "slurmctld",   "pbs_mom",     "res",
                                        "sbatchd",    "flux-shell", "flux-broker", "sge_shepherd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(id->comm, names[i]) == 0)
            return names[i];
    return NULL;
}

static bool of_scheduler(pid_t pid)
{
    struct proc_id id;
    return pid > 0 && proc_look(pid, &id) && name_of_scheduler(&id);
}

const char *job_above(void)
{
    struct proc_id id = {.parent = getppid()};
    struct buf groups CLEANUP_BUF;
    buf_init(&groups, 64 << 10);
    for (int depth = 0; depth < 64 && id.parent > 1 && proc_look(id.parent, &id); depth++)
        if (name_of_scheduler(&id))
            return name_of_scheduler(&id);
    /* ssh to a node of one's job: pam_slurm_adopt moves the session into the job's groups */
    if (fs_read(AT_FDCWD, "/proc/self/cgroup", 32 << 10, 0, &groups, NULL) == 0 && str_has(buf_text(&groups), "slurm") &&
        str_has(buf_text(&groups), "/job_"))
        return "the control group";
    return NULL;
}

/* Notes a signal that by itself does not show that the scheduler ends the program: it may be a
 * request for a checkpoint. Signals of job control and those of other senders do not count. */
static void note_other_signal(struct run *run, int number, pid_t sender)
{
    static const int control[] = {SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGWINCH, SIGURG};
    const char *name = sigabbrev_np(number);
    char text[80];
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        if (number == control[i])
            return;
    if (!name || !of_scheduler(sender) || proc_ignores(run->host.pid, number))
        return;
    run->job.notice = number;
    snprintf(text, sizeof text, "SIG%s", name);
    record_tag(&run->record, "job.notice", str_of(text));
    run->dirty = true;
}

void job_signalled(struct run *run, int number, pid_t sender)
{
    struct run_job *j = &run->job;
    if (!run_is_ending(number)) {
        note_other_signal(run, number, sender);
        return;
    }
    if ((j->signal && !j->ignored) || number == SIGKILL)
        return;
    j->signal = number;
    j->ignored = proc_ignores(run->host.pid, number);
    j->by_scheduler = of_scheduler(sender);
    j->safe_ns = INT64_MAX;
    if (j->by_scheduler) { /* KILL may follow before the program has ended */
        char text[80];
        snprintf(text, sizeof text, "SIG%s", sigabbrev_np(number));
        record_tag(&run->record, "job.signal", str_of(text));
        job_reason_ask(run);
    }
    run_pass_words(run); /* from now on each time: see run_on_time */
    journal_flush(run->journal, false, NULL); /* written, not synced: after SIGKILL, written bytes are still in the file */
}

void job_warn_of_early_end(struct run *run)
{
    const struct run_job *j = &run->job;
    int sent = j->by_scheduler && !j->ignored ? j->signal : j->notice;
    if (sent)
        record_warning(&run->record, "the scheduler sent SIG%s before the program ended with status 0: its results may be incomplete",
                       sigabbrev_np(sent));
}

bool job_explain_notice(const struct run *run, char *why, size_t size)
{
    const int notice = run->job.notice, status = run->end.status;
    size_t n = strlen(why);
    bool by_it = notice && (WIFSIGNALED(status) ? WTERMSIG(status) == notice : WEXITSTATUS(status) == 128 + notice);
    if (by_it)
        snprintf(why + n, size - n, ", sent by the scheduler");
    else if (notice)
        snprintf(why + n, size - n, ", after SIG%s from the scheduler", sigabbrev_np(notice));
    return by_it;
}

bool job_hurries(const struct run *run)
{
    return run->job.by_scheduler;
}

void job_end(struct run *run, int64_t answer_ms, int64_t waited_ms)
{
    struct timespec nap = {.tv_nsec = 10 * MS};
    int64_t until = clock_mono_ns() + (answer_ms - waited_ms) * MS;
    char why[80];
    job_receive(run);
    while (run->job.stage != JOB_IDLE && clock_mono_ns() < until) {
        if (run->job.stage == JOB_OTHER) {
            nanosleep(&nap, NULL);
            wait_for_other_run(run, clock_mono_ns());
            continue;
        }
        query_wait(&run->job.ask, (until - clock_mono_ns()) / MS);
        job_receive(run);
    }
    snprintf(why, sizeof why, "scontrol: no answer within %.3g s of the program's end", (double)answer_ms / 1000);
    if (run->job.stage != JOB_IDLE)
        record_no_allocation(run, why, "");
    if (slurm_is_step(env_text(run->host.env, "SLURM_STEP_ID")) && !record_find(&run->record, FACT_TAG, "job.name"))
        record_missing(&run->record, "job.name",
                       "in a step SLURM_JOB_NAME may be the name of the step, and Slurm did not report the job's");
    run->job.late = true;
}

void job_end_late(struct run *run)
{
    while (run->job.stage == JOB_JSON || run->job.stage == JOB_TEXT) {
        query_wait(&run->job.ask, run->job.limit_ms);
        job_receive(run);
    }
    job_close(run);
}

/* Sets the reason where Slurm's message names no cause, and the job continues. */
static void name_lost_step(struct run *run)
{
    struct job_reason *reason = &run->job.reason;
    if (!reason->text[0] && reason->goes_on)
        job_reason_set(run, STR("step cancelled, the job continues"));
}

/* Returns whether the program ended near the known end of the allocation, whose time is in
 * seconds. */
static bool is_near_allocation_end(const struct run *run)
{
    return run->job.ends_ms && run->end.wall_ms >= run->job.ends_ms - 2000;
}

bool job_ended_steps(struct run *run, char *why, size_t size)
{
    const struct wire_msg *e = &run->end;
    int status = WIFSIGNALED(e->status) ? 128 + WTERMSIG(e->status) : WEXITSTATUS(e->status);
    bool launcher = strcmp(run->wire->scope, "launcher") == 0;
    size_t n = strlen(why);
    if (!status || (!launcher && !run_is_ending(status - 128)) || !job_reason_in_output(run))
        return false;
    if (!run->job.reason.text[0]) {
        job_reason_ask(run);
        job_reason_receive(run, run_answer_ms(run, JOB_END_MS));
    }
    name_lost_step(run);
    snprintf(why + n, size - n, ", ended by Slurm%s%s", run->job.reason.text[0] ? ": " : "", run->job.reason.text);
    return true;
}

/* Returns whether the time limit ended the job: by the scheduler's own reason, else by the
 * clock. */
static bool is_at_time_limit(const struct run *run)
{
    const struct run_job *j = &run->job;
    if (j->reason.text[0])
        return strcmp(j->reason.text, "timeout") == 0 || strcmp(j->reason.text, "time limit") == 0;
    return is_near_allocation_end(run);
}

void job_explain(struct run *run, char *why, size_t size)
{
    const struct run_job *j = &run->job;
    const struct wire_msg *e = &run->end;
    size_t n = strlen(why);
    bool asked = j->by_scheduler || (!j->signal && e->finish_signal) || (WIFSIGNALED(e->status) && WTERMSIG(e->status) == SIGKILL);
    if (!asked || (!j->by_scheduler && !is_near_allocation_end(run)))
        return;
    bool found = job_reason_in_output(run);
    job_reason_ask(run);
    job_reason_receive(run, run_answer_ms(run, JOB_END_MS));
    if (found)
        name_lost_step(run);
    if (is_at_time_limit(run))
        snprintf(why + n, size - n, ": the end of the allocation (its time limit) was reached");
    else if (j->by_scheduler)
        snprintf(why + n, size - n, ", sent by the scheduler%s%s",
                 j->reason.text[0]   ? ": "
                 : j->reason.goes_on ? ", and the job continues"
                                     : "",
                 j->reason.text);
}

void job_close(struct run *run)
{
    job_reason_close(run);
    end_asking(run);
}
