/* reframe.h: ReFrame's performance logs and posted records: each record becomes the run report of one test case, which the rules of ReFrame read. */
#ifndef WRAPPER_IMPORT_REFRAME_H
#define WRAPPER_IMPORT_REFRAME_H
#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct reframe_record {
    struct str report;  /* JSON; it has all fields of the record, unchanged */
    int64_t time_ms;    /* when the job ended; 0: unknown */
    const char *host;   /* the first node of the job; NULL: unknown */
    size_t line;        /* the line of the record, from 1 */
};
/* Finds the records of a text that consists of nothing else: lines of a filelog with its header line (4.x), of one without (3.x: a line for each
 * variable), or JSON objects as httpjson posts them, one a line, or arrays of such. *ret: in the arena. Returns how many; 0: it is no such text, or out of memory. */
size_t reframe_records(struct str text, struct arena *a, struct reframe_record **ret);
#endif
