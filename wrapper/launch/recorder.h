/* recorder.h: the process that records: creates shared memory and socket, starts the recorder,
 * reads its messages. The program waits for it no longer than the options allow, and its death
 * changes nothing for the program. */
#ifndef LAUNCH_RECORDER_H
#define LAUNCH_RECORDER_H
#include "launch/spawn.h"
#include "launch/wire.h"

enum {
    RECORDER_ENV_MAX = 8,
    RECORDER_ACCEPT_WAIT_MS = 5000 /* what an option that only the recorder checks may delay the program's start */,
    RECORDER_SHARE_WAIT_MS = 2500 /* what --share-run may delay the program's start, the recorder's own 2 s with a margin */,
    RECORDER_ATTACH_WAIT_MS = 17000 /* the same of --profile-code, 15 s with a margin */
};

struct recorder {
    pid_t pid;           /* 0: not started, or reaped */
    int socket, memory, log;
    char log_name[72]; /* of the socket, without its first byte, which is NUL */
    int its_end;         /* of the socket, until it is started */
    struct wire *wire;   /* NULL: none */
    bool alive;          /* its end of the socket is open */
    bool accepted, ready, refused, attached, done;
    int verdict;
    char gate[512];      /* why the verdict is not pass; "" it is */
    int exit;            /* wait status once pid is reaped */
    char core[4096];     /* path of the core program */
    char summary[8192];  /* "" none */
    char *env[RECORDER_ENV_MAX]; /* NAME=VALUE for the program, malloc'ed */
    size_t env_count;
};

/* Finds the core program (../libexec/benchwrap/benchwrap-core, relative to the running program).
 * /proc names the running program; where it is not mounted, argv[0] does. 0; -1 with errno, and
 * *path the path that was tried, or "". */
int recorder_find_core(char *path, size_t size);
/* Opens memory and sockets, and makes a new run id (or uses the given one: 32 hexadecimal digits,
 * NULL for none). 0; -1 with errno, and *ret_what (static) states what failed. recorder_close
 * releases what was opened, in both cases. */
int recorder_open(struct recorder *r, const char *id, const char **ret_what);
/* Starts the recorder, after recorder_open. argv: the launcher's own. In the recorder, every
 * descriptor but those of wire.h is closed, and all signals stay blocked. 0; -1 with errno. */
int recorder_start(struct recorder *r, char **argv);
/* Receives the next message into *ret, and notes in *r what it reports. 1; 0: none has arrived; -1:
 * the recorder has closed its end (alive is then false). */
int recorder_receive(struct recorder *r, struct wire_msg *ret);
/* Sends a message. False if it could not be sent now (errno EAGAIN) or at all. */
bool recorder_send(struct recorder *r, const struct wire_msg *msg);
/* Closes the descriptors and frees the entries for the program's environment. The shared memory
 * stays: the signal counts and the sender's pid are in it. A recorder that still runs loses its
 * socket and ends by itself. */
void recorder_close(struct recorder *r);
/* Returns the caller's environment with BENCHWRAP_RUN_ID, BENCHWRAP_SOCKET and what the recorder
 * requested: in place where they are, else at the end. One allocation for free(); its entries are
 * also those of `env` and of *r, which must outlive it. NULL: out of memory. */
char **recorder_environment(const struct recorder *r, char *const *env);
#endif
