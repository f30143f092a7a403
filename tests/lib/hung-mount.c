/* hung-mount: a file system whose server never answers: mounts FUSE on a folder and reads no request until it is ended by a signal.
 *   hung-mount FOLDER     prints "mounted"; exit 77: the kernel or our rights do not allow it */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

int main(int argc, char **argv)
{
    char options[100];
    struct sigaction action = {.sa_handler = on_signal};
    int fd = argc == 2 ? open("/dev/fuse", O_RDWR | O_CLOEXEC) : -1;
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
    while (!over)
        pause();
    close(fd); /* whoever waits gets an error */
    return umount2(argv[1], MNT_DETACH) != 0;
}
