/* secret_names.c: names of secrets and their values, by the words of secret_names.def. */
#include "probes/secret_names.h"

enum { JOINED_MAX = 64 };

static bool secret_name_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

enum word_use { ALWAYS, PERHAPS, ENDING, WEAK_ENDING, GLUE, OWNER, ABOUT, NO_SECRET };

static const struct word_row {
    enum word_use use;
    struct str text;
} rows[] = {
#define ROW(use, text) {use, {text, sizeof(text) - 1}},
#define ALWAYS(text) ROW(ALWAYS, text)
#define PERHAPS(text) ROW(PERHAPS, text)
#define ENDING(text) ROW(ENDING, text)
#define WEAK_ENDING(text) ROW(WEAK_ENDING, text)
#define GLUE(text) ROW(GLUE, text)
#define OWNER(text) ROW(OWNER, text)
#define ABOUT(text) ROW(ABOUT, text)
#define NO_SECRET(text) ROW(NO_SECRET, text)
#include "probes/secret_names.def"
#undef ALWAYS
#undef PERHAPS
#undef ENDING
#undef WEAK_ENDING
#undef GLUE
#undef OWNER
#undef ABOUT
#undef NO_SECRET
#undef ROW
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Returns whether the table has the word for this use; case does not matter. */
static bool secret_name_is_word(struct str word, enum word_use use)
{
    for (const struct word_row *r = rows; r < rows + ROWS; r++)
        if (r->use == use && r->text.n == word.n && str_lower(word.p[0]) == r->text.p[0] && str_is_anycase(word, r->text.p))
            return true;
    return false;
}

/* The longest row of this use that the text ends with; NULL: none. The text is in small letters. */
static const struct word_row *ends_with(struct str text, enum word_use use)
{
    const struct word_row *best = NULL;
    for (const struct word_row *r = rows; r < rows + ROWS; r++)
        if (r->use == use && (!best || r->text.n > best->text.n) && str_ends(text, r->text.p))
            best = r;
    return best;
}

/* ---- names ---- */

/* Returns how surely a value is a secret when its name has this word. */
static int secret_word_weight(struct str word)
{
    if (secret_name_is_word(word, ALWAYS) || str_ends_anycase(word, "password") || str_ends_anycase(word, "passwd") ||
        str_ends_anycase(word, "secret"))
        return SECRET_NAME_PART;
    if (secret_name_is_word(word, PERHAPS) || str_ends_anycase(word, "token") || str_ends_anycase(word, "apikey"))
        return SECRET_NAME_PERHAPS;
    return SECRET_NAME_NONE;
}

static struct str secret_name_drop_end(struct str s, size_t n)
{
    s.n -= n;
    return s;
}

bool secret_is_owner(struct str name)
{
    const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
    struct str last = dot ? str_sub(name, (size_t)(dot - name.p) + 1, name.n) : name;
    return last.n > 0 && secret_name_is_word(last, OWNER);
}

bool secret_begins_name(struct str word)
{
    static const char *const firsts[] = {"api",     "access",     "secret", "private", "auth",
                                         "signing", "encryption", "bearer", "refresh", "client"};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (str_is_anycase(word, firsts[i]))
            return true;
    return false;
}

/* Returns the weight of a name without separators, in small letters, by its ending and what
 * precedes that: nothing, glue, or an owner with anything before it. */
static enum secret_weight secret_ending_weight(struct str joined)
{
    const struct word_row *end = ends_with(joined, ENDING), *weak = ends_with(joined, WEAK_ENDING);
    struct str rest = secret_name_drop_end(joined, end ? end->text.n : weak ? weak->text.n : 0);
    bool glued = false;
    if (!end && !weak)
        return SECRET_NAME_NONE;
    while (rest.n > 0) {
        const struct word_row *glue = ends_with(rest, GLUE);
        if (!glue && !(glue = ends_with(rest, ENDING)))
            glue = ends_with(rest, WEAK_ENDING);
        if (ends_with(rest, OWNER))
            return end && str_ends(end->text, "word") ? SECRET_NAME_WHOLE : SECRET_NAME_OWNED;
        if (!glue)
            return SECRET_NAME_NONE;
        rest = secret_name_drop_end(rest, glue->text.n);
        glued = true;
    }
    if (end)
        return SECRET_NAME_WHOLE;
    return glued && str_is(weak->text, "pass") ? SECRET_NAME_WHOLE : SECRET_NAME_NONE;
}

/* Returns the weight of a name without its signs and the digits at its end, in any case. */
static enum secret_weight secret_whole_weight(struct str name)
{
    char small[JOINED_MAX];
    struct str joined = {small, 0};
    while (name.n > 0 && str_is_digit(name.p[name.n - 1])) /* "password2" */
        name.n--;
    if (name.n > JOINED_MAX)
        name = str_sub(name, name.n - JOINED_MAX, JOINED_MAX);
    for (size_t i = 0; i < name.n; i++)
        if (str_is_letter(name.p[i]) || str_is_digit(name.p[i]))
            small[joined.n++] = str_lower(name.p[i]);
    return joined.n ? secret_ending_weight(joined) : SECRET_NAME_NONE;
}

/* Returns whether the last part of the name is "authorization": of a header, also with a prefix
 * ("Proxy-", "X-"), and of CGI's variable HTTP_AUTHORIZATION. */
static bool secret_is_authorization(struct str name)
{
    static const struct str last = {"authorization", 13};
    return str_ends_anycase(name, last.p) && (name.n == last.n || strchr("-_.", name.p[name.n - last.n - 1]));
}

enum secret_weight secret_name_weight(struct str name)
{
    int most = 0, words = 0;
    bool key = false, of_key = false, hook = false;
    struct str last = {0};
    if (secret_is_authorization(name) || str_is_anycase(name, "set-cookie") || str_is_anycase(name, "cookie"))
        return SECRET_NAME_LINE;
    for (size_t i = 0; i < name.n;) {
        size_t from = i++;
        if (!str_is_letter(name.p[from]) && !str_is_digit(name.p[from]))
            continue;
        while (i < name.n && (str_is_letter(name.p[i]) || str_is_digit(name.p[i])) &&
               !(secret_name_is_upper(name.p[i]) && name.p[i - 1] >= 'a' && name.p[i - 1] <= 'z'))
            i++;
        struct str word = str_sub(name, from, i - from);
        int weight = secret_word_weight(word);
        most = weight > most ? weight : most;
        words++;
        last = word;
        hook |= str_is_anycase(word, "webhook");
        key |= str_is_anycase(word, "key");
        of_key |= str_is_anycase(word, "api") || str_is_anycase(word, "access") || str_is_anycase(word, "private") ||
                  str_is_anycase(word, "account") || str_is_anycase(word, "encryption");
    }
    if (str_is(name, "PWD") || str_is(name, "OLDPWD")) /* where a shell is */
        return SECRET_NAME_NONE;
    if (words > 1 && secret_name_is_word(last, ABOUT) && !hook)
        return SECRET_NAME_NONE;
    enum secret_weight whole = secret_whole_weight(name);
    if (whole != SECRET_NAME_NONE)
        return whole;
    return key && of_key ? SECRET_NAME_PART : (enum secret_weight)most;
}

enum secret_weight secret_variable_weight(struct str name)
{
    enum secret_weight weight = secret_name_weight(name);
    bool joined = false;
    for (size_t i = 0; i < name.n; i++) {
        joined |= name.p[i] == '_';
        if (!secret_name_is_upper(name.p[i]) && !str_is_digit(name.p[i]) && name.p[i] != '_')
            return weight;
    }
    if (weight == SECRET_NAME_PERHAPS && (joined || str_is(name, "TOKEN") || str_is(name, "AUTH")))
        return SECRET_NAME_PART;
    return weight;
}

/* ---- values ---- */

/* Returns whether the value is made of five or more words in small letters or of at most four
 * bytes, as keys of metrics are: "t1.directory_creation.rate_op_per_s.max". */
static bool secret_is_dotted_name(struct str v)
{
    enum { PARTS_LEAST = 5, SHORT_MOST = 4 };
    size_t parts = 0;
    for (size_t i = 0; i < v.n; i++) {
        size_t from = i;
        bool small = true;
        for (; i < v.n && v.p[i] != '.' && v.p[i] != '_'; i++)
            small &= v.p[i] >= 'a' && v.p[i] <= 'z';
        if (i == from || (!small && i - from > SHORT_MOST))
            return false;
        parts++;
    }
    return parts >= PARTS_LEAST;
}

/* Returns whether the value has the form of random characters: at least 12, with letters and
 * digits. */
static bool secret_is_random(struct str v)
{
    size_t digits = 0, letters = 0;
    if (v.n < 12 || secret_is_dotted_name(v))
        return false;
    for (size_t i = 0; i < v.n; i++) {
        digits += str_is_digit(v.p[i]);
        letters += str_is_letter(v.p[i]);
        if (!str_is_digit(v.p[i]) && !str_is_letter(v.p[i]) && !strchr(v.n >= 32 ? "+_-/=%~.:" : "+_-/=%~", v.p[i]))
            return false;
    }
    return v.p[0] != '/' && letters >= 2 && digits >= (v.n >= 20 ? 1 : 2);
}

static bool secret_is_unit(struct str unit)
{
    static const char *const units[] = {"s",     "ms",     "us",     "ns",    "min",  "h",   "b",    "kb",      "mb",    "gb", "tb",
                                        "kib",   "mib",    "gib",    "tib",   "bit",  "hz",  "khz",  "mhz",     "ghz",   "%",  "x",
                                        "k",     "m",      "g",      "t",     "op",   "ops", "tok",  "j",       "w",     "kw", "iops",
                                        "flops", "gflops", "mflops", "bytes", "bits", "sec", "secs", "percent", "tokens"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_is_anycase(unit, units[i]))
            return true;
    return false;
}

bool secret_is_quantity(struct str v)
{
    double number;
    size_t n = 0, digits = 0;
    if (v.n > 0 && (v.p[v.n - 1] == '.' || v.p[v.n - 1] == '%'))
        v.n--;
    if (str_double(v, &number))
        return true;
    while (n < v.n && (str_is_digit(v.p[n]) || strchr(".:/+-%", v.p[n]))) /* a date, a time, a ratio */
        digits += str_is_digit(v.p[n++]);
    if (digits == 0)
        return false;
    if (n == v.n)
        return true;
    if (n + 1 < v.n && (v.p[n] == 'e' || v.p[n] == 'E') && (str_is_digit(v.p[n + 1]) || strchr("+-", v.p[n + 1])))
        for (n += 2; n < v.n && str_is_digit(v.p[n]);)
            n++;
    struct str unit = str_trim(str_sub(v, n, v.n));
    if (str_ends(unit, "/s"))
        unit.n -= 2;
    return unit.n == 0 || secret_is_unit(unit);
}

bool secret_is_redacted(struct str v)
{
    if (str_starts(v, "[redacted]") || str_starts(v, "(redacted)"))
        return true;
    size_t stars = 0;
    while (stars < v.n && v.p[v.n - 1 - stars] == '*')
        stars++;
    return v.n > 0 && (stars == v.n || (stars + 1 == v.n && v.p[0] == 'x'));
}

/* Returns whether a name replaces the value: "$PASSWORD", "${PASSWORD}", "%PASSWORD%",
 * "{{ password }}", "<password>"; or a format of printf(3). */
static bool secret_is_placeholder(struct str v)
{
    size_t names = 0;
    if (v.n >= 2 && v.n <= 4 && v.p[0] == '%' && str_is_letter(v.p[v.n - 1])) /* of printf(3) */
        return true;
    if (v.n < 2 || !strchr("$%<{", v.p[0]))
        return false;
    for (size_t i = 1; i < v.n; i++) {
        names += str_is_letter(v.p[i]);
        if (!str_is_letter(v.p[i]) && !str_is_digit(v.p[i]) && !strchr("_{}%> ", v.p[i]))
            return false;
    }
    return names > 0 && (v.p[0] != '$' || v.p[1] == '{' || str_is_letter(v.p[1]) || v.p[1] == '_') &&
           (v.p[0] == '$' || strchr("%>}", v.p[v.n - 1])) && !(v.p[0] == '$' && v.n > 2 && str_is_digit(v.p[1]));
}

bool secret_is_value(enum secret_weight weight, struct str value, bool *ret_number)
{
    double number;
    *ret_number = false;
    if (weight == SECRET_NAME_NONE || value.n == 0 || secret_is_redacted(value) || secret_name_is_word(value, NO_SECRET) ||
        secret_is_placeholder(value))
        return false;
    if (weight == SECRET_NAME_LINE)
        return true;
    if (secret_is_quantity(value)) {
        *ret_number = str_double(value, &number);
        return weight == SECRET_NAME_WHOLE || (weight == SECRET_NAME_OWNED && value.n >= 10 && !memchr(value.p, '.', value.n));
    }
    return weight > SECRET_NAME_PERHAPS || secret_is_random(value);
}
