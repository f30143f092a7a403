/* log.c: record facts that the program sends with `benchwrap log` to a datagram socket. */
#include "run/log.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "mlruns-format/key.h"
#include "run/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MESSAGE_MAX = 64 * 1024,
    MESSAGES_AT_ONCE = 1000,
    FOREIGN_AT_ONCE =
        256, /* then a rest: a stranger who sends without end gets about 25,000 messages a second dropped, and little of a processor */
    REST_NS = 10 * 1000 * 1000,
    LAST_ROUNDS = 32 /* at the end: more than the kernel keeps in a queue */
};

/* Returns the unit that the sender names, else the one in the key, as in size_B: keys of all
 * records carry it there. */
static const char *log_unit(struct record *r, const char *key, const struct json *m)
{
    const char *unit = json_string(json_get(m, "unit"), ""), *own = unit[0] ? unit : key_unit(key, &r->arena);
    return own ? own : "";
}

/* Records a metric of a message, whose value is a number or a text with one ("nan"); another
 * value, or none, becomes a warning. */
static void log_metric(struct record *r, const char *key, const struct json *m)
{
    const struct json *value = json_get(m, "value");
    int64_t step = json_integer(json_get(m, "step"), 0), time_ms = json_integer(json_get(m, "time"), 0);
    double v = json_number(value, NAN);
    if (!json_is_number(value) && !(json_is_string(value) && str_double(str_of(json_string(value, "")), &v))) {
        record_warning(r, "log: metric %s: the value is no number", key);
        return;
    }
    if (isnan(v))
        record_metric_nan(r, key, step, time_ms);
    else
        record_metric(r, key, v, log_unit(r, key, m), DIR_NONE, step, time_ms);
}

/* Copies the file of a message into the spool and records it. `file` stays the caller's; a problem
 * becomes a warning. */
static void log_artifact(struct record *r, const char *name, int file, const struct log_store *to)
{
    struct err err = {0};
    if (file < 0)
        record_warning(r, "log: artifact: the message carries no open file (a path alone is not read)");
    else if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        record_warning(r, "log: artifact: expected the name of a file, without a folder");
    else if (keep_open_file(r, to->spool, file, name, name, to->keep_left, to->redact, &err))
        record_warning(r, "log: artifact: %s", err.text);
}

/* Records what one message logs. `file`: the descriptor that came with it, for an artifact. What is
 * not allowed becomes a warning. */
static void log_message(struct record *r, const struct json *m, int file, const struct log_store *to)
{
    const char *key;
    const char *value = json_string(json_get(m, "value"), NULL);
    if ((key = json_string(json_get(m, "metric"), NULL))) {
        if (strncmp(key, "run.", 4) == 0) /* a second value would be in one series with benchwrap's */
            record_warning(r, "log: the metric \"%.60s\" was left out: run.* are what benchwrap itself measures", key);
        else
            log_metric(r, key, m);
    } else if ((key = json_string(json_get(m, "param"), NULL)) && value)
        record_param(r, key, str_of(value));
    else if (!key && (key = json_string(json_get(m, "tag"), NULL)) && value)
        record_tag(r, key, str_of(value));
    else if (key)
        record_warning(r, "log: %.100s: expected a text as value", key);
    else if ((key = json_string(json_get(m, "artifact"), NULL)))
        log_artifact(r, key, file, to);
    else
        record_warning(r, "log: a message with neither metric, param, tag nor artifact");
}

/* ---- senders ---- */

/* Returns whether a sender's user id is certain. A user namespace that maps only some users shows
 * all others under one number, the overflow uid: a recorder that runs under it cannot distinguish
 * its user from others. */
static bool senders_are_clear(uid_t own)
{
    unsigned long inside, outside, count;
    unsigned overflow = 65534;
    FILE *f = fopen("/proc/sys/kernel/overflowuid", "re");
    bool whole = false;
    if (f) {
        if (fscanf(f, "%u", &overflow) != 1)
            overflow = 65534;
        fclose(f);
    }
    if (own != overflow)
        return true;
    if ((f = fopen("/proc/self/uid_map", "re"))) {
        whole = fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 && count >= UINT32_MAX;
        fclose(f);
    }
    return whole;
}

void log_open(struct log *l, int fd, const struct emit_shared *shared)
{
    *l = (struct log){.fd = fd, .own = getuid(), .shared = shared};
    l->clear = senders_are_clear(l->own);
}

static bool is_allowed(const struct log *l, const struct ucred *sender)
{
    return sender && l->clear && (sender->uid == l->own || sender->uid == 0);
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
};

/* Reads one message with the flags of recvmsg. ret_sender: false where the kernel attests none;
 * ret_file: the first open file, the others are closed. */
static ssize_t read_message(int fd, int flags, void *text, size_t size, size_t control_size, bool *ret_known, struct ucred *ret_sender,
                            int *ret_file)
{
    union control control;
    struct iovec v = {text, size};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = control_size};
    ssize_t n;
    *ret_known = false;
    *ret_file = -1;
    while ((n = recvmsg(fd, &m, flags | MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    for (struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof *ret_sender)) {
            memcpy(ret_sender, CMSG_DATA(c), sizeof *ret_sender);
            *ret_known = true;
        }
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int)) {
                int file;
                memcpy(&file, CMSG_DATA(c) + at, sizeof file);
                if (*ret_file < 0)
                    *ret_file = file;
                else
                    close(file);
            }
    }
    return n;
}

/* Receives the next message. Returns its length. -1: there is none. From another user it has no
 * text and no file: those are read with a buffer for none of its descriptors, so that this process
 * never owns them. (Closing a file of a foreign file system may block.) */
static ssize_t log_read_message(struct log *l, char *text, size_t size, bool *ret_allowed, int *ret_file)
{
    struct ucred sender;
    bool known;
    if (read_message(l->fd, MSG_PEEK, NULL, 0, CMSG_SPACE(sizeof sender), &known, &sender, ret_file) < 0)
        return -1;
    *ret_allowed = is_allowed(l, known ? &sender : NULL);
    if (!*ret_allowed)
        return read_message(l->fd, 0, NULL, 0, CMSG_SPACE(sizeof sender), &known, &sender, ret_file);
    return read_message(l->fd, 0, text, size, sizeof(union control), &known, &sender, ret_file);
}

int log_receive(struct log *l, const struct log_store *to, struct record *record)
{
    static char message[MESSAGE_MAX]; /* too large for a stack that may be small; one recorder, one thread */
    const char *source = record->source;
    int count = 0, foreign = 0;
    record->source = "log";
    for (; count < MESSAGES_AT_ONCE && foreign < FOREIGN_AT_ONCE; count++) {
        bool allowed;
        int file;
        ssize_t n = log_read_message(l, message, sizeof message, &allowed, &file);
        if (n < 0)
            break;
        struct json *m = NULL;
        struct err err = {0};
        if (!allowed)
            foreign++;
        else if ((size_t)n > sizeof message)
            record_warning(record, "log: a message of %zd bytes is longer than %d and was left out", n, MESSAGE_MAX);
        else if (json_parse(&m, (struct str){message, (size_t)n}, NULL, &err))
            record_warning(record, "log: not JSON: %s", err.text);
        else
            log_message(record, m, file, to);
        json_free(m);
        fs_close(&file);
    }
    record->source = source;
    l->foreign += (uint64_t)foreign;
    l->rest_until_ns = foreign >= FOREIGN_AT_ONCE ? clock_mono_ns() + REST_NS : 0;
    return count;
}

void log_close(struct log *l, const struct log_store *to, struct record *record)
{
    if (l->fd < 0)
        return;
    for (int i = 0; i < LAST_ROUNDS && log_receive(l, to, record) > 0; i++)
        ;
    char text[24];
    uint32_t lost = l->shared ? atomic_load(&l->shared->lost) : 0;
    snprintf(text, sizeof text, "%" PRIu32, lost);
    if (lost) {
        record_tag(record, "benchwrap.log_lost", str_of(text));
        record_warning(record, "log: %s fact%s of the program %s lost: the recorder was too slow", text, str_plural(lost),
                       lost == 1 ? "was" : "were");
    }
    if (!l->foreign)
        return;
    snprintf(text, sizeof text, "%" PRIu64, l->foreign);
    record_tag(record, "benchwrap.log_dropped", str_of(text));
    record_warning(record,
                   l->clear ? "log: %s messages of other users were dropped"
                            : "log: %s messages were dropped: in this user namespace the kernel cannot distinguish their senders",
                   text);
}
