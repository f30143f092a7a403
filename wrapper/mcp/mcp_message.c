/* mcp_message.c: read and write JSON-RPC messages. */
#include "mcp/mcp_message.h"

#include <math.h>
#include <string.h>

enum { ID_MAX = 256, METHOD_MAX = 100 };

static void refuse_message(struct mcp_message *ret, int code, const char *why)
{
    ret->error = code;
    ret->why = why;
    ret->method = NULL;
}

/* Reads the id as JSON, in the arena: a text, or an integer that a double holds exactly. Returns
 * false for anything else. */
static bool read_message_id(const struct json *id, struct arena *a, struct mcp_message *ret)
{
    CLEANUP_BUF struct buf b;
    double n = json_number(id, NAN);
    bool good =
        json_is_string(id) ? strlen(json_string(id, "")) <= ID_MAX : json_is_number(id) && n == floor(n) && fabs(n) <= 9007199254740991.0;
    buf_init(&b, 16 * ID_MAX);
    if (!good)
        return false;
    if (json_is_string(id))
        buf_json(&b, str_of(json_string(id, "")));
    else
        buf_printf(&b, "%.0f", n);
    ret->id = arena_dup(a, b.p ? b.p : "null", b.p ? b.n : 4);
    return ret->id != NULL;
}

void mcp_message_read(const struct json *doc, struct arena *a, struct mcp_message *ret)
{
    const struct json *id = json_get(doc, "id"), *method = json_get(doc, "method"), *params = json_get(doc, "params");
    *ret = (struct mcp_message){0};
    bool known = id && read_message_id(id, a, ret);
    if (!json_is_object(doc) || strcmp(json_string(json_get(doc, "jsonrpc"), ""), "2.0") != 0) {
        refuse_message(ret, MCP_INVALID_REQUEST, "expected an object with \"jsonrpc\": \"2.0\"");
        return;
    }
    if (id && !known) {
        bool answers = !method && (json_get(doc, "result") || json_get(doc, "error"));
        if (!answers)
            refuse_message(ret, MCP_INVALID_REQUEST, "expected an id that is a text or an integer");
        return;
    }
    if (!method && id && (json_get(doc, "result") || json_get(doc, "error")))
        return; /* an answer: this server requests nothing */
    if (!json_is_string(method) || strlen(json_string(method, "")) > METHOD_MAX)
        refuse_message(ret, MCP_INVALID_REQUEST, "expected a text \"method\"");
    else if (params && !json_is_object(params))
        refuse_message(ret, MCP_INVALID_PARAMS, "expected an object \"params\"");
    else {
        ret->method = json_string(method, "");
        ret->params = params;
    }
}

/* Returns whether the JSON text has an escaped NUL, at which copies of a text would end. */
static bool message_has_nul(struct str line)
{
    for (ptrdiff_t at; (at = str_find(line, STR("\\"))) >= 0; line = str_sub(line, (size_t)at + 2, line.n))
        if (str_starts(str_sub(line, (size_t)at, line.n), "\\u0000"))
            return true;
    return false;
}

struct json *mcp_message_parse(struct str line, struct arena *a, struct mcp_message *ret)
{
    struct json *doc = NULL;
    struct err err = {0};
    *ret = (struct mcp_message){0};
    if (json_parse(&doc, line, NULL, &err) < 0) {
        const char *why = arena_printf(a, "no JSON: %s", err.text);
        refuse_message(ret, MCP_PARSE_ERROR, why ? why : "no JSON");
        return NULL;
    }
    if (!json_is_array(doc))
        mcp_message_read(doc, a, ret);
    if (message_has_nul(line)) {
        refuse_message(ret, MCP_INVALID_PARAMS, "expected texts without the character NUL");
        if (json_is_array(doc)) {
            json_free(doc);
            return NULL;
        }
    }
    return doc;
}

static struct json_out begin_response(struct buf *to, const char *id)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "jsonrpc", "2.0");
    json_raw(&j, "id", id ? str_of(id) : STR("null"));
    return j;
}

void mcp_message_error(struct buf *to, const char *id, int code, const char *why, struct str data)
{
    struct json_out j = begin_response(to, id);
    json_open(&j, "error", '{');
    json_int(&j, "code", code);
    json_text(&j, "message", why);
    if (data.n)
        json_raw(&j, "data", data);
    json_close(&j, '}');
    json_close(&j, '}');
}

void mcp_message_result(struct buf *to, const char *id, struct str result)
{
    struct json_out j = begin_response(to, id);
    json_raw(&j, "result", result);
    json_close(&j, '}');
}
