/* collectors.h: the recorder's side of the collectors on other nodes: it stores their reports in the
 * spool, line by line.
 *
 * If ranks run on the nodes (srun benchwrap, mpirun benchwrap), their collectors write into a folder
 * next to the spool. If the launcher runs below benchwrap (benchwrap -- srun), or the folder stays
 * empty since the nodes share no file system, one step of Slurm runs a collector on each other node. */
#ifndef RUN_COLLECTORS_H
#define RUN_COLLECTORS_H
#include "base/query.h"
#include "collector/collector_lines.h"

struct collector_node;
struct run;
struct run_collectors {
    enum { NODES_NONE, NODES_FILES, NODES_STEP } way;
    int64_t expected; /* nodes besides the recorder's, 0: not known */
    struct query step; /* srun */
    int file; /* NODES_LINES, -1: not begun */
    uint64_t bytes, cut; /* stored in the file; not stored, over its maximum */
    char folder[4200]; /* NODES_FILES */
    struct collector_node *seen; /* [seen_count] of seen_room */
    size_t seen_room;
    size_t seen_count, ended, told; /* nodes that reported; that ended; that had reported at the last clock request */
    int64_t look_ns; /* when to read the folder, or to request the clocks; INT64_MAX: never */
    int64_t looked_ms; /* wall time of the last scan; 0: none, or one without clock offsets */
    struct buf facts; /* NODES_STEP: lines that stay true, cached for other runs of the job */
    int64_t start_ns, asked_ns, asked_wall_ms; /* of the last clock request */
};
#define RUN_COLLECTORS_NONE ((struct run_collectors){.step = {.out = -1, .err = -1, .in = -1}, .file = -1, .look_ns = INT64_MAX})

/* Starts collectors, or begins to read their files, once the program has started. */
void collectors_begin(struct run *run);
/* Returns when collectors_on_time is due, monotonic ns; INT64_MAX: never. */
int64_t collectors_next(const struct run *run);
void collectors_on_time(struct run *run, int64_t now_ns);
/* Returns the descriptor to poll for reports, -1: none; collectors_receive reads them. */
int collectors_fd(const struct run *run);
/* Reads the reports of the step's collectors that have arrived, and plans the next request of their
 * time. Once the step has ended, records why nodes are missing, if any are. */
void collectors_receive(struct run *run);
/* Waits for the collectors' last reports after the program's end, 1.5 s at most, and closes. */
void collectors_end(struct run *run);
void collectors_close(struct run *run);
#endif
