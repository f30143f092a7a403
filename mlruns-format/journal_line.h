/* journal_line.h: what writer and reader of the journal share; private to mlruns-format. */
#ifndef MLRUNS_FORMAT_JOURNAL_LINE_H
#define MLRUNS_FORMAT_JOURNAL_LINE_H
#include "base/err.h"

#include <stddef.h>

enum {
    JOURNAL_VERSION = 1,
    JOURNAL_LINE_MAX = 8 << 20 /* bytes of one line: a value of 64 KiB escaped, or a command line of 2 MiB */
};

/* Measures the part of the file that consists of complete, valid lines. 0, or -1 if it cannot be
 * read. */
int journal_good_bytes(int fd, size_t *ret, struct err *err);
#endif
