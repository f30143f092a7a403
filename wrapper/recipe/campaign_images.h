/* campaign_images.h: from which images containers of a campaign start, by their digests. */
#ifndef RECIPE_CAMPAIGN_IMAGES_H
#define RECIPE_CAMPAIGN_IMAGES_H
#include "recipe/campaign.h"

/* Adds the images of all points to the list, each with its SHA-256: of a file its bytes', of a reference with a digest that one, of another image of
 * podman what podman reports. hash "": not known. Digests of files that have not changed are those of the execution before. 0; -1 with err. */
int campaign_images_collect(struct campaign *c, struct campaign_program **list, struct err *err);
/* Records the params image.ROLE and image.ROLE.digest of the campaign's run, from the campaign's programs. */
void campaign_images_record(struct campaign *c);
#endif
