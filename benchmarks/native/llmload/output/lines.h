/* lines.h: a file that several threads write lines to: each fills a block of its own, one thread
 * writes. */
#ifndef LLMLOAD_LINES_H
#define LLMLOAD_LINES_H
#include "base/buf.h"
#include "base/err.h"

struct line_writer;

/* Opens (truncates) path and starts the writing thread. option: for messages. */
int lines_open(struct line_writer **ret, const char *path, const char *option, unsigned workers, struct str head, struct err *err);
/* The buffer of that worker, to which complete lines are added; then lines_added. */
struct buf *lines_buf(struct line_writer *l, unsigned worker);
void lines_added(struct line_writer *l, unsigned worker);
/* Writes what is left, ends the thread, frees. ERR_SYSTEM: not all could be written; how many lines
 * are missing. */
int lines_close(struct line_writer *l, struct err *err);
#endif
