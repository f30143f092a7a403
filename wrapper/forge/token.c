/* token.c: whose word opens a pull request: from a file that was named, the environment, the file of tokens, or git's credential helper. */
#include "base/env.h"
#include "base/secret.h"
#include "forge/forge.h"

#include <string.h>
#include <strings.h>

enum { TOKEN_MAX = 4096, FILE_MAX = 64 * 1024 };

/* In the order in which each forge's own tools use them. */
static const struct {
    enum forge_kind kind;
    const char *variable;
    const char *only; /* this host alone (gh sends GH_TOKEN to github.com and hosts below ghe.com only); NULL: any that is named */
} variables[] = {
    {FORGE_GITHUB, "GH_TOKEN", "github.com"},
    {FORGE_GITHUB, "GITHUB_TOKEN", NULL},
    {FORGE_GITHUB, "GH_ENTERPRISE_TOKEN", NULL},
    {FORGE_GITHUB, "GITHUB_ENTERPRISE_TOKEN", NULL},
    {FORGE_GITLAB, "GITLAB_TOKEN", NULL},
    {FORGE_GITLAB, "GITLAB_ACCESS_TOKEN", NULL},
    {FORGE_GITEA, "FORGEJO_TOKEN", NULL},
    {FORGE_GITEA, "GITEA_TOKEN", NULL},
    {FORGE_GITEA, "CODEBERG_TOKEN", "codeberg.org"},
};

/* Returns whether the text can be a token, which becomes a line of a header. */
static bool is_forge_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] >= 0x7f)
            return false;
    return s.n > 0 && s.n <= TOKEN_MAX;
}

static bool is_enterprise(const char *variable)
{
    return strstr(variable, "ENTERPRISE") != NULL;
}

/* Reads the forge's token from its variables into t, whose text is in the arena. t->unused: a
 * variable with a token that is for another forge or not valid, where none was found. */
static void from_environment(struct forge_token *t, const struct forge_place *place, char *const *env, struct arena *a)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables && !t->secret; i++) {
        const char *value = env_text(env, variables[i].variable);
        if (variables[i].kind != place->kind || !value)
            continue;
        struct str s = str_trim(str_of(value));
        bool here = place->named && !(variables[i].only && strcasecmp(place->host, variables[i].only) != 0) &&
                    !(is_enterprise(variables[i].variable) && strcmp(place->host, "github.com") == 0);
        if (here && is_forge_token(s)) {
            t->secret = arena_dup(a, s.p, s.n);
            t->where = variables[i].variable;
        } else if (!t->unused)
            t->unused = variables[i].variable;
    }
    if (t->secret)
        t->unused = NULL;
}

/* Reads the token from the first line of the file, into the arena. Returns -1 with err, also where
 * others may read the file. */
static int from_named_file(struct forge_token *t, const char *path, struct arena *a, struct err *err)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, FILE_MAX + 1);
    if (secret_read(path, true, FILE_MAX, &b, err))
        return err_wrap(err, "the file of the token");
    struct str rest = buf_text(&b), line = str_trim(str_cut(&rest, '\n'));
    if (!is_forge_token(line))
        return err_set(err, ERR_INPUT, "%s: its first line shall be the token alone", path);
    t->secret = arena_dup(a, line.p, line.n);
    t->where = path;
    return t->secret ? 0 : err_memory(err, "the token");
}

/* Finds the token of the host in a file of lines "HOST TOKEN"; '#' begins a remark. Returns 0, also
 * without one; -1 with err. */
static int from_tokens(struct forge_token *t, const char *host, const char *path, struct arena *a, struct err *err)
{
    struct buf b CLEANUP_BUF;
    buf_init(&b, FILE_MAX + 1);
    int rc = secret_read(path, false, FILE_MAX, &b, err);
    if (rc)
        return rc < 0 ? err_wrap(err, "the file of the token") : 0;
    for (struct str rest = buf_text(&b); rest.p && !t->secret;) {
        struct str line = str_cut(&rest, '\n'), name = str_word(&line), token = str_word(&line);
        if (!name.n || name.p[0] == '#' || !str_is_anycase(name, host))
            continue;
        if (!is_forge_token(token))
            return err_set(err, ERR_INPUT, "%s: the line of %s shall be \"HOST TOKEN\"", path, host);
        if (!(t->secret = arena_dup(a, token.p, token.n)))
            return err_memory(err, "the token");
        t->where = path;
    }
    return 0;
}

int forge_token_find(struct forge_token *ret, const struct forge_place *place, const char *named_file, const char *tokens, char *const *env,
                     struct arena *a, struct err *err)
{
    *ret = (struct forge_token){0};
    if (named_file)
        return from_named_file(ret, named_file, a, err);
    if (place->kind == FORGE_NONE)
        return 0;
    from_environment(ret, place, env, a);
    return ret->secret || !tokens ? 0 : from_tokens(ret, place->host, tokens, a, err);
}

/* git-credential(1): lines key=value, ended by a blank one. */
void forge_token_question(const struct forge_place *place, struct buf *to)
{
    const char *scheme = strstr(place->web, "://"), *slash = scheme ? strchr(scheme + 3, '/') : NULL;
    size_t n = slash ? (size_t)(slash - scheme - 3) : scheme ? strlen(scheme + 3) : 0;
    buf_printf(to, "protocol=%.*s\nhost=%.*s\npath=%s.git\n\n", scheme ? (int)(scheme - place->web) : 0, place->web, (int)n,
               scheme ? scheme + 3 : "", place->path);
}

bool forge_token_answer(struct forge_token *ret, struct str answer, struct arena *a)
{
    struct str user = {0}, secret = {0};
    while (answer.p) {
        struct str value = str_cut(&answer, '\n'), key = str_cut(&value, '=');
        if (value.p && str_is(key, "username"))
            user = value;
        if (value.p && str_is(key, "password"))
            secret = value;
    }
    if (!is_forge_token(secret))
        return false;
    *ret = (struct forge_token){
        .secret = arena_dup(a, secret.p, secret.n), .user = user.n ? arena_dup(a, user.p, user.n) : NULL, .where = "git credential"};
    return ret->secret != NULL;
}
