/* index.h: what index.c stores of each run, and duplicates.c compares; private to wrapper/check. */
#ifndef CHECK_INDEX_H
#define CHECK_INDEX_H
#include "check/parts.h"

enum { INDEX_MARKS = 4 /* metrics that are compared with those of published runs */ };

struct index_run {
    char id[33], amends[33], parent[33]; /* "": none */
    const char *path;        /* "mlruns/<exp>/<id>" */
    unsigned char output[32]; /* check_file's id of stdout.log */
    char values[SHA256_HEX]; /* of all metrics; "": not read yet */
    char times[SHA256_HEX];  /* of the times and rates that the program measured */
    uint64_t wall;           /* hash of the text of run.wall_s; 0: too few digits */
    bool has_output;         /* output is set */
    bool has_values, has_times; /* the sum is over enough digits: two runs differ in it */
    const char *mark_key;    /* of a new run: a measured metric that identifies it */
    uint64_t mark;           /* hash of its first value; 0: there is none */
    bool marked;             /* of a published run: it has the mark of a new one */
    bool imported;           /* from an existing output, of which there may be several readings */
    bool measured;           /* rules read metrics from its output */
    bool series, corrects;   /* of a new run: it has child runs' statistics; it amends or retracts a run */
    bool published;          /* it is part of the target */
};

struct check_index {
    struct index_run *list;
    struct index_mark {
        uint64_t value;
        unsigned key;        /* of mark_keys */
    } * marks;               /* of new runs, sorted, for the search in published ones */
    size_t mark_count, marked; /* marked: published runs that have one */
    const char *mark_keys[INDEX_MARKS];
    size_t count, room;
    size_t at_n;             /* bytes of the tree's name in the paths of published runs */
    bool failed;             /* out of memory: some runs are missing */
};

/* Reads values, times, parent and target of a published run, if they are not known yet. */
void index_read_published(struct check_state *k, struct index_run *x);
/* duplicates.c: the run of this id; NULL: there is none. Requires the list sorted by id. */
const struct index_run *index_find(const struct check_index *s, const char *id);
/* stale.c: reports parent runs whose statistics are not those of the child runs that count. Requires the list sorted by id. */
void check_stale_parents(struct check_state *k);
#endif
