/* redaction.c: what a run leaves out of all that it writes. */
#include "run/redaction.h"

#include "base/fs.h"
#include "base/utf8.h"
#include "probes/identity_label.h"
#include "probes/identity_path.h"
#include "probes/secret_options.h"

#include <fcntl.h>
#include <stdlib.h>

void redaction_begin_with(struct redaction *ret, struct identities *ids)
{
    *ret = (struct redaction){.redact.ids = ids, .streams.ids = ids};
    identities_init(&ret->ids);
}

int redaction_begin(struct redaction *ret, bool public_profile, const struct host *h, struct err *err)
{
    redaction_begin_with(ret, public_profile ? &ret->ids : NULL);
    if (public_profile && h->root < 0)
        return err_set(err, ERR_SYSTEM, "the names that a public record leaves out are not known: / cannot be opened");
    if (public_profile) {
        identities_add_env(&ret->ids, h->env);
        identities_add_host_names(&ret->ids, h);
    }
    return 0;
}

int redaction_begin_here(struct redaction *ret, bool public_profile, char *const *env, struct err *err)
{
    struct host here = {
        .root = public_profile ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, .root_path = "/", .real = true, .env = env};
    int rc = redaction_begin(ret, public_profile, &here, err);
    fs_close(&here.root);
    return rc;
}

void redaction_end(struct redaction *r)
{
    identities_deinit(&r->ids);
}

static void clean_record_text(void *context, struct str key, char *text, size_t n)
{
    struct redaction *r = context;
    redact_named(&r->redact, key, text, n);
    if (r->redact.ids && (!key.n || str_is(key, "benchwrap.reason") || str_is(key, "benchwrap.ended"))) /* benchwrap's own words */
        r->redact.identities += identity_hide_paths(text, n);
}

/* Replaces secrets in a name in place. Names of identities stay on purpose: a metric may be called
 * as a user is. */
static void clean_name_text(void *context, char *text, size_t n)
{
    struct redaction *r = context;
    struct redact secrets = {.ids = NULL};
    redact_text(&secrets, text, n);
    r->redact.secrets += secrets.secrets;
}

void redaction_of_record(struct redaction *r, struct record *record)
{
    record->redact_name = clean_name_text;
    record->redact = clean_record_text;
    record->redact_context = r;
}

char *redaction_text(struct redaction *r, const char *text, struct arena *a)
{
    size_t n = text ? strlen(text) : 0;
    char *copy = arena_dup(a, text ? text : "", n);
    if (copy)
        redact_text(&r->redact, copy, n);
    return copy;
}

char *redaction_named(struct redaction *r, const char *name, const char *value, struct arena *a)
{
    char *copy = arena_dup(a, value, strlen(value));
    if (copy)
        redact_named(&r->redact, str_of(name), copy, strlen(copy));
    return copy;
}

char *redaction_name(struct redaction *r, const char *name, struct arena *a)
{
    char *copy = arena_dup(a, name, strlen(name));
    if (copy)
        clean_name_text(r, copy, strlen(copy));
    return copy;
}

/* Stars for what the option before it makes a secret. `told` has the same length as `arg`. */
static void star_secret(char *told, const char *arg, struct str secret)
{
    memset(told + (secret.p - arg), '*', secret.n);
}

/* Replaces with asterisks what `printed` has without secrets: the words, each with a blank after
 * it. This finds a name in one word with its value in the next. */
static void star_words(char **told, char *const *argv, struct str printed)
{
    for (size_t i = 0, at = 0; argv[i]; i++) {
        for (size_t k = 0; argv[i][k] && at + k < printed.n; k++)
            if (printed.p[at + k] != argv[i][k] && told[i][k] == argv[i][k])
                told[i][k] = '*';
        at += strlen(argv[i]) + 1;
    }
}

/* Returns the name of a redacted argument: "--host" for "--host=X", and for X where "--host" is the
 * word before it; else the redacted word. */
static struct str hidden_name(char *const *told, size_t i)
{
    enum { NAME_MAX_SHOWN = 60 };
    struct str word = str_of(told[i]), before = i ? str_of(told[i - 1]) : STR(""), rest = word, name = str_cut(&rest, '=');
    if (str_starts(before, "-") && !str_starts(word, "-") && !str_has(before, "="))
        return before;
    return rest.p && name.n ? name : str_sub(word, 0, utf8_cut(word, NAME_MAX_SHOWN));
}

/* Returns the names of the redacted arguments with commas between, in the arena. NULL: none is
 * redacted, or out of memory. */
static const char *list_hidden(char *const *told, char *const *argv, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 16);
    for (size_t i = 0; argv[i]; i++)
        if (strcmp(told[i], argv[i]) != 0) {
            buf_puts(&b, b.n ? ", " : "");
            buf_utf8(&b, hidden_name(told, i));
        }
    return b.n ? arena_dup(a, b.p, b.n) : NULL;
}

/* Returns the argument as valid UTF-8: itself, or a copy in the arena with other bytes as U+FFFD
 * and two hexadecimal digits. NULL: out of memory. */
static char *argument_as_text(char *told, struct arena *a)
{
    struct str text = str_of(told);
    CLEANUP_BUF struct buf b;
    buf_init(&b, 16 << 20);
    if (str_valid_utf8(text))
        return told;
    for (size_t i = 0, k; i < text.n; i += k ? k : 1) {
        if ((k = str_utf8(text.p + i, text.n - i)))
            buf_str(&b, str_sub(text, i, i + k));
        else
            buf_printf(&b, "\xef\xbf\xbd%02x", (unsigned char)text.p[i]);
    }
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}

char **redaction_argv(struct redaction *r, char *const *argv, struct arena *a)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **copy = arena_get(a, (n + 1) * sizeof *copy);
    CLEANUP_BUF struct buf before;
    buf_init(&before, 4 << 20);
    for (size_t i = 0; copy && i < n; i++)
        if (!(copy[i] = redaction_text(r, argv[i], a)))
            return NULL;
    for (size_t i = 0; copy && i < n; i++) {
        struct str word = str_of(argv[i]), value = str_of(argv[i + 1]), secret;
        if (word.n > 1 && word.p[0] == '-' && secret_option_find(buf_text(&before), word, value, &secret)) {
            bool own = secret.p >= word.p && secret.p <= word.p + word.n;
            star_secret(copy[own ? i : i + 1], argv[own ? i : i + 1], secret);
        }
        if (r->redact.ids && word.n > 1 && word.p[0] == '-' && identity_find_account(buf_text(&before), word, value, &secret)) {
            bool own = secret.p >= word.p && secret.p <= word.p + word.n;
            size_t at = (size_t)(secret.p - argv[own ? i : i + 1]);
            if (memcmp(copy[own ? i : i + 1] + at, secret.p, secret.n) == 0) /* no token of a known name is there */
                memset(copy[own ? i : i + 1] + at, 'a', secret.n);
        }
        buf_str(&before, word);
        buf_putc(&before, ' ');
    }
    if (copy) {
        struct redact secrets = {.ids = NULL};
        redact_text(&secrets, before.p, before.n);
        star_words(copy, argv, buf_text(&before));
        copy[n] = NULL;
        r->hidden_arguments = list_hidden(copy, argv, a);
    }
    for (size_t i = 0; copy && i < n; i++)
        if (!(copy[i] = argument_as_text(copy[i], a)))
            return NULL;
    return copy;
}

char *redaction_output(struct str text, bool public_profile, char *const *env, struct err *err)
{
    struct redaction r;
    char *copy = NULL;
    if (redaction_begin_here(&r, public_profile, env, err) == 0 && !(copy = malloc(text.n + 1)))
        err_memory(err, "the redaction");
    if (copy) {
        memcpy(copy, text.n ? text.p : "", text.n);
        copy[text.n] = 0;
        redact_text(&r.streams, copy, text.n);
    }
    redaction_end(&r);
    return copy;
}
