/* paths.c: the places that follow from folders, variables and URIs: nothing is made, only read. */
#include "plan/paths.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/str.h"
#include "mlflow/mlflow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the mode of the folder that holds the path; 0 where it is unknown. */
static mode_t place_parent_mode(const char *path)
{
    char parent[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(path, '/');
    int n = snprintf(parent, sizeof parent, "%.*s", slash && slash > path ? (int)(slash - path) : 1, slash ? path : ".");
    return n > 0 && (size_t)n < sizeof parent && stat(parent, &st) == 0 ? st.st_mode : 0;
}

const char *plan_xdg(char **env, const char *name, const char *below_home, struct arena *a)
{
    const char *dir = env_text(env, name), *home = env_text(env, "HOME");
    if (dir && dir[0] == '/')
        return arena_printf(a, "%s/benchwrap", dir);
    return home && home[0] == '/' ? arena_printf(a, "%s/%s/benchwrap", home, below_home) : NULL;
}

const char *plan_absolute(const char *cwd, const char *path, struct arena *a)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 2 && path[0] == '.' && path[1] == '/')
        path += 2, n -= 2;
    if (path[0] == '/')
        return arena_dup(a, path, n);
    if (n == 1 && path[0] == '.')
        return arena_dup(a, cwd, strlen(cwd));
    return arena_printf(a, "%s/%.*s", strcmp(cwd, "/") ? cwd : "", (int)n, path);
}

const char *plan_tree_named(const char *path, struct arena *a)
{
    if (!path || strcmp(str_base_name(path), "mlruns") == 0)
        return path;
    char real[PATH_MAX];
    if (realpath(path, real) && strcmp(str_base_name(real), "mlruns") == 0)
        return arena_dup(a, real, strlen(real));
    return arena_printf(a, "%s/mlruns", strcmp(path, "/") ? path : "");
}

/* Returns a file: URI as a path, decoded; NULL if it names another host or is broken. */
static const char *file_uri_path(const char *uri, struct arena *a)
{
    const char *p = uri + strlen("file:");
    if (p[0] == '/' && p[1] == '/') {
        p += 2;
        if (strncmp(p, "localhost/", 10) == 0)
            p += 9;
        if (p[0] != '/')
            return NULL;
    }
    char *path = arena_get(a, strlen(p) + 1), *to = path;
    for (; path && *p; p++) {
        unsigned hi, lo;
        if (*p != '%') {
            *to++ = *p;
            continue;
        }
        const char *hex = "0123456789abcdef";
        const char *h = p[1] ? strchr(hex, p[1] | 0x20) : NULL, *l = h && p[2] ? strchr(hex, p[2] | 0x20) : NULL;
        if (!h || !l)
            return NULL;
        hi = (unsigned)(h - hex), lo = (unsigned)(l - hex);
        if (hi * 16 + lo == 0)
            return NULL;
        *to++ = (char)(hi * 16 + lo);
        p += 2;
    }
    return path && *path ? path : NULL;
}

const char *plan_tracking_path(char **env, struct arena *a, const char **ret_why)
{
    const char *uri = env_text(env, "MLFLOW_TRACKING_URI");
    *ret_why = NULL;
    if (!uri)
        return NULL;
    if (strncmp(uri, "file:", 5) == 0) {
        const char *path = file_uri_path(uri, a);
        if (!path)
            *ret_why = "MLFLOW_TRACKING_URI: expected file:///FOLDER; the run is in the local tree";
        return path;
    }
    size_t scheme = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    if (scheme && uri[scheme] == ':') {
        if (!mlflow_is_server(uri)) /* a server gets the run as well: plan/server.c */
            *ret_why =
                arena_printf(a,
                             "MLFLOW_TRACKING_URI: %.*s: is not supported; the run is in the local tree. Start \"mlflow server\" and use "
                             "its http address",
                             (int)(scheme < 40 ? scheme : 40), uri);
        return NULL;
    }
    if (strcmp(uri, "databricks") == 0 || strcmp(uri, "databricks-uc") == 0) {
        *ret_why = "MLFLOW_TRACKING_URI: a Databricks workspace is not supported; the run is in the local tree";
        return NULL;
    }
    return uri;
}

/* Returns whether an untrusted user made the file or link, in a folder where everybody may
 * (/tmp). */
static bool is_strangers(const char *path, const struct stat *st)
{
    return !place_is_trusted(st->st_uid) && place_parent_mode(path) & S_IWOTH;
}

bool plan_is_foreign_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && !place_is_trusted(st.st_uid) && place_parent_mode(path) & (S_IWGRP | S_IWOTH);
}

const char *plan_find_repository(const char *cwd, struct arena *a)
{
    char path[PATH_MAX + 32];
    size_t n = strlen(cwd);
    if (n >= PATH_MAX)
        return NULL;
    memcpy(path, cwd, n + 1);
    for (;;) {
        struct stat st;
        size_t root = n == 1 ? 0 : n; /* "/" */
        strncpy(path + root, "/benchwrap.yaml", 16);
        if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && !is_strangers(path, &st)) {
            strncpy(path + root, "/mlruns", 8);
            bool found = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
            strncpy(path + root, "/.git", 6);
            found = found || stat(path, &st) == 0;
            if (found)
                return arena_dup(a, root ? path : "/", root ? n : 1);
        }
        if (n <= 1)
            return NULL;
        path[n] = 0;
        char *slash = strrchr(path, '/');
        n = slash == path ? 1 : (size_t)(slash - path);
        path[n] = 0;
    }
}

/* Replaces `path`, a file with "gitdir: PATH" of a worktree or submodule, by the folder with the
 * repository's configuration. False: it is no such file, or the path is too long. */
static bool follow_git_file(char *path, size_t size)
{
    CLEANUP_BUF struct buf text;
    char real[PATH_MAX];
    buf_init(&text, 2 * PATH_MAX);
    if (fs_read(AT_FDCWD, path, PATH_MAX, FS_CUT, &text, NULL) < 0)
        return false;
    struct str to = str_trim(buf_text(&text));
    if (!str_starts(to, "gitdir: "))
        return false;
    to = str_trim(str_sub(to, 8, to.n));
    *strrchr(path, '/') = 0;
    int n = to.n && to.p[0] == '/' ? snprintf(real, sizeof real, STR_FMT, STR_ARG(to))
                                   : snprintf(real, sizeof real, "%s/" STR_FMT, path, STR_ARG(to));
    if (n < 0 || (size_t)n >= sizeof real - 16)
        return false;
    buf_clear(&text);
    snprintf(path, size, "%s/commondir", real);
    if (fs_read(AT_FDCWD, path, PATH_MAX / 2, FS_CUT, &text, NULL) < 0)
        return snprintf(path, size, "%s", real) > 0;
    to = str_trim(buf_text(&text));
    n = to.n && to.p[0] == '/' ? snprintf(path, size, STR_FMT, STR_ARG(to)) : snprintf(path, size, "%s/" STR_FMT, real, STR_ARG(to));
    return n > 0 && (size_t)n < size;
}

/* Returns whether git's configuration file has a section for a remote. A file that cannot be read
 * has none; 1 MiB of it is read. */
static bool names_remote(const char *config)
{
    enum { CONFIG_MAX = 1 << 20 };
    CLEANUP_BUF struct buf text;
    buf_init(&text, 2 * CONFIG_MAX);
    if (fs_read(AT_FDCWD, config, CONFIG_MAX, FS_CUT, &text, NULL) < 0)
        return false;
    for (struct str rest = buf_text(&text); rest.p;) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (line.n > 9 && strncasecmp(line.p, "[remote", 7) == 0 && strchr(" \t\"", line.p[7]))
            return true;
    }
    return false;
}

/* Finds the folder with the configuration of the repository that holds root, in ret, with 16 bytes
 * to spare. */
static bool git_folder_of(const char *root, char *git, size_t size)
{
    char path[3 * PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%.*s", PATH_MAX, strcmp(root, "/") ? root : "");
    for (;;) {
        snprintf(git, size, "%s/.git", path);
        if (stat(git, &st) == 0)
            break;
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    return !S_ISREG(st.st_mode) || follow_git_file(git, size - 16);
}

bool plan_has_remote(const char *root)
{
    char git[3 * PATH_MAX + 16];
    return git_folder_of(root, git, sizeof git) && names_remote(strncat(git, "/config", 16));
}

bool plan_in_git(const char *root)
{
    char git[3 * PATH_MAX + 16];
    return git_folder_of(root, git, sizeof git);
}

const char *plan_git_site(const char *root, struct arena *a)
{
    enum { CONFIG_MAX = 1 << 20 };
    char git[3 * PATH_MAX + 16];
    CLEANUP_BUF struct buf text;
    struct stat st;
    const char *site = NULL;
    bool own = false;
    buf_init(&text, 2 * CONFIG_MAX);
    if (!git_folder_of(root, git, sizeof git) || stat(strncat(git, "/config", 16), &st) || !place_is_trusted(st.st_uid) ||
        fs_read(AT_FDCWD, git, CONFIG_MAX, FS_CUT, &text, NULL) < 0)
        return NULL;
    for (struct str rest = buf_text(&text); rest.p;) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (line.n && *line.p == '[')
            own = line.n == 11 && strncasecmp(line.p, "[benchwrap]", 11) == 0;
        else if (own && line.n > 4 && strncasecmp(line.p, "site", 4) == 0) {
            struct str value = line, key = str_trim(str_cut(&value, '='));
            value = str_trim(value);
            if (key.n == 4 && value.p)
                site = arena_dup(a, value.p, value.n);
        }
    }
    return site;
}

/* Reads the path of an open directory from /proc. False: /proc does not have it. */
static bool path_of_folder(int fd, char ret[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, ret, PATH_MAX - 1);
    if (n <= 0 || *ret != '/')
        return false;
    ret[n] = 0;
    return true;
}

const char *plan_resolved(const char *path, struct arena *a)
{
    char head[PATH_MAX], real[PATH_MAX];
    CLEANUP_FD int own = place_open_folder(path, 0);
    if (own >= 0 || errno != ELOOP || snprintf(head, sizeof head, "%s", path) >= (int)sizeof head)
        return path;
    for (;;) { /* as far as it exists */
        CLEANUP_FD int fd = place_open_named_folder(*head ? head : "/");
        char *cut = strrchr(head, '/');
        if (fd >= 0)
            return path_of_folder(fd, real) ? arena_printf(a, "%s%s", strcmp(real, "/") ? real : "", path + strlen(head)) : path;
        if (errno == ELOOP)
            return NULL;
        if (errno != ENOENT || !cut)
            return path;
        *cut = 0;
    }
}

const char *plan_spool_of(const char *tree, struct arena *a)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *base = str_base_name(tree);
    size_t whole = (size_t)(base - tree) - (base > tree); /* the tree's parent as it is written */
    if (snprintf(path, sizeof path, "%s", tree) < (int)sizeof path)
        for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
            *end = 0;
            CLEANUP_FD int fd = place_open_folder(*path ? path : "/", 0);
            if (fd < 0 && errno == ENOENT)
                continue;
            if (fd < 0 || !path_of_folder(fd, real))
                break;
            size_t known = strlen(path);
            if (known > whole) /* the tree itself: a link of the caller's may lead elsewhere */
                *strrchr(real, '/') = 0;
            return arena_printf(a, "%s%.*s/.benchwrap/spool", strcmp(real, "/") ? real : "", known > whole ? 0 : (int)(whole - known),
                                tree + (known > whole ? whole : known));
        }
    return arena_printf(a, "%.*s/.benchwrap/spool", (int)whole, tree);
}
