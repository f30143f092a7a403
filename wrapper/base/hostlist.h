/* hostlist.h: Slurm's short form of several node names: "n[1-3,07],login". */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H
#include "base/str.h"

#include <stdbool.h>

/* Is the name one of the list? A list that is not understood has no names. */
bool hostlist_has(struct str list, struct str name);
/* The part of the list before the next comma outside of brackets, and cuts it off; n 0: the end. */
struct str hostlist_cut(struct str *list);
#endif
