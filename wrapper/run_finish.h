/* run_finish.h: from a spool directory to a run in the tree: the same code at a run's normal end and after a crash. */
#ifndef WRAPPER_RUN_FINISH_H
#define WRAPPER_RUN_FINISH_H
#include "mlruns-format/tree.h"
#include "wrapper/run_reference.h"
#include "wrapper/redaction.h"
#include "wrapper/run_spool.h"

/* What the finish step needs to know again after a crash; kept as JSON in the journal's first line. */
struct finish_options {
    uint64_t log_max;
    const char *rules;          /* path of the rule file, NULL: none (as journal_path takes it) */
    struct reference_files references;
    bool public_profile;        /* identities were left out of all texts before they were written */
    bool withheld;              /* found out by the finish step: the streams are not published */
    bool merged;                /* stdout.log holds both streams */
    bool made;                  /* from an old output or another run's facts: no program was watched, so nothing is said of its wall time and end */
    bool told;                  /* the record is whole as it stands (a run from a server): nothing is read, judged or added */
    bool archive;               /* the script, output and result of the job are kept as job/ */
    const char *archive_dir;    /* and in this folder, NULL: nowhere else (as journal_path takes it) */
    bool series;                /* the run of a series: its facts are made from the notes of its repetitions */
    const char *host;           /* made: where the program ran, "" if nobody knows; the journal's host is the maker's */
};
void finish_options_print(const struct finish_options *o, struct buf *to);
int finish_options_parse(struct finish_options *ret, const char *text, struct arena *a, struct err *err);

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

/* Finishes what others left in the spool folder `root`: dead runs are closed, published ones synced and removed. `note` gets one line per run that was
 * closed (may be NULL). Runs published less than settled_s seconds ago are left (counted in `young`). Counts what was done. */
struct swept { unsigned closed, released, young, alive, failed; };
void finish_leftovers(const char *root, const char *except, int settled_s, void (*note)(void *context, const char *text), void *context, struct swept *ret);
/* One of them; one that is published already is left as it is. 0; -1 where it could not be closed. */
int finish_leftover(const char *root, const char *name, struct swept *ret, struct err *err);
#endif
