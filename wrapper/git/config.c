/* config.c: git's configuration as git itself would read it: libgit2's, or, where it does not know all sources, git's own word. */
#include "git/program.h"
#include "git/repo_state.h"

#include <stdlib.h>

enum { TOLD_BYTES = 16 << 20 };

bool config_env_on(const struct git2 *git, const char *variable)
{
    const char *text = getenv(variable);
    int on;
    return text && git->git_config_parse_bool(&on, text) == 0 && on;
}

/* Adds the files that git reads instead of the user's and the system's where the environment names
 * them (git(1), GIT_CONFIG_GLOBAL and similar variables); libgit2 does not read them. */
static int add_named_config(struct repo *r, git_config *config)
{
    const char *global = getenv("GIT_CONFIG_GLOBAL"), *system = getenv("GIT_CONFIG_SYSTEM");
    bool no_system = config_env_on(r->git, "GIT_CONFIG_NOSYSTEM");
    const struct {
        const char *file;
        git_config_level_t level;
    } rows[] = {{no_system ? "/dev/null" : system, GIT_CONFIG_LEVEL_SYSTEM},
                {global ? "/dev/null" : NULL, GIT_CONFIG_LEVEL_XDG},
                {global && !*global ? "/dev/null" : global, GIT_CONFIG_LEVEL_GLOBAL}};
    int rc = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && rc == 0; i++)
        if (rows[i].file && *rows[i].file)
            rc = r->git->git_config_add_file_ondisk(config, rows[i].file, rows[i].level, r->repository, 1);
    return rc;
}

static int is_one(const git_config_entry *entry, void *found)
{
    (void)entry;
    *(bool *)found = true;
    return 0;
}

/* Returns whether there are keys that the environment sets, or files that are included where a
 * remote has some address: libgit2 ignores both silently. */
static bool has_more(const struct repo *r)
{
    const char *count = getenv("GIT_CONFIG_COUNT"), *words = getenv("GIT_CONFIG_PARAMETERS");
    bool found = (count && *count) || (words && *words);
    if (!found)
        r->git->git_config_foreach_match(r->config, "^includeif\\.hasconfig:", is_one, &found);
    return found;
}

/* Reads the configuration as git itself reads it, as texts "key\nvalue" that end with NUL, into the
 * buffer of the repository. It stays empty where git is not installed. Returns -1 with err. */
static int config_list(struct repo *r, struct err *err)
{
    const char *argv[] = {"git", "--git-dir", repo_dir(r), "config", "--null", "--list", NULL};
    struct program p = {.argv = argv, .limit_s = 30, .out_max = TOLD_BYTES, .whole = true};
    struct program_end end;
    int rc = program_run(&p, &end, err);
    if (rc == 0 && end.status)
        rc = program_err(&end, err, "reading git's configuration (git config --list)");
    buf_clear(&r->told);
    r->told.max = TOLD_BYTES;
    if (rc == 0) {
        buf_str(&r->told, buf_text(&end.out));
        if (r->told.failed)
            rc = err_memory(err, "git's configuration");
    }
    program_end_deinit(&end);
    return rc < 0 ? -1 : 0; /* 1: there is no git here whose word would count */
}

void config_drop(struct repo *r)
{
    r->git->git_config_free(r->config);
    r->config = NULL;
    buf_deinit(&r->told);
}

int config_take(struct repo *r, struct err *err)
{
    git_config *config = NULL, *snapshot = NULL;
    int rc = r->git->git_repository_config(&config, r->repository);
    if (rc == 0)
        rc = add_named_config(r, config);
    if (rc == 0)
        rc = r->git->git_config_snapshot(&snapshot, config);
    r->git->git_config_free(config);
    if (rc)
        return git2_err(err, rc, "reading git's configuration");
    config_drop(r);
    r->config = snapshot;
    return has_more(r) ? config_list(r, err) : 0;
}

/* Returns whether the text is the key. Sections and names of keys are in any case of letters, the
 * part between them is case-sensitive: "gpg.ssh.program". */
static bool is_config_key(struct str told, const char *key)
{
    const char *first = strchr(key, '.'), *last = strrchr(key, '.');
    if (!first || !str_is_anycase(told, key))
        return false;
    return strncmp(told.p + (first - key), first, (size_t)(last - first) + 1) == 0;
}

/* Finds the last value that git reported, which a NUL ends. 0; 1: it has none; ret->p NULL: the
 * key has no value, which means true. */
static int told_value(const struct repo *r, const char *key, struct str *ret)
{
    struct str rest = buf_text(&r->told);
    int rc = 1;
    while (rest.p && rest.n) {
        struct str value = str_cut(&rest, '\0'), name = str_cut(&value, '\n');
        if (is_config_key(name, key)) {
            *ret = value;
            rc = 0;
        }
    }
    return rc;
}

int repo_config(struct repo *r, const char *key, struct arena *a, const char **ret, struct err *err)
{
    struct str told = {"", 0};
    const char *text = NULL;
    int rc = r->told.n ? told_value(r, key, &told) : r->git->git_config_get_string(&text, r->config, key);
    if (rc == GIT_ENOTFOUND || rc > 0)
        return 1;
    if (rc)
        return git2_err(err, rc, "git's configuration, %s", key);
    if (text)
        told = str_of(text);
    *ret = arena_dup(a, told.p ? told.p : "", told.n);
    return *ret ? 0 : err_memory(err, "git's configuration");
}

bool repo_config_on(struct repo *r, const char *key, bool otherwise)
{
    struct str told;
    int on;
    if (!r->told.n)
        return r->git->git_config_get_bool(&on, r->config, key) == 0 ? on : otherwise;
    return told_value(r, key, &told) == 0 && r->git->git_config_parse_bool(&on, told.p) == 0 ? on : otherwise;
}

int repo_config_set(struct repo *r, const char *key, const char *value, struct err *err)
{
    git_config *all = NULL, *own = NULL;
    int rc = r->git->git_repository_config(&all, r->repository);
    if (rc == 0)
        rc = r->git->git_config_open_level(&own, all, GIT_CONFIG_LEVEL_LOCAL);
    if (rc == 0)
        rc = value ? r->git->git_config_set_string(own, key, value) : r->git->git_config_delete_entry(own, key);
    if (rc == GIT_ENOTFOUND && !value)
        rc = 0;
    if (rc)
        git2_err(err, rc, "writing %s to %sconfig", key, repo_common(r));
    r->git->git_config_free(own);
    r->git->git_config_free(all);
    return rc ? -1 : config_take(r, err);
}
