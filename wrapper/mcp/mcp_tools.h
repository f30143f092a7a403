/* mcp_tools.h: the tools that an agent can call: each is a command of benchwrap, or a question to the scheduler of the cluster. */
#ifndef MCP_MCP_TOOLS_H
#define MCP_MCP_TOOLS_H
#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "mcp/mcp_answer.h"

enum mcp_kind {
    MCP_RUN, /* a run: the beginning of its id, last, last~N */
    MCP_GROUP, /* a list of runs, which become one operand */
    MCP_WORDS, /* a list of texts: operands behind -- */
    MCP_TEXT,
    MCP_TEXTS, /* a list of texts: the option is repeated */
    MCP_COLUMNS, /* a list of texts: one option, with commas between them */
    MCP_COUNT, /* an integer from 1 to `most` */
    MCP_FLAG,
    MCP_CHOICE /* one of the words in `words` */
};
struct mcp_argument {
    const char *name, *help;
    enum mcp_kind kind;
    const char *option; /* long name of the command's option; NULL: an operand, or the tool's own */
    bool required;
    int most; /* of MCP_COUNT */
    const char *words; /* of MCP_CHOICE: "a|b" */
    const char *cluster; /* the only scheduler that has it, by its name; NULL: all */
};

enum mcp_source { MCP_COMMAND, MCP_CLUSTER };
struct mcp_call;
struct mcp_tool {
    const char *name, *title, *help;
    enum mcp_source source;
    bool changes; /* it records a run: only with --allow-run */
    enum mcp_end end; /* which part of a long list stays */
    const char *const *line; /* the command and its fixed words, NULL-terminated; NULL: `answer` makes them */
    const struct mcp_argument *arguments;
    size_t count;
    unsigned deadline_s;
    /* Appends the members of the answer; NULL: the command's JSON is the answer. 0; -1: call->why is set. */
    int (*answer)(struct mcp_call *call, struct json_out *to);
};

extern const struct mcp_tool *const mcp_tools[];
extern const size_t mcp_tools_count;
/* Returns the tool of that name; NULL: there is none, or it changes something and allow_run is
 * false. */
const struct mcp_tool *mcp_tool_find(const char *name, bool allow_run);
/* Appends the list of tools, as tools/list has it. */
void mcp_tools_json(struct json_out *to, bool allow_run);
/* Checks the arguments (an object or NULL) against the tool's. NULL; else a sentence in the arena on what is wrong. */
const char *mcp_arguments_check(const struct mcp_tool *tool, const struct json *arguments, struct arena *a);
/* Returns the command line of a tool: the program, the tool's fixed words, and those of the
 * arguments, which were checked. It ends with NULL and is in the arena. NULL: out of memory. */
char **mcp_arguments_line(const struct mcp_tool *tool, const struct json *arguments, const char *self, const char *tree, struct arena *a);
#endif
