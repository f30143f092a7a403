/* pages_files.h: the folder of the pages: files that are written only where their content changes. */
#ifndef PAGES_PAGES_FILES_H
#define PAGES_PAGES_FILES_H
#include "base/buf.h"
#include "base/err.h"

#include <stdatomic.h>

struct page_files {
    int folder; /* descriptor */
    atomic_size_t written;
    size_t removed;
    char (*put)[64]; /* names of files of groups, "measurement/4be1c3d2a0.html", that were written, whether they changed or not */
    size_t put_count, put_capacity;
};
enum { PAGE_PATH = 160 };

/* Writes a file of the program's own name ("run/4a/4a….html"), complete or not at all; its folder is made. A file that has this content is left as
 * it is. May be called by several threads for different files. */
int page_file_put(struct page_files *files, const char *path, const struct buf *text, struct err *err);
/* Writes a file as page_file_put does, and notes it for page_files_clean. For one thread. */
int page_file_put_group(struct page_files *files, const char *path, const struct buf *text, struct err *err);
/* Removes pages that no longer exist: in the folders of groups what page_file_put_group has not written, below run/ what is_run does not know. Other
 * names than those of pages stay. */
int page_files_clean(struct page_files *files, bool (*is_run)(const void *context, const char *id), const void *context, struct err *err);
void page_files_deinit(struct page_files *files);
/* Returns whether there is such a file. */
bool page_file_exists(const struct page_files *files, const char *path);

/* Write the path of a page below the folder of the pages: "run/<2 digits>/<id><ending>" of a run,
 * "<folder>/<id><ending>" of another group. An id with other characters than "0-9a-f-" is replaced
 * by "x" and digits of its hash. */
void page_path_run(const char *id, const char *ending, char ret[PAGE_PATH]);
void page_path_of(const char *folder, const char *id, const char *ending, char ret[PAGE_PATH]);
#endif
