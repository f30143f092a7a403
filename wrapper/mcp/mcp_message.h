/* mcp_message.h: messages of JSON-RPC 2.0, as the Model Context Protocol has them on standard input and output: one on each line. */
#ifndef MCP_MCP_MESSAGE_H
#define MCP_MCP_MESSAGE_H
#include "base/arena.h"
#include "base/json.h"

enum {
    MCP_MESSAGE_MAX = 4 << 20, /* bytes of a line */
    MCP_BATCH_MAX = 50 /* messages of a batch (version 2025-03-26) */
};
enum mcp_error {
    MCP_PARSE_ERROR = -32700, /* no JSON */
    MCP_INVALID_REQUEST = -32600, /* JSON, but no message */
    MCP_UNKNOWN_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_UNKNOWN_VERSION = -32022 /* version 2026-07-28 and later */
};

/* One message. The texts are in the arena, or in the document. */
struct mcp_message {
    const char *id; /* as JSON: 5 or "a"; NULL: a notification */
    const char *method; /* NULL: an answer, which needs none; or with `error` set */
    const struct json *params; /* NULL: none */
    int error; /* enum mcp_error: it is no message; 0: good */
    const char *why;
};

/* Reads one message from a document that the caller has parsed, and that must outlive *ret. */
void mcp_message_read(const struct json *doc, struct arena *a, struct mcp_message *ret);
/* Parses a line. Returns the document, which the caller frees with json_free and which may be a batch (an
 * array; *ret is empty then). NULL: it is no JSON, or a batch with a NUL; *ret has the error. */
struct json *mcp_message_parse(struct str line, struct arena *a, struct mcp_message *ret);
/* Appends an error response without a line end. id NULL: null. data: JSON, or empty. */
void mcp_message_error(struct buf *to, const char *id, int code, const char *why, struct str data);
/* Appends {"jsonrpc":"2.0","id":ID,"result":RESULT} without a line end. */
void mcp_message_result(struct buf *to, const char *id, struct str result);
#endif
