/* campaign_images.h: find the digests of the images that containers of a campaign start from. */
#ifndef RECIPE_CAMPAIGN_IMAGES_H
#define RECIPE_CAMPAIGN_IMAGES_H
#include "recipe/campaign.h"

/* Adds the images of all points to the list, each with its digest: the SHA-256 of a file, the one that
 * the reference contains, or what podman reports. hash "": not known. A file that has not changed since
 * an earlier execution is not read again. 0; -1 with err. */
int campaign_images_collect(struct campaign *c, struct campaign_program **list, struct err *err);
/* Records the params image.ROLE and image.ROLE.digest of the campaign's run, from the campaign's programs. */
void campaign_images_record(struct campaign *c);
#endif
