/* row.h: what a listing says of a run beside its meta. */
#ifndef CMD_ROW_H
#define CMD_ROW_H
#include "mlruns-format/headline.h"

struct run_row {
    const char *verdict, *parent, *benchmark; /* the tags; NULL: absent */
    bool wall_known;
    double wall; /* seconds */
    size_t headlines;
    struct headline headline[HEADLINES_SHOWN];
};

/* Read through the folder of the run's tree, into the arena; NULL when memory is short (a->failed). */
const struct run_row *row_read(const struct folder *tree, const struct tree_run *run, struct arena *a);
#endif
