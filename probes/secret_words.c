/* secret_words.c: secrets behind options and words of commands, and private keys. */
#include "probes/secret_finding.h"
#include "probes/secret_options.h"

/* ---- dashes: options, and the marks around keys ---- */

/* Returns whether the line is one of a private key: base64, also with its line ends escaped; or a
 * header of PEM ("DEK-Info: AES-128-CBC,…"). *ret_n: how much of it can belong to the key. */
static bool secret_is_key_line(struct str line, size_t *ret_n)
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
        if (!secret_is_token_byte(body.p[i]) && !strchr("/=\\,#", body.p[i]))
            return false;
    return true;
}

/* Reports the lines from `from` on as parts of a private key, up to the line that ends it or is
 * none of a key; line by line, since line ends and indentation stay. f->state holds whether the key
 * continues behind the text. */
void secret_check_key(struct secret_search *f, size_t from)
{
    struct str t = f->text;
    f->state->in_key = true;
    for (size_t end; from < t.n; from = end + 1) {
        end = secret_line_end(t, from);
        from = secret_skip_blanks(t, from);
        struct str line = str_trim(str_sub(t, from, end > from ? end - from : 0));
        ptrdiff_t mark = str_find(line, STR("-----END "));
        if (mark > 0 && line.p[mark - 1] == '\\')
            mark--;
        size_t n;
        bool good = secret_is_key_line(mark >= 0 ? str_sub(line, 0, (size_t)mark) : line, &n);
        if (str_has(line, "[redacted]") || str_has(line, "(redacted)"))
            good = false;
        if (mark < 0)
            n = secret_without_escape(t, from, from + n) - from;
        if (good || mark >= 0)
            secret_report(f, from, mark >= 0 ? (size_t)mark : n, SECRET_KEY);
        if (mark >= 0 || !good || n < line.n) {
            f->state->in_key = false;
            f->quiet = mark >= 0 ? from + (size_t)mark + 9 : good ? from + n : from;
            return;
        }
    }
    f->quiet = t.n;
}

/* Returns the end of the word of a command that begins at `from`, with its quotes. */
static size_t secret_command_word_end(struct str t, size_t from)
{
    size_t end = from;
    while (end < t.n && !strchr(" \t\r\n`", t.p[end])) {
        if (t.p[end] == '"' || t.p[end] == '\'') {
            size_t close = end == from || t.p[end - 1] == ':' ? secret_quoted_end(t, end + 1, 0, t.p[end]) : end;
            if (close == end || close >= t.n || t.p[close] != t.p[end])
                break; /* the quote of the text around */
            end = close + 1;
            if (end >= t.n || t.p[end] != ':')
                return end;
        }
        end++;
    }
    return secret_without_escape(t, from, end);
}

/* Reports the secret in the option that begins with the dash at `at`, or in the word behind the
 * option. */
static void secret_check_option(struct secret_search *f, size_t at)
{
    struct str t = f->text, secret;
    size_t from = at, end = at;
    if (at > 0 && !str_is_blank(t.p[at - 1]) && !strchr("\"'`([,\n\r", t.p[at - 1]))
        return;
    char letter = at + 1 < t.n ? t.p[at + 1] : 0;
    if (!letter || (!strchr("-uUpPaAkKwXhosrNS", letter) && !str_is_letter(letter)) ||
        (letter == '-' && !(at + 2 < t.n && str_is_letter(t.p[at + 2]))))
        return;
    while (end < t.n && !strchr(" \t\r\n\"'`", t.p[end]) && (letter != '-' || t.p[end] != '='))
        end++;
    if (end < t.n && t.p[end] == '\\')
        return;
    if (end < t.n && strchr("\"'", t.p[end]) && letter != '-' && end == at + 2 && !secret_is_in_string(t, end, t.p[end])) /* -p'word' */
        end = secret_command_word_end(t, end);
    else if (end < t.n && t.p[end] == '=' && letter == '-') /* --user=name:word */
        end = secret_command_word_end(t, end);
    struct str word = str_sub(t, at, end - at);
    if (!strchr("uUpPaAkKwXhorNS-", letter) && !secret_can_be_name(word.p, word.n))
        return;
    if (letter == '-' && !secret_can_be_name(word.p, word.n) && !str_starts(word, "--user") && !str_starts(word, "--pw"))
        return;
    size_t next = end < t.n && (t.p[end] == '"' || t.p[end] == '\'') ? end + 1 : end; /* ["-p", "word"] */
    if (next < t.n && next > end && t.p[next] == ':') /* a name, as in JSON */
        return;
    if (next < t.n && next > end && t.p[next] == ',')
        next++;
    next = secret_skip_blanks(t, next);
    if (next + 1 < t.n && t.p[next] == '\\' && secret_is_line_end(t, next + 1)) /* the command continues in the next line */
        next = secret_skip_blanks(t, secret_line_end(t, next) + 1);
    struct str value = str_sub(t, next, secret_command_word_end(t, next) - next);
    for (int lines = 0; from > 0 && at - from < COMMAND_LONGEST; from--)
        if (t.p[from - 1] == '\n' &&
            !(from > 1 && (t.p[from - 2] == '\\' || (t.p[from - 2] == '\r' && from > 2 && t.p[from - 3] == '\\')) && lines++ < 8))
            break;
    if (secret_option_find(str_sub(t, from, at - from), word, value, &secret)) {
        size_t place = (size_t)(secret.p - t.p);
        secret_report(f, place, secret.n, SECRET_ASSIGNED);
    }
}

void secret_check_dashes(struct secret_search *f, size_t at)
{
    struct str t = f->text, rest = str_sub(t, at, t.n);
    if (str_starts(rest, "-----BEGIN ")) {
        struct str line = str_sub(rest, 0, secret_line_end(t, at) - at);
        ptrdiff_t mark = str_find(line, STR("PRIVATE KEY"));
        ptrdiff_t close = mark < 0 ? -1 : str_find(str_sub(line, (size_t)mark, line.n), STR("-----"));
        if (close >= 0) {
            size_t from = at + (size_t)mark + (size_t)close + 5;
            secret_check_key(f, secret_is_line_end(t, from) && from < t.n ? secret_line_end(t, from) + 1 : from);
        }
        return;
    }
    secret_check_option(f, at);
}

/* Reports the quoted text at `at`, which follows PASSWORD or IDENTIFIED BY of SQL, as a secret.
 * False, with nothing reported: no quoted text that can be a secret begins there. */
static bool secret_check_literal(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    bool number;
    if (at + 1 >= t.n || (t.p[at] != '\'' && t.p[at] != '"') || secret_is_in_string(t, at, t.p[at]))
        return false;
    size_t end = secret_quoted_end(t, at + 1, 0, t.p[at]);
    struct str value = str_sub(t, at + 1, end - at - 1);
    if (end >= t.n || t.p[end] != t.p[at] || !secret_is_value(SECRET_NAME_WHOLE, value, &number))
        return false;
    secret_report(f, at + 1, value.n, SECRET_ASSIGNED);
    return true;
}

/* Checks the quote at `at`: reports the password of SQL in "IDENTIFIED BY 'x'" and "identified with
 * PLUGIN by \"x\"". */
void secret_check_quote(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    size_t end = at;
    while (end > 0 && str_is_blank(t.p[end - 1]))
        end--;
    if (end == at || end < 3 || str_lower(t.p[end - 1]) != 'y' || !str_is_anycase(str_sub(t, end - 2, 2), "by") ||
        secret_is_name_byte(t.p[end - 3]))
        return;
    size_t line = secret_line_begin(t, end);
    if (secret_has_anycase(str_sub(t, line, end - line), "identified"))
        secret_check_literal(f, at);
}

/* Checks the "ss" at `at`: reports the value of "login alice password X" as in .netrc, of such a
 * line of its own, and of "requirepass X" as in redis.conf. curl and redis accept these words in
 * either case. */
void secret_check_pass(struct secret_search *f, size_t at)
{
    struct str t = f->text;
    bool number;
    if (at < 3 || str_lower(t.p[at - 2]) != 'a' || str_lower(t.p[at - 3]) != 'p')
        return;
    size_t name = at - 3, end = name;
    if (name >= 7 && str_is_anycase(str_sub(t, name - 7, 7), "require"))
        name -= 7;
    while (end < t.n && str_is_letter(t.p[end]))
        end++;
    struct str word = str_sub(t, name, end - name);
    if ((name > 0 && secret_is_name_byte(t.p[name - 1])) || end >= t.n || !str_is_blank(t.p[end]) ||
        (!str_is_anycase(word, "password") && !str_is_anycase(word, "passwd") && !str_is_anycase(word, "requirepass")))
        return;
    size_t from = secret_skip_blanks(t, end), line = secret_line_begin(t, name);
    if (from < t.n && t.p[from] == '\'' && secret_check_literal(f, from))
        return;
    struct str before = str_trim(str_sub(t, line, name - line)), value = str_sub(t, from, secret_command_word_end(t, from) - from);
    bool netrc = secret_has_anycase(before, "login ") || secret_find_anycase(before, STR("machine ")) == 0 ||
                 secret_find_anycase(before, STR("default")) == 0;
    bool alone = before.n == 0 && secret_is_line_end(t, secret_skip_blanks(t, from + value.n)) && !secret_is_quantity(value);
    if ((netrc || alone) && value.n > 0 && !strchr(":=", value.p[value.n - 1]) && value.p[0] != '=' && value.p[0] != ':' &&
        secret_is_value(SECRET_NAME_WHOLE, value, &number)) {
        secret_report(f, from, value.n, SECRET_ASSIGNED);
    }
}
