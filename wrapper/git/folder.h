/* folder.h (git): a tree of a repository as a folder to be read (base/folder.h): no checkout, no index. */
#ifndef GIT_FOLDER_H
#define GIT_FOLDER_H
#include "base/folder.h"
#include "git/tree.h"

/* Opens the folder of a tree object. 0, to be left before the repository is closed; -1 with errno
 * as in base/folder.h. Entries carry git's id of the object. */
int git_folder_open(struct repo *r, const struct repo_id *tree, struct folder *ret);
/* Finds what a path below the folder is, with the id of its object (ret->name is not set). 0; 1:
 * there is nothing; -1: errno. */
int git_folder_find(const struct folder *f, const char *path, struct repo_entry *ret);
#endif
