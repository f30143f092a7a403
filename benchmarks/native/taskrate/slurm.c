/* slurm.c: what the Slurm providers share: configuration, limits, sdiag, the queue, and ending jobs by name. */
#include "benchmarks/native/taskrate/slurm.h"

#include "benchmarks/native/taskrate/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MAX = 4 << 20 };

/* What limits the task rate, by the names of `scontrol show config`. */
static const char *const config_keys[] = {"SLURM_VERSION",
                                          "SchedulerType",
                                          "SchedulerParameters",
                                          "SchedulerTimeSlice",
                                          "SelectType",
                                          "SelectTypeParameters",
                                          "PriorityType",
                                          "PreemptType",
                                          "MinJobAge",
                                          "MaxJobCount",
                                          "MaxArraySize",
                                          "MaxStepCount",
                                          "AccountingStorageType",
                                          "AccountingStorageEnforce",
                                          "JobAcctGatherType",
                                          "JobAcctGatherFrequency",
                                          "JobCompType",
                                          "ProctrackType",
                                          "TaskPlugin",
                                          "TaskProlog",
                                          "TaskEpilog",
                                          "Prolog",
                                          "Epilog",
                                          "PrologSlurmctld",
                                          "EpilogSlurmctld",
                                          "PrologFlags",
                                          "SlurmctldParameters",
                                          "SlurmdParameters",
                                          "LaunchParameters",
                                          "LaunchType",
                                          "SwitchType",
                                          "TopologyPlugin",
                                          "AuthType",
                                          "JobSubmitPlugins",
                                          "CliFilterPlugins",
                                          "BatchStartTimeout",
                                          "MessageTimeout",
                                          "CompleteWait",
                                          "KillWait",
                                          "TreeWidth",
                                          "SlurmctldDebug",
                                          "SlurmdDebug",
                                          "StateSaveLocation"};

struct str slurm_config_value(struct str text, const char *key)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n'), name = str_cut(&line, '=');
        if (line.p && str_is(str_trim(name), key))
            return str_trim(line);
    }
    return (struct str){"", 0};
}

struct str slurm_config_shown(const char *key, struct str value)
{
    bool path = strcmp(key, "StateSaveLocation") == 0 || strstr(key, "rolog") || strstr(key, "pilog");
    if (!path || strcmp(key, "PrologFlags") == 0)
        return value;
    return value.n == 0 || str_is(value, "(null)") ? STR("none") : STR("set");
}

/* Records the controller's configuration as facts. Returns 0, or another value with *err where
 * scontrol fails. */
static int slurm_read_config(struct bench *b, struct err *err)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, ANSWER_MAX);
    setenv("SLURM_TIME_FORMAT", "standard", 1);
    if (queue_ask(b, &out, err, "scontrol", "show", "config", NULL) < 0)
        return err_wrap(err, "cannot read the Slurm controller's configuration, so nothing was submitted");
    for (size_t i = 0; i < sizeof config_keys / sizeof config_keys[0]; i++) {
        struct str value = slurm_config_value(buf_text(&out), config_keys[i]);
        value = slurm_config_shown(config_keys[i], value);
        if (value.n && strcmp(config_keys[i], "StateSaveLocation") != 0)
            bench_fact(b, config_keys[i], value);
    }
    b->scheduler_version = bench_fact_of(b, "SLURM_VERSION");
    return 0;
}

/* Returns the partition of the jobs, or, without them, of the allocation that srun uses; NULL: the
 * default partition. */
static const char *slurm_partition(const struct bench *b, bool jobs)
{
    const struct argument_words *w = &b->set.extra;
    if (!jobs && getenv("SLURM_JOB_ID"))
        return getenv("SLURM_JOB_PARTITION");
    for (size_t i = 0; i < w->n; i++) {
        if (strncmp(w->word[i], "--partition=", 12) == 0)
            return w->word[i] + 12;
        if ((strcmp(w->word[i], "-p") == 0 || strcmp(w->word[i], "--partition") == 0) && i + 1 < w->n)
            return w->word[i + 1];
        if (strncmp(w->word[i], "-p", 2) == 0 && w->word[i][2])
            return w->word[i] + 2;
    }
    if (jobs)
        return getenv("SBATCH_PARTITION") ? getenv("SBATCH_PARTITION") : getenv("SLURM_PARTITION");
    return getenv("SALLOC_PARTITION");
}

uint64_t slurm_count_processors(struct str list)
{
    uint64_t sum = 0, processors, nodes;
    while (list.n) {
        struct str one = str_cut(&list, ','), count = str_cut(&one, '(');
        bool repeated = str_starts(one, "x") && str_ends(one, ")");
        if (!str_uint(count, &processors) || (one.n && !repeated))
            return 0;
        if (!repeated)
            nodes = 1;
        else if (!str_uint(str_sub(one, 1, one.n - 2), &nodes))
            return 0;
        if (processors > UINT32_MAX || nodes > UINT32_MAX || (sum += processors * nodes) > UINT32_MAX)
            return 0;
    }
    return sum;
}

/* Processors of the nodes that accept jobs, and what is wrong with the others. */
static int slurm_count_slots(struct bench *b, bool jobs, struct err *err)
{
    const char *wanted = slurm_partition(b, jobs);
    CLEANUP_BUF struct buf out, wrong;
    size_t cpus = 0, usable = 0, others = 0;
    buf_init(&out, ANSWER_MAX);
    buf_init(&wrong, 600);
    if (queue_ask(b, &out, err, "sinfo", "-h", "-N", "-o", "%P|%a|%T|%c|%N|%E", wanted ? "-p" : NULL, wanted, NULL) < 0)
        return err_wrap(err, "cannot read the Slurm controller's nodes, so nothing was submitted");
    for (struct str rest = buf_text(&out); rest.n;) {
        struct str line = str_cut(&rest, '\n'), name = str_cut(&line, '|'), avail = str_cut(&line, '|'), state = str_cut(&line, '|'),
                   count = str_cut(&line, '|'), node = str_cut(&line, '|');
        uint64_t n = 0;
        if (!wanted && !str_ends(name, "*"))
            continue;
        bool open = str_is(avail, "up");
        bool up =
            str_starts(state, "idle") || str_starts(state, "mixed") || str_starts(state, "allocated") || str_starts(state, "completing");
        if (open && up && !str_ends(state, "*") && str_uint(count, &n))
            cpus += n, usable++;
        else if (others++ < 3)
            buf_printf(&wrong, "%s" STR_FMT " is " STR_FMT "%s (" STR_FMT ")", wrong.n ? ", " : "", STR_ARG(node), STR_ARG(state),
                       open ? "" : " in a partition that is not up", STR_ARG(line));
    }
    if (!usable)
        return err_set(err, ERR_REMOTE, "no node of partition %s accepts jobs%s%s; nothing was submitted",
                       wanted ? wanted : "(the default one)", wrong.n ? ": " : "", wrong.n ? wrong.p : "");
    if (others)
        bench_note(b, "nodes that take no jobs: %zu of %zu: %s", others, others + usable, wrong.n ? wrong.p : "");
    b->slots = (unsigned)cpus;
    b->slots_from = "processors of the partition's usable nodes";
    return 0;
}

static uint64_t fact_number(const struct bench *b, const char *name, uint64_t otherwise)
{
    uint64_t v;
    struct str text = str_of(bench_fact_of(b, name));
    text = str_word(&text); /* "300 sec" */
    return str_uint(text, &v) ? v : otherwise;
}

/* rl_bucket_size=40 in SlurmctldParameters; otherwise. */
static uint64_t slurm_parameter(const struct bench *b, const char *name, uint64_t otherwise)
{
    struct str rest = str_of(bench_fact_of(b, "SlurmctldParameters"));
    while (rest.p) {
        struct str item = str_cut(&rest, ','), key = str_cut(&item, '=');
        uint64_t v;
        if (str_is(str_trim(key), name))
            return item.p && str_uint(str_trim(item), &v) ? v : 1;
    }
    return otherwise;
}

/* A site's token bucket for a user's calls (from 23.02): taskrate stays below it, one submission
 * after the other, and leaves some for queries. */
static void rate_limit(struct bench *b)
{
    static const double our_share = 0.9;
    if (!slurm_parameter(b, "rl_enable", 0))
        return;
    uint64_t period = slurm_parameter(b, "rl_refill_period", 1);
    double rate = (double)slurm_parameter(b, "rl_refill_rate", 2) / (period ? (double)period : 1);
    unsigned calls = b->provider->calls ? b->provider->calls : 1;
    double ours = our_share * rate / calls;
    b->set.evenly = true;
    if (b->set.rate > 0 && b->set.rate <= ours)
        return;
    bench_note(
        b,
        "the controller lets a user make %g calls a second (rl_refill_rate), and a submission makes %u: they are held to %.3g a second, "
        "and the results show that limit",
        rate, calls, ours);
    b->set.rate = ours;
}

/* Jobs that the controller has in its table, finished ones (MinJobAge) too. -1: not known. */
static int64_t slurm_count_jobs(struct bench *b)
{
    CLEANUP_BUF struct buf out;
    int64_t n = 0;
    buf_init(&out, ANSWER_MAX);
    if (queue_ask(b, &out, NULL, "squeue", "-h", "-r", "-t", "all", "-o", ".", NULL) < 0)
        return -1;
    for (size_t i = 0; i < out.n; i++)
        n += out.p[i] == '\n';
    return n;
}

size_t slurm_all_tasks(const struct bench *b)
{
    const struct bench_settings *s = &b->set;
    size_t all = 0, greatest = 0;
    for (size_t i = 0; i < s->size_count; i++) {
        all += s->sizes[i] * s->duration_count * s->repeat;
        greatest = s->sizes[i] > greatest ? s->sizes[i] : greatest;
    }
    return all + greatest * s->warmup + s->chain;
}

int slurm_begin(struct bench *b, size_t jobs, struct err *err)
{
    if (slurm_read_config(b, err) < 0 || slurm_count_slots(b, jobs > 0, err) < 0)
        return -1;
    rate_limit(b);
    if (!jobs)
        return 0;
    int64_t there = slurm_count_jobs(b);
    uint64_t most = fact_number(b, "MaxJobCount", 10000);
    if (there >= 0 && (uint64_t)there + jobs > most)
        return err_set(
            err, ERR_REMOTE,
            "cannot submit %zu jobs: slurmctld has %lld and accepts %llu (MaxJobCount). Finished jobs count for %llu s (MinJobAge). "
            "Nothing was submitted: reduce --tasks or --repeat, or wait",
            jobs, (long long)there, (unsigned long long)most, (unsigned long long)fact_number(b, "MinJobAge", 300));
    return 0;
}

void slurm_ask(struct bench *b, struct queue *ret)
{
    CLEANUP_BUF struct buf out, plain;
    buf_init(&out, ANSWER_MAX);
    buf_init(&plain, sizeof ret->why);
    *ret = (struct queue){0};
    if (queue_ask(b, &out, NULL, "squeue", "-h", "-r", "-n", b->tag, "-o", "%t|%r", NULL) < 0)
        return;
    ret->known = true;
    for (struct str rest = buf_text(&out); rest.n;) {
        struct str line = str_cut(&rest, '\n'), state = str_cut(&line, '|');
        if (str_is(state, "PD")) {
            ret->waiting++;
            buf_clear(&plain);
            buf_plain(&plain, line, 80);
        } else
            ret->running++;
    }
    snprintf(ret->why, sizeof ret->why, "%s", plain.n ? plain.p : "");
}

static bool value_after(struct str text, const char *label, int64_t *ret)
{
    ptrdiff_t at = str_find(text, str_of(label));
    if (at < 0)
        return false;
    struct str rest = str_sub(text, (size_t)at + strlen(label), text.n), word = str_word(&rest);
    return str_int(word, ret);
}

/* count and total time of one kind of call: "REQUEST_… ( 4003) count:5 ave_time:1234 total_time:6170". */
static void slurm_read_calls(struct str text, const char *name, int64_t *count, int64_t *us)
{
    ptrdiff_t at = str_find(text, str_of(name));
    *count = *us = 0;
    if (at < 0)
        return;
    struct str rest = str_sub(text, (size_t)at, text.n), line = str_cut(&rest, '\n');
    value_after(line, "count:", count);
    value_after(line, "total_time:", us);
}

void slurm_sdiag_read(struct str text, struct scheduler_counters *ret)
{
    *ret = (struct scheduler_counters){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    value_after(text, "Jobs submitted:", &ret->submitted);
    value_after(text, "Jobs started:", &ret->started);
    value_after(text, "Jobs completed:", &ret->completed);
    value_after(text, "Jobs failed:", &ret->failed);
    value_after(text, "Jobs canceled:", &ret->cancelled);
    ptrdiff_t main_part = str_find(text, STR("Main schedule statistics"));
    if (main_part >= 0) {
        struct str part = str_sub(text, (size_t)main_part, text.n);
        int64_t mean = 0;
        value_after(part, "Total cycles:", &ret->cycles);
        if (value_after(part, "Mean cycle:", &mean) && ret->cycles >= 0)
            ret->cycle_us = mean * ret->cycles;
    }
    slurm_read_calls(text, "REQUEST_SUBMIT_BATCH_JOB", &ret->submit_calls, &ret->submit_us);
    slurm_read_calls(text, "REQUEST_JOB_STEP_CREATE", &ret->step_calls, &ret->step_us);
}

void slurm_count(struct bench *b, struct scheduler_counters *ret)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, ANSWER_MAX);
    *ret = (struct scheduler_counters){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    if (queue_ask(b, &out, NULL, "sdiag", NULL) == 0)
        slurm_sdiag_read(buf_text(&out), ret);
}

void slurm_identity(struct buf *to)
{
    const char *conf = getenv("SLURM_CONF"), *cluster = getenv("SLURM_CLUSTERS");
    buf_printf(to, "%s %s", conf ? conf : "-", cluster ? cluster : "-");
}

/* How many jobs of that name there are; -1: not known. */
static long slurm_jobs_left(const char *tag, struct err *err)
{
    CLEANUP_BUF struct buf out;
    long n = 0;
    buf_init(&out, ANSWER_MAX);
    if (queue_ask(NULL, &out, err, "squeue", "-h", "-n", tag, "-o", ".", NULL) < 0)
        return -1;
    for (size_t i = 0; i < out.n; i++)
        n += out.p[i] == '\n';
    return n;
}

int slurm_cancel(const char *tag, struct err *err)
{
    char name[80];
    long n = -1;
    snprintf(name, sizeof name, "--name=%s", tag);
    for (int i = 0; i < 40; i++) {
        CLEANUP_BUF struct buf out;
        buf_init(&out, ANSWER_MAX);
        n = slurm_jobs_left(tag, err);
        if (n <= 0)
            break;
        if (i % 10 == 0 && queue_ask(NULL, &out, err, "scancel", name, NULL) < 0) /* once; again where a submission was still on its way */
            return -1;
        usleep(i < 4 ? 100000 : 500000);
    }
    if (n > 0)
        return err_set(err, ERR_REMOTE, "%ld jobs called %s are still in the queue; end them with: scancel --name=%s", n, tag, tag);
    return n == 0 ? 0 : -1;
}

int slurm_sbatch(struct bench *b, struct submission *s, struct err *err)
{
    const char *name = arena_printf(s->arena, "--job-name=%s", b->tag);
    if (!name || queue_line(b, s, err, "sbatch", "--parsable", name, "--output=/dev/null", "--error=/dev/null", "--ntasks=1",
                            "--no-requeue", NULL) < 0)
        return -1;
    return words_join(&s->argv, &b->set.extra, err);
}
