/* recorder.c: the process that records: shared memory and socket are made, it is started, its messages are read. */
#include "launch/recorder.h"

#include "base/credentials.h"
#include "launch/fd.h"
#include "launch/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

int recorder_find_core(char *path, size_t size)
{
    static const char tail[] = "/libexec/benchwrap/benchwrap-core";
    char real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n < 0) { /* /proc is not mounted: as it was started */
        const char *started = (const char *)getauxval(AT_EXECFN);
        path[0] = 0;
        if (!started || !realpath(started, real))
            return -1;
        n = (ssize_t)strlen(real);
        if ((size_t)n >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(path, real, (size_t)n);
    }
    path[n] = 0;
    for (int up = 0; up < 2; up++) { /* …/bin/benchwrap -> … */
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = 0;
    }
    if (strlen(path) + sizeof tail > size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path + strlen(path), tail, sizeof tail);
    return access(path, X_OK);
}

/* Sets the size of the shared memory. The caller's file size limit is lifted for that moment, since
 * it is meant for files. 0; -1 with errno. */
static int recorder_grow_memory(int fd)
{
    struct rlimit was, most;
    bool limited = getrlimit(RLIMIT_FSIZE, &was) == 0 && was.rlim_cur != RLIM_INFINITY;
    if (limited && was.rlim_max < WIRE_SIZE) { /* trying would bring SIGXFSZ */
        errno = EFBIG;
        return -1;
    }
    if (limited) {
        most = (struct rlimit){was.rlim_max, was.rlim_max};
        setrlimit(RLIMIT_FSIZE, &most);
    }
    int rc = ftruncate(fd, WIRE_SIZE), saved = errno;
    if (limited)
        setrlimit(RLIMIT_FSIZE, &was);
    errno = saved;
    return rc;
}

/* Writes a random run id (UUID version 4) into id. 0; -1 with errno. */
static int recorder_make_id(char id[33])
{
    unsigned char b[16];
    size_t n = 0;
    for (int tries = 0; n < sizeof b; tries++) {
        ssize_t k = getrandom(b + n, sizeof b - n, 0);
        if (k < 0 && (errno != EINTR || tries > 100))
            return -1;
        n += k > 0 ? (size_t)k : 0;
    }
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof b; i++)
        snprintf(id + 2 * i, 3, "%02x", b[i]);
    return 0;
}

/* Opens the socket of `benchwrap log`, in the abstract name space: no file, gone with the last
 * holder. Every local user can reach it, so the kernel attests the sender of each message from
 * the first one on: the option is set before the name is bound. Returns the descriptor; -1 with
 * errno. */
static int open_log(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = fd_high(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)), on = 1;
    if (fd < 0)
        return -1;
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0)
        fd_close(&fd);
    return fd;
}

int recorder_open(struct recorder *r, const char *id, const char **ret_what)
{
    int ends[2];
    *r = (struct recorder){.socket = -1, .its_end = -1, .memory = -1, .log = -1};
    *ret_what = "the recorder benchwrap-core was not found";
    if (recorder_find_core(r->core, sizeof r->core) < 0)
        return -1;
    *ret_what = "cannot share memory with the recorder";
    r->memory = fd_high(memfd_create("benchwrap", MFD_CLOEXEC));
    if (r->memory < 0 || recorder_grow_memory(r->memory) < 0)
        return -1;
    void *at = mmap(NULL, WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r->memory, 0);
    if (at == MAP_FAILED)
        return -1;
    r->wire = at;
    r->wire->magic = WIRE_MAGIC;
    for (int i = 0; i < WIRE_STREAMS; i++)
        r->wire->ring[i].wake_at = UINT64_MAX;
    *ret_what = "cannot make a run id";
    if (id)
        memcpy(r->wire->run_id, id, 33);
    else if (recorder_make_id(r->wire->run_id) < 0)
        return -1;
    *ret_what = "cannot make a socket to the recorder";
    struct emit_shared *shared = (void *)((char *)at + EMIT_SHARED_AT);
    memcpy(shared->run_id, r->wire->run_id, sizeof shared->run_id);
    snprintf(r->log_name, sizeof r->log_name, "benchwrap/%s/%d.%d", r->wire->run_id, (int)getpid(), r->memory);
    r->log = open_log(r->log_name);
    r->wire->has_log_socket = r->log >= 0;
    if (fd_socketpair(SOCK_SEQPACKET, ends) < 0)
        return -1;
    r->socket = ends[0];
    r->its_end = ends[1];
    return 0;
}

/* Makes the standard streams /dev/null, or without that a pipe that no process reads. */
static void null_streams(void)
{
    int fd = open("/dev/null", O_RDWR), ends[2];
    if (fd < 0 && pipe(ends) == 0) { /* no /dev: a pipe without reader refuses what is written */
        close(ends[0]);
        fd = ends[1];
    }
    for (int i = 0; fd >= 0 && i < 3; i++)
        if (fd != i)
            dup2(fd, i);
}

/* Stores the soft limits in the shared memory, and raises them to the hard ones: the caller's are meant
 * for the program. */
static void raise_limits(struct wire *wire)
{
    for (size_t i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit l;
        wire->soft_limits[i] = getrlimit((int)i, &l) == 0 ? (uint64_t)l.rlim_cur : UINT64_MAX - 1; /* not known */
    }
    static const int kinds[] = {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_STACK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit l;
        if (getrlimit(kinds[i], &l) == 0 && l.rlim_cur != l.rlim_max && !(kinds[i] == RLIMIT_STACK && l.rlim_max == RLIM_INFINITY)) {
            l.rlim_cur = l.rlim_max;
            setrlimit(kinds[i], &l);
        }
    }
}

/* Runs in the child: moves the descriptors to the numbers of wire.h, closes all others, and
 * executes the core. Exit status 125, 126 or 127 where it cannot. */
_Noreturn static void become_recorder(const struct recorder *r, char **argv, char **env, int credentials)
{
    null_streams();
    if (r->its_end <= WIRE_CREDENTIALS_FD || r->memory <= WIRE_CREDENTIALS_FD || (r->log >= 0 && r->log <= WIRE_CREDENTIALS_FD) ||
        (credentials >= 0 && credentials <= WIRE_CREDENTIALS_FD))
        _exit(125); /* next to no descriptors allowed: they would overwrite each other */
    if (dup2(r->its_end, WIRE_SOCKET_FD) < 0 || dup2(r->memory, WIRE_MEMORY_FD) < 0 || (r->log >= 0 && dup2(r->log, WIRE_LOG_FD) < 0))
        _exit(125);
    if (r->log < 0)
        close(WIRE_LOG_FD);
    if (credentials >= 0 && dup2(credentials, WIRE_CREDENTIALS_FD) < 0)
        _exit(125);
    fd_close_from(credentials >= 0 ? WIRE_CREDENTIALS_FD + 1 : WIRE_CREDENTIALS_FD);
    raise_limits(r->wire);
    execve(r->core, argv, env);
    _exit(errno == ENOENT ? 127 : 126);
}

int recorder_start(struct recorder *r, char **argv)
{
    int count = 0;
    while (argv[count])
        count++;
    char **args = calloc((size_t)count + 2, sizeof *args);
    pid_t pid = -1;
    char **env = credentials_mask(environ);
    int stored = credentials_store(environ), credentials = stored < 0 ? -1 : fd_high(stored);
    r->wire->has_credentials = credentials >= 0;
    r->wire->lost_credentials = credentials < 0 && stored != -1;
    if (args && env) {
        args[0] = (char *)"benchwrap-core";
        args[1] = (char *)"--recorder";
        if (count > 1)
            memcpy(args + 2, argv + 1, (size_t)(count - 1) * sizeof *args);
        pid = spawn_fork();
        if (pid == 0)
            become_recorder(r, args, env, credentials);
    }
    int saved = errno;
    free(args);
    free(env);
    fd_close(&credentials);
    fd_close(&r->its_end);
    fd_close(&r->log); /* the recorder's from here on: what is sent to it must not outlive it in the launcher */
    r->alive = pid > 0;
    r->pid = pid > 0 ? pid : 0;
    errno = saved;
    return pid > 0 ? 0 : -1;
}

int recorder_receive(struct recorder *r, struct wire_msg *ret)
{
    if (!r->alive)
        return -1;
    memset(ret, 0, sizeof *ret);
    ssize_t n = recv(r->socket, ret, sizeof *ret, MSG_DONTWAIT);
    if (n < 0 && errno == ECONNRESET) /* it ended without reading all that was sent: its own last messages follow that error */
        n = recv(r->socket, ret, sizeof *ret, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOMEM || errno == ENOBUFS))
        return 0; /* this shows nothing about the recorder */
    if (n <= 0) {
        r->alive = false;
        return -1;
    }
    ret->text[sizeof ret->text - 1] = 0;
    switch (ret->kind) {
    case WIRE_READY: r->accepted = r->ready = true; break;
    case WIRE_ACCEPTED: r->accepted = true; break;
    case WIRE_ATTACHED: r->attached = true; break;
    case WIRE_REFUSE: r->refused = true; break;
    case WIRE_ENV:
        if (r->env_count < RECORDER_ENV_MAX && strchr(ret->text, '=') && (r->env[r->env_count] = strdup(ret->text)))
            r->env_count++;
        break;
    case WIRE_SUMMARY: {
        size_t used = strlen(r->summary);
        snprintf(r->summary + used, sizeof r->summary - used, "%s", ret->text);
        break;
    }
    case WIRE_DONE:
        r->done = true;
        r->verdict = ret->status;
        snprintf(r->gate, sizeof r->gate, "%.*s", (int)sizeof r->gate - 1, ret->text);
        break;
    default: break;
    }
    return 1;
}

bool recorder_send(struct recorder *r, const struct wire_msg *msg)
{
    return r->alive && send(r->socket, msg, sizeof *msg, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *msg;
}

void recorder_close(struct recorder *r)
{
    fd_close(&r->socket);
    fd_close(&r->its_end);
    fd_close(&r->memory);
    fd_close(&r->log);
    while (r->env_count)
        free(r->env[--r->env_count]);
    r->alive = false;
}

/* Sets the entry NAME=value in the list: in place where it has the name, else at the end, which must
 * have capacity. */
static void env_put_entry(char **env, size_t *count, char *entry)
{
    size_t name_len = strcspn(entry, "="), i = 0;
    while (i < *count && (strncmp(env[i], entry, name_len) != 0 || env[i][name_len] != '='))
        i++;
    env[i] = entry;
    *count += i == *count;
}

char **recorder_environment(const struct recorder *r, char *const *env)
{
    enum { ENTRY = 96 };
    size_t count = 0;
    while (env[count])
        count++;
    char **copy = calloc(1, (count + 3 + r->env_count) * sizeof *copy + 2 * ENTRY);
    if (!copy)
        return NULL;
    char *id = (char *)(copy + count + 3 + r->env_count), *address = id + ENTRY;
    memcpy(copy, env, count * sizeof *copy);
    snprintf(id, ENTRY, "BENCHWRAP_RUN_ID=%s", r->wire->run_id);
    snprintf(address, ENTRY, "BENCHWRAP_SOCKET=%s%s", r->wire->has_log_socket ? "@" : "", r->wire->has_log_socket ? r->log_name : "");
    env_put_entry(copy, &count, id);
    env_put_entry(copy, &count, address);
    for (size_t i = 0; i < r->env_count; i++)
        env_put_entry(copy, &count, r->env[i]);
    return copy;
}
