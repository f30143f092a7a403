/* pty.c: the terminal that replaces one stream of the program: same size, same modes, no change of
 * its bytes. */
#include "launch/pty.h"

#include "launch/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Opens the other end of the pty. Returns the descriptor, or -1 with errno. */
static int open_slave(int master)
{
    char path[64];
#ifdef TIOCGPTPEER
    int peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (peer >= 0)
        return peer;
#endif
    return ptsname_r(master, path, sizeof path) ? -1 : open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

bool pty_resize(struct pty *pty)
{
    struct winsize real = {.ws_row = 24, .ws_col = 80}, now = {0};
    int from = pty->real;
    for (int fd = 0; from < 0 && fd < 3; fd++)
        from = isatty(fd) ? fd : -1;
    if (from >= 0 && ioctl(from, TIOCGWINSZ, &real) < 0)
        return false;
    if (ioctl(pty->master, TIOCGWINSZ, &now) == 0 && memcmp(&real, &now, sizeof now) == 0)
        return false;
    return ioctl(pty->master, TIOCSWINSZ, &real) == 0;
}

int pty_open(struct pty *ret, int real)
{
    struct pty pty = {.master = -1, .slave = -1, .real = real, .keys = -1};
    int unlocked = 0;
    pty.master = fd_high(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (pty.master < 0 || ioctl(pty.master, TIOCSPTLCK, &unlocked) < 0 || (pty.slave = fd_high(open_slave(pty.master))) < 0)
        goto failed;
    if (real < 0 || tcgetattr(real, &pty.last) < 0) {
        if (tcgetattr(pty.slave, &pty.last) < 0)
            goto failed;
        cfmakeraw(&pty.last);
    }
    pty.last.c_oflag &= ~(tcflag_t)OPOST; /* the real terminal turns LF into CR LF; twice would be once too often */
    if (tcsetattr(pty.slave, TCSANOW, &pty.last) < 0 || tcgetattr(pty.slave, &pty.last) < 0 || !fd_nonblock(pty.master))
        goto failed;
    pty_resize(&pty);
    *ret = pty;
    return 0;
failed:
    pty_close(&pty);
    return -1;
}

static bool is_raw(const struct termios *t)
{
    return !(t->c_lflag & (ICANON | ECHO | ISIG | IEXTEN)) && !(t->c_iflag & (ICRNL | IXON));
}

/* Compares member by member: the padding between them is never set. */
static bool is_same(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
           memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

void pty_follow(struct pty *pty)
{
    struct termios now, real;
    if (pty->real < 0 || tcgetattr(pty->master, &now) < 0 || is_same(&now, &pty->last))
        return;
    bool post = now.c_oflag & OPOST, was_raw = is_raw(&pty->last);
    struct termios before = pty->last;
    pty->last = now;
    if (now.c_lflag & ICANON) /* raw mode is left: no program reads keys any more */
        fd_close(&pty->keys);
    pty->looks = pty->spins = 0;
    if (post) { /* switched on for this terminal, too: off again, the real terminal does it */
        pty->last.c_oflag &= ~(tcflag_t)OPOST;
        tcsetattr(pty->slave >= 0 ? pty->slave : pty->master, TCSANOW, &pty->last);
    }
    if (tcgetattr(pty->real, &real) < 0 || tcgetpgrp(pty->real) != getpgrp())
        return;
    real.c_iflag = (real.c_iflag & ~(before.c_iflag ^ now.c_iflag)) | (now.c_iflag & (before.c_iflag ^ now.c_iflag));
    real.c_lflag = (real.c_lflag & ~(before.c_lflag ^ now.c_lflag)) | (now.c_lflag & (before.c_lflag ^ now.c_lflag));
    tcflag_t out = (before.c_oflag ^ now.c_oflag) & ~(tcflag_t)OPOST;
    real.c_oflag = (real.c_oflag & ~out) | (now.c_oflag & out);
    if (is_raw(&now)) /* cfmakeraw also ends output processing; this terminal's was off already, so only the other settings show it */
        real.c_oflag &= ~(tcflag_t)OPOST;
    else if (post || was_raw)
        real.c_oflag |= OPOST;
    memcpy(real.c_cc, now.c_cc, sizeof real.c_cc);
    tcsetattr(pty->real, TCSADRAIN, &real);
}

void pty_close_slave(struct pty *pty)
{
    fd_close(&pty->slave);
}

void pty_close(struct pty *pty)
{
    fd_close(&pty->slave);
    fd_close(&pty->master);
    fd_close(&pty->keys);
}
