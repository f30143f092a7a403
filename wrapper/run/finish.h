/* finish.h: from a spool directory to a run in the tree: the same code at a run's normal end and after a crash. */
#ifndef WRAPPER_RUN_FINISH_H
#define WRAPPER_RUN_FINISH_H
#include "mlruns-format/tree.h"
#include "run/finish_options.h"
#include "run/redaction.h"
#include "run/spool.h"

/* With `told`: the elements of record->references (record.h) lie in this file of the spool, where there are any. */
#define FINISH_REFERENCES "references"

struct finished {
    struct record record;       /* complete: with what the rules read */
    struct journal_head head;
    const char *verdict;        /* "pass", "fail", "none" */
    const char *reason;
    char place[128];            /* "mlruns/<exp>/<run>", "" if it is only in the spool */
    uint32_t experiment;
    const char *experiment_name;
    char note[1024];            /* what went wrong after the record was written (--archive), "" for nothing; to be told once */
    struct redaction redaction; /* of what the finish step itself tells */
};

/* What its recorder still knows of the program. */
struct finish_program {
    char *const *env; /* for rules that read it */
    struct identities *ids; /* the names that are left out of a public record; NULL: they are looked for again */
};
/* Reads the journal in s, runs the rules over the kept streams, builds the run and publishes it; notes that in the spool. program: NULL after a crash.
 * An unended journal is closed as KILLED at its last fact. On failure the spool keeps everything and -1 is returned (*ret is initialised all the same:
 * finished_deinit). */
int finish_run(struct spool *s, const struct finish_program *program, struct finished *ret, struct err *err);
/* The same without building and publishing: what the run would be. The spool must be an ended one; it stays as it is but for rules.yaml. */
int finish_look(struct spool *s, struct finished *ret, struct err *err);
void finished_deinit(struct finished *f);
/* The last step alone, for a record that is complete (a child run): builds it in the spool and renames it into the tree; f->place tells where. */
int finish_publish(struct spool *s, struct finished *f, const struct finish_options *o, struct err *err);
#endif
