/* azure_rows.h: a run as rows of the table of runs in Azure Monitor (azure_columns.def). */
#ifndef EXPORTERS_AZURE_ROWS_H
#define EXPORTERS_AZURE_ROWS_H
#include "exporters/httpjson_keys.h"

/* Appends a row for each metric of the program and one for run.wall_s; all: for every metric. 0; -1 with err: out of memory. */
int azure_rows_make(const struct exporter_run *run, bool all, struct httpjson_records *to, struct err *err);
#endif
