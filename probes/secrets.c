/* secrets.c: finds the places of secrets in a text.
 *
 * Streams of gigabytes pass here. The finder marks sets of bytes in blocks of 64: token bytes, signs ("=:@>" and quote-comma), dashes, double s. It takes a closer
 * look only where the marks promise something: a run of 16 token bytes, an assignment, an option, the word "pass". */
#include "probes/secrets.h"

#include "probes/secret_names.h"
#include "probes/secret_options.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    BLOCK = 64,
    RUN_LEAST = 16,
    NAME_LONGEST = 64,
    URL_LONGEST = 512,
    AWS_KEY = 40,
    NAMES_KNOWN = 64, /* names are the same on many lines */
    STRING_LONGEST = 4096, /* bytes of a line before a quote */
    COMMAND_LONGEST = 1024, /* bytes of a command line before an option */
    FOLDED_LINES = 64, /* lines of one folded value */
    OPENERS_MOST = 8,
    SERVICE_LEAST = 24 /* bytes of a token behind the name of its service alone */
};

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

struct known_name {
    size_t at, n; /* where it stood first; n 0: none */
    enum secret_name weight;
};

struct finding {
    struct known_name names[NAMES_KNOWN];
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
    f->each(f->context, &(struct secret){.at = at, .n = n, .kind = kind});
}

static void tell_manifest(void *context, size_t at, size_t n)
{
    tell(context, at, n, SECRET_ASSIGNED);
}

/* ---- values ---- */

static size_t line_end(struct str t, size_t from)
{
    const char *end = from < t.n ? memchr(t.p + from, '\n', t.n - from) : NULL;
    return end ? (size_t)(end - t.p) : t.n;
}

static bool is_line_end(struct str t, size_t at)
{
    return at >= t.n || t.p[at] == '\n' || t.p[at] == '\r';
}

static size_t skip_blanks(struct str t, size_t at)
{
    while (at < t.n && is_blank(t.p[at]))
        at++;
    return at;
}

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

/* "name=", "name: ", also with quotes: another assignment begins here. */
static bool begins_assignment(struct str t, size_t at)
{
    size_t from = at;
    while (at < t.n && at - from < NAME_LONGEST && is_name_byte(t.p[at]))
        at++;
    return at > from && at < t.n && (t.p[at] == '=' || (t.p[at] == ':' && !(at + 1 < t.n && t.p[at + 1] == '/')));
}

/* Does the separator at `at` end an unquoted value? Passwords have such characters, too: not before more of the same word. */
static bool separates(struct str t, size_t at)
{
    char c = t.p[at];
    size_t next = at + 1;
    if (is_line_end(t, next) || is_blank(t.p[next]) || strchr("\"'`<>)]}", t.p[next]))
        return true;
    if (c == '&' || c == ';' || c == ',')
        return begins_assignment(t, next) || ((c == ',' || c == ';') && (is_digit(t.p[next]) || strchr("-+.{[,;", t.p[next])));
    return c != '(' && c != '[' && c != '{' && strchr(",;&|", t.p[next]);
}

static size_t value_end(struct str t, size_t from)
{
    size_t end = from;
    for (; end < t.n && !strchr(" \t\r\n\"'`<>", t.p[end]); end++)
        if (t.p[end] == '\\' && end + 1 < t.n && strchr("\"'nrt", t.p[end + 1])) /* an escape of the text around */
            break;
        else if (strchr(",;&()[]{}|", t.p[end]) && end > from && separates(t, end))
            break;
    return end;
}

static bool is_scheme(struct str word)
{
    return str_is_anycase(word, "bearer") || str_is_anycase(word, "basic") || str_is_anycase(word, "token") ||
           str_is_anycase(word, "digest") || str_is_anycase(word, "negotiate") || str_is_anycase(word, "apikey") ||
           str_is_anycase(word, "api-token") || str_is_anycase(word, "genie-key") || str_is_anycase(word, "pass");
}

/* Behind a quote with so many backslashes before it: where the same quote closes. */
static size_t quoted_end(struct str t, size_t from, size_t escapes, char quote)
{
    for (size_t i = from; i < t.n && t.p[i] != '\n' && t.p[i] != '\r'; i++) {
        if (t.p[i] == quote) {
            size_t before = 0;
            while (before < i - from && t.p[i - 1 - before] == '\\')
                before++;
            if (escapes ? before <= escapes : before % 2 == 0 || quote == '`')
                return i - before + (escapes ? 0 : before);
        }
    }
    size_t end = from; /* it does not close in this line */
    while (!is_line_end(t, end))
        end++;
    return end;
}

/* "\r" and a backslash that escapes what follows do not belong to it. */
static size_t without_escape(struct str t, size_t from, size_t end)
{
    size_t slashes = 0;
    while (end - slashes > from && t.p[end - 1 - slashes] == '\\')
        slashes++;
    return slashes % 2 && end < t.n && !is_line_end(t, end) ? end - 1 : end;
}

static size_t rest_of_line(struct str t, size_t from)
{
    size_t end = from;
    while (!is_line_end(t, end) && !strchr("\"'`<", t.p[end]))
        end++;
    return without_escape(t, from, end);
}

/* Does a string in such quotes, begun before in this line, go on at `at`? */
static bool is_in_string(struct str t, size_t at, char quote)
{
    size_t from = at;
    bool open = false;
    while (from > 0 && at - from < STRING_LONGEST && t.p[from - 1] != '\n')
        from--;
    for (size_t i = from; i < at; i++)
        if (t.p[i] == '\\')
            i++;
        else
            open ^= t.p[i] == quote;
    return open;
}

/* Is the quote at `at` the end of a string that began before, not the beginning of a value? */
static bool closes_string(struct str t, size_t at)
{
    size_t next = skip_blanks(t, at + 1);
    return (is_line_end(t, next) || strchr("},]:)", t.p[next])) && is_in_string(t, at, t.p[at]);
}

/* No value goes beyond the string around it. */
static size_t within_string(struct str t, size_t from, size_t end)
{
    if (end <= from || !memchr(t.p + from, '"', end - from) || !is_in_string(t, from, '"'))
        return end;
    for (size_t i = from; i < end; i++)
        if (t.p[i] == '\\')
            i++;
        else if (t.p[i] == '"')
            return i;
    return end;
}

struct assigned {
    size_t name, name_n; /* where the name stands */
    enum secret_name weight;
};
static void assigned_value(struct finding *f, size_t from, struct assigned a);

/* Lines below the name of a secret, from here on: those further right are its value. */
static void fold_lines(struct finding *f, size_t from)
{
    struct secrets_state *state = f->state;
    struct str t = f->text;
    bool number, block = state->fold == SECRETS_FOLD_BLOCK, tag = state->fold == SECRETS_FOLD_TAG;
    for (size_t end; state->fold && from < t.n; from = end + 1) {
        end = line_end(t, from);
        size_t begin = skip_blanks(t, from);
        struct str value = str_trim(str_sub(t, begin, end - begin));
        if (value.n == 0 && block && ++state->fold_lines < FOLDED_LINES)
            continue;
        if (state->fold == SECRETS_FOLD_VALUE) { /* "value: x" */
            size_t word = begin + (begin < t.n && (t.p[begin] == '"' || t.p[begin] == '\'')), sign = word + 5;
            struct assigned a = {word, 5, (enum secret_name)state->fold_weight};
            state->fold = SECRETS_FOLD_NONE;
            sign += sign < t.n && (t.p[sign] == '"' || t.p[sign] == '\'');
            if (str_is_anycase(str_sub(t, word, 5), "value") && sign < end && t.p[sign] == ':')
                assigned_value(f, sign + 1, a);
            break;
        }
        if (begin - from <= state->fold_indent || value.n == 0 || ++state->fold_lines > FOLDED_LINES) {
            state->fold = SECRETS_FOLD_NONE;
            break;
        }
        if (!block) { /* one word, up to the tag that may follow it */
            size_t n = 0;
            while (n < value.n && value.p[n] != '<')
                n++;
            value.n = n;
            state->fold = SECRETS_FOLD_NONE;
            if (memchr(value.p, ' ', value.n) || (value.n && strchr(":{[(-", value.p[value.n - 1])) ||
                (value.n && strchr("-{[<#", value.p[0])))
                break;
            if (!tag && state->fold_weight < SECRET_NAME_OWNED && begins_assignment(value, 0))
                break;
        }
        if (!secret_value((enum secret_name)state->fold_weight, value, &number))
            continue;
        f->count++;
        f->each(f->context, &(struct secret){.at = begin, .n = value.n, .kind = SECRET_ASSIGNED, .number = number});
    }
}

/* A name ends the line; is its value below it, further right? `at` is behind the sign, `name` where the name begins. */
static void begin_fold(struct finding *f, size_t name, size_t at, enum secret_name weight, enum secrets_fold kind)
{
    struct str t = f->text;
    size_t indent = 0;
    bool block = at < t.n && (t.p[at] == '|' || t.p[at] == '>');
    while (block && at < t.n && strchr("|>+-0123456789", t.p[at]))
        at++;
    at = skip_blanks(t, at);
    if ((weight < SECRET_NAME_PART && kind != SECRETS_FOLD_TAG) || at >= t.n || !is_line_end(t, at)) /* a line that is cut here may go on */
        return;
    while (name > 0 && (t.p[name - 1] == '"' || t.p[name - 1] == '\'' || t.p[name - 1] == '<'))
        name--;
    while (name > indent && t.p[name - 1 - indent] != '\n') {
        if (!is_blank(t.p[name - 1 - indent]) && t.p[name - 1 - indent] != '-')
            return;
        indent++;
    }
    f->state->fold = (unsigned char)(block ? SECRETS_FOLD_BLOCK : kind);
    f->state->fold_weight = (unsigned char)weight;
    f->state->fold_indent = (unsigned short)indent;
    f->state->fold_lines = 0;
    fold_lines(f, line_end(t, at) + 1);
}

/* "\"password\": 5": as JSON writes names; a number behind it must stay JSON. */
static enum secret_fill number_fill(struct str t, size_t name_end)
{
    if (name_end + 1 >= t.n)
        return SECRET_FILL_MARK;
    return t.p[name_end] == '"'                                ? SECRET_FILL_QUOTED
           : t.p[name_end] == '\\' && t.p[name_end + 1] == '"' ? SECRET_FILL_NULL
                                                               : SECRET_FILL_MARK;
}

/* Redaction left it here. */
static bool is_mark(struct str t, size_t at)
{
    struct str mark = str_sub(t, at, sizeof "[redacted]" - 1);
    return str_is(mark, "[redacted]") || str_is(mark, "(redacted)");
}

/* Is the quote before `at` doubled, as CSV writes quotes in a field? */
static bool is_doubled(struct str t, size_t at)
{
    return at + 1 < t.n && t.p[at] == '"' && t.p[at - 1] == '"' && (is_letter(t.p[at + 1]) || is_digit(t.p[at + 1]));
}

/* The value of that name, from here on. */
static void assigned_value(struct finding *f, size_t from, struct assigned a)
{
    struct str t = f->text;
    size_t end, escapes = 0;
    bool number, quoted = false;
    from = skip_blanks(t, from);
    if (is_line_end(t, from) || ((t.p[from] == '|' || t.p[from] == '>') && skip_blanks(t, from + 1) < t.n &&
                                 (is_line_end(t, skip_blanks(t, from + 1)) || strchr("+-0123456789", t.p[from + 1])))) {
        begin_fold(f, a.name, from, a.weight, SECRETS_FOLD_LINE);
        return;
    }
    for (int i = 0; i < OPENERS_MOST && from < t.n && strchr("[({<&;,|", t.p[from]) && !is_mark(t, from); i++) {
        if ((t.p[from] == '<' && from + 1 < t.n && (t.p[from + 1] == '/' || is_letter(t.p[from + 1]))) || is_line_end(t, from + 1))
            return; /* a tag */
        if (strchr(",;&|", t.p[from]) && (is_blank(t.p[from + 1]) || begins_assignment(t, from + 1)))
            return;
        from = skip_blanks(t, from + 1);
    }
    if (is_mark(t, from) || (from < t.n && strchr(")]}", t.p[from])))
        return;
    while (from + escapes < t.n && t.p[from + escapes] == '\\' && escapes < OPENERS_MOST)
        escapes++;
    if (escapes == 0 && from < t.n && strchr("\"'", t.p[from]) && closes_string(t, from))
        return;
    if (from + escapes < t.n && strchr("\"'`", t.p[from + escapes])) {
        quoted = true;
        from += escapes + 1;
        from += is_doubled(t, from);
        end = quoted_end(t, from, escapes, t.p[from - 1]);
        if (t.p[from - 1] != '"')
            end = within_string(t, from, end);
    } else if (a.weight == SECRET_NAME_LINE)
        end = rest_of_line(t, from);
    else
        end = value_end(t, from);
    struct str value = str_sub(t, from, end - from);
    if (a.weight >= SECRET_NAME_PART && !quoted && is_scheme(value) && end < t.n && is_blank(t.p[end])) { /* "api-key: Bearer abc" */
        end = value_end(t, skip_blanks(t, end));
        value = str_sub(t, from, end - from);
    }
    if (str_starts(value, "pass:") && value.n > 5) {
        from += 5;
        value = str_sub(t, from, end - from);
    }
    if (!secret_value(a.weight, value, &number))
        return;
    f->count++;
    f->each(f->context,
            &(struct secret){.at = from,
                             .n = value.n,
                             .kind = SECRET_ASSIGNED,
                             .number = number,
                             .fill = quoted || !secret_is_quantity(value) ? SECRET_FILL_MARK : number_fill(t, a.name + a.name_n)});
}

/* Names are many, secrets are few: a cheap look for the beginnings of the words of secret_names.def. */
static bool may_be_secret(const char *p, size_t n)
{
    for (size_t i = 0; i + 3 <= n; i++) {
        char b = str_lower(p[i + 1]), c = str_lower(p[i + 2]);
        switch (str_lower(p[i])) {
        case 'p':
            if ((b == 'a' && (c == 's' || c == 't')) || (b == 'w' && c == 'd'))
                return true;
            break;
        case 's':
            if ((b == 'e' && (c == 'c' || c == 's')) || (b == 'i' && c == 'g'))
                return true;
            break;
        case 'k':
            if (b == 'e' && c == 'y')
                return true;
            break;
        case 't':
            if (b == 'o' && c == 'k')
                return true;
            break;
        case 'a':
            if ((b == 'u' && c == 't') || (b == 'c' && c == 'c') || (b == 'p' && c == 'p'))
                return true;
            break;
        case 'c':
            if ((b == 'r' && c == 'e') || (b == 'o' && c == 'o') || (b == 'l' && c == 'i'))
                return true;
            break;
        case 'b':
            if (b == 'e' && c == 'a')
                return true;
            break;
        case 'w':
            if (b == 'e' && c == 'b')
                return true;
            break;
        case 'i':
            if (b == 'b' && c == 's')
                return true;
            break;
        case 'r':
            if ((b == '_' || b == '.') && c == 'l')
                return true;
            break;
        default: break;
        }
    }
    return false;
}

/* secret_variable() of the name there. */
static enum secret_name known_weight(struct finding *f, size_t at, size_t n)
{
    const char *p = f->text.p + at;
    struct known_name *k =
        &f->names[((unsigned char)p[0] + 7u * (unsigned char)p[n / 2] + 31u * (unsigned char)p[n - 1] + 5u * (unsigned)n) % NAMES_KNOWN];
    if (k->n != n || memcmp(f->text.p + k->at, p, n) != 0)
        *k = (struct known_name){at, n, secret_variable(str_sub(f->text, at, n))};
    return k->weight;
}

/* The name that ends at `end`, behind quotes and blanks. False: no name of a secret. */
static bool name_before(struct finding *f, size_t end, struct assigned *ret)
{
    struct str t = f->text;
    size_t from;
    bool quoted = false;
    while (end > 0 && is_blank(t.p[end - 1]))
        end--;
    if (end > 0 && strchr("\"'`]", t.p[end - 1])) {
        end -= end > 1 && t.p[end - 1] == '"' && t.p[end - 2] == '"' ? 2 : 1; /* doubled in CSV */
        if (end > 0 && (t.p[end] == ']' && strchr("\"'", t.p[end - 1])))
            end--;
        while (end > 0 && t.p[end - 1] == '\\')
            end--;
        quoted = true;
    }
    for (from = end; from > 0 && end - from < NAME_LONGEST && is_name_byte(t.p[from - 1]);)
        from--;
    if (from > 0 && t.p[from - 1] == '\\' && end - from > 3 && strchr("nrt", t.p[from])) /* "\npassword=" in a string */
        from++;
    struct str name = str_sub(t, from, end - from);
    if (!quoted && str_is_anycase(name, "string") && from > 0 && is_blank(t.p[from - 1])) /* "var token string = ..." */
        return name_before(f, from - 1, ret);
    if (name.n < 3 || !may_be_secret(name.p, name.n))
        return false;
    *ret = (struct assigned){from, name.n, known_weight(f, from, name.n)};
    return ret->weight != SECRET_NAME_NONE;
}

/* Is that the word that ends here, also in quotes? */
static bool is_word_before(struct str t, size_t end, struct str word)
{
    if (end > 0 && strchr("\"'", t.p[end - 1]))
        end--;
    return end >= word.n && str_is_anycase(str_sub(t, end - word.n, word.n), word.p) &&
           (end == word.n || !is_name_byte(t.p[end - word.n - 1]));
}

/* key="PASSWORD" value="x" */
static bool name_of_value(struct finding *f, size_t end, struct assigned *ret)
{
    struct str t = f->text;
    size_t at = end - 5;
    while (at > 0 && is_blank(t.p[at - 1]))
        at--;
    if (at == end - 5 || !name_before(f, at, ret) || ret->weight < SECRET_NAME_PART)
        return false;
    struct str before = str_trim(str_sub(t, 0, ret->name));
    while (before.n > 0 && strchr("\"' ", before.p[before.n - 1]))
        before.n--;
    return str_ends_anycase(before, "name=") || str_ends_anycase(before, "key=");
}

/* "name: DB_PASSWORD" alone: the line below it may have the value. `at` is behind the sign. */
static bool names_a_secret(struct finding *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    size_t end = skip_blanks(t, at);
    while (end < t.n && (is_name_byte(t.p[end]) || t.p[end] == '"' || t.p[end] == '\''))
        end++;
    if (end == at || !name_before(f, end, &a) || a.name < at || a.weight < SECRET_NAME_PART)
        return false;
    if (end < t.n && t.p[end] == ',')
        end++;
    if (end >= t.n || !is_line_end(t, end))
        return false;
    f->state->fold = SECRETS_FOLD_VALUE;
    f->state->fold_weight = (unsigned char)a.weight;
    fold_lines(f, line_end(t, end) + 1);
    return true;
}

/* "name=", "name: ", "\"name\": ", "name := ", "name => " */
static void look_at_assignment(struct finding *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    size_t end = at;
    if (t.p[at] == ':' && at + 1 < t.n && t.p[at + 1] == '/') /* a scheme */
        return;
    if (t.p[at] == ':')
        manifest_at_colon(&f->state->manifest, t, at, tell_manifest, f);
    if (t.p[at] == '=' && end > 1 && strchr("?+.|", t.p[end - 1]))
        while (end > 1 && strchr("?+.|", t.p[end - 1]))
            end--;
    if (end >= 4 && is_word_before(t, end, STR("name")) && names_a_secret(f, at + 1))
        return;
    if (is_word_before(t, end, STR("value"))) {
        if (t.p[at] != '=' || !name_of_value(f, end, &a))
            return;
    } else if (!name_before(f, end, &a))
        return;
    if (a.weight == SECRET_NAME_PART && t.p[at] == ':' && secret_name(str_sub(t, a.name, a.name_n)) == SECRET_NAME_PERHAPS)
        a.weight = SECRET_NAME_PERHAPS; /* only env(1) writes variables so, with '=' */
    for (at++; at < t.n && (t.p[at] == '=' || t.p[at] == ':' || t.p[at] == '>');)
        at++;
    assigned_value(f, at, a);
}

/* "name", "value" as arguments of a call; "name": "DB_PASSWORD", "value": "x" in a list of variables. */
static void look_at_comma(struct finding *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    if (at == 0 || !strchr("\"'", t.p[at - 1]) || !name_before(f, at, &a) || a.weight < SECRET_NAME_PART)
        return;
    size_t next = skip_blanks(t, at + 1);
    struct str rest = str_sub(t, next, 16);
    if (str_starts(rest, "\"value\"") || str_starts(rest, "'value'")) {
        next = skip_blanks(t, next + 7);
        if (next < t.n && (t.p[next] == ':' || t.p[next] == '='))
            assigned_value(f, next + 1, a);
    } else if (next < t.n && strchr("\"'", t.p[next])) {
        size_t end = quoted_end(t, next + 1, 0, t.p[next]);
        if (!(end + 1 < t.n && (t.p[end + 1] == ':' || t.p[skip_blanks(t, end + 1) < t.n ? skip_blanks(t, end + 1) : end] == ':')))
            assigned_value(f, next, a);
    }
}

/* "<password>value</password>", "<key name=\"password\">value<". */
static void look_at_tag_end(struct finding *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    size_t from = at;
    if (at == 0 || t.p[at - 1] == '=' || t.p[at - 1] == '-' || is_blank(t.p[at - 1]))
        return;
    while (from > 0 && at - from < 4 * NAME_LONGEST && t.p[from - 1] != '<' && t.p[from - 1] != '>' && t.p[from - 1] != '\n')
        from--;
    if (from == 0 || t.p[from - 1] != '<' || t.p[from] == '/' || t.p[at - 1] == '/')
        return;
    struct str tag = str_sub(t, from, at - from), first = str_word(&tag);
    size_t end = from + first.n;
    if (name_before(f, end, &a) && a.name >= from) {
        a.name = from;
    } else if (!name_before(f, at, &a) || a.name < from)
        return;
    size_t to = at + 1;
    while (to < t.n && t.p[to] != '<' && !is_line_end(t, to))
        to++;
    to = without_escape(t, at + 1, within_string(t, at + 1, to));
    struct str value = str_trim(str_sub(t, at + 1, to - at - 1));
    bool number;
    if (value.n == 0 && is_line_end(t, to))
        begin_fold(f, from, at + 1, a.weight, SECRETS_FOLD_TAG);
    else if (value.p && secret_value(a.weight, value, &number)) {
        f->count++;
        f->each(f->context, &(struct secret){.at = (size_t)(value.p - t.p), .n = value.n, .kind = SECRET_ASSIGNED, .number = number});
    }
}

static bool is_known_webhook(struct str before, size_t *ret_end)
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
        ptrdiff_t at = str_find(before, hosts[i]);
        if (at >= 0) {
            *ret_end = (size_t)at + hosts[i].n;
            return true;
        }
    }
    return false;
}

/* The path of an address that lets everybody write, around the run that begins here. */
static bool webhook(struct finding *f, size_t at)
{
    struct str t = f->text;
    size_t from = at, to = at, host;
    while (from > 0 && at - from < URL_LONGEST && !strchr(" \t\r\n\"'`<>", t.p[from - 1]))
        from--;
    if (!is_known_webhook(str_sub(t, from, at - from), &host))
        return false;
    while (to < t.n && !strchr(" \t\r\n\"'`<>\\)", t.p[to]))
        to++;
    f->quiet = to;
    tell(f, from + host, to - from - host, SECRET_TOKEN);
    return true;
}

/* What stands between "://" and this @ is user and password; passwords may have "/", "#" and "?", if what comes before them is no host with port. */
static bool is_user_info(struct str info, struct str host)
{
    size_t odd = 0, colon = 0;
    while (odd < info.n && !strchr("/#?", info.p[odd]))
        odd++;
    if (odd == info.n)
        return true;
    while (colon < odd && info.p[colon] != ':')
        colon++;
    if (colon == odd || host.n == 0 || !is_name_byte(host.p[0]))
        return false;
    for (size_t i = colon + 1; i < odd; i++)
        if (!is_digit(info.p[i]))
            return true;
    return colon == 0;
}

/* "scheme://user:password@host": what stands between the slashes and the last @ of it. */
static void look_at_user_info(struct finding *f, size_t at)
{
    struct str t = f->text;
    for (size_t i = at; i-- > 0 && at - i < URL_LONGEST;) {
        char c = t.p[i];
        if (c == '/' && i >= 2 && t.p[i - 1] == '/' && t.p[i - 2] == ':') {
            struct str info = str_sub(t, i + 1, at - i - 1);
            if (is_user_info(info, str_sub(t, at + 1, 1)) && !secret_is_redacted(info))
                tell(f, i + 1, at - i - 1, SECRET_URL);
            return;
        }
        if (c == ' ' || c == '\n' || c == '"' || c == '\'' || c == '<' || c == '>')
            return;
    }
}

/* ---- marks ---- */

struct marks {
    uint64_t token, sign, dash, quote, comma, s;
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
    __m128i quote = _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('"')), _mm_cmpeq_epi8(c, _mm_set1_epi8('\'')));
    __m128i s = _mm_cmpeq_epi8(_mm_or_si128(c, _mm_set1_epi8(0x20)), _mm_set1_epi8('s'));
    sign = _mm_or_si128(sign, _mm_or_si128(_mm_cmpeq_epi8(c, _mm_set1_epi8('>')), _mm_cmpeq_epi8(c, _mm_set1_epi8('~'))));
    m->quote |= (uint64_t)(unsigned)_mm_movemask_epi8(quote) << shift;
    m->comma |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(c, _mm_set1_epi8(','))) << shift;
    m->s |= (uint64_t)(unsigned)_mm_movemask_epi8(s) << shift;
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
        m->sign |= p[i] == '=' || p[i] == ':' || p[i] == '@' || p[i] == '>' || p[i] == '~' ? bit : 0;
        m->quote |= p[i] == '"' || p[i] == '\'' ? bit : 0;
        m->comma |= p[i] == ',' ? bit : 0;
        m->s |= str_lower(p[i]) == 's' ? bit : 0;
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

struct prefix {
    char first;
    struct str text;
    size_t least;
};

/* The prefix of a known service's tokens, and what must follow. */
static bool has_prefix(struct str run)
{
    static const struct prefix prefixes[] = {
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
    for (const struct prefix *x = prefixes; x < prefixes + sizeof prefixes / sizeof *prefixes; x++) {
        if (run.p[0] != x->first || run.n < x->text.n + x->least || memcmp(run.p, x->text.p, x->text.n) != 0)
            continue;
        for (size_t k = x->text.n; k < run.n; k++)
            if (is_digit(run.p[k]))
                return true; /* "sk-learn-something" is a word */
        if (is_of_letters(x->text, str_sub(run, x->text.n, run.n)))
            return true;
    }
    return false;
}

/* What stands before "acc_" and "atlasv1." belongs to the token. */
static size_t word_begin(struct str t, size_t from, bool wanted)
{
    while (wanted && from > 0 && is_name_byte(t.p[from - 1]))
        from--;
    return from;
}

/* Where a prefix with dots ends in front of this run: the offset at which it begins; from: nowhere. */
static size_t dotted_prefix(struct str t, size_t from, size_t n)
{
    static const struct prefix prefixes[] = {
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
    for (const struct prefix *x = prefixes; x < prefixes + sizeof prefixes / sizeof *prefixes; x++)
        if (x->text.n <= from && n >= x->least && memcmp(t.p + from - x->text.n, x->text.p, x->text.n) == 0 &&
            (x->text.n == from || !is_name_byte(t.p[from - x->text.n - 1]) || x->text.p[0] == 'a'))
            return word_begin(t, from - x->text.n, x->text.p[0] == 'a');
    return from;
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

/* Three kinds of characters mixed over 32 bytes. Names like Foo-Bar_2-x86_64-… have a separator every few letters; random text has one in 32. In text made of
 * words, and in the names of C++ and Rust, small letters stand together. */
static bool is_mixed(struct str run)
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
        digits += is_digit(run.p[i]);
        joints += is_joint(run.p[i]);
    }
    return run.n >= 32 && upper && small && digits && joints * 10 <= run.n && words * 5 <= run.n * 2;
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

/* "Bearer X", "wandb login X". */
static bool behind_scheme(struct str t, size_t from)
{
    return from >= 7 && t.p[from - 1] == ' ' &&
           (str_is_anycase(str_sub(t, from - 7, 7), "bearer ") || str_is(str_sub(t, from - 6, 6), "login "));
}

/* A name that is only that of a service, before letters and digits that are no digest: cloudflare: "…", "artifactory", "…". */
static bool behind_service(struct str t, size_t from, struct str run)
{
    size_t digits = 0, hex = 0, end = from;
    if (run.n < SERVICE_LEAST || from < 3 || !strchr("\"' \t=:,", t.p[from - 1]))
        return false;
    for (size_t i = 0; i < run.n; i++) {
        digits += is_digit(run.p[i]);
        hex += str_hex_digit(run.p[i]) >= 0;
        if (!is_digit(run.p[i]) && !is_letter(run.p[i]))
            return false;
    }
    bool digest = hex == run.n && (run.n == 32 || run.n == 40 || run.n == 56 || run.n == 64 || run.n == 96 || run.n == 128);
    if (digest || digits < 4 || run.n - digits < 4)
        return false;
    while (end > 0 && from - end < 8 && strchr("\"' \t=:,>", t.p[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && end - begin < NAME_LONGEST && is_name_byte(t.p[begin - 1]))
        begin--;
    struct str between = str_sub(t, end, from - end);
    return (memchr(between.p, '=', between.n) || memchr(between.p, ':', between.n) || memchr(between.p, ',', between.n)) &&
           secret_is_owner(str_sub(t, begin, end - begin));
}

/* A token goes on behind dots and signs of equality. */
static size_t token_end(struct str t, size_t to)
{
    size_t from = to;
    while (from > 0 && to - from < 100 && is_token_byte(t.p[from - 1]))
        from--;
    while (to + 1 < t.n && (strchr(".=~", t.p[to]) || (t.p[to] == '/' && to - from >= 100)) &&
           (is_token_byte(t.p[to + 1]) || t.p[to + 1] == '='))
        for (to++; to < t.n && is_token_byte(t.p[to]);)
            to++;
    while (to < t.n && t.p[to] == '=')
        to++;
    return to;
}

static bool is_web_token(struct str t, size_t from, size_t to)
{
    return to - from >= 8 && memcmp(t.p + from, "ey", 2) == 0 && to + 3 < t.n && t.p[to] == '.' && memcmp(t.p + to + 1, "ey", 2) == 0;
}

/* "12345678:AA…": a bot of Telegram's; numbers, "|" and a string: Facebook's. */
static bool numbered_token(struct finding *f, size_t from, size_t to)
{
    struct str t = f->text;
    size_t begin = from;
    if (from > 8 && strchr(":|%", t.p[from - 1]) && t.p[from - 1] && to - from >= 27) {
        for (begin--; begin > 0 && is_digit(t.p[begin - 1]);)
            begin--;
        bool bot = t.p[from - 1] == ':' && t.p[from] == 'A' && from - begin >= 6 && to - from >= 34;
        if (!bot && (t.p[from - 1] == ':' || from - begin < 16))
            return false;
    } else
        return false;
    to = token_end(t, to);
    f->quiet = to;
    tell(f, begin, to - begin, SECRET_TOKEN);
    return true;
}

static void look_at_run(struct finding *f, size_t from)
{
    struct str t = f->text;
    bool digit;
    if (from > 0 && t.p[from - 1] == '\\' && strchr("nrtbfu", t.p[from])) /* "\n" in a string */
        from += t.p[from] == 'u' ? 5 : 1;
    struct str run = run_from(t, from, &digit);
    size_t to = from + run.n, prefix = run.n >= 12 ? dotted_prefix(t, from, run.n) : from;
    f->quiet = to;
    if (is_web_token(t, from, to)) {
        while (to < t.n && (t.p[to] == '.' || is_token_byte(t.p[to]) || t.p[to] == '/' || t.p[to] == '='))
            to++;
        f->quiet = to;
        tell(f, from, to - from, SECRET_TOKEN);
        return;
    }
    if (from > 0 && t.p[from - 1] == '/' && webhook(f, from))
        return;
    if (numbered_token(f, from, to))
        return;
    size_t token = prefix < from ? prefix : digit ? from + service_token(run) : may_be_of_letters(run) && has_prefix(run) ? from : to;
    if (token < to) {
        to = token_end(t, to);
        f->quiet = to;
        if (token > from && is_mixed(str_sub(run, 0, token - from))) /* what stands before it would be found alone */
            token = from;
        tell(f, token, to - token, SECRET_TOKEN);
    } else if (digit && is_mixed(run)) {
        while (to < t.n && (is_token_byte(t.p[to]) || t.p[to] == '/')) /* the rest of the same base64 */
            to++;
        while (to < t.n && t.p[to] == '=')
            to++;
        f->quiet = to;
        tell(f, from, to - from, SECRET_RANDOM);
    } else if (behind_scheme(t, from) || behind_service(t, from, run))
        tell(f, from, to - from, SECRET_TOKEN);
    else if ((from > 0 && t.p[from - 1] == '/') || (to < t.n && t.p[to] == '/'))
        around(f, from, to);
}

/* ---- dashes: options, and the marks around keys ---- */

/* A line of a key: base64, also with its line ends escaped; or a header of PEM's ("DEK-Info: AES-128-CBC,…"). *ret_n: how much of it. */
static bool is_key_line(struct str line, size_t *ret_n)
{
    size_t n = 0;
    while (n < line.n && !strchr("\"'`<>{}()[]$|&;!?*%@~^", line.p[n]))
        n++;
    *ret_n = n;
    struct str body = str_sub(line, 0, n);
    if (n == 0)
        return line.n == 0;
    if (str_starts(body, "Proc-Type:") || str_starts(body, "DEK-Info:") || str_starts(body, "Version:") || str_starts(body, "Comment:"))
        return true;
    for (size_t i = 0; i < body.n; i++)
        if (!is_token_byte(body.p[i]) && !strchr("/=\\,#", body.p[i]))
            return false;
    return true;
}

/* From here to the line that ends the key, or that is none of a key; line by line, since line ends and indentation stay. */
static void tell_key(struct finding *f, size_t from)
{
    struct str t = f->text;
    f->state->in_key = true;
    for (size_t end; from < t.n; from = end + 1) {
        end = line_end(t, from);
        from = skip_blanks(t, from);
        struct str line = str_trim(str_sub(t, from, end > from ? end - from : 0));
        ptrdiff_t mark = str_find(line, STR("-----END "));
        if (mark > 0 && line.p[mark - 1] == '\\')
            mark--;
        size_t n;
        bool good = is_key_line(mark >= 0 ? str_sub(line, 0, (size_t)mark) : line, &n);
        if (str_has(line, "[redacted]") || str_has(line, "(redacted)"))
            good = false;
        if (mark < 0)
            n = without_escape(t, from, from + n) - from;
        if (good || mark >= 0)
            tell(f, from, mark >= 0 ? (size_t)mark : n, SECRET_KEY);
        if (mark >= 0 || !good || n < line.n) {
            f->state->in_key = false;
            f->quiet = mark >= 0 ? from + (size_t)mark + 9 : good ? from + n : from;
            return;
        }
    }
    f->quiet = t.n;
}

/* The word of a command that begins here, with its quotes. */
static size_t word_end(struct str t, size_t from)
{
    size_t end = from;
    while (end < t.n && !strchr(" \t\r\n`", t.p[end])) {
        if (t.p[end] == '"' || t.p[end] == '\'') {
            size_t close = end == from || t.p[end - 1] == ':' ? quoted_end(t, end + 1, 0, t.p[end]) : end;
            if (close == end || close >= t.n || t.p[close] != t.p[end])
                break; /* the quote of the text around */
            end = close + 1;
            if (end >= t.n || t.p[end] != ':')
                return end;
        }
        end++;
    }
    return without_escape(t, from, end);
}

static void look_at_option(struct finding *f, size_t at)
{
    struct str t = f->text, secret;
    size_t from = at, end = at;
    if (at > 0 && !is_blank(t.p[at - 1]) && !strchr("\"'`([,\n\r", t.p[at - 1]))
        return;
    char letter = at + 1 < t.n ? t.p[at + 1] : 0;
    if (!letter || (!strchr("-uUpPaAkKwXhosr", letter) && !is_letter(letter)) ||
        (letter == '-' && !(at + 2 < t.n && is_letter(t.p[at + 2]))))
        return;
    while (end < t.n && !strchr(" \t\r\n\"'`", t.p[end]) && (letter != '-' || t.p[end] != '='))
        end++;
    if (end < t.n && t.p[end] == '\\')
        return;
    if (end < t.n && strchr("\"'", t.p[end]) && letter != '-' && end == at + 2 && !is_in_string(t, end, t.p[end])) /* -p'word' */
        end = word_end(t, end);
    else if (end < t.n && t.p[end] == '=' && letter == '-') /* --user=name:word */
        end = word_end(t, end);
    struct str word = str_sub(t, at, end - at);
    if (!strchr("uUpPaAkKwXhor-", letter) && !may_be_secret(word.p, word.n))
        return;
    if (letter == '-' && !may_be_secret(word.p, word.n) && !str_starts(word, "--user") && !str_starts(word, "--pw"))
        return;
    size_t next = end < t.n && (t.p[end] == '"' || t.p[end] == '\'') ? end + 1 : end; /* ["-p", "word"] */
    if (next < t.n && next > end && t.p[next] == ':') /* a name, as in JSON */
        return;
    if (next < t.n && next > end && t.p[next] == ',')
        next++;
    next = skip_blanks(t, next);
    if (next + 1 < t.n && t.p[next] == '\\' && is_line_end(t, next + 1)) /* the command goes on in the next line */
        next = skip_blanks(t, line_end(t, next) + 1);
    struct str value = str_sub(t, next, word_end(t, next) - next);
    for (int lines = 0; from > 0 && at - from < COMMAND_LONGEST; from--)
        if (t.p[from - 1] == '\n' &&
            !(from > 1 && (t.p[from - 2] == '\\' || (t.p[from - 2] == '\r' && from > 2 && t.p[from - 3] == '\\')) && lines++ < 8))
            break;
    if (secret_option(str_sub(t, from, at - from), word, value, &secret)) {
        size_t place = (size_t)(secret.p - t.p);
        tell(f, place, secret.n, SECRET_ASSIGNED);
    }
}

static void look_at_dashes(struct finding *f, size_t at)
{
    struct str t = f->text, rest = str_sub(t, at, t.n);
    if (str_starts(rest, "-----BEGIN ")) {
        struct str line = str_sub(rest, 0, line_end(t, at) - at);
        ptrdiff_t mark = str_find(line, STR("PRIVATE KEY"));
        ptrdiff_t close = mark < 0 ? -1 : str_find(str_sub(line, (size_t)mark, line.n), STR("-----"));
        if (close >= 0) {
            size_t from = at + (size_t)mark + (size_t)close + 5;
            tell_key(f, is_line_end(t, from) && from < t.n ? line_end(t, from) + 1 : from);
        }
        return;
    }
    look_at_option(f, at);
}

/* "login alice password X" as in .netrc, and a line of its own in one. */
static void look_at_pass(struct finding *f, size_t at)
{
    struct str t = f->text;
    bool number;
    if (at < 3 || str_lower(t.p[at - 2]) != 'a' || str_lower(t.p[at - 3]) != 'p')
        return;
    size_t name = at - 3, end = name;
    while (end < t.n && is_letter(t.p[end]))
        end++;
    struct str word = str_sub(t, name, end - name);
    if ((name > 0 && is_name_byte(t.p[name - 1])) || end >= t.n || !is_blank(t.p[end]) ||
        (!str_is(word, "password") && !str_is(word, "passwd")))
        return;
    size_t from = skip_blanks(t, end), line = name;
    while (line > 0 && t.p[line - 1] != '\n' && name - line < COMMAND_LONGEST)
        line--;
    struct str before = str_trim(str_sub(t, line, name - line)), value = str_sub(t, from, word_end(t, from) - from);
    bool netrc = str_has(before, "login ") || str_starts(before, "machine ") || str_starts(before, "default");
    bool alone = before.n == 0 && is_line_end(t, skip_blanks(t, from + value.n)) && !secret_is_quantity(value);
    if ((netrc || alone) && value.n > 0 && !strchr(":=", value.p[value.n - 1]) && value.p[0] != '=' && value.p[0] != ':' &&
        secret_value(SECRET_NAME_WHOLE, value, &number)) {
        tell(f, from, value.n, SECRET_ASSIGNED);
    }
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

/* What the block before this one ended with. */
struct before {
    bool token, dash, quote, s;
};

/* "abc8Q~…": a client secret of Azure's. */
static void look_at_tilde(struct finding *f, size_t at)
{
    struct str t = f->text;
    size_t to = at + 1, from = at;
    if (at < 5 || t.p[at - 1] != 'Q' || !is_digit(t.p[at - 2]))
        return;
    for (; from > 0 && at - from < 5 && (is_name_byte(t.p[from - 1]) || t.p[from - 1] == '~');)
        from--;
    while (to < t.n && (is_name_byte(t.p[to]) || t.p[to] == '~'))
        to++;
    if (at - from != 5 || to - at < 32 || to - at > 36)
        return;
    f->quiet = to > f->quiet ? to : f->quiet;
    tell(f, from, to - from, SECRET_TOKEN);
}

static void look_at_sign(struct finding *f, size_t at)
{
    if (f->text.p[at] == '~')
        look_at_tilde(f, at);
    else if (f->text.p[at] == '@')
        look_at_user_info(f, at);
    else if (f->text.p[at] == '>')
        look_at_tag_end(f, at);
    else
        look_at_assignment(f, at);
}

static void look_at_block(struct finding *f, size_t base, uint64_t runs, const struct marks *m, struct before before)
{
    uint64_t dashes = m->dash & ~(m->dash << 1 | before.dash), commas = m->comma & (m->quote << 1 | before.quote),
             doubles = m->s & (m->s << 1 | before.s), all = runs | m->sign | dashes | commas | doubles;
    while (all) {
        int bit = __builtin_ctzll(all);
        uint64_t one = (uint64_t)1 << bit;
        size_t at = base + (size_t)bit;
        all &= all - 1;
        if (at < f->quiet)
            continue;
        if (runs & one)
            look_at_run(f, at);
        if (m->sign & one)
            look_at_sign(f, at);
        else if (dashes & one)
            look_at_dashes(f, at);
        else if (commas & one)
            look_at_comma(f, at);
        else if (doubles & one)
            look_at_pass(f, at);
    }
}

size_t secrets_find(struct str text, struct secrets_state *state, void (*each)(void *context, const struct secret *s), void *context)
{
    struct finding f = {.text = text, .state = state, .each = each, .context = context};
    struct before before = {0};
    struct marks now = text.n ? mark(text, 0) : (struct marks){0};
    if (state->in_key)
        tell_key(&f, 0);
    if (state->fold)
        fold_lines(&f, 0);
    if (state->manifest.in_data)
        manifest_lines(&state->manifest, text, 0, tell_manifest, &f);
    for (size_t at = 0; at < text.n; at += BLOCK) {
        struct marks next = at + BLOCK < text.n ? mark(text, at + BLOCK) : (struct marks){0};
        uint64_t runs = runs_begin(now.token, next.token, before.token);
        if (runs | now.sign | now.dash | now.comma | now.s)
            look_at_block(&f, at, runs, &now, before);
        before = (struct before){now.token >> 63, now.dash >> 63, now.quote >> 63, now.s >> 63};
        now = next;
    }
    return f.count;
}

size_t secrets_rest_of_line(struct str line)
{
    static const char *const words[] = {"uthorization", "UTHORIZATION", "ookie", "OOKIE", "-----BEGIN", "machine ", "login ", "hooks"};
    size_t from = secret_option_program(line);
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
    return word.n > 0 && (strchr(":='\"@", word.p[word.n - 1]) || word.p[0] == '-' || is_scheme(word) || secret_variable(word) > 0 ||
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
