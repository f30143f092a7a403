/* mcp_answer.h: the answer of a tool, within a limit: a document of which long lists and texts are cut, with a note of each cut. */
#ifndef MCP_MCP_ANSWER_H
#define MCP_MCP_ANSWER_H
#include "base/arena.h"
#include "base/json.h"

enum mcp_end { MCP_HEAD, MCP_TAIL };

/* Appends as members of an object: "data": the document, "cut": what is not in it, such as "data.metrics[0].samples: 16 of 1000 elements".
 * What does not fit into max bytes is cut further. end: which elements of the outermost list stay. Other lists keep their first. -1: it does not fit. */
int mcp_answer_data(struct json_out *to, const struct json *data, enum mcp_end end, size_t max, struct arena *a);
#endif
