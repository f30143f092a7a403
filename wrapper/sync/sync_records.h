/* sync_records.h: sends the lines of a file, a JSON object each, by an exporter. */
#ifndef SYNC_SYNC_RECORDS_H
#define SYNC_SYNC_RECORDS_H
#include "exporters/exporter_records.h"

#include <stdio.h>

struct sync_records {
    const struct exporter_config *exporter;
    char *const *env;
    int cancel_fd;
    const char *path;   /* "-": standard input */
    const char *stream; /* NULL: the configured one */
    int64_t wait_s;     /* the destination may accept nothing for so long */
    FILE *notes;        /* gets a line for each refused record, with its number in the file */
};
struct sync_records_result {
    uint64_t read, sent, refused; /* lines */
};

/* 0: every line was handled. 1: the destination accepts nothing; err has the reason. -1 with err: the file
 * cannot be read, or a line is no JSON object. */
int sync_records_file(const struct sync_records *what, struct sync_records_result *ret, struct err *err);
#endif
