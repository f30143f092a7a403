/* reading.c: a stored output read by rules: streams and files are fed, facts come out. */
#include "replay/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

/* Passes what the descriptor has to the rules as `source`. The caller closes it. Returns -1 with
 * err. */
static int replay_feed_fd(struct rules_run *run, const char *source, int fd, const char *path, struct err *err)
{
    static const size_t size = 1 << 18;
    struct buf b;
    int rc = 0;
    buf_init(&b, size);
    char *room = buf_room(&b, size - 1);
    if (!room)
        rc = err_memory(err, "reading %s", path);
    while (!rc) {
        ssize_t n = read(fd, room, size - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = err_sys(err, "read %s", path);
        if (n <= 0)
            break;
        rules_feed(run, source, room, (size_t)n);
    }
    buf_deinit(&b);
    return rc;
}

/* Passes the file ("-": standard input; NULL: none) to the rules as `source`. Returns -1 with
 * err. */
static int replay_feed_file(struct rules_run *run, const char *source, const char *path, struct err *err)
{
    if (!path)
        return 0;
    if (!strcmp(path, "-"))
        return replay_feed_fd(run, source, STDIN_FILENO, "standard input", err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "open %s", path);
    int rc = replay_feed_fd(run, source, fd, path, err);
    close(fd);
    return rc;
}

/* Refuses a pattern that the rules do not have: no reader would get the file. */
static int known_file(const struct rules *rules, const char *pattern, struct err *err)
{
    for (size_t i = 0; rules_file(rules, i); i++)
        if (!strcmp(rules_file(rules, i), pattern))
            return 0;
    return err_set(err, ERR_INPUT, "--file %s=…: these rules name no file \"%s\"%s%s", pattern, pattern,
                   rules_file(rules, 0) ? "; the first they name is " : "", rules_file(rules, 0) ? rules_file(rules, 0) : "");
}

int replay_read(const struct rules *rules, const struct replay_input *what, struct record *record, struct rules_outcome *ret,
                struct err *err)
{
    struct rules_run *run;
    struct err end = {0};
    record_init(record, "00000000000000000000000000000000", 1);
    if (rules_begin(&run, rules, what->argv, what->env, err))
        return -1;
    if (what->coverage)
        coverage_watch(what->coverage, run, what->name);
    int rc = replay_feed_file(run, "stdout", what->out, err) || replay_feed_file(run, "stderr", what->errors, err) ? -1 : 0;
    if (what->files)
        rules_files_known(run);
    for (const struct replay_file *f = what->files; f && !rc; f = f->next) {
        rc = known_file(rules, f->pattern, err) || replay_feed_file(run, f->pattern, f->path, err) ? -1 : 0;
        rules_found(run, f->pattern);
    }
    if (rules_end(run, what->status, 0, 1, record, ret, &end) && !rc) {
        *err = end;
        rc = -1;
    }
    return rc;
}

const char *replay_verdict_word(enum verdict v)
{
    return v == VERDICT_PASS ? "pass" : v == VERDICT_FAIL ? "fail" : "none";
}

static void put_words(struct buf *to, const char *first, struct str text, bool more)
{
    buf_puts(to, first);
    buf_plain(to, text, 1 << 20);
    buf_putc(to, more ? ' ' : '\n');
}

static void replay_print_kind(struct buf *to, const struct record *record, enum fact_kind kind, const char *word)
{
    for (const struct fact *f = record->first; f; f = f->next) {
        if (f->kind != kind)
            continue;
        buf_puts(to, word);
        if (kind != FACT_WARNING)
            put_words(to, " ", f->key, true);
        if (kind != FACT_METRIC) {
            put_words(to, kind == FACT_WARNING ? " " : "", f->text, false);
            continue;
        }
        const char *direction = record_direction_name(f->direction);
        buf_double(to, f->value);
        buf_printf(to, " %s %" PRId64 " %s\n", f->unit && *f->unit ? f->unit : "-", f->step, *direction ? direction : "-");
    }
}

void replay_print_facts(struct buf *to, const struct record *record, const struct rules_outcome *out)
{
    buf_printf(to, "verdict %s", replay_verdict_word(out->verdict));
    put_words(to, out->reason[0] ? ": " : "", str_of(out->reason), false);
    replay_print_kind(to, record, FACT_PARAM, "param");
    replay_print_kind(to, record, FACT_TAG, "param");
    replay_print_kind(to, record, FACT_METRIC, "metric");
    replay_print_kind(to, record, FACT_MISSING, "missing");
    replay_print_kind(to, record, FACT_WARNING, "warning");
}
