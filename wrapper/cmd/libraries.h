/* libraries.h: the libraries this program runs with, for `version` and `doctor`. */
#ifndef CMD_LIBRARIES_H
#define CMD_LIBRARIES_H
#include "base/arena.h"

#include <stdbool.h>

struct library {
    const char *name;    /* "hwloc" */
    const char *version; /* from the library itself, else from its file's name */
    const char *file;    /* where it was loaded from; "linked in" in a static program */
};
enum { LIBRARIES_MAX = 8 };
/* Fills ret[LIBRARIES_MAX], returns how many. */
size_t libraries_list(struct library *ret, struct arena *a);

/* A part that is compiled in only where its library was installed. */
struct build_part {
    const char *what;   /* "agents of llmload" */
    bool is_there;
    const char *lacks;  /* the consequence */
    const char *step;   /* what adds it */
};
enum { BUILD_AGENTS, BUILD_SENTENCEPIECE, BUILD_PARTS_MAX };
/* Fills ret[BUILD_PARTS_MAX], returns how many. All programs of a build have the same parts. */
size_t libraries_build_parts(struct build_part *ret, struct arena *a);
const char *libraries_format(void); /* version of the record's format */
#endif
