/* summary.h: the few lines at the end of a run: benchmark, verdict, headline metrics, where the run lies. */
#ifndef WRAPPER_RUN_SUMMARY_H
#define WRAPPER_RUN_SUMMARY_H
#include "run/finish.h"

/* The source of a warning fact that was told on the terminal when it arose. */
#define SUMMARY_TOLD "recorder:told"

/* Appends lines that begin with "benchwrap: ". Everything foreign in it is made harmless for a terminal. */
void summary_print(const struct finished *f, struct buf *to);
/* The last of them: where the run lies, from the working directory if it is below that. */
void summary_print_place(const struct finished *f, struct buf *to);
#endif
