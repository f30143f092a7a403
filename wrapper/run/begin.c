/* begin.c: a run begins: what was requested, the spool and the journal, who and what is measured,
 * quick facts of the machine. */
#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/json.h"
#include "benchmarks/interpreter.h"
#include "plan/paths.h"
#include "plan/server.h"
#include "launch/peel.h"
#include "run/elsewhere.h"
#include "run/energy_results.h"
#include "run/exports.h"
#include "run/job.h"
#include "run/line_variables.h"
#include "run/state.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { PUBLISHED_MAX = 1 << 20 /* bytes of files that a published run keeps, unless --artifact-max sets another number */ };

int run_map(struct run *run, struct err *err)
{
    void *p = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, WIRE_MEMORY_FD, 0);
    if (p == MAP_FAILED)
        return err_sys(err, "recorder: cannot map the launcher's memory");
    run->wire = p;
    run->data = (const char *)p + WIRE_DATA;
    if (run->wire->magic != WIRE_MAGIC)
        return err_set(
            err, ERR_BUG,
            "recorder: the launcher's shared memory has an unknown format; install benchwrap and benchwrap-core from the same build");
    if (run->wire->has_credentials)
        fcntl(WIRE_CREDENTIALS_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a tool leaves behind is not the program's */
    sigset_t all;
    sigfillset(&all);
    run->signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    return 0; /* without a signalfd the launcher still finds the pending set */
}

static const char *first_set_text(char *(*get)(const char *), const char *const *names)
{
    for (; *names; names++) {
        const char *v = get(*names);
        if (v && *v)
            return v;
    }
    return "";
}

/* Returns the catalogue's name for the program, else the program's own. */
static const char *run_benchmark_name(const struct run *run)
{
    char *const *program = run->plan.program;
    return run->plan.benchmark ? run->plan.benchmark : program && program[0] ? interpreter_name(program) : "run";
}

/* Returns --name, else the benchmark's name and the local start time. NULL: out of memory. */
static const char *run_make_name(struct run *run)
{
    const char *given = opt_text(&run->plan.opts, OPTION_NAME);
    if (given && *given)
        return given;
    time_t now = (time_t)(run->wire->start_wall_ms / 1000);
    struct tm tm;
    char when[32] = "";
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    return arena_printf(&run->plan.arena, "%s %s", run_benchmark_name(run), when);
}

/* Returns who runs: in public records the site or "", else the user's name or number; "" where
 * memory is used up. /etc/passwd is read as a file, since the system's name service can hang on a
 * dead server. */
static const char *user_name(struct run *run)
{
    static const char *const names[] = {"USER", "LOGNAME", NULL};
    if (run->host.public_profile) {
        const char *site = opt_text(&run->plan.opts, OPTION_SITE);
        return site ? site : "";
    }
    const char *name = first_set_text(getenv, names);
    if (*name)
        return name;
    FILE *passwd = fopen("/etc/passwd", "re");
    struct passwd entry, *p = NULL;
    char text[4096];
    while (passwd && fgetpwent_r(passwd, &entry, text, sizeof text, &p) == 0 && p->pw_uid != getuid())
        p = NULL;
    name = p ? arena_dup(&run->plan.arena, p->pw_name, strlen(p->pw_name)) : arena_printf(&run->plan.arena, "%u", (unsigned)getuid());
    if (passwd)
        fclose(passwd);
    return name ? name : "";
}

/* Creates the spool directory: next to the tree, else in the user's state folder, which is then
 * reported. 0; -1 with err. */
static int run_open_spool(struct run *run, struct err *err)
{
    struct err first = {0};
    if (spool_create(&run->spool, run->plan.spool, run->wire->run_id, &first) == 0)
        return 0;
    if (run->plan.spool_fallback && spool_create(&run->spool, run->plan.spool_fallback, run->wire->run_id, err) == 0) {
        char text[1400];
        snprintf(text, sizeof text, "%s; the run is kept in %s", first.text, run->plan.spool_fallback);
        run_report(run, WIRE_NOTE, 0, text);
        return 0;
    }
    *err = first;
    return -1;
}

/* Returns the path as the journal has it: in a public record relative to the spool, in the arena,
 * since an absolute one may name a home folder. NULL for NULL, or out of memory. */
static const char *journal_path_text(struct run *run, const char *path)
{
    char text[4096];
    if (!run->host.public_profile || !path || path[0] != '/' || !spool_relative(&run->spool, path, text, sizeof text))
        return path;
    return arena_dup(&run->plan.arena, text, strlen(text));
}

/* Opens the journal with its first line: who is measured, and what a process that finishes the run
 * needs. -1 with err. */
static int run_open_journal(struct run *run, struct err *err)
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", NULL};
    char host[256] = "";
    if (!run->host.public_profile)
        gethostname(host, sizeof host - 1);
    struct buf options CLEANUP_BUF;
    struct reference_files references = {.count = 0}; /* of a series each repetition is judged */
    buf_init(&options, 64 * 1024);
    if (!run->series)
        references = run->plan.references;
    for (size_t i = 0; i < references.count; i++)
        references.path[i] = journal_path_text(run, references.path[i]);
    const char *job = first_set_text(getenv, jobs), *archive_dir = opt_text(&run->plan.opts, OPTION_ARCHIVE);
    bool archive = !run->nested && !run->host.public_profile && (*job || opt_on(&run->plan.opts, OPTION_ARCHIVE_JOB));
    if (archive_dir)
        archive_dir = *archive_dir ? journal_path_text(run, plan_absolute(run->plan.cwd, archive_dir, &run->plan.arena)) : NULL;
    finish_options_print(&(struct finish_options){.log_max = run->log_max,
                                                  .artifact_max = run->files_max,
                                                  .archive = archive,
                                                  .archive_dir = archive_dir,
                                                  .rules = run->series ? NULL : journal_path_text(run, run->plan.rules),
                                                  .series = run->series,
                                                  .references = references,
                                                  .exporters = run_exports_names(run),
                                                  .merged = run->wire->merged,
                                                  .public_profile = run->host.public_profile},
                         &options);
    if (options.failed || !run->told_argv)
        return err_memory(err, "the recorder");
    struct journal_head head = {.host = host,
                                .experiment = run->plan.experiment,
                                .run_name = redaction_text(&run->redaction, run_make_name(run), &run->plan.arena),
                                .tree = journal_path_text(run, run->plan.tree),
                                .user = user_name(run),
                                .job = job,
                                .options = options.p,
                                .argv = run->told_argv,
                                .start_ms = run->wire->start_wall_ms,
                                .start_ns = run->wire->start_mono_ns};
    memcpy(head.id, run->wire->run_id, sizeof head.id);
    return journal_create(&run->journal, run->spool.dir, &head, err);
}

static void record_option_pairs(struct run *run, const char *option, void (*put)(struct record *, const char *, struct str))
{
    for (const struct opt_value *v = opt_find(&run->plan.opts, option); v && v->text; v = v->next) {
        struct str rest = str_of(v->text), key = str_cut(&rest, '=');
        char *name = arena_dup(&run->plan.arena, key.p, key.n);
        if (name)
            put(&run->record, name, rest.p ? rest : STR(""));
    }
}

/* Records the tags that MLflow's own client reads from the environment: a JSON object of texts.
 * Tags that MLflow or benchwrap sets itself are left out. */
static void record_context(struct run *run)
{
    const char *text = env_text(run->host.env, "MLFLOW_RUN_CONTEXT");
    struct json *context = NULL;
    struct err err = {0};
    if (!text)
        return;
    if (json_parse(&context, str_of(text), NULL, &err) || !json_is_object(context))
        run_warn(run, "MLFLOW_RUN_CONTEXT is no JSON object of tags: nothing of it is recorded");
    run->record.source = "MLFLOW_RUN_CONTEXT";
    for (const struct json *tag = json_first(context); tag; tag = json_next(tag))
        if (json_is_string(tag) && strncmp(json_key(tag), "mlflow.", 7) != 0 && strncmp(json_key(tag), "benchwrap.", 10) != 0)
            record_tag(&run->record, json_key(tag), str_of(json_string(tag, "")));
    json_free(context);
}

/* Records what identifies the run: id, format, names, command, options, and the warnings of the
 * plan. */
static void record_identity(struct run *run)
{
    struct record *r = &run->record;
    const struct wire *w = run->wire;
    const char *const *program = (const char *const *)run->plan.program;
    const char *cluster = opt_text(&run->plan.opts, OPTION_CLUSTER), *site = opt_text(&run->plan.opts, OPTION_SITE),
               *note = opt_text(&run->plan.opts, OPTION_NOTE), *name = opt_text(&run->plan.opts, OPTION_NAME);
    record_context(run);
    r->source = "recorder";
    record_tag(r, "benchwrap.run_id", str_of(w->run_id));
    record_tag(r, "benchwrap.version", STR(BW_VERSION));
    record_tag(r, "benchwrap.format", str_of(arena_printf(&run->plan.arena, "%d", MLRUNS_FORMAT)));
    record_tag(r, "benchwrap.scope", str_of(w->scope));
    record_tag(r, "benchwrap.streams", w->merged ? STR("merged") : w->ring[0].used || w->ring[1].used ? STR("separate") : STR("none"));
    record_tag(r, "benchmark", str_of(run_benchmark_name(run)));
    record_tag(r, "mlflow.source.type", STR("LOCAL"));
    if (*user_name(run))
        record_tag(r, "mlflow.user", str_of(user_name(run)));
    if (program && program[0])
        record_tag(r, "mlflow.source.name", str_of(run->host.public_profile ? run_benchmark_name(run) : program[0]));
    if (run->plan.server_run)
        record_tag(r, "benchwrap.server_run", str_of(run->plan.server_run));
    if (w->parent_id[0])
        record_tag(r, run->nests ? "mlflow.parentRunId" : "benchwrap.parent_run_id", str_of(w->parent_id));
    if (w->ranks > 1 || opt_on(&run->plan.opts, OPTION_PER_RANK))
        record_param_int(r, "job.rank", w->rank);
    r->source = "option";
    if (site)
        record_tag(r, "site", str_of(site));
    if (cluster)
        record_tag(r, "cluster", str_of(cluster));
    if (run->node_hour_price)
        record_tag(r, "cost.node_hour", str_of(run->node_hour_price));
    if (note)
        record_tag(r, "mlflow.note.content", str_of(note));
    if (name && *name && opt_on(&run->plan.opts, OPTION_SHARE_RUN)) /* a recorded one takes precedence over the client's */
        record_tag(r, "mlflow.runName", str_of(name));
    record_option_pairs(run, "tag", record_tag);
    record_option_pairs(run, "param", record_param);
    r->source = "recorder";
    struct buf line CLEANUP_BUF;
    buf_init(&line, 64 * 1024);
    for (char *const *a = run->told_argv; a && *a; a++) {
        if (a != run->told_argv)
            buf_putc(&line, ' ');
        buf_puts(&line, *a);
    }
    if (!run->host.public_profile)
        record_tag(r, "benchwrap.command", buf_text(&line));
    if (run->redaction.hidden_arguments)
        record_tag(r, "benchwrap.hidden_arguments", str_of(run->redaction.hidden_arguments));
    for (const struct plan_warning *x = run->plan.warnings; x; x = x->next)
        if (w->in_series)
            run_warn_silently(run, x->text); /* the series has printed it */
        else
            run_warn(run, x->text);
}

/* Makes a run inside a run join its parent's experiment, unless the user named another. The
 * parent's journal has the name. */
static void follow_parent(struct run *run)
{
    struct spool parent;
    struct record r;
    struct journal_head head;
    struct journal_state state;
    const char *roots[] = {run->plan.spool, run->plan.spool_fallback};
    run->nested = run->wire->parent_id[0] != 0;
    for (size_t i = 0; run->nested && i < 2; i++) {
        if (!roots[i] || spool_open(&parent, roots[i], run->wire->parent_id, NULL))
            continue;
        if (journal_read(parent.dir, &r, &head, &state, NULL) == 0) {
            if (strcmp(run->plan.experiment_where, "--experiment") != 0)
                run->plan.experiment = arena_dup(&run->plan.arena, head.experiment, strlen(head.experiment));
            run->nests = run->plan.experiment && strcmp(run->plan.experiment, head.experiment) == 0;
            record_deinit(&r);
        }
        spool_close(&parent);
        return;
    }
}

/* Returns what the starters in the line change, in the arena; NULL: out of memory. */
static const struct line_changes *run_line_changes(struct run *run, char **env, bool elsewhere)
{
    struct line_changes *line = ARENA_NEW(&run->plan.arena, struct line_changes);
    bool sweep = opt_text(&run->plan.opts, OPTION_SWEEP) && strcmp(run->wire->scope, "series") == 0;
    if (line)
        *line = line_changes_of(run->plan.argv, env, run->plan.cwd, elsewhere, sweep, &run->plan.arena);
    return line;
}

/* Sets run->host, what probes may know of machine, program and options. host.root is a new
 * descriptor. */
static void run_set_host(struct run *run, char **env)
{
    struct elsewhere_ways ways = elsewhere_find_ways(run->plan.argv, env, &run->plan.arena);
    const char *elsewhere = elsewhere_reason(run->plan.argv, env, &run->plan.arena);
    const struct line_changes *line = run_line_changes(run, env, elsewhere != NULL);
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC); /* a sandbox may deny listing it */
    run->host = (struct host){.root = root,
                              .root_path = "/",
                              .real = true,
                              .env = env,
                              .variables = line ? &line->variables : NULL,
                              .argv = run->plan.program,
                              .full_argv = run->plan.argv,
                              .elsewhere = root < 0 && !elsewhere ? "the root folder / cannot be opened" : elsewhere,
                              .other_root = line ? line->other_root : NULL,
                              .other_folder = line ? line->other_folder : NULL,
                              .served = ways.served ? ways.served : elsewhere,
                              .submits = ways.submits,
                              .own_job = ways.own_job,
                              .hidden_job = job_above(),
                              .starts_ranks = peel_is_parallel(run->plan.argv),
                              .regrouped = ways.regrouped,
                              .soft_limits = run->wire->soft_limits,
                              .saw = starter_watch_saw,
                              .saw_context = run,
                              .cwd = line ? line->cwd : run->plan.cwd,
                              .spool = -1,
                              .metadata = opt_text(&run->plan.opts, OPTION_CLOUD_METADATA),
                              .power_command = opt_text(&run->plan.opts, OPTION_POWER_COMMAND),
                              .counters = opt_on(&run->plan.opts, OPTION_COUNTERS),
                              .public_profile = strcmp(opt_text(&run->plan.opts, OPTION_PROFILE), "public") == 0};
}

/* Sets the maximum bytes of streams and files. A published run must be small, since all sites fetch
 * it; half of its maximum is for the streams. */
static void run_set_limits(struct run *run)
{
    const struct opt_value *asked = opt_find(&run->plan.opts, OPTION_ARTIFACT_MAX);
    uint64_t max = opt_bytes(&run->plan.opts, OPTION_ARTIFACT_MAX);
    if (asked->origin == OPT_DEFAULT && run->host.public_profile)
        max = PUBLISHED_MAX;
    run->log_max = opt_bytes(&run->plan.opts, OPTION_LOG_MAX);
    if (opt_find(&run->plan.opts, OPTION_LOG_MAX)->origin == OPT_DEFAULT && run->log_max > max / 4)
        run->log_max = max / 4;
    uint64_t streams = 2 * run->log_max;
    run->files_max = max;
    run->keep_left = streams < max / 2 ? max - streams : max / 2;
}

/* Sets the price of a node hour. 0; -1 with err: the command line has no price. From the
 * environment or a file that is only a warning. */
static int run_set_price(struct run *run, struct err *err)
{
    const struct opt_value *price = opt_find(&run->plan.opts, OPTION_NODE_HOUR_PRICE);
    if (energy_results_check_price(price->text, err) == 0) {
        run->node_hour_price = price->text;
        return 0;
    }
    if (price->origin == OPT_COMMAND_LINE)
        return -1;
    plan_warn(&run->plan, arena_printf(&run->plan.arena, "%s; ignored", err->text));
    return 0;
}

static void write_to_stream(void *stream, const void *p, size_t n)
{
    spool_stream_write(stream, p, n);
}

/* Warns where a starter behind benchwrap binds the program: the probes have recorded the binding of
 * benchwrap itself. */
static void warn_of_binding(struct run *run)
{
    const char *binder = elsewhere_find_ways(run->plan.argv, run->host.env, &run->plan.arena).binder;
    if (binder && record_find(&run->record, FACT_PARAM, "cpu.bound_list"))
        record_warning(&run->record, "%s binds the program: cpu.bound_* and numa.bound_nodes are those of benchwrap", binder);
}

/* Returns how long the program waits for the list of the rules' files: in all no longer than
 * --probe-wait. */
static int64_t files_wait_ns(const struct run *run)
{
    const struct opt_set *set = &run->plan.opts;
    bool given = opt_find(set, OPTION_PROBE_WAIT)->origin != OPT_DEFAULT;
    return given ? (int64_t)(opt_seconds(set, OPTION_PROBE_WAIT) * 1e9) : FILES_WAIT_MS * INT64_C(1000000);
}

int run_begin(struct run *run, int argc, char **argv, char **env, struct err *err)
{
    if (plan_make(&run->plan, argc, argv, env, err) || run_live_check(run, err) || run_set_price(run, err))
        return -1;
    run_exports_hide(run, env);
    run_set_host(run, env);
    run_set_limits(run);
    if (redaction_begin(&run->redaction, run->host.public_profile, &run->host, err))
        return -1;
    run->host.redact = &run->redaction.redact;
    run->told_argv = redaction_argv(&run->redaction, run->plan.argv, &run->plan.arena);
    const char *experiment = redaction_name(&run->redaction, run->plan.experiment_given, &run->plan.arena);
    if (!experiment || !(run->plan.experiment = plan_experiment_legal(experiment, &run->plan.arena)))
        return err_memory(err, "the name of the experiment");
    run_report(run, WIRE_ACCEPTED, 0, "");
    files_look_begin(&run->files, run->plan.rules, run->plan.program);
    run->sample_ns = (int64_t)(opt_seconds(&run->plan.opts, OPTION_SAMPLE) * 1e9);
    follow_parent(run);
    if (!run->plan.experiment)
        return err_memory(err, "the recorder");
    if (run_open_spool(run, err) || run_open_journal(run, err))
        return -1;
    record_init(&run->record, run->wire->run_id, run->wire->start_wall_ms);
    run->record.listen = journal_fact;
    run->record.context = run->journal;
    redaction_of_record(&run->redaction, &run->record);
    spool_stream_init(&run->streams[0], run->spool.dir, "stdout.log", run->log_max);
    spool_stream_init(&run->streams[1], run->spool.dir, "stderr.log", run->log_max);
    for (int i = 0; i < WIRE_STREAMS; i++)
        redact_stream_init(&run->cleaned[i], &run->redaction.streams, write_to_stream, &run->streams[i]);
    run->host.spool = run->spool.dir;
    struct buf cache CLEANUP_BUF;
    buf_init(&cache, 4096);
    if (probes_cache_dir(env, &cache))
        run->host.cache = arena_dup(&run->plan.arena, cache.p, cache.n);
    record_identity(run);
    step_record(run);
    journal_flush(run->journal, false, NULL);
    run_server_begin(run);
    probes_run(PROBE_BEFORE, run->nested, &run->host, &run->record);
    warn_of_binding(run);
    child_work_wait(&run->files, clock_mono_ns() + files_wait_ns(run));
    return 0;
}
