/* steps.c: normalizers and the cutting into words, one after the other; see steps.h. */
#include "benchmarks/native/llmload/tokens/steps.h"

#include "benchmarks/native/llmload/tokens/unicode.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* GPT-2's own cutting, which ByteLevel does by default. */
#define GPT2_WORDS "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define METASPACE "\xe2\x96\x81"

enum { TEXT_MAX = 64 << 20, PATTERN_MAX = 16 << 10, MATCH_LIMIT = 5000000, DEPTH_LIMIT = 100000 };
enum step_kind { NORMALIZE, PREPEND, REPLACE, SPLIT, BYTES, METASPACES };
enum behaviour { ISOLATED, REMOVED, WITH_PREVIOUS, WITH_NEXT, CONTIGUOUS };
enum step_prefix { NEVER, FIRST, ALWAYS };

struct step {
    enum step_kind kind;
    enum unicode_form form; /* NORMALIZE */
    char *text, *content; /* PREPEND: what; REPLACE: what by what; SPLIT by a plain text; METASPACES: the character */
    pcre2_code *pattern; /* SPLIT, REPLACE by a regular expression */
    pcre2_match_context *limits;
    enum behaviour behaviour;
    bool invert;
    enum step_prefix prefix; /* BYTES, METASPACES: a blank before the text */
};

static const char *const behaviours[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

size_t steps_byte(unsigned char byte, char ret[2])
{
    unsigned c = byte;
    /* Printable characters stand for themselves, the others follow each other from U+0100. */
    if (c < '!')
        c += 256;
    else if (c >= 0x7f && c <= 0xa0)
        c += 256 + 33 - 0x7f;
    else if (c == 0xad)
        c = 0x143;
    ret[0] = (char)(c < 0x80 ? c : 0xc0 | c >> 6);
    ret[1] = (char)(0x80 | (c & 0x3f));
    return c < 0x80 ? 1 : 2;
}

/* Its reverse; -1: this character stands for no byte. */
static int byte_of(unsigned c)
{
    if (c >= 256 && c < 256 + '!')
        return (int)c - 256;
    if (c >= 256 + '!' && c < 256 + '!' + 0xa1 - 0x7f)
        return (int)c - 256 - '!' + 0x7f;
    if (c == 0x143)
        return 0xad;
    return (c >= '!' && c < 0x7f) || (c > 0xa0 && c < 256 && c != 0xad) ? (int)c : -1;
}

bool steps_bytes(struct str text, struct buf *to)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        n = str_utf8(text.p + i, text.n - i);
        unsigned char lead = (unsigned char)text.p[i];
        int byte = n == 1 ? byte_of(lead) : n == 2 ? byte_of((lead & 0x1fu) << 6 | ((unsigned char)text.p[i + 1] & 0x3fu)) : -1;
        if (byte < 0)
            return false;
        buf_putc(to, (char)byte);
    }
    return true;
}

/* ---- reading the description ---- */

/* Appends an empty step, which s owns. NULL with err: STEPS_MAX are there, or out of memory. */
static struct step *step_new(struct steps *s, enum step_kind kind, struct err *err)
{
    struct step *step = s->count < STEPS_MAX ? calloc(1, sizeof *step) : NULL;
    if (!step) {
        err_set(err, ERR_INPUT, "more than %d steps before encoding (or out of memory)", STEPS_MAX);
        return NULL;
    }
    step->kind = kind;
    s->step[s->count++] = step;
    return step;
}

/* Oniguruma's \s is the property White_Space; PCRE2's includes U+180E, too. */
static void pattern_to_pcre2(struct buf *to, const char *pattern)
{
    for (const char *p = pattern; *p; p++) {
        if (p[0] == '\\' && (p[1] == 's' || p[1] == 'S')) {
            buf_puts(to, p[1] == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
            p++;
        } else if (p[0] == '\\' && p[1]) {
            buf_add(to, p, 2);
            p++;
        } else
            buf_putc(to, *p);
    }
}

/* Compiles a pattern of Oniguruma for PCRE2. Returns 0, or another value with *err. */
static int step_compile(struct step *s, const char *pattern, struct err *err)
{
    int code;
    size_t at;
    struct buf text CLEANUP_BUF;
    buf_init(&text, PATTERN_MAX);
    pattern_to_pcre2(&text, pattern);
    if (text.failed)
        return err_set(err, ERR_INPUT, "the pattern is longer than %d bytes after translation for PCRE2 (or out of memory)", PATTERN_MAX);
    s->pattern = pcre2_compile((PCRE2_SPTR)(text.p ? text.p : ""), text.n, PCRE2_UTF | PCRE2_UCP, &code, &at, NULL);
    if (!s->pattern) {
        unsigned char why[160] = "";
        pcre2_get_error_message(code, why, sizeof why);
        return err_set(err, ERR_INPUT, "the pattern \"%.80s\", character %zu: %s", pattern, at, (char *)why);
    }
    pcre2_jit_compile(s->pattern, PCRE2_JIT_COMPLETE); /* where the kernel allows it */
    s->limits = pcre2_match_context_create(NULL);
    if (!s->limits)
        return err_memory(err, "the steps before encoding");
    pcre2_set_match_limit(s->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(s->limits, DEPTH_LIMIT);
    return 0;
}

static int copy_step_text(char **ret, const char *text, struct err *err)
{
    *ret = strdup(text);
    return *ret ? 0 : err_memory(err, "a tokenizer");
}

/* {"Regex": "…"} or {"String": "…"} */
static int read_pattern(struct step *s, const struct json *spec, struct err *err)
{
    const struct json *pattern = json_get(spec, "pattern");
    const char *regex = json_string(json_get(pattern, "Regex"), NULL), *text = json_string(json_get(pattern, "String"), NULL);
    if (regex)
        return step_compile(s, regex, err);
    if (!text || !*text)
        return err_set(err, ERR_INPUT, "it has no pattern");
    return copy_step_text(&s->text, text, err);
}

static int read_split(struct steps *list, const struct json *spec, struct err *err)
{
    struct step *s = step_new(list, SPLIT, err);
    const char *behaviour = json_string(json_get(spec, "behavior"), "");
    size_t i = 0;
    while (i < sizeof behaviours / sizeof *behaviours && strcmp(behaviour, behaviours[i]) != 0)
        i++;
    if (!s || i == sizeof behaviours / sizeof *behaviours)
        return s ? err_set(err, ERR_INPUT, "Split: the behavior \"%.40s\" is not known", behaviour) : -1;
    s->behaviour = (enum behaviour)i;
    s->invert = json_bool(json_get(spec, "invert"), false);
    return read_pattern(s, spec, err) < 0 ? err_wrap(err, "Split") : 0;
}

static int add_pattern_split(struct steps *list, const char *pattern, struct err *err)
{
    struct step *s = step_new(list, SPLIT, err);
    return s ? step_compile(s, pattern, err) : -1;
}

static int read_bytes(struct steps *list, const struct json *spec, struct err *err)
{
    if (json_bool(json_get(spec, "add_prefix_space"), true)) {
        struct step *s = step_new(list, METASPACES, err); /* a blank that stays a blank */
        if (!s || copy_step_text(&s->text, " ", err) < 0)
            return -1;
        s->prefix = ALWAYS;
    }
    if (json_bool(json_get(spec, "use_regex"), true) && add_pattern_split(list, GPT2_WORDS, err) < 0)
        return -1;
    return step_new(list, BYTES, err) ? 0 : -1;
}

static int read_metaspace(struct steps *list, const struct json *spec, struct err *err)
{
    struct step *s = step_new(list, METASPACES, err);
    const char *scheme =
        json_string(json_get(spec, "prepend_scheme"), json_bool(json_get(spec, "add_prefix_space"), true) ? "always" : "never");
    const char *mark = json_string(json_get(spec, "replacement"), METASPACE);
    if (!s || copy_step_text(&s->text, mark, err) < 0)
        return -1;
    s->prefix = strcmp(scheme, "always") == 0 ? ALWAYS : strcmp(scheme, "first") == 0 ? FIRST : NEVER;
    if (!json_bool(json_get(spec, "split"), true))
        return 0;
    struct step *cut = step_new(list, SPLIT, err);
    if (!cut || copy_step_text(&cut->text, mark, err) < 0)
        return -1;
    cut->behaviour = WITH_NEXT;
    return 0;
}

static int read_replace(struct steps *list, const struct json *spec, struct err *err)
{
    struct step *s = step_new(list, REPLACE, err);
    if (!s || copy_step_text(&s->content, json_string(json_get(spec, "content"), ""), err) < 0)
        return -1;
    return read_pattern(s, spec, err) < 0 ? err_wrap(err, "Replace") : 0;
}

static int read_prepend(struct steps *list, const struct json *spec, struct err *err)
{
    struct step *s = step_new(list, PREPEND, err);
    return s ? copy_step_text(&s->text, json_string(json_get(spec, "prepend"), ""), err) : -1;
}

static int read_digits(struct steps *list, const struct json *spec, struct err *err)
{
    return add_pattern_split(list, json_bool(json_get(spec, "individual_digits"), false) ? "\\p{N}" : "\\p{N}+", err);
}

static int read_sequence(struct steps *list, const struct json *spec, struct err *err)
{
    const struct json *of = json_get(spec, "normalizers");
    for (const struct json *j = json_first(of ? of : json_get(spec, "pretokenizers")); j; j = json_next(j))
        if (steps_add(list, j, err) < 0)
            return -1;
    return 0;
}

static int read_form(struct steps *list, const struct json *spec, struct err *err)
{
    struct step *s = step_new(list, NORMALIZE, err);
    return s ? unicode_form_of(json_string(json_get(spec, "type"), ""), &s->form, err) : -1;
}

int steps_add(struct steps *list, const struct json *spec, struct err *err)
{
    static const struct {
        const char *name;
        int (*read)(struct steps *list, const struct json *spec, struct err *err);
    } kinds[] = {{"Sequence", read_sequence}, {"NFC", read_form},        {"NFD", read_form},           {"NFKC", read_form},
                 {"NFKD", read_form},         {"Prepend", read_prepend}, {"Replace", read_replace},    {"Split", read_split},
                 {"ByteLevel", read_bytes},   {"Digits", read_digits},   {"Metaspace", read_metaspace}};
    if (!spec || json_is_null(spec))
        return 0;
    const char *type = json_string(json_get(spec, "type"), "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].name) == 0)
            return kinds[i].read(list, spec, err);
    return err_set(err, ERR_INPUT, "the step \"%.40s\" is not known here: this tokenizer would count wrongly", type);
}

void steps_deinit(struct steps *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct step *s = list->step[i];
        pcre2_code_free(s->pattern);
        pcre2_match_context_free(s->limits);
        free(s->text);
        free(s->content);
        free(s);
    }
    list->count = 0;
}

/* ---- running ---- */

struct steps_walk {
    const struct steps *steps;
    steps_word *word;
    void *to;
    struct err *err;
};

static int steps_continue(const struct steps_walk *r, size_t at, struct str text, bool first);

/* Finds the next place in the text from `at` on where the step's pattern or plain text is, not
 * empty. Returns 1 with *ret in the text; 0: none; -1 with err: a limit of PCRE2, or out of memory.
 * data: of pcre2_match_data_create, NULL when out of memory; not used for a plain text. */
static int find_next(const struct step *s, pcre2_match_data *data, struct str text, size_t at, struct str *ret, struct err *err)
{
    if (!s->pattern) {
        ptrdiff_t found = str_find(str_sub(text, at, text.n), str_of(s->text));
        if (found < 0)
            return 0;
        *ret = str_sub(text, at + (size_t)found, strlen(s->text));
        return 1;
    }
    if (!data)
        return err_memory(err, "a pattern of the tokenizer");
    int rc = pcre2_match(s->pattern, (PCRE2_SPTR)text.p, text.n, at, PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK, data, s->limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter has more */
        rc = pcre2_match(s->pattern, (PCRE2_SPTR)text.p, text.n, at, PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, s->limits);
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    const size_t *span = pcre2_get_ovector_pointer(data);
    if (rc < 0) {
        unsigned char why[160] = "";
        pcre2_get_error_message(rc, why, sizeof why);
        return err_set(err, ERR_INPUT, "a pattern of the tokenizer failed in a text of %zu bytes: %s", text.n, (char *)why);
    }
    if (span[1] < span[0]) /* \K in an assertion */
        return err_set(err, ERR_INPUT, "a pattern of the tokenizer matches a text that ends before it begins");
    *ret = str_sub(text, span[0], span[1] - span[0]);
    return 1;
}

/* A stretch of text, a match or the text between two; WITH_PREVIOUS and others join neighbours. */
struct steps_split {
    const struct steps_walk *run;
    size_t next; /* step that gets what is cut */
    const struct step *step;
    struct str text, held; /* held: not yet handed on */
    bool first, held_match;
};

static int split_flush(struct steps_split *c)
{
    struct str piece = c->held;
    c->held.n = 0;
    if (!piece.n)
        return 0;
    return steps_continue(c->run, c->next, piece, c->first && piece.p == c->text.p);
}

/* Returns whether a piece belongs to the held one by the behavior of the step. match: the piece is
 * a match. */
static bool split_joins(const struct steps_split *c, bool match)
{
    switch (c->step->behaviour) {
    case WITH_PREVIOUS: return match && !c->held_match;
    case WITH_NEXT: return !match && c->held_match;
    case CONTIGUOUS: return match == c->held_match;
    case ISOLATED:
    case REMOVED: break;
    }
    return false;
}

/* Handles the next piece of the text: drops it, joins it to the held one, or passes that on and
 * holds this one. Returns 0, or -1 with the error of the walk. */
static int cut_piece(struct steps_split *c, struct str piece, bool match)
{
    if (!piece.n)
        return 0;
    match ^= c->step->invert;
    if (c->step->behaviour == REMOVED && match)
        return split_flush(c);
    if (c->held.n && split_joins(c, match))
        c->held.n += piece.n;
    else {
        if (split_flush(c) < 0)
            return -1;
        c->held = piece;
    }
    c->held_match = match;
    return 0;
}

/* Divides a text at the matches of the step, and passes the pieces to the next steps. Returns 0, or
 * another value with the walk's error. */
static int step_split(const struct steps_walk *r, size_t at, struct str text, bool first)
{
    const struct step *s = r->steps->step[at];
    struct steps_split c = {.run = r, .next = at + 1, .step = s, .text = text, .first = first};
    struct str found;
    size_t done = 0;
    int rc = 0;
    pcre2_match_data *data = s->pattern ? pcre2_match_data_create(1, NULL) : NULL;
    while ((rc = find_next(s, data, text, done, &found, r->err)) > 0) {
        size_t begin = (size_t)(found.p - text.p);
        rc = cut_piece(&c, str_sub(text, done, begin - done), false);
        if (rc < 0 || (rc = cut_piece(&c, found, true)) < 0)
            break;
        done = begin + found.n;
    }
    pcre2_match_data_free(data);
    if (rc == 0)
        rc = cut_piece(&c, str_sub(text, done, text.n), false);
    return rc < 0 ? -1 : split_flush(&c);
}

/* Appends the text with each match replaced. Returns 0, or a negative value with *err. */
static int step_replace(const struct step *s, struct str text, struct buf *to, struct err *err)
{
    struct str found;
    size_t done = 0;
    int rc;
    pcre2_match_data *data = s->pattern ? pcre2_match_data_create(1, NULL) : NULL;
    while ((rc = find_next(s, data, text, done, &found, err)) > 0) {
        buf_str(to, str_sub(text, done, (size_t)(found.p - text.p) - done));
        buf_puts(to, s->content);
        done = (size_t)(found.p - text.p) + found.n;
    }
    pcre2_match_data_free(data);
    buf_str(to, str_sub(text, done, text.n));
    return rc;
}

/* Appends the text, which is not empty, with its blanks replaced by the step's text, and with one
 * before it as the step requires. */
static void step_metaspaces(const struct step *s, struct str text, bool first, struct buf *to)
{
    bool has = str_starts(text, s->text) || text.p[0] == ' ';
    if (!has && (s->prefix == ALWAYS || (s->prefix == FIRST && first)))
        buf_puts(to, s->text);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ' ')
            buf_puts(to, s->text);
        else
            buf_putc(to, text.p[i]);
}

/* Appends the text as the step rewrites it. Returns 0, or another value with *err. */
static int step_rewrite(const struct step *s, struct str text, bool first, struct buf *to, struct err *err)
{
    char one[2];
    switch (s->kind) {
    case NORMALIZE: return unicode_normalize(s->form, text, to, err);
    case PREPEND:
        buf_puts(to, s->text);
        buf_str(to, text);
        return 0;
    case REPLACE: return step_replace(s, text, to, err);
    case METASPACES: step_metaspaces(s, text, first, to); return 0;
    case BYTES:
        for (size_t i = 0; i < text.n; i++)
            buf_add(to, one, steps_byte((unsigned char)text.p[i], one));
        return 0;
    case SPLIT: break;
    }
    return 0;
}

/* Runs the steps from `at` on over a text, and passes the words at the end on. Returns 0, or
 * another value with the walk's error. */
static int steps_continue(const struct steps_walk *r, size_t at, struct str text, bool first)
{
    if (!text.n)
        return 0;
    if (at == r->steps->count) {
        r->word(r->to, text);
        return 0;
    }
    if (r->steps->step[at]->kind == SPLIT)
        return step_split(r, at, text, first);
    struct buf made CLEANUP_BUF;
    buf_init(&made, TEXT_MAX);
    if (step_rewrite(r->steps->step[at], text, first, &made, r->err) < 0)
        return -1;
    if (made.failed)
        return err_set(r->err, ERR_INPUT, "a text of %zu bytes becomes longer than %d MiB in a step before encoding (or out of memory)",
                       text.n, TEXT_MAX >> 20);
    return steps_continue(r, at + 1, buf_text(&made), first);
}

int steps_run(const struct steps *s, struct str text, bool first, steps_word *word, void *to, struct err *err)
{
    struct steps_walk r = {s, word, to, err};
    return steps_continue(&r, 0, text, first);
}
