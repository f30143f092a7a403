/* plan_paths.c: the places that follow from folders, variables and URIs: nothing is made, only looked at. */
#include "plan_paths.h"

#include "base/env.h"
#include "base/str.h"
#include "sinks/mlflow.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

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

/* A file: URI as a path, decoded; NULL if it names another host or is broken. */
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
            *ret_why = "MLFLOW_TRACKING_URI is a file: URI that names no local folder; it is not used";
        return path;
    }
    size_t scheme = strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    if (scheme && uri[scheme] == ':') {
        if (!mlflow_is_server(uri)) /* a server gets the run as well: plan_server.c */
            *ret_why = "MLFLOW_TRACKING_URI names no folder: recorded to the tree instead";
        return NULL;
    }
    if (strcmp(uri, "databricks") == 0 || strcmp(uri, "databricks-uc") == 0) {
        *ret_why = "MLFLOW_TRACKING_URI names a Databricks workspace: recorded to the tree instead";
        return NULL;
    }
    return uri;
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
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
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

const char *plan_spool_of(const char *tree, struct arena *a)
{
    char path[PATH_MAX], real[PATH_MAX];
    size_t n = strlen(tree);
    if (n >= sizeof path)
        return arena_printf(a, "%.*s/.benchwrap/spool", (int)(str_base_name(tree) - tree - 1), tree);
    memcpy(path, tree, n + 1);
    if (realpath(path, real)) {
        char *slash = strrchr(real, '/');
        *slash = 0;
        return arena_printf(a, "%s/.benchwrap/spool", real);
    }
    char *cut = strrchr(path, '/'); /* the parent as written, resolved as far as it exists */
    *cut = 0;
    const char *parent = path;
    for (char *at = cut; at; at = strrchr(path, '/')) {
        *at = 0;
        if (realpath(*path ? path : "/", real))
            return arena_printf(a, "%s%s/.benchwrap/spool", strcmp(real, "/") ? real : "",
                                arena_dup(a, tree + (at - path), (size_t)(cut - at)));
    }
    return arena_printf(a, "%s/.benchwrap/spool", parent);
}
