/* program.c: the user's own git, gpg and ssh-keygen as programs, bounded; see program.h. */
#include "git/program.h"

#include "base/credentials.h"
#include "base/clock.h"
#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    SIDES = 3,
    LOOK_MS = 50,
    LINGER_MS = 500 /* what a daemon that it has started (ssh's master) still holds open is not waited for */,
    STOP_MS = 2000 /* after SIGTERM, on which git removes its lock files */
};

struct running {
    pid_t pid;
    int fd[SIDES]; /* this process's ends of its standard input, output, error; -1: closed */
    bool own_session, ended;
    bool cut; /* it printed more than is kept of its output */
    int wait_status;
    int64_t ended_ns;
};

/* ---- its environment ---- */

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

static bool named_in(const char *const *list, const char *entry)
{
    for (; list && *list; list++)
        if (same_name(*list, entry))
            return true;
    return false;
}

/* Makes the environment: without what would lead git to another repository than the one that is
 * meant, or translate words that the caller searches; then the caller's. */
static char **make_environment(const struct program *p)
{
    static const char *const out[] = {"GIT_DIR",
                                      "GIT_WORK_TREE",
                                      "GIT_INDEX_FILE",
                                      "GIT_OBJECT_DIRECTORY",
                                      "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                                      "GIT_COMMON_DIR",
                                      "GIT_NAMESPACE",
                                      "GIT_PREFIX",
                                      "GIT_TRACE",
                                      "LANGUAGE",
                                      NULL};
    static const char *const in[] = {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", NULL};
    static const char *const silent[] = {"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "GPG_TTY", NULL};
    const char *const *sets[] = {in, p->prompt ? NULL : silent, p->set};
    size_t n = 0, room = 32;
    for (char **e = environ; *e; e++)
        room++;
    for (const char *const *s = p->set; s && *s; s++)
        room++;
    char **env = calloc(room, sizeof *env);
    for (char **e = environ; env && *e; e++)
        if (!named_in(out, *e) && !named_in(in, *e) && !(sets[1] && named_in(sets[1], *e)) && !named_in(p->set, *e) &&
            (p->credentials || !credentials_has(*e)))
            env[n++] = *e;
    for (size_t i = 0; env && i < sizeof sets / sizeof *sets; i++)
        for (const char *const *s = sets[i]; s && *s; s++)
            if (strchr(*s, '=') && !(i < 2 && named_in(p->set, *s)))
                env[n++] = (char *)*s;
    return env;
}

/* ---- start ---- */

/* Returns a descriptor with the input in memory, so that no process has to write it while the
 * program runs. -1 with errno. */
static int make_input(struct str in)
{
    int fd = in.p ? memfd_create("benchwrap-input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && in.p && (fs_write_all(fd, in.p, in.n) || lseek(fd, 0, SEEK_SET) != 0))
        fs_close(&fd);
    return fd;
}

/* Creates the input and two outputs of a child process, with this process's ends of the outputs,
 * which do not block; that of the input is -1. Returns -1 with errno; the caller closes what is not
 * -1, also then. */
static int make_pipes(const struct program *p, int theirs[SIDES], int ours[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        theirs[i] = ours[i] = -1;
    if ((theirs[0] = make_input(p->in)) < 0)
        return -1;
    for (int i = 1; i < SIDES; i++) {
        int two[2];
        if (pipe2(two, O_CLOEXEC))
            return -1;
        theirs[i] = two[1];
        ours[i] = two[0];
        fcntl(ours[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

static void close_sides(int fd[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
        fd[i] = -1;
    }
}

/* Starts the program with the default signal handling, whatever this process has set. */
static int program_spawn(const struct program *p, const int theirs[SIDES], char **env, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < SIDES; i++)
        posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
    if (p->dir)
        posix_spawn_file_actions_addchdir_np(&actions, p->dir);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (p->prompt ? 0 : POSIX_SPAWN_SETSID)));
    int rc = posix_spawnp(pid, p->argv[0], &actions, &attributes, (char *const *)p->argv, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* Starts the program with its streams in r->fd. Returns 1 with err when there is no such program,
 * -1 with err; then all descriptors are closed. */
static int program_start(const struct program *p, struct running *r, struct err *err)
{
    int theirs[SIDES];
    char **env = NULL;
    int rc = make_pipes(p, theirs, r->fd);
    if (rc || !(env = make_environment(p))) {
        err_sys(err, "starting %s", p->argv[0]);
        rc = -1;
    } else if ((errno = program_spawn(p, theirs, env, &r->pid))) {
        rc = errno == ENOENT && !(p->dir && access(p->dir, F_OK)) ? 1 : -1;
        err_sys(err, "starting %s", p->argv[0]);
    }
    r->own_session = !p->prompt;
    free(env);
    close_sides(theirs);
    if (rc)
        close_sides(r->fd);
    return rc;
}

/* ---- while it runs ---- */

/* Reads what there is. Returns whether some of it was dropped, as `to` has its maximum. */
static bool program_read(int *fd, struct buf *to)
{
    char block[16384];
    ssize_t n;
    bool cut = false;
    while ((n = read(*fd, block, sizeof block)) > 0) { /* what is too much is read and dropped: the program must not wait for its reader */
        size_t room = to->max - to->n - 1;
        cut = cut || (size_t)n > room;
        buf_add(to, block, (size_t)n < room ? (size_t)n : room);
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        fs_close(fd);
    return cut;
}

static void look_whether_ended(struct running *r)
{
    if (!r->ended && waitpid(r->pid, &r->wait_status, WNOHANG) == r->pid) {
        r->ended = true;
        r->ended_ns = clock_mono_ns();
    }
}

static void program_signal(const struct running *r, int signal)
{
    if (r->own_session)
        kill(-r->pid, signal);
    kill(r->pid, signal);
}

/* Ends the program and what it has started: by SIGTERM, and by SIGKILL where it still runs after
 * STOP_MS. */
static void program_stop(struct running *r)
{
    int64_t until_ns = clock_mono_ns() + STOP_MS * (int64_t)1000000;
    siginfo_t info = {0};
    program_signal(r, SIGTERM);
    while (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid && clock_mono_ns() < until_ns)
        poll(NULL, 0, LOOK_MS / 5);
    program_signal(r, SIGKILL); /* it is not reaped yet: the number is still its own */
    while (waitpid(r->pid, &r->wait_status, 0) < 0 && errno == EINTR)
        ;
}

/* Reads the outputs until the program has ended (true), or the time until_ns is over (false). */
static bool program_attend(struct running *r, struct program_end *ret, int64_t until_ns)
{
    for (;;) {
        struct pollfd open_ones[2] = {{.fd = r->fd[1], .events = POLLIN}, {.fd = r->fd[2], .events = POLLIN}};
        if (poll(open_ones, 2, r->ended ? LOOK_MS / 5 : LOOK_MS) > 0) {
            if (open_ones[0].revents && program_read(&r->fd[1], &ret->out))
                r->cut = true;
            if (open_ones[1].revents)
                program_read(&r->fd[2], &ret->words);
        }
        look_whether_ended(r);
        int64_t now = clock_mono_ns();
        bool silent = r->fd[1] < 0 && r->fd[2] < 0;
        if (r->ended && (silent || now - r->ended_ns > LINGER_MS * (int64_t)1000000))
            return true;
        if (!r->ended && now > until_ns)
            return false;
        if (!r->ended && silent)
            poll(NULL, 0, LOOK_MS / 10);
    }
}

int program_run(const struct program *p, struct program_end *ret, struct err *err)
{
    struct running r = {.pid = -1, .fd = {-1, -1, -1}};
    double limit_s = p->limit_s > 0 ? p->limit_s : 60;
    *ret = (struct program_end){.status = -1};
    buf_init(&ret->out, p->out_max ? p->out_max : 1 << 20);
    buf_init(&ret->words, p->out_max ? p->out_max : 1 << 20);
    int rc = program_start(p, &r, err);
    if (rc)
        return rc;
    ret->timed_out = !program_attend(&r, ret, clock_mono_ns() + (int64_t)(limit_s * 1e9));
    if (ret->timed_out)
        program_stop(&r);
    close_sides(r.fd);
    ret->status = WIFEXITED(r.wait_status) ? WEXITSTATUS(r.wait_status) : 128 + WTERMSIG(r.wait_status);
    if (ret->timed_out)
        return err_set(err, ERR_SYSTEM, "%s %s was stopped: it ran longer than %g s", p->argv[0], p->argv[1] ? p->argv[1] : "", limit_s);
    if (p->whole && (r.cut || ret->out.failed))
        return r.cut ? err_set(err, ERR_SYSTEM, "%s printed more than %zu bytes", p->argv[0], ret->out.max - 1)
                     : err_memory(err, "the output of a program");
    return 0;
}

void program_end_deinit(struct program_end *e)
{
    buf_deinit(&e->out);
    buf_deinit(&e->words);
}

/* Returns the last line with a reason. When ssh fails, git adds four lines that fit every cause;
 * the message of ssh precedes them. */
static struct str program_last_line(struct str all)
{
    struct str last = {"", 0};
    while (all.p && all.n) {
        struct str line = str_trim(str_cut(&all, '\n'));
        if (str_starts(line, "fatal: Could not read from remote repository") && last.n)
            break;
        if (line.n && !str_starts(line, "[GNUPG:]") /* status lines of gpg for programs */ &&
            !str_starts(line, "To add an exception for this directory") && !str_starts(line, "git config --global --add safe.directory") &&
            !str_starts(line, "Please make sure you have the correct access") && !str_is(line, "and the repository exists."))
            last = line;
    }
    return last;
}

/* Sets err where git refused a repository of another user on this machine, with the command that
 * allows it as a hint unless the path is too long for one. Git names the repository as the last word
 * of that command. Returns -1 then; 0: it is none of this machine's, where the command would have to
 * be given elsewhere. */
static int program_err_distrusted(struct str words, const char *text, struct err *err)
{
    static const struct str command = {"git config --global --add safe.directory ", 41};
    char path[PATH_MAX];
    struct stat st;
    ptrdiff_t at = words.p ? str_find(words, command) : -1;
    if (at < 0)
        return 0;
    struct str rest = str_sub(words, (size_t)at + command.n, words.n), name = str_trim(str_cut(&rest, '\n'));
    bool quoted = name.n > 2 && name.p[0] == '\'' && name.p[name.n - 1] == '\'';
    if (quoted)
        name = str_sub(name, 1, name.n - 2);
    snprintf(path, sizeof path, STR_FMT, STR_ARG(name));
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '\'' || (!quoted && !isalnum((unsigned char)*p) && !strchr("/._-+=:,@%", *p)))
            return 0;
    if (path[0] != '/' || stat(path, &st) != 0)
        return 0;
    char number[24], names[4096];
    struct passwd entry, *owner = NULL;
    if (getpwuid_r(st.st_uid, &entry, names, sizeof names, &owner) != 0)
        owner = NULL;
    snprintf(number, sizeof number, "%lu", (unsigned long)st.st_uid);
    const char *quote = quoted ? "'" : "";
    err_set(err, ERR_SYSTEM, "%s: it belongs to user %s and git does not trust it", text, owner ? owner->pw_name : number);
    return strlen(path) > 400 ? -1 : err_hint(err, STR_FMT "%s%s%s", STR_ARG(command), quote, path, quote);
}

int program_err(const struct program_end *e, struct err *err, const char *fmt, ...)
{
    char text[400];
    CLEANUP_BUF struct buf plain;
    struct str last = program_last_line(buf_text(&e->words));
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_init(&plain, 2048);
    if (program_err_distrusted(buf_text(&e->words), text, err))
        return -1;
    buf_plain(&plain, last, 400);
    if (!last.n)
        return err_set(err, ERR_SYSTEM, "%s: it ended with status %d and printed nothing", text, e->status);
    return err_set(err, ERR_SYSTEM, "%s: " STR_FMT, text, STR_ARG(buf_text(&plain)));
}
