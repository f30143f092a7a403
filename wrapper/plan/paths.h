/* paths.h: the places that follow from folders, variables and URIs. No function creates a file or folder. The paths live in the arena;
 * NULL also stands for: no memory (the arena says so). */
#ifndef WRAPPER_PLAN_PATHS_H
#define WRAPPER_PLAN_PATHS_H
#include "base/arena.h"

/* benchwrap's folder below an XDG base directory, whose default lies below HOME; NULL: neither is an absolute path. Relative values are to
 * be ignored (XDG base directory specification). */
const char *plan_xdg(char **env, const char *name, const char *below_home, struct arena *a);
/* Without "./" before it and '/' behind it. */
const char *plan_absolute(const char *cwd, const char *path, struct arena *a);
/* The folder is always called mlruns: a directory of another name is the one that holds it. */
const char *plan_tree_named(const char *path, struct arena *a);
/* MLFLOW_TRACKING_URI as a path, or NULL with the reason in *ret_why (a constant; NULL: not set, or a server's address). */
const char *plan_tracking_path(char **env, struct arena *a, const char **ret_why);
/* The nearest folder upwards that holds benchwrap.yaml beside mlruns/ or .git: a results repository. NULL: there is none. A benchwrap.yaml that is a
 * link, or that another user put into a folder which everybody may write, does not count. */
const char *plan_find_repository(const char *cwd, struct arena *a);
/* Does the git repository that holds the folder root have a remote? .git/config is read (of a linked worktree the main one's); what cannot be read: no. */
bool plan_has_remote(const char *root);
/* Does root lie in a git repository? */
bool plan_in_git(const char *root);
/* benchwrap.site of that repository's own configuration, which the caller or root owns; NULL: there is none. */
const char *plan_git_site(const char *root, struct arena *a);
/* Is the path a link that another user made in a folder that others may write? */
bool plan_is_foreign_link(const char *path);
/* The path that the caller named, without its links, as they lead now: whoever opens it later follows no other user's (place_open_folder). In the
 * arena, or the path itself. NULL: another user's link is in it, in a folder that a group or everybody may write. */
const char *plan_resolved(const char *path, struct arena *a);
/* <parent of the tree>/.benchwrap/spool. Links of the caller and of root are resolved; what does not exist yet, or is behind another user's link, is
 * as it is written. */
const char *plan_spool_of(const char *tree, struct arena *a);
#endif
