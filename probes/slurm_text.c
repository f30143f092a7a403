/* slurm_text.c: a job out of the text of `scontrol show job`, safe against lines that its user
 * wrote into it. */
#include "probes/slurm_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What lines begin with, in the order of printing (20.11 to 25.11); from Command on there is free text. */
static const char *const order[] = {"UserId",      "Priority",    "JobState",      "Requeue",       "DerivedExitCode",
                                    "RunTime",     "SubmitTime",  "AccrueTime",    "StartTime",     "PreemptEligibleTime",
                                    "PreemptTime", "SuspendTime", "LastSchedEval", "Partition",     "ReqNodeList",
                                    "NodeList",    "FedOrigin",   "BatchHost",     "SchedNodeList", "NumNodes",
                                    "TRES",        "ReqTRES",     "AllocTRES",     "Socks/Node",    "JOB_GRES",
                                    "MinCPUsNode", "Features",    "Reservation",   "OverSubscribe", "Command"};
enum { ORDER = sizeof order / sizeof *order, LINE_COMMAND = ORDER - 1 };

/* Returns the kind of a line that begins with exactly three blanks and a key of the list: its
 * index; -1: another line. */
static int slurm_text_line_kind(struct str line)
{
    struct str body = line;
    while (body.n && *body.p == ' ')
        body = str_sub(body, 1, body.n);
    struct str rest = body, key = str_cut(&rest, '=');
    size_t blanks = line.n - body.n;
    for (int i = 0; rest.p && i < ORDER; i++)
        if (str_is(key, order[i]))
            return blanks == 3 ? i : -1;
    return -1;
}

/* Parses an ISO time without a zone, as this machine's: what scontrol prints that does not know
 * SLURM_TIME_FORMAT=%s. */
static bool slurm_text_local_seconds(struct str value, int64_t *ret)
{
    struct tm tm = {.tm_isdst = -1};
    char text[24];
    if (value.n != 19)
        return false;
    snprintf(text, sizeof text, STR_FMT, STR_ARG(value));
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!end || *end)
        return false;
    *ret = (int64_t)mktime(&tm);
    return *ret > 0;
}

/* Parses D-HH:MM:SS, HH:MM:SS or MM:SS into seconds. */
static bool slurm_text_limit_seconds(struct str value, int64_t *ret)
{
    int64_t days = 0, part, sum = 0;
    struct str rest = value, head = str_cut(&rest, '-');
    if (rest.p && (!str_int(head, &days) || days < 0 || days > 100000))
        return false;
    if (!rest.p)
        rest = value;
    for (int i = 0; rest.p; i++) {
        if (i == 3 || !str_int(str_cut(&rest, ':'), &part) || part < 0 || part > 1000000)
            return false;
        sum = sum * 60 + part;
    }
    *ret = days * 86400 + sum;
    return true;
}

/* Stores a field; times and durations become seconds, where they can be parsed. */
static void slurm_text_store(struct slurm_job *job, enum slurm_field field, struct str value)
{
    char text[32];
    int64_t n;
    if (slurm_rows[field].kind == SLURM_DURATION && str_is(value, "UNLIMITED")) {
        slurm_job_store(job, field, STR("unlimited"));
        return;
    }
    if ((slurm_rows[field].kind == SLURM_TIME && slurm_text_local_seconds(value, &n)) ||
        (slurm_rows[field].kind == SLURM_DURATION && slurm_text_limit_seconds(value, &n))) {
        snprintf(text, sizeof text, "%lld", (long long)n);
        value = str_of(text);
    }
    slurm_job_store(job, field, value);
}

static bool slurm_text_is_key(enum slurm_field field, struct str key, size_t turn)
{
    struct str rest = str_of(slurm_rows[field].text), word = {0};
    for (size_t i = 0; i <= turn; i++)
        word = str_word(&rest);
    return word.n && str_eq(word, key);
}

/* Stores the words KEY=VALUE of one line. Keys end at the first "="; none of these values holds a
 * blank. turn 1: keys of second choice. */
static void slurm_text_parse_line(struct slurm_job *job, struct str line, size_t turn)
{
    for (struct str word; (word = str_word(&line)).n;) {
        struct str value = word, key = str_cut(&value, '=');
        if (!value.p)
            continue;
        if (str_is(key, "Network")) /* the user's own words, to the end of the line */
            return;
        for (size_t i = 0; i < SLURM_FIELDS; i++)
            if (slurm_text_is_key((enum slurm_field)i, key, turn))
                slurm_text_store(job, (enum slurm_field)i, value);
    }
}

/* Returns the text behind "JobId=… [ArrayJobId=… …] JobName=<name>\n"; {NULL, 0}: it does not begin
 * so. *ret_settled: the name is known to end there. */
static struct str slurm_text_behind_name(struct str reply, const struct slurm_who *who, bool *ret_settled)
{
    char head[64];
    snprintf(head, sizeof head, "JobId=%.40s ", who->id);
    ptrdiff_t at = str_find(reply, STR(" JobName=")), end = str_find(reply, STR("\n"));
    if (!str_starts(reply, head) || at < 0 || end < at)
        return (struct str){0};
    struct str rest = str_sub(reply, (size_t)at + sizeof " JobName=" - 1, reply.n);
    size_t n = who->name ? strlen(who->name) : 0;
    *ret_settled = who->name && rest.n > n && memcmp(rest.p, who->name, n) == 0 && rest.p[n] == '\n';
    return *ret_settled ? str_sub(rest, n + 1, rest.n) : str_sub(reply, (size_t)end + 1, reply.n);
}

/* Returns where the job's own part begins: at once behind a name that is known, else where its
 * first line is, if there is one such line only. {NULL, 0}: several could be meant. */
static struct str slurm_text_own_part(struct str text, bool settled)
{
    struct str found = {0}, first = text;
    if (settled && str_starts(text, "   HetJobIdSet=")) {
        str_cut(&text, '\n');
        first = text;
    }
    if (settled && slurm_text_line_kind(str_cut(&first, '\n')) == 0)
        return text;
    for (struct str rest = text; rest.p;) {
        struct str from = rest, line = str_cut(&rest, '\n');
        if (slurm_text_line_kind(line) != 0)
            continue;
        if (found.p)
            return (struct str){0};
        found = from;
    }
    return found;
}

/* Returns whether the line of the command follows the fields; without it the last value may be half
 * of one. */
static bool slurm_text_is_complete(struct str part)
{
    while (part.p && part.n)
        if (slurm_text_line_kind(str_cut(&part, '\n')) == LINE_COMMAND)
            return true;
    return false;
}

/* Returns the job's name in the reply. rest: the text behind the name and its line break. */
static struct str slurm_text_name(struct str reply, struct str rest)
{
    size_t begin = (size_t)str_find(reply, STR(" JobName=")) + sizeof " JobName=" - 1;
    return str_sub(reply, begin, (size_t)(rest.p - reply.p) - 1 - begin);
}

int slurm_job_parse_text(struct slurm_job *ret, struct str reply, const struct slurm_who *who, struct err *err)
{
    *ret = (struct slurm_job){0};
    arena_init(&ret->arena, 1 << 20);
    bool settled = false;
    struct str rest = slurm_text_behind_name(reply, who, &settled);
    if (!rest.p)
        return err_set(err, ERR_INPUT, "scontrol's reply is not about the job %.40s", who->id);
    struct str part = slurm_text_own_part(rest, settled);
    if (!part.p)
        return err_set(err, ERR_INPUT,
                       "scontrol's reply cannot be distinguished from text in the job's name or comment, which has line breaks");
    if (!slurm_text_is_complete(part))
        return err_set(err, ERR_INPUT, "scontrol's reply ends too early");
    if (part.p == rest.p) /* the name is the rest of the first line */
        slurm_job_store(ret, SLURM_NAME, slurm_text_name(reply, rest));
    for (size_t turn = 0; turn < 2; turn++) { /* keys of second choice last */
        int last = -1;
        for (rest = part; rest.p;) {
            struct str line = str_cut(&rest, '\n');
            int kind = slurm_text_line_kind(line);
            if (kind == LINE_COMMAND || line.n == 0)
                break;
            if (kind < 0 || kind <= last)
                continue;
            last = kind;
            slurm_text_parse_line(ret, line, turn);
        }
    }
    return 0;
}
