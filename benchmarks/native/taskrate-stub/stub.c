/* stub.c: the smallest task there is: stamps its first and its last instruction, sleeps or computes
 * in between, and reports both.
 *
 * Linked without the C library (where this file knows how, and STUB_HOSTED is not defined): starting glibc's `main` costs five
 * times as much as all of this program.
 * Its arguments and its record are described in native/taskrate/wire.h. Exit status: that of the command behind `--`; 0; 125 for a
 * line that is not understood; 126 where the report could not be delivered. */
#include "benchmarks/native/taskrate/wire.h"

#include <linux/fcntl.h>
#include <linux/in.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/time.h>
#include <linux/utsname.h>
#include <asm/poll.h>
#include <asm/unistd.h>

enum { SIGNAL_KILL = 9, SIGNAL_CHLD = 17, EINTR_ = 4, AT_CWD = -100, SOCK_DGRAM_ = 2, TRIES = 40, WAIT_NS = 25000000 };

#if defined(STUB_HOSTED) || !(defined(__x86_64__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64))
#include <errno.h>
#include <unistd.h>
#undef STUB_HOSTED
#define STUB_HOSTED
static long stub_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
    long r = syscall(n, a, b, c, d, e, f);
    return r < 0 ? -errno : r;
}
#elif defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call stub_main\n");
static long stub_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
    long r;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return r;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n bl stub_main\n");
static long stub_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
__asm__(".globl _start\n_start:\n mv a0, sp\n andi sp, sp, -16\n call stub_main\n");
static long stub_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
    register long a7 __asm__("a7") = n;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a0;
}
#endif
#define CALL(n, a, b, c) stub_syscall6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) stub_syscall6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

struct when {
    int64_t seconds, nanoseconds;
};
struct task {
    char how; /* s, f, u */
    int fd;
    uint64_t token;
    int64_t number, duration;
    int busy;
    int port;
    const char *where; /* path, or addresses */
};

static int64_t stub_now_ns(int clock)
{
    struct when t;
    CALL(__NR_clock_gettime, clock, &t, 0);
    return t.seconds * 1000000000 + t.nanoseconds;
}

static void __attribute__((noreturn)) stub_exit(int status)
{
    for (;;)
        CALL(__NR_exit_group, status, 0, 0);
}

static const char *stub_read_decimal(const char *p, int64_t *ret)
{
    *ret = 0;
    while (*p >= '0' && *p <= '9')
        *ret = *ret * 10 + (*p++ - '0');
    return p;
}

static const char *stub_read_hex(const char *p, uint64_t *ret)
{
    *ret = 0;
    for (;; p++) {
        unsigned c = (unsigned char)*p, v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
        if (v == 16)
            return p;
        *ret = *ret << 4 | v;
    }
}

/* The value of the variable whose name begins at name and has n bytes; "" where it is not set. */
static const char *stub_env_value(char **env, const char *name, unsigned n)
{
    for (; *env; env++) {
        unsigned i = 0;
        while (i < n && (*env)[i] == name[i])
            i++;
        if (i == n && (*env)[n] == '=')
            return *env + n + 1;
    }
    return "";
}

/* Reads a task's number at p, or where p is "@NAME+N", from the environment. Returns the text
 * behind it; "": not valid. */
static const char *task_number(const char *p, char **env, int64_t *ret)
{
    if (*p != '@')
        return stub_read_decimal(p, ret);
    const char *name = ++p;
    while (*p && *p != '+' && *p != '-' && *p != ',')
        p++;
    const char *value = stub_env_value(env, name, (unsigned)(p - name));
    int64_t base = 0;
    if (*value < '0' || *value > '9')
        return ""; /* not the scheduler that was expected: the line is not understood */
    stub_read_decimal(value, ret);
    int minus = *p == '-';
    if (*p == '+' || *p == '-')
        p = stub_read_decimal(p + 1, &base);
    *ret += minus ? -base : base;
    return p;
}

static int stub_parse_task(const char *p, char **env, struct task *t)
{
    int64_t v;
    t->how = *p;
    if (*p == 's') {
        p = stub_read_decimal(p + 1, &v);
        t->fd = (int)v;
    } else if (*p == 'f' || *p == 'u')
        p = stub_read_hex(p + 1, &t->token);
    else
        return 0;
    if (*p++ != ',')
        return 0;
    p = task_number(p, env, &t->number);
    if (*p++ != ',')
        return 0;
    p = stub_read_decimal(p, &t->duration);
    t->busy = *p == 'b';
    p += t->busy;
    if (t->how == 's')
        return *p == 0;
    if (*p++ != ',')
        return 0;
    if (t->how == 'u') {
        p = stub_read_decimal(p, &v);
        t->port = (int)v;
        if (*p++ != ',')
            return 0;
    }
    t->where = p;
    return *p != 0;
}

static void stub_spend_time(const struct task *t, int64_t start)
{
    if (!t->duration)
        return;
    int64_t end = start + t->duration;
    if (t->busy) {
        while (stub_now_ns(CLOCK_MONOTONIC) < end)
            ;
        return;
    }
    struct when until = {end / 1000000000, end % 1000000000};
    while (CALL4(__NR_clock_nanosleep, CLOCK_MONOTONIC, 1 /* absolute */, &until, 0) == -EINTR_)
        ;
}

/* Runs the command in a child process. Returns its exit status, 128 + the signal that ended it, 127:
 * it cannot be executed, 126: no child process. */
static int stub_run_command(const struct task *t, char **argv, char **env)
{
    int status = 0;
    long pid = stub_syscall6(__NR_clone, SIGNAL_CHLD, 0, 0, 0, 0, 0);
    if (pid == 0) {
        if (t->how == 's') /* the book is not the command's */
            CALL(__NR_close, t->fd, 0, 0);
        CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGNAL_KILL, 0);
        CALL(__NR_execve, argv[0], argv, env);
        stub_exit(127);
    }
    if (pid < 0)
        return 126;
    while (CALL4(__NR_wait4, pid, &status, 0, 0) == -EINTR_)
        ;
    return status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 0xff;
}

static void stub_read_restarts(struct wire_record *r, char **env)
{
    int64_t v;
    stub_read_decimal(stub_env_value(env, "SLURM_RESTART_COUNT", 19), &v);
    r->restarts = (uint32_t)v;
}

static int stub_append_record(const struct wire_record *r, const char *path)
{
    int fd = (int)CALL4(__NR_openat, AT_CWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    return fd >= 0 && CALL(__NR_write, fd, r, sizeof *r) == sizeof *r ? 0 : -1;
}

static int stub_same_bytes(const char *a, const char *b, unsigned n)
{
    while (n && *a == *b)
        a++, b++, n--;
    return n == 0;
}

/* Sends to one address after the other until one acknowledges; the wait grows from 25 ms to 200 ms. */
static int send_to(const struct wire_record *r, const struct task *t)
{
    int fd = (int)CALL(__NR_socket, 2, SOCK_DGRAM_ | O_CLOEXEC, 0);
    const char *at = t->where;
    char answer[32];
    for (int i = 0; fd >= 0 && i < TRIES; i++) {
        uint64_t address;
        struct when wait = {0, i < 8 ? WAIT_NS * (1 + i) : WAIT_NS * 8};
        at = stub_read_hex(at, &address);
        at = *at == '+' ? at + 1 : t->where;
        struct sockaddr_in to = {.sin_family = 2,
                                 .sin_port = (uint16_t)__builtin_bswap16((uint16_t)t->port),
                                 .sin_addr.s_addr = __builtin_bswap32((uint32_t)address)};
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        to.sin_port = (uint16_t)t->port;
        to.sin_addr.s_addr = (uint32_t)address;
#endif
        if (stub_syscall6(__NR_sendto, fd, (long)r, sizeof *r, 0, (long)&to, sizeof to) < 0) {
            CALL4(__NR_clock_nanosleep, CLOCK_MONOTONIC, 0, &wait, 0);
            continue;
        }
        struct {
            int fd;
            short events, revents;
        } poll = {fd, POLLIN, 0};
        while (stub_syscall6(__NR_ppoll, (long)&poll, 1, (long)&wait, 0, 8, 0) > 0)
            if (stub_syscall6(__NR_recvfrom, fd, (long)answer, sizeof answer, 0x40 /* not waiting */, 0, 0) == 16 &&
                stub_same_bytes(answer, (const char *)r, 16))
                return 0;
            else if (!(poll.revents & POLLIN))
                break;
    }
    return -1;
}

static int stub_report_task(struct wire_record *r, const struct task *t, char **env)
{
    struct new_utsname name;
    if (t->how == 's') {
        struct wire_stamps stamps = {r->start, stub_now_ns(CLOCK_MONOTONIC)};
        return CALL4(__NR_pwrite64, t->fd, &stamps, sizeof stamps, t->number * (int64_t)sizeof stamps) == sizeof stamps ? 0 : -1;
    }
    r->magic = WIRE_MAGIC;
    r->task = (uint32_t)t->number;
    r->token = t->token;
    r->pid = (uint32_t)CALL(__NR_getpid, 0, 0, 0);
    stub_read_restarts(r, env);
    if (CALL(__NR_uname, &name, 0, 0) == 0)
        for (unsigned i = 0; i + 1 < WIRE_HOST && name.nodename[i]; i++)
            r->host[i] = name.nodename[i];
    r->wall_end = stub_now_ns(CLOCK_REALTIME);
    r->end = stub_now_ns(CLOCK_MONOTONIC);
    return t->how == 'f' ? stub_append_record(r, t->where) : send_to(r, t);
}

static int stub_run_task(int argc, char **argv, char **env)
{
    struct wire_record record = {.start = stub_now_ns(CLOCK_MONOTONIC)};
    struct task task = {0};
    char **run = 0;
    if (argc < 2 || !stub_parse_task(argv[1], env, &task))
        return 125;
    if (task.how != 's')
        record.wall_start = stub_now_ns(CLOCK_REALTIME);
    else if (task.duration) /* a task that lasts must not outlive the one who started it */
        CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGNAL_KILL, 0);
    for (int i = 2; i + 1 < argc && !run; i++)
        if (stub_same_bytes(argv[i], "--", 3))
            run = argv + i + 1;
    stub_spend_time(&task, record.start);
    if (run)
        record.status = (uint32_t)stub_run_command(&task, run, env);
    if (stub_report_task(&record, &task, env) < 0)
        return 126;
    return (int)record.status;
}

#ifdef STUB_HOSTED
int main(int argc, char **argv, char **env)
{
    return stub_run_task(argc, argv, env);
}
#else
void stub_main(long *stack);
__attribute__((used, noreturn)) void stub_main(long *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1);
    stub_exit(stub_run_task(argc, argv, argv + argc + 1));
}

/* The compiler may call these anywhere, by the names that the C library has for them. */
void *stub_fill_bytes(void *to, int c, unsigned long n) __asm__("memset");
__attribute__((used)) void *stub_fill_bytes(void *to, int c, unsigned long n)
{
    char *p = to;
    while (n--) {
        *p++ = (char)c;
        __asm__ volatile("" ::: "memory");
    }
    return to;
}
void *stub_copy_bytes(void *to, const void *from, unsigned long n) __asm__("memcpy");
__attribute__((used)) void *stub_copy_bytes(void *to, const void *from, unsigned long n)
{
    char *p = to;
    const char *q = from;
    while (n--) {
        *p++ = *q++;
        __asm__ volatile("" ::: "memory");
    }
    return to;
}
#endif
