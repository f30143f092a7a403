/* credentials.h: the variables of credentials.def: out of the environment of helpers that need none, and back into that of the one that does. libc only. */
#ifndef BASE_CREDENTIALS_H
#define BASE_CREDENTIALS_H
#include <stdbool.h>

/* Returns whether the entry NAME=value is a credential. */
bool credentials_has(const char *entry);
/* Returns a copy of the environment in which each credential's value is asterisks of equal length,
 * so that a record of the environment still has the name. The caller frees the list alone. NULL:
 * out of memory. */
char **credentials_mask(char *const *env);
/* Returns the credentials of the environment in a new memfd, which the caller closes. -1: there are
 * none; -2 with errno: it could not be made. */
int credentials_store(char *const *env);
/* Sets the credentials in the memfd in this process's environment. Without one (fd is no memfd of credentials) nothing happens. */
void credentials_restore(int fd);
#endif
