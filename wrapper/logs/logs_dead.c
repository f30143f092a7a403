/* logs_dead.c: stores records that a destination refused, and sends them again; see logs_dead.h. */
#include "logs/logs_dead.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "exporters/exporter_records.h"
#include "logs/logs_lines.h"
#include "logs/logs_source.h"
#include "logs/logs_time.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEAD_WHY = 400, DEAD_LINE = 8 << 20 };
#define DEAD_FILE "dead.jsonl"
#define DEAD_OLD "dead.jsonl.1"
#define DEAD_SENDING "dead.jsonl.sending"

static int dead_count_line(void *context, struct str line, struct err *err)
{
    (void)line;
    (void)err;
    ++*(uint64_t *)context;
    return 0;
}

uint64_t logs_dead_count(int state)
{
    uint64_t n = 0;
    logs_each_line(state, DEAD_OLD, dead_count_line, &n, NULL);
    logs_each_line(state, DEAD_FILE, dead_count_line, &n, NULL);
    logs_each_line(state, DEAD_SENDING, dead_count_line, &n, NULL);
    return n;
}

int logs_dead_add(int state, uint64_t max, const char *stream, struct str record, const char *why, uint64_t *dropped, struct err *err)
{
    struct buf line CLEANUP_BUF;
    struct stat st;
    char time[LOGS_TIME_SIZE];
    buf_init(&line, DEAD_LINE);
    struct json_out j = json_begin(&line, JSON_TIGHT, '{');
    json_text(&j, "time", logs_time_text(logs_now_ns(), time));
    json_text(&j, "stream", stream);
    json_str(&j, "why", str_sub(str_of(why), 0, DEAD_WHY));
    json_raw(&j, "record", record);
    json_close(&j, '}');
    buf_putc(&line, '\n');
    CLEANUP_FD int fd = place_open(state, DEAD_FILE, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (line.failed)
        return err_set(err, ERR_SYSTEM, "cannot store a record that was refused: it is larger than %d MiB, or there is no memory for it",
                       DEAD_LINE >> 20);
    if (fd < 0 || fstat(fd, &st))
        return err_sys(err, "cannot store a record that was refused");
    if ((uint64_t)st.st_size + line.n > max / 2 && st.st_size > 0) {
        logs_each_line(state, DEAD_OLD, dead_count_line, dropped, NULL);
        renameat(state, DEAD_FILE, state, DEAD_OLD);
        fs_close(&fd);
        fd = place_open(state, DEAD_FILE, O_WRONLY | O_CREAT | O_APPEND, 0600);
        st.st_size = 0;
    }
    if (fd >= 0 && fs_write_all(fd, line.p, line.n) == 0)
        return 0;
    err_sys(err, "cannot store a record that was refused");
    if (fd >= 0 && ftruncate(fd, st.st_size))
        err_wrap(err, "a part of it is stored");
    return -1;
}

/* ---- sending again ---- */

struct dead_sending {
    const struct logs_dead_resend *what;
    struct exporter_records *sender;
    const char *stream; /* of the record that is sent */
    uint64_t *sent, *refused, *dropped;
    bool lost; /* a record that was refused again could not be stored */
    struct err *err;
};

static void dead_refused(void *context, struct str record, const char *why)
{
    struct dead_sending *g = context;
    ++*g->refused;
    g->lost |= logs_dead_add(g->what->state, g->what->max, g->stream, record, why, g->dropped, g->err) != 0;
}

/* Sends the record of one line of dead letters. Returns 0: continue; 1: the destination did not
 * accept it, the caller stops; -1 with err: it was refused and could not be stored, or out of memory.
 * A damaged line is skipped. */
static int dead_send_line(void *context, struct str line, struct err *err)
{
    struct dead_sending *g = context;
    struct json *j = NULL;
    struct buf record CLEANUP_BUF;
    uint64_t refused = *g->refused;
    size_t n;
    buf_init(&record, DEAD_LINE);
    if (json_parse(&j, line, NULL, NULL))
        return 0; /* a kill cut it */
    json_print(json_get(j, "record"), &record);
    g->stream = json_string(json_get(j, "stream"), NULL);
    if (record.failed) {
        json_free(j);
        return err_memory(err, "a record that was refused");
    }
    struct str text = buf_text(&record);
    const struct exporter_batch b = {.records = &text, .count = 1, .stream = g->stream};
    enum exporter_answer answer = text.n ? exporter_records_send(g->sender, &b, g->what->until_ns, &n, err) : EXPORTER_SENT;
    json_free(j);
    *g->sent += text.n && answer == EXPORTER_SENT && refused == *g->refused;
    return g->lost ? -1 : answer == EXPORTER_SENT ? 0 : 1;
}

int logs_dead_send(const struct logs_dead_resend *what, uint64_t *sent, uint64_t *refused, uint64_t *dropped, struct err *err)
{
    static const char *const files[] = {DEAD_SENDING, DEAD_OLD, DEAD_FILE};
    struct dead_sending g = {.what = what, .sent = sent, .refused = refused, .dropped = dropped, .err = err};
    const struct exporter_records_config sender = {
        .exporter = what->exporter, .env = what->env, .cancel_fd = what->cancel_fd, .refused = dead_refused, .context = &g};
    *sent = *refused = 0;
    if (exporter_records_open(&g.sender, &sender, err))
        return -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 3; i++) {
        if (i > 0 && renameat(what->state, files[i], what->state, DEAD_SENDING))
            continue; /* what is refused again goes to a new file */
        rc = logs_each_line(what->state, DEAD_SENDING, dead_send_line, &g, err);
        if (rc == 0)
            unlinkat(what->state, DEAD_SENDING, 0);
    }
    exporter_records_close(g.sender);
    return rc;
}
