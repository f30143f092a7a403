/* keep.h: files the user or the rules name, kept with the run as artifacts. */
#ifndef WRAPPER_RUN_KEEP_H
#define WRAPPER_RUN_KEEP_H
#include "mlruns-format/record.h"
#include "probes/redact.h"

/* Copies a regular file into the spool and records it as artifact files/<name> (made unique). A
 * file larger than the *left bytes that the run may still keep is refused; one that is kept reduces
 * them by its size. The copy is never more readable than its source: it has no bit for group or
 * others that the source lacks, none for a group that is not the source's, and none at all where
 * the source has an access control list. Texts are cleaned by `redact`, their names too; what is no
 * text is kept as it is, or in a public record refused if anything is found in it. */
int keep_file(struct record *r, int spool, const char *path, const char *name, uint64_t *left, struct redact *redact, struct err *err);
/* Copies a file that is open already as keep_file does, read from its beginning without moving its
 * position. `from` stays the caller's; shown: its name in messages. A descriptor that is no regular
 * file, cannot be read, or would wait, is refused at once. */
int keep_open_file(struct record *r, int spool, int from, const char *shown, const char *name, uint64_t *left, struct redact *redact, struct err *err);
/* Copies the open file `from`, read from its beginning, to `to` without secrets. Reduces *left by
 * the bytes that it copies, also where the file grows during the copy. Warnings become facts of r
 * (NULL: none). -1: the copy is not complete, see err; *left is then undefined. */
int keep_copy(struct record *r, int from, int to, uint64_t *left, struct redact *redact, const char *path, struct err *err);
/* Copies every file that matches the pattern (glob(7), relative to the working directory), at most
 * 100; problems become warning facts. */
void keep_matching(struct record *r, int spool, const char *pattern, uint64_t *left, struct redact *redact);
#endif
