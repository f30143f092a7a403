/* privacy.c: secrets and personal data in the text of a run's files.
 *
 * benchwrap redacts what it writes by itself (probes/redact.h), not what a user adds by hand. A run is known for
 * false alarms only where the text contains nothing more: sums of files and commits resemble random
 * secrets, so random text counts in command lines and
 * environments alone. */
#include "check/parts.h"

#include "probes/identities.h"
#include "probes/secret_names.h"
#include "probes/secrets.h"

#include <ctype.h>
#include <math.h>

enum {
    TOLD_MAX = 3 /* places of one file */,
    SHOWN = 6 /* characters of what was found */,
    NAME_LEAST = 20 /* bytes of a name that could be a secret */,
    UNPACKED_MAX = 128 << 20 /* of a run's compressed files */
};

/* Files in which random text has no business: what was typed and what was set. */
static bool is_command_file(const char *file)
{
    static const char *const names[] = {"artifacts/environment.txt", "tags/benchwrap.command", "tags/mlflow.source.name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(file, names[i]) == 0)
            return true;
    return false;
}

static unsigned line_number_at(struct str text, size_t at)
{
    unsigned n = 1;
    for (size_t i = 0; i < at; i++)
        n += text.p[i] == '\n';
    return n;
}

/* Is the value no secret: "token: 128" of a model's log, "password=$PW", "sig=none"? */
static bool is_harmless_value(struct str value)
{
    static const char *const words[] = {"none", "null", "true", "false", "yes", "no", "unset", "default", "hidden", "xxx", "redacted"};
    bool letter = false, digit = false, other = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(value, words[i]))
            return true;
    if (value.n < 6 || memchr("$%<[{(*\"'`/", value.p[0], 11) || str_has(value, "[redacted]") || str_has(value, "***"))
        return true;
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        letter = letter || isalpha(c);
        digit = digit || isdigit(c);
        other = other || !(isalnum(c) || strchr("+/=_-.~!@#%^", c));
    }
    return other || !letter || (!digit && value.n < 16);
}

struct secret_check {
    struct run_check *r;
    const char *file;
    struct str text;
    unsigned told;
    size_t key_end; /* the lines of one key are one finding */
    bool spelt; /* the text is what another spells (disguise.c): it has no lines of its own */
    const char *where; /* a prefix of the finding's text; "" */
};

/* Adds a finding for the secret. The text shows its first characters only, and those only of a kind
 * of token that is no JSON Web Token. */
static void report_secret(const struct secret_check *c, const struct secret *p)
{
    static const char *const words[] = {[SECRET_TOKEN] = "a service's token",
                                        [SECRET_RANDOM] = "random text as of a token",
                                        [SECRET_ASSIGNED] = "a password or token that is named so",
                                        [SECRET_URL] = "a password in a URL",
                                        [SECRET_KEY] = "a private key"};
    bool sure = p->kind != SECRET_ASSIGNED && p->kind != SECRET_RANDOM;
    struct str shown = str_sub(c->text, p->at, SHOWN); /* enough to find it, too little to use it */
    bool web = p->kind == SECRET_TOKEN && str_starts(shown, "eyJ"), show = p->kind == SECRET_TOKEN && !web;
    run_found(c->r, sure ? CHECK_SECRET : CHECK_SECRET_ODD, c->file, c->spelt ? 0 : line_number_at(c->text, p->at),
              "%s%s%s, %zu bytes%s" STR_FMT "%s", c->where, c->spelt ? "in another spelling (UTF-16, %, \\u, base64, hexadecimal) " : "",
              web ? "a JSON Web Token" : words[p->kind], p->n, show ? " that begin with \"" : "", STR_ARG(show ? shown : STR("")),
              show ? "\"" : "");
}

/* Returns the value without a scheme of HTTP authorization before it: "Basic am86c2VjcmV0". */
static struct str without_scheme(struct str value)
{
    struct str rest = value, word = str_word(&rest);
    rest = str_trim(rest);
    return rest.n && secret_is_scheme(word) ? rest : value;
}

/* Returns whether what the search found is a finding: not redacted, no placeholder, and of random
 * text only in files of commands. */
static bool is_reportable_secret(const char *file, struct str text, const struct secret *p)
{
    struct str secret = str_sub(text, p->at, p->n);
    if (str_has(secret, "[redacted") || str_has(secret, "(redacted)") || str_starts(secret, "***") || secret_is_redacted(secret))
        return false;
    if (p->kind == SECRET_ASSIGNED)
        return !is_harmless_value(without_scheme(secret));
    if (p->kind == SECRET_URL) { /* a user alone is none ("git@"), nor what is not one line of a URL */
        const char *colon = memchr(secret.p, ':', secret.n);
        return colon && p->n < 500 && !memchr(secret.p, '\n', secret.n) &&
               !is_harmless_value(str_sub(secret, (size_t)(colon - secret.p) + 1, secret.n));
    }
    return p->kind != SECRET_RANDOM || is_command_file(file);
}

/* Called for each secret of a text: reports it, but at most TOLD_MAX places of a file, the lines of
 * one key once, and in spelt text only what is a secret by its own form. */
static void take_secret(void *context, const struct secret *p)
{
    struct secret_check *c = context;
    bool same_key = p->kind == SECRET_KEY && c->key_end && p->at <= c->key_end + 2;
    if (p->kind == SECRET_KEY)
        c->key_end = p->at + p->n;
    bool plain = p->kind == SECRET_TOKEN || p->kind == SECRET_KEY || p->kind == SECRET_URL; /* by its own form */
    if (same_key || c->told == TOLD_MAX || (c->spelt && !plain) || !is_reportable_secret(c->file, c->text, p))
        return;
    report_secret(c, p);
    c->told++;
}

/* Reports the secrets of a text, and those that it has in other spellings. `where` begins the texts
 * of the findings. */
static void check_secrets(struct run_check *r, const char *file, struct str text, const char *where)
{
    struct secret_check c = {.r = r, .file = file, .text = text, .where = where};
    struct secrets_state state = {0};
    secrets_find(text, &state, take_secret, &c);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 * text.n + 4096 + (8 << 20));
    const char *why = check_decode(text, &b);
    if (why)
        run_found(r, CHECK_OPAQUE, file, 0, "%sa text in it in base64 or hexadecimal is %s", where, why);
    struct secret_check spelt = {.r = r, .file = file, .text = buf_text(&b), .spelt = true, .told = c.told, .where = where};
    state = (struct secrets_state){0};
    if (b.n)
        secrets_find(spelt.text, &state, take_secret, &spelt);
}

/* Reports the value of a param or tag whose own name is that of a secret. */
static void check_named(struct run_check *r, const char *file, struct str text)
{
    bool number;
    struct str name = str_of(str_starts(str_of(file), "params/") ? file + 7
                             : str_starts(str_of(file), "tags/") ? file + 5
                                                                 : ""),
               value = str_trim(text);
    if (name.n && secret_is_value(secret_variable_weight(name), value, &number) && !number && !is_harmless_value(value))
        run_found(r, CHECK_SECRET_ODD, file, 1, "a password or token that is named so, %zu byte%s", value.n, str_plural(value.n));
}

/* Has the file, whose format is not known, the entropy of random bytes or of their base64? */
static bool is_random(struct str text)
{
    enum { LEAST = 16 << 10 };
    static const char *const pictures[] = {"\x89PNG", "\xff\xd8\xff", "GIF8", "RIFF", "%PDF"};
    size_t count[256] = {0}, seen = 0;
    double bits = 0;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (str_starts(text, pictures[i]))
            return false;
    if (text.n < LEAST)
        return false;
    for (size_t i = 0; i < text.n; i++)
        count[(unsigned char)text.p[i]]++;
    for (size_t i = 0; i < 256; i++) {
        double share = (double)count[i] / (double)text.n;
        seen += count[i] > 0;
        bits -= count[i] ? share * log2(share) : 0;
    }
    return bits > 7.9 || (seen <= 68 && bits > 5.9);
}

/* Searches what a compressed file unpacks to for secrets. Reports a file that cannot be
 * unpacked, or whose bytes seem random. */
static void check_unpacked(struct run_check *r, const char *file, struct str text)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, UNPACKED_MAX + (1 << 20));
    const char *why = check_unpack(text, r->unpacked < UNPACKED_MAX ? (size_t)(UNPACKED_MAX - r->unpacked) : 0, &b);
    r->unpacked += b.n;
    r->k->bytes += b.n;
    if (why)
        run_found(r, CHECK_OPAQUE, file, 0, "it is %s", why);
    else if (!b.n && is_random(text))
        run_found(r, CHECK_OPAQUE, file, 0, "it has the entropy of random bytes: encrypted, or packed in an unknown way");
    if (b.n)
        check_secrets(r, file, buf_text(&b), "when it is unpacked ");
}

void check_secrets_in(struct check_state *k, const char *path, const char *where, const char *text)
{
    struct run_check r = {.k = k, .path = path};
    struct secret_check c = {.r = &r, .file = "", .text = str_of(text), .where = where};
    struct secrets_state state = {0};
    if (text && c.text.n >= NAME_LEAST)
        secrets_find(c.text, &state, take_secret, &c);
}

/* ---- personal data ---- */

/* Is it what benchwrap writes in the place of a name or an address: one letter, perhaps with a number behind it? */
static bool is_replacement_letter(struct str text)
{
    static const char letters[] = "uhdasmx";
    while (text.n && isdigit((unsigned char)text.p[text.n - 1]))
        text.n--;
    size_t at = 0;
    while (at < text.n && !isalnum((unsigned char)text.p[at]))
        at++;
    if (at == text.n || !strchr(letters, text.p[at]))
        return false;
    for (size_t i = at; i < text.n; i++)
        if (isalnum((unsigned char)text.p[i]) && text.p[i] != text.p[at])
            return false;
    return true;
}

/* Returns whether an address leads to no person: "jo@example.org",
 * "1+jo@users.noreply.github.com". */
static bool is_example(struct str text)
{
    const char *sign = text.n ? memchr(text.p, '@', text.n) : NULL;
    struct str host = sign ? str_sub(text, (size_t)(sign - text.p) + 1, text.n) : STR("");
    return str_starts(host, "example.") || str_has(host, ".example.") || str_ends(host, "users.noreply.github.com");
}

/* Returns whether benchwrap itself writes the file, so that it must be clean; what a program
 * printed may have its author's address in it. */
static bool is_own_file(const char *file)
{
    return strncmp(file, "params/", 7) == 0 || strncmp(file, "tags/", 5) == 0 || strcmp(file, "meta.yaml") == 0 ||
           strcmp(file, "artifacts/benchwrap.json") == 0 || is_command_file(file);
}

struct personal_check {
    struct run_check *r;
    const char *file;
    struct str text;
    enum check_id id;
    unsigned told;
};

/* Returns whether the identity is the record's own member "user": check_private_record compares
 * it with the site, which is read after it. */
static bool is_member_user(const struct personal_check *c, size_t at)
{
    return strcmp(c->file, "artifacts/benchwrap.json") == 0 && str_ends(str_sub(c->text, 0, at), "\"user\": \"");
}

static void take_identity(void *context, const struct identity_found *f)
{
    struct personal_check *c = context;
    struct str found = str_sub(c->text, f->at, f->n);
    if (c->told == TOLD_MAX || is_replacement_letter(found) || is_example(found) || is_member_user(c, f->at))
        return;
    run_found(c->r, c->id, c->file, line_number_at(c->text, f->at), "%s", f->what);
    c->told++;
}

/* Reports personal data in a file, by the recorder's own rules as far as they need no knowledge
 * of the site. */
static void check_personal(struct run_check *r, const char *file, struct str text)
{
    struct personal_check c = {.r = r, .file = file, .text = text, .id = is_own_file(file) ? CHECK_PERSONAL : CHECK_PERSONAL_ODD};
    struct identities none;
    CLEANUP_BUF struct buf copy;
    buf_init(&copy, text.n + 4096);
    buf_str(&copy, text);
    if (buf_text(&copy).n != text.n) {
        run_found(r, CHECK_LIMIT, file, 0, "out of memory for the search for personal data");
        return;
    }
    identities_init(&none);
    identities_replace(&none, copy.p ? copy.p : (char[]){0}, copy.n, take_identity, &c);
    identities_deinit(&none);
}

void check_privacy(struct run_check *r, const char *file, struct str text)
{
    check_named(r, file, text);
    check_secrets(r, file, text, "");
    check_unpacked(r, file, text);
    if (r->k->public_profile)
        check_personal(r, file, text);
}

/* A public record names no host, and no user but the site (benchwrap records the site's name there). */
void check_private_record(struct run_check *r)
{
    static const char file[] = "artifacts/benchwrap.json";
    const char *user = json_string(json_pointer(r->record, "/run/user"), ""), *site = run_text(r, 't', "site");
    if (!r->k->public_profile)
        return;
    if (*user && !(site && strcmp(user, site) == 0))
        run_found(r, CHECK_PERSONAL, file, 0, "the record names the user; a run of the public profile does not");
    if (*json_string(json_pointer(r->record, "/run/host"), ""))
        run_found(r, CHECK_PERSONAL, file, 0, "the record names the host; a run of the public profile does not");
}
