/* finish.h: from a spool directory to a run in the tree: the same code at a run's normal end and after a crash. */
#ifndef WRAPPER_RUN_FINISH_H
#define WRAPPER_RUN_FINISH_H
#include "mlruns-format/tree.h"
#include "run/finish_options.h"
#include "run/redaction.h"
#include "run/spool.h"

/* With `options.told`: the file in the spool that holds the elements of record->references
 * (record.h), if there are any. */
#define FINISH_REFERENCES "references"

struct finished {
    struct record record;       /* complete: with what the rules read */
    struct journal_head head;
    const char *verdict;        /* "pass", "fail", "none" */
    const char *reason;
    char place[128];            /* "mlruns/<exp>/<run>", "" if it is only in the spool */
    uint32_t experiment;
    const char *experiment_name;
    char note[1024];            /* a failure after the record was written (--archive), for the caller to print; "": none */
    struct redaction redaction; /* of facts that the finish step itself records */
};

/* What only the run's recorder knows of the program. */
struct finish_program {
    char *const *env; /* for rules that read it */
    struct identities *ids; /* names that a public record leaves out; NULL: they are collected again */
};
/* Reads the journal in s, runs the rules over the stored streams, builds the run, publishes it and
 * marks the spool as published. program: NULL after a crash. Closes an unended journal as KILLED at
 * its last fact. 0; -1: the spool keeps everything. The caller calls finished_deinit in both cases. */
int finish_run(struct spool *s, const struct finish_program *program, struct finished *ret, struct err *err);
/* Does what finish_run does without building and publishing: *ret is what the run would be. The
 * journal must be ended. Writes only files of the spool that finish_run makes again. */
int finish_look(struct spool *s, struct finished *ret, struct err *err);
void finished_deinit(struct finished *f);
/* Does the last step alone, for a complete record (a child run): builds the run in the spool,
 * renames it into the tree and sets f->place. 0; -1 with err. */
int finish_publish(struct spool *s, struct finished *f, const struct finish_options *o, struct err *err);
#endif
