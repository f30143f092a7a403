/* secrets.c: where secrets stand in a text.
 *
 * Streams of gigabytes pass here. So three sets of bytes are marked in blocks of 64 (token bytes, "=:@", dashes); only where marks promise something (a run of 16
 * token bytes, an assignment, two or five dashes) a closer look is taken. */
#include "probes/secrets.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64, RUN_LEAST = 16, NAME_LONGEST = 64, URL_LONGEST = 512, AWS_KEY = 40 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return str_lower(c) >= 'a' && str_lower(c) <= 'z';
}

static bool is_token_byte(char c) /* base64 in both alphabets, without '/', which paths are full of */
{
    return is_digit(c) || is_letter(c) || c == '+' || c == '_' || c == '-';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct finding {
    struct str text;
    size_t count, quiet; /* positions before it are told */
    struct secrets_state *state;
    void (*each)(void *context, const struct secret *s);
    void *context;
};

static void tell(struct finding *f, size_t at, size_t n, enum secret_kind kind)
{
    if (n == 0)
        return;
    f->count++;
    f->each(f->context, &(struct secret){at, n, kind});
}

/* ---- names ---- */

/* One word of a name: "password" of "dbPassword", "key" of "API_KEY". */
static int word_weight(struct str word)
{
    static const char *const always[] = {"password", "passwd",     "passphrase",  "secret",    "secrets",
                                         "apikey",   "credential", "credentials", "jobcookie", "pwd"};
    static const char *const perhaps[] = {"token",   "key",  "auth", "sig",   "signature", "bearer",
                                          "session", "pass", "cred", "creds", "cookie",    "passcode"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (str_is_anycase(word, always[i]))
            return 2;
    for (size_t i = 0; i < sizeof perhaps / sizeof *perhaps; i++)
        if (str_is_anycase(word, perhaps[i]))
            return 1;
    static const char *const tails[] = {"password", "passwd", "secret"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (str_ends_anycase(word, tails[i]))
            return 2;
    return str_ends_anycase(word, "token") || str_ends_anycase(word, "apikey") ? 1 : 0;
}

int secrets_name(struct str name)
{
    int most = 0, words = 0;
    bool key = false, of_key = false, pass = false;
    if (str_is_anycase(name, "authorization") || str_is_anycase(name, "proxy-authorization") || str_is_anycase(name, "set-cookie") ||
        str_is_anycase(name, "cookie"))
        return 3;
    for (size_t i = 0; i < name.n;) {
        size_t from = i++;
        if (!is_letter(name.p[from]) && !is_digit(name.p[from]))
            continue;
        while (i < name.n && (is_letter(name.p[i]) || is_digit(name.p[i])) &&
               !(name.p[i] >= 'A' && name.p[i] <= 'Z' && name.p[i - 1] >= 'a' && name.p[i - 1] <= 'z'))
            i++;
        struct str word = str_sub(name, from, i - from);
        int weight = word_weight(word);
        most = weight > most ? weight : most;
        words++;
        key |= str_is_anycase(word, "key");
        pass |= str_is_anycase(word, "pass");
        of_key |= str_is_anycase(word, "api") || str_is_anycase(word, "access") || str_is_anycase(word, "private") ||
                  str_is_anycase(word, "account") || str_is_anycase(word, "encryption");
    }
    return (key && of_key) || (pass && words > 1) ? 2 : most;
}

/* ---- values ---- */

/* Does it look as if nobody had chosen its letters? */
static bool looks_random(struct str v)
{
    size_t digits = 0, letters = 0;
    if (v.n < 12)
        return false;
    for (size_t i = 0; i < v.n; i++) {
        digits += is_digit(v.p[i]);
        letters += is_letter(v.p[i]);
        if (!is_token_byte(v.p[i]) && !strchr("/=%~", v.p[i]))
            return false;
    }
    return v.p[0] != '/' && digits >= 2 && letters >= 2;
}

static bool is_number(struct str v)
{
    double number;
    while (v.n > 0 && (v.p[v.n - 1] == '%' || v.p[v.n - 1] == '.'))
        v.n--;
    return str_double(v, &number);
}

static size_t value_end(struct str t, size_t from)
{
    size_t end = from;
    while (end < t.n && !strchr(" \t\r\n,;&\"'<>()[]{}|", t.p[end]))
        end++;
    return end;
}

static bool is_scheme(struct str word)
{
    return str_is_anycase(word, "bearer") || str_is_anycase(word, "basic") || str_is_anycase(word, "token") ||
           str_is_anycase(word, "digest") || str_is_anycase(word, "negotiate") || str_is_anycase(word, "apikey");
}

/* The value behind a name of this weight, from here on. */
static void assigned_value(struct finding *f, size_t from, int weight)
{
    struct str t = f->text;
    size_t end;
    while (from < t.n && is_blank(t.p[from]))
        from++;
    char quote = from < t.n && (t.p[from] == '"' || t.p[from] == '\'') ? t.p[from] : 0;
    if (quote)
        from++;
    if (weight == 3 || quote) {
        for (end = from;
             end < t.n && t.p[end] != '\n' && t.p[end] != '\r' && (quote ? t.p[end] != quote : t.p[end] != '"' && t.p[end] != '\'');)
            end++;
    } else
        end = value_end(t, from);
    struct str value = str_sub(t, from, end - from);
    if (weight == 2 && !quote && is_scheme(value)) { /* "api-key: Bearer abc" */
        while (end < t.n && is_blank(t.p[end]))
            end++;
        end = value_end(t, end);
        value = str_sub(t, from, end - from);
    }
    if (value.n == 0 || str_starts(value, "[redacted]") || (weight == 1 && (is_number(value) || !looks_random(value))))
        return;
    tell(f, from, value.n, SECRET_ASSIGNED);
}

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool is_variable(struct str name)
{
    bool joined = false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        joined |= c == '_';
        if (!(c >= 'A' && c <= 'Z') && !is_digit(c) && c != '_')
            return false;
    }
    return joined || str_is_anycase(name, "token") || str_is_anycase(name, "auth");
}

/* "name=", "name: ", "\"name\": ", "name := " */
static void look_at_assignment(struct finding *f, size_t at)
{
    struct str t = f->text;
    size_t end = at, from;
    if (at + 1 < t.n && t.p[at + 1] == '/' && t.p[at] == ':') /* a scheme */
        return;
    if (end > 0 && t.p[end - 1] == ' ')
        end--;
    if (end > 0 && (t.p[end - 1] == '"' || t.p[end - 1] == '\''))
        end--;
    for (from = end; from > 0 && end - from < NAME_LONGEST && is_name_byte(t.p[from - 1]);)
        from--;
    if (from == end || end - from < 3)
        return;
    struct str name = str_sub(t, from, end - from);
    int weight = secrets_name(name);
    if (weight == 0)
        return;
    if (weight == 1 && t.p[at] == '=' && end == at && is_variable(name) && !is_number(str_sub(t, at + 1, value_end(t, at + 1) - at - 1)))
        weight = 2; /* MY_TOKEN=abc, as env(1) prints it */
    at++;
    if (at < t.n && t.p[at] == '=') /* ":=", "==" */
        at++;
    assigned_value(f, at, weight);
}

/* "scheme://user:password@host": what stands between the slashes and the last @ of it. */
static void look_at_user_info(struct finding *f, size_t at)
{
    struct str t = f->text;
    for (size_t i = at; i-- > 0 && at - i < URL_LONGEST;) {
        char c = t.p[i];
        if (c == '/') {
            if (i >= 2 && t.p[i - 1] == '/' && t.p[i - 2] == ':')
                tell(f, i + 1, at - i - 1, SECRET_URL);
            return;
        }
        if (c == ' ' || c == '\n' || c == '"' || c == '\'' || c == '?' || c == '#')
            return;
    }
}

/* ---- marks ---- */

struct marks {
    uint64_t token, sign, dash;
};

#ifdef __SSE2__
/* Which of 16 bytes are token bytes, and which of those are digits. */
static inline __m128i token_16(__m128i c, __m128i *ret_digit)
{
    __m128i letter = _mm_sub_epi8(_mm_or_si128(c, _mm_set1_epi8(0x20)), _mm_set1_epi8('a')), digit = _mm_sub_epi8(c, _mm_set1_epi8('0'));
    __m128i more = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('+')), _mm_cmpeq_epi8(c, _mm_set1_epi8('_')));
    *ret_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
    letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(25)), letter);
    return _mm_or_si128(_mm_or_si128(letter, *ret_digit), _mm_or_si128(more, _mm_cmpeq_epi8(c, _mm_set1_epi8('-'))));
}

static inline unsigned tokens_of_16(const char *p, unsigned *ret_digits)
{
    __m128i digit, token = token_16(_mm_loadu_si128((const __m128i *)(const void *)p), &digit);
    *ret_digits = (unsigned)_mm_movemask_epi8(digit);
    return (unsigned)_mm_movemask_epi8(token);
}

static inline void mark_16(const char *p, int shift, struct marks *m)
{
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)p), digit, token = token_16(c, &digit);
    __m128i sign = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('=')),
                                _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8(':')), _mm_cmpeq_epi8(c, _mm_set1_epi8('@'))));
    m->token |= (uint64_t)(unsigned)_mm_movemask_epi8(token) << shift;
    m->sign |= (uint64_t)(unsigned)_mm_movemask_epi8(sign) << shift;
    m->dash |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(c, _mm_set1_epi8('-'))) << shift;
}
#else
static unsigned tokens_of_16(const char *p, unsigned *ret_digits)
{
    unsigned tokens = 0;
    *ret_digits = 0;
    for (unsigned i = 0; i < 16; i++) {
        tokens |= is_token_byte(p[i]) ? 1u << i : 0;
        *ret_digits |= is_digit(p[i]) ? 1u << i : 0;
    }
    return tokens;
}

static void mark_16(const char *p, int shift, struct marks *m)
{
    for (int i = 0; i < 16; i++) {
        uint64_t bit = (uint64_t)1 << (shift + i);
        m->token |= is_token_byte(p[i]) ? bit : 0;
        m->sign |= p[i] == '=' || p[i] == ':' || p[i] == '@' ? bit : 0;
        m->dash |= p[i] == '-' ? bit : 0;
    }
}
#endif

/* ---- runs of token bytes ---- */

/* Some have no digit: those of Hugging Face never (34 letters), one of GitLab's in thirty by chance. Words do not mix small and capital letters without a
 * joint; names of classes do ("hf_LlamaForCausalLM", "sk-SomeName"), so that a short prefix says too little. */
static bool is_of_letters(struct str prefix, struct str rest)
{
    bool upper = false, small = false;
    for (size_t i = 0; i < rest.n; i++) {
        if (!is_letter(rest.p[i]))
            return false;
        upper = upper || rest.p[i] <= 'Z';
        small = small || rest.p[i] >= 'a';
    }
    if (!upper || !small || (prefix.p[prefix.n - 1] != '_' && prefix.p[prefix.n - 1] != '-'))
        return false;
    return str_is(prefix, "hf_") ? rest.n == 34 : prefix.n >= 4 && rest.n >= 16;
}

/* The prefix of a known service's tokens, and what must follow. */
static bool has_prefix(struct str run)
{
    static const struct prefix {
        const char *text;
        size_t n;
    } prefixes[] = {
#define PREFIX(text) {text, sizeof(text) - 1}
        PREFIX("ghp_"),        PREFIX("gho_"),     PREFIX("ghs_"),      PREFIX("ghu_"),   PREFIX("ghr_"),
        PREFIX("github_pat_"), PREFIX("glpat-"),   PREFIX("gldt-"),     PREFIX("glrt-"),  PREFIX("xoxb-"),
        PREFIX("xoxp-"),       PREFIX("xoxa-"),    PREFIX("xoxs-"),     PREFIX("xapp-"),  PREFIX("sk-"),
        PREFIX("sk_live_"),    PREFIX("rk_live_"), PREFIX("hf_"),       PREFIX("AKIA"),   PREFIX("ASIA"),
        PREFIX("AIza"),        PREFIX("dapi"),     PREFIX("npm_"),      PREFIX("pypi-"),  PREFIX("dop_v1_"),
        PREFIX("shpat_"),      PREFIX("tskey-"),   PREFIX("glsa_"),     PREFIX("nvapi-"), PREFIX("gsk_"),
        PREFIX("r8_"),         PREFIX("lin_api_"), PREFIX("dckr_pat_"), PREFIX("ATATT3"), PREFIX("AGE-SECRET-KEY-"),
        PREFIX("ya29")};
    for (const struct prefix *x = prefixes; x < prefixes + sizeof prefixes / sizeof *prefixes; x++) {
        if (run.p[0] != x->text[0] || run.n < x->n + 12 || memcmp(run.p, x->text, x->n) != 0)
            continue;
        for (size_t k = x->n; k < run.n; k++)
            if (is_digit(run.p[k]))
                return true; /* "sk-learn-something" is a word */
        if (is_of_letters((struct str){x->text, x->n}, str_sub(run, x->n, run.n)))
            return true;
    }
    return false;
}

/* The run from here on. *ret_digit: there is one in it, without which it is no key. */
static struct str run_from(struct str t, size_t from, bool *ret_digit)
{
    size_t to = from;
    *ret_digit = false;
    for (; to + 16 <= t.n; to += 16) {
        unsigned digits, end = ~tokens_of_16(t.p + to, &digits) & 0xffff, n = end ? (unsigned)__builtin_ctz(end) : 16;
        *ret_digit |= (digits & ((1u << n) - 1)) != 0;
        if (end)
            return str_sub(t, from, to + n - from);
    }
    for (; to < t.n && is_token_byte(t.p[to]); to++)
        *ret_digit |= is_digit(t.p[to]);
    return str_sub(t, from, to - from);
}

static bool is_joint(char c)
{
    return c == '_' || c == '-';
}

/* Three kinds of characters mixed over 32 bytes. Names like Foo-Bar_2-x86_64-… have a separator every few letters; random text has one in 32. */
static bool is_mixed(struct str run)
{
    size_t upper = 0, small = 0, digits = 0, joints = 0;
    for (size_t i = 0; i < run.n; i++) {
        upper += run.p[i] >= 'A' && run.p[i] <= 'Z';
        small += run.p[i] >= 'a' && run.p[i] <= 'z';
        digits += is_digit(run.p[i]);
        joints += is_joint(run.p[i]);
    }
    return run.n >= 32 && upper && small && digits && joints * 10 <= run.n;
}

/* A quick look, for most text is words: a short first part, and a letter behind its joint. */
static bool may_be_of_letters(struct str run)
{
    size_t joint = 2;
    while (joint < 12 && joint + 1 < run.n && !is_joint(run.p[joint]))
        joint++;
    return joint < 12 && joint + 1 < run.n && is_letter(run.p[joint + 1]) && is_letter(run.p[0]);
}

/* Where a token of a known service begins in the run; its end: nowhere. */
static size_t service_token(struct str run)
{
    for (size_t i = 0; i + RUN_LEAST - 1 < run.n; i++)
        if ((i == 0 || is_joint(run.p[i - 1])) && has_prefix(str_sub(run, i, run.n)))
            return i;
    return run.n;
}

/* Forty bytes of base64 with slashes in it, as AWS makes them, around this run. */
static bool around(struct finding *f, size_t from, size_t to)
{
    struct str t = f->text;
    size_t upper = 0, small = 0, digit = 0, slashes = 0;
    while (from > 0 && (is_token_byte(t.p[from - 1]) || t.p[from - 1] == '/') && to - from <= AWS_KEY)
        from--;
    while (to < t.n && (is_token_byte(t.p[to]) || t.p[to] == '/') && to - from <= AWS_KEY)
        to++;
    if (to - from != AWS_KEY || t.p[from] == '/')
        return false;
    for (size_t i = from; i < to; i++) {
        upper += t.p[i] >= 'A' && t.p[i] <= 'Z';
        small += t.p[i] >= 'a' && t.p[i] <= 'z';
        digit += is_digit(t.p[i]);
        slashes += t.p[i] == '/';
    }
    if (slashes == 0 || upper < 5 || small < 5 || digit < 1)
        return false;
    tell(f, from, to - from, SECRET_RANDOM);
    return true;
}

static bool behind_scheme(struct str t, size_t from)
{
    return from >= 7 && t.p[from - 1] == ' ' && str_is_anycase(str_sub(t, from - 7, 7), "bearer ");
}

static void look_at_run(struct finding *f, size_t from)
{
    struct str t = f->text;
    bool digit;
    struct str run = run_from(t, from, &digit);
    size_t to = from + run.n, whole = to;
    f->quiet = to;
    for (bool web = to - from > 3 && memcmp(t.p + from, "eyJ", 3) == 0;
         web && whole < t.n && (t.p[whole] == '.' || is_token_byte(t.p[whole]));)
        whole++;
    if (whole > to + 1) {
        f->quiet = whole;
        tell(f, from, whole - from, SECRET_TOKEN);
        return;
    }
    size_t token = digit ? from + service_token(run) : may_be_of_letters(run) && has_prefix(run) ? from : to;
    if (token < to) {
        while (to < t.n && t.p[to] == '.' && to + 1 < t.n && is_token_byte(t.p[to + 1])) /* "ya29.a0Af…" */
            for (to++; to < t.n && is_token_byte(t.p[to]);)
                to++;
        f->quiet = to;
        tell(f, token, to - token, SECRET_TOKEN);
    } else if (digit && is_mixed(run)) {
        while (to < t.n && (is_token_byte(t.p[to]) || t.p[to] == '/')) /* the rest of the same base64 */
            to++;
        while (to < t.n && t.p[to] == '=')
            to++;
        f->quiet = to;
        tell(f, from, to - from, SECRET_RANDOM);
    } else if (behind_scheme(t, from))
        tell(f, from, to - from, SECRET_TOKEN);
    else if ((from > 0 && t.p[from - 1] == '/') || (to < t.n && t.p[to] == '/'))
        around(f, from, to);
}

/* ---- dashes: options, and the marks around keys ---- */

static size_t line_end(struct str t, size_t from)
{
    const char *end = from < t.n ? memchr(t.p + from, '\n', t.n - from) : NULL;
    return end ? (size_t)(end - t.p) : t.n;
}

/* From here to the line that ends the key (or the end of the text); line by line, since line ends stay. */
static void tell_key(struct finding *f, size_t from)
{
    struct str t = f->text;
    f->state->in_key = true;
    while (from < t.n) {
        size_t end = line_end(t, from);
        struct str line = str_sub(t, from, end - from);
        ptrdiff_t mark = str_find(line, STR("-----END "));
        if (mark >= 0) {
            tell(f, from, (size_t)mark, SECRET_KEY);
            f->state->in_key = false;
            f->quiet = from + (size_t)mark + 9;
            return;
        }
        tell(f, from, line.n && line.p[line.n - 1] == '\r' ? line.n - 1 : line.n, SECRET_KEY);
        from = end + 1;
    }
    f->quiet = t.n;
}

static void look_at_dashes(struct finding *f, size_t at)
{
    struct str t = f->text, rest = str_sub(t, at, t.n);
    size_t end;
    if (str_starts(rest, "-----BEGIN ")) {
        struct str line = str_sub(rest, 0, line_end(t, at) - at);
        ptrdiff_t mark = str_find(line, STR("PRIVATE KEY"));
        ptrdiff_t close = mark < 0 ? -1 : str_find(str_sub(line, (size_t)mark, line.n), STR("-----"));
        if (close >= 0)
            tell_key(f, at + (size_t)mark + (size_t)close + 5);
        return;
    }
    if (rest.n < 6 || rest.p[1] != '-' || !is_letter(rest.p[2]))
        return;
    for (end = at + 2; end < t.n && is_name_byte(t.p[end]) && end - at < NAME_LONGEST;)
        end++;
    int weight = secrets_name(str_sub(t, at + 2, end - at - 2));
    if (weight == 0 || end + 1 >= t.n || !is_blank(t.p[end]) || t.p[end + 1] == '-' || t.p[end + 1] == '\n')
        return;
    struct str value = str_sub(t, end + 1, value_end(t, end + 1) - end - 1);
    if (weight == 2 || (value.n >= 6 && !is_number(value)))
        assigned_value(f, end + 1, 2);
}

/* ---- the whole text ---- */

static struct marks mark(struct str t, size_t at)
{
    struct marks m = {0};
    char last[BLOCK] = {0};
    const char *p = t.p + at;
    if (t.n - at < BLOCK) {
        memcpy(last, p, t.n - at);
        p = last;
    }
    for (int i = 0; i < BLOCK; i += 16)
        mark_16(p + i, i, &m);
    return m;
}

/* Positions from which 16 ones follow, over two blocks; of each run the first. */
static uint64_t runs_begin(uint64_t now, uint64_t next, bool before)
{
    unsigned __int128 v = (unsigned __int128)next << 64 | now;
    for (int k = 1; k < RUN_LEAST; k *= 2)
        v &= v >> k;
    uint64_t x = (uint64_t)v, inside = now << 1 | before;
    return x & ~inside;
}

static void look_at_block(struct finding *f, size_t base, uint64_t runs, const struct marks *m, bool dash_before)
{
    uint64_t dashes = m->dash & ~(m->dash << 1 | dash_before), all = runs | m->sign | dashes;
    while (all) {
        int bit = __builtin_ctzll(all);
        uint64_t one = (uint64_t)1 << bit;
        size_t at = base + (size_t)bit;
        all &= all - 1;
        if (at < f->quiet)
            continue;
        if (runs & one)
            look_at_run(f, at);
        if (m->sign & one) {
            if (f->text.p[at] == '@')
                look_at_user_info(f, at);
            else
                look_at_assignment(f, at);
        } else if (dashes & one)
            look_at_dashes(f, at);
    }
}

size_t secrets_find(struct str text, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context)
{
    struct finding f = {.text = text, .state = state, .each = each, .context = context};
    bool token_before = false, dash_before = false;
    struct marks now = text.n ? mark(text, 0) : (struct marks){0};
    if (state->in_key)
        tell_key(&f, 0);
    for (size_t at = 0; at < text.n; at += BLOCK) {
        struct marks next = at + BLOCK < text.n ? mark(text, at + BLOCK) : (struct marks){0};
        uint64_t runs = runs_begin(now.token, next.token, token_before);
        if (runs | now.sign | now.dash)
            look_at_block(&f, at, runs, &now, dash_before);
        token_before = now.token >> 63;
        dash_before = now.dash >> 63;
        now = next;
    }
    return f.count;
}

size_t secrets_rest_of_line(struct str line)
{
    static const char *const words[] = {"uthorization", "UTHORIZATION", "ookie", "OOKIE", "-----BEGIN"};
    size_t from = line.n;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ptrdiff_t at = str_find(str_sub(line, 0, from), str_of(words[i]));
        if (at >= 0)
            from = (size_t)at;
    }
    return from;
}

bool secrets_announced(struct str words)
{
    size_t from = words.n;
    while (from > 0 && !is_blank(words.p[from - 1]))
        from--;
    struct str word = str_sub(words, from, words.n - from);
    return word.n > 0 && (strchr(":='\"@", word.p[word.n - 1]) || word.p[0] == '-' || is_scheme(word) || secrets_name(word) > 0 ||
                          memchr(word.p, '=', word.n) || memchr(word.p, ':', word.n));
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
