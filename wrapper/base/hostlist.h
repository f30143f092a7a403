/* hostlist.h: Slurm's short form of several node names: "n[1-3,07],login". */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H
#include "base/str.h"

#include <stdbool.h>

/* Returns whether the list contains the name. A list that cannot be parsed contains none. */
bool hostlist_has(struct str list, struct str name);
#endif
