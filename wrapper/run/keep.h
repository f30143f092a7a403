/* keep.h: files the user or the rules name, kept with the run as artifacts. */
#ifndef WRAPPER_RUN_KEEP_H
#define WRAPPER_RUN_KEEP_H
#include "mlruns-format/record.h"
#include "probes/redact.h"

/* Copies a regular file into the spool and records it as artifact files/<name> (made unique). A file larger than the *left bytes that the
 * run may still keep is refused; one that is kept takes its size from them. Texts are cleaned by `redact`, their names too; what is no text is kept as it
 * is, or in a public record refused if anything is found in it. */
int keep_file(struct record *r, int spool, const char *path, const char *name, uint64_t *left, struct redact *redact, struct err *err);
/* Every file that matches the pattern (glob(7), relative to the working directory), at most 100; problems become warning facts. */
void keep_matching(struct record *r, int spool, const char *pattern, uint64_t *left, struct redact *redact);
#endif
