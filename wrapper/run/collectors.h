/* collectors.h: the recorder's side of the other nodes: what their collectors tell is put into the spool, whole line by whole line.
 *
 * Where ranks sit on the nodes (srun benchwrap, mpirun benchwrap) their collectors write into a folder beside the spool. For a launcher below us
 * (benchwrap -- srun), or where that folder stays empty since the nodes share no file system, one step of Slurm runs a collector on each other node. */
#ifndef RUN_COLLECTORS_H
#define RUN_COLLECTORS_H
#include "base/query.h"
#include "collector/collector_lines.h"

struct collector_node;
struct run;
struct run_collectors {
    enum { NODES_NONE, NODES_FILES, NODES_STEP } way;
    int64_t expected; /* nodes beside the recorder's, 0: not known */
    struct query step; /* srun */
    int file; /* NODES_LINES, -1: not begun */
    uint64_t bytes, cut; /* written, and what there was no room for */
    char folder[4200]; /* NODES_FILES */
    struct collector_node *seen; /* [seen_count] */
    size_t seen_count, ended, told; /* nodes; those that have ended; those that had told something at the last question about clocks */
    int64_t look_ns; /* when the folder is looked into, or the clocks are asked for; INT64_MAX: never */
    int64_t looked_ms; /* wall time of the look before; 0: none that tells of clocks */
    struct buf facts; /* NODES_STEP: lines of what lasts, kept for the other runs of the job */
    int64_t start_ns, asked_ns, asked_wall_ms; /* asked: about clocks */
};
#define RUN_COLLECTORS_NONE ((struct run_collectors){.step = {.out = -1, .err = -1, .in = -1}, .file = -1, .look_ns = INT64_MAX})

/* The program has been started: collectors are started, or their files looked for. */
void collectors_begin(struct run *run);
int64_t collectors_next(const struct run *run);
void collectors_on_time(struct run *run, int64_t now_ns);
int collectors_fd(const struct run *run);
void collectors_receive(struct run *run);
/* The program has ended: the collectors' last words are waited for, a second or two at most. */
void collectors_end(struct run *run);
void collectors_close(struct run *run);
#endif
