/* campaign_laptop.h: files with which another machine shows a campaign in Prometheus and Grafana. */
#ifndef RECIPE_CAMPAIGN_LAPTOP_H
#define RECIPE_CAMPAIGN_LAPTOP_H
#include "recipe/campaign_targets.h"

#include <stdio.h>

/* Writes them into the folder `to`, which is made where it does not exist, and prints what to do with them. 0; -1 with err. */
int campaign_laptop_write(const char *folder, const char *to, FILE *out, struct err *err);
#endif
