/* campaign_submit.c: submit a campaign's batch script to Slurm, PBS or LSF. */
#include "recipe/campaign_submit.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/query.h"
#include "recipe/campaign_state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SUBMIT_MS = 60000, SUBMIT_BYTES = 64 << 10, TURN_MS = 500 };

/* The id in what the scheduler answers: a number, "123.server", "Job <123> is submitted". */
static struct str job_id_of(struct str text)
{
    size_t from = 0, n = 0;
    while (from < text.n && !str_is_digit(text.p[from]))
        from++;
    while (from + n < text.n &&
           (str_is_digit(text.p[from + n]) || (n && (str_is_letter(text.p[from + n]) || strchr("._[]-", text.p[from + n])))))
        n++;
    return str_sub(text, from, n);
}

/* Writes the job's scheduler and id into the campaign's folder, where status and stop read them.
 * 0; -1 with err: the job runs, and they do not know it. */
static int store_job(enum recipe_scheduler scheduler, const char *folder, struct str id, struct arena *a, struct err *err)
{
    static const char *const names[] = {"slurm", "pbs", "lsf"};
    const char *path = arena_printf(a, "%s/" CAMPAIGN_JOB, folder), *text = arena_printf(a, "%s:" STR_FMT, names[scheduler], STR_ARG(id));
    int rc = path && text ? fs_write(AT_FDCWD, path, str_of(text), 0600, false, err) : err_memory(err, "the job");
    return rc ? err_wrap(err, "the job " STR_FMT " was submitted, and its number cannot be stored", STR_ARG(id)) : 0;
}

int campaign_submit(enum recipe_scheduler scheduler, const char *script, const char *folder, bool wait, struct arena *a, FILE *out,
                    struct err *err)
{
    static const char *const programs[] = {"sbatch", "qsub", "bsub"};
    char *words[8] = {(char *)programs[scheduler]};
    CLEANUP_BUF struct buf text;
    size_t n = 1;
    bool by_input = scheduler == RECIPE_LSF; /* it reads the directives of its input alone */
    struct query q = QUERY_NONE;
    bool printed = false;
    int rc = 0;
    if (scheduler == RECIPE_SLURM)
        words[n++] = (char *)"--parsable";
    if (wait)
        words[n++] = scheduler == RECIPE_SLURM ? (char *)"--wait" : scheduler == RECIPE_LSF ? (char *)"-K" : (char *)"-Wblock=true";
    if (!by_input)
        words[n] = (char *)script;
    buf_init(&text, SUBMIT_BYTES);
    if ((by_input && fs_read(AT_FDCWD, script, SUBMIT_BYTES - 1, 0, &text, err)) ||
        query_start(&q, words, environ, SUBMIT_BYTES, wait ? 0 : SUBMIT_MS, QUERY_NO_NICE | (by_input ? QUERY_INPUT : 0), err))
        return -1;
    bool whole = !by_input || query_write_input(&q, buf_text(&text), SUBMIT_MS);
    enum query_end end;
    do {
        end = query_wait(&q, TURN_MS);
        struct str id = job_id_of(buf_text(&q.text));
        if (!printed && id.n && (memchr(q.text.p, '\n', q.text.n) || end != QUERY_RUNS)) {
            fprintf(out, "job " STR_FMT "\n", STR_ARG(id));
            fflush(out);
            printed = true;
            rc = store_job(scheduler, folder, id, a, err);
        }
    } while (end == QUERY_RUNS);
    if (end != QUERY_DONE || !printed)
        rc = err_set(err, ERR_SYSTEM, "%s did not accept the script%s%.300s", programs[scheduler], *query_reason(&q) ? ": " : "",
                     query_reason(&q));
    else if (rc == 0 && !whole)
        rc = err_set(err, ERR_SYSTEM, "%s did not read the whole script: the job is not complete", programs[scheduler]);
    else if (rc == 0 && q.status != 0)
        rc = 1;
    query_close(&q);
    return rc;
}
