/* aws_files.c: keys of Amazon Web Services in the shared files ~/.aws/credentials and ~/.aws/config. */
#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/query.h"
#include "base/secret.h"
#include "exporters/aws_credentials.h"

#include <errno.h>
#include <string.h>

enum { AWS_FILE_BYTES = 1 << 20, PROGRAM_WORDS = 32, PROGRAM_MS = 30000 };

/* The settings of a profile. */
struct aws_profile {
    const char *key, *secret, *token, *process, *role;
};

static const char *aws_file_path(const struct exporter_link *l, const char *variable, const char *name)
{
    const char *path = env_text(l->env, variable), *home = env_text(l->env, "HOME");
    return path ? path : home ? arena_printf(l->arena, "%s/.aws/%s", home, name) : NULL;
}

static bool is_aws_section(struct str line, const char *profile, bool is_config)
{
    struct str name = str_trim(str_sub(line, 1, line.n - 2));
    if (is_config && str_starts(name, "profile ") && strcmp(profile, "default") != 0)
        name = str_trim(str_sub(name, 8, name.n));
    return str_is(name, profile);
}

/* Copies a setting of the profile into p, unless an earlier line had it. Other settings are ignored. */
static void keep_aws_setting(struct exporter_link *l, struct str line, struct aws_profile *p)
{
    struct str value = line, name = str_trim(str_cut(&value, '='));
    const struct {
        const char *name;
        const char **to;
    } settings[] = {{"aws_access_key_id", &p->key},   {"aws_secret_access_key", &p->secret},
                    {"aws_session_token", &p->token}, {"credential_process", &p->process},
                    {"role_arn", &p->role},           {"sso_session", &p->role},
                    {"sso_account_id", &p->role}};
    for (size_t i = 0; value.p && i < sizeof settings / sizeof *settings; i++)
        if (str_is(name, settings[i].name) && !*settings[i].to) {
            struct str text = str_trim(value);
            *settings[i].to = arena_dup(l->arena, text.p, text.n);
        }
}

/* Returns 0, 1: path is NULL or the file is missing, -1 with err. The file with keys must be closed to
 * group and others; ~/.aws/config need not be. */
static int load_aws_file(const char *path, bool is_config, struct buf *to, struct err *err)
{
    if (!path)
        return 1;
    if (!is_config)
        return secret_read(path, false, AWS_FILE_BYTES, to, err);
    CLEANUP_FD int fd = place_open_named(path);
    if (fd < 0)
        return errno == ENOENT ? 1 : err_sys(err, "cannot open %s", path);
    return fs_read_open(fd, path, AWS_FILE_BYTES, 0, to, err);
}

/* Reads the settings of one profile from a file of the AWS tools into p, in the link's arena. 0,
 * also where there is no such file; -1 with err. The text, which may have secrets, is erased. */
static int read_aws_file(struct exporter_link *l, const char *path, const char *profile, bool is_config, struct aws_profile *p,
                         struct err *err)
{
    struct buf text CLEANUP_BUF;
    bool inside = false;
    buf_init(&text, AWS_FILE_BYTES);
    int rc = load_aws_file(path, is_config, &text, err);
    struct str rest = rc == 0 ? buf_text(&text) : STR("");
    while (rest.p && rest.n) {
        struct str line = str_cut(&rest, '\n');
        if (line.n && str_is_blank(line.p[0]))
            continue; /* of a nested setting */
        line = str_trim(line);
        if (line.n > 2 && line.p[0] == '[' && line.p[line.n - 1] == ']')
            inside = is_aws_section(line, profile, is_config);
        else if (inside && line.n && line.p[0] != '#' && line.p[0] != ';')
            keep_aws_setting(l, line, p);
    }
    if (text.p)
        explicit_bzero(text.p, text.size);
    return rc < 0 ? -1 : l->arena->failed ? err_memory(err, "keys") : 0;
}

/* Runs the program of the profile: words with blanks between them, or within double quotes. */
static int run_aws_process(struct exporter_link *l, const char *line, struct aws_credentials *ret, struct err *err)
{
    char *argv[PROGRAM_WORDS + 1];
    size_t n = 0;
    const char *p = line;
    while (*p && n < PROGRAM_WORDS) {
        bool quoted = *p == '"';
        size_t len = quoted ? strcspn(p + 1, "\"") : strcspn(p, " ");
        if (len || quoted)
            argv[n++] = arena_dup(l->arena, p + quoted, len);
        p += len + quoted;
        p += *p ? 1 : 0;
    }
    argv[n] = NULL;
    struct query q = QUERY_NONE;
    int64_t left = (l->until_ns - clock_mono_ns()) / 1000000, limit = left < PROGRAM_MS ? left : PROGRAM_MS;
    if (l->arena->failed || n == 0 || limit <= 0)
        return err_set(err, ERR_SYSTEM, "credential_process: %s", limit <= 0 ? "no time is left" : "expected a program");
    if (p[strspn(p, " ")])
        return err_set(err, ERR_INPUT, "credential_process: %s: more than %d words", argv[0], PROGRAM_WORDS);
    if (query_start(&q, argv, l->env, AWS_FILE_BYTES, limit, 0, err))
        return err_wrap(err, "credential_process: %s", argv[0]);
    enum query_end end = query_wait(&q, limit);
    int rc = end != QUERY_DONE ? err_set(err, ERR_SYSTEM, "credential_process: %s did not end in time, or cannot be run", argv[0])
             : q.status        ? err_set(err, ERR_SYSTEM, "credential_process: %s failed", argv[0])
                               : aws_credentials_parse(l, buf_text(&q.text), ret, err);
    if (q.text.p)
        explicit_bzero(q.text.p, q.text.size);
    query_close(&q);
    return rc;
}

int aws_files_read(struct exporter_link *l, struct aws_credentials *ret, struct err *err)
{
    struct aws_profile p = {.key = NULL};
    const char *name = exporter_text(l->config, AWS_KEY_PROFILE);
    bool named = name || env_text(l->env, "AWS_PROFILE");
    name = name ? name : env_text(l->env, "AWS_PROFILE");
    name = name ? name : "default";
    if (read_aws_file(l, aws_file_path(l, "AWS_SHARED_CREDENTIALS_FILE", "credentials"), name, false, &p, err) ||
        read_aws_file(l, aws_file_path(l, "AWS_CONFIG_FILE", "config"), name, true, &p, err))
        return -1;
    if (p.key && p.secret) {
        *ret = (struct aws_credentials){p.key, p.secret, p.token, arena_printf(l->arena, "the profile %s", name)};
        return 0;
    }
    if (p.process) {
        if (run_aws_process(l, p.process, ret, err))
            return -1;
        ret->source = arena_printf(l->arena, "the program of the profile %s", name);
        return 0;
    }
    if (p.role)
        return err_set(err, ERR_INPUT,
                       "the profile %s uses a role or a single sign-on: set credential_process to "
                       "\"aws configure export-credentials --profile %s\" in another profile",
                       name, name);
    return named ? err_set(err, ERR_INPUT, "the profile %s has no keys in ~/.aws/credentials and ~/.aws/config", name) : 1;
}
