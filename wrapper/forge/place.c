/* place.c: which forge a remote is on, from its address and from the user's settings. */
#include "base/env.h"
#include "forge/forge.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word, *name, *api; /* api: below the web's root */
    enum forge_kind kind;
} kinds[] = {
    {"github", "GitHub", "/api/v3", FORGE_GITHUB},
    {"gitlab", "GitLab", "/api/v4", FORGE_GITLAB},
    {"gitea", "Gitea", "/api/v1", FORGE_GITEA},
    {"forgejo", "Forgejo", "/api/v1", FORGE_GITEA},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Public forges, which are known by their names. */
static const struct {
    const char *host, *web, *api;
    enum forge_kind kind;
} publics[] = {
    {"github.com", "https://github.com", "https://api.github.com", FORGE_GITHUB},
    {"ssh.github.com", "https://github.com", "https://api.github.com", FORGE_GITHUB}, /* SSH over port 443 */
    {"gitlab.com", "https://gitlab.com", "https://gitlab.com/api/v4", FORGE_GITLAB},
    {"altssh.gitlab.com", "https://gitlab.com", "https://gitlab.com/api/v4", FORGE_GITLAB},
    {"codeberg.org", "https://codeberg.org", "https://codeberg.org/api/v1", FORGE_GITEA},
    {"gitea.com", "https://gitea.com", "https://gitea.com/api/v1", FORGE_GITEA},
};

/* Returns the kind of "github", "gitlab", "gitea", "forgejo", in any case; else FORGE_NONE. */
static enum forge_kind forge_kind_of(const char *word)
{
    for (size_t i = 0; word && i < KINDS; i++)
        if (strcasecmp(word, kinds[i].word) == 0)
            return kinds[i].kind;
    return FORGE_NONE;
}

const char *forge_kind_name(enum forge_kind kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return "the forge";
}

/* ---- the address ---- */

struct address {
    struct str scheme, host, port, path; /* scheme "" : a folder; path without '/' at both ends and without .git */
};

static struct str clean_path(struct str s)
{
    while (s.n && s.p[0] == '/')
        s = str_sub(s, 1, s.n);
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    if (str_ends(s, ".git"))
        s.n -= 4;
    return s;
}

static struct str behind_user(struct str authority)
{
    for (size_t i = authority.n; i > 0; i--)
        if (authority.p[i - 1] == '@')
            return str_sub(authority, i, authority.n);
    return authority;
}

/* Splits "host:port" or "[::1]:port". */
static void split_host(struct str authority, struct address *to)
{
    size_t end = 0;
    authority = behind_user(authority);
    if (authority.n && authority.p[0] == '[')
        while (end < authority.n && authority.p[end] != ']')
            end++;
    while (end < authority.n && authority.p[end] != ':')
        end++;
    to->host = str_sub(authority, 0, end);
    to->port = str_sub(authority, end + 1, authority.n);
}

/* Splits a git URL as git-clone(1) does: with a scheme; else "[user@]host:path" where no "/" is
 * before the first colon; else a folder, for which the result is empty. Texts point into `url`. */
static struct address address_split(const char *url)
{
    struct address to = {0};
    struct str s = str_trim(str_of(url));
    ptrdiff_t scheme = str_find(s, STR("://"));
    if (scheme > 0) {
        to.scheme = str_sub(s, 0, (size_t)scheme);
        struct str rest = str_sub(s, (size_t)scheme + 3, s.n), authority = str_cut(&rest, '/');
        split_host(authority, &to);
        to.path = clean_path(rest.p ? rest : STR(""));
        return to;
    }
    size_t colon = 0;
    while (colon < s.n && s.p[colon] != ':' && s.p[colon] != '/')
        colon++;
    if (colon == s.n || s.p[colon] == '/')
        return to;
    to.scheme = STR("ssh");
    to.host = behind_user(str_sub(s, 0, colon));
    to.path = clean_path(str_sub(s, colon + 1, s.n));
    return to;
}

static bool is_web(struct str scheme)
{
    return str_is(scheme, "https") || str_is(scheme, "http");
}

/* True if the text may be a part of addresses, links and requests to helpers. */
static bool is_plain_address(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f || strchr("\"'<>\\^`{|}?#%", s.p[i]))
            return false;
    return s.n > 0 && str_valid_utf8(s);
}

/* ---- the forge ---- */

/* Returns whether a variable of the environment (of the forge's own tools, or of a CI job) names
 * this host. */
static bool env_names(char *const *env, const char *host, enum forge_kind *kind)
{
    static const struct {
        const char *name;
        enum forge_kind kind;
    } rows[] = {{"GH_HOST", FORGE_GITHUB},       {"GITHUB_SERVER_URL", FORGE_GITHUB}, {"GITLAB_HOST", FORGE_GITLAB},
                {"CI_SERVER_URL", FORGE_GITLAB}, {"GITEA_SERVER_URL", FORGE_GITEA},   {"FORGEJO_SERVER_URL", FORGE_GITEA}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = env_text(env, rows[i].name);
        if (!value || (*kind != FORGE_NONE && *kind != rows[i].kind))
            continue;
        struct str s = str_of(value), rest = s;
        ptrdiff_t scheme = str_find(s, STR("://"));
        if (scheme > 0)
            rest = str_sub(s, (size_t)scheme + 3, s.n);
        if (!str_is_anycase(behind_user(str_cut(&rest, '/')), host))
            continue;
        *kind = rows[i].kind;
        return true;
    }
    return false;
}

/* Returns the kind of forge that the host's first name suggests, as in "gitlab.example.org". That
 * is enough for a link, not for sending a token. FORGE_NONE: no name of a forge. */
static enum forge_kind guess_forge_kind(const char *host)
{
    struct str first = {host, strcspn(host, ".:")};
    for (size_t i = 0; i < KINDS; i++)
        if (str_is_anycase(first, kinds[i].word))
            return kinds[i].kind;
    return FORGE_NONE;
}

static const char *without_slash(const char *url, struct arena *a)
{
    size_t n = strlen(url);
    while (n && url[n - 1] == '/')
        n--;
    return arena_dup(a, url, n);
}

static int check_web(const char *key, const char *url, struct err *err)
{
    if (url && strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0)
        return err_set(err, ERR_INPUT, "%s: expected an address that begins with https://, got \"%.100s\"", key, url);
    return 0;
}

/* Returns the path without the folder of a forge that is below one on its host:
 * https://host/gitea/owner/name. */
static struct str path_below_web(struct str path, const char *web)
{
    const char *root = strstr(web, "://"), *slash = root ? strchr(root + 3, '/') : NULL;
    size_t n = slash ? strlen(slash + 1) : 0;
    return n && path.n > n && strncmp(path.p, slash + 1, n) == 0 && path.p[n] == '/' ? str_sub(path, n + 1, path.n) : path;
}

static const char *default_api(const struct forge_place *p, struct arena *a)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind == p->kind)
            return arena_printf(a, "%s%s", p->web, kinds[i].api);
    return NULL;
}

/* Chooses kind and addresses of the forge: from the configuration, the table of public forges, the
 * environment, or the host's name. FORGE_NONE: not known. */
static void choose_kind(struct forge_place *p, const struct address *at, const struct forge_named *named, char *const *env, struct arena *a)
{
    p->kind = forge_kind_of(named->kind);
    p->named = p->kind != FORGE_NONE;
    for (size_t i = 0; i < sizeof publics / sizeof *publics; i++)
        if (strcasecmp(p->host, publics[i].host) == 0 && (!p->named || p->kind == publics[i].kind)) {
            p->kind = publics[i].kind;
            p->named = true;
            p->host = strstr(publics[i].web, "://") + 3;
            p->web = publics[i].web;
            p->api = publics[i].api;
        }
    if (!p->named)
        p->named = env_names(env, p->host, &p->kind);
    if (!p->named)
        p->kind = guess_forge_kind(p->host);
    if (p->kind == FORGE_NONE)
        return;
    if (named->web)
        p->web = without_slash(named->web, a);
    else if (!p->web)
        p->web = arena_printf(a, "%s://%s", str_is(at->scheme, "http") ? "http" : "https", p->host);
    if (named->api)
        p->api = without_slash(named->api, a);
    else if (!p->api || named->web)
        p->api = p->web ? default_api(p, a) : NULL;
}

int forge_place_of(struct forge_place *ret, const char *url, const struct forge_named *named, char *const *env, struct arena *a,
                   struct err *err)
{
    static const struct forge_named nothing;
    struct address at = address_split(url);
    *ret = (struct forge_place){0};
    named = named ? named : &nothing;
    if (named->kind && forge_kind_of(named->kind) == FORGE_NONE)
        return err_set(err, ERR_INPUT, "benchwrap.forge: \"%.60s\" is none of github, gitlab, gitea, forgejo", named->kind);
    if (check_web("benchwrap.forgeUrl", named->web, err) || check_web("benchwrap.forgeApi", named->api, err))
        return -1;
    bool folder = !at.scheme.n || str_is(at.scheme, "file");
    if (folder && named->kind && (named->web || named->api)) { /* a mirror in a folder, of a forge that is configured completely */
        at.host = STR("localhost");
        at.scheme = STR("https");
        struct str s = clean_path(str_of(url)), last = s;
        for (size_t i = 0, parts = 0; i < s.n && parts < 2; i++)
            if (s.p[s.n - 1 - i] == '/' && ++parts <= 2)
                last = str_sub(s, s.n - i, s.n);
        at.path = last;
    } else if (folder)
        return 0;
    if (!is_plain_address(at.host) || !is_plain_address(at.path) || (at.port.n && !is_plain_address(at.port)))
        return 0;
    bool port = is_web(at.scheme) && at.port.n;
    ret->host =
        arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(at.host), port ? ":" : "", port ? (int)at.port.n : 0, at.port.n ? at.port.p : "");
    if (!ret->host)
        return err_memory(err, "the address of the forge");
    choose_kind(ret, &at, named, env, a);
    if (ret->kind == FORGE_NONE)
        return 0;
    struct str path = ret->web ? path_below_web(at.path, ret->web) : at.path;
    ret->path = arena_dup(a, path.p, path.n);
    const char *slash = ret->path ? strrchr(ret->path, '/') : NULL;
    if (!slash) { /* no owner: no repository of a forge */
        ret->kind = FORGE_NONE;
        return a->failed ? err_memory(err, "the address of the forge") : 0;
    }
    ret->owner = arena_dup(a, ret->path, (size_t)(slash - ret->path));
    return ret->owner && ret->web && ret->api ? 0 : err_memory(err, "the address of the forge");
}

const char *forge_link(const struct forge_place *target, const struct forge_place *source, const char *base, const char *branch,
                       struct arena *a)
{
    struct buf b CLEANUP_BUF;
    bool fork = strcasecmp(target->path ? target->path : "", source->path ? source->path : "") != 0;
    buf_init(&b, 8192);
    if (target->kind == FORGE_NONE || source->kind == FORGE_NONE)
        return NULL;
    buf_printf(&b, "%s/%s/", target->kind == FORGE_GITLAB ? source->web : target->web,
               target->kind == FORGE_GITLAB ? source->path : target->path);
    if (target->kind == FORGE_GITLAB) {
        buf_puts(&b, "-/merge_requests/new?merge_request%5Bsource_branch%5D=");
        http_escape(&b, str_of(branch), false);
        buf_puts(&b, "&merge_request%5Btarget_branch%5D=");
        http_escape(&b, str_of(base), false);
    } else {
        buf_puts(&b, "compare/");
        http_escape(&b, str_of(base), true);
        buf_puts(&b, "...");
        if (fork)
            buf_printf(&b, "%s:", source->owner);
        http_escape(&b, str_of(branch), true);
        buf_puts(&b, target->kind == FORGE_GITHUB ? "?expand=1" : "");
    }
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}
