/* environment.h: which variables a public record shows. */
#ifndef PROBES_ENVIRONMENT_H
#define PROBES_ENVIRONMENT_H
#include "base/str.h"

#include <stdbool.h>

/* By the allow-list environment.def. */
bool environment_is_shown(struct str name);
#endif
