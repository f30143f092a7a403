/* secrets.c: finds the places of secrets in a text.
 *
 * Streams of gigabytes pass here. The finder marks sets of bytes in blocks of 64: token bytes,
 * signs ("=:@>~" and quote-comma), dashes, double s, quotes behind a blank. It reads
 * closer only where the marks indicate something: a run of 16 token bytes, an assignment, an
 * option, the word "pass". */
#include "probes/secret_finding.h"
#include "probes/secret_options.h"

enum { BLOCK = 64, RUN_LEAST = 16 };

/* ---- marks ---- */

struct marks {
    uint64_t token, sign, dash, quote, comma, s, blank;
};

#ifdef __SSE2__
/* Sets the bits of 16 bytes at p in the masks of characters; shift: the bit of the first byte. */
static inline void secrets_mark_16(const char *p, int shift, struct marks *m)
{
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)p), digit, token = secret_token_16(c, &digit);
    __m128i sign = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('=')),
                                _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8(':')), _mm_cmpeq_epi8(c, _mm_set1_epi8('@'))));
    __m128i quote = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('"')), _mm_cmpeq_epi8(c, _mm_set1_epi8('\'')));
    __m128i s = _mm_cmpeq_epi8(_mm_or_si128(c, _mm_set1_epi8(0x20)), _mm_set1_epi8('s'));
    __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(c, _mm_set1_epi8('\t')));
    sign = _mm_or_si128(sign, _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('>')), _mm_cmpeq_epi8(c, _mm_set1_epi8('~'))));
    m->quote |= (uint64_t)(unsigned)_mm_movemask_epi8(quote) << shift;
    m->comma |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(c, _mm_set1_epi8(','))) << shift;
    m->s |= (uint64_t)(unsigned)_mm_movemask_epi8(s) << shift;
    m->blank |= (uint64_t)(unsigned)_mm_movemask_epi8(blank) << shift;
    m->token |= (uint64_t)(unsigned)_mm_movemask_epi8(token) << shift;
    m->sign |= (uint64_t)(unsigned)_mm_movemask_epi8(sign) << shift;
    m->dash |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(c, _mm_set1_epi8('-'))) << shift;
}
#else
static void secrets_mark_16(const char *p, int shift, struct marks *m)
{
    for (int i = 0; i < 16; i++) {
        uint64_t bit = (uint64_t)1 << (shift + i);
        m->token |= secret_is_token_byte(p[i]) ? bit : 0;
        m->sign |= p[i] == '=' || p[i] == ':' || p[i] == '@' || p[i] == '>' || p[i] == '~' ? bit : 0;
        m->quote |= p[i] == '"' || p[i] == '\'' ? bit : 0;
        m->comma |= p[i] == ',' ? bit : 0;
        m->blank |= str_is_blank(p[i]) ? bit : 0;
        m->s |= str_lower(p[i]) == 's' ? bit : 0;
        m->dash |= p[i] == '-' ? bit : 0;
    }
}
#endif

/* ---- all of the text ---- */

/* Returns the bit masks of the characters in the block at `at`; behind the end of the text no bit
 * is set. */
static struct marks secrets_mark_block(struct str t, size_t at)
{
    struct marks m = {0};
    char last[BLOCK] = {0};
    const char *p = t.p + at;
    if (t.n - at < BLOCK) {
        memcpy(last, p, t.n - at);
        p = last;
    }
    for (int i = 0; i < BLOCK; i += 16)
        secrets_mark_16(p + i, i, &m);
    return m;
}

/* Returns the positions from which 16 set bits follow, over two blocks; of each run the first.
 * before: the last bit of the block before. */
static uint64_t secrets_run_starts(uint64_t now, uint64_t next, bool before)
{
    unsigned __int128 v = (unsigned __int128)next << 64 | now;
    for (int k = 1; k < RUN_LEAST; k *= 2)
        v &= v >> k;
    uint64_t x = (uint64_t)v, inside = now << 1 | before;
    return x & ~inside;
}

/* What the block before this one ended with. */
struct secrets_before {
    bool token, dash, quote, s, blank;
};

static void secrets_check_sign(struct secret_search *f, size_t at)
{
    if (f->text.p[at] == '~')
        secret_check_tilde(f, at);
    else if (f->text.p[at] == '@')
        secret_check_user(f, at);
    else if (f->text.p[at] == '>')
        secret_check_tag(f, at);
    else
        secret_check_assignment(f, at);
}

/* Checks the bytes of a block where a secret may begin, by the bit masks of its characters, in
 * their order. base: the index of the block's first byte. */
static void secrets_check_block(struct secret_search *f, size_t base, uint64_t runs, const struct marks *m, struct secrets_before before)
{
    uint64_t dashes = m->dash & ~(m->dash << 1 | before.dash), commas = m->comma & (m->quote << 1 | before.quote),
             double_s = m->s & (m->s << 1 | before.s), quotes = m->quote & (m->blank << 1 | before.blank),
             all = runs | m->sign | dashes | commas | double_s | quotes;
    while (all) {
        int bit = __builtin_ctzll(all);
        uint64_t one = (uint64_t)1 << bit;
        size_t at = base + (size_t)bit;
        all &= all - 1;
        if (at < f->quiet)
            continue;
        if (runs & one)
            secret_check_run(f, at);
        if (m->sign & one)
            secrets_check_sign(f, at);
        else if (dashes & one)
            secret_check_dashes(f, at);
        else if (commas & one)
            secret_check_comma(f, at);
        else if (double_s & one)
            secret_check_pass(f, at);
        else if (quotes & one)
            secret_check_quote(f, at);
    }
}

size_t secrets_find(struct str text, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context)
{
    struct secret_search f = {.text = text, .state = state, .each = each, .context = context};
    struct secrets_before before = {0};
    struct marks now = text.n ? secrets_mark_block(text, 0) : (struct marks){0};
    if (state->in_key)
        secret_check_key(&f, 0);
    if (state->fold)
        secret_check_fold(&f, 0);
    if (state->manifest.in_data)
        manifest_check_lines(&state->manifest, text, 0, secret_report_part, &f);
    for (size_t at = 0; at < text.n; at += BLOCK) {
        struct marks next = at + BLOCK < text.n ? secrets_mark_block(text, at + BLOCK) : (struct marks){0};
        uint64_t runs = secrets_run_starts(now.token, next.token, before.token);
        if (runs | now.sign | now.dash | now.comma | now.s | now.quote)
            secrets_check_block(&f, at, runs, &now, before);
        before = (struct secrets_before){now.token >> 63, now.dash >> 63, now.quote >> 63, now.s >> 63, now.blank >> 63};
        now = next;
    }
    return f.count;
}

size_t secrets_rest_of_line(struct str line)
{
    static const char *const words[] = {"authorization", "cookie", "-----begin", "machine ", "login ", "hooks"},
                             *const near[] = {"user",   "login", "identified", "sqlplus", /* for COMMAND_LONGEST bytes behind them */
                                              "sqlldr", "expdp", "impdp",      "rman "};
    size_t from = secret_option_find_program(line), last = line.n > COMMAND_LONGEST ? line.n - COMMAND_LONGEST : 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ptrdiff_t at = secret_find_anycase(str_sub(line, 0, from), str_of(words[i]));
        if (at >= 0)
            from = (size_t)at;
    }
    for (size_t i = 0; from > last && i < sizeof near / sizeof *near; i++) {
        ptrdiff_t at = secret_find_anycase(str_sub(line, last, from - last), str_of(near[i]));
        if (at >= 0)
            from = last + (size_t)at;
    }
    return from;
}

bool secrets_are_announced(struct str words)
{
    size_t from = words.n;
    while (from > 0 && !str_is_blank(words.p[from - 1]))
        from--;
    struct str word = str_sub(words, from, words.n - from);
    return word.n > 0 && (strchr(":='\"@", word.p[word.n - 1]) || word.p[0] == '-' || secret_is_scheme(word) || secret_begins_name(word) ||
                          secret_variable_weight(word) > 0 || memchr(word.p, '=', word.n) || memchr(word.p, ':', word.n));
}

const char *secrets_reason(enum secret_kind kind)
{
    switch (kind) {
    case SECRET_TOKEN: return "a token of a known service, or one behind Bearer";
    case SECRET_RANDOM: return "a long random string, as keys are";
    case SECRET_ASSIGNED: return "the value of a name that means a secret";
    case SECRET_URL: return "user and password of an address";
    case SECRET_KEY: return "a private key";
    }
    return "";
}
