/* sync_records.c: sends the lines of a file by an exporter; see sync_records.h. */
#include "sync/sync_records.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MAX = 4096, LINES_BYTES = 2 << 20, READ_BYTES = 64 << 10, LINE_BYTES_MAX = 16 << 20 };

struct records_file {
    const struct sync_records *what;
    struct sync_records_result *result;
    struct exporter_records *sender;
    struct str lines[LINES_MAX]; /* in text */
    uint64_t numbers[LINES_MAX]; /* of the lines in the file */
    size_t count;
    uint64_t last; /* number of the last line so far */
    struct buf text;
};

static void note_refused_record(void *context, struct str record, const char *why)
{
    struct records_file *f = context;
    size_t i = 0;
    while (i < f->count && f->lines[i].p != record.p)
        i++;
    f->result->refused++;
    fprintf(f->what->notes, "benchwrap: line %" PRIu64 " was refused: %s\n", i < f->count ? f->numbers[i] : 0, why);
}

/* Sends what is collected. 0; 1; -1. */
static int send_collected(struct records_file *f, struct err *err)
{
    struct exporter_batch b = {.records = f->lines, .count = f->count, .stream = f->what->stream};
    size_t handled;
    uint64_t refused = f->result->refused;
    if (f->count == 0)
        return 0;
    enum exporter_answer answer =
        exporter_records_send(f->sender, &b, clock_mono_ns() + f->what->wait_s * INT64_C(1000000000), &handled, err);
    f->result->sent += handled - (f->result->refused - refused);
    f->count = 0;
    return answer == EXPORTER_SENT ? 0 : 1;
}

/* Adds one line to the batch, and sends it when it is full. The text is borrowed. Returns -1 with
 * err where it is no JSON object, else what send_collected returns. */
static int add_record_line(struct records_file *f, struct str line, struct err *err)
{
    struct json *j = NULL;
    f->result->read++;
    if (json_parse(&j, line, NULL, err))
        return err_wrap(err, "%s: line %" PRIu64, f->what->path, f->last);
    bool is_object = json_is_object(j);
    json_free(j);
    if (!is_object)
        return err_set(err, ERR_INPUT, "%s: line %" PRIu64 ": expected a JSON object", f->what->path, f->last);
    f->numbers[f->count] = f->last;
    f->lines[f->count++] = line;
    return f->count == LINES_MAX ? send_collected(f, err) : 0;
}

/* Sends the complete lines of the text; what follows them stays. */
static int send_lines(struct records_file *f, bool is_end, struct err *err)
{
    struct str rest = buf_text(&f->text);
    int rc = 0;
    while (rc == 0 && rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        if (!end && !is_end)
            break;
        struct str line = {rest.p, end ? (size_t)(end - rest.p) : rest.n};
        rest = str_sub(rest, line.n + (end ? 1 : 0), rest.n);
        f->last++;
        line = str_trim(line);
        if (line.n)
            rc = add_record_line(f, line, err);
    }
    rc = rc ? rc : send_collected(f, err);
    if (rest.n)
        memmove(f->text.p, rest.p, rest.n);
    f->text.n = rest.n;
    return rc;
}

/* Reads and sends lines until the end of the input. Lines of a pipe are sent when it has no more at
 * the moment. Returns 0, 1 with err when cancelled, -1 with err, or what send_lines returns. */
static int read_record_lines(struct records_file *f, int fd, struct err *err)
{
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = f->what->cancel_fd, .events = POLLIN}};
    for (;;) {
        char *room = buf_room(&f->text, READ_BYTES);
        if (!room)
            return err_set(err, ERR_INPUT, "%s: a line is longer than %d bytes", f->what->path, LINE_BYTES_MAX);
        if (poll(p, 2, -1) < 0 && errno == EINTR)
            continue;
        if (p[1].revents)
            return err_set(err, ERR_SYSTEM, "stopped"), 1;
        ssize_t n = read(fd, room, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "cannot read %s", f->what->path);
        f->text.n += (size_t)n;
        if (n == 0 && f->text.n == 0)
            return 0;
        /* a pipe's lines are not held back until it is full */
        bool is_idle = poll(p, 1, 0) == 0;
        int rc = n == 0 || is_idle || f->text.n >= LINES_BYTES ? send_lines(f, n == 0, err) : 0;
        if (rc || n == 0)
            return rc;
    }
}

int sync_records_file(const struct sync_records *what, struct sync_records_result *ret, struct err *err)
{
    struct records_file f = {.what = what, .result = ret};
    bool is_input = strcmp(what->path, "-") == 0;
    *ret = (struct sync_records_result){.read = 0};
    CLEANUP_FD int file = is_input ? -1 : place_open_named(what->path);
    if (!is_input && file < 0)
        return err_sys(err, "cannot open %s", what->path);
    const struct exporter_records_config config = {
        .exporter = what->exporter, .env = what->env, .cancel_fd = what->cancel_fd, .refused = note_refused_record, .context = &f};
    if (exporter_records_open(&f.sender, &config, err))
        return -1;
    buf_init(&f.text, LINE_BYTES_MAX + READ_BYTES);
    int rc = read_record_lines(&f, is_input ? STDIN_FILENO : file, err);
    buf_deinit(&f.text);
    exporter_records_close(f.sender);
    return rc;
}
