/* hung-mount: a file system whose server never answers: mounts FUSE on a folder and reads no request until it is ended by a signal.
 *   hung-mount FOLDER [take]     prints "mounted"; exit 77: the kernel or our rights do not allow it
 * take: it reads the requests and answers none but the first: who waits for such a one cannot be killed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_signal(int s)
{
    (void)s;
    over = 1;
}

static void take(int fd)
{
    static char request[1 << 17];
    struct fuse_in_header in;
    struct {
        struct fuse_out_header head;
        struct fuse_init_out init;
    } reply = {.init = {.major = 7, .minor = 31, .max_readahead = 65536, .max_write = 65536, .time_gran = 1}};
    if (read(fd, request, sizeof request) < (ssize_t)sizeof in)
        return;
    memcpy(&in, request, sizeof in);
    reply.head = (struct fuse_out_header){.len = sizeof reply, .unique = in.unique};
    if (in.opcode == FUSE_INIT && write(fd, &reply, sizeof reply) < 0)
        perror("hung-mount");
}

int main(int argc, char **argv)
{
    char options[100];
    bool takes = argc == 3 && strcmp(argv[2], "take") == 0;
    struct sigaction action = {.sa_handler = on_signal};
    int fd = argc == 2 || takes ? open("/dev/fuse", O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return 77;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd, (int)getuid(), (int)getgid());
    if (mount("filer.site.example:/dead", argv[1], "fuse.hung", MS_NOSUID | MS_NODEV, options) != 0) {
        fprintf(stderr, "hung-mount: %s\n", strerror(errno));
        return 77;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    puts("mounted");
    fflush(stdout);
    for (struct pollfd p = {.fd = fd, .events = takes ? POLLIN : 0}; !over;)
        if (poll(&p, 1, 1000) > 0)
            take(fd);
    close(fd); /* whoever waits gets an error */
    return umount2(argv[1], MNT_DETACH) != 0;
}
