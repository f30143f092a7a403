/* ui_server.h: a local MLflow server as a child that never outlives this process. A guard between
 * the two adopts and ends what the server starts, so it is no work of base/child_work.h. */
#ifndef UI_UI_SERVER_H
#define UI_UI_SERVER_H
#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Finds the mlflow program: of $VIRTUAL_ENV, of PATH, of the environment that ui_install makes.
 * NULL: there is none. */
const char *ui_find_mlflow(char *const *env, struct arena *a);
/* Returns $XDG_DATA_HOME/benchwrap/mlflow; NULL without a home. */
const char *ui_environment(char *const *env, struct arena *a);
/* Makes that environment and installs MLflow into it (python3 -m venv, pip): minutes, and 850 MB. Their output goes to standard error. */
int ui_install(char *const *env, struct arena *a, struct err *err);

struct ui_server {
    pid_t guard;
    int hold;       /* the guard ends the server when this end of a pipe is closed, also by the death of this process */
};
/* Returns whether the port is free at this address. */
bool ui_port_free(const char *host, int port);
/* Starts the server: argv[0] is the program's path; it runs in the folder `folder`, its output goes to
 * folder/server.log, and it listens on the socket `name` there. env: this process's; what would
 * configure another server, or another address, is not passed on. */
int ui_server_start(struct ui_server *ret, const char *folder, const char *name, char *const *argv, char *const *env, struct err *err);
/* Returns whether the server has ended by itself. */
bool ui_server_ended(struct ui_server *s);
/* Ends it with everything it has started, and waits for that. */
void ui_server_stop(struct ui_server *s);
/* Starts a program in the background without a shell and without output, and does not wait for it. */
void ui_open(const char *program, const char *argument);
#endif
