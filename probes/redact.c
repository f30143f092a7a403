/* redact.c: finding secrets and identities in text that is about to be written. */
#include "probes/redact.h"

#include <stdio.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* needle is lower case. Offset or -1. */
static ptrdiff_t find_word(struct str s, const char *needle)
{
    size_t n = strlen(needle);
    for (size_t i = 0; i + n <= s.n; i++) {
        size_t k = 0;
        while (k < n && lower(s.p[i + k]) == needle[k])
            k++;
        if (k == n)
            return (ptrdiff_t)i;
    }
    return -1;
}

bool redact_name(struct str name)
{
    static const char *const words[] = {"key", "token", "secret", "pass", "cred", "cookie", "auth", "_pwd"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (find_word(name, words[i]) >= 0)
            return true;
    return false;
}

static bool is_token_byte(char c) /* base64 in both alphabets, without '/', which paths are full of */
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' || c == '_' || c == '-';
}

/* A token that says whose it is. */
static bool is_known_token(struct str run)
{
    static const char *const prefixes[] = {"ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
                                           "sk-",  "hf_",  "AKIA", "ASIA", "dapi",        "npm_",   "pypi-"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(run, prefixes[i]) && run.n >= strlen(prefixes[i]) + 12)
            return true;
    return false;
}

/* Does a run of token bytes look like a secret? Three kinds of characters mixed over 32 bytes, or hexadecimal over 40. */
static bool is_random_run(struct str run)
{
    if (run.n < 32)
        return false;
    bool upper = false, small = false, digit = false, hex = true;
    size_t words = 0;
    for (size_t i = 0; i < run.n; i++) {
        char c = run.p[i];
        upper |= c >= 'A' && c <= 'Z';
        small |= c >= 'a' && c <= 'z';
        digit |= c >= '0' && c <= '9';
        hex &= (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        words += c == '_' || c == '-';
    }
    /* Names like Foo-Bar_2-x86_64-… have a separator every few letters; random text has one in 32. */
    return (hex && run.n >= 40) || (upper && small && digit && words * 10 <= run.n);
}

/* Length of "user:password@" behind "://", 0 if there is none before the end of the authority. */
static size_t user_info(struct str s)
{
    size_t at = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '@')
            at = i + 1; /* a password may hold another @: the last counts */
        if (c == '/' || c == '?' || c == '#' || c == ' ' || c == '"' || c == '\'' || c == '\n')
            break;
    }
    return at;
}

/* An assignment of a secret inside of a value: "--password=x", "token: x", "?api_key=x&". Length of the value behind it, 0 for none. */
static size_t assigned(struct str s, size_t *ret_skip)
{
    static const char *const names[] = {"password", "passwd",  "passphrase", "secret",     "token", "api_key",
                                        "apikey",   "api-key", "access_key", "accountkey", "sig"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (s.n <= n + 1 || find_word(str_sub(s, 0, n), names[i]) != 0 || (s.p[n] != '=' && s.p[n] != ':'))
            continue;
        size_t from = n + 1, end;
        while (from < s.n && s.p[from] == ' ')
            from++;
        for (end = from; end < s.n && !strchr(" &;,\"'\n\t", s.p[end]);)
            end++;
        *ret_skip = from;
        return end - from;
    }
    return 0;
}

/* A run of token bytes at i: is it a secret? *ret_n: its length, padding included. */
static bool is_secret_token(struct str value, size_t i, size_t *ret_n, enum redact_kind *ret_kind)
{
    struct str rest = str_sub(value, i, value.n);
    size_t n = 0;
    while (n < rest.n && is_token_byte(rest.p[n]))
        n++;
    size_t whole = n; /* a JSON Web Token: three runs joined by dots */
    bool web = str_starts(rest, "eyJ") && n >= 10;
    while (web && whole < rest.n && (rest.p[whole] == '.' || is_token_byte(rest.p[whole])))
        whole++;
    if (web && whole >= 24 && memchr(rest.p, '.', whole)) {
        *ret_kind = REDACT_WEB_TOKEN;
        n = whole;
    } else if (is_known_token(str_sub(rest, 0, n)))
        *ret_kind = REDACT_TOKEN;
    else if (is_random_run(str_sub(rest, 0, n)))
        *ret_kind = REDACT_RANDOM;
    else
        return false;
    while (i + n < value.n && value.p[i + n] == '=') /* padding */
        n++;
    *ret_n = n;
    return true;
}

bool redact_next(struct str value, size_t at, struct redact_place *ret)
{
    for (size_t i = at; i < value.n; i++) {
        struct str rest = str_sub(value, i, value.n);
        size_t skip = 0, n;
        char c = value.p[i];
        bool inside = i > 0 && is_token_byte(value.p[i - 1]), word_begins = !inside || value.p[i - 1] == '-' || value.p[i - 1] == '_';
        if (c == ':' && str_starts(rest, "://") && (n = user_info(str_sub(rest, 3, rest.n))) > 0)
            *ret = (struct redact_place){REDACT_URL, i + 3, n - 1};
        else if (word_begins && (n = assigned(rest, &skip)) > 0)
            *ret = (struct redact_place){REDACT_ASSIGNED, i + skip, n};
        else if (!inside && is_token_byte(c) && is_secret_token(value, i, &ret->n, &ret->kind))
            ret->from = i;
        else if (c == '-' && !inside && str_starts(rest, "-----BEGIN ") && str_has(str_sub(rest, 0, 80), "PRIVATE KEY-----"))
            *ret = (struct redact_place){REDACT_KEY, i, rest.n};
        else
            continue; /* of a token not the whole run: an assignment may begin inside of it */
        return true;
    }
    return false;
}

size_t redact_value(struct buf *to, struct str value)
{
    static const char mark[] = "[redacted]";
    struct redact_place p;
    size_t places = 0, at = 0;
    if (str_has(value, "PRIVATE KEY-----")) {
        buf_puts(to, mark);
        return 1;
    }
    for (; redact_next(value, at, &p); places++) {
        buf_str(to, str_sub(value, at, p.from - at));
        buf_puts(to, mark);
        at = p.from + p.n;
    }
    buf_str(to, str_sub(value, at, value.n));
    return places;
}

/* Words that would tear up texts and tell nothing. */
static bool is_common(struct str s)
{
    static const char *const words[] = {"root",  "user", "users", "home",  "localhost", "nobody",
                                        "admin", "none", "node",  "login", "vm",        "host"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(s, words[i]))
            return true;
    return s.n < 3;
}

void identities_add(struct identities *ids, struct str name, char kind)
{
    if (is_common(name) || name.n >= sizeof ids->list->name || ids->count == sizeof ids->list / sizeof *ids->list)
        return;
    for (size_t i = 0; i < ids->count; i++)
        if (str_is(name, ids->list[i].name))
            return;
    /* Longest first, so that "node1.site.org" goes before "node1". */
    size_t at = ids->count;
    while (at > 0 && strlen(ids->list[at - 1].name) < name.n)
        at--;
    memmove(ids->list + at + 1, ids->list + at, (ids->count - at) * sizeof *ids->list);
    memcpy(ids->list[at].name, name.p, name.n);
    ids->list[at].name[name.n] = 0;
    ids->count++;
    char number[24];
    snprintf(number, sizeof number, "%zu", ids->count);
    for (size_t i = 0; i < name.n; i++) {
        size_t digits = strlen(number), left = name.n - i;
        ids->list[at].token[i] = left <= digits ? number[digits - left] : i == 0 && name.p[0] == '/' ? '/' : kind;
    }
    ids->list[at].token[name.n] = 0;
}

static bool is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

void identities_replace(const struct identities *ids, struct buf *to, struct str text)
{
    for (size_t i = 0; i < text.n;) {
        size_t k = 0, n = 0;
        bool begins = i == 0 || !is_name_byte(text.p[i - 1]);
        for (; k < ids->count; k++) {
            n = strlen(ids->list[k].name);
            bool path = ids->list[k].name[0] == '/';
            if ((begins || path) && n <= text.n - i && memcmp(text.p + i, ids->list[k].name, n) == 0 &&
                (i + n == text.n || !is_name_byte(text.p[i + n])))
                break;
        }
        if (k < ids->count) {
            buf_puts(to, ids->list[k].token);
            i += n;
        } else
            buf_putc(to, text.p[i++]);
    }
}

/* "gpu[01-03,07],login1" -> each name; at most 60, the rest stays (a public text of a larger job holds its list only in SLURM_* variables, which are not kept). */
static void add_hosts(struct identities *ids, struct str list)
{
    while (list.n > 0 && ids->count < 60) {
        size_t n = 0, depth = 0;
        while (n < list.n && (depth > 0 || list.p[n] != ',')) {
            depth += list.p[n] == '[';
            depth -= list.p[n] == ']' && depth > 0;
            n++;
        }
        struct str item = str_sub(list, 0, n), prefix = str_cut(&item, '[');
        list = str_sub(list, n + 1, list.n);
        if (!item.p) {
            identities_add(ids, prefix, 'h');
            continue;
        }
        struct str ranges = str_cut(&item, ']'), suffix = item.p ? item : (struct str){"", 0};
        while (ranges.p && ids->count < 60) {
            struct str range = str_cut(&ranges, ','), first = str_cut(&range, '-');
            uint64_t from, to;
            if (!str_uint(first, &from) || first.n > 18)
                break;
            to = from;
            if (range.p && (!str_uint(range, &to) || to < from))
                break;
            for (uint64_t i = from; i <= to && ids->count < 60; i++) {
                char name[256];
                int length = snprintf(name, sizeof name, STR_FMT "%0*llu" STR_FMT, STR_ARG(prefix), (int)first.n, (unsigned long long)i,
                                      STR_ARG(suffix));
                if (length > 0 && (size_t)length < sizeof name)
                    identities_add(ids, str_of(name), 'h');
            }
        }
    }
}

void identities_collect(struct identities *ids, char *const *env, const char *hostname)
{
    static const struct {
        const char *name;
        char kind;
    } rows[] = {{"HOME", 'd'},
                {"USER", 'u'},
                {"LOGNAME", 'u'},
                {"SLURM_JOB_USER", 'u'},
                {"SUDO_USER", 'u'},
                {"HOSTNAME", 'h'},
                {"SLURMD_NODENAME", 'h'},
                {"SLURM_SUBMIT_HOST", 'h'},
                {"PBS_O_HOST", 'h'},
                {"LSB_SUB_HOST", 'h'},
                {"SLURM_JOB_ACCOUNT", 'a'},
                {"PBS_ACCOUNT", 'a'},
                {"LSB_PROJECT_NAME", 'a'}};
    ids->count = 0;
    struct str host = str_of(hostname);
    identities_add(ids, host, 'h');
    identities_add(ids, str_cut(&host, '.'), 'h');
    for (char *const *e = env; e && *e; e++) {
        struct str value = str_of(*e), name = str_cut(&value, '=');
        if (!value.p)
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (str_is(name, rows[i].name))
                identities_add(ids, value, rows[i].kind);
        if (str_is(name, "SLURM_JOB_NODELIST"))
            add_hosts(ids, value);
    }
}
