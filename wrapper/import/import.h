/* import.h: makes a run from an existing output: its user, time and place, and that the tree has it
 * only once. */
#ifndef WRAPPER_IMPORT_H
#define WRAPPER_IMPORT_H
#include "benchmarks/rules.h"
#include "plan/plan.h"

struct importer {
    const struct plan *plan;        /* tree, spool, catalogue, profile, experiment where it was given */
    const char *experiment;         /* NULL: the rules' name */
    struct rules **rules;           /* those that may know an output, or the one that was named */
    const char **paths;             /* their addresses, absolute */
    size_t count;
    bool named;                     /* --rules: no search for a banner */
    bool whole;                     /* one output, though it has its banner several times */
    bool dry;                       /* nothing is written */
    int root;                       /* the tree, -1: not there yet */
    int64_t time_ms;                /* --time; 0: from the output, or the file */
    int exit_status;                /* -1: not known */
    const char *streams;            /* "stdout" "stderr" "merged" */
    bool stream_given;              /* so it is one, though its name may be that of a file that the rules read */
    const struct opt_value *params, *tags; /* KEY=VALUE chains */
    uint64_t max;                   /* bytes of an output */
};

enum import_result { IMPORT_DONE, IMPORT_THERE, IMPORT_UNKNOWN, IMPORT_REFUSED };
struct imported {
    enum import_result result;
    char id[33];                    /* "" if it is not known whose it is */
    const char *benchmark, *why;    /* why: of UNKNOWN and REFUSED; else the verdict's reason. In the arena */
    const char *status, *verdict;   /* NULL: not imported */
    const char *place;              /* "mlruns/<exp>/<run>" */
    int64_t start_ms;
    const char *time_source;
};

/* Loads the catalogue's rules that can recognise an output. A faulty file of the user is reported to
 * `note` and skipped. */
int import_catalogue(struct importer *im, struct arena *a, void (*note)(void *context, const char *text), void *context, struct err *err);
/* Loads one rule file, for every output. */
int import_rules(struct importer *im, const char *name, struct arena *a, struct err *err);
void import_deinit(struct importer *im);
/* Imports one file (dir/path, `name` for people). Never fails: `take` gets the outcome, once, or once for each output where the file holds several;
 * then the name has the lines. */
typedef void import_take(void *context, const char *name, const struct imported *got);
void import_file(const struct importer *im, int dir, const char *path, const char *name, struct arena *a, import_take *take, void *context);
#endif
