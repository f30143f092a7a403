/* secret_tokens.c: secrets by their own form: tokens of services, random strings, webhooks, users in addresses. */
#include "probes/secret_finding.h"

enum { RUN_LEAST = 16, AWS_KEY = 40, SERVICE_LEAST = 24 /* bytes of a token behind the name of its service alone */ };

/* ---- addresses ---- */

/* Returns whether the text has a webhook's host of secrets.def; *ret_end is the position behind
 * it. */
static bool token_is_known_webhook(struct str before, size_t *ret_end)
{
    static const struct str hosts[] = {
#define PREFIX(letter, text, least)
#define DOTTED(text, least)
#define WEBHOOK(text) {text, sizeof(text) - 1},
#include "probes/secrets.def"
#undef PREFIX
#undef DOTTED
#undef WEBHOOK
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        ptrdiff_t at = secret_find_anycase(before, hosts[i]);
        if (at >= 0) {
            *ret_end = (size_t)at + hosts[i].n;
            return true;
        }
    }
    return false;
}

/* Reports the path of a webhook around the run at `at`: who has the address can post to it. False:
 * the address is none. */
static bool token_report_webhook(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    size_t from = at, to = at, host;
    while (from > 0 && at - from < URL_LONGEST && !strchr(" \t\r\n\"'`<>", t.p[from - 1]))
        from--;
    if (!token_is_known_webhook(str_sub(t, from, at - from), &host))
        return false;
    while (to < t.n && !strchr(" \t\r\n\"'`<>\\)", t.p[to]))
        to++;
    f->quiet = to;
    secret_report(f, from + host, to - from - host, SECRET_TOKEN);
    return true;
}

/* Returns whether the text between "://" and an @ is user and password; host: what follows the @.
 * Passwords may have "/", "#" and "?", if the part before them is no host with port. */
static bool token_is_user_info(struct str info, struct str host)
{
    size_t odd = 0, colon = 0;
    while (odd < info.n && !strchr("/#?", info.p[odd]))
        odd++;
    if (odd == info.n)
        return true;
    while (colon < odd && info.p[colon] != ':')
        colon++;
    if (colon == odd || host.n == 0 || !secret_is_name_byte(host.p[0]))
        return false;
    for (size_t i = colon + 1; i < odd; i++)
        if (!str_is_digit(info.p[i]))
            return true;
    return colon == 0;
}

/* Returns whether a word of the text, in either case, is a program of Oracle's that accepts
 * user/password@service. */
static bool token_names_oracle(struct str text)
{
    static const struct str programs[] = {{"sqlplus", 7}, {"sqlldr", 6}, {"expdp", 5}, {"impdp", 5}, {"rman", 4}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        size_t n = programs[i].n, from = 0;
        for (ptrdiff_t at; (at = secret_find_anycase(str_sub(text, from, text.n), programs[i])) >= 0; from++) {
            from += (size_t)at;
            if ((from == 0 || !secret_is_name_byte(text.p[from - 1])) && (from + n == text.n || !secret_is_name_byte(text.p[from + n])))
                return true;
        }
    }
    return false;
}

/* Reports the password in the word from `from` to the @ at `at` where it connects to Oracle:
 * "sqlplus user/password@service", "jdbc:oracle:thin:user/password@//host". */
static void token_check_connection(struct secret_search *f, size_t from, size_t at)
{
    struct str t = f->text, word = str_sub(t, from, at - from);
    const char *slash = word.n ? memchr(word.p, '/', word.n) : NULL;
    size_t line = secret_line_begin(t, from);
    if (!slash || slash == word.p || word.p[0] == '/' || slash + 1 == word.p + word.n)
        return;
    struct str before = str_sub(t, line, from - line);
    if (secret_has_anycase(word, "jdbc:oracle:") || token_names_oracle(before))
        secret_report(f, (size_t)(slash + 1 - t.p), (size_t)(word.p + word.n - slash - 1), SECRET_ASSIGNED);
}

/* Returns whether the text before an @ is the account of these schemes. With other schemes a name
 * alone is a token ("https://TOKEN@host"). before: the text up to the "//". */
static bool token_is_account(struct str before, struct str info)
{
    return !memchr(info.p, ':', info.n) &&
           (str_ends_anycase(before, "ssh:") || str_ends_anycase(before, "sftp:") || str_ends_anycase(before, "rsync:"));
}

/* Reports "user:password" of "scheme://user:password@host", up to the @ at `at`, or checks a
 * connection string of Oracle. */
void secret_check_user(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    for (size_t i = at; i-- > 0 && at - i < URL_LONGEST;) {
        char c = t.p[i];
        if (c == '/' && i >= 2 && t.p[i - 1] == '/' && t.p[i - 2] == ':') {
            struct str info = str_sub(t, i + 1, at - i - 1);
            if (token_is_user_info(info, str_sub(t, at + 1, 1)) && !secret_is_redacted(info) &&
                !token_is_account(str_sub(t, 0, i - 1), info))
                secret_report(f, i + 1, at - i - 1, SECRET_URL);
            return;
        }
        if (c == ' ' || c == '\n' || c == '"' || c == '\'' || c == '<' || c == '>') {
            token_check_connection(f, i + 1, at);
            return;
        }
        if (i == 0)
            token_check_connection(f, 0, at);
    }
}

/* Reports a client secret of Azure around the "~" at `at`: "abc8Q~…". */
void secret_check_tilde(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    size_t to = at + 1, from = at;
    if (at < 5 || t.p[at - 1] != 'Q' || !str_is_digit(t.p[at - 2]))
        return;
    for (; from > 0 && at - from < 5 && (secret_is_name_byte(t.p[from - 1]) || t.p[from - 1] == '~');)
        from--;
    while (to < t.n && (secret_is_name_byte(t.p[to]) || t.p[to] == '~'))
        to++;
    if (at - from != 5 || to - at < 32 || to - at > 36)
        return;
    f->quiet = to > f->quiet ? to : f->quiet;
    secret_report(f, from, to - from, SECRET_TOKEN);
}

/* ---- runs of token bytes ---- */

/* Returns whether the letters behind a prefix are a token without a digit: those of Hugging Face
 * never have one (34 letters), one of GitLab's in thirty by chance. Words do not mix small and
 * capital letters without a joint; names of classes do ("hf_LlamaForCausalLM", "sk-SomeName"), so
 * that a short prefix proves too little. */
static bool token_is_of_letters(struct str prefix, struct str rest)
{
    bool upper = false, small = false;
    for (size_t i = 0; i < rest.n; i++) {
        if (!str_is_letter(rest.p[i]))
            return false;
        upper = upper || rest.p[i] <= 'Z';
        small = small || rest.p[i] >= 'a';
    }
    if (!upper || !small || (prefix.p[prefix.n - 1] != '_' && prefix.p[prefix.n - 1] != '-'))
        return false;
    return str_is(prefix, "hf_") ? rest.n == 34 : prefix.n >= 4 && rest.n >= 16;
}

struct token_prefix {
    char first;
    struct str text;
    size_t least;
};

/* Returns whether the run begins with the prefix of a known service's tokens, and what follows has
 * the form of one. */
static bool token_has_prefix(struct str run)
{
    static const struct token_prefix prefixes[] = {
#define PREFIX(letter, text, least) {letter, {text, sizeof(text) - 1}, least},
#define DOTTED(text, least)
#define WEBHOOK(text)
#include "probes/secrets.def"
#undef PREFIX
#undef DOTTED
#undef WEBHOOK
    };
    if (run.n == 0 || !strchr("4ACEFGHLNPSabcdfghiklnoprstxy", run.p[0]))
        return false;
    for (const struct token_prefix *x = prefixes; x < prefixes + sizeof prefixes / sizeof *prefixes; x++) {
        if (run.p[0] != x->first || run.n < x->text.n + x->least || memcmp(run.p, x->text.p, x->text.n) != 0)
            continue;
        for (size_t k = x->text.n; k < run.n; k++)
            if (str_is_digit(run.p[k]))
                return true; /* "sk-learn-something" is a word */
        if (token_is_of_letters(x->text, str_sub(run, x->text.n, run.n)))
            return true;
    }
    return false;
}

/* Returns where the word begins that ends at `from`, since it belongs to the token before "acc_"
 * and "atlasv1."; `from` where that is not requested. */
static size_t token_word_begin(struct str t, size_t from, bool wanted)
{
    while (wanted && from > 0 && secret_is_name_byte(t.p[from - 1]))
        from--;
    return from;
}

/* Returns where a prefix with dots begins that ends in front of the run of n bytes at `from`;
 * `from`: there is none. */
static size_t token_find_dotted_prefix(struct str t, size_t from, size_t n)
{
    static const struct token_prefix prefixes[] = {
#define PREFIX(letter, text, least)
#define DOTTED(text, least) {0, {text, sizeof(text) - 1}, least},
#define WEBHOOK(text)
#include "probes/secrets.def"
#undef PREFIX
#undef DOTTED
#undef WEBHOOK
    };
    if (from == 0 || !strchr(".-~_", t.p[from - 1]) || t.p[from - 1] == 0)
        return from;
    for (const struct token_prefix *x = prefixes; x < prefixes + sizeof prefixes / sizeof *prefixes; x++)
        if (x->text.n <= from && n >= x->least && memcmp(t.p + from - x->text.n, x->text.p, x->text.n) == 0 &&
            (x->text.n == from || !secret_is_name_byte(t.p[from - x->text.n - 1]) || x->text.p[0] == 'a'))
            return token_word_begin(t, from - x->text.n, x->text.p[0] == 'a');
    return from;
}

/* Returns the run of token bytes from here on. *ret_digit: whether it has a digit. */
static struct str token_run_from(struct str t, size_t from, bool *ret_digit)
{
    size_t to = from;
    *ret_digit = false;
    for (; to + 16 <= t.n; to += 16) {
        unsigned digits, end = ~secret_tokens_of_16(t.p + to, &digits) & 0xffff, n = end ? (unsigned)__builtin_ctz(end) : 16;
        *ret_digit |= (digits & ((1u << n) - 1)) != 0;
        if (end)
            return str_sub(t, from, to + n - from);
    }
    for (; to < t.n && secret_is_token_byte(t.p[to]); to++)
        *ret_digit |= str_is_digit(t.p[to]);
    return str_sub(t, from, to - from);
}

static bool token_is_joint(char c)
{
    return c == '_' || c == '-';
}

/* Returns whether the run mixes three kinds of characters over 32 bytes or more, as random text
 * does. Names like Foo-Bar_2-x86_64-… have a separator every few letters; random text has one in
 * 32. In text made of words, and in the names of C++ and Rust, small letters are adjacent. */
static bool token_is_mixed(struct str run)
{
    size_t upper = 0, small = 0, digits = 0, joints = 0, words = 0, row = 0;
    if (str_starts(run, "_Z") || str_starts(run, "_R") || str_starts(run, "chatcmpl-") ||
        str_starts(run, "cmpl-")) /* the id of an answer */
        return false;
    for (size_t i = 0; i < run.n; i++) {
        bool is_small = run.p[i] >= 'a' && run.p[i] <= 'z';
        row = is_small ? row + 1 : 0;
        words += row == 5 ? 5 : row > 5;
        upper += run.p[i] >= 'A' && run.p[i] <= 'Z';
        small += run.p[i] >= 'a' && run.p[i] <= 'z';
        digits += str_is_digit(run.p[i]);
        joints += token_is_joint(run.p[i]);
    }
    return run.n >= 32 && upper && small && digits && joints * 10 <= run.n && words * 5 <= run.n * 2;
}

/* Returns whether a run without digits can be a token: it has a short first part, and a letter
 * behind its joint. A quick test, since most text is words. */
static bool token_can_be_of_letters(struct str run)
{
    size_t joint = 2;
    while (joint < 12 && joint + 1 < run.n && !token_is_joint(run.p[joint]))
        joint++;
    return joint < 12 && joint + 1 < run.n && str_is_letter(run.p[joint + 1]) && str_is_letter(run.p[0]);
}

/* Returns where a token of a known service begins in the run; run.n: nowhere. */
static size_t token_find_service(struct str run)
{
    for (size_t i = 0; i + RUN_LEAST - 1 < run.n; i++)
        if ((i == 0 || token_is_joint(run.p[i - 1])) && token_has_prefix(str_sub(run, i, run.n)))
            return i;
    return run.n;
}

/* Reports the forty base64 characters with slashes around [from, to) as a secret where they have
 * the form of a key of AWS. False: they do not. */
static bool token_report_aws_key(struct secret_search *f, size_t from, size_t to)
{
    struct str t = f->text;
    size_t upper = 0, small = 0, digit = 0, slashes = 0;
    while (from > 0 && (secret_is_token_byte(t.p[from - 1]) || t.p[from - 1] == '/') && to - from <= AWS_KEY)
        from--;
    while (to < t.n && (secret_is_token_byte(t.p[to]) || t.p[to] == '/') && to - from <= AWS_KEY)
        to++;
    if (to - from != AWS_KEY || t.p[from] == '/')
        return false;
    for (size_t i = from; i < to; i++) {
        upper += t.p[i] >= 'A' && t.p[i] <= 'Z';
        small += t.p[i] >= 'a' && t.p[i] <= 'z';
        digit += str_is_digit(t.p[i]);
        slashes += t.p[i] == '/';
    }
    if (slashes == 0 || upper < 5 || small < 5 || digit < 1)
        return false;
    secret_report(f, from, to - from, SECRET_RANDOM);
    return true;
}

/* Returns whether the run at `from` follows "Bearer" or "login" and a blank, as in "wandb login
 * X". */
static bool token_is_behind_scheme(struct str t, size_t from)
{
    size_t end = from;
    while (end > 0 && str_is_blank(t.p[end - 1]))
        end--;
    struct str before = str_sub(t, 0, end);
    return end < from && t.p[from] != '-' && /* an option */
           (str_ends_anycase(before, "bearer") || str_ends_anycase(before, "login"));
}

/* Returns whether the run follows a name that is only that of a service (cloudflare: "…",
 * "artifactory", "…"), and is letters and digits that are no digest. */
static bool token_is_behind_service(struct str t, size_t from, struct str run)
{
    size_t digits = 0, hex = 0, end = from;
    if (run.n < SERVICE_LEAST || from < 3 || !strchr("\"' \t=:,", t.p[from - 1]))
        return false;
    for (size_t i = 0; i < run.n; i++) {
        digits += str_is_digit(run.p[i]);
        hex += str_hex_digit(run.p[i]) >= 0;
        if (!str_is_digit(run.p[i]) && !str_is_letter(run.p[i]))
            return false;
    }
    bool digest = hex == run.n && (run.n == 32 || run.n == 40 || run.n == 56 || run.n == 64 || run.n == 96 || run.n == 128);
    if (digest || digits < 4 || run.n - digits < 4)
        return false;
    while (end > 0 && from - end < 8 && strchr("\"' \t=:,>", t.p[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && end - begin < NAME_LONGEST && secret_is_name_byte(t.p[begin - 1]))
        begin--;
    struct str between = str_sub(t, end, from - end);
    return (memchr(between.p, '=', between.n) || memchr(between.p, ':', between.n) || memchr(between.p, ',', between.n)) &&
           secret_is_owner(str_sub(t, begin, end - begin));
}

/* Returns the end of the token of which a run ends at `to`: it continues behind dots, "~" and
 * "=". */
static size_t token_find_end(struct str t, size_t to)
{
    size_t from = to;
    while (from > 0 && to - from < 100 && secret_is_token_byte(t.p[from - 1]))
        from--;
    while (to + 1 < t.n && (strchr(".=~", t.p[to]) || (t.p[to] == '/' && to - from >= 100)) &&
           (secret_is_token_byte(t.p[to + 1]) || t.p[to + 1] == '='))
        for (to++; to < t.n && secret_is_token_byte(t.p[to]);)
            to++;
    while (to < t.n && t.p[to] == '=')
        to++;
    return to;
}

static bool token_is_web_token(struct str t, size_t from, size_t to)
{
    return to - from >= 8 && memcmp(t.p + from, "ey", 2) == 0 && to + 3 < t.n && t.p[to] == '.' && memcmp(t.p + to + 1, "ey", 2) == 0;
}

/* Reports a number and a string as a token: "12345678:AA…" of a bot of Telegram, or with "|" of
 * Facebook. False: the run is no such string. */
static bool token_report_numbered(struct secret_search *f, size_t from, size_t to)
{
    struct str t = f->text;
    size_t begin = from;
    if (from > 8 && strchr(":|%", t.p[from - 1]) && t.p[from - 1] && to - from >= 27) {
        for (begin--; begin > 0 && str_is_digit(t.p[begin - 1]);)
            begin--;
        bool bot = t.p[from - 1] == ':' && t.p[from] == 'A' && from - begin >= 6 && to - from >= 34;
        if (!bot && (t.p[from - 1] == ':' || from - begin < 16))
            return false;
    } else
        return false;
    to = token_find_end(t, to);
    f->quiet = to;
    secret_report(f, begin, to - begin, SECRET_TOKEN);
    return true;
}

void secret_check_run(struct secret_search *f, size_t from)
{
    struct str t = f->text;
    bool digit;
    if (from > 0 && t.p[from - 1] == '\\' && strchr("nrtbfu", t.p[from])) /* "\n" in a string */
        from += t.p[from] == 'u' ? 5 : 1;
    struct str run = token_run_from(t, from, &digit);
    size_t to = from + run.n, prefix = run.n >= 12 ? token_find_dotted_prefix(t, from, run.n) : from;
    f->quiet = to;
    if (token_is_web_token(t, from, to)) {
        while (to < t.n && (t.p[to] == '.' || secret_is_token_byte(t.p[to]) || t.p[to] == '/' || t.p[to] == '='))
            to++;
        f->quiet = to;
        secret_report(f, from, to - from, SECRET_TOKEN);
        return;
    }
    if (from > 0 && t.p[from - 1] == '/' && token_report_webhook(f, from))
        return;
    if (token_report_numbered(f, from, to))
        return;
    size_t token = prefix < from                                           ? prefix
                   : digit                                                 ? from + token_find_service(run)
                   : token_can_be_of_letters(run) && token_has_prefix(run) ? from
                                                                           : to;
    if (token < to) {
        to = token_find_end(t, to);
        f->quiet = to;
        if (token > from && token_is_mixed(str_sub(run, 0, token - from))) /* the part before it would be found alone */
            token = from;
        secret_report(f, token, to - token, SECRET_TOKEN);
    } else if (digit && token_is_mixed(run)) {
        while (to < t.n && (secret_is_token_byte(t.p[to]) || t.p[to] == '/')) /* the rest of the same base64 */
            to++;
        while (to < t.n && t.p[to] == '=')
            to++;
        f->quiet = to;
        secret_report(f, from, to - from, SECRET_RANDOM);
    } else if (token_is_behind_scheme(t, from) || token_is_behind_service(t, from, run))
        secret_report(f, from, to - from, SECRET_TOKEN);
    else if ((from > 0 && t.p[from - 1] == '/') || (to < t.n && t.p[to] == '/'))
        token_report_aws_key(f, from, to);
}
