/* logs_siblings.h: the older generations of a log file that are in its folder. */
#ifndef LOGS_LOGS_SIBLINGS_H
#define LOGS_LOGS_SIBLINGS_H
#include "logs/logs_generation.h"

/* A file next to the log whose name is that of an older generation. */
struct sibling {
    char *path;
    struct logs_file_stat st;
    bool is_packed;  /* its name ends in .gz */
    bool is_new;     /* for the caller */
    bool is_of_live; /* it has the beginning, or all, of what the log's file has now: a copy that is being made */
};
/* The file that has the log's path; without st.is_regular none has it. */
struct live_file {
    struct logs_file_stat st;
    char begin[GENERATION_MARK]; /* what it begins with */
    size_t begin_n;
};
struct siblings {
    struct sibling *list; /* the oldest first */
    size_t count, room;
    struct live_file live;
    bool has_moved; /* one of them was renamed or removed since, or cannot be opened now */
};

/* Lists them as they all were at one time, although other processes rename, copy and truncate files: two listings that follow
 * each other are equal. live_fd: the file that has the path; -1: it is opened. False: that is another file now, or the folder did not come to rest
 * for half a second; nothing is known, and ret is empty. The caller frees ret with siblings_free in both cases. */
bool siblings_find(struct siblings *ret, const char *log, int live_fd);
/* Frees the list. */
void siblings_free(struct siblings *s);
#endif
