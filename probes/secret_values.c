/* secret_values.c: values behind the name of a secret: assignments, calls, tags, folded lines. */
#include "probes/secret_finding.h"

enum { FOLDED_LINES = 64 /* lines of one folded value */, OPENERS_MOST = 8 };

void secret_report_part(void *context, size_t at, size_t n)
{
    secret_report(context, at, n, SECRET_ASSIGNED);
}

/* Returns whether "name=" or "name:" begins at `at`, but no scheme of an address. */
static bool value_begins_assignment(struct str t, size_t at)
{
    size_t from = at;
    while (at < t.n && at - from < NAME_LONGEST && secret_is_name_byte(t.p[at]))
        at++;
    return at > from && at < t.n && (t.p[at] == '=' || (t.p[at] == ':' && !(at + 1 < t.n && t.p[at + 1] == '/')));
}

/* Does the separator at `at` end an unquoted value? Passwords have such characters, too: not before more of the same word. */
static bool value_ends_at(struct str t, size_t at)
{
    char c = t.p[at];
    size_t next = at + 1;
    if (secret_is_line_end(t, next) || str_is_blank(t.p[next]) || strchr("\"'`<>)]}", t.p[next]))
        return true;
    if (c == '&' || c == ';' || c == ',')
        return value_begins_assignment(t, next) || ((c == ',' || c == ';') && (str_is_digit(t.p[next]) || strchr("-+.{[,;", t.p[next])));
    return c != '(' && c != '[' && c != '{' && strchr(",;&|", t.p[next]);
}

/* Returns the index behind the value that begins at `from`: before a blank, a quote, a bracket or a
 * sign that ends it. */
static size_t value_find_end(struct str t, size_t from)
{
    size_t end = from;
    for (; end < t.n && !strchr(" \t\r\n\"'`<>", t.p[end]); end++)
        if (t.p[end] == '\\' && end + 1 < t.n && strchr("\"'nrt", t.p[end + 1])) /* an escape of the text around */
            break;
        else if (strchr(",;&()[]{}|", t.p[end]) && end > from && value_ends_at(t, end))
            break;
    return end;
}

bool secret_is_scheme(struct str word)
{
    return str_is_anycase(word, "bearer") || str_is_anycase(word, "basic") || str_is_anycase(word, "token") ||
           str_is_anycase(word, "digest") || str_is_anycase(word, "negotiate") || str_is_anycase(word, "apikey") ||
           str_is_anycase(word, "api-token") || str_is_anycase(word, "genie-key") || str_is_anycase(word, "pass");
}

/* Returns where the quote closes behind which the text at `from` begins, with `escapes` backslashes
 * before it as before the opening one; the end of the line where it does not close there. */
size_t secret_quoted_end(struct str t, size_t from, size_t escapes, char quote)
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
    while (!secret_is_line_end(t, end))
        end++;
    return end;
}

/* Returns `end` or, where the text ends in a backslash that escapes the byte at `end`, the position
 * of that backslash. At the end of a line a backslash escapes nothing. */
size_t secret_without_escape(struct str t, size_t from, size_t end)
{
    size_t slashes = 0;
    while (end - slashes > from && t.p[end - 1 - slashes] == '\\')
        slashes++;
    return slashes % 2 && end < t.n && !secret_is_line_end(t, end) ? end - 1 : end;
}

static size_t value_rest_of_line(struct str t, size_t from)
{
    size_t end = from;
    while (!secret_is_line_end(t, end) && !strchr("\"'`<", t.p[end]))
        end++;
    return secret_without_escape(t, from, end);
}

/* Returns whether a string in such quotes, begun before in this line, continues at `at`. */
bool secret_is_in_string(struct str t, size_t at, char quote)
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

/* Returns whether the quote at `at` ends a string that began before, and begins no value. */
static bool value_closes_string(struct str t, size_t at)
{
    size_t next = secret_skip_blanks(t, at + 1);
    return (secret_is_line_end(t, next) || strchr("},]:)", t.p[next])) && secret_is_in_string(t, at, t.p[at]);
}

/* Returns `end`, or the place before it where the string ends in which the value begins: no value
 * goes beyond the string around it. */
static size_t value_within_string(struct str t, size_t from, size_t end)
{
    if (end <= from || !memchr(t.p + from, '"', end - from) || !secret_is_in_string(t, from, '"'))
        return end;
    for (size_t i = from; i < end; i++)
        if (t.p[i] == '\\')
            i++;
        else if (t.p[i] == '"')
            return i;
    return end;
}

struct assigned {
    size_t name, name_n; /* place of the name */
    enum secret_weight weight;
};
static void value_report_assigned(struct secret_search *f, size_t from, struct assigned a);

/* Reports the values in the lines from `from` on that f->state announces: those further right than
 * the name of a secret above. Ends the announcement where another line follows. */
void secret_check_fold(struct secret_search *f, size_t from)
{
    struct secrets_state *state = f->state;
    struct str t = f->text;
    bool number, block = state->fold == SECRETS_FOLD_BLOCK, tag = state->fold == SECRETS_FOLD_TAG;
    for (size_t end; state->fold && from < t.n; from = end + 1) {
        end = secret_line_end(t, from);
        size_t begin = secret_skip_blanks(t, from);
        struct str value = str_trim(str_sub(t, begin, end - begin));
        if (value.n == 0 && block && ++state->fold_lines < FOLDED_LINES)
            continue;
        if (state->fold == SECRETS_FOLD_VALUE) { /* "value: x" */
            size_t word = begin + (begin < t.n && (t.p[begin] == '"' || t.p[begin] == '\'')), sign = word + 5;
            struct assigned a = {word, 5, (enum secret_weight)state->fold_weight};
            state->fold = SECRETS_FOLD_NONE;
            sign += sign < t.n && (t.p[sign] == '"' || t.p[sign] == '\'');
            if (str_is_anycase(str_sub(t, word, 5), "value") && sign < end && t.p[sign] == ':')
                value_report_assigned(f, sign + 1, a);
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
            if (!tag && state->fold_weight < SECRET_NAME_OWNED && value_begins_assignment(value, 0))
                break;
        }
        if (!secret_is_value((enum secret_weight)state->fold_weight, value, &number))
            continue;
        f->count++;
        f->each(f->context, &(struct secret){.at = begin, .n = value.n, .kind = SECRET_ASSIGNED, .number = number});
    }
}

/* Called where a name with a sign ends its line. Notes in f->state that its value may follow on
 * the next, deeper indented line, and searches there. at: behind the sign; name: where the name
 * begins. */
static void value_begin_fold(struct secret_search *f, size_t name, size_t at, enum secret_weight weight, enum secrets_fold kind)
{
    struct str t = f->text;
    size_t indent = 0;
    bool block = at < t.n && (t.p[at] == '|' || t.p[at] == '>');
    while (block && at < t.n && strchr("|>+-0123456789", t.p[at]))
        at++;
    at = secret_skip_blanks(t, at);
    if ((weight < SECRET_NAME_PART && kind != SECRETS_FOLD_TAG) || at >= t.n ||
        !secret_is_line_end(t, at)) /* a line that is cut here may continue */
        return;
    while (name > 0 && (t.p[name - 1] == '"' || t.p[name - 1] == '\'' || t.p[name - 1] == '<'))
        name--;
    while (name > indent && t.p[name - 1 - indent] != '\n') {
        if (!str_is_blank(t.p[name - 1 - indent]) && t.p[name - 1 - indent] != '-')
            return;
        indent++;
    }
    f->state->fold = (unsigned char)(block ? SECRETS_FOLD_BLOCK : kind);
    f->state->fold_weight = (unsigned char)weight;
    f->state->fold_indent = (unsigned short)indent;
    f->state->fold_lines = 0;
    secret_check_fold(f, secret_line_end(t, at) + 1);
}

/* Returns how a number behind the name that ends at name_end is replaced: behind a name in JSON
 * ("\"password\": 5") what replaces it must be JSON, too. */
static enum secret_fill value_number_fill(struct str t, size_t name_end)
{
    if (name_end + 1 >= t.n)
        return SECRET_FILL_MARK;
    return t.p[name_end] == '"'                                ? SECRET_FILL_QUOTED
           : t.p[name_end] == '\\' && t.p[name_end + 1] == '"' ? SECRET_FILL_NULL
                                                               : SECRET_FILL_MARK;
}

/* Returns whether redaction left its mark at `at`. */
static bool value_is_mark(struct str t, size_t at)
{
    struct str mark = str_sub(t, at, sizeof "[redacted]" - 1);
    return str_is(mark, "[redacted]") || str_is(mark, "(redacted)");
}

/* Returns whether the quote before `at` is doubled, as CSV writes quotes in a field. */
static bool value_is_doubled_quote(struct str t, size_t at)
{
    return at + 1 < t.n && t.p[at] == '"' && t.p[at - 1] == '"' && (str_is_letter(t.p[at + 1]) || str_is_digit(t.p[at + 1]));
}

/* Reports the value of the name a, which begins behind blanks, quotes and brackets at `from`. Where
 * the line ends there, notes that it may follow in the next one. */
static void value_report_assigned(struct secret_search *f, size_t from, struct assigned a)
{
    struct str t = f->text;
    size_t end, escapes = 0;
    bool number, quoted = false;
    from = secret_skip_blanks(t, from);
    if (secret_is_line_end(t, from) ||
        ((t.p[from] == '|' || t.p[from] == '>') && secret_skip_blanks(t, from + 1) < t.n &&
         (secret_is_line_end(t, secret_skip_blanks(t, from + 1)) || strchr("+-0123456789", t.p[from + 1])))) {
        value_begin_fold(f, a.name, from, a.weight, SECRETS_FOLD_LINE);
        return;
    }
    for (int i = 0; i < OPENERS_MOST && from < t.n && strchr("[({<&;,|", t.p[from]) && !value_is_mark(t, from); i++) {
        if ((t.p[from] == '<' && from + 1 < t.n && (t.p[from + 1] == '/' || str_is_letter(t.p[from + 1]))) ||
            secret_is_line_end(t, from + 1))
            return; /* a tag */
        if (strchr(",;&|", t.p[from]) && (str_is_blank(t.p[from + 1]) || value_begins_assignment(t, from + 1)))
            return;
        from = secret_skip_blanks(t, from + 1);
    }
    if (value_is_mark(t, from) || (from < t.n && strchr(")]}", t.p[from])))
        return;
    while (from + escapes < t.n && t.p[from + escapes] == '\\' && escapes < OPENERS_MOST)
        escapes++;
    if (escapes == 0 && from < t.n && strchr("\"'", t.p[from]) && value_closes_string(t, from))
        return;
    if (from + escapes < t.n && strchr("\"'`", t.p[from + escapes])) {
        quoted = true;
        from += escapes + 1;
        from += value_is_doubled_quote(t, from);
        end = secret_quoted_end(t, from, escapes, t.p[from - 1]);
        if (t.p[from - 1] != '"')
            end = value_within_string(t, from, end);
    } else if (a.weight == SECRET_NAME_LINE)
        end = value_rest_of_line(t, from);
    else
        end = value_find_end(t, from);
    struct str value = str_sub(t, from, end - from);
    if (a.weight >= SECRET_NAME_PART && !quoted && secret_is_scheme(value) && end < t.n &&
        str_is_blank(t.p[end])) { /* "api-key: Bearer abc" */
        end = value_find_end(t, secret_skip_blanks(t, end));
        value = str_sub(t, from, end - from);
    }
    if (str_starts(value, "pass:") && value.n > 5) {
        from += 5;
        value = str_sub(t, from, end - from);
    }
    if (!secret_is_value(a.weight, value, &number))
        return;
    f->count++;
    f->each(f->context,
            &(struct secret){.at = from,
                             .n = value.n,
                             .kind = SECRET_ASSIGNED,
                             .number = number,
                             .fill = quoted || !secret_is_quantity(value) ? SECRET_FILL_MARK : value_number_fill(t, a.name + a.name_n)});
    if (!quoted && (value.p[0] == '!' || t.p[from - 1] == '&') && t.p[a.name + a.name_n] == ':' && end < t.n && str_is_blank(t.p[end]) &&
        !value_begins_assignment(t, secret_skip_blanks(t, end))) /* a tag or an anchor of YAML, or a password: the next word as well */
        value_report_assigned(f, end, a);
}

/* Returns whether the name has the beginning of a word of secret_names.def: names are many, secrets
 * are few, and this test is cheap. */
bool secret_can_be_name(const char *p, size_t n)
{
    for (size_t i = 0; i + 3 <= n; i++) {
        char b = str_lower(p[i + 1]), c = str_lower(p[i + 2]);
        switch (str_lower(p[i])) {
        case 'p':
            if ((b == 'a' && (c == 's' || c == 't')) || b == 'w')
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
    return n >= 2 && str_lower(p[n - 2]) == 'p' && str_lower(p[n - 1]) == 'w';
}

/* Returns secret_variable_weight of the name there, by the names that this search knows already. */
static enum secret_weight value_name_weight(struct secret_search *f, size_t at, size_t n)
{
    const char *p = f->text.p + at;
    struct known_name *k =
        &f->names[((unsigned char)p[0] + 7u * (unsigned char)p[n / 2] + 31u * (unsigned char)p[n - 1] + 5u * (unsigned)n) % NAMES_KNOWN];
    if (k->n != n || memcmp(f->text.p + k->at, p, n) != 0)
        *k = (struct known_name){at, n, secret_variable_weight(str_sub(f->text, at, n))};
    return k->weight;
}

/* Finds the name that ends at `end`, before blanks, and without quotes and brackets. False: it is
 * no name of a secret; *ret may have changed. */
static bool value_name_before(struct secret_search *f, size_t end, struct assigned *ret)
{
    struct str t = f->text;
    size_t from;
    bool quoted = false;
    while (end > 0 && str_is_blank(t.p[end - 1]))
        end--;
    if (end > 0 && strchr("\"'`]", t.p[end - 1])) {
        end -= end > 1 && t.p[end - 1] == '"' && t.p[end - 2] == '"' ? 2 : 1; /* doubled in CSV */
        if (end > 0 && (t.p[end] == ']' && strchr("\"'", t.p[end - 1])))
            end--;
        while (end > 0 && t.p[end - 1] == '\\')
            end--;
        quoted = true;
    }
    for (from = end; from > 0 && end - from < NAME_LONGEST && secret_is_name_byte(t.p[from - 1]);)
        from--;
    if (from > 0 && t.p[from - 1] == '\\' && end - from > 3 && strchr("nrt", t.p[from])) /* "\npassword=" in a string */
        from++;
    struct str name = str_sub(t, from, end - from);
    if (!quoted && str_is_anycase(name, "string") && from > 0 && str_is_blank(t.p[from - 1])) /* "var token string = ..." */
        return value_name_before(f, from - 1, ret);
    if (!secret_can_be_name(name.p, name.n))
        return false;
    *ret = (struct assigned){from, name.n, value_name_weight(f, from, name.n)};
    return ret->weight != SECRET_NAME_NONE;
}

/* Returns whether that word, in either case, ends at `end`, also in quotes. */
static bool value_is_word_before(struct str t, size_t end, struct str word)
{
    if (end > 0 && strchr("\"'", t.p[end - 1]))
        end--;
    return end >= word.n && str_is_anycase(str_sub(t, end - word.n, word.n), word.p) &&
           (end == word.n || !secret_is_name_byte(t.p[end - word.n - 1]));
}

/* Finds the name to which the word "value" before `end` belongs: key="PASSWORD" value="x",
 * {name: PASSWORD, value: x}. False: it belongs to no name of a secret. */
static bool value_name_of(struct secret_search *f, size_t end, struct assigned *ret)
{
    struct str t = f->text;
    size_t word = end - 5 - (strchr("\"'", t.p[end - 1]) != NULL), at = word;
    while (at > 0 && (str_is_blank(t.p[at - 1]) || strchr("\"',", t.p[at - 1])))
        at--;
    if (at == word || !value_name_before(f, at, ret) || ret->weight < SECRET_NAME_PART)
        return false;
    struct str before = str_sub(t, 0, ret->name);
    while (before.n > 0 && strchr("\"' \t", before.p[before.n - 1]))
        before.n--;
    if (before.n == 0 || (before.p[before.n - 1] != '=' && before.p[before.n - 1] != ':'))
        return false;
    for (before.n--; before.n > 0 && strchr("\"' \t", before.p[before.n - 1]);)
        before.n--;
    return str_ends_anycase(before, "name") || str_ends_anycase(before, "key");
}

/* Returns whether the name is "pass" or "pw" in a line that names a user before: in "user: joe,
 * pass: x" the pair proves what "pass" alone does not. */
static bool value_is_pass_of_user(struct str t, struct assigned a)
{
    struct str name = str_sub(t, a.name, a.name_n);
    size_t line = secret_line_begin(t, a.name);
    if (!str_is_anycase(name, "pass") && !str_is_anycase(name, "pw"))
        return false;
    struct str before = str_sub(t, line, a.name - line);
    return secret_has_anycase(before, "user") || secret_has_anycase(before, "login");
}

/* Returns whether the word before the name makes it that of a secret: "API key: x", "Access Token:
 * x". */
static bool value_is_of_two_words(struct str t, struct assigned a)
{
    size_t end = a.name, from;
    while (end > 0 && t.p[end - 1] == ' ' && a.name - end < 2)
        end--;
    for (from = end; from > 0 && end - from < NAME_LONGEST && secret_is_name_byte(t.p[from - 1]);)
        from--;
    return end < a.name && secret_begins_name(str_sub(t, from, end - from)) &&
           secret_name_weight(str_sub(t, from, a.name + a.name_n - from)) > SECRET_NAME_PERHAPS;
}

/* Handles "name: DB_PASSWORD" alone on a line: notes in f->state that the next line may have the
 * value. at: behind the sign. False: the line is none of these. */
static bool value_check_name(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    size_t end = secret_skip_blanks(t, at);
    while (end < t.n && (secret_is_name_byte(t.p[end]) || t.p[end] == '"' || t.p[end] == '\''))
        end++;
    if (end == at || !value_name_before(f, end, &a) || a.name < at || a.weight < SECRET_NAME_PART)
        return false;
    if (end < t.n && t.p[end] == ',')
        end++;
    if (end >= t.n || !secret_is_line_end(t, end))
        return false;
    f->state->fold = SECRETS_FOLD_VALUE;
    f->state->fold_weight = (unsigned char)a.weight;
    secret_check_fold(f, secret_line_end(t, end) + 1);
    return true;
}

/* Checks the sign at `at` of "name=", "name: ", "\"name\": ", "name := ", "name => ", and reports
 * the value where the name is that of a secret. */
void secret_check_assignment(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    size_t end = at;
    if (t.p[at] == ':' && at + 1 < t.n && t.p[at + 1] == '/') /* a scheme */
        return;
    if (t.p[at] == ':')
        manifest_check_colon(&f->state->manifest, t, at, secret_report_part, f);
    if (t.p[at] == '=' && end > 1 && strchr("?+.|", t.p[end - 1]))
        while (end > 1 && strchr("?+.|", t.p[end - 1]))
            end--;
    if (end >= 4 && value_is_word_before(t, end, STR("name")) && value_check_name(f, at + 1))
        return;
    if (value_is_word_before(t, end, STR("value"))) {
        if ((t.p[at] == ':' && t.p[end - 1] != 'e' && t.p[end - 1] != 'E') || !value_name_of(f, end, &a))
            return; /* of JSON, secret_check_comma has found the name */
    } else if (!value_name_before(f, end, &a))
        return;
    if (a.weight == SECRET_NAME_PART && t.p[at] == ':' && secret_name_weight(str_sub(t, a.name, a.name_n)) == SECRET_NAME_PERHAPS)
        a.weight = SECRET_NAME_PERHAPS; /* only env(1) writes variables so, with '=' */
    if (a.weight == SECRET_NAME_PERHAPS && (value_is_pass_of_user(t, a) || value_is_of_two_words(t, a)))
        a.weight = SECRET_NAME_PART;
    if (str_is(str_sub(t, a.name, a.name_n), "pwd") && at + 1 < t.n &&
        strchr("/~", t.p[secret_skip_blanks(t, at + 1) < t.n ? secret_skip_blanks(t, at + 1) : at]))
        return; /* a directory, as pwd(1) prints it */
    for (at++; at < t.n && (t.p[at] == '=' || t.p[at] == ':' || t.p[at] == '>');)
        at++;
    value_report_assigned(f, at, a);
}

/* Checks the comma behind a quote at `at`: reports the value of "name", "value" as arguments of a
 * call, and of "name": "DB_PASSWORD", "value": "x" in a list of variables. */
void secret_check_comma(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    if (at == 0 || !strchr("\"'", t.p[at - 1]) || !value_name_before(f, at, &a) || a.weight < SECRET_NAME_PART)
        return;
    size_t next = secret_skip_blanks(t, at + 1);
    if (next >= t.n || !strchr("\"'", t.p[next]))
        return;
    size_t end = secret_quoted_end(t, next + 1, 0, t.p[next]), sign = secret_skip_blanks(t, end + 1);
    bool is_name = sign < t.n && (t.p[sign] == ':' || t.p[sign] == '=');
    if (!is_name)
        value_report_assigned(f, next, a);
    else if (str_ends_anycase(str_sub(t, next + 1, end - next - 1), "value")) /* "Value", "ParameterValue" */
        value_report_assigned(f, sign + 1, a);
}

/* Checks the ">" at `at`: reports the value of "<password>value</password>" and "<key
 * name=\"password\">value<". */
void secret_check_tag(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    struct assigned a;
    size_t from = at;
    if (at == 0 || t.p[at - 1] == '=' || t.p[at - 1] == '-' || str_is_blank(t.p[at - 1]))
        return;
    while (from > 0 && at - from < 4 * NAME_LONGEST && t.p[from - 1] != '<' && t.p[from - 1] != '>' && t.p[from - 1] != '\n')
        from--;
    if (from == 0 || t.p[from - 1] != '<' || t.p[from] == '/' || t.p[at - 1] == '/')
        return;
    struct str tag = str_sub(t, from, at - from), first = str_word(&tag);
    size_t end = from + first.n;
    if (value_name_before(f, end, &a) && a.name >= from) {
        a.name = from;
    } else if (!value_name_before(f, at, &a) || a.name < from)
        return;
    static const struct str cdata = {"<![CDATA[", 9};
    bool is_cdata = str_starts(str_sub(t, at + 1, cdata.n), cdata.p);
    size_t begin = at + 1 + (is_cdata ? cdata.n : 0), to = begin;
    while (to < t.n && !secret_is_line_end(t, to) && (is_cdata ? !str_starts(str_sub(t, to, 3), "]]>") : t.p[to] != '<'))
        to++;
    to = secret_without_escape(t, begin, value_within_string(t, begin, to));
    struct str value = str_trim(str_sub(t, begin, to - begin));
    bool number;
    if (value.n == 0 && secret_is_line_end(t, to))
        value_begin_fold(f, from, begin, a.weight, SECRETS_FOLD_TAG);
    else if (value.p && secret_is_value(a.weight, value, &number)) {
        f->count++;
        f->each(f->context, &(struct secret){.at = (size_t)(value.p - t.p), .n = value.n, .kind = SECRET_ASSIGNED, .number = number});
    }
}
