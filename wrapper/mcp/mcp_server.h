/* mcp_server.h: a server of the Model Context Protocol on two descriptors. */
#ifndef MCP_MCP_SERVER_H
#define MCP_MCP_SERVER_H
#include "mcp/mcp_call.h"

struct mcp_server;
/* Makes a server, which the caller frees with mcp_server_free. The options must outlive it. in: -1 where
 * lines come from mcp_server_line alone. NULL: out of memory. */
struct mcp_server *mcp_server_new(const struct mcp_options *options, int in);
void mcp_server_free(struct mcp_server *s);
/* Handles one line, and appends the response with its line end; nothing for notifications. */
void mcp_server_line(struct mcp_server *s, struct str line, struct buf *to);
/* Reads lines until the end of the input, and writes responses to out. Returns 0, also where the client has
 * closed its end; -1 with err: out cannot be written, or out of memory. */
int mcp_server_run(struct mcp_server *s, int out, struct err *err);
#endif
