/* slurm_acct.c: parses sacct's report about the steps of a job that ran while the program did. */
#include "probes/slurm_acct.h"

#include <stdio.h>

enum { JOB, START, END, STATE, TASKS, CPU, MAX_RSS, AVE_RSS, READ, WRITE, ENERGY, NAME, FIELDS };

/* Returns "12345K", "1.5M", "7" in bytes; -1: it has another form. */
static double slurm_acct_parse_bytes(struct str s)
{
    static const char units[] = "KMGTP";
    double value, factor = 1;
    const char *unit = s.n ? strchr(units, s.p[s.n - 1]) : NULL;
    if (unit && *unit) {
        for (const char *u = units; u <= unit; u++)
            factor *= 1024;
        s.n--;
    }
    return str_double(s, &value) && value >= 0 && value < 1e18 ? value * factor : -1;
}

/* Returns "D-HH:MM:SS", "MM:SS.mmm" in seconds; -1: it has another form. */
static double slurm_acct_parse_seconds(struct str s)
{
    double sum = 0, part, days = 0;
    struct str rest = s, head = str_cut(&rest, '-');
    if (rest.p && !str_double(head, &days))
        return -1;
    if (!rest.p)
        rest = s;
    if (rest.n == 0)
        return -1;
    while (rest.p) {
        if (!str_double(str_cut(&rest, ':'), &part) || part < 0 || part > 1e9)
            return -1;
        sum = sum * 60 + part;
    }
    return days >= 0 && days < 1e6 ? days * 86400 + sum : -1;
}

static void slurm_acct_add(double *to, double value)
{
    if (value >= 0)
        *to = (*to < 0 ? 0 : *to) + value;
}

static void slurm_acct_raise(double *to, double value)
{
    if (value > *to)
        *to = value;
}

/* Returns whether the name is that of a step that srun started: "12.3" of job 12. */
static bool slurm_acct_is_step(struct str name, const char *id)
{
    struct str job = str_cut(&name, '.');
    int64_t step;
    return str_is(job, id) && name.p && str_int(name, &step) && step >= 0;
}

/* Adds one step: sums of tasks, processor time and energy, maxima of the others, and the last state
 * other than COMPLETED. */
static void slurm_acct_add_step(struct slurm_acct *ret, const struct str *f)
{
    int64_t n;
    struct str rest = f[STATE], word = str_word(&rest); /* "CANCELLED by 1001" */
    ret->steps++;
    if (str_int(f[TASKS], &n) && n > 0)
        ret->tasks = (ret->tasks < 0 ? 0 : ret->tasks) + n;
    slurm_acct_add(&ret->cpu_s, slurm_acct_parse_seconds(f[CPU]));
    slurm_acct_raise(&ret->max_rss_B, slurm_acct_parse_bytes(f[MAX_RSS]));
    slurm_acct_raise(&ret->ave_rss_B, slurm_acct_parse_bytes(f[AVE_RSS]));
    slurm_acct_raise(&ret->disk_read_B, slurm_acct_parse_bytes(f[READ]));
    slurm_acct_raise(&ret->disk_write_B, slurm_acct_parse_bytes(f[WRITE]));
    double energy = slurm_acct_parse_bytes(f[ENERGY]);
    if (energy > 0) /* 0: Slurm does not collect it */
        slurm_acct_add(&ret->energy_J, energy);
    bool plain = word.n > 0;
    for (size_t i = 0; i < word.n; i++)
        plain &= (word.p[i] >= 'A' && word.p[i] <= 'Z') || word.p[i] == '_';
    if (plain && (!ret->state[0] || !str_is(word, "COMPLETED")))
        snprintf(ret->state, sizeof ret->state, STR_FMT, STR_ARG(word));
}

bool slurm_acct_parse(struct slurm_acct *ret, struct str text, const char *id, int64_t from_s, int64_t to_s)
{
    bool good = text.n == 0;
    *ret = (struct slurm_acct){
        .cpu_s = -1, .max_rss_B = -1, .ave_rss_B = -1, .disk_read_B = -1, .disk_write_B = -1, .energy_J = -1, .tasks = -1};
    while (text.p && text.n) {
        struct str line = str_cut(&text, '\n'), f[FIELDS] = {{0}};
        size_t n = 0;
        int64_t start, end;
        for (; line.p && n < NAME; n++)
            f[n] = str_cut(&line, SLURM_ACCT_MARK);
        f[NAME] = line.p ? line : STR("");
        if (n < NAME || !line.p || !text.p) /* of a name with line breaks, or cut */
            continue;
        good |= str_starts(f[JOB], id);
        if (!slurm_acct_is_step(f[JOB], id) || str_is(f[NAME], SLURM_ACCT_OWN) || !str_int(f[START], &start) || start < from_s ||
            start > to_s)
            continue;
        bool ended = str_int(f[END], &end) && end >= start;
        if (ended && end <= from_s)
            ret->unclear++;
        else if (ended)
            slurm_acct_add_step(ret, f);
        else
            ret->running++;
    }
    return good;
}
