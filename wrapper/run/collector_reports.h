/* collector_reports.h: what the other nodes' collectors have told, put into the spool. Private to run/collectors.c. */
#ifndef RUN_COLLECTOR_REPORTS_H
#define RUN_COLLECTOR_REPORTS_H
#include "base/buf.h"

struct run;
/* Appends lines to NODES_LINES in the spool, as long as there is room; what is not kept is counted. */
void collector_reports_store(struct run *run, struct str lines);
/* A line of the recorder's own about a node ("-": about all): array is a JSON array. */
void collector_reports_note(struct run *run, const char *node, const char *array);
/* Takes the whole lines at the beginning of text, good ones into the spool; returns how many bytes they were. */
size_t collector_reports_read(struct run *run, struct str text);
/* Notes of each node that was heard whether the list (Slurm's form; NULL: all) has it; a node whose name is not known stays without. */
void collector_reports_note_used(struct run *run, const struct buf *list);
/* NODES_FILES: takes what is new in the files of this launch's folder. */
void collector_reports_scan(struct run *run);
/* Removes the folder of this launch and, beside it, those of launches whose recorder was killed days ago. */
void collector_reports_remove(const char *folder);
#endif
