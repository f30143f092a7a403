/* mcp_cluster.c: find the scheduler of this cluster, and run its programs: output within limits and without secrets. */
#include "mcp/mcp_cluster.h"

#include "base/search_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const struct mcp_cluster *const clusters[] = {&mcp_slurm, &mcp_kubernetes};
enum { CLUSTERS = sizeof clusters / sizeof *clusters };

/* Returns the cluster that the call names, or the first one whose program is here. NULL:
 * call->why. */
static const struct mcp_cluster *find_cluster(struct mcp_call *call)
{
    const char *named = mcp_call_text(call, "cluster");
    for (size_t i = 0; i < CLUSTERS; i++)
        if (named ? strcmp(named, clusters[i]->name) == 0 : search_path_find(getenv("PATH"), clusters[i]->program, false, call->a) != NULL)
            return clusters[i];
    call->why = arena_printf(call->a, "there is no cluster here: neither %s (%s) nor %s (%s) was found", mcp_slurm.program, mcp_slurm.title,
                             mcp_kubernetes.program, mcp_kubernetes.title);
    return NULL;
}

/* Returns an argument that only another scheduler has; NULL: there is none. */
static const struct mcp_argument *find_foreign(const struct mcp_call *call, const struct mcp_cluster *cluster)
{
    for (size_t i = 0; i < call->tool->count; i++) {
        const struct mcp_argument *x = &call->tool->arguments[i];
        if (x->cluster && strcmp(x->cluster, cluster->name) != 0 && json_get(call->arguments, x->name))
            return x;
    }
    return NULL;
}

/* Answers a tool by the cluster that is here, or that the call names. -1 with call->why: there is
 * none, or the call has an argument of another one. */
static int cluster_answer(struct mcp_call *call, struct json_out *to, enum mcp_cluster_tool tool)
{
    const struct mcp_cluster *cluster = find_cluster(call);
    const struct mcp_argument *foreign = cluster ? find_foreign(call, cluster) : NULL;
    if (foreign)
        call->why = arena_printf(call->a, "%s: this cluster is %s, which has no such argument", foreign->name, cluster->title);
    if (!cluster || foreign)
        return -1;
    json_text(to, "cluster", cluster->name);
    return cluster->answer[tool](call, to);
}

int mcp_cluster_queue(struct mcp_call *call, struct json_out *to)
{
    return cluster_answer(call, to, MCP_QUEUE);
}

int mcp_cluster_nodes(struct mcp_call *call, struct json_out *to)
{
    return cluster_answer(call, to, MCP_NODES);
}

int mcp_cluster_job(struct mcp_call *call, struct json_out *to)
{
    return cluster_answer(call, to, MCP_JOB);
}

int mcp_cluster_log(struct mcp_call *call, struct json_out *to)
{
    return cluster_answer(call, to, MCP_LOG);
}

/* ---- programs ---- */

char *mcp_cluster_clean(struct mcp_call *call, struct str text)
{
    struct err err = {0};
    char *clean = redaction_output(text, call->options->is_public, call->options->env, &err);
    if (!clean)
        call->why = arena_printf(call->a, "%s", err.text);
    return clean;
}

/* Returns the first line that a program printed to standard error: why it failed. */
static void explain_failure(struct mcp_call *call, const char *program, const struct query *q)
{
    CLEANUP_BUF struct buf b;
    char *clean = mcp_cluster_clean(call, buf_text(&q->why));
    struct str rest = str_of(clean), line = {"", 0};
    buf_init(&b, 8192);
    while (rest.p && !line.n)
        line = str_trim(str_cut(&rest, '\n'));
    buf_plain(&b, line, 400);
    if (clean)
        call->why = arena_printf(call->a, "%s failed: %s", program, b.n ? b.p : "no message");
    free(clean);
}

int mcp_cluster_program(struct mcp_call *call, const char *const *words, struct query *ret)
{
    if (mcp_call_program(call, (char *const *)words, MCP_CLUSTER_BYTES, 0, ret) < 0)
        return -1;
    if (WIFEXITED(ret->status) && WEXITSTATUS(ret->status) == 127)
        call->why = arena_printf(call->a, "%s was not found", words[0]);
    else if (ret->status != 0)
        explain_failure(call, words[0], ret);
    return ret->status == 0 ? 0 : -1;
}

void mcp_cluster_missing(struct mcp_call *call, struct json_out *to, const char *key)
{
    json_null(to, key);
    json_text(to, arena_printf(call->a, "%s_missing", key), call->why);
    call->why = NULL;
}

void mcp_cluster_command(struct mcp_call *call, struct json_out *to, const char *key, const char *const *words, const char *operand)
{
    struct json *doc = mcp_call_words(call, words, operand);
    if (doc)
        json_tree(to, key, doc);
    else
        mcp_cluster_missing(call, to, key);
    json_free(doc);
}

/* ---- logs ---- */

int mcp_cluster_line_count(const struct mcp_call *call)
{
    return (int)json_number(json_get(call->arguments, "lines"), 100);
}

int mcp_cluster_journal(struct mcp_call *call, const char *daemon, struct buf *to)
{
    const char *words[] = {"journalctl",
                           "--no-pager",
                           "--output=short-iso",
                           arena_printf(call->a, "--unit=%s", daemon),
                           arena_printf(call->a, "--lines=%d", mcp_cluster_line_count(call)),
                           NULL};
    struct query q;
    int rc = mcp_call_program(call, (char *const *)words, MCP_CLUSTER_BYTES, 0, &q);
    if (rc == 0 && q.status != 0) {
        call->why =
            arena_printf(call->a, "no log of %s: no file of it is known here, and the journal of this machine cannot be read", daemon);
        rc = -1;
    } else if (rc == 0)
        buf_str(to, buf_text(&q.text));
    query_close(&q);
    return rc;
}

/* Returns the last lines, of which the first may be incomplete. */
static struct str last_lines_of(struct str text, int lines)
{
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] == '\n')
        at--;
    for (; at > 0; at--)
        if (text.p[at - 1] == '\n' && --lines == 0)
            break;
    return str_sub(text, at, text.n);
}

int mcp_cluster_lines(struct mcp_call *call, struct str log, const char *source, struct json_out *to)
{
    CLEANUP_BUF struct buf b;
    char *clean = mcp_cluster_clean(call, log), /* all of it: a secret of several lines may begin before the last ones */
        *from = mcp_cluster_clean(call, str_of(arena_printf(call->a, "source: %s", source)));
    int rc = -1;
    buf_init(&b, 64 << 20);
    struct json_out j = json_begin(&b, JSON_TIGHT, '[');
    for (struct str rest = last_lines_of(str_of(clean), mcp_cluster_line_count(call)); clean && rest.p;) {
        CLEANUP_BUF struct buf line;
        buf_init(&line, 64 << 10);
        buf_plain(&line, str_cut(&rest, '\n'), 4000);
        if (line.n)
            json_str(&j, NULL, buf_text(&line));
    }
    json_close(&j, ']');
    if (clean && from) {
        call->notes = arena_printf(call->a, "%s", from);
        call->why = NULL;
        rc = mcp_call_composed(call, buf_text(&b), to);
    }
    free(clean);
    free(from);
    return rc;
}

/* ---- counts ---- */

void mcp_cluster_count(struct mcp_state_counts *c, struct str state)
{
    size_t i = 0;
    state = str_sub(state, 0, sizeof c->name[0] - 1);
    while (i < c->count && !str_is(state, c->name[i]))
        i++;
    if (i == MCP_STATES_MAX) {
        c->others++;
        return;
    }
    if (i == c->count) {
        snprintf(c->name[i], sizeof c->name[i], STR_FMT, STR_ARG(state));
        c->count++;
    }
    c->n[i]++;
}

void mcp_cluster_counts(struct json_out *to, const char *key, const struct mcp_state_counts *c)
{
    json_open(to, key, '{');
    for (size_t i = 0; i < c->count; i++)
        json_uint(to, c->name[i], c->n[i]);
    if (c->others)
        json_uint(to, "other states", c->others);
    json_close(to, '}');
}
