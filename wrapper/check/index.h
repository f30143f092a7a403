/* index.h: what index.c gathers and duplicates.c compares; private to wrapper/check. */
#ifndef CHECK_INDEX_H
#define CHECK_INDEX_H
#include "check/parts.h"

enum { INDEX_MARKS = 4 /* metrics that are looked up in what is published */ };

struct index_run {
    char id[33], amends[33], parent[33];
    const char *path; /* "mlruns/<exp>/<id>" */
    unsigned char output[32];
    char values[SHA256_HEX], times[SHA256_HEX]; /* of all metrics; of measured times and rates */
    uint64_t wall; /* names the text of run.wall_s; 0: it tells nothing */
    bool has_output, has_values, has_times; /* has_values, has_times: and they tell enough */
    const char *mark_key; /* of a new run: a metric that names it among others of the benchmark */
    uint64_t mark;
    bool marked; /* of a published one: it meets a new one so */
    bool imported; /* from an output that somebody had: it may be one of several readings of it */
    bool measured; /* figures were read from its output */
    bool published; /* it was there before */
};

struct check_index {
    struct index_run *list;
    struct index_mark {
        uint64_t value;
        unsigned key;
    } * marks; /* of new runs, sorted; while what is published is looked at */
    size_t mark_count, marked;
    const char *mark_keys[INDEX_MARKS];
    size_t count, room, at_n; /* at_n: bytes of the tree's folder in the paths of what is published */
    bool failed;
};

/* Reads the values and kin of a run that is published, where they are not known yet. */
void index_read_published(struct check_state *k, struct index_run *x);
#endif
