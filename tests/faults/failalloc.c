/* failalloc.c: a preloaded library that fails the Nth allocation of one program, once or from then on.
 * FAILALLOC=NAME:N or NAME:N+ ; FAILALLOC_COUNT=FILE: append "NAME count" when NAME ends. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static char early[65536]; /* dlsym itself allocates */
static size_t early_used;
static unsigned long count, fail_at;
static bool from_then_on, chosen;

__attribute__((constructor)) static void begin(void)
{
    const char *want = getenv("FAILALLOC"), *colon = want ? strchr(want, ':') : NULL;
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    if (!colon || strlen(program_invocation_short_name) != (size_t)(colon - want) ||
        strncmp(program_invocation_short_name, want, (size_t)(colon - want)) != 0)
        return;
    fail_at = strtoul(colon + 1, NULL, 10);
    from_then_on = strchr(colon, '+') != NULL;
    chosen = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *file = getenv("FAILALLOC_COUNT");
    char line[128];
    int fd = chosen && file ? open(file, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    if (fd >= 0) {
        int n = snprintf(line, sizeof line, "%s %lu\n", program_invocation_short_name, count);
        if (write(fd, line, (size_t)n) < 0) {}
        close(fd);
    }
}

static bool fails(void)
{
    if (!chosen)
        return false;
    count++;
    if (fail_at == 0 || !(count == fail_at || (from_then_on && count > fail_at)))
        return false;
    errno = ENOMEM;
    return true;
}

static void *from_early(size_t n)
{
    n = (n + 15) / 16 * 16;
    if (n > sizeof early - early_used)
        return NULL;
    void *p = early + early_used;
    early_used += n;
    return p;
}

void *malloc(size_t n)
{
    return !real_malloc ? from_early(n) : fails() ? NULL : real_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return !real_calloc ? from_early(n * size) : fails() ? NULL : real_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    if ((char *)p >= early && (char *)p < early + sizeof early) {
        void *to = malloc(n);
        return to ? memcpy(to, p, n) : NULL;
    }
    return fails() ? NULL : real_realloc(p, n);
}

void free(void *p)
{
    static void (*real_free)(void *);
    if (!real_free)
        real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    if ((char *)p < early || (char *)p >= early + sizeof early)
        real_free(p);
}
