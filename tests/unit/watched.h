/* watched.h: who looks on while a test runs: what sanitizers or valgrind cannot do is left out there. */
#ifndef TESTS_UNIT_WATCHED_H
#define TESTS_UNIT_WATCHED_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* valgrind: its posix_spawn is a fork that cannot tell of a failed exec, and it cannot go on without memory. */
static inline bool by_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
}
#endif
