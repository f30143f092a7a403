/* hostlist.h: Slurm's short form of several node names: "n[1-3,07],login". */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H
#include "base/str.h"

#include <stdbool.h>

/* Returns whether the list contains the name. A list that cannot be parsed contains none. */
bool hostlist_has(struct str list, struct str name);
/* Calls for each name of the list, in its order. A name that is longer than 255 bytes, or a range that cannot be parsed, is passed on
 * as it is written. Another value than 0 ends it and is returned. */
int hostlist_each(struct str list, int (*each)(void *context, struct str name), void *context);
#endif
