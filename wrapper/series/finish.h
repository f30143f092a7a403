/* finish.h: the notes of a series become its metrics, its table of points and its verdict. */
#ifndef SERIES_FINISH_H
#define SERIES_FINISH_H
#include "benchmarks/rules.h"
#include "series/figures.h"

/* Adds the metrics, missing values, warnings and tags that follow from the notes to the record
 * (texts in its arena). A record that ends before the last run gets that run's end. *ret: fail when
 * a repetition failed or one's verdict is fail, pass when all pass. Returns what series_figures
 * returns. */
const struct series_figure *series_record_all(struct record *r, struct series_notes *notes, struct rules_outcome *ret);
/* Adds both ends of the 95 % interval of the mean, also where series_no_interval has a reason
 * against it (earlier versions recorded those). It has three values or more. */
void series_record_ci(struct record *r, struct series_notes *notes, const struct series_figure *figure);
/* Records the statistics of the repetitions (series_record_all) from the notes in the spool. The
 * notes and points.csv become artifacts. 0; -1 with err: the notes cannot be read. */
int series_finish(struct record *r, int spool, struct rules_outcome *ret, struct err *err);
#endif
