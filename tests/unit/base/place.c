/* place.c: paths below a folder that others write: nothing leads out of it, with openat2, without it (ENOSYS), and where a filter refuses it
 * (EPERM). Each way is taken in a process of its own, by a filter of system calls. */
#include "base/place.h"

#include "../place.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { KERNEL, HALF = 2000 };

/* From now on openat2 fails with this error in the process. */
static void refuse_openat2(int error)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    errno = 0;
    assert_int_equal(syscall(SYS_openat2, -1, "", NULL, 0), -1);
    assert_int_equal(errno, error);
}

/* What place_open says of the path: 0, or the error. */
static int result_of(int dir, const char *path, int flags)
{
    int fd = place_open(dir, path, flags, 0600);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static void check_escapes(struct place *p)
{
    static const struct {
        const char *path;
        int flags, expected;
    } rows[] = {
        {"file", O_RDONLY, 0},
        {"sub/file", O_RDONLY, 0},
        {"./sub//file", O_RDONLY, 0},
        {"sub", O_RDONLY | O_DIRECTORY, 0},
        {"sub/", O_RDONLY | O_DIRECTORY, 0},
        {"..", O_RDONLY | O_DIRECTORY, EXDEV},
        {"../outside", O_RDONLY, EXDEV},
        {"sub/../../outside", O_RDONLY, EXDEV},
        {"/etc/passwd", O_RDONLY, EXDEV},
        {"", O_RDONLY, ENOENT},
        {"absent", O_RDONLY, ENOENT},
        {"file/below", O_RDONLY, ENOTDIR},
        {"link", O_RDONLY, ELOOP}, /* at the end: to a file outside, */
        {"near", O_RDONLY, ELOOP}, /* to one inside, */
        {"link", O_RDONLY | O_DIRECTORY, ELOOP},
        {"link", O_PATH, ELOOP},
        {"link", O_WRONLY | O_TRUNC, ELOOP},
        {"dangling", O_WRONLY | O_CREAT, ELOOP}, /* to one that is not there */
        {"dirlink/passwd", O_RDONLY, ELOOP}, /* in the middle */
        {"dirlink", O_RDONLY | O_DIRECTORY, ELOOP},
        {"sub/up/file", O_RDONLY, ELOOP},
        {"fifo", O_RDONLY, ELOOP}, /* and it does not wait */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int got = result_of(p->dir, rows[i].path, rows[i].flags);
        if (got != rows[i].expected)
            fail_msg("%s, flags %x: expected %s, got %s", rows[i].path, rows[i].flags, strerror(rows[i].expected), strerror(got));
    }
    struct stat st;
    assert_int_equal(fstatat(p->dir, "made-by-a-link", &st, AT_SYMLINK_NOFOLLOW), -1);
    /* A mount point is no escape, the magic links below it are. */
    CLEANUP_FD int root = open("/", O_PATH | O_DIRECTORY);
    assert_int_equal(result_of(root, "proc/version", O_RDONLY), 0);
    assert_int_equal(result_of(root, "proc/self/status", O_RDONLY), ELOOP);
    /* A new file is made where it belongs. */
    assert_int_equal(result_of(p->dir, "sub/new", O_WRONLY | O_CREAT | O_EXCL), 0);
    assert_int_equal(unlinkat(p->dir, "sub/new", 0), 0);
}

/* A second process exchanges a directory for a link to one outside, while this one opens below it. */
static void check_swap(struct place *p)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            renameat2(p->dir, "swap", p->dir, "swaplink", 2 /* RENAME_EXCHANGE */);
            sched_yield();
        }
    }
    size_t inside = 0, refused = 0;
    for (int i = 0; i < 200000 && (i < HALF || !inside || !refused); i++) {
        char text[8] = "";
        CLEANUP_FD int fd = place_open(p->dir, "swap/name", O_RDONLY, 0);
        if (fd < 0) {
            assert_true(errno == ELOOP || errno == EXDEV || errno == ENOENT || errno == ENOTDIR || errno == EAGAIN);
            refused++;
        } else {
            assert_int_equal(read(fd, text, sizeof text - 1), 6);
            assert_string_equal(text, "inside");
            inside++;
        }
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(inside && refused);
}

static int fill(struct place *p)
{
    char outside[80];
    snprintf(outside, sizeof outside, "%s/outside", p->path);
    return fs_create(p->dir, "file", STR("x"), 0644, NULL) || mkdirat(p->dir, "sub", 0700) || fs_create(p->dir, "sub/file", STR("x"), 0644, NULL) ||
           symlinkat("/etc/passwd", p->dir, "link") || symlinkat("file", p->dir, "near") || symlinkat("made-by-a-link", p->dir, "dangling") ||
           symlinkat("/etc", p->dir, "dirlink") || symlinkat("..", p->dir, "sub/up") || mkfifoat(p->dir, "fifo", 0600) ||
           mkdirat(p->dir, "swap", 0700) || fs_create(p->dir, "swap/name", STR("inside"), 0644, NULL) || mkdirat(p->dir, "outside", 0700) ||
           fs_create(p->dir, "outside/name", STR("outside"), 0644, NULL) || symlinkat(outside, p->dir, "swaplink");
}

static void in_a_process(struct place *p, int error)
{
    assert_int_equal(fill(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (error)
            refuse_openat2(error);
        check_escapes(p);
        check_swap(p);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void by_the_kernel(void **state)
{
    struct place *p = *state;
    if (syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS)
        skip();
    in_a_process(p, KERNEL);
}

static void by_component(void **state) { in_a_process(*state, ENOSYS); }
static void by_component_behind_a_filter(void **state) { in_a_process(*state, EPERM); }

/* ---- folders that are made, and files that are found ---- */

static void folders_below(void **state)
{
    struct place *p = *state;
    char path[120];
    snprintf(path, sizeof path, "%s/.benchwrap/spool", p->path);
    errno = 0;
    assert_int_equal(place_open_below(path, 2, 0), -1);
    assert_int_equal(errno, ENOENT);
    CLEANUP_FD int made = place_open_below(path, 2, 0700);
    assert_true(made >= 0 && place_is_own(made));
    CLEANUP_FD int again = place_open_below(path, 2, 0);
    assert_true(again >= 0);
    CLEANUP_FD int more = place_open_below(path, 9, 0); /* all of it */
    assert_true(more >= 0);
    snprintf(path, sizeof path, "%s/x/..", p->path);
    assert_int_equal(place_open_below(path, 1, 0700), -1);
    assert_int_equal(place_open_below("", 1, 0700), -1);
    if (geteuid())
        return;
    assert_int_equal(symlinkat("/etc", p->dir, "foreign"), 0); /* root's own link is followed, another user's is not */
    snprintf(path, sizeof path, "%s/foreign", p->path);
    CLEANUP_FD int own = place_open_below(path, 1, 0);
    assert_true(own >= 0);
    CLEANUP_FD int whole = place_open_folder(path, 0);
    assert_true(whole >= 0);
    assert_int_equal(fchownat(p->dir, "foreign", 4242, 4242, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(place_open_below(path, 1, 0), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(place_make_folder(p->dir, "foreign", 0700), -1);
    /* A path has no part behind such a link, however far up it is. */
    snprintf(path, sizeof path, "%s/foreign/security/x", p->path);
    assert_int_equal(place_open_folder(path, 0700), -1);
    assert_int_equal(errno, ELOOP);
    snprintf(path, sizeof path, "%s/a/b", p->path);
    assert_int_equal(place_open_folder(path, 0), -1);
    assert_int_equal(errno, ENOENT);
    CLEANUP_FD int all = place_open_folder(path, 0700);
    assert_true(all >= 0 && place_is_own(all));
    snprintf(path, sizeof path, "%s/a/../a/b", p->path);
    CLEANUP_FD int up = place_open_folder(path, 0);
    assert_true(up >= 0);
}

static int found(struct place *p, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", p->path, name);
    int fd = place_open_found(path);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static void found_files(void **state)
{
    struct place *p = *state;
    assert_int_equal(fill(p), 0);
    assert_int_equal(found(p, "file"), 0);
    assert_int_equal(found(p, "sub/../file"), 0);
    assert_int_equal(found(p, "near"), 0); /* a link of the caller's own */
    assert_int_equal(found(p, "link"), 0);
    assert_int_equal(found(p, "dirlink/passwd"), 0);
    assert_int_equal(found(p, "sub/up/file"), 0);
    assert_int_equal(found(p, "absent"), ENOENT);
    assert_int_equal(found(p, "dangling"), ENOENT);
    assert_int_equal(found(p, "file/x"), ENOTDIR);
    assert_int_equal(found(p, "fifo"), ELOOP);
    assert_int_equal(found(p, "sub"), ELOOP);
    assert_int_equal(symlinkat("loop", p->dir, "loop"), 0);
    assert_int_equal(found(p, "loop"), ELOOP);
    if (geteuid())
        return;
    assert_int_equal(fchownat(p->dir, "near", 4242, 4242, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(fchownat(p->dir, "dirlink", 4242, 4242, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(found(p, "near"), ELOOP);
    assert_int_equal(found(p, "dirlink/passwd"), ELOOP);
    /* A further name of the caller's file, in a folder of another user; umask 0 makes none of the caller's own folders foreign. */
    assert_int_equal(linkat(p->dir, "file", p->dir, "outside/hard", 0), 0);
    assert_int_equal(found(p, "outside/hard"), 0);
    assert_int_equal(fchmodat(p->dir, "outside", 01777, 0), 0);
    assert_int_equal(found(p, "outside/hard"), 0);
    assert_int_equal(fchownat(p->dir, "outside", 4242, 4242, 0), 0);
    assert_int_equal(found(p, "outside/hard"), EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_the_kernel, place_begin, place_end),
        cmocka_unit_test_setup_teardown(by_component, place_begin, place_end),
        cmocka_unit_test_setup_teardown(by_component_behind_a_filter, place_begin, place_end),
        cmocka_unit_test_setup_teardown(folders_below, place_begin, place_end),
        cmocka_unit_test_setup_teardown(found_files, place_begin, place_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
