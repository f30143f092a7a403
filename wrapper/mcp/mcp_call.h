/* mcp_call.h: one call of a tool: child processes with deadlines, and the answer. */
#ifndef MCP_MCP_CALL_H
#define MCP_MCP_CALL_H
#include "base/query.h"
#include "mcp/mcp_tools.h"

/* What all calls of a server share. */
struct mcp_options {
    const char *self, *launcher; /* paths of this program and of the launcher */
    const char *tree; /* --tree, or NULL: as the commands find it */
    char **env; /* NULL-terminated */
    bool allow_run, is_public;
    size_t answer_max; /* bytes of an answer's text */
};
struct mcp_call {
    const struct mcp_options *options;
    const struct mcp_tool *tool;
    const struct json *arguments; /* checked; NULL: none */
    struct arena *a;
    int64_t until_ns; /* monotonic: the deadline */
    bool (*interrupted)(void *context); /* called several times a second while a child runs; true: the call is cancelled */
    void *context;
    bool cancelled;
    const char *why; /* why there is no answer */
    const char *notes; /* what the last command printed to standard error, or NULL */
};

/* Makes the call, and appends its text, a JSON object. True: that is an answer; false: an explanation why
 * there is none. call->cancelled: nothing is to be sent. */
bool mcp_call_answer(struct mcp_call *call, struct buf *to);

/* ---- for the tools ---- */

/* Runs a program until it ends; argv NULL-terminated; flags: QUERY_NO_OUTPUT or 0. A cancelled run of a program is ended by a signal. 0: *ret has its output (query_close is due in all cases). -1: call->why. */
int mcp_call_program(struct mcp_call *call, char *const *argv, size_t max, unsigned flags, struct query *ret);
/* Runs a command of benchwrap that prints JSON, and parses it. words: the command, then options, NULL-terminated. operand: what follows them, or NULL. NULL: call->why. Else json_free. */
struct json *mcp_call_words(struct mcp_call *call, const char *const *words, const char *operand);
/* Parses JSON that a tool has composed, and appends it as "data" and "cut" within the limit of answers. 0; -1: call->why. */
int mcp_call_composed(struct mcp_call *call, struct str text, struct json_out *to);
/* Returns an argument as text; NULL: it is not given. */
const char *mcp_call_text(const struct mcp_call *call, const char *name);

/* The tools with an answer of their own. */
int mcp_compare(struct mcp_call *call, struct json_out *to);
/* Answers the tool "logs": searches the stored output of one run, all lines without a pattern.
 * Returns -1 with call->why. */
int mcp_logs(struct mcp_call *call, struct json_out *to);
/* Answers the tool "run": runs the program and appends its record, which a tag made for this call
 * finds. Returns -1 with call->why, also where the program ended without a record. */
int mcp_run(struct mcp_call *call, struct json_out *to);
#endif
