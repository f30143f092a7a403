/* report.h: runs as one document: what a reader needs of them, in the order in which it is asked for.
 *
 * Verdict and headline metrics come first, then plots, conditions, differences, noise and warnings, nodes, and output. Documents are filled in the
 * arena of the document. Results: 0; 1: a run is damaged, which the document says; -1 with err. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H
#include "report/doc.h"
#include "runs/runs.h"

/* One run (params, metrics and tags read), which may be the parent run of repetitions or of a sweep. */
int report_run(struct doc *d, struct runs *runs, struct tree_run *run, struct err *err);
#endif
