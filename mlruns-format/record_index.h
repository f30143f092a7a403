/* record_index.h: what the record knows of each key; private to mlruns-format. */
#ifndef MLRUNS_FORMAT_RECORD_INDEX_H
#define MLRUNS_FORMAT_RECORD_INDEX_H
#include "mlruns-format/record.h"

/* Keys of different spaces never meet: each is a folder of its own in the tree. */
enum space { SPACE_PARAM, SPACE_METRIC, SPACE_TAG, SPACE_ARTIFACT, SPACE_MISSING, SPACE_WARNING, SPACE_WORD, SPACE_WANTED };

struct record_entry {
    enum space space;
    bool folder;              /* the part of some key before a '/' */
    struct str key;           /* as in the tree */
    struct str wanted;        /* as it was requested first */
    uint32_t hash;
    const struct fact *fact;  /* param: the first; tag: the last; metric: the last */
    int64_t last_ms;          /* metric: time of the last sample */
    size_t number;            /* metric: ordinal of the key, from 0 */
    size_t count;             /* metric: samples */
    struct record_entry *alias; /* SPACE_WANTED: where an illegal or used key went */
};

struct record_index {
    struct record_entry **slots; /* open addressing, size a power of two */
    size_t size, used;
    size_t metrics;              /* number of metric keys */
    size_t warnings;             /* warning facts recorded */
    size_t lost;                 /* facts lost, out of memory */
};

/* Returns the entry of a key (case of letters does not count in the first four spaces, so that a
 * caller can see a clash); NULL if there is none. */
struct record_entry *record_entry_find(const struct record *r, enum space space, struct str key);
/* Returns the entry of a key, made if there is none (the key is copied). NULL: no memory. */
struct record_entry *record_entry_make(struct record *r, enum space space, struct str key);
#endif
