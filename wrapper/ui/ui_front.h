/* ui_front.h: the door of `benchwrap ui`: a port of this machine that passes connections with the secret on to MLflow's private socket.
 *
 * Every local user reaches a port of loopback, and not every MLflow has authentication of its own. MLflow therefore listens on a socket in a folder of mode
 * 0700 only, and this process checks the first request of each connection (Authorization: Basic or Bearer). */
#ifndef UI_UI_FRONT_H
#define UI_UI_FRONT_H
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <sys/types.h>

enum { UI_SECRET_MIN = 16, UI_SECRET_MAX = 128 };
#define UI_FRONT_USER "benchwrap"

struct ui_front {
    pid_t pid; /* 0: not started */
    int hold;  /* it ends when this end of a pipe is closed, also by the death of this process */
};

/* Makes a secret of 32 hexadecimal digits, or reads (path) the first word of a file: UI_SECRET_MIN to UI_SECRET_MAX letters, digits, '.', '_', '~' or '-'; a file
 * that others can read is refused. */
int ui_front_secret(const char *path, char ret[UI_SECRET_MAX + 1], struct err *err);
/* Listens at host:port and serves in a child process. folder: an open directory with the socket `name` (relative, at most 100 bytes). */
int ui_front_start(struct ui_front *ret, const char *host, int port, int folder, const char *name, const char *secret, struct err *err);
void ui_front_stop(struct ui_front *f);

enum ui_front_answer { UI_FRONT_REFUSE, UI_FRONT_PASS, UI_FRONT_ENTER /* the link: on to the same address without the secret */ };
#endif
