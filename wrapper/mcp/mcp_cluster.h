/* mcp_cluster.h: the schedulers of clusters that the cluster tools query: a row for each, and what the rows share. */
#ifndef MCP_MCP_CLUSTER_H
#define MCP_MCP_CLUSTER_H
#include "mcp/mcp_call.h"
#include "run/redaction.h"

enum mcp_cluster_tool { MCP_QUEUE, MCP_NODES, MCP_JOB, MCP_LOG, MCP_CLUSTER_TOOLS };

struct mcp_cluster {
    const char *name, *title; /* "slurm", "Slurm" */
    const char *program; /* is it in PATH, this scheduler is here */
    int (*answer[MCP_CLUSTER_TOOLS])(struct mcp_call *call, struct json_out *to);
};
extern const struct mcp_cluster mcp_slurm, mcp_kubernetes;

/* The tools: each finds the cluster, and calls its row. 0; -1 with call->why. */
int mcp_cluster_queue(struct mcp_call *call, struct json_out *to);
int mcp_cluster_nodes(struct mcp_call *call, struct json_out *to);
int mcp_cluster_job(struct mcp_call *call, struct json_out *to);
int mcp_cluster_log(struct mcp_call *call, struct json_out *to);

/* ---- for the rows ---- */

enum { MCP_CLUSTER_BYTES = 32 << 20, MCP_CLUSTER_TEXT = 2000 /* characters of a text */ };

/* Runs a program of the scheduler, words[0] in PATH. 0: *ret has its output, which may have
 * secrets. -1: call->why has the reason, without secrets. The caller calls query_close in both
 * cases. */
int mcp_cluster_program(struct mcp_call *call, const char *const *words, struct query *ret);
/* Returns the text without secrets, and in the public profile without names; the caller frees it.
 * NULL: call->why. */
char *mcp_cluster_clean(struct mcp_call *call, struct str text);
/* Appends a list of the last lines of a log, without secrets. source: where it is from. 0; -1: call->why. */
int mcp_cluster_lines(struct mcp_call *call, struct str log, const char *source, struct json_out *to);
/* Returns the number of lines that the call requests. */
int mcp_cluster_line_count(const struct mcp_call *call);
/* Reads the last lines of the journal of a daemon on this machine. -1: call->why. */
int mcp_cluster_journal(struct mcp_call *call, const char *daemon, struct buf *to);
/* Appends the JSON of a command of benchwrap; null, with the reason as KEY_missing, where it fails. */
void mcp_cluster_command(struct mcp_call *call, struct json_out *to, const char *key, const char *const *words, const char *operand);
/* Appends null, and the reason as KEY_missing; call->why is empty then. */
void mcp_cluster_missing(struct mcp_call *call, struct json_out *to, const char *key);

/* Counts texts, such as states. */
enum { MCP_STATES_MAX = 24 };
struct mcp_state_counts {
    char name[MCP_STATES_MAX][32];
    size_t n[MCP_STATES_MAX], count, others; /* others: in states beyond the first MCP_STATES_MAX */
};
/* Counts one more job or node in the state, of which the first 31 bytes count. */
void mcp_cluster_count(struct mcp_state_counts *c, struct str state);
void mcp_cluster_counts(struct json_out *to, const char *key, const struct mcp_state_counts *c);
#endif
