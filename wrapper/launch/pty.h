/* pty.h: the terminal that replaces one stream of the program: same size, same modes, no change of
 * its bytes. */
#ifndef LAUNCH_PTY_H
#define LAUNCH_PTY_H
#include <stdbool.h>
#include <termios.h>

struct pty {
    int master, slave; /* the slave is kept open until the program has ended: reads from a master without slaves fail with EIO */
    int real;          /* the caller's terminal, -1: the stream was none */
    int keys;          /* what is typed at the real one, while the program reads keys from this one (keys.h); else -1 */
    bool waits_outside; /* who reads keys here waits for them elsewhere: they are carried only into a read that sleeps */
    int spins;         /* consecutive checks at which a process spun before a waiting key */
    int looks;         /* searches for a reader since raw mode was set */
    struct termios last;
};

/* Opens a pty with the modes and size of the caller's terminal (real: its descriptor), but for OPOST;
 * without one (-1) it is raw. 0 with *ret, which pty_close closes; -1 with errno. */
int pty_open(struct pty *ret, int real);
/* Sets the window size of the caller's terminal. Returns whether that changed the size. */
bool pty_resize(struct pty *pty);
/* Sets the modes that the program has set on its terminal (curses, raw input) on the real one,
 * where its keys come from. */
void pty_follow(struct pty *pty);
void pty_close_slave(struct pty *pty);
void pty_close(struct pty *pty);
#endif
