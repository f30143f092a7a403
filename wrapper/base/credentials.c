/* credentials.c: see credentials.h. */
#include "base/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STORED_MAX = 1 << 20 };

bool credentials_has(const char *entry)
{
    static const char *const names[] = {
#define CREDENTIAL(name) name,
#include "base/credentials.def"
#undef CREDENTIAL
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(entry, names[i], n) == 0 && entry[n] == '=')
            return true;
    }
    return false;
}

char **credentials_mask(char *const *env)
{
    size_t count = 0;
    while (env[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = credentials_has(env[i]) ? strdup(env[i]) : env[i];
        if (!copy[i]) {
            free(copy);
            return NULL;
        }
        if (copy[i] != env[i]) {
            char *value = strchr(copy[i], '=') + 1;
            memset(value, '*', strlen(value));
        }
    }
    return copy;
}

/* Entries with their NUL, one after the other. */
int credentials_store(char *const *env)
{
    int fd = -1;
    for (; *env; env++) {
        size_t n = strlen(*env) + 1;
        if (!credentials_has(*env))
            continue;
        if (fd < 0 && (fd = memfd_create("benchwrap-credentials", MFD_CLOEXEC)) < 0)
            return -2;
        if (write(fd, *env, n) != (ssize_t)n) {
            int why = errno;
            close(fd);
            errno = why;
            return -2;
        }
    }
    return fd;
}

void credentials_restore(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > STORED_MAX)
        return;
    size_t n = (size_t)st.st_size;
    char *text = malloc(n + 1); /* stays: putenv(3) keeps the entries */
    if (!text || pread(fd, text, n, 0) != (ssize_t)n)
        return;
    text[n] = 0;
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (credentials_has(text + at))
            putenv(text + at);
}
