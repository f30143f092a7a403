/* files.h: find which of the files that the rules name the program wrote. A child process lists them
 * before and after the program, so that a file system that hangs delays neither program nor
 * recorder. */
#ifndef WRAPPER_RUN_FILES_H
#define WRAPPER_RUN_FILES_H
#include "base/arena.h"
#include "base/child_work.h"
#include "benchmarks/rules.h"

#include <stdint.h>
#include <sys/types.h>

enum { FILES_RULES_MAX = 16, FILES_SEEN_MAX = 10000, FILES_WAIT_MS = 100 /* usual maximum delay of the program by the first listing */ };

struct file_seen {
    uint32_t rule; /* index of the pattern in the rules */
    uint64_t dev, ino, size;
    int64_t mtime_ns, btime_ns; /* btime: time of creation; 0: not known */
    const char *path; /* "": more than FILES_SEEN_MAX files match the pattern, of which none is listed */
    struct file_seen *next;
};
/* The files that exist. */
struct files_list {
    struct file_seen *first;
    bool known;
    int64_t mono_ns; /* when the child had listed all */
};

/* Starts a child process that loads the rules and lists the files that they name; none if they name
 * no files. It opens none of them. rules: a path or "shipped:NAME", may be NULL. argv: the program's.
 * files_seen must follow. */
void files_look_begin(struct child_work *ret, const char *rules, char *const *argv);
/* Waits at most wait_ms, ends the child, and frees `*look`. The list is in the arena; ret->known:
 * it is complete. */
void files_seen(struct child_work *look, int64_t wait_ms, struct arena *a, struct files_list *ret);

/* The file of a rule that the program made or changed since `before`; of several the newest. */
struct file_chosen {
    const struct file_seen *file; /* NULL: none */
    uint64_t from; /* the program appended to it from this byte on; 0: it wrote all of it */
    size_t fresh; /* files of the rule that it wrote */
    const struct file_seen *stale; /* a file that it did not write; NULL: none */
    const struct file_seen *doubtful; /* a file that it wrote to, with unknown earlier content; NULL: none */
    bool too_many; /* the pattern matches more than FILES_SEEN_MAX files, before the run or after: none is chosen */
};
/* Chooses the file that the rule means among those found after the run: the newest of those that
 * the run made or changed. ret->from: where its new part begins. before: what was found when the
 * run began (run_ms, wall clock); program_ns: the monotonic time of the program's start. */
void files_choose(const struct files_list *before, const struct file_seen *after, uint32_t rule, int64_t run_ms, int64_t program_ns,
                  struct file_chosen *ret);
#endif
