/* logs_record.h: a log line as a JSON record: raw with four columns, or parsed. */
#ifndef LOGS_LOGS_RECORD_H
#define LOGS_LOGS_RECORD_H
#include "base/buf.h"

#include <stdint.h>

/* How lines are written: without known parts; by Slurm's daemons; by syslog (RFC 3164, or with ISO times);
 * by the kernel since its start; JSON objects, which are the records as they are. AUTO: by the name of the file. */
enum logs_format { LOGS_FORMAT_RAW, LOGS_FORMAT_SLURM, LOGS_FORMAT_SYSLOG, LOGS_FORMAT_DMESG, LOGS_FORMAT_JSON, LOGS_FORMAT_AUTO };
/* "raw", "slurm", "syslog", "dmesg", "json", "auto". False: no format. */
bool logs_format_find(struct str name, enum logs_format *ret);

/* How lines become records. boot_ns: when the machine started, for the kernel's times. */
struct logs_record_form {
    enum logs_format format;
    bool is_parsed;            /* else the four columns TimeGenerated, RawData, Computer, FilePath */
    const char *computer;
    int64_t boot_ns;
};
struct logs_record_line {
    struct str text;
    const char *path;
    int64_t now_ns;            /* the record's time where the line has none */
    bool is_continued, has_more; /* a part of a long line */
};
#define LOGS_PART_AFTER "[continued] "
#define LOGS_PART_BEFORE " [continues]"
/* Appends one JSON object on one line, without a line end. */
void logs_record_write(const struct logs_record_form *form, const struct logs_record_line *line, struct buf *to);
#endif
