/* secret_finding.h: the state of a search for secrets, and the checks that each part of it makes at
 * a position. Private to secrets.c, secret_values.c, secret_tokens.c and secret_words.c. */
#ifndef PROBES_SECRET_FINDING_H
#define PROBES_SECRET_FINDING_H
#include "probes/secret_names.h"
#include "probes/secrets.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    NAME_LONGEST = 64,
    URL_LONGEST = 512,
    NAMES_KNOWN = 64, /* names are the same on many lines */
    STRING_LONGEST = 4096, /* bytes of a line before a quote */
    COMMAND_LONGEST = 1024, /* bytes of a command line before an option */
};

struct known_name {
    size_t at, n; /* its first position; n 0: none */
    enum secret_weight weight;
};

struct secret_search {
    struct known_name names[NAMES_KNOWN];
    struct str text;
    size_t count; /* secrets found so far */
    size_t quiet; /* before this position nothing more is reported: it was reported, or is known to be no secret */
    struct secrets_state *state;
    void (*each)(void *context, const struct secret *s);
    void *context;
};

static inline bool secret_is_token_byte(char c) /* base64 in both alphabets, without '/', which paths are full of */
{
    return str_is_digit(c) || str_is_letter(c) || c == '+' || c == '_' || c == '-';
}

/* Reports a secret at these bytes. */
static inline void secret_report(struct secret_search *f, size_t at, size_t n, enum secret_kind kind)
{
    if (n == 0)
        return;
    f->count++;
    f->each(f->context, &(struct secret){.at = at, .n = n, .kind = kind});
}

static inline size_t secret_line_end(struct str t, size_t from)
{
    const char *end = from < t.n ? memchr(t.p + from, '\n', t.n - from) : NULL;
    return end ? (size_t)(end - t.p) : t.n;
}

static inline bool secret_is_line_end(struct str t, size_t at)
{
    return at >= t.n || t.p[at] == '\n' || t.p[at] == '\r';
}

static inline size_t secret_skip_blanks(struct str t, size_t at)
{
    while (at < t.n && str_is_blank(t.p[at]))
        at++;
    return at;
}

static inline bool secret_is_name_byte(char c)
{
    return str_is_letter(c) || str_is_digit(c) || c == '_' || c == '-' || c == '.';
}

/* Returns the offset of the first `small` in the text, whose letters may be of either case; -1: the
 * text does not have it. small: not empty, in small letters. */
static inline ptrdiff_t secret_find_anycase(struct str text, struct str small)
{
    for (size_t i = 0; i + small.n <= text.n; i++) {
        size_t n = 0;
        while (n < small.n && str_lower(text.p[i + n]) == small.p[n])
            n++;
        if (n == small.n)
            return (ptrdiff_t)i;
    }
    return -1;
}

static inline bool secret_has_anycase(struct str text, const char *small)
{
    return secret_find_anycase(text, str_of(small)) >= 0;
}

/* Returns where the line of `at` begins, or the position COMMAND_LONGEST bytes before `at` in a
 * longer line. */
static inline size_t secret_line_begin(struct str t, size_t at)
{
    size_t from = at;
    while (from > 0 && t.p[from - 1] != '\n' && at - from < COMMAND_LONGEST)
        from--;
    return from;
}

/* Which of the 16 bytes from p on are token bytes, and which of those are digits: a bit for each. */
#ifdef __SSE2__
static inline __m128i secret_token_16(__m128i c, __m128i *ret_digit)
{
    __m128i letter = _mm_sub_epi8(_mm_or_si128(c, _mm_set1_epi8(0x20)), _mm_set1_epi8('a')), digit = _mm_sub_epi8(c, _mm_set1_epi8('0'));
    __m128i more = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('+')), _mm_cmpeq_epi8(c, _mm_set1_epi8('_')));
    *ret_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
    letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter);
    return _mm_or_si128(_mm_or_si128(letter, *ret_digit), _mm_or_si128(more, _mm_cmpeq_epi8(c, _mm_set1_epi8('-'))));
}

static inline unsigned secret_tokens_of_16(const char *p, unsigned *ret_digits)
{
    __m128i digit, token = secret_token_16(_mm_loadu_si128((const __m128i *)(const void *)p), &digit);
    *ret_digits = (unsigned)_mm_movemask_epi8(digit);
    return (unsigned)_mm_movemask_epi8(token);
}

#else
static inline unsigned secret_tokens_of_16(const char *p, unsigned *ret_digits)
{
    unsigned tokens = 0;
    *ret_digits = 0;
    for (unsigned i = 0; i < 16; i++) {
        tokens |= secret_is_token_byte(p[i]) ? 1u << i : 0;
        *ret_digits |= str_is_digit(p[i]) ? 1u << i : 0;
    }
    return tokens;
}
#endif

/* ---- secret_values.c: values behind names ---- */
/* Check the sign ("=", ":") of an assignment, a comma behind a quote, and the ">" of a tag. */
void secret_check_assignment(struct secret_search *f, size_t at);
void secret_check_comma(struct secret_search *f, size_t at);
void secret_check_tag(struct secret_search *f, size_t at);
/* secret_report for secret_manifest.h: the context is the search. */
void secret_report_part(void *context, size_t at, size_t n);
/* Checks the lines from here on that belong to a folded value. */
void secret_check_fold(struct secret_search *f, size_t from);
/* Names are many, secrets are few: false where no word of secret_names.def can be in the name. */
bool secret_can_be_name(const char *p, size_t n);
/* Returns true if a string in such quotes, begun before in this line, continues at `at`. */
bool secret_is_in_string(struct str t, size_t at, char quote);
/* Behind a quote with so many backslashes before it: where the same quote closes, or the end of the line. */
size_t secret_quoted_end(struct str t, size_t from, size_t escapes, char quote);
/* `end`, without a backslash before it that escapes what follows. */
size_t secret_without_escape(struct str t, size_t from, size_t end);

/* ---- secret_tokens.c: secrets by their own form ---- */
/* Check a run of token bytes, the "@" of an address, and the "~" of a client secret. */
void secret_check_run(struct secret_search *f, size_t from);
/* Called for an "@" at `at`: reports the user information of a URL before it (USER:PASSWORD@) as a
 * secret, or checks a connection string without "://". */
void secret_check_user(struct secret_search *f, size_t at);
void secret_check_tilde(struct secret_search *f, size_t at);

/* ---- secret_words.c: options, keys and words ---- */
/* Check dashes (options, marks of keys), the "ss" of "password", and a quote behind a blank. */
void secret_check_dashes(struct secret_search *f, size_t at);
void secret_check_pass(struct secret_search *f, size_t at);
void secret_check_quote(struct secret_search *f, size_t at);
/* Checks the lines from here on that belong to a private key. */
void secret_check_key(struct secret_search *f, size_t from);
#endif
