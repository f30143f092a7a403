/* log.c: any bytes as messages on the log socket, with NUL between them. The first byte chooses: odd: each comes with an open file. The facts are legal, and no
 * file is kept outside of files/. */
#include "base/fs.h"
#include "mlruns-format/key.h"
#include "run/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int folder(void)
{
    static int dir = -1;
    char path[] = "/dev/shm/bw-fuzz.XXXXXX";
    if (dir < 0 && mkdtemp(path))
        dir = open(path, O_RDONLY | O_DIRECTORY);
    return dir;
}

static void send_message(int to, struct str text, int file)
{
    struct iovec part = {(void *)text.p, text.n};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (file >= 0) {
        control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &file, sizeof file);
        m.msg_control = &control;
        m.msg_controllen = sizeof control;
    }
    sendmsg(to, &m, MSG_DONTWAIT);
}

static void check(const struct record *r, int dir)
{
    struct fs_names list;
    for (const struct fact *f = r->first; f; f = f->next) {
        if (f->kind != FACT_WARNING && f->kind != FACT_ARTIFACT && !key_legal(f->key))
            abort();
        if (!str_valid_utf8(f->text))
            abort();
        if (f->kind == FACT_ARTIFACT && (!str_starts(f->key, "files/") || str_has(f->key, "/../")))
            abort();
    }
    if (fs_list(dir, ".", &list, NULL) < 0 || list.count > 1)
        abort();
    fs_names_deinit(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log l;
    struct record r;
    struct redact redact = {0};
    struct err err = {0};
    uint64_t left = 1 << 16;
    struct log_store to = {.spool = folder(), .keep_left = &left, .redact = &redact};
    int ends[2], on = 1, file = size && data[0] % 2 ? memfd_create("kept", MFD_CLOEXEC) : -1;
    struct str rest = {size ? (const char *)data + 1 : "", size ? size - 1 : 0};
    if (to.spool < 0 || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) ||
        setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on))
        abort();
    record_init(&r, "0123456789abcdef0123456789abcdef", 1);
    log_open(&l, ends[0], NULL);
    while (rest.p) {
        send_message(ends[1], str_cut(&rest, 0), file);
        log_receive(&l, &to, &r);
    }
    log_close(&l, &to, &r);
    check(&r, to.spool);
    record_deinit(&r);
    fs_remove_tree(to.spool, "files", &err);
    close(ends[0]);
    close(ends[1]);
    fs_close(&file);
    return 0;
}
