/* The log follower at every point: a writer rotates, and the process is killed, before each call of the system, one after the other.
 *
 * Time is virtual and only the follower's calls make it pass, so that each case is the same each time. A writer's script has one
 * letter for each step. Steps are taken one at a time while the follower waits, several at once before a certain call (a burst), or
 * after a kill, while nothing follows. Each line must arrive, in order, twice only after a kill, and without a message. */
#include "base/fs.h"
#include "logs/logs_follow.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { KILLED = 77, PROCESSES = 2, IDLE_END = 8, CALLS_MAX = 100000, TICK = 4000000 /* ns; the kernel's times of files are those of its last tick */, BURST_CALLS = 120 /* more than one round has */, LINES_MAX = 4000 };

struct process_plan {
    size_t kill_at;              /* before this call; 0: never */
    size_t dead_steps;           /* of the writer, before the process starts */
    size_t burst_at, burst_steps;
};
struct plan {
    const char *script;
    size_t steps_first;          /* of the writer, one at a time, before calls are counted */
    struct process_plan process[PROCESSES];
};
/* Survives the follower's process. */
static struct world {
    int64_t now_ns;
    size_t step, lines, begun;   /* of the writer; begun: bytes of a line that is not complete */
    size_t calls, idle;
    char file[300];              /* what the writer has open */
    bool is_counting, is_ready, notes;
    struct {
        uint64_t ino;
        int64_t ns;
    } births[64];                /* of the files that the writer made */
    size_t n_births;
} world_unmapped, *w = &world_unmapped; /* a shared mapping from the setup on */
static const struct plan *plan;
static size_t process;
static char folder[200], live[240], out_path[240], state_path[240];
static bool is_followed, in_hook;

/* ---- the writer ---- */

static void stamp(const char *path)
{
    const int64_t t = w->now_ns / TICK * TICK;
    const struct timespec times[2] = {{t / 1000000000, t % 1000000000}, {t / 1000000000, t % 1000000000}};
    utimensat(AT_FDCWD, path, times, 0);
}

/* A file that the writer makes or replaces: inodes may be used again. */
static void born(int fd)
{
    struct stat st;
    fstat(fd, &st);
    w->births[w->n_births].ino = st.st_ino;
    w->births[w->n_births++ % 64].ns = w->now_ns / TICK * TICK;
}

static int64_t birth_of(uint64_t ino)
{
    for (size_t i = w->n_births; i-- > 0;)
        if (w->births[i].ino == ino)
            return w->births[i].ns;
    return 0;
}

static void append(const char *path, const char *p, size_t n)
{
    bool is_new = access(path, F_OK) != 0;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (is_new)
        born(fd);
    if (n && write(fd, p, n) != (ssize_t)n)
        abort();
    close(fd);
    stamp(path);
    stamp(folder);
}

static size_t line_text(size_t n, char ret[100])
{
    return (size_t)snprintf(ret, 100, "[2026-11-27T18:26:00.000] slurmctld: line %zu%.*s\n", n, (int)(n % 20), "....................");
}

static void write_lines(size_t n)
{
    char text[100 * 100], line[100];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = line_text(w->lines, line) - w->begun;
        memcpy(text + used, line + w->begun, len);
        used += len;
        w->lines++;
        w->begun = 0;
    }
    append(w->file, text, used);
}

static void move(const char *from, const char *to)
{
    rename(from, to);
    if (strcmp(from, w->file) == 0)
        snprintf(w->file, sizeof w->file, "%s", to);
    stamp(folder);
}

static void truncate_file(const char *path)
{
    if (access(path, F_OK) == 0 && truncate(path, 0))
        abort();
}

static void copy(bool whole)
{
    char text[100000], to[300];
    int fd = open(live, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    snprintf(to, sizeof to, "%s.1", live);
    truncate_file(to);
    append(to, text, (size_t)(whole ? n : n / 2));
}

static void writer_step(void)
{
    char from[300], to[300], line[100];
    const char c = plan->script[w->step];
    if (!c)
        return;
    w->step++;
    if (c >= '1' && c <= '9') {
        snprintf(from, sizeof from, "%s.%c", live, c);
        snprintf(to, sizeof to, "%s.%c", live, c + 1);
        move(from, to);
        return;
    }
    switch (c) {
    case 'L': write_lines(1); break;
    case 'W': write_lines(3); break;
    case 'B': write_lines(60); break;
    case 'P': /* the beginning of a line */
        line_text(w->lines, line);
        append(w->file, line, 10);
        w->begun = 10;
        break;
    case 'R':
        snprintf(to, sizeof to, "%s.1", live);
        move(live, to);
        break;
    case 'N':
        snprintf(w->file, sizeof w->file, "%s", live);
        append(live, "", 0);
        break;
    case 'c': copy(false); break;
    case 'C': copy(true); break;
    case 'T':
        truncate_file(live);
        stamp(live);
        break;
    default: abort();
    }
}

static void writer_steps(size_t n)
{
    in_hook = true;
    for (size_t i = 0; i < n; i++)
        writer_step();
    in_hook = false;
}

/* ---- calls of the follower ---- */

static void hook(void)
{
    if (!is_followed || in_hook)
        return;
    const struct process_plan *p = &plan->process[process];
    w->now_ns += 10000;
    if (!w->is_counting)
        return;
    if (++w->calls > CALLS_MAX)
        abort();
    if (w->calls >= p->kill_at && p->kill_at && w->is_ready)
        _exit(KILLED);
    if (w->calls == p->burst_at && (w->is_ready || !p->kill_at)) /* what is older than the first cursor is not read after a kill */
        writer_steps(p->burst_steps);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret)
{
    hook();
    int rc = REAL(statx)(dir, path, flags, mask, ret);
    int64_t ns = rc == 0 && is_followed ? birth_of(ret->stx_ino) : 0;
    if (ns) {
        ret->stx_btime.tv_sec = ns / 1000000000;
        ret->stx_btime.tv_nsec = (unsigned)(ns % 1000000000);
    }
    return rc;
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    hook();
    return REAL(pread)(fd, p, n, at);
}

struct dirent *readdir(DIR *d)
{
    hook();
    return REAL(readdir)(d);
}

DIR *fdopendir(int fd)
{
    hook();
    return REAL(fdopendir)(fd);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    hook();
    return REAL(openat)(dir, path, flags, mode);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    hook();
    return REAL(renameat)(from_dir, from, to_dir, to);
}

int unlinkat(int dir, const char *path, int flags)
{
    hook();
    return REAL(unlinkat)(dir, path, flags);
}

int fsync(int fd)
{
    hook();
    return fd < 0 ? -1 : 0; /* no power fails here */
}

int usleep(useconds_t us)
{
    hook();
    w->now_ns += (int64_t)us * 1000;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (!is_followed)
        return REAL(clock_gettime)(clock, ret);
    *ret = (struct timespec){w->now_ns / 1000000000, w->now_ns % 1000000000};
    return 0;
}

int poll(struct pollfd *p, nfds_t n, int timeout)
{
    if (!is_followed || in_hook || n != 2) {
        w->now_ns += is_followed && timeout > 0 ? timeout * INT64_C(1000000) : 0;
        return is_followed ? 0 : REAL(poll)(p, n, timeout);
    }
    hook();
    p[0].revents = 0;
    int ready = REAL(poll)(p + 1, 1, 0);
    if (ready > 0 || timeout == 0)
        return ready;
    w->now_ns += timeout * INT64_C(1000000);
    w->is_counting |= w->step >= plan->steps_first;
    w->idle = plan->script[w->step] ? 0 : w->idle + 1;
    writer_steps(1);
    return 0;
}

/* ---- one process of the follower ---- */

static void note(void *context, const char *text)
{
    (void)context;
    w->notes = true;
    if (getenv("FOLLOW_NOTES"))
        fprintf(stderr, "# %s\n", text);
}

static void deliver(const struct logs_piece *piece)
{
    int fd = REAL(openat)(AT_FDCWD, out_path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    hook();
    if (write(fd, piece->text, piece->n) != (ssize_t)piece->n)
        abort();
    hook();
    close(fd);
}

static int follow(void)
{
    enum { PIECES = 3 };
    static char text[PIECES][LOGS_LINE_LEAST];
    struct logs_piece pieces[PIECES];
    struct logs_follow *f;
    struct err err = {0};
    const struct logs_follow_config config = {.state = open(state_path, O_RDONLY | O_DIRECTORY), .note = note};
    is_followed = true;
    if (logs_follow_open(&f, &config, &err) || logs_follow_add(f, live, 0, &err) || logs_follow_scan(f, &err) ||
        logs_follow_save(f, true, &err))
        return 1;
    w->is_ready = true; /* from now on, what appears is new, also after a kill */
    while (w->idle < IDLE_END) {
        size_t n = 0;
        if (logs_follow_scan(f, &err))
            return 1;
        while (n < PIECES && logs_follow_read(f, SIZE_MAX, text[n], sizeof text[n], &pieces[n]))
            n++;
        for (size_t i = 0; i < n; i++) { /* the first is delivered while the others wait */
            deliver(&pieces[i]);
            logs_follow_ack(f, pieces[i].generation, pieces[i].end);
            if (i == 0 && (logs_follow_save(f, false, &err) || logs_follow_scan(f, &err)))
                return 1;
        }
        if (logs_follow_save(f, n == 0, &err))
            return 1;
        logs_follow_wait(f, -1, n ? 0 : 1000);
    }
    int rc = logs_follow_save(f, true, &err) ? 1 : 0;
    is_followed = false;
    logs_follow_close(f);
    close(config.state);
    return rc;
}

/* ---- cases ---- */

static size_t case_count, case_failures;

static int find_part(void *context, const char *name, unsigned char type)
{
    (void)type;
    *(bool *)context |= strstr(name, ".tmp") != NULL;
    return 0;
}

/* NULL: complete and in order; else what is wrong. */
static const char *judge(bool was_killed)
{
    static char text[LINES_MAX * 100];
    char line[100];
    size_t next = 0, n = 0;
    bool has_parts = false;
    fs_each_name(AT_FDCWD, state_path, find_part, &has_parts);
    if (has_parts)
        return "a part of a cursor stays";
    int fd = open(out_path, O_RDONLY);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    close(fd);
    text[got] = 0;
    for (const char *p = text; *p; p += n) {
        size_t number;
        const char *at = strstr(p, ": line ");
        if (!at || sscanf(at, ": line %zu", &number) != 1)
            return "a line is damaged";
        n = line_text(number, line);
        if (strncmp(p, line, n) != 0)
            return "a line is damaged";
        if (number > next)
            return "lines are missing";
        if (number < next && !was_killed)
            return "lines came twice without a kill";
        next += number == next;
    }
    return next == w->lines ? w->notes ? "a message" : NULL : "lines at the end are missing";
}

/* Returns the calls that were counted. */
static size_t run_case(const struct plan *p, const char *base)
{
    bool was_killed = false;
    struct err err = {0};
    snprintf(folder, sizeof folder, "%s/l", base);
    snprintf(live, sizeof live, "%s/a.log", folder);
    snprintf(out_path, sizeof out_path, "%s/out", base);
    snprintf(state_path, sizeof state_path, "%s/state", base);
    fs_remove_tree(AT_FDCWD, folder, &err);
    fs_remove_tree(AT_FDCWD, state_path, &err);
    unlink(out_path);
    assert_int_equal(mkdir(folder, 0700) | mkdir(state_path, 0700), 0);
    memset(w, 0, sizeof *w);
    w->now_ns = INT64_C(1800000000000000000);
    snprintf(w->file, sizeof w->file, "%s", live);
    plan = p;
    size_t calls = 0;
    for (process = 0; process < PROCESSES; process++) {
        int status;
        w->calls = w->idle = 0;
        writer_steps(p->process[process].dead_steps);
        w->is_counting = process > 0 || p->steps_first == 0;
        if (!p->process[process].kill_at) {
            assert_int_equal(follow(), 0);
            calls = process ? calls : w->calls;
            break;
        }
        pid_t pid = fork();
        if (pid == 0)
            _exit(follow());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        calls = process ? calls : w->calls;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            break;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != KILLED)
            fail_msg("the follower ended with %d", status);
        was_killed = true;
    }
    const char *wrong = judge(was_killed);
    case_count++;
    if (wrong && ++case_failures <= 30)
        print_message("# %s: script %s, first %zu, kill %zu, burst %zu at %zu, then dead %zu, burst %zu at %zu\n", wrong, p->script,
                      p->steps_first, p->process[0].kill_at, p->process[0].burst_steps, p->process[0].burst_at,
                      p->process[1].dead_steps, p->process[1].burst_steps, p->process[1].burst_at);
    return calls;
}

static const char *const scripts[] = {
    "WRNW1RNB21RNW",           /* renamed */
    "NWR1NRNL21RNPW321RNW",    /* renamed before the older one is known; a line comes in two writes */
    "BWcCTW1cCTB21CTPL321CTW", /* copied and truncated */
    "NLCTPL1CTL21CTB321CTLW",  /* the same with files that are small */
    "WRWNW1RLNB",              /* the writer goes on with the renamed file */
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

static char base[100];

/* stride: 1 for every point. */
static void walk_bursts(const char *script, size_t stride)
{
    static const size_t burst[] = {1, 2, 3, 4, 6, 8, 100};
    size_t steps = strlen(script), n = 0;
    for (size_t first = 0; first < steps; first++) {
        const struct plan calm = {script, first, {{.burst_at = 0}}};
        size_t calls = run_case(&calm, base);
        for (size_t at = 1; at <= calls && at <= BURST_CALLS; at++)
            for (size_t b = 0; b < sizeof burst / sizeof *burst; b++) {
                const struct plan p = {script, first, {{.burst_at = at, .burst_steps = burst[b]}}};
                if (n++ % stride == 0)
                    run_case(&p, base);
            }
    }
}

static void walk_kills(const char *script, size_t stride)
{
    static const size_t dead[] = {0, 1, 2, 3, 4, 6, 8, 100};
    const struct plan calm = {script, 0, {{.burst_at = 0}}};
    size_t n = 0, calls = run_case(&calm, base);
    for (size_t at = 1; at <= calls; at++)
        for (size_t d = 0; d < sizeof dead / sizeof *dead; d++) {
            const struct plan p = {script, 0, {{.kill_at = at}, {.dead_steps = dead[d]}}};
            if (n++ % stride == 0)
                run_case(&p, base);
        }
}

static unsigned long random_state = 1;

static size_t pick(size_t n)
{
    random_state = random_state * 6364136223846793005UL + 1442695040888963407UL;
    return (random_state >> 33) % n;
}

/* Kills, steps while nothing follows, and bursts, in random orders; the same ones each time. */
static void walk_mixtures(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *script = scripts[pick(SCRIPTS)];
        size_t steps = strlen(script);
        const struct plan p = {script,
                               pick(steps),
                               {{.kill_at = 1 + pick(250), .burst_at = 1 + pick(100), .burst_steps = pick(6)},
                                {.dead_steps = pick(8), .burst_at = 1 + pick(100), .burst_steps = 1 + pick(7)}}};
        run_case(&p, base);
    }
}

static void test_walk(void **state)
{
    const char *is_long = getenv("BENCHWRAP_LONG");
    bool every = is_long && *is_long;
    (void)state;
    for (size_t i = 0; i < SCRIPTS; i++) {
        walk_bursts(scripts[i], every ? 1 : 701);
        walk_kills(scripts[i], every ? 1 : 211);
    }
    walk_mixtures(every ? 3000 : 40);
    print_message("# %zu cases, %zu failures\n", case_count, case_failures);
    assert_int_equal(case_failures, 0);
}

/* A copy that always gets the same name: the file is the same, its lines are others. */
static void test_same_name(void **state)
{
    const struct plan p = {.script = "BCTWWCTWCTW"};
    (void)state;
    case_failures = 0;
    run_case(&p, base);
    assert_int_equal(case_failures, 0);
}

static int setup(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "%s/logs_follow.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return w == MAP_FAILED || !mkdtemp(base);
}

static int teardown(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, NULL);
}

int main(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    puts("1..0 # SKIP calls of the follower go to the sanitizer's functions, past those of this test");
    return 0;
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walk), cmocka_unit_test(test_same_name)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, teardown);
}
