/* campaign_report.h: what a campaign has done: one row for each point, from its folder and the runs in the tree. */
#ifndef RECIPE_CAMPAIGN_REPORT_H
#define RECIPE_CAMPAIGN_REPORT_H
#include "recipe/campaign_state.h"

#include <stdio.h>

enum campaign_format { CAMPAIGN_TEXT, CAMPAIGN_JSON, CAMPAIGN_CSV };

/* The folder of the campaign that has this name in the tree; name NULL: of the one that was executed last.
 * In the arena; NULL with err. */
const char *campaign_folder(const char *tree, const char *name, struct arena *a, struct err *err);
/* Prints outcome, phases and results of each point. 0: all points are valid; 1: some are not; -1 with err. */
int campaign_report(const char *folder, const char *tree, enum campaign_format format, struct arena *a, FILE *out, struct err *err);
/* Prints whether the campaign is being executed, how far it is, and where its files are. 0; -1 with err. */
int campaign_status(const char *folder, enum campaign_format format, struct arena *a, FILE *out, struct err *err);
#endif
