/* share_place.c: from where to where: repository, remotes, target branch, the site's branch, forge;
 * and what the target is now. */
#include "share/share.h"

#include "base/place.h"
#include "base/shell_word.h"
#include "git/partial.h"
#include "run/redaction.h"

#include <stdio.h>
#include <string.h>

enum { ARGS_MAX = 24, NET_LIMIT_S = 600, ASK_LIMIT_S = 120, OUT_MAX = 64 << 20 };

int share_git(struct share *s, double limit_s, const char *const *args, struct str in, struct program_end *ret, struct err *err)
{
    const char *argv[ARGS_MAX + 10] = {"git", "-c", "gc.auto=0", "-c", "core.quotePath=false"};
    size_t n = 5;
    if (strcmp(*args, "push") != 0 || s->options.no_verify) { /* the site's hooks check what is pushed; only benchwrap reads the rest */
        argv[n++] = "-c";
        argv[n++] = "core.hooksPath=/dev/null";
    }
    bool remote = strcmp(*args, "push") == 0 || strcmp(*args, "fetch") == 0 || strcmp(*args, "ls-remote") == 0;
    for (; *args && n < ARGS_MAX + 9; args++)
        argv[n++] = *args;
    struct program p = {
        .argv = argv, .dir = s->dir, .in = in, .credentials = remote, .limit_s = limit_s, .out_max = OUT_MAX, .whole = true};
    int rc = program_run(&p, ret, err);
    if (rc < 0)
        program_end_deinit(ret);
    return rc == 1 ? err_set(err, ERR_SYSTEM, "the program git is needed to talk to other repositories, and is not installed") : rc;
}

const char *share_ref(const struct share *s, const char *what)
{
    return arena_printf(s->arena, "refs/benchwrap/%s/%s/%s", what, s->to, s->branch);
}

const char *share_note_file(const struct share *s, const char *what)
{
    char *name = arena_printf(s->arena, "%s-%s-%s", what, s->remote, s->base);
    for (size_t i = 0; name && name[i]; i++)
        name[i] = name[i] == '/' ? '_' : name[i];
    return name;
}

int share_note_folder(const struct share *s)
{
    const char *path = arena_printf(s->arena, "%sbenchwrap", repo_common(s->repo));
    return path ? place_open_below(path, 1, 0777) : -1;
}

/* ---- repository and remotes ---- */

static const char *git_config_value(struct share *s, const char *key)
{
    const char *text = NULL;
    return repo_config(s->repo, key, s->arena, &text, NULL) == 0 && text && *text ? text : NULL;
}

/* Refuses a word from configuration or line that git would read as an option, or that is none of
 * its names. */
static int check_name(struct share *s, const char *what, const char *name, bool ref, struct err *err)
{
    const char *full = ref ? arena_printf(s->arena, "refs/heads/%s", name) : name;
    if (!full || !*name || name[0] == '-' || strlen(name) > 200 || (ref && !repo_ref_legal(s->repo, full)))
        return err_set(err, ERR_USAGE, "%s: expected a name that git accepts, got \"%.100s\"", what, name);
    return 0;
}

static bool has_remote(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* Chooses s->remote, which receives the pull request, and s->to, which is pushed to, from
 * options, git's configuration and the remotes' names. Returns -1 with err when one of them does
 * not exist. */
static int find_remotes(struct share *s, struct err *err)
{
    const char **list, *given = s->options.remote, *to = s->options.to;
    if (repo_remotes(s->repo, s->arena, &list, err) < 0)
        return -1;
    if (!list[0])
        return err_set(err, ERR_INPUT, "this repository has no remote to share with: git remote add origin ADDRESS");
    const char *kept = git_config_value(s, "benchwrap.remote"), *fork = git_config_value(s, "remote.pushDefault");
    s->remote = given ? given : kept ? kept : has_remote(list, "upstream") ? "upstream" : has_remote(list, "origin") ? "origin" : list[0];
    s->to = to ? to : fork ? fork : has_remote(list, "origin") && !given ? "origin" : s->remote;
    const char *const both[] = {s->remote, s->to};
    for (int i = 0; i < 2; i++) {
        if (check_name(s, "remote", both[i], false, err))
            return -1;
        if (!has_remote(list, both[i]))
            return err_set(err, ERR_INPUT, "there is no remote \"%.100s\" (git remote -v)", both[i]);
    }
    return 0;
}

/* ---- the remote's branches ---- */

/* Reads the lines of git ls-remote: "ref: refs/heads/main\tHEAD", "<hash>\trefs/heads/…". */
static void read_remote(struct share *s, struct str text, bool with_head)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n'), value = str_cut(&line, '\t');
        if (!line.p)
            continue;
        if (with_head && !s->base && str_starts(value, "ref: refs/heads/") && str_is(line, "HEAD"))
            s->base = arena_dup(s->arena, value.p + 16, value.n - 16);
        if (str_starts(line, "refs/heads/") && str_is(str_sub(line, 11, line.n), s->branch))
            s->is_seen = repo_id_parse(&s->seen, value);
    }
}

/* Reads the remote's main branch, where s->base is not set, and for s->to the tip of this clone's
 * branch there. Returns -1 with err. */
static int ask_remote(struct share *s, const char *remote, struct err *err)
{
    struct program_end end;
    const char *ref = arena_printf(s->arena, "refs/heads/%s", s->branch);
    const char *const args[] = {"ls-remote", "--symref", "--", remote, "HEAD", ref, NULL};
    if (share_git(s, ASK_LIMIT_S, args, (struct str){0}, &end, err))
        return -1;
    bool unknown = end.words.p && strstr(end.words.p, "Host key verification failed");
    int rc = end.status
                 ? program_err(&end, err, "the remote %s does not answer%s", remote,
                               unknown ? " (git ls-remote, called by hand, requests confirmation that its key is the right one)" : "")
                 : 0;
    if (rc && !unknown)
        err_hint(err, "run benchwrap share again when git ls-remote %s works", remote);
    if (rc == 0 && strcmp(remote, s->to) == 0)
        read_remote(s, buf_text(&end.out), strcmp(s->to, s->remote) == 0);
    else if (rc == 0) {
        struct repo_id seen = s->seen;
        bool is_seen = s->is_seen;
        read_remote(s, buf_text(&end.out), true);
        s->seen = seen, s->is_seen = is_seen;
    }
    program_end_deinit(&end);
    return rc;
}

/* Chooses the target where the remote names no main branch: its only branch, without those by which
 * sites share runs. Otherwise sets err with the next step. */
static int choose_base(struct share *s, struct err *err)
{
    struct program_end end;
    const char *const args[] = {"ls-remote", "--heads", "--", s->remote, NULL};
    const char *head = NULL;
    size_t count = 0, all = 0;
    if (share_git(s, ASK_LIMIT_S, args, (struct str){0}, &end, err))
        return -1;
    int rc = end.status ? program_err(&end, err, "the remote %s does not answer", s->remote) : 0;
    for (struct str text = rc ? (struct str){0} : buf_text(&end.out); text.p;) {
        struct str line = str_cut(&text, '\n'), id = str_cut(&line, '\t');
        if (!id.n || !str_starts(line, "refs/heads/"))
            continue;
        all++;
        line = str_sub(line, 11, line.n);
        if (str_starts(line, "benchwrap/"))
            continue;
        count++;
        s->base = arena_dup(s->arena, line.p, line.n);
    }
    program_end_deinit(&end);
    if (rc || count == 1)
        return rc;
    s->base = NULL;
    if (count)
        return err_set(err, ERR_INPUT, "%s has %zu branches and names none of them as the main one: use --base BRANCH", s->remote, count);
    repo_symbolic(s->repo, "HEAD", s->arena, &head, NULL);
    const char *local = head && strncmp(head, "refs/heads/", 11) == 0 ? head + 11 : "main";
    return err_set(err, ERR_INPUT, "%s %s; push its first commit: git push -u %s %.200s", s->remote,
                   all ? "has no main branch" : "is empty", s->remote, local);
}

/* Fetches the target branch into its tracking branch and sets s->target; a partial clone also
 * fetches what it lacks of it. Returns -1 with err. */
static int fetch_target(struct share *s, struct err *err)
{
    struct program_end end;
    const char *to = arena_printf(s->arena, "refs/remotes/%s/%s", s->remote, s->base);
    const char *spec = arena_printf(s->arena, "+refs/heads/%s:%s", s->base, to);
    const char *const args[] = {"fetch",   "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--",
                                s->remote, spec,      NULL};
    if (share_git(s, NET_LIMIT_S, args, (struct str){0}, &end, err))
        return -1;
    bool none = end.status && end.words.p && strstr(end.words.p, "couldn't find remote ref");
    int rc =
        none ? err_set(err, ERR_INPUT, "%s has no branch %s; push its first commit: git push -u %s %s, or use --base with another branch",
                       s->remote, s->base, s->remote, s->base)
        : end.status ? program_err(&end, err, "git fetch from %s", s->remote)
                     : 0;
    program_end_deinit(&end);
    if (rc)
        return rc;
    repo_refresh(s->repo);
    if (repo_ref(s->repo, to, &s->target, err))
        return err_wrap(err, "%s/%s was fetched and is not there", s->remote, s->base);
    return partial_complete(s->repo, &s->target, err); /* check compares with all published runs */
}

/* ---- the forge ---- */

/* Determines the forges of both remotes from their addresses and git's configuration. Returns -1
 * with err. */
static int find_forge(struct share *s, struct err *err)
{
    const char *url = NULL, *to = NULL;
    struct forge_named named = {.kind = git_config_value(s, "benchwrap.forge"),
                                .web = git_config_value(s, "benchwrap.forgeUrl"),
                                .api = git_config_value(s, "benchwrap.forgeApi")};
    const char *which = s->remote;
    int rc = repo_remote_url(s->repo, which, false, s->arena, &url, err);
    if (rc == 0) {
        which = s->to;
        rc = repo_remote_url(s->repo, which, true, s->arena, &to, err);
    }
    if (rc > 0)
        return err_set(err, ERR_INPUT, "the remote %s has no address: git config remote.%s.url ADDRESS", which, which);
    if (rc)
        return -1;
    return forge_place_of(&s->target_place, url, &named, s->env, s->arena, err) ||
                   forge_place_of(&s->source_place, to, &named, s->env, s->arena, err)
               ? -1
               : 0;
}

/* Redacts the reason for sharing without check as records are: others read it in the pull request.
 * Returns -1 with err. */
static int clean_reason(struct share *s, struct err *err)
{
    struct redaction r;
    if (!s->no_check)
        return 0;
    int rc = redaction_begin_here(&r, s->results.public_profile, s->env, err);
    if (rc == 0 && !(s->no_check = redaction_text(&r, s->no_check, s->arena)))
        rc = err_memory(err, "the remotes");
    redaction_end(&r);
    return rc;
}

int share_find_places(struct share *s, struct err *err)
{
    const char *base = s->options.base;
    if (plan_results(&s->plan, NULL, true, s->arena, &s->results, err))
        return -1;
    s->repo = s->results.repo;
    if (s->results.public_profile && !s->results.has_site) {
        err_set(err, ERR_INPUT, "this clone has no site, and a public repository names the site of each run");
        const char *folder = shell_word_text(repo_workdir(s->repo) ? repo_workdir(s->repo) : repo_dir(s->repo), s->arena);
        return folder ? err_hint(err, "benchwrap init --site NAME %s", folder) : -1;
    }
    s->branch = s->results.branch + strlen("refs/heads/");
    s->site = s->results.site;
    s->dir = repo_workdir(s->repo) ? repo_workdir(s->repo) : repo_dir(s->repo);
    if (clean_reason(s, err) || find_remotes(s, err) || find_forge(s, err))
        return -1;
    s->base = base ? base : git_config_value(s, "benchwrap.base");
    if (s->base && check_name(s, "--base", s->base, true, err))
        return -1;
    if (ask_remote(s, s->to, err) || (!s->base && strcmp(s->to, s->remote) != 0 && ask_remote(s, s->remote, err)))
        return -1;
    if (!s->base && choose_base(s, err))
        return -1;
    if (check_name(s, "the remote's main branch", s->base, true, err))
        return -1;
    s->was_pushed = repo_ref(s->repo, share_ref(s, "pushed"), &s->pushed, NULL) == 0;
    return fetch_target(s, err);
}
