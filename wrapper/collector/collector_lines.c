/* collector_lines.c: the lines in which a collector reports its node. */
#include "collector/collector_lines.h"

#include "base/json_out.h"
#include "base/utf8.h"
#include "mlruns-format/crc32c.h"

#include <stdio.h>

enum { SUM = 8 };

static bool is_node_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

void node_name_make(char ret[NODE_NAME_MAX + 1], struct str name)
{
    size_t n = 0;
    for (; n < name.n && n < NODE_NAME_MAX; n++)
        ret[n] = is_node_name_char(name.p[n]) ? name.p[n] : '_';
    ret[n] = 0;
    if (n == 0 || strcmp(ret, "-") == 0)
        memcpy(ret, "node", sizeof "node");
    if (ret[0] == '.')
        ret[0] = '_';
}

bool node_line(struct buf *to, const char *node, struct str array)
{
    struct buf body CLEANUP_BUF;
    buf_init(&body, 2 * NODE_LINE_MAX);
    buf_printf(&body, "%s ", node);
    buf_str(&body, array);
    if (body.failed || body.n + SUM + 2 > NODE_LINE_MAX)
        return false;
    buf_printf(to, "%08x ", crc32c_extend(0, body.p, body.n));
    buf_str(to, buf_text(&body));
    buf_putc(to, '\n');
    return true;
}

void node_line_text(struct buf *to, const char *node, const char *kind, struct str key, struct str text)
{
    for (size_t keep = text.n < NODE_TEXT_MAX ? text.n : NODE_TEXT_MAX;; keep = keep * 3 / 4) {
        struct buf array CLEANUP_BUF, cut CLEANUP_BUF;
        buf_init(&array, 16 * NODE_LINE_MAX);
        buf_init(&cut, 2 * NODE_LINE_MAX);
        keep = utf8_cut(text, keep);
        buf_str(&cut, str_sub(text, 0, keep));
        if (keep < text.n)
            buf_puts(&cut, "...");
        struct json_out j = json_begin(&array, JSON_TIGHT, '[');
        json_text(&j, NULL, kind);
        json_str(&j, NULL, key);
        json_str(&j, NULL, buf_text(&cut));
        json_close(&j, ']');
        if (node_line(to, node, buf_text(&array)) || keep == 0)
            return;
    }
}

bool node_line_read(struct str line, struct str *ret_node, struct str *ret_array)
{
    uint64_t sum;
    if (line.n < SUM + 2 || line.n >= NODE_LINE_MAX || line.p[SUM] != ' ' || !str_based(str_sub(line, 0, SUM), 16, &sum))
        return false;
    struct str body = str_sub(line, SUM + 1, line.n), rest = body;
    if (crc32c_extend(0, body.p, body.n) != sum)
        return false;
    *ret_node = str_cut(&rest, ' ');
    *ret_array = rest;
    if (!rest.p || ret_node->n == 0 || ret_node->n > NODE_NAME_MAX)
        return false;
    for (size_t i = 0; i < ret_node->n; i++)
        if (!is_node_name_char(ret_node->p[i]))
            return false;
    return ret_node->p[0] != '.';
}
