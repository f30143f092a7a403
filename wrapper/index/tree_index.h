/* tree_index.h: a tree of runs as a folder that remembers the small files it has read, so that the next command does not read them again.
 *
 * The index is a file in the user's cache folder, never in the tree. What it has of a file counts only while the file's inode, size and times are those
 * that it had when it was read, so that the tree always wins, also over programs that write tags in place. Files that changed within the last seconds are
 * not remembered: another change might leave their times as they are. */
#ifndef INDEX_TREE_INDEX_H
#define INDEX_TREE_INDEX_H
#include "base/buf.h"
#include "base/folder.h"

#include <time.h>

struct tree_index;
/* Opens the index of the tree of which `root` is a descriptor, which stays the caller's, and `path` the absolute path. cache: the user's cache folder. now: the
 * present time. NULL: out of memory. */
struct tree_index *tree_index_open(int root, const char *path, const char *cache, time_t now);
/* Writes what is new, if it is worth it, and releases the index. Folders of it must have been left. */
void tree_index_close(struct tree_index *index);
/* Returns the tree as a folder; borrowed from the index. Threads may read it at once. */
struct folder tree_index_folder(struct tree_index *index);
/* Appends to `to` a value, named `what`, that the caller has derived from the file run_path/file. False: there is none, or the file has changed. Then
 * *ret_stamp is to be passed to tree_index_derive with the value that the caller derives by reading the file after this call. index: may be NULL. */
bool tree_index_derived(struct tree_index *index, const char *run_path, const char *file, const char *what, struct buf *to, uint64_t *ret_stamp);
void tree_index_derive(struct tree_index *index, const char *run_path, const char *file, const char *what, uint64_t stamp, struct str value);
#endif
