/* files.h: which of the files that the rules name did the program write? A child looks before the program and after it, so that a file
 * system that hangs delays neither the program nor the recorder. */
#ifndef WRAPPER_RUN_FILES_H
#define WRAPPER_RUN_FILES_H
#include "base/arena.h"
#include "base/buf.h"
#include "benchmarks/rules.h"

#include <stdint.h>
#include <sys/types.h>

enum { FILES_RULES_MAX = 16, FILES_SEEN_MAX = 10000, FILES_WAIT_MS = 100 /* the program may wait so long until the files were seen */ };

struct file_seen {
    uint32_t rule; /* index of the pattern in the rules */
    uint64_t dev, ino, size;
    int64_t mtime_ns, btime_ns; /* btime: when it was made, 0: the file system does not tell */
    const char *path;
    struct file_seen *next;
};
struct files_look {
    pid_t child; /* 0: nobody looks */
    int fd;
    struct buf text;
};
/* What there was. */
struct files_list {
    struct file_seen *first;
    bool known;
    int64_t mono_ns; /* when the child had seen all of it */
};

/* Starts to look: a child loads the rules, if they name files at all, and tells what there is of each. *ret is ready for files_seen in any case.
 * rules: a path or "shipped:NAME", may be NULL. argv: the program's. Nothing is opened. */
void files_look_begin(struct files_look *ret, const char *rules, char *const *argv);
/* Waits at most so long until the child has seen all. True: it has. */
bool files_wait(struct files_look *look, int64_t wait_ms);
/* Ends the look, after waiting at most so long. In the arena. */
void files_seen(struct files_look *look, int64_t wait_ms, struct arena *a, struct files_list *ret);

/* The file of a rule that the program wrote: made or changed since `before` was seen, of several the newest. */
struct file_chosen {
    const struct file_seen *file; /* NULL: none */
    uint64_t from; /* the program only added to it, from this byte */
    size_t fresh; /* how many it wrote */
    const struct file_seen *stale; /* one that it did not touch */
    const struct file_seen *doubtful; /* one that it wrote to, and nobody knows what was in it before */
};
/* run_ms: wall time when the run began; program_ns: monotonic time when the program began. */
void files_choose(const struct files_list *before, const struct file_seen *after, uint32_t rule, int64_t run_ms, int64_t program_ns,
                  struct file_chosen *ret);
#endif
