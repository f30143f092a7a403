/* report.h: runs as one document: what a reader needs of a run, in the order in which it is asked for. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H
#include "report/doc.h"
#include "runs/runs.h"

/* Fills the document with one run (params, metrics and tags read): verdict and headline metrics, conditions, warnings, output. 0; 1: the run is
 * damaged, which the document says; -1 with err. */
int report_run(struct doc *d, struct runs *runs, struct tree_run *run, struct err *err);
#endif
