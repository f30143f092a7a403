/* identities.c: replaces known names and the shapes of addresses by tokens of equal length. */
#include "probes/identities.h"
#include "base/array.h"

#include "probes/identity_label.h"

#include <stdio.h>
#include <stdlib.h>

enum { IDENTITIES_MAX = 3 * 4096 /* lists of hosts, and the others */, NAME_LEAST = 3, NAME_MOST = 255, COMMAND_BYTES = 1024 };

/* Bits of a byte: 1 digit, 2 hexadecimal, 4 letter or digit. */
static const unsigned char bits[256] = {['0' ... '9'] = 7, ['A' ... 'F'] = 6, ['a' ... 'f'] = 6, ['G' ... 'Z'] = 4, ['g' ... 'z'] = 4};

static bool identities_is_digit(char c)
{
    return bits[(unsigned char)c] & 1;
}

static bool identities_is_hex(char c)
{
    return bits[(unsigned char)c] & 2;
}

static bool identities_is_name_byte(char c)
{
    return bits[(unsigned char)c] & 4;
}

void identities_init(struct identities *ids)
{
    *ids = (struct identities){.count = 0};
}

void identities_deinit(struct identities *ids)
{
    for (size_t i = 0; i < ids->count; i++)
        free(ids->list[i].name);
    free(ids->list);
    identities_init(ids);
}

bool identities_is_common(struct str s, bool any_case)
{
    static const char *const words[] = {
#define COMMON(word) word,
#include "probes/identities.def"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (any_case ? str_is_anycase(s, words[i]) : str_is(s, words[i]))
            return true;
    return false;
}

static bool identities_is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!identities_is_digit(s.p[i]))
            return false;
    return true;
}

/* Writes the token that replaces the name: the kind's letter and at the end a number ("hhhh12"), as
 * long as the name; a path begins with "/" still. */
static void identities_make_token(struct identity *one, size_t number)
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%zu", number);
    for (size_t i = 0; i < one->n; i++) {
        size_t left = one->n - i;
        one->token[i] = left <= (size_t)count ? digits[(size_t)count - left] : i == 0 && one->name[0] == '/' ? '/' : one->kind;
    }
    one->token[one->n] = 0;
}

void identities_add(struct identities *ids, struct str name, char kind)
{
    while (name.n > 1 && name.p[0] == '/' && name.p[name.n - 1] == '/')
        name.n--;
    /* A number alone would also remove results; serials that are numbers are long. */
    if (name.n < NAME_LEAST || name.n > NAME_MOST || memchr(name.p, 0, name.n) || memchr(name.p, '\n', name.n) ||
        identities_is_common(name, false) || (identities_is_number(name) && name.n < 10) || ids->count == IDENTITIES_MAX)
        return;
    for (size_t i = 0; i < ids->count; i++)
        if (str_is(name, ids->list[i].name))
            return;
    if (!ARRAY_FITS(ids->list, ids->room, ids->count + 1))
        return;
    char *text = malloc(2 * (name.n + 1));
    if (!text)
        return;
    /* Longest first, so that "node1.site.org" goes before "node1". */
    size_t at = ids->count;
    while (at > 0 && ids->list[at - 1].n < name.n)
        at--;
    memmove(ids->list + at + 1, ids->list + at, (ids->count - at) * sizeof *ids->list);
    struct identity *one = &ids->list[at];
    *one = (struct identity){.name = text, .token = text + name.n + 1, .n = name.n, .kind = kind, .next = -1};
    memcpy(text, name.p, name.n);
    text[name.n] = 0;
    ids->count++;
    identities_make_token(one, ids->count);
    ids->indexed = false;
}

/* ---- known names in a text ---- */

/* Returns the index of the list of names that begin like the text, in either case. */
static unsigned identities_bucket(const char *p)
{
    return ((unsigned char)str_lower(p[0]) * 31u + (unsigned char)str_lower(p[1]) * 7u + (unsigned char)str_lower(p[2]) * 131u) & 1023;
}

/* Returns whether the text begins with the name. Names of hosts and serial numbers are the same in
 * either case. */
static bool identities_begins_with(const char *text, const struct identity *one)
{
    if (one->kind == 'h' || one->kind == 's')
        return str_is_anycase((struct str){text, one->n}, one->name);
    return memcmp(text, one->name, one->n) == 0;
}

static void identities_make_index(struct identities *ids)
{
    for (size_t i = 0; i < 1024; i++)
        ids->heads[i] = -1;
    for (size_t i = ids->count; i-- > 0;) { /* the longest ends in front */
        int *head = &ids->heads[identities_bucket(ids->list[i].name)];
        ids->list[i].next = *head;
        *head = (int)i;
    }
    ids->indexed = true;
}

static const char *identities_kind_words(char kind)
{
    switch (kind) {
    case 'u': return "name of a user or group";
    case 'h': return "name of a host or domain";
    case 'd': return "a home folder";
    case 'a': return "an account or project";
    default: return "a serial number or address of this machine";
    }
}

/* Returns the known identity that is at this place as a complete name, or NULL. */
static const struct identity *known_at(const struct identities *ids, const char *text, size_t n, size_t at)
{
    bool begins = at == 0 || !identities_is_name_byte(text[at - 1]);
    if (n - at < NAME_LEAST || (!begins && text[at] != '/'))
        return NULL;
    for (int i = ids->heads[identities_bucket(text + at)]; i >= 0; i = ids->list[i].next) {
        const struct identity *one = &ids->list[i];
        if (one->n <= n - at && identities_begins_with(text + at, one) && (at + one->n == n || !identities_is_name_byte(text[at + one->n])))
            return one;
    }
    return NULL;
}

/* ---- shapes: each returns the length of the shape at the beginning, or 0 ---- */

/* Returns the length of groups of `digits` hexadecimal digits with the separator between them,
 * `most` groups at most; *ret_groups: how many there are. */
static size_t shape_hex_groups(struct str t, size_t digits, char separator, size_t most, size_t *ret_groups)
{
    size_t at = 0, groups = 0;
    while (groups < most && at + digits <= t.n) {
        size_t k = 0;
        while (k < digits && identities_is_hex(t.p[at + k]))
            k++;
        if (k < digits || (at + digits < t.n && identities_is_name_byte(t.p[at + digits])))
            break;
        at += digits;
        groups++;
        if (at >= t.n || t.p[at] != separator)
            break;
        at++;
    }
    if (at > 0 && t.p[at - 1] == separator)
        at--;
    *ret_groups = groups;
    return at;
}

static size_t shape_mac(struct str t)
{
    size_t groups, n = shape_hex_groups(t, 2, ':', 20, &groups);
    if (groups == 6 || groups == 8 || groups == 20)
        return n;
    n = shape_hex_groups(t, 2, '-', 6, &groups);
    return groups == 6 ? n : 0;
}

/* Returns the length of a hardware address as Cisco writes it ("b83f.d212.3456"); digits alone are
 * numbers. */
static size_t shape_mac_dots(struct str t)
{
    size_t groups, n = shape_hex_groups(t, 4, '.', 4, &groups), letters = 0;
    for (size_t i = 0; i < n; i++)
        letters += identities_is_name_byte(t.p[i]) && !identities_is_digit(t.p[i]);
    return groups == 3 && letters > 0 ? n : 0;
}

/* Returns the length of a hardware name: "wwn-0x5000c500a1b2c3d4", "naa.5000c500a1b2c3d4",
 * "eui.0025385b71b00001" of disks; "H-506b4b0300c2f1a8" of an InfiniBand host, "S-…" of a
 * switch. */
static size_t shape_hardware_name(struct str t)
{
    static const char *const heads[] = {"wwn-0x", "naa.", "eui.", "H-", "S-", "wwn."};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t n = strlen(heads[i]), to = n;
        if (!str_starts(t, heads[i]))
            continue;
        while (to < t.n && identities_is_hex(t.p[to]))
            to++;
        if (to - n >= 16 && (to == t.n || !identities_is_name_byte(t.p[to])))
            return to;
    }
    return 0;
}

/* Returns the length of a GUID of InfiniBand: four groups of four, or eight. */
static size_t shape_guid(struct str t)
{
    size_t groups, n = shape_hex_groups(t, 4, ':', 8, &groups);
    return groups == 4 || groups == 8 ? n : 0;
}

/* Returns 36 where the text begins with a UUID, else 0. */
static size_t shape_uuid(struct str t)
{
    static const unsigned char dashes[] = {8, 13, 18, 23};
    if (t.n < 36 || (t.n > 36 && identities_is_name_byte(t.p[36])))
        return 0;
    for (size_t i = 0, k = 0; i < 36; i++)
        if (k < 4 && i == dashes[k]) {
            if (t.p[i] != '-')
                return 0;
            k++;
        } else if (!identities_is_hex(t.p[i]))
            return 0;
    return 36;
}

/* Returns the length of the IPv4 address at the beginning of the text. 0: there is none, or every
 * machine has it (127.…, 0.0.0.0, 255.…). */
static size_t shape_ip4(struct str t)
{
    size_t at = 0;
    for (int group = 0; group < 4; group++) {
        size_t from = at;
        unsigned value = 0;
        while (at < t.n && identities_is_digit(t.p[at]) && at - from < 3)
            value = value * 10 + (unsigned)(t.p[at++] - '0');
        if (at == from || value > 255 || (at - from > 1 && t.p[from] == '0'))
            return 0;
        if (group < 3 && (at >= t.n || t.p[at++] != '.'))
            return 0;
    }
    if (at < t.n && (identities_is_name_byte(t.p[at]) || (t.p[at] == '.' && at + 1 < t.n && identities_is_digit(t.p[at + 1]))))
        return 0;
    struct str found = str_sub(t, 0, at);
    return str_starts(found, "127.") || str_is(found, "0.0.0.0") || str_starts(found, "255.") ? 0 : at; /* every machine's */
}

/* Returns the length of an IPv6 address: groups of one to four hexadecimal digits with one "::", or
 * eight of them. Times (12:34:56) are none. */
static size_t shape_ip6(struct str t)
{
    size_t at = 0, groups = 0, digits = 0;
    bool gap = false;
    while (at < t.n) {
        size_t k = 0;
        while (at + k < t.n && k < 5 && identities_is_hex(t.p[at + k]))
            k++;
        if (k > 4)
            return 0;
        if (k == 0 && !(at + 1 < t.n && t.p[at] == ':' && t.p[at + 1] == ':' && !gap))
            break;
        groups += k > 0;
        digits += k;
        at += k;
        if (at + 1 < t.n && t.p[at] == ':' && t.p[at + 1] == ':' && !gap) {
            gap = true;
            at += 2;
        } else if (at + 1 < t.n && t.p[at] == ':' && identities_is_hex(t.p[at + 1]))
            at++;
        else
            break;
    }
    if (at < t.n && identities_is_name_byte(t.p[at]))
        return 0;
    return (gap && groups >= 2 && digits >= 5) || groups == 8 ? at : 0;
}

/* Returns the length of the name of a home that begins at `from`, or continues there. */
static size_t shape_home_name(struct str t, size_t from)
{
    size_t to = from;
    while (to < t.n && identity_is_name_byte(t.p[to]))
        to++;
    return to - from;
}

/* Returns the length of the name in the path of a home ("/home/NAME"), with its offset in
 * *ret_from; 0: the text begins with no such path. */
static size_t shape_home(struct str t, size_t *ret_from)
{
    static const char *const places[] = {
#define HOME(path) path,
#include "probes/identities.def"
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t n = strlen(places[i]);
        if (!str_starts(t, places[i]))
            continue;
        *ret_from = n;
        return shape_home_name(t, n);
    }
    return 0;
}

static bool shape_is_mail_byte(char c)
{
    return identities_is_name_byte(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '%';
}

/* Returns whether what follows an @ is a revision, as in "package.name@main". */
static bool shape_is_revision(struct str s)
{
    static const char *const words[] = {"main", "master", "latest", "develop", "HEAD", "plt", "stable", "git"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(s, words[i]))
            return true;
    return str_starts(s, "GLIBC") || str_starts(s, "GCC");
}

/* Returns the length of the mail address around the @ at `at`, and where it begins in *ret_from; 0:
 * there is none. */
static size_t shape_mail(const char *text, size_t n, size_t at, size_t *ret_from)
{
    size_t from = at, to = at + 1, dot = 0;
    while (from > 0 && shape_is_mail_byte(text[from - 1]) && at - from < 64)
        from--;
    while (to < n && (identities_is_name_byte(text[to]) || text[to] == '-' || text[to] == '.') && to - at < 255) {
        if (text[to] == '.')
            dot = to;
        to++;
    }
    if (to > at + 1 && text[to - 1] == '.')
        to--;
    size_t letters = 0, name = 0;
    for (size_t i = dot + 1; dot && i < to; i++)
        letters += identities_is_name_byte(text[i]) && !identities_is_digit(text[i]);
    for (size_t i = from + 1; i + 1 < at; i++) /* "jane.doe@corp": without a domain */
        name += text[i] == '.' && !identities_is_digit(text[i - 1]) && !identities_is_digit(text[i + 1]);
    *ret_from = from;
    if (from < at && dot > at + 1)
        return dot + 2 < to && letters == to - dot - 1 ? to - from : 0; /* "gcc@12.2.10" is no address */
    return name > 0 && to >= at + 3 && !identities_is_digit(text[at + 1]) && !shape_is_revision((struct str){text + at + 1, to - at - 1})
               ? to - from
               : 0;
}

/* Returns the length of digits that are a number of this user or group, by the words before
 * them. */
static size_t shape_number(const struct identities *ids, const char *text, size_t n, size_t at)
{
    static const char *const words[] = {
        "uid=", "gid=", "euid=", "egid=", "groups=", "uid ", "UID=", "uid: ", "uid_", "user-", "user/", "user@", "uid:"};
    size_t to = at;
    uint64_t value;
    while (to < n && identities_is_digit(text[to]) && to - at < 10)
        to++;
    bool ours = false;
    if ((to < n && identities_is_digit(text[to])) || !str_uint((struct str){text + at, to - at}, &value))
        return 0;
    for (size_t i = 0; i < ids->number_count; i++)
        ours |= ids->numbers[i] == value;
    if (!ours)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t k = strlen(words[i]);
        if (k <= at && memcmp(text + at - k, words[i], k) == 0)
            return to - at;
    }
    return 0;
}

/* Overwrites letters of any script and digits with `with`: the signs between show the shape of what
 * was there. */
static void identities_overwrite(char *p, size_t n, char with)
{
    for (size_t i = 0; i < n; i++)
        if (identities_is_name_byte(p[i]) || (unsigned char)p[i] >= 0x80)
            p[i] = with;
}

struct replacing {
    struct identities *ids;
    char *text;
    size_t n, count;
    void (*each)(void *context, const struct identity_found *f);
    void *context;
};

static void identities_report(struct replacing *r, size_t at, size_t n, const char *what)
{
    r->count++;
    if (r->each)
        r->each(r->context, &(struct identity_found){at, n, what});
}

/* Returns the shapes that can begin here, by the byte behind the first group of letters and digits. */
static const char *shape_candidates(struct str t)
{
    size_t n = 0;
    while (n < t.n && n < 9 && identities_is_hex(t.p[n]))
        n++;
    if (n == t.n || n == 9)
        return "";
    switch (t.p[n]) {
    case ':': return n == 2 ? "m6" : n == 4 ? "g6" : n < 4 ? "6" : "";
    case '-': return n == 8 ? "u" : n == 2 ? "m" : "";
    case '.': return n >= 1 && n <= 3 ? "4" : n == 4 ? "c" : "";
    default: return "";
    }
}

/* Replaces one shape that begins at `at`, and reports it. Returns its length; 0: none begins
 * there. */
static size_t shape_replace(struct replacing *r, size_t at)
{
    static const struct {
        char letter;
        size_t (*measure)(struct str t);
        const char *what;
    } shapes[] = {{'u', shape_uuid, "a UUID"},         {'m', shape_mac, "a hardware address"},
                  {'g', shape_guid, "a GUID"},         {'c', shape_mac_dots, "a hardware address"},
                  {'6', shape_ip6, "an IPv6 address"}, {'4', shape_ip4, "an IPv4 address"}};
    struct str t = {r->text + at, r->n - at};
    for (const char *c = shape_candidates(t); *c; c++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            size_t n = shapes[i].letter == *c ? shapes[i].measure(t) : 0;
            if (n == 0 || (*c == '4' && ((at > 1 && t.p[-1] == '.' && identities_is_digit(t.p[-2])) ||
                                         identity_is_version((struct str){r->text, r->n}, at, n))))
                continue;
            identities_report(r, at, n, shapes[i].what);
            identities_overwrite(r->text + at, n, 'x');
            return n;
        }
    size_t n = r->ids->number_count > 0 && at > 0 && identities_is_digit(t.p[0]) && strchr("= _-/@:", t.p[-1])
                   ? shape_number(r->ids, r->text, r->n, at)
                   : 0;
    if (n > 0) {
        identities_report(r, at, n, "number of the user or group");
        identities_overwrite(r->text + at, n, 'u');
    }
    return n;
}

/* Returns the length of the account's name in the option that begins at `at` ("-A name"), and its
 * place in *ret_from; 0: there is no such option. */
static size_t identities_account_at(struct str t, size_t at, size_t *ret_from)
{
    size_t line = at, end = at, next, to;
    if (at + 2 >= t.n || !strchr("AP-", t.p[at + 1]) || !t.p[at + 1])
        return 0;
    while (line > 0 && t.p[line - 1] != '\n' && at - line < COMMAND_BYTES)
        line--;
    while (end < t.n && !strchr(" \t\r\n\"'`,", t.p[end]))
        end++;
    for (next = end; next < t.n && strchr(" \t\"',", t.p[next]) && t.p[next];)
        next++;
    for (to = next; to < t.n && !strchr(" \t\r\n\"'`,", t.p[to]);)
        to++;
    struct str name;
    if (!identity_find_account(str_sub(t, line, at - line), str_sub(t, at, end - at), str_sub(t, next, to - next), &name))
        return 0;
    *ret_from = (size_t)(name.p - t.p);
    return name.n;
}

static size_t identities_word_end(const char *text, size_t n, size_t at)
{
    while (at < n && identities_is_name_byte(text[at]))
        at++;
    return at;
}

size_t identities_replace(struct identities *ids, char *text, size_t n, void (*each)(void *context, const struct identity_found *f),
                          void *context)
{
    struct replacing r = {.ids = ids, .text = text, .n = n, .each = each, .context = context};
    if (!ids->indexed)
        identities_make_index(ids);
    for (size_t at = 0; at < n;) {
        char c = text[at];
        size_t from = 0, length;
        if (c == '@' && (length = shape_mail(text, n, at, &from)) > 0) {
            identities_report(&r, from, length, "a mail address");
            identities_overwrite(text + from, length, 'm');
            at = from + length;
            continue;
        }
        const char *what;
        char with;
        if ((c == ':' || c == '=') && (length = identity_find_labelled((struct str){text, n}, at, &from, &what, &with)) > 0) {
            const struct identity *own = known_at(ids, text, n, from);
            if (!own) {
                identities_report(&r, from, length, what);
                identities_overwrite(text + from, length, with);
            }
            at = own ? from : from + length;
            continue;
        }
        if (c == '-' && (at == 0 || strchr(" \t\"'", text[at - 1])) &&
            (length = identities_account_at((struct str){text, n}, at, &from)) > 0) {
            const struct identity *own = known_at(ids, text, n, from);
            if (!own) {
                identities_report(&r, from, length, "an account or project");
                identities_overwrite(text + from, length, 'a');
            }
            at = own ? from : from + length;
            continue;
        }
        if (strchr("wneHS", c) && c && (at == 0 || !identities_is_name_byte(text[at - 1])) &&
            (length = shape_hardware_name((struct str){text + at, n - at})) > 0) {
            identities_report(&r, at, length, "a hardware name");
            identities_overwrite(text + at + (length - 16), 16, 'x');
            at += length;
            continue;
        }
        if (c != '/' && c != '\\' && c != ':' && !identities_is_name_byte(c)) {
            at++;
            continue;
        }
        const struct identity *known = known_at(ids, text, n, at);
        if (known) { /* behind a home the name of another one may continue: /home/jo and /home/jo.miller */
            size_t more = known->kind == 'd' ? shape_home_name((struct str){text, n}, at + known->n) : 0;
            identities_report(&r, at, known->n + more, identities_kind_words(known->kind));
            memcpy(text + at, known->token, known->n);
            identities_overwrite(text + at + known->n, more, known->kind);
            at += known->n + more;
        } else if ((c == '/' || c == '\\') && (length = shape_home((struct str){text + at, n - at}, &from)) > 0 &&
                   !identities_is_common((struct str){text + at + from, length}, false)) {
            identities_report(&r, at + from, length, "name in the path of a home");
            identities_overwrite(text + at + from, length, 'u');
            at += from + length;
        } else if (c != '/' && c != '\\' && (length = shape_replace(&r, at)) > 0)
            at += length;
        else
            at = identities_is_name_byte(c) ? identities_word_end(text, n, at) : at + 1;
    }
    return r.count;
}
