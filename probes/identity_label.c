/* identity_label.c: serial numbers, hardware names, accounts and users by the label before them; versions by theirs. */
#include "probes/identity_label.h"

#include "probes/identities.h"
#include "probes/secret_names.h"

enum { LABEL_LONGEST = 48, VALUE_LONGEST = 128 };

static bool label_is_hex(char c)
{
    return str_hex_digit(c) >= 0;
}

enum label { HEX, SERIAL, SERIAL_MIXED, NAME };

static const struct label_row {
    struct str text;
    enum label kind;
    const char *what;
    char with;
} labels[] = {
#define LABEL(text, kind, what, with) {{text, sizeof(text) - 1}, kind, what, with},
#include "probes/identities.def"
};

/* Returns the label that ends before the sign, without quotes and blanks: the words of one phrase
 * in lower case, in the buffer `small`. */
static struct str label_before(struct str t, size_t sign, char small[LABEL_LONGEST])
{
    size_t end = sign, from;
    while (end > 0 && (t.p[end - 1] == ' ' || t.p[end - 1] == '\t'))
        end--;
    if (end > 0 && (t.p[end - 1] == '"' || t.p[end - 1] == '\''))
        end--;
    for (from = end; from > 0 && end - from < LABEL_LONGEST &&
                     (str_is_letter(t.p[from - 1]) || str_is_digit(t.p[from - 1]) || strchr(" _-/.", t.p[from - 1])) && t.p[from - 1];)
        from--;
    for (size_t i = from; i < end; i++)
        small[i - from] = str_lower(t.p[i]);
    return (struct str){small, end - from};
}

static const struct label_row *find_label(struct str label)
{
    for (const struct label_row *r = labels; r < labels + sizeof labels / sizeof *labels; r++)
        if (str_ends(label, r->text.p)) {
            char before = label.n > r->text.n ? label.p[label.n - r->text.n - 1] : ' ';
            if (r->kind == HEX || !(str_is_letter(before) || str_is_digit(before)))
                return r;
        }
    return NULL;
}

/* Returns whether the text behind such a label has the form of an identity, and is no quantity and
 * no common word. */
static bool label_fits_value(enum label kind, struct str v)
{
    size_t digits = 0, letters = 0, small = 0, hex = 0;
    for (size_t i = 0; i < v.n; i++) {
        digits += str_is_digit(v.p[i]);
        letters += str_is_letter(v.p[i]);
        small += v.p[i] >= 'a' && v.p[i] <= 'z';
        hex += label_is_hex(v.p[i]) || strchr(":.-xX", v.p[i]) != NULL;
    }
    switch (kind) {
    case HEX: return hex == v.n && digits + letters >= 12;
    case SERIAL: return v.n >= 4 && digits >= 2 && !(digits < 8 && secret_is_quantity(v));
    case SERIAL_MIXED: return v.n >= 6 && digits >= 2 && letters >= 2 && small == 0;
    case NAME:
        return v.n >= 3 && (str_is_letter(v.p[0]) || (unsigned char)v.p[0] >= 0x80) && !identities_is_common(v, true) &&
               !secret_is_redacted(v);
    }
    return false;
}

size_t identity_find_labelled(struct str t, size_t sign, size_t *ret_from, const char **ret_what, char *ret_with)
{
    char small[LABEL_LONGEST];
    if (sign == 0 || !(str_is_letter(t.p[sign - 1]) || strchr("\"' \t", t.p[sign - 1])))
        return 0;
    const struct label_row *row = find_label(label_before(t, sign, small));
    if (!row)
        return 0;
    size_t from = sign + 1, to;
    while (from < t.n && (t.p[from] == ' ' || t.p[from] == '\t' || t.p[from] == '"' || t.p[from] == '\'' || t.p[from] == '='))
        from++;
    for (to = from; to < t.n && to - from < VALUE_LONGEST && (identity_is_name_byte(t.p[to]) || (row->kind == HEX && t.p[to] == ':'));)
        to++;
    while (to > from && strchr(".:-", t.p[to - 1]))
        to--;
    struct str value = str_sub(t, from, to - from);
    if (value.n == 0 || !label_fits_value(row->kind, value))
        return 0;
    *ret_from = from;
    *ret_what = row->what;
    *ret_with = row->with;
    return value.n;
}

/* ---- accounts ---- */

/* Returns whether a word of the text is one of the programs, also with a path or in quotes.
 * programs ends with NULL. */
static bool label_is_command_of(struct str before, const char *const *programs)
{
    for (struct str rest = before, word; (word = str_word(&rest)).n > 0;) {
        while (word.n > 0 && strchr("\"'`($", word.p[0]))
            word = str_sub(word, 1, word.n);
        while (word.n > 0 && strchr("\"',", word.p[word.n - 1]))
            word.n--;
        const char *slash = word.n ? memrchr(word.p, '/', word.n) : NULL;
        if (slash)
            word = str_sub(word, (size_t)(slash - word.p) + 1, word.n);
        for (const char *const *p = programs; *p; p++)
            if (str_is(word, *p))
                return true;
    }
    return false;
}

bool identity_find_account(struct str before, struct str word, struct str value, struct str *ret)
{
    static const char *const with_a[] = {"sbatch", "srun",  "salloc",  "scontrol", "sacct",   "squeue", "qsub", "qalter", "aprun",
                                         "jsub",   "pjsub", "#SBATCH", "#PBS",     "#COBALT", "#MSUB",  "msub", NULL},
                             *const with_p[] = {"bsub", "bmod", "jsrun", "qsub", "#BSUB", "#PBS", "#$", NULL};
    bool is_a = str_starts(word, "-A"), is_p = str_starts(word, "-P");
    struct str name = word.n > 2 && !str_is(word, "--account") ? str_sub(word, 2, word.n) : value;
    size_t n = 0;
    if (!str_is(word, "--account") && !(is_a && label_is_command_of(before, with_a)) && !(is_p && label_is_command_of(before, with_p)))
        return false;
    while (name.n > 0 && strchr("\"'=", name.p[0]))
        name = str_sub(name, 1, name.n);
    while (n < name.n && identity_is_name_byte(name.p[n]))
        n++;
    *ret = str_sub(name, 0, n);
    return n > 0 && label_fits_value(NAME, *ret);
}

/* ---- versions ---- */

static bool label_is_version_word(struct str word)
{
    static const char *const words[] = {
#define VERSION(word) word,
#include "probes/identities.def"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_ends_anycase(word, words[i]))
            return true;
    return word.n > 3 && str_is_anycase(str_sub(word, 0, 3), "lib");
}

static bool label_is_private_address(struct str ip)
{
    return str_starts(ip, "10.") || str_starts(ip, "192.168.") || str_starts(ip, "172.1") || str_starts(ip, "172.2") ||
           str_starts(ip, "172.3");
}

bool identity_is_version(struct str t, size_t at, size_t n)
{
    size_t end = at, from;
    struct str number = str_sub(t, at, n);
    if (at > 1 && strchr("-_/@=~", t.p[at - 1]) && t.p[at - 1] &&
        (str_is_letter(t.p[at - 2]) || str_is_digit(t.p[at - 2]) || t.p[at - 2] == '=') && !label_is_private_address(number)) {
        /* "libfoo-1.2.3.4", "gcc/1.2.3.4", "foo@1.2.3.4", "foo==1.2.3.4"; not "host=1.2.3.4" */
        if (t.p[at - 1] != '=' || t.p[at - 2] == '=')
            return t.p[at - 1] != '@' || (at + n >= t.n || t.p[at + n] != ':');
    }
    for (int words = 0; words < 3; words++) { /* "Version: 1.2.3.4", "driver version is 1.2.3.4", "<driver>1.2.3.4" */
        while (end > 0 && strchr(" \t:=>\"'(,#", t.p[end - 1]) && t.p[end - 1])
            end--;
        for (from = end;
             from > 0 && end - from < LABEL_LONGEST &&
             (str_is_letter(t.p[from - 1]) || str_is_digit(t.p[from - 1]) || (t.p[from - 1] && strchr("_-.+/", t.p[from - 1])));)
            from--;
        struct str word = str_sub(t, from, end - from);
        if (word.n == 0)
            return false;
        if (label_is_version_word(word))
            return true;
        if (!str_is_anycase(word, "is") && !str_is_anycase(word, "number") && !str_is_anycase(word, "no.") && !str_is_anycase(word, "of") &&
            !str_is_anycase(word, "string"))
            return false;
        end = from;
    }
    return false;
}
