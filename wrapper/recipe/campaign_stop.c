/* campaign_stop.c: end a campaign; see campaign_stop.h. */
#include "recipe/campaign_stop.h"

#include "base/fs.h"
#include "base/query.h"
#include "run/finish.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { STOP_WAIT_S = 60, STOP_QUERY_MS = 30000, STOP_QUERY_BYTES = 64 << 10 };

/* ---- the process and its job ---- */

/* Waits until the owner is gone. */
static int await_owner_end(const struct campaign_state *s, const struct campaign_owner *owner, FILE *out, struct err *err)
{
    const struct timespec pause = {0, 50000000};
    for (int i = 0; i < STOP_WAIT_S * 20 && campaign_state_owner(s).pid == owner->pid; i++)
        nanosleep(&pause, NULL);
    if (campaign_state_owner(s).pid == owner->pid)
        return err_set(err, ERR_SYSTEM, "process %ld on %s still runs after %d s", (long)owner->pid, owner->host, STOP_WAIT_S);
    fprintf(out, "stopped; `benchwrap recipe run` resumes it\n");
    return 0;
}

/* True if the program ends with status 0. *ret_any: it has printed something. ret_any NULL: not
 * needed. */
static bool is_query_good(const char *const *words, bool *ret_any)
{
    struct query q = QUERY_NONE;
    bool good = query_start(&q, (char *const *)words, environ, STOP_QUERY_BYTES, STOP_QUERY_MS, QUERY_NO_NICE, NULL) == 0 &&
                query_wait(&q, STOP_QUERY_MS) == QUERY_DONE && q.status == 0;
    if (ret_any)
        *ret_any = q.text.n > 0;
    query_close(&q);
    return good;
}

/* Cancels a job, "slurm:123": the process in it gets SIGTERM. False: the scheduler does not know it any more. */
static bool cancel_campaign_job(const char *job)
{
    const char *colon = strchr(job, ':'), *id = colon ? colon + 1 : job;
    bool any;
    if (str_starts(str_of(job), "pbs:"))
        return is_query_good((const char *const[]){"qdel", id, NULL}, NULL);
    if (str_starts(str_of(job), "lsf:"))
        return is_query_good((const char *const[]){"bkill", id, NULL}, NULL);
    if (!is_query_good((const char *const[]){"squeue", "--noheader", "--jobs", id, NULL}, &any) || !any)
        return false;
    bool waiting = is_query_good((const char *const[]){"scancel", "--state=PENDING", id, NULL}, NULL);
    return is_query_good((const char *const[]){"scancel", "--batch", "--signal=TERM", id, NULL}, NULL) || waiting;
}

static int stop_owner(const struct campaign_state *s, const struct campaign_owner *owner, const char *submitted, FILE *out, struct err *err)
{
    char host[sizeof owner->host];
    campaign_own_host(host, sizeof host);
    if (owner->job[0] && strcmp(owner->job, submitted) == 0 && cancel_campaign_job(owner->job))
        return await_owner_end(s, owner, out, err);
    if (strcmp(owner->host, host) != 0) {
        err_set(err, ERR_SYSTEM, "process %ld on %s executes the campaign", (long)owner->pid, owner->host);
        return err_hint(err, "run this command on %s", owner->host);
    }
    return kill(owner->pid, SIGTERM) ? err_sys(err, "cannot stop process %ld", (long)owner->pid) : await_owner_end(s, owner, out, err);
}

/* ---- the record ---- */

/* Publishes the record of an interrupted execution, as a run that was killed. */
static int close_record(struct campaign_state *s, const char *const *spools, FILE *out, struct err *err)
{
    struct spool spool;
    struct finished f;
    for (; *spools; spools++) {
        if (spool_open(&spool, *spools, s->parent, NULL))
            continue;
        int rc = spool_claim(&spool, err); /* first, so that no other process finishes it as well */
        if (rc == 0) {
            unlinkat(spool.dir, SPOOL_HELD, 0);
            rc = finish_run(&spool, NULL, &f, err);
            if (rc == 0) {
                fprintf(out, "the record is closed: %s\n", f.place);
                spool_release(&spool, err);
            }
            finished_deinit(&f);
        }
        spool_close(&spool);
        if (rc)
            return rc < 0 ? -1 : err_set(err, ERR_SYSTEM, "another process closes the record");
        s->closed = true;
        return campaign_state_save(s, err);
    }
    fprintf(out, "nothing runs, and the record is closed\n");
    return 0;
}

/* The job that was submitted last; "": none. */
static void read_submitted_job(int dir, struct buf *ret)
{
    struct err ignored = {0};
    buf_puts(ret, "");
    if (dir < 0 || fs_read(dir, CAMPAIGN_JOB, STOP_QUERY_BYTES, 0, ret, &ignored))
        buf_clear(ret);
}

int campaign_stop(const char *folder, const char *const *spools, FILE *out, struct err *err)
{
    struct campaign_state s;
    CLEANUP_BUF struct buf job;
    buf_init(&job, STOP_QUERY_BYTES + 1);
    int rc = campaign_state_open(&s, folder, false, err);
    if (rc >= 0 && s.dir >= 0 && campaign_state_claim(&s, err)) /* its files name the process, the job and the record that end */
        rc = -1;
    const struct campaign_owner owner = rc ? (struct campaign_owner){0} : campaign_state_owner(&s);
    read_submitted_job(s.dir, &job);
    const char *submitted = job.p && job.n < sizeof owner.job ? job.p : "";
    if (rc >= 0 && owner.pid)
        rc = stop_owner(&s, &owner, submitted, out, err);
    else if (rc >= 0 && submitted[0] && cancel_campaign_job(submitted)) {
        fprintf(out, "the job %s is cancelled; it had not begun\n", strchr(submitted, ':') ? strchr(submitted, ':') + 1 : submitted);
        rc = 0;
    } else if (rc > 0)
        rc = err_set(err, ERR_INPUT, "%s has no campaign", folder);
    else if (rc == 0)
        rc = close_record(&s, spools, out, err);
    campaign_state_close(&s);
    return rc;
}
