/* configuration.c: reads the options of configuration files, and what those of a results repository,
 * which a stranger may have written, may not set. */
#include "plan/configuration.h"

#include "base/fs.h"
#include "base/place.h"
#include "base/yaml.h"
#include "launch/options.h"
#include "plan/paths.h"
#include "plan/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAN_FILE_MAX = 1 << 20 };

/* Sets an option from a configuration file; a wrong value becomes a warning. "private" never
 * replaces "public" that a file has set before. */
static void plan_assign(struct plan *p, const struct yaml *key, const char *text, enum opt_origin origin, const char *file)
{
    struct err err = {0};
    const char *where = arena_printf(&p->arena, "%s:%d", file, key->line);
    const char *name = arena_dup(&p->arena, key->key.p, key->key.n);
    const struct opt_value *before = opt_find(&p->opts, OPTION_PROFILE); /* of files the stricter one holds */
    if (str_is(key->key, "profile") && text && strcmp(text, "private") == 0 && before->origin > OPT_DEFAULT &&
        before->origin < OPT_ENVIRONMENT && strcmp(before->text, "public") == 0)
        return;
    if (where && name && text && opt_assign(&p->opts, name, text, origin, where, &err) != 0)
        plan_warn(p, arena_printf(&p->arena, "%s; ignored", err.text));
}

static void plan_warn_of_exporter(void *plan, const char *text)
{
    plan_warn(plan, text);
}

/* Reads one entry of a file: a text, a list of texts, or for KEY=VALUE options a map. */
static void plan_read_entry(struct plan *p, const struct yaml *entry, enum opt_origin origin, const char *file)
{
    if (yaml_is_null(entry))
        return;
    if (str_is(entry->key, "exporters")) {
        exporter_configs_read(&p->exporters, &p->exporter_variables, entry, origin, file, &p->arena, plan_warn_of_exporter, p);
        return;
    }
    if (entry->kind == YAML_SCALAR) {
        plan_assign(p, entry, arena_dup(&p->arena, entry->text.p, entry->text.n), origin, file);
        return;
    }
    for (const struct yaml *y = entry->child; y; y = y->next) {
        if (y->kind != YAML_SCALAR) {
            plan_warn(p, arena_printf(&p->arena, "%s:%d:%d: expected a text; ignored", file, y->line, y->column));
            continue;
        }
        const char *text = entry->kind == YAML_LIST ? arena_dup(&p->arena, y->text.p, y->text.n)
                                                    : arena_printf(&p->arena, STR_FMT "=" STR_FMT, STR_ARG(y->key), STR_ARG(y->text));
        plan_assign(p, entry, text, origin, file);
    }
}

/* ---- the files of a results repository, which a stranger may have written ---- */

struct foreign_file {
    const char *path;
    int repository; /* the folder, open */
    const char *site; /* what the clone's own file may set: benchwrap.site of git; "": anything, there is no git; NULL: nothing */
    bool tracked; /* benchwrap.yaml itself */
    struct buf ignored; /* names with ", " between them */
};

/* Returns whether every user may write the repository's root, or a folder on the way to the file at
 * this relative path. Also true where a folder cannot be examined. */
static bool is_way_open(int repository, const char *path)
{
    char folder[PATH_MAX];
    struct stat st;
    if (fstat(repository, &st) != 0 || st.st_mode & S_IWOTH)
        return true;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if ((size_t)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path) >= sizeof folder)
            return true;
        CLEANUP_FD int fd = place_open(repository, folder, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0 || fstat(fd, &st) != 0 || st.st_mode & S_IWOTH)
            return true;
    }
    return false;
}

bool plan_is_planted(struct plan *p, int repository, const char *path, int fd)
{
    struct stat st;
    char owner[64];
    if (fstat(fd, &st) != 0) {
        plan_warn(p, arena_printf(&p->arena, "cannot examine %s: %s; ignored", path, err_words(errno)));
        return true;
    }
    if (place_is_trusted(st.st_uid) || !is_way_open(repository, path))
        return false;
    plan_warn(p, arena_printf(&p->arena, "%s belongs to %s, in a folder that all users may write; ignored", path,
                              place_owner(st.st_uid, owner, sizeof owner)));
    return true;
}

/* Adds the option to those that the file may not set: with the reason, else with the nearest name
 * where no option is called so. */
static void ignore_name(struct plan *p, struct foreign_file *f, struct str name, const char *why)
{
    bool known = why != NULL;
    for (size_t i = 0; i < plan_rows_count && !known; i++)
        known = str_is(name, plan_rows[i].name);
    const char *near = known ? NULL : opt_nearest(&p->opts, name);
    if (f->ignored.n)
        buf_puts(&f->ignored, ", ");
    buf_plain(&f->ignored, name, 60);
    if (why || near)
        buf_printf(&f->ignored, " (%s%s%s)", near ? "did you mean " : "", near ? near : why, near ? "?" : "");
}

/* Returns whether the tag is one of benchwrap, MLflow or the site, which a repository's file must
 * not set. */
static bool is_reserved_tag(struct str key)
{
    return str_starts(key, "benchwrap.") || str_starts(key, "mlflow.") || str_is(key, "site") || str_is(key, "user");
}

/* Returns whether the tags of the entry are free ones; else the entry is noted as ignored. */
static bool may_set_tags(struct plan *p, struct foreign_file *f, const struct yaml *entry)
{
    for (const struct yaml *y = entry->kind == YAML_SCALAR ? entry : entry->child; y; y = entry->kind == YAML_SCALAR ? NULL : y->next) {
        struct str rest = y->text, key = entry->kind == YAML_MAP ? y->key : str_cut(&rest, '=');
        if (is_reserved_tag(str_trim(key))) {
            ignore_name(p, f, entry->key, "a tag of benchwrap, MLflow or the site");
            return false;
        }
    }
    return true;
}

/* Returns whether the reference file that the entry names is "none", or a file of the repository that
 * no other user can have created there; else the entry is noted as ignored. */
static bool may_refer(struct plan *p, struct foreign_file *f, const struct yaml *entry)
{
    const char *path = entry->kind == YAML_SCALAR ? arena_dup(&p->arena, entry->text.p, entry->text.n) : NULL;
    CLEANUP_FD int fd = path && f->tracked ? place_open(f->repository, path, O_RDONLY, 0) : -1;
    if (fd >= 0 && plan_is_planted(p, f->repository, path, fd)) {
        ignore_name(p, f, entry->key, "another user can have put the file there");
        return false;
    }
    if (fd >= 0 || (path && strcmp(path, "none") == 0))
        return true;
    ignore_name(p, f, entry->key, f->tracked ? "expected a file inside the repository, without links" : NULL);
    return false;
}

/* Returns whether a results repository's file may set the option; one that it may not is noted as
 * ignored. */
static bool repository_may_set(struct plan *p, struct foreign_file *f, const struct yaml *entry)
{
    static const char *const names[] = {"experiment", "cluster", "profile", "commit", "param"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(entry->key, names[i]))
            return true;
    if (str_is(entry->key, "tag"))
        return may_set_tags(p, f, entry);
    if (str_is(entry->key, "reference"))
        return may_refer(p, f, entry);
    if (str_is(entry->key, "site") && f->site && (!*f->site || str_is(entry->text, f->site)))
        return true;
    ignore_name(p, f, entry->key,
                str_is(entry->key, "site")        ? "for this clone: git config benchwrap.site NAME"
                : str_is(entry->key, "exporters") ? "only in your own configuration"
                                                  : NULL);
    return false;
}

/* Reads a configuration file, where it exists, into the options. foreign: a file of a repository,
 * which may set few of them. What is wrong becomes a warning, never an error. */
static void plan_read_file(struct plan *p, const char *path, enum opt_origin origin, struct foreign_file *foreign)
{
    struct plan_file *f = path ? ARENA_NEW(&p->arena, struct plan_file) : NULL, **at = &p->files;
    if (!f)
        return;
    while (*at)
        at = &(*at)->next;
    *f = (struct plan_file){.path = path, .origin = origin};
    *at = f;
    CLEANUP_BUF struct buf text;
    buf_init(&text, PLAN_FILE_MAX);
    struct err err = {0};
    CLEANUP_FD int fd = foreign ? place_open(foreign->repository, foreign->path, O_RDONLY, 0) : -1;
    if (fd >= 0 && plan_is_planted(p, foreign->repository, foreign->path, fd))
        return;
    int rc = !foreign ? fs_read(AT_FDCWD, path, PLAN_FILE_MAX, 0, &text, &err)
             : fd < 0 ? err_sys(&err, "cannot open %s", path)
                      : fs_read_open(fd, path, PLAN_FILE_MAX, 0, &text, &err);
    if (rc < 0) {
        if (err.sys != ENOENT && err.sys != ENOTDIR)
            plan_warn(p, arena_printf(&p->arena, "%s; ignored", err.text));
        return;
    }
    f->found = true;
    struct yaml *doc = NULL;
    char *copy = arena_dup(&p->arena, text.p ? text.p : "", text.n);
    if (!copy || yaml_parse(&doc, path, (struct str){copy, text.n}, &p->arena, &err) < 0) {
        plan_warn(p, arena_printf(&p->arena, "%s; the file is ignored", err.text));
        return;
    }
    if (!doc || yaml_is_null(doc))
        return;
    if (doc->kind != YAML_MAP) {
        plan_warn(p,
                  arena_printf(&p->arena, "%s:%d:%d: expected lines \"option: value\"; the file is ignored", path, doc->line, doc->column));
        return;
    }
    for (const struct yaml *y = doc->child; y; y = y->next)
        if (!foreign || repository_may_set(p, foreign, y))
            plan_read_entry(p, y, origin, path);
    if (foreign && foreign->ignored.n)
        plan_warn(p, arena_printf(&p->arena, "%s: ignored " STR_FMT, path, STR_ARG(buf_text(&foreign->ignored))));
}

/* Reads the options that the results repository sets: its site, benchwrap.yaml, and the clone's own
 * .benchwrap/config.yaml. Without a repository there are none. */
static void plan_read_repository(struct plan *p)
{
    struct arena *a = &p->arena;
    static const char *const names[] = {"benchwrap.yaml", ".benchwrap/config.yaml"};
    const char *root = !p->repository ? NULL : strcmp(p->repository, "/") ? p->repository : "", *site = NULL;
    CLEANUP_FD int dir = p->repository ? place_open_folder(p->repository, 0) : -1;
    if (dir < 0)
        return;
    bool has_git = plan_in_git(p->repository);
    if (has_git && (site = plan_git_site(p->repository, a)))
        opt_assign(&p->opts, "site", site, OPT_REPOSITORY, "git config benchwrap.site", NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct foreign_file f = {.path = names[i], .repository = dir, .tracked = i == 0, .site = i == 0 ? NULL : has_git ? site : ""};
        buf_init(&f.ignored, 900);
        plan_read_file(p, arena_printf(a, "%s/%s", root, names[i]), OPT_REPOSITORY, &f);
        buf_deinit(&f.ignored);
    }
}

void plan_read_configuration(struct plan *p)
{
    plan_read_file(p, "/etc/benchwrap.yaml", OPT_SYSTEM, NULL);
    plan_read_file(p, p->config_dir ? arena_printf(&p->arena, "%s/config.yaml", p->config_dir) : NULL, OPT_USER, NULL);
    plan_read_repository(p);
}
