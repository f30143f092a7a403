/* command.h: commands of schedulers: one that is waited for, and a pool of such that run at once. */
#ifndef TASKRATE_COMMAND_H
#define TASKRATE_COMMAND_H
#include "benchmarks/native/taskrate/provider.h"
#include "benchmarks/native/taskrate/spawn.h"

/* Runs argv (searches word[0] in PATH) without input, as base/query does, and appends its output,
 * less than out->max bytes; of standard error the last line is in the message when it fails. It is
 * killed after `seconds`, and, where b is given, as soon as the end is requested. 0: it ended with
 * 0. -1: with a sentence that names the command. */
int command_run(struct bench *b, const struct argument_words *argv, double seconds, struct buf *out, struct err *err);
/* The absolute path of a command by PATH, in the arena; NULL with a sentence. */
const char *command_find(struct arena *a, const char *name, struct err *err);
/* The same, searched once: the path lives as long as the bench. */
const char *command_path(struct bench *b, const char *name, struct err *err);

enum { CLIENT_OUT = 600 };
/* A submit command that runs. */
struct submit_client {
    pid_t pid; /* 0: free place */
    int pidfd, out;
    size_t first, count;
    int64_t begun;
    int64_t overdue; /* when it got SIGTERM since it ran for too long; 0: it did not */
    bool alone; /* its output has ended */
    char text[CLIENT_OUT]; /* the end of what it printed, both streams */
    size_t text_n;
    int status;
};

struct clients {
    struct submit_client *client; /* [`room`] */
    size_t room, running;
    int epoll;
    struct spawner spawner;
    int null;
};

/* Makes a pool for `room` commands. clients_deinit frees it. -1 with err, and nothing is left. */
int clients_init(struct clients *c, size_t room, struct err *err);
/* Requests the commands' end, waits for them at most 2 s, kills what is left. */
void clients_deinit(struct clients *c);
/* Starts a command; `input` is small and written before. NULL with errno in err: it could not be started. */
struct submit_client *clients_start(struct clients *c, const struct argument_words *argv, struct str input, struct err *err);
/* The next command that has ended, or NULL: none for now. Never waits. Its place is free again with clients_free. */
struct submit_client *clients_ended(struct clients *c);
/* Closes the output of a command that has ended, and frees its place. */
void clients_free(struct clients *c, struct submit_client *one);
/* Sends SIGTERM, once, to those that run for longer than `seconds`, and SIGKILL to those that got
 * SIGTERM from an earlier call and still run 2 s later. With INFINITY it does only the latter. */
void clients_overdue(struct clients *c, double seconds);
/* The last line of what it printed, harmless to print. */
void client_says(const struct submit_client *one, struct buf *to);
#endif
