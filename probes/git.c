/* git.c: reads the state of a repository. libgit2 is loaded at run time, so that neither build nor
 * recorder depends on its version. Only functions with the same signature since 1.0 are called. */
#include "probes/git.h"

#include "base/library.h"
#include "probes/look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What of libgit2 is used. */
struct source_git {
    int (*init)(void);
    int (*open)(void **repository, const char *path, unsigned flags, const char *ceilings);
    void (*close)(void *repository);
    int (*head)(void **reference, void *repository);
    const char *(*shorthand)(const void *reference);
    int (*is_branch)(const void *reference);
    const void *(*target)(const void *reference);
    char *(*oid_text)(char *to, size_t size, const void *oid);
    int (*remote)(void **remote, void *repository, const char *name);
    const char *(*url)(const void *remote);
    int (*status_each)(void *repository, int (*each)(const char *path, unsigned flags, void *context), void *context);
    const struct git_problem {
        char *message;
        int class;
    } * (*problem)(void);
};

/* Sets the functions of libgit2. Returns false where the library lacks one. */
static bool source_git_load(void *library, struct source_git *g)
{
    const struct library_function rows[] = {
        {"git_libgit2_init", &g->init},
        {"git_repository_open_ext", &g->open},
        {"git_repository_free", &g->close},
        {"git_repository_head", &g->head},
        {"git_reference_shorthand", &g->shorthand},
        {"git_reference_is_branch", &g->is_branch},
        {"git_reference_target", &g->target},
        {"git_oid_tostr", &g->oid_text},
        {"git_remote_lookup", &g->remote},
        {"git_remote_url", &g->url},
        {"git_status_foreach", &g->status_each},
        {"git_error_last", &g->problem},
    };
    return !library_take(library, rows, sizeof rows / sizeof *rows);
}

struct source_git_facts {
    const struct host *h;
    struct record *r;
};

static void source_git_emit_line(const struct source_git_facts *t, const char *key, struct str value)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 8192);
    for (size_t i = 0; i < value.n && i < 4000; i++) /* a branch cannot hold LF, a URL in the configuration can */
        buf_putc(&text, (unsigned char)value.p[i] < ' ' ? ' ' : value.p[i]);
    emit_tag(t->h, t->r, key, buf_text(&text));
}

static void source_git_emit_error(const struct source_git *g, const struct source_git_facts *t, const char *key, const char *what)
{
    const struct git_problem *p = g->problem();
    emit_missing(t->h, t->r, key, "%s: %s", what, p && p->message ? p->message : "unknown error");
}

/* Records the URL without user and password: "https://user:token@host/x" is "https://host/x"; the
 * "git@" of "git@host:x" is no secret. */
static void source_git_emit_url(const struct source_git_facts *t, struct str url)
{
    ptrdiff_t scheme = str_find(url, STR("://"));
    struct buf text CLEANUP_BUF;
    buf_init(&text, 8192);
    size_t from = scheme < 0 ? 0 : (size_t)scheme + 3, to = from;
    for (size_t i = from; scheme >= 0 && i < url.n && url.p[i] != '/'; i++)
        if (url.p[i] == '@')
            to = i + 1;
    buf_str(&text, str_sub(url, 0, from));
    buf_str(&text, str_sub(url, to, url.n));
    source_git_emit_line(t, "mlflow.source.git.repoURL", buf_text(&text));
}

static const char commit_key[] = "mlflow.source.git.commit", dirty_key[] = "mlflow.source.git.dirty";
enum { IGNORED = 1 << 14, NEW_IN_TREE = 1 << 7 };

/* Notes that a tracked file was changed, as MLflow and `git describe --dirty` do. Returns 1 to
 * stop: one is enough. */
static int source_git_note_change(const char *path, unsigned flags, void *context)
{
    (void)path;
    if (flags == 0 || flags & (IGNORED | NEW_IN_TREE))
        return 0;
    *(bool *)context = true;
    return 1;
}

static void source_git_emit_dirty(const struct source_git *g, void *repository, const struct source_git_facts *t)
{
    bool dirty = false;
    if (g->status_each(repository, source_git_note_change, &dirty) < 0 && !dirty)
        source_git_emit_error(g, t, dirty_key, "the state of the working tree");
    else
        source_git_emit_line(t, dirty_key, dirty ? STR("true") : STR("false"));
}

/* Records commit, branch, URL and local changes. Without a commit it records the error only. */
static void source_git_emit_head(const struct source_git *g, void *repository, const struct source_git_facts *t)
{
    void *head = NULL, *remote = NULL;
    char hex[65] = "";
    if (g->head(&head, repository) != 0) {
        source_git_emit_error(g, t, commit_key, "the repository's HEAD"); /* no commit yet */
        return;
    }
    const void *oid = g->target(head);
    if (oid)
        source_git_emit_line(t, commit_key, str_of(g->oid_text(hex, 41, oid)));
    if (g->is_branch(head))
        source_git_emit_line(t, "mlflow.source.git.branch", str_of(g->shorthand(head)));
    if (g->remote(&remote, repository, "origin") == 0 && g->url(remote))
        source_git_emit_url(t, str_of(g->url(remote)));
    source_git_emit_dirty(g, repository, t);
}

/* Returns whether the directory is in a repository: loading libgit2 costs more than all other
 * probes. Searches .git (a folder, or a file in worktrees and submodules) upwards, as git does. A
 * bare repository holds no program's files. */
static bool source_git_in_repository(const char *directory)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s", directory);
    if (n < 0 || (size_t)n + sizeof "/.git" > sizeof path || path[0] != '/')
        return true; /* libgit2 knows better */
    for (;;) {
        size_t end = strlen(path);
        memcpy(path + end, "/.git", sizeof "/.git");
        if (access(path, F_OK) == 0 || errno == EACCES)
            return true;
        path[end] = 0;
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
}

void source_git_emit(const char *directory, const struct host *h, struct record *r)
{
    const struct source_git_facts t = {h, r};
    if (!getenv("GIT_DIR") && !source_git_in_repository(directory))
        return;
    struct source_git g;
    void *library = library_open(LIBRARY_GIT2), *repository = NULL;
    if (!library || !source_git_load(library, &g) || g.init() < 0) {
        emit_missing(h, r, commit_key, "libgit2 is not installed; the program's repository was not read");
        return;
    }
    int done = g.open(&repository, directory, 0, NULL);
    if (done == 0)
        source_git_emit_head(&g, repository, &t);
    else if (done != -3) /* not found: in no repository */
        source_git_emit_error(&g, &t, commit_key, "the program's repository");
}
