/* added.c: see added.h; the rules for blanks and words next to a token are those of tokenizers'
 * AddedVocabulary. */
#include "benchmarks/native/llmload/tokens/added.h"

#include <stdlib.h>

enum { ADDED_TEXT_MAX = 1 << 16 };

struct added_token {
    char *text;
    size_t n;
    uint32_t id;
    bool normalized, left, right, word; /* left, right: blanks on that side belong to it; word: not inside of a word */
};

static void take_normal(void *to, struct str text)
{
    buf_str(to, text);
}

static void added_insert(struct added_list *a, struct added_token t)
{
    size_t i = a->count++;
    for (; i && a->token[i - 1].n < t.n; i--)
        a->token[i] = a->token[i - 1];
    a->token[i] = t;
    a->first_byte[t.normalized][(unsigned char)t.text[0]] = true;
}

int added_read(struct added_list *a, const struct json *spec, uint32_t id, const struct steps *normal, struct err *err)
{
    struct str content = str_of(json_string(json_get(spec, "content"), ""));
    struct added_token t = {.id = id,
                            .normalized = json_bool(json_get(spec, "normalized"), false),
                            .left = json_bool(json_get(spec, "lstrip"), false),
                            .right = json_bool(json_get(spec, "rstrip"), false),
                            .word = json_bool(json_get(spec, "single_word"), false)};
    struct buf text CLEANUP_BUF;
    buf_init(&text, ADDED_TEXT_MAX);
    if (!t.normalized)
        buf_str(&text, content);
    else if (steps_run(normal, content, true, take_normal, &text, err) < 0)
        return -1;
    if (text.failed)
        return err_set(err, ERR_INPUT, "the text of the token %u is longer than %d bytes (or out of memory)", id, ADDED_TEXT_MAX - 1);
    if (!text.n)
        return err_set(err, ERR_INPUT, "the text of the token %u is empty after the normalizer", id);
    struct added_token *more = realloc(a->token, (a->count + 1) * sizeof *more);
    if (!more || !(a->token = more, t.text = strndup(text.p, text.n)))
        return err_memory(err, "a tokenizer");
    t.n = text.n;
    added_insert(a, t);
    return 0;
}

void added_deinit(struct added_list *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->token[i].text);
    free(a->token);
    *a = (struct added_list){0};
}

bool added_has(const struct added_list *a, uint32_t id)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->token[i].id == id)
            return true;
    return false;
}

static bool word_byte(unsigned char c)
{
    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Returns the added token that the text has at `at`; NULL: none. A token that is a word must not be
 * within another word. */
static const struct added_token *token_at(const struct added_list *a, bool normalized, struct str text, size_t at)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct added_token *t = &a->token[i];
        if (t->normalized != normalized || t->n > text.n - at || memcmp(text.p + at, t->text, t->n) != 0)
            continue;
        bool inside =
            (at && word_byte((unsigned char)text.p[at - 1])) || (at + t->n < text.n && word_byte((unsigned char)text.p[at + t->n]));
        if (!t->word || !inside)
            return t;
    }
    return NULL;
}

/* Length of the blank (Unicode's White_Space, as Rust's char::is_whitespace) that text begins with;
 * 0: none. */
static size_t white_space_len(struct str text)
{
    static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
                                       "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
    if (!text.n)
        return 0;
    if (text.p[0] == ' ' || (text.p[0] >= '\t' && text.p[0] <= '\r'))
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (str_starts(text, wide[i]))
            return strlen(wide[i]);
    return str_starts(text, "\xe2\x80") && text.n > 2 && (unsigned char)text.p[2] <= 0x8a ? 3 : 0; /* U+2000 … U+200A */
}

/* Length of the blank that ends before `end`, not before `begin`. */
static size_t blank_before(struct str text, size_t begin, size_t end)
{
    for (size_t n = 1; n <= 3 && n <= end - begin; n++)
        if (white_space_len(str_sub(text, end - n, n)) == n)
            return n;
    return 0;
}

void added_cut(const struct added_list *a, bool normalized, struct str text, void (*piece)(void *to, struct str text, int64_t id), void *to)
{
    size_t done = 0;
    for (size_t i = 0; i < text.n;) {
        const struct added_token *t = a->first_byte[normalized][(unsigned char)text.p[i]] ? token_at(a, normalized, text, i) : NULL;
        if (!t) {
            i++;
            continue;
        }
        size_t begin = i, end = i + t->n;
        for (size_t n; t->left && (n = blank_before(text, done, begin)) > 0; begin -= n)
            ;
        for (size_t n; t->right && (n = white_space_len(str_sub(text, end, text.n))) > 0; end += n)
            ;
        if (begin > done)
            piece(to, str_sub(text, done, begin - done), -1);
        piece(to, str_sub(text, begin, end - begin), t->id);
        done = i = end;
    }
    if (done < text.n)
        piece(to, str_sub(text, done, text.n), -1);
}
