/* env.h: variables of an environment that is an argument: texts NAME=value, then NULL. */
#ifndef BASE_ENV_H
#define BASE_ENV_H
#include <string.h>

/* Returns the value, which points into the environment and may be empty; NULL: not set. env may be
 * NULL. */
static inline const char *env_get(char *const *env, const char *name)
{
    size_t n = strlen(name);
    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}
/* Returns the value as env_get does; empty counts as not set. */
static inline const char *env_text(char *const *env, const char *name)
{
    const char *value = env_get(env, name);
    return value && *value ? value : NULL;
}
#endif
