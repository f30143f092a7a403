/* paths.h: the places that follow from folders, variables and URIs. No function creates a file or folder. The paths live in the arena;
 * NULL also means: out of memory (the arena records it). */
#ifndef WRAPPER_PLAN_PATHS_H
#define WRAPPER_PLAN_PATHS_H
#include "base/arena.h"

/* Returns benchwrap's folder below an XDG base directory, whose default is below HOME; NULL:
 * neither is an absolute path. Relative values are to be ignored (XDG base directory
 * specification). */
const char *plan_xdg(char **env, const char *name, const char *below_home, struct arena *a);
/* Returns the path below cwd, if it is relative, without "./" at its beginning and '/' at its end. ".."
 * and links stay. */
const char *plan_absolute(const char *cwd, const char *path, struct arena *a);
/* Returns the tree that the path of a user means. It is always called mlruns: a folder of another name
 * is the one that holds it, or is to hold it. May be `path` itself; NULL for NULL. */
const char *plan_tree_named(const char *path, struct arena *a);
/* Returns MLFLOW_TRACKING_URI as a path, or NULL with the reason in *ret_why (a constant; NULL: not
 * set, or a server's address). */
const char *plan_tracking_path(char **env, struct arena *a, const char **ret_why);
/* Returns the nearest folder from cwd upwards that is a results repository: benchwrap.yaml with
 * mlruns/ or .git next to it. A benchwrap.yaml that is a link, or that another user created in a
 * folder which everybody may write, does not count. NULL: there is none. */
const char *plan_find_repository(const char *cwd, struct arena *a);
/* Returns whether the git repository that holds the folder root has a remote. .git/config is read
 * (of a linked worktree the main one's); what cannot be read: no. */
bool plan_has_remote(const char *root);
/* Returns true if root is in a git repository. */
bool plan_in_git(const char *root);
/* Returns benchwrap.site of the repository's own git configuration, in the arena. NULL: it has
 * none, or another user than the caller or root owns the file. */
const char *plan_git_site(const char *root, struct arena *a);
/* Returns whether the path is a link that another user made in a folder that others may write. */
bool plan_is_foreign_link(const char *path);
/* Returns the path without its links, as they lead now, so that later opens follow no link of
 * another user. The text is in the arena, or is `path` itself. NULL: a link of another user is in
 * it, in a folder that a group or everybody may write. */
const char *plan_resolved(const char *path, struct arena *a);
/* Returns <parent of the tree>/.benchwrap/spool. Links of the caller and of root are resolved; what does not exist yet, or is behind another user's link, is
 * as it is written. */
const char *plan_spool_of(const char *tree, struct arena *a);
#endif
