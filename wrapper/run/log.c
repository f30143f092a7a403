/* log.c: facts that the program itself tells by `benchwrap log` over its datagram socket. */
#include "run/log.h"

#include "base/fs.h"
#include "base/json.h"
#include "run/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_MAX = 64 * 1024, MESSAGES_AT_ONCE = 1000 };

static void log_metric(struct record *r, const char *key, const struct json *m)
{
    const struct json *value = json_get(m, "value");
    int64_t step = json_integer(json_get(m, "step"), 0), time_ms = json_integer(json_get(m, "time"), 0);
    double v = json_number(value, NAN);
    if (json_is_string(value) && !str_double(str_of(json_string(value, "")), &v)) {
        record_warning(r, "log: metric %s: the value is no number", key);
        return;
    }
    if (isnan(v))
        record_metric_nan(r, key, step, time_ms);
    else
        record_metric(r, key, v, json_string(json_get(m, "unit"), ""), DIR_NONE, step, time_ms);
}

static void log_artifact(struct record *r, const char *path, int spool, uint64_t *keep_left, struct redact *redact)
{
    const char *base = strrchr(path, '/');
    struct err err = {0};
    if (path[0] != '/' || !base[1])
        record_warning(r, "log: artifact: not an absolute path of a file");
    else if (keep_file(r, spool, path, base + 1, keep_left, redact, &err))
        record_warning(r, "log: artifact: %s", err.text);
}

static void log_message(struct record *r, const struct json *m, int spool, uint64_t *keep_left, struct redact *redact)
{
    const char *key;
    const char *value = json_string(json_get(m, "value"), "");
    if ((key = json_string(json_get(m, "metric"), NULL))) {
        if (strncmp(key, "run.", 4) == 0) /* a second value would stand in one series with ours */
            record_warning(r, "log: the metric \"%.60s\" was left out: run.* are what benchwrap itself measures", key);
        else
            log_metric(r, key, m);
    } else if ((key = json_string(json_get(m, "param"), NULL)))
        record_param(r, key, str_of(value));
    else if ((key = json_string(json_get(m, "tag"), NULL)))
        record_tag(r, key, str_of(value));
    else if ((key = json_string(json_get(m, "artifact"), NULL)))
        log_artifact(r, key, spool, keep_left, redact);
    else
        record_warning(r, "log: a message with neither metric, param, tag nor artifact");
}

void log_receive(int fd, int spool, uint64_t *keep_left, struct redact *redact, struct record *record)
{
    static char message[MESSAGE_MAX]; /* too large for a stack that may be small; one recorder, one thread */
    const char *source = record->source;
    record->source = "log";
    for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
        ssize_t n = recv(fd, message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        struct json *m = NULL;
        struct err err = {0};
        if ((size_t)n > sizeof message)
            record_warning(record, "log: a message of %zd bytes is longer than %d and was left out", n, MESSAGE_MAX);
        else if (json_parse(&m, (struct str){message, (size_t)n}, NULL, &err))
            record_warning(record, "log: not JSON: %s", err.text);
        else
            log_message(record, m, spool, keep_left, redact);
        json_free(m);
    }
    record->source = source;
}
