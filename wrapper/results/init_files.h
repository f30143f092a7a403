/* init_files.h: the files of a results repository, as `benchwrap init` writes them. */
#ifndef RESULTS_INIT_FILES_H
#define RESULTS_INIT_FILES_H
#include "base/buf.h"

enum init_file_kind {
    INIT_WHOLE, /* written where there is none; what people have made of it stays */
    INIT_FIRST, /* the same, in a repository without a commit only: its users may delete it */
    INIT_LINES, /* lines that are missing are added */
};
struct init_file {
    const char *path;
    enum init_file_kind kind;
    const char *text;
};
extern const struct init_file init_files[];
extern const size_t init_files_count;
/* Texts for people, in init_texts.c. */
extern const char init_readme[], init_contributing[], init_citation[], init_owners[], init_policy[];
/* Appends benchwrap.yaml: what holds for all who use the repository. profile: "public" or "private". */
void init_config(struct buf *to, const char *profile);
#endif
