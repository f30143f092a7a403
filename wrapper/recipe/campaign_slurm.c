/* campaign_slurm.c: the nodes of a Slurm allocation, and processes on them by srun. */
#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/query.h"
#include "recipe/campaign_beats.h"

#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLURM_MS = 30000, SLURM_BYTES = 1 << 20, HET_MAX = 64, CLEAN_MS = 3000, CLEAN_STEPS = 1000 };
#define STEP_PREFIX "bw-" /* begins the name of each step of a campaign */
#define STEP_NAME STEP_PREFIX "%s.%ld" /* another campaign may run in the allocation: with the number of this process */

/* ---- nodes ---- */

/* c: NULL before the campaign. */
static int query_lines_within(struct campaign *c, char *const *words, int limit_ms, struct buf *ret, struct err *err)
{
    struct query q = QUERY_NONE;
    int rc = query_start(&q, words, environ, SLURM_BYTES, limit_ms, QUERY_NO_NICE, err);
    if (rc == 0 && ((c ? campaign_query_wait(c, &q, limit_ms) : query_wait(&q, limit_ms)) != QUERY_DONE || q.status != 0))
        rc = err_set(err, ERR_SYSTEM, "%s failed%s%.300s", words[0], *query_reason(&q) ? ": " : "", query_reason(&q));
    if (rc == 0)
        buf_str(ret, buf_text(&q.text));
    query_close(&q);
    return rc;
}

static int query_lines(struct campaign *c, char *const *words, struct buf *ret, struct err *err)
{
    return query_lines_within(c, words, SLURM_MS, ret, err);
}

/* The addresses of a name, which live as long as the process; NULL: it has none. Names of a cluster may be known to Slurm alone. */
static struct addrinfo *resolve_name(const char *name)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    return getaddrinfo(name, NULL, &hints, &list) == 0 ? list : NULL;
}

/* The address that others reach the node by: its name if that has one, else what Slurm knows. */
static const char *node_address(const char *name, bool is_known, struct arena *a)
{
    char *const words[] = {(char *)"scontrol", (char *)"--oneliner", (char *)"show", (char *)"node", (char *)name, NULL};
    CLEANUP_BUF struct buf text;
    buf_init(&text, SLURM_BYTES + 1);
    if (is_known || query_lines(NULL, words, &text, NULL))
        return name;
    for (struct str rest = buf_text(&text), word; (word = str_word(&rest)).n > 0;)
        if (str_starts(word, "NodeAddr=") && word.n > 9)
            return arena_dup(a, word.p + 9, word.n - 9);
    return name;
}

/* Appends the nodes of a Slurm node list to h->nodes, which has the capacity `*room`, by `scontrol
 * show hostnames`. 0; -1 with err. The addresses of resolve_name stay allocated as long as the
 * process. */
static int add_nodes(struct campaign_hosts *h, const char *list, unsigned group, size_t *room, struct arena *a, struct err *err)
{
    char *const words[] = {(char *)"scontrol", (char *)"show", (char *)"hostnames", (char *)list, NULL};
    CLEANUP_BUF struct buf text;
    buf_init(&text, SLURM_BYTES + 1);
    if (query_lines(NULL, words, &text, err))
        return -1;
    for (struct str rest = buf_text(&text), word; (word = str_word(&rest)).n > 0;) {
        if (!ARRAY_FITS_IN(a, h->nodes, *room, h->count + 1))
            return err_memory(err, "the nodes");
        const char *name = arena_dup(a, word.p, word.n);
        struct addrinfo *known = name ? resolve_name(name) : NULL;
        h->nodes[h->count++] =
            (struct campaign_node){.name = name, .address = name ? node_address(name, known, a) : NULL, .known = known, .group = group};
    }
    if (a->failed)
        return err_memory(err, "the nodes");
    return h->count ? 0 : err_set(err, ERR_SYSTEM, "scontrol show hostnames printed no node for \"%.100s\"", list);
}

int campaign_slurm_hosts(struct campaign_hosts *ret, struct arena *a, struct err *err)
{
    const char *groups = getenv("SLURM_HET_SIZE"), *list = getenv("SLURM_JOB_NODELIST");
    int64_t n = 0;
    size_t room = 0;
    *ret = (struct campaign_hosts){.is_slurm = true};
    if (!groups || !str_int(str_of(groups), &n) || n < 2 || n > HET_MAX)
        return list ? add_nodes(ret, list, 0, &room, a, err) : err_set(err, ERR_USAGE, "SLURM_JOB_NODELIST is not set");
    ret->is_het = true;
    for (unsigned i = 0; i < (unsigned)n; i++) {
        char name[60];
        snprintf(name, sizeof name, "SLURM_JOB_NODELIST_HET_GROUP_%u", i);
        if (!(list = getenv(name)))
            return err_set(err, ERR_SYSTEM, "%s is not set", name);
        if (add_nodes(ret, list, i, &room, a, err))
            return -1;
    }
    return 0;
}

/* ---- steps ---- */

/* Returns the names of the nodes with commas between them, in the arena. NULL: out of memory. */
static char *join_nodes(const struct campaign_seat *seats, size_t nodes, size_t instances, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < nodes; i++)
        buf_printf(&b, "%s%s", i ? "," : "", seats[i * instances].node);
    return b.failed ? NULL : arena_dup(a, b.p ? b.p : "", b.n);
}

char **campaign_start_words(struct campaign *c, const struct recipe_part *part, const struct campaign_seat *seats, size_t seat,
                            char **words, struct arena *a)
{
    size_t n = 0, count = 0;
    if (!c->hosts.is_slurm || !words)
        return words;
    while (words[count])
        count++;
    for (char **o = part->srun; o && *o; o++)
        count++;
    char **line = arena_get(a, (count + 24) * sizeof *line);
    if (!line)
        return NULL;
    bool all = part->tasks > 0;
    line[n++] = (char *)"srun";
    line[n++] = (char *)"--overlap"; /* steps of other roles may share a node */
    line[n++] = (char *)"--kill-on-bad-exit=1";
    line[n++] = (char *)"--quiet";
    line[n++] = arena_printf(a, "--job-name=" STEP_NAME, part->role->name, (long)getpid());
    if (c->hosts.is_het)
        line[n++] = arena_printf(a, "--het-group=%u", seats[seat].group);
    line[n++] = arena_printf(a, "--nodes=%zu", all ? part->nodes : 1);
    line[n++] = arena_printf(a, "--ntasks=%zu", all ? part->tasks : 1);
    if (all)
        line[n++] = arena_printf(a, "--ntasks-per-node=%zu", (part->tasks + part->nodes - 1) / part->nodes);
    line[n++] = all ? arena_printf(a, "--nodelist=%s", join_nodes(seats, part->nodes, part->instances, a))
                    : arena_printf(a, "--nodelist=%s", seats[seat].node);
    if (part->cpus)
        line[n++] = arena_printf(a, "--cpus-per-task=%u", part->cpus);
    if (part->gpus)
        line[n++] = arena_printf(a, "--gpus-per-node=%u", part->gpus);
    line[n++] = part->memory_B ? arena_printf(a, "--mem=%lluM", (unsigned long long)(part->memory_B >> 20)) : (char *)"--mem=0";
    for (char **o = part->srun; o && *o; o++)
        line[n++] = *o;
    for (; *words; words++)
        line[n++] = *words;
    return a->failed ? NULL : line;
}

/* ---- facts of each node ---- */

/* Options of srun for a task on each node. A step has the first component of a heterogeneous job,
 * unless all are named. */
static char **step_on_all_nodes(const struct campaign_hosts *h, struct arena *a)
{
    char **list = arena_get(a, 4 * sizeof *list);
    CLEANUP_BUF struct buf groups;
    size_t n = 0;
    buf_init(&groups, 4096);
    buf_puts(&groups, "--het-group=0");
    for (unsigned i = 1; h->is_het && i <= h->nodes[h->count - 1].group; i++)
        buf_printf(&groups, ",%u", i);
    if (!list || groups.failed)
        return NULL;
    list[n++] = (char *)"--ntasks-per-node=1";
    if (h->is_het)
        list[n++] = arena_dup(a, groups.p, groups.n);
    else {
        list[n++] = arena_printf(a, "--nodes=%zu", h->count);
        list[n++] = arena_printf(a, "--ntasks=%zu", h->count);
    }
    list[n] = NULL;
    return a->failed ? NULL : list;
}

char **campaign_slurm_watch(const struct campaign_hosts *h, const char *name, struct arena *a)
{
    static const char *const options[] = {"srun",      "--overlap", "--cpus-per-task=1",   "--mem=0", "--cpu-bind=none", "--mpi=none",
                                          "--chdir=/", "--quiet",   "--kill-on-bad-exit=0"};
    enum { OPTIONS = sizeof options / sizeof *options };
    char **spread = step_on_all_nodes(h, a), **line = arena_get(a, (OPTIONS + 6) * sizeof *line);
    size_t n = 0;
    if (!spread || !line)
        return NULL;
    for (; n < OPTIONS; n++)
        line[n] = (char *)options[n];
    line[n++] = arena_printf(a, "--job-name=" STEP_NAME, name, (long)getpid());
    for (; *spread; spread++)
        line[n++] = *spread;
    line[n] = NULL;
    return a->failed ? NULL : line;
}

int campaign_slurm_each(struct campaign *c, char *const *words, struct buf *ret, struct err *err)
{
    size_t n = 0, k = 0;
    while (words[k])
        k++;
    char **line = arena_get(c->arena, (k + 13) * sizeof *line), **spread = step_on_all_nodes(&c->hosts, c->arena);
    if (!line || !spread)
        return err_memory(err, "the nodes");
    line[n++] = (char *)"srun";
    line[n++] = (char *)"--overlap";
    line[n++] = (char *)"--quiet";
    line[n++] = (char *)"--mem=0";
    line[n++] = arena_printf(c->arena, "--job-name=" STEP_NAME, words[0], (long)getpid());
    for (; *spread; spread++)
        line[n++] = *spread;
    line[n++] = (char *)campaign_own_program(c->arena);
    line[n++] = (char *)"recipe";
    for (size_t i = 0; i < k; i++)
        line[n++] = words[i];
    line[n] = NULL;
    return c->arena->failed ? err_memory(err, "the nodes") : query_lines(c, line, ret, err);
}

int campaign_slurm_facts(struct campaign *c, char *const *programs, struct buf *ret, int64_t *ret_from_ms, int64_t *ret_to_ms,
                         struct err *err)
{
    size_t k = 0;
    while (programs[k])
        k++;
    char **words = arena_get(c->arena, (k + 3) * sizeof *words);
    if (!words)
        return err_memory(err, "the preflight");
    words[0] = (char *)"node";
    words[1] = (char *)"--"; /* a name may begin with a dash */
    memcpy(words + 2, programs, (k + 1) * sizeof *words);
    *ret_from_ms = clock_wall_ms();
    int rc = campaign_slurm_each(c, words, ret, err);
    *ret_to_ms = clock_wall_ms();
    return rc;
}

/* The names of all nodes with commas between them, as Slurm's commands accept them. */
static void put_node_names(const struct campaign *c, struct buf *to)
{
    for (size_t i = 0; i < c->hosts.count; i++)
        buf_printf(to, "%s%s", i ? "," : "", c->hosts.nodes[i].name);
}

/* A node that is lost leaves the job where that continues without it (--no-kill). */
static const char *lost_node(struct campaign *c, const char *lists)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, SLURM_BYTES + 1);
    char *const words[] = {(char *)"scontrol", (char *)"show", (char *)"hostnames", (char *)lists, NULL};
    if (query_lines(c, words, &text, NULL))
        return NULL;
    for (size_t i = 0; i < c->hosts.count; i++)
        if (!str_has_word(text.p, str_of(c->hosts.nodes[i].name)))
            return arena_printf(c->arena, "the node %s is lost", c->hosts.nodes[i].name);
    return NULL;
}

const char *campaign_slurm_lost(struct campaign *c)
{
    CLEANUP_BUF struct buf lists, text;
    struct err err = {0};
    char *job = getenv("SLURM_JOB_ID");
    const char *silent = campaign_beats_lost(c);
    buf_init(&lists, SLURM_BYTES);
    buf_init(&text, SLURM_BYTES + 1);
    char *const words[] = {(char *)"squeue", (char *)"--noheader", (char *)"--format=%T %N", (char *)"--jobs", job, NULL};
    if (silent || !c->hosts.is_slurm || !job)
        return silent;
    if (query_lines(c, words, &text, &err) && !str_has(str_of(err.text), "Invalid job id"))
        return NULL;
    for (struct str rest = buf_text(&text); rest.p && rest.n;) { /* a heterogeneous job has several lines */
        struct str line = str_cut(&rest, '\n'), state = str_word(&line), nodes = str_word(&line);
        if (!str_is(state, "RUNNING") && !str_is(state, "SUSPENDED"))
            return "the job has ended";
        buf_printf(&lists, "%s" STR_FMT, lists.n ? "," : "", STR_ARG(nodes));
    }
    return lists.n ? lost_node(c, lists.p) : "the job has ended";
}

int campaign_slurm_other_jobs(struct campaign *c)
{
    CLEANUP_BUF struct buf nodes, text;
    buf_init(&nodes, SLURM_BYTES);
    buf_init(&text, SLURM_BYTES + 1);
    put_node_names(c, &nodes);
    char *const list[] = {
        (char *)"squeue", (char *)"--noheader", (char *)"--states=RUNNING", (char *)"--format=%A", (char *)"--nodelist", nodes.p, NULL};
    if (nodes.failed || query_lines(c, list, &text, NULL))
        return -1;
    for (struct str rest = buf_text(&text), id; (id = str_word(&rest)).n > 0;) {
        const char *own = getenv("SLURM_JOB_ID");
        bool known = own && str_is(id, own);
        for (unsigned i = 0; c->hosts.is_het && i < HET_MAX && !known; i++) {
            char name[60];
            snprintf(name, sizeof name, "SLURM_JOB_ID_HET_GROUP_%u", i);
            own = getenv(name);
            known = own && str_is(id, own);
        }
        if (!known)
            return 1;
    }
    return 0;
}

/* Is it the name of a step of this execution, of this kind? NULL: of any. */
static bool is_own_step(struct str step, const char *name)
{
    enum { PREFIX = sizeof STEP_PREFIX - 1 };
    char own[40];
    size_t n = (size_t)snprintf(own, sizeof own, ".%ld", (long)getpid());
    if (step.n < PREFIX + n || !str_starts(step, STEP_PREFIX) || !str_ends(step, own))
        return false;
    return !name || str_is(str_sub(step, PREFIX, step.n - PREFIX - n), name);
}

void campaign_slurm_clean(struct campaign *c, const char *name)
{
    char *const list[] = {(char *)"squeue",
                          (char *)"--steps",
                          (char *)"--noheader",
                          (char *)"--format=%i %j",
                          (char *)"--jobs",
                          getenv("SLURM_JOB_ID"),
                          NULL};
    char *cancel[CLEAN_STEPS + 2] = {(char *)"scancel"};
    size_t n = 1;
    CLEANUP_BUF struct buf text, ignored;
    buf_init(&text, SLURM_BYTES + 1);
    buf_init(&ignored, SLURM_BYTES + 1);
    if (!c->hosts.is_slurm || query_lines_within(c, list, CLEAN_MS, &text, NULL))
        return;
    for (struct str rest = buf_text(&text), line; rest.p && (line = str_cut(&rest, '\n')).n && n < CLEAN_STEPS + 1;) {
        struct str id = str_word(&line);
        if (is_own_step(str_word(&line), name) && (cancel[n] = arena_dup(c->arena, id.p, id.n)))
            n++;
    }
    if (n > 1) /* slurmctld sends SIGKILL. With --signal scancel sends it itself, and waits long for a lost node. */
        query_lines_within(c, cancel, CLEAN_MS, &ignored, NULL);
}
