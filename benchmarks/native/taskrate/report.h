/* report.h: the reports of tasks that this process has not started: datagrams with acknowledgement, or a file that all nodes append to. */
#ifndef TASKRATE_REPORT_H
#define TASKRATE_REPORT_H
#include "benchmarks/native/taskrate/bench.h"

struct report_channel {
    int socket; /* UDP, or -1 */
    int file; /* or -1 */
    off_t read; /* bytes of the file that have been read */
};

/* Opens what tasks report to and stores it in b->set.address or the file below b->set.report_dir,
 * which is made. */
int report_init(struct report_channel *r, struct bench *b, struct err *err);
/* Closes the socket, and removes the file. */
void report_deinit(struct report_channel *r, struct bench *b);
/* Reads all pending reports into the book; returns how many tasks they ended for the first time.
 * Never waits. */
size_t report_take(struct report_channel *r, struct bench *b);
/* The words for how ends were learned of. */
const char *report_describe(const struct report_channel *r);
#endif
