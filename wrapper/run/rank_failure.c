/* rank_failure.c: a launcher's own message that a rank failed, in the output of a program that ended with exit status 0: `mpirun prog | tee log`, or a script
 * that continues after mpirun. */
#include "run/rank_failure.h"

#include "run/state.h"

enum { SHOWN = 160 };

/* How a line begins, and what it has besides; "": anything. */
static const struct {
    const char *begin, *text, *more;
} messages[] = {
    {"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", "", ""}, /* Hydra, Intel MPI */
    {"YOUR APPLICATION TERMINATED WITH THE EXIT STRING", "", ""},
    {"Primary job  terminated normally, but ", "process", ""}, /* Open MPI; the next three PRRTE, too */
    {"", "detected that one or more processes exited with non-zero status", ""},
    {"", " noticed that process rank ", ""},
    {"MPI_ABORT was invoked on rank ", "", ""},
    {"Abort(", ") on node ", ""}, /* MPICH */
    {"srun: error: ", ": task ", ": "}, /* "srun: error: n1: task 3: Exited with exit code 7", "… tasks 0-1: Killed" */
    {"srun: error: ", ": tasks ", ": "},
    {"flux-job: task(s) exited with ", "", ""},
    {"Application ", " exit codes: ", ""}, /* aprun */
    {"", ": rank ", " exited with code "}, /* PALS: "node1: rank 3 exited with code 1" */
    {"", ": rank ", " died from signal "},
    {"ERROR:  One or more process (first noticed rank ", "", ""}, /* jsrun */
};

/* Returns whether the line is such a message of Open MPI, PRRTE, MPICH's Hydra, Intel MPI, srun,
 * PALS, aprun, jsrun or flux. */
static bool rank_failure_is_message(struct str line)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (str_starts(line, messages[i].begin) && str_has(line, messages[i].text) && str_has(line, messages[i].more))
            return true;
    return false;
}

struct first {
    char line[STREAM_LINE_MAX];
    size_t n;
};

static void take_first(void *context, struct str line)
{
    struct first *f = context;
    if (f->n || !rank_failure_is_message(line))
        return;
    memcpy(f->line, line.p, line.n);
    f->n = line.n;
}

void rank_failure_warn(struct run *run)
{
    static const char *const logs[] = {"stderr.log", "stdout.log"};
    struct first first = {.n = 0};
    for (size_t i = 0; i < sizeof logs / sizeof *logs && !first.n; i++)
        spool_stream_lines(run->spool.dir, logs[i], run->log_max, take_first, &first);
    struct str line = str_sub((struct str){first.line, first.n}, 0, SHOWN);
    if (line.n)
        record_warning(&run->record, "the exit status is 0, but a launcher reports that a rank failed: " STR_FMT, STR_ARG(str_trim(line)));
}
