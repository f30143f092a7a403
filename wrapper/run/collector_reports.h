/* collector_reports.h: store the reports of the collectors on other nodes in the spool. Private to
 * run/collectors.c. */
#ifndef RUN_COLLECTOR_REPORTS_H
#define RUN_COLLECTOR_REPORTS_H
#include "base/buf.h"

struct run;
/* Stores a line of the recorder's own about a node ("-": about all); array: text of a JSON array. */
void collector_reports_note(struct run *run, const char *node, const char *array);
/* Reads the complete lines at the beginning of text and stores the valid ones. Returns the bytes
 * read. */
size_t collector_reports_read(struct run *run, struct str text);
/* Stores for each node that reported whether the list (Slurm's form; NULL: all nodes) has it. With a
 * list it leaves out nodes without a known name. */
void collector_reports_note_used(struct run *run, const struct buf *list);
/* Reads, with NODES_FILES, the new lines of all collectors from the files in this launch's folder.
 * Files and folders of another user are ignored. */
void collector_reports_scan(struct run *run);
/* Removes the folder of this launch, and folders of launches whose recorder was killed days ago. */
void collector_reports_remove(const char *folder);
#endif
