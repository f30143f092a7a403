/* pattern.c: regular expressions over single lines: PCRE2 with JIT where the kernel allows it and the same limits without. */
#include "benchmarks/pattern.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A line has at most 1 MiB. These limits end a catastrophic match within milliseconds; ordinary patterns need a few hundred steps. */
enum { TEXT_MAX = 4096, MATCH_LIMIT = 200000, DEPTH_LIMIT = 500, HEAP_KIB = 1024, JIT_STACK = 256 << 10 };
/* A pattern that may match anywhere can need time by the square of the line's length, which the
 * limits do not count. */
enum { FLOATING_MAX = 64 << 10 };

/* Made when the first line comes that it may match: translating costs more than all else of a run without output. */
struct jit {
    bool tried, good;
    pcre2_jit_stack *stack;
};

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data; /* one reading at a time uses a rule set */
    pcre2_match_context *context;
    struct jit *jit; /* in the arena */
    struct arena arena;
    struct str literal[PATTERN_LITERALS_MAX];
    size_t literals;
    struct str head[PATTERN_LITERALS_MAX]; /* of a pattern anchored with ^: the line begins with one of these */
    size_t heads;
    bool anchored; /* can match at the beginning of a line alone */
};

/* The literals: runs of ordinary characters, and groups that are nothing but alternatives of such runs. Of all
 * candidates the one whose shortest text is longest filters best. Whatever is not understood counts as "could be anything". */
struct literal_candidate {
    struct str text[PATTERN_LITERALS_MAX];
    size_t n, shortest;
};

struct scanner {
    const char *p, *end;
    struct arena *arena;
    struct literal_candidate best;
    char run[256];
    size_t run_n;
};

static void offer_literal(struct scanner *s, const struct literal_candidate *c)
{
    if (c->n && c->shortest > s->best.shortest)
        s->best = *c;
}

/* Ends the run of ordinary characters, which becomes a candidate. */
static void run_close(struct scanner *s)
{
    if (s->run_n) {
        struct literal_candidate c = {.n = 1, .shortest = s->run_n};
        c.text[0] = (struct str){arena_dup(s->arena, s->run, s->run_n), s->run_n};
        if (c.text[0].p)
            offer_literal(s, &c);
    }
    s->run_n = 0;
}

static void run_add(struct scanner *s, char c)
{
    if (s->run_n < sizeof(s->run))
        s->run[s->run_n++] = c;
    else
        run_close(s);
}

/* Is there a quantifier at p that allows zero times (then what precedes is not required)? *ret_n is its length. */
static bool optional_at(const char *p, const char *end, size_t *ret_n)
{
    *ret_n = 0;
    if (p == end || !strchr("*?+{", *p))
        return false;
    bool zero = *p == '*' || *p == '?' || (*p == '{' && p + 1 < end && (p[1] == '0' || p[1] == ','));
    const char *q = p + 1;
    if (*p == '{')
        while (q < end && q[-1] != '}')
            q++;
    if (q < end && (*q == '?' || *q == '+'))
        q++;
    *ret_n = (size_t)(q - p);
    return zero;
}

/* Returns the place behind a class, `end` where it does not end. */
static const char *class_end(const char *p, const char *end) /* p at '[' */
{
    p++;
    if (p < end && *p == '^')
        p++;
    if (p < end && *p == ']')
        p++;
    while (p < end && *p != ']') {
        if (*p == '[' && p + 1 < end && p[1] == ':') { /* [:alpha:] */
            const char *close = memmem(p + 2, (size_t)(end - p - 2), ":]", 2);
            if (close)
                p = close + 1;
        } else if (*p == '\\')
            p++;
        p++;
    }
    return p < end ? p + 1 : end;
}

/* Returns the place behind a group, `end` where it does not end. */
static const char *group_end(const char *p, const char *end) /* p at '(' */
{
    int depth = 0;
    while (p < end) {
        if (*p == '\\')
            p++;
        else if (*p == '[') {
            p = class_end(p, end);
            continue;
        } else if (*p == '(')
            depth++;
        else if (*p == ')' && --depth == 0)
            return p + 1;
        p++;
    }
    return end;
}

/* The inside of a group that is only "word|word|word". */
static void offer_alternatives(struct scanner *s, const char *p, const char *end)
{
    struct literal_candidate c = {.shortest = SIZE_MAX};
    struct str rest = {p, (size_t)(end - p)};
    while (rest.p) {
        struct str word = str_cut(&rest, '|');
        if (!word.n || c.n == PATTERN_LITERALS_MAX)
            return;
        for (size_t i = 0; i < word.n; i++)
            if (strchr("\\[](){}*+?.^$", word.p[i]))
                return;
        struct str copy = {arena_dup(s->arena, word.p, word.n), word.n};
        if (!copy.p)
            return;
        c.text[c.n++] = copy;
        if (word.n < c.shortest)
            c.shortest = word.n;
    }
    offer_literal(s, &c);
}

static const char *group_inside(const char *p) /* behind "(", "(?:" or "(?<name>"; NULL for other kinds (look-around, options) */
{
    if (p[1] != '?')
        return p + 1;
    if (p[2] == ':')
        return p + 3;
    const char *name = p[2] == 'P' ? p + 3 : p + 2;
    if (*name != '<' || name[1] == '=' || name[1] == '!')
        return NULL;
    const char *close = strchr(name, '>');
    return close ? close + 1 : NULL;
}

/* Moves over a group, and offers its alternatives where it is not optional. Returns NULL where
 * nothing is certain behind it. */
static const char *scan_group(struct scanner *s)
{
    const char *close = group_end(s->p, s->end), *inside = group_inside(s->p);
    size_t n;
    run_close(s);
    if (!inside && s->p[1] == '?' && s->p[2] != '<' && s->p[2] != '=' && s->p[2] != '!')
        return NULL; /* (?i) and the like: nothing is certain any more */
    if (inside && !optional_at(close, s->end, &n) && close > inside)
        offer_alternatives(s, inside, close - 1);
    optional_at(close, s->end, &n);
    return close + n;
}

/* One element of the pattern; returns where the next begins, or NULL if nothing is known. */
static const char *scan_one(struct scanner *s)
{
    const char *p = s->p;
    size_t n;
    if (*p == '|')
        return NULL;
    if (*p == '(')
        return scan_group(s);
    char c = *p;
    const char *next = p + 1;
    bool literal = !strchr("^$.[", c);
    if (c == '[')
        next = class_end(p, s->end);
    if (c == '\\') {
        if (next == s->end)
            return NULL;
        c = *next++;
        literal = c == 't' || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
        if (c == 't')
            c = '\t';
        else if (!literal && !strchr("dDsSwWbBhHvVRNKAZz", c))
            return NULL; /* \x.., \Q, back references …: not worth understanding */
    }
    bool zero = optional_at(next, s->end, &n);
    if (!literal || zero)
        run_close(s);
    else
        run_add(s, c);
    if (n)
        run_close(s); /* "ab+": the run ends at the repeated character */
    return next + n;
}

/* Stores literals of which each match has one. Stores none where that is not certain. */
static void find_literals(struct pattern *p, const char *text, size_t n)
{
    struct scanner s = {.p = text, .end = text + n, .arena = &p->arena};
    while (s.p && s.p < s.end)
        s.p = scan_one(&s);
    if (!s.p)
        return;
    run_close(&s);
    for (size_t i = 0; i < s.best.n; i++)
        p->literal[i] = s.best.text[i];
    p->literals = s.best.n;
}

/* "^ERROR", "^(?:Options|Summary): *$": most lines are turned away by their first bytes, without starting the matcher. */
static void find_heads(struct pattern *p, const char *text, size_t n)
{
    struct scanner s = {.p = text + 1, .end = text + n, .arena = &p->arena};
    size_t unused;
    if (!p->literals || n < 2 || text[0] != '^') /* without literals the pattern was not understood */
        return;
    if (*s.p == '(') {
        const char *close = group_end(s.p, s.end), *inside = group_inside(s.p);
        if (inside && close > inside && !optional_at(close, s.end, &unused))
            offer_alternatives(&s, inside, close - 1);
    } else {
        while (s.p < s.end && !strchr("\\^$.[](){}*+?|", *s.p) && !optional_at(s.p + 1, s.end, &unused) && s.run_n < sizeof(s.run))
            s.run[s.run_n++] = *s.p++;
        run_close(&s);
    }
    for (size_t i = 0; i < s.best.n; i++)
        p->head[i] = s.best.text[i];
    p->heads = s.best.n;
}

static bool head_fits(const struct pattern *p, struct str line)
{
    for (size_t i = 0; i < p->heads; i++)
        if (line.n >= p->head[i].n && !memcmp(line.p, p->head[i].p, p->head[i].n))
            return true;
    return !p->heads;
}

/* BENCHWRAP_PCRE_JIT=0: the interpreter, with the same limits. */
static bool jit_wanted(void)
{
    const char *asked = getenv("BENCHWRAP_PCRE_JIT");
    return !asked || strcmp(asked, "0") != 0;
}

/* Compiles the pattern with its limits. Returns 0, or another value with *err; pattern_free frees
 * what was made in either case. */
static int compile_pattern(struct pattern *p, struct str text, struct err *err)
{
    int code;
    size_t offset;
    uint32_t groups = 0, options = 0;
    p->code =
        pcre2_compile((PCRE2_SPTR)text.p, text.n, PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY, &code, &offset, NULL);
    if (!p->code) {
        char why[160];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
        return err_set(err, ERR_INPUT, "the pattern is wrong at character %zu: %s", offset + 1, why);
    }
    pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    pcre2_pattern_info(p->code, PCRE2_INFO_ALLOPTIONS, &options);
    p->anchored = options & PCRE2_ANCHORED;
    if (groups >= PATTERN_GROUPS_MAX)
        return err_set(err, ERR_INPUT, "the pattern has %u groups; 63 are allowed", groups);
    p->jit = ARENA_NEW(&p->arena, struct jit);
    p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->jit || !p->data || !p->context)
        return err_memory(err, "a pattern");
    pcre2_set_match_limit(p->context, MATCH_LIMIT);
    pcre2_set_depth_limit(p->context, DEPTH_LIMIT);
    pcre2_set_heap_limit(p->context, HEAP_KIB);
    return 0;
}

/* Compiles the pattern to machine code at the first call. Where that fails, the interpreter stays
 * in use. */
static void make_jit(const struct pattern *p)
{
    struct jit *j = p->jit;
    if (j->tried)
        return;
    j->tried = true;
    if (!jit_wanted() || pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) != 0) /* hardened kernels refuse: the interpreter does it */
        return;
    j->good = true;
    j->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK, NULL);
    if (j->stack)
        pcre2_jit_stack_assign(p->context, NULL, j->stack);
}

int pattern_new(struct pattern **ret, struct str text, struct err *err)
{
    if (!text.n || text.n > TEXT_MAX)
        return err_set(err, ERR_INPUT, "a pattern has 1 to %d characters", TEXT_MAX);
    struct pattern *p = calloc(1, sizeof(*p));
    if (!p)
        return err_memory(err, "a pattern");
    arena_init(&p->arena, 64 << 10);
    const char *copy = arena_dup(&p->arena, text.p, text.n); /* NUL-terminated, as the scanner requires */
    if (!copy || compile_pattern(p, text, err)) {
        pattern_free(p);
        return copy ? -1 : err_memory(err, "a pattern");
    }
    find_literals(p, copy, text.n);
    find_heads(p, copy, text.n);
    *ret = p;
    return 0;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    if (p->jit)
        pcre2_jit_stack_free(p->jit->stack);
    pcre2_match_context_free(p->context);
    pcre2_match_data_free(p->data);
    pcre2_code_free(p->code);
    arena_deinit(&p->arena);
    free(p);
}

int pattern_match(const struct pattern *p, struct str line, struct match *ret)
{
    if (!head_fits(p, line))
        return 0;
    if (line.n > FLOATING_MAX && !p->anchored)
        return -1;
    make_jit(p);
    int n = pcre2_match(p->code, (PCRE2_SPTR)(line.p ? line.p : ""), line.n, 0, 0, p->data, p->context);
    if (n == PCRE2_ERROR_NOMATCH)
        return 0;
    if (n < 0)
        return -1;
    if (!ret)
        return 1;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->data);
    uint32_t count = pcre2_get_ovector_count(p->data);
    ret->whole = (struct str){line.p + at[0], at[1] - at[0]};
    for (uint32_t i = 0; i < PATTERN_GROUPS_MAX; i++) {
        bool set = i < count && (int)i < n && at[2 * i] != PCRE2_UNSET;
        ret->group[i] = set ? (struct str){line.p + at[2 * i], at[2 * i + 1] - at[2 * i]} : (struct str){NULL, 0};
    }
    return 1;
}

bool pattern_jit(const struct pattern *p)
{
    make_jit(p);
    return p->jit->good;
}

int pattern_group(const struct pattern *p, struct str name)
{
    char z[64];
    if (name.n >= sizeof(z))
        return -1;
    memcpy(z, name.p, name.n);
    z[name.n] = 0;
    int n = pcre2_substring_number_from_name(p->code, (PCRE2_SPTR)z);
    return n > 0 ? n : -1;
}

size_t pattern_literals(const struct pattern *p, const struct str **ret)
{
    *ret = p->literal;
    return p->literals;
}
