/* mcp_answer.c: copy a document within limits, and name what is cut. */
#include "mcp/mcp_answer.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { CUTS_NAMED = 20, PATH_MAX_BYTES = 200, DEPTH_LIMIT = 40, MEMBERS_FIRST = 64 /* of the document itself */ };

struct mcp_pruning {
    size_t items, members, text; /* limits: elements of a list, members of an object, bytes of a text */
    enum mcp_end end;
    struct arena *a;
    const char *cuts[CUTS_NAMED];
    size_t n_cuts; /* of all, also those that are not named */
};

static void note_cut(struct mcp_pruning *p, const char *path, size_t kept, size_t all, const char *what)
{
    if (p->n_cuts < CUTS_NAMED)
        p->cuts[p->n_cuts] = arena_printf(p->a, "%s: %zu of %zu %s", path, kept, all, what);
    p->n_cuts++;
}

static void prune_value(struct mcp_pruning *p, struct json_out *to, const char *key, const struct json *node, const char *path, int depth);

/* Writes up to p->text bytes of the text, and notes the cut. */
static void prune_text(struct mcp_pruning *p, struct json_out *to, const char *key, const char *text, const char *path)
{
    size_t n = strlen(text), kept = utf8_cut(str_of(text), p->text);
    if (n <= kept) {
        json_text(to, key, text);
        return;
    }
    json_str(to, key, (struct str){text, kept});
    note_cut(p, path, kept, n, "bytes");
}

/* Writes up to p->items elements of the list. The last ones are chosen for the outermost list with
 * MCP_TAIL, else the first. What is cut is noted. */
static void prune_list(struct mcp_pruning *p, struct json_out *to, const char *key, const struct json *list, const char *path, int depth)
{
    size_t all = json_count(list), kept = all < p->items ? all : p->items, i = 0;
    size_t first = depth == 0 && p->end == MCP_TAIL ? all - kept : 0;
    char below[PATH_MAX_BYTES];
    json_open(to, key, '[');
    for (const struct json *e = json_first(list); e && i < first + kept; e = json_next(e), i++) {
        if (i < first)
            continue;
        snprintf(below, sizeof below, "%s[%zu]", path, i);
        prune_value(p, to, NULL, e, below, depth + 1);
    }
    json_close(to, ']');
    if (kept < all)
        note_cut(p, path, kept, all, first ? "elements, the last ones" : "elements");
}

/* Writes up to p->members members of the object, MEMBERS_FIRST of the outermost one. What is cut is
 * noted. */
static void prune_members(struct mcp_pruning *p, struct json_out *to, const char *key, const struct json *object, const char *path,
                          int depth)
{
    size_t all = json_count(object), i = 0, most = depth == 0 ? MEMBERS_FIRST : p->members;
    char below[PATH_MAX_BYTES];
    json_open(to, key, '{');
    for (const struct json *e = json_first(object); e && i < most; e = json_next(e), i++) {
        snprintf(below, sizeof below, "%s.%s", path, json_key(e));
        prune_value(p, to, json_key(e), e, below, depth + 1);
    }
    json_close(to, '}');
    if (i < all)
        note_cut(p, path, i, all, "members");
}

/* Writes a value within the limits of p. `path` names it in the notes of what is cut; a value
 * deeper than DEPTH_LIMIT becomes null. */
static void prune_value(struct mcp_pruning *p, struct json_out *to, const char *key, const struct json *node, const char *path, int depth)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 12);
    if (depth > DEPTH_LIMIT) {
        json_null(to, key);
        note_cut(p, path, 0, json_count(node), "members");
    } else if (json_is_array(node))
        prune_list(p, to, key, node, path, depth);
    else if (json_is_object(node))
        prune_members(p, to, key, node, path, depth);
    else if (json_is_string(node))
        prune_text(p, to, key, json_string(node, ""), path);
    else { /* a number, true, false or null, as it is: what is missing stays missing */
        json_print(node, &b);
        json_raw(to, key, b.n ? buf_text(&b) : STR("null"));
    }
}

/* Writes what was cut: the first CUTS_NAMED by path, of the rest the number. */
static void put_cuts(const struct mcp_pruning *p, struct json_out *to)
{
    size_t named = p->n_cuts < CUTS_NAMED ? p->n_cuts : CUTS_NAMED;
    json_open(to, "cut", '[');
    for (size_t i = 0; i < named; i++)
        json_text(to, NULL, p->cuts[i]);
    if (p->n_cuts > named)
        json_text(to, NULL, arena_printf(p->a, "and %zu more lists and texts", p->n_cuts - named));
    json_close(to, ']');
}

int mcp_answer_data(struct json_out *to, const struct json *data, enum mcp_end end, size_t max, struct arena *a)
{
    for (size_t items = 256; items > 0; items /= 2) {
        CLEANUP_BUF struct buf b;
        struct mcp_pruning p = {.items = items,
                                .members = items < 4 ? 8 * items : 2 * items + 24,
                                .text = items * 64 < 100 ? 100 : items * 64,
                                .end = end,
                                .a = a};
        buf_init(&b, 64 << 20);
        struct json_out part = json_begin(&b, JSON_TIGHT, '{');
        prune_value(&p, &part, "data", data, "data", 0);
        put_cuts(&p, &part);
        json_close(&part, '}');
        if (b.failed || b.n > max)
            continue;
        json_members(to, (struct str){b.p + 1, b.n - 2});
        return 0;
    }
    return -1;
}
