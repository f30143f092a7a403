/* nodes.h: reads the lines of a run's collectors: differences between nodes, metrics over nodes, and the
 * artifact nodes.json. */
#ifndef COLLECTOR_NODES_H
#define COLLECTOR_NODES_H
#include "base/arena.h"
#include "mlruns-format/record.h"
#include "collector/collector_lines.h"

enum {
    NODES_SERIES_MAX = 400, /* series of one node, */
    NODES_FACTS_MAX = 2000, /* facts, */
    NODES_POINTS_MAX = 256, /* points of a series that are kept; when it is full every two become one */
    NODES_BRIEF = 256, /* a published run of more nodes has their series merged alone */
    NODES_ALONE_MAX = 16 /* so many nodes have series of their own in the run, more only in nodes.json */
};

struct node_point {
    int64_t time_ms;
    double value; /* mean of those that were made one */
};
/* One series of one node: all its samples count for the statistics, the points are a picture. */
struct node_series {
    const char *name; /* "system/…" */
    size_t count, points, per_point, in_last;
    double sum, min, max, first, last;
    struct node_point *point; /* [nodes_summary.points]; NULL: out of memory */
};
struct node_fact {
    const char *key, *text;
    bool missing; /* text states why */
    bool common; /* the same on every node */
    struct node_fact *next;
};
struct node_report {
    const char *name;
    bool own, ended; /* own: the recorder's node */
    enum { NODE_UNKNOWN, NODE_USED, NODE_IDLE } use; /* did the program run on it? */
    int64_t start_ms, offset_ms, error_ms; /* error_ms -1: the clock is not known */
    struct node_fact *facts, *last_fact;
    size_t facts_count, series_count;
    struct node_series *series[NODES_SERIES_MAX];
    const char *names[NODES_SERIES_MAX]; /* by the collector's numbers */
    struct node_report *next;
};
/* Receives a sample of a node's series. */
typedef void nodes_sample(void *context, const struct node_report *node, const char *series, int64_t time_ms, double value);
struct nodes_summary {
    struct arena arena;
    nodes_sample *each; /* receives all samples, of which the series have but a picture; NULL: none does */
    void *context;
    char own[NODE_NAME_MAX + 1]; /* the recorder's */
    struct node_report *first, *last; /* the recorder's first */
    struct node_report **slots; /* table of the other nodes, by name */
    size_t count;
    bool more; /* more than NODES_MAX nodes have reported: the further ones are left out */
    int64_t expected; /* besides the recorder's; 0: not known */
    bool outside; /* the recorder runs on none of them */
    bool brief; /* nodes.json holds no series: it would be too long to be published */
    bool step; /* collectors of a step, not of ranks */
    bool chosen; /* the program was started by a launcher, which need not use all of the nodes */
    bool own_used; /* the recorder's is one that it used */
    int64_t used; /* nodes that it used; 0: not known */
    size_t points; /* of a series, with so many nodes */
};

/* Reads the lines in dir/nodes.lines and the record's own facts and samples. Returns 1 where no nodes
 * were collected, -1 with err. The caller frees *ret with nodes_deinit after 0. */
int nodes_read(struct nodes_summary *ret, int dir, const struct record *r, bool public_profile, struct err *err);
/* Reads as nodes_read does, and passes each sample to `each`. Whether a node ran the program is
 * known afterwards. */
int nodes_read_samples(struct nodes_summary *ret, int dir, const struct record *r, bool public_profile, nodes_sample *each, void *context,
                       struct err *err);
void nodes_deinit(struct nodes_summary *n);
/* Returns the text of a fact, or NULL. The summary owns it. */
const char *node_text(const struct node_report *node, const char *key);
/* Returns the value of a series that stands for its node: the mean, or for what counts upwards the
 * last. */
double node_value(const struct node_series *s);

/* Prints the text of nodes.json. */
void nodes_print(const struct nodes_summary *n, struct buf *to);
/* Reads the nodes of the run whose spool is `dir`, at its end or after a crash, adds facts about
 * them to r, and writes nodes.json into `dir`, an artifact of r. What fails becomes a missing value
 * of r. Does nothing where no nodes were collected. public_profile: for a published run, with
 * shorter series. */
void nodes_finish(int dir, struct record *r, bool public_profile);
#endif
