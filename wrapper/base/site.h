/* site.h: which names a site may have. Options, environment, configuration files and reviewers follow this one rule. */
#ifndef BASE_SITE_H
#define BASE_SITE_H
#include "base/str.h"

#include <stdbool.h>

#define SITE_LEGAL "1 to 40 of a-z, 0-9, . _ and -, the first and the last a letter or digit"
/* Returns whether the name is legal. It is a component of a branch's name too: two dots in a row
 * and the ending ".lock" are not allowed. */
bool site_is_legal(struct str name);
#endif
