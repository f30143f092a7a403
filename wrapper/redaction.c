/* redaction.c: what a run leaves out of all that it writes. */
#include "wrapper/redaction.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdlib.h>

void redaction_begin(struct redaction *ret, bool public_profile, const struct host *h)
{
    *ret = (struct redaction){.redact.ids = public_profile ? &ret->ids : NULL, .streams.ids = public_profile ? &ret->ids : NULL};
    identities_init(&ret->ids);
    if (!public_profile)
        return;
    identities_of_env(&ret->ids, h->env);
    identities_of_host(&ret->ids, h);
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

char *redaction_output(struct str text, bool public_profile, char *const *env)
{
    struct redaction r;
    struct host here = {.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .root_path = "/", .real = true, .env = env};
    char *copy = malloc(text.n + 1);
    redaction_begin(&r, public_profile, &here);
    if (copy) {
        memcpy(copy, text.n ? text.p : "", text.n);
        copy[text.n] = 0;
        redact_text(&r.streams, copy, text.n);
    }
    redaction_end(&r);
    fs_close(&here.root);
    return copy;
}
