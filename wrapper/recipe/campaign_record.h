/* campaign_record.h: the record of a campaign: one run, the parent of its points' runs. */
#ifndef RECIPE_CAMPAIGN_RECORD_H
#define RECIPE_CAMPAIGN_RECORD_H
#include "recipe/campaign.h"

/* Returns the command line of the parent run in the campaign's arena: options for repetitions, and
 * the measured command with its names. NULL: out of memory. */
char **campaign_record_line(struct campaign *c, int *ret_argc);
/* Makes the plan of the repetitions from that line. 0; -1 with err, also for more runs than a series may have. */
int campaign_record_plan(struct campaign *c, char **line, int argc, struct err *err);
/* Begins the record, under the id of an interrupted execution where there is one, and writes the
 * recipe, its service files and the nodes of --each-node to the campaign's folder. 0; -1 with err. */
int campaign_record_begin(struct campaign *c, char **line, int argc, struct err *err);
/* Notes the runs of finished points in the record that begins again, in the order in which they were
 * made. 0; -1 with err: out of memory. */
int campaign_record_adopt(struct campaign *c, struct err *err);
/* Records the time of the point and of each of its phases. */
void campaign_record_phases(struct campaign *c, const struct campaign_point *p, size_t number, double point_s);
/* Records how many points had each outcome, the seconds of the phases outside of the points, and
 * points.jsonl as an artifact. A file that cannot be read is left out. */
void campaign_record_outcomes(struct campaign *c, const size_t counts[OUTCOME_COUNT]);
#endif
