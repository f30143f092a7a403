# shellcheck shell=sh
# set_clock.sh: commands with a wall clock that is set while they run; sourced behind tap.sh.

# Status 1 where there is no compiler: the library to preload, by which each thread's wall clock is SET_CLOCK_S seconds off after SET_CLOCK_CALLS reads, or once the file
# SET_CLOCK_FILE exists.
set_clock_ready()
{
    cat >"$WORK/clock.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *t)
{
    static _Thread_local int reads;
    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int rc = real(which, t);
    const char *file = getenv("SET_CLOCK_FILE");
    if (which == CLOCK_REALTIME && (file ? access(file, F_OK) == 0 : ++reads > atoi(getenv("SET_CLOCK_CALLS"))))
        t->tv_sec += atol(getenv("SET_CLOCK_S"));
    return rc;
}
C
    ${CC:-cc} -shared -fPIC -o "$WORK/clock.so" "$WORK/clock.c" -ldl 2>"$WORK/err"
}

set_clock() # SECONDS CALLS COMMAND…
(
    export SET_CLOCK_S="$1" SET_CLOCK_CALLS="$2"
    shift 2
    LD_PRELOAD=$WORK/clock.so exec "$@"
)

set_clock_at() # FILE SECONDS COMMAND…
(
    export SET_CLOCK_FILE="$1" SET_CLOCK_S="$2"
    shift 2
    LD_PRELOAD=$WORK/clock.so exec "$@"
)
