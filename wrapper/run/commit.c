/* commit.c: a run recorded in a results repository is committed; see run/commit.h. */
#include "run/commit.h"

#include "base/fs.h"
#include "base/place.h"
#include "plan/results.h"
#include "results/commit_runs.h"
#include "results/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TROUBLE "commit-trouble" /* below .benchwrap: why the last commit failed */
enum { WAIT_S = 60, PATH_BYTES = 4200 };

/* Returns whether the runs of this plan go into a results repository, and --commit is not
 * "none". */
static bool is_committed(const struct plan *p)
{
    char tree[PATH_BYTES];
    if (!p->repository || strcmp(opt_text(&p->opts, OPTION_COMMIT), "none") == 0)
        return false;
    snprintf(tree, sizeof tree, "%s/mlruns", strcmp(p->repository, "/") ? p->repository : "");
    return strcmp(tree, p->tree) == 0;
}

static bool is_run_committed(const struct run *run)
{
    return !run->nested && !run->wire->in_series && is_committed(&run->plan);
}

/* Opens .benchwrap of the repository; make: as for place_open_below. Returns the descriptor; -1:
 * there is none, or it is another user's link. */
static int open_state(const struct run *run, mode_t make)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%.4000s/.benchwrap", run->plan.repository);
    return place_open_below(path, 1, make);
}

/* ---- reports to the user ---- */

/* Prints why earlier runs are not committed, if an earlier commit has noted a reason. */
static void report_commit_trouble(const struct run *run)
{
    char text[1400];
    CLEANUP_BUF struct buf why;
    CLEANUP_FD int state = open_state(run, 0);
    buf_init(&why, 4096);
    if (state < 0 || fs_read(state, TROUBLE, 1000, FS_CUT, &why, NULL) < 0 || !why.n)
        return;
    struct str line = str_trim(buf_text(&why));
    snprintf(text, sizeof text, "runs before this one are not committed: " STR_FMT "; they are kept, \"benchwrap commit\" tries again",
             STR_ARG(line));
    run_report(run, WIRE_NOTE, 0, text);
}

/* Returns whether the experiment's folder has COMMIT_BATCH_FROM runs or more; counts no further. */
static bool is_large(const struct run *run, uint32_t experiment)
{
    char path[PATH_BYTES];
    size_t n = 0;
    snprintf(path, sizeof path, "%.4000s/%" PRIu32, run->plan.tree, experiment);
    DIR *d = opendir(path);
    for (struct dirent *e; d && n < COMMIT_BATCH_FROM && (e = readdir(d));)
        n += record_is_id(str_of(e->d_name));
    if (d)
        closedir(d);
    return n >= COMMIT_BATCH_FROM;
}

/* Prints, once for each experiment, that its runs are committed in batches from now on. */
static void report_batches(const struct run *run, const struct finished *f)
{
    char name[64], text[600];
    snprintf(name, sizeof name, "batches-%" PRIu32, f->experiment);
    CLEANUP_FD int state = open_state(run, 0);
    if (state < 0 || strcmp(opt_text(&run->plan.opts, OPTION_COMMIT), "run") != 0 ||
        faccessat(state, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || !is_large(run, f->experiment) ||
        fs_create(state, name, (struct str){"", 0}, 0666, NULL))
        return;
    snprintf(
        text, sizeof text,
        "experiment %.128s has %d runs: from now on they are committed in batches (once a day, by \"benchwrap share\" or \"benchwrap commit\"), "
        "since each commit writes the complete list of names",
        f->experiment_name ? f->experiment_name : "", COMMIT_BATCH_FROM);
    run_report(run, WIRE_NOTE, 0, text);
}

void run_commit_report(const struct run *run, const struct finished *f)
{
    if (!is_run_committed(run))
        return;
    report_commit_trouble(run);
    report_batches(run, f);
}

/* ---- what is done ---- */

/* Commits the run `mine`, or all new ones with NULL, as --commit states. 0, also where nothing can
 * be committed now; -1 with err. */
static int commit_by_policy(const struct plan *plan, const char *mine, struct arena *a, struct err *err)
{
    struct results s;
    struct commit_done done;
    bool each = strcmp(opt_text(&plan->opts, OPTION_COMMIT), "run") == 0;
    int rc = plan_results(plan, NULL, false, a, &s, err);
    if (rc)
        return rc > 0 ? 0 : -1; /* not set up: a clone that only records */
    struct commit_wish wish = {.mine = mine, .when = each ? COMMIT_EACH : COMMIT_DAILY, .wait_s = WAIT_S};
    rc = commit_runs(&s, &wish, &done, err);
    results_close(&s);
    return rc < 0 ? -1 : 0; /* who waited in vain leaves it to whoever is at work */
}

void run_commit(const struct run *run)
{
    struct arena a;
    struct err err = {0};
    if (!is_run_committed(run))
        return;
    CLEANUP_FD int state = open_state(run, 0700);
    arena_init(&a, 0);
    if (commit_by_policy(&run->plan, run->record.id, &a, &err))
        fs_write(state, TROUBLE, str_of(err.text), 0666, false, NULL);
    else
        unlinkat(state, TROUBLE, 0);
    arena_deinit(&a);
}

void run_commit_made(const struct plan *p, const char *verb, FILE *notes)
{
    struct arena a;
    struct err err = {0};
    if (!is_committed(p))
        return;
    arena_init(&a, 0);
    if (commit_by_policy(p, NULL, &a, &err))
        fprintf(notes, "benchwrap: %s: the runs are not committed: %s; they are kept, \"benchwrap commit\" tries again\n", verb, err.text);
    arena_deinit(&a);
}

void run_commit_in_background(const struct run *run)
{
    pid_t pid = is_run_committed(run) ? fork() : -1;
    if (pid > 0)
        waitpid(pid, NULL, 0);
    if (pid)
        return;
    if (fork() == 0) { /* orphaned, so that no process must wait for it */
        int null = open("/dev/null", O_RDWR);
        setsid();
        for (int i = 0; null >= 0 && i < 3; i++)
            dup2(null, i);
        setpriority(PRIO_PROCESS, 0, 19);
        run_commit(run);
    }
    _exit(0);
}
