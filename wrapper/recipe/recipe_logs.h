/* recipe_logs.h: the logs of a campaign, in the folder `logs` of the campaign's folder. */
#ifndef RECIPE_RECIPE_LOGS_H
#define RECIPE_RECIPE_LOGS_H
#include "base/child_work.h"
#include "base/opt.h"
#include "logs/logs_format.h"
#include "recipe/recipe.h"

#include <stdio.h>

/* The process that merges the logs while a campaign runs. */
struct campaign_logger {
    struct child_work work; /* its answer is why it could not merge */
    int control; /* closing it ends the merging; -1: none */
};
#define CAMPAIGN_LOGGER_NONE ((struct campaign_logger){.work = CHILD_WORK_NONE, .control = -1})

/* Starts it for the campaign of this folder, by the keys `logs` and `outputs` of the recipe. Lines with a text of logs.alert
 * are appended to logs/alerts.log (LOGS_ALERTS). It ends after campaign_logger_end is called or this process is gone. -1 with err:
 * logs are merged later, by `recipe logs`. */
int campaign_logger_begin(struct campaign_logger *ret, const char *folder, const struct recipe *r, struct err *err);
/* All processes have ended: merges what is left, and waits for that at most so many milliseconds. false: it still merges. */
bool campaign_logger_end(struct campaign_logger *l, int wait_ms);
/* Frees it. A process that still merges ends by itself. */
void campaign_logger_close(struct campaign_logger *l);

/* The lines of the merged logs, one row for each process and stream up to a number, as text. Nothing where they are not merged. dir: the
 * campaign's folder, whose name is `folder`. */
void campaign_logs_report(int dir, const char *folder, struct buf *to);
/* Removes logs of earlier executions, in the folders before-TIME, by `logs.keep` of the recipe.
 * Returns their number. */
size_t campaign_logs_keep(int dir, const struct recipe *r);

/* Prints the merged logs. opts: the options of `recipe logs`. 0; -1 with err. */
int campaign_logs_print(const char *folder, const struct opt_set *opts, struct arena *a, FILE *out, struct err *err);
/* Prints the checks of `recipe check-logs`. 0; 1: a check failed; -1 with err. */
int campaign_logs_check(const char *folder, bool json, struct arena *a, FILE *out, struct err *err);
#endif
