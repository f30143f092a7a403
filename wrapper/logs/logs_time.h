/* logs_time.h: times and levels at the beginning of log lines. */
#ifndef LOGS_LOGS_TIME_H
#define LOGS_LOGS_TIME_H
#include "base/str.h"

#include <stdint.h>

/* How serious a line is, the most serious first. UNKNOWN: the line has no level. */
enum logs_severity { LOGS_FATAL, LOGS_ERROR, LOGS_WARNING, LOGS_INFO, LOGS_DEBUG, LOGS_UNKNOWN };

/* Reads the time of a line that begins with one, also behind "[" or a priority "<13>" with a version:
 * 2025-09-08T21:11:35.869 (also with a blank for T, a comma before the fraction, and Z or +02:00; without
 * a zone it is the machine's), or "Sep  8 21:11:35" of this machine's zone, whose year is the one that
 * brings it nearest to now_ns. True: *ret_ns is the time since 1970. False: the line has none. */
bool logs_line_time(struct str line, int64_t now_ns, int64_t *ret_ns);
enum { LOGS_TIME_SIZE = 28 };
/* Writes 2025-09-08T21:11:35.869000Z, and returns it. */
const char *logs_time_text(int64_t time_ns, char ret[LOGS_TIME_SIZE]);
/* The level that a line states in its first words. */
enum logs_severity logs_line_severity(struct str line);
/* The severity of a name in any case: fatal, critical, error, warning, warn, info, notice, debug, trace …
 * LOGS_UNKNOWN: no name. For tests and options. */
enum logs_severity logs_severity_find(struct str name);
#endif
