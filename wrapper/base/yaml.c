/* yaml.c: YAML documents as trees that know their line and column. */
#include "base/yaml.h"
#include "base/hash.h"

#include <yaml.h>

/* Foreign files: bounded text and depth, so that neither memory nor the stack can be used up. */
enum { TEXT_MAX = 8 << 20, DEPTH_MAX = 100 };

struct yaml_reader {
    yaml_parser_t parser;
    const char *name;
    struct arena *arena;
    struct err *err;
    struct yaml *root; /* of the first document, once it began */
    struct yaml *stack[DEPTH_MAX]; /* open lists and maps */
    struct yaml *tail[DEPTH_MAX]; /* their last child so far */
    struct yaml *key[DEPTH_MAX]; /* a map's key that waits for its value */
    int depth;
    struct yaml **slots; /* [slot_count], a power of two: the keys of all maps, by hash; NULL: free */
    size_t slot_count, key_count;
};

static int yaml_err_at(struct yaml_reader *r, yaml_mark_t at, const char *message)
{
    return err_set(r->err, ERR_INPUT, "%s:%zu:%zu: %s", r->name, at.line + 1, at.column + 1, message);
}

static int out_of_memory(struct yaml_reader *r)
{
    return err_set(r->err, ERR_SYSTEM, "%s: the document needs more memory than there is or may be used", r->name);
}

/* Returns the slot of a key: it has the key of this text in the same map, or is free. One must be
 * free. */
static struct yaml **yaml_key_slot(struct yaml **slots, size_t count, const struct yaml *key)
{
    size_t at = (size_t)hash_bytes((uint64_t)(uintptr_t)key->up, key->text.p, key->text.n) & (count - 1);
    while (slots[at] && (slots[at]->up != key->up || !str_eq(slots[at]->text, key->text)))
        at = (at + 1) & (count - 1);
    return &slots[at];
}

/* Makes at least every second slot free. -1 with r->err: out of memory. */
static int yaml_grow_slots(struct yaml_reader *r)
{
    enum { SLOTS_FIRST = 64 };
    if (2 * (r->key_count + 1) <= r->slot_count)
        return 0;
    size_t count = r->slot_count ? 2 * r->slot_count : SLOTS_FIRST;
    struct yaml **slots = arena_get(r->arena, count * sizeof *slots);
    if (!slots)
        return out_of_memory(r);
    for (size_t i = 0; i < r->slot_count; i++)
        if (r->slots[i])
            *yaml_key_slot(slots, count, r->slots[i]) = r->slots[i];
    r->slots = slots;
    r->slot_count = count;
    return 0;
}

/* Notes the key of the map on top of the stack, whose value comes next. -1 with err: it is no plain
 * text, or occurs twice. */
static int key_take(struct yaml_reader *r, struct yaml *node, yaml_mark_t at)
{
    int top = r->depth - 1;
    if (node->kind != YAML_SCALAR)
        return yaml_err_at(r, at, "a key must be plain text");
    if (yaml_grow_slots(r))
        return -1;
    struct yaml **slot = yaml_key_slot(r->slots, r->slot_count, node);
    if (*slot) {
        char text[300];
        snprintf(text, sizeof(text), "the key \"%.200s\" occurs twice in this map (first in line %d)", node->text.p, (*slot)->line);
        return yaml_err_at(r, at, text);
    }
    *slot = node;
    r->key_count++;
    r->key[top] = node;
    return 0;
}

/* Adds a new node where it belongs: root, list item, key, or value of the waiting key. */
static int node_attach(struct yaml_reader *r, struct yaml *node, yaml_mark_t at)
{
    if (!r->depth) {
        r->root = node;
        return 0;
    }
    int top = r->depth - 1;
    struct yaml *up = r->stack[top];
    node->up = up;
    if (up->kind == YAML_MAP && !r->key[top])
        return key_take(r, node, at);
    if (up->kind == YAML_MAP) {
        node->key = r->key[top]->text;
        node->key_line = r->key[top]->line;
        node->key_column = r->key[top]->column;
        if (node->kind == YAML_SCALAR && node->text.n == 0 && node->plain) /* "key:" with nothing: point at the key */
            node->line = r->key[top]->line;
        r->key[top] = NULL;
    }
    if (r->tail[top])
        r->tail[top]->next = node;
    else
        up->child = node;
    r->tail[top] = node;
    return 0;
}

/* Returns an empty node in the arena, with its line and column from 1. NULL: out of memory, which
 * the reader notes. */
static struct yaml *node_new(struct yaml_reader *r, enum yaml_kind kind, yaml_mark_t at)
{
    struct yaml *node = ARENA_NEW(r->arena, struct yaml);
    if (!node) {
        out_of_memory(r);
        return NULL;
    }
    node->kind = kind;
    node->line = (int)at.line + 1;
    node->column = (int)at.column + 1;
    return node;
}

/* Makes a node of the scalar, its text in the arena, and adds it to the map or list on top. -1 with
 * err: an anchor, a NUL, or out of memory. */
static int node_scalar(struct yaml_reader *r, const yaml_event_t *event)
{
    struct yaml *node = node_new(r, YAML_SCALAR, event->start_mark);
    if (!node)
        return -1;
    if (event->data.scalar.anchor)
        return yaml_err_at(r, event->start_mark, "anchors (&name) are not allowed here");
    size_t n = event->data.scalar.length;
    node->text = (struct str){arena_dup(r->arena, (const char *)event->data.scalar.value, n), n};
    if (!node->text.p)
        return out_of_memory(r);
    if (memchr(node->text.p, 0, n))
        return yaml_err_at(r, event->start_mark, "a NUL character is not allowed here");
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return node_attach(r, node, event->start_mark);
}

/* Adds a map or list, and makes it the top of the stack. -1 with err: an anchor, more than
 * DEPTH_MAX levels, or out of memory. */
static int open_node(struct yaml_reader *r, enum yaml_kind kind, const yaml_event_t *event, const yaml_char_t *anchor)
{
    if (anchor)
        return yaml_err_at(r, event->start_mark, "anchors (&name) are not allowed here");
    if (r->depth == DEPTH_MAX)
        return yaml_err_at(r, event->start_mark, "more than 100 levels are not allowed");
    struct yaml *node = node_new(r, kind, event->start_mark);
    if (!node || node_attach(r, node, event->start_mark))
        return -1;
    r->stack[r->depth] = node;
    r->tail[r->depth] = r->key[r->depth] = NULL;
    r->depth++;
    return 0;
}

/* Handles one event of the parser. 0: continue; 1: the document is over; -1 with err. */
static int yaml_handle_event(struct yaml_reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT: return yaml_err_at(r, event->start_mark, "aliases (*name) are not allowed here");
    case YAML_SCALAR_EVENT: return node_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT: return open_node(r, YAML_LIST, event, event->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT: return open_node(r, YAML_MAP, event, event->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: r->depth--; return 0;
    case YAML_DOCUMENT_START_EVENT: return r->root ? yaml_err_at(r, event->start_mark, "a second document (---) is not allowed here") : 0;
    case YAML_STREAM_END_EVENT: return 1;
    default: return 0;
    }
}

/* Sets err to what libyaml's parser reports, as "name:line:column: problem". Returns -1. */
static int parser_complain(struct yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "not YAML";
    if (p->error == YAML_MEMORY_ERROR)
        return out_of_memory(r);
    if (p->error == YAML_READER_ERROR) { /* has no mark, only an offset */
        size_t line = 1, column = 1;
        for (size_t i = 0; i < p->problem_offset && i < (size_t)(p->input.string.end - p->input.string.start); i++) {
            column++;
            if (p->input.string.start[i] == '\n')
                line++, column = 1;
        }
        return err_set(r->err, ERR_INPUT, "%s:%zu:%zu: %s", r->name, line, column, problem);
    }
    if (p->context)
        return err_set(r->err, ERR_INPUT, "%s:%zu:%zu: %s (%s that began in line %zu)", r->name, p->problem_mark.line + 1,
                       p->problem_mark.column + 1, problem, p->context, p->context_mark.line + 1);
    return yaml_err_at(r, p->problem_mark, problem);
}

/* Reads all events of the document. Returns 0, or -1 with r->err. */
static int parse_all(struct yaml_reader *r)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return parser_complain(r);
        int rc = yaml_handle_event(r, &event);
        yaml_event_delete(&event);
        if (rc)
            return rc < 0 ? -1 : 0;
    }
}

int yaml_parse(struct yaml **ret, const char *name, struct str text, struct arena *a, struct err *err)
{
    struct yaml_reader r = {.name = name, .arena = a, .err = err};
    if (text.n > TEXT_MAX)
        return err_set(err, ERR_INPUT, "%s: %zu bytes are more than the 8 MiB a document may have", name, text.n);
    if (!yaml_parser_initialize(&r.parser))
        return out_of_memory(&r);
    if (str_starts(text, "\xef\xbb\xbf")) /* a byte order mark: libyaml would count it as a column */
        text = str_sub(text, 3, text.n);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.p ? text.p : ""), text.n);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    int rc = parse_all(&r);
    yaml_parser_delete(&r.parser);
    if (rc)
        return -1;
    if (!r.root)
        return err_set(err, ERR_INPUT, "%s:1:1: the document is empty", name);
    *ret = r.root;
    return 0;
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
    if (!map || map->kind != YAML_MAP)
        return NULL;
    for (const struct yaml *c = map->child; c; c = c->next)
        if (str_is(c->key, key))
            return c;
    return NULL;
}

struct str yaml_text(const struct yaml *map, const char *key, const char *otherwise)
{
    const struct yaml *y = yaml_get(map, key);
    return y && y->kind == YAML_SCALAR ? y->text : str_of(otherwise);
}

static bool yaml_is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (str_is(text, *words))
            return true;
    return false;
}

bool yaml_is_null(const struct yaml *y)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};
    return y && y->kind == YAML_SCALAR && y->plain && yaml_is_one_of(y->text, words);
}

int yaml_bool(const struct yaml *y, bool *ret)
{
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL};
    if (!y || y->kind != YAML_SCALAR || !y->plain)
        return -1;
    bool is = yaml_is_one_of(y->text, yes);
    if (!is && !yaml_is_one_of(y->text, no))
        return -1;
    *ret = is;
    return 0;
}

int yaml_complain(const struct yaml *y, const char *name, struct err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_setv(err, ERR_INPUT, fmt, ap);
    va_end(ap);
    if (err && y)
        err_wrap(err, "%s:%d:%d", name, y->line, y->column);
    else
        err_wrap(err, "%s", name);
    return -1;
}
