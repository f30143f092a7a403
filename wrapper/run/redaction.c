/* redaction.c: what a run leaves out of all that it writes. */
#include "run/redaction.h"

#include "base/fs.h"

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
        identities_of_env(&ret->ids, h->env);
        identities_of_host(&ret->ids, h);
    }
    return 0;
}

int redaction_begin_here(struct redaction *ret, bool public_profile, char *const *env, struct err *err)
{
    struct host here = {
        .root = public_profile ? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, .root_path = "/", .real = true, .env = env};
    int rc = redaction_begin(ret, public_profile, &here, err);
    fs_close(&here.root);
    return rc;
}

void redaction_end(struct redaction *r)
{
    identities_deinit(&r->ids);
}

static void clean(void *context, char *text, size_t n)
{
    struct redaction *r = context;
    redact_text(&r->redact, text, n);
}

void redaction_of_record(struct redaction *r, struct record *record)
{
    record->redact = clean;
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

/* "--token": does the next argument hold the secret? */
static bool announces(const char *arg)
{
    return arg[0] == '-' && arg[1] && !strpbrk(arg, "=: /") && secrets_name(str_of(arg + 1)) > 0;
}

static bool is_secret_value(const char *option, const char *value)
{
    double number;
    bool always = secrets_name(str_of(option + 1)) > 1, plain = str_double(str_of(value), &number);
    return value[0] != '-' && (always || (strlen(value) >= 6 && !plain));
}

char **redaction_argv(struct redaction *r, char *const *argv, struct arena *a)
{
    size_t n = 0;
    while (argv[n])
        n++;
    char **copy = arena_get(a, (n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = redaction_text(r, argv[i], a);
        if (copy[i] && i > 0 && announces(argv[i - 1]) && is_secret_value(argv[i - 1], argv[i]))
            memset(copy[i], '*', strlen(copy[i]));
        if (!copy[i])
            return NULL;
    }
    if (copy)
        copy[n] = NULL;
    return copy;
}

char *redaction_output(struct str text, bool public_profile, char *const *env, struct err *err)
{
    struct redaction r;
    char *copy = NULL;
    if (redaction_begin_here(&r, public_profile, env, err) == 0 && !(copy = malloc(text.n + 1)))
        err_set(err, ERR_SYSTEM, "no memory");
    if (copy) {
        memcpy(copy, text.n ? text.p : "", text.n);
        copy[text.n] = 0;
        redact_text(&r.streams, copy, text.n);
    }
    redaction_end(&r);
    return copy;
}
