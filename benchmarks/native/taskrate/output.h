/* output.h: what came out: the JSON document, the table for people, the table of tasks, two drawings. */
#ifndef TASKRATE_OUTPUT_H
#define TASKRATE_OUTPUT_H
#include "base/screen.h"
#include "benchmarks/native/taskrate/figures.h"

enum { DOCUMENT_MAX = 1 << 30 }; /* bytes: bounds what a document or a table occupies */

/* The complete document; its schema is in docs/howto-taskrate.md. Numbers that are not known are
 * null, with a reason next to them. */
void output_json(const struct bench *b, struct buf *to);
/* A short table for people, for a screen of that width. Each value in it is in the document too. */
void output_text(const struct bench *b, const struct screen *screen, struct buf *to);

/* The file DIR/tasks.trt: all tasks of each batch in columns, compressed. */
struct task_table;
/* Makes the file, or empties it, and locks it. table_close frees it. 0; -1 with err: another taskrate writes
 * it, or it could not be written; *ret is then set where table_close is due. */
int table_open(struct task_table **ret, const char *dir, struct err *err);
/* Appends the tasks of one batch. 0; -1 with err: it could not be written. */
int table_add(struct task_table *t, const struct bench *b, const struct task_batch *batch, struct err *err);
int table_close(struct task_table *t, struct err *err); /* frees t; NULL is fine */
/* Prints such a file as text with tabs. */
int table_print(const char *path, struct err *err);

/* Of the batch in the book: DIR/histogram.svg: its latencies; DIR/timeline.svg: tasks that run over its time; DIR/progress.svg: those that have ended. Uses t->scratch. */
int drawings_write(struct bench *b, const char *dir, struct err *err);
const char *output_payload(const struct bench_settings *s); /* "stub", "true" … */
/* The group's name in the document: n1000.d10ms, chain.d0 */
void output_label(const struct batch_group *g, char *to, size_t size);
#endif
