/* make.h: a finished run made from facts: no program was watched (an old output, a run read again).
 *
 * It has the same steps as every run: a journal and files in the spool, then finish_run. Until it
 * is
 * complete, its folder has a name that no process finishes. One rename makes it a run: a crash leaves
 * nothing, or a complete run that the next cleanup publishes. */
#ifndef WRAPPER_RUN_MAKE_H
#define WRAPPER_RUN_MAKE_H
#include "run/finish.h"

struct make_plan {
    const char *id;                 /* 32 hex; "" or NULL: a random one. The same id is never published twice */
    const char *spool;              /* the folder of all spools (plan->spool) */
    struct journal_head head;       /* tree, experiment, run_name, user, host, job, argv, start_ms; id and options are filled in */
    struct finish_options options;  /* `made` is set for the caller */
};

struct made_run {
    struct spool spool;
    struct journal *journal;
    struct record record;           /* record_* into it; it is journaled as it comes, without secrets */
    struct redaction redaction;
    struct arena texts;             /* the head's command line, redacted */
};

/* Writes the id that a name always yields: UUID version 5 in the project's namespace. `purpose`
 * separates kinds of names ("import", "child" …). */
void make_id(char ret[33], const char *purpose, struct str name);
/* Begins a run. On success make_end or make_drop must follow; every string of the plan is copied to
 * the journal. */
int make_begin(struct made_run *m, const struct make_plan *plan, struct err *err);
/* Links the artifacts of another run into the spool and records them; artifacts: its folder. What
 * every run makes again is left out. again: the output is read again, so the streams get the names
 * under which the rules find them, and rules.yaml and the files of a series are made again, too. */
int make_link_artifacts(struct made_run *m, const struct record *before, int artifacts, bool again, struct err *err);
/* Stores a text in the spool under `name`, without secrets. */
int make_text(struct made_run *m, const char *name, struct str text, struct err *err);
/* Copies a fact of another record as it is, with its time and source. */
void make_fact(struct made_run *m, const struct fact *fact);
/* Ends the record. why: tag benchwrap.ended, or NULL. After it make_look (what it would be), and
 * make_publish, make_end or make_drop. */
int make_close(struct made_run *m, enum run_status status, const char *why, int64_t end_ms, struct err *err);
/* Reads the record as it would be published. The caller calls finished_deinit(ret) in all cases. */
int make_look(struct made_run *m, struct finished *ret, struct err *err);
/* Publishes the complete run. 0; 1: another process is publishing a run of this id, nothing was done;
 * -1: it stays in the spool for the next cleanup (or, before the rename, is removed). *ret as of
 * finish_run; the caller calls finished_deinit in all cases. The spool remains until make_batch_settle
 * or a later cleanup releases it. *m is closed. */
int make_publish(struct made_run *m, struct finished *ret, struct err *err);
/* Calls make_close and make_publish. */
int make_end(struct made_run *m, enum run_status status, const char *why, int64_t end_ms, struct finished *ret, struct err *err);
/* Removes all of it and closes *m. */
void make_drop(struct made_run *m);

/* Published runs whose spools exist: they are synced together, then their spools are removed. */
struct make_batch {
    const char *tree, *spool;       /* set by the caller: the mlruns folder, and that of all spools */
    char ids[256][33];
    size_t count;
};
/* Adds one, and settles a full batch. 0; -1 with err. */
int make_batch_add(struct make_batch *b, const char *id, struct err *err);
/* Syncs the tree's file system, removes the spools, and empties the batch. Ignores ids without a
 * spool. 0; -1: the next cleanup does the rest. */
int make_batch_settle(struct make_batch *b, struct err *err);
#endif
