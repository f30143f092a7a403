/* commit.c: commits as git makes them; see commit.h. */
#include "git/commit.h"

#include "git/objects.h"
#include "git/program.h"
#include "git/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COMMIT_BYTES = 1 << 20 };

/* Returns the text without what git does not allow in a name, in the arena. */
static const char *commit_clean(const char *text, struct arena *a)
{
    char *to = arena_dup(a, text, strlen(text));
    size_t n = 0;
    for (const char *p = text; to && *p; p++)
        if ((unsigned char)*p >= ' ' && *p != 0x7f && !strchr("<>", *p))
            to[n++] = *p;
    while (n && strchr(" .,:;\"\\'", to[n - 1]))
        n--;
    if (to)
        to[n] = 0;
    return to ? to + strspn(to, " .,:;\"\\'") : NULL;
}

/* Returns the first of GIT_AUTHOR_NAME, author.name, user.name that is set. */
static const char *commit_first_of(struct repo *r, struct arena *a, const char *variable, const char *key, const char *otherwise)
{
    const char *text = variable ? getenv(variable) : NULL;
    if (text && *text)
        return text;
    if (key && repo_config(r, key, a, &text, NULL) == 0 && *text)
        return text;
    return repo_config(r, otherwise, a, &text, NULL) == 0 && *text ? text : NULL;
}

/* Reads time and zone as git reads GIT_AUTHOR_DATE and GIT_COMMITTER_DATE, which come in many
 * forms. Returns -1 with err. */
static int named_time(const char *role, const char *variable, struct commit_person *p, struct arena *a, struct err *err)
{
    const char *set[] = {arena_printf(a, "GIT_%s_NAME=x", role), arena_printf(a, "GIT_%s_EMAIL=x", role), NULL};
    const char *argv[] = {"git", "var", arena_printf(a, "GIT_%s_IDENT", role), NULL};
    struct program_end end;
    struct program run = {.argv = argv, .set = set, .limit_s = 10};
    int64_t zone;
    if (a->failed)
        return err_memory(err, "a commit");
    int rc = program_run(&run, &end, err);
    if (rc == 0 && end.status)
        rc = program_err(&end, err, "%s", variable);
    struct str line = str_trim(buf_text(&end.out)),
               date = rc ? line : str_sub(line, strlen("x <x> "), line.n); /* "x <x> 1700000000 +0130" */
    if (rc == 0 && (!str_int(str_cut(&date, ' '), &p->time_s) || !str_int(date, &zone)))
        rc = err_set(err, ERR_SYSTEM, "%s: git reports \"" STR_FMT "\"", variable, STR_ARG(line));
    if (rc == 0)
        p->offset_min = (int)(zone / 100 * 60 + zone % 100);
    program_end_deinit(&end);
    return rc ? -1 : 0;
}

static int commit_time(const char *role, struct commit_person *p, struct arena *a, struct err *err)
{
    const char *variable = arena_printf(a, "GIT_%s_DATE", role), *named = variable ? getenv(variable) : NULL;
    time_t t = time(NULL);
    struct tm local;
    if (named && *named)
        return named_time(role, variable, p, a, err);
    p->time_s = t;
    p->offset_min = localtime_r(&t, &local) ? (int)(local.tm_gmtoff / 60) : 0;
    return 0;
}

/* Reads name, email and time of the author or committer ("AUTHOR" or "COMMITTER"), as git does:
 * environment first, then configuration. Texts are in the arena. Returns 1 with err when git does
 * not know name or email, -1 with err. */
static int commit_read_person(struct repo *r, struct arena *a, const char *role, const char *section, struct commit_person *ret,
                              struct err *err)
{
    const char *name = commit_first_of(r, a, arena_printf(a, "GIT_%s_NAME", role), arena_printf(a, "%s.name", section), "user.name");
    const char *email = commit_first_of(r, a, arena_printf(a, "GIT_%s_EMAIL", role), arena_printf(a, "%s.email", section), "user.email");
    if (!email && !repo_config_on(r, "user.useconfigonly", false))
        email = getenv("EMAIL");
    *ret = (struct commit_person){.name = name ? commit_clean(name, a) : NULL, .email = email ? commit_clean(email, a) : NULL};
    if (a->failed)
        return err_memory(err, "a commit");
    if (!ret->name || !*ret->name || !ret->email || !*ret->email) {
        err_set(
            err, ERR_INPUT,
            "git does not know who commits: git config --global user.name \"Your Name\"; git config --global user.email you@example.org");
        return 1;
    }
    return commit_time(role, ret, a, err);
}

int commit_author(struct repo *r, struct arena *a, struct commit_person *ret, struct err *err)
{
    return commit_read_person(r, a, "AUTHOR", "author", ret, err);
}

int commit_committer(struct repo *r, struct arena *a, struct commit_person *ret, struct err *err)
{
    return commit_read_person(r, a, "COMMITTER", "committer", ret, err);
}

static void print_person(struct buf *to, const char *role, const struct commit_person *p)
{
    int minutes = abs(p->offset_min);
    buf_printf(to, "%s %s <%s> %lld %c%02d%02d\n", role, p->name, p->email, (long long)p->time_s, p->offset_min < 0 ? '-' : '+',
               minutes / 60, minutes % 60);
}

static void print_head(struct buf *to, const struct commit_draft *d)
{
    char hex[REPO_HEX];
    repo_id_hex(&d->tree, hex);
    buf_printf(to, "tree %s\n", hex);
    for (size_t i = 0; i < d->parent_count; i++) {
        repo_id_hex(&d->parents[i], hex);
        buf_printf(to, "parent %s\n", hex);
    }
    print_person(to, "author", &d->author);
    print_person(to, "committer", &d->committer);
}

int commit_write(struct repo *r, const struct commit_draft *d, const struct signer *signer, struct repo_id *ret, struct err *err)
{
    CLEANUP_BUF struct buf text;
    CLEANUP_BUF struct buf signature;
    CLEANUP_BUF struct buf whole;
    buf_init(&text, COMMIT_BYTES);
    buf_init(&signature, COMMIT_BYTES);
    buf_init(&whole, 3 * COMMIT_BYTES);
    print_head(&text, d);
    print_head(&whole, d);
    buf_printf(&text, "\n%s", d->message);
    if (text.failed)
        return strlen(d->message) >= COMMIT_BYTES / 2 ? err_set(err, ERR_INPUT, "the commit's message is too long")
                                                      : err_memory(err, "a commit");
    if (signer && signer->format) {
        if (sign_text(r, signer, &d->committer, buf_text(&text), &signature, err))
            return err_wrap(err, "signing the commit (commit.gpgSign is set)");
        struct str rest = str_trim(buf_text(&signature));
        for (bool first = true; rest.p && rest.n; first = false) {
            struct str line = str_cut(&rest, '\n');
            buf_printf(&whole, "%s " STR_FMT "\n", first ? "gpgsig" : "", STR_ARG(line));
        }
    }
    buf_printf(&whole, "\n%s", d->message);
    if (whole.failed)
        return err_memory(err, "a commit");
    return objects_write(r, REPO_COMMIT, buf_text(&whole), NULL, ret, err);
}
