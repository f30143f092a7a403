/* json.c: JSON as programs really print it, read as it streams by: text around and between documents, several documents, duplicate
 * keys (the last counts), nan and inf, quotes that are not escaped, lines of other processes in the middle, a torn end.
 *
 * `rows` are the containers (by pointer, * for any index or key) that are rows; cells are members of a row by pointer. No tree is
 * built. What is no JSON is skipped to the end of its line; a value that is not followed by a
 * delimiter is never used. */
#include "benchmarks/grouped.h"
#include "benchmarks/load.h"

#include <ctype.h>
#include <stdio.h>

enum { DEPTH_MAX = 40, KEY_MAX_BYTES = 120, TOKEN_MAX = 8192, ROW_TEXT = 64 << 10, SEGMENTS = 12, POINTERS = 8, STAGED_ROWS_MAX = 20000 };

struct pointer {
    struct str segment[SEGMENTS];
    size_t n;
    int star; /* depth of the first *, -1 */
    char own; /* no pointer: '.' the row itself, '@' its name */
    char separator; /* of the name only the part behind the last of these; 0: all */
};
struct json_rule {
    struct pointer row[POINTERS];
    size_t rows;
    struct pointer cell[CELLS_MAX];
    struct pattern *prefix; /* documents follow it, one after the other, each completely in its line */
    struct pointer tests; /* these containers are the tests, numbered as they come; own == '*' */
    bool last, arrays; /* arrays: a row may be one, its cells are numbers */
};

struct json_level {
    char type; /* '{' or '[' */
    bool named;
    int64_t index;
    char key[KEY_MAX_BYTES];
};
enum lex { LEX_NONE, LEX_STRING, LEX_BARE };
struct json_reader_state {
    int depth;
    enum lex lex;
    bool escape, skip, token_long;
    bool pending; /* a string that may turn out to be a key */
    bool broken; /* brackets were left open inside others: lines are missing */
    bool number_ended, comma_ended; /* a number has just ended; so has the comma behind it */
    bool behind_number, behind_comma; /* the bare word began behind a number, and behind its comma */
    bool foreign; /* "1,5" or "3 632" where a value belongs: a part of its digits is lost */
    bool took; /* a row of the open document was read */
    int row_depth; /* depth of the open row's container, 0: none */
    int64_t row_star, extent, base, tests;
    size_t token_n, text_n;
    struct json_level
        level[DEPTH_MAX + 1]; /* from here on nothing is read before it is written; level[d]: the container at depth d; its key
                                          and index are those of the member being read */
    struct str cell[CELLS_MAX];
    char token[TOKEN_MAX];
    char text[ROW_TEXT];
};

/* Parses a JSON pointer, a member's name, ".", or "@" with a separator. Returns 0, or another value
 * with *err. */
static int load_pointer(struct pointer *p, struct str text, const struct yaml *at, struct rules *rules, struct err *err)
{
    p->star = -1;
    if (str_is(text, ".") || str_is(text, "@") || (text.n == 2 && text.p[0] == '@')) {
        p->own = text.p[0];
        p->separator = text.n == 2 ? text.p[1] : 0;
        return 0;
    }
    if (text.n && text.p[0] != '/') { /* a member's plain name */
        p->segment[p->n++] = text;
        return 0;
    }
    struct str rest = str_sub(text, 1, text.n);
    while (text.n && rest.p) {
        struct str raw = str_cut(&rest, '/');
        char *to = arena_get(&rules->arena, raw.n + 1);
        size_t n = 0;
        if (!to)
            return err_memory(err, "a JSON pointer");
        if (p->n == SEGMENTS)
            return rules_complain(at, rules, err, "a pointer has at most %d parts", SEGMENTS);
        for (size_t i = 0; i < raw.n; i++) {
            bool tilde = raw.p[i] == '~' && i + 1 < raw.n && (raw.p[i + 1] == '0' || raw.p[i + 1] == '1');
            to[n++] = tilde ? (raw.p[++i] == '0' ? '~' : '/') : raw.p[i];
        }
        if (n == 1 && to[0] == '*' && p->star < 0)
            p->star = (int)p->n;
        p->segment[p->n++] = (struct str){to, n};
    }
    return 0;
}

/* Reads the specification of a JSON reader into r->data, in the rules' arena. -1 with err: a wrong
 * key or pointer. */
static int json_reader_load(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    static const char *const keys[] = {"rows", "tests", "documents", "prefix", NULL};
    struct json_rule *j = r->data = ARENA_NEW(&rules->arena, struct json_rule);
    struct str rows[POINTERS];
    struct str documents = yaml_text(spec, "documents", "all");
    const struct yaml *at = yaml_get(spec, "rows");
    if (!j)
        return load_no_memory(rules, err);
    if (load_keys(spec, keys, rules, err) || load_texts(at, rows, POINTERS, &j->rows, rules, err))
        return -1;
    const struct yaml *tests = yaml_get(spec, "tests");
    if (tests && (tests->kind != YAML_SCALAR || !str_starts(tests->text, "/") || load_pointer(&j->tests, tests->text, tests, rules, err)))
        return rules_complain(tests, rules, err, "tests is the pointer (/runs/*/testcases/*) of the objects that are tests");
    j->tests.own = tests ? '*' : 0;
    if (!j->rows)
        return rules_complain(spec, rules, err, "rows is missing: the pointers (/jobs/*) of the objects that are rows");
    for (size_t i = 0; i < j->rows; i++) {
        if (rows[i].n && rows[i].p[0] != '/')
            return rules_complain(at, rules, err, "a pointer begins with / (or is empty: the whole document)");
        if (load_pointer(&j->row[i], rows[i], at, rules, err))
            return -1;
    }
    if (!str_is(documents, "all") && !str_is(documents, "last"))
        return rules_complain(spec, rules, err, "documents is all or last");
    j->last = r->last_document = str_is(documents, "last");
    const struct yaml *prefix = yaml_get(spec, "prefix");
    if (prefix) {
        if (load_pattern(&j->prefix, prefix, rules, err))
            return -1;
        reader_wants(r, j->prefix);
        return 0;
    }
    r->literal[r->literals++] = STR("{");
    r->literal[r->literals++] = STR("[");
    return 0;
}

/* Parses the pointer of each cell. -1 with err: a wrong pointer, or the reader has no cell. */
static int json_reader_check(struct reader *r, const struct yaml *spec, struct rules *rules, struct err *err)
{
    struct json_rule *j = r->data;
    (void)spec;
    if (!r->cells)
        return rules_complain(r->at, rules, err, "the reader \"%s\" names no cell, so it can never find anything", r->name);
    for (size_t i = 0; i < r->cells; i++)
        if (load_pointer(&j->cell[i], r->cell[i], r->cell_at[i], rules, err))
            return -1;
        else if (j->cell[i].n && j->cell[i].segment[0].n && strspn(j->cell[i].segment[0].p, "0123456789") >= j->cell[i].segment[0].n)
            j->arrays = true;
    return 0;
}

/* Returns whether a segment of a pointer names the member or element being read; "*" names any. */
static bool segment_is(struct str segment, const struct json_level *l)
{
    if (str_is(segment, "*"))
        return true;
    if (l->type == '{')
        return l->named && str_is(segment, l->key);
    char index[24];
    snprintf(index, sizeof(index), "%lld", (long long)l->index);
    return str_is(segment, index);
}

/* Does the path from the container at depth `from` to the member read now match the pointer? */
static bool path_is(const struct json_reader_state *s, int from, const struct pointer *p)
{
    if ((int)p->n != s->depth - from + 1)
        return false;
    for (size_t i = p->n; i-- > 0;)
        if (!segment_is(p->segment[i], &s->level[from + (int)i]))
            return false;
    return true;
}

/* Stores a copy of the row until it is known which document is the last. Sets staged->open_cut where
 * it does not fit. */
static void json_stage_row(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s, int block)
{
    struct staged *staged = &run->staged[r->index];
    struct arena *a = &staged->open_arena;
    staged->open_cut = staged->open_cut || staged->rows >= STAGED_ROWS_MAX;
    if (staged->rows++ >= STAGED_ROWS_MAX)
        return;
    if (!a->max)
        arena_init(a, 32 << 20);
    struct staged_row *row = ARENA_NEW(a, struct staged_row);
    if (!row || !(row->cell = arena_get(a, (r->cells + 1) * sizeof(*row->cell)))) {
        staged->open_cut = true;
        return;
    }
    row->source = source;
    row->block = block;
    for (size_t i = 0; i < r->cells; i++)
        if (s->cell[i].p)
            row->cell[i] = arena_str(a, s->cell[i]);
    staged->open_cut = staged->open_cut || a->failed;
    *staged->tail = row;
    staged->tail = &row->next;
}

/* Ends a row, which is read, or staged where only the last document counts. A row without cells is
 * ignored. */
static void json_row_done(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s)
{
    const struct json_rule *j = r->data;
    int block = r->begins && s->row_star >= 0 ? (int)(s->base + s->row_star > BLOCKS_MAX ? BLOCKS_MAX : s->base + s->row_star) : -1;
    bool any = false;
    s->row_depth = 0;
    for (size_t i = 0; i < r->cells; i++)
        any = any || s->cell[i].p;
    if (!any) /* {"level": "info"} between the results is a log of another program */
        return;
    if (j->last)
        json_stage_row(run, source, r, s, block);
    else if (row_take(run, source, r, s->cell, NULL, block))
        s->took = true;
}

/* Which test of the document the row that begins here belongs to; -1: of none. */
static int64_t test_of(const struct json_reader_state *s, const struct json_rule *j, const struct pointer *row)
{
    if (j->tests.own)
        return s->tests - 1;
    return row->star >= 0 ? s->level[row->star + 1].index : -1;
}

/* The row's name in its container, or what is behind the last separator in it. */
static struct str row_name(struct json_reader_state *s, char separator)
{
    const struct json_level *l = &s->level[s->depth];
    struct str name = str_of(l->type == '{' && l->named ? l->key : "");
    const char *last = separator && name.n ? memrchr(name.p, separator, name.n) : NULL;
    if (last)
        name = str_sub(name, (size_t)(last - name.p) + 1, name.n);
    if (!name.n || s->text_n + name.n > ROW_TEXT)
        return (struct str){NULL, 0};
    char *to = memcpy(s->text + s->text_n, name.p, name.n);
    s->text_n += name.n;
    return (struct str){to, name.n};
}

/* The container or value that is read next, a member at s->depth, is a row. */
static void row_begin(struct json_reader_state *s, const struct reader *r, int64_t star)
{
    const struct json_rule *j = r->data;
    s->row_depth = s->depth;
    s->row_star = star;
    s->text_n = 0;
    for (size_t i = 0; i < r->cells; i++)
        s->cell[i] = j->cell[i].own == '@' ? row_name(s, j->cell[i].separator) : (struct str){NULL, 0};
}

/* A plain value that is a row: a number in an array. Its only cell is itself. */
static void scalar_row(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s, struct str text)
{
    const struct json_rule *j = r->data;
    for (size_t i = 0; i < j->rows; i++) {
        if (!j->row[i].n || !path_is(s, 1, &j->row[i]))
            continue;
        row_begin(s, r, test_of(s, j, &j->row[i]));
        for (size_t k = 0; k < r->cells; k++)
            if (j->cell[k].own == '.')
                s->cell[k] = text;
        json_row_done(run, source, r, s);
        return;
    }
}

/* Stores a scalar in each cell whose pointer matches. A cell that does not fit becomes empty. */
static void json_reader_scalar(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s,
                               struct str text)
{
    const struct json_rule *j = r->data;
    if (s->token_long)
        return;
    if (!s->row_depth) {
        scalar_row(run, source, r, s, text);
        return;
    }
    for (size_t i = 0; i < r->cells; i++) {
        if (!path_is(s, s->row_depth, &j->cell[i]))
            continue;
        if (s->text_n + text.n > ROW_TEXT) {
            s->cell[i] = (struct str){NULL, 0};
            continue;
        }
        memcpy(s->text + s->text_n, text.p, text.n);
        s->cell[i] = (struct str){s->text + s->text_n, text.n};
        s->text_n += text.n;
    }
}

/* A member of the innermost container is complete. */
static void member_done(struct json_reader_state *s)
{
    struct json_level *l = &s->level[s->depth];
    l->index++;
    l->named = false;
    s->pending = false;
}

/* The document is over; with all its brackets closed (`whole`) or truncated. */
static void document_done(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s, bool whole)
{
    const struct json_rule *j = r->data;
    struct staged *staged = &run->staged[r->index];
    if (s->foreign)
        unread_mark(run, r, STR("a JSON document"));
    whole = whole && !s->foreign;
    if (s->row_depth && !j->last && (whole || !j->prefix))
        json_row_done(run, source, r, s);
    if (!whole) {
        run->torn[source->index]++;
        run->torn_results += s->took && r->metrics && !j->prefix;
    }
    s->took = false;
    if (j->last) {
        if (whole && staged->open) {
            arena_deinit(&staged->whole_arena);
            staged->whole = staged->open;
            staged->whole_arena = staged->open_arena;
            staged->cut = staged->open_cut;
        } else
            arena_deinit(&staged->open_arena);
        if (whole || staged->open || s->row_depth)
            staged->superseded = !whole && staged->whole;
        staged->open_arena = (struct arena){0};
        staged->open = NULL;
        staged->open_cut = false;
        staged->tail = &staged->open;
        staged->rows = 0;
    } else
        s->base += s->extent;
    s->depth = s->row_depth = 0;
    s->extent = s->tests = 0;
    s->lex = LEX_NONE;
    s->pending = s->skip = s->broken = s->foreign = false;
}

/* Begins an object or array, and a row or a test where its path is that of one. Below DEPTH_MAX
 * levels it is only counted. */
static void open_container(const struct reader *r, struct json_reader_state *s, char type)
{
    const struct json_rule *j = r->data;
    bool nameless = s->depth && s->level[s->depth].type == '{' && !s->level[s->depth].named;
    int row = -1;
    if (s->depth >= DEPTH_MAX) {
        s->depth++; /* counted, not read */
        return;
    }
    for (size_t i = 0; i < j->rows && !nameless; i++) {
        const struct pointer *p = &j->row[i];
        if (p->star >= 0 && s->depth == p->star + 1) { /* how many tests (jobs …) this document has */
            struct pointer head = *p;
            head.n = (size_t)p->star + 1;
            if (path_is(s, 1, &head) && s->level[s->depth].index + 1 > s->extent)
                s->extent = s->level[s->depth].index + 1;
        }
        if ((type == '{' || j->arrays) && (p->n == 0 ? s->depth == 0 : s->depth && path_is(s, 1, p)))
            row = (int)i;
    }
    if (j->tests.own && !nameless && path_is(s, 1, &j->tests))
        s->extent = ++s->tests;
    if (row >= 0 && !s->row_depth) {
        row_begin(s, r, test_of(s, j, &j->row[row]));
        s->row_depth++; /* it is not open yet */
    }
    s->depth++;
    s->level[s->depth] = (struct json_level){.type = type};
    s->pending = false;
}

/* Closes the innermost container of this type, and those left open inside. Ends the row or document
 * that ends with it. */
static void close_container(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s, char open)
{
    if (s->depth > DEPTH_MAX) {
        s->depth--;
        return;
    }
    int at = s->depth;
    while (at > 0 && s->level[at].type != open)
        at--;
    if (!at)
        return; /* closes nothing: noise */
    s->broken = s->broken || at < s->depth;
    while (s->depth >= at) { /* those left open inside end with it */
        if (s->row_depth == s->depth)
            json_row_done(run, source, r, s);
        s->depth--;
    }
    if (s->depth)
        member_done(s);
    else
        document_done(run, source, r, s, !s->broken || !((const struct json_rule *)r->data)->last);
}

/* Returns whether the text is a word that may be a value in JSON, as programs write it: true,
 * null, NaN, -inf … */
static bool is_json_word(struct str t)
{
    static const char *const words[] = {"true", "false", "null", "nan",      "-nan",      "NaN",
                                        "-NaN", "inf",   "-inf", "Infinity", "-Infinity", "NA"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_is(t, words[i]))
            return true;
    return false;
}

static bool is_bare_value(struct str t)
{
    double v;
    return is_json_word(t) || str_double(t, &v);
}

/* A bare word or number has ended. */
static void bare_done(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s)
{
    struct str t = {s->token, s->token_n};
    struct json_level *l = &s->level[s->depth];
    double number;
    bool numeric = str_double(t, &number);
    s->lex = LEX_NONE;
    if (!is_bare_value(t) || (l->type == '{' && !l->named)) {
        s->foreign = s->foreign || (numeric && s->behind_number) || ((l->named || l->type == '[') && grouped_is_number(t));
        s->skip = true; /* text of another program: the rest of the line too */
        s->broken = s->broken || l->type == '[';
        l->named = false;
        return;
    }
    s->foreign = s->foreign || (numeric && s->behind_number && !s->behind_comma);
    json_reader_scalar(run, source, r, s, t);
    member_done(s);
    s->number_ended = numeric;
    s->comma_ended = false;
}

/* Ends a string: a member's name where one is expected, else a value. */
static void string_done(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s)
{
    struct json_level *l = &s->level[s->depth];
    s->lex = LEX_NONE;
    if (l->type == '{' && !l->named) {
        size_t n = s->token_n < KEY_MAX_BYTES ? s->token_n : KEY_MAX_BYTES - 1;
        memcpy(l->key, s->token, n);
        l->key[n] = 0;
        s->pending = true;
        return;
    }
    json_reader_scalar(run, source, r, s, (struct str){s->token, s->token_n});
    member_done(s);
}

static void token_add(struct json_reader_state *s, char c)
{
    if (s->token_n < TOKEN_MAX)
        s->token[s->token_n++] = c;
    else
        s->token_long = true;
}

/* Handles the byte of a string: an escape, its end, or text. */
static void in_string(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s, char c)
{
    if (s->escape) {
        static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
        const char *at = strchr(from, c);
        token_add(s, at && c ? to[at - from] : c); /* \uXXXX stays readable text: no key of a rule has it */
        s->escape = false;
    } else if (c == '\\')
        s->escape = true;
    else if (c == '"')
        string_done(run, source, r, s);
    else
        token_add(s, c);
}

/* "[node01:02121] 1 more process …" is no array. */
static bool opens_array(struct str rest)
{
    struct str inside = str_trim(str_sub(rest, 1, rest.n));
    if (!inside.n || rest.p[1] == ' ' || rest.p[1] == '\t' || strchr("{[]\"-0123456789", inside.p[0]))
        return true;
    struct str word = inside;
    for (size_t i = 0; i < word.n; i++)
        if (!isalpha((unsigned char)word.p[i])) {
            word.n = i;
            break;
        }
    return is_json_word(word);
}

/* Log lines begin with "[12:00:01]" and "[0]": an array is a document only if it has objects. */
static bool opens_document(struct str rest)
{
    if (rest.p[0] != '[')
        return rest.p[0] == '{';
    struct str inside = str_trim(str_sub(rest, 1, rest.n));
    return !inside.n || inside.p[0] == '{';
}

/* Handles the byte rest.p[0] outside strings and bare words. */
static void outside_string(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s,
                           struct str rest)
{
    char c = rest.p[0];
    struct json_level *l = &s->level[s->depth];
    if (c == ',') {
        s->comma_ended = true;
        return;
    }
    if (c == ' ' || c == '\t') {
        s->number_ended = s->number_ended && !s->comma_ended;
        return;
    }
    s->behind_number = s->number_ended;
    s->behind_comma = s->comma_ended;
    s->number_ended = false;
    if (c == '"') {
        s->lex = LEX_STRING;
        s->token_n = 0;
        s->token_long = s->escape = false;
    } else if (c == ':' && l->type == '[') { /* a key where a value belongs: the lines that closed the array are missing */
        document_done(run, source, r, s, false);
        s->skip = true;
    } else if (c == ':') {
        l->named = s->pending;
        s->pending = false;
    } else if (c == '{') {
        if (l->type == '{' && !l->named && s->depth <= DEPTH_MAX) /* an object where a key belongs: the old document was never finished */
            document_done(run, source, r, s, false);
        open_container(r, s, '{');
    } else if (c == '[') {
        if (opens_array(rest))
            open_container(r, s, '[');
        else
            s->skip = true;
    } else if (c == '}' || c == ']')
        close_container(run, source, r, s, c == '}' ? '{' : '[');
    else {
        s->lex = LEX_BARE;
        s->token_n = 0;
        s->token_long = false;
        token_add(s, c);
    }
}

/* Reads on in a line from its current place; returns how much of it was read: up to the end of a
 * document, if `one`. */
static size_t read_on(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s, struct str text,
                      bool one)
{
    s->skip = false;
    for (size_t i = 0; i < text.n && !s->skip; i++) {
        char c = text.p[i];
        if (!s->depth) { /* between documents: one begins a line */
            if (c == ' ' || c == '\t')
                continue;
            struct str rest = str_sub(text, i, text.n);
            if (!opens_document(rest))
                return i;
            open_container(r, s, rest.p[0]);
            continue;
        }
        if (s->lex == LEX_STRING) {
            in_string(run, source, r, s, c);
            continue;
        }
        if (s->lex == LEX_BARE) {
            if (!strchr(" \t,:{}[]\"", c)) {
                token_add(s, c);
                continue;
            }
            bare_done(run, source, r, s);
            if (s->skip)
                break;
        }
        outside_string(run, source, r, s, str_sub(text, i, text.n));
        if (one && !s->depth)
            return i + 1;
    }
    return text.n;
}

/* ":::MLLOG {…}": with any text before it; two such in a line where two processes wrote at once. */
static void json_reader_prefixed(struct rules_run *run, struct source *source, const struct reader *r, struct json_reader_state *s,
                                 struct str text)
{
    const struct json_rule *j = r->data;
    struct match m;
    int found = 0;
    while (text.n && (found = pattern_match(j->prefix, text, &m)) == 1) {
        size_t at = (size_t)(m.whole.p - text.p) + m.whole.n;
        if (m.whole.n && strchr("{[", m.whole.p[m.whole.n - 1])) /* the pattern may name the bracket that begins the document */
            at--;
        size_t n = read_on(run, source, r, s, str_sub(text, at, text.n), true);
        if (s->depth)
            document_done(run, source, r, s, false);
        text = str_sub(text, at + (n ? n : 1), text.n);
    }
    run->gave_up += text.n && found < 0;
}

/* Reads a line. A document continues in the next line, a bare word or number ends with its own, and a
 * string that has no end there is dropped. */
static void json_reader_line(struct rules_run *run, struct source *source, const struct reader *r, void *memory, struct str text)
{
    const struct json_rule *j = r->data;
    struct json_reader_state *s = memory;
    if (j->prefix) {
        json_reader_prefixed(run, source, r, s, text);
        return;
    }
    s->number_ended = false;
    read_on(run, source, r, s, text, false);
    if (run->unterminated)
        return;
    if (s->lex == LEX_BARE)
        bare_done(run, source, r, s);
    if (s->lex == LEX_STRING) { /* no JSON string goes over a line's end */
        s->lex = LEX_NONE;
        s->level[s->depth].named = false;
    }
    if (s->skip && s->depth)
        s->level[s->depth].named = s->pending = false;
}

static bool json_reader_hungry(const struct reader *r, const void *memory)
{
    (void)r;
    return ((const struct json_reader_state *)memory)->depth > 0;
}

static void json_reader_end(struct rules_run *run, struct source *source, const struct reader *r, void *memory)
{
    struct json_reader_state *s = memory;
    if (s->depth)
        document_done(run, source, r, s, false);
}

static void json_reader_free(struct reader *r)
{
    struct json_rule *j = r->data;
    if (j)
        pattern_free(j->prefix);
}

const struct reader_kind reader_json = {.name = "json",
                                        .state_size = sizeof(struct json_reader_state),
                                        .state_reset = offsetof(struct json_reader_state, level),
                                        .delimits = true,
                                        .load = json_reader_load,
                                        .check = json_reader_check,
                                        .line = json_reader_line,
                                        .hungry = json_reader_hungry,
                                        .end = json_reader_end,
                                        .free = json_reader_free};
