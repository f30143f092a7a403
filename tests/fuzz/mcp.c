/* mcp.c: any bytes as the input of the server for agents. No call starts a program: the fuzzer's inputs name none that is there. */
#include "mcp/mcp_message.h"
#include "mcp/mcp_server.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *env[] = {NULL};
    static const struct mcp_options options = {.self = "/nonexistent/core", .launcher = "/nonexistent/benchwrap", .env = env, .answer_max = 4000};
    struct mcp_server *s = mcp_server_new(&options, -1);
    struct str rest = {(const char *)data, size};
    for (int lines = 0; s && rest.p && lines < 20; lines++) {
        CLEANUP_BUF struct buf b;
        struct json *doc = NULL;
        struct err err = {0};
        struct str line = str_cut(&rest, '\n');
        buf_init(&b, 64 << 20);
        if (!str_has(line, "tools/call")) /* a call starts a process: its arguments are checked below */
            mcp_server_line(s, line, &b);
        if (b.n && (b.p[b.n - 1] != '\n' || json_parse(&doc, str_sub(buf_text(&b), 0, b.n - 1), NULL, &err) < 0))
            abort();
        json_free(doc);
    }
    mcp_server_free(s);
    struct arena a;
    struct json *doc = NULL;
    struct err err = {0};
    arena_init(&a, 64 << 20);
    if (json_parse(&doc, (struct str){(const char *)data, size}, NULL, &err) == 0) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 64 << 20);
        for (size_t i = 0; i < mcp_tools_count; i++)
            if (!mcp_arguments_check(mcp_tools[i], doc, &a))
                mcp_arguments_line(mcp_tools[i], doc, "self", NULL, &a);
        struct json_out j = json_begin(&b, JSON_TIGHT, '{');
        mcp_answer_data(&j, doc, MCP_TAIL, 2000, &a);
        json_close(&j, '}');
    }
    json_free(doc);
    arena_deinit(&a);
    return 0;
}
