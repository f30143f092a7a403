/* redaction.h: what a run leaves out of all that it writes: secrets, and in the public profile identities. */
#ifndef WRAPPER_REDACTION_H
#define WRAPPER_REDACTION_H
#include "base/arena.h"
#include "mlruns-format/record.h"
#include "probes/redact.h"

struct redaction {
    struct identities ids;
    struct redact redact; /* of facts and files */
    struct redact streams; /* the same for what the program prints: counted apart */
};

/* Of the machine h->root and the environment h->env. -1: public, and the machine cannot be looked at: who does not know its names cannot leave them out. */
int redaction_begin(struct redaction *ret, bool public_profile, const struct host *h, struct err *err);
/* The same of this machine. */
int redaction_begin_here(struct redaction *ret, bool public_profile, char *const *env, struct err *err);
/* With the identities of another redaction, which lives longer; NULL: private. */
void redaction_begin_with(struct redaction *ret, struct identities *ids);
void redaction_end(struct redaction *r);
/* From now on the record's texts are cleaned. */
void redaction_of_record(struct redaction *r, struct record *record);
/* A copy of a text or of arguments in the arena, cleaned; NULL without memory. What follows an option that names a secret is one ("--password X"). */
char *redaction_text(struct redaction *r, const char *text, struct arena *a);
/* The same of a value whose name decides, too. */
char *redaction_named(struct redaction *r, const char *name, const char *value, struct arena *a);
/* A copy of a name in the arena without secrets. Identities stay. NULL without memory. */
char *redaction_name(struct redaction *r, const char *name, struct arena *a);
char **redaction_argv(struct redaction *r, char *const *argv, struct arena *a);
/* A copy of a whole output, cleaned as a program's is; to be freed. NULL: see err. env: names of people and hosts, may be NULL. */
char *redaction_output(struct str text, bool public_profile, char *const *env, struct err *err);
#endif
