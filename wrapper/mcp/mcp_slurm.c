/* mcp_slurm.c: Slurm as a cluster of agents, by its own programs: queue, nodes, one job, the log of a daemon. */
#include "mcp/mcp_cluster.h"

#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELDS_MAX = 12, LOG_BYTES = 256 << 10, NAME_BYTES = 200 };
#define FIELD_END '\x1f' /* of squeue and sinfo: no name holds it */

/* Runs a program of Slurm. Returns 0 with its output in *ret, without secrets, and in the public
 * profile without names; the caller frees it. -1: call->why, and *ret is NULL. */
static int slurm_output(struct mcp_call *call, const char *const *words, char **ret)
{
    struct query q;
    *ret = mcp_cluster_program(call, words, &q) == 0 ? mcp_cluster_clean(call, buf_text(&q.text)) : NULL;
    query_close(&q);
    return *ret ? 0 : -1;
}

/* Returns the argument as a name for Slurm's options: letters, digits and _.,-+*[], no minus at the
 * start. "": not in the call; NULL: not legal. */
static const char *slurm_name(struct mcp_call *call, const char *argument)
{
    const char *text = mcp_call_text(call, argument);
    if (!text)
        return "";
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_.,-+*[]", *p))
            return NULL;
    return *text == '-' || strlen(text) > NAME_BYTES ? NULL : text;
}

/* Cuts a line into its fields. */
static size_t cut_fields(struct str line, struct str *fields)
{
    size_t n = 0;
    while (line.p && n < FIELDS_MAX)
        fields[n++] = str_trim(str_cut(&line, FIELD_END));
    return n;
}

/* Writes a field of Slurm. What Slurm prints for a value that it does not know becomes null. */
static void put_slurm_field(struct json_out *to, const char *key, struct str value)
{
    static const char *const nothing[] = {"", "N/A", "(null)", "None", "none", "NONE", "Unknown"};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (str_is(value, nothing[i])) {
            json_null(to, key);
            return;
        }
    buf_plain(&b, value, MCP_CLUSTER_TEXT);
    json_str(to, key, buf_text(&b));
}

static void put_slurm_number(struct json_out *to, const char *key, struct str value)
{
    uint64_t n;
    if (str_uint(value, &n))
        json_uint(to, key, n);
    else
        put_slurm_field(to, key, value);
}

/* ---- the queue ---- */

/* Returns the name of the caller's user, stored in `texts`; "": not known. */
static const char *own_name(char *texts, size_t size)
{
    struct passwd entry, *user = NULL;
    return getpwuid_r(getuid(), &entry, texts, size, &user) == 0 && user ? user->pw_name : "";
}

enum {
    QUEUE_JOB,
    QUEUE_PARTITION,
    QUEUE_STATE,
    QUEUE_NODES,
    QUEUE_USED,
    QUEUE_LIMIT,
    QUEUE_REASON,
    QUEUE_NODELIST,
    QUEUE_OWNER,
    QUEUE_NAME,
    QUEUE_FIELDS
}; /* fields of squeue */
static const char own_job[] = "own";

/* Copies the lines of squeue with the word own_job, or nothing, in place of the job's user: in the
 * public profile the name would be replaced before it can be compared. Lines of another form are
 * left out. */
static void mark_own_jobs(struct str lines, const char *me, struct buf *to)
{
    while (lines.p) {
        struct str f[FIELDS_MAX];
        if (cut_fields(str_cut(&lines, '\n'), f) != QUEUE_FIELDS)
            continue;
        f[QUEUE_OWNER] = str_of(str_is(f[QUEUE_OWNER], me) ? own_job : "");
        for (size_t i = 0; i < QUEUE_FIELDS; i++) {
            buf_str(to, f[i]);
            buf_putc(to, i + 1 < QUEUE_FIELDS ? FIELD_END : '\n');
        }
    }
}

/* Runs squeue. Returns its lines as mark_own_jobs has them, without secrets, and in the public
 * profile without names; the caller frees them. NULL: call->why. */
static char *read_queue(struct mcp_call *call, const char *const *words)
{
    CLEANUP_BUF struct buf marked;
    char texts[4096], *clean = NULL;
    struct query q;
    buf_init(&marked, 2 * MCP_CLUSTER_BYTES);
    if (mcp_cluster_program(call, words, &q) == 0) {
        mark_own_jobs(buf_text(&q.text), own_name(texts, sizeof texts), &marked);
        clean = marked.failed ? NULL : mcp_cluster_clean(call, buf_text(&marked));
        if (marked.failed)
            call->why = "out of memory";
    }
    query_close(&q);
    return clean;
}

/* Answers with the jobs of the queue: the caller's own, with `all` also those of others without
 * their names. The jobs of others are counted by state. Returns -1 with call->why. */
static int slurm_queue(struct mcp_call *call, struct json_out *to)
{
    const char *partition = slurm_name(call, "partition");
    const char *words[] = {"squeue", "--noheader", "--format=%i\x1f%P\x1f%T\x1f%D\x1f%M\x1f%l\x1f%r\x1f%N\x1f%u\x1f%j",
                           partition && *partition ? arena_printf(call->a, "--partition=%s", partition) : NULL, NULL};
    bool all = json_bool(json_get(call->arguments, "all"), false);
    struct mcp_state_counts others = {.count = 0};
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!partition) {
        call->why = "partition: expected a name";
        return -1;
    }
    char *text = read_queue(call, words);
    if (!text)
        return -1;
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_open(&j, "jobs", '[');
    for (struct str rest = str_of(text); rest.p;) {
        struct str f[FIELDS_MAX];
        if (cut_fields(str_cut(&rest, '\n'), f) != QUEUE_FIELDS)
            continue;
        bool own = str_is(f[QUEUE_OWNER], own_job);
        if (!own)
            mcp_cluster_count(&others, f[QUEUE_STATE]);
        if (!own && !all)
            continue;
        json_open(&j, NULL, '{');
        put_slurm_field(&j, "job", f[QUEUE_JOB]);
        json_flag(&j, "own", own);
        if (own)
            put_slurm_field(&j, "name", f[QUEUE_NAME]);
        put_slurm_field(&j, "partition", f[QUEUE_PARTITION]);
        put_slurm_field(&j, "state", f[QUEUE_STATE]);
        put_slurm_field(&j, "reason", f[QUEUE_REASON]);
        put_slurm_number(&j, "nodes", f[QUEUE_NODES]);
        put_slurm_field(&j, "node_list", f[QUEUE_NODELIST]);
        put_slurm_field(&j, "used", f[QUEUE_USED]);
        put_slurm_field(&j, "limit", f[QUEUE_LIMIT]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    mcp_cluster_counts(&j, "jobs_of_others", &others);
    json_close(&j, '}');
    free(text);
    return mcp_call_composed(call, buf_text(&b), to);
}

/* ---- nodes ---- */

/* Answers with nodes of the cluster, of one partition or some states where the caller names them.
 * Returns -1 with call->why. */
static int slurm_nodes(struct mcp_call *call, struct json_out *to)
{
    enum { NODE, PARTITION, STATE, CPUS, MEMORY, GRES, REASON, SINCE, KINDS };
    const char *partition = slurm_name(call, "partition"), *state = slurm_name(call, "state");
    const char *words[6] = {"sinfo", "--Node", "--noheader", "--format=%N\x1f%P\x1f%T\x1f%c\x1f%m\x1f%G\x1f%E\x1f%H"};
    size_t n = 4;
    char *text;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!partition || !state) {
        call->why = !partition ? "partition: expected a name" : "state: expected names of states with commas between them";
        return -1;
    }
    const char *options[] = {*partition ? arena_printf(call->a, "--partition=%s", partition) : NULL,
                             *state ? arena_printf(call->a, "--states=%s", state) : NULL};
    const char *line[8];
    memcpy(line, words, sizeof words);
    for (size_t i = 0; i < 2; i++)
        if (options[i])
            line[n++] = options[i];
    line[n] = NULL;
    if (slurm_output(call, line, &text) < 0)
        return -1;
    struct json_out j = json_begin(&b, JSON_TIGHT, '[');
    for (struct str rest = str_of(text); rest.p;) {
        struct str f[FIELDS_MAX];
        if (cut_fields(str_cut(&rest, '\n'), f) != KINDS)
            continue;
        json_open(&j, NULL, '{');
        put_slurm_field(&j, "node", f[NODE]);
        put_slurm_field(&j, "partition", f[PARTITION]);
        put_slurm_field(&j, "state", f[STATE]);
        put_slurm_field(&j, "reason", f[REASON]);
        put_slurm_field(&j, "since", f[SINCE]);
        put_slurm_number(&j, "processors", f[CPUS]);
        put_slurm_number(&j, "memory_MiB", f[MEMORY]);
        put_slurm_field(&j, "gres", f[GRES]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    free(text);
    return mcp_call_composed(call, buf_text(&b), to);
}

/* ---- one job ---- */

static bool is_job_id(const char *text)
{
    return isdigit((unsigned char)*text) && strlen(text) <= 40 && strspn(text, "0123456789_+.") == strlen(text);
}

/* Writes the lines of a text as a list; null with the reason below KEY_missing. */
static void put_output_lines(struct mcp_call *call, struct json_out *to, const char *key, const char *const *words)
{
    char *text;
    if (slurm_output(call, words, &text) < 0) {
        mcp_cluster_missing(call, to, key);
        return;
    }
    json_open(to, key, '[');
    for (struct str rest = str_of(text); rest.p;) {
        CLEANUP_BUF struct buf b;
        struct str line = str_trim(str_cut(&rest, '\n'));
        buf_init(&b, 64 << 10);
        buf_plain(&b, line, 4000);
        if (b.n)
            json_str(to, NULL, buf_text(&b));
    }
    json_close(to, ']');
    free(text);
}

/* Answers with what scontrol, sacct, the runs and their archive state about one job. Returns -1
 * with call->why, or where the call was cancelled. */
static int slurm_one_job(struct mcp_call *call, struct json_out *to)
{
    const char *job = mcp_call_text(call, "job");
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!is_job_id(job)) {
        call->why = "job: expected an id such as 1234 or 1234_5";
        return -1;
    }
    const char *filter = arena_printf(call->a, "--filter=tags.`job.id` = '%s'", job);
    const char *now[] = {"scontrol", "show", "job", job, NULL},
               *accounting[] = {"sacct",
                                "--parsable2",
                                "-j",
                                job,
                                "--format=JobID,JobName,State,ExitCode,Submit,Start,End,Elapsed,AllocTRES,MaxRSS,NodeList,Reason",
                                NULL},
               *runs[] = {"ls", "--json", "--all", filter, NULL}, *archive[] = {"grep", "--json", "--all", filter, "--file=job/*", NULL};
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    put_output_lines(call, &j, "scontrol", now);
    if (!call->cancelled)
        put_output_lines(call, &j, "sacct", accounting);
    if (!call->cancelled)
        mcp_cluster_command(call, &j, "runs", runs, NULL);
    if (!call->cancelled)
        mcp_cluster_command(call, &j, "archive", archive, "^");
    json_close(&j, '}');
    return call->cancelled ? -1 : mcp_call_composed(call, buf_text(&b), to);
}

/* ---- the log of a daemon ---- */

/* Returns the path of the daemon's log as Slurm's configuration has it, with all names in it. NULL:
 * it names none, or is not known. */
static const char *daemon_log_file(struct mcp_call *call, const char *daemon)
{
    const char *show[] = {"scontrol", "show", "config", NULL}, *path = NULL;
    const char *name = strcmp(daemon, "slurmctld") == 0 ? "SlurmctldLogFile" : strcmp(daemon, "slurmd") == 0 ? "SlurmdLogFile" : NULL;
    struct query q;
    if (!name)
        return NULL;
    bool known = mcp_cluster_program(call, show, &q) == 0;
    for (struct str rest = buf_text(&q.text); known && rest.p;) {
        struct str value = str_cut(&rest, '\n'), key = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (value.p && str_is(key, name) && value.n && value.p[0] == '/')
            path = arena_dup(call->a, value.p, value.n);
    }
    query_close(&q);
    return path;
}

/* Returns the path with this host's name for "%h" and "%n", in the arena. */
static const char *expand_host(const char *path, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = 0;
    buf_init(&b, 8192);
    for (const char *p = path; *p; p++)
        if (*p == '%' && (p[1] == 'h' || p[1] == 'n')) {
            buf_puts(&b, host);
            p++;
        } else
            buf_putc(&b, *p);
    return arena_dup(a, b.p ? b.p : "", b.n);
}

/* Sets call->why: the file cannot be read, its path without names that must not be known. */
static void explain_unreadable(struct mcp_call *call, const char *path, const char *why)
{
    char *clean = mcp_cluster_clean(call, str_of(path));
    if (clean)
        call->why = arena_printf(call->a, "cannot read %s: %s", clean, why);
    free(clean);
}

/* Appends the end of a regular file, up to LOG_BYTES. -1 with call->why. */
static int read_log_end(struct mcp_call *call, const char *path, struct buf *to)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        explain_unreadable(call, path, fd < 0 ? (errno == ELOOP ? "it is a symbolic link" : strerror(errno)) : "it is not a regular file");
        return -1;
    }
    off_t at = st.st_size > LOG_BYTES ? st.st_size - LOG_BYTES : 0;
    char *room = buf_room(to, LOG_BYTES);
    ssize_t n = room ? pread(fd, room, LOG_BYTES, at) : -1;
    if (n < 0) {
        explain_unreadable(call, path, room ? strerror(errno) : "out of memory");
        return -1;
    }
    to->n += (size_t)n;
    return 0;
}

/* Answers with the last lines of a daemon's log file, or of its journal where the file is not
 * known. Returns -1 with call->why, or where the call was cancelled. */
static int slurm_log(struct mcp_call *call, struct json_out *to)
{
    const char *daemon = mcp_call_text(call, "daemon"), *path;
    CLEANUP_BUF struct buf log;
    buf_init(&log, 2 * MCP_CLUSTER_BYTES);
    if (!daemon || strncmp(daemon, "slurm", 5) != 0) {
        call->why = "daemon: expected slurmctld, slurmd or slurmdbd";
        return -1;
    }
    path = daemon_log_file(call, daemon);
    path = path ? expand_host(path, call->a) : NULL;
    if (call->cancelled || (path ? read_log_end(call, path, &log) : mcp_cluster_journal(call, daemon, &log)) < 0)
        return -1;
    return mcp_cluster_lines(call, buf_text(&log), path ? path : "the journal", to);
}

const struct mcp_cluster mcp_slurm = {
    .name = "slurm",
    .title = "Slurm",
    .program = "scontrol",
    .answer = {[MCP_QUEUE] = slurm_queue, [MCP_NODES] = slurm_nodes, [MCP_JOB] = slurm_one_job, [MCP_LOG] = slurm_log}};
