/* campaign_submit.h: submit a campaign's batch script. */
#ifndef RECIPE_CAMPAIGN_SUBMIT_H
#define RECIPE_CAMPAIGN_SUBMIT_H
#include "recipe/recipe_batch.h"

#include <stdio.h>

/* Submits the script, stores the job's id in FOLDER/job, and prints it. wait: until the job has ended. 0;
 * 1: it ended with another status than 0; -1 with err. */
int campaign_submit(enum recipe_scheduler scheduler, const char *script, const char *folder, bool wait, struct arena *a, FILE *out,
                    struct err *err);
#endif
