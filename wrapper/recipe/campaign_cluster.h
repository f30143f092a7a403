/* campaign_cluster.h: run a recipe on another cluster by ssh, and fetch its results. */
#ifndef RECIPE_CAMPAIGN_CLUSTER_H
#define RECIPE_CAMPAIGN_CLUSTER_H
#include "recipe/recipe.h"

#include <stdio.h>

struct campaign_cluster {
    const char *name, *host, *user, *key, *folder, *benchwrap, *account, *partition; /* NULL: not set */
    char **modules;
};

/* Reads the cluster of this name from the file (clusters.yaml), with MLUX_USER, MLUX_ACCOUNT and MLUX_KEY of
 * the environment where it is silent. Without an entry the name is the host. 0; -1 with err. */
int campaign_cluster_read(struct campaign_cluster *ret, const char *file, const char *name, struct arena *a, struct err *err);
/* Copies the recipe there, runs it as a job with these options, prints what it prints, and fetches runs and
 * campaign: the latter as NAME@CLUSTER. tree: path of the local mlruns. 0; 1: the campaign there ended with
 * another status than 0; -1 with err. */
int campaign_cluster_run(const struct campaign_cluster *c, const struct recipe *r, const char *options, const char *tree, struct arena *a,
                         FILE *out, struct err *err);
#endif
