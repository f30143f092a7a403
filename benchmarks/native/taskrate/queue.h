/* queue.h: what the providers share: commands by name, their words, what they print. */
#ifndef TASKRATE_QUEUE_H
#define TASKRATE_QUEUE_H
#include "benchmarks/native/taskrate/provider.h"

/* Arguments: the command's name and its words, NULL behind the last. */
/* Runs it for at most 30 s, its output into out. b: until the end is requested; NULL: in any case
 * (it cleans up). */
int queue_ask_list(struct bench *b, struct buf *out, struct err *err, const char *const *command);
#define queue_ask(b, out, err, ...) queue_ask_list((b), (out), (err), (const char *const[]){__VA_ARGS__})
/* Its path and the words behind it become the submission's command. */
int queue_line_list(struct bench *b, struct submission *s, struct err *err, const char *const *command);
#define queue_line(b, s, err, ...) queue_line_list((b), (s), (err), (const char *const[]){__VA_ARGS__})
size_t queue_lines(struct str text); /* lines that are not empty */
/* Records in the result that this provider was tested with programs that imitate its documentation,
 * and not on a live system. */
void queue_untried(struct bench *b);
#endif
