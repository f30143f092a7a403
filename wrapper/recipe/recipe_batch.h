/* recipe_batch.h: the batch script of a campaign, for Slurm, PBS or LSF: readable, and runnable by hand. */
#ifndef RECIPE_RECIPE_BATCH_H
#define RECIPE_RECIPE_BATCH_H
#include "recipe/recipe_plan.h"

enum recipe_scheduler { RECIPE_SLURM, RECIPE_PBS, RECIPE_LSF };

struct recipe_batch {
    enum recipe_scheduler scheduler;
    const char *benchwrap; /* path of the program */
    const char *recipe; /* path, or name */
    const char *folder; /* of the campaign: for the job's output */
    const char *tree; /* the value of --tree; NULL: none */
    const char *cwd; /* where the script runs */
    const char *options; /* further options of `recipe run`, quoted, each with a blank before it */
    size_t points; /* of --points, which `options` lacks; 0: all */
};

/* Returns the scheduler of `batch.scheduler`; Slurm by default. */
enum recipe_scheduler recipe_scheduler_of(const struct recipe *r);
/* Appends the batch script. */
void recipe_batch_print(const struct recipe_planned *p, const struct recipe_batch *b, struct arena *a, struct buf *to);
#endif
