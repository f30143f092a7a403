/* run.c: the recorder of one run: begin, watch, end, publish it in the tree. */
#include "run/run.h"

#include "base/clock.h"
#include "base/fs.h"
#include "run/commit.h"
#include "run/exports.h"
#include "run/leftovers.h"
#include "run/state.h"
#include "run/summary.h"
#include "run/usual.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SUMMARY_MAX = 256 << 10, /* bytes of a text that is sent in pieces */
    SETTLED_S = 60 /* published runs younger than this are left to a later sweep: the kernel has not written them yet */
};

void run_report(const struct run *run, uint32_t kind, int status, const char *text)
{
    if (run->tell) {
        run->tell(kind, text ? text : "");
        return;
    }
    struct wire_msg m = {.kind = kind, .status = status};
    snprintf(m.text, sizeof m.text, "%s", text ? text : "");
    while (send(WIRE_SOCKET_FD, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

void run_warn_silently(struct run *run, const char *text)
{
    const char *source = run->record.source;
    run->record.source = SUMMARY_TOLD;
    record_warning(&run->record, "%s", text);
    run->record.source = source;
}

void run_warn(struct run *run, const char *text)
{
    run_warn_silently(run, text);
    run_report(run, WIRE_NOTE, 0, text);
}

/* Returns until when the recorder must report, monotonic ns: before the launcher, which waits
 * --finish-wait from the program's end on. */
static int64_t finish_wait_until(const struct run *run)
{
    int64_t from = run->end.kind == WIRE_ENDED ? run->end.mono_ns : clock_mono_ns();
    return from + (int64_t)(opt_seconds(&run->plan.opts, OPTION_FINISH_WAIT) * 0.9e9);
}

/* Returns half of what is left until finish_wait_until, in ns: building and sending the run come
 * after. */
static int64_t half_of_wait_ns(const struct run *run)
{
    return (finish_wait_until(run) - clock_mono_ns()) / 2;
}

bool run_is_patient(const struct run *run)
{
    return opt_find(&run->plan.opts, OPTION_FINISH_WAIT)->origin != OPT_DEFAULT;
}

int64_t run_answer_ms(const struct run *run, int64_t usual_ms)
{
    int64_t half_ms = run_is_patient(run) && !job_hurries(run) ? half_of_wait_ns(run) / 1000000 : 0;
    return half_ms > usual_ms ? half_ms : usual_ms;
}

/* Sends a text of any length to the launcher, in pieces. */
static void send_summary_text(struct run *run, struct str text)
{
    char piece[sizeof((struct wire_msg *)0)->text];
    while (text.n) {
        size_t n = text.n < sizeof piece ? text.n : sizeof piece - 1;
        memcpy(piece, text.p, n);
        piece[n] = 0;
        run_report(run, WIRE_SUMMARY, 0, piece);
        text = str_sub(text, n, text.n);
    }
}

/* Sends what the launcher prints at the end: the summary, unless --quiet, and what the server has
 * or lacks. */
static void send_summary(struct run *run, const struct finished *f, char *const *env)
{
    const struct wire *w = run->wire;
    const struct screen screen = {.width = w->columns ? w->columns : SIZE_MAX, .is_terminal = w->is_terminal, .has_colour = w->has_colour};
    const struct opt_value *tree = opt_find(&run->plan.opts, OPTION_TREE);
    bool quiet = opt_on(&run->plan.opts, OPTION_QUIET);
    struct query ask = QUERY_NONE;
    struct buf text CLEANUP_BUF, shown CLEANUP_BUF, server CLEANUP_BUF;
    buf_init(&text, SUMMARY_MAX);
    buf_init(&shown, SUMMARY_MAX);
    buf_init(&server, SUMMARY_MAX);
    if (!quiet && summary_has_results(&f->record))
        usual_begin(&ask, f, env, run_answer_ms(run, USUAL_LIMIT_MS));
    bool sent = run_server_finish(run, finish_wait_until(run), &screen, &server);
    struct json *usual = usual_end(&ask);
    const struct summary s = {.f = f,
                              .screen = &screen,
                              .spool = run->spool.dir,
                              .usual = usual,
                              .tree_option = tree && tree->origin == OPT_COMMAND_LINE ? tree->text : NULL};
    if (!quiet)
        summary_print(&s, &text);
    json_free(usual);
    if (!quiet || !sent)
        buf_str(&text, buf_text(&server));
    screen_prefix(&screen, "benchwrap", buf_text(&text), &shown);
    send_summary_text(run, buf_text(&shown));
}

/* Writes for --gate why the verdict is not pass; leaves the text as it is where it is pass. */
static void describe_verdict(const struct finished *f, char *text, size_t size)
{
    if (strcmp(f->verdict, "fail") == 0)
        snprintf(text, size, "the verdict is fail%s%.400s", f->reason[0] ? ": " : "", f->reason);
    else if (strcmp(f->verdict, "pass") != 0)
        snprintf(text, size, "there is no verdict, as %.400s",
                 f->reason[0] ? f->reason : "no rule file and no reference (-R FILE) judges this run");
}

/* Makes the recorded run one in the tree, and reports its outcome. 0; else the run is kept in the
 * spool, which is reported. */
static int finish_and_report(struct run *run, char **env)
{
    struct finished f = {0};
    struct err err = {0};
    int verdict = 0;
    char gate[500] = "";
    run_record_end(run);
    int rc = journal_flush(run->journal, false, &err);
    run_server_fetch(run, clock_mono_ns() + half_of_wait_ns(run));
    if (rc < 0)
        run_report(run, WIRE_NOTE, 0, err.text);
    if (rc)
        err_set(&err, ERR_SYSTEM, "the journal is incomplete");
    else
        rc = finish_run(&run->spool, &(struct finish_program){env, run->redaction.redact.ids}, &f, &err);
    if (rc == 0) {
        send_summary(run, &f, env);
        run_commit_report(run, &f);
        run_exports_wait(run);
        verdict = strcmp(f.verdict, "pass") != 0;
        describe_verdict(&f, gate, sizeof gate);
        if (f.note[0])
            run_report(run, WIRE_NOTE, 0, f.note);
    } else {
        struct buf where CLEANUP_BUF;
        char text[1400];
        buf_init(&where, 4096);
        spool_path(&run->spool, &where);
        snprintf(text, sizeof text, "%.900s; the run is kept in %.300s, finish it with \"benchwrap sync --local\"", err.text,
                 buf_text(&where).p);
        run_report(run, WIRE_NOTE, 0, text);
        verdict = 1;
        snprintf(gate, sizeof gate, "there is no verdict, as the run is not finished");
    }
    run_report(run, WIRE_DONE, verdict, gate);
    finished_deinit(&f);
    return rc;
}

/* Locks the spool folder for cleaning up: of a hundred short runs each would sync the files of all.
 * False: another process has the lock. */
static bool lock_leftovers(const char *root, int *ret_lock)
{
    *ret_lock = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; /* some file systems lock no directories */
}

/* Syncs the journal after the launcher's end, and finishes or releases what earlier runs left.
 * Lowest priority: the next measurement may have begun. This run is left to a later one: by then
 * the kernel has written most of it without being pushed. */
static void clean_up_after_run(struct run *run)
{
    enum { IOPRIO_IDLE = 3 << 13 };
    struct err err = {0};
    struct leftovers_count swept;
    int lock;
    close(WIRE_SOCKET_FD);
    setpriority(PRIO_PROCESS, 0, 19);
    syscall(SYS_ioprio_set, 1, 0, IOPRIO_IDLE);
    journal_flush(run->journal, true, &err);
    if (lock_leftovers(run->plan.spool, &lock))
        finish_leftovers(run->plan.spool, run->spool.name, SETTLED_S, NULL, NULL, &swept);
    fs_close(&lock);
}

int run_record(int argc, char **argv, char **env)
{
    struct run run = {.spool = SPOOL_NONE,
                      .files = CHILD_WORK_NONE,
                      .syncer = CHILD_WORK_NONE,
                      .signals = -1,
                      .server = {.line = -1, .start_ns = INT64_MAX},
                      .job = RUN_JOB_NONE,
                      .nodes = RUN_COLLECTORS_NONE,
                      .step = RUN_STEP_NONE,
                      .profiler = PROFILER_NONE};
    struct err err = {0};
    prctl(PR_SET_NAME, "benchwrap-rec");
    if (run_map(&run, &err) || run_begin(&run, argc, argv, env, &err)) {
        bool refuse = err.kind == ERR_USAGE || err.kind == ERR_INPUT || (run.plan.opts.count && opt_on(&run.plan.opts, OPTION_STRICT));
        run_report(&run, refuse ? WIRE_REFUSE : WIRE_NOTE, 0, err.text);
        return 1;
    }
    run_server_share(&run);
    run_report(&run, WIRE_READY, 0, "");
    job_begin(&run);
    probes_run(PROBE_BESIDE, run.nested, &run.host, &run.record);
    run_watch(&run);
    run_live_end(&run);
    run_server_ended(&run);
    if (run.end.kind == WIRE_NOEXEC) {
        probes_end(&run.host); /* child processes of probes write into the spool */
        job_close(&run);
        collectors_close(&run);
        step_close(&run);
        profiler_close(&run);
        run_server_discard(&run);
        journal_close(run.journal);
        spool_discard(&run.spool, &err);
        run_report(&run, WIRE_DONE, 0, "");
        run_server_close(&run);
        return 0;
    }
    run_drain(&run);
    int rc = finish_and_report(&run, env);
    probes_end(&run.host);
    redaction_end(&run.redaction);
    clean_up_after_run(&run);
    if (rc == 0) {
        run_exports_start(&run);
        run_commit(&run);
    }
    job_end_late(&run);
    run_server_close(&run);
    journal_close(run.journal);
    return rc ? 1 : 0;
}
