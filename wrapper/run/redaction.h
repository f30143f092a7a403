/* redaction.h: remove secrets, and in the public profile identities, from all that a run writes. */
#ifndef WRAPPER_REDACTION_H
#define WRAPPER_REDACTION_H
#include "base/arena.h"
#include "mlruns-format/record.h"
#include "probes/redact.h"

struct redaction {
    struct identities ids;
    struct redact redact; /* of facts and files */
    struct redact streams; /* the same for what the program prints: counted separately */
    const char *hidden_arguments; /* "--password, --host": those of which redaction_argv replaced something, in its arena; NULL: none */
};

/* Collects the identities of the machine h->root and the environment h->env for a public run. 0; -1:
 * the machine's names cannot be read. redaction_end must follow in both cases. */
int redaction_begin(struct redaction *ret, bool public_profile, const struct host *h, struct err *err);
/* Begins as redaction_begin does, with the identities of this machine. */
int redaction_begin_here(struct redaction *ret, bool public_profile, char *const *env, struct err *err);
/* Begins a redaction with the identities of another one, which must outlive it. NULL: no identities
 * are replaced (private profile). */
void redaction_begin_with(struct redaction *ret, struct identities *ids);
void redaction_end(struct redaction *r);
/* Redacts each text that is added to the record from now on. *r must outlive that. */
void redaction_of_record(struct redaction *r, struct record *record);
/* Returns a redacted copy of a text in the arena; NULL: out of memory. */
char *redaction_text(struct redaction *r, const char *text, struct arena *a);
/* Returns a redacted copy of a value, whose name decides too whether it is a secret, in the arena;
 * NULL: out of memory. */
char *redaction_named(struct redaction *r, const char *name, const char *value, struct arena *a);
/* Returns a copy of a name in the arena, without secrets; identities stay. NULL: out of memory. */
char *redaction_name(struct redaction *r, const char *name, struct arena *a);
/* Returns redacted copies of arguments, in the arena; NULL: out of memory. What follows an option
 * that names a secret is one ("--password X"). Each byte that is no UTF-8 becomes U+FFFD and its
 * two hexadecimal digits, so that arguments that differ still do in the record. Sets
 * r->hidden_arguments. */
char **redaction_argv(struct redaction *r, char *const *argv, struct arena *a);
/* Returns a redacted copy of a complete output; the caller frees it. NULL with err. env: the
 * environment that names users and hosts, may be NULL. */
char *redaction_output(struct str text, bool public_profile, char *const *env, struct err *err);
#endif
